/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The type wengert.array: one handle of an array that waits, and the context that it is of. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

PyTypeObject *core_array_type;

PyObject *core_wrap_kept(core_context *context, wg_array *array)
{
    core_array *object = PyObject_New(core_array, core_array_type);
    if (!object) return NULL;
    object->handle = wg_array_keep(array);
    object->context = core_context_keep(context);
    object->refusal = NULL;
    return (PyObject *)object;
}

PyObject *core_wrap_owned(core_context *context, wg_array *array)
{
    if (!array) return core_raise(context);
    core_place(array);
    core_array *object = PyObject_New(core_array, core_array_type);
    if (!object) {
        wg_array_release(array);
        return NULL;
    }
    object->handle = array;
    object->context = core_context_keep(context);
    object->refusal = NULL;
    return (PyObject *)object;
}

PyObject *core_wrap(core_context *context, wg_array *array)
{
    return core_wrap_owned(context, core_own(context, array));
}

static _Thread_local unsigned long long left;

void core_left(void)
{
    left++;
}

PyObject *core_left_count(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyLong_FromUnsignedLongLong(left);
}

static void array_dealloc(PyObject *self)
{
    core_array *array = (core_array *)self;
    PyTypeObject *type = Py_TYPE(self);
    core_release(array->context, array->handle);
    Py_XDECREF(array->refusal);
    PyObject_Free(self);
    Py_DECREF(type);
    core_settle();
}

/* array(items, dtype=None, copy=None) */
static PyObject *array_new(PyTypeObject *type, PyObject *arguments, PyObject *names)
{
    (void)type;
    PyObject *items, *dtype = NULL, *copy = NULL, *device = NULL;
    static char *keywords[] = {"items", "dtype", "copy", "device", NULL};
    if (!PyArg_ParseTupleAndKeywords(arguments, names, "O|OOO:array", keywords, &items, &dtype, &copy, &device)) return NULL;
    wg_kind kind;
    if (!core_kind_or(dtype, WG_KIND_COUNT, &kind)) return NULL;
    int how = !copy || copy == Py_None ? -1 : PyObject_IsTrue(copy);
    core_context *context = how == -1 && PyErr_Occurred() ? NULL : core_current();
    wg_array *array = context ? core_array_of_copy(context, items, kind, how) : NULL;
    PyObject *answer = array ? core_wrap_kept(context, array) : NULL;
    if (array) wg_array_release(array);
    core_settle();
    return answer;
}

/* ---- facts ---- */

PyObject *core_shape_tuple(uint32_t rank, const int64_t *shape)
{
    PyObject *tuple = PyTuple_New(rank);
    for (uint32_t axis = 0; tuple && axis < rank; axis++) {
        PyObject *extent = PyLong_FromLongLong(shape[axis]);
        if (!extent) Py_CLEAR(tuple);
        else PyTuple_SetItem(tuple, axis, extent);
    }
    return tuple;
}

bool core_shape_of(PyObject *what, uint32_t *rank, int64_t *shape)
{
    *rank = 0;
    if (PyIndex_Check(what)) {
        *rank = 1;
        shape[0] = PyNumber_AsSsize_t(what, PyExc_OverflowError);
        return !PyErr_Occurred();
    }
    PyObject *list = PySequence_Tuple(what);
    if (!list) return false;
    Py_ssize_t count = PyTuple_Size(list);
    if (count > WG_MAX_RANK) PyErr_Format(core_error_class(WG_SHAPE), "a shape of %zd axes: an array has at most %d", count, WG_MAX_RANK);
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++)
        shape[i] = PyNumber_AsSsize_t(PyTuple_GetItem(list, i), PyExc_OverflowError);
    Py_DECREF(list);
    *rank = (uint32_t)count;
    return !PyErr_Occurred();
}

bool core_axes_of(PyObject *what, int32_t *room, const int32_t **axes, uint32_t *count)
{
    int64_t numbers[WG_MAX_RANK];
    *axes = NULL;
    *count = 0;
    if (!what || what == Py_None) return true;
    if (!core_shape_of(what, count, numbers)) return false;
    for (uint32_t i = 0; i < *count; i++) room[i] = numbers[i] < INT32_MIN || numbers[i] > INT32_MAX ? INT32_MAX : (int32_t)numbers[i];
    *axes = room;
    return true;
}

static core_array *of(PyObject *self) { return (core_array *)self; }

