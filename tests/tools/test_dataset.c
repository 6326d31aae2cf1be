/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Training data: every format that is read, from files that other programs wrote; and broken, lying and hostile files. */
#define _POSIX_C_SOURCE 200809L /* mkdir */

#include "data_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tools/dataset.h"
#include "tools/gzip.h"
#include "tools/zip.h"

static dataset read_rank(const char *name, const char *file, uint32_t rank)
{
    wg_error error = {.code = WG_OK};
    dataset data;
    if (!dataset_read(name, file, rank, &data, &error)) {
        if (error.code == WG_UNSUPPORTED) skip();
        fail_msg("%s: %s", file, error.message);
    }
    return data;
}

static void refuse(const char *name, const char *file, uint32_t rank, wg_code code, const char *part)
{
    wg_error error = {.code = WG_OK};
    dataset data;
    if (dataset_read(name, file, rank, &data, &error)) fail_msg("%s was read", file);
    assert_null(data.items);
    if (error.code == WG_UNSUPPORTED && code != WG_UNSUPPORTED && strstr(error.message, "this build")) skip();
    assert_error(&error, code, part);
}

static void refuse_bytes(const char *file, const void *bytes, size_t length, wg_code code, const char *part)
{
    store(file, bytes, length);
    refuse("images", file, 2, code, part);
}

/* ---- IDX ---- */

static void reads_idx(void **state)
{
    (void)state;
    store("labels.idx", "\0\0\x08\1\0\0\0\3\7\1\2", 11);
    dataset labels = read_rank("labels", "labels.idx", 1);
    assert_shape(labels.items, WG_KIND_U8, 1, (int64_t[]){3});
    assert_memory_equal(labels.items->data, "\7\1\2", 3);
    dataset_free(&labels);
    dataset items = read_rank("images", DATA("items.idx.gz"), 3);
    assert_shape(items.items, WG_KIND_U8, 3, (int64_t[]){5, 2, 3});
    for (int i = 0; i < 30; i++) assert_int_equal(((unsigned char *)items.items->data)[i], i);
    dataset_free(&items);
}

static void refuses_broken_idx(void **state)
{
    (void)state;
    static const unsigned char good[] = {0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6};
    for (size_t cut = 1; cut < sizeof good; cut++) refuse_bytes("cut.idx", good, cut, WG_FORMAT, "cut.idx");
    refuse_bytes("empty.idx", "", 0, WG_FORMAT, "empty.idx");
    refuse_bytes("long.idx", "\0\0\x08\1\0\0\0\1\7\7", 10, WG_FORMAT, "long.idx");
    refuse_bytes("lies.idx", "\0\0\x08\1\0\0\0\x7F\7\7", 10, WG_FORMAT, "lies.idx");
    refuse_bytes("huge.idx", "\0\0\x0E\4\x7F\xFF\xFF\xFF\x7F\xFF\xFF\xFF\x7F\xFF\xFF\xFF\x7F\xFF\xFF\xFF", 20, WG_SIZE, "huge.idx");
    refuse_bytes("negative.idx", "\0\0\x08\1\xFF\xFF\xFF\xFF\7", 9, WG_FORMAT, "negative.idx");
    refuse_bytes("norows.idx", "\0\0\x08\2\0\0\0\0\0\0\0\3", 12, WG_SHAPE, "rows");
    refuse_bytes("type.idx", "\0\0\x0A\1\0\0\0\1\7", 9, WG_UNSUPPORTED, "type.idx");
}

/* ---- gzip ---- */

static void refuses_broken_gzip(void **state)
{
    (void)state;
    size_t length;
    unsigned char *bytes = load(DATA("items.idx.gz"), &length);
    for (size_t cut = 2; cut < length; cut++) refuse_bytes("cut.gz", bytes, cut, WG_FORMAT, "cut.gz");
    for (size_t at = length - 8; at < length; at++) { /* the checksum and the size */
        bytes[at] ^= 1;
        refuse_bytes("sum.gz", bytes, length, WG_FORMAT, "damaged");
        bytes[at] ^= 1;
    }
    bytes[2] = 7; /* the method */
    refuse_bytes("method.gz", bytes, length, WG_FORMAT, "damaged");
    bytes[2] = 8;
    bytes[length] = 'x';
    refuse_bytes("tail.gz", bytes, length + 1, WG_FORMAT, "follow");
    free(bytes);
    refuse_bytes("alone.gz", "\x1F\x8B", 2, WG_FORMAT, "truncated");
}

