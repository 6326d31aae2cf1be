/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Creation and layout.
 * The expected items are what NumPy 2.4 answers for the same call. */
#include "lazy/array_world.h"

static void creation_1(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_zeros(o->lazy, WG_KIND_F64, WG_EXTENTS(2, 2))), F64, 2, ({2, 2}), ({0, 0, 0, 0}));
    CASE((wg_array_ones(o->lazy, WG_KIND_I32, 0, NULL)), I32, 0, ({0}), ({1}));
    CASE((wg_array_full(o->lazy, WG_KIND_F32, WG_EXTENTS(0, 3), 4)), F32, 2, ({0, 3}), ({0}));
    CASE((wg_array_from(o->lazy, WG_KIND_I32, WG_EXTENTS(2, 2), (int32_t[]){1, -2, 3, 4})), I32, 2, ({2, 2}), ({1, -2, 3, 4}));
    CASE((wg_array_from(o->lazy, WG_KIND_F64, WG_EXTENTS(0, 3), NULL)), F64, 2, ({0, 3}), ({0}));
    CASE((wg_array_full_like(o->b, 1)), BOOL, 2, ({2, 3}), ({1, 1, 1, 1, 1, 1}));
    CASE((wg_array_iota(o->lazy, WG_KIND_I64, WG_EXTENTS(2, 3), -1)), I64, 2, ({2, 3}), ({0, 1, 2, 0, 1, 2}));
    CASE((wg_array_arange(o->lazy, WG_KIND_I64, 2, 11, 3)), I64, 1, ({3}), ({2, 5, 8}));
    CASE((wg_array_arange(o->lazy, WG_KIND_I64, 5, 0, -2)), I64, 1, ({3}), ({5, 3, 1}));
    CASE((wg_array_arange(o->lazy, WG_KIND_I32, 5, 2, 1)), I32, 1, ({0}), ({0}));
    CASE((wg_array_arange(o->lazy, WG_KIND_F64, 0.5, 2.1, 0.25)), F64, 1, ({7}), ({0.5, 0.75, 1, 1.25, 1.5, 1.75, 2}));
    CASE((wg_array_arange(o->lazy, WG_KIND_F32, 0, 1, 0.25)), F32, 1, ({4}), ({0, 0.25, 0.5, 0.75}));
    CASE((wg_array_linspace(o->lazy, WG_KIND_F64, -1, 2, 7, true)), F64, 1, ({7}), ({-1, -0.5, 0, 0.5, 1, 1.5, 2}));
    CASE((wg_array_linspace(o->lazy, WG_KIND_F64, 0, 1, 4, false)), F64, 1, ({4}), ({0, 0.25, 0.5, 0.75}));
    CASE((wg_array_linspace(o->lazy, WG_KIND_F64, 3, 5, 1, true)), F64, 1, ({1}), ({3}));
    CASE((wg_array_linspace(o->lazy, WG_KIND_F64, 3, 5, 0, true)), F64, 1, ({0}), ({0}));
    CASE((wg_array_linspace(o->lazy, WG_KIND_F32, 0, 0.1, 3, true)), F32, 1, ({3}), ({0, 0.05000000074505806, 0.10000000149011612}));
    CASE((wg_array_eye(o->lazy, WG_KIND_F64, 2, 3, 1)), F64, 2, ({2, 3}), ({0, 1, 0, 0, 0, 1}));
    CASE((wg_array_eye(o->lazy, WG_KIND_I64, 3, 2, -1)), I64, 2, ({3, 2}), ({0, 0, 1, 0, 0, 1}));
    CASE((wg_array_diag(o->v, 0)), F64, 2, ({4, 4}), ({-1.5, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, -2}));
    CASE((wg_array_diag(o->n3b, 2)), F64, 2, ({5, 5}), ({0, 0, 1, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 2.5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
    CASE((wg_array_diag(o->n3b, -1)), F64, 2, ({4, 4}), ({0, 0, 0, 0, 1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 2.5, 0}));
    CASE((wg_array_diag(o->y, 0)), F64, 1, ({3}), ({0, 1, 2}));
    CASE((wg_array_diag(o->y, 3)), F64, 1, ({1}), ({-0.5}));
    CASE((wg_array_diag(o->y, -2)), F64, 1, ({1}), ({0.5}));
    CASE((wg_array_diag(o->y, 9)), F64, 1, ({0}), ({0}));
    CASE((wg_array_diag(wg_array_zeros(o->lazy, WG_KIND_F64, WG_EXTENTS(0)), 1)), F64, 2, ({1, 1}), ({0}));
    CASE((wg_array_diagonal(o->x, 1, 0, 2)), F64, 2, ({3, 2}), ({1.5, -2.5, -1, 0.5, 2, -2}));
    CASE((wg_array_diagonal(o->x, -1, -1, 1)), F64, 2, ({2, 3}), ({1.5, 2.5, -2, -0.5, 0.5, 1.5}));
    CASE((wg_array_tri(o->lazy, WG_KIND_F64, 3, 4, -1)), F64, 2, ({3, 4}), ({0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0}));
    CASE((wg_array_tril(o->x, 0)), F64, 3, ({2, 3, 4}), ({-2, 0, 0, 0, 1, -1, 0, 0, -1.5, 2, 0, 0, 1.5, 0, 0, 0, -1, 2.5, 0, 0, 2, 0, -2,
         0}));
    CASE((wg_array_triu(o->y, 1)), F64, 2, ({3, 4}), ({0, -2, 1.5, -0.5, 0, 0, -1, 2.5, 0, 0, 0, 0}));
}

static void creation_2(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_triu(o->b, 1)), BOOL, 2, ({2, 3}), ({0, 1, 1, 0, 0, 0}));
    CASE((wg_array_one_hot(o->j, 4, WG_KIND_F32)), F32, 2, ({3, 4}), ({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0}));
}

