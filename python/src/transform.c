/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Functions of Python as functions of arrays: derivatives, maps, compiled functions. A callable here takes a list of arrays and answers
 * a list of arrays. How many it answers is known only then, so a call begins with a guess: what is left over repeats the first result,
 * and a guess that was too low is corrected and called again. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

#define FIRST_GUESS 8u

typedef struct python_function {
    core_context *context;
    PyObject *callable;
    uint32_t inputs;
    uint32_t outputs; /* that the call has room for */
    uint32_t answered;
} python_function;

static PyObject *list_of_inputs(const python_function *function, wg_array *const *inputs)
{
    PyObject *list = PyList_New(function->inputs);
    for (uint32_t i = 0; list && i < function->inputs; i++) {
        PyObject *array = core_wrap_kept(function->context, inputs[i]);
        if (!array) Py_CLEAR(list);
        else PyList_SetItem(list, i, array);
    }
    return list;
}

/* An array of the scope that is open. */
static wg_array *given_to_scope(wg_array *array)
{
    return wg_array_tagged(array, wg_array_tag(array));
}

static bool take_outputs(python_function *function, PyObject *answer, wg_array **outputs)
{
    core_context *context = function->context;
    Py_ssize_t count = PySequence_Size(answer);
    if (count < 0) return false;
    function->answered = (uint32_t)count;
    if (function->answered > function->outputs)
        return wg_lazy_fail(context->lazy, WG_ARGUMENT, "a function answers more arrays than there is room for");
    for (uint32_t i = 0; i < function->answered; i++) {
        PyObject *item = PySequence_GetItem(answer, i);
        wg_array *array = item ? core_array_of(context, item, WG_KIND_COUNT) : NULL;
        Py_XDECREF(item);
        if (!array) return false;
        outputs[i] = given_to_scope(array);
        wg_array_release(array);
        if (!outputs[i]) return false;
    }
    for (uint32_t i = function->answered; i < function->outputs; i++)
        if (!(outputs[i] = i ? outputs[0] : wg_array_number(context->lazy, WG_KIND_F64, 0))) return false;
    return true;
}

static bool call_python(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)lazy;
    python_function *function = user;
    core_context *context = function->context;
    context->depth++;
    PyObject *list = list_of_inputs(function, inputs), *answer = list ? core_call_one(function->callable, list) : NULL;
    Py_XDECREF(list);
    bool good = answer && take_outputs(function, answer, outputs);
    Py_XDECREF(answer);
    context->depth--;
    return good;
}

/* ---- lists of arrays ---- */

typedef struct array_list {
    wg_array **arrays; /* owned; NULL inside for None */
    uint32_t count;
} array_list;

static void list_free(array_list *list)
{
    for (uint32_t i = 0; list->arrays && i < list->count; i++) wg_array_release(list->arrays[i]);
    free(list->arrays);
    *list = (array_list){NULL, 0};
}

static bool list_room(array_list *list, uint32_t count)
{
    list->arrays = calloc((size_t)count + 1, sizeof *list->arrays);
    list->count = count;
    return list->arrays || PyErr_NoMemory();
}

static bool list_take(core_context *context, PyObject *what, array_list *list)
{
    Py_ssize_t count = PySequence_Size(what);
    if (count < 0 || !list_room(list, (uint32_t)count)) return false;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PySequence_GetItem(what, i);
        if (item && item != Py_None) list->arrays[i] = core_array_of(context, item, WG_KIND_COUNT);
        bool good = item && (item == Py_None || list->arrays[i]);
        Py_XDECREF(item);
        if (!good) return false;
    }
    return true;
}

/* What a call answered becomes the list's own. */
static void list_own(const core_context *context, array_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) list->arrays[i] = core_own(context, list->arrays[i]);
}

/* The first `count` as objects, NULL as None. */
static PyObject *list_objects(core_context *context, array_list *list, uint32_t count)
{
    PyObject *objects = PyList_New(count);
    for (uint32_t i = 0; objects && i < count; i++) {
        PyObject *object = list->arrays[i] ? core_wrap_kept(context, list->arrays[i]) : Py_NewRef(Py_None);
        if (!object) Py_CLEAR(objects);
        else PyList_SetItem(objects, i, object);
    }
    return objects;
}

