/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Text: •literal (data as source), •ucs (characters and code points), •c (case), •vfi (numbers in a text), •host (what the session was given). */
#include <string.h>
#ifdef HAVE_UTF8PROC
#include <utf8proc.h>
#endif

#include "bpl/display.h"
#include "bpl/evaluate.h"
#include "bpl/reader.h"
#include "bpl/system.h"

/* ---- •ucs -------------------------------------------------------------------------------------------------------------------------------------------- */

static bpl_value *code_points(bpl_session *session, const bpl_value *value)
{
    wg_view view;
    int64_t volume = bpl_volume(value);
    size_t bytes = (size_t)volume * sizeof(int64_t);
    if (!bpl_read(session, value, &view)) return NULL;
    int64_t *codes = base_allocate(session->allocator, bytes);
    if (!codes) return bpl_fail_memory(session);
    for (int64_t i = 0; i < volume; i++) codes[i] = ((const uint32_t *)view.data)[i];
    bpl_value *result = bpl_numbers_alike(session, value, BPL_CLASS_ORDINARY, WG_KIND_I64, codes);
    base_free(session->allocator, codes, bytes);
    return result;
}

static bpl_value *characters_of(bpl_session *session, const bpl_value *value)
{
    int64_t volume = bpl_volume(value);
    size_t bytes = (size_t)volume * sizeof(uint32_t);
    uint32_t *codes = base_allocate(session->allocator, bytes);
    bpl_value *result = NULL;
    if (!codes) return bpl_fail_memory(session);
    for (int64_t i = 0; i < volume; i++) {
        int64_t code;
        bpl_value *item = bpl_item(session, value, i);
        bool read = item && bpl_to_integer(session, item, "a code point", &code);
        bpl_release(item);
        if (!read) goto end;
        if (code < 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
            bpl_fail(session, BPL_DOMAIN, "code points are 0 to 1114111 without surrogates, not %lld", (long long)code);
            goto end;
        }
        codes[i] = (uint32_t)code;
    }
    result = bpl_numbers_alike(session, value, BPL_CLASS_CHARACTER, WG_KIND_CHAR, codes);
end:
    base_free(session->allocator, codes, bytes);
    return result;
}

static bpl_value *unicode(bpl_session *session, bpl_value *value, void *data)
{
    (void)data;
    if (value->type == BPL_NUMBERS) return characters_of(session, value);
    if (value->type == BPL_CHARACTERS) return code_points(session, value);
    if (value->type == BPL_ITEMS) return bpl_each_item(session, value, NULL, unicode);
    return bpl_fail(session, BPL_DOMAIN, "•ucs takes characters or code points");
}

/* A code point as units of 8, 16 or 32 bits; how many. */
static int64_t put_units(int64_t to[4], uint32_t code, int bits)
{
    static const uint8_t lead[] = {0, 0xC0, 0xE0, 0xF0};
    if (bits == 32 || (bits == 16 && code < 0x10000) || code < 0x80) return to[0] = code, 1;
    if (bits == 16) return to[0] = 0xD7C0 + (code >> 10), to[1] = 0xDC00 + (code & 0x3FF), 2;
    int64_t more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    to[0] = lead[more] | code >> 6 * more;
    for (int64_t i = 1; i <= more; i++) to[i] = 0x80 | (code >> 6 * (more - i) & 0x3F);
    return more + 1;
}

/* The units of a text. */
static bpl_value *encode(bpl_session *session, const bpl_value *value, int bits)
{
    wg_view view;
    int64_t volume = bpl_volume(value), count = 0;
    size_t bytes = ((size_t)volume * 4 + 4) * sizeof(int64_t);
    if (!bpl_read(session, value, &view)) return NULL;
    int64_t *units = base_allocate(session->allocator, bytes);
    if (!units) return bpl_fail_memory(session);
    for (int64_t i = 0; i < volume; i++) count += put_units(units + count, ((const uint32_t *)view.data)[i], bits);
    bpl_value *result = bpl_integers(session, units, count);
    base_free(session->allocator, units, bytes);
    return result;
}

/* The code point that begins at a unit, and of how many units it is; 0: none does. */
static int64_t read_units(const int64_t *units, int64_t left, int bits, uint32_t *code)
{
    uint32_t first = (uint32_t)units[0];
    if (bits == 8) {
        char text[5];
        int64_t room = left < 4 ? left : 4;
        for (int64_t i = 0; i < room; i++) text[i] = (char)units[i];
        text[room] = 0;
        uint32_t used;
        size_t length = base_utf8_length(text, (size_t)room);
        if (length) *code = bpl_code_point(text, &used);
        return first ? (int64_t)length : (*code = 0, 1);
    }
    *code = first;
    if (bits == 32) return first <= 0x10FFFF && (first < 0xD800 || first > 0xDFFF);
    if (first < 0xD800 || first > 0xDFFF) return 1;
    if (first > 0xDBFF || left < 2 || units[1] < 0xDC00 || units[1] > 0xDFFF) return 0;
    return *code = 0x10000 + ((first & 0x3FF) << 10) + ((uint32_t)units[1] & 0x3FF), 2;
}

