/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Sessions: feeds, parameters, results, bindings, carried values, stopping, threads. */
#include <pthread.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "session_program.h"
#include "wengert/grad.h"

/* ---- feeds ---- */

static void test_feeds_are_read_by_their_strides(void **state)
{
    (void)state;
    ready r = ready_new(false);
    assert_as_oracle(r.entry, r.session, NULL, NULL);
    wg_tensor *turned = test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(6, 5), 0.9, 0.4, 0);
    wg_feed feed = {
        r.program.x,
        {.data = wg_tensor_data(turned), .kind = WG_KIND_F32, .rank = 2, .shape = TEST_SHAPE(5, 6), .strides = TEST_SHAPE(4, 20)}};
    wg_run_options options = with_feeds(&feed, 1);
    assert_as_oracle(r.entry, r.session, &options, &options);
    /* Off the boundary of an item. */
    char moved[5 * 6 * 4 + 1];
    memcpy(moved + 1, wg_tensor_data(turned), sizeof moved - 1);
    feed.items = (wg_view){.data = moved + 1, .kind = WG_KIND_F32, .rank = 2, .shape = TEST_SHAPE(5, 6)};
    assert_as_oracle(r.entry, r.session, &options, &options);
    assert_as_oracle(r.entry, r.session, NULL, NULL);
    wg_tensor_release(turned);
    ready_free(&r);
}

static void assert_same_failure(const ready *r, const wg_run_options *options, wg_code code)
{
    wg_error session_error = {0}, oracle_error = {0};
    assert_null(wg_interpret(r->entry, options, &oracle_error));
    assert_false(wg_session_run(r->session, options, &session_error));
    assert_int_equal(session_error.code, code);
    assert_string_equal(session_error.message, oracle_error.message);
    assert_string_equal(session_error.entry, "main");
    assert_int_equal(session_error.node, oracle_error.node);
    assert_true(session_error.item == oracle_error.item);
    wg_view view;
    wg_error unreadable = {0};
    assert_false(wg_session_read(r->session, r->program.loss, &view, &unreadable));
    assert_int_equal(unreadable.code, WG_UNDECLARED);
}

static void test_mistakes_have_the_oracles_words(void **state)
{
    (void)state;
    ready r = ready_new(false), strict = ready_new(true);
    float x[30] = {0};
    int64_t at[2] = {0, 7};
    wg_view good = {.data = x, .kind = WG_KIND_F32, .rank = 2, .shape = TEST_SHAPE(5, 6)};
    wg_feed twice[2] = {{r.program.x, good}, {r.program.x, good}};
    wg_run_options options = with_feeds(twice, 2);
    assert_same_failure(&r, &options, WG_FEED);
    wg_feed shaped = {r.program.x, {.data = x, .kind = WG_KIND_F32, .rank = 2, .shape = TEST_SHAPE(6, 5)}};
    options = with_feeds(&shaped, 1);
    assert_same_failure(&r, &options, WG_FEED);
    wg_feed kind = {r.program.x, {.data = x, .kind = WG_KIND_I32, .rank = 2, .shape = TEST_SHAPE(5, 6)}};
    options = with_feeds(&kind, 1);
    assert_same_failure(&r, &options, WG_FEED);
    wg_feed parameter = {r.program.w, {.data = x, .kind = WG_KIND_F32, .rank = 2, .shape = TEST_SHAPE(6, 4)}};
    options = with_feeds(&parameter, 1);
    assert_same_failure(&r, &options, WG_FEED);
    wg_feed outside = {r.program.at, {.data = at, .kind = WG_KIND_I64, .rank = 1, .shape = TEST_SHAPE(2)}};
    options = with_feeds(&outside, 1);
    assert_same_failure(&r, &options, WG_BOUNDS);
    wg_feed one = {strict.program.x, good};
    options = with_feeds(&one, 1);
    assert_same_failure(&strict, &options, WG_FEED);
    wg_parameters *foreign = wg_parameters_new(strict.program.network, NULL);
    options = (wg_run_options){.size = sizeof options, .parameters = foreign};
    assert_same_failure(&r, &options, WG_PARAMETERS);
    wg_parameters_free(&foreign);
    wg_error error = {0};
    options = (wg_run_options){.size = sizeof options, .bindings = &(wg_binding){"n", 3}, .binding_count = 1};
    assert_false(wg_session_run(r.session, &options, &error));
    assert_int_equal(error.code, WG_ARGUMENT);
    assert_as_oracle(r.entry, r.session, NULL, NULL);
    ready_free(&r);
    ready_free(&strict);
}

/* The oracle and a session look at what is given before any row: a feed that is missing wins over a row before it that fails. */
static void test_what_is_missing_is_told_first(void **state)
{
    (void)state;
    wg_error error = {0};
    wg_tape *tape = wg_tape_new(NULL);
    ready r = {0};
    wg_value at = wg_input(tape, test_tensor(WG_KIND_I64, 1, TEST_SHAPE(1), (double[]){0}));
    wg_value items = wg_leaf(tape, test_tensor_fill(WG_KIND_F32, 1, TEST_SHAPE(3), 1));
    wg_value first = wg_gather(items, at, 0), x = wg_input_fill(tape, WG_KIND_F32, 1, (wg_size[]){wg_number(1)}, 2);
    r.program.loss = wg_symbol_of(wg_add(first, x));
    wg_symbol at_symbol = wg_symbol_of(at), x_symbol = wg_symbol_of(x);
    r.program.network = wg_tape_seal(&tape, &error);
    r.entry = entry_of(&r.program, &r.program.loss, 1, true);
    r.plan = wg_plan_new(r.entry, NULL, 0, &error);
    r.session = wg_session_new(r.plan, NULL, &error);
    int64_t outside = 9;
    float two = 2;
    wg_feed feeds[2] = {{at_symbol, {.data = &outside, .kind = WG_KIND_I64, .rank = 1, .shape = TEST_SHAPE(1)}},
                        {x_symbol, {.data = &two, .kind = WG_KIND_F32, .rank = 1, .shape = TEST_SHAPE(1)}}};
    wg_run_options options = with_feeds(feeds, 1);
    assert_same_failure(&r, &options, WG_FEED);
    options.feed_count = 2;
    assert_same_failure(&r, &options, WG_BOUNDS);
    ready_free(&r);
}