/* ---- a call with a guess ---- */

typedef struct attempt {
    core_context *context;
    python_function function;
    array_list inputs, others, outputs, answers;
    uint32_t guess;
    int32_t *axes;
} attempt;

typedef bool (*attempted)(attempt *a, const wg_function *function);

static bool attempt_begin(attempt *a, PyObject *callable, PyObject *inputs, uint32_t guess)
{
    *a = (attempt){.context = core_current(), .guess = guess ? guess : FIRST_GUESS};
    if (!a->context || !list_take(a->context, inputs, &a->inputs)) return false;
    a->function = (python_function){a->context, callable, a->inputs.count, 0, 0};
    return true;
}

static void attempt_end(attempt *a)
{
    list_free(&a->inputs);
    list_free(&a->others);
    list_free(&a->outputs);
    list_free(&a->answers);
    free(a->axes);
    core_settle();
}

/* Answers (and outputs) have room for `answers` arrays, or for as many as the function answers where that is 0. */
static bool attempt_run(attempt *a, attempted run, uint32_t answers)
{
    for (;;) {
        a->function.outputs = a->guess;
        a->function.answered = 0;
        if (!list_room(&a->outputs, a->guess) || !list_room(&a->answers, answers ? answers : a->guess)) return false;
        wg_function function = {call_python, &a->function, a->inputs.count, a->guess};
        bool good = run(a, &function);
        list_own(a->context, &a->outputs);
        list_own(a->context, &a->answers);
        if (good) return true;
        if (PyErr_Occurred() || a->function.answered <= a->guess) return core_raise(a->context), false;
        wg_lazy_error_clear(a->context->lazy);
        a->guess = a->function.answered;
        list_free(&a->outputs);
        list_free(&a->answers);
    }
}

static bool run_gradient(attempt *a, const wg_function *function)
{
    return wg_gradient(a->context->lazy, function, a->inputs.arrays, NULL, a->outputs.arrays, a->answers.arrays);
}

/* gradient(callable, inputs, guess): (outputs, gradients of the first output) */
static PyObject *gradient(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *callable, *inputs, *answer = NULL;
    unsigned guess;
    attempt a = {.context = NULL};
    if (!PyArg_ParseTuple(arguments, "OOI:gradient", &callable, &inputs, &guess)) return NULL;
    if (attempt_begin(&a, callable, inputs, guess) && attempt_run(&a, run_gradient, a.inputs.count ? a.inputs.count : 1))
        answer = Py_BuildValue("(NN)", list_objects(a.context, &a.outputs, a.function.answered),
                               list_objects(a.context, &a.answers, a.inputs.count));
    attempt_end(&a);
    return answer;
}

static bool run_vjp(attempt *a, const wg_function *function)
{
    if (a->others.count < a->guess) { /* the others are zeros */
        wg_array **more = realloc(a->others.arrays, ((size_t)a->guess + 1) * sizeof *more);
        if (!more) return PyErr_NoMemory(), false;
        for (a->others.arrays = more; a->others.count < a->guess; a->others.count++) more[a->others.count] = NULL;
    }
    return wg_function_vjp(a->context->lazy, function, a->inputs.arrays, a->others.arrays, a->outputs.arrays, a->answers.arrays);
}

/* vjp(callable, inputs, cotangents): (outputs, gradients) */
static PyObject *vjp(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *callable, *inputs, *cotangents, *answer = NULL;
    attempt a = {.context = NULL};
    if (!PyArg_ParseTuple(arguments, "OOO:vjp", &callable, &inputs, &cotangents)) return NULL;
    if (attempt_begin(&a, callable, inputs, 0) && list_take(a.context, cotangents, &a.others)) {
        a.guess = a.others.count ? a.others.count : 1;
        if (attempt_run(&a, run_vjp, a.inputs.count ? a.inputs.count : 1))
            answer = Py_BuildValue("(NN)", list_objects(a.context, &a.outputs, a.function.answered),
                                   list_objects(a.context, &a.answers, a.inputs.count));
    }
    attempt_end(&a);
    return answer;
}

