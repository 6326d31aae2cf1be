/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Attention as one stage: every spelling gives the oracle's bits, at every vector level and number of threads, whatever the mask hides. */
#include "exec/attentions.h"

static void check(const recipe *r)
{
    wg_error error = {0};
    char why[2048] = "", what[128];
    snprintf(what, sizeof what, "weights %d, mask %d, kind %s, rows %lld, keys %lld, cap %d, grouped %d, views %d, poison %g", (int)r->weights,
             (int)r->mask, wg_kind_name(r->kind), (long long)r->of.rows, (long long)r->of.keys, r->cap, r->grouped, r->views, r->poison);
    wg_tape *tape = wg_tape_new_kind(NULL, r->kind);
    wg_symbol root = wg_symbol_of(attention_of(tape, r, NULL));
    wg_network *network = wg_tape_seal(&tape, &error);
    if (!network) fail_msg("%s: %s", what, error.message);
    wg_entry *entry =
        wg_entry_new(network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = &root, .root_count = 1}, &error);
    wg_plan *plan = entry ? wg_plan_new(entry, NULL, 0, &error) : NULL;
    if (!plan) fail_msg("%s: %s", what, error.message);
    wg_pattern pattern = {0};
    bool found = wg_plan_pattern(plan, 0, &pattern);
    const char *how = !found || (!pattern.elected && r->of.keys) ? NULL : pattern.elected ? pattern.formula : pattern.reason;
    if (!how || strcmp(how, r->of.keys ? "attention" : "its rows by themselves are faster"))
        fail_msg("%s: %s\n%s", what, !found ? "no match" : pattern.reason ? pattern.reason : pattern.formula, wg_plan_report(plan));
    wg_plan_release(&plan);
    bool holds = r->alone ? equivalence_holds_alone(entry, NULL, why, sizeof why) : equivalence_holds(entry, NULL, why, sizeof why);
    if (!holds) fail_msg("%s: %s", what, why);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

static void spellings(void **state)
{
    (void)state;
    for (int w = 0; w < WEIGHTS_COUNT; w++)
        for (int m = 0; m < MASK_COUNT; m++) {
            check(&(recipe){.of = {2, 3, 21, 37, 5, 4}, .kind = WG_KIND_F32, .weights = w, .mask = m, .alone = (w + m) % 2});
            check(&(recipe){.of = {2, 2, 33, 33, 8, 3}, .kind = WG_KIND_F32, .weights = w, .mask = m, .cap = true, .views = true, .alone = w > 0});
        }
}

static void kinds(void **state)
{
    static const wg_kind all[] = {WG_KIND_F64, WG_KIND_F16, WG_KIND_BF16};
    (void)state;
    for (int k = 0; k < 3; k++)
        for (int m = 0; m < MASK_COUNT; m++)
            check(&(recipe){.of = {1, 2, 19, 40, 6, 5}, .kind = all[k], .weights = m % WEIGHTS_COUNT, .mask = m, .grouped = m % 2, .alone = k > 0});
}

/* Long lines: blocks of rows, of the products' depth, of the sums' chunks. */
static void lengths(void **state)
{
    (void)state;
    for (int m = 0; m < MASK_COUNT; m++) {
        check(&(recipe){.of = {1, 2, 150, 700, 6, 9}, .kind = WG_KIND_F32, .weights = m % 3, .mask = m});
        check(&(recipe){.of = {2, 2, 1, 900, 6, 64}, .kind = WG_KIND_F32, .weights = m % 3, .mask = m});
    }
    check(&(recipe){.of = {1, 1, 3, 13000, 2, 3}, .kind = WG_KIND_F32, .weights = WEIGHTS_LOG, .mask = MASK_SELECT_LENGTH});
    check(&(recipe){.of = {1, 4, 5, 13000, 2, 3}, .kind = WG_KIND_F32, .weights = WEIGHTS_PLAIN, .mask = MASK_SELECT_LATE});
    check(&(recipe){.of = {1, 1, 200, 5000, 1, 1}, .kind = WG_KIND_F32, .weights = WEIGHTS_LOG, .mask = MASK_SELECT_LATE});
}

