/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Programs, plans, sessions and parameter tables as capsules, for the classes of program.py, which keep what a capsule stands on alive. */
#include <string.h>

#include "core.h"

/* ---- capsules ---- */

#define HANDLE(name, type, release) \
    static void drop_##name(PyObject *capsule) \
    { \
        type *what = PyCapsule_GetPointer(capsule, #name); \
        release; \
    } \
    static PyObject *wrap_##name(type *what, const wg_error *error) \
    { \
        if (!what) return core_raise_error(error); \
        PyObject *capsule = PyCapsule_New(what, #name, drop_##name); \
        if (!capsule) release; \
        return capsule; \
    } \
    static type *name##_of(PyObject *capsule) { return PyCapsule_GetPointer(capsule, #name); }
HANDLE(network, wg_network, wg_network_release(&what))
HANDLE(entry, wg_entry, wg_entry_free(&what))
HANDLE(plan, wg_plan, wg_plan_release(&what))
HANDLE(session, wg_session, wg_session_free(&what))
HANDLE(parameters, wg_parameters, wg_parameters_free(&what))

static PyObject *text_of(char *text)
{
    if (!text) return PyErr_NoMemory();
    PyObject *answer = PyUnicode_FromString(text);
    wg_text_free(text);
    return answer;
}

#define FAILED(error) (PyErr_Occurred() ? NULL : core_raise_error(&(error)))

/* ---- networks ---- */

static PyObject *network_parse(PyObject *module, PyObject *arguments)
{
    (void)module;
    const char *text, *name;
    Py_ssize_t length;
    if (!PyArg_ParseTuple(arguments, "s#s:network_parse", &text, &length, &name)) return NULL;
    wg_error error = {.code = WG_OK};
    wg_network *network = wg_text_parse(NULL, text, (size_t)length, name, NULL, &error);
    return wrap_network(network, &error);
}

static PyObject *network_text(PyObject *module, PyObject *capsule)
{
    (void)module;
    wg_network *network = network_of(capsule);
    wg_error error = {.code = WG_OK};
    char *text = network ? wg_text_print(network, &error) : NULL;
    return text ? text_of(text) : FAILED(error);
}

static PyObject *network_describe(PyObject *module, PyObject *capsule)
{
    (void)module;
    wg_network *network = network_of(capsule);
    return network ? text_of(wg_network_describe(network)) : NULL;
}

static PyObject *network_identity(PyObject *module, PyObject *capsule)
{
    (void)module;
    wg_network *network = network_of(capsule);
    wg_error error = {.code = WG_OK};
    char digest[65];
    return network && wg_network_identity(network, digest, &error) ? PyUnicode_FromString(digest) : FAILED(error);
}

/* A node: (position, name or None, row, dtype, shape, required) */
static PyObject *node_facts(const wg_network *network, uint32_t position)
{
    wg_node_facts facts;
    if (!wg_network_node(network, position, &facts)) return Py_NewRef(Py_None);
    bool required = facts.op == WG_OP_Input && wg_network_input_required(network, wg_network_symbol_at(network, position));
    return Py_BuildValue("(IzsNNO)", position, facts.name, wg_op_text(facts.op), core_dtype(facts.kind),
                         core_shape_tuple(facts.rank, facts.shape), required ? Py_True : Py_False);
}

static PyObject *network_nodes(PyObject *module, PyObject *capsule)
{
    (void)module;
    wg_network *network = network_of(capsule);
    PyObject *list = network ? PyList_New(0) : NULL;
    for (uint32_t i = 0; list && i < wg_network_count(network); i++) {
        PyObject *node = node_facts(network, i);
        if (!node || PyList_Append(list, node) < 0) Py_CLEAR(list);
        Py_XDECREF(node);
    }
    return list;
}

static PyObject *network_entries(PyObject *module, PyObject *capsule)
{
    (void)module;
    wg_network *network = network_of(capsule);
    PyObject *list = network ? PyList_New(0) : NULL;
    for (uint32_t i = 0; list && i < wg_network_entry_count(network); i++) {
        PyObject *name = PyUnicode_FromString(wg_network_entry_name(network, i));
        if (!name || PyList_Append(list, name) < 0) Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *network_extents(PyObject *module, PyObject *capsule)
{
    (void)module;
    wg_network *network = network_of(capsule);
    PyObject *extents = network ? PyDict_New() : NULL;
    const char *name;
    int64_t number;
    for (uint32_t i = 0; extents && wg_network_extent(network, i, &name, &number); i++) {
        PyObject *value = PyLong_FromLongLong(number);
        if (!value || PyDict_SetItemString(extents, name, value) < 0) Py_CLEAR(extents);
        Py_XDECREF(value);
    }
    return extents;
}

/* (entry, [positions of its results]) */
static PyObject *network_entry(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *capsule;
    const char *name;
    if (!PyArg_ParseTuple(arguments, "Os:network_entry", &capsule, &name)) return NULL;
    wg_network *network = network_of(capsule);
    wg_error error = {.code = WG_OK};
    wg_entry *entry = network ? wg_network_entry(network, name, &error) : NULL;
    if (!entry) return FAILED(error);
    PyObject *results = PyList_New(0);
    for (uint32_t i = 0; results && i < wg_entry_result_count(entry); i++) {
        PyObject *position = PyLong_FromUnsignedLong(wg_entry_result(entry, i).position);
        if (!position || PyList_Append(results, position) < 0) Py_CLEAR(results);
        Py_XDECREF(position);
    }
    PyObject *wrapped = wrap_entry(entry, &error);
    if (results && wrapped) return Py_BuildValue("(NN)", wrapped, results);
    Py_XDECREF(results);
    Py_XDECREF(wrapped);
    return NULL;
}

/* ---- parameters ---- */

static PyObject *parameters_new(PyObject *module, PyObject *capsule)
{
    (void)module;
    wg_network *network = network_of(capsule);
    wg_error error = {.code = WG_OK};
    if (!network) return NULL;
    return wrap_parameters(wg_parameters_new(network, &error), &error);
}

static PyObject *parameters_copy(PyObject *module, PyObject *capsule)
{
    (void)module;
    wg_parameters *parameters = parameters_of(capsule);
    wg_error error = {.code = WG_OK};
    if (!parameters) return NULL;
    return wrap_parameters(wg_parameters_copy(parameters, &error), &error);
}

static PyObject *parameters_get(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *capsule, *of;
    unsigned position;
    if (!PyArg_ParseTuple(arguments, "OOI:parameters_get", &capsule, &of, &position)) return NULL;
    wg_parameters *parameters = parameters_of(capsule);
    wg_network *network = parameters ? network_of(of) : NULL;
    core_context *context = network ? core_current() : NULL;
    wg_error error = {.code = WG_OK};
    wg_tensor *tensor = context ? wg_parameters_of(parameters, wg_network_symbol_at(network, position), &error) : NULL;
    if (!tensor) return FAILED(error);
    return core_wrap(context, wg_array_of(context->lazy, wg_tensor_retain(tensor)));
}

static PyObject *parameters_set(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *capsule, *of, *what;
    unsigned position;
    if (!PyArg_ParseTuple(arguments, "OOIO:parameters_set", &capsule, &of, &position, &what)) return NULL;
    wg_parameters *parameters = parameters_of(capsule);
    wg_network *network = parameters ? network_of(of) : NULL;
    core_context *context = network ? core_current() : NULL;
    wg_node_facts facts;
    if (!context || !wg_network_node(network, position, &facts)) return context ? Py_NewRef(Py_None) : NULL;
    wg_array *array = core_array_of(context, what, facts.kind);
    wg_view view;
    wg_error error = {.code = WG_OK};
    bool good = array && core_read(context, array, &view);
    wg_tensor *tensor = good ? wg_array_tensor(array) : NULL;
    if (good && !tensor) good = core_raise(context);
    good = good && wg_parameters_set(parameters, wg_network_symbol_at(network, position), tensor, &error);
    wg_array_release(array);
    return good ? Py_NewRef(Py_None) : FAILED(error);
}

/* ---- plans ---- */

#define MOST_BINDINGS 64

static bool bindings_of(PyObject *extents, wg_binding *bindings, uint32_t *count)
{
    PyObject *name, *number;
    Py_ssize_t at = 0;
    for (*count = 0; PyDict_Next(extents, &at, &name, &number); ++*count) {
        if (*count == MOST_BINDINGS)
            return PyErr_Format(core_error_class(WG_ARGUMENT), "more than %d extents are bound", MOST_BINDINGS), false;
        bindings[*count] = (wg_binding){PyUnicode_AsUTF8AndSize(name, NULL), PyLong_AsLongLong(number)};
        if (PyErr_Occurred()) return false;
    }
    return true;
}

static PyObject *plan_new(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *capsule, *extents;
    if (!PyArg_ParseTuple(arguments, "OO!:plan_new", &capsule, &PyDict_Type, &extents)) return NULL;
    wg_entry *entry = entry_of(capsule);
    wg_binding bindings[MOST_BINDINGS];
    uint32_t count;
    wg_error error = {.code = WG_OK};
    if (!entry || !bindings_of(extents, bindings, &count)) return NULL;
    wg_plan *plan = wg_plan_new(entry, bindings, count, &error);
    return wrap_plan(plan, &error);
}

static PyObject *plan_describe(PyObject *module, PyObject *capsule)
{
    (void)module;
    wg_plan *plan = plan_of(capsule);
    return plan ? text_of(wg_plan_describe(plan)) : NULL;
}

static PyObject *plan_report(PyObject *module, PyObject *capsule)
{
    (void)module;
    wg_plan *plan = plan_of(capsule);
    return plan ? text_of(wg_plan_report(plan)) : NULL;
}

static PyObject *plan_figures(PyObject *module, PyObject *capsule)
{
    (void)module;
    wg_plan *plan = plan_of(capsule);
    wg_plan_figures f;
    if (!plan) return NULL;
    wg_plan_figures_of(plan, &f);
    return Py_BuildValue("{sIsIsIsIsIsIsLsLsIsLsLsLsI}", "evaluated", f.evaluated, "total", f.total, "readable", f.readable, "steps",
                         f.steps, "stages", f.stages, "buffers", f.buffers, "peak", (long long)f.peak, "retain_all",
                         (long long)f.retain_all, "peak_node", f.peak_node, "arena_bytes", (long long)f.arena_bytes, "largest_bytes",
                         (long long)f.largest_bytes, "bound_bytes", (long long)f.bound_bytes, "host", f.host);
}

/* Dicts: kind, root, nodes, elected, formula, reason, foreign. */
static PyObject *plan_patterns(PyObject *module, PyObject *capsule)
{
    (void)module;
    wg_plan *plan = plan_of(capsule);
    PyObject *list = plan ? PyList_New(0) : NULL;
    wg_pattern pattern;
    for (uint32_t i = 0; list && wg_plan_pattern(plan, i, &pattern); i++) {
        PyObject *nodes = PyTuple_New(pattern.node_count);
        for (uint32_t k = 0; nodes && k < pattern.node_count; k++) PyTuple_SetItem(nodes, k, PyLong_FromUnsignedLong(pattern.nodes[k]));
        PyObject *row = nodes ? Py_BuildValue("{sssIsNsOszszss}", "kind", pattern.kind, "root", pattern.root, "nodes", nodes, "elected",
                                              pattern.elected ? Py_True : Py_False, "formula", pattern.formula, "reason", pattern.reason, "foreign",
                                              pattern.foreign)
                              : NULL;
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* ---- sessions ---- */

static PyObject *session_new(PyObject *module, PyObject *capsule)
{
    (void)module;
    wg_plan *plan = plan_of(capsule);
    wg_error error = {.code = WG_OK};
    if (!plan) return NULL;
    wg_session_options options = {.size = sizeof options};
    return wrap_session(wg_session_new(plan, &options, &error), &error);
}

static PyObject *session_bind(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *capsule, *extents;
    if (!PyArg_ParseTuple(arguments, "OO!:session_bind", &capsule, &PyDict_Type, &extents)) return NULL;
    wg_session *session = session_of(capsule);
    wg_binding bindings[MOST_BINDINGS];
    uint32_t count;
    wg_error error = {.code = WG_OK};
    if (!session || !bindings_of(extents, bindings, &count)) return NULL;
    return wg_session_bind(session, bindings, count, &error) ? Py_NewRef(Py_None) : FAILED(error);
}

static void stop_session(void *user)
{
    wg_session_stop(user);
}

/* A run with the interpreter let go; as a read (context.c) it begins again after an interrupt whose handler raises nothing. */
static bool run_session(wg_session *session, const wg_run_options *options)
{
    for (;;) {
        wg_error error = {.code = WG_OK};
        core_pause pause = {stop_session, session, NULL};
        core_unlock(&pause);
        bool good = wg_session_run(session, options, &error);
        bool interrupted = core_lock(&pause);
        if (good) return !interrupted || PyErr_CheckSignals() == 0;
        bool again = interrupted && error.code == WG_CANCELLED && PyErr_CheckSignals() == 0;
        if (!again) return FAILED(error);
    }
}

#define MOST_FEEDS 64

/* session_run(session, network, parameters or None, [(position, items)]) */
static PyObject *session_run(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *capsule, *of, *table, *given;
    if (!PyArg_ParseTuple(arguments, "OOOO!:session_run", &capsule, &of, &table, &PyList_Type, &given)) return NULL;
    wg_session *session = session_of(capsule);
    wg_network *network = session ? network_of(of) : NULL;
    wg_parameters *parameters = network && table != Py_None ? parameters_of(table) : NULL;
    core_context *context = network ? core_current() : NULL;
    Py_ssize_t count = PyList_Size(given);
    if (!context || PyErr_Occurred()) return NULL;
    if (count > MOST_FEEDS) return PyErr_Format(core_error_class(WG_ARGUMENT), "more than %d inputs are fed", MOST_FEEDS);
    wg_array *arrays[MOST_FEEDS];
    wg_feed feeds[MOST_FEEDS];
    uint32_t made = 0;
    bool good = true;
    for (; good && made < (uint32_t)count; made++) {
        unsigned position;
        PyObject *items;
        arrays[made] = NULL;
        wg_node_facts facts;
        good = PyArg_ParseTuple(PyList_GetItem(given, made), "IO", &position, &items) && wg_network_node(network, position, &facts);
        good = good && (arrays[made] = core_array_of(context, items, core_is_array(items) ? WG_KIND_COUNT : facts.kind)) != NULL;
        feeds[made].input = wg_network_symbol_at(network, position);
        good = good && core_read(context, arrays[made], &feeds[made].items);
    }
    wg_run_options options = {.size = sizeof options, .parameters = parameters, .feeds = feeds, .feed_count = made};
    good = good && run_session(session, &options);
    for (uint32_t i = 0; i < made; i++) wg_array_release(arrays[i]);
    core_settle();
    return good ? Py_NewRef(Py_None) : NULL;
}

/* session_take(session, network, position): a result of the last run, or the carried value of an input */
static PyObject *session_take(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *capsule, *of;
    unsigned position;
    int carried;
    if (!PyArg_ParseTuple(arguments, "OOIp:session_take", &capsule, &of, &position, &carried)) return NULL;
    wg_session *session = session_of(capsule);
    wg_network *network = session ? network_of(of) : NULL;
    core_context *context = network ? core_current() : NULL;
    if (!context) return NULL;
    wg_error error = {.code = WG_OK};
    wg_symbol symbol = wg_network_symbol_at(network, position);
    wg_view view;
    if (carried)
        return wg_session_carried(session, symbol, &view, &error) ? core_wrap(context, wg_array_copy(context->lazy, &view)) : FAILED(error);
    wg_tensor *tensor = wg_session_take(session, symbol, &error);
    return tensor ? core_wrap(context, wg_array_of(context->lazy, tensor)) : FAILED(error);
}

static PyObject *session_carry(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *capsule, *of, *items;
    unsigned position;
    if (!PyArg_ParseTuple(arguments, "OOIO:session_carry", &capsule, &of, &position, &items)) return NULL;
    wg_session *session = session_of(capsule);
    wg_network *network = session ? network_of(of) : NULL;
    core_context *context = network ? core_current() : NULL;
    wg_array *array = context ? core_array_of(context, items, WG_KIND_COUNT) : NULL;
    wg_view view;
    wg_error error = {.code = WG_OK};
    bool good = array && core_read(context, array, &view);
    good = good && wg_session_carry(session, wg_network_symbol_at(network, position), &view, &error);
    wg_array_release(array);
    return good ? Py_NewRef(Py_None) : FAILED(error);
}

static PyObject *session_reset(PyObject *module, PyObject *capsule)
{
    (void)module;
    wg_session *session = session_of(capsule);
    if (!session) return NULL;
    wg_session_reset(session);
    Py_RETURN_NONE;
}

static PyObject *session_stop(PyObject *module, PyObject *capsule)
{
    (void)module;
    wg_session *session = session_of(capsule);
    if (!session) return NULL;
    wg_session_stop(session);
    Py_RETURN_NONE;
}

/* ---- an entry as a function of arrays ---- */

/* entry_call(entry, parameters or None, [arrays or None], number of results) */
static PyObject *entry_call(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *capsule, *table, *given;
    unsigned count;
    if (!PyArg_ParseTuple(arguments, "OOO!I:entry_call", &capsule, &table, &PyList_Type, &given, &count)) return NULL;
    wg_entry *entry = entry_of(capsule);
    wg_parameters *parameters = entry && table != Py_None ? parameters_of(table) : NULL;
    core_context *context = entry ? core_current() : NULL;
    if (!context || PyErr_Occurred()) return NULL;
    Py_ssize_t inputs = PyList_Size(given), made = 0;
    wg_array **arrays = PyMem_Calloc((size_t)inputs + count + 1, sizeof *arrays), **results = arrays + inputs;
    if (!arrays) return PyErr_NoMemory();
    bool good = true;
    for (; good && made < inputs; made++) {
        PyObject *item = PyList_GetItem(given, made);
        good = item == Py_None || (arrays[made] = core_array_of(context, item, WG_KIND_COUNT)) != NULL;
    }
    good = good && (wg_array_call(context->lazy, entry, parameters, arrays, (uint32_t)inputs, results) || core_raise(context));
    PyObject *list = good ? PyList_New(count) : NULL;
    for (unsigned i = 0; list && i < count; i++) {
        PyObject *object = core_wrap(context, results[i]);
        if (!object) Py_CLEAR(list);
        else PyList_SetItem(list, i, object);
    }
    for (Py_ssize_t i = 0; i < inputs; i++) wg_array_release(arrays[i]);
    PyMem_Free(arrays);
    return list;
}

static PyMethodDef methods[] = {
    {"network_parse", network_parse, METH_VARARGS, NULL},
    {"network_text", network_text, METH_O, NULL},
    {"network_describe", network_describe, METH_O, NULL},
    {"network_identity", network_identity, METH_O, NULL},
    {"network_nodes", network_nodes, METH_O, NULL},
    {"network_entries", network_entries, METH_O, NULL},
    {"network_extents", network_extents, METH_O, NULL},
    {"network_entry", network_entry, METH_VARARGS, NULL},
    {"parameters_new", parameters_new, METH_O, NULL},
    {"parameters_copy", parameters_copy, METH_O, NULL},
    {"parameters_get", parameters_get, METH_VARARGS, NULL},
    {"parameters_set", parameters_set, METH_VARARGS, NULL},
    {"plan_new", plan_new, METH_VARARGS, NULL},
    {"plan_describe", plan_describe, METH_O, NULL},
    {"plan_report", plan_report, METH_O, NULL},
    {"plan_figures", plan_figures, METH_O, NULL},
    {"plan_patterns", plan_patterns, METH_O, NULL},
    {"session_new", session_new, METH_O, NULL},
    {"session_bind", session_bind, METH_VARARGS, NULL},
    {"session_run", session_run, METH_VARARGS, NULL},
    {"session_take", session_take, METH_VARARGS, NULL},
    {"session_carry", session_carry, METH_VARARGS, NULL},
    {"session_reset", session_reset, METH_O, NULL},
    {"session_stop", session_stop, METH_O, NULL},
    {"entry_call", entry_call, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

bool core_program_init(PyObject *module)
{
    return PyModule_AddFunctions(module, methods) == 0;
}
