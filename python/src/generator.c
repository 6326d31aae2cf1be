/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The type wengert.random.Generator: where draws take their keys. */
#include "core.h"

typedef struct core_generator {
    PyObject_HEAD
    wg_generator *handle;
    core_context *context;
} core_generator;

static PyTypeObject *generator_type;

static PyObject *wrap(core_context *context, wg_generator *handle)
{
    if (!handle) return core_raise(context);
    core_generator *self = PyObject_New(core_generator, generator_type);
    if (!self) {
        wg_generator_free(&handle);
        return NULL;
    }
    self->handle = handle;
    self->context = core_context_keep(context);
    return (PyObject *)self;
}

static PyObject *generator_new(PyTypeObject *type, PyObject *arguments, PyObject *names)
{
    (void)type;
    PyObject *seed;
    static char *keywords[] = {"seed", NULL};
    if (!PyArg_ParseTupleAndKeywords(arguments, names, "O:Generator", keywords, &seed)) return NULL;
    unsigned long long number = PyLong_AsUnsignedLongLongMask(seed);
    core_context *context = PyErr_Occurred() ? NULL : core_current();
    return context ? wrap(context, wg_generator_new(context->lazy, number)) : NULL;
}

static void release(void *what)
{
    wg_generator *handle = what;
    wg_generator_free(&handle);
}

static void generator_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    core_drop(((core_generator *)self)->context, release, ((core_generator *)self)->handle);
    PyObject_Free(self);
    Py_DECREF(type);
}

static bool is_mine(const core_generator *self)
{
    core_context *context = core_current();
    if (context && context != self->context)
        PyErr_SetString(core_error_class(WG_BUSY), "a generator belongs to another thread: make one in this thread");
    return context == self->context;
}

static PyObject *generator_key(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_generator *generator = (core_generator *)self;
    return is_mine(generator) ? core_wrap(generator->context, wg_generator_key(generator->handle)) : NULL;
}

static PyObject *generator_split(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_generator *generator = (core_generator *)self;
    return is_mine(generator) ? wrap(generator->context, wg_generator_split(generator->handle)) : NULL;
}

static PyObject *generator_fold(PyObject *self, PyObject *number)
{
    core_generator *generator = (core_generator *)self;
    unsigned long long value = PyLong_AsUnsignedLongLongMask(number);
    if (PyErr_Occurred() || !is_mine(generator)) return NULL;
    return wrap(generator->context, wg_generator_fold(generator->handle, value));
}

static PyMethodDef methods[] = {
    {"key", generator_key, METH_NOARGS, "the next key, uint32 [2]; under a compiled function each replay takes the next one again"},
    {"split", generator_split, METH_NOARGS, "a generator of its own stream, which the next key seeds"},
    {"fold", generator_fold, METH_O, "a generator of this stream folded with a number: the same number, the same stream"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Generator(seed)\n--\n\nWhere draws take their keys: equal seeds draw equal numbers, in the order of the calls."},
    {Py_tp_new, (void *)generator_new},
    {Py_tp_dealloc, (void *)generator_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {"wengert.random.Generator", sizeof(core_generator), 0, Py_TPFLAGS_DEFAULT, slots};

bool core_generator_init(PyObject *module)
{
    generator_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return generator_type && PyModule_AddObjectRef(module, "Generator", (PyObject *)generator_type) == 0;
}
