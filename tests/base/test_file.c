/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Files as a whole: reading, mapping, and writes that leave the old file or the new one. */
#define _GNU_SOURCE /* memfd_create */

#include <dirent.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "reading.h"

static char folder[64], path[128];

static int setup(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/wengert-test-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/file", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    DIR *listing = opendir(folder);
    for (struct dirent *entry; (entry = readdir(listing));) {
        char name[512];
        snprintf(name, sizeof name, "%s/%s", folder, entry->d_name);
        unlink(name);
    }
    closedir(listing);
    return rmdir(folder);
}

static int files_in_folder(void)
{
    int count = 0;
    DIR *listing = opendir(folder);
    for (struct dirent *entry; (entry = readdir(listing));) count += entry->d_name[0] != '.';
    closedir(listing);
    return count;
}

static void put(const char *text)
{
    wg_error error = {0};
    if (!base_file_write(base_allocator(NULL), path, text, strlen(text), &error)) fail_msg("%s", error.message);
}

static void assert_holds(const char *text)
{
    base_file file;
    wg_error error = {0};
    if (!base_file_read(base_allocator(NULL), path, 1 << 20, &file, &error)) fail_msg("%s", error.message);
    assert_int_equal(file.length, strlen(text));
    assert_memory_equal(file.bytes, text, file.length + 1);
    base_file_close(&file);
}

static void writes_and_reads(void **state)
{
    (void)state;
    put("first");
    assert_holds("first");
    put("");
    assert_holds("");
    put("another text");
    assert_holds("another text");
    assert_int_equal(files_in_folder(), 1);
    base_file file;
    assert_true(base_file_map(path, &file, NULL));
    assert_int_equal(file.length, 12);
    assert_memory_equal(file.bytes, "another text", 12);
    base_file_close(&file);
    put("");
    assert_true(base_file_map(path, &file, NULL));
    assert_int_equal(file.length, 0);
    assert_non_null(file.bytes);
    base_file_close(&file);
}

static void keeps_permissions_and_links(void **state)
{
    (void)state;
    char link_path[160];
    struct stat facts;
    put("old");
    assert_int_equal(chmod(path, 0640), 0);
    snprintf(link_path, sizeof link_path, "%s/link", folder);
    assert_int_equal(symlink("file", link_path), 0);
    assert_true(base_file_write(base_allocator(NULL), link_path, "new", 3, NULL));
    assert_int_equal(lstat(link_path, &facts), 0);
    assert_true(S_ISLNK(facts.st_mode));
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(facts.st_mode & 07777, 0640);
    assert_holds("new");
    unlink(link_path);
}

static void reports_what_is_not_there(void **state)
{
    (void)state;
    base_file file;
    wg_error error = {0};
    assert_false(base_file_read(base_allocator(NULL), "/nowhere/at all", 100, &file, &error));
    assert_int_equal(error.code, WG_FILE);
    assert_message_has(&error, "cannot open /nowhere/at all: No such file or directory");
    wg_error_clear(&error);
    assert_false(base_file_map("/nowhere/at all", &file, &error));
    assert_message_has(&error, "/nowhere/at all: No such file");
    wg_error_clear(&error);
    assert_false(base_file_read(base_allocator(NULL), folder, 100, &file, &error));
    assert_message_has(&error, "Is a directory");
    wg_error_clear(&error);
    assert_false(base_file_map(folder, &file, &error));
    assert_message_has(&error, "not a regular file");
    wg_error_clear(&error);
    assert_false(base_file_write(base_allocator(NULL), "/nowhere/at all", "x", 1, &error));
    assert_int_equal(error.code, WG_FILE);
    assert_message_has(&error, "/nowhere/at all: No such file");
    wg_error_clear(&error);
    assert_false(base_file_write(base_allocator(NULL), folder, "x", 1, &error));
    assert_message_has(&error, "Is a directory");
}

static void refuses_files_that_are_too_large(void **state)
{
    (void)state;
    base_file file;
    wg_error error = {0};
    put("0123456789");
    assert_true(base_file_read(base_allocator(NULL), path, 10, &file, &error));
    base_file_close(&file);
    assert_false(base_file_read(base_allocator(NULL), path, 9, &file, &error));
    assert_int_equal(error.code, WG_SIZE);
    assert_message_has(&error, "larger than 9 bytes");
    wg_error_clear(&error);
    assert_false(base_file_read(base_allocator(NULL), "/dev/zero", 100000, &file, &error)); /* has no length */
    assert_int_equal(error.code, WG_SIZE);
}

#define ECHO ((size_t)1 << 24)

/* Blocks whose every 16 MiB are the same ones, so that gigabytes take no memory. */
static void *echoing(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    if (block) munmap(block, (old_bytes + ECHO - 1) / ECHO * ECHO);
    size_t room = (new_bytes + ECHO - 1) / ECHO * ECHO;
    char *made = room ? mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) : NULL;
    for (size_t at = 0; at < room; at += ECHO)
        if (mmap(made + at, ECHO, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, *(int *)user, 0) == MAP_FAILED) abort();
    return made;
}

