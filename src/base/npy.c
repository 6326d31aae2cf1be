/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "base/npy.h"

#include <string.h>

#include "base/tensor.h"

/* kind, the letter and bytes of numpy's type code, and the bytes that one byte order reverses together */
static const struct npy_type {
    wg_kind kind;
    char letter;
    uint8_t bytes, part;
} types[] = {
    {WG_KIND_BOOL, 'b', 1, 1}, {WG_KIND_I8, 'i', 1, 1},  {WG_KIND_I16, 'i', 2, 2}, {WG_KIND_I32, 'i', 4, 4}, {WG_KIND_I64, 'i', 8, 8},
    {WG_KIND_U8, 'u', 1, 1},   {WG_KIND_U16, 'u', 2, 2}, {WG_KIND_U32, 'u', 4, 4}, {WG_KIND_U64, 'u', 8, 8}, {WG_KIND_F16, 'f', 2, 2},
    {WG_KIND_F32, 'f', 4, 4},  {WG_KIND_F64, 'f', 8, 8}, {WG_KIND_C64, 'c', 8, 4}, {WG_KIND_C128, 'c', 16, 8},
};

typedef struct header {
    const struct npy_type *type;
    bool big_endian, fortran;
    bool has_descr, has_order, has_shape;
    uint32_t rank;
    int64_t shape[WG_MAX_RANK];
} header;

/* The header's text, a literal of Python: a dictionary of strings, True, False and tuples of whole numbers. */
typedef struct reader {
    const char *name; /* of the file */
    const char *text;
    size_t length, at;
    wg_error *error;
} reader;

static bool fail(reader *in, const char *expected)
{
    return base_fail(in->error, WG_FORMAT, "%s: %s at byte %zu of the .npy header (keys: descr, fortran_order, shape); write the file anew",
                     in->name, expected, in->at);
}

static int peek(reader *in)
{
    while (in->at < in->length && (in->text[in->at] == ' ' || (in->text[in->at] >= '\t' && in->text[in->at] <= '\r'))) in->at++;
    return in->at < in->length ? (unsigned char)in->text[in->at] : -1;
}

static bool take(reader *in, int c)
{
    if (peek(in) != c) return false;
    in->at++;
    return true;
}

static bool take_word(reader *in, const char *word)
{
    size_t length = strlen(word);
    peek(in);
    if (in->length - in->at < length || memcmp(in->text + in->at, word, length)) return false;
    in->at += length;
    return true;
}

/* A string in either quotes, without escapes: no key and no type code needs one. */
static bool read_string(reader *in, const char **text, size_t *length)
{
    int quote = peek(in);
    if (quote != '\'' && quote != '"') return fail(in, "expected a string in quotes");
    size_t start = ++in->at;
    while (in->at < in->length && in->text[in->at] != quote && in->text[in->at] != '\\' && in->text[in->at] != '\n') in->at++;
    if (in->at == in->length || in->text[in->at] != quote) return fail(in, "a string that does not end, or holds an escape");
    *text = in->text + start;
    *length = in->at++ - start;
    return true;
}

/* '<f4': the byte order ('|': of no meaning, '=': the machine's, here little), a letter, the bytes. */
static bool read_type(reader *in, header *head)
{
    const char *code;
    size_t length;
    if (peek(in) == '[')
        return base_fail(in->error, WG_UNSUPPORTED, "%s: its items are structures; save each field as an array of its own", in->name);
    if (!read_string(in, &code, &length)) return false;
    uint64_t bytes;
    bool ordered = length >= 3 && memchr("<>|=", code[0], 4);
    bool sized = ordered && base_parse_unsigned(code + 2, length - 2, &bytes) == length - 2;
    for (size_t i = 0; sized && i < sizeof types / sizeof *types; i++)
        if (types[i].letter == code[1] && types[i].bytes == bytes && (code[0] != '|' || bytes == 1)) head->type = &types[i];
    if (!head->type)
        return base_fail(in->error, WG_UNSUPPORTED,
                         "%s: items of type '%.*s' have no kind here; save bools, integers, floats or complex numbers",
                         in->name, length < 40 ? (int)length : 40, code);
    head->big_endian = code[0] == '>';
    return true;
}

static bool read_extent(reader *in, header *head)
{
    int c = peek(in);
    if (c < '0' || c > '9') return fail(in, "expected an extent of shape, a whole number of 0 or more,");
    if (head->rank == WG_MAX_RANK)
        return base_fail(in->error, WG_UNSUPPORTED, "%s: its shape has more than %d axes; reshape it", in->name, WG_MAX_RANK);
    size_t read = base_parse_integer(in->text + in->at, in->length - in->at, &head->shape[head->rank]);
    if (!read) return base_fail(in->error, WG_SIZE, "%s: an extent of its shape does not fit in 63 bits", in->name);
    in->at += read;
    head->rank++;
    if (in->at < in->length && in->text[in->at] == 'L') in->at++; /* as Python 2 wrote it */
    return true;
}

/* (), (3,), (3, 4) */
static bool read_shape(reader *in, header *head)
{
    bool comma = true;
    if (!take(in, '(')) return fail(in, "expected the tuple of shape");
    while (!take(in, ')')) {
        if (!comma) return fail(in, "expected , or ) in shape");
        if (!read_extent(in, head)) return false;
        comma = take(in, ',');
    }
    return head->rank != 1 || comma || fail(in, "expected (n,) for a shape of one axis");
}