static void test_only_what_is_declared_is_read(void **state)
{
    (void)state;
    ready r = ready_new(false);
    wg_view view;
    wg_error error = {0};
    assert_false(wg_session_read(r.session, r.program.loss, &view, &error)); /* no run yet */
    assert_true(wg_session_run(r.session, NULL, NULL));
    assert_true(wg_session_read(r.session, r.program.loss, &view, NULL));
    error = (wg_error){0};
    assert_false(wg_session_read(r.session, r.program.hidden, &view, &error));
    assert_int_equal(error.code, WG_UNDECLARED);
    error = (wg_error){0};
    assert_null(wg_session_take(r.session, r.program.x, &error));
    assert_int_equal(error.code, WG_UNDECLARED);
    ready_free(&r);
}

/* A gradient that is a constant, of one item to a run, is row-major to whoever reads it, at every extent. */
static void test_a_constant_is_read_whole(void **state)
{
    (void)state;
    wg_error error = {0};
    wg_tape *tape = wg_tape_new(NULL);
    wg_size shape[] = {wg_extent(tape, "n", 5), wg_number(3)};
    wg_value wide = wg_broadcast(wg_input(tape, test_tensor_fill(WG_KIND_F32, 0, NULL, 2)), 2, shape);
    wg_adjoints *adjoints = wg_differentiate(tape, wg_sum(wide), &wide, 1);
    wg_symbol by = wg_symbol_of(wg_adjoints_gradient(adjoints, 0));
    wg_adjoints_free(&adjoints);
    wg_network *network = wg_tape_seal(&tape, &error);
    wg_entry *entry = wg_entry_new(network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = &by, .root_count = 1}, &error);
    wg_plan *plan = wg_plan_new(entry, NULL, 0, &error);
    wg_session *session = wg_session_new(plan, NULL, &error);
    for (int64_t rows = 5; rows <= 8; rows += 3) {
        wg_view view, again;
        assert_true(wg_session_bind(session, &(wg_binding){"n", rows}, 1, &error) && wg_session_run(session, NULL, &error));
        assert_true(wg_session_read(session, by, &view, &error) && wg_session_read(session, by, &again, &error));
        assert_true(view.rank == 2 && view.shape[0] == rows && !view.strides && again.data == view.data);
        for (int64_t i = 0; i < 3 * rows; i++) assert_true(((const float *)view.data)[i] == 1);
    }
    wg_session_free(&session);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

/* What was fed or given and is declared stays as it was in the run. */
static void test_declared_sources_are_kept(void **state)
{
    (void)state;
    program p = program_new(NULL);
    wg_error error = {0};
    wg_entry *entry = entry_of(&p, (wg_symbol[]){p.x, p.w, p.loss}, 3, false);
    wg_plan *plan = wg_plan_new(entry, NULL, 0, &error);
    wg_session *session = wg_session_new(plan, NULL, &error);
    wg_tensor *x = test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(5, 6), 1, 0, 0),
              *copy = test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(5, 6), 1, 0, 0);
    wg_parameters *parameters = wg_parameters_new(p.network, &error);
    wg_tensor *w = wg_tensor_retain(wg_parameters_of(parameters, p.w, &error));
    wg_feed feed = {p.x, wg_tensor_view(x)};
    wg_run_options options = {.size = sizeof options, .parameters = parameters, .feeds = &feed, .feed_count = 1};
    assert_true(wg_session_run(session, &options, &error));
    memset(wg_tensor_data(x), 0, 120);
    assert_true(wg_parameters_set(parameters, p.w, test_tensor_fill(WG_KIND_F32, 2, TEST_SHAPE(6, 4), 3), &error));
    wg_tensor *kept_x = wg_session_take(session, p.x, &error), *kept_w = wg_session_take(session, p.w, &error);
    test_assert_same(kept_x, copy, "the feed");
    test_assert_same(kept_w, w, "the parameter");
    wg_tensor_release(kept_x), wg_tensor_release(kept_w), wg_tensor_release(x), wg_tensor_release(copy), wg_tensor_release(w);
    wg_parameters_free(&parameters);
    wg_session_free(&session);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&p.network);
}

/* ---- bindings ---- */

