/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Items as numbers of Python and as text. Floats are printed as the shortest decimal that reads back; long arrays are cut as NumPy's
 * are. */
#include <string.h>

#include "core.h"

static double of_half(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 1023;
    float value;
    if (exponent == 0) return (sign ? -1.0 : 1.0) * (double)fraction / 16777216.0;
    uint32_t wide = sign | (exponent == 31 ? 255u : exponent + 112u) << 23 | fraction << 13;
    memcpy(&value, &wide, sizeof value);
    return value;
}

static double float_of(wg_kind kind, const void *item)
{
    uint16_t half;
    uint32_t wide;
    float narrow;
    double value;
    switch (kind) {
    case WG_KIND_F64:
    case WG_KIND_C128: memcpy(&value, item, sizeof value); return value;
    case WG_KIND_F16: memcpy(&half, item, sizeof half); return of_half(half);
    case WG_KIND_BF16:
        memcpy(&half, item, sizeof half);
        wide = (uint32_t)half << 16;
        memcpy(&narrow, &wide, sizeof narrow);
        return narrow;
    default: memcpy(&narrow, item, sizeof narrow); return narrow;
    }
}

static int64_t integer_of(wg_kind kind, const void *item)
{
    uint64_t bits = 0;
    size_t bytes = wg_kind_bytes(kind);
    memcpy(&bits, item, bytes);
    unsigned unused = 64 - 8 * (unsigned)bytes;
    return core_kinds[kind].class == 'i' ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
}

PyObject *core_number_of_item(wg_kind kind, const void *item)
{
    switch (core_kinds[kind].class) {
    case 'b': return PyBool_FromLong(*(const uint8_t *)item);
    case 'i': return PyLong_FromLongLong(integer_of(kind, item));
    case 'u':
    case 'x': return PyLong_FromUnsignedLongLong((unsigned long long)integer_of(kind, item));
    case 'f': return PyFloat_FromDouble(float_of(kind, item));
    default: return PyComplex_FromDoubles(float_of(kind, item), float_of(kind, (const char *)item + wg_kind_bytes(kind) / 2));
    }
}

/* ---- walking a view ---- */

typedef struct walk {
    wg_view view;
    int64_t strides[WG_MAX_RANK];
} walk;

static bool begin(PyObject *self, walk *over)
{
    core_array *array = (core_array *)self;
    if (!core_read(array->context, array->handle, &over->view)) return false;
    int64_t step = (int64_t)wg_kind_bytes(over->view.kind);
    for (uint32_t axis = over->view.rank; axis-- > 0; step *= over->view.shape[axis])
        over->strides[axis] = over->view.strides ? over->view.strides[axis] : step;
    return true;
}

static PyObject *list_of(const walk *over, uint32_t axis, const char *item)
{
    if (axis == over->view.rank) return core_number_of_item(over->view.kind, item);
    PyObject *list = PyList_New((Py_ssize_t)over->view.shape[axis]);
    for (int64_t i = 0; list && i < over->view.shape[axis]; i++) {
        PyObject *inner = list_of(over, axis + 1, item + i * over->strides[axis]);
        if (!inner) Py_CLEAR(list);
        else PyList_SetItem(list, (Py_ssize_t)i, inner);
    }
    return list;
}

PyObject *core_list(PyObject *self, PyObject *unused)
{
    (void)unused;
    walk over;
    core_left();
    return begin(self, &over) ? list_of(&over, 0, over.view.data) : NULL;
}

/* ---- text ---- */

#define MOST_ITEMS 1000
#define EDGE 3

/* A float of few bits is printed with the digits that its kind needs: 9, 5 or 4 at most, 17 for f64. */
static PyObject *text_of_float(wg_kind kind, double value)
{
    static const int digits[] = {6, 7, 8, 9};
    if (kind == WG_KIND_F64 || kind == WG_KIND_C128) {
        char *text = PyOS_double_to_string(value, 'r', 0, 0, NULL);
        PyObject *answer = text ? PyUnicode_FromString(text) : PyErr_NoMemory();
        PyMem_Free(text);
        return answer;
    }
    for (int i = kind == WG_KIND_F16 || kind == WG_KIND_BF16 ? -3 : 0;; i++) {
        char *text = PyOS_double_to_string(value, 'g', i < 0 ? 6 + i : digits[i], 0, NULL);
        if (!text) return PyErr_NoMemory();
        double back = PyOS_string_to_double(text, NULL, NULL);
        if (PyErr_Occurred()) PyErr_Clear();
        bool good = i == 3 || value != value || (kind == WG_KIND_F32 || kind == WG_KIND_C64 ? (float)back == (float)value : back == value);
        PyObject *answer = good ? PyUnicode_FromString(text) : NULL;
        PyMem_Free(text);
        if (good) return answer;
    }
}