static PyObject *array_shape(PyObject *self, void *unused)
{
    (void)unused;
    return core_shape_tuple(wg_array_rank(of(self)->handle), wg_array_shape(of(self)->handle));
}

static PyObject *array_dtype(PyObject *self, void *unused)
{
    (void)unused;
    return core_dtype(wg_array_kind(of(self)->handle));
}

static PyObject *array_rank(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(wg_array_rank(of(self)->handle));
}

static PyObject *array_size(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLongLong(wg_array_volume(of(self)->handle));
}

static PyObject *array_bytes(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLongLong(wg_array_volume(of(self)->handle) * (long long)wg_kind_bytes(wg_array_kind(of(self)->handle)));
}

static PyObject *array_item_bytes(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(wg_kind_bytes(wg_array_kind(of(self)->handle)));
}

static PyObject *array_device(PyObject *self, void *unused)
{
    (void)self;
    (void)unused;
    return PyUnicode_FromString("cpu");
}

static PyObject *array_pending(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(wg_array_is_pending(of(self)->handle));
}

static Py_ssize_t array_length(PyObject *self)
{
    if (wg_array_rank(of(self)->handle)) return (Py_ssize_t)wg_array_shape(of(self)->handle)[0];
    PyErr_SetString(PyExc_TypeError, "an array [] has no length");
    return -1;
}

static PyObject *array_iterator(PyObject *self)
{
    if (wg_array_rank(of(self)->handle)) return PySeqIter_New(self);
    PyErr_SetString(PyExc_TypeError, "an array [] is not iterated");
    return NULL;
}

/* The array in this thread's context, or itself; owned. */
static wg_array *mine(PyObject *self, core_context **context)
{
    *context = core_current();
    return *context ? core_handle_of(*context, self) : NULL;
}

typedef wg_array *(*unary)(wg_array *a);

static PyObject *by_unary(PyObject *self, unary call)
{
    core_context *context;
    wg_array *array = mine(self, &context);
    if (!array) return NULL;
    PyObject *answer = core_wrap(context, call(array));
    wg_array_release(array);
    return answer;
}

static PyObject *array_transposed(PyObject *self, void *unused)
{
    (void)unused;
    return by_unary(self, wg_array_transpose);
}

static PyObject *array_matrix_transposed(PyObject *self, void *unused)
{
    (void)unused;
    if (wg_array_rank(of(self)->handle) >= 2) return by_unary(self, wg_array_matrix_transpose);
    PyErr_SetString(core_error_class(WG_SHAPE), "mT is of arrays of at least two axes");
    return NULL;
}

/* ---- methods that are functions of the package ---- */

static PyObject *package_function(const char *name)
{
    static PyObject *package;
    if (!package) package = PyImport_ImportModule("wengert");
    return package ? PyObject_GetAttrString(package, name) : NULL;
}

/* np.sum(a) calls a.sum(axis=None, dtype=None, out=None): what it leaves at None is not given. A new reference; NULL passes. */
static PyObject *given_names(PyObject *names)
{
    PyObject *given = names ? PyDict_Copy(names) : NULL;
    static const char *const of_numpy[] = {"dtype", "out"};
    for (size_t i = 0; given && i < sizeof of_numpy / sizeof *of_numpy; i++)
        if (PyDict_GetItemString(given, of_numpy[i]) == Py_None && PyDict_DelItemString(given, of_numpy[i]) < 0) Py_CLEAR(given);
    return given;
}

static PyObject *delegate(const char *name, PyObject *self, PyObject *arguments, PyObject *names)
{
    PyObject *function = package_function(name), *answer = NULL;
    Py_ssize_t count = PyTuple_Size(arguments);
    PyObject *all = function ? PyTuple_New(count + 1) : NULL;
    if (all) {
        PyTuple_SetItem(all, 0, Py_NewRef(self));
        for (Py_ssize_t i = 0; i < count; i++) PyTuple_SetItem(all, i + 1, Py_NewRef(PyTuple_GetItem(arguments, i)));
        PyObject *given = given_names(names);
        if (given || !names) answer = PyObject_Call(function, all, given);
        Py_XDECREF(given);
    }
    Py_XDECREF(all);
    Py_XDECREF(function);
    return answer;
}

