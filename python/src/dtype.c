/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Kinds as objects: wengert.float64 and the others, one object each. */
#include <string.h>

#include "core.h"

const core_kind core_kinds[WG_KIND_SINGLES] = {
    [WG_KIND_BOOL] = {"bool", "?", 'b', 1},   [WG_KIND_I8] = {"int8", "b", 'i', 1},        [WG_KIND_I16] = {"int16", "h", 'i', 2},
    [WG_KIND_I32] = {"int32", "i", 'i', 4},   [WG_KIND_I64] = {"int64", "q", 'i', 8},      [WG_KIND_U8] = {"uint8", "B", 'u', 1},
    [WG_KIND_U16] = {"uint16", "H", 'u', 2},  [WG_KIND_U32] = {"uint32", "I", 'u', 4},     [WG_KIND_U64] = {"uint64", "Q", 'u', 8},
    [WG_KIND_F16] = {"float16", "e", 'f', 2}, [WG_KIND_BF16] = {"bfloat16", NULL, 'f', 2}, [WG_KIND_F32] = {"float32", "f", 'f', 4},
    [WG_KIND_F64] = {"float64", "d", 'f', 8}, [WG_KIND_C64] = {"complex64", "Zf", 'c', 8}, [WG_KIND_C128] = {"complex128", "Zd", 'c', 16},
    [WG_KIND_CHAR] = {"char", NULL, 'x', 4},
};

typedef struct core_dtype_object {
    PyObject_HEAD
    wg_kind kind;
} core_dtype_object;

static PyTypeObject *dtype_type;
static PyObject *dtypes[WG_KIND_SINGLES];

PyObject *core_dtype(wg_kind kind)
{
    return Py_NewRef(dtypes[kind]);
}

/* NumPy's other names, which come before those of program text: 'i8' is eight bytes. */
static const struct {
    const char *name;
    wg_kind kind;
} aliases[] = {
    {"b1", WG_KIND_BOOL},   {"bool_", WG_KIND_BOOL}, {"?", WG_KIND_BOOL},     {"i1", WG_KIND_I8},       {"byte", WG_KIND_I8},
    {"i2", WG_KIND_I16},    {"short", WG_KIND_I16},  {"i4", WG_KIND_I32},     {"i8", WG_KIND_I64},      {"int", WG_KIND_I64},
    {"u1", WG_KIND_U8},     {"ubyte", WG_KIND_U8},   {"u2", WG_KIND_U16},     {"ushort", WG_KIND_U16},  {"u4", WG_KIND_U32},
    {"u8", WG_KIND_U64},    {"f2", WG_KIND_F16},     {"half", WG_KIND_F16},   {"f4", WG_KIND_F32},      {"single", WG_KIND_F32},
    {"f8", WG_KIND_F64},    {"double", WG_KIND_F64}, {"float", WG_KIND_F64},  {"c8", WG_KIND_C64},      {"csingle", WG_KIND_C64},
    {"c16", WG_KIND_C128},  {"cdouble", WG_KIND_C128}, {"complex", WG_KIND_C128},
};

static wg_kind kind_of_name(const char *name)
{
    for (int kind = 0; kind < WG_KIND_SINGLES; kind++)
        if (!strcmp(core_kinds[kind].name, name)) return (wg_kind)kind;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (!strcmp(aliases[i].name, name)) return aliases[i].kind;
    wg_kind kind = wg_kind_from_name(name);
    return kind < WG_KIND_SINGLES ? kind : WG_KIND_COUNT; /* there are no arrays of blocks */
}

/* Without an exception. */
static wg_kind kind_of(PyObject *what)
{
    if (Py_TYPE(what) == dtype_type) return ((core_dtype_object *)what)->kind;
    if (what == (PyObject *)&PyBool_Type) return WG_KIND_BOOL;
    if (what == (PyObject *)&PyLong_Type) return WG_KIND_I64;
    if (what == (PyObject *)&PyFloat_Type) return WG_KIND_F64;
    if (what == (PyObject *)&PyComplex_Type) return WG_KIND_C128;
    PyObject *name = PyUnicode_Check(what) ? Py_NewRef(what) : PyObject_GetAttrString(what, PyType_Check(what) ? "__name__" : "name");
    const char *text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    wg_kind kind = text ? kind_of_name(text) : WG_KIND_COUNT;
    Py_XDECREF(name);
    PyErr_Clear();
    return kind;
}

wg_kind core_kind_of(PyObject *what)
{
    wg_kind kind = kind_of(what);
    if (kind == WG_KIND_COUNT) PyErr_Format(core_error_class(WG_KIND), "%R is not a dtype; give wengert.float64 or the like", what);
    return kind;
}

bool core_kind_or(PyObject *what, wg_kind otherwise, wg_kind *kind)
{
    *kind = !what || what == Py_None ? otherwise : core_kind_of(what);
    return *kind != WG_KIND_COUNT || !PyErr_Occurred();
}