/* Nothing of what a mask hides may be left out where it would not be nothing. */
static void not_finite(void **state)
{
    static const double numbers[] = {INFINITY, -INFINITY, NAN, 3e38, 1e30};
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (int m = 0; m < MASK_COUNT; m++)
            for (int where = 0; where < 3; where++) {
                recipe r = {.of = {1, 2, 70, 300, 4, 3}, .kind = WG_KIND_F32, .weights = m % 3, .mask = m, .poison = numbers[i],
                            .cap = i % 2, .keys_stay = where == 1, .values_stay = where == 2, .alone = i > 0 || where > 0};
                check(&r);
                r.of.rows = 1;
                check(&r);
            }
}

/* ---- keys and values that runs lengthen ---- */

#define KEPT 600

/* q [2, 1, 8] by carried keys and values [2, KEPT, 8], into which a slice each is written at `at`; keys are seen below `length`. */
typedef struct decoding {
    wg_symbol q, keys, values, key, value, at, length, new_keys, new_values, result;
    wg_network *network;
    wg_entry *carried, *by_hand;
    wg_plan *plan;
    wg_session *session;
} decoding;

static decoding decoding_of(bool added)
{
    wg_error error = {0};
    wg_tape *tape = wg_tape_new(NULL);
    int64_t cache[] = {2, KEPT, 8}, slice[] = {2, 1, 8};
    wg_value q = sin_input(tape, WG_KIND_F32, 3, slice, 0.3), keys = sin_input(tape, WG_KIND_F32, 3, cache, 0.17),
             values = sin_input(tape, WG_KIND_F32, 3, cache, 0.23), key = sin_input(tape, WG_KIND_F32, 3, slice, 0.4),
             value = sin_input(tape, WG_KIND_F32, 3, slice, 0.6), at = one_integer(tape, 0), length = one_integer(tape, 5);
    wg_value new_keys = wg_update(keys, key, at, 1, 0, "error"), new_values = wg_update(values, value, at, 1, 0, "error");
    wg_value scores = wg_mul_scalar(wg_matmul(q, wg_transpose(new_keys)), 0.5), hidden = filled(scores, -INFINITY);
    wg_size all[] = {{2, 0}, {1, 0}, {KEPT, 0}};
    wg_value seen = wg_less(wg_iota(tape, WG_KIND_I64, 3, all, 2), wg_broadcast(length, 3, all));
    scores = added ? wg_add(scores, wg_select(seen, filled(scores, 0), hidden)) : wg_select(seen, scores, hidden);
    wg_value result = wg_matmul(wg_softmax(scores, 2), new_values);
    decoding d = {.q = wg_symbol_of(q), .keys = wg_symbol_of(keys), .values = wg_symbol_of(values), .key = wg_symbol_of(key),
                  .value = wg_symbol_of(value), .at = wg_symbol_of(at), .length = wg_symbol_of(length), .new_keys = wg_symbol_of(new_keys),
                  .new_values = wg_symbol_of(new_values), .result = wg_symbol_of(result)};
    d.network = wg_tape_seal(&tape, &error);
    wg_symbol roots[] = {d.result, d.new_keys, d.new_values};
    wg_carry carries[] = {{d.new_keys, d.keys}, {d.new_values, d.values}};
    wg_entry_options options = {.size = sizeof options, .roots = roots, .root_count = 3};
    d.by_hand = d.network ? wg_entry_new(d.network, &options, &error) : NULL;
    options.carries = carries;
    options.carry_count = 2;
    d.carried = d.network ? wg_entry_new(d.network, &options, &error) : NULL;
    d.plan = d.carried ? wg_plan_new(d.carried, NULL, 0, &error) : NULL;
    d.session = d.plan ? wg_session_new(d.plan, NULL, &error) : NULL;
    if (!d.session) fail_msg("%s", error.message);
    return d;
}

