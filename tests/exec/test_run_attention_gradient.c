/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The slopes of an attention by q, k and v as one stage: the oracle's bits, at every vector level and number of threads, whatever the mask
 * hides; and what no such stage is for. */
#include "exec/attentions.h"
#include "wengert/grad.h"

#define STAGE "attention_gradient"

typedef struct slopes {
    const char *what;
    recipe of;
    const char *served; /* STAGE, the reason why not, or NULL: no match */
    bool by_two;        /* slopes by q and v alone */
    bool read_inside;   /* the weights are a result too */
} slopes;

/* The entry of the slopes: what comes to the result is an input. */
static wg_entry *entry_of(const slopes *s, wg_network **network)
{
    wg_error error = {0};
    wg_tape *tape = wg_tape_new_kind(NULL, s->of.kind);
    wg_value sides[3], result = attention_of(tape, &s->of, sides), wrt[3] = {sides[0], s->by_two ? sides[2] : sides[1], sides[2]};
    wg_tensor *came = test_tensor_sin(s->of.kind, 4, wg_value_shape(result), 0.29, 0.3, 0);
    if (!s->of.values_stay && !s->of.keys_stay) poison(came, s->of.poison);
    uint32_t count = s->by_two ? 2 : 3;
    wg_adjoints *adjoints = wg_vjp(tape, result, wg_input(tape, came), wrt, count);
    if (!adjoints) fail_msg("%s: %s", s->what, wg_tape_error(tape)->message);
    wg_symbol roots[5] = {wg_symbol_of(result)};
    for (uint32_t i = 0; i < count; i++) roots[1 + i] = wg_symbol_of(wg_adjoints_gradient(adjoints, i));
    uint32_t weights = 0;
    wg_node_facts facts;
    for (uint32_t i = 0; wg_tape_node(tape, i, &facts); i++)
        if (facts.op == WG_OP_Exp) weights = i;
    if (s->read_inside) roots[1 + count] = (wg_symbol){roots[0].family, weights};
    wg_adjoints_free(&adjoints);
    *network = wg_tape_seal(&tape, &error);
    if (!*network) fail_msg("%s: %s", s->what, error.message);
    wg_entry_options options = {.size = sizeof options, .roots = roots, .root_count = 1 + count + s->read_inside};
    wg_entry *entry = wg_entry_new(*network, &options, &error);
    if (!entry) fail_msg("%s: %s", s->what, error.message);
    return entry;
}

static void check_served(const slopes *s, const wg_entry *entry)
{
    wg_error error = {0};
    wg_plan *plan = wg_plan_new(entry, NULL, 0, &error);
    if (!plan || !plan_verify(plan, &plan->layout, &error)) fail_msg("%s: %s", s->what, error.message);
    wg_pattern pattern;
    const char *found = NULL;
    for (uint32_t i = 0; wg_plan_pattern(plan, i, &pattern); i++)
        if (!strcmp(pattern.kind, "AttentionGradient")) found = pattern.elected ? pattern.formula : pattern.reason;
    if (!s->served ? found != NULL : !found || strncmp(found, s->served, strlen(s->served)))
        fail_msg("%s: %s\n%s", s->what, found ? found : "no match", wg_plan_report(plan));
    char *report = wg_plan_report(plan);
    bool stands = strstr(report, STAGE) != NULL;
    wg_text_free(report);
    assert_true(stands == (s->served && !strcmp(s->served, STAGE)));
    wg_plan_release(&plan);
}

