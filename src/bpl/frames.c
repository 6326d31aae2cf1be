/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Frames of two arguments paired: which cell of the one meets which cell of the other. */
#include <string.h>

#include "bpl/cells.h"

#define NO_AXIS BPL_NO_AXIS

static const bpl_axis *axis_of(const bpl_value *value, uint32_t axis)
{
    return axis == NO_AXIS ? NULL : bpl_axis_of(value, axis);
}

static const char *name_of(const bpl_value *value, uint32_t axis)
{
    const bpl_axis *known = axis_of(value, axis);
    return known ? known->name : NULL;
}

/* ---- which axes ---------------------------------------------------------------------------------------------------------------------- */

/* Named axes by name; the others in order, but never two of different names. */
static void match_axes(const bpl_pairing *p, uint32_t *partner, uint32_t *back)
{
    for (uint32_t a = 0; a < p->left_rank; a++) partner[a] = NO_AXIS;
    for (uint32_t b = 0; b < p->right_rank; b++) back[b] = NO_AXIS;
    for (uint32_t a = 0; a < p->left_rank; a++)
        for (uint32_t b = 0; b < p->right_rank && name_of(p->left, a); b++)
            if (back[b] == NO_AXIS && name_of(p->right, b) && !strcmp(name_of(p->left, a), name_of(p->right, b))) {
                partner[a] = b;
                back[b] = a;
                break;
            }
    for (uint32_t a = 0; a < p->left_rank; a++)
        for (uint32_t b = 0; b < p->right_rank && partner[a] == NO_AXIS; b++)
            if (back[b] == NO_AXIS && !(name_of(p->left, a) && name_of(p->right, b))) {
                partner[a] = b;
                back[b] = a;
            }
}

/* The left's axes and what the right has beyond them; the right's order where every axis of the left pairs and the right has more. */
static void order_axes(bpl_pairing *p)
{
    uint32_t partner[WG_MAX_RANK], back[WG_MAX_RANK], paired = 0;
    match_axes(p, partner, back);
    for (uint32_t a = 0; a < p->left_rank; a++) paired += partner[a] != NO_AXIS;
    bool by_right = paired == p->left_rank && p->right_rank > p->left_rank;
    for (uint32_t a = 0; a < p->left_rank && !by_right; a++) p->axes[p->count++] = (bpl_paired_axis){.left = a, .right = partner[a]};
    for (uint32_t b = 0; b < p->right_rank; b++)
        if (by_right || back[b] == NO_AXIS) p->axes[p->count++] = (bpl_paired_axis){.left = back[b], .right = b};
}

/* ---- which positions ----------------------------------------------------------------------------------------------------------------- */

static int64_t *positions_new(bpl_session *session, int64_t count)
{
    int64_t *positions = base_allocate(session->allocator, (size_t)(count ? count : 1) * sizeof *positions);
    if (!positions) bpl_fail_memory(session);
    return positions;
}

static void positions_free(bpl_session *session, int64_t *positions, int64_t count)
{
    if (positions) base_free(session->allocator, positions, (size_t)(count ? count : 1) * sizeof *positions);
}

static bool same_labels(bpl_session *session, const bpl_axis *a, const bpl_axis *b)
{
    if (a->labels == b->labels) return true;
    bool same = a->extent == b->extent;
    for (int64_t i = 0; i < a->extent && same; i++) {
        same = a->labels[i] == b->labels[i];
        if (!same && a->labels[i] && b->labels[i]) same = bpl_same_text(session, a->labels[i], b->labels[i]);
    }
    return same;
}

static int64_t unlabelled(const bpl_axis *axis)
{
    int64_t count = 0;
    for (int64_t i = 0; i < axis->extent; i++) count += !axis->labels[i];
    return count;
}

