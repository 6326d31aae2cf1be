/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The canonical text: one graph, one text. Golden expansions of sugar, the worked example of the authored text with its digest, the
 * examples, and random graphs, whose bits the oracle computes the same before and after.
 *
 * WENGERT_REWRITE=1 writes the golden expansions anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/random_graph.h"
#include "text/reading.h"
#include "wengert/run.h"

/* print(parse(t)) == t, and the same nodes again. */
static void expect_fixpoint(const char *canonical)
{
    wg_network *network = parse_text(canonical, "canonical");
    char *printed = print_network(network);
    assert_string_equal(printed, canonical);
    wg_text_free(printed);
    wg_error error;
    wg_error_clear(&error);
    if (!wg_network_verify(network, &error)) fail_msg("%s", error.message);
    wg_network_release(&network);
}

static void sugar_expands_as_golden(void **state)
{
    (void)state;
    static const char *const names[] = {"repeat", "def", "gradients", "compositions", "initialisers", "complex"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[256];
        size_t length;
        snprintf(path, sizeof path, "text/data/sugar/%s.wg", names[i]);
        char *text = read_test_file(path, &length);
        wg_network *network = parse_text(text, names[i]);
        char *printed = print_network(network);
        snprintf(path, sizeof path, "text/data/sugar/%s.txt", names[i]);
        if (getenv("WENGERT_REWRITE")) {
            char whole[512];
            snprintf(whole, sizeof whole, "%s/%s", TEST_DATA_DIR, path);
            FILE *file = fopen(whole, "wb");
            assert_non_null(file);
            fputs(printed, file);
            fclose(file);
        }
        char *golden = read_test_file(path, &length);
        assert_string_equal(printed, golden);
        expect_fixpoint(printed);
        free(text);
        free(golden);
        wg_text_free(printed);
        wg_network_release(&network);
    }
}

/* The digest and the size of the worked example are those of its definition. */
static void the_worked_example(void **state)
{
    (void)state;
    size_t length, lines = 0;
    char *text = read_test_file("text/data/llama_decode.wg", &length), digest[65];
    wg_network *network = parse_text(text, "llama_decode.wg");
    char *printed = print_network(network);
    assert_int_equal(strlen(printed), 5789);
    for (const char *c = printed; *c; c++) lines += *c == '\n';
    assert_int_equal(lines, 150);
    assert_true(wg_network_identity(network, digest, NULL));
    assert_string_equal(digest, "c0cb9e9f85ebb82f3c35ee16ec7916d5debf75d23638d0d6a4bbd31ce247cece");
    expect_fixpoint(printed);
    free(text);
    wg_text_free(printed);
    wg_network_release(&network);
}

/* Its weights: item i of parameter p, both from 0, is ((7 i + 3 p) mod 11 - 5) / 8. */
static wg_tensor *worked_weights(wg_tensor *like, int64_t p)
{
    wg_tensor *tensor = wg_tensor_new(NULL, WG_KIND_F32, wg_tensor_rank(like), wg_tensor_shape(like), NULL, NULL);
    float *items = wg_tensor_data(tensor);
    for (int64_t i = 0; i < wg_tensor_volume(tensor); i++) items[i] = (float)((7 * i + 3 * p) % 11 - 5) / 8;
    return tensor;
}

typedef struct worked {
    const wg_network *network;
    wg_parameters *parameters;
    wg_tensor *k, *v;
    float logits[16];
} worked;

static void worked_step(worked *w, int32_t token, int32_t position)
{
    wg_error error;
    wg_error_clear(&error);
    wg_entry *entry = wg_network_entry(w->network, "decode", &error);
    int64_t one = 1;
    wg_feed feeds[] = {{wg_network_symbol(w->network, "token"), {&token, WG_KIND_I32, 1, &one, NULL}},
                       {wg_network_symbol(w->network, "position"), {&position, WG_KIND_I32, 0, NULL, NULL}},
                       {wg_network_symbol(w->network, "cache.k.0"), wg_tensor_view(w->k)},
                       {wg_network_symbol(w->network, "cache.v.0"), wg_tensor_view(w->v)}};
    wg_run_options options = {.size = sizeof options, .parameters = w->parameters, .feeds = feeds, .feed_count = 4};
    wg_run *run = wg_interpret(entry, &options, &error);
    if (!run) fail_msg("%s", error.message);
    memcpy(w->logits, wg_tensor_data(wg_run_of(run, wg_network_symbol(w->network, "logits"), &error)), sizeof w->logits);
    wg_tensor *k = (wg_tensor *)wg_run_of(run, wg_network_symbol(w->network, "next.k.0"), &error);
    wg_tensor *v = (wg_tensor *)wg_run_of(run, wg_network_symbol(w->network, "next.v.0"), &error);
    wg_view views[] = {wg_tensor_view(k), wg_tensor_view(v)};
    wg_tensor_release(w->k);
    wg_tensor_release(w->v);
    w->k = wg_tensor_copy(NULL, &views[0], NULL);
    w->v = wg_tensor_copy(NULL, &views[1], NULL);
    wg_run_free(&run);
    wg_entry_free(&entry);
}

