/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Values as numbers and texts of the host. Everything here computes what is pending. */
#include <string.h>

#include "bpl/display.h"
#include "bpl/kinds.h"

bool bpl_is_dense(const wg_view *view)
{
    int64_t step = (int64_t)wg_kind_bytes(view->kind);
    bool dense = true;
    for (uint32_t axis = view->rank; view->strides && axis-- > 0; step *= view->shape[axis])
        dense = dense && (view->shape[axis] == 1 || view->strides[axis] == step);
    return dense;
}

bool bpl_read(bpl_session *session, const bpl_value *value, wg_view *view)
{
    wg_array *stored = bpl_array(value);
    if (!stored || !wg_array_read(stored, view)) return bpl_fail_lazy(session), false;
    if (bpl_is_dense(view)) return true;
    wg_tensor *tensor = wg_array_tensor(bpl_array(value));
    if (!tensor) return bpl_fail_lazy(session), false;
    wg_scope_open(session->lazy);
    wg_array *array = wg_array_of(session->lazy, tensor);
    if (array) wg_array_keep(array);
    wg_scope_close(session->lazy);
    if (!array) return bpl_fail_lazy(session), false;
    wg_array_release(stored);
    ((bpl_value *)value)->held = array;
    return wg_array_read(array, view) || (bpl_fail_lazy(session), false);
}

/* ---- numbers --------------------------------------------------------------------------------------------------------------------------------- */

/* What a function wants of an argument: one number, or a vector of them. */
static bool one_item(bpl_session *session, const bpl_value *value, const char *what)
{
    if (bpl_volume(value) == 1 && (value->type != BPL_ITEMS || bpl_is_number(value->items->at[0]))) return true;
    if (bpl_volume(value) == 1) return bpl_fail(session, BPL_DOMAIN, "%s must be a number", what), false;
    return bpl_fail(session, BPL_LENGTH, "%s must be one number, not %lld", what, (long long)bpl_volume(value)), false;
}

/* Item `position` as a double; *integer: its value where it is an integer kind (*exact). */
static bool number_at(bpl_session *session, const bpl_value *value, int64_t position, const char *what, double *number, int64_t *integer, bool *exact)
{
    if (value->type == BPL_ITEMS) {
        const bpl_value *item = value->items->at[position];
        if (item->atom && bpl_is_number(item)) return number_at(session, item, 0, what, number, integer, exact);
        return bpl_fail(session, BPL_DOMAIN, "%s must be a number", what), false;
    }
    *exact = false;
    if (value->type == BPL_RATIONAL) return bpl_rational_read(session, value->rational, number, integer, exact);
    if (value->type != BPL_NUMBERS || value->class == BPL_CLASS_COMPLEX)
        return bpl_fail(session, BPL_DOMAIN, "%s must be a real number", what), false;
    wg_view view;
    if (!bpl_read(session, value, &view)) return false;
    base_number loaded = base_number_load(view.kind, view.data, position);
    *number = base_number_to_double(view.kind, loaded);
    *exact = !base_kind_is_float(view.kind);
    if (*exact) *integer = loaded.i;
    return true;
}

bool bpl_whole(const bpl_session *session, double number, int64_t *whole)
{
    if (!(number >= -0x1p63 && number < 0x1p63)) return false;
    double near = __builtin_rint(number), size = near < 0 ? -near : near, off = number - near;
    if (off < 0) off = -off;
    double room = session->preferences.mathish ? BPL_TOLERANCE * (size > 1 ? size : 1) : 0;
    if (off > room) return false;
    *whole = (int64_t)near;
    return true;
}

static bool whole_at(bpl_session *session, const bpl_value *value, int64_t position, const char *what, bool infinite, int64_t *number)
{
    double real;
    bool exact;
    if (!number_at(session, value, position, what, &real, number, &exact)) return false;
    if (exact || bpl_whole(session, real, number)) return true;
    if (infinite && (real == __builtin_inf() || real == -__builtin_inf())) {
        *number = real > 0 ? INT64_MAX : INT64_MIN;
        return true;
    }
    base_string text = base_string_new(session->allocator);
    bool finite = real - real == 0;
    bpl_put_float(&text, WG_KIND_F64, real, 15);
    if (text.failed) bpl_fail_memory(session);
    else if (finite && __builtin_rint(real) == real) bpl_fail(session, BPL_LIMIT, "%s has at most 64 bits, unlike %s", what, text.text);
    else bpl_fail(session, BPL_DOMAIN, "%s must be whole, not %s", what, text.text);
    base_string_free(&text);
    return false;
}

bool bpl_to_integer(bpl_session *session, const bpl_value *value, const char *what, int64_t *number)
{
    if (value->known && value->kind == WG_KIND_I64) return *number = value->integer, true;
    return one_item(session, value, what) && whole_at(session, value, 0, what, false, number);
}

