/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Indexing by positions that the data hold. Data are [B.., pre.., extent, post..], positions [B.., P..]; B are the first `batch` axes of
 * both. */
#include <string.h>

#include "base/block.h"
#include "graph/binding.h"
#include "interp/items.h"

/* The extents around an axis: [batch, pre, extent, post], and the positions [batch, each]. */
typedef struct places {
    int64_t batch, pre, extent, post, each;
    const wg_view *positions;
    int64_t axis, outside;
} places;

static int64_t product(const int64_t *shape, uint32_t from, uint32_t to)
{
    int64_t volume = 1;
    for (uint32_t i = from; i < to; i++) volume *= shape[i];
    return volume;
}

/* `whole` is the view that has the axis. Where there is nothing to read or nothing to move, nothing is walked over: beside an extent of 0
 * the others may be of any size. */
static places places_of(const wg_view *whole, const wg_view *positions, int64_t axis, int64_t batch, int64_t outside)
{
    places p = {.batch = product(whole->shape, 0, (uint32_t)batch),
                .pre = product(whole->shape, (uint32_t)batch, (uint32_t)axis),
                .extent = whole->shape[axis],
                .post = product(whole->shape, (uint32_t)axis + 1, whole->rank),
                .each = product(positions->shape, (uint32_t)batch, positions->rank),
                .positions = positions,
                .axis = axis,
                .outside = outside};
    if (!p.each) p.batch = 0;
    if (!p.post) p.pre = 0;
    return p;
}

/* The position at `item`, -1 for one that is skipped or filled; false where it is an error. An empty axis has no position to clamp to. */
static bool position_at(const interp_row_call *call, const places *p, int64_t item, int64_t *position)
{
    *position = base_number_load(p->positions->kind, p->positions->data, item).i;
    if (*position >= 0 && *position < p->extent) return true;
    if (p->outside == GRAPH_OUTSIDE_ERROR || (p->outside == GRAPH_OUTSIDE_CLAMP && p->extent == 0))
        return graph_fail_position(call->error, item, *position, p->axis, p->extent);
    *position = p->outside != GRAPH_OUTSIDE_CLAMP ? -1 : *position < 0 ? 0 : p->extent - 1;
    return true;
}

#define GET(call, Row, key) ((call)->attributes[GRAPH_ATTRIBUTE(Row, key)])

/* Items [first, first + count); the values of those of a block kind. */
static void copy_items(const wg_view *a, int64_t first, int64_t count, char *to)
{
    const char *from = (const char *)a->data + base_kind_bytes(a->kind, first);
    if (base_kind_is_block(a->kind)) base_block_values(a->kind, from, base_kind_units(a->kind, count), (float *)to);
    else memcpy(to, from, (size_t)base_kind_bytes(a->kind, count));
}

bool interp_Gather(const interp_row_call *call)
{
    const wg_view *a = &call->operands[0], *positions = &call->operands[1];
    places p = places_of(a, positions, GET(call, Gather, axis), GET(call, Gather, batch), GET(call, Gather, outside));
    size_t width = base_kinds[call->result.kind].bytes, run = (size_t)p.post * width;
    char *result = call->result.data, fill[16];
    double real;
    memcpy(&real, &call->attributes[GRAPH_ATTRIBUTE(Gather, fill)], sizeof real);
    base_number_store(call->result.kind, fill, 0, base_number_from_double(call->result.kind, real));
    for (int64_t b = 0; b < p.batch; b++)
        for (int64_t i = 0; i < p.each; i++) {
            int64_t position;
            if (!position_at(call, &p, b * p.each + i, &position)) return false;
            for (int64_t o = b * p.pre; o < (b + 1) * p.pre; o++) {
                char *to = result + (size_t)(o * p.each + i) * run;
                int64_t from = (o * p.extent + position) * p.post;
                if (position >= 0 && run) copy_items(a, from, p.post, to);
                for (int64_t n = 0; position < 0 && n < p.post; n++) memcpy(to + (size_t)n * width, fill, width);
            }
        }
    return true;
}

