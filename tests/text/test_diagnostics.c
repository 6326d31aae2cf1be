/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Every text of data/broken fails with the diagnostic of data/broken.txt: place, what was wrong, what to do, the line and its caret.
 *
 * WENGERT_REWRITE=1 writes the file anew; what changed is reviewed as a diff. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "text/reading.h"

static int is_text(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && !strcmp(dot, ".wg");
}

/* `name.wg:line:column: error: ..` and so on, two newlines. */
static void put_diagnostic(FILE *out, const char *name)
{
    char path[300], formatted[4096];
    snprintf(path, sizeof path, "text/data/broken/%s", name);
    size_t length;
    char *text = read_test_file(path, &length);
    wg_error error;
    wg_error_clear(&error);
    wg_network *network = wg_text_parse(NULL, text, length, name, NULL, &error);
    assert_null(network);
    assert_true(error.code != WG_OK && error.code != WG_INTERNAL);
    assert_true(error.line > 0 && error.column > 0);
    assert_true(!error.excerpt[0] || error.caret_length > 0);
    wg_error_format(&error, formatted, sizeof formatted);
    fprintf(out, "%s\n\n", formatted);
    free(text);
}

static char *all_diagnostics(int *count)
{
    struct dirent **entries;
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    *count = scandir(TEST_DATA_DIR "/text/data/broken", &entries, is_text, alphasort);
    assert_non_null(out);
    for (int i = 0; i < *count; i++) {
        put_diagnostic(out, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    fclose(out);
    return text;
}

static void diagnostics_are_golden(void **state)
{
    (void)state;
    int count;
    char *found = all_diagnostics(&count);
    assert_true(count >= 60);
    if (getenv("WENGERT_REWRITE")) {
        FILE *file = fopen(TEST_DATA_DIR "/text/data/broken.txt", "wb");
        assert_non_null(file);
        fputs(found, file);
        fclose(file);
    }
    size_t length;
    char *golden = read_test_file("text/data/broken.txt", &length);
    assert_string_equal(found, golden);
    free(golden);
    free(found);
}

/* An error that was there is kept, and a NULL error is allowed. */
static void the_first_error_is_kept(void **state)
{
    (void)state;
    wg_error error = {.code = WG_FILE, .message = "before"};
    assert_null(wg_text_parse(NULL, "x", 1, "t", NULL, &error));
    assert_int_equal(error.code, WG_FILE);
    assert_string_equal(error.message, "before");
    assert_null(wg_text_parse(NULL, "x", 1, NULL, NULL, NULL));
}

static int hook_calls;
static void count_calls(void *user, const wg_error *error)
{
    (void)user;
    (void)error;
    hook_calls++;
}

/* A text's failure is the caller's to tell: the hook of recording does not hear of half of it. */
static void the_hook_is_not_called(void **state)
{
    (void)state;
    wg_context_options options = {.size = sizeof options, .hook = count_calls};
    wg_context *context = wg_context_new(&options, NULL);
    wg_error error;
    wg_error_clear(&error);
    const char *text = "wengert 1\ninput x [3]\ny = relu(sum_along(x, axis=3))\n";
    assert_null(wg_text_parse(context, text, strlen(text), "t", NULL, &error));
    assert_int_equal(error.code, WG_ARGUMENT);
    assert_string_equal(error.op, "sum_along");
    assert_int_equal(hook_calls, 0);
    wg_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(diagnostics_are_golden),
        cmocka_unit_test(the_first_error_is_kept),
        cmocka_unit_test(the_hook_is_not_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
