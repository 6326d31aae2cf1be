/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Functions of arrays: those of arrays.def, which take arrays alone, and those of calls.def, whose arguments a signature describes. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

/* ---- arguments by a signature ---- */

#define MOST_ARGUMENTS 8

typedef struct argument {
    wg_array *array;  /* owned */
    wg_array **list;  /* [count] owned */
    uint32_t count;   /* of list, axes, shape */
    bool given;       /* X: not None */
    union {
        int64_t number;
        double real;
        wg_kind kind;
        const char *text;
        int32_t axes[WG_MAX_RANK];
        int64_t shape[WG_MAX_RANK];
    } as;
} argument;

typedef struct argument_list {
    core_context *context;
    const char *signature;
    argument items[MOST_ARGUMENTS];
} argument_list;

static void arguments_free(argument_list *all)
{
    for (size_t i = 0; all->signature[i]; i++) {
        argument *item = &all->items[i];
        wg_array_release(item->array);
        for (uint32_t k = 0; item->list && k < item->count; k++) wg_array_release(item->list[k]);
        free(item->list);
    }
}

static wg_array *as_floats(core_context *context, wg_array *array)
{
    if (!array || strchr("fc", core_kinds[wg_array_kind(array)].class)) return array;
    wg_array *floats = core_own(context, wg_array_convert(array, WG_KIND_F64));
    wg_array_release(array);
    return floats ? floats : core_raise(context);
}

static bool list_of(core_context *context, PyObject *what, argument *item)
{
    PyObject *all = PySequence_Tuple(what);
    Py_ssize_t count = all ? PyTuple_Size(all) : -1;
    item->list = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *item->list);
    for (; item->list && item->count < count; item->count++)
        if (!(item->list[item->count] = core_array_of(context, PyTuple_GetItem(all, item->count), WG_KIND_COUNT))) break;
    bool good = item->list && item->count == count;
    if (!item->list && !PyErr_Occurred()) PyErr_NoMemory();
    Py_XDECREF(all);
    return good;
}

static bool promote_list(core_context *context, argument *item)
{
    wg_array **promoted = calloc((size_t)item->count + 1, sizeof *promoted);
    if (!promoted) return PyErr_NoMemory(), false;
    bool good = wg_array_promote(item->list, item->count, promoted) || core_raise(context);
    for (uint32_t i = 0; good && i < item->count; i++) {
        wg_array_release(item->list[i]);
        item->list[i] = core_own(context, promoted[i]);
    }
    free(promoted);
    return good;
}

/* One argument; a number of Python in a P waits for the kind of the others. */
static bool take_argument(core_context *context, char letter, PyObject *what, argument *item)
{
    int64_t number;
    const int32_t *axes;
    switch (letter) {
    case 'P':
        if (core_is_number(what)) return true;
        return (item->array = core_array_of(context, what, WG_KIND_COUNT)) != NULL;
    case 'O':
        if (what == Py_None) return true;
        return (item->array = core_array_of(context, what, WG_KIND_COUNT)) != NULL;
    case 'A': return (item->array = core_array_of(context, what, WG_KIND_COUNT)) != NULL;
    case 'F': return (item->array = as_floats(context, core_array_of(context, what, WG_KIND_COUNT))) != NULL;
    case 'R':
        item->array = core_array_of(context, what, WG_KIND_COUNT);
        return item->array && (!wg_array_is_pending(item->array) || core_run(context, &item->array, 1));
    case 'L': return list_of(context, what, item);
    case 'Q': return list_of(context, what, item) && promote_list(context, item);
    case 'X': return item->given = what != Py_None, core_axes_of(what, item->as.axes, &axes, &item->count);
    case 'S': return core_shape_of(what, &item->count, item->as.shape);
    case 'K': return (item->as.kind = core_kind_of(what)) != WG_KIND_COUNT;
    case 'T': return (item->as.text = PyUnicode_AsUTF8AndSize(what, NULL)) != NULL;
    case 'D': return item->as.real = PyFloat_AsDouble(what), !PyErr_Occurred();
    case 'B': return item->as.number = PyObject_IsTrue(what), item->as.number >= 0;
    default: /* I, N */
        number = PyNumber_AsSsize_t(what, PyExc_OverflowError);
        if (letter == 'I' && (number < INT32_MIN || number > INT32_MAX)) number = INT32_MAX;
        return item->as.number = number, !PyErr_Occurred();
    }
}

