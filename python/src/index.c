/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Index expressions: a[..], a[..] = values, a.at[..].set(values) and .add(values). */
#include <string.h>

#include "core.h"

#define MOST_PLACES (2 * WG_MAX_RANK)

typedef struct places {
    wg_index indexes[MOST_PLACES];
    uint32_t count;
    wg_array *arrays[MOST_PLACES]; /* owned: what the indexes point to */
    uint32_t array_count;
} places;

static void places_free(places *all)
{
    while (all->array_count) wg_array_release(all->arrays[--all->array_count]);
}

static bool fail_index(const char *message)
{
    PyErr_SetString(PyExc_IndexError, message);
    return false;
}

static bool add_array(core_context *context, places *all, PyObject *item)
{
    wg_array *array = core_array_of(context, item, WG_KIND_COUNT);
    if (!array) return false;
    if (!wg_array_volume(array) && !core_is_array(item) &&
        core_kinds[wg_array_kind(array)].class == 'f') { /* a list of nothing has no kind of its own */
        wg_array *none = core_own(context, wg_array_convert(array, WG_KIND_I64));
        wg_array_release(array);
        if (!(array = none)) return core_raise(context), false;
    }
    wg_kind kind = wg_array_kind(array);
    char class = core_kinds[kind].class;
    if ((class == 'i' || class == 'u') && kind != WG_KIND_I64 && kind != WG_KIND_I32) {
        wg_array *wide = core_own(context, wg_array_convert(array, WG_KIND_I64));
        wg_array_release(array);
        if (!(array = wide)) return core_raise(context), false;
    } else if (class != 'i' && class != 'b') {
        wg_array_release(array);
        return fail_index("positions are integers, a mask is of bool");
    }
    all->arrays[all->array_count++] = array;
    all->indexes[all->count++] = wg_index_by(array);
    return true;
}

static bool add_slice(places *all, PyObject *item)
{
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(item, &start, &stop, &step) < 0) return false;
    int64_t from = start == PY_SSIZE_T_MAX ? WG_MISSING : start, to = stop == PY_SSIZE_T_MAX || stop == PY_SSIZE_T_MIN ? WG_MISSING : stop;
    if (start == 0 && step > 0) from = WG_MISSING;
    all->indexes[all->count++] = wg_index_slice(from, to, step);
    return true;
}

/* Arrays of other libraries are integers to PyIndex_Check, whatever they are: one without axes is asked. */
static bool has_axes(PyObject *item)
{
    if (PyLong_Check(item)) return false;
    PyObject *rank = PyObject_GetAttrString(item, "ndim");
    bool has = rank && PyLong_Check(rank) && PyLong_AsLong(rank) != 0;
    Py_XDECREF(rank);
    PyErr_Clear();
    return has;
}

/* An item without axes: a position, or a bool of NumPy. */
static bool add_position(core_context *context, places *all, PyObject *item)
{
    Py_ssize_t position = PyNumber_AsSsize_t(item, PyExc_IndexError);
    if (position == -1 && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError) || !PyObject_CheckBuffer(item)) return false;
        PyErr_Clear();
        return add_array(context, all, item);
    }
    all->indexes[all->count++] = wg_index_at(position);
    return true;
}

static bool add_place(core_context *context, places *all, PyObject *item)
{
    if (all->count == MOST_PLACES) return fail_index("more indexes than an array can have axes");
    if (item == Py_None) return all->indexes[all->count++] = wg_index_new_axis(), true;
    if (item == Py_Ellipsis) return all->indexes[all->count++] = wg_index_rest(), true;
    if (PySlice_Check(item)) return add_slice(all, item);
    if (PyIndex_Check(item) && !PyBool_Check(item) && !core_is_array(item) && !has_axes(item)) return add_position(context, all, item);
    return add_array(context, all, item);
}

/* Positions outside, and more indexes than axes, are an IndexError at once. */
static bool check(const places *all, const wg_array *array)
{
    uint32_t rank = wg_array_rank(array), used = 0, rests = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        const wg_index *index = &all->indexes[i];
        if (index->form == WG_INDEX_REST) rests++;
        else if (index->form == WG_INDEX_ARRAY) used += wg_array_kind(index->array) == WG_KIND_BOOL ? wg_array_rank(index->array) : 1;
        else if (index->form != WG_INDEX_NEW_AXIS) used++;
    }
    if (rests > 1) return fail_index("an index has at most one ellipsis");
    if (used > rank) {
        PyErr_Format(PyExc_IndexError, "%u indexes for an array of %u axes", used, rank);
        return false;
    }
    uint32_t axis = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        const wg_index *index = &all->indexes[i];
        if (index->form == WG_INDEX_REST) axis += rank - used;
        else if (index->form == WG_INDEX_ARRAY) axis += wg_array_kind(index->array) == WG_KIND_BOOL ? wg_array_rank(index->array) : 1;
        else if (index->form != WG_INDEX_NEW_AXIS) {
            int64_t extent = wg_array_shape(array)[axis++];
            if (index->form == WG_INDEX_AT && (index->start < -extent || index->start >= extent)) {
                PyErr_Format(PyExc_IndexError, "position %lld is outside of an axis of %lld", (long long)index->start, (long long)extent);
                return false;
            }
        }
    }
    return true;
}

/* Arrays that the places keep are owned: places_free, also on failure. */
static bool places_of(core_context *context, const wg_array *array, PyObject *key, places *all)
{
    all->count = all->array_count = 0;
    if (!PyTuple_Check(key)) return add_place(context, all, key) && check(all, array);
    Py_ssize_t count = PyTuple_Size(key);
    for (Py_ssize_t i = 0; i < count; i++)
        if (!add_place(context, all, PyTuple_GetItem(key, i))) return false;
    return check(all, array);
}

