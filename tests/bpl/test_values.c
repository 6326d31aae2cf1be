/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Values: what makes them, their canonical form, parts, fills, comparisons, and nests that are deeper than any stack. */
#include <fenv.h>

#include "bpl/evaluate.h"
#include "bpl/world.h"

static bpl_value *good(bpl_session *session, const char *text)
{
    bpl_value *value = run_text(session, text);
    if (!value) fail_msg("%s: %s %s", text, session->error.kind, session->error.message);
    return value;
}

/* ---- making ------------------------------------------------------------------------------------------------------------------------------------ */

static void test_atoms(void **state)
{
    (void)state;
    bpl_world w;
    bpl_world_open(&w);
    bpl_session *s = w.bpl;
    int64_t number;
    double real;
    bool truth;
    bpl_value *values[] = {bpl_boolean(s, true), bpl_integer(s, -7), bpl_fixed(s, WG_KIND_U8, 200), bpl_float(s, 2.5),
                           bpl_float_of(s, WG_KIND_F32, 0.5),
                           bpl_complex(s, WG_KIND_C128, 1, 2), bpl_complex(s, WG_KIND_C64, 3, 0), bpl_character(s, 0x2374), bpl_count(s, 12)};
    static const struct {
        bpl_class class;
        wg_kind kind;
        bool weak;
    } wanted[] = {{BPL_CLASS_BOOLEAN, WG_KIND_BOOL, false}, {BPL_CLASS_ORDINARY, WG_KIND_I64, true}, {BPL_CLASS_FIXED, WG_KIND_U8, false},
                  {BPL_CLASS_FLOAT, WG_KIND_F64, true},     {BPL_CLASS_FLOAT, WG_KIND_F32, false},    {BPL_CLASS_COMPLEX, WG_KIND_C128, false},
                  {BPL_CLASS_FLOAT, WG_KIND_F32, false},    {BPL_CLASS_CHARACTER, WG_KIND_CHAR, false}, {BPL_CLASS_ORDINARY, WG_KIND_I64, false}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        assert_non_null(values[i]);
        assert_true(values[i]->atom);
        assert_int_equal(bpl_rank(values[i]), 0);
        assert_int_equal(values[i]->class, wanted[i].class);
        assert_int_equal(bpl_kind(values[i]), wanted[i].kind);
        assert_int_equal(values[i]->weak, wanted[i].weak);
    }
    assert_true(bpl_to_truth(s, values[0], "x", &truth) && truth);
    assert_true(bpl_to_integer(s, values[1], "x", &number) && number == -7);
    assert_true(bpl_to_integer(s, values[2], "x", &number) && number == 200);
    assert_true(bpl_to_double(s, values[3], "x", &real) && real == 2.5);
    assert_false(bpl_to_integer(s, values[3], "the count", &number));
    assert_string_equal(s->error.message, "the count must be whole, not 2.5");
    bpl_error_clear(s);
    assert_false(bpl_to_double(s, values[5], "x", &real));
    assert_string_equal(s->error.kind, "DOMAIN");
    bpl_error_clear(s);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) bpl_release(values[i]);
    bpl_world_close(&w);
}

/* Forms of a number at hand. */
enum { HAND_WEAK, HAND_STRONG, HAND_SINGLE, HAND_WEAK_SINGLE, HAND_WEAK_INTEGER, HAND_INTEGER, HAND_TRUTH, HAND_FORMS };

static bpl_value *in_hand(bpl_session *s, int form, double number)
{
    int64_t integer = number >= 0x1p63 ? INT64_MAX : number <= -0x1p63 ? INT64_MIN : number == number ? (int64_t)number : 7;
    bpl_value *single = NULL;
    switch (form) {
    case HAND_WEAK: return bpl_float(s, number);
    case HAND_STRONG: return bpl_float_of(s, WG_KIND_F64, number);
    case HAND_SINGLE: return bpl_float_of(s, WG_KIND_F32, number);
    case HAND_WEAK_SINGLE:
        s->preferences.float_kind = WG_KIND_F32;
        single = bpl_float(s, number);
        s->preferences.float_kind = WG_KIND_F64;
        return single;
    case HAND_WEAK_INTEGER: return bpl_integer(s, integer);
    case HAND_INTEGER: return bpl_count(s, integer);
    default: return bpl_atom_truth(s, number > 0);
    }
}