wg_kind core_kind_of_format(const char *format, Py_ssize_t bytes)
{
    if (!format) return WG_KIND_U8;
    if (*format == '@' || *format == '=' || *format == '<') format++;
    if (format[0] == 'Z' && format[1] && !format[2])
        return format[1] == 'f' ? WG_KIND_C64 : format[1] == 'd' ? WG_KIND_C128 : WG_KIND_COUNT;
    if (!format[0] || format[1]) return WG_KIND_COUNT;
    char class = *format == '?'              ? 'b'
                 : strchr("bhilqn", *format) ? 'i'
                 : strchr("BHILQN", *format) ? 'u'
                 : strchr("efd", *format)    ? 'f'
                                             : 0;
    for (int kind = 0; class && kind < WG_KIND_SINGLES; kind++)
        if (core_kinds[kind].class == class && core_kinds[kind].bytes == bytes && core_kinds[kind].format) return (wg_kind)kind;
    return WG_KIND_COUNT;
}

/* ---- the type ---- */

static PyObject *dtype_repr(PyObject *self)
{
    return PyUnicode_FromFormat("wengert.%s", core_kinds[((core_dtype_object *)self)->kind].name);
}

static PyObject *dtype_str(PyObject *self)
{
    return PyUnicode_FromString(core_kinds[((core_dtype_object *)self)->kind].name);
}

/* Equal names have equal hashes, as dtypes equal their names. */
static Py_hash_t dtype_hash(PyObject *self)
{
    PyObject *name = dtype_str(self);
    Py_hash_t hash = name ? PyObject_Hash(name) : -1;
    Py_XDECREF(name);
    return hash;
}

static PyObject *dtype_compare(PyObject *self, PyObject *other, int how)
{
    if (how != Py_EQ && how != Py_NE) return Py_NewRef(Py_NotImplemented);
    bool equal = self == other;
    if (!equal && Py_TYPE(other) != dtype_type) equal = kind_of(other) == ((core_dtype_object *)self)->kind;
    return PyBool_FromLong(equal == (how == Py_EQ));
}

static PyObject *dtype_item_bytes(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(core_kinds[((core_dtype_object *)self)->kind].bytes);
}

static PyObject *dtype_name(PyObject *self, void *unused)
{
    (void)unused;
    return dtype_str(self);
}

static PyObject *dtype_text(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(wg_kind_name(((core_dtype_object *)self)->kind));
}

static PyObject *dtype_class(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromFormat("%c", core_kinds[((core_dtype_object *)self)->kind].class);
}

static PyObject *dtype_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *module = PyImport_ImportModule("wengert"), *make = module ? PyObject_GetAttrString(module, "dtype") : NULL;
    PyObject *answer = make ? Py_BuildValue("N(s)", make, core_kinds[((core_dtype_object *)self)->kind].name) : NULL;
    Py_XDECREF(module);
    return answer;
}

/* dtype(what): the one object of a kind. */
static PyObject *dtype_new(PyTypeObject *type, PyObject *arguments, PyObject *names)
{
    (void)type;
    PyObject *what;
    static char *keywords[] = {"what", NULL};
    if (!PyArg_ParseTupleAndKeywords(arguments, names, "O:dtype", keywords, &what)) return NULL;
    wg_kind kind = core_kind_of(what);
    return kind == WG_KIND_COUNT ? NULL : core_dtype(kind);
}

static PyGetSetDef dtype_facts[] = {
    {"name", dtype_name, NULL, "the name that NumPy uses", NULL},
    {"kind", dtype_class, NULL, "'b' bool, 'i' and 'u' integers, 'f' floats, 'c' complex", NULL},
    {"itemsize", dtype_item_bytes, NULL, "bytes of one item", NULL},
    {"text", dtype_text, NULL, "the name in program text", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef dtype_methods[] = {{"__reduce__", dtype_reduce, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};

static PyType_Slot dtype_slots[] = {
    {Py_tp_doc, "dtype(what)\n--\n\nThe kind of items: wengert.float64 and the others. Equal to its name.\n\n>>> wg.dtype('float32') is "
                "wg.float32\nTrue"},
    {Py_tp_new, (void *)dtype_new},
    {Py_tp_repr, (void *)dtype_repr},
    {Py_tp_str, (void *)dtype_str},
    {Py_tp_hash, (void *)dtype_hash},
    {Py_tp_richcompare, (void *)dtype_compare},
    {Py_tp_getset, dtype_facts},
    {Py_tp_methods, dtype_methods},
    {0, NULL},
};

static PyType_Spec dtype_spec = {"wengert.dtype", sizeof(core_dtype_object), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, dtype_slots};

bool core_dtype_init(PyObject *module)
{
    dtype_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &dtype_spec, NULL);
    if (!dtype_type || PyModule_AddObjectRef(module, "dtype", (PyObject *)dtype_type) < 0) return false;
    allocfunc allocate = (allocfunc)PyType_GetSlot(dtype_type, Py_tp_alloc);
    for (int kind = 0; kind < WG_KIND_SINGLES; kind++) {
        core_dtype_object *dtype = (core_dtype_object *)allocate(dtype_type, 0);
        if (!dtype) return false;
        dtype->kind = (wg_kind)kind;
        dtypes[kind] = (PyObject *)dtype;
        if (PyModule_AddObjectRef(module, core_kinds[kind].name, dtypes[kind]) < 0) return false;
    }
    return true;
}