static wg_kind common_kind(const argument_list *all, PyObject *const *arguments)
{
    wg_kind kind = WG_KIND_COUNT;
    for (size_t i = 0; all->signature[i]; i++) {
        if (all->signature[i] != 'P' || !all->items[i].array) continue;
        wg_kind own = wg_array_kind(all->items[i].array), before = kind;
        kind = kind == WG_KIND_COUNT ? own : wg_kind_promoted(kind, own);
        if (kind == WG_KIND_COUNT)
            PyErr_Format(core_error_class(WG_KIND), "no kind holds items of %s and of %s", core_kinds[before].name, core_kinds[own].name);
        if (kind == WG_KIND_COUNT) return kind;
    }
    bool any = kind != WG_KIND_COUNT;
    for (size_t i = 0; all->signature[i]; i++)
        if (all->signature[i] == 'P' && !all->items[i].array)
            kind = core_kind_beside(arguments[i], any || kind != WG_KIND_COUNT ? kind : WG_KIND_BOOL);
    return kind;
}

static bool promote(argument_list *all, PyObject *const *arguments)
{
    if (!strchr(all->signature, 'P')) return true;
    wg_kind kind = common_kind(all, arguments);
    for (size_t i = 0; all->signature[i] && kind != WG_KIND_COUNT; i++) {
        argument *item = &all->items[i];
        if (all->signature[i] != 'P') continue;
        wg_array *array =
            item->array ? core_own(all->context, wg_array_convert(item->array, kind)) : core_number(all->context, arguments[i], kind);
        if (!array) return core_raise(all->context), false;
        wg_array_release(item->array);
        item->array = array;
    }
    return kind != WG_KIND_COUNT;
}

