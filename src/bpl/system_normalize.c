/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * •normalize: texts in the normal forms of Unicode, by utf8proc. */
#include <string.h>
#ifdef HAVE_UTF8PROC
#include <utf8proc.h>
#endif

#include "bpl/system.h"

#ifdef HAVE_UTF8PROC

static const struct form {
    const char *name;
    utf8proc_option_t options;
} forms[] = {{"NFC", UTF8PROC_COMPOSE}, {"NFD", UTF8PROC_DECOMPOSE}, {"NFKC", UTF8PROC_COMPOSE | UTF8PROC_COMPAT},
             {"NFKD", UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT}};

/* A text is brought into its form a piece at a time, so that it can be stopped. */
#define PIECE ((size_t)1 << 16)

/* Whether nothing in front of a character has a part in what becomes of it: no mark, and no letter of a Hangul syllable. */
static bool begins(utf8proc_int32_t code)
{
    const utf8proc_property_t *property = utf8proc_get_property(code);
    bool mark = property->category == UTF8PROC_CATEGORY_MN || property->category == UTF8PROC_CATEGORY_MC || property->category == UTF8PROC_CATEGORY_ME;
    return !mark && !property->combining_class && (code < 0x1100 || code > 0x11ff);
}

static size_t piece_end(const char *text, size_t length, size_t at)
{
    utf8proc_int32_t code;
    for (size_t end = at + PIECE; end < length; end++) {
        if (((unsigned char)text[end] & 0xC0) == 0x80) continue;
        if (utf8proc_iterate((const utf8proc_uint8_t *)text + end, (utf8proc_ssize_t)(length - end), &code) > 0 && begins(code)) return end;
    }
    return length;
}

/* Appends a piece's code points: decomposed, put in order and composed where the form says so. */
static bool put_piece(bpl_session *session, const char *text, size_t length, utf8proc_option_t options, base_string *out)
{
    utf8proc_ssize_t room = utf8proc_decompose((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)length, NULL, 0, options), count = room;
    size_t bytes = (size_t)(room > 0 ? room + 1 : 1) * sizeof(utf8proc_int32_t);
    utf8proc_int32_t *codes = room >= 0 ? base_allocate(session->allocator, bytes) : NULL;
    if (room >= 0 && !codes) return bpl_fail_memory(session);
    if (codes) count = utf8proc_decompose((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)length, codes, room, options);
    if (codes && count == room) count = utf8proc_normalize_utf32(codes, count, options);
    if (count < 0) bpl_fail(session, BPL_DOMAIN, "•normalize: %s", utf8proc_errmsg(count));
    else base_string_put(out, (const char *)codes, (size_t)count * sizeof *codes);
    if (codes) base_free(session->allocator, codes, bytes);
    return count >= 0;
}

static bpl_value *normalized(bpl_session *session, const bpl_value *value, const struct form *form)
{
    char *text;
    size_t length, end;
    if (!bpl_to_text(session, value, "the text of •normalize", &text, &length)) return NULL;
    base_string codes = base_string_new(session->allocator);
    bool good = true;
    for (size_t at = 0; good && at < length; at = end) {
        end = piece_end(text, length, at);
        good = bpl_go_on(session) && put_piece(session, text + at, end - at, form->options | UTF8PROC_STABLE, &codes);
    }
    int64_t volume = (int64_t)(codes.length / sizeof(uint32_t));
    if (good && codes.failed) good = bpl_fail_memory(session);
    bpl_value *result = good ? bpl_numbers(session, BPL_CLASS_CHARACTER, WG_KIND_CHAR, 1, &volume, codes.text) : NULL;
    base_string_free(&codes);
    base_free(session->allocator, text, length + 1);
    return result;
}

/* A text may change its length. The rows of other arrays would be of several lengths: what has one character for each stays, else DOMAIN. */
static bpl_value *normalize(bpl_session *session, bpl_value *value, void *data)
{
    if (value->type == BPL_ITEMS) return bpl_each_item(session, value, data, normalize);
    if (value->type != BPL_CHARACTERS) return bpl_fail(session, BPL_DOMAIN, "•normalize takes a text");
    if (value->atom || (bpl_rank(value) == 1 && !value->keys)) return normalized(session, value, data);
    bpl_value *flat = bpl_monad(session, BPL_GLYPH_RAVEL, value), *made = flat ? normalized(session, flat, data) : NULL, *result = NULL;
    wg_view view;
    if (made && bpl_volume(made) != bpl_volume(value)) bpl_fail(session, BPL_DOMAIN,
                                                                "•normalize: characters of an array that is no vector must stay one character each");
    else if (made && bpl_read(session, made, &view)) result = bpl_numbers_alike(session, value, BPL_CLASS_CHARACTER, WG_KIND_CHAR, view.data);
    bpl_release(flat);
    bpl_release(made);
    return result;
}

bpl_value *bpl_system_normalize(bpl_session *session, const bpl_call *call)
{
    char *name;
    size_t length, at = 0, count = sizeof forms / sizeof *forms;
    if (call->left) {
        if (!bpl_to_text(session, call->left, "the form of •normalize", &name, &length)) return NULL;
        for (size_t i = 0; i < length; i++) name[i] = name[i] >= 'a' && name[i] <= 'z' ? (char)(name[i] - 'a' + 'A') : name[i];
        while (at < count && strcmp(name, forms[at].name)) at++;
        base_free(session->allocator, name, length + 1);
    }
    if (at == count) return bpl_fail(session, BPL_DOMAIN, "the forms of •normalize are \"NFC\", \"NFD\", \"NFKC\" and \"NFKD\"");
    struct form form = forms[at];
    return normalize(session, call->right, &form);
}

#else

bpl_value *bpl_system_normalize(bpl_session *session, const bpl_call *call)
{
    (void)call;
    return bpl_fail(session, BPL_UNSUPPORTED, "•normalize needs libutf8proc, which this build is without");
}

#endif
