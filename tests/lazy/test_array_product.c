/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Products: matrix products by NumPy's rules, contractions, and what is made of them.
 * The expected items are what NumPy 2.4 answers for the same call. */
#include "lazy/array_world.h"

static void matrices(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_matmul(o->v, o->v)), F64, 0, ({0}), ({10.25}));
    CASE((wg_array_matmul(o->y, o->v)), F64, 1, ({3}), ({-3, 0.75, -3.75}));
    CASE((wg_array_matmul(o->n3b, o->y)), F64, 1, ({4}), ({3.75, -6.75, 7.5, -3}));
    CASE((wg_array_matmul(o->y, o->m)), F64, 2, ({3, 3}), ({-1.25, 0.75, -2.75, -3.25, -3.25, 10.5, 0.25, -1.75, -1}));
    CASE((wg_array_matmul(o->x, o->m)), F64, 3, ({2, 3, 3}), ({-1.75, 5.25, 4, 1.75, -4.25, 0.75, -0.25, 2.75, 5.75, 0.5, 1.5, -8.5, 1.25,
         0.25, 7.5, 2, -1, -6.75}));
    CASE((wg_array_matmul(o->x, o->v)), F64, 2, ({2, 3}), ({11, -4.5, 10.25, -5.25, 9.5, -6}));
    CASE((wg_array_matmul(o->n3b, o->x)), F64, 2, ({2, 4}), ({-6.75, 7.5, -3, -8, 7.5, -3, -8, 6.25}));
    CASE((wg_array_matmul(o->m, o->x)), F64, 3, ({2, 4, 4}), ({0.25, -2.25, -2, 1, -6.75, 7.5, -3, -8, -5.5, 6.25, -4, -6, -4.25, 5, -5,
         -4, -2.25, -2, 1, -1.5, 7.5, -3, -8, 6.25, 6.25, -4, -6, 5.75, 5, -5, -4, 5.25}));
    CASE((wg_array_matmul(o->z, o->q)), F64, 4, ({2, 2, 2, 3}), ({2.25, -4.75, -0.75, -3.75, 3.25, -0.75, -1.5, 0.25, -0.75, 0.75, -2.75,
         -0.75, 3, -5.75, -0.75, -0.25, 5, 2, 2, 2, 2, 4.25, -1, 2}));
    CASE((wg_array_matmul(wg_array_matrix_transpose(o->z), o->z)), F64, 4, ({2, 2, 3, 3}), ({1.25, -1.25, -1, -1.25, 12.5, -1.25, -1,
         -1.25, 1.25, 6.25, -6, 1, -6, 6.25, -0.75, 1, -0.75, 0.25, 12.5, -1.25, -1.25, -1.25, 1.25, -1.75, -1.25, -1.75, 3.25, 6.25,
         -0.75, -7.75, -0.75, 0.25, 1.25, -7.75, 1.25, 10.25}));
    CASE((wg_array_matmul(wg_array_reshape(o->z, WG_EXTENTS(4, 1, 2, 3)), wg_array_reshape(o->x, WG_EXTENTS(2, 3, 4)))), F64, 4, ({4, 2, 2,
         4}), ({-3, 3.75, -6, -2, 3.75, -3, 6.75, 2.75, 3.75, -6, -2, 4.75, -3, 6.75, 2.75, -4, 5, -4.25, 5.75, 4.75, 6.25, -5.5, 4.75,
         6.75, -4.25, 5.75, 4.75, -4.5, -5.5, 4.75, 6.75, -5, 7.5, -6.75, 3.75, 8.75, -2.25, 0.25, 0, -3, -6.75, 3.75, 8.75, -5.5, 0.25, 0,
         -3, -0.5, -1, -1, -1, -1, 0.25, -2.25, -2, 1, -1, -1, -1, -1, -2.25, -2, 1, -1.5}));
    CASE((wg_array_matmul(o->e, o->q)), F64, 2, ({0, 3}), ({0}));
    CASE((wg_array_matmul(wg_array_transpose(o->e), o->e)), F64, 2, ({3, 3}), ({0, 0, 0, 0, 0, 0, 0, 0, 0}));
    CASE((wg_array_matmul(o->i, wg_array_transpose(o->i))), I64, 2, ({2, 2}), ({25, 24, 24, 26}));
    CASE((wg_array_matmul(o->f, wg_array_transpose(o->f))), F32, 2, ({2, 2}), ({8.25, 7, 7, 6.5}));
    CASE((wg_array_matrix_power(o->q, 0)), F64, 2, ({3, 3}), ({1, 0, 0, 0, 1, 0, 0, 0, 1}));
    CASE((wg_array_matrix_power(o->q, 1)), F64, 2, ({3, 3}), ({-1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5, -0.5}));
    CASE((wg_array_matrix_power(o->q, 5)), F64, 2, ({3, 3}), ({3.46875, 4.34375, 3.84375, -3.5625, 8.46875, 1.59375, -10.59375, 12.59375,
         -0.65625}));
}

