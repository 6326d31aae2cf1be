/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The module wengert._core: what is asked of a thread's context, and the start. */
#include "core.h"

/* figures(): what the context of this thread holds and has done. */
static PyObject *figures(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    core_context *context = core_current();
    if (!context) return NULL;
    core_settle();
    wg_lazy_figures f;
    wg_lazy_figures_of(context->lazy, &f);
    return Py_BuildValue("{sKsKsKsKsKsKsKsKsKsKsKsK}", "arrays", f.arrays, "pending", f.pending, "stored_bytes", f.stored_bytes,
                         "pending_bytes", f.pending_bytes, "calls", f.calls, "shared", f.shared, "reads", f.reads, "plans", f.plans, "hits",
                         f.hits, "refills", f.refills, "cached", f.cached, "forced", f.forced);
}

static PyObject *explain(PyObject *module, PyObject *on)
{
    (void)module;
    core_context *context = core_current();
    int truth = PyObject_IsTrue(on);
    if (!context || truth < 0) return NULL;
    if (truth) wg_lazy_events_clear(context->lazy);
    wg_lazy_explain(context->lazy, truth);
    Py_RETURN_NONE;
}

static PyObject *events(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    core_context *context = core_current();
    PyObject *rows = context ? PyList_New(0) : NULL;
    wg_event e;
    for (uint64_t i = 0; rows && wg_lazy_event(context->lazy, i, &e); i++) {
        PyObject *row = Py_BuildValue("{szszszszsisKsIsIsKsd}", "what", e.what, "detail", e.detail, "reason", e.reason, "file", e.file,
                                      "line", (int)e.line, "read", (unsigned long long)e.read, "nodes", e.nodes, "stages", e.stages,
                                      "bytes", (unsigned long long)e.bytes, "seconds", e.seconds);
        if (!row || PyList_Append(rows, row) < 0) Py_CLEAR(rows);
        Py_XDECREF(row);
    }
    return rows;
}

static PyObject *explained(PyObject *module, PyObject *json)
{
    (void)module;
    core_context *context = core_current();
    char *text = context ? wg_lazy_explained(context->lazy, PyObject_IsTrue(json) == 1) : NULL;
    if (!text) return context ? PyErr_NoMemory() : NULL;
    PyObject *answer = PyUnicode_FromString(text);
    wg_text_free(text);
    return answer;
}

/* run(arrays): computes them together. */
static PyObject *run(PyObject *module, PyObject *what)
{
    (void)module;
    core_context *context = core_current();
    Py_ssize_t count = context ? PySequence_Size(what) : -1, made = 0;
    wg_array **arrays = count < 0 ? NULL : PyMem_Calloc((size_t)count + 1, sizeof *arrays);
    if (!arrays) return count < 0 ? NULL : PyErr_NoMemory();
    for (; made < count; made++) {
        PyObject *item = PySequence_GetItem(what, made);
        arrays[made] = item ? core_array_of(context, item, WG_KIND_COUNT) : NULL;
        Py_XDECREF(item);
        if (!arrays[made]) break;
    }
    bool good = made == count && core_run(context, arrays, (uint32_t)count);
    while (made-- > 0) wg_array_release(arrays[made]);
    PyMem_Free(arrays);
    return good ? Py_NewRef(Py_None) : NULL;
}

static PyObject *from_dlpack(PyObject *module, PyObject *capsule)
{
    (void)module;
    core_context *context = core_current();
    wg_array *array = context ? core_from_dlpack(context, capsule) : NULL;
    PyObject *answer = array ? core_wrap_owned(context, array) : NULL;
    core_settle();
    return answer;
}

static PyObject *map_file(PyObject *module, PyObject *arguments)
{
    (void)module;
    const char *path;
    unsigned long long offset;
    PyObject *dtype, *sizes;
    int64_t shape[WG_MAX_RANK];
    uint32_t rank;
    if (!PyArg_ParseTuple(arguments, "sKOO:map_file", &path, &offset, &dtype, &sizes)) return NULL;
    wg_kind kind = core_kind_of(dtype);
    core_context *context = core_current();
    if (kind == WG_KIND_COUNT || !context || !core_shape_of(sizes, &rank, shape)) return NULL;
    return core_wrap(context, wg_array_map(context->lazy, path, offset, kind, rank, shape));
}

/* The kind that holds items of both; None: there is none. */
static PyObject *promoted(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *a, *b;
    if (!PyArg_ParseTuple(arguments, "OO:promoted", &a, &b)) return NULL;
    wg_kind x = core_kind_of(a), y = x == WG_KIND_COUNT ? x : core_kind_of(b);
    if (y == WG_KIND_COUNT) return NULL;
    wg_kind kind = wg_kind_promoted(x, y);
    return kind == WG_KIND_COUNT ? Py_NewRef(Py_None) : core_dtype(kind);
}

static PyMethodDef methods[] = {
    {"figures", figures, METH_NOARGS, "figures()\n--\n\nWhat the arrays of this thread hold and did, as a dict of counts."},
    {"explain", explain, METH_O, NULL},
    {"events", events, METH_NOARGS, NULL},
    {"explained", explained, METH_O, NULL},
    {"run", run, METH_O, NULL},
    {"from_dlpack", from_dlpack, METH_O, NULL},
    {"map_file", map_file, METH_VARARGS, NULL},
    {"promoted", promoted, METH_VARARGS, NULL},
    {"left_count", core_left_count, METH_NOARGS, NULL},
    {"set_places", core_set_places, METH_O, "set_places(on, /)\n--\n\nWhether calls note their line of Python; answers whether they did."},
    {"random", (PyCFunction)(void (*)(void))core_random, METH_FASTCALL, NULL},
    {"set_package", core_set_package, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "wengert._core", "Arrays that wait: see the package wengert.", -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (!module) return NULL;
    bool good = PyModule_AddFunctions(module, core_call_methods) == 0 && PyModule_AddFunctions(module, core_tree_methods) == 0 &&
                PyModule_AddFunctions(module, core_transform_methods) == 0;
    good = good && core_context_init(module) && core_interrupt_init() && core_dtype_init(module) && core_index_init(module) &&
           core_array_init(module) && core_transform_init(module) && core_generator_init(module) && core_program_init(module) &&
           PyModule_AddStringConstant(module, "version", WENGERT_VERSION) == 0;
    if (good) return module;
    Py_DECREF(module);
    return NULL;
}
