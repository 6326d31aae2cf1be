/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Programs with folds: random rows over the items of one space and over the cells that folds along one of its axes make, cells spread over
 * the items again, several folds in sequence. Shapes stand around the edges of lines, panels, strips and chunks; along the run and across
 * it; every kind that folds. plan = oracle, bit for bit. */
#include "exec/equivalence.h"
#include "graph/row.h"
#include "wengert/compose.h"

typedef struct space {
    uint32_t rank;
    int64_t shape[3];
} space;

static const space spaces[] = {
    {1, {5}},           {1, {33}},        {1, {4097}},       {1, {16385}},        {1, {140001}}, {2, {3, 5}},     {2, {70, 31}},
    {2, {7, 33}},       {2, {40, 1000}},  {2, {3, 17000}},   {2, {2, 70000}},     {2, {300, 3}}, {2, {4100, 3}},  {2, {9000, 40}},
    {2, {5, 1025}},     {2, {20, 2300}},  {2, {4097, 300}},  {3, {3, 4, 5}},      {3, {2, 4099, 3}}, {3, {2, 9, 1100}}, {3, {40, 6, 64}},
    {2, {3, 0}},        {2, {0, 4}},      {3, {2, 0, 3}},    {2, {70, 1}},        {2, {70000, 1}}, {2, {1, 40}},  {1, {0}},
    {2, {20000, 2}},    {3, {1, 300, 257}}, {2, {40, 256}},    {2, {5, 1024}},    {1, {5000}},       {2, {3, 4224}},   {2, {41, 200}},   {2, {3, 4096}},
};
#define SPACE_COUNT (sizeof spaces / sizeof *spaces)
#define MOST 40

typedef struct maker {
    test_draws draws;
    wg_tape *tape;
    wg_kind kind;
    const space *space;
    uint32_t axis;
    wg_value items[MOST], cells[MOST];
    uint32_t item_count, cell_count;
    wg_symbol roots[MOST];
    uint32_t root_count;
    bool mixed; /* some lengths are extents, equal to others that are numbers */
    wg_size extents[4];
    uint32_t extent_count;
} maker;

static uint32_t below(maker *m, uint32_t bound) { return test_draw_below(&m->draws, bound); }

static wg_size length(maker *m, int64_t number)
{
    char name[24];
    if (!m->mixed || below(m, 2)) return wg_number(number);
    for (uint32_t i = 0; i < m->extent_count; i++)
        if (m->extents[i].number == number) return m->extents[i];
    snprintf(name, sizeof name, "n%d", (int)number);
    return m->extents[m->extent_count++] = wg_extent(m->tape, name, number);
}

static wg_value fresh(maker *m, uint32_t rank, const int64_t *shape)
{
    if (m->mixed && below(m, 3)) {
        wg_size sizes[3];
        for (uint32_t i = 0; i < rank; i++) sizes[i] = length(m, shape[i]);
        return wg_input_fill(m->tape, m->kind, rank, sizes, m->kind == WG_KIND_BOOL ? below(m, 2) : below(m, 4));
    }
    double low = base_kind_is_float(m->kind) ? -2 : 0, high = m->kind == WG_KIND_BOOL ? 1 : 4;
    return wg_input(m->tape, test_tensor_draw(&m->draws, m->kind, rank, shape, low, high));
}

static uint32_t cell_shape(const maker *m, int64_t *shape)
{
    uint32_t rank = 0;
    for (uint32_t axis = 0; axis < m->space->rank; axis++)
        if (axis != m->axis) shape[rank++] = m->space->shape[axis];
    return rank;
}

/* Items: as they are, transposed, one line for all, one item for all. */
static wg_value fresh_items(maker *m)
{
    const space *s = m->space;
    uint32_t pick = below(m, 5);
    if (pick == 0 && s->rank == 2) {
        int64_t turned[2] = {s->shape[1], s->shape[0]};
        return (wg_permute)(fresh(m, 2, turned), (const uint32_t[]){1, 0});
    }
    if (pick == 1 && s->rank > 1) {
        int64_t line[3];
        uint32_t axis = below(m, 2) ? m->axis : below(m, s->rank), rank = 0;
        for (uint32_t i = 0; i < s->rank; i++)
            if (i != axis) line[rank++] = s->shape[i];
        wg_value lines = fresh(m, rank, line);
        return wg_broadcast_along(lines, axis, length(m, s->shape[axis]));
    }
    if (pick == 2) {
        wg_size sizes[3];
        for (uint32_t i = 0; i < s->rank; i++) sizes[i] = length(m, s->shape[i]);
        return (wg_broadcast)(fresh(m, 0, NULL), s->rank, sizes);
    }
    if (pick == 3) return wg_reverse(fresh(m, s->rank, s->shape), below(m, s->rank));
    return fresh(m, s->rank, s->shape);
}