#define DELEGATED(X) \
    X(sum) X(mean) X(prod) X(max) X(min) X(any) X(all) X(argmax) X(argmin) X(var) X(std) X(median) X(cumulative_sum) X(squeeze) \
    X(flatten) X(sort) X(argsort) X(take) X(dot) X(round) X(trace) X(repeat) X(clip) X(conj)
#define DELEGATE(name) \
    static PyObject *delegate_##name(PyObject *self, PyObject *arguments, PyObject *names) \
    { return delegate(#name, self, arguments, names); }
DELEGATED(DELEGATE)

static PyObject *array_real(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *function = package_function("real"), *answer = function ? core_call_one(function, self) : NULL;
    Py_XDECREF(function);
    return answer;
}

static PyObject *array_imag(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *function = package_function("imag"), *answer = function ? core_call_one(function, self) : NULL;
    Py_XDECREF(function);
    return answer;
}

/* reshape(shape) and reshape(2, 3) */
static PyObject *array_reshape(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    int64_t shape[WG_MAX_RANK];
    uint32_t rank = 0;
    PyObject *all = PyTuple_New(count);
    for (Py_ssize_t i = 0; all && i < count; i++) PyTuple_SetItem(all, i, Py_NewRef(arguments[i]));
    bool good = all && core_shape_of(count == 1 ? arguments[0] : all, &rank, shape);
    Py_XDECREF(all);
    core_context *context;
    wg_array *array = good ? mine(self, &context) : NULL;
    if (!array) return NULL;
    PyObject *answer = core_wrap(context, wg_array_reshape(array, rank, shape));
    wg_array_release(array);
    return answer;
}

static PyObject *array_transpose(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    int64_t numbers[WG_MAX_RANK];
    int32_t order[WG_MAX_RANK];
    uint32_t rank = 0;
    if (!count) return by_unary(self, wg_array_transpose);
    PyObject *all = PyTuple_New(count);
    for (Py_ssize_t i = 0; all && i < count; i++) PyTuple_SetItem(all, i, Py_NewRef(arguments[i]));
    bool good = all && core_shape_of(count == 1 && !PyIndex_Check(arguments[0]) ? arguments[0] : all, &rank, numbers);
    Py_XDECREF(all);
    for (uint32_t i = 0; i < rank && good; i++) order[i] = (int32_t)numbers[i];
    core_context *context;
    wg_array *array = good ? mine(self, &context) : NULL;
    if (!array) return NULL;
    PyObject *answer = core_wrap(context, wg_array_permute(array, order, rank));
    wg_array_release(array);
    return answer;
}

static PyObject *array_astype(PyObject *self, PyObject *arguments, PyObject *names)
{
    PyObject *dtype, *device = NULL;
    int copy = 1;
    static char *keywords[] = {"dtype", "copy", "device", NULL};
    if (!PyArg_ParseTupleAndKeywords(arguments, names, "O|pO:astype", keywords, &dtype, &copy, &device)) return NULL;
    wg_kind kind = core_kind_of(dtype);
    core_context *context;
    if (!copy && kind == wg_array_kind(of(self)->handle)) return Py_NewRef(self);
    wg_array *array = kind < WG_KIND_COUNT ? mine(self, &context) : NULL;
    if (!array) return NULL;
    PyObject *answer = core_wrap(context, wg_array_convert(array, kind));
    wg_array_release(array);
    return answer;
}

/* ---- reads ---- */

static PyObject *array_run(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (!core_run(of(self)->context, &of(self)->handle, 1)) return NULL;
    return Py_NewRef(self);
}

static PyObject *array_number(PyObject *self)
{
    core_array *array = of(self);
    wg_view view;
    if (wg_array_volume(array->handle) != 1) {
        PyErr_SetString(core_error_class(WG_SHAPE), "only an array of one item is a number");
        return NULL;
    }
    return core_read(array->context, array->handle, &view) ? core_number_of_item(view.kind, view.data) : NULL;
}

static PyObject *array_item(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    core_left();
    if (!count) return array_number(self);
    PyObject *key = PyTuple_New(count);
    for (Py_ssize_t i = 0; key && i < count; i++) PyTuple_SetItem(key, i, Py_NewRef(arguments[i]));
    PyObject *item = key ? core_subscript(self, key) : NULL, *number = item ? array_number(item) : NULL;
    Py_XDECREF(key);
    Py_XDECREF(item);
    return number;
}

static PyObject *by_number(PyObject *self, PyObject *(*convert)(PyObject *number))
{
    PyObject *number = array_number(self), *answer = number ? convert(number) : NULL;
    Py_XDECREF(number);
    return answer;
}

static PyObject *array_float(PyObject *self)
{
    core_left();
    return by_number(self, PyNumber_Float);
}

static PyObject *array_int(PyObject *self) { return by_number(self, PyNumber_Long); }

static PyObject *array_index(PyObject *self)
{
    char class = core_kinds[wg_array_kind(of(self)->handle)].class;
    if (wg_array_rank(of(self)->handle) == 0 && (class == 'i' || class == 'u')) return array_number(self);
    PyErr_SetString(PyExc_TypeError, "only an integer array [] can be an index");
    return NULL;
}

/* A number as Python formats it; of more items their text. */
static PyObject *array_format(PyObject *self, PyObject *how)
{
    PyObject *what = wg_array_rank(of(self)->handle) ? core_str(self) : array_number(self);
    PyObject *answer = what ? PyObject_Format(what, how) : NULL;
    Py_XDECREF(what);
    return answer;
}

static PyObject *array_complex(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_left();
    PyObject *number = array_number(self);
    PyObject *answer = number ? core_call_one((PyObject *)&PyComplex_Type, number) : NULL;
    Py_XDECREF(number);
    return answer;
}

static int array_truth(PyObject *self)
{
    if (wg_array_volume(of(self)->handle) != 1) {
        PyErr_SetString(core_error_class(WG_SHAPE),
                        "an array of other than one item is neither true nor false; use wengert.any or wengert.all");
        return -1;
    }
    PyObject *number = array_number(self);
    int truth = number ? PyObject_IsTrue(number) : -1;
    Py_XDECREF(number);
    return truth;
}

/* ---- to NumPy ---- */

typedef struct exported {
    wg_array *handle;
    core_context *context;
    char format[3];
    Py_ssize_t sizes[2 * WG_MAX_RANK]; /* shape, then strides */
} exported;

/* NumPy asks for a buffer first, drops whatever exception that ends in, Ctrl-C too, and asks __array__ next, which raises it again
   instead of reading once more. */
static void keep_refusal(core_array *array)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    array->refusal = Py_XNewRef(value);
    PyErr_Restore(type, value, trace);
}

static bool raise_refusal(core_array *array)
{
    PyObject *value = array->refusal;
    if (!value) return false;
    array->refusal = NULL;
    PyErr_SetObject((PyObject *)Py_TYPE(value), value);
    Py_DECREF(value);
    return true;
}

static int array_buffer(PyObject *self, Py_buffer *buffer, int flags)
{
    core_array *array = of(self);
    const core_kind *kind = &core_kinds[wg_array_kind(array->handle)];
    wg_view view;
    buffer->obj = NULL;
    Py_CLEAR(array->refusal);
    if (flags & PyBUF_WRITABLE) return PyErr_SetString(PyExc_BufferError, "the items of an array are read-only"), -1;
    if (!kind->format) return PyErr_Format(PyExc_BufferError, "buffers have no format for %s; convert it, or use DLPack", kind->name), -1;
    if (!core_read(array->context, array->handle, &view)) return keep_refusal(array), -1;
    core_left();
    exported *facts = malloc(sizeof *facts);
    if (!facts) return PyErr_NoMemory(), -1;
    Py_ssize_t stride = kind->bytes, *shape = facts->sizes, *strides = facts->sizes + WG_MAX_RANK;
    for (uint32_t axis = view.rank; axis-- > 0; stride *= shape[axis]) {
        shape[axis] = (Py_ssize_t)view.shape[axis];
        strides[axis] = view.strides ? (Py_ssize_t)view.strides[axis] : stride;
    }
    if (view.strides && (flags & PyBUF_STRIDES) != PyBUF_STRIDES)
        return free(facts), PyErr_SetString(PyExc_BufferError, "the items have strides, which the reader does not take"), -1;
    memcpy(facts->format, kind->format, strlen(kind->format) + 1);
    facts->handle = wg_array_keep(array->handle);
    facts->context = core_context_keep(array->context);
    *buffer = (Py_buffer){.buf = view.data,
                          .obj = Py_NewRef(self),
                          .len = (Py_ssize_t)wg_array_volume(array->handle) * kind->bytes,
                          .itemsize = kind->bytes,
                          .readonly = 1,
                          .ndim = (int)view.rank,
                          .internal = facts};
    if (!buffer->buf) buffer->buf = facts; /* of nothing: an address that is one */
    if (flags & PyBUF_FORMAT) buffer->format = facts->format;
    if (flags & PyBUF_ND) buffer->shape = shape;
    if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES) buffer->strides = strides;
    return 0;
}