/* One run with an item of the slices made `number`; both ways agree. kept: keys, values, as the oracle has them. */
static void decode(decoding *d, int64_t at, int64_t length, double number, wg_tensor *kept[2])
{
    wg_error error = {0};
    wg_tensor *key = test_tensor_sin(WG_KIND_F32, 3, TEST_SHAPE(2, 1, 8), 0.4, (double)at, 0),
              *value = test_tensor_sin(WG_KIND_F32, 3, TEST_SHAPE(2, 1, 8), 0.6, (double)at, 0);
    poison(at % 2 ? key : value, number);
    wg_feed feeds[] = {{d->key, wg_tensor_view(key)}, {d->value, wg_tensor_view(value)},
                       {d->at, {.data = &at, .kind = WG_KIND_I64}}, {d->length, {.data = &length, .kind = WG_KIND_I64}},
                       {d->keys, wg_tensor_view(kept[0])}, {d->values, wg_tensor_view(kept[1])}};
    wg_run_options options = {.size = sizeof options, .feeds = feeds, .feed_count = 4}, all = options;
    all.feed_count = 6;
    wg_run *run = wg_interpret(d->by_hand, &all, &error);
    if (!run || !wg_session_run(d->session, &options, &error)) fail_msg("%s", error.message);
    wg_symbol read[] = {d->result, d->new_keys, d->new_values};
    for (int i = 0; i < 3; i++) {
        wg_tensor *got = wg_session_take(d->session, read[i], &error);
        test_assert_same(got, wg_run_of(run, read[i], &error), "a step of a decoding");
        wg_tensor_release(got);
    }
    for (int i = 0; i < 2; i++) {
        wg_tensor_release(kept[i]);
        kept[i] = wg_tensor_retain((wg_tensor *)wg_run_of(run, read[1 + i], &error));
    }
    wg_tensor_release(key), wg_tensor_release(value);
    wg_run_free(&run);
}

/* What is known of the carried values. */
static double largest_of(const decoding *d, wg_symbol symbol)
{
    for (uint32_t i = 0; i < d->session->input_count; i++)
        if (d->session->inputs[i].node == symbol.position) return d->session->inputs[i].largest;
    return -1;
}

/* Values behind the length are looked over once; what is written, or put there, counts again. */
static void decodings(void **state)
{
    (void)state;
    for (int added = 0; added < 2; added++) {
        wg_error error = {0};
        decoding d = decoding_of(added);
        wg_tensor *kept[] = {test_tensor_sin(WG_KIND_F32, 3, TEST_SHAPE(2, KEPT, 8), 0.17, 0.3, 0),
                             test_tensor_sin(WG_KIND_F32, 3, TEST_SHAPE(2, KEPT, 8), 0.23, 0.3, 0)};
        for (int i = 0; i < 2; i++) {
            wg_view view = wg_tensor_view(kept[i]);
            if (!wg_session_carry(d.session, i ? d.values : d.keys, &view, &error)) fail_msg("%s", error.message);
        }
        for (int64_t at = 4; at < 9; at++) decode(&d, at, at + 1, at == 6 ? 40 : 1, kept);
        assert_true(largest_of(&d, d.values) >= 40 && largest_of(&d, d.values) < 41);
        assert_true(added ? largest_of(&d, d.keys) >= 0 && largest_of(&d, d.keys) < 3 : largest_of(&d, d.keys) < 0);
        for (int64_t at = 300; at < 304; at++) decode(&d, at, 20, at < 302 ? INFINITY : NAN, kept); /* behind the length */
        assert_true(largest_of(&d, d.values) == (double)INFINITY);
        for (int64_t at = 300; at < 304; at++) decode(&d, at, 20, 1, kept);
        wg_tensor *whole = test_tensor_sin(WG_KIND_F32, 3, TEST_SHAPE(2, KEPT, 8), 0.23, 0.3, 0);
        wg_view view = wg_tensor_view(whole);
        for (int i = 0; i < 2; i++) {
            poison(whole, i ? INFINITY : 2);
            if (!wg_session_carry(d.session, d.values, &view, &error)) fail_msg("%s", error.message);
            wg_tensor_release(kept[1]);
            kept[1] = wg_tensor_copy(NULL, &view, &error);
            for (int64_t at = 9; at < 11; at++) decode(&d, at, at + 1, 1, kept);
            assert_true(i ? largest_of(&d, d.values) == (double)INFINITY : largest_of(&d, d.values) == 2);
        }
        wg_tensor_release(whole), wg_tensor_release(kept[0]), wg_tensor_release(kept[1]);
        wg_session_free(&d.session);
        wg_plan_release(&d.plan);
        wg_entry_free(&d.carried), wg_entry_free(&d.by_hand);
        wg_network_release(&d.network);
    }
}

