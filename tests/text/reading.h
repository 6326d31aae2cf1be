/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What the tests of text share. Include after cmocka.h. */
#ifndef TESTS_TEXT_READING_H
#define TESTS_TEXT_READING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wengert/text.h"

/* The bytes of a file below tests/, with a final NUL; freed by free. */
static inline char *read_test_file(const char *name, size_t *length)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", TEST_DATA_DIR, name);
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("no file %s", path);
    size_t capacity = 1 << 12, used = 0, more;
    char *text = malloc(capacity);
    while ((more = fread(text + used, 1, capacity - used - 1, file)) > 0) {
        used += more;
        if (capacity - used < 2) text = realloc(text, capacity *= 2);
    }
    fclose(file);
    text[used] = 0;
    *length = used;
    return text;
}

/* Parses or fails the test with the diagnostic. */
static inline wg_network *parse_text(const char *text, const char *name)
{
    wg_error error;
    wg_error_clear(&error);
    wg_network *network = wg_text_parse(NULL, text, strlen(text), name, NULL, &error);
    if (!network) {
        char formatted[4096];
        wg_error_format(&error, formatted, sizeof formatted);
        fail_msg("%s", formatted);
    }
    return network;
}

/* The canonical text of a network; owned. */
static inline char *print_network(const wg_network *network)
{
    wg_error error;
    wg_error_clear(&error);
    char *text = wg_text_print(network, &error);
    if (!text) fail_msg("%s", error.message);
    return text;
}

#endif