/* How many items a mask chooses is read by the call: computed before, where Ctrl-C stops it. */
static bool run_masks(core_context *context, const places *all)
{
    for (uint32_t i = 0; i < all->array_count; i++)
        if (wg_array_kind(all->arrays[i]) == WG_KIND_BOOL && wg_array_is_pending(all->arrays[i]) && !core_run(context, &all->arrays[i], 1))
            return false;
    return true;
}

PyObject *core_subscript(PyObject *self, PyObject *key)
{
    core_context *context = core_current();
    wg_array *array = context ? core_handle_of(context, self) : NULL;
    if (!array) return NULL;
    places all;
    bool good = places_of(context, array, key, &all) && run_masks(context, &all);
    PyObject *answer = good ? core_wrap(context, wg_array_index(array, all.indexes, all.count)) : NULL;
    places_free(&all);
    wg_array_release(array);
    return answer;
}

PyObject *core_item(PyObject *self, Py_ssize_t index)
{
    PyObject *key = PyLong_FromSsize_t(index), *answer = key ? core_subscript(self, key) : NULL;
    Py_XDECREF(key);
    return answer;
}

typedef wg_array *(*put_call)(wg_array *a, const wg_index *indexes, uint32_t count, wg_array *values);

/* The array with values put in, owned. */
static wg_array *changed(core_context *context, PyObject *self, PyObject *key, PyObject *value, put_call put)
{
    wg_array *array = core_handle_of(context, self), *values = NULL, *answer = NULL;
    places all = {.count = 0};
    if (!array) return NULL;
    wg_kind kind = wg_array_kind(array);
    if (core_is_number(value) && core_kind_beside(value, kind) != kind &&
        (core_kinds[kind].class == 'i' || core_kinds[kind].class == 'u' || !PyLong_Check(value)))
        PyErr_Format(core_error_class(WG_KIND), "%R is not put into an array of %s", value, core_kinds[kind].name);
    else if (places_of(context, array, key, &all)) values = core_array_of(context, value, kind);
    if (values && !(answer = core_own(context, put(array, all.indexes, all.count, values)))) core_raise(context);
    places_free(&all);
    wg_array_release(values);
    wg_array_release(array);
    return answer;
}

/* a[..] = values: the object has another array from then on. */
int core_assign(PyObject *self, PyObject *key, PyObject *value)
{
    core_array *object = (core_array *)self;
    core_context *context = core_current();
    if (!value) PyErr_SetString(PyExc_TypeError, "items of an array are not deleted");
    wg_array *array = value && context ? changed(context, self, key, value, wg_array_put) : NULL;
    if (!array) return -1;
    core_place(array);
    core_context *old = object->context;
    wg_array *before = object->handle;
    object->handle = array;
    object->context = core_context_keep(context);
    core_release(old, before);
    core_settle();
    return 0;
}

/* ---- a.at[..] ---- */

typedef struct core_at_object {
    PyObject_HEAD
    PyObject *array, *key;
} core_at_object;

static PyTypeObject *at_type;

static PyObject *at_new(PyObject *array, PyObject *key)
{
    core_at_object *object = PyObject_New(core_at_object, at_type);
    if (!object) return NULL;
    object->array = Py_NewRef(array);
    object->key = Py_XNewRef(key);
    return (PyObject *)object;
}

PyObject *core_at(PyObject *self, void *unused)
{
    (void)unused;
    return at_new(self, NULL);
}

static void at_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_DECREF(((core_at_object *)self)->array);
    Py_XDECREF(((core_at_object *)self)->key);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *at_subscript(PyObject *self, PyObject *key)
{
    return at_new(((core_at_object *)self)->array, key);
}

static PyObject *at_put(PyObject *self, PyObject *value, put_call put)
{
    core_at_object *at = (core_at_object *)self;
    core_context *context = core_current();
    if (!at->key) PyErr_SetString(PyExc_TypeError, "give the index first: a.at[index]");
    wg_array *array = at->key && context ? changed(context, at->array, at->key, value, put) : NULL;
    return array ? core_wrap_owned(context, array) : NULL;
}

static PyObject *at_set(PyObject *self, PyObject *value) { return at_put(self, value, wg_array_put); }
static PyObject *at_add(PyObject *self, PyObject *value) { return at_put(self, value, wg_array_put_add); }

static PyObject *at_get(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_at_object *at = (core_at_object *)self;
    if (at->key) return core_subscript(at->array, at->key);
    PyErr_SetString(PyExc_TypeError, "give the index first: a.at[index]");
    return NULL;
}

static PyMethodDef at_methods[] = {
    {"set", at_set, METH_O, "the array with these items replaced; of a place given twice the last value stays"},
    {"add", at_add, METH_O, "the array with values added to these items; every repeat counts"},
    {"get", at_get, METH_NOARGS, "these items"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot at_slots[] = {
    {Py_tp_doc, "Places of an array: a.at[index].set(values), .add(values), .get()."},
    {Py_tp_dealloc, (void *)at_dealloc},
    {Py_tp_methods, at_methods},
    {Py_mp_subscript, (void *)at_subscript},
    {0, NULL},
};

static PyType_Spec at_spec = {"wengert.At", sizeof(core_at_object), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, at_slots};

bool core_index_init(PyObject *module)
{
    return (at_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &at_spec, NULL)) != NULL;
}