/* Parameters wait for their items until they are set; then the three steps choose 9, 8, 8. */
static void the_worked_example_runs(void **state)
{
    (void)state;
    size_t length;
    char *text = read_test_file("text/data/llama_decode.wg", &length);
    wg_network *network = parse_text(text, "llama_decode.wg");
    wg_error error;
    wg_error_clear(&error);
    worked w = {.network = network, .parameters = wg_parameters_new(network, &error)};
    for (uint32_t p = 0; p < wg_parameters_count(w.parameters); p++) {
        wg_symbol symbol = wg_parameters_symbol(w.parameters, p);
        wg_node_facts facts;
        wg_network_node(network, symbol.position, &facts);
        wg_tensor *shape = wg_tensor_new(NULL, WG_KIND_F32, facts.rank, facts.shape, NULL, NULL);
        assert_true(wg_parameters_set(w.parameters, symbol, worked_weights(shape, p), &error));
        wg_tensor_release(shape);
    }
    const int64_t cache[] = {1, 4, 4};
    w.k = wg_tensor_fill(NULL, WG_KIND_F32, 3, cache, 0, NULL);
    w.v = wg_tensor_fill(NULL, WG_KIND_F32, 3, cache, 0, NULL);
    static const int32_t tokens[] = {3, 5, 3}, chosen[] = {9, 8, 8};
    for (int step = 0; step < 3; step++) {
        worked_step(&w, tokens[step], step);
        int best = 0;
        for (int i = 1; i < 16; i++)
            if (w.logits[i] > w.logits[best]) best = i;
        assert_int_equal(best, chosen[step]);
    }
    assert_true(w.logits[0] > -0.3040120f && w.logits[0] < -0.3040116f);
    assert_true(w.logits[1] > -0.1461564f && w.logits[1] < -0.1461560f);
    wg_tensor_release(w.k);
    wg_tensor_release(w.v);
    wg_parameters_free(&w.parameters);
    wg_network_release(&network);
    free(text);
}

static void the_examples(void **state)
{
    (void)state;
    static const char *const names[] = {"fashion", "line", "transformer", "recurrence"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[64];
        size_t length;
        snprintf(path, sizeof path, "../examples/%s.wg", names[i]);
        char *text = read_test_file(path, &length);
        wg_network *network = parse_text(text, path);
        assert_string_equal(wg_network_name(network), names[i]);
        assert_true(wg_network_entry_count(network) > 0);
        char *printed = print_network(network);
        expect_fixpoint(printed);
        wg_text_free(printed);
        wg_network_release(&network);
        free(text);
    }
}

/* The probabilities [n, 10] of the first n of three made-up pictures, with the extent bound to n. */
static void classify(const wg_network *network, int64_t n, float *probabilities)
{
    static uint8_t images[3 * 28 * 28];
    for (int i = 0; i < 3 * 28 * 28; i++) images[i] = (uint8_t)(i * i % 251);
    wg_error error;
    wg_error_clear(&error);
    wg_entry *entry = wg_network_entry(network, "classify", &error);
    const int64_t shape[] = {n, 28, 28};
    const wg_feed feed = {wg_network_symbol(network, "images"), {images, WG_KIND_U8, 3, shape, NULL}};
    wg_binding binding = {"n", n};
    wg_run_options options = {.size = sizeof options, .feeds = &feed, .feed_count = 1, .bindings = &binding, .binding_count = 1};
    wg_run *run = wg_interpret(entry, &options, &error); /* which does not read the labels */
    if (!run) fail_msg("%s", error.message);
    const wg_tensor *result = wg_run_of(run, wg_network_symbol(network, "probabilities"), &error);
    assert_int_equal(wg_tensor_volume(result), 10 * n);
    memcpy(probabilities, wg_tensor_data(result), (size_t)n * 10 * sizeof *probabilities);
    wg_run_free(&run);
    wg_entry_free(&entry);
}

