/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Where items of an array are: the recipe that reading (index.c) and writing (write.c) share. recipe.c makes it. */
#ifndef BPL_WRITE_H
#define BPL_WRITE_H

#include "bpl/evaluate.h"

/* Some axes of the source, and what is selected of them: every position, some positions (as a row-major position in those axes), or nothing of
 * no axis (a new one). Its dimensions stand together in the result. */
typedef struct bpl_group {
    uint32_t axis_count, axes[WG_MAX_RANK];
    bool whole, fills;     /* fills: a position is -1, which reads as the fill and is not written */
    int64_t extent;        /* of the axes together */
    int64_t count;
    const int64_t *at;     /* [count]; NULL of whole ones and new axes */
    int64_t *own;          /* at, where it was allocated; NULL: the items of `positions` themselves */
    uint32_t rank;
    int64_t shape[WG_MAX_RANK];
    bpl_keys *names;       /* of the positions: borrowed from `positions`; NULL: none */
    bpl_value *positions;  /* owned; NULL: none */
} bpl_group;

typedef struct bpl_recipe {
    uint32_t count;
    bpl_group groups[2 * WG_MAX_RANK];
    uint32_t rank;         /* of the result */
    int64_t shape[WG_MAX_RANK];
    int64_t volume;
    bpl_value *fill;       /* what -1 reads as, borrowed; NULL: the array's own fill */
    bool drops;            /* every axis has one position, none of them an array: the result is an item */
} bpl_recipe;

/* Selectors [count] of a bracket or of ⌷; arrays pair (x.[..]) or cross (⌷). Everything is checked. False: an error. Free it in each case. */
bool bpl_recipe_make(bpl_session *session, const bpl_value *value, bpl_value *const *selectors, uint32_t count, bool pair, bpl_recipe *recipe);
/* The axes that selectors are for, UINT32_MAX: none. False: an error. */
bool bpl_selector_axes(bpl_session *session, const bpl_value *value, bpl_value *const *selectors, uint32_t count, uint32_t *axes);
void bpl_recipe_free(bpl_session *session, bpl_recipe *recipe);
/* Positions in the source [volume], row-major over the result, -1: fill. Allocated: base_free of volume * 8 bytes. */
int64_t *bpl_recipe_positions(bpl_session *session, const bpl_value *value, const bpl_recipe *recipe);

bpl_value *bpl_recipe_read(bpl_session *session, bpl_value *value, const bpl_recipe *recipe);

/* The keys of what a recipe selects; *keys NULL where there are none. index.c */
bool bpl_recipe_keys(bpl_session *session, const bpl_value *value, const bpl_recipe *recipe, bpl_keys **keys);
/* Values for places with these keys (NULL: none) in their order; INDEX where a key has no value. Owned. index.c */
bpl_value *bpl_align(bpl_session *session, const bpl_keys *keys, bpl_value *value);
/* The item of a key of a record, owned; NULL (and no error) where there is none. index.c */
bpl_value *bpl_at_key(bpl_session *session, const bpl_value *value, const bpl_value *key);

/* A key: a text. */
static inline bool bpl_is_key(const bpl_value *value) { return value->type == BPL_CHARACTERS && bpl_rank(value) <= 1; }
/* Does a selector enter the items of its array: coordinates longer than its axes, or with keys in them? */
bool bpl_is_deep(const bpl_value *value, const bpl_value *selector);
/* The item at a coordinate (a vector of positions and keys), entering items. Owned. */
bpl_value *bpl_deep_item(bpl_session *session, const bpl_value *value, const bpl_value *coordinate);

/* The item at a coordinate from its position `first` on becomes value. */
bool bpl_deep_write(bpl_session *session, bpl_value **root, const bpl_value *coordinate, int64_t first, bpl_value *value);

/* assign.c: the nearest binding of a name gets a value (borrowed); bound in the innermost frame where there is none. */
bool bpl_set_nearest(bpl_session *session, bpl_symbol name, bpl_value *value);
/* May the nearest binding of a name be changed from here (a map that is tried may not change what is outside)? */
bool bpl_may_write(bpl_session *session, bpl_symbol name);
/* May a value go where the nearest binding of a name is: does it hold no dfn of a frame that ends before? */
bool bpl_closure_may_leave(bpl_session *session, bpl_symbol name, const bpl_value *value);
/* target←value, target function←value, target function← (value NULL). */
bool bpl_assign_to(bpl_session *session, const bpl_node *target, bpl_value *value, bpl_value *function);

/* path←value, path function←value, or path function← (value NULL). Everything borrowed. */
bool bpl_write_path(bpl_session *session, const bpl_node *target, bpl_value *value, bpl_value *function);
/* The same at what a selection of a name selects. */
bool bpl_write_selection(bpl_session *session, const bpl_node *selection, bpl_value *value, bpl_value *function);

/* What a selection reads, found out by calling it on ids in the place of items. An array like value with ids for its innermost items, numbered from
 * *next (1 at first) on; an atom is an array without axes there, which a selection reads as the whole where it answers this very array; the number of an id (0: a fill's; above the last one: no id of these). */
bpl_value *bpl_ids_like(bpl_session *session, const bpl_value *value, uint64_t *next);
uint64_t bpl_id_number(uint64_t id);
/* The item of the source whose ids are this very array, borrowed; NULL: none of its items is. */
bpl_value *bpl_whole_item(const bpl_value *ids, const bpl_value *source, const bpl_value *selected);
/* The source, which `ids` (numbers 1 to count) stand for, with value where the ids `selected` are. Owned; DOMAIN: something else is there. */
bpl_value *bpl_ids_write(bpl_session *session, bpl_value *source, bpl_value *ids, uint64_t count, bpl_value *selected, bpl_value *value);

#endif
