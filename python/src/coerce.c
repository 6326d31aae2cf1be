/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What counts as an array: arrays, numbers of Python, buffers (NumPy), DLPack, nested sequences of them. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core.h"

static void *fail(wg_code code, const char *message)
{
    PyErr_SetString(core_error_class(code), message);
    return NULL;
}

/* Owned, or the context's error raised. */
static wg_array *checked(core_context *context, wg_array *answered)
{
    return answered ? core_own(context, answered) : core_raise(context);
}

/* ---- numbers ---- */

bool core_is_number(PyObject *what)
{
    return PyLong_Check(what) || PyFloat_CheckExact(what) || PyComplex_CheckExact(what);
}

wg_kind core_kind_beside(PyObject *number, wg_kind kind)
{
    char class = core_kinds[kind].class;
    if (PyBool_Check(number)) return kind;
    if (PyLong_Check(number)) return class == 'b' ? WG_KIND_I64 : kind;
    if (PyFloat_Check(number)) return class == 'f' || class == 'c' ? kind : WG_KIND_F64;
    if (class == 'c') return kind;
    return kind == WG_KIND_F32 || kind == WG_KIND_F16 || kind == WG_KIND_BF16 ? WG_KIND_C64 : WG_KIND_C128;
}

/* Whether an integer is one of a kind's; u64 reads its bits as unsigned. */
static bool integer_in(PyObject *number, wg_kind kind, int64_t *integer)
{
    const core_kind *facts = &core_kinds[kind];
    int over;
    *integer = PyLong_AsLongLongAndOverflow(number, &over);
    if (over > 0 && kind == WG_KIND_U64) {
        *integer = (int64_t)PyLong_AsUnsignedLongLong(number);
        if (!PyErr_Occurred()) return true;
        PyErr_Clear();
    }
    bool fits = !over;
    if (facts->class == 'u') fits = fits && *integer >= 0 && (facts->bytes == 8 || *integer < (int64_t)1 << 8 * facts->bytes);
    else if (facts->bytes < 8)
        fits = fits && *integer >= -((int64_t)1 << (8 * facts->bytes - 1)) && *integer < (int64_t)1 << (8 * facts->bytes - 1);
    if (!fits && !PyErr_Occurred()) PyErr_Format(PyExc_OverflowError, "%R is not a number of %s", number, facts->name);
    return fits;
}

static wg_array *integer_number(core_context *context, PyObject *number, wg_kind kind)
{
    int64_t integer;
    if (!integer_in(number, kind, &integer)) return NULL;
    if (kind == WG_KIND_U64 && integer < 0)
        return checked(context, wg_array_copy(context->lazy, &(wg_view){&integer, kind, 0, NULL, NULL}));
    return checked(context, wg_array_integer(context->lazy, kind, integer));
}

wg_array *core_number(core_context *context, PyObject *number, wg_kind kind)
{
    char class = core_kinds[kind].class;
    if (class == 'b') {
        int truth = PyObject_IsTrue(number);
        return truth < 0 ? NULL : checked(context, wg_array_integer(context->lazy, kind, truth));
    }
    if ((class == 'i' || class == 'u') && PyLong_Check(number)) return integer_number(context, number, kind);
    if (class == 'c' && PyComplex_Check(number)) {
        double wide[2] = {PyComplex_RealAsDouble(number), PyComplex_ImagAsDouble(number)};
        float narrow[2] = {(float)wide[0], (float)wide[1]};
        void *item = kind == WG_KIND_C64 ? (void *)narrow : (void *)wide;
        return checked(context, wg_array_copy(context->lazy, &(wg_view){item, kind, 0, NULL, NULL}));
    }
    double value = PyFloat_AsDouble(number);
    if (value == -1 && PyErr_Occurred()) return NULL;
    return checked(context, wg_array_number(context->lazy, kind, value));
}

/* ---- arrays of other threads ---- */

typedef struct handed_over {
    core_later later;
    wg_array *array;
    core_context *context;
} handed_over;

static void hand_back(core_later *later)
{
    handed_over *owner = (handed_over *)later;
    core_release(owner->context, owner->array);
    free(owner);
}

static void release_later(void *user)
{
    core_do_later(user);
}

/* Until its own thread is out of its read. */
static bool wait_for(const core_context *other)
{
    while (other->reading) {
        Py_BEGIN_ALLOW_THREADS
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        Py_END_ALLOW_THREADS
        if (PyErr_CheckSignals()) return false;
    }
    return true;
}