static bool run_jvp(attempt *a, const wg_function *function)
{
    return wg_function_jvp(a->context->lazy, function, a->inputs.arrays, a->others.arrays, a->outputs.arrays, a->answers.arrays);
}

/* jvp(callable, inputs, tangents, guess): (outputs, tangents of the outputs) */
static PyObject *jvp(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *callable, *inputs, *tangents, *answer = NULL;
    unsigned guess;
    attempt a = {.context = NULL};
    if (!PyArg_ParseTuple(arguments, "OOOI:jvp", &callable, &inputs, &tangents, &guess)) return NULL;
    if (attempt_begin(&a, callable, inputs, guess) && list_take(a.context, tangents, &a.others) && attempt_run(&a, run_jvp, 0))
        answer = Py_BuildValue("(NN)", list_objects(a.context, &a.outputs, a.function.answered),
                               list_objects(a.context, &a.answers, a.function.answered));
    attempt_end(&a);
    return answer;
}

static bool run_hessian_vector(attempt *a, const wg_function *function)
{
    return wg_function_hessian_vector(a->context->lazy, function, a->inputs.arrays, a->others.arrays, a->answers.arrays);
}

/* hessian_vector(callable, inputs, vectors): products */
static PyObject *hessian_vector(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *callable, *inputs, *vectors, *answer = NULL;
    attempt a = {.context = NULL};
    if (!PyArg_ParseTuple(arguments, "OOO:hessian_vector", &callable, &inputs, &vectors)) return NULL;
    if (attempt_begin(&a, callable, inputs, 1) && list_take(a.context, vectors, &a.others) &&
        attempt_run(&a, run_hessian_vector, a.inputs.count))
        answer = list_objects(a.context, &a.answers, a.inputs.count);
    attempt_end(&a);
    return answer;
}

static bool run_map(attempt *a, const wg_function *function)
{
    return wg_function_map(a->context->lazy, function, a->inputs.arrays, a->axes, NULL, a->answers.arrays);
}

/* vmap(callable, inputs, axes, guess): outputs, mapped on axis 0; an axis None is of an input that all cells share */
static PyObject *vmap(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *callable, *inputs, *axes, *answer = NULL;
    unsigned guess;
    attempt a = {.context = NULL};
    if (!PyArg_ParseTuple(arguments, "OOOI:vmap", &callable, &inputs, &axes, &guess)) return NULL;
    bool good = attempt_begin(&a, callable, inputs, guess);
    if (good && !(a.axes = calloc((size_t)a.inputs.count + 1, sizeof *a.axes))) good = PyErr_NoMemory();
    for (uint32_t i = 0; good && i < a.inputs.count; i++) {
        PyObject *item = PySequence_GetItem(axes, i);
        long axis = !item || item == Py_None ? -1 : PyLong_AsLong(item);
        if (item && item != Py_None && axis < 0) axis += wg_array_rank(a.inputs.arrays[i]);
        if (item && item != Py_None && (axis < 0 || axis >= (long)wg_array_rank(a.inputs.arrays[i])) && !PyErr_Occurred())
            PyErr_SetString(core_error_class(WG_SHAPE), "an input has no such axis to map");
        Py_XDECREF(item);
        a.axes[i] = (int32_t)axis;
        good = !PyErr_Occurred();
    }
    if (good && attempt_run(&a, run_map, 0)) answer = list_objects(a.context, &a.answers, a.function.answered);
    attempt_end(&a);
    return answer;
}

typedef struct jacobian_place {
    uint32_t output, input;
    bool second; /* a Hessian */
} jacobian_place;

/* jacobian(callable, inputs, outputs, output, input) and hessian(callable, inputs, input): one array */
static PyObject *jacobian_at(PyObject *callable, PyObject *inputs, uint32_t outputs, jacobian_place place)
{
    attempt a = {.context = NULL};
    PyObject *answer = NULL;
    if (attempt_begin(&a, callable, inputs, outputs)) {
        wg_function function = {call_python, &a.function, a.inputs.count, outputs};
        a.function.outputs = outputs;
        wg_array *array = place.second ? wg_function_hessian(a.context->lazy, &function, a.inputs.arrays, place.input)
                                       : wg_function_jacobian(a.context->lazy, &function, a.inputs.arrays, place.output, place.input);
        answer = core_wrap(a.context, array);
    }
    attempt_end(&a);
    return answer;
}

