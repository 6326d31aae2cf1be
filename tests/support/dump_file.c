/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The golden files themselves: the header's numbers, and the body. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/dumps.h"
#include "support/tensors.h"

static char *read_text(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/data/dumps/%s.txt", TEST_DATA_DIR, name);
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("%s cannot be read", path);
    char *text = calloc(1 << 16, 1);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    return text;
}

/* `[4, 3] = number ...` to the end of the line. */
static wg_tensor *read_items(const char *at)
{
    int64_t shape[WG_MAX_RANK];
    uint32_t rank = 0;
    double items[1024];
    char *next = (char *)at + 1;
    while (*next != ']') {
        shape[rank++] = strtoll(next, &next, 10);
        next += strspn(next, ", ");
    }
    next += strspn(next, "] =");
    size_t count = 0;
    for (char *end; *next && *next != '\n'; next = end) {
        items[count] = strtod(next, &end);
        if (end == next) break;
        count++;
    }
    wg_tensor *tensor = test_tensor(WG_KIND_F64, rank, shape, items);
    assert_int_equal(wg_tensor_volume(tensor), count);
    return tensor;
}

/* `value NAME (node N) [..] = ..`, `gradient d TARGET / d NAME (node N) [..] = ..` */
static void read_number(dump_file *file, const char *line, bool is_f32)
{
    const char *end = strchr(line, '\n'), *place = line;
    dump_number *number = &file->numbers[file->number_count];
    while ((place = strstr(place + 1, "(node ")) && place < end && strncmp(place + 6 + strspn(place + 6, "0123456789"), ") [", 3)) continue;
    if (!place || place > end) return;
    assert_true(file->number_count < sizeof file->numbers / sizeof *file->numbers);
    file->number_count++;
    number->is_f32 = is_f32;
    number->is_gradient = !strncmp(line, "gradient d ", 11);
    const char *name = line + 6;
    if (number->is_gradient) {
        const char *bar = strstr(line, " / d ");
        snprintf(number->target, sizeof number->target, "%.*s", (int)(bar - line - 11), line + 11);
        name = bar + 5;
    }
    snprintf(number->what, sizeof number->what, "%.*s", (int)(place - 1 - name), name);
    number->node = (uint32_t)strtoul(place + 6, NULL, 10);
    number->items = read_items(strchr(place, '['));
}

dump_file *dump_read(const char *name)
{
    dump_file *file = calloc(1, sizeof *file);
    assert_non_null(file);
    file->text = read_text(name);
    bool is_f32 = false;
    const char *line = file->text;
    for (; *line == '#'; line = strchr(line, '\n') + 1) {
        const char *words = line + 1 + strspn(line + 1, " ");
        char *at;
        is_f32 = is_f32 || !strncmp(words, "the same from the f32 tape", 26);
        if (!strncmp(words, "value ", 6) || !strncmp(words, "gradient ", 9)) read_number(file, words, is_f32);
        if (!strncmp(words, "results in order: ", 18))
            for (at = (char *)words + 18; *at != '\n' &&
                 file->result_count < 16;) file->results[file->result_count++] = (uint32_t)strtoul(at, &at, 10);
        if (!strncmp(words, "live series: ", 13))
            for (at = (char *)words + 13; *at != '\n' && file->series_count < 64;) file->series[file->series_count++] = strtoll(at, &at,
                    10);
    }
    file->body = line;
    return file;
}

void dump_free(dump_file *file)
{
    for (uint32_t i = 0; i < file->number_count; i++) wg_tensor_release(file->numbers[i].items);
    free(file->text);
    free(file);
}

uint32_t dump_node(const dump_file *file, const char *what)
{
    for (uint32_t i = 0; i < file->number_count; i++)
        if (!file->numbers[i].is_gradient && !strcmp(file->numbers[i].what, what)) return file->numbers[i].node;
    return WG_NONE;
}