static void test_binding_equals_a_fresh_plan(void **state)
{
    (void)state;
    ready r = ready_new(false);
    static const int64_t numbers[] = {2, 40, 5, 300, 3};
    for (uint32_t i = 0; i < 5; i++) {
        wg_error error = {0};
        wg_binding binding = {"n", numbers[i]};
        wg_tensor *x = test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(numbers[i], 6), 0.37, 0.2, 0);
        wg_feed feed = {r.program.x, wg_tensor_view(x)};
        wg_run_options options = with_feeds(&feed, i % 2), bound = options;
        bound.bindings = &binding;
        bound.binding_count = 1;
        assert_true(wg_session_bind(r.session, &binding, 1, &error));
        assert_as_oracle(r.entry, r.session, &options, &bound);
        wg_plan *plan = wg_plan_new(r.entry, &binding, 1, &error);
        wg_session *fresh = plan ? wg_session_new(plan, NULL, &error) : NULL;
        if (!fresh) fail_msg("%s", error.message);
        assert_as_oracle(r.entry, fresh, &options, &bound);
        wg_session_free(&fresh);
        wg_plan_release(&plan);
        wg_tensor_release(x);
    }
    wg_error error = {0};
    assert_false(wg_session_bind(r.session, &(wg_binding){"m", 3}, 1, &error));
    assert_int_equal(error.code, WG_NAME);
    wg_view view;
    assert_true(wg_session_read(r.session, r.program.picked, &view, NULL)); /* what was there stays */
    assert_true(wg_session_bind(r.session, NULL, 0, NULL));
    assert_as_oracle(r.entry, r.session, NULL, NULL);
    ready_free(&r);
}

/* ---- carried values ---- */

/* An Elman cell in f64: h' = tanh(x wx + h wh + b), probabilities = exp(log_softmax(h' wo)). Steps are fed x = sin(i + step). */
typedef struct cell {
    wg_network *network;
    wg_symbol x, h, next, probabilities;
    wg_entry *carried, *by_hand;
} cell;

static cell cell_new(void)
{
    wg_error error = {0};
    cell c;
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value wx = wg_parameter(tape, test_tensor_sin(WG_KIND_F64, 2, TEST_SHAPE(2, 3), 0.9, 0.1, 0));
    wg_value wh = wg_parameter(tape, test_tensor_sin(WG_KIND_F64, 2, TEST_SHAPE(3, 3), 0.8, 0.2, 0));
    wg_value b = wg_parameter(tape, test_tensor_sin(WG_KIND_F64, 1, TEST_SHAPE(3), 0.7, 0.3, 0));
    wg_value x = wg_input(tape, test_tensor_sin(WG_KIND_F64, 2, TEST_SHAPE(1, 2), 1, 0, 0));
    wg_value h = wg_input(tape, test_tensor_fill(WG_KIND_F64, 2, TEST_SHAPE(1, 3), 0));
    wg_value next = wg_tanh(wg_add(wg_add(wg_matmul(x, wx), wg_matmul(h, wh)), wg_broadcast_along(b, 0, 1)));
    wg_value wo = wg_parameter(tape, test_tensor_sin(WG_KIND_F64, 2, TEST_SHAPE(3, 4), 0.6, 0.4, 0));
    wg_value probabilities = wg_exp(wg_log_softmax(wg_matmul(next, wo), 1));
    c.x = wg_symbol_of(x);
    c.h = wg_symbol_of(h);
    c.next = wg_symbol_of(next);
    c.probabilities = wg_symbol_of(probabilities);
    c.network = wg_tape_seal(&tape, &error);
    wg_entry_options options = {.size = sizeof options, .roots = (wg_symbol[]){c.next, c.probabilities}, .root_count = 2};
    c.by_hand = wg_entry_new(c.network, &options, &error);
    options.carries = &(wg_carry){c.next, c.h};
    options.carry_count = 1;
    c.carried = wg_entry_new(c.network, &options, &error);
    assert_non_null(c.carried);
    return c;
}

static void cell_free(cell *c)
{
    wg_entry_free(&c->carried);
    wg_entry_free(&c->by_hand);
    wg_network_release(&c->network);
}

/* The reference values are of an independent program (f64, shortest decimals). */
static const double cell_next[4][3] = {{0.5207753257507488, 0.37620297824132287, 0.1542612616663443},
                                       {0.6824050301024301, 0.8712338450500381, 0.804667210892465},
                                       {0.2417691828871846, 0.9068655083880588, 0.9533945017729065},
                                       {-0.329815984202835, 0.7113699577775994, 0.9245227030616849}};
static const double cell_probabilities[4][4] = {{0.24383361847019833, 0.2635802330468585, 0.25924326568094197, 0.2333428828020012},
                                                {0.20431090781384337, 0.23291502129328548, 0.2675967721482711, 0.29517729874459986},
                                                {0.22069224955943206, 0.21483335414252852, 0.24655296476376964, 0.31792143153426977},
                                                {0.2387943705345816, 0.19907118502518623, 0.2263818230696308, 0.33575262137060136}};