static PyObject *jacobian(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *callable, *inputs;
    unsigned outputs, output, input;
    if (!PyArg_ParseTuple(arguments, "OOIII:jacobian", &callable, &inputs, &outputs, &output, &input)) return NULL;
    return jacobian_at(callable, inputs, outputs, (jacobian_place){output, input, false});
}

static PyObject *hessian(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *callable, *inputs;
    unsigned input;
    if (!PyArg_ParseTuple(arguments, "OOI:hessian", &callable, &inputs, &input)) return NULL;
    return jacobian_at(callable, inputs, 1, (jacobian_place){0, input, true});
}

/* custom(callable, rule, inputs, outputs): outputs. The rule takes inputs, outputs and tangents in one list. */
static PyObject *custom(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *callable, *rule, *inputs, *answer = NULL;
    unsigned outputs;
    attempt a = {.context = NULL};
    if (!PyArg_ParseTuple(arguments, "OOOI:custom", &callable, &rule, &inputs, &outputs)) return NULL;
    if (attempt_begin(&a, callable, inputs, outputs) && list_room(&a.outputs, outputs)) {
        uint32_t all = 2 * a.inputs.count + outputs;
        python_function tangent = {a.context, rule, all, outputs, 0};
        wg_function function = {call_python, &a.function, a.inputs.count, outputs}, rules = {call_python, &tangent, all, outputs};
        a.function.outputs = outputs;
        bool good = wg_function_custom(a.context->lazy, &function, &rules, a.inputs.arrays, a.outputs.arrays);
        list_own(a.context, &a.outputs);
        answer = good ? list_objects(a.context, &a.outputs, outputs) : core_raise(a.context);
    }
    attempt_end(&a);
    return answer;
}

/* ---- compiled functions ---- */

/* What a compiled function is kept by: a letter a leaf or a nesting, of arrays their kinds, tags and shapes. */
typedef struct signature {
    PyObject *inputs, *fixed; /* lists: arrays; types and values of leaves that are none, keys of dicts */
    char *words;
    size_t used, room;
} signature;

static bool put(signature *s, const void *bytes, size_t count)
{
    if (s->used + count > s->room) {
        size_t room = 2 * (s->used + count) + 64;
        char *words = realloc(s->words, room);
        if (!words) return PyErr_NoMemory(), false;
        s->words = words;
        s->room = room;
    }
    memcpy(s->words + s->used, bytes, count);
    s->used += count;
    return true;
}

static bool put_array(signature *s, char letter, PyObject *object)
{
    const wg_array *array = ((core_array *)object)->handle;
    uint32_t rank = wg_array_rank(array), tag = wg_array_tag(array);
    char facts[3] = {letter, (char)wg_array_kind(array), (char)rank};
    return put(s, facts, 3) && put(s, &tag, sizeof tag) && put(s, wg_array_shape(array), rank * sizeof(int64_t)) &&
           PyList_Append(s->inputs, object) == 0;
}

/* A float or complex number of Python is an array [] that takes the other operand's kind, as the number does. */
static bool put_number(signature *s, core_context *context, PyObject *number)
{
    wg_array *plain = core_array_of(context, number, WG_KIND_COUNT),
             *weak = plain ? core_own(context, wg_array_tagged(plain, CORE_WEAK)) : NULL;
    PyObject *object = plain ? core_wrap_owned(context, weak) : NULL;
    bool good = object && put_array(s, 'n', object);
    Py_XDECREF(object);
    wg_array_release(plain);
    return good;
}