static void array_buffer_release(PyObject *self, Py_buffer *buffer)
{
    (void)self;
    exported *facts = buffer->internal;
    core_release(facts->context, facts->handle);
    free(facts);
    core_settle();
}

/* NumPy takes the buffer. Where there is none it would ask __array__, which asks NumPy: so that is said first. */
static PyObject *call_numpy(PyObject *self, const char *function, PyObject *dtype)
{
    wg_view view;
    const core_kind *kind = &core_kinds[wg_array_kind(of(self)->handle)];
    if (!core_read(of(self)->context, of(self)->handle, &view)) return NULL;
    if (!kind->format) return PyErr_Format(core_error_class(WG_KIND), "NumPy has no kind for %s; convert it, or use DLPack", kind->name);
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *answer = !numpy                      ? NULL
                       : dtype && dtype != Py_None ? PyObject_CallMethod(numpy, function, "OO", self, dtype)
                                                   : PyObject_CallMethod(numpy, function, "O", self);
    Py_XDECREF(numpy);
    return answer;
}

static PyObject *array_numpy(PyObject *self, PyObject *unused)
{
    (void)unused;
    return call_numpy(self, "asarray", NULL);
}

static PyObject *array_to_numpy(PyObject *self, PyObject *arguments, PyObject *names)
{
    PyObject *dtype = NULL, *copy = NULL;
    static char *keywords[] = {"dtype", "copy", NULL};
    if (!PyArg_ParseTupleAndKeywords(arguments, names, "|OO:__array__", keywords, &dtype, &copy)) return NULL;
    if (raise_refusal(of(self))) return NULL;
    return call_numpy(self, copy == Py_True ? "array" : "asarray", dtype);
}