static wg_array *hand_over(core_context *context, core_array *object)
{
    wg_view view;
    core_context_keep(object->context);
    bool ready = wait_for(object->context);
    if (ready && wg_array_is_pending(object->handle)) {
        ready = false;
        fail(WG_BUSY, "an array of another thread waits to be computed; call its run() in that thread first");
    }
    ready = ready && (wg_array_read(object->handle, &view) || core_raise(object->context));
    handed_over *owner = ready ? malloc(sizeof *owner) : NULL;
    if (!owner) {
        if (ready) PyErr_NoMemory();
        core_context_release(object->context);
        return NULL;
    }
    *owner = (handed_over){{NULL, hand_back}, wg_array_keep(object->handle), object->context};
    return checked(context, wg_array_borrow(context->lazy, &view, release_later, owner));
}

wg_array *core_handle_of(core_context *context, PyObject *array)
{
    core_array *object = (core_array *)array;
    return object->context == context ? wg_array_keep(object->handle) : hand_over(context, object);
}

/* ---- buffers ---- */

typedef struct held_buffer {
    core_later later;
    Py_buffer buffer;
} held_buffer;

static void release_buffer(core_later *later)
{
    held_buffer *held = (held_buffer *)later;
    PyBuffer_Release(&held->buffer);
    free(held);
}

/* May the items be used where they are? Strides that say no more than the shape are dropped. */
static bool is_aligned(wg_view *view)
{
    size_t bytes = wg_kind_bytes(view->kind), unit = core_kinds[view->kind].class == 'c' ? bytes / 2 : bytes;
    bool good = (uintptr_t)view->data % unit == 0;
    int64_t step = (int64_t)bytes;
    bool dense = true;
    for (uint32_t axis = view->rank; axis-- > 0; step *= view->shape[axis]) {
        if (view->shape[axis] <= 1 || !view->strides) continue;
        good = good && view->strides[axis] % (int64_t)unit == 0;
        dense = dense && view->strides[axis] == step;
    }
    if (dense) view->strides = NULL;
    return good && (dense || view->kind != WG_KIND_BOOL);
}

static wg_array *from_buffer(core_context *context, PyObject *what, int copy)
{
    held_buffer *held = malloc(sizeof *held);
    if (!held) return (wg_array *)PyErr_NoMemory();
    if (PyObject_GetBuffer(what, &held->buffer, PyBUF_FULL_RO) < 0) return free(held), NULL;
    held->later = (core_later){NULL, release_buffer};
    const Py_buffer *buffer = &held->buffer;
    int64_t shape[WG_MAX_RANK], strides[WG_MAX_RANK];
    wg_view view = {buffer->buf, core_kind_of_format(buffer->format, buffer->itemsize), (uint32_t)buffer->ndim, shape, strides};
    if (view.kind == WG_KIND_COUNT)
        PyErr_Format(core_error_class(WG_KIND), "items of the format '%s' are of no kind in this machine's byte order", buffer->format);
    else if (buffer->ndim > WG_MAX_RANK || buffer->suboffsets) fail(WG_SHAPE, "a buffer of too many axes, or an indirect one");
    if (PyErr_Occurred()) return release_buffer(&held->later), NULL;
    bool empty = false;
    for (uint32_t axis = 0; axis < view.rank; axis++) {
        shape[axis] = buffer->shape[axis];
        strides[axis] = buffer->strides[axis];
        empty = empty || !shape[axis];
    }
    bool copies = copy == 1 || !view.rank || !is_aligned(&view);
    if (!copies && !empty) return checked(context, wg_array_borrow(context->lazy, &view, release_later, held));
    wg_array *array = NULL;
    if (copy == 0 && copies) fail(WG_ARGUMENT, "these items cannot be used where they are; copy=None or True takes a copy");
    else array = checked(context, wg_array_copy(context->lazy, &view));
    release_buffer(&held->later);
    return array;
}

/* ---- nested sequences ---- */

typedef struct nest {
    uint32_t rank;
    int64_t shape[WG_MAX_RANK];
    char class;  /* the widest of b, i, f, c */
    bool arrays; /* something beside numbers */
} nest;

static bool is_list(PyObject *what)
{
    return PyList_Check(what) || PyTuple_Check(what) || PyRange_Check(what);
}

static char wider(char a, char b)
{
    static const char order[] = "bifc";
    return strchr(order, a) > strchr(order, b) ? a : b;
}

