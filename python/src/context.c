/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Whose arrays these are: one context a thread, made when the thread first needs it. Errors as exceptions, and reads that let the
 * interpreter go. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"

static _Thread_local core_context *current;

/* ---- contexts ---- */

typedef struct core_dead {
    void (*release)(void *what);
    void *what;
} core_dead;

static void release_dead(core_context *context)
{
    while (context->dead_count) {
        core_dead dead = context->dead[--context->dead_count];
        dead.release(dead.what);
    }
}

static void context_free(core_context *context)
{
    release_dead(context);
    free(context->dead);
    wg_lazy_free(&context->lazy);
    free(context);
}

core_context *core_context_keep(core_context *context)
{
    context->references++;
    return context;
}

void core_context_release(core_context *context)
{
    if (!--context->references) context_free(context);
}

/* The state of a thread lets its context go when it ends. */
static void thread_ends(PyObject *capsule)
{
    core_context *context = PyCapsule_GetPointer(capsule, "wengert.context");
    if (current == context) current = NULL;
    core_context_release(context);
}

static core_context *context_new(void)
{
    wg_lazy_options options = {.size = sizeof options, .kind = WG_KIND_F64};
    wg_error error = {.code = WG_OK};
    core_context *context = calloc(1, sizeof *context);
    if (!context) return (core_context *)PyErr_NoMemory();
    context->references = 1;
    context->lazy = wg_lazy_new(&options, &error);
    PyObject *threads = PyThreadState_GetDict();
    PyObject *capsule = context->lazy ? PyCapsule_New(context, "wengert.context", NULL) : NULL;
    if (!context->lazy) core_raise_error(&error);
    if (capsule && (!threads || PyDict_SetItemString(threads, "wengert.context", capsule) < 0)) Py_CLEAR(capsule);
    if (!capsule) {
        if (context->lazy) wg_lazy_free(&context->lazy);
        free(context);
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "this thread has no state of Python");
        return NULL;
    }
    PyCapsule_SetDestructor(capsule, thread_ends);
    Py_DECREF(capsule);
    return current = context;
}

core_context *core_current(void)
{
    core_context *context = current;
    if (!context) return context_new();
    if (context->dead_count) release_dead(context);
    return context;
}

static void release_array(void *what)
{
    wg_array_release(what);
}

void core_drop(core_context *context, void (*release)(void *what), void *what)
{
    if (context == current && !context->reading) {
        release(what);
        core_context_release(context);
        return;
    }
    if (context->dead_count == context->dead_capacity) {
        size_t capacity = context->dead_capacity ? 2 * context->dead_capacity : 16;
        core_dead *dead = realloc(context->dead, capacity * sizeof *dead);
        if (!dead) return; /* without memory it stays */
        context->dead = dead;
        context->dead_capacity = capacity;
    }
    context->dead[context->dead_count++] = (core_dead){release, what};
    core_context_release(context);
}

void core_release(core_context *context, wg_array *array)
{
    core_drop(context, release_array, array);
}

/* ---- later ---- */

static _Atomic(core_later *) waiting;

void core_do_later(core_later *later)
{
    core_later *next = atomic_load(&waiting);
    do later->next = next;
    while (!atomic_compare_exchange_weak(&waiting, &next, later));
}

void core_settle(void)
{
    if (!atomic_load_explicit(&waiting, memory_order_relaxed)) return;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    for (core_later *later = atomic_exchange(&waiting, NULL); later;) {
        core_later *next = later->next;
        later->run(later);
        later = next;
    }
    PyErr_Restore(type, value, trace);
}

/* ---- exceptions ---- */

static PyObject *classes[WG_CODE_COUNT];