static bool take_arguments(argument_list *all, const char *name, const char *signature, PyObject *const *arguments, Py_ssize_t count)
{
    all->context = core_current();
    all->signature = signature;
    for (size_t i = 0; signature[i]; i++)
        all->items[i].array = NULL, all->items[i].list = NULL, all->items[i].count = 0, all->items[i].given = false;
    if (!all->context) return false;
    if ((size_t)count != strlen(signature)) {
        PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, not %zd", name, (Py_ssize_t)strlen(signature), count);
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        if (!take_argument(all->context, signature[i], arguments[i], &all->items[i])) return false;
    return promote(all, arguments);
}

static PyObject *tuple_of(core_context *context, bool good, wg_array **results, uint32_t count)
{
    PyObject *answer = good ? PyTuple_New(count) : core_raise(context);
    for (uint32_t i = 0; good && i < count; i++) {
        PyObject *item = core_wrap(context, results[i]);
        if (!item) Py_CLEAR(answer);
        if (answer) PyTuple_SetItem(answer, i, item);
        else Py_XDECREF(item);
    }
    return answer;
}

#define A(i) all.items[i].array
#define LIST(i) all.items[i].list, all.items[i].count
#define AXES(i) (all.items[i].given ? all.items[i].as.axes : NULL), all.items[i].count
#define SHAPE(i) all.items[i].count, all.items[i].as.shape
#define I(i) (int32_t)all.items[i].as.number
#define N(i) all.items[i].as.number
#define B(i) (all.items[i].as.number != 0)
#define D(i) all.items[i].as.real
#define K(i) all.items[i].as.kind
#define T(i) all.items[i].as.text
#define LAZY all.context->lazy

#define CALL_FUNCTION(name, signature, call) \
    static PyObject *call_##name(PyObject *module, PyObject *const *arguments, Py_ssize_t count) \
    { \
        (void)module; \
        argument_list all; \
        PyObject *answer = take_arguments(&all, #name, signature, arguments, count) ? core_wrap(all.context, call) : NULL; \
        arguments_free(&all); \
        return answer; \
    }
#define CALLS(name, signature, number, call) \
    static PyObject *call_##name(PyObject *module, PyObject *const *arguments, Py_ssize_t count) \
    { \
        (void)module; \
        argument_list all; \
        wg_array *results[number] = {NULL}; \
        PyObject *answer = take_arguments(&all, #name, signature, arguments, count) ? tuple_of(all.context, call, results, number) : NULL; \
        arguments_free(&all); \
        return answer; \
    }
#define CALL CALL_FUNCTION
#include "calls.def"

/* ---- calls with a number of results of their own ---- */

static PyObject *call_nonzero(PyObject *module, PyObject *what)
{
    (void)module;
    argument_list all;
    wg_array *results[WG_MAX_RANK] = {NULL};
    PyObject *answer = NULL;
    if (take_arguments(&all, "nonzero", "R", &what, 1))
        answer = tuple_of(all.context, wg_array_nonzero(A(0), results), results, wg_array_rank(A(0)));
    arguments_free(&all);
    return answer;
}

/* Lists in, as many arrays out. */
static PyObject *call_list(const char *name, const char *signature, PyObject *const *arguments, Py_ssize_t count,
                           bool (*call)(const argument_list *all, wg_array **results))
{
    argument_list all;
    PyObject *answer = NULL;
    if (take_arguments(&all, name, signature, arguments, count)) {
        uint32_t number = all.items[0].list ? all.items[0].count : (uint32_t)N(0);
        wg_array **results = calloc((size_t)number + 1, sizeof *results);
        answer = results ? tuple_of(all.context, call(&all, results), results, number) : PyErr_NoMemory();
        free(results);
    }
    arguments_free(&all);
    return answer;
}

static bool do_broadcast(const argument_list *all, wg_array **results)
{
    return wg_array_broadcast_arrays(all->items[0].list, all->items[0].count, results);
}

static bool do_meshgrid(const argument_list *all, wg_array **results)
{
    return wg_array_meshgrid(all->items[0].list, all->items[0].count, all->items[1].as.number != 0, results);
}

static bool do_split(const argument_list *all, wg_array **results)
{
    return wg_array_split(all->items[1].array, (uint32_t)all->items[0].as.number, (int32_t)all->items[2].as.number, results);
}

static PyObject *call_broadcast_arrays(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    PyObject *answer = NULL, *list = PyTuple_New(count);
    for (Py_ssize_t i = 0; list && i < count; i++) PyTuple_SetItem(list, i, Py_NewRef(arguments[i]));
    if (list) answer = call_list("broadcast_arrays", "L", &list, 1, do_broadcast);
    Py_XDECREF(list);
    return answer;
}

static PyObject *call_meshgrid(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    return call_list("meshgrid", "LB", arguments, count, do_meshgrid);
}

static PyObject *call_split(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    return call_list("split", "NAI", arguments, count, do_split);
}

static PyObject *call_move_axis(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    argument_list all;
    PyObject *answer = NULL;
    if (take_arguments(&all, "move_axis", "AXX", arguments, count)) {
        if (all.items[1].count == all.items[2].count)
            answer = core_wrap(all.context, wg_array_move_axis(A(0), all.items[1].as.axes, all.items[2].as.axes, all.items[1].count));
        else PyErr_SetString(core_error_class(WG_ARGUMENT), "as many axes go as come");
    }
    arguments_free(&all);
    return answer;
}

static PyObject *call_roll(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    argument_list all;
    PyObject *answer = NULL;
    if (take_arguments(&all, "roll", "ASX", arguments, count)) {
        argument *shifts = &all.items[1], *axes = &all.items[2];
        for (; axes->given && shifts->count == 1 && shifts->count < axes->count; shifts->count++)
            shifts->as.shape[shifts->count] = shifts->as.shape[0];
        for (; axes->given && axes->count == 1 && axes->count < shifts->count; axes->count++) axes->as.axes[axes->count] = axes->as.axes[0];
        for (uint32_t i = 1; axes->given && shifts->count < axes->count; i++) shifts->as.shape[shifts->count++] = shifts->as.shape[0];
        if (axes->given ? axes->count == shifts->count : shifts->count == 1)
            answer = core_wrap(all.context, wg_array_roll(A(0), shifts->as.shape, axes->given ? axes->as.axes : NULL, shifts->count));
        else PyErr_SetString(core_error_class(WG_ARGUMENT), "roll takes a shift for each axis");
    }
    arguments_free(&all);
    return answer;
}

static PyObject *call_tensordot(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    argument_list all;
    PyObject *answer = NULL;
    if (take_arguments(&all, "tensordot", "PPXX", arguments, count)) {
        if (all.items[2].count == all.items[3].count)
            answer = core_wrap(all.context, wg_array_tensordot(A(0), A(1), all.items[2].as.axes, all.items[3].as.axes, all.items[2].count));
        else PyErr_SetString(core_error_class(WG_ARGUMENT), "tensordot takes as many axes of the one as of the other");
    }
    arguments_free(&all);
    return answer;
}

/* pad(array, before, after, mode, value): before and after [rank] */
static PyObject *call_pad(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    argument_list all;
    PyObject *answer = NULL;
    if (take_arguments(&all, "pad", "ASSTD", arguments, count)) {
        if (all.items[1].count == wg_array_rank(A(0)) && all.items[2].count == wg_array_rank(A(0)))
            answer = core_wrap(all.context, wg_array_pad(A(0), all.items[1].as.shape, all.items[2].as.shape, T(3), D(4)));
        else PyErr_SetString(core_error_class(WG_ARGUMENT), "pad takes a width before and after each axis");
    }
    arguments_free(&all);
    return answer;
}

/* A row of any name: record(name, operands, attributes). */
static PyObject *call_record(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    argument_list all;
    PyObject *answer = NULL, *flat = count == 3 ? PySequence_Tuple(arguments[2]) : NULL;
    Py_ssize_t attribute_count = flat ? PyTuple_Size(flat) : 0;
    int64_t *attributes = calloc((size_t)attribute_count + 1, sizeof *attributes);
    for (Py_ssize_t i = 0; attributes && i < attribute_count; i++) attributes[i] = PyLong_AsLongLong(PyTuple_GetItem(flat, i));
    bool good = attributes && !PyErr_Occurred() && take_arguments(&all, "record", "TL", arguments, count == 3 ? 2 : count);
    if (good) {
        wg_op op = wg_op_from_text(T(0));
        if (op == WG_OP_COUNT) PyErr_Format(core_error_class(WG_NAME), "there is no row %R", arguments[0]);
        else answer = core_wrap(all.context, wg_array_record(LAZY, op, LIST(1), attributes, (uint32_t)attribute_count));
        arguments_free(&all);
    } else if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_TypeError, "record takes a name, operands and attributes");
    }
    free(attributes);
    Py_XDECREF(flat);
    return answer;
}

/* ---- arrays.def ---- */

/* Whether a row takes a kind as it is; integers that it does not take go in as f64. */
static bool row_takes(wg_op op, wg_kind kind, uint32_t operands)
{
    wg_type types[2] = {{kind, 0, NULL}, {kind, 0, NULL}};
    wg_kind answered;
    uint32_t rank;
    int64_t shape[WG_MAX_RANK];
    return wg_op_infer(op, types, operands, NULL, 0, &answered, &rank, shape, NULL);
}

static bool is_floating(wg_kind kind)
{
    return strchr("fc", core_kinds[kind].class) != NULL;
}

static PyObject *call_unary(wg_op op, wg_array *(*call)(wg_array *a), PyObject *what)
{
    core_context *context = core_current();
    wg_array *array = context ? core_array_of(context, what, WG_KIND_COUNT) : NULL;
    if (array && !is_floating(wg_array_kind(array)) && !row_takes(op, wg_array_kind(array), 1)) array = as_floats(context, array);
    if (!array) return NULL;
    PyObject *answer = core_wrap(context, call(array));
    wg_array_release(array);
    return answer;
}

static PyObject *call_composed(wg_array *(*call)(wg_array *a), PyObject *what)
{
    core_context *context = core_current();
    wg_array *array = context ? as_floats(context, core_array_of(context, what, WG_KIND_COUNT)) : NULL;
    if (!array) return NULL;
    PyObject *answer = core_wrap(context, call(array));
    wg_array_release(array);
    return answer;
}

static PyObject *call_pair(wg_op op, core_binary call, PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 2) {
        PyErr_Format(PyExc_TypeError, "two operands are needed, not %zd", count);
        return NULL;
    }
    return core_call_binary(call, arguments[0], arguments[1], op < WG_OP_COUNT && row_takes(op, WG_KIND_I64, 2) ? CORE_SAME : CORE_FLOATS,
                            false);
}