static void test_carries_equal_feeding_by_hand(void **state)
{
    (void)state;
    cell c = cell_new();
    wg_error error = {0};
    wg_plan *plans[2] = {wg_plan_new(c.carried, NULL, 0, &error), wg_plan_new(c.by_hand, NULL, 0, &error)};
    wg_session *carrying = wg_session_new(plans[0], NULL, &error), *feeding = wg_session_new(plans[1], NULL, &error);
    wg_tensor *h = test_tensor_fill(WG_KIND_F64, 2, TEST_SHAPE(1, 3), 0);
    for (uint32_t step = 0; step < 4; step++) {
        wg_tensor *x = test_tensor_sin(WG_KIND_F64, 2, TEST_SHAPE(1, 2), 1, step, 0);
        wg_feed feeds[2] = {{c.x, wg_tensor_view(x)}, {c.h, wg_tensor_view(h)}};
        wg_run_options one = with_feeds(feeds, 1), both = with_feeds(feeds, 2);
        assert_true(wg_session_run(carrying, &one, &error));
        assert_true(wg_session_run(feeding, &both, &error));
        wg_tensor *next = wg_session_take(carrying, c.next, &error), *probabilities = wg_session_take(carrying, c.probabilities, &error);
        wg_tensor *next_by_hand = wg_session_take(feeding, c.next, &error),
                  *probabilities_by_hand = wg_session_take(feeding, c.probabilities, &error);
        test_assert_same(next, next_by_hand, "h'");
        test_assert_same(probabilities, probabilities_by_hand, "probabilities");
        for (uint32_t i = 0; i < 3; i++) assert_true(test_ulps(WG_KIND_F64, test_item(next, i), cell_next[step][i]) < 32);
        for (uint32_t i = 0; i < 4; i++) assert_true(test_ulps(WG_KIND_F64, test_item(probabilities, i), cell_probabilities[step][i]) < 32);
        wg_view view;
        assert_true(wg_session_carried(carrying, c.h, &view, &error));
        assert_memory_equal(view.data, wg_tensor_data(next), 24);
        wg_tensor_release(h), wg_tensor_release(x), wg_tensor_release(next), wg_tensor_release(probabilities),
            wg_tensor_release(probabilities_by_hand);
        h = next_by_hand;
    }
    wg_tensor_release(h);
    wg_session_free(&carrying);
    wg_session_free(&feeding);
    wg_plan_release(&plans[0]);
    wg_plan_release(&plans[1]);
    cell_free(&c);
}

static double carried_item(const wg_session *session, wg_symbol input)
{
    wg_view view;
    wg_error error = {0};
    if (!wg_session_carried(session, input, &view, &error)) fail_msg("%s", error.message);
    return *(const double *)view.data;
}

static void test_carried_values_are_set_and_forgotten(void **state)
{
    (void)state;
    cell c = cell_new();
    wg_error error = {0};
    wg_plan *plan = wg_plan_new(c.carried, NULL, 0, &error);
    wg_session *session = wg_session_new(plan, NULL, &error);
    assert_true(carried_item(session, c.h) == 0);
    assert_true(wg_session_run(session, NULL, &error));
    double after_one = carried_item(session, c.h), items[3] = {0.1, 0.2, 0.3};
    assert_true(after_one != 0);
    wg_view given = {.data = items, .kind = WG_KIND_F64, .rank = 2, .shape = TEST_SHAPE(1, 3)};
    assert_true(wg_session_carry(session, c.h, &given, &error));
    items[0] = 9; /* copied */
    assert_true(carried_item(session, c.h) == 0.1);
    /* A feed wins for its run; the result is carried on. */
    double zeros[3] = {0};
    wg_feed feed = {c.h, {.data = zeros, .kind = WG_KIND_F64, .rank = 2, .shape = TEST_SHAPE(1, 3)}};
    wg_run_options options = with_feeds(&feed, 1);
    assert_true(wg_session_run(session, &options, &error));
    assert_true(carried_item(session, c.h) == after_one);
    /* A failed run leaves them. */
    feed.items.rank = 1;
    assert_false(wg_session_run(session, &options, NULL));
    assert_true(carried_item(session, c.h) == after_one);
    wg_session_reset(session);
    assert_true(carried_item(session, c.h) == 0);
    wg_view view;
    assert_false(wg_session_carried(session, c.x, &view, &error));
    assert_int_equal(error.code, WG_ARGUMENT);
    wg_session_free(&session);
    wg_plan_release(&plan);
    cell_free(&c);
}

/* ---- a long run: stopping, entering twice, stepping parameters ---- */

/* state [400000] = state + exp(tanh(.. sin(state) ..)) + w, carried. */
typedef struct long_program {
    wg_network *network;
    wg_symbol state, next;
    wg_entry *entry;
    wg_plan *plan;
} long_program;

static long_program long_program_new(wg_context *context)
{
    wg_error error = {0};
    long_program l;
    wg_tape *tape = wg_tape_new_kind(context, WG_KIND_F64);
    wg_value start = wg_input_fill(tape, WG_KIND_F64, 1, &(wg_size){400000, 0}, 0.5),
             w = wg_parameter_fill(tape, WG_KIND_F64, 1, &(wg_size){400000, 0}, 0.25), value = start;
    for (int i = 0; i < 12; i++) value = wg_sort(wg_sin(wg_add(value, w)), 0, i % 2);
    l.state = wg_symbol_of(start);
    l.next = wg_symbol_of(value);
    l.network = wg_tape_seal(&tape, &error);
    l.entry = wg_entry_new(
        l.network,
        &(wg_entry_options){
            .size = sizeof(wg_entry_options), .roots = &l.next, .root_count = 1, .carries = &(wg_carry){l.next, l.state}, .carry_count = 1},
        &error);
    l.plan = l.entry ? wg_plan_new(l.entry, NULL, 0, &error) : NULL;
    if (!l.plan) fail_msg("%s", error.message);
    return l;
}

static void long_program_free(long_program *l)
{
    wg_plan_release(&l->plan);
    wg_entry_free(&l->entry);
    wg_network_release(&l->network);
}

typedef struct watcher {
    wg_session *session;
    wg_parameters *parameters;
    uint32_t calls;
    double last_share;
    wg_code again, stepped;
    bool refuse, stop;
} watcher;

static bool never_called(void *user, wg_symbol symbol, wg_tensor *payload, const wg_tensor *other)
{
    (void)user, (void)symbol, (void)payload, (void)other;
    return false;
}