/* Rows [B.., pre.., P.., post..] into +0 items; of rows with one position the later are added after (or replace) the earlier. */
bool interp_Scatter(const interp_row_call *call)
{
    const wg_view *positions = &call->operands[1];
    places p = places_of(&call->result, positions, GET(call, Scatter, axis), GET(call, Scatter, batch), GET(call, Scatter, outside));
    bool replace = GET(call, Scatter, mode) == GRAPH_MODE_REPLACE;
    interp_domain domain = interp_domain_of(call->result.kind);
    interp_binary add = interp_folding(GRAPH_FOLDING_SUM, domain);
    int64_t volume = interp_view_volume(&call->result);
    interp_item *rows = interp_load(call, 0, domain), *result = rows ? interp_take(call, volume) : NULL;
    if (!result) return false;
    for (int64_t i = 0; i < volume; i++) result[i] = INTERP_ZERO;
    for (int64_t b = 0; b < p.batch; b++)
        for (int64_t i = 0; i < p.each; i++) {
            int64_t position;
            if (!position_at(call, &p, b * p.each + i, &position)) return false;
            if (position < 0) continue;
            for (int64_t o = b * p.pre; o < (b + 1) * p.pre; o++)
                for (int64_t n = 0; n < p.post; n++) {
                    interp_item *to = &result[(o * p.extent + position) * p.post + n], row = rows[(o * p.each + i) * p.post + n];
                    *to = replace ? row : add(*to, row);
                }
        }
    return interp_store(call, domain, result);
}

/* A start for `len` positions: inside [0, extent - len], or clamped there. */
static bool start_at(const interp_row_call *call, const places *p, int64_t item, int64_t len, int64_t *start)
{
    int64_t last = p->extent - len;
    *start = base_number_load(p->positions->kind, p->positions->data, item).i;
    if (*start >= 0 && *start <= last) return true;
    if (p->outside == GRAPH_OUTSIDE_ERROR) return graph_fail_position(call->error, item, *start, p->axis, p->extent);
    *start = *start < 0 ? 0 : last;
    return true;
}

/* Moves `len` positions from each start between the whole and a part [B.., pre.., len, post..]. */
static bool move_parts(const interp_row_call *call, const places *p, int64_t len, char *whole, char *part, bool to_part)
{
    size_t run = (size_t)p->post * base_kinds[call->result.kind].bytes, bytes = (size_t)len * run;
    for (int64_t b = 0; b < p->batch; b++) {
        int64_t start;
        if (!start_at(call, p, b, len, &start)) return false;
        for (int64_t o = b * p->pre; bytes && o < (b + 1) * p->pre; o++) {
            char *in_whole = whole + (size_t)(o * p->extent + start) * run, *in_part = part + (size_t)o * bytes;
            memcpy(to_part ? in_part : in_whole, to_part ? in_whole : in_part, bytes);
        }
    }
    return true;
}

bool interp_Slice(const interp_row_call *call)
{
    const wg_view *a = &call->operands[0];
    places p = places_of(a, &call->operands[1], GET(call, Slice, axis), GET(call, Slice, batch), GET(call, Slice, outside));
    return move_parts(call, &p, GET(call, Slice, len), a->data, call->result.data, true);
}

bool interp_Update(const interp_row_call *call)
{
    const wg_view *a = &call->operands[0], *b = &call->operands[1];
    places p = places_of(a, &call->operands[2], GET(call, Update, axis), GET(call, Update, batch), GET(call, Update, outside));
    size_t bytes = (size_t)interp_view_volume(a) * base_kinds[a->kind].bytes;
    if (bytes) memcpy(call->result.data, a->data, bytes);
    return move_parts(call, &p, b->shape[p.axis], call->result.data, b->data, false);
}

bool interp_Where(const interp_row_call *call)
{
    const uint8_t *condition = call->operands[0].data;
    int64_t maximum = call->result.shape[0], count = interp_view_volume(&call->operands[0]), found = 0, *result = call->result.data;
    for (int64_t i = 0; i < count; i++) {
        if (!condition[i]) continue;
        if (found == maximum) return graph_fail_where(call->error, i, found);
        result[found++] = i;
    }
    while (found < maximum) result[found++] = -1;
    return true;
}