static void shapes(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_reshape(o->x, WG_EXTENTS(6, -1))), F64, 2, ({6, 4}), ({-2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5, -0.5,
         -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_reshape(o->x, WG_EXTENTS(-1))), F64, 1, ({24}), ({-2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5, -0.5, -2.5,
         1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_reshape(o->s, WG_EXTENTS(1, 1))), F64, 2, ({1, 1}), ({0.5}));
    CASE((wg_array_reshape(o->e, WG_EXTENTS(3, -1))), F64, 2, ({3, 0}), ({0}));
    CASE((wg_array_reshape(wg_array_narrow(o->v, 0, 1, 1, 1), 0, NULL)), F64, 0, ({0}), ({2}));
    CASE((wg_array_flatten(o->y)), F64, 1, ({12}), ({0, -2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0}));
    CASE((wg_array_flatten(o->s)), F64, 1, ({1}), ({0.5}));
    CASE((wg_array_squeeze(o->c, WG_ALL_AXES)), F64, 1, ({3}), ({-0.5, -2.5, 1}));
    CASE((wg_array_squeeze(o->c, WG_AXES(-1))), F64, 1, ({3}), ({-0.5, -2.5, 1}));
    CASE((wg_array_expand_dims(o->y, WG_AXES(0, -1))), F64, 4, ({1, 3, 4, 1}), ({0, -2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0}));
    CASE((wg_array_expand_dims(o->s, WG_AXES(0))), F64, 1, ({1}), ({0.5}));
}