static bool watch(void *user, double share)
{
    watcher *w = user;
    assert_true(share >= w->last_share && share <= 1);
    w->last_share = share;
    if (w->calls++ == 0) {
        wg_error error = {0};
        assert_false(wg_session_run(w->session, NULL, &error));
        w->again = error.code;
        error = (wg_error){0};
        if (w->parameters) assert_false(wg_parameters_step(w->parameters, never_called, NULL, &error));
        w->stepped = error.code;
    }
    if (w->stop) wg_session_stop(w->session);
    return !w->refuse;
}

static void test_a_run_is_stopped(void **state)
{
    (void)state;
    long_program l = long_program_new(NULL);
    wg_error error = {0};
    watcher w = {.parameters = wg_parameters_new(l.network, &error)};
    wg_session *session =
        wg_session_new(l.plan, &(wg_session_options){.size = sizeof(wg_session_options), .progress = watch, .progress_user = &w}, &error);
    assert_non_null(session);
    w.session = session;
    wg_run_options options = {.size = sizeof options, .parameters = w.parameters};
    assert_true(wg_session_run(session, &options, &error));
    assert_true(w.calls > 0);
    assert_int_equal(w.again, WG_BUSY);
    assert_int_equal(w.stepped, WG_PARAMETERS);
    double before = carried_item(session, l.state);
    for (int way = 0; way < 2; way++) {
        wg_view view;
        w.last_share = 0;
        w.refuse = way == 0;
        w.stop = way == 1;
        error = (wg_error){0};
        assert_false(wg_session_run(session, &options, &error));
        assert_int_equal(error.code, WG_CANCELLED);
        assert_true(carried_item(session, l.state) == before);
        assert_false(wg_session_read(session, l.next, &view, NULL));
    }
    w.refuse = w.stop = false;
    w.last_share = 0;
    error = (wg_error){0};
    assert_true(wg_session_run(session, &options, &error));
    assert_true(wg_parameters_step(w.parameters, never_called, NULL, NULL) == false); /* the callback's own no, not the run's */
    wg_parameters_free(&w.parameters);
    wg_session_free(&session);
    long_program_free(&l);
}

static bool stop_at_once(void *user, double share)
{
    if (*(double *)user < 0) *(double *)user = share;
    return false;
}

/* A row that has but one long line is stopped within it: before its stage is done. On one thread, for with more the others may be done before
 * the thread that asks was given a processor. */
static void test_a_long_line_is_stopped(void **state)
{
    (void)state;
    wg_context *alone = wg_context_new(&(wg_context_options){.size = sizeof(wg_context_options), .threads = 1}, NULL);
    for (int row = 0; row < 9; row++) {
        wg_error error = {0};
        wg_tape *tape = wg_tape_new(alone);
        wg_size line[1] = {wg_number(100000)};
        wg_value x = wg_input_fill(tape, row == 4 ? WG_KIND_I64 : WG_KIND_F32, 1, line, 2), y;
        switch (row) {
        case 0: y = wg_sort(x, 0, false); break;
        case 1: y = wg_grade(x, 0, true); break;
        case 2: y = wg_top_k_values(x, 0, wg_number(3)); break;
        case 3: y = wg_scan(x, "sum", 0, true); break;
        case 4: y = wg_scan(x, "max", 0, false); break;
        case 5: y = wg_scan(x, "sub", 0, false); break;
        case 6: y = wg_bins(wg_input_fill(tape, WG_KIND_F32, 1, (wg_size[]){wg_number(2)}, 2), x, "left"); break;
        case 7: y = wg_scan(wg_input_fill(tape, WG_KIND_F64, 2, (wg_size[]){line[0], wg_number(2)}, 1), "sum", 0, false); break;
        default: y = wg_first_index(x, wg_input_fill(tape, WG_KIND_F32, 1, (wg_size[]){wg_number(2)}, 2)); break;
        }
        wg_symbol root = wg_symbol_of(y);
        wg_network *network = wg_tape_seal(&tape, &error);
        wg_entry_options declared = {.size = sizeof declared, .roots = &root, .root_count = 1};
        wg_entry *entry = network ? wg_entry_new(network, &declared, &error) : NULL;
        wg_plan *plan = entry ? wg_plan_new(entry, NULL, 0, &error) : NULL;
        double first = -1;
        wg_session_options options = {.size = sizeof options, .progress = stop_at_once, .progress_user = &first};
        wg_session *session = plan ? wg_session_new(plan, &options, &error) : NULL;
        if (!session) fail_msg("row %d: %s", row, error.message);
        assert_false(wg_session_run(session, NULL, &error));
        assert_int_equal(error.code, WG_CANCELLED);
        if (!(first >= 0 && first < 1)) fail_msg("row %d was done before it could be stopped", row);
        wg_session_free(&session);
        wg_plan_release(&plan);
        wg_entry_free(&entry);
        wg_network_release(&network);
    }
    wg_context_free(alone);
}

/* ---- sessions in parallel ---- */

typedef struct runner {
    ready *ready;
    double scale;
    bool good;
} runner;

static void *run_many(void *user)
{
    runner *r = user;
    wg_error error = {0};
    wg_session *session = wg_session_new(r->ready->plan, NULL, &error);
    wg_tensor *x = test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(5, 6), r->scale, 0.2, 0);
    wg_feed feed = {r->ready->program.x, wg_tensor_view(x)};
    wg_run_options options = with_feeds(&feed, 1);
    wg_run *run = wg_interpret(r->ready->entry, &options, &error);
    r->good = session && run;
    for (int i = 0; i < 200 && r->good; i++) {
        wg_view view;
        r->good = wg_session_run(session, &options, &error) && wg_session_read(session, r->ready->program.picked, &view, &error) &&
                  !memcmp(view.data, wg_tensor_data(wg_run_of(run, r->ready->program.picked, &error)), 32);
    }
    wg_run_free(&run);
    wg_session_free(&session);
    wg_tensor_release(x);
    return NULL;
}