static bool scan(PyObject *what, uint32_t depth, nest *found)
{
    if (!is_list(what)) {
        if (!core_is_number(what)) return found->arrays = true;
        if (found->rank == WG_MAX_RANK + 1) found->rank = depth;
        if (depth != found->rank) return fail(WG_SHAPE, "sequences of different depth are no array"), false;
        found->class = wider(found->class, PyBool_Check(what) ? 'b' : PyLong_Check(what) ? 'i' : PyFloat_Check(what) ? 'f' : 'c');
        return true;
    }
    Py_ssize_t length = PySequence_Size(what);
    if (length < 0) return false;
    if (depth == WG_MAX_RANK) return fail(WG_SHAPE, "sequences nested deeper than an array has axes"), false;
    if (found->shape[depth] < 0) found->shape[depth] = length;
    if (found->shape[depth] != length) return fail(WG_SHAPE, "sequences of different length are no array"), false;
    if (!length && found->rank == WG_MAX_RANK + 1) found->rank = depth + 1;
    for (Py_ssize_t i = 0; i < length && !found->arrays; i++) {
        PyObject *item = PySequence_GetItem(what, i);
        bool good = item && scan(item, depth + 1, found);
        Py_XDECREF(item);
        if (!good) return false;
    }
    return true;
}

static bool store(PyObject *number, wg_kind kind, char **to)
{
    int64_t integer;
    double parts[2] = {0, 0};
    switch (core_kinds[kind].class) {
    case 'b': **to = PyObject_IsTrue(number) == 1; break;
    case 'i':
    case 'u':
        if (!integer_in(number, kind, &integer)) return false;
        memcpy(*to, &integer, core_kinds[kind].bytes); /* the low bytes stand first: see core_init */
        break;
    default:
        if (PyComplex_Check(number)) parts[0] = PyComplex_RealAsDouble(number), parts[1] = PyComplex_ImagAsDouble(number);
        else parts[0] = PyFloat_AsDouble(number);
        memcpy(*to, parts, core_kinds[kind].bytes);
    }
    *to += core_kinds[kind].bytes;
    return !PyErr_Occurred();
}

static bool fill(PyObject *what, uint32_t depth, const nest *found, wg_kind kind, char **to)
{
    if (depth == found->rank) return store(what, kind, to);
    for (Py_ssize_t i = 0; i < found->shape[depth]; i++) {
        PyObject *item = PySequence_GetItem(what, i);
        bool good = item && fill(item, depth + 1, found, kind, to);
        Py_XDECREF(item);
        if (!good) return false;
    }
    return true;
}

/* Integers are written as the integer kind that is wanted, everything else as the widest of its class. */
static wg_kind kind_of_nest(const nest *found, wg_kind wanted)
{
    char class = wanted < WG_KIND_COUNT ? core_kinds[wanted].class : 0;
    if (found->class == 'i' && (class == 'i' || class == 'u')) return wanted;
    return found->class == 'b' ? WG_KIND_BOOL : found->class == 'i' ? WG_KIND_I64 : found->class == 'f' ? WG_KIND_F64 : WG_KIND_C128;
}

static wg_array *from_numbers(core_context *context, PyObject *what, const nest *found, wg_kind wanted)
{
    wg_error error = {.code = WG_OK};
    wg_kind kind = kind_of_nest(found, wanted);
    wg_tensor *tensor = wg_tensor_new(wg_lazy_context(context->lazy), kind, found->rank, found->shape, NULL, &error);
    if (!tensor) return core_raise_error(&error);
    char *to = wg_tensor_data(tensor);
    if (wg_tensor_volume(tensor) && !fill(what, 0, found, kind, &to)) return wg_tensor_release(tensor), NULL;
    return checked(context, wg_array_of(context->lazy, tensor));
}

static wg_array *from_arrays(core_context *context, PyObject *what, wg_kind wanted)
{
    Py_ssize_t count = PySequence_Size(what), made = 0;
    wg_array **arrays = calloc((size_t)count + 1, 2 * sizeof *arrays), **promoted = arrays + count + 1, *answer = NULL;
    if (!arrays) return (wg_array *)PyErr_NoMemory();
    for (; made < count; made++) {
        PyObject *item = PySequence_GetItem(what, made);
        arrays[made] = item ? core_array_of(context, item, wanted) : NULL;
        Py_XDECREF(item);
        if (!arrays[made]) break;
    }
    if (made == count) {
        if (!wg_array_promote(arrays, (uint32_t)count, promoted)) core_raise(context);
        else answer = checked(context, wg_array_stack(promoted, (uint32_t)count, 0));
        for (Py_ssize_t i = 0; i < count && !context->depth; i++) wg_array_release(promoted[i]);
    }
    while (made-- > 0) wg_array_release(arrays[made]);
    free(arrays);
    return answer;
}

