/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Batching: a recorded function mapped over a new axis, the frame. Every row has a whole-array rule, and each cell of the result has the
 * bits of the unbatched function. */
#ifndef WENGERT_BATCH_H
#define WENGERT_BATCH_H

#include "wengert/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Records the map of the function from inputs [count] to results [result_count], any nodes of the tape: frames[i] are the cells of
 * inputs[i], its shape with the frame put in as axis in_axes[i] (NULL: 0), and mapped[j] receives the shape of results[j] with the frame as
 * axis out_axes[j] (NULL: 0). The frame may be 0, and a named extent. What does not depend on the inputs is shared by the cells; a result
 * of that kind is repeated along the frame. An input counts as it is given, whatever it is computed from. Nodes of the map are recorded
 * behind the others; nothing is changed. False and a tape error: no inputs, one given twice (WG_ARGUMENT), a kind that differs (WG_KIND),
 * shapes or frames that do not fit, an axis that there is not (WG_SHAPE), or what a row says of a rank above WG_MAX_RANK or a size that is
 * too large. */
WG_API bool wg_vmap(wg_tape *tape, const wg_value *results, uint32_t result_count, const wg_value *inputs, const wg_value *frames,
                    const uint32_t *in_axes, uint32_t count, const uint32_t *out_axes, wg_value *mapped);

/* Records the map of one call of a row: batched operands (batched [operand_count], at least one) have the frame as axis 0, attributes are
 * the cell's. Answers [frame, result of a cell ..]; poison and a tape error: a batched operand without the frame in front (WG_SHAPE), and
 * what wg_record says. */
WG_API wg_value wg_record_mapped(wg_tape *tape, wg_op op, const wg_value *operands, const bool *batched, uint32_t operand_count,
                                 const wg_size *attributes, uint32_t attribute_count, wg_size frame);
/* Whether the map of a row is the row once for each cell, so that its nodes grow with the frame, which must then be a plain number. */
WG_API bool wg_op_is_mapped_by_cells(wg_op op);

/* An input that gets the frame, as this axis. */
typedef struct wg_vmap_input {
    wg_symbol input;
    uint32_t axis;
} wg_vmap_input;

typedef struct wg_vmap_options {
    size_t size;                 /* sizeof(wg_vmap_options) */
    const char *entry;           /* the entry to map; NULL: every declared one */
    const wg_vmap_input *inputs; /* NULL: every input that the entries reach, as axis 0 */
    uint32_t input_count;
    int64_t frame;               /* how many cells: today's number where `extent` is given */
    const char *extent;          /* the name of the frame's extent, new or one of the network's; NULL: a plain number */
    /* Symbols of the network, and where those of the answer go that stand for them ({0, WG_NONE}: no entry reaches it). */
    const wg_symbol *follow; /* [follow_count]; NULL: none */
    uint32_t follow_count;
    wg_symbol *followed;     /* [follow_count] */
} wg_vmap_options;

/* A new network with the map of a network's declared entries over a frame: same names, parameters shared, results with the frame as axis 0.
 * An input with the frame keeps a default that is one number; any other default is gone, and every run must feed it. Carries go where they
 * went: their input must have the frame exactly when their result needs it, as axis 0. NULL and an error: no entry (WG_NAME), a symbol that
 * is no input of the network or is given twice (WG_SYMBOL, WG_ARGUMENT), an axis that an input cannot have (WG_SHAPE), a negative frame, a
 * name that is taken, an extent of another number (WG_NAME, WG_ARGUMENT), and what wg_vmap says. */
WG_API wg_network *wg_network_vmap(const wg_network *network, const wg_vmap_options *options, wg_error *error);

#ifdef __cplusplus
}
#endif
#endif