static bool put_leaf(signature *s, core_context *context, PyObject *leaf)
{
    if (core_is_array(leaf)) return put_array(s, 'a', leaf);
    if (PyFloat_CheckExact(leaf) || PyComplex_CheckExact(leaf)) return put_number(s, context, leaf);
    if (!PyLong_Check(leaf) && !PyUnicode_Check(leaf) && !PyBytes_Check(leaf) && !PyType_Check(leaf) &&
        (PyObject_HasAttrString(leaf, "__dlpack__") || PyObject_HasAttrString(leaf, "__array__"))) {
        wg_array *array = core_array_of(context, leaf, WG_KIND_COUNT);
        PyObject *object = array ? core_wrap_owned(context, array) : NULL;
        bool good = object && put_array(s, 'a', object);
        Py_XDECREF(object);
        return good;
    }
    return put(s, "f", 1) && PyList_Append(s->fixed, (PyObject *)Py_TYPE(leaf)) == 0 && PyList_Append(s->fixed, leaf) == 0;
}

static bool put_tree(signature *s, core_context *context, PyObject *what);

static bool put_children(signature *s, core_context *context, PyObject *what, char letter)
{
    uint32_t count = (uint32_t)PySequence_Size(what);
    bool good = put(s, &letter, 1) && put(s, &count, sizeof count);
    for (uint32_t i = 0; good && i < count; i++)
        good = put_tree(s, context, letter == 'l' ? PyList_GetItem(what, i) : PyTuple_GetItem(what, i));
    return good;
}

/* Keys stand among the fixed values, in the order in which tree_flatten takes them. */
static bool put_dict(signature *s, core_context *context, PyObject *what)
{
    PyObject *names = core_tree_keys(what);
    uint32_t count = names ? (uint32_t)PyTuple_Size(names) : 0;
    bool good = names && put(s, "d", 1) && put(s, &count, sizeof count) && (!count || PyList_Append(s->fixed, names) == 0);
    for (uint32_t i = 0; good && i < count; i++) {
        PyObject *value = PyDict_GetItemWithError(what, PyTuple_GetItem(names, i));
        good = value && put_tree(s, context, value);
    }
    Py_XDECREF(names);
    return good;
}

static bool put_tree(signature *s, core_context *context, PyObject *what)
{
    if (core_is_array(what)) return put_array(s, 'a', what);
    if (what == Py_None) return put(s, "0", 1);
    bool tuple = PyTuple_CheckExact(what), list = PyList_CheckExact(what), dict = PyDict_CheckExact(what);
    bool named = !tuple && core_tree_is_named(what);
    if (!tuple && !list && !dict && !named) return put_leaf(s, context, what);
    if (Py_EnterRecursiveCall(" in arguments")) return false;
    bool good = !named || PyList_Append(s->fixed, (PyObject *)Py_TYPE(what)) == 0;
    good = good && (dict ? put_dict(s, context, what) : put_children(s, context, what, tuple ? 't' : list ? 'l' : 'N'));
    Py_LeaveRecursiveCall();
    return good;
}

/* signature(arguments, names): the arrays of a call, and what it is kept by: its nesting and what is known of its leaves, as bytes, and
   the values of leaves that are no arrays. Equal ones have equal trees (tree.c). */
static PyObject *signature_of(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count != 2) return PyErr_SetString(PyExc_TypeError, "signature takes the arguments of a call and their names"), NULL;
    core_context *context = core_current();
    signature s = {PyList_New(0), PyList_New(0), NULL, 0, 0};
    bool good = context && s.inputs && s.fixed && put_tree(&s, context, arguments[0]);
    good = good && (!PyDict_Size(arguments[1]) || put_tree(&s, context, arguments[1]));
    PyObject *words = good ? PyBytes_FromStringAndSize(s.words, (Py_ssize_t)s.used) : NULL;
    if (words && PyList_Size(s.fixed)) words = Py_BuildValue("(NN)", words, PyList_AsTuple(s.fixed));
    PyObject *answer = words ? Py_BuildValue("(ON)", s.inputs, words) : NULL;
    Py_XDECREF(s.inputs);
    Py_XDECREF(s.fixed);
    free(s.words);
    return answer;
}

typedef struct core_jit {
    PyObject_HEAD
    python_function function; /* callable is owned */
    wg_jit *jit;
} core_jit;

static void free_jit(void *what)
{
    wg_jit *jit = what;
    wg_jit_free(&jit);
}