static void orders_of_axes(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_transpose(o->x)), F64, 3, ({4, 3, 2}), ({-2, 1.5, 1, -1, -1.5, 2, 1.5, -0.5, -1, 2.5, 2, 0, -0.5, -2.5, 2.5, 0.5, 0, -2,
         -2.5, 1, 0.5, -1.5, -2, 1.5}));
    CASE((wg_array_permute(o->x, (int32_t[]){1, -1, 0}, 3)), F64, 3, ({3, 4, 2}), ({-2, 1.5, 1.5, -0.5, -0.5, -2.5, -2.5, 1, 1, -1, -1,
         2.5, 2.5, 0.5, 0.5, -1.5, -1.5, 2, 2, 0, 0, -2, -2, 1.5}));
    CASE((wg_array_matrix_transpose(o->x)), F64, 3, ({2, 4, 3}), ({-2, 1, -1.5, 1.5, -1, 2, -0.5, 2.5, 0, -2.5, 0.5, -2, 1.5, -1, 2, -0.5,
         2.5, 0, -2.5, 0.5, -2, 1, -1.5, 1.5}));
    CASE((wg_array_swap_axes(o->x, 0, -1)), F64, 3, ({4, 3, 2}), ({-2, 1.5, 1, -1, -1.5, 2, 1.5, -0.5, -1, 2.5, 2, 0, -0.5, -2.5, 2.5, 0.5,
         0, -2, -2.5, 1, 0.5, -1.5, -2, 1.5}));
    CASE((wg_array_move_axis(o->z, (int32_t[]){0, -1}, (int32_t[]){-2, 0}, 2)), F64, 4, ({3, 2, 2, 2}), ({-0.5, -1, -2.5, 2.5, -1.5, -2, 2,
         1.5, -2.5, 2.5, 1, 0.5, 2, 1.5, 0, -0.5, 1, 0.5, -1, -1.5, 0, -0.5, -2, -2.5}));
    CASE((wg_array_move_axis(o->x, (int32_t[]){2}, (int32_t[]){0}, 1)), F64, 3, ({4, 2, 3}), ({-2, 1, -1.5, 1.5, -1, 2, 1.5, -1, 2, -0.5,
         2.5, 0, -0.5, 2.5, 0, -2.5, 0.5, -2, -2.5, 0.5, -2, 1, -1.5, 1.5}));
    CASE((wg_array_flip(o->x, WG_ALL_AXES)), F64, 3, ({2, 3, 4}), ({1.5, -2, 0, 2, -1.5, 0.5, 2.5, -1, 1, -2.5, -0.5, 1.5, -2, 0, 2, -1.5,
         0.5, 2.5, -1, 1, -2.5, -0.5, 1.5, -2}));
    CASE((wg_array_flip(o->x, WG_AXES(-1, 0))), F64, 3, ({2, 3, 4}), ({1, -2.5, -0.5, 1.5, -1.5, 0.5, 2.5, -1, 1.5, -2, 0, 2, -2.5, -0.5,
         1.5, -2, 0.5, 2.5, -1, 1, -2, 0, 2, -1.5}));
    CASE((wg_array_reverse(o->v, -1)), F64, 1, ({4}), ({-2, 0, 2, -1.5}));
    CASE((wg_array_roll(o->y, (int64_t[]){1}, NULL, 1)), F64, 2, ({3, 4}), ({0, 0, -2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2}));
    CASE((wg_array_roll(o->y, (int64_t[]){-1, 6}, (int32_t[]){0, -1}, 2)), F64, 2, ({3, 4}), ({-1, 2.5, -2.5, 1, 2, 0, 0.5, -1.5, 1.5,
         -0.5, 0, -2}));
    CASE((wg_array_roll(o->e, (int64_t[]){2}, (int32_t[]){0}, 1)), F64, 2, ({0, 3}), ({0}));
}

static void broadcasting(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_broadcast_to(o->c, WG_EXTENTS(2, 3, 2))), F64, 3, ({2, 3, 2}), ({-0.5, -0.5, -2.5, -2.5, 1, 1, -0.5, -0.5, -2.5, -2.5,
         1, 1}));
    CASE((wg_array_broadcast_to(o->s, WG_EXTENTS(2, 0))), F64, 2, ({2, 0}), ({0}));
    CASE((wg_array_broadcast_to(o->v, WG_EXTENTS(2, 4))), F64, 2, ({2, 4}), ({-1.5, 2, 0, -2, -1.5, 2, 0, -2}));
    CASE((wg_array_broadcast_along(o->n3b, -1, 2)), F64, 2, ({3, 2}), ({1, 1, -1, -1, 2.5, 2.5}));
    CASE((wg_array_broadcast_along(o->n3b, 0, 2)), F64, 2, ({2, 3}), ({1, -1, 2.5, 1, -1, 2.5}));
}