/* The union of the keys: the left's positions, then those that the right alone has. */
static bool unite_labels(bpl_pairing *p, bpl_paired_axis *axis, const bpl_axis *left, const bpl_axis *right)
{
    if (same_labels(p->session, left, right)) return axis->extent = left->extent, true;
    if (bpl_failed(p->session)) return false;
    int64_t plain[2] = {unlabelled(left), unlabelled(right)};
    if (plain[0] != plain[1])
        return bpl_fail(p->session, BPL_LENGTH, "%lld and %lld positions without keys don't agree", (long long)plain[0], (long long)plain[1]), false;
    int64_t room = left->extent + right->extent;
    size_t taken_bytes = (size_t)right->extent + 1;
    bool *taken = base_allocate_zeroed(p->session->allocator, taken_bytes);
    int64_t *left_at = positions_new(p->session, room), *right_at = left_at ? positions_new(p->session, room) : NULL;
    if (taken && right_at) {
        axis->extent = left->extent;
        int64_t unkeyed = 0; /* a position without a label meets the next one without */
        for (int64_t i = 0; i < left->extent; i++) {
            left_at[i] = i;
            if (left->labels[i]) {
                right_at[i] = bpl_axis_find(p->session, right, left->labels[i]);
            } else {
                while (right->labels[unkeyed]) unkeyed++;
                right_at[i] = unkeyed++;
            }
            if (right_at[i] >= 0) taken[right_at[i]] = true;
        }
        for (int64_t i = 0; i < right->extent; i++)
            if (!taken[i]) {
                left_at[axis->extent] = -1;
                right_at[axis->extent++] = i;
            }
        /* Arrays of exactly as many as there are. */
        axis->left_at = positions_new(p->session, axis->extent);
        axis->right_at = axis->left_at ? positions_new(p->session, axis->extent) : NULL;
        if (axis->right_at) {
            memcpy(axis->left_at, left_at, (size_t)axis->extent * sizeof *left_at);
            memcpy(axis->right_at, right_at, (size_t)axis->extent * sizeof *right_at);
        }
    } else {
        bpl_fail_memory(p->session);
    }
    if (taken) base_free(p->session->allocator, taken, taken_bytes);
    positions_free(p->session, left_at, room);
    positions_free(p->session, right_at, room);
    return !bpl_failed(p->session);
}

static bool pair_axis(bpl_pairing *p, bpl_paired_axis *axis)
{
    if (axis->left == NO_AXIS || axis->right == NO_AXIS) {
        axis->extent = axis->left == NO_AXIS ? bpl_shape(p->right)[axis->right] : bpl_shape(p->left)[axis->left];
        return true;
    }
    const bpl_axis *left = axis_of(p->left, axis->left), *right = axis_of(p->right, axis->right);
    if (left && right && left->labels && right->labels) return unite_labels(p, axis, left, right);
    int64_t a = bpl_shape(p->left)[axis->left], b = bpl_shape(p->right)[axis->right];
    axis->extent = a == 1 ? b : a;
    axis->left_stretched = a == 1 && b != 1;
    axis->right_stretched = b == 1 && a != 1;
    if (a == b || axis->left_stretched || axis->right_stretched) return true;
    return bpl_fail(p->session, BPL_LENGTH, "lengths %lld and %lld don't agree", (long long)a, (long long)b), false;
}

/* ---- which cells --------------------------------------------------------------------------------------------------------------------- */

/* Whether the argument's axes are those of the frame, in order, each whole or repeated. */
static void note_broadcast(const bpl_pairing *p, bpl_frames *frames, bool is_left)
{
    int64_t *shape = is_left ? frames->left_shape : frames->right_shape;
    bool *broadcast = is_left ? &frames->left_broadcast : &frames->right_broadcast;
    uint32_t next = 0;
    *broadcast = true;
    for (uint32_t i = 0; i < p->count; i++) {
        const bpl_paired_axis *axis = &p->axes[i];
        uint32_t own = is_left ? axis->left : axis->right;
        shape[i] = own == NO_AXIS ? 1 : bpl_shape(is_left ? p->left : p->right)[own];
        if (own != NO_AXIS) *broadcast = *broadcast && own == next++ && !(is_left ? axis->left_at : axis->right_at);
    }
}