/* Jit(callable, inputs, outputs) */
static PyObject *jit_new(PyTypeObject *type, PyObject *arguments, PyObject *names)
{
    (void)names;
    PyObject *callable;
    unsigned inputs, outputs;
    if (!PyArg_ParseTuple(arguments, "OII:Jit", &callable, &inputs, &outputs)) return NULL;
    core_context *context = core_current();
    core_jit *self = context ? (core_jit *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0) : NULL;
    if (!self) return NULL;
    self->function = (python_function){core_context_keep(context), Py_NewRef(callable), inputs, outputs, 0};
    wg_function function = {call_python, &self->function, inputs, outputs};
    self->jit = wg_jit_new(context->lazy, &function, NULL, 0);
    if (self->jit) return (PyObject *)self;
    Py_DECREF(self);
    return core_raise(context);
}

static int jit_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((core_jit *)self)->function.callable);
    return 0;
}

static int jit_clear(PyObject *self)
{
    Py_CLEAR(((core_jit *)self)->function.callable);
    return 0;
}

static void jit_dealloc(PyObject *self)
{
    core_jit *jit = (core_jit *)self;
    PyObject_GC_UnTrack(self);
    jit_clear(self);
    if (jit->jit) core_drop(jit->function.context, free_jit, jit->jit);
    else core_context_release(jit->function.context);
    core_free_object(self);
    core_settle();
}

/* call(inputs): outputs, as many as the last trace answered; the number that a trace answered where that is more than there is room for. */
static PyObject *jit_call(PyObject *self, PyObject *inputs)
{
    core_jit *jit = (core_jit *)self;
    core_context *context = core_current();
    array_list given = {NULL, 0}, outputs = {NULL, 0};
    PyObject *answer = NULL;
    if (context != jit->function.context)
        return context ? (PyErr_SetString(core_error_class(WG_BUSY), "a compiled function belongs to another thread"), NULL) : NULL;
    if (list_take(context, inputs, &given) && list_room(&outputs, jit->function.outputs)) {
        bool good = wg_jit_call(jit->jit, given.arrays, outputs.arrays);
        list_own(context, &outputs);
        if (good) answer = list_objects(context, &outputs, jit->function.answered);
        else if (!PyErr_Occurred() && jit->function.answered > jit->function.outputs) {
            wg_lazy_error_clear(context->lazy);
            answer = PyLong_FromUnsignedLong(jit->function.answered);
        } else {
            core_raise(context);
        }
    }
    list_free(&given);
    list_free(&outputs);
    core_settle();
    return answer;
}

static PyObject *jit_figures(PyObject *self, PyObject *unused)
{
    (void)unused;
    wg_jit_figures figures;
    wg_jit_figures_of(((core_jit *)self)->jit, &figures);
    return Py_BuildValue("{sKsKsKsz}", "calls", figures.calls, "traces", figures.traces, "replays", figures.replays, "stopped",
                         figures.stopped);
}

static PyMethodDef jit_methods[] = {
    {"call", jit_call, METH_O, NULL},
    {"figures", jit_figures, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot jit_slots[] = {
    {Py_tp_doc, "A callable that takes and answers lists of arrays, compiled."},
    {Py_tp_new, (void *)jit_new},
    {Py_tp_dealloc, (void *)jit_dealloc},
    {Py_tp_traverse, (void *)jit_traverse},
    {Py_tp_clear, (void *)jit_clear},
    {Py_tp_methods, jit_methods},
    {0, NULL},
};

static PyType_Spec jit_spec = {"wengert._core.Jit", sizeof(core_jit), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, jit_slots};

PyMethodDef core_transform_methods[] = {
    {"gradient", gradient, METH_VARARGS, NULL},
    {"vjp", vjp, METH_VARARGS, NULL},
    {"jvp", jvp, METH_VARARGS, NULL},
    {"hessian_vector", hessian_vector, METH_VARARGS, NULL},
    {"vmap", vmap, METH_VARARGS, NULL},
    {"jacobian", jacobian, METH_VARARGS, NULL},
    {"hessian", hessian, METH_VARARGS, NULL},
    {"custom", custom, METH_VARARGS, NULL},
    {"signature", (PyCFunction)(void (*)(void))signature_of, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

bool core_transform_init(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &jit_spec, NULL);
    return type && PyModule_AddObjectRef(module, "Jit", type) == 0;
}