static const struct {
    const char *name;
    PyObject **base; /* beside Error; NULL: none */
} class_of_code[WG_CODE_COUNT] = {
    [WG_MEMORY] = {"OutOfMemory", &PyExc_MemoryError},     [WG_SHAPE] = {"ShapeError", &PyExc_ValueError},
    [WG_KIND] = {"KindError", &PyExc_TypeError},           [WG_ARGUMENT] = {"ArgumentError", &PyExc_ValueError},
    [WG_SIZE] = {"SizeError", &PyExc_OverflowError},       [WG_TAPE] = {"TapeError", &PyExc_RuntimeError},
    [WG_SYMBOL] = {"SymbolError", &PyExc_LookupError},     [WG_UNDECLARED] = {"UndeclaredError", &PyExc_LookupError},
    [WG_FEED] = {"FeedError", &PyExc_ValueError},          [WG_PARAMETERS] = {"ParametersError", &PyExc_ValueError},
    [WG_BOUNDS] = {"BoundsError", &PyExc_IndexError},      [WG_SYNTAX] = {"ProgramError", &PyExc_ValueError},
    [WG_NAME] = {"UnknownName", &PyExc_LookupError},       [WG_FILE] = {"FileError", &PyExc_OSError},
    [WG_FORMAT] = {"FormatError", &PyExc_ValueError},      [WG_UNSUPPORTED] = {"Unsupported", &PyExc_NotImplementedError},
    [WG_BUSY] = {"BusyError", &PyExc_RuntimeError},        [WG_CANCELLED] = {"Cancelled", &PyExc_RuntimeError},
    [WG_NUMERIC] = {"NumericError", &PyExc_ArithmeticError}, [WG_DIFFERS] = {"DiffersError", &PyExc_ValueError},
    [WG_INTERNAL] = {"InternalError", &PyExc_SystemError}, [WG_USAGE] = {"UsageError", &PyExc_ValueError},
    [WG_MATRIX] = {"MatrixError", &PyExc_ArithmeticError},
};

PyObject *core_error_class(wg_code code)
{
    return (unsigned)code < WG_CODE_COUNT && classes[code] ? classes[code] : classes[WG_OK];
}

static bool add_classes(PyObject *module)
{
    classes[WG_OK] = PyErr_NewExceptionWithDoc(
        "wengert.Error",
        "What a call or a read of wengert says when it fails. Has code, op, entry, file, line, column, node and item; its classes "
        "are ValueError, TypeError, IndexError and the like too.",
        PyExc_Exception, NULL);
    if (!classes[WG_OK] || PyModule_AddObjectRef(module, "Error", classes[WG_OK]) < 0) return false;
    for (int code = 1; code < WG_CODE_COUNT; code++) {
        if (!class_of_code[code].name) continue;
        char name[64] = "wengert.";
        strcat(name, class_of_code[code].name);
        PyObject *bases = PyTuple_Pack(2, classes[WG_OK], *class_of_code[code].base);
        if (bases) classes[code] = PyErr_NewException(name, bases, NULL);
        Py_XDECREF(bases);
        if (!classes[code] || PyModule_AddObjectRef(module, class_of_code[code].name, classes[code]) < 0) return false;
    }
    return true;
}

static void set_fact(PyObject *exception, const char *name, PyObject *value)
{
    if (!value || PyObject_SetAttrString(exception, name, value) < 0) PyErr_Clear();
    Py_XDECREF(value);
}

static PyObject *text_or_none(const char *text)
{
    return text[0] ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace") : Py_NewRef(Py_None);
}

static PyObject *number_or_none(int64_t number, bool known)
{
    return known ? PyLong_FromLongLong(number) : Py_NewRef(Py_None);
}

static void add_notes(PyObject *exception, const char *notes)
{
    while (*notes) {
        size_t length = strcspn(notes, "\n");
        PyObject *note = PyUnicode_DecodeUTF8(notes, (Py_ssize_t)length, "replace");
        PyObject *done = note ? PyObject_CallMethod(exception, "add_note", "O", note) : NULL;
        if (!done) PyErr_Clear();
        Py_XDECREF(done);
        Py_XDECREF(note);
        notes += length + (notes[length] == '\n');
    }
}

void *core_raise_error(const wg_error *error)
{
    wg_error plain = *error;
    plain.note[0] = 0;
    char text[sizeof plain.message + sizeof plain.file + 3 * sizeof plain.excerpt];
    wg_error_format(&plain, text, sizeof text);
    PyObject *class = core_error_class(error->code), *message = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    PyObject *exception = message ? core_call_one(class, message) : NULL;
    Py_XDECREF(message);
    if (!exception) return NULL;
    const char *name = wg_code_name(error->code);
    set_fact(exception, "code", text_or_none(name ? name : ""));
    set_fact(exception, "op", text_or_none(error->op));
    set_fact(exception, "entry", text_or_none(error->entry));
    set_fact(exception, "file", text_or_none(error->file));
    set_fact(exception, "line", number_or_none(error->line, error->line > 0));
    set_fact(exception, "column", number_or_none(error->column, error->column > 0));
    set_fact(exception, "node", number_or_none(error->node, error->node != WG_NONE));
    set_fact(exception, "item", number_or_none(error->item, error->item >= 0));
    add_notes(exception, error->note);
    PyErr_SetObject(class, exception);
    Py_DECREF(exception);
    return NULL;
}