/* What a function of two numbers at hand answers, as bits; *head: what it is besides. An error is its name's bits. */
static uint64_t answer_of_forms(bpl_session *s, uint16_t row, int left_form, double a, int right_form, double b, uint32_t head[4])
{
    bpl_value *left = in_hand(s, left_form, a), *right = in_hand(s, right_form, b), *result = bpl_dyad(s, row, left, right);
    wg_view view;
    uint64_t bits = 0;
    memset(head, 0, 4 * sizeof *head);
    if (!result) memcpy(&bits, s->error.kind, sizeof bits);
    else assert_true(bpl_read(s, result, &view) && result->atom);
    if (result) memcpy(&bits, view.data, wg_kind_bytes(view.kind));
    if (result) head[0] = result->type, head[1] = result->class, head[2] = view.kind, head[3] = result->weak;
    bpl_error_clear(s);
    bpl_release(left), bpl_release(right), bpl_release(result);
    return bits;
}

static uint64_t answer_of(bpl_session *s, uint16_t row, double a, double b, uint32_t head[4])
{
    return answer_of_forms(s, row, HAND_WEAK, a, HAND_STRONG, b, head);
}

/* Forms of numbers that are less than all pairs of f64. */
static void check_forms(bpl_session *s, uint16_t row, int left, int right)
{
    static const double numbers[] = {0, -0.0, 1, -1, 2, -2.5, 3, 0.1, -7, 16777217, 1 + 1e-15, 1e300, -1e19, 1e19, 5e18, __builtin_inf(), __builtin_nan("")};
    enum { COUNT = sizeof numbers / sizeof *numbers };
    if (row == BPL_GLYPH_RESIDUE && left / 2 != right / 2) return; /* of a modulus that is converted: by arrays in any case */
    for (size_t i = 0; i < COUNT * COUNT; i++) {
        uint32_t heads[2][4];
        uint64_t bits[2];
        for (int arrays = 0; arrays < 2; arrays++) {
            wg_lazy_explain(s->lazy, arrays);
            bits[arrays] = answer_of_forms(s, row, left, numbers[i / COUNT], right, numbers[i % COUNT], heads[arrays]);
        }
        if (bits[0] != bits[1] || memcmp(heads[0], heads[1], sizeof *heads))
            fail_msg("%.17g of form %d %s %.17g of form %d: %llx of kind %u, %s at hand, %llx of kind %u, %s of arrays", numbers[i / COUNT], left, bpl_glyphs[row].glyph,
                     numbers[i % COUNT], right, (long long)bits[0], heads[0][2], heads[0][3] ? "weak" : "strong", (long long)bits[1], heads[1][2],
                     heads[1][3] ? "weak" : "strong");
    }
}

static void test_forms_at_hand(void **state)
{
    (void)state;
    bpl_world w;
    bpl_world_open(&w);
    for (int how = 0; how < 2; how++)
        for (uint16_t row = 0; row < BPL_GLYPH_COUNT; row++)
            for (int forms = 0; bpl_at_hand_rules[row].doubles && forms < HAND_FORMS * HAND_FORMS; forms++) {
                w.bpl->preferences.static_kinds = how;
                check_forms(w.bpl, row, forms / HAND_FORMS, forms % HAND_FORMS);
            }
    bpl_world_close(&w);
}