static void sums_of_products(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_dot(o->v, o->v)), F64, 0, ({0}), ({10.25}));
    CASE((wg_array_dot(o->x, o->v)), F64, 2, ({2, 3}), ({11, -4.5, 10.25, -5.25, 9.5, -6}));
    CASE((wg_array_dot(o->x, o->m)), F64, 3, ({2, 3, 3}), ({-1.75, 5.25, 4, 1.75, -4.25, 0.75, -0.25, 2.75, 5.75, 0.5, 1.5, -8.5, 1.25,
         0.25, 7.5, 2, -1, -6.75}));
    CASE((wg_array_dot(o->y, wg_array_move_axis(o->x, (int32_t[]){-1}, (int32_t[]){1}, 1))), F64, 3, ({3, 2, 3}), ({-2.5, 5.5, -3, -3.25,
         -3.5, -3.75, 0.75, -4.75, 0.75, 0.75, 0.75, 0.75, -4.25, 7, -3.75, -3.5, -3.25, -3}));
    CASE((wg_array_dot(o->s, o->x)), F64, 3, ({2, 3, 4}), ({-1, 0.75, -0.25, -1.25, 0.5, -0.5, 1.25, 0.25, -0.75, 1, 0, -1, 0.75, -0.25,
         -1.25, 0.5, -0.5, 1.25, 0.25, -0.75, 1, 0, -1, 0.75}));
    CASE((wg_array_inner(o->x, o->y)), F64, 3, ({2, 3, 3}), ({-2.5, 0.75, -4.25, 5.5, -4.75, 7, -3, 0.75, -3.75, -3.25, 0.75, -3.5, -3.5,
         0.75, -3.25, -3.75, 0.75, -3}));
    CASE((wg_array_inner(o->v, o->s)), F64, 1, ({4}), ({-0.75, 1, 0, -1}));
    CASE((wg_array_vecdot(o->x, o->v, -1)), F64, 2, ({2, 3}), ({11, -4.5, 10.25, -5.25, 9.5, -6}));
    CASE((wg_array_vecdot(o->y, o->c, 0)), F64, 1, ({4}), ({6.75, -3, 3.75, -6}));
    CASE((wg_array_outer(o->v, o->y)), F64, 2, ({4, 12}), ({-0, 3, -2.25, 0.75, 3.75, -1.5, 1.5, -3.75, -0.75, 2.25, -3, -0, 0, -4, 3, -1,
         -5, 2, -2, 5, 1, -3, 4, 0, 0, -0, 0, -0, -0, 0, -0, 0, 0, -0, 0, 0, -0, 4, -3, 1, 5, -2, 2, -5, -1, 3, -4, -0}));
    CASE((wg_array_outer(o->e, o->v)), F64, 2, ({0, 4}), ({0}));
    CASE((wg_array_tensordot(o->x, o->y, (int32_t[]){1, 2}, (int32_t[]){0, -1}, 2)), F64, 1, ({2}), ({-11, -5.5}));
    CASE((wg_array_tensordot(o->x, o->m, (int32_t[]){-1}, (int32_t[]){0}, 1)), F64, 3, ({2, 3, 3}), ({-1.75, 5.25, 4, 1.75, -4.25, 0.75,
         -0.25, 2.75, 5.75, 0.5, 1.5, -8.5, 1.25, 0.25, 7.5, 2, -1, -6.75}));
    CASE((wg_array_tensordot(o->y, o->v, NULL, NULL, 0)), F64, 3, ({3, 4, 4}), ({0, 0, 0, 0, 3, -4, 0, 4, -2.25, 3, 0, -3, 0.75, -1, 0, 1,
         3.75, -5, 0, 5, -1.5, 2, 0, -2, 1.5, -2, 0, 2, -3.75, 5, 0, -5, -0.75, 1, 0, -1, 2.25, -3, 0, 3, -3, 4, 0, -4, 0, 0, 0, 0}));
    CASE((wg_array_tensordot(o->x, o->x, (int32_t[]){2, 0}, (int32_t[]){2, 0}, 2)), F64, 2, ({3, 3}), ({22.5, -11.5, 20.5, -11.5, 18.25,
         -9.75, 20.5, -9.75, 20.5}));
    CASE((wg_array_trace(o->q, 0, 0, 1)), F64, 0, ({0}), ({0.5}));
    CASE((wg_array_trace(o->x, 1, -1, 1)), F64, 1, ({2}), ({3, -1}));
    CASE((wg_array_cross(o->n3b, wg_array_index(o->q, WG_INDEXES(wg_index_at(1))), -1)), F64, 1, ({3}), ({-5, -3.75, 0.5}));
    CASE((wg_array_cross(o->q, o->n3b, -1)), F64, 2, ({3, 3}), ({6.75, 3, -1.5, 5, 3.75, -0.5, 3.25, 4.5, 0.5}));
    CASE((wg_array_cross(o->y, o->c, 0)), F64, 2, ({3, 4}), ({-1.25, -2.75, 4, 2.5, -0.25, 2.75, -2.5, 0.5, -1.25, 5.5, -4.25, 2.5}));
    CASE((wg_array_kron(o->i, wg_array_eye(o->lazy, WG_KIND_I64, 2, 2, 0))), I64, 2, ({4, 6}), ({-3, 0, 4, 0, 0, 0, 0, -3, 0, 4, 0, 0, -4,
         0, 3, 0, -1, 0, 0, -4, 0, 3, 0, -1}));
    CASE((wg_array_kron(o->v, o->y)), F64, 2, ({3, 16}), ({-0, 3, -2.25, 0.75, 0, -4, 3, -1, 0, -0, 0, -0, -0, 4, -3, 1, 3.75, -1.5, 1.5,
         -3.75, -5, 2, -2, 5, -0, 0, -0, 0, 5, -2, 2, -5, -0.75, 2.25, -3, -0, 1, -3, 4, 0, 0, -0, 0, 0, -1, 3, -4, -0}));
    CASE((wg_array_kron(o->x, o->v)), F64, 3, ({2, 3, 16}), ({3, -4, -0, 4, -2.25, 3, 0, -3, 0.75, -1, -0, 1, 3.75, -5, -0, 5, -1.5, 2, 0,
         -2, 1.5, -2, -0, 2, -3.75, 5, 0, -5, -0.75, 1, 0, -1, 2.25, -3, -0, 3, -3, 4, 0, -4, -0, 0, 0, -0, 3, -4, -0, 4, -2.25, 3, 0, -3,
         0.75, -1, -0, 1, 3.75, -5, -0, 5, -1.5, 2, 0, -2, 1.5, -2, -0, 2, -3.75, 5, 0, -5, -0.75, 1, 0, -1, 2.25, -3, -0, 3, -3, 4, 0, -4,
         -0, 0, 0, -0, 3, -4, -0, 4, -2.25, 3, 0, -3}));
}

