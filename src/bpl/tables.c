/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The tables of what can be called, from their .def files. */
#include "bpl/bpl.h"

/* ---- glyphs.def ----------------------------------------------------------------------------------------------------------------------- */

#define DECLARE_NONE(code, ...)
#define DECLARE_PERVASIVE(code, ...) bpl_number bpl_rule_##code(__VA_ARGS__);
#define DECLARE_WHOLE(code, ...) bpl_value *bpl_do_##code(bpl_session *session, const bpl_call *call);
#define GLYPH(ID, glyph, name, service1, code1, title1, service2, code2, title2) \
    DECLARE_##service1(code1, bpl_session *session, bpl_number a) \
    DECLARE_##service2(code2, bpl_session *session, bpl_number a, bpl_number b)
#include "bpl/glyphs.def"

#define CODE_NONE(code_) {.code = NULL}
#define CODE_PERVASIVE(code_) {.rule = bpl_rule_##code_}
#define CODE_WHOLE(code_) {.code = bpl_do_##code_}

const bpl_glyph_row bpl_glyphs[BPL_GLYPH_COUNT] = {
#define GLYPH(ID, glyph, name, service1, code1, title1, service2, code2, title2) \
    [BPL_GLYPH_##ID] = {glyph, name, title1, title2, BPL_SERVICE_##service1, BPL_SERVICE_##service2, CODE_##service1(code1), CODE_##service2(code2)},
#include "bpl/glyphs.def"
};

#define AT_HAND(ID, code)                                                                              \
    bpl_value *bpl_at_hand_##code(bpl_session *session, double a, double b, bool weak);                \
    bpl_value *bpl_at_hand_##code##_singles(bpl_session *session, float a, float b, bool weak);        \
    bpl_value *bpl_at_hand_##code##_integers(bpl_session *session, int64_t a, int64_t b, bool weak);
#include "bpl/glyphs.def"

const bpl_at_hand_row bpl_at_hand_rules[BPL_GLYPH_COUNT] = {
#define AT_HAND(ID, code) [BPL_GLYPH_##ID] = {bpl_at_hand_##code, bpl_at_hand_##code##_singles, bpl_at_hand_##code##_integers},
#include "bpl/glyphs.def"
};

/* ---- operators.def -------------------------------------------------------------------------------------------------------------------- */

#define OPERATOR(ID, glyph, name, operands, code, title) bpl_value *bpl_derived_##code(bpl_session *session, const bpl_call *call);
#include "bpl/operators.def"

const bpl_operator_row bpl_operators[BPL_OPERATOR_COUNT] = {
#define OPERATOR(ID, glyph, name, operands, code, title) [BPL_OPERATOR_##ID] = {glyph, name, title, operands, bpl_derived_##code},
#include "bpl/operators.def"
};

/* ---- marks.def, system.def ------------------------------------------------------------------------------------------------------------ */

const bpl_mark_row bpl_marks[BPL_MARK_COUNT] = {
#define MARK(ID, text, title) [BPL_MARK_##ID] = {text, title},
#include "bpl/marks.def"
};

#define SYSTEM(ID, name, code, title) bpl_value *bpl_system_##code(bpl_session *session, const bpl_call *call);
#include "bpl/system.def"

const bpl_system_row bpl_systems[BPL_SYSTEM_COUNT] = {
#define SYSTEM(ID, name, code, title) [BPL_SYSTEM_##ID] = {name, title, bpl_system_##code},
#include "bpl/system.def"
};