/* The rules of numbers at hand answer what those of arrays do, which serve whoever asks for events. */
static void test_at_hand(void **state)
{
    (void)state;
    static const double numbers[] = {0, -0.0, 1, -1, 2, -2.5, 3, 0.1, 1e-300, 0x1p-1074, -0x1p-1060, 1e300, -1e308, 1 + 1e-15, 1 + 2e-14, 3 - 3e-15,
                                     0x1.000000000002dp0, 0x1.000000000002ep0, 0x1.fffffffffffa6p-1, 0x1.fffffffffffa5p-1, -0x1.000000000002dp0, -0x1.000000000002ep0,
                                     __builtin_inf(),
                                     -__builtin_inf(), __builtin_nan("")};
    enum { COUNT = sizeof numbers / sizeof *numbers };
    bpl_world w;
    bpl_world_open(&w);
    uint32_t rules = 0;
    for (int how = 0; how < 3; how++) {
        w.bpl->preferences.mathish = how != 1, w.bpl->preferences.static_kinds = how == 2;
        for (uint16_t row = 0; row < BPL_GLYPH_COUNT; row++)
            for (size_t i = 0; bpl_at_hand_rules[row].doubles && i < COUNT * COUNT; i++) {
                uint32_t heads[2][4];
                uint64_t bits[2];
                for (int arrays = 0; arrays < 2; arrays++) {
                    wg_lazy_explain(w.bpl->lazy, arrays);
                    bits[arrays] = answer_of(w.bpl, row, numbers[i / COUNT], numbers[i % COUNT], heads[arrays]);
                }
                if (bits[0] != bits[1] || memcmp(heads[0], heads[1], sizeof *heads))
                    fail_msg("%.17g %s %.17g: %llx at hand, %llx of arrays", numbers[i / COUNT], bpl_glyphs[row].glyph, numbers[i % COUNT], (long long)bits[0],
                             (long long)bits[1]);
                rules += !i;
            }
    }
    assert_true(rules >= 3 * 13);
    uint32_t head[4];
    wg_lazy_explain(w.bpl->lazy, false);
    uint64_t nearest = answer_of(w.bpl, BPL_GLYPH_DIVIDE, 1, 3, head);
    assert_int_equal(fesetround(FE_UPWARD), 0); /* a host may; the bits stay */
    assert_int_equal(answer_of(w.bpl, BPL_GLYPH_DIVIDE, 1, 3, head), nearest);
    assert_int_equal(fesetround(FE_TONEAREST), 0);
    bpl_world_close(&w);
}

/* A number that is gone is the next one, if nobody has its array. */
static void test_renewed(void **state)
{
    (void)state;
    bpl_world w;
    bpl_world_open(&w);
    bpl_session *s = w.bpl;
    bpl_value *first = bpl_atom(s, 1, true);
    wg_array *array = wg_array_keep(bpl_array(first));
    bpl_release(first);
    bpl_value *second = bpl_atom(s, 2, false), *third = bpl_atom(s, 3, false);
    double number;
    assert_true(second == first && bpl_array(second) != array && !second->weak);
    assert_true(wg_array_double(array, &number) && number == 1);
    wg_array *sum = wg_array_add(bpl_array(second), array), *own = bpl_array(second);
    assert_true(wg_array_double(sum, &number) && number == 3);
    wg_array_release(sum), wg_array_release(array);
    bpl_release(second), bpl_release(third);
    bpl_value *truth = bpl_atom_truth(s, true), *fourth = bpl_atom(s, 4, false), *fifth = bpl_atom(s, 5, false);
    assert_true(fourth == third && fifth == second && bpl_array(fifth) == own && truth != fifth);
    assert_true(wg_array_double(bpl_array(fifth), &number) && number == 5);
    bpl_release(fourth), bpl_release(fifth), bpl_release(truth);
    bpl_world_close(&w);
}

