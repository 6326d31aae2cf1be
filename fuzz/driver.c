/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The main of every fuzzer, where libFuzzer is not at hand: replays the corpus, then changes its inputs at random for a while.
 *
 *   fuzz_THING [--seconds N] [--seed N] DIRECTORY
 *
 * The input that runs stands in fuzz_THING.input, a shared mapping, so that it is there after a crash; after a clean end it is removed.
 * An input that takes longer than SLOW seconds of processor time is kept as fuzz_THING.slow and fails the run. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

#define LONGEST ((size_t)1 << 16)
#define SLOW 10.0

typedef struct input {
    uint8_t *bytes;
    size_t length;
} input;

/* The inputs of the corpus, and the words that stand in them. */
static input *corpus, *words;
static size_t corpus_count, word_count;

static uint64_t state = 0x9E3779B97F4A7C15u;

/* Xorshift: any sequence does, the same one for the same seed. */
static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static size_t below(size_t limit)
{
    return limit ? (size_t)(draw() % limit) : 0;
}

static void fail(const char *what, const char *name)
{
    fprintf(stderr, "%s: %s\n", name, what);
    exit(2);
}

/* ---- the corpus ---- */

static void append(input **list, size_t *count, const uint8_t *bytes, size_t length)
{
    if ((*count & (*count + 1)) == 0) *list = realloc(*list, 2 * (*count + 1) * sizeof **list);
    uint8_t *copy = malloc(length + 1);
    if (!*list || !copy) fail("out of memory", "fuzz");
    memcpy(copy, bytes, length);
    (*list)[(*count)++] = (input){copy, length};
}

static int is_word(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c >= 0x80;
}

static void collect_words(const uint8_t *bytes, size_t length)
{
    for (size_t at = 0, end; at < length && word_count < 4096; at = end) {
        for (end = at + 1; end < length && is_word(bytes[at]) && is_word(bytes[end]);) end++;
        if (bytes[at] > ' ' && end - at < 64) append(&words, &word_count, bytes + at, end - at);
    }
}

static void read_corpus(const char *directory)
{
    static uint8_t bytes[LONGEST];
    DIR *folder = opendir(directory);
    if (!folder) fail("no such directory", directory);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "rb");
        if (!file) continue;
        size_t length = fread(bytes, 1, LONGEST, file);
        fclose(file);
        append(&corpus, &corpus_count, bytes, length);
        collect_words(bytes, length);
    }
    closedir(folder);
    if (!corpus_count) append(&corpus, &corpus_count, bytes, 0);
}

/* ---- changes ---- */

/* Puts `count` bytes in at a place, as far as there is room. */
static size_t insert(uint8_t *bytes, size_t length, size_t at, const uint8_t *more, size_t count)
{
    if (length + count > LONGEST) return length;
    uint8_t copy[256];
    if (count > sizeof copy) count = sizeof copy;
    memcpy(copy, more, count); /* `more` may be a part of bytes */
    memmove(bytes + at + count, bytes + at, length - at);
    memcpy(bytes + at, copy, count);
    return length + count;
}

static size_t change(uint8_t *bytes, size_t length)
{
    size_t at = below(length + 1), span = below(length - at < 64 ? length - at + 1 : 64);
    const input *other = &corpus[below(corpus_count)];
    size_t from = below(other->length), most = other->length - from;
    switch (below(7)) {
    case 0:
        if (at < length) bytes[at] = (uint8_t)draw();
        return length;
    case 1:
        if (at < length) bytes[at] ^= (uint8_t)(1u << below(8));
        return length;
    case 2: /* take some away */
        memmove(bytes + at, bytes + at + span, length - at - span);
        return length - span;
    case 3: return insert(bytes, length, at, bytes + at, span);                             /* say it twice */
    case 4: return insert(bytes, length, at, other->bytes + from, most ? 1 + below(most) : 0); /* from another input */
    case 5:                                                                                   /* a word from anywhere */
    case 6: {
        const input *word = word_count ? &words[below(word_count)] : other;
        return insert(bytes, length, at, word->bytes, word->length);
    }
    }
    return length;
}

/* ---- running ---- */

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static char input_path[4096], slow_path[4096];
static uint8_t *shared; /* the input that runs */

static void share(const char *program)
{
    snprintf(input_path, sizeof input_path, "%s.input", program);
    snprintf(slow_path, sizeof slow_path, "%s.slow", program);
    int file = open(input_path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (file < 0 || ftruncate(file, (off_t)LONGEST)) fail("cannot be written", input_path);
    shared = mmap(NULL, LONGEST, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared == MAP_FAILED) fail("cannot be mapped", input_path);
    close(file);
}

/* The mapped copy is longer than the input: what follows it is newlines. */
static void run_one(const uint8_t *bytes, size_t length)
{
    memcpy(shared, bytes, length);
    memset(shared + length, '\n', LONGEST - length);
    double before = now(CLOCK_PROCESS_CPUTIME_ID); /* a machine that is busy elsewhere makes no input slow */
    LLVMFuzzerTestOneInput(bytes, length);
    if (now(CLOCK_PROCESS_CPUTIME_ID) - before < SLOW) return;
    FILE *file = fopen(slow_path, "wb");
    if (file) {
        fwrite(bytes, 1, length, file);
        fclose(file);
    }
    fail("took too long", slow_path);
}

/* Every run gets a block of exactly its length, so that a read beyond it is seen. */
static void run_changed(void)
{
    static uint8_t bytes[LONGEST];
    const input *base = &corpus[below(corpus_count)];
    size_t length = base->length;
    memcpy(bytes, base->bytes, length);
    for (size_t times = 1 + below(6); times > 0; times--) length = change(bytes, length);
    uint8_t *exact = malloc(length ? length : 1);
    if (!exact) return;
    memcpy(exact, bytes, length);
    run_one(exact, length);
    free(exact);
}

int main(int argc, char **argv)
{
    double seconds = 0;
    const char *directory = NULL;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--seconds") && i + 1 < argc) seconds = (double)strtol(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--seed") && i + 1 < argc) state ^= strtoull(argv[++i], NULL, 10);
        else directory = argv[i];
    }
    if (!directory) fail("usage: [--seconds N] [--seed N] DIRECTORY", argv[0]);
    share(argv[0]);
    read_corpus(directory);
    for (size_t i = 0; i < corpus_count; i++) run_one(corpus[i].bytes, corpus[i].length);
    uint64_t runs = 0;
    for (double end = now(CLOCK_MONOTONIC) + seconds; now(CLOCK_MONOTONIC) < end; runs++) run_changed();
    printf("%s: %zu inputs replayed, %llu changed ones run\n", argv[0], corpus_count, (unsigned long long)runs);
    for (size_t i = 0; i < corpus_count; i++) free(corpus[i].bytes);
    for (size_t i = 0; i < word_count; i++) free(words[i].bytes);
    free(corpus);
    free(words);
    munmap(shared, LONGEST);
    unlink(input_path);
    return 0;
}