/* A stored block of deflate for each piece: gzip files without a compressor, whose content is ours to choose. */
static size_t put_gzip(unsigned char *out, const unsigned char *content, size_t length, const unsigned char trailer[8])
{
    memcpy(out, "\x1F\x8B\x08\0\0\0\0\0\0\xFF", 10);
    out[10] = 1;
    out[11] = (unsigned char)length, out[12] = (unsigned char)(length >> 8);
    out[13] = (unsigned char)~out[11], out[14] = (unsigned char)~out[12];
    memcpy(out + 15, content, length);
    memcpy(out + 15 + length, trailer, 8);
    return 23 + length;
}

/* More bytes than the header of an IDX file asks for are never unpacked, however many there are. */
static void caps_what_gzip_unpacks(void **state)
{
    (void)state;
    unsigned char content[64] = {0, 0, 8, 1, 0, 0, 0, 2, 5, 6}, packed[128];
    size_t length = put_gzip(packed, content, 40, (const unsigned char[8]){0});
    refuse_bytes("bomb.gz", packed, length, WG_SIZE, "10 bytes");
    gzip_bytes unpacked;
    wg_error error = {.code = WG_OK};
    assert_false(gzip_read("bomb", packed, length, 30, &unpacked, &error));
    assert_error(&error, WG_SIZE, "30 bytes");
    assert_null(unpacked.bytes);
}

/* ---- zip ---- */

static void reads_npz(void **state)
{
    (void)state;
    static const char *const files[] = {DATA("stored.npz"), DATA("deflated.npz")};
    for (int f = 0; f < 2; f++) {
        dataset images = read_rank("images", files[f], 2), labels = read_rank("labels", files[f], 1);
        assert_shape(images.items, WG_KIND_F32, 2, (int64_t[]){4, 2});
        for (int i = 0; i < 8; i++) assert_true(((float *)images.items->data)[i] == (float)i / 2);
        assert_shape(labels.items, WG_KIND_I64, 1, (int64_t[]){4});
        for (int i = 0; i < 4; i++) assert_int_equal(((int64_t *)labels.items->data)[i], i);
        dataset_free(&images);
        dataset_free(&labels);
    }
    dataset only = read_rank("whatever", DATA("one.npz"), 1);
    assert_shape(only.items, WG_KIND_I64, 1, (int64_t[]){4});
    dataset_free(&only);
}

static void refuses_other_members(void **state)
{
    (void)state;
    refuse("weights", DATA("stored.npz"), 2, WG_NAME, "it holds images, labels");
    refuse("image", DATA("stored.npz"), 2, WG_NAME, "no array image");
}

/* Reads member images of an archive in memory; true where it was read. */
static bool reads_zip(const unsigned char *bytes, size_t length, wg_error *error)
{
    gzip_bytes content;
    wg_error_clear(error);
    bool good = zip_read("z.npz", bytes, length, "images", 1 << 20, &content, error);
    if (good) gzip_free(&content);
    else if (error->code == WG_OK || strchr(error->message, '\n') || !strstr(error->message, "z.npz"))
        fail_msg("a bad error: %s", error->message);
    return good;
}

static void refuses_cut_zip(void **state)
{
    (void)state;
    size_t length;
    wg_error error;
    unsigned char *bytes = load(DATA("stored.npz"), &length);
    assert_true(reads_zip(bytes, length, &error));
    for (size_t cut = 4; cut < length; cut++) {
        unsigned char *copy = malloc(cut);
        memcpy(copy, bytes, cut);
        assert_false(reads_zip(copy, cut, &error));
        free(copy);
    }
    free(bytes);
}

static size_t find(const unsigned char *bytes, size_t length, const char *mark)
{
    for (size_t at = 0; at + 4 <= length; at++)
        if (!memcmp(bytes + at, mark, 4)) return at;
    fail_msg("no record");
    return 0;
}

static void put32(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++) at[i] = (unsigned char)(value >> 8 * i);
}