static void parts_and_wholes(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_narrow(o->x, -1, 1, 2, 2)), F64, 3, ({2, 3, 2}), ({1.5, -2.5, -1, 0.5, 2, -2, -0.5, 1, 2.5, -1.5, 0, 1.5}));
    CASE((wg_array_concat((wg_array *[]){o->y, o->c, o->y}, 3, -1)), F64, 2, ({3, 9}), ({0, -2, 1.5, -0.5, -0.5, 0, -2, 1.5, -0.5, -2.5, 1,
         -1, 2.5, -2.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, 1, 0.5, -1.5, 2, 0}));
    CASE((wg_array_concat((wg_array *[]){o->e, o->n3}, 2, 0)), F64, 2, ({5, 3}), ({-1.5, 2, 0, -2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5,
         2, 0, -2}));
    CASE((wg_array_stack((wg_array *[]){o->v, o->v}, 2, -1)), F64, 2, ({4, 2}), ({-1.5, -1.5, 2, 2, 0, 0, -2, -2}));
    CASE((wg_array_stack((wg_array *[]){o->s, o->s, o->s}, 3, 0)), F64, 1, ({3}), ({0.5, 0.5, 0.5}));
    CASE((wg_array_stack((wg_array *[]){o->y, o->y}, 2, 1)), F64, 3, ({3, 2, 4}), ({0, -2, 1.5, -0.5, 0, -2, 1.5, -0.5, -2.5, 1, -1, 2.5,
         -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, 0.5, -1.5, 2, 0}));
    CASE((wg_array_tile(o->v, 2, (int64_t[]){2, 3})), F64, 2, ({2, 12}), ({-1.5, 2, 0, -2, -1.5, 2, 0, -2, -1.5, 2, 0, -2, -1.5, 2, 0, -2,
         -1.5, 2, 0, -2, -1.5, 2, 0, -2}));
    CASE((wg_array_tile(o->x, 1, (int64_t[]){2})), F64, 3, ({2, 3, 8}), ({-2, 1.5, -0.5, -2.5, -2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, 1, -1,
         2.5, 0.5, -1.5, 2, 0, -2, -1.5, 2, 0, -2, 1.5, -0.5, -2.5, 1, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, -1, 2.5, 0.5, -1.5, 2, 0,
         -2, 1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_tile(o->y, 2, (int64_t[]){0, 2})), F64, 2, ({0, 8}), ({0}));
    CASE((wg_array_repeat(o->y, 2, 0)), F64, 2, ({6, 4}), ({0, -2, 1.5, -0.5, 0, -2, 1.5, -0.5, -2.5, 1, -1, 2.5, -2.5, 1, -1, 2.5, 0.5,
         -1.5, 2, 0, 0.5, -1.5, 2, 0}));
    CASE((wg_array_repeat(o->y, 3, -1)), F64, 2, ({3, 12}), ({0, 0, 0, -2, -2, -2, 1.5, 1.5, 1.5, -0.5, -0.5, -0.5, -2.5, -2.5, -2.5, 1, 1,
         1, -1, -1, -1, 2.5, 2.5, 2.5, 0.5, 0.5, 0.5, -1.5, -1.5, -1.5, 2, 2, 2, 0, 0, 0}));
    CASE((wg_array_repeat(o->y, 0, 0)), F64, 2, ({0, 4}), ({0}));
    CASE((wg_array_repeat_each(o->y, wg_array_abs(o->j), 0)), F64, 2, ({8, 4}), ({0, -2, 1.5, -0.5, -2.5, 1, -1, 2.5, -2.5, 1, -1, 2.5,
         -2.5, 1, -1, 2.5, -2.5, 1, -1, 2.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, 0.5, -1.5, 2, 0}));
    CASE((wg_array_repeat_each(o->m, wg_array_convert(wg_array_and(o->i4, 1), WG_KIND_I32), 0)), F64, 2, ({3, 3}), ({1, -1, 2.5, 0.5, -1.5,
         2, 0, -2, 1.5}));
}

