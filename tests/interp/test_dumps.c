/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The golden dumps: what describe prints of their recordings, byte for byte, and the values in their headers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/dumps.h"
#include "support/tensors.h"
#include "wengert/run.h"

/* ---- dumps ---- */

static void test_tapes(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < dump_recording_count; i++) {
        const dump_recording *recording = &dump_recordings[i];
        if (recording->is_plan) continue;
        dump_symbols symbols;
        wg_tape *tape = recording->record(recording->kind, &symbols);
        dump_file *file = dump_read(recording->name);
        char *text = wg_tape_describe(tape);
        assert_string_equal(text, file->body);
        wg_text_free(text);
        dump_free(file);
        wg_tape_free(&tape);
    }
}

static const char *line_of(const char *text, uint32_t index)
{
    for (; index; index--) text = strchr(text, '\n') + 1;
    return text;
}

/* A plan's line is the tape's, then blanks, then the plan's word. */
static void check_plan_line(const char *name, const char *line, const char *tape_text)
{
    const char *of_tape = line_of(tape_text, (uint32_t)strtoul(line, NULL, 10));
    size_t length = strcspn(of_tape, "\n"), end = strcspn(line, "\n");
    static const char *const words[] = {"kept", "fused", "freed after ", "retained", "releasable after "};
    size_t word = length + strspn(line + length, " ");
    bool known = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) known = known || !strncmp(line + word, words[i], strlen(words[i]));
    if (end < length || strncmp(line, of_tape, length) || !known) fail_msg("%s: the tape prints\n%.*s\nwhere the plan has\n%.*s", name,
                                                                           (int)length, of_tape, (int)end, line);
}

static void test_plans(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < dump_recording_count; i++) {
        const dump_recording *recording = &dump_recordings[i];
        if (!recording->is_plan) continue;
        dump_symbols symbols;
        wg_tape *tape = recording->record(recording->kind, &symbols);
        dump_file *file = dump_read(recording->name);
        char *text = wg_tape_describe(tape);
        uint32_t lines = 0;
        for (const char *line = file->body; *line == ' '; line = strchr(line, '\n') + 1, lines++) check_plan_line(recording->name, line,
                text);
        assert_true(lines > 4);
        wg_text_free(text);
        dump_free(file);
        wg_tape_free(&tape);
    }
}

/* Sealed, reopened, appended to: nothing moves. */
static void test_reopened(void **state)
{
    (void)state;
    wg_error error = {.code = WG_OK};
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_symbol w = wg_symbol_of(wg_parameter(tape, test_tensor_fill(WG_KIND_F64, 0, NULL, 1.5)));
    wg_symbol square = wg_symbol_of(wg_mul(wg_tape_resolve(tape, w), wg_tape_resolve(tape, w)));
    wg_network *network = wg_tape_seal(&tape, &error);
    char *before = wg_network_describe(network), joined[1024];
    tape = wg_network_reopen(&network, &error);
    wg_mul(wg_tape_resolve(tape, square), wg_tape_resolve(tape, w));
    char *after = wg_tape_describe(tape);
    const char *appended = line_of(after, 2);
    snprintf(joined, sizeof joined, "%.*sappended after the reopen\n%s", (int)(appended - after), after, appended);
    dump_file *file = dump_read("tape-reopened");
    assert_string_equal(joined, file->body);
    assert_memory_equal(before, after, appended - after);
    dump_free(file);
    wg_text_free(before);
    wg_text_free(after);
    wg_tape_free(&tape);
}

/* ---- values ---- */

static void check_values(const dump_recording *recording, const dump_file *file, wg_kind kind)
{
    wg_error error = {.code = WG_OK};
    dump_symbols symbols;
    wg_tape *tape = recording->record(kind, &symbols);
    wg_network *network = wg_tape_seal(&tape, &error);
    wg_run *run = network ? wg_network_forward(network, NULL, &error) : NULL;
    if (!run) fail_msg("%s: %s", recording->name, error.message);
    for (uint32_t i = 0; i < file->number_count; i++) {
        const dump_number *number = &file->numbers[i];
        /* What the f64 tape gives, the f32 tape gives too, to its own accuracy. */
        if (number->is_gradient || (number->is_f32 && kind != WG_KIND_F32)) continue;
        char what[128];
        snprintf(what, sizeof what, "%s %s (%s)", recording->name, number->what, wg_kind_name(kind));
        const wg_tensor *value = wg_run_of(run, wg_network_symbol_at(network, number->node), &error);
        test_assert_near(value, number->items, kind == WG_KIND_F64 ? 1e-12 : 1e-5, what);
    }
    wg_run_free(&run);
    wg_network_release(&network);
}

