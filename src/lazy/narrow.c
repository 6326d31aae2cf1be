/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Integers of 64 bits in fewer bytes. Whatever is said of an array of kind i64, its kind included, stays; but where a result of NARROW_LEAST
 * items or more is sure to lie in [-2^bits, 2^bits), its items are stored as i16 (up to 15 bits) or i32 (up to 31), and whoever asks for
 * them has them widened once. Bits are never looked for among items: they are proved when a program is made, from literals, from how a node
 * is made of others, and from what its stored operands are sure of. A row runs in the narrowest kind that holds its operands and its result,
 * so that nothing wraps that would not wrap in 64 bits; rows that are not listed here are given 64. */
#include "base/bits.h"
#include "lazy/array_call.h"
#include "lazy/lazy.h"

#define UNKNOWN 63u /* bits of what may be any integer */
#define NARROW_LEAST 1024

static uint32_t greater(uint32_t a, uint32_t b) { return a > b ? a : b; }

static uint32_t bits_of(int64_t number)
{
    uint64_t size = (uint64_t)(number < 0 ? ~number : number);
    return size ? 64 - (uint32_t)__builtin_clzll(size) : 1;
}

/* Of a number that a row takes as an attribute. */
static uint32_t bits_of_real(int64_t attribute)
{
    return bits_of(base_number_convert((base_number){.d = base_real(attribute)}, WG_KIND_F64, WG_KIND_I64, false).i);
}

static uint32_t bits_of_kind(wg_kind kind)
{
    switch (base_kinds[kind].class) {
    case BASE_CLASS_BOOL: return 1;
    case BASE_CLASS_CHARACTER: return 21;
    case BASE_CLASS_SIGNED: return 8u * base_kinds[kind].bytes - 1;
    case BASE_CLASS_UNSIGNED: return kind == WG_KIND_U64 ? UNKNOWN : 8u * base_kinds[kind].bytes;
    default: return UNKNOWN;
    }
}

/* ---- what is stored narrow ---- */

bool lazy_may_narrow(const wg_array *root) { return root->kind == WG_KIND_I64 && root->volume >= NARROW_LEAST; }

uint64_t lazy_narrow_key(const wg_lazy *lazy, const wg_array *root)
{
    int64_t most = 1;
    if (!lazy_may_narrow(root)) return 0;
    for (uint32_t i = 0; i < lazy->order_count; i++) most = lazy->order[i]->volume > most ? lazy->order[i]->volume : most;
    return (bits_of(most) + 3) / 4 * 4; /* other lengths seldom ask for another plan */
}

bool lazy_widen(wg_array *array, wg_view *view)
{
    *view = lazy_view(array);
    if (view->kind == (wg_kind)array->kind) return true;
    wg_error error = {.code = WG_OK};
    wg_tensor *wide = array->as.stored.wide;
    if (!wide) {
        if (!(wide = lazy_tensor_take(array->lazy, WG_KIND_I64, array->rank, lazy_shape(array), &error))) return lazy_fail_with(array->lazy, &error, array);
        int64_t *to = wide->data;
        if (view->kind == WG_KIND_I16)
            for (int64_t i = 0; i < array->volume; i++) to[i] = ((const int16_t *)view->data)[i];
        else
            for (int64_t i = 0; i < array->volume; i++) to[i] = ((const int32_t *)view->data)[i];
        array->as.stored.wide = wide;
    }
    view->data = wide->data;
    view->kind = WG_KIND_I64;
    return true;
}

bool lazy_stay_wide(wg_array *array)
{
    wg_view view;
    wg_error before = array->lazy->error;
    if (lazy_stored_kind(array) == (wg_kind)array->kind) {
        array->bits = 0;
        return true;
    }
    if (!lazy_widen(array, &view) || !base_tensor_is_sole(array->as.stored.wide)) {
        array->lazy->error = before;
        return false;
    }
    array->lazy->figures.stored_bytes -= lazy_stored_bytes(array);
    wg_tensor_release(array->as.stored.tensor);
    array->as.stored.tensor = array->as.stored.wide;
    array->as.stored.wide = NULL;
    array->bits = 0;
    array->lazy->figures.stored_bytes += lazy_stored_bytes(array);
    return true;
}

/* ---- rows ---- */

typedef enum treatment {
    WIDE,    /* 64 bits, and nothing is known of the result */
    ALIKE,   /* data and result are of one kind: as many bits as the widest operand, and `more` */
    PRODUCT, /* ALIKE, with the bits of both */
    FIRST,   /* ALIKE, with the first operand's bits and `more` */
    SECOND,  /* ALIKE, with the second one's */
    FILLED,  /* ALIKE, with what may fill: attribute `more` */
    ANSWERS, /* data are of one kind, the result is of its own */
    SUM,     /* the result is of 64 bits whatever the operand is of: attribute `more` says so */
    CONVERT, IOTA, DRAWN, REDUCE, SCAN
} treatment;

