/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Operators: two operands come to one kind, then one call. Kinds follow NumPy and the array API: a number of Python takes the array's
 * kind where that can hold its class, `/` of integers is of f64. */
#include "core.h"

static bool may_be_operand(PyObject *what)
{
    return core_is_array(what) || core_is_number(what) || PyList_Check(what) || PyTuple_Check(what) ||
           (PyObject_CheckBuffer(what) && !PyBytes_Check(what) && !PyByteArray_Check(what));
}

static bool is_weak(const wg_array *array)
{
    return wg_array_tag(array) == CORE_WEAK && !wg_array_rank(array);
}

/* What weak operands alone make is weak too. Passes what a call answered. */
static wg_array *weakened(const core_context *context, wg_array *answered)
{
    wg_array *tagged = answered ? wg_array_tagged(answered, CORE_WEAK) : NULL;
    if (answered && !context->depth) wg_array_release(answered);
    return tagged;
}

/* The kind of a weak array's class beside another kind. */
static wg_kind kind_beside_weak(const wg_array *weak, wg_kind kind)
{
    char own = core_kinds[wg_array_kind(weak)].class, class = core_kinds[kind].class;
    if (own == 'f') return class == 'f' || class == 'c' ? kind : WG_KIND_F64;
    return class == 'c' ? kind : kind == WG_KIND_F64 || class != 'f' ? WG_KIND_C128 : WG_KIND_C64;
}

static bool is_weak_object(PyObject *what)
{
    return core_is_array(what) ? is_weak(((core_array *)what)->handle) : core_is_number(what);
}

static wg_kind kind_of_pair(const wg_array *x, const wg_array *y)
{
    wg_kind a = wg_array_kind(x), b = wg_array_kind(y);
    if (is_weak(x) != is_weak(y)) return is_weak(x) ? kind_beside_weak(x, b) : kind_beside_weak(y, a);
    wg_kind kind = wg_kind_promoted(a, b);
    if (kind == WG_KIND_COUNT)
        PyErr_Format(core_error_class(WG_KIND), "no kind holds items of %s and of %s", core_kinds[a].name, core_kinds[b].name);
    return kind;
}

static wg_kind as_floats(wg_kind kind)
{
    char class = core_kinds[kind].class;
    return class == 'f' || class == 'c' ? kind : WG_KIND_F64;
}

/* Owned; consumes array. */
static wg_array *converted(core_context *context, wg_array *array, wg_kind kind)
{
    if (!array || wg_array_kind(array) == kind) return array;
    wg_array *answer = core_own(context, wg_array_convert(array, kind));
    wg_array_release(array);
    return answer ? answer : core_raise(context);
}

/* Operands of one kind, owned. */
static bool operands_of(core_context *context, PyObject *a, PyObject *b, core_promotion promotion, wg_array **x, wg_array **y)
{
    bool number_a = core_is_number(a), number_b = core_is_number(b);
    *x = number_a ? NULL : core_array_of(context, a, WG_KIND_COUNT);
    *y = number_b || (!number_a && !*x) ? NULL : core_array_of(context, b, WG_KIND_COUNT);
    if (PyErr_Occurred()) return false;
    wg_kind kind = number_a && number_b ? WG_KIND_F64
                   : number_a           ? core_kind_beside(a, wg_array_kind(*y))
                   : number_b           ? core_kind_beside(b, wg_array_kind(*x))
                                        : kind_of_pair(*x, *y);
    if (kind == WG_KIND_COUNT) return false;
    if (promotion == CORE_FLOATS) kind = as_floats(kind);
    *x = number_a ? core_number(context, a, kind) : converted(context, *x, kind);
    *y = !*x ? (wg_array_release(*y), NULL) : number_b ? core_number(context, b, kind) : converted(context, *y, kind);
    return *x && *y;
}

