/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The extension wengert._core: arrays that wait as Python objects, over the public headers alone, in the limited API of Python 3.11.
 *
 * Start with context.c (whose arrays these are, errors, reads), then array.c (the type), coerce.c (what counts as an array: numbers, lists,
 * buffers, DLPack), operators.c and calls.c (calls), index.c, tree.c and transform.c (functions of arrays), program.c.
 *
 * The rule that everything hangs on: a context of arrays (wg_lazy) belongs to one thread, and so does an array. The lock of the interpreter
 * is held except in a read (core_unlock), while which nobody else may enter that context. */
#ifndef PYTHON_CORE_H
#define PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#define WG_NO_SITES
#include "wengert/array.h"
#include "wengert/text.h"

/* ---- context.c ---- */

/* The arrays of one thread. Lives until the thread is gone and nothing of it is left. */
typedef struct core_context {
    wg_lazy *lazy;
    size_t references;    /* objects of this context, and its thread */
    uint32_t depth;       /* functions under way: what is answered now belongs to a scope too */
    bool reading;         /* a read has let the interpreter go */
    struct core_dead *dead; /* let go by other threads */
    size_t dead_count, dead_capacity;
} core_context;

/* The context of this thread, made where there is none; NULL and an exception. */
core_context *core_current(void);
core_context *core_context_keep(core_context *context);
void core_context_release(core_context *context);
/* Lets something of a context go, and the reference that it holds of it, from any thread that holds the interpreter. */
void core_drop(core_context *context, void (*release)(void *what), void *what);
void core_release(core_context *context, wg_array *array);
/* Runs what releases of borrowed items left to do: call it where Python code may run. */
void core_settle(void);
/* Something to do when no array is in the middle of anything. */
typedef struct core_later {
    struct core_later *next;
    void (*run)(struct core_later *later);
} core_later;
void core_do_later(core_later *later);

/* Raises the context's error as an exception and clears it, unless an exception is raised already. Answers NULL. */
void *core_raise(core_context *context);
void *core_raise_error(const wg_error *error);
bool core_context_init(PyObject *module);
/* One class of exception; for callers that check their own arguments. */
PyObject *core_error_class(wg_code code);

/* Reads with the interpreter let go; a signal's exception stops it. False and an exception. */
bool core_read(core_context *context, wg_array *array, wg_view *view);
bool core_run(core_context *context, wg_array *const *arrays, uint32_t count);

/* ---- interrupt.c ---- */

/* A time without the interpreter. */
typedef struct core_pause {
    void (*stop)(void *user);
    void *user;
    PyThreadState *thread;
} core_pause;
/* Lets the interpreter go; while it is gone an interrupt of the main thread calls stop(user). */
void core_unlock(core_pause *pause);
/* Takes it again. True: an interrupt came. */
bool core_lock(core_pause *pause);
bool core_interrupt_init(void);

/* ---- place.c: the line of Python of a call ---- */

/* Gives an array that was just made the line of Python that runs. */
void core_place(wg_array *array);
PyObject *core_set_places(PyObject *module, PyObject *on);
PyObject *core_set_package(PyObject *module, PyObject *directory);

/* ---- dtype.c ---- */

typedef struct core_kind {
    const char *name;   /* as NumPy says it: "float64" */
    const char *format; /* of a buffer; NULL: buffers have none */
    char class;         /* 'b' bool, 'i' signed, 'u' unsigned, 'f' float, 'c' complex, 'x' character */
    uint8_t bytes;
} core_kind;
extern const core_kind core_kinds[WG_KIND_SINGLES];

bool core_dtype_init(PyObject *module);
/* A new reference. */
PyObject *core_dtype(wg_kind kind);
/* From a dtype, a name, a type of Python or anything with a name of such a kind. WG_KIND_COUNT and an exception. */
wg_kind core_kind_of(PyObject *what);
/* None: otherwise. */
bool core_kind_or(PyObject *what, wg_kind otherwise, wg_kind *kind);
/* The kind of a buffer's format in this machine's order; WG_KIND_COUNT: none. */
wg_kind core_kind_of_format(const char *format, Py_ssize_t bytes);

/* ---- array.c ---- */

typedef struct core_array {
    PyObject_HEAD
    wg_array *handle;
    core_context *context;
    PyObject *refusal; /* what stopped the read of a buffer, until the array is read again; NULL: nothing */
} core_array;