static wg_value add_item(maker *m, wg_value value)
{
    if (wg_is_poison(value)) fail_msg("%s", wg_tape_error(m->tape)->message);
    return m->items[m->item_count++] = value;
}

static wg_value add_cell(maker *m, wg_value value)
{
    if (wg_is_poison(value)) fail_msg("%s", wg_tape_error(m->tape)->message);
    return m->cells[m->cell_count++] = value;
}

static wg_value old_item(maker *m)
{
    uint32_t last = m->item_count < 3 ? m->item_count : 3;
    return m->items[m->item_count - 1 - below(m, below(m, 3) ? last : m->item_count)];
}

static wg_value old_cell(maker *m)
{
    if (m->cell_count == 0 || !below(m, 8)) {
        int64_t shape[3];
        uint32_t rank = cell_shape(m, shape);
        wg_value cell = fresh(m, rank, shape);
        add_cell(m, rank && below(m, 2) ? wg_reverse(cell, rank - 1) : cell);
    }
    uint32_t last = m->cell_count < 3 ? m->cell_count : 3;
    return m->cells[m->cell_count - 1 - below(m, last)];
}

static wg_value binary(maker *m, wg_value a, wg_value b)
{
    if (m->kind == WG_KIND_BOOL) return below(m, 2) ? wg_xor(a, b) : wg_or(a, b);
    switch (below(m, 5)) {
    case 0: return wg_add(a, b);
    case 1: return wg_sub(a, b);
    case 2: return wg_mul(a, b);
    case 3: return wg_maximum(a, b);
    default: return base_kind_is_float(m->kind) ? wg_div(a, wg_exp(b)) : wg_minimum(a, b);
    }
}

static wg_value unary(maker *m, wg_value a)
{
    if (m->kind == WG_KIND_BOOL) return wg_not(a);
    if (!base_kind_is_float(m->kind)) return wg_neg(a);
    switch (below(m, 6)) {
    case 0: return wg_tanh(a);
    case 4: return wg_ln(a);
    case 5: return wg_erf(a);
    case 1: return wg_sqrt(wg_abs(a));
    case 2: return wg_stop_gradient(wg_neg(a));
    default: return wg_exp(wg_neg(wg_abs(a)));
    }
}

static wg_value folded(maker *m, wg_value a)
{
    static const char *const floats[] = {"max", "min", "product"}, *const integers[] = {"max", "min", "and", "or", "xor", "product"},
                            *const bools[] = {"and", "or", "xor"};
    if (m->space->shape[m->axis] == 0) return wg_convert(wg_sum_along(a, m->axis), m->kind); /* no extreme of nothing */
    if (m->kind == WG_KIND_BOOL) return wg_reduce(a, bools[below(m, 3)], m->axis);
    if (!base_kind_is_float(m->kind) && below(m, 2)) return wg_reduce(a, integers[below(m, 6)], m->axis);
    if (base_kind_is_float(m->kind) && !below(m, 3)) return wg_reduce(a, floats[below(m, 3)], m->axis);
    if (base_kind_is_float(m->kind) && !below(m, 4)) return wg_log_sum_exp(a, m->axis);
    if (m->space->rank == 1 && below(m, 2)) return wg_convert(wg_sum(a), m->kind);
    return wg_convert(wg_sum_along(a, m->axis), m->kind);
}

static wg_value spread(maker *m, wg_value cell)
{
    if (m->space->rank == 1 && below(m, 2)) return (wg_broadcast)(cell, 1, (const wg_size[]){length(m, m->space->shape[0])});
    return wg_broadcast_along(cell, m->axis, length(m, m->space->shape[m->axis]));
}

static void step(maker *m)
{
    switch (below(m, 8)) {
    case 0:
        if (base_kind_is_float(m->kind) && !below(m, 3)) add_item(m, wg_log_softmax(old_item(m), m->axis));
        else add_item(m, unary(m, old_item(m)));
        break;
    case 1:
    case 2: add_item(m, binary(m, old_item(m), below(m, 2) ? old_item(m) : fresh_items(m))); break;
    case 3: add_cell(m, folded(m, old_item(m))); break;
    case 4: add_cell(m, folded(m, below(m, 6) ? old_item(m) : fresh_items(m))); break;
    case 5: add_cell(m, below(m, 2) ? unary(m, old_cell(m)) : binary(m, old_cell(m), old_cell(m))); break;
    default: add_item(m, binary(m, old_item(m), spread(m, old_cell(m)))); break;
    }
}

