/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The line of Python that made a node, so that a failed read can name it. Names of files are kept for ever, each once: nodes point to them. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

#define CACHE_SLOTS 256u

/* Code objects seen last, kept, so that an address means one of them. */
static struct {
    PyObject *code;
    const char *file;
} seen[CACHE_SLOTS];

static PyObject *files; /* name: capsule of its text */
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

static const char *file_of_code(PyObject *code)
{
    size_t slot = ((uintptr_t)code >> 4) % CACHE_SLOTS;
    if (seen[slot].code == code) return seen[slot].file;
    const char *file = file_of(code);
    Py_XDECREF(seen[slot].code);
    seen[slot].code = Py_NewRef(code);
    return seen[slot].file = file;
}

void core_place(wg_array *array)
{
    PyFrameObject *frame = places ? PyEval_GetFrame() : NULL;
    if (!frame) return;
    PyObject *code = (PyObject *)PyFrame_GetCode(frame);
    const char *file = file_of_code(code);
    if (file) wg_array_at(array, file, PyFrame_GetLineNumber(frame));
    Py_DECREF(code);
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