static void ends_what_has_no_end(void **state)
{
    (void)state;
    base_file file;
    wg_error error = {0};
    int memory = memfd_create("echo", 0);
    assert_int_equal(ftruncate(memory, ECHO), 0);
    const wg_allocator allocator = {echoing, &memory};
    assert_false(base_file_read(&allocator, "/dev/zero", SIZE_MAX, &file, &error));
    assert_int_equal(error.code, WG_SIZE);
    assert_message_has(&error, "/dev/zero is larger than 4294967296 bytes");
    close(memory);
}

static void reads_pipes(void **state)
{
    (void)state;
    int ends[2];
    char name[32];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "through a pipe", 14), 14);
    close(ends[1]);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    base_file file;
    assert_true(base_file_read(base_allocator(NULL), name, 1000, &file, NULL));
    assert_int_equal(file.length, 14);
    assert_memory_equal(file.bytes, "through a pipe", 15);
    base_file_close(&file);
    close(ends[0]);
}

static void writes_to_what_is_no_regular_file(void **state)
{
    (void)state;
    assert_true(base_file_write(base_allocator(NULL), "/dev/null", "x", 1, NULL));
    struct stat facts;
    assert_int_equal(stat("/dev/null", &facts), 0);
    assert_true(S_ISCHR(facts.st_mode));
    wg_error error = {0};
    if (access("/dev/full", W_OK) == 0) {
        assert_false(base_file_write(base_allocator(NULL), "/dev/full", "x", 1, &error));
        assert_message_has(&error, "No space left on device");
    }
}

/* A limit on the size of files stands for a full disk. */
static void keeps_the_old_file_when_the_disk_is_full(void **state)
{
    (void)state;
    static char large[100000];
    struct rlimit old, small = {50000, 0};
    put("old");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small.rlim_max = old.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    wg_error error = {0};
    bool ok = base_file_write(base_allocator(NULL), path, large, sizeof large, &error);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_false(ok);
    assert_int_equal(error.code, WG_FILE);
    assert_message_has(&error, "File too large");
    assert_message_has(&error, path);
    assert_int_equal(files_in_folder(), 1);
    assert_holds("old");
}

static void leaves_nothing_when_abandoned(void **state)
{
    (void)state;
    put("old");
    base_writer writer, second;
    assert_true(base_writer_open(&writer, base_allocator(NULL), path, NULL));
    assert_true(base_writer_open(&second, base_allocator(NULL), path, NULL)); /* two at once do not meet */
    assert_true(base_writer_put(&writer, "part", 4, NULL));
    assert_holds("old");
    base_writer_abandon(&writer);
    assert_true(base_writer_put(&second, "whole", 5, NULL));
    assert_true(base_writer_commit(&second, NULL));
    assert_holds("whole");
    assert_int_equal(files_in_folder(), 1);
}

static void reports_a_path_that_cannot_be_replaced(void **state)
{
    (void)state;
    char taken[160];
    snprintf(taken, sizeof taken, "%s/taken", folder);
    base_writer writer;
    wg_error error = {0};
    assert_true(base_writer_open(&writer, base_allocator(NULL), taken, NULL));
    assert_true(base_writer_put(&writer, "text", 4, NULL));
    assert_int_equal(mkdir(taken, 0700), 0); /* somebody else was faster */
    assert_false(base_writer_commit(&writer, &error));
    assert_int_equal(error.code, WG_FILE);
    assert_message_has(&error, "cannot replace");
    assert_int_equal(rmdir(taken), 0);
    unlink(path);
    assert_int_equal(files_in_folder(), 0);
}

static void may_run_out_of_memory(void **state)
{
    (void)state;
    put("old");
    bool ok = false;
    for (long k = 0; !ok; k++) {
        counting counts = {.fail_at = k};
        wg_allocator allocator = counting_allocator(&counts);
        wg_error error = {0};
        ok = base_file_write(&allocator, path, "new", 3, &error);
        assert_int_equal(counts.live_blocks, 0);
        if (!ok) assert_int_equal(error.code, WG_MEMORY);
        assert_holds(ok ? "new" : "old");
        assert_true(!ok || k > 0);
    }
    ok = false;
    for (long k = 0; !ok; k++) {
        counting counts = {.fail_at = k};
        wg_allocator allocator = counting_allocator(&counts);
        wg_error error = {0};
        base_file file;
        ok = base_file_read(&allocator, path, 100, &file, &error);
        if (ok) base_file_close(&file);
        else assert_int_equal(error.code, WG_MEMORY);
        assert_int_equal(counts.live_blocks, 0);
        assert_true(!ok || k > 0);
    }
    assert_int_equal(files_in_folder(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_and_reads),
        cmocka_unit_test(keeps_permissions_and_links),
        cmocka_unit_test(reports_what_is_not_there),
        cmocka_unit_test(refuses_files_that_are_too_large),
        cmocka_unit_test(ends_what_has_no_end),
        cmocka_unit_test(reads_pipes),
        cmocka_unit_test(writes_to_what_is_no_regular_file),
        cmocka_unit_test(keeps_the_old_file_when_the_disk_is_full),
        cmocka_unit_test(leaves_nothing_when_abandoned),
        cmocka_unit_test(reports_a_path_that_cannot_be_replaced),
        cmocka_unit_test(may_run_out_of_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
