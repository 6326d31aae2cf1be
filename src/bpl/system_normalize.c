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

/* Code points decomposed, put in order and composed where the form says so. */
static bpl_value *normalized(bpl_session *session, const bpl_value *value, const struct form *form)
{
    char *text;
    size_t length;
    if (!bpl_to_text(session, value, "the text of •normalize", &text, &length)) return NULL;
    utf8proc_option_t options = form->options | UTF8PROC_STABLE;
    utf8proc_ssize_t room = utf8proc_decompose((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)length, NULL, 0, options);
    size_t bytes = (size_t)(room > 0 ? room + 1 : 1) * sizeof(utf8proc_int32_t);
    utf8proc_int32_t *codes = room >= 0 ? base_allocate(session->allocator, bytes) : NULL;
    bpl_value *result = NULL;
    if (room < 0) bpl_fail(session, BPL_DOMAIN, "•normalize: %s", utf8proc_errmsg(room));
    else if (!codes) bpl_fail_memory(session);
    else {
        utf8proc_ssize_t count = utf8proc_decompose((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)length, codes, room, options);
        if (count == room) count = utf8proc_normalize_utf32(codes, count, options);
        int64_t volume = count;
        if (count < 0) bpl_fail(session, BPL_DOMAIN, "•normalize: %s", utf8proc_errmsg(count));
        else result = bpl_numbers(session, BPL_CLASS_CHARACTER, WG_KIND_CHAR, 1, &volume, codes);
    }
    if (codes) base_free(session->allocator, codes, bytes);
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