static void einstein(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_einsum("ij,jk->ik", (wg_array *[]){o->y, o->m}, 2)), F64, 2, ({3, 3}), ({-1.25, 0.75, -2.75, -3.25, -3.25, 10.5, 0.25,
         -1.75, -1}));
    CASE((wg_array_einsum("ij,jk", (wg_array *[]){o->y, o->m}, 2)), F64, 2, ({3, 3}), ({-1.25, 0.75, -2.75, -3.25, -3.25, 10.5, 0.25,
         -1.75, -1}));
    CASE((wg_array_einsum("ij->ji", (wg_array *[]){o->y}, 1)), F64, 2, ({4, 3}), ({0, -2.5, 0.5, -2, 1, -1.5, 1.5, -1, 2, -0.5, 2.5, 0}));
    CASE((wg_array_einsum("ij->", (wg_array *[]){o->y}, 1)), F64, 0, ({0}), ({0}));
    CASE((wg_array_einsum("ij->j", (wg_array *[]){o->y}, 1)), F64, 1, ({4}), ({-2, -2.5, 2.5, 2}));
    CASE((wg_array_einsum("i,j", (wg_array *[]){o->n3b, o->v}, 2)), F64, 2, ({3, 4}), ({-1.5, 2, 0, -2, 1.5, -2, 0, 2, -3.75, 5, 0, -5}));
    CASE((wg_array_einsum("i,i", (wg_array *[]){o->v, o->v}, 2)), F64, 0, ({0}), ({10.25}));
    CASE((wg_array_einsum("ij,ij->i", (wg_array *[]){o->y, o->y}, 2)), F64, 1, ({3}), ({6.5, 14.5, 6.5}));
    CASE((wg_array_einsum("bij,jk->bik", (wg_array *[]){o->x, o->m}, 2)), F64, 3, ({2, 3, 3}), ({-1.75, 5.25, 4, 1.75, -4.25, 0.75, -0.25,
         2.75, 5.75, 0.5, 1.5, -8.5, 1.25, 0.25, 7.5, 2, -1, -6.75}));
    CASE((wg_array_einsum("...ij,jk->...ik", (wg_array *[]){o->x, o->m}, 2)), F64, 3, ({2, 3, 3}), ({-1.75, 5.25, 4, 1.75, -4.25, 0.75,
         -0.25, 2.75, 5.75, 0.5, 1.5, -8.5, 1.25, 0.25, 7.5, 2, -1, -6.75}));
    CASE((wg_array_einsum("...i,i->...", (wg_array *[]){o->x, o->v}, 2)), F64, 2, ({2, 3}), ({11, -4.5, 10.25, -5.25, 9.5, -6}));
    CASE((wg_array_einsum("...i,...i", (wg_array *[]){o->x, o->y}, 2)), F64, 2, ({2, 3}), ({-2.5, -4.75, -3.75, -3.25, 0.75, -3}));
    CASE((wg_array_einsum("bij,ij->b", (wg_array *[]){o->x, o->y}, 2)), F64, 1, ({2}), ({-11, -5.5}));
    CASE((wg_array_einsum("ba", (wg_array *[]){o->y}, 1)), F64, 2, ({4, 3}), ({0, -2.5, 0.5, -2, 1, -1.5, 1.5, -1, 2, -0.5, 2.5, 0}));
    CASE((wg_array_einsum("ij,jk,kl->il", (wg_array *[]){o->y, o->m, o->y}, 3)), F64, 2, ({3, 4}), ({-3.25, 7.375, -8.125, 2.5, 13.375,
         -12.5, 19.375, -6.5, 3.875, -0.75, 0.125, -4.5}));
    CASE((wg_array_einsum("ij,jk,kl,l->i", (wg_array *[]){o->y, o->m, o->y, o->v}, 4)), F64, 1, ({3}), ({14.625, -32.0625, 1.6875}));
    CASE((wg_array_einsum("ij,j,i->", (wg_array *[]){o->y, o->v, o->n3b}, 3)), F64, 0, ({0}), ({-13.125}));
    CASE((wg_array_einsum("ij,ij->ij", (wg_array *[]){o->y, o->c}, 2)), F64, 2, ({3, 4}), ({0, 1, -0.75, 0.25, 6.25, -2.5, 2.5, -6.25, 0.5,
         -1.5, 2, 0}));
    CASE((wg_array_einsum("ij,jk->k", (wg_array *[]){o->y, o->m}, 2)), F64, 1, ({3}), ({-4.25, -4.25, 6.75}));
    CASE((wg_array_einsum("a...b->b...a", (wg_array *[]){o->x}, 1)), F64, 3, ({4, 3, 2}), ({-2, 1.5, 1, -1, -1.5, 2, 1.5, -0.5, -1, 2.5, 2,
         0, -0.5, -2.5, 2.5, 0.5, 0, -2, -2.5, 1, 0.5, -1.5, -2, 1.5}));
    CASE((wg_array_einsum("i...,i...->...", (wg_array *[]){o->x, o->x}, 2)), F64, 2, ({3, 4}), ({6.25, 2.5, 6.5, 7.25, 2, 7.25, 6.5, 2.5,
         6.25, 4, 4, 6.25}));
    CASE((wg_array_einsum(",ij->ij", (wg_array *[]){o->s, o->y}, 2)), F64, 2, ({3, 4}), ({0, -1, 0.75, -0.25, -1.25, 0.5, -0.5, 1.25, 0.25,
         -0.75, 1, 0}));
    CASE((wg_array_einsum(" i j , j -> i ", (wg_array *[]){o->y, o->v}, 2)), F64, 1, ({3}), ({-3, 0.75, -3.75}));
    CASE((wg_array_einsum("aabc->bc", (wg_array *[]){o->z}, 1)), F64, 2, ({2, 3}), ({1.5, -2.5, -1, 0.5, 2, -2}));
    CASE((wg_array_einsum("aaab->ab", (wg_array *[]){o->z}, 1)), F64, 2, ({2, 3}), ({-0.5, -2.5, 1, 1.5, -0.5, -2.5}));
    CASE((wg_array_einsum("aabc,cd->bd", (wg_array *[]){o->z, o->q}, 2)), F64, 2, ({2, 3}), ({4.25, -2.75, 1.25, 0.5, 2.25, 1.25}));
    CASE((wg_array_einsum("ij,kj->ik", (wg_array *[]){o->y, o->y}, 2)), F64, 2, ({3, 3}), ({6.5, -4.75, 6, -4.75, 14.5, -4.75, 6, -4.75,
         6.5}));
    CASE((wg_array_einsum("ij,ik->kj", (wg_array *[]){o->q, o->y}, 2)), F64, 2, ({4, 3}), ({2.75, -4.25, -0.25, 3.5, -5.25, -0.25, -4,
         4.75, -0.25, -3.25, 3.75, -0.25}));
    CASE((wg_array_einsum("iA,iB->AB", (wg_array *[]){o->q, o->y}, 2)), F64, 2, ({3, 4}), ({2.75, 3.5, -4, -3.25, -4.25, -5.25, 4.75, 3.75,
         -0.25, -0.25, -0.25, -0.25}));
}