static void empty(void **state)
{
    static const shape shapes[] = {{0, 2, 3, 32, 2, 2}, {1, 2, 0, 32, 2, 2}, {1, 2, 3, 32, 0, 2}, {1, 2, 3, 32, 2, 0}, {1, 1, 1, 32, 1, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int m = 0; m < MASK_SELECT_LENGTH; m++)
            check(&(recipe){.of = shapes[i], .kind = WG_KIND_F32, .weights = m % WEIGHTS_COUNT, .mask = m, .alone = true});
    check(&(recipe){.of = {1, 2, 3, 0, 2, 2}, .kind = WG_KIND_F32, .weights = WEIGHTS_LOG, .mask = MASK_NONE});
    check(&(recipe){.of = {1, 2, 3, 0, 2, 2}, .kind = WG_KIND_F32, .weights = WEIGHTS_COMPOSED, .mask = MASK_SELECT_CAUSAL});
}

/* The entry of one root, which is an attention, and runs as one or does not. */
static void check_root(const char *what, wg_tape *tape, wg_value value, bool elected)
{
    wg_error error = {0};
    char why[2048] = "";
    wg_symbol root = wg_symbol_of(value);
    wg_network *network = wg_tape_seal(&tape, &error);
    if (!network) fail_msg("%s: %s", what, error.message);
    wg_entry *entry =
        wg_entry_new(network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = &root, .root_count = 1}, &error);
    wg_plan *plan = entry ? wg_plan_new(entry, NULL, 0, &error) : NULL;
    if (!plan) fail_msg("%s: %s", what, error.message);
    wg_pattern pattern = {0};
    assert_true(wg_plan_pattern(plan, 0, &pattern) && pattern.elected == elected);
    wg_plan_release(&plan);
    if (!equivalence_holds(entry, NULL, why, sizeof why)) fail_msg("%s: %s", what, why);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

/* More axes of batches than a side of a product has, of which no two are one run: refused. The operands' axes stand the other way round. */
static void many_axes(void **state)
{
    (void)state;
    int64_t shape[WG_MAX_RANK] = {2, 2, 1, 2, 2, 2, 2, 2, 2, 2, 5, 3}, turned[WG_MAX_RANK];
    uint32_t order[WG_MAX_RANK], rank = 12;
    for (uint32_t axis = 0; axis < rank; axis++) order[axis] = rank - 1 - axis, turned[axis] = shape[rank - 1 - axis];
    for (int m = 0; m < MASK_NOTHING_SEEN; m++) {
        if (m == MASK_SELECT_LENGTH || m == MASK_SELECT_LATE || m == MASK_SELECT_BATCH) continue; /* its positions have four axes */
        wg_tape *tape = wg_tape_new(NULL);
        wg_value q = (wg_permute)(sin_input(tape, WG_KIND_F32, rank, turned, 0.11), order), k = sin_input(tape, WG_KIND_F32, rank, shape, 0.17);
        wg_value factor = (wg_permute)(sin_input(tape, WG_KIND_F32, rank, turned, 0.3), order);
        wg_value scores = wg_matmul(q, wg_transpose(k)), by = wg_matmul(factor, wg_transpose(k));
        check_root("many axes", tape, wg_matmul(weights(masked(wg_add(scores, by), m), m % 3), k), false);
    }
}

/* Few keys for many rows, queries turned: the product of the scores is of another form over keys that were turned back. */
static void few_keys(void **state)
{
    static const uint32_t order[] = {1, 0};
    (void)state;
    for (int k = 0; k < 2; k++)
        for (int m = 0; m < MASK_SELECT_CAUSAL + 1; m++) {
            wg_kind kind = k ? WG_KIND_F64 : WG_KIND_F32;
            wg_tape *tape = wg_tape_new_kind(NULL, kind);
            wg_value x = sin_input(tape, kind, 2, TEST_SHAPE(70, 70), 1.3);
            wg_value q = (wg_permute)(wg_matmul((wg_permute)(x, order), x), order), keys = sin_input(tape, kind, 2, TEST_SHAPE(31, 70), 0.7);
            wg_value scores = wg_matmul(q, wg_transpose(keys));
            check_root("few keys", tape, wg_matmul(weights(masked(scores, m), m % 3), sin_input(tape, kind, 2, TEST_SHAPE(31, 70), 0.23)), true);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(spellings),  cmocka_unit_test(kinds), cmocka_unit_test(lengths), cmocka_unit_test(decodings),
                                       cmocka_unit_test(not_finite), cmocka_unit_test(empty), cmocka_unit_test(many_axes),
                                       cmocka_unit_test(few_keys)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