/* With a point, so that a float is seen to be one. */
static PyObject *with_point(PyObject *text)
{
    if (!text || PyUnicode_FindChar(text, '.', 0, PyUnicode_GetLength(text), 1) >= 0 ||
        PyUnicode_FindChar(text, 'e', 0, PyUnicode_GetLength(text), 1) >= 0 ||
        PyUnicode_FindChar(text, 'n', 0, PyUnicode_GetLength(text), 1) >= 0)
        return text;
    PyObject *answer = PyUnicode_FromFormat("%U.", text);
    Py_DECREF(text);
    return answer;
}

static PyObject *text_of_item(wg_kind kind, const void *item)
{
    char class = core_kinds[kind].class;
    if (class == 'f') return with_point(text_of_float(kind, float_of(kind, item)));
    if (class != 'c') {
        PyObject *number = core_number_of_item(kind, item), *text = number ? PyObject_Str(number) : NULL;
        Py_XDECREF(number);
        return text;
    }
    double imaginary = float_of(kind, (const char *)item + wg_kind_bytes(kind) / 2);
    PyObject *re = with_point(text_of_float(kind, float_of(kind, item))), *im = re ? with_point(text_of_float(kind, imaginary)) : NULL;
    bool plus = im && PyUnicode_ReadChar(im, 0) != '-';
    PyObject *answer = im ? PyUnicode_FromFormat("%U%s%Uj", re, plus ? "+" : "", im) : NULL;
    Py_XDECREF(re);
    Py_XDECREF(im);
    return answer;
}

/* Rows of matrices stand under each other, blocks have a line between them. */
static bool write_items(PyObject *parts, const walk *over, uint32_t axis, const char *item, bool cut, int indent)
{
    PyObject *text;
    if (axis == over->view.rank) {
        text = text_of_item(over->view.kind, item);
        bool good = text && !PyList_Append(parts, text);
        Py_XDECREF(text);
        return good;
    }
    int64_t extent = over->view.shape[axis];
    bool inner = axis + 1 == over->view.rank;
    char gap[32 + 2 * WG_MAX_RANK] = ", ";
    if (!inner) {
        size_t lines = over->view.rank - axis - 1, spaces = (size_t)indent + 1;
        memset(gap + 1, '\n', lines);
        memset(gap + 1 + lines, ' ', spaces);
        gap[1 + lines + spaces] = 0;
    }
    PyObject *between = PyUnicode_FromString(gap);
    PyObject *open = PyUnicode_FromString("["), *close = PyUnicode_FromString("]"), *dots = PyUnicode_FromString("...");
    bool good = between && open && close && dots && !PyList_Append(parts, open);
    for (int64_t i = 0; good && i < extent; i++) {
        if (i) good = !PyList_Append(parts, between);
        if (cut && extent > 2 * EDGE + 1 && i == EDGE) {
            good = good && !PyList_Append(parts, dots);
            i = extent - EDGE - 1;
            continue;
        }
        good = good && write_items(parts, over, axis + 1, item + i * over->strides[axis], cut, indent + 1);
    }
    good = good && !PyList_Append(parts, close);
    Py_XDECREF(between);
    Py_XDECREF(open);
    Py_XDECREF(close);
    Py_XDECREF(dots);
    return good;
}

static PyObject *text_of(PyObject *self, int indent)
{
    walk over;
    if (!begin(self, &over)) return NULL;
    PyObject *parts = PyList_New(0), *nothing = PyUnicode_FromString(""), *answer = NULL;
    bool cut = wg_array_volume(((core_array *)self)->handle) > MOST_ITEMS;
    if (parts && nothing && write_items(parts, &over, 0, over.view.data, cut, indent)) answer = PyUnicode_Join(nothing, parts);
    Py_XDECREF(parts);
    Py_XDECREF(nothing);
    return answer;
}

PyObject *core_str(PyObject *self)
{
    return text_of(self, 0);
}

/* Readers of a repr know f64, i64, bool and c128 from the items; other kinds are named, and so is the shape of what has no items. */
PyObject *core_repr(PyObject *self)
{
    wg_array *handle = ((core_array *)self)->handle;
    wg_kind kind = wg_array_kind(handle);
    PyObject *text = text_of(self, 14);
    if (!text) return NULL;
    bool plain = (kind == WG_KIND_F64 || kind == WG_KIND_I64 || kind == WG_KIND_BOOL || kind == WG_KIND_C128) && wg_array_volume(handle);
    PyObject *answer = plain ? PyUnicode_FromFormat("wengert.array(%U)", text)
                             : PyUnicode_FromFormat("wengert.array(%U, dtype=%s)", text, core_kinds[kind].name);
    Py_DECREF(text);
    return answer;
}
