/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The line of Python that made a node, so that a failed read can name it. Names of files are kept for ever, each once: nodes point to
 * them. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

#define CACHE_SLOTS 1024u

/* Calls seen last: Python finds a line by reading a table from its start. Code objects are kept, so that an address means one of them. */
static struct {
    PyObject *code;
    const char *file;
    long instruction;
    int line;
    bool inside; /* of the package: who called it is the place */
} seen[CACHE_SLOTS];

static PyObject *files; /* name: capsule of its text */
static char *package; /* its directory */
static bool places = true;

static const char *file_of(PyObject *code)
{
    PyObject *name = PyObject_GetAttrString(code, "co_filename");
    if (!files) files = PyDict_New();
    PyObject *known = name && files ? PyDict_GetItemWithError(files, name) : NULL;
    const char *file = known ? PyCapsule_GetPointer(known, NULL) : NULL;
    const char *text = name && files && !known ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    char *copy = text ? strdup(text) : NULL;
    PyObject *capsule = copy ? PyCapsule_New(copy, NULL, NULL) : NULL;
    if (capsule && !PyDict_SetItem(files, name, capsule)) file = copy;
    else free(copy);
    Py_XDECREF(capsule);
    Py_XDECREF(name);
    if (!file) PyErr_Clear();
    return file;
}

static long instruction_of(PyFrameObject *frame)
{
    static PyObject *name;
    if (!name) name = PyUnicode_InternFromString("f_lasti");
    PyObject *number = name ? PyObject_GetAttr((PyObject *)frame, name) : NULL;
    long instruction = number ? PyLong_AsLong(number) : -1;
    Py_XDECREF(number);
    if (!number) PyErr_Clear();
    return instruction;
}

static size_t look(PyFrameObject *frame)
{
    PyObject *code = (PyObject *)PyFrame_GetCode(frame);
    long instruction = instruction_of(frame);
    size_t slot = (((uintptr_t)code >> 4) + (size_t)instruction) % CACHE_SLOTS;
    if (seen[slot].code == code && seen[slot].instruction == instruction) {
        Py_DECREF(code);
        return slot;
    }
    Py_XDECREF(seen[slot].code);
    seen[slot].code = code;
    seen[slot].file = file_of(code);
    seen[slot].instruction = instruction;
    seen[slot].line = PyFrame_GetLineNumber(frame);
    seen[slot].inside = seen[slot].file && package && !strncmp(seen[slot].file, package, strlen(package));
    return slot;
}

static PyFrameObject *caller_of(PyFrameObject *frame)
{
    PyObject *caller = PyObject_GetAttrString((PyObject *)frame, "f_back");
    if (!caller) PyErr_Clear();
    if (caller != Py_None) return (PyFrameObject *)caller;
    Py_DECREF(caller);
    return NULL;
}

void core_place(wg_array *array)
{
    PyFrameObject *frame = places ? (PyFrameObject *)Py_XNewRef((PyObject *)PyEval_GetFrame()) : NULL;
    while (frame) {
        size_t slot = look(frame);
        PyFrameObject *caller = seen[slot].inside ? caller_of(frame) : NULL;
        Py_DECREF((PyObject *)frame);
        frame = caller;
        if (!frame && seen[slot].file) wg_array_at(array, seen[slot].file, seen[slot].line);
    }
}

/* set_package(directory) */
PyObject *core_set_package(PyObject *module, PyObject *directory)
{
    (void)module;
    const char *text = PyUnicode_AsUTF8AndSize(directory, NULL);
    if (!text) return NULL;
    free(package);
    package = strdup(text);
    return package ? Py_NewRef(Py_None) : PyErr_NoMemory();
}

PyObject *core_set_places(PyObject *module, PyObject *on)
{
    (void)module;
    int truth = PyObject_IsTrue(on);
    if (truth < 0) return NULL;
    bool old = places;
    places = truth;
    return PyBool_FromLong(old);
}