PyObject *core_call_binary(core_binary call, PyObject *a, PyObject *b, core_promotion promotion, bool reflected)
{
    core_context *context = core_current();
    if (!context) return NULL;
    if (core_is_array(a) && core_is_array(b)) {
        core_array *x = (core_array *)a, *y = (core_array *)b;
        wg_kind kind = wg_array_kind(x->handle);
        bool alike = x->context == context && y->context == context && kind == wg_array_kind(y->handle);
        if (alike && (promotion == CORE_SAME || as_floats(kind) == kind) && !(is_weak(x->handle) && is_weak(y->handle)))
            return core_wrap(context, call(x->handle, y->handle));
    } else if (reflected && (!may_be_operand(a) || !may_be_operand(b))) {
        return Py_NewRef(Py_NotImplemented);
    }
    wg_array *x = NULL, *y = NULL;
    bool weak = is_weak_object(a) && is_weak_object(b) && !(core_is_number(a) && core_is_number(b));
    bool good = operands_of(context, a, b, promotion, &x, &y);
    wg_array *answered = good ? call(x, y) : NULL;
    if (answered && weak && core_kinds[wg_array_kind(answered)].class != 'b') answered = weakened(context, answered);
    PyObject *answer = good ? core_wrap(context, answered) : NULL;
    wg_array_release(x);
    wg_array_release(y);
    return answer;
}

/* Of a call that a scope of its own was opened for: what it answers goes to the scope outside, where there is one. Consumes a reference. */
static wg_array *given(wg_array *kept)
{
    wg_array *answer = kept ? wg_array_tagged(kept, wg_array_tag(kept)) : NULL;
    wg_array_release(kept);
    return answer;
}

wg_array *core_matmul(wg_array *a, wg_array *b)
{
    wg_kind kind = wg_array_kind(a);
    if (core_kinds[kind].class != 'i' && core_kinds[kind].class != 'u') return wg_array_matmul(a, b);
    wg_scope_open(wg_array_lazy(a));
    wg_array *product = wg_array_matmul(a, b);
    if (product && wg_array_kind(product) != kind) product = wg_array_convert_wrap(product, kind);
    if (product) wg_array_keep(product);
    wg_scope_close(wg_array_lazy(a));
    return given(product);
}

#define OPERATOR(name, call, promotion) \
    static PyObject *operator_##name(PyObject *a, PyObject *b) { return core_call_binary(call, a, b, promotion, true); }
OPERATOR(add, wg_array_add, CORE_SAME)
OPERATOR(subtract, wg_array_sub, CORE_SAME)
OPERATOR(multiply, wg_array_mul, CORE_SAME)
OPERATOR(true_divide, wg_array_div, CORE_FLOATS)
OPERATOR(floor_divide, wg_array_floor_divide, CORE_SAME)
OPERATOR(remainder, wg_array_residue, CORE_SAME)
OPERATOR(and, wg_array_and, CORE_SAME)
OPERATOR(or, wg_array_or, CORE_SAME)
OPERATOR(xor, wg_array_xor, CORE_SAME)
OPERATOR(lshift, wg_array_shift_left, CORE_SAME)
OPERATOR(rshift, wg_array_shift_right, CORE_SAME)
OPERATOR(matmul, core_matmul, CORE_SAME)

/* ---- powers of integers: exactly, modulo the width ---- */

/* The product of base^(2^i) over the bits i of the exponent, in a scope of its own. */
static wg_array *power_by_bits(wg_array *base, wg_array *exponent)
{
    wg_kind kind = wg_array_kind(base);
    wg_lazy *lazy = wg_array_lazy(base);
    wg_array *one = wg_array_integer(lazy, kind, 1), *answer = one, *square = base;
    uint32_t bits = 8u * core_kinds[kind].bytes - (core_kinds[kind].class == 'i'); /* a sign would be no power */
    for (uint32_t bit = 0; bit < bits; bit++) {
        wg_array *mask = wg_array_integer(lazy, kind, (int64_t)((uint64_t)1 << bit));
        wg_array *set = wg_array_not_equal(wg_array_and(exponent, mask), wg_array_integer(lazy, kind, 0));
        answer = wg_array_mul(answer, wg_array_select(set, square, one));
        square = wg_array_mul(square, square);
    }
    return answer;
}

static wg_array *power(wg_array *a, wg_array *b)
{
    char class = core_kinds[wg_array_kind(a)].class;
    if (class != 'i' && class != 'u') return wg_array_powf(a, b);
    wg_lazy *lazy = wg_array_lazy(a);
    wg_scope_open(lazy);
    wg_array *answer = power_by_bits(a, b);
    if (answer) wg_array_keep(answer);
    wg_scope_close(lazy);
    return given(answer);
}

