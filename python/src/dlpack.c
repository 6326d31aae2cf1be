/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * DLPack both ways, without a copy. The structures are those of its specification, versions 0 (unversioned) and 1. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

typedef struct dl_device {
    int32_t type, number;
} dl_device;

typedef struct dl_type {
    uint8_t code, bits;
    uint16_t lanes;
} dl_type;

typedef struct dl_tensor {
    void *data;
    dl_device device;
    int32_t rank;
    dl_type type;
    int64_t *shape, *strides; /* in items; NULL: row-major */
    uint64_t offset;
} dl_tensor;

typedef struct dl_managed {
    dl_tensor tensor;
    void *context;
    void (*deleter)(struct dl_managed *self);
} dl_managed;

typedef struct dl_versioned {
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct dl_versioned *self);
    uint64_t flags;
    dl_tensor tensor;
} dl_versioned;

enum { DL_CPU = 1, DL_READ_ONLY = 1, DL_COPIED = 2 };
enum { DL_INT, DL_UINT, DL_FLOAT, DL_OPAQUE, DL_BFLOAT, DL_COMPLEX, DL_BOOL };

static bool type_of_kind(wg_kind kind, dl_type *type)
{
    const core_kind *facts = &core_kinds[kind];
    *type = (dl_type){DL_INT, (uint8_t)(8 * facts->bytes), 1};
    switch (facts->class) {
    case 'b': type->code = DL_BOOL; return true;
    case 'i': return true;
    case 'u': type->code = DL_UINT; return true;
    case 'f': type->code = kind == WG_KIND_BF16 ? DL_BFLOAT : DL_FLOAT; return true;
    case 'c': type->code = DL_COMPLEX; return true;
    default: return false;
    }
}

static wg_kind kind_of_type(dl_type type)
{
    for (int kind = 0; kind < WG_KIND_COUNT; kind++) {
        dl_type own;
        if (type_of_kind((wg_kind)kind, &own) && own.code == type.code && own.bits == type.bits && type.lanes == 1) return (wg_kind)kind;
    }
    return WG_KIND_COUNT;
}

/* ---- from an array ---- */

typedef struct exported {
    union {
        dl_managed managed;
        dl_versioned versioned;
    } as;
    wg_array *handle;
    core_context *context;
    int64_t sizes[2 * WG_MAX_RANK];
} exported;

static void exported_free(exported *self)
{
    PyGILState_STATE state = PyGILState_Ensure();
    core_release(self->context, self->handle);
    free(self);
    PyGILState_Release(state);
}

static void delete_managed(dl_managed *self) { exported_free((exported *)self); }
static void delete_versioned(dl_versioned *self) { exported_free((exported *)self); }

/* A capsule that nobody consumed still owns its tensor. */
static void drop_capsule(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, "dltensor")) delete_managed(PyCapsule_GetPointer(capsule, "dltensor"));
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) delete_versioned(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
}

static PyObject *export(core_array *array, bool versioned, bool copy)
{
    wg_view view;
    dl_type type;
    if (!core_read(array->context, array->handle, &view)) return NULL;
    core_left();
    if (!type_of_kind(view.kind, &type)) return PyErr_SetString(PyExc_BufferError, "DLPack has no type for char"), NULL;
    exported *self = calloc(1, sizeof *self);
    if (!self) return PyErr_NoMemory();
    self->context = array->context;
    self->handle = copy ? core_own(array->context, wg_array_copy(array->context->lazy, &view)) : wg_array_keep(array->handle);
    if (!self->handle || !wg_array_read(self->handle, &view)) return free(self), core_raise(array->context);
    core_context_keep(self->context);
    dl_tensor tensor = {view.data, {DL_CPU, 0}, (int32_t)view.rank, type, self->sizes, self->sizes + WG_MAX_RANK, 0};
    int64_t bytes = (int64_t)wg_kind_bytes(view.kind), step = 1;
    for (uint32_t axis = view.rank; axis-- > 0; step *= view.shape[axis]) {
        tensor.shape[axis] = view.shape[axis];
        tensor.strides[axis] = view.strides ? view.strides[axis] / bytes : step;
    }
    if (versioned) self->as.versioned = (dl_versioned){1, 0, NULL, delete_versioned, DL_READ_ONLY | (copy ? DL_COPIED : 0), tensor};
    else self->as.managed = (dl_managed){tensor, NULL, delete_managed};
    PyObject *capsule = PyCapsule_New(self, versioned ? "dltensor_versioned" : "dltensor", drop_capsule);
    if (!capsule) exported_free(self);
    return capsule;
}

