/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Recording a graph from the dump of its nodes: what a dump says is enough to plan. Sources become fills; nodes that a plan's dump leaves
 * out become constants. */
#ifndef TESTS_PLAN_RECORDED_H
#define TESTS_PLAN_RECORDED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/graph.h"

typedef struct recorded {
    wg_network *network;
    uint32_t kept[64], kept_count;   /* results in the order of the header, or those of the word `kept` */
    bool retain;
    uint32_t total;
    int64_t series[64];
    uint32_t series_count;           /* 0: the file does not say */
    char candidates[8][256], elected[8][256];
    uint32_t candidate_count, elected_count;
    char *text;                      /* the lines that describe prints */
} recorded;

static inline char *recorded_read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    rewind(file);
    char *text = malloc((size_t)length + 1);
    assert_int_equal(fread(text, 1, (size_t)length, file), length);
    text[length] = 0;
    fclose(file);
    return text;
}

static inline uint32_t recorded_numbers(const char *text, int64_t *numbers, uint32_t most)
{
    uint32_t count = 0;
    for (char *end; *text; text = end) {
        while (*text && !strchr("-0123456789", *text)) text++;
        if (!*text) break;
        assert_true(count < most);
        numbers[count++] = strtoll(text, &end, 10);
    }
    return count;
}