static void what_does_not_fit_says_so(void **state)
{
    const array_world *o = *state;
    wg_array *two[2] = {o->y, o->m}, *same[2] = {o->y, o->y};
    FAILS(wg_array_matmul(o->y, o->y), WG_SHAPE, "matmul: [3, 4] and [3, 4] do not fit");
    FAILS(wg_array_matmul(o->s, o->y), WG_SHAPE, "matmul needs axes on both sides, not [] and [3, 4]");
    FAILS(wg_array_matmul(wg_array_broadcast_to(o->q, WG_EXTENTS(5, 3, 3)), wg_array_matrix_transpose(wg_array_swap_axes(o->x, 1, 2))),
          WG_SHAPE,
          "cannot broadcast the axes before the matrices of [5, 3, 3] and [2, 3, 4]");
    FAILS(wg_array_matmul(o->y, wg_array_convert(o->m, WG_KIND_F32)), WG_KIND, "f64 and f32");
    FAILS(wg_array_dot(o->y, o->y), WG_SHAPE, "dot: axis 1 of [3, 4] and axis 0 of [3, 4] differ");
    FAILS(wg_array_tensordot(o->y, o->m, (int32_t[]){0}, (int32_t[]){0}, 1), WG_SHAPE,
          "tensordot: axis 0 of [3, 4] and axis 0 of [4, 3] differ");
    FAILS(wg_array_cross(o->v, o->v, 0), WG_SHAPE, "cross takes vectors of extent 3");
    FAILS(wg_array_matrix_power(o->y, 2), WG_SHAPE, "[3, 4]");
    FAILS(wg_array_solve(o->y, o->y), WG_SHAPE, "[3, 4]");
    FAILS(wg_array_solve(o->q, o->s), WG_SHAPE, "solve takes matrices on the last two axes, not [3, 3] and []");
    FAILS(wg_array_einsum("ij,jk->ik", same, 2), WG_SHAPE, "axis 0 of operand 2, [3, 4], has extent 3; one of its name has 4");
    FAILS(wg_array_einsum("ijk,jk->i", two, 2), WG_SHAPE, "operand 1 has 3 letters for [3, 4]");
    FAILS(wg_array_einsum("ij", two, 2), WG_ARGUMENT, "there are more operands than it names");
    FAILS(wg_array_einsum("ij,jk->i2", two, 2), WG_ARGUMENT, "names no axis: letters do");
    FAILS(wg_array_einsum("ij,jk,kl", two, 2), WG_ARGUMENT, "it names more operands than there are");
    FAILS(wg_array_einsum("ij,jk->ii", two, 2), WG_ARGUMENT, "'i' stands twice in the result");
    FAILS(wg_array_einsum("ij,jk->l", two, 2), WG_ARGUMENT, "'l' of the result stands in no operand");
    FAILS(wg_array_einsum("i1,jk", two, 2), WG_SHAPE, "operand 1 has 1 letters");
    FAILS(wg_array_einsum("...,jk->jk", two, 2), WG_ARGUMENT, "the result needs \"...\"");
    FAILS(wg_array_einsum("..i,jk->jk", two, 2), WG_ARGUMENT, "a point stands alone");
    FAILS(wg_array_einsum("ii->i", two, 1), WG_SHAPE, "axes 0 and 1 of [3, 4] have one name and two extents");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(matrices, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(sums_of_products, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(einstein, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(what_does_not_fit_says_so, array_world_open, array_world_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