#define MIXED 1000000 /* seeds from here on: of programs with lengths of two names */

static wg_tape *program(uint64_t seed, const space *s, uint32_t axis, wg_kind kind, maker *m)
{
    *m = (maker){.draws = {seed}, .tape = wg_tape_new_kind(NULL, base_kind_is_float(kind) ? kind : WG_KIND_F32), .kind = kind,
                 .space = s, .axis = axis, .mixed = seed >= MIXED};
    add_item(m, fresh_items(m));
    for (uint32_t steps = 4 + below(m, 12), i = 0; i < steps; i++) step(m);
    m->roots[m->root_count++] = wg_symbol_of(m->items[m->item_count - 1]);
    if (m->cell_count) m->roots[m->root_count++] = wg_symbol_of(m->cells[m->cell_count - 1]);
    if (!below(m, 3)) m->roots[m->root_count++] = wg_symbol_of(m->items[below(m, m->item_count)]);
    if (m->cell_count && !below(m, 3)) m->roots[m->root_count++] = wg_symbol_of(m->cells[below(m, m->cell_count)]);
    return m->tape;
}

static uint32_t fold_stages(const wg_entry *entry)
{
    wg_error error = {0};
    wg_plan *plan = wg_plan_new(entry, NULL, 0, &error);
    if (!plan) fail_msg("%s", error.message);
    uint32_t count = 0;
    for (uint32_t s = 0; s < plan->stage_count; s++) count += plan->stages[s].kind == PLAN_STAGE_FOLD;
    wg_plan_release(&plan);
    return count;
}

/* Whether its plan has stages with folds. */
static bool check(uint64_t seed, const space *s, uint32_t axis, wg_kind kind)
{
    maker m;
    wg_error error = {0};
    char why[2048] = "";
    wg_tape *tape = program(seed, s, axis, kind, &m);
    wg_network *network = wg_tape_seal(&tape, &error);
    if (!network) fail_msg("%s", error.message);
    wg_entry_options options = {.size = sizeof options, .roots = m.roots, .root_count = m.root_count,
                                .posture = seed % 5 ? WG_POSTURE_FORWARD : WG_POSTURE_RETAIN};
    wg_entry *entry = wg_entry_new(network, &options, &error);
    if (!entry) fail_msg("%s", error.message);
    bool folds = fold_stages(entry) > 0;
    if (!equivalence_holds(entry, NULL, why, sizeof why))
        fail_msg("seed %llu, %s %s axis %u: %s", (unsigned long long)seed, wg_kind_name(m.kind), BASE_SHAPE_TEXT(s->rank, s->shape), axis,
                 why);
    wg_entry_free(&entry);
    wg_network_release(&network);
    return folds;
}

static void test_programs(void **state)
{
    (void)state;
    static const wg_kind kinds[] = {WG_KIND_F32, WG_KIND_F32, WG_KIND_F64, WG_KIND_F16, WG_KIND_I32,
                                    WG_KIND_F32, WG_KIND_BF16, WG_KIND_I8, WG_KIND_BOOL, WG_KIND_U64};
    uint32_t with_folds = 0, made = 0;
    for (uint64_t round = 0; round < 10; round++)
        for (uint32_t i = 0; i < SPACE_COUNT; i++)
            for (uint32_t axis = 0; axis < spaces[i].rank; axis++, made++)
                with_folds += check(round * 1000 + i * 10 + axis, &spaces[i], axis, kinds[(made + round) % 10]);
    assert_true(with_folds * 2 > made); /* the programs are what they are meant to be */
}

/* Lengths that are equal as numbers alone, 3 and n, in one program. */
static void test_lengths_of_two_names(void **state)
{
    (void)state;
    static const space some[] = {{2, {3, 5}}, {2, {7, 33}}, {3, {3, 4, 5}}, {1, {33}}, {2, {300, 3}}, {2, {70, 31}}, {3, {2, 9, 110}}};
    static const wg_kind kinds[] = {WG_KIND_F32, WG_KIND_F64, WG_KIND_F32, WG_KIND_I32, WG_KIND_F16, WG_KIND_F32, WG_KIND_BOOL};
    for (uint64_t round = 0; round < 12; round++)
        for (uint32_t i = 0; i < sizeof some / sizeof *some; i++)
            for (uint32_t axis = 0; axis < some[i].rank; axis++) check(MIXED + round * 1000 + i * 10 + axis, &some[i], axis, kinds[(round + i) % 7]);
}