/* The text of units [count]. */
static bpl_value *decode_units(bpl_session *session, const int64_t *units, int64_t count, int bits)
{
    size_t bytes = ((size_t)count + 1) * sizeof(uint32_t);
    uint32_t *codes = base_allocate(session->allocator, bytes);
    int64_t length = 0, used;
    if (!codes) return bpl_fail_memory(session);
    for (int64_t at = 0; at < count; at += used) {
        bool fits = units[at] >= 0 && units[at] < INT64_C(1) << bits;
        used = fits ? read_units(units + at, count - at, bits, &codes[length++]) : 0;
        if (used) continue;
        bpl_fail(session, BPL_DOMAIN, "unit %lld, %lld, begins no character of UTF-%d", (long long)at, (long long)units[at], bits);
        break;
    }
    bpl_value *result = bpl_failed(session) ? NULL : bpl_numbers(session, BPL_CLASS_CHARACTER, WG_KIND_CHAR, 1, &length, codes);
    base_free(session->allocator, codes, bytes);
    return result;
}

/* "UTF-8" •ucs text: its units; of numbers: the text that they are the units of. */
static bpl_value *transcode(bpl_session *session, const bpl_call *call)
{
    static const char *const names[] = {"UTF-8", "UTF-16", "UTF-32"};
    char *name;
    size_t length;
    int bits = 0;
    if (!bpl_to_text(session, call->left, "the encoding of •ucs", &name, &length)) return NULL;
    for (int i = 0; i < 3; i++) bits = strcmp(name, names[i]) ? bits : 8 << i;
    base_free(session->allocator, name, length + 1);
    if (!bits) return bpl_fail(session, BPL_DOMAIN, "the encodings of •ucs are \"UTF-8\", \"UTF-16\" and \"UTF-32\"");
    if (bpl_rank(call->right) > 1) return bpl_fail(session, BPL_RANK, "an encoding of •ucs takes a text, or a vector of its units");
    if (call->right->type == BPL_CHARACTERS) return encode(session, call->right, bits);
    int64_t *units, count;
    if (!bpl_to_integers(session, call->right, "the units of •ucs", false, &units, &count)) return NULL;
    bpl_value *result = decode_units(session, units, count, bits);
    bpl_free_integers(session, units, count);
    return result;
}

bpl_value *bpl_system_ucs(bpl_session *session, const bpl_call *call)
{
    return call->left ? transcode(session, call) : unicode(session, call->right, NULL);
}

/* ---- •c ---------------------------------------------------------------------------------------------------------------------------------------------- */

enum { CASE_UPPER = 1, CASE_LOWER = -1, CASE_FOLD = -3 };

#ifdef HAVE_UTF8PROC

#define LONGEST 8

/* What a character becomes, at most LONGEST: an upper case of several letters is that of what it folds to (ß: SS). */
static int mapped(uint32_t code, int64_t option, utf8proc_int32_t *to)
{
    int last = 0;
    if (option == CASE_LOWER) return to[0] = utf8proc_tolower((utf8proc_int32_t)code), 1;
    utf8proc_ssize_t count = utf8proc_decompose_char((utf8proc_int32_t)code, to, LONGEST, UTF8PROC_CASEFOLD, &last);
    if (count < 1 || count > LONGEST) return to[0] = (utf8proc_int32_t)code, 1;
    if (option == CASE_UPPER && count == 1) return to[0] = utf8proc_toupper((utf8proc_int32_t)code), 1;
    for (utf8proc_ssize_t i = 0; option == CASE_UPPER && i < count; i++) to[i] = utf8proc_toupper(to[i]);
    return (int)count;
}

static bool is_cased(uint32_t code)
{
    utf8proc_category_t of = utf8proc_category((utf8proc_int32_t)code);
    return of == UTF8PROC_CATEGORY_LU || of == UTF8PROC_CATEGORY_LL || of == UTF8PROC_CATEGORY_LT;
}

/* A capital sigma behind a letter and before none: its small letter is another one there. */
static bool ends_word(const uint32_t *text, int64_t length, int64_t at)
{
    return text[at] == 0x3A3 && at && is_cased(text[at - 1]) && (at + 1 == length || !is_cased(text[at + 1]));
}