/* For each place of the frame the argument's cell. */
static bool cells_of(bpl_pairing *p, bpl_frames *frames, bool is_left, int64_t **cells, bool *shared)
{
    const bpl_value *value = is_left ? p->left : p->right;
    uint32_t own_rank = is_left ? p->left_rank : p->right_rank;
    int64_t strides[WG_MAX_RANK], stride = 1, own_volume = 1;
    for (uint32_t axis = own_rank; axis-- > 0; stride *= bpl_shape(value)[axis]) strides[axis] = stride;
    own_volume = stride;
    bool plain = own_rank == p->count;
    *shared = own_volume == 1;
    for (uint32_t i = 0; i < p->count; i++) {
        bpl_paired_axis *axis = &p->axes[i];
        int64_t *at = is_left ? axis->left_at : axis->right_at;
        uint32_t own = is_left ? axis->left : axis->right;
        plain = plain && own == i && !at && !(is_left ? axis->left_stretched : axis->right_stretched);
        *shared = *shared && !at;
    }
    *cells = NULL;
    if (plain || *shared) return true;
    note_broadcast(p, frames, is_left);
    if (is_left ? frames->left_broadcast : frames->right_broadcast) return true;
    if (!(*cells = positions_new(p->session, frames->volume))) return false;
    int64_t place[2 * WG_MAX_RANK] = {0};
    for (int64_t cell = 0; cell < frames->volume; cell++) {
        int64_t at = 0;
        for (uint32_t i = 0; i < p->count && at >= 0; i++) {
            bpl_paired_axis *axis = &p->axes[i];
            uint32_t own = is_left ? axis->left : axis->right;
            int64_t *positions = is_left ? axis->left_at : axis->right_at;
            if (own == NO_AXIS || (is_left ? axis->left_stretched : axis->right_stretched)) continue;
            int64_t position = positions ? positions[place[i]] : place[i];
            at = position < 0 ? -1 : at + position * strides[own];
        }
        (*cells)[cell] = at;
        for (uint32_t i = p->count; i-- > 0;) {
            if (++place[i] < p->axes[i].extent) break;
            place[i] = 0;
        }
    }
    return true;
}

/* What the result's axes are known by: the left's name and keys, and where it has none the right's. */
static bool frame_keys(bpl_pairing *p)
{
    if (!(p->left && p->left->keys) && !p->right->keys) return true;
    if (!(p->keys = bpl_keys_new(p->session, p->count, p->shape))) return false;
    bool good = true;
    for (uint32_t i = 0; i < p->count && good; i++) {
        bpl_paired_axis *axis = &p->axes[i];
        bpl_axis *to = &p->keys->axes[i];
        const bpl_axis *left = axis_of(p->left, axis->left), *right = axis_of(p->right, axis->right);
        bool left_whole = left && (left->extent == axis->extent || axis->left_at),
             right_whole = right && (right->extent == axis->extent || axis->right_at);
        if (right_whole && right->labels) good = bpl_axis_pick(p->session, to, right, axis->right_at);
        if (good && left_whole && left->labels) good = bpl_axis_pick(p->session, to, left, axis->left_at);
        const char *name = left && left->name ? left->name : right ? right->name : NULL;
        good = good && bpl_axis_set_name(p->session, to, name);
    }
    if (good) bpl_names_once(p->session, p->keys);
    if (good && !bpl_keys_any(p->keys)) {
        bpl_keys_release(p->session, p->keys);
        p->keys = NULL;
    }
    return good;
}

/* Shape and keys of the result. */
static bool settle(bpl_pairing *p)
{
    p->volume = 1;
    if (p->count > WG_MAX_RANK) return bpl_fail(p->session, BPL_LIMIT, "a result of rank %u: %d is the most", p->count, WG_MAX_RANK), false;
    for (uint32_t i = 0; i < p->count; i++) {
        int64_t extent = p->shape[i] = p->axes[i].extent;
        if (extent && p->volume > p->session->preferences.limit / extent)
            return bpl_fail(p->session, BPL_LIMIT, "more than %lld cells", (long long)p->session->preferences.limit), false;
        p->volume *= extent;
    }
    return frame_keys(p);
}