static wg_array *from_sequence(core_context *context, PyObject *what, wg_kind wanted)
{
    nest found = {.rank = WG_MAX_RANK + 1, .class = 'b'};
    for (int axis = 0; axis < WG_MAX_RANK; axis++) found.shape[axis] = -1;
    if (!scan(what, 0, &found)) return NULL;
    if (found.arrays) return from_arrays(context, what, wanted);
    bool empty = false;
    for (uint32_t axis = 0; axis < found.rank; axis++) empty = empty || !found.shape[axis];
    if (empty) found.class = 'f';
    return from_numbers(context, what, &found, wanted);
}

/* ---- anything ---- */

static wg_array *from_numpy(core_context *context, PyObject *what, int copy)
{
    PyObject *numpy = PyImport_ImportModule("numpy"), *items = numpy ? PyObject_CallMethod(numpy, "asarray", "O", what) : NULL;
    wg_array *array = items ? from_buffer(context, items, copy) : NULL;
    Py_XDECREF(items);
    Py_XDECREF(numpy);
    return array;
}

static wg_array *from_anything(core_context *context, PyObject *what, wg_kind kind, int copy)
{
    if (PyObject_CheckBuffer(what)) return from_buffer(context, what, copy);
    if (is_list(what)) return copy == 0 ? fail(WG_ARGUMENT, "a sequence is always copied") : from_sequence(context, what, kind);
    if (PyObject_HasAttrString(what, "__dlpack__")) {
        PyObject *capsule = PyObject_CallMethod(what, "__dlpack__", NULL);
        wg_array *array = capsule ? core_from_dlpack(context, capsule) : NULL;
        Py_XDECREF(capsule);
        return array;
    }
    if (PyObject_HasAttrString(what, "__array_interface__") || PyObject_HasAttrString(what, "__array__"))
        return from_numpy(context, what, copy);
    PyErr_Format(core_error_class(WG_KIND), "an object of %R is no array", Py_TYPE(what));
    return NULL;
}

static wg_array *converted(core_context *context, wg_array *array, wg_kind kind)
{
    if (!array || kind == WG_KIND_COUNT || wg_array_kind(array) == kind) return array;
    wg_array *answer = checked(context, wg_array_convert(array, kind));
    wg_array_release(array);
    return answer;
}

/* A number that a person makes an array of is data: no plan and no compiled function is kept by its value, as by a literal's. */
static wg_array *stored(core_context *context, wg_array *literal)
{
    wg_view view;
    if (!literal || wg_array_is_pending(literal)) return literal;
    wg_array *array = wg_array_read(literal, &view) ? core_own(context, wg_array_copy(context->lazy, &view)) : NULL;
    wg_array_release(literal);
    return array ? array : core_raise(context);
}

static wg_array *from_number(core_context *context, PyObject *number, wg_kind kind)
{
    wg_kind own = PyBool_Check(number)    ? WG_KIND_BOOL
                  : PyLong_Check(number)  ? WG_KIND_I64
                  : PyFloat_Check(number) ? WG_KIND_F64
                                          : WG_KIND_C128;
    char class = kind < WG_KIND_COUNT ? core_kinds[kind].class : 0;
    bool direct = class && !(own == WG_KIND_F64 && (class == 'i' || class == 'u')) && !(own == WG_KIND_C128 && class != 'c');
    return direct ? stored(context, core_number(context, number, kind))
                  : converted(context, stored(context, core_number(context, number, own)), kind);
}

wg_array *core_array_of_copy(core_context *context, PyObject *what, wg_kind kind, int copy)
{
    if (core_is_array(what)) return converted(context, core_handle_of(context, what), kind);
    if (!core_is_number(what)) return converted(context, from_anything(context, what, kind, copy), kind);
    return copy == 0 ? fail(WG_ARGUMENT, "a number is always copied") : from_number(context, what, kind);
}

wg_array *core_array_of(core_context *context, PyObject *what, wg_kind kind)
{
    return core_array_of_copy(context, what, kind, -1);
}