static bpl_value *change_case(bpl_session *session, bpl_value *value, void *data)
{
    wg_view view;
    int64_t option = *(const int64_t *)data;
    if (value->type == BPL_ITEMS) return bpl_each_item(session, value, data, change_case);
    if (value->type != BPL_CHARACTERS) return bpl_keep(value);
    if (!bpl_read(session, value, &view)) return NULL;
    int64_t volume = bpl_volume(value), longer = 0;
    bool vector = bpl_rank(value) == 1 && !value->keys; /* where a text may grow */
    utf8proc_int32_t to[LONGEST];
    for (int64_t i = 0; vector && i < volume && bpl_goes_on(session, i); i++) longer += mapped(((const uint32_t *)view.data)[i], option, to) - 1;
    if (bpl_failed(session)) return NULL;
    size_t bytes = (size_t)(volume + longer) * sizeof(uint32_t);
    uint32_t *codes = base_allocate(session->allocator, bytes);
    if (!codes) return bpl_fail_memory(session);
    int64_t at = 0;
    for (int64_t i = 0; i < volume && bpl_goes_on(session, i); i++) {
        uint32_t code = ((const uint32_t *)view.data)[i];
        int count = mapped(code, option, to);
        if (vector && option == CASE_LOWER && ends_word((const uint32_t *)view.data, volume, i)) to[0] = 0x3C2;
        if (!vector && count > 1) to[0] = (utf8proc_int32_t)code, count = 1;
        for (int k = 0; k < count; k++) codes[at++] = (uint32_t)to[k];
    }
    bpl_value *result = bpl_failed(session) ? NULL : vector ? bpl_numbers(session, BPL_CLASS_CHARACTER, WG_KIND_CHAR, 1, &at, codes)
        : bpl_numbers_alike(session, value, BPL_CLASS_CHARACTER, WG_KIND_CHAR, codes);
    base_free(session->allocator, codes, bytes);
    return result;
}

#else

static bpl_value *change_case(bpl_session *session, bpl_value *value, void *data)
{
    (void)value, (void)data;
    return bpl_fail(session, BPL_UNSUPPORTED, "cases of letters need libutf8proc, which this build is without");
}

#endif

bpl_value *bpl_system_case(bpl_session *session, const bpl_call *call)
{
    int64_t option = CASE_FOLD;
    if (call->left && !bpl_to_integer(session, call->left, "the case of •c", &option)) return NULL;
    if (option != CASE_UPPER && option != CASE_LOWER && option != CASE_FOLD) return bpl_fail(session, BPL_DOMAIN, "•c makes upper case by 1, lower case by ¯1, and folds by ¯3");
    return change_case(session, call->right, &option);
}

/* ---- •literal ------------------------------------------------------------------------------------------------------------------------------------------ */

/* Whether a tree is data: literals, brackets, marks, and calls of ⊂ ⍴ and :. */
static bool is_data(bpl_session *session, const bpl_node *node)
{
    if (node->kind == BPL_NODE_FUNCTION) {
        if (node->row == BPL_GLYPH_ENCLOSE || node->row == BPL_GLYPH_RESHAPE || node->row == BPL_GLYPH_KEYS) return true;
    } else if (node->kind != BPL_NODE_NAME && node->kind != BPL_NODE_SYSTEM && node->kind != BPL_NODE_OPERATOR && node->kind != BPL_NODE_DFN &&
               node->kind != BPL_NODE_SET && node->kind != BPL_NODE_UPDATE) {
        for (uint32_t i = 0; i < node->count; i++)
            if (!is_data(session, node->children[i])) return false;
        return true;
    }
    bpl_fail_at(session, node->source, node->start, node->end, BPL_DOMAIN, "•literal reads data: literals, brackets, marks, ⊂, ⍴ and :");
    return false;
}

static bpl_role no_roles(void *user, bpl_symbol name)
{
    (void)user, (void)name;
    return BPL_ROLE_SUBJECT;
}

bpl_value *bpl_system_literal(bpl_session *session, const bpl_call *call)
{
    char *text;
    size_t length;
    if (call->left) return bpl_fail(session, BPL_DOMAIN, "•literal takes one argument");
    if (!bpl_to_text(session, call->right, "what •literal reads", &text, &length)) return NULL;
    bpl_source *source = bpl_source_new(session, "•literal", text, length);
    bpl_value *value = NULL;
    base_free(session->allocator, text, length + 1);
    if (!source) return NULL;
    const bpl_node *at = session->at, *tree = NULL;
    if (source->body.count != 1) bpl_fail(session, BPL_DOMAIN, "•literal reads one value");
    else tree = bpl_bind(session, source, &source->body.statements[0], (bpl_roles){no_roles, NULL, NULL});
    if (tree && is_data(session, tree)) value = bpl_evaluate_value(session, tree);
    session->at = at;
    bpl_source_release(source);
    return value;
}