extern PyTypeObject *core_array_type;
bool core_array_init(PyObject *module);
static inline bool core_is_array(PyObject *object) { return Py_TYPE(object) == core_array_type; }
/* An object for what a call answered; NULL: the context's error is raised. */
PyObject *core_wrap(core_context *context, wg_array *array);
/* What a call answered as the caller's own, also where a scope owns it. NULL passes. */
static inline wg_array *core_own(const core_context *context, wg_array *array)
{
    return array && context->depth ? wg_array_keep(array) : array;
}
/* The same for an owned array, whose reference is consumed. */
PyObject *core_wrap_owned(core_context *context, wg_array *array);
/* The same for an array that the caller of a scope does not own: one more reference is taken. */
PyObject *core_wrap_kept(core_context *context, wg_array *array);
/* How often values of arrays have left for Python or NumPy in this thread, where derivatives do not follow them; a call counts one. Whether
   an array is true does not count: that decides, and is no value. */
void core_left(void);
PyObject *core_left_count(PyObject *module, PyObject *unused);
PyObject *core_shape_tuple(uint32_t rank, const int64_t *shape);
/* A shape from an integer or a sequence of them. False and an exception. */
bool core_shape_of(PyObject *what, uint32_t *rank, int64_t *shape);
/* Axes from None (all: count 0, *axes NULL), an integer or a sequence. */
bool core_axes_of(PyObject *what, int32_t *room, const int32_t **axes, uint32_t *count);

/* The tag of numbers without a kind of their own, which take the other operand's. */
#define CORE_WEAK 1u

/* ---- coerce.c ---- */

/* An array of this thread's context from anything: an owned reference; NULL and an exception. kind WG_KIND_COUNT: what the items are of. */
wg_array *core_array_of(core_context *context, PyObject *what, wg_kind kind);
/* The same; copy 1: of its own items, 0: never a copy (an error where one is needed), -1: where it is needed. */
wg_array *core_array_of_copy(core_context *context, PyObject *what, wg_kind kind, int copy);
/* Is it a number of Python (bool, int, float, complex)? */
bool core_is_number(PyObject *what);
/* A literal [] of a kind from a number of Python; owned. NULL and an exception where the kind cannot hold it. */
wg_array *core_number(core_context *context, PyObject *number, wg_kind kind);
/* The kind that a number of Python takes beside an array of this kind. */
wg_kind core_kind_beside(PyObject *number, wg_kind kind);
/* The handle of an array object in this context: owned. Arrays of other threads are handed over where they are stored. */
wg_array *core_handle_of(core_context *context, PyObject *array);

/* ---- dlpack.c ---- */

PyObject *core_to_dlpack(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names);
PyObject *core_dlpack_device(PyObject *self, PyObject *unused);
/* An array over the items of a capsule, which is consumed; owned. */
wg_array *core_from_dlpack(core_context *context, PyObject *capsule);

/* ---- operators.c, calls.c, index.c ---- */

typedef wg_array *(*core_binary)(wg_array *a, wg_array *b);
/* What happens to kinds before the call. */
typedef enum core_promotion { CORE_SAME, CORE_FLOATS, CORE_BOOLS } core_promotion;
/* A call on two objects of which one is an array, promoted. NULL and an exception, or NotImplemented for an operand that is none. */
PyObject *core_call_binary(core_binary call, PyObject *a, PyObject *b, core_promotion promotion, bool reflected);
/* A product in the kind of its operands: integers wrap. */
wg_array *core_matmul(wg_array *a, wg_array *b);
extern const PyType_Slot core_operator_slots[];
extern const size_t core_operator_slot_count;
PyObject *core_compare(PyObject *a, PyObject *b, int how);

extern PyMethodDef core_call_methods[];

PyObject *core_subscript(PyObject *self, PyObject *key);
int core_assign(PyObject *self, PyObject *key, PyObject *value);
PyObject *core_item(PyObject *self, Py_ssize_t index);
PyObject *core_at(PyObject *self, void *unused);
bool core_index_init(PyObject *module);

/* ---- text.c: items as text ---- */

PyObject *core_str(PyObject *self);
PyObject *core_repr(PyObject *self);
/* The items as nested lists; of [] the item. */
PyObject *core_list(PyObject *self, PyObject *unused);
/* One item as a number of Python. */
PyObject *core_number_of_item(wg_kind kind, const void *item);

/* ---- tree.c: arguments nested any way ---- */

extern PyMethodDef core_tree_methods[];
bool core_tree_is_named(PyObject *what);
/* The keys of a dict as a tuple, in their order where they have one. */
PyObject *core_tree_keys(PyObject *dict);

/* ---- transform.c ---- */

extern PyMethodDef core_transform_methods[];
bool core_transform_init(PyObject *module);

/* ---- generator.c, draws.c, program.c ---- */

bool core_generator_init(PyObject *module);
PyObject *core_random(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

bool core_program_init(PyObject *module);

static inline PyObject *core_call_one(PyObject *callable, PyObject *argument)
{
    return PyObject_CallFunctionObjArgs(callable, argument, NULL);
}

/* Releases of other types of this extension. */
static inline void core_free_object(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

#endif