static void check(slopes s)
{
    char why[2048] = "", what[128];
    snprintf(what, sizeof what, "%s: mask %d, kind %s, rows %lld, keys %lld, grouped %d, views %d, poison %g at %d", s.what ? s.what : "slopes",
             (int)s.of.mask, wg_kind_name(s.of.kind), (long long)s.of.of.rows, (long long)s.of.of.keys, s.of.grouped, s.of.views, s.of.poison,
             2 * s.of.keys_stay + s.of.values_stay);
    s.what = what;
    wg_network *network;
    wg_entry *entry = entry_of(&s, &network);
    check_served(&s, entry);
    bool holds = s.of.alone ? equivalence_holds_alone(entry, NULL, why, sizeof why) : equivalence_holds(entry, NULL, why, sizeof why);
    if (!holds) fail_msg("%s: %s", what, why);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

#define SLOPES(...) (slopes){.of = {.kind = WG_KIND_F32, .weights = WEIGHTS_LOG, __VA_ARGS__}, .served = STAGE}

static void masks(void **state)
{
    (void)state;
    for (int m = 0; m < MASK_COUNT; m++) {
        check(SLOPES(.of = {2, 2, 45, 260, 5, 4}, .mask = m, .grouped = m % 2));
        check(SLOPES(.of = {1, 2, 270, 270, 6, 7}, .mask = m, .views = true, .alone = m % 2));
        check(SLOPES(.of = {1, 3, 1, 300, 50, 60}, .mask = m, .alone = true));
    }
}

/* Depth blocks of rows, packed and not; chunks of sums; few columns, which would turn. */
static void lengths(void **state)
{
    (void)state;
    check(SLOPES(.of = {1, 1, 530, 600, 3, 2}, .mask = MASK_ADDED_CAUSAL));
    check(SLOPES(.of = {1, 2, 530, 530, 33, 17}, .mask = MASK_SELECT_CAUSAL, .views = true));
    check(SLOPES(.of = {1, 1, 256, 9000, 2, 3}, .mask = MASK_SELECT_LENGTH, .alone = true));
    check(SLOPES(.of = {1, 2, 300, 5000, 1, 1}, .mask = MASK_NONE));
    check(SLOPES(.of = {1, 1, 5, 260, 1, 70}, .mask = MASK_SELECT_WINDOW));
}

/* Nothing of what a mask hides may be left out where it would not be nothing. where: 0 in all, 1 in v alone, 2 in k alone. */
static void not_finite(void **state)
{
    static const double numbers[] = {INFINITY, -INFINITY, NAN, 3e38, 1e30};
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (int m = 0; m < MASK_COUNT; m++)
            for (int where = 0; where < 3; where++)
                check(SLOPES(.of = {1, 2, 40, 257, 4, 3}, .mask = m, .poison = numbers[i], .keys_stay = where == 1, .values_stay = where == 2,
                             .alone = i > 0 || m % 2));
}

static void empty(void **state)
{
    static const shape shapes[] = {{0, 2, 3, 300, 2, 2}, {1, 2, 0, 300, 2, 2}, {1, 2, 3, 300, 0, 2}, {1, 2, 3, 300, 2, 0}, {1, 1, 1, 300, 1, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int m = 0; m < MASK_SELECT_LENGTH; m++) check(SLOPES(.of = shapes[i], .mask = m, .alone = true));
}

/* Run as rows: other softmaxes and scores, other kinds, few keys, fewer slopes, and what is read from outside. */
static void near_misses(void **state)
{
    const shape of = {1, 2, 7, 260, 3, 4};
    (void)state;
    for (int w = WEIGHTS_PLAIN; w < WEIGHTS_COUNT; w++)
        check((slopes){.what = "other weights", .of = {.of = of, .kind = WG_KIND_F32, .weights = (weights_spelling)w, .mask = MASK_ADDED_CAUSAL}});
    check((slopes){.what = "a cap", .of = {.of = of, .kind = WG_KIND_F32, .mask = MASK_ADDED_CAUSAL, .cap = true}});
    check((slopes){.what = "f64", .of = {.of = of, .kind = WG_KIND_F64, .mask = MASK_ADDED_CAUSAL}, .served = "no kernel serves"});
    check((slopes){.what = "few keys", .of = {.of = {1, 2, 7, 40, 3, 4}, .kind = WG_KIND_F32, .mask = MASK_ADDED_CAUSAL},
                   .served = "its rows by themselves are faster"});
    check((slopes){.what = "two sides", .of = {.of = of, .kind = WG_KIND_F32, .mask = MASK_ADDED_CAUSAL}, .by_two = true});
    check((slopes){.what = "read weights", .of = {.of = of, .kind = WG_KIND_F32, .mask = MASK_ADDED_CAUSAL}, .served = "node", .read_inside = true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(masks), cmocka_unit_test(lengths), cmocka_unit_test(not_finite), cmocka_unit_test(empty),
                                       cmocka_unit_test(near_misses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