/* The flat attributes of a row from `key=value key=[a, b]`. */
static inline uint32_t recorded_attributes(wg_op op, const char *text, wg_size *flat)
{
    uint32_t count, used = 0;
    const graph_attribute_row *rows = graph_row_attributes(op, &count);
    for (uint32_t i = 0; i < count; i++) {
        char key[40];
        snprintf(key, sizeof key, "%s=", rows[i].key);
        const char *at = strstr(text, key);
        if (!at) {
            assert_true(rows[i].silent != GRAPH_ALWAYS);
            flat[used++] = (wg_size){rows[i].silent, 0};
            continue;
        }
        at += strlen(key);
        char word[64];
        size_t length = *at == '[' ? strcspn(at, "]") : strcspn(at, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        if (rows[i].type == GRAPH_SIZES || rows[i].type == GRAPH_ORDER) {
            int64_t list[WG_MAX_RANK];
            uint32_t items = recorded_numbers(word, list, WG_MAX_RANK);
            flat[used++] = (wg_size){items, 0};
            for (uint32_t k = 0; k < items; k++) flat[used++] = (wg_size){list[k], 0};
        } else if (rows[i].type == GRAPH_FLAG) flat[used++] = (wg_size){!strcmp(word, "true"), 0};
        else if (rows[i].type == GRAPH_KIND) flat[used++] = (wg_size){wg_kind_from_name(word), 0};
        else if (rows[i].type >= GRAPH_OUTSIDE) flat[used++] = (wg_size){graph_choice_value(rows[i].type, word, strlen(word)), 0};
        else flat[used++] = (wg_size){strtoll(word, NULL, 10), 0};
    }
    return used;
}

/* One line of a dump: columns 0-3 index, 6 row, 21 operands and attributes, then the shape, a kind, a word. */
static inline void recorded_line(wg_tape *tape, wg_value *values, uint32_t *made, char *line, recorded *r)
{
    uint32_t index = (uint32_t)strtoul(line, NULL, 10), operand_count = 0;
    char name[16];
    assert_int_equal(sscanf(line + 6, "%15s", name), 1);
    for (; *made < index; ++*made) values[*made] = wg_leaf_fill(tape, WG_KIND_F32, 0, NULL, 0);
    char *at = line + 21;
    wg_value operands[8];
    while (*at >= '0' && *at <= '9') {
        operands[operand_count++] = values[strtoul(at, &at, 10)];
        if (*at == ',') at += 2;
    }
    /* The shape is the bracket that stands behind a space; brackets of attributes stand behind `=`. */
    char *shape = strstr(at, " [");
    while (shape && shape[-1] == ',') shape = strstr(shape + 1, " [");
    assert_non_null(shape);
    char *shape_end = strchr(shape, ']');
    int64_t numbers[WG_MAX_RANK];
    char saved = *shape_end;
    *shape_end = 0;
    uint32_t rank = recorded_numbers(shape, numbers, WG_MAX_RANK);
    *shape_end = saved;
    char kind_word[16] = "", *rest = shape_end + 1;
    wg_kind kind = WG_KIND_F32;
    if (sscanf(rest, "%15s", kind_word) == 1 && wg_kind_from_name(kind_word) != WG_KIND_COUNT) kind = wg_kind_from_name(kind_word);
    if (strstr(rest, " kept")) r->kept[r->kept_count++] = index;
    wg_size sizes[WG_MAX_ATTRIBUTES];
    for (uint32_t i = 0; i < rank; i++) sizes[i] = (wg_size){numbers[i], 0};
    if (!strcmp(name, "Leaf")) values[index] = wg_leaf_fill(tape, kind, rank, sizes, 0);
    else if (!strcmp(name, "Parameter")) values[index] = wg_parameter_fill(tape, kind, rank, sizes, 0);
    else if (!strcmp(name, "Input")) values[index] = wg_input_fill(tape, kind, rank, sizes, 0);
    else {
        wg_op op = WG_OP_COUNT;
        for (int row = 0; row < WG_OP_COUNT; row++)
            if (!strcmp(graph_rows[row].name, name)) op = (wg_op)row;
        *shape = 0;
        uint32_t count = recorded_attributes(op, at, sizes);
        *shape = ' ';
        values[index] = wg_record(tape, op, operands, operand_count, sizes, count);
    }
    if (wg_is_poison(values[index])) fail_msg("%s: %s", line, wg_tape_error(tape)->message);
    *made = index + 1;
}

static inline void recorded_note(recorded *r, const char *line)
{
    int64_t numbers[64];
    uint32_t count;
    const char *at;
    if ((at = strstr(line, "# results in order: "))) {
        count = recorded_numbers(at + 20, numbers, 64);
        for (r->kept_count = 0; r->kept_count < count; r->kept_count++) r->kept[r->kept_count] = (uint32_t)numbers[r->kept_count];
    } else if ((at = strstr(line, "# live series: "))) r->series_count = recorded_numbers(at + 15, r->series, 64);
    else if ((at = strstr(line, "# pattern candidates: "))) snprintf(r->candidates[r->candidate_count++], 256, "%s", at + 22);
    else if ((at = strstr(line, "# patterns elected: "))) snprintf(r->elected[r->elected_count++], 256, "%s", at + 20);
}

/* A plan's dump with its header. */
static inline recorded recorded_plan(const char *name)
{
    recorded r = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/data/dumps/%s", TEST_DATA_DIR, name);
    char *file = recorded_read_file(path), *rest = file;
    wg_tape *tape = wg_tape_new(NULL);
    static wg_value values[256];
    uint32_t made = 0, header_kept[64], header_count = 0;
    r.text = calloc(1, strlen(file) + 2);
    for (char *line; (line = strsep(&rest, "\n"));) {
        if (line[0] == '#') {
            recorded_note(&r, line);
            header_count = r.kept_count;
            memcpy(header_kept, r.kept, sizeof header_kept);
            continue;
        }
        if (!*line) continue;
        strcat(r.text, line);
        strcat(r.text, "\n");
        if (line[0] == ' ') {
            if (header_count) r.kept_count = 0;
            recorded_line(tape, values, &made, line, &r);
        }
        char *of = strstr(line, " of ");
        if (!strncmp(line, "plan: ", 6)) {
            r.retain = !strncmp(line, "plan: retain", 12);
            r.total = (uint32_t)strtoul(of + 4, NULL, 10);
        }
    }
    if (header_count) {
        r.kept_count = header_count;
        memcpy(r.kept, header_kept, sizeof header_kept);
    }
    for (; made < r.total; made++) wg_leaf_fill(tape, WG_KIND_F32, 0, NULL, 0);
    wg_error error = {0};
    r.network = wg_tape_seal(&tape, &error);
    if (!r.network) fail_msg("%s: %s", name, error.message);
    free(file);
    return r;
}

static inline void recorded_free(recorded *r)
{
    wg_network_release(&r->network);
    free(r->text);
}

/* An entry over nodes of a network: roots, then observed ones. */
static inline wg_entry *recorded_entry(const wg_network *network, const uint32_t *roots, uint32_t root_count, const uint32_t *observes,
                                       uint32_t observe_count, bool retain)
{
    wg_symbol symbols[256];
    assert_true(root_count + observe_count <= 256);
    for (uint32_t i = 0; i < root_count; i++) symbols[i] = wg_network_symbol_at(network, roots[i]);
    for (uint32_t i = 0; i < observe_count; i++) symbols[root_count + i] = wg_network_symbol_at(network, observes[i]);
    wg_entry_options options = {.size = sizeof options,
                                .roots = symbols,
                                .root_count = root_count,
                                .observes = symbols + root_count,
                                .observe_count = observe_count,
                                .posture = retain ? WG_POSTURE_RETAIN : WG_POSTURE_FORWARD};
    wg_error error = {0};
    wg_entry *entry = wg_entry_new(network, &options, &error);
    if (!entry) fail_msg("%s", error.message);
    return entry;
}

#endif
