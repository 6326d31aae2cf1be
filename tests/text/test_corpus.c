/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The corpus of the text fuzzer, replayed as ordinary tests: what fuzz_text demands of any bytes holds of every input that is kept. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../../fuzz/fuzz_text.c"
#include "text/reading.h"

static void the_corpus_is_replayed(void **state)
{
    (void)state;
    DIR *folder = opendir(TEST_DATA_DIR "/../fuzz/corpus/text");
    int count = 0;
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') continue;
        char path[600];
        snprintf(path, sizeof path, "../fuzz/corpus/text/%s", entry->d_name);
        size_t length;
        char *text = read_test_file(path, &length);
        assert_int_equal(LLVMFuzzerTestOneInput((const uint8_t *)text, length), 0);
        free(text);
        count++;
    }
    closedir(folder);
    assert_true(count >= 20);
}

/* Every beginning of a program that uses every mechanism. */
static void every_beginning_is_read(void **state)
{
    (void)state;
    size_t length;
    char *text = read_test_file("text/data/sugar/def.wg", &length);
    for (size_t i = 0; i <= length; i++) {
        uint8_t *exact = malloc(i ? i : 1); /* so that a read beyond it is seen */
        memcpy(exact, text, i);
        LLVMFuzzerTestOneInput(exact, i);
        free(exact);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_corpus_is_replayed),
        cmocka_unit_test(every_beginning_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