static void test_text(void **state)
{
    (void)state;
    bpl_world w;
    bpl_world_open(&w);
    bpl_session *s = w.bpl;
    static const char written[] = "a⍵\xff€\xf0\x9f\x98\x80", read[] = "a⍵\xef\xbf\xbd€\xf0\x9f\x98\x80";
    bpl_value *text = bpl_string(s, written, sizeof written - 1);
    char *back;
    size_t length;
    assert_int_equal(bpl_volume(text), 5);
    assert_true(bpl_to_text(s, text, "x", &back, &length));
    assert_string_equal(back, read); /* a byte that is no UTF-8 is U+FFFD */
    base_free(s->allocator, back, length + 1);
    bpl_release(text);
    bpl_world_close(&w);
}

/* ---- canonical form ------------------------------------------------------------------------------------------------------------------- */

/* What a text's value is held as: •storage's word. */
static void test_storage(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"$t $f", "bool"}, {"1ₓ 2ₓ", "integer"}, {"1 2.5ₛ 3ₕ", "float32"}, {"1ₓ₁ 2ₓ₂", "int16"}, {"1 2j1", "complex128"}, {"1 2j1ₛ", "complex64"},
        {"1ₓ 2.5", "mixed"}, {"$t 2", "mixed"}, {"\"ab\"", "character"}, {"1 'a'", "mixed"}, {"[1 2 3]", "float64"}, {"[1 [2]]", "mixed"},
        {"⊂5", "float64"},
        {"⊂1 2", "mixed"}, {"0⍴1ₛ", "float32"}, {"1ᵣ3", "rational"}, {"1.5ₛ+1", "float32"}, {"1.5ₛ+1+0.5", "float32"},
        {"1.5ₛ+(+/0.25 0.25)", "float64"},
        {"1.5ₛ+0.5 0.25", "float64"}, {"1.5ₕ+1.5ₛ", "float32"}, {"200ₓ₁+3ₓ", "uint8"}, {"200ₓ₁+1ₓ 2ₓ", "integer"}, {"√4ₓ₁", "float32"},
        {"√4ₓ₄", "float64"},
        {"2j1ₛ+1j1", "complex64"}, {"2j1ₛ+1ₚ", "complex128"}, {"(1j2 3j1)-0j2 0j1", "float64"}, {"1 2.5=1ₓ", "bool"}, {"⌊2.5", "integer"},
        {"x←{⍵} ⋄ 1ₛ+x 2", "float32"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bpl_world w;
        bpl_world_open(&w);
        char text[256], *word;
        size_t length;
        const char *last = strstr(cases[i][0], " ⋄ ");
        int head = last ? (int)(last - cases[i][0]) : 0;
        snprintf(text, sizeof text, "%.*s%s(•storage %s).kind", head, cases[i][0], last ? " ⋄ " : "", last ? last + strlen(" ⋄ ") : cases[i][0]);
        bpl_value *value = good(w.bpl, text);
        assert_true(bpl_to_text(w.bpl, value, "a word", &word, &length));
        if (strcmp(word, cases[i][1])) fail_msg("%s is held as %s, not as %s", cases[i][0], word, cases[i][1]);
        base_free(w.bpl->allocator, word, length + 1);
        bpl_release(value);
        bpl_world_close(&w);
    }
}

static void test_parts(void **state)
{
    (void)state;
    bpl_world w;
    bpl_world_open(&w);
    bpl_session *s = w.bpl;
    bpl_value *matrix = good(s, "[\"a\" \"b\";0 1 2]:2 3⍴⍳6ₓ"), *cell = bpl_cell(s, matrix, 1), *item = bpl_item(s, matrix, 4);
    int64_t number;
    assert_int_equal(bpl_rank(cell), 1);
    assert_int_equal(bpl_shape(cell)[0], 3);
    assert_true(bpl_to_integer(s, item, "x", &number) && number == 4);
    bpl_value *held = bpl_enclose(s, item), *again = bpl_enclose(s, cell), *plain = bpl_enclose(s, again);
    assert_int_equal(held->type, BPL_NUMBERS);
    assert_false(held->atom);
    assert_int_equal(again->type, BPL_ITEMS);
    assert_int_equal(plain->type, BPL_ITEMS);
    bpl_value *all[] = {matrix, cell, item, held, again, plain};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) bpl_release(all[i]);
    bpl_world_close(&w);
}