bool bpl_to_double(bpl_session *session, const bpl_value *value, const char *what, double *number)
{
    int64_t integer;
    bool exact;
    return one_item(session, value, what) && number_at(session, value, 0, what, number, &integer, &exact);
}

bool bpl_to_truth(bpl_session *session, const bpl_value *value, const char *what, bool *truth)
{
    int64_t number;
    const void *item = NULL;
    if (value->known && value->class == BPL_CLASS_BOOLEAN) return *truth = value->number != 0, true;
    if (value->type == BPL_NUMBERS && (item = wg_array_item(bpl_array(value), WG_KIND_BOOL)) != NULL) return *truth = *(const bool *)item, true;
    if (!bpl_to_integer(session, value, what, &number)) return false;
    if (number != 0 && number != 1) return bpl_fail(session, BPL_DOMAIN, "%s must be 0 or 1, not %lld", what, (long long)number), false;
    *truth = number == 1;
    return true;
}

bool bpl_to_integers(bpl_session *session, const bpl_value *value, const char *what, bool infinite, int64_t **numbers, int64_t *count)
{
    *numbers = NULL;
    if (bpl_rank(value) > 1) return bpl_fail(session, BPL_RANK, "%s must be a number or a vector of numbers", what), false;
    if (value->type == BPL_CHARACTERS) return bpl_fail(session, BPL_DOMAIN, "%s must be a real number", what), false;
    *count = bpl_volume(value);
    *numbers = base_allocate(session->allocator, ((size_t)*count + 1) * sizeof **numbers);
    if (!*numbers) return bpl_fail_memory(session), false;
    for (int64_t i = 0; i < *count; i++)
        if (!bpl_goes_on(session, i) || !whole_at(session, value, i, what, infinite, &(*numbers)[i])) {
            bpl_free_integers(session, *numbers, *count);
            return *numbers = NULL, false; /* callers may free what there is in any case */
        }
    return true;
}

bool bpl_all_whole(bpl_session *session, const bpl_value *value, const char *what, int64_t *numbers)
{
    int64_t number;
    bool good = value->type != BPL_CHARACTERS || bpl_fail(session, BPL_DOMAIN, "%s must be a real number", what);
    for (int64_t i = 0; good && i < bpl_volume(value); i++) good = whole_at(session, value, i, what, false, numbers ? &numbers[i] : &number);
    return good;
}

void bpl_free_integers(bpl_session *session, int64_t *numbers, int64_t count)
{
    if (numbers) base_free(session->allocator, numbers, ((size_t)count + 1) * sizeof *numbers);
}

/* ---- text ---------------------------------------------------------------------------------------------------------------------------------- */

static size_t put_code_point(char *to, uint32_t point)
{
    if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) point = 0xfffd;
    if (point < 0x80) return *to = (char)point, 1;
    size_t more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    static const uint8_t lead[] = {0, 0xc0, 0xe0, 0xf0};
    to[0] = (char)(lead[more] | point >> (6 * more));
    for (size_t i = 1; i <= more; i++) to[i] = (char)(0x80 | ((point >> (6 * (more - i))) & 0x3f));
    return more + 1;
}

bool bpl_to_text(bpl_session *session, const bpl_value *value, const char *what, char **text, size_t *length)
{
    bool none = bpl_volume(value) == 0 && bpl_rank(value) == 1;
    *text = NULL;
    if (bpl_rank(value) > 1 || (value->type != BPL_CHARACTERS && !none))
        return bpl_fail(session, bpl_rank(value) > 1 ? BPL_RANK : BPL_DOMAIN, "%s must be text", what), false;
    wg_view view = {.data = NULL};
    if (!none && !bpl_read(session, value, &view)) return false;
    int64_t count = bpl_volume(value);
    const uint32_t *points = view.data;
    uint32_t all = 0;
    for (int64_t i = 0; i < count; i++) all |= points[i];
    *length = (size_t)count;
    for (int64_t i = 0; all >= 0x80 && i < count; i++)
        *length += (size_t)((points[i] >= 0x80) + (points[i] >= 0x800) + (points[i] >= 0x10000 && points[i] <= 0x10ffff));
    *text = base_allocate(session->allocator, *length + 1);
    if (!*text) return bpl_fail_memory(session), false;
    size_t at = 0;
    if (all < 0x80) base_points_to_ascii(points, (size_t)count, *text);
    for (int64_t i = 0; all >= 0x80 && i < count; i++) at += put_code_point(*text + at, points[i]);
    (*text)[*length] = 0;
    return true;
}

bool bpl_same_text(bpl_session *session, const bpl_value *a, const bpl_value *b)
{
    if (a == b) return true;
    wg_view left, right;
    if (a->type != BPL_CHARACTERS || b->type != BPL_CHARACTERS || bpl_volume(a) != bpl_volume(b)) return false;
    if (!bpl_read(session, a, &left) || !bpl_read(session, b, &right)) return false;
    return memcmp(left.data, right.data, (size_t)bpl_volume(a) * sizeof(uint32_t)) == 0;
}
