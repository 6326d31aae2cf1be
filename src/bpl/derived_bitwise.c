/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * fᵇ: a Boolean function on each bit of integers. The function is asked once for every combination of bits, and its answers are put together from
 * the rows and, or, xor and not. */
#include "bpl/cells.h"
#include "bpl/kinds.h"

typedef struct truth {
    bool dyadic;
    bool of[4]; /* by 2 * left + right */
} truth;

static bool ask(bpl_session *session, bpl_value *function, const bpl_value *given_left, truth *t)
{
    t->dyadic = given_left != NULL;
    for (int i = 0; i < (t->dyadic ? 4 : 2); i++) {
        bpl_value *left = t->dyadic ? bpl_boolean(session, i >> 1) : NULL, *right = bpl_boolean(session, i & 1), *answer = NULL;
        if (right && (left || !t->dyadic)) answer = bpl_wanted(session, bpl_apply(session, function, left, right));
        bool good = answer != NULL;
        if (good && (answer->type != BPL_NUMBERS || bpl_volume(answer) != 1)) good = bpl_fail(session, BPL_DOMAIN,
            "an operand of ᵇ answers one Boolean for bits") != NULL;
        good = good && bpl_to_truth(session, answer, "what an operand of ᵇ answers", &t->of[i]);
        bpl_release(left);
        bpl_release(right);
        bpl_release(answer);
        if (!good) return false;
    }
    return true;
}

/* ---- numbers ------------------------------------------------------------------------------------------------------------------------- */

typedef struct bits {
    wg_array *array; /* bool or i64 */
    uint8_t class;
    wg_kind kind;    /* of a fixed class */
    bool weak, whole_float;/* makes ordinary integers of what it meets */
} bits;

static bool bits_of(bpl_session *session, const bpl_value *value, bits *b)
{
    b->class = value->class, b->weak = value->weak;
    b->kind = value->type == BPL_NUMBERS ? bpl_kind(value) : WG_KIND_COUNT;
    b->array = bpl_array(value);
    if (value->type != BPL_NUMBERS || value->class == BPL_CLASS_COMPLEX) return bpl_fail(session, BPL_DOMAIN, "bits are of integers"), false;
    if (value->class == BPL_CLASS_BOOLEAN) return true;
    if (value->class != BPL_CLASS_FLOAT) return true;
    b->array = wg_array_convert(bpl_array(value), WG_KIND_I64);
    b->class = BPL_CLASS_ORDINARY;
    b->whole_float = true;
    wg_array *back = wg_array_convert(b->array, bpl_kind(value)),
        *same = back ? wg_array_all(wg_array_equal(back, bpl_array(value)), NULL, 0, false) : NULL;
    int64_t whole = 0;
    if (!same || !wg_array_int64(same, &whole)) return bpl_fail_lazy(session), false;
    return whole || (bpl_fail(session, BPL_DOMAIN, "bits are of whole numbers"), false);
}

/* Both in the kind that arithmetic of them has; of Booleans alone they stay. DOMAIN where an ordinary integer does not fit a fixed kind. */
static bool join_bits(bpl_session *session, bits *a, bits *b)
{
    if (a->class == BPL_CLASS_BOOLEAN && b->class == BPL_CLASS_BOOLEAN) return true;
    if (a->whole_float || b->whole_float) {
        a->class = b->class = BPL_CLASS_ORDINARY;
        a->array = wg_array_convert(a->array, WG_KIND_I64);
        b->array = wg_array_convert(b->array, WG_KIND_I64);
        return a->array && b->array;
    }
    bpl_number x = {a->array, a->class, a->weak, false}, y = {b->array, b->class, b->weak, false};
    if (!bpl_join(session, &x, &y)) return false;
    a->array = wg_array_convert(x.array, WG_KIND_I64);
    b->array = wg_array_convert(y.array, WG_KIND_I64);
    a->class = b->class = x.class;
    a->kind = b->kind = wg_array_kind(x.array);
    return a->array && b->array;
}

/* The bits where each argument is `wanted`. */
static wg_array *literal(wg_array *array, bool wanted)
{
    return wanted ? array : wg_array_not(array);
}

/* The or of the combinations that hold. */
static wg_array *combine(const truth *t, wg_array *a, wg_array *b)
{
    wg_array *result = NULL, *some = b;
    for (int i = 0; i < (t->dyadic ? 4 : 2); i++) {
        if (!t->of[i]) continue;
        wg_array *term = literal(b, i & 1);
        if (t->dyadic && term) term = wg_array_and(literal(a, i >> 1), term);
        if (!term) return NULL;
        result = result ? wg_array_or(result, term) : term;
    }
    if (result) return result;
    some = t->dyadic ? wg_array_and(a, b) : b; /* of the shape that both make */
    return some ? wg_array_xor(some, some) : NULL;
}

static bpl_value *bitwise(bpl_session *session, void *data, bpl_value *left, bpl_value *right);

static bpl_value *simple_bitwise(bpl_session *session, const truth *t, bpl_value *left, bpl_value *right)
{
    bits a = {.array = NULL}, b = {.array = NULL};
    wg_scope_open(session->lazy);
    bool good = bits_of(session, right, &b) && (!left || (bits_of(session, left, &a) && join_bits(session, &a, &b)));
    if (good && !left && b.class != BPL_CLASS_BOOLEAN) b.array = wg_array_convert(b.array, WG_KIND_I64);
    wg_array *result = good ? combine(t, a.array, b.array) : NULL;
    if (result && b.class == BPL_CLASS_FIXED) result = wg_array_convert_wrap(result, b.kind);
    return bpl_leave(session, result, b.class, right->atom && (!left || left->atom));
}

/* At every depth. */
static bpl_value *bitwise(bpl_session *session, void *data, bpl_value *left, bpl_value *right)
{
    bool simple = bpl_is_simple(right) && (!left || bpl_is_simple(left));
    bool plain = simple && !right->keys && (!left || (!left->keys && (bpl_is_unit(left) || bpl_is_unit(right))));
    if (plain) return simple_bitwise(session, data, left, right);
    if (right->type == BPL_FUNCTION || (left && left->type == BPL_FUNCTION)) return bpl_fail(session, BPL_DOMAIN, "bits are of integers");
    bpl_map map = {.code = bitwise, .data = data, .left = left, .right = right, .left_rank = left ? bpl_rank(left) : 0,
                   .right_rank = bpl_rank(right), .form = BPL_ITEM,
                   .assembly = BPL_ASSEMBLE_ITEMS};
    bpl_frames frames;
    return bpl_frames_pair(session, left, map.left_rank, right, map.right_rank, &frames) ? bpl_map_cells(session, &map, &frames) : NULL;
}

bpl_value *bpl_call_bitwise(bpl_session *session, const bpl_call *call)
{
    truth t;
    return ask(session, call->function->left, call->left, &t) ? bitwise(session, &t, call->left, call->right) : NULL;
}