static void borders(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_pad(o->y, (int64_t[]){1, 0}, (int64_t[]){0, 2}, "constant", 1.5)), F64, 2, ({4, 6}), ({1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 0,
         -2, 1.5, -0.5, 1.5, 1.5, -2.5, 1, -1, 2.5, 1.5, 1.5, 0.5, -1.5, 2, 0, 1.5, 1.5}));
    CASE((wg_array_pad(o->i, (int64_t[]){0, 1}, (int64_t[]){1, 1}, "constant", 9)), I64, 2, ({3, 5}), ({9, -3, 4, 0, 9, 9, -4, 3, -1, 9, 9,
         9, 9, 9, 9}));
    CASE((wg_array_pad(o->y, (int64_t[]){1, 2}, (int64_t[]){2, 1}, "edge", 0)), F64, 2, ({6, 7}), ({0, 0, 0, -2, 1.5, -0.5, -0.5, 0, 0, 0,
         -2, 1.5, -0.5, -0.5, -2.5, -2.5, -2.5, 1, -1, 2.5, 2.5, 0.5, 0.5, 0.5, -1.5, 2, 0, 0, 0.5, 0.5, 0.5, -1.5, 2, 0, 0, 0.5, 0.5, 0.5,
         -1.5, 2, 0, 0}));
    CASE((wg_array_pad(o->y, (int64_t[]){2, 3}, (int64_t[]){1, 2}, "reflect", 0)), F64, 2, ({6, 9}), ({0, 2, -1.5, 0.5, -1.5, 2, 0, 2,
         -1.5, 2.5, -1, 1, -2.5, 1, -1, 2.5, -1, 1, -0.5, 1.5, -2, 0, -2, 1.5, -0.5, 1.5, -2, 2.5, -1, 1, -2.5, 1, -1, 2.5, -1, 1, 0, 2,
         -1.5, 0.5, -1.5, 2, 0, 2, -1.5, 2.5, -1, 1, -2.5, 1, -1, 2.5, -1, 1}));
    CASE((wg_array_pad(o->v, (int64_t[]){7}, (int64_t[]){9}, "reflect", 0)), F64, 1, ({20}), ({2, -1.5, 2, 0, -2, 0, 2, -1.5, 2, 0, -2, 0,
         2, -1.5, 2, 0, -2, 0, 2, -1.5}));
    CASE((wg_array_pad(o->v, (int64_t[]){7}, (int64_t[]){9}, "symmetric", 0)), F64, 1, ({20}), ({2, 0, -2, -2, 0, 2, -1.5, -1.5, 2, 0, -2,
         -2, 0, 2, -1.5, -1.5, 2, 0, -2, -2}));
    CASE((wg_array_pad(o->v, (int64_t[]){5}, (int64_t[]){6}, "wrap", 0)), F64, 1, ({15}), ({-2, -1.5, 2, 0, -2, -1.5, 2, 0, -2, -1.5, 2, 0,
         -2, -1.5, 2}));
    CASE((wg_array_pad(o->c, (int64_t[]){0, 2}, (int64_t[]){0, 1}, "reflect", 0)), F64, 2, ({3, 4}), ({-0.5, -0.5, -0.5, -0.5, -2.5, -2.5,
         -2.5, -2.5, 1, 1, 1, 1}));
    CASE((wg_array_pad(o->s, NULL, NULL, "edge", 0)), F64, 0, ({0}), ({0.5}));
    CASE((wg_array_unfold(o->p, 0, 3, 2, 1)), F64, 2, ({2, 3}), ({2, 0, -2, -2, 1.5, -0.5}));
    CASE((wg_array_fold(wg_array_unfold(o->p, -1, 2, 2, 1), -2, 2, 2, 1, 6)), F64, 1, ({6}), ({2, 0, -2, 1.5, -0.5, -2.5}));
}

static void grids_and_pieces(void **state)
{
    const array_world *o = *state;
    wg_array *vectors[2] = {o->n3b, o->v}, *grids[2], *pieces[4];
    assert_true(wg_array_meshgrid(vectors, 2, false, grids));
    CASE((wg_array_array_equal(grids[0], wg_array_broadcast_to(wg_array_reshape(o->n3b, WG_EXTENTS(3, 1)), WG_EXTENTS(3, 4)))), BOOL, 0,
         ({0}), ({1}));
    CASE((wg_array_array_equal(grids[1], wg_array_broadcast_to(o->v, WG_EXTENTS(3, 4)))), BOOL, 0, ({0}), ({1}));
    assert_true(wg_array_meshgrid(vectors, 2, true, grids));
    CASE((wg_array_array_equal(grids[0], wg_array_broadcast_to(o->n3b, WG_EXTENTS(4, 3)))), BOOL, 0, ({0}), ({1}));
    assert_true(wg_array_split(o->p, 3, 0, pieces));
    CASE((pieces[1]), F64, 1, ({2}), ({-2, 1.5}));
    assert_true(wg_array_split_at(o->p, (int64_t[]){4, 2, -1}, 3, -1, pieces));
    assert_int_equal(wg_array_volume(pieces[0]), 4);
    assert_int_equal(wg_array_volume(pieces[1]), 0);
    assert_int_equal(wg_array_volume(pieces[2]), 3);
    assert_int_equal(wg_array_volume(pieces[3]), 1);
    assert_true(wg_array_broadcast_arrays((wg_array *[]){o->c, o->v}, 2, pieces));
    CASE((wg_array_array_equal(pieces[0], wg_array_broadcast_to(o->c, WG_EXTENTS(3, 4)))), BOOL, 0, ({0}), ({1}));
    FAILS(wg_array_split(o->p, 4, 0, pieces), WG_SHAPE, "axis 0 of [6] is not 4 equal pieces");
    assert_null(pieces[0]);
}

