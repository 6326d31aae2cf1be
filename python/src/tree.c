/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Arguments and results nested any way: tuples, named tuples, lists, dicts and None. A tree is their structure as a value that can be
 * hashed and compared:
 *   ...                          a leaf
 *   None                         None
 *   (type, child, ..)            a tuple, a named tuple or a list, by its type
 *   (dict, (key, ..), child, ..) a dict, in the order of its keys where they have one */
#include "core.h"

bool core_tree_is_named(PyObject *what)
{
    return PyTuple_Check(what) && !PyTuple_CheckExact(what) && PyObject_HasAttrString(what, "_fields");
}

static PyObject *flatten(PyObject *what, PyObject *leaves);

static PyObject *flatten_sequence(PyObject *what, PyObject *leaves)
{
    Py_ssize_t count = PySequence_Size(what);
    PyObject *tree = PyTuple_New(count + 1);
    if (!tree) return NULL;
    PyTuple_SetItem(tree, 0, Py_NewRef((PyObject *)Py_TYPE(what)));
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *child = flatten(PyTuple_Check(what) ? PyTuple_GetItem(what, i) : PyList_GetItem(what, i), leaves);
        if (!child) {
            Py_DECREF(tree);
            return NULL;
        }
        PyTuple_SetItem(tree, i + 1, child);
    }
    return tree;
}

PyObject *core_tree_keys(PyObject *dict)
{
    PyObject *keys = PyDict_Keys(dict);
    if (keys && PyList_Sort(keys) < 0) {
        PyErr_Clear();
        Py_DECREF(keys);
        keys = PyDict_Keys(dict);
    }
    PyObject *names = keys ? PyList_AsTuple(keys) : NULL;
    Py_XDECREF(keys);
    return names;
}

static PyObject *flatten_dict(PyObject *what, PyObject *leaves)
{
    PyObject *names = core_tree_keys(what);
    Py_ssize_t count = names ? PyTuple_Size(names) : 0;
    PyObject *tree = names ? PyTuple_New(count + 2) : NULL;
    if (!tree) {
        Py_XDECREF(names);
        return NULL;
    }
    PyTuple_SetItem(tree, 0, Py_NewRef((PyObject *)&PyDict_Type));
    PyTuple_SetItem(tree, 1, names);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *value = PyDict_GetItemWithError(what, PyTuple_GetItem(names, i)), *child = value ? flatten(value, leaves) : NULL;
        if (!child) {
            Py_DECREF(tree);
            return NULL;
        }
        PyTuple_SetItem(tree, i + 2, child);
    }
    return tree;
}

/* The tree of what; its leaves are appended. */
static PyObject *flatten(PyObject *what, PyObject *leaves)
{
    if (what == Py_None) return Py_NewRef(Py_None);
    if (core_is_array(what)) return PyList_Append(leaves, what) < 0 ? NULL : Py_NewRef(Py_Ellipsis);
    if (!PyTuple_CheckExact(what) && !PyList_CheckExact(what) && !PyDict_CheckExact(what) && !core_tree_is_named(what))
        return PyList_Append(leaves, what) < 0 ? NULL : Py_NewRef(Py_Ellipsis);
    if (Py_EnterRecursiveCall(" in arguments")) return NULL;
    PyObject *tree = PyDict_CheckExact(what) ? flatten_dict(what, leaves) : flatten_sequence(what, leaves);
    Py_LeaveRecursiveCall();
    return tree;
}

static PyObject *tree_flatten(PyObject *module, PyObject *what)
{
    (void)module;
    PyObject *leaves = PyList_New(0), *tree = leaves ? flatten(what, leaves) : NULL;
    if (tree) return Py_BuildValue("(NN)", leaves, tree);
    Py_XDECREF(leaves);
    return NULL;
}

static PyObject *unflatten(PyObject *tree, PyObject *leaves, Py_ssize_t *next);

static PyObject *unflatten_dict(PyObject *tree, PyObject *leaves, Py_ssize_t *next)
{
    PyObject *names = PyTuple_GetItem(tree, 1), *answer = PyDict_New();
    for (Py_ssize_t i = 0; answer && i < PyTuple_Size(names); i++) {
        PyObject *child = unflatten(PyTuple_GetItem(tree, i + 2), leaves, next);
        if (!child || PyDict_SetItem(answer, PyTuple_GetItem(names, i), child) < 0) Py_CLEAR(answer);
        Py_XDECREF(child);
    }
    return answer;
}

static PyObject *unflatten(PyObject *tree, PyObject *leaves, Py_ssize_t *next)
{
    if (tree == Py_None) return Py_NewRef(Py_None);
    if (tree == Py_Ellipsis) {
        PyObject *leaf = PySequence_GetItem(leaves, *next);
        ++*next;
        return leaf;
    }
    if (!PyTuple_Check(tree)) return PyErr_SetString(PyExc_TypeError, "this is no tree of flatten"), NULL;
    PyObject *type = PyTuple_GetItem(tree, 0);
    if (type == (PyObject *)&PyDict_Type) return unflatten_dict(tree, leaves, next);
    Py_ssize_t count = PyTuple_Size(tree) - 1;
    PyObject *list = PyList_New(count), *answer = NULL;
    for (Py_ssize_t i = 0; list && i < count; i++) {
        PyObject *child = unflatten(PyTuple_GetItem(tree, i + 1), leaves, next);
        if (!child) Py_CLEAR(list);
        else PyList_SetItem(list, i, child);
    }
    if (!list || type == (PyObject *)&PyList_Type) return list;
    PyObject *tuple = PyList_AsTuple(list);
    Py_DECREF(list);
    if (!tuple || type == (PyObject *)&PyTuple_Type) return tuple;
    answer = PyObject_CallObject(type, tuple);
    Py_DECREF(tuple);
    return answer;
}

static PyObject *tree_unflatten(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *tree, *leaves;
    Py_ssize_t next = 0;
    if (!PyArg_ParseTuple(arguments, "OO:tree_unflatten", &tree, &leaves)) return NULL;
    return unflatten(tree, leaves, &next);
}

PyMethodDef core_tree_methods[] = {
    {"tree_flatten", tree_flatten, METH_O,
     "tree_flatten(what, /)\n--\n\nThe leaves of nested tuples, lists and dicts, and their tree, which can be hashed."},
    {"tree_unflatten", tree_unflatten, METH_VARARGS, "tree_unflatten(tree, leaves, /)\n--\n\nThe converse of tree_flatten."},
    {NULL, NULL, 0, NULL},
};