static PyObject *array_namespace(PyObject *self, PyObject *arguments, PyObject *names)
{
    (void)self;
    PyObject *version = Py_None;
    static char *keywords[] = {"api_version", NULL};
    if (!PyArg_ParseTupleAndKeywords(arguments, names, "|O:__array_namespace__", keywords, &version)) return NULL;
    return PyImport_ImportModule("wengert");
}

static PyObject *array_to_device(PyObject *self, PyObject *arguments, PyObject *names)
{
    PyObject *device, *stream = Py_None;
    static char *keywords[] = {"device", "stream", NULL};
    if (!PyArg_ParseTupleAndKeywords(arguments, names, "O|$O:to_device", keywords, &device, &stream)) return NULL;
    const char *name = PyUnicode_Check(device) ? PyUnicode_AsUTF8AndSize(device, NULL) : NULL;
    if (stream == Py_None && name && !strcmp(name, "cpu")) return Py_NewRef(self);
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "the one device is 'cpu', without streams");
    return NULL;
}

static PyObject *array_copy(PyObject *self, PyObject *unused)
{
    (void)unused;
    return core_wrap_kept(of(self)->context, of(self)->handle);
}

static PyObject *array_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *items = array_numpy(self, NULL);
    return items ? Py_BuildValue("O(N)", core_array_type, items) : NULL;
}

/* ---- the type ---- */

