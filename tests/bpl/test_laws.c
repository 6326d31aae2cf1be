/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Laws (laws.def) of values of every kind and rank, and of every pervasive function of glyphs.def: thousands of statements in one session,
 * counted by law. WENGERT_SHOW=law shows all that a law says. */
#include "bpl/world.h"

enum {
    ATOM = 1, CELLS = 2, VECTOR = 4, MATRIX = 8, EMPTY = 16, FULL = 32, REAL = 64, COMPLEX = 128, LOGICAL = 256, INTEGER = 512, FLOAT = 1024,
    EXACT = 2048, TEXT = 4096, NESTED = 8192, KEYED = 16384, NAN_ = 32768, NARROW = 65536
};

typedef struct law_value {
    int classes;
    const char *text;
} law_value;

typedef struct law {
    const char *name;
    int needs, without;
    const char *sides[2];
} law;

#define VALUE(classes, text) {classes, text},
static const law_value values[] = {
#include "laws.def"
};
#define LAW(name, needs, without, left, right) {#name, needs, without, {left, right}},
static const law laws[] = {
#include "laws.def"
};
#define MONADIC(name, needs, without, left, right) {#name, needs, without, {left, right}},
static const law monadic_laws[] = {
#include "laws.def"
};
#define DYADIC(name, needs, without, left, right) {#name, needs, without, {left, right}},
static const law dyadic_laws[] = {
#include "laws.def"
};

#define GLYPH(id, glyph, name, monadic, monadic_code, monadic_title, dyadic, dyadic_code, dyadic_title) {glyph, #monadic, #dyadic},
static const struct {
    const char *glyph, *monadic, *dyadic;
} glyphs[] = {
#include "bpl/glyphs.def"
};

/* What was counted of a law. */
typedef struct tally {
    int held, all;
} tally;

/* A side of a law: X and F replaced. */
static void put_side(base_string *text, const char *side, const char *function, const char *value)
{
    for (const char *at = side; *at; at++) {
        if (*at == 'X') base_string_printf(text, "(%s)", value);
        else if (*at == 'F' && function) base_string_puts(text, function);
        else base_string_put(text, at, 1);
    }
}

/* Runs a text; the kind of its error goes to kind, "" where there is none. */
static void run_side(wg_bpl *bpl, const char *name, const char *text, char kind[40], char *shown)
{
    wg_bpl_outcome outcome;
    base_string statement = base_string_new(bpl->allocator);
    const char *last = strstr(text, " ⋄ ");
    for (const char *next; last && (next = strstr(last + 3, " ⋄ ")) && !strchr(next, '}');) last = next;
    if (last && strchr(last, '}')) last = NULL; /* those of a dfn */
    base_string_printf(&statement, "%.*s%s←%s", last ? (int)(last - text) + 5 : 0, text, name, last ? last + 5 : text);
    bool good = wg_bpl_run(bpl, "law", statement.text, statement.length, &outcome);
    snprintf(kind, 40, "%s", good ? "" : outcome.kind);
    snprintf(shown, 200, "%s", good ? "" : outcome.message);
    if (good && wg_bpl_run(bpl, "law", name, strlen(name), &outcome)) snprintf(shown, 200, "%s", outcome.display);
    base_string_free(&statement);
}

static void judge(wg_bpl *bpl, const law *l, const char *function, const char *value, tally *t)
{
    static char shown[2][200];
    char kinds[2][40];
    base_string sides[2];
    wg_bpl_outcome outcome;
    for (int i = 0; i < 2; i++) {
        sides[i] = base_string_new(bpl->allocator);
        put_side(&sides[i], l->sides[i], function, value);
        run_side(bpl, i ? "right" : "left", sides[i].text, kinds[i], shown[i]);
    }
    static const char compare[] = "left≡right";
    bool held = !strcmp(kinds[0], kinds[1]) && (kinds[0][0] || (wg_bpl_run(bpl, "law", compare, strlen(compare), &outcome) && !strcmp(outcome.display, "$t")));
    t->all++;
    t->held += held;
    const char *show = getenv("WENGERT_SHOW");
    bool asked = show && !strcmp(show, l->name);
    if ((!held && (t->all - t->held <= 5 || show)) || asked)
        print_message("%s: %s ≡ %s\n    left  %s %s\n    right %s %s\n", l->name, sides[0].text, sides[1].text, kinds[0], shown[0], kinds[1], shown[1]);
    base_string_free(&sides[0]);
    base_string_free(&sides[1]);
}

/* A law of each value that it is of. */
static void judge_values(wg_bpl *bpl, const law *l, const char *function, tally *t)
{
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if ((values[i].classes & l->needs) == l->needs && !(values[i].classes & l->without)) judge(bpl, l, function, values[i].text, t);
}

static bool is_pervasive(size_t glyph, bool dyadic) { return !strcmp(dyadic ? glyphs[glyph].dyadic : glyphs[glyph].monadic, "PERVASIVE") && strcmp(glyphs[glyph].glyph, "¿"); }

static void judge_all(const law *list, size_t count, int arguments)
{
    tally all = {0};
    bpl_world w;
    bpl_world_open(&w);
    for (size_t i = 0; i < count; i++) {
        tally t = {0};
        if (!arguments) judge_values(w.bpl, &list[i], NULL, &t);
        for (size_t g = 0; arguments && g < sizeof glyphs / sizeof *glyphs; g++)
            if (is_pervasive(g, arguments == 2)) judge_values(w.bpl, &list[i], glyphs[g].glyph, &t);
        if (t.held < t.all) print_message("%4d of %4d  %s\n", t.held, t.all, list[i].name);
        assert_true(t.all > 0);
        all.held += t.held;
        all.all += t.all;
    }
    bpl_world_close(&w);
    print_message("%d of %d statements hold\n", all.held, all.all);
    if (all.held < all.all) fail_msg("%d statements do not hold", all.all - all.held);
}

static void test_laws(void **state)
{
    (void)state;
    judge_all(laws, sizeof laws / sizeof *laws, 0);
}

static void test_monadic_laws(void **state)
{
    (void)state;
    judge_all(monadic_laws, sizeof monadic_laws / sizeof *monadic_laws, 1);
}

static void test_dyadic_laws(void **state)
{
    (void)state;
    judge_all(dyadic_laws, sizeof dyadic_laws / sizeof *dyadic_laws, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_laws), cmocka_unit_test(test_monadic_laws), cmocka_unit_test(test_dyadic_laws)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