/* One field of the archive is a lie. at is behind the record's signature. */
static void refuse_lie(const char *record, size_t at, uint32_t value, wg_code code, const char *part)
{
    size_t length;
    wg_error error;
    unsigned char *bytes = load(DATA("stored.npz"), &length);
    put32(bytes + find(bytes, length, record) + at, value);
    assert_false(reads_zip(bytes, length, &error));
    assert_error(&error, code, part);
    free(bytes);
}

#define CENTRAL "PK\1\2"
#define END "PK\5\6"

static void refuses_lying_zip(void **state)
{
    (void)state;
    refuse_lie(CENTRAL, 16, 12345, WG_FORMAT, "checksum");
    refuse_lie(CENTRAL, 20, 1, WG_FORMAT, "two sizes");
    refuse_lie(CENTRAL, 24, 0x7FFFFFFF, WG_SIZE, "at most");
    refuse_lie(CENTRAL, 20, 0x7FFFFFFF, WG_FORMAT, "outside");
    refuse_lie(CENTRAL, 24, UINT32_MAX, WG_FORMAT, "zip64 size");
    refuse_lie(CENTRAL, 42, 7, WG_FORMAT, "outside");
    refuse_lie(CENTRAL, 42, 0x7FFFFFFF, WG_FORMAT, "outside");
    refuse_lie(CENTRAL, 42, UINT32_MAX, WG_FORMAT, "zip64 size");
    refuse_lie(CENTRAL, 28, 0xFFFF, WG_FORMAT, "directory");
    refuse_lie(CENTRAL, 0, 0, WG_FORMAT, "directory");
    refuse_lie(CENTRAL, 8, 1, WG_UNSUPPORTED, "encrypted");
    refuse_lie(CENTRAL, 8, 12 << 16, WG_FORMAT, "differ");
    refuse_lie("PK\3\4", 6, 8u << 16, WG_FORMAT, "differ");
    refuse_lie("PK\3\4", 26, 0xFFFFFFFF, WG_FORMAT, "differ");
    refuse_lie("PK\3\4", 30, 0x41414141, WG_FORMAT, "differ");
    refuse_lie(END, 12, 0x7FFFFFFF, WG_FORMAT, "outside");
    refuse_lie(END, 16, 0x7FFFFFFF, WG_FORMAT, "outside");
    refuse_lie(END, 16, UINT32_MAX, WG_FORMAT, "zip64");
    refuse_lie(END, 8, 0xFFFFFFFF, WG_FORMAT, "zip64");
    refuse_lie(END, 4, 1, WG_UNSUPPORTED, "split");
    refuse_lie(END, 8, 0, WG_FORMAT, "no members");
    refuse_lie(END, 18, 7u << 16, WG_FORMAT, "end record");
}

/* Whatever one changed byte makes of an archive, the reader comes back; what it reads has its checksum. */
static void survives_changed_zip(void **state)
{
    (void)state;
    static const char *const files[] = {DATA("stored.npz"), DATA("deflated.npz")};
    for (int f = 0; f < 2; f++) {
        size_t length;
        wg_error error;
        unsigned char *bytes = load(files[f], &length);
        for (size_t at = 0; at < length; at++)
            for (int flip = 1; flip < 256; flip *= 2) {
                bytes[at] ^= (unsigned char)flip;
                reads_zip(bytes, length, &error);
                bytes[at] ^= (unsigned char)flip;
            }
        free(bytes);
    }
}