bpl_value *bpl_system_literal_of(bpl_session *session, const bpl_call *call)
{
    base_string text = base_string_new(session->allocator);
    bpl_value *result = bpl_literal(session, call->right, &text) ? bpl_string(session, text.text, text.length) : NULL;
    base_string_free(&text);
    return result;
}

/* ---- •vfi ---------------------------------------------------------------------------------------------------------------------------------------------- */

/* Whether a word of a text is a number, whole and real, with - or ¯ before it. */
static bool read_word(const char *text, size_t length, double *number)
{
    char spelled[64];
    size_t at = 0;
    for (size_t i = 0; i < length;) {
        size_t high = strlen("¯");
        bool minus = length - i >= high && !memcmp(text + i, "¯", high);
        if (at + 1 >= sizeof spelled) return false;
        spelled[at++] = minus ? '-' : text[i];
        i += minus ? high : 1;
    }
    size_t sign = at && spelled[0] == '-';
    if (sign >= at || !(spelled[sign] >= '0' && spelled[sign] <= '9')) return false;
    return base_parse_float(spelled, at, WG_KIND_F64, number) == at;
}

/* Splits at separators: blanks one or more, other ones each. */
static bool split_numbers(bpl_session *session, const char *text, size_t length, const char *separators, base_string *flags, base_string *numbers, int64_t *count)
{
    bool blanks = !strcmp(separators, " ");
    for (size_t at = 0; at <= length;) {
        size_t stop = at;
        while (stop < length && !strchr(separators, text[stop])) stop++;
        double number = 0;
        int64_t good = stop == at || read_word(text + at, stop - at, &number); /* nothing between separators is 0 */
        if (!good) number = 0;
        if (stop > at || !blanks) {
            base_string_put(flags, (const char *)&good, sizeof good);
            base_string_put(numbers, (const char *)&number, sizeof number);
            ++*count;
        }
        at = stop + 1;
    }
    return !flags->failed && !numbers->failed ? true : (bpl_fail_memory(session), false);
}

static bpl_value *pair(bpl_session *session, bpl_value *first, bpl_value *second)
{
    bpl_items *items = first && second ? bpl_items_new(session, 1, &(int64_t){2}) : NULL;
    if (!items) return bpl_release(first), bpl_release(second), NULL;
    items->at[0] = first, items->at[1] = second;
    return bpl_collect(session, items);
}

bpl_value *bpl_system_vfi(bpl_session *session, const bpl_call *call)
{
    char *text = NULL, *separators = NULL;
    size_t length = 0, separator_length = 0;
    int64_t count = 0;
    base_string flags = base_string_new(session->allocator), numbers = base_string_new(session->allocator);
    bpl_value *result = NULL;
    bool done = bpl_to_text(session, call->right, "what •vfi reads", &text, &length) &&
                (!call->left || bpl_to_text(session, call->left, "the separators of •vfi", &separators, &separator_length));
    if (done && split_numbers(session, text, length, separators ? separators : " ", &flags, &numbers, &count)) {
        bpl_value *good = bpl_integers(session, (const int64_t *)(const void *)flags.text, count);
        result = pair(session, good, bpl_numbers(session, BPL_CLASS_FLOAT, WG_KIND_F64, 1, &count, numbers.text));
    }
    if (text) base_free(session->allocator, text, length + 1);
    if (separators) base_free(session->allocator, separators, separator_length + 1);
    base_string_free(&flags);
    base_string_free(&numbers);
    return result;
}

/* ---- •host --------------------------------------------------------------------------------------------------------------------------------------------- */

bpl_value *bpl_system_host(bpl_session *session, const bpl_call *call)
{
    char *text;
    size_t length;
    if (!bpl_to_text(session, call->right, "what •host is asked", &text, &length)) return NULL;
    bool arguments = !strcmp(text, "args") && !call->left;
    base_free(session->allocator, text, length + 1);
    if (!arguments) return bpl_fail(session, BPL_UNSUPPORTED, "•host tells \"args\", the program's arguments, and nothing else");
    int64_t count = session->options.argument_count;
    bpl_items *items = bpl_items_new(session, 1, &count);
    for (int64_t i = 0; items && i < count; i++) {
        const char *argument = session->options.arguments[i];
        if ((items->at[i] = bpl_string(session, argument, strlen(argument)))) continue;
        bpl_items_free(session, items);
        return NULL;
    }
    if (items && !count) items->prototype = bpl_string(session, "", 0);
    return items ? bpl_collect(session, items) : NULL;
}