/* An extent binds to another number without another text, and every row keeps its bits. */
static void an_extent_is_bound(void **state)
{
    (void)state;
    size_t length;
    char *text = read_test_file("../examples/fashion.wg", &length);
    wg_network *network = parse_text(text, "fashion.wg");
    float one[10], three[30];
    classify(network, 1, one);
    classify(network, 3, three);
    assert_memory_equal(one, three, sizeof one);
    for (int row = 0; row < 3; row++) {
        double sum = 0;
        for (int i = 0; i < 10; i++) sum += (double)three[10 * row + i];
        assert_true(sum > 0.99999 && sum < 1.00001);
    }
    wg_network_release(&network);
    free(text);
}

static wg_run *run_whole(const wg_network *network, char *why, size_t bytes)
{
    wg_error error;
    wg_error_clear(&error);
    wg_run_options options = {.size = sizeof options};
    wg_run *run = wg_network_forward(network, &options, &error);
    if (!run) snprintf(why, bytes, "no run: %s", error.message);
    return run;
}

static bool same_bits(const wg_network *a, const wg_network *b, char *why, size_t bytes)
{
    wg_run *x = run_whole(a, why, bytes), *y = x ? run_whole(b, why, bytes) : NULL;
    bool same = x && y;
    for (uint32_t i = 0; same && i < wg_network_count(a); i++) {
        const wg_tensor *p = wg_run_of(x, wg_network_symbol_at(a, i), NULL), *q = wg_run_of(y, wg_network_symbol_at(b, i), NULL);
        size_t size = p ? (size_t)wg_tensor_volume(p) * wg_kind_bytes(wg_tensor_kind(p)) : 0;
        same = p && q && wg_tensor_kind(p) == wg_tensor_kind(q) && wg_tensor_volume(p) == wg_tensor_volume(q) &&
               (!size || !memcmp(wg_tensor_data(p), wg_tensor_data(q), size));
        if (!same) snprintf(why, bytes, "node %u differs after printing and parsing", i);
    }
    wg_run_free(&x);
    wg_run_free(&y);
    return same;
}

/* A few nodes get names that a text must quote, or may not. */
static void name_some(random_graph *graph)
{
    static const char *const names[] = {"t3", "entry", "a b", "x.y", "\"", "\\n\n", "inf", "t12", "\xC3\xA9", "{i}", "#", "1st"};
    wg_network *network = wg_tape_seal(&graph->tape, NULL);
    uint32_t count = wg_network_count(network);
    graph->tape = wg_network_reopen(&network, NULL);
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        wg_symbol symbol = {graph->roots[0].family, (uint32_t)((graph->seed * 7 + i * 5) % count)};
        wg_name(wg_tape_resolve(graph->tape, symbol), names[i]);
    }
    wg_entry_options options = {.size = sizeof options, .name = "entry", .roots = graph->roots, .root_count = graph->root_count, .posture =
                                WG_POSTURE_RETAIN};
    wg_tape_declare(graph->tape, &options);
}

/* print, parse: the same text, the same nodes, the same bits. */
static bool survives_its_text(void *user, random_graph *graph, char *why, size_t bytes)
{
    (void)user;
    wg_error error;
    wg_error_clear(&error);
    name_some(graph);
    wg_network *network = wg_tape_seal(&graph->tape, &error);
    char *text = network ? wg_text_print(network, &error) : NULL;
    wg_network *parsed = text ? wg_text_parse(NULL, text, strlen(text), "printed", NULL, &error) : NULL;
    char *again = parsed ? wg_text_print(parsed, &error) : NULL;
    if (!again) wg_error_format(&error, why, bytes);
    bool good = again && !strcmp(text, again);
    if (again && !good) snprintf(why, bytes, "the second text differs:\n%s\n%s", text, again);
    good = good && same_bits(network, parsed, why, bytes);
    wg_text_free(text);
    wg_text_free(again);
    wg_network_release(&network);
    wg_network_release(&parsed);
    return good;
}

static void random_graphs_survive_their_text(void **state)
{
    (void)state;
    static const wg_kind kinds[] = {WG_KIND_F32, WG_KIND_F64, WG_KIND_F16, WG_KIND_BF16};
    for (uint64_t seed = 1; seed <= 60; seed++)
        random_graph_hold("print and parse", seed, 5 + (uint32_t)seed % 50, kinds[seed % 4], survives_its_text, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sugar_expands_as_golden),
        cmocka_unit_test(the_worked_example),
        cmocka_unit_test(the_worked_example_runs),
        cmocka_unit_test(the_examples),
        cmocka_unit_test(an_extent_is_bound),
        cmocka_unit_test(random_graphs_survive_their_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