typedef wg_array *(*reduction)(wg_array *a, const int32_t *axes, uint32_t count, bool keep);

static PyObject *call_reduction(const char *name, reduction call, PyObject *const *arguments, Py_ssize_t count, bool floats)
{
    argument_list all;
    PyObject *answer = NULL;
    if (take_arguments(&all, name, floats ? "FXB" : "AXB", arguments, count)) answer = core_wrap(all.context, call(A(0), AXES(1), B(2)));
    arguments_free(&all);
    return answer;
}

#define REDUCTION_FLOATS_mean true
#define REDUCTION_FLOATS_median true
#define REDUCTION_FLOATS_log_sum_exp true
#define REDUCTION_FLOATS_sum false
#define REDUCTION_FLOATS_prod false
#define REDUCTION_FLOATS_max false
#define REDUCTION_FLOATS_min false
#define REDUCTION_FLOATS_any false
#define REDUCTION_FLOATS_all false
#define REDUCTION_FLOATS_count_nonzero false
#define REDUCTION_FLOATS_arg_max false
#define REDUCTION_FLOATS_arg_min false

#define UNARY(name, Row, doc) \
    static PyObject *unary_##name(PyObject *module, PyObject *a) { return (void)module, call_unary(WG_OP_##Row, wg_array_##name, a); }