/* The directory claims 4 GiB less one of a few packed bytes. */
static void caps_what_zip_unpacks(void **state)
{
    (void)state;
    size_t length;
    wg_error error;
    unsigned char *bytes = load(DATA("deflated.npz"), &length);
    gzip_bytes content;
    put32(bytes + find(bytes, length, CENTRAL) + 24, 0xFFFFFFFE);
    assert_false(zip_read("z.npz", bytes, length, "images", SIZE_MAX, &content, (wg_error_clear(&error), &error)));
    assert_error(&error, WG_FORMAT, "claims more");
    put32(bytes + find(bytes, length, CENTRAL) + 24, 100); /* fewer than there are: unpacking stops there */
    wg_error_clear(&error);
    assert_false(zip_read("z.npz", bytes, length, "images", SIZE_MAX, &content, &error));
    if (error.code != WG_UNSUPPORTED) assert_error(&error, WG_SIZE, "100 bytes");
    free(bytes);
    store("text.npz", "PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22);
    refuse("images", "text.npz", 2, WG_FORMAT, "no members");
}

/* ---- npy ---- */

static void refuses_broken_npy(void **state)
{
    (void)state;
    size_t length;
    unsigned char *bytes = load(DATA("stored.npz"), &length);
    gzip_bytes npy;
    assert_true(zip_read("z", bytes, length, "images", 1 << 20, &npy, NULL));
    free(bytes);
    store("whole.npy", npy.bytes, npy.length);
    dataset data = read_rank("images", "whole.npy", 2);
    assert_shape(data.items, WG_KIND_F32, 2, (int64_t[]){4, 2});
    dataset_free(&data);
    for (size_t cut = 6; cut < npy.length; cut += 3) refuse_bytes("cut.npy", npy.bytes, cut, WG_FORMAT, "cut.npy");
    gzip_free(&npy);
    refuse_bytes("text.npy", "hello", 5, WG_FORMAT, "no data that is read here");
}

/* ---- tables ---- */

static void reads_tables(void **state)
{
    (void)state;
    store("t.csv", "a,b,c\n1,2.5,7\n3,-4,8\n", 21);
    dataset all = read_rank("x", "t.csv", 2), column = read_rank("y", "t.csv#c", 1), real = read_rank("y", "t.csv#b", 1);
    assert_shape(all.items, WG_KIND_F64, 2, (int64_t[]){2, 3});
    assert_memory_equal(all.items->data, ((double[]){1, 2.5, 7, 3, -4, 8}), 48);
    assert_shape(column.items, WG_KIND_I64, 1, (int64_t[]){2});
    assert_memory_equal(column.items->data, ((int64_t[]){7, 8}), 16);
    assert_shape(real.items, WG_KIND_F64, 1, (int64_t[]){2});
    assert_true(all.is_rounded && real.is_rounded && !column.is_rounded);
    dataset_free(&all);
    dataset_free(&column);
    dataset_free(&real);
    store("whole.csv", "a,b\n1,2\n", 8);
    dataset whole = read_rank("x", "whole.csv", 2);
    assert_shape(whole.items, WG_KIND_I64, 2, (int64_t[]){1, 2});
    dataset_free(&whole);
    store("one.csv", "a\n1\n2\n", 6);
    dataset one = read_rank("x", "one.csv", 1);
    assert_shape(one.items, WG_KIND_I64, 1, (int64_t[]){2});
    dataset_free(&one);
}

static void reads_some_columns(void **state)
{
    (void)state;
    store("some.csv", "a,b,c,\"a,b\"\n1,2.5,x,4\n3,-4,y,8\n", 31);
    dataset two = read_rank("x", "some.csv#b,a", 2), named = read_rank("x", "some.csv#a,b", 1);
    assert_shape(two.items, WG_KIND_F64, 2, (int64_t[]){2, 2});
    assert_memory_equal(two.items->data, ((double[]){2.5, 1, -4, 3}), 32);
    assert_shape(named.items, WG_KIND_I64, 1, (int64_t[]){2}); /* the column whose name has a comma */
    assert_memory_equal(named.items->data, ((int64_t[]){4, 8}), 16);
    dataset_free(&two);
    dataset_free(&named);
    refuse("x", "some.csv#b,d", 2, WG_NAME, "no column d; it has a, b, c, a,b");
    refuse("x", "some.csv#b,", 2, WG_NAME, "no column ;");
    refuse("x", "some.csv#b,c", 2, WG_KIND, "column c holds text");
}

static void refuse_table(const char *text, wg_code code, const char *part)
{
    store("bad.csv", text, strlen(text));
    refuse("x", "bad.csv", 2, code, part);
}

static void refuses_broken_tables(void **state)
{
    (void)state;
    refuse_table("", WG_SYNTAX, "");
    refuse_table("a,b\n", WG_KIND, "text");
    refuse_table("a,b\n1\n", WG_SYNTAX, "");
    refuse_table("a,b\n1,2,3\n", WG_SYNTAX, "");
    refuse_table("a,b\n1,two\n", WG_KIND, "column b holds text");
    refuse_table("a,b\n1,\"2\n", WG_SYNTAX, "");
    refuse_table("a,b\n1,\"2\"x\n", WG_SYNTAX, "");
    refuse_table("a,b\n1,2\"\n", WG_SYNTAX, "");
    refuse_table("a,a\n1,2\n", WG_NAME, "");
    refuse_table("a,b\n1,\xFF\xFE\n", WG_SYNTAX, "");
    refuse_table("a,b\r1,2\r", WG_SYNTAX, "");
    refuse_table("a\n1e999x\n", WG_KIND, "text");
    store("nul.csv", "a,b\n1,\0\n", 8);
    refuse("x", "nul.csv", 2, WG_SYNTAX, "");
    store("good.csv", "a,b\n1,x\n", 8);
    refuse("x", "good.csv#z", 1, WG_NAME, "it has a, b");
    refuse("x", "good.csv#b", 1, WG_KIND, "holds text");
    refuse("x", "good.csv#", 1, WG_NAME, "no column");
    refuse("x", "missing.csv", 1, WG_FILE, "missing.csv");
    refuse("x", "missing.csv#a", 1, WG_FILE, "missing.csv");
}

/* ---- folders ---- */

static void make_folder(const char *path)
{
    assert_int_equal(mkdir(path, 0777), 0);
}

static void copy_file(const char *from, const char *to)
{
    size_t length;
    unsigned char *bytes = load(from, &length);
    store(to, bytes, length);
    free(bytes);
}

static void reads_folders(void **state)
{
    (void)state;
    make_folder("animals");
    make_folder("animals/dog");
    make_folder("animals/cat");
    copy_file(DATA("grey.png"), "animals/dog/2.png");
    copy_file(DATA("grey16.png"), "animals/dog/1.png");
    copy_file(DATA("grey.png"), "animals/cat/a.PNG");
    store("animals/cat/notes.txt", "x", 1);
    store("animals/.hidden", "x", 1);
    store("animals/readme.txt", "x", 1);
    dataset pictures = read_rank("images", "animals", 3), labels = read_rank("labels", "animals", 1);
    assert_shape(pictures.items, WG_KIND_U8, 3, (int64_t[]){3, 2, 3});
    assert_int_equal(((unsigned char *)pictures.items->data)[6 + 2], 80);
    assert_shape(labels.items, WG_KIND_I64, 1, (int64_t[]){3});
    assert_memory_equal(labels.items->data, ((int64_t[]){0, 1, 1}), 24);
    dataset_free(&pictures);
    dataset_free(&labels);
    base_arena arena = base_arena_new(base_allocator(NULL));
    const char **names;
    uint32_t count;
    assert_true(dataset_class_names("animals", &arena, &names, &count, NULL));
    assert_int_equal(count, 2);
    assert_string_equal(names[0], "cat");
    assert_string_equal(names[1], "dog");
    base_arena_free(&arena);
}

static void refuses_broken_folders(void **state)
{
    (void)state;
    make_folder("none");
    refuse("images", "none", 3, WG_SHAPE, "no class folders");
    refuse("labels", "none", 1, WG_SHAPE, "no class folders");
    store("none/1.png", "x", 1);
    refuse("images", "none", 3, WG_SHAPE, "no class folders");
    make_folder("empty");
    make_folder("empty/cat");
    refuse("images", "empty", 3, WG_SHAPE, "empty/cat holds no");
    store("empty/cat/notes.txt", "x", 1);
    refuse("labels", "empty", 1, WG_SHAPE, "empty/cat holds no");
    copy_file(DATA("grey.png"), "empty/cat/1.png");
    copy_file(DATA("bits.png"), "empty/cat/2.png");
    refuse("images", "empty", 3, WG_SHAPE, "[1, 3]");
    copy_file(DATA("colour.png"), "empty/cat/2.png");
    refuse("images", "empty", 3, WG_SHAPE, "make all pictures one size");
    store("empty/cat/2.png", "", 0);
    refuse("images", "empty", 3, WG_UNSUPPORTED, "2.png");
    store("empty/cat/2.png", "\x89PNG\r\n\x1A\n", 8);
    refuse("images", "empty", 3, WG_FORMAT, "2.png");
    assert_int_equal(unlink("empty/cat/2.png"), 0);
    make_folder("empty/cat/2.png");
    refuse("images", "empty", 3, WG_FILE, "2.png");
}

/* ---- kinds, names ---- */

static void converts_what_is_exact(void **state)
{
    (void)state;
    static const struct {
        wg_kind from, to;
        double item;
        bool rounds, fits;
    } cases[] = {
        {WG_KIND_U8, WG_KIND_F32, 255, false, true},        {WG_KIND_I64, WG_KIND_I32, 9, false, true},
        {WG_KIND_I64, WG_KIND_U8, 256, false, false},       {WG_KIND_I64, WG_KIND_U8, -1, false, false},
        {WG_KIND_F64, WG_KIND_F32, 0.5, false, true},       {WG_KIND_F64, WG_KIND_F32, 0.1, false, false},
        {WG_KIND_F64, WG_KIND_F32, 0.1, true, true},        {WG_KIND_F64, WG_KIND_I32, 3, false, true},
        {WG_KIND_F64, WG_KIND_I32, 3.5, true, false},       {WG_KIND_F32, WG_KIND_F64, 0.1, false, true},
        {WG_KIND_I64, WG_KIND_F32, 16777217, false, false}, {WG_KIND_I64, WG_KIND_F32, 16777216, false, true},
        {WG_KIND_U8, WG_KIND_BOOL, 2, false, false},        {WG_KIND_U8, WG_KIND_BOOL, 1, false, true},
        {WG_KIND_I64, WG_KIND_F64, 9.3e18, false, false},   {WG_KIND_F32, WG_KIND_C64, 1, false, false},
        {WG_KIND_F64, WG_KIND_U8, 300, false, false},       {WG_KIND_U16, WG_KIND_F16, 2049, false, false},
        {WG_KIND_F32, WG_KIND_I32, 0x1p31, false, false},   {WG_KIND_F32, WG_KIND_I32, -0x1p31, false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wg_error error = {.code = WG_OK};
        dataset data = {.items = wg_tensor_fill(NULL, cases[i].from, 1, (int64_t[]){2}, cases[i].item, NULL),
                        .is_rounded = cases[i].rounds};
        if (dataset_convert("x", &data, cases[i].to, &error) != cases[i].fits) fail_msg("case %zu: %s", i, error.message);
        if (cases[i].fits) assert_int_equal(data.items->kind, cases[i].to);
        else assert_error(&error, WG_KIND, "x");
        dataset_free(&data);
    }
}

static void reads_class_names(void **state)
{
    (void)state;
    base_arena arena = base_arena_new(base_allocator(NULL));
    const char **names;
    uint32_t count;
    make_folder("beside");
    store("beside/labels.idx", "", 0);
    assert_true(dataset_class_names("beside/labels.idx", &arena, &names, &count, NULL));
    assert_int_equal(count, 0);
    store("beside/classes.txt", "shirt\r\n\nankle boot \nbag", 23);
    assert_true(dataset_class_names("beside/labels.idx", &arena, &names, &count, NULL));
    assert_int_equal(count, 3);
    assert_string_equal(names[0], "shirt");
    assert_string_equal(names[1], "ankle boot");
    assert_string_equal(names[2], "bag");
    base_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_idx),
        cmocka_unit_test(refuses_broken_idx),
        cmocka_unit_test(refuses_broken_gzip),
        cmocka_unit_test(caps_what_gzip_unpacks),
        cmocka_unit_test(reads_npz),
        cmocka_unit_test(refuses_other_members),
        cmocka_unit_test(refuses_cut_zip),
        cmocka_unit_test(refuses_lying_zip),
        cmocka_unit_test(survives_changed_zip),
        cmocka_unit_test(caps_what_zip_unpacks),
        cmocka_unit_test(refuses_broken_npy),
        cmocka_unit_test(reads_tables),
        cmocka_unit_test(reads_some_columns),
        cmocka_unit_test(refuses_broken_tables),
        cmocka_unit_test(reads_folders),
        cmocka_unit_test(refuses_broken_folders),
        cmocka_unit_test(converts_what_is_exact),
        cmocka_unit_test(reads_class_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