/* What messages of calls on arrays name, as Python has it. */
static const char *const python_names[][2] = {
    {"wg_array_select", "wengert.where"},    {"wg_index_rest", "ellipsis"},      {"wg_array_copy", "copy=True"},
    {"wg_function_vjp", "wengert.vjp"},      {"wg_array_read", "tolist"},        {"wg_array_tensor", "numpy"},
};

static const char *python_name(const char *word)
{
    wg_kind kind = wg_kind_from_name(word);
    if (kind < WG_KIND_SINGLES) return core_kinds[kind].name;
    for (size_t i = 0; i < sizeof python_names / sizeof *python_names; i++)
        if (!strcmp(python_names[i][0], word)) return python_names[i][1];
    return word;
}

/* Texts of the library with the names of Python: word by word, cut off where there is no more room. */
static void put_python_names(char *text, size_t size)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    char from[sizeof((wg_error *)0)->message + 1], word[32];
    size_t to = 0;
    snprintf(from, sizeof from, "%.*s", (int)size, text);
    for (const char *at = from; *at;) {
        size_t length = strspn(at, letters), other = length ? 0 : strcspn(at, letters);
        const char *put = at;
        size_t long_as = length + other;
        if (length && length < sizeof word) {
            memcpy(word, at, length);
            word[length] = 0;
            put = python_name(word);
            long_as = strlen(put);
        }
        if (long_as > size - 1 - to) long_as = size - 1 - to;
        memcpy(text + to, put, long_as);
        to += long_as;
        at += length + other;
    }
    text[to] = 0;
}

void *core_raise(core_context *context)
{
    const wg_error *error = wg_lazy_error(context->lazy);
    if (!PyErr_Occurred()) {
        wg_error said = *error;
        put_python_names(said.message, sizeof said.message);
        if (error->code) core_raise_error(&said);
        else PyErr_SetString(classes[WG_INTERNAL], "a call failed without an error: please report it");
    }
    wg_lazy_error_clear(context->lazy);
    return NULL;
}

bool core_context_init(PyObject *module)
{
    return add_classes(module);
}

/* ---- reads ---- */

static void stop_lazy(void *user)
{
    wg_lazy_stop(user);
}

static bool nothing(void *user, const wg_view *items, uint32_t count)
{
    (void)user, (void)items, (void)count;
    return true;
}

/* One array by its read; several together, and here, where an interrupt stops them: wg_array_run would compute them beside the caller. */
static bool compute(core_context *context, wg_array *const *arrays, uint32_t count, wg_view *view)
{
    wg_view unused;
    if (count == 1) return wg_array_read(arrays[0], view ? view : &unused);
    return wg_array_effect(context->lazy, nothing, NULL, arrays, count);
}

/* What is computed already is read at once. Otherwise the interpreter is let go for the time of the read; an interrupt stops it, and
   where the interrupt's handler raises nothing, it begins again. */
static bool read_or_run(core_context *context, wg_array *const *arrays, uint32_t count, wg_view *view)
{
    for (;;) {
        core_pause pause = {stop_lazy, context->lazy, NULL};
        context->reading = true;
        core_unlock(&pause);
        bool good = compute(context, arrays, count, view);
        bool interrupted = core_lock(&pause);
        context->reading = false;
        core_settle();
        if (good) return !interrupted || PyErr_CheckSignals() == 0;
        bool again = interrupted && wg_lazy_error(context->lazy)->code == WG_CANCELLED && PyErr_CheckSignals() == 0;
        if (!again) return core_raise(context), false;
        wg_lazy_error_clear(context->lazy);
    }
}

bool core_read(core_context *context, wg_array *array, wg_view *view)
{
    if (wg_array_is_pending(array)) return read_or_run(context, &array, 1, view);
    return wg_array_read(array, view) || core_raise(context);
}

bool core_run(core_context *context, wg_array *const *arrays, uint32_t count)
{
    return read_or_run(context, arrays, count, NULL);
}