static void test_sessions_of_one_plan_run_in_parallel(void **state)
{
    (void)state;
    ready r = ready_new(false);
    runner runners[3] = {{&r, 0.1, false}, {&r, 0.2, false}, {&r, 0.3, false}};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) assert_int_equal(pthread_create(&threads[i], NULL, run_many, &runners[i]), 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 3; i++) assert_true(runners[i].good);
    ready_free(&r);
}

/* ---- the host's floating-point settings ---- */

static void test_the_hosts_rounding_does_not_reach_a_run(void **state)
{
    (void)state;
#ifdef __SSE2__
    ready r = ready_new(false);
    assert_true(wg_session_run(r.session, NULL, NULL));
    wg_tensor *before = wg_session_take(r.session, r.program.picked, NULL);
    unsigned own = _mm_getcsr(), odd = own | 0x8040 | 0x4000; /* flush, denormals are zero, upwards */
    _mm_setcsr(odd);
    bool ran = wg_session_run(r.session, NULL, NULL);
    unsigned left = _mm_getcsr();
    _mm_setcsr(own);
    assert_true(ran);
    assert_int_equal(left & 0xffc0, odd & 0xffc0);
    wg_tensor *after = wg_session_take(r.session, r.program.picked, NULL);
    test_assert_same(before, after, "rounding");
    wg_tensor_release(before), wg_tensor_release(after);
    ready_free(&r);
#endif
}

/* ---- the reverse scan ---- */

static void test_backward_over_a_session(void **state)
{
    (void)state;
    program p = program_new(NULL);
    wg_error error = {0};
    wg_entry *entry = wg_entry_new(
        p.network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = &p.loss, .root_count = 1, .posture = WG_POSTURE_RETAIN},
        &error);
    wg_plan *plan = wg_plan_new(entry, NULL, 0, &error);
    wg_session *session = wg_session_new(plan, NULL, &error);
    wg_tensor *x = test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(5, 6), 1, 0, 0);
    wg_feed feed = {p.x, wg_tensor_view(x)};
    wg_run_options options = with_feeds(&feed, 1);
    wg_run *run = wg_interpret(entry, &options, &error);
    assert_true(wg_session_run(session, &options, &error));
    memset(wg_tensor_data(x), 0, 120); /* the session has what it needs */
    wg_symbol wrt[2] = {p.w, p.b};
    wg_tensor *wanted[2], *got[2];
    assert_true(wg_run_backward(run, p.loss, wrt, 2, wanted, &error));
    if (!wg_session_backward(session, p.loss, wrt, 2, got, &error)) fail_msg("%s", error.message);
    for (int i = 0; i < 2; i++) {
        test_assert_same(got[i], wanted[i], "gradient");
        wg_tensor_release(got[i]), wg_tensor_release(wanted[i]);
    }
    wg_run_free(&run);
    wg_tensor_release(x);
    wg_session_free(&session);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&p.network);
}

/* ---- results in the caller's memory ---- */

/* A carried result goes to the caller too, step after step. */
static void test_carried_results_go_to_the_caller(void **state)
{
    (void)state;
    cell c = cell_new();
    wg_error error = {0};
    wg_plan *plan = wg_plan_new(c.carried, NULL, 0, &error);
    wg_session *session = wg_session_new(plan, NULL, &error);
    for (uint32_t step = 0; step < 4; step++) {
        double next[3] = {0}, probabilities[4] = {0};
        wg_tensor *x = test_tensor_sin(WG_KIND_F64, 2, TEST_SHAPE(1, 2), 1, step, 0);
        wg_feed feed = {c.x, wg_tensor_view(x)};
        wg_run_options options = with_feeds(&feed, 1);
        wg_run_memory memory = {.size = sizeof memory, .results = (void *[]){next, probabilities}};
        if (!wg_session_run_into(session, &options, &memory, &error)) fail_msg("%s", error.message);
        for (uint32_t i = 0; i < 3; i++) assert_true(test_ulps(WG_KIND_F64, next[i], cell_next[step][i]) < 32);
        for (uint32_t i = 0; i < 4; i++) assert_true(test_ulps(WG_KIND_F64, probabilities[i], cell_probabilities[step][i]) < 32);
        wg_tensor_release(x);
    }
    wg_session_free(&session);
    wg_plan_release(&plan);
    cell_free(&c);
}

/* Views that are declared are made in the caller's memory. */
static void test_views_go_to_the_caller(void **state)
{
    (void)state;
    static const uint32_t turned[] = {1, 0};
    wg_error error = {0};
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = wg_input(tape, test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(4, 6), 0.4, 0.1, 0));
    wg_value made = wg_tanh(x), flat = wg_reshape(made, 1, (wg_size[]){wg_number(24)}), other = wg_permute(made, turned);
    wg_symbol symbols[] = {wg_symbol_of(flat), wg_symbol_of(other)};
    wg_network *network = wg_tape_seal(&tape, &error);
    wg_entry *entry = wg_entry_new(network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = symbols, .root_count = 2}, &error);
    wg_plan *plan = wg_plan_new(entry, NULL, 0, &error);
    wg_session *session = wg_session_new(plan, NULL, &error);
    float results[2][24] = {{0}};
    wg_run_memory memory = {.size = sizeof memory, .results = (void *[]){results[0], results[1]}};
    if (!wg_session_run_into(session, NULL, &memory, &error)) fail_msg("%s", error.message);
    assert_true(session->laid.results[0].placed && session->laid.results[1].placed);
    wg_run *run = wg_interpret(entry, NULL, &error);
    for (uint32_t i = 0; i < 2; i++) assert_memory_equal(results[i], wg_tensor_data(wg_run_of(run, symbols[i], &error)), sizeof results[i]);
    assert_true(wg_session_run(session, NULL, &error));
    wg_tensor *taken = wg_session_take(session, symbols[0], &error);
    assert_memory_equal(results[0], wg_tensor_data(taken), sizeof results[0]);
    wg_tensor_release(taken);
    wg_run_free(&run);
    wg_session_free(&session);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