/* __dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None) */
PyObject *core_to_dlpack(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    Py_ssize_t named = names ? PyTuple_Size(names) : 0;
    bool versioned = false, copy = false;
    if (count) return PyErr_SetString(PyExc_TypeError, "__dlpack__ takes its arguments by name"), NULL;
    for (Py_ssize_t i = 0; i < named; i++) {
        PyObject *name = PyTuple_GetItem(names, i), *value = arguments[count + i];
        if (value == Py_None) continue;
        if (!PyUnicode_CompareWithASCIIString(name, "max_version")) {
            PyObject *major = PySequence_GetItem(value, 0);
            versioned = major && PyLong_AsLong(major) >= 1;
            Py_XDECREF(major);
        } else if (!PyUnicode_CompareWithASCIIString(name, "copy")) {
            copy = PyObject_IsTrue(value) == 1;
        } else if (!PyUnicode_CompareWithASCIIString(name, "dl_device")) {
            PyObject *type = PySequence_GetItem(value, 0);
            bool host = type && PyLong_AsLong(type) == DL_CPU;
            Py_XDECREF(type);
            if (!host && !PyErr_Occurred()) PyErr_SetString(PyExc_BufferError, "arrays are in the memory of the processor alone");
        } else if (!PyUnicode_CompareWithASCIIString(name, "stream")) {
            PyErr_SetString(PyExc_ValueError, "the processor has no streams");
        } else {
            PyErr_Format(PyExc_TypeError, "__dlpack__ has no argument %R", name);
        }
        if (PyErr_Occurred()) return NULL;
    }
    return export((core_array *)self, versioned, copy);
}

PyObject *core_dlpack_device(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return Py_BuildValue("(ii)", DL_CPU, 0);
}

/* ---- to an array ---- */

typedef struct imported {
    core_later later;
    dl_managed *managed;
    dl_versioned *versioned;
} imported;

static void give_back(core_later *later)
{
    imported *self = (imported *)later;
    if (self->managed && self->managed->deleter) self->managed->deleter(self->managed);
    if (self->versioned && self->versioned->deleter) self->versioned->deleter(self->versioned);
    free(self);
}

static void release_later(void *user)
{
    core_do_later(user);
}

static wg_array *import(core_context *context, const dl_tensor *tensor, imported *self)
{
    int64_t strides[WG_MAX_RANK];
    wg_view view = {(char *)tensor->data + tensor->offset, kind_of_type(tensor->type), (uint32_t)tensor->rank, tensor->shape, strides};
    const char *wrong = tensor->device.type != DL_CPU ? "a tensor of DLPack that is not in the processor's memory"
                        : tensor->rank < 0 || tensor->rank > WG_MAX_RANK ? "a tensor of DLPack of too many axes"
                        : view.kind == WG_KIND_COUNT ? "a tensor of DLPack whose type is no kind" : NULL;
    if (wrong) {
        PyErr_SetString(PyExc_BufferError, wrong);
        give_back(&self->later);
        return NULL;
    }
    int64_t bytes = (int64_t)wg_kind_bytes(view.kind), step = bytes, volume = 1;
    bool dense = true;
    for (uint32_t axis = view.rank; axis-- > 0; step *= view.shape[axis]) {
        strides[axis] = tensor->strides ? tensor->strides[axis] * bytes : step;
        dense = dense && (strides[axis] == step || view.shape[axis] <= 1);
        volume *= view.shape[axis];
    }
    wg_array *array;
    if (dense) view.strides = NULL;
    if (volume && (dense || view.kind != WG_KIND_BOOL)) {
        array = wg_array_borrow(context->lazy, &view, release_later, self);
    } else {
        array = wg_array_copy(context->lazy, &view);
        give_back(&self->later);
    }
    return array ? core_own(context, array) : core_raise(context);
}

wg_array *core_from_dlpack(core_context *context, PyObject *capsule)
{
    bool versioned = PyCapsule_IsValid(capsule, "dltensor_versioned");
    if (!versioned && !PyCapsule_IsValid(capsule, "dltensor"))
        return PyErr_SetString(PyExc_ValueError, "this is no capsule of DLPack, or it was consumed"), NULL;
    imported *self = calloc(1, sizeof *self);
    if (!self) return (wg_array *)PyErr_NoMemory();
    self->later.run = give_back;
    if (versioned) {
        dl_versioned *tensor = self->versioned = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        if (tensor->major > 1) return free(self), PyErr_SetString(PyExc_BufferError, "DLPack after version 1 is not known"), NULL;
        PyCapsule_SetName(capsule, "used_dltensor_versioned");
        return import(context, &tensor->tensor, self);
    }
    self->managed = PyCapsule_GetPointer(capsule, "dltensor");
    PyCapsule_SetName(capsule, "used_dltensor");
    return import(context, &self->managed->tensor, self);
}