static void what_does_not_fit_says_so(void **state)
{
    const array_world *o = *state;
    FAILS(wg_array_reshape(o->x, WG_EXTENTS(5, -1)), WG_SHAPE, "no extent makes [5, -1] of [2, 3, 4]");
    FAILS(wg_array_reshape(o->x, WG_EXTENTS(-1, -1)), WG_SHAPE, "one extent may be -1");
    FAILS(wg_array_reshape(o->x, WG_EXTENTS(5, 5)), WG_SHAPE, "[2, 3, 4]");
    FAILS(wg_array_squeeze(o->x, WG_AXES(0)), WG_SHAPE, "axis 0 of [2, 3, 4] is not of extent 1");
    FAILS(wg_array_expand_dims(o->v, WG_AXES(0, -3)), WG_ARGUMENT, "axis -3 is named twice");
    FAILS(wg_array_permute(o->x, (int32_t[]){0, 0, 1}, 3), WG_ARGUMENT, "axis 0 is named twice");
    FAILS(wg_array_permute(o->x, (int32_t[]){0, 1}, 2), WG_SHAPE, "an order of 2 axes does not fit [2, 3, 4]");
    FAILS(wg_array_swap_axes(o->v, 0, 1), WG_SHAPE, "there is no axis 1 in [4]");
    FAILS(wg_array_broadcast_to(o->y, WG_EXTENTS(4, 4)), WG_SHAPE, "cannot broadcast [3, 4] to [4, 4]");
    FAILS(wg_array_concat((wg_array *[]){o->y, o->m}, 2, 0), WG_SHAPE, "cannot join [3, 4] and [4, 3]");
    FAILS(wg_array_stack((wg_array *[]){o->y, o->m}, 2, 0), WG_SHAPE, "stack cannot join [3, 4] and [4, 3]");
    FAILS(wg_array_pad(o->v, (int64_t[]){-1}, (int64_t[]){0}, "edge", 0), WG_ARGUMENT, "a border of axis 0 is negative");
    FAILS(wg_array_pad(o->v, (int64_t[]){1}, (int64_t[]){0}, "linear", 0), WG_ARGUMENT, "does not know the mode");
    FAILS(wg_array_pad(o->e, (int64_t[]){1, 0}, (int64_t[]){0, 0}, "edge", 0), WG_SHAPE, "has nothing to repeat");
    FAILS(wg_array_arange(o->lazy, WG_KIND_I64, 0, 1, 0), WG_ARGUMENT, "no count of numbers");
    FAILS(wg_array_linspace(o->lazy, WG_KIND_I64, 0, 1, 3, true), WG_KIND, "linspace makes floats");
    FAILS(wg_array_full(o->lazy, WG_KIND_F64, WG_EXTENTS(2, -1), 0), WG_SIZE, "[2, -1] is no shape");
    FAILS(wg_array_from(o->lazy, WG_KIND_F64, WG_EXTENTS(2), NULL), WG_ARGUMENT, "NULL");
    FAILS(wg_array_from(o->lazy, WG_KIND_F64, WG_EXTENTS(-2), (double[]){0}), WG_SIZE, "from: [-2] is no shape");
    FAILS(wg_array_tril(o->v, 0), WG_SHAPE, "tril takes matrices");
    FAILS(wg_array_repeat_each(o->y, o->k, 0), WG_SHAPE, "counts [5] are not one for each position of axis 0 of [3, 4]");
    FAILS(wg_array_repeat_each(o->y, o->n3b, 0), WG_KIND, "takes integer positions, not f64");
    FAILS(wg_array_diagonal(o->y, 0, 1, -1), WG_ARGUMENT, "two axes");
    FAILS(wg_array_tile(o->v, 1, (int64_t[]){-2}), WG_ARGUMENT, "cannot stand -2 times");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(creation_1, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(creation_2, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(shapes, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(orders_of_axes, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(broadcasting, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(parts_and_wholes, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(borders, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(grids_and_pieces, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(what_does_not_fit_says_so, array_world_open, array_world_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