/* ---- ≡ and ⍋ -------------------------------------------------------------------------------------------------------------------------- */

static void test_match(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {{"1", "$t", true}, {"1", "1ₓ₁", true}, {"1", "1+1E¯15", true}, {"1", "1+1E¯12", false}, {"0.1", "0.1ₛ", false}, {"5", "⊂5", false},
                 {"⍬", "\"\"", false}, {"⍬", "0⍴$t", true}, {"$n", "$n", true}, {"'a'", "97", false}, {"0⍴⊂1 2", "0⍴⊂3 4 5", false}, {"+", "+", true},
                 {"+", "-", false}, {"[1 [2 3]]", "[1 [2 3]]", true}, {"[1 [2 3]]", "[1 [2 4]]", false},
                 {"[\"a\":1 \"b\":2]", "[\"b\":2 \"a\":1]", true},
                 {"[\"a\":1 \"b\":2]", "1 2", true}, {"[\"a\":1 \"b\":2]", "2 1", false}, {"[\"a\":1]", "[\"b\":1]", false}, {"1ᵣ3", "2ᵣ6", true},
                 {"1ᵣ2", "0.5", true},
                 {"1j1", "1j1", true}, {"1j1", "1", false}, {"1000⍴1", "1000⍴$t", true}, {"1000⍴1", "(999⍴1),2", false}, {"[1ₓ 2.5]", "1 2.5", true},
                 {"[\"i\":2]⍴1 2", "[\"j\":2]⍴1 2", false}};
    bpl_world w;
    bpl_world_open(&w);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bpl_value *a = good(w.bpl, cases[i].a), *b = good(w.bpl, cases[i].b);
        bool same;
        assert_true(bpl_match(w.bpl, a, b, &same));
        if (same != cases[i].same) fail_msg("%s and %s %s", cases[i].a, cases[i].b, same ? "match" : "do not match");
        bpl_release(a);
        bpl_release(b);
    }
    bpl_world_close(&w);
}

/* Each is less than the next one. */
static void test_order(void **state)
{
    (void)state;
    static const char *const ascending[] = {"¯∞", "¯2ₓ", "$f", "1ᵣ3", "0.5ₛ", "1", "1j1", "7ₓ₁", "1000000ᵣ", "∞", "$n", "'A'", "'a'", "⍬", "1 2",
                                            "[1 3]", "\"ab\""};
    bpl_world w;
    bpl_world_open(&w);
    bpl_value *values[sizeof ascending / sizeof *ascending];
    const size_t count = sizeof values / sizeof *values;
    for (size_t i = 0; i < count; i++) values[i] = good(w.bpl, ascending[i]);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            int order;
            assert_true(bpl_compare(w.bpl, values[i], values[j], &order));
            if ((order < 0) != (i < j) || (order > 0) != (i > j)) fail_msg("%s and %s are in order %d", ascending[i], ascending[j], order);
        }
    for (size_t i = 0; i < count; i++) bpl_release(values[i]);
    bpl_world_close(&w);
}

/* ---- depth, memory -------------------------------------------------------------------------------------------------------------------- */

static bpl_value *nest(bpl_session *session, int depth)
{
    bpl_value *value = bpl_string(session, "ab", 2);
    for (int i = 0; i < depth; i++) {
        bpl_value *next = bpl_enclose(session, value);
        bpl_release(value);
        value = next;
    }
    return value;
}