/* Results so large that they are written past the caches. */
static void test_large_results(void **state)
{
    (void)state;
    static const space large = {2, {1030, 1021}};
    for (uint64_t seed = 1; seed < 4; seed++) check(seed, &large, seed % 2, seed == 3 ? WG_KIND_F64 : WG_KIND_F32);
}

/* Seals what was made. */
static void check_roots(maker *m, const wg_symbol *roots, uint32_t count)
{
    wg_error error = {0};
    char why[2048] = "";
    wg_network *network = wg_tape_seal(&m->tape, &error);
    wg_entry *entry =
        wg_entry_new(network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = roots, .root_count = count}, &error);
    if (!entry) fail_msg("%s", error.message);
    if (!equivalence_holds(entry, NULL, why, sizeof why)) fail_msg("%s", why);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

/* A column is folded across its rows, whatever its width is. */
static void test_a_long_column(void **state)
{
    (void)state;
    static const space column = {2, {70000, 1}};
    maker m = {.draws = {7}, .tape = wg_tape_new_kind(NULL, WG_KIND_F32), .kind = WG_KIND_F32, .space = &column};
    wg_symbol root = wg_symbol_of(wg_sum_along(fresh(&m, 2, column.shape), 0));
    check_roots(&m, &root, 1);
}

/* Lines without items: what is computed of numbers that stand for all of them has its room all the same. */
static void test_lines_of_nothing(void **state)
{
    (void)state;
    static const space nothing = {2, {3, 0}};
    const wg_size sizes[] = {wg_number(3), wg_number(0)};
    maker m = {.draws = {7}, .tape = wg_tape_new_kind(NULL, WG_KIND_F32), .kind = WG_KIND_F32, .space = &nothing};
    wg_value x = fresh(&m, 2, nothing.shape), of = fresh(&m, 0, NULL), a = (wg_broadcast)(of, 2, sizes), other = fresh(&m, 0, NULL);
    wg_value b = (wg_broadcast)(other, 2, sizes), first = wg_div(a, b), second = wg_div(first, a), third = wg_div(second, b);
    wg_symbol root = wg_symbol_of(wg_sum_along(wg_mul(x, third), 1));
    check_roots(&m, &root, 1);
}

/* What a call made is read by two passes: a result of the first is not written over it, for the second makes that result again. */
static void test_results_of_early_passes(void **state)
{
    (void)state;
    static const space some = {2, {70, 31}};
    maker m = {.draws = {11}, .tape = wg_tape_new_kind(NULL, WG_KIND_F32), .kind = WG_KIND_F32, .space = &some};
    wg_value x = wg_sort(fresh(&m, 2, some.shape), 1, false), y = wg_tanh(x), most = wg_max_along(y, 1);
    wg_value z = wg_sub(y, wg_broadcast_along(most, 1, wg_number(31)));
    wg_symbol roots[] = {wg_symbol_of(y), wg_symbol_of(z)};
    check_roots(&m, roots, 2);
}

/* Sums of lines that are added up as their items are made: one that the next row reads, and a second one of the same items. */
static void test_sums_on_the_way(void **state)
{
    (void)state;
    static const space some[] = {{2, {40, 128}}, {2, {70, 256}}, {2, {2, 4096}}, {2, {3, 4224}}};
    for (uint64_t seed = 0; seed < 4; seed++) {
        maker m = {.draws = {seed}, .tape = wg_tape_new_kind(NULL, WG_KIND_F32), .kind = WG_KIND_F32, .space = &some[seed]};
        wg_size length = wg_number(some[seed].shape[1]);
        wg_value x = fresh(&m, 2, some[seed].shape), e = wg_exp(wg_sub(x, wg_broadcast_along(wg_max_along(x, 1), 1, length)));
        wg_value sum = wg_sum_along(e, 1), weight = wg_div(e, wg_broadcast_along(sum, 1, length)), slope = wg_mul(weight, x);
        wg_value less = wg_sub(slope, wg_broadcast_along(wg_sum_along(slope, 1), 1, length)), squares = wg_sum_along(wg_mul(slope, slope), 1);
        wg_symbol roots[] = {wg_symbol_of(sum), wg_symbol_of(weight), wg_symbol_of(less), wg_symbol_of(squares)};
        check_roots(&m, roots, 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_programs), cmocka_unit_test(test_large_results),
                                       cmocka_unit_test(test_a_long_column), cmocka_unit_test(test_lines_of_nothing), cmocka_unit_test(test_lengths_of_two_names),
                                       cmocka_unit_test(test_results_of_early_passes), cmocka_unit_test(test_sums_on_the_way)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