static void test_values(void **state)
{
    (void)state;
    uint32_t numbers = 0;
    for (uint32_t i = 0; i < dump_recording_count; i++) {
        dump_file *file = dump_read(dump_recordings[i].name);
        check_values(&dump_recordings[i], file, WG_KIND_F64);
        check_values(&dump_recordings[i], file, WG_KIND_F32);
        numbers += file->number_count;
        dump_free(file);
    }
    assert_true(numbers > 40);
}

/* Entries evaluate what their dump lists, and their results stand in the order that it tells. */
static void test_results_in_order(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < dump_recording_count; i++) {
        dump_file *file = dump_read(dump_recordings[i].name);
        dump_symbols symbols;
        wg_tape *tape = dump_recordings[i].record(WG_KIND_F32, &symbols);
        wg_network *network = wg_tape_seal(&tape, NULL);
        wg_entry *entry = dump_entry(network, &symbols);
        if (file->result_count) assert_int_equal(wg_entry_result_count(entry), file->result_count);
        for (uint32_t j = 0; j < file->result_count; j++) assert_int_equal(wg_entry_result(entry, j).position, file->results[j]);
        wg_entry_free(&entry);
        wg_network_release(&network);
        dump_free(file);
    }
}

/* ---- feeds ---- */

static wg_tensor *numbers_after(const char *text, const char *words, int64_t columns)
{
    double items[8];
    char *at = strstr(text, words) + strlen(words);
    for (int64_t i = 0; i < columns; i++) items[i] = strtod(at, &at);
    return test_tensor(WG_KIND_F64, 2, (int64_t[]){1, columns}, items);
}

/* Four steps, each fed with the state of the one before. */
static void test_recurrence(void **state)
{
    (void)state;
    wg_error error = {.code = WG_OK};
    dump_symbols symbols;
    dump_file *file = dump_read("plan-recurrence-feeds");
    wg_tape *tape = dump_record_recurrence_feeds(WG_KIND_F64, &symbols);
    wg_network *network = wg_tape_seal(&tape, &error);
    wg_entry *entry = dump_entry(network, &symbols);
    wg_tensor *h = test_tensor_fill(WG_KIND_F64, 2, TEST_SHAPE(1, 3), 0);
    const char *line = file->text;
    for (int step = 0; step < 4; step++) {
        char words[32];
        snprintf(words, sizeof words, "# step %d:", step);
        line = strstr(line, words);
        wg_tensor *x = test_tensor_sin(WG_KIND_F64, 2, TEST_SHAPE(1, 2), 1, step, 0);
        wg_feed feeds[] = {{wg_network_symbol_at(network, 3), wg_tensor_view(x)}, {wg_network_symbol_at(network, 4), wg_tensor_view(h)}};
        wg_run_options options = {.size = sizeof options, .feeds = feeds, .feed_count = 2};
        wg_run *run = wg_interpret(entry, &options, &error);
        if (!run) fail_msg("%s", error.message);
        wg_tensor *next = numbers_after(line, "h' = ", 3), *probabilities = numbers_after(line, "probabilities = ", 4);
        test_assert_near(wg_run_of(run, symbols.roots[0], NULL), next, 1e-12, words);
        test_assert_near(wg_run_of(run, symbols.roots[1], NULL), probabilities, 1e-12, words);
        wg_tensor_release(h);
        h = wg_tensor_retain((wg_tensor *)wg_run_of(run, symbols.roots[0], NULL));
        wg_tensor_release(x);
        wg_tensor_release(next);
        wg_tensor_release(probabilities);
        wg_run_free(&run);
    }
    wg_tensor_release(h);
    wg_entry_free(&entry);
    wg_network_release(&network);
    dump_free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tapes),  cmocka_unit_test(test_plans),
                                       cmocka_unit_test(test_reopened),
                                       cmocka_unit_test(test_values), cmocka_unit_test(test_results_in_order),
                                           cmocka_unit_test(test_recurrence)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