static PyGetSetDef facts[] = {
    {"shape", array_shape, NULL, "extents, one an axis", NULL},
    {"dtype", array_dtype, NULL, "the kind of the items", NULL},
    {"ndim", array_rank, NULL, "how many axes", NULL},
    {"size", array_size, NULL, "how many items", NULL},
    {"nbytes", array_bytes, NULL, "bytes of all items", NULL},
    {"itemsize", array_item_bytes, NULL, "bytes of one item", NULL},
    {"device", array_device, NULL, "'cpu'", NULL},
    {"is_pending", array_pending, NULL, "whether a read would compute", NULL},
    {"T", array_transposed, NULL, "the axes in reverse", NULL},
    {"mT", array_matrix_transposed, NULL, "the last two axes exchanged", NULL},
    {"at", core_at, NULL, "a.at[index].set(values) and .add(values) answer a changed array", NULL},
    {"real", array_real, NULL, "the real parts", NULL},
    {"imag", array_imag, NULL, "the imaginary parts", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

#define NAMED(function) (PyCFunction)(void (*)(void))(function)
#define METHOD(name) {#name, NAMED(delegate_##name), METH_VARARGS | METH_KEYWORDS, "the function wengert." #name " of this array"},
static PyMethodDef methods[] = {
    DELEGATED(METHOD){"reshape", NAMED(array_reshape), METH_FASTCALL, "the same items in another shape; one extent may be -1"},
    {"transpose", NAMED(array_transpose), METH_FASTCALL, "axes in another order; without an order in reverse"},
    {"astype", NAMED(array_astype), METH_VARARGS | METH_KEYWORDS, "converted to a dtype"},
    {"run", array_run, METH_NOARGS, "computes the array now, and answers it"},
    {"item", NAMED(array_item), METH_FASTCALL, "one item as a number of Python"},
    {"tolist", core_list, METH_NOARGS, "the items as nested lists"},
    {"numpy", array_numpy, METH_NOARGS, "the items as a NumPy array, read-only and not copied"},
    {"copy", array_copy, METH_NOARGS, "an array of the same items"},
    {"__copy__", array_copy, METH_NOARGS, NULL},
    {"__deepcopy__", array_copy, METH_O, NULL},
    {"__reduce__", array_reduce, METH_NOARGS, NULL},
    {"__format__", array_format, METH_O, NULL},
    {"__complex__", array_complex, METH_NOARGS, NULL},
    {"__array__", NAMED(array_to_numpy), METH_VARARGS | METH_KEYWORDS, NULL},
    {"__dlpack__", NAMED(core_to_dlpack), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"__dlpack_device__", core_dlpack_device, METH_NOARGS, NULL},
    {"__array_namespace__", NAMED(array_namespace), METH_VARARGS | METH_KEYWORDS, NULL},
    {"to_device", NAMED(array_to_device), METH_VARARGS | METH_KEYWORDS, "the array; the one device is 'cpu'"},
    {NULL, NULL, 0, NULL},
};

static const PyType_Slot own_slots[] = {
    {Py_tp_doc, "array(items, dtype=None, copy=None)\n--\n\n"
                "An array that waits: a call on it computes nothing, a read (printing, a number, NumPy) computes what it needs.\n"
                "Items of NumPy, of buffers and of DLPack "
                "are used where they are, so nobody may write them while the array lives; copy=True takes a copy.\n\n"
                ">>> wg.array([1.0, 2.0]) + 1\nwengert.array([2., 3.])"},
    {Py_tp_new, (void *)array_new},
    {Py_tp_dealloc, (void *)array_dealloc},
    {Py_tp_repr, (void *)core_repr},
    {Py_tp_str, (void *)core_str},
    {Py_tp_hash, (void *)PyObject_HashNotImplemented},
    {Py_tp_richcompare, (void *)core_compare},
    {Py_tp_iter, (void *)array_iterator},
    {Py_tp_getset, facts},
    {Py_tp_methods, methods},
    {Py_sq_length, (void *)array_length},
    {Py_sq_item, (void *)core_item},
    {Py_mp_length, (void *)array_length},
    {Py_mp_subscript, (void *)core_subscript},
    {Py_mp_ass_subscript, (void *)core_assign},
    {Py_nb_float, (void *)array_float},
    {Py_nb_int, (void *)array_int},
    {Py_nb_index, (void *)array_index},
    {Py_nb_bool, (void *)array_truth},
    {Py_bf_getbuffer, (void *)array_buffer},
    {Py_bf_releasebuffer, (void *)array_buffer_release},
};

bool core_array_init(PyObject *module)
{
    PyType_Slot slots[64];
    size_t own = sizeof own_slots / sizeof *own_slots;
    memcpy(slots, own_slots, sizeof own_slots);
    memcpy(slots + own, core_operator_slots, core_operator_slot_count * sizeof *slots);
    slots[own + core_operator_slot_count] = (PyType_Slot){0, NULL};
    PyType_Spec spec = {"wengert.array", sizeof(core_array), 0, Py_TPFLAGS_DEFAULT, slots};
    core_array_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    if (!core_array_type) return false;
    /* NumPy's operators leave an expression with an array of ours to ours. */
    if (PyObject_SetAttrString((PyObject *)core_array_type, "__array_ufunc__", Py_None) < 0) return false;
    return PyModule_AddObjectRef(module, "array", (PyObject *)core_array_type) == 0;
}
