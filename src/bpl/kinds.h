/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What the rules of pervasive functions (rule_*.c) are made with: kinds joined and promoted, what is known without a read, and the few reads
 * that a kind or an error depends on. Arrays belong to the scope that pervasive.c opened. */
#ifndef BPL_KINDS_H
#define BPL_KINDS_H

#include "bpl/bpl.h"

/* The rules of glyphs.def, which are made of each other, too. */
#define DECLARE_NONE(code, ...)
#define DECLARE_WHOLE(code, ...)
#define DECLARE_PERVASIVE(code, ...) bpl_number bpl_rule_##code(__VA_ARGS__);
#define GLYPH(ID, glyph, name, service1, code1, title1, service2, code2, title2) \
    DECLARE_##service1(code1, bpl_session *session, bpl_number a) \
    DECLARE_##service2(code2, bpl_session *session, bpl_number a, bpl_number b)
#include "bpl/glyphs.def"
#undef DECLARE_NONE
#undef DECLARE_WHOLE
#undef DECLARE_PERVASIVE

/* A call that failed: its error is kept. */
static inline bpl_number bpl_nothing(void) { return (bpl_number){.array = NULL, .class = BPL_CLASS_FLOAT}; }
/* An array of the same class and weakness as another, and one of a class of its own. */
static inline bpl_number bpl_like(bpl_number number, wg_array *array) { return (bpl_number){array, number.class, number.weak, false}; }
static inline bpl_number bpl_number_of(wg_array *array, bpl_class class) { return (bpl_number){array, (uint8_t)class, false, false}; }
/* Floats of which no item is below 0 where `nonnegative` says so: integers may wrap, and complex numbers have no order. */
static inline bpl_number bpl_bounded(bpl_number number, bool nonnegative)
{
    number.nonnegative = nonnegative && number.class == BPL_CLASS_FLOAT;
    return number;
}
static inline wg_kind bpl_number_kind(bpl_number number) { return wg_array_kind(number.array); }
static inline bool bpl_is_integral(bpl_number number) { return number.class <= BPL_CLASS_FIXED; }

/* DOMAIN where there are characters; no characters are no numbers, floats. */
bool bpl_numeric(bpl_session *session, bpl_number *a);
/* Numbers, and no complex ones: DOMAIN. */
bool bpl_real(bpl_session *session, bpl_number *a);

/* Both in the kind that arithmetic of them has: the joins of the language. Booleans become ordinary integers. DOMAIN where an ordinary scalar
 * does not fit the fixed kind that it meets. */
bool bpl_join(bpl_session *session, bpl_number *a, bpl_number *b);
/* Does a kind of integers hold a number? */
bool bpl_fits(wg_kind kind, int64_t number);
/* Both in a kind in which they can be compared: integers of any two kinds as 64 bits, Booleans as they are. */
bool bpl_join_compared(bpl_session *session, bpl_number *a, bpl_number *b);
/* What a number is of, without its items. */
typedef struct bpl_form {
    uint8_t class;
    bool weak;
    wg_kind kind;
} bpl_form;
static inline bpl_form bpl_form_of(bpl_number a) { return (bpl_form){a.class, a.weak, bpl_number_kind(a)}; }
/* What floats and complex numbers meet in: weak ones give way, integers have no say. */
bpl_form bpl_join_floats(bpl_form a, bpl_form b);

bpl_number bpl_convert(bpl_number a, bpl_class class, wg_kind kind);
/* Booleans as ordinary integers; other kinds as they are. */
bpl_number bpl_counted(bpl_number a);
/* Integers as floats: Booleans and ordinary ones of the session's width and weak, 1 and 2 bytes as f32, 4 and 8 as f64. */
bpl_number bpl_floats(bpl_session *session, bpl_number a);
/* Floats and complex numbers as complex ones (f16 by way of f32). */
bpl_number bpl_complexes(bpl_number a);
/* Complex numbers without an imaginary part are real at once: reads. */
bpl_number bpl_settled(bpl_session *session, bpl_number a);

/* A scalar that is at hand, as a double: stored, and no level carries it. */
bool bpl_known(bpl_number a, double *number);
/* Whether no item is below 0, as far as that is known without a read. */
bool bpl_is_nonnegative(bpl_number a);
/* Reads whether any item of a mask holds. False: an error. */
bool bpl_any(bpl_session *session, wg_array *mask, bool *any);
/* The same where the answer decides an error of data or a kind: static kinds ask for neither, and none is found. */
bool bpl_found(bpl_session *session, wg_array *mask, bool *any);
/* Two arrays in the shape that they have together, read. */
bool bpl_read_pair(bpl_session *session, wg_array *wide[2], wg_array *pair[2], wg_view views[2]);
/* Is any other number near it? And which is the furthest, up or down? */
bool bpl_has_near(double c);
double bpl_last_near(double c, bool up);
/* Whether quotients by it are exact. */
bool bpl_is_power_of_two(double modulus);
/* Whether comparisons of this kind are tolerant. */
bool bpl_is_tolerant(const bpl_session *session, wg_kind kind);
/* How far from a what is near it may be: relative to a, whose neighbours have the same room but for bits far below the last. */
wg_array *bpl_tolerance_of(wg_array *a);
/* bool: a and b within the tolerance of each other, or equal. Of one kind that is tolerant. */
wg_array *bpl_near(wg_array *a, wg_array *b);
/* The same of two numbers. */
bool bpl_near_numbers(double a, double b);
#define BPL_TOLERANCE 1e-14

/* The parts of item i of a view: a complex number's two, any other's and 0. */
void bpl_parts_of(const wg_view *view, int64_t i, double *re, double *im);

/* Parts of rules that others are made of. Both of one kind that is no integer: a ÷ b with what Mathish makes of 0÷0. */
bpl_number bpl_quotient(bpl_session *session, bpl_number a, bpl_number b);
/* The whole numbers below floats, or near them within the tolerance. */
wg_array *bpl_floor_floats(bpl_session *session, wg_array *a);
/* The Gaussian integer below a complex number. */
bpl_number bpl_floor_complex(bpl_session *session, bpl_number a);
/* e to a complex power, exact at quarter turns. */
bpl_number bpl_complex_exponential(bpl_number a);
/* bool: equality of two numbers of one kind, tolerant where the kind is. */
wg_array *bpl_equal_numbers(bpl_session *session, bpl_number a, bpl_number b);

#endif