#define COMPOSED(name, doc) \
    static PyObject *composed_##name(PyObject *module, PyObject *a) { return (void)module, call_composed(wg_array_##name, a); }
#define BINARY(name, Row, doc) \
    static PyObject *binary_##name(PyObject *module, PyObject *const *arguments, Py_ssize_t count) \
    { return (void)module, call_pair(WG_OP_##Row, wg_array_##name, arguments, count); }
#define REDUCTION(name, doc) \
    static PyObject *reduction_##name(PyObject *module, PyObject *const *arguments, Py_ssize_t count) \
    { return (void)module, call_reduction(#name, wg_array_##name, arguments, count, REDUCTION_FLOATS_##name); }
/* Rows of three operands take floats alone. */
static bool take_floats(argument_list *all, const char *name, PyObject *const *arguments, Py_ssize_t count)
{
    if (!take_arguments(all, name, "PPP", arguments, count)) return false;
    for (int i = 0; i < 3; i++)
        if (!(all->items[i].array = as_floats(all->context, all->items[i].array))) return false;
    return true;
}

#define TERNARY(name, Row, doc) \
    static PyObject *call_##name(PyObject *module, PyObject *const *arguments, Py_ssize_t count) \
    { \
        (void)module; \
        argument_list all; \
        PyObject *answer = take_floats(&all, #name, arguments, count) ? core_wrap(all.context, wg_array_##name(A(0), A(1), A(2))) : NULL; \
        arguments_free(&all); \
        return answer; \
    }
#define MATRICES(name, Row, doc) CALL_FUNCTION(name, "PP", wg_array_##name(A(0), A(1)))
#include "wengert/arrays.def"

/* Calls of two operands that are no rows: the promotion of each. */
#define PAIRS(X) \
    X(fmod, CORE_SAME) X(hypot, CORE_FLOATS) X(logaddexp, CORE_FLOATS) X(copysign, CORE_FLOATS) X(nextafter, CORE_FLOATS) \
    X(lcm, CORE_SAME) X(logical_and, CORE_SAME) X(logical_or, CORE_SAME) X(logical_xor, CORE_SAME)
#define PAIR(name, promotion) \
    static PyObject *pair_##name(PyObject *module, PyObject *const *arguments, Py_ssize_t count) \
    { \
        (void)module; \
        if (count == 2) return core_call_binary(wg_array_##name, arguments[0], arguments[1], promotion, false); \
        PyErr_Format(PyExc_TypeError, #name " takes two operands, not %zd", count); \
        return NULL; \
    }
PAIRS(PAIR)

static PyObject *call_true_divide(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count == 2) return core_call_binary(wg_array_div, arguments[0], arguments[1], CORE_FLOATS, false);
    PyErr_Format(PyExc_TypeError, "divide takes two operands, not %zd", count);
    return NULL;
}

static PyObject *call_matmul(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count == 2) return core_call_binary(core_matmul, arguments[0], arguments[1], CORE_SAME, false);
    PyErr_Format(PyExc_TypeError, "matmul takes two operands, not %zd", count);
    return NULL;
}

#define FAST(function) (PyCFunction)(void (*)(void))(function)
PyMethodDef core_call_methods[] = {
#define CALL(name, signature, call) {#name, FAST(call_##name), METH_FASTCALL, NULL},
#define CALLS(name, signature, count, call) {#name, FAST(call_##name), METH_FASTCALL, NULL},
#include "calls.def"
#define UNARY(name, Row, doc) {#name, unary_##name, METH_O, #name "(x, /)\n--\n\n" doc},
#define COMPOSED(name, doc) {#name, composed_##name, METH_O, #name "(x, /)\n--\n\n" doc},
#define BINARY(name, Row, doc) {#name, FAST(binary_##name), METH_FASTCALL, #name "(x1, x2, /)\n--\n\n" doc},
#define REDUCTION(name, doc) {#name, FAST(reduction_##name), METH_FASTCALL, doc},
#define TERNARY(name, Row, doc) {#name, FAST(call_##name), METH_FASTCALL, #name "(a, b, c, /)\n--\n\n" doc},
#define MATRICES(name, Row, doc) {#name, FAST(call_##name), METH_FASTCALL, #name "(a, b, /)\n--\n\n" doc},
#include "wengert/arrays.def"
#define PAIR_METHOD(name, promotion) \
    {#name, FAST(pair_##name), METH_FASTCALL, #name "(x1, x2, /)\n--\n\nSee the function of this name in array.h."},
    PAIRS(PAIR_METHOD)
    {"true_divide", FAST(call_true_divide), METH_FASTCALL, "true_divide(x1, x2, /)\n--\n\na / b; integers as f64"},
    {"matmul", FAST(call_matmul), METH_FASTCALL,
     "matmul(x1, x2, /)\n--\n\nMatrices on the last two axes, the others broadcast; a vector is a row on the left, a column on the right."},
    {"nonzero", call_nonzero, METH_O, NULL},
    {"broadcast_arrays", FAST(call_broadcast_arrays), METH_FASTCALL, NULL},
    {"meshgrid", FAST(call_meshgrid), METH_FASTCALL, NULL},
    {"split", FAST(call_split), METH_FASTCALL, NULL},
    {"move_axis", FAST(call_move_axis), METH_FASTCALL, NULL},
    {"roll", FAST(call_roll), METH_FASTCALL, NULL},
    {"tensordot", FAST(call_tensordot), METH_FASTCALL, NULL},
    {"pad", FAST(call_pad), METH_FASTCALL, NULL},
    {"record", FAST(call_record), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