/* ---- runs over and over ---- */

#define LOOP_TIMES 7

/* x, y and z are [3]: tanh(x) * y + z. */
static wg_plan *loop_plan(wg_error *error)
{
    wg_tape *tape = wg_tape_new(NULL);
    wg_value given[3];
    for (int i = 0; i < 3; i++) given[i] = wg_input_required(tape, WG_KIND_F64, 1, (wg_size[]){wg_number(3)});
    wg_symbol root = wg_symbol_of(wg_add(wg_mul(wg_tanh(given[0]), given[1]), given[2]));
    wg_network *network = wg_tape_seal(&tape, error);
    wg_entry *entry = wg_entry_new(network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = &root, .root_count = 1}, error);
    wg_plan *plan = wg_plan_new(entry, NULL, 0, error);
    wg_entry_free(&entry);
    wg_network_release(&network);
    return plan;
}

/* A loop is the runs that it stands for: the state fed back, one input moving on. */
static void test_a_loop_is_its_runs(void **state)
{
    (void)state;
    wg_error error = {0};
    wg_plan *plan = loop_plan(&error);
    wg_session *session = wg_session_new(plan, NULL, &error);
    double y[3] = {0.5, -2, 1.5}, z[3 * LOOP_TIMES], wanted[LOOP_TIMES + 1][3] = {{0.25, 1, -3}}, all[LOOP_TIMES][3], two[2][3];
    for (int i = 0; i < 3 * LOOP_TIMES; i++) z[i] = 0.1 * i - 1;
    for (int t = 0; t < LOOP_TIMES; t++) {
        wg_run_memory memory = {.size = sizeof memory, .results = (void *[]){wanted[t + 1]}, .inputs = (void *[]){wanted[t], y, z + 3 * t}};
        if (!wg_session_run_into(session, NULL, &memory, &error)) fail_msg("%s", error.message);
    }
    wg_run_memory memory = {.size = sizeof memory, .results = (void *[]){all}, .inputs = (void *[]){wanted[0], y, z}};
    wg_run_loop loop = {.size = sizeof loop, .times = LOOP_TIMES, .ahead = (int64_t[]){0, 0, sizeof wanted[0]}, .result_bytes = sizeof wanted[0],
                        .places = LOOP_TIMES};
    if (!wg_session_run_loop(session, &memory, &loop, &error)) fail_msg("%s", error.message);
    assert_memory_equal(all, wanted[1], sizeof all);
    memory.results = (void *[]){two};
    loop.places = 2;
    if (!wg_session_run_loop(session, &memory, &loop, &error)) fail_msg("%s", error.message);
    assert_memory_equal(two[(LOOP_TIMES - 1) % 2], wanted[LOOP_TIMES], sizeof two[0]);
    loop.input = 3;
    assert_false(wg_session_run_loop(session, &memory, &loop, &error));
    assert_int_equal(error.code, WG_ARGUMENT);
    error = (wg_error){0};
    loop.input = 0, memory.inputs = NULL;
    assert_false(wg_session_run_loop(session, &memory, &loop, &error));
    assert_int_equal(error.code, WG_ARGUMENT);
    wg_session_free(&session);
    wg_plan_release(&plan);
}

/* Of two results, in either order, one is read by the next run and the other ends the loop: after the run in which it holds. */
static void test_a_loop_ends_where_a_result_holds(void **state)
{
    (void)state;
    wg_error error = {0};
    for (uint32_t until = 0; until < 2; until++) {
        wg_tape *tape = wg_tape_new(NULL);
        wg_value x = wg_input_required(tape, WG_KIND_F64, 1, (wg_size[]){wg_number(2)}), next = wg_add_scalar(x, 1.5);
        wg_symbol roots[2];
        roots[until] = wg_symbol_of(wg_greater_scalar(wg_sum(next), 10));
        roots[1 - until] = wg_symbol_of(next);
        wg_network *network = wg_tape_seal(&tape, &error);
        wg_entry *entry = wg_entry_new(network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = roots, .root_count = 2}, &error);
        wg_plan *plan = wg_plan_new(entry, NULL, 0, &error);
        wg_session *session = wg_session_new(plan, NULL, &error);
        double begin[2] = {0, 1}, states[2][2];
        uint8_t holds = 2;
        int64_t made = 0;
        void *results[2];
        results[until] = &holds, results[1 - until] = states;
        wg_run_memory memory = {.size = sizeof memory, .results = results, .inputs = (void *[]){begin}};
        wg_run_loop loop = {.size = sizeof loop, .times = 9, .ahead = (int64_t[]){0}, .result_bytes = sizeof states[0], .places = 2,
                            .result = 1 - until, .until = until, .made = &made};
        if (!wg_session_run_loop(session, &memory, &loop, &error)) fail_msg("%s", error.message);
        assert_int_equal(made, 4); /* sums 4, 7, 10, 13 */
        assert_true(holds == 1 && states[1][0] == 6 && states[1][1] == 7);
        loop.times = 3;
        if (!wg_session_run_loop(session, &memory, &loop, &error)) fail_msg("%s", error.message);
        assert_true(made == 3 && holds == 0 && states[0][0] == 4.5);
        loop.until = loop.result;
        assert_false(wg_session_run_loop(session, &memory, &loop, &error));
        assert_int_equal(error.code, WG_ARGUMENT);
        error = (wg_error){0};
        wg_session_free(&session);
        wg_plan_release(&plan);
        wg_entry_free(&entry);
        wg_network_release(&network);
    }
}