/* An integer to a power that is known: as many products as it has bits. */
static wg_array *known_power(wg_array *a, unsigned long exponent)
{
    wg_lazy *lazy = wg_array_lazy(a);
    wg_scope_open(lazy);
    wg_array *answer = exponent ? NULL : wg_array_full_like(a, 1), *square = a;
    for (unsigned long rest = exponent; rest; rest >>= 1) {
        if (rest & 1) answer = answer ? wg_array_mul(answer, square) : square;
        if (rest > 1) square = wg_array_mul(square, square);
    }
    if (answer) wg_array_keep(answer);
    wg_scope_close(lazy);
    return given(answer);
}

static PyObject *integers_to(PyObject *base, PyObject *exponent)
{
    int over;
    long number = PyLong_AsLongAndOverflow(exponent, &over);
    if (number < 0 || over < 0)
        return PyErr_SetString(core_error_class(WG_ARGUMENT), "integers have no negative powers: convert them to floats"), NULL;
    if (over) return core_call_binary(power, base, exponent, CORE_SAME, true);
    core_context *context = core_current();
    wg_array *array = context ? core_handle_of(context, base) : NULL;
    PyObject *answer = array ? core_wrap(context, known_power(array, (unsigned long)number)) : NULL;
    wg_array_release(array);
    return answer;
}

static PyObject *operator_power(PyObject *a, PyObject *b, PyObject *modulus)
{
    if (modulus != Py_None) return PyErr_SetString(PyExc_TypeError, "a power of arrays takes no modulus"), NULL;
    char class = core_is_array(a) ? core_kinds[wg_array_kind(((core_array *)a)->handle)].class : 0;
    if ((class == 'i' || class == 'u') && PyLong_Check(b) && !PyBool_Check(b)) return integers_to(a, b);
    return core_call_binary(power, a, b, CORE_SAME, true);
}

static PyObject *operator_divmod(PyObject *a, PyObject *b)
{
    PyObject *quotient = operator_floor_divide(a, b);
    if (!quotient || quotient == Py_NotImplemented) return quotient;
    PyObject *rest = operator_remainder(a, b);
    return rest ? Py_BuildValue("(NN)", quotient, rest) : (Py_DECREF(quotient), NULL);
}

static PyObject *unary(PyObject *self, wg_array *(*call)(wg_array *a))
{
    core_context *context = core_current();
    wg_array *array = context ? core_handle_of(context, self) : NULL;
    if (!array) return NULL;
    wg_array *answered = call(array);
    PyObject *answer = core_wrap(context, is_weak(array) ? weakened(context, answered) : answered);
    wg_array_release(array);
    return answer;
}

static PyObject *operator_negative(PyObject *a) { return unary(a, wg_array_neg); }
static PyObject *operator_absolute(PyObject *a) { return unary(a, wg_array_abs); }
static PyObject *operator_invert(PyObject *a) { return unary(a, wg_array_not); }
static PyObject *operator_positive(PyObject *a) { return core_wrap_kept(((core_array *)a)->context, ((core_array *)a)->handle); }

PyObject *core_compare(PyObject *a, PyObject *b, int how)
{
    static const core_binary calls[] = {[Py_LT] = wg_array_less,      [Py_LE] = wg_array_less_equal, [Py_EQ] = wg_array_equal,
                                        [Py_NE] = wg_array_not_equal, [Py_GT] = wg_array_greater,    [Py_GE] = wg_array_greater_equal};
    return core_call_binary(calls[how], a, b, CORE_SAME, true);
}

const PyType_Slot core_operator_slots[] = {
    {Py_nb_add, (void *)operator_add},
    {Py_nb_subtract, (void *)operator_subtract},
    {Py_nb_multiply, (void *)operator_multiply},
    {Py_nb_true_divide, (void *)operator_true_divide},
    {Py_nb_floor_divide, (void *)operator_floor_divide},
    {Py_nb_remainder, (void *)operator_remainder},
    {Py_nb_divmod, (void *)operator_divmod},
    {Py_nb_power, (void *)operator_power},
    {Py_nb_and, (void *)operator_and},
    {Py_nb_or, (void *)operator_or},
    {Py_nb_xor, (void *)operator_xor},
    {Py_nb_lshift, (void *)operator_lshift},
    {Py_nb_rshift, (void *)operator_rshift},
    {Py_nb_matrix_multiply, (void *)operator_matmul},
    {Py_nb_negative, (void *)operator_negative},
    {Py_nb_positive, (void *)operator_positive},
    {Py_nb_absolute, (void *)operator_absolute},
    {Py_nb_invert, (void *)operator_invert},
};
const size_t core_operator_slot_count = sizeof core_operator_slots / sizeof *core_operator_slots;