/* The deepest nests are released, compared and gone into; a deeper one is LIMIT. */
static void test_depth(void **state)
{
    (void)state;
    bpl_world w;
    bpl_world_open(&w);
    bpl_stack_begin(w.bpl);
    bpl_value *a = nest(w.bpl, BPL_VALUE_DEPTH), *b = nest(w.bpl, BPL_VALUE_DEPTH), *one = bpl_integer(w.bpl, 1);
    bool same = false;
    int order = 1;
    assert_true(bpl_match(w.bpl, a, b, &same) && same);
    assert_true(bpl_compare(w.bpl, a, b, &order) && order == 0);
    bpl_value *moved = bpl_dyad(w.bpl, BPL_GLYPH_PLUS, a, one), *fill = bpl_prototype_of(w.bpl, a);
    assert_non_null(moved);
    assert_non_null(fill);
    assert_true(bpl_match(w.bpl, a, moved, &same) && !same);
    assert_null(bpl_enclose(w.bpl, a));
    assert_string_equal(w.bpl->error.kind, "LIMIT");
    bpl_error_clear(w.bpl);
    bpl_value *all[] = {a, b, one, moved, fill};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) bpl_release(all[i]);
    bpl_world_close(&w);
}

static void test_limits(void **state)
{
    (void)state;
    bpl_world w;
    bpl_world_open(&w);
    int64_t many[] = {100000, 100000}, axes[17] = {1};
    assert_null(bpl_items_new(w.bpl, 2, many));
    assert_string_equal(w.bpl->error.kind, "LIMIT");
    bpl_error_clear(w.bpl);
    assert_null(bpl_items_new(w.bpl, 17, axes));
    assert_string_equal(w.bpl->error.kind, "LIMIT");
    bpl_error_clear(w.bpl);
    bpl_world_close(&w);
}

/* Every allocation fails once: LIMIT, and nothing is left behind. */
static void test_memory(void **state)
{
    (void)state;
    static const char *const texts[] = {"(1 2.5ₛ 'a' \"xy\" [\"p\":1 \"q\":2])+[\"p\":1ₓ]", "[\"a\":1 \"b\":2]+[\"b\":10 \"c\":\"xyz\"]",
                                        "(⍳[\"i\":2])×⍳[\"j\":3]",
                                        "√¯1 4 ⋄ 3ᵣ4*5ₓ ⋄ ⍭3 ⋄ !5ₓ ⋄ 12∨18.5 ⋄ 0 1○0.5 ⋄ 3!7.5", "\"abc\"≡\"abd\" ⋄ [1 [2 3]]≡[1 [2 3]]",
                                            "x←3.7 ⋄ xₓ ⋄ xⱼ2 ⋄ 2j1|5",
                                        "a←1+2 ⋄ b←3-a ⋄ c←a<b ⋄ (a×⍳3),a b c,√a,c∧1≤a ⋄ [a [b c]]≡a b ⋄ a⌊⍨(⊂a)⌽⍳4 ⋄ ⍋[a b] ⋄ {⍵×a}¨b a ⋄ {⍵*a}∂ b+2"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        long long needed = 0;
        for (long long at = 0; at <= needed; at++) {
            bpl_world w;
            bpl_world_open(&w);
            long long before = atomic_load(&w.memory.asked);
            w.memory.fails_at = at ? before + at : 0;
            bpl_value *value = run_text(w.bpl, texts[i]);
            wg_view view;
            if (value && bpl_is_simple(value)) bpl_read(w.bpl, value, &view);
            w.memory.fails_at = 0;
            if (!at) needed = atomic_load(&w.memory.asked) - before;
            if (!at && !value) fail_msg("%s: %s", texts[i], w.bpl->error.message);
            if (bpl_failed(w.bpl) && strcmp(w.bpl->error.kind, "LIMIT"))
                fail_msg("%s without allocation %lld: %s %s", texts[i], at, w.bpl->error.kind, w.bpl->error.message);
            bpl_release(value);
            bpl_world_close(&w);
        }
        assert_true(needed > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_atoms), cmocka_unit_test(test_at_hand), cmocka_unit_test(test_forms_at_hand), cmocka_unit_test(test_renewed), cmocka_unit_test(test_text),  cmocka_unit_test(test_storage),
                                       cmocka_unit_test(test_parts), cmocka_unit_test(test_match),
                                       cmocka_unit_test(test_order), cmocka_unit_test(test_depth), cmocka_unit_test(test_limits),
                                           cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