/* ---- the host's threads, spinning ---- */

typedef struct host_loop {
    uint32_t calls, most;
} host_loop;

/* All tasks on this thread, the last first: the order is the host's. */
static void host_parallel_for(void *user, uint32_t tasks, void (*task)(void *data, uint32_t index), void *data)
{
    host_loop *loop = user;
    loop->calls++;
    if (tasks > loop->most) loop->most = tasks;
    while (tasks-- > 0) task(data, tasks);
}

/* The same bits on the host's threads and on spinning ones; the host's are asked, and for no more tasks than threads. */
static void test_threads_of_a_context(void **state)
{
    (void)state;
    for (int spin = 0; spin < 2; spin++) {
        host_loop loop = {0};
        wg_context_options options = {.size = sizeof options, .threads = 3, .spin = spin};
        if (!spin) options.parallel_for = host_parallel_for, options.parallel_for_user = &loop;
        wg_error error = {0};
        wg_context *context = wg_context_new(&options, &error);
        program p = program_new(context);
        wg_entry *entry = entry_of(&p, (wg_symbol[]){p.loss, p.picked}, 2, false);
        wg_plan *plan = wg_plan_new(entry, NULL, 0, &error);
        wg_session *session = wg_session_new(plan, NULL, &error);
        session->parallel_cost = 0, session->part_cost = 10;
        for (int i = 0; i < 20; i++) assert_as_oracle(entry, session, NULL, NULL);
        if (!spin) assert_true(loop.calls > 0 && loop.most > 1 && loop.most <= 3);
        wg_session_free(&session);
        wg_plan_release(&plan);
        wg_entry_free(&entry);
        wg_network_release(&p.network);
        wg_context_free(context);
    }
}

/* ---- stages ---- */

/* A product of [5, 6] by [6, 4] is 240 operations; under another binding more; times come with the results of a run. */
static void test_stages_are_told_and_timed(void **state)
{
    (void)state;
    ready r = ready_new(false);
    wg_error error = {0};
    for (int64_t n = 5; n <= 8; n += 3) {
        wg_run_options bound = {.size = sizeof bound, .bindings = &(wg_binding){"n", n}, .binding_count = 1};
        assert_true(wg_session_bind(r.session, bound.bindings, 1, &error));
        wg_stage stage;
        double operations = 0;
        uint32_t count = 0;
        for (; wg_session_stage(r.session, count, &stage); count++) {
            if (!strncmp(stage.kind, "matmul", 6)) operations = stage.operations;
            assert_true(stage.cost > 0 && stage.node_count > 0 && !stage.again);
            char *why = wg_session_explain(r.session, count);
            assert_non_null(strstr(why, "stores "));
            wg_text_free(why);
        }
        assert_true(operations >= 2.0 * (double)n * 6 * 4);
        assert_null(wg_session_explain(r.session, count));
        double *seconds = calloc(count, sizeof *seconds);
        if (!wg_session_measure(r.session, NULL, 3, seconds, &error)) fail_msg("%s", error.message);
        for (uint32_t s = 0; s < count; s++) assert_true(seconds[s] >= 0 && seconds[s] < 1000);
        wg_view view;
        assert_true(wg_session_read(r.session, r.program.loss, &view, &error));
        assert_false(wg_session_measure(r.session, NULL, 0, seconds, &error));
        free(seconds);
        error = (wg_error){0};
        assert_as_oracle(r.entry, r.session, NULL, &bound);
    }
    ready_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_feeds_are_read_by_their_strides),
        cmocka_unit_test(test_mistakes_have_the_oracles_words),
        cmocka_unit_test(test_only_what_is_declared_is_read),
        cmocka_unit_test(test_a_constant_is_read_whole),
        cmocka_unit_test(test_declared_sources_are_kept),
        cmocka_unit_test(test_binding_equals_a_fresh_plan),
        cmocka_unit_test(test_carries_equal_feeding_by_hand),
        cmocka_unit_test(test_carried_values_are_set_and_forgotten),
        cmocka_unit_test(test_a_run_is_stopped),
        cmocka_unit_test(test_a_long_line_is_stopped),
        cmocka_unit_test(test_sessions_of_one_plan_run_in_parallel),
        cmocka_unit_test(test_the_hosts_rounding_does_not_reach_a_run),
        cmocka_unit_test(test_what_is_missing_is_told_first),
        cmocka_unit_test(test_backward_over_a_session),
        cmocka_unit_test(test_carried_results_go_to_the_caller),
        cmocka_unit_test(test_views_go_to_the_caller),
        cmocka_unit_test(test_a_loop_is_its_runs),
        cmocka_unit_test(test_a_loop_ends_where_a_result_holds),
        cmocka_unit_test(test_threads_of_a_context),
        cmocka_unit_test(test_stages_are_told_and_timed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