static bool read_item(reader *in, header *head)
{
    const char *key;
    size_t length;
    if (!read_string(in, &key, &length)) return false;
    if (!take(in, ':')) return fail(in, "expected : after a key");
    bool *seen = NULL, ok = true;
    if (length == 5 && memcmp(key, "descr", 5) == 0) seen = &head->has_descr, ok = read_type(in, head);
    else if (length == 5 && memcmp(key, "shape", 5) == 0) seen = &head->has_shape, head->rank = 0, ok = read_shape(in, head);
    else if (length == 13 && memcmp(key, "fortran_order", 13) == 0) {
        seen = &head->has_order;
        head->fortran = take_word(in, "True");
        if (!head->fortran && !take_word(in, "False")) return fail(in, "expected True or False for fortran_order");
    } else return fail(in, "an unknown key");
    if (!ok) return false;
    if (*seen) return fail(in, "a key that is there twice");
    return *seen = true;
}

static bool read_header(reader *in, header *head)
{
    bool comma = true;
    if (!take(in, '{')) return fail(in, "expected {");
    while (!take(in, '}')) {
        if (!comma) return fail(in, "expected , or }");
        if (!read_item(in, head)) return false;
        comma = take(in, ',');
    }
    if (peek(in) >= 0) return fail(in, "something after the dictionary");
    if (!head->has_descr || !head->has_order || !head->has_shape)
        return fail(in, !head->has_descr ? "no descr" : !head->has_shape ? "no shape" : "no fortran_order");
    return true;
}

/* Magic, version and header: answers where the items start, 0 on failure. */
static size_t read_start(const char *name, const unsigned char *bytes, size_t length, header *head, wg_error *error)
{
    if (length < 10 || memcmp(bytes, "\x93NUMPY", 6))
        return base_fail(error, WG_FORMAT, "%s: no .npy file: it does not start with the magic \\x93NUMPY and a header", name);
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
        return base_fail(error, WG_UNSUPPORTED, "%s: .npy version %d.%d is unknown; versions 1.0, 2.0 and 3.0 are read", name, bytes[6],
                         bytes[7]);
    size_t start = bytes[6] == 1 ? 10 : 12;
    if (length < start) return base_fail(error, WG_FORMAT, "%s: truncated: the file ends inside the .npy header's length", name);
    uint32_t count = bytes[8] | (uint32_t)bytes[9] << 8;
    if (start == 12) count |= (uint32_t)bytes[10] << 16 | (uint32_t)bytes[11] << 24;
    if (count > length - start)
        return base_fail(error, WG_FORMAT, "%s: truncated: the .npy header has %u bytes, the file %zu after its length", name, count,
                         length - start);
    reader in = {name, (const char *)bytes + start, count, 0, error};
    return read_header(&in, head) ? start + count : 0;
}

wg_tensor *base_npy_read(const wg_allocator *allocator, const char *name, const void *bytes, size_t length, wg_error *error)
{
    header head = {0};
    size_t start = read_start(name, bytes, length, &head, error);
    if (!start) return NULL;
    wg_kind kind = head.type->kind;
    int64_t volume, strides[WG_MAX_RANK], step = head.type->bytes;
    if (!base_items_expect(name, kind, head.rank, head.shape, length - start, &volume, error)) return NULL;
    int64_t wrong = kind == WG_KIND_BOOL ? base_items_not_bool((const unsigned char *)bytes + start, volume) : -1;
    if (wrong >= 0) {
        base_fail(error, WG_FORMAT, "%s: byte %lld of the bools is %d; they are 0 or 1", name, (long long)wrong,
                  ((const unsigned char *)bytes)[start + (size_t)wrong]);
        return NULL;
    }
    wg_tensor *tensor = base_tensor_new(allocator, kind, head.rank, head.shape, error);
    if (!tensor) return NULL;
    for (uint32_t axis = 0; volume && axis < head.rank; step *= head.shape[axis++]) strides[axis] = step;
    wg_view view = {(unsigned char *)bytes + start, kind, head.rank, head.shape, head.fortran && head.rank ? strides : NULL};
    base_view_gather(&view, tensor->data);
    if (head.big_endian) base_items_reverse(tensor->data, tensor->bytes / head.type->part, head.type->part);
    return tensor;
}

bool base_npy_write(base_string *file, const wg_tensor *tensor, wg_error *error)
{
    const struct npy_type *type = NULL;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].kind == tensor->kind) type = &types[i];
    if (!type)
        return base_fail(error, WG_UNSUPPORTED, ".npy has no items of kind %s; convert to %s, or write safetensors",
                         wg_kind_name(tensor->kind),
                         tensor->kind == WG_KIND_CHAR ? "u32" : "f32");
    base_string literal = base_string_new(file->allocator);
    base_string_printf(&literal, "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (", type->bytes == 1 ? '|' : '<', type->letter,
                       type->bytes);
    for (uint32_t axis = 0; axis < tensor->rank; axis++) {
        if (axis) base_string_puts(&literal, ", ");
        base_string_integer(&literal, tensor->shape[axis]);
    }
    base_string_puts(&literal, tensor->rank == 1 ? ",), }" : "), }");
    while (!literal.failed && (10 + literal.length + 1) % 64) base_string_put(&literal, " ", 1);
    base_string_put(&literal, "\n", 1);
    base_string_put(file, "\x93NUMPY\x01\x00", 8);
    base_string_put(file, (char[]){(char)(literal.length & 255), (char)(literal.length >> 8)}, 2);
    base_string_put(file, literal.text, literal.failed ? 0 : literal.length);
    base_string_put(file, tensor->data, tensor->bytes);
    file->failed |= literal.failed;
    base_string_free(&literal);
    return !file->failed || base_fail_memory(error);
}