/* positions: 1 + which operand they are, 0: none is. */
static const struct {
    uint8_t treatment, more, positions;
} rules[WG_OP_COUNT] = {
    [WG_OP_StopGradient] = {ALIKE}, [WG_OP_Add] = {ALIKE, 1}, [WG_OP_Sub] = {ALIKE, 1}, [WG_OP_Mul] = {PRODUCT}, [WG_OP_Neg] = {ALIKE, 1},
    [WG_OP_Abs] = {ALIKE, 1}, [WG_OP_Sign] = {ALIKE}, [WG_OP_Maximum] = {ALIKE}, [WG_OP_Minimum] = {ALIKE}, [WG_OP_Residue] = {SECOND},
    [WG_OP_FloorDivide] = {FIRST, 1}, [WG_OP_Div] = {FIRST, 1}, [WG_OP_Gcd] = {ALIKE, 1}, [WG_OP_Floor] = {ALIKE}, [WG_OP_Ceil] = {ALIKE},
    [WG_OP_Round] = {ALIKE}, [WG_OP_Step] = {ALIKE}, [WG_OP_And] = {ALIKE}, [WG_OP_Or] = {ALIKE}, [WG_OP_Xor] = {ALIKE}, [WG_OP_Not] = {ALIKE},
    [WG_OP_Select] = {ALIKE}, [WG_OP_Equal] = {ANSWERS}, [WG_OP_NotEqual] = {ANSWERS}, [WG_OP_Less] = {ANSWERS}, [WG_OP_LessEqual] = {ANSWERS},
    [WG_OP_Greater] = {ANSWERS}, [WG_OP_GreaterEqual] = {ANSWERS}, [WG_OP_Convert] = {CONVERT}, [WG_OP_Sum] = {SUM, 0},
    [WG_OP_SumAlong] = {SUM, 1}, [WG_OP_Reduce] = {REDUCE}, [WG_OP_ArgMax] = {ANSWERS}, [WG_OP_ArgMin] = {ANSWERS}, [WG_OP_Scan] = {SCAN},
    [WG_OP_Broadcast] = {ALIKE}, [WG_OP_BroadcastAlong] = {ALIKE}, [WG_OP_Reshape] = {ALIKE}, [WG_OP_Permute] = {ALIKE}, [WG_OP_Narrow] = {ALIKE},
    [WG_OP_Reverse] = {ALIKE}, [WG_OP_Pad] = {FILLED, 3}, [WG_OP_Concat] = {ALIKE}, [WG_OP_Unfold] = {ALIKE}, [WG_OP_Gather] = {FILLED, 3, 2},
    [WG_OP_Slice] = {ALIKE, 0, 2}, [WG_OP_Update] = {ALIKE, 0, 3}, [WG_OP_Sort] = {ALIKE}, [WG_OP_Grade] = {ANSWERS}, [WG_OP_TopKValues] = {ALIKE},
    [WG_OP_TopKPositions] = {ANSWERS}, [WG_OP_FirstIndex] = {ANSWERS}, [WG_OP_Bins] = {ANSWERS}, [WG_OP_Iota] = {IOTA},
    [WG_OP_DrawIntegers] = {DRAWN},
};

bool lazy_is_spread_literal(const wg_array *array)
{
    return array->state == LAZY_LITERAL || (array->op == WG_OP_Broadcast && array->state == LAZY_PENDING && lazy_operands(array)[0]->state == LAZY_LITERAL);
}

static uint32_t bits_of_literal(const wg_array *array)
{
    const wg_array *item = array->state == LAZY_LITERAL ? array : lazy_operands(array)[0];
    return item->kind == WG_KIND_I64 ? bits_of((int64_t)item->as.literal.bits[0]) : UNKNOWN;
}

static wg_kind wider(wg_kind a, wg_kind b) { return base_kinds[a].bytes > base_kinds[b].bytes ? a : b; }

/* What the operands of i64 that are no positions are: the bits of the widest, and the widest kind in which one is at hand; i64 where none
 * is but literals, which are at hand in any. */
typedef struct data_facts {
    uint32_t bits;
    wg_kind kind;
} data_facts;