bool bpl_pairing_new(bpl_session *session, const bpl_value *left, uint32_t left_rank, const bpl_value *right, uint32_t right_rank,
                     bpl_pairing *pairing)
{
    *pairing = (bpl_pairing){.session = session, .left = left, .right = right, .left_rank = left ? left_rank : 0, .right_rank = right_rank};
    order_axes(pairing);
    bool good = true;
    for (uint32_t i = 0; i < pairing->count && good; i++) good = pair_axis(pairing, &pairing->axes[i]);
    good = good && settle(pairing);
    if (!good) bpl_pairing_free(pairing);
    return good;
}

void bpl_pairing_free(bpl_pairing *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        positions_free(p->session, p->axes[i].left_at, p->axes[i].extent);
        positions_free(p->session, p->axes[i].right_at, p->axes[i].extent);
    }
    bpl_keys_release(p->session, p->keys);
    p->count = 0;
    p->keys = NULL;
}

/* The cells of a pairing, which is freed; its keys go along. */
static bool finish(bpl_pairing *p, bpl_frames *frames)
{
    frames->rank = p->count;
    frames->volume = p->volume;
    memcpy(frames->shape, p->shape, p->count * sizeof *p->shape);
    bool good = !p->left || cells_of(p, frames, true, &frames->left, &frames->left_shared);
    good = good && cells_of(p, frames, false, &frames->right, &frames->right_shared);
    frames->keys = bpl_keys_keep(p->keys);
    bpl_pairing_free(p);
    if (!good) bpl_frames_free(p->session, frames);
    return good;
}

bool bpl_frames_pair(bpl_session *session, const bpl_value *left, uint32_t left_rank, const bpl_value *right, uint32_t right_rank, bpl_frames *frames)
{
    memset(frames, 0, sizeof *frames);
    bpl_pairing p;
    return bpl_pairing_new(session, left, left_rank, right, right_rank, &p) && finish(&p, frames);
}

bool bpl_frames_outer(bpl_session *session, const bpl_value *left, uint32_t left_rank, const bpl_value *right, uint32_t right_rank,
                      bpl_frames *frames)
{
    memset(frames, 0, sizeof *frames);
    bpl_pairing p = {.session = session, .left = left, .right = right, .left_rank = left_rank, .right_rank = right_rank};
    for (uint32_t a = 0; a < p.left_rank; a++) p.axes[p.count++] = (bpl_paired_axis){.left = a, .right = NO_AXIS, .extent = bpl_shape(left)[a]};
    for (uint32_t b = 0; b < p.right_rank; b++) p.axes[p.count++] = (bpl_paired_axis){.left = NO_AXIS, .right = b, .extent = bpl_shape(right)[b]};
    if (settle(&p)) return finish(&p, frames);
    bpl_pairing_free(&p);
    return false;
}

int64_t bpl_frames_cell(const bpl_frames *frames, bool is_left, int64_t index)
{
    if (is_left ? frames->left_shared : frames->right_shared) return 0;
    const int64_t *at = is_left ? frames->left : frames->right, *shape = is_left ? frames->left_shape : frames->right_shape;
    if (at) return at[index];
    if (!(is_left ? frames->left_broadcast : frames->right_broadcast)) return index;
    int64_t cell = 0, stride = 1;
    for (uint32_t axis = frames->rank; axis-- > 0; index /= frames->shape[axis]) {
        if (shape[axis] != 1) cell += index % frames->shape[axis] * stride;
        stride *= shape[axis];
    }
    return cell;
}

void bpl_frames_free(bpl_session *session, bpl_frames *frames)
{
    if (frames->keys) bpl_keys_release(session, frames->keys);
    positions_free(session, frames->left, frames->volume);
    positions_free(session, frames->right, frames->volume);
    memset(frames, 0, sizeof *frames);
}
