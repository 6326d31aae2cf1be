/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Each (¨) and Rank (⍤, numeric superscripts). */
#include <string.h>

#include "bpl/cells.h"

bool bpl_is_pervasive(const bpl_value *function, bool dyadic)
{
    if (!bpl_is_function(function) || function->function->form != BPL_PRIMITIVE) return false;
    const bpl_glyph_row *row = &bpl_glyphs[function->function->row];
    return (dyadic ? row->dyadic : row->monadic) == BPL_SERVICE_PERVASIVE;
}

bpl_value *bpl_each(bpl_session *session, bpl_value *function, bpl_value *left, bpl_value *right)
{
    if (right->atom && (!left || left->atom)) return bpl_apply(session, function, left, right);
    /* Item by item is what such a function is anyhow, but for nested items, which Each gives it whole. */
    if (bpl_is_pervasive(function, left) && bpl_is_simple(right) && (!left || bpl_is_simple(left))) return bpl_apply(session, function, left, right);
    bpl_map map = {.function = function, .left = left, .right = right, .left_rank = left ? bpl_rank(left) : 0, .right_rank = bpl_rank(right),
                   .form = BPL_ITEM,
                   .assembly = BPL_ASSEMBLE_ITEMS};
    bpl_frames frames;
    if (!bpl_frames_pair(session, left, map.left_rank, right, map.right_rank, &frames)) return NULL;
    return bpl_map_cells(session, &map, &frames);
}

bpl_value *bpl_derived_each(bpl_session *session, const bpl_call *call)
{
    return bpl_each(session, call->function->left, call->left, call->right);
}

bpl_value *bpl_operand_value(bpl_session *session, bpl_value *operand, const bpl_call *call)
{
    return bpl_is_callable(operand) ? bpl_wanted(session, bpl_apply(session, operand, call->left, call->right)) : bpl_keep(operand);
}

/* r, or left and right, or one argument, left and right; 0: that is an error. */
static bool read_ranks(bpl_session *session, const bpl_call *call, int64_t *ranks, int64_t *count)
{
    bpl_value *value = bpl_operand_value(session, call->function->right, call);
    int64_t *numbers = NULL;
    bool good = value != NULL;
    if (good && bpl_rank(value) > 1) good = bpl_fail(session, BPL_RANK, "ranks are a number or a vector, not an array of rank %u",
                                                     bpl_rank(value)) != NULL;
    if (good && (bpl_volume(value) < 1 || bpl_volume(value) > 3))
        good = bpl_fail(session, BPL_LENGTH, "ranks are one to three numbers, not %lld", (long long)bpl_volume(value)) != NULL;
    if (good && (good = bpl_to_integers(session, value, "a rank", true, &numbers, count))) {
        memcpy(ranks, numbers, (size_t)*count * sizeof *ranks);
        bpl_free_integers(session, numbers, *count);
    }
    bpl_release(value);
    return good;
}

/* The rank of the frame that leaves cells of this rank. */
static uint32_t frame_rank(const bpl_value *value, int64_t rank)
{
    uint32_t own = value->atom ? 0 : bpl_rank(value);
    if (rank >= 0) return rank >= own ? 0 : own - (uint32_t)rank;
    return rank <= -(int64_t)own ? own : (uint32_t)-rank;
}

bpl_value *bpl_at_rank(bpl_session *session, bpl_value *function, bpl_value *left, int64_t left_rank, bpl_value *right, int64_t right_rank)
{
    bpl_map map = {.function = function, .left = left, .right = right, .left_rank = left ? frame_rank(left, left_rank) : 0,
                   .right_rank = frame_rank(right, right_rank),
                   .form = BPL_CELL, .assembly = BPL_ASSEMBLE_MIXED};
    if (!map.left_rank && !map.right_rank) return bpl_apply(session, function, left, right);
    bpl_frames frames;
    if (!bpl_frames_pair(session, left, map.left_rank, right, map.right_rank, &frames)) return NULL;
    return bpl_map_cells(session, &map, &frames);
}

bpl_value *bpl_call_ranked(bpl_session *session, const bpl_call *call)
{
    int64_t ranks[3], count;
    if (!read_ranks(session, call, ranks, &count)) return NULL;
    bool three = count == 3;
    int64_t left = ranks[three ? 1 : 0], right = ranks[count - 1];
    if (!call->left) right = ranks[three || count == 1 ? 0 : 1];
    return bpl_at_rank(session, call->function->left, call->left, left, call->right, right);
}

bpl_value *bpl_derived_rank(bpl_session *session, const bpl_call *call)
{
    return bpl_call_ranked(session, call);
}