static data_facts facts_of(const wg_array *array, const uint8_t *bits, const wg_value *values)
{
    data_facts facts = {0, WG_KIND_I64};
    bool some = false;
    for (uint32_t i = 0; i < array->operand_count; i++) {
        const wg_array *operand = lazy_operands(array)[i];
        if (operand->kind != WG_KIND_I64 || i + 1 == rules[array->op].positions) continue;
        facts.bits = greater(facts.bits, bits[operand->index]);
        if (lazy_is_spread_literal(operand)) continue;
        wg_kind kind = wg_value_kind(values[operand->index]);
        facts.kind = some ? wider(facts.kind, kind) : kind;
        some = true;
    }
    return facts;
}

static bool some_is_empty(const wg_array *array)
{
    for (uint32_t i = 0; i < array->operand_count; i++)
        if (!lazy_operands(array)[i]->volume) return true;
    return !array->volume;
}

/* How many bits the result of a row on these operands needs. */
static uint32_t needed(const wg_array *array, const uint8_t *bits, uint32_t widest, uint32_t count_bits)
{
    wg_array **operands = lazy_operands(array);
    const int64_t *attributes = lazy_attributes(array);
    uint32_t more = rules[array->op].more;
    bool adds;
    switch ((treatment)rules[array->op].treatment) {
    case ALIKE: return widest + more;
    case PRODUCT: return (uint32_t)bits[operands[0]->index] + bits[operands[1]->index] + 1;
    case FIRST: return bits[operands[0]->index] + more;
    case SECOND: return bits[operands[1]->index];
    case FILLED: return greater(widest, bits_of_real(attributes[more]));
    case CONVERT: return operands[0]->kind == WG_KIND_I64 ? widest : bits_of_kind((wg_kind)operands[0]->kind);
    case IOTA: return count_bits;
    case DRAWN: return greater(bits[operands[1]->index], bits[operands[2]->index]);
    case SUM: return widest + count_bits;
    case REDUCE:
    case SCAN:
        if (attributes[0] == lazy_word(array->lazy, "", "FOLDING", "max") || attributes[0] == lazy_word(array->lazy, "", "FOLDING", "min")) return widest;
        adds = array->op == WG_OP_Scan && attributes[0] == lazy_word(array->lazy, "", "FOLDING", "sum");
        return adds ? widest + count_bits : UNKNOWN;
    default: return UNKNOWN;
    }
}

uint32_t lazy_bits_known(const wg_array *array)
{
    if (array->kind != WG_KIND_I64) return UNKNOWN;
    return array->bits ? array->bits : lazy_is_spread_literal(array) ? bits_of_literal(array) : UNKNOWN;
}

lazy_narrowed lazy_narrow_call(const wg_array *array, const uint8_t *bits, const wg_value *values, uint32_t count_bits)
{
    treatment treatment = (enum treatment)rules[array->op].treatment;
    lazy_narrowed n = {WG_KIND_I64, rules[array->op].positions, WG_NONE, WG_KIND_I64, UNKNOWN};
    n.bits = (uint8_t)lazy_bits_known(array);
    if (lazy_is_spread_literal(array)) return n;
    if (treatment == WIDE || some_is_empty(array)) return n; /* the greatest of nothing is told by its kind */
    data_facts facts = facts_of(array, bits, values);
    uint32_t need = array->kind == WG_KIND_I64 ? needed(array, bits, facts.bits, count_bits) : UNKNOWN;
    n.bits = (uint8_t)(need < UNKNOWN ? need : UNKNOWN);
    if (treatment == IOTA || treatment == DRAWN) return n;
    bool from_narrow = treatment == CONVERT && lazy_operands(array)[0]->kind != WG_KIND_I64;
    if (facts.kind == WG_KIND_I64 && !from_narrow) return n;
    bool answers = treatment == ANSWERS || treatment == SUM || array->kind != WG_KIND_I64;
    n.data = lazy_narrow_kind(answers ? facts.bits : from_narrow ? n.bits : greater(facts.bits, n.bits));
    if (!from_narrow) n.data = wider(n.data, facts.kind);
    if (treatment == SUM || (treatment == CONVERT && !answers)) {
        n.attribute = rules[array->op].more;
        if (treatment == CONVERT) n.kind = n.data;
    }
    return n;
}

uint32_t lazy_narrow_result(const wg_array *array, uint32_t bits, wg_value value)
{
    wg_op_class class = wg_op_class_of((wg_op)array->op);
    bool made = wg_value_kind(value) != WG_KIND_I64 || class == WG_OP_CLASS_ELEMENT || class == WG_OP_CLASS_SOURCE || array->op == WG_OP_DrawIntegers ||
                lazy_is_spread_literal(array);
    return lazy_may_narrow(array) && bits <= 31 && made ? bits : 0;
}
