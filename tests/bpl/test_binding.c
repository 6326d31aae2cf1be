/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Text to trees: every line of binding.tsv, diagnostics, and texts that are wrong, deep, long or cut off. */
#include <time.h>

#include "bpl/respell.h"
#include "bpl/world.h"

/* ---- the names that every line of binding.tsv begins with --------------------------------------------------------------------------------- */

typedef struct known_name {
    char name[16];
    bpl_role role;
} known_name;

typedef struct names {
    bpl_session *session;
    known_name known[32];
    size_t count;
} names;

static void know(names *n, const char *name, bpl_role role)
{
    for (size_t i = 0; i <= n->count; i++) {
        if (i < n->count && strcmp(n->known[i].name, name)) continue;
        if (i == n->count) snprintf(n->known[n->count++].name, sizeof n->known->name, "%s", name);
        n->known[i].role = role;
        return;
    }
}

static void know_all(names *n)
{
    static const char *const functions[] = {"f", "g", "h", "⍶", "⍹"};
    n->count = 0;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        know(n, functions[i], BPL_ROLE_FUNCTION);
    know(n, "op", BPL_ROLE_OPERATOR1);
    know(n, "dop", BPL_ROLE_OPERATOR2);
    know(n, "fa", BPL_ROLE_HOLDER);
}

static bpl_role role_of(void *user, bpl_symbol symbol)
{
    const names *n = user;
    const char *name = bpl_symbol_text(n->session, symbol);
    for (size_t i = 0; i < n->count; i++)
        if (!strcmp(n->known[i].name, name)) return n->known[i].role;
    return BPL_ROLE_SUBJECT;
}

/* Names that a tree assigns have their roles from the next statement on. */
static void learn(names *n, const bpl_node *node)
{
    if (node->kind == BPL_NODE_SET && node->children[0]->kind == BPL_NODE_NAME)
        know(n, bpl_symbol_text(n->session, node->children[0]->symbol), (bpl_role)node->children[1]->role);
    if (node->kind == BPL_NODE_DFN) return;
    for (uint32_t i = 0; i < node->count; i++)
        learn(n, node->children[i]);
}

/* The s-expression of a text, or ERROR and the kind. */
static void bound(names *n, const char *text, size_t length, base_string *out)
{
    bpl_source *source = bpl_source_new(n->session, NULL, text, length);
    bool done = source;
    uint32_t count = source ? source->body.count : 0;
    if (count > 1) base_string_puts(out, "(do ");
    for (uint32_t i = 0; done && i < count; i++) {
        const bpl_node *tree = bpl_bind(n->session, source, &source->body.statements[i], (bpl_roles){role_of, n, NULL});
        if (i) base_string_puts(out, " ");
        if (tree) bpl_print_tree(out, tree), learn(n, tree);
        else done = false;
    }
    if (count > 1) base_string_puts(out, ")");
    if (!done) {
        assert_true(bpl_failed(n->session));
        out->length = 0;
        base_string_printf(out, "ERROR %s", n->session->error.kind);
    }
    if (source) bpl_source_release(source);
}

static void test_vectors(void **state)
{
    (void)state;
    bpl_world w;
    bpl_world_open(&w);
    names n = {.session = w.bpl};
    FILE *file = open_cases("binding.tsv");
    case_line line = {.number = 0};
    int wrong = 0;
    while (next_case(file, &line)) {
        know_all(&n);
        base_string out = base_string_new(w.bpl->allocator);
        bound(&n, line.columns[0], strlen(line.columns[0]), &out);
        if (strcmp(out.text ? out.text : "", line.columns[1])) {
            print_message("line %d: %s\n  is       %s\n  expected %s\n  %s\n", line.number, line.columns[0], out.text, line.columns[1], w.bpl->error.message);
            wrong++;
        }
        bpl_error_clear(w.bpl);
        base_string_free(&out);
    }
    fclose(file);
    assert_int_equal(line.number, 400);
    assert_int_equal(wrong, 0);
    bpl_world_close(&w);
}

/* ---- diagnostics: where and what ----------------------------------------------------------------------------------------------------------------- */

/* Reads and binds a text that is wrong: the error's kind and the bytes it points at. */
static void points_at(names *n, const char *text, size_t length, const char *kind, uint32_t start, uint32_t end)
{
    base_string out = base_string_new(n->session->allocator);
    bound(n, text, length, &out);
    const bpl_error *error = &n->session->error;
    if (strcmp(error->kind, kind) || error->start != start || error->end != end || !error->message[0])
        fail_msg("%.60s: %s at [%u, %u), not %s at [%u, %u): %s", text, error->kind, error->start, error->end, kind, start, end, error->message);
    bpl_error_clear(n->session);
    base_string_free(&out);
}

static void test_diagnostics(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t start, end;
        const char *kind;
    } wrong[] = {
        {"1 + )", 4, 5, "SYNTAX"},
        {"(1]", 2, 3, "SYNTAX"},
        {"x←(1 ⋄ [2", 11, 12, "SYNTAX"},
        {"'ab'", 0, 2, "SYNTAX"},
        {"x ← \"abc", 6, 7, "SYNTAX"},
        {"3.7ₓ", 0, 6, "SYNTAX"},
        {"1 300ₓ₁", 2, 11, "LIMIT"},
        {"99999999999999999999ₓ", 0, 23, "LIMIT"},
        {"2ₓ₃", 1, 7, "SYNTAX"},
        {"$q", 0, 1, "SYNTAX"},
        {"¯x", 0, 2, "SYNTAX"},
        {"x ~ \x01", 4, 5, "SYNTAX"},
        {"•1", 0, 3, "SYNTAX"},
        {"x_ 1", 1, 2, "SYNTAX"},
        {"2ⱼ", 1, 4, "SYNTAX"},
        {"1 ? 2", 2, 3, "SYNTAX"},
        {"1 + (2 ; 3)", 7, 8, "SYNTAX"},
        {"(1⋄⋄2)", 0, 10, "SYNTAX"},
        {"/v", 0, 1, "SYNTAX"},
        {"x+(∘-)", 6, 9, ""},
        {"+∘(/)v", 5, 6, "SYNTAX"},
        {"+∘", 1, 4, ""},
        {"+ ∘", 2, 5, "SYNTAX"},
        {"x⁻", 1, 4, "SYNTAX"},
        {"3←4", 0, 1, "SYNTAX"},
        {"x+-←3", 1, 2, "SYNTAX"},
        {"1 + x←", 4, 5, "SYNTAX"},
        {"[p 3]←1 2", 3, 4, "SYNTAX"},
        {"{1;2}", 1, 2, "SYNTAX"},
        {"{⍵?1;}", 7, 8, "SYNTAX"},
        {"{?1}", 1, 2, "SYNTAX"},
        {"{::1}", 1, 3, "SYNTAX"},
        {"v ₁+1", 2, 5, "SYNTAX"},
        {"1r0", 0, 3, "DOMAIN"},
    };
    bpl_world w;
    bpl_world_open(&w);
    names n = {.session = w.bpl};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        know_all(&n);
        if (wrong[i].kind[0]) points_at(&n, wrong[i].text, strlen(wrong[i].text), wrong[i].kind, wrong[i].start, wrong[i].end);
    }
    points_at(&n, "x←\xff", strlen("x←\xff"), "SYNTAX", 4, 5);
    points_at(&n, "1\0 2", 4, "SYNTAX", 1, 2);
    bpl_world_close(&w);
}

/* ---- deep, long and cut off ------------------------------------------------------------------------------------------------------------------------ */

static base_string repeated(names *n, const char *first, const char *part, int count, const char *last)
{
    base_string text = base_string_new(n->session->allocator);
    base_string_puts(&text, first);
    for (int i = 0; i < count; i++)
        base_string_puts(&text, part);
    base_string_puts(&text, last);
    return text;
}

static void runs_into(names *n, base_string text, const char *kind)
{
    base_string out = base_string_new(n->session->allocator);
    bound(n, text.text, text.length, &out);
    if (strcmp(n->session->error.kind, kind)) fail_msg("%.20s..: %s (%s), not %s", text.text, n->session->error.kind, n->session->error.message, kind);
    bpl_error_clear(n->session);
    base_string_free(&out);
    base_string_free(&text);
}

static void test_depth(void **state)
{
    (void)state;
    static const char *const opens[] = {"(", "[", "{", "x.[", "+⍤(", "{⍵?", "(p←", "[1⋄", "1+("};
    bpl_world w;
    bpl_world_open(&w);
    names n = {.session = w.bpl};
    for (size_t i = 0; i < sizeof opens / sizeof *opens; i++) {
        runs_into(&n, repeated(&n, "", opens[i], 10000, ""), "LIMIT");
        runs_into(&n, repeated(&n, "", opens[i], 900, ""), "SYNTAX");
    }
    runs_into(&n, repeated(&n, "x", "", 0, ""), "");
    runs_into(&n, repeated(&n, "", "-", 100000, "x"), "LIMIT");
    runs_into(&n, repeated(&n, "", "p←", 100000, "x"), "LIMIT");
    runs_into(&n, repeated(&n, "x", " ²", 100000, ""), "LIMIT");
    runs_into(&n, repeated(&n, "+", "¨", 100000, " x"), "LIMIT");
    runs_into(&n, repeated(&n, "+∘ ", "+∘ ", 100000, "x"), "LIMIT");
    runs_into(&n, repeated(&n, "x", " ¨", 100000, ""), "LIMIT");
    bpl_world_close(&w);
}

/* A megabyte takes no longer than it should, whatever it is full of: a hundred times what it takes here is a second. */
static void test_length(void **state)
{
    (void)state;
    static const char *const parts[] = {"x+1 ⋄ ", "1 2 3 ", "x y ", "p←{⍵+1} ⋄ ", "[1 2;3] ", "\"ab\" ", "x", "(1 2) ", "x.a ", "⍝ c\n", "{p←⍵ ⋄ p} ⋄ ", "v.[1] "};
    bpl_world w;
    bpl_world_open(&w);
    names n = {.session = w.bpl};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        clock_t start = clock();
        runs_into(&n, repeated(&n, "", parts[i], (int)(1000000 / strlen(parts[i])), ""), "");
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        if (seconds > 10) fail_msg("a megabyte of %s takes %.1f s", parts[i], seconds);
    }
    base_string names_text = base_string_new(w.bpl->allocator);
    base_string_puts(&names_text, "{");
    for (int i = 0; i < 60000; i++)
        base_string_printf(&names_text, "n_%c%c%c%c←1⋄", 'a' + i % 26, 'a' + i / 26 % 26, 'a' + i / 676 % 26, 'a' + i / 17576 % 26);
    base_string_puts(&names_text, "}");
    runs_into(&n, names_text, "");
    bpl_world_close(&w);
}

/* Every beginning of every line, and every line with a byte changed: an error or none, and nothing else. */
static void test_cut(void **state)
{
    (void)state;
    bpl_world w;
    bpl_world_open(&w);
    names n = {.session = w.bpl};
    FILE *file = open_cases("binding.tsv");
    case_line line = {.number = 0};
    uint32_t random = 1;
    while (next_case(file, &line)) {
        size_t length = strlen(line.columns[0]);
        for (size_t i = 0; i <= length; i++) {
            base_string out = base_string_new(w.bpl->allocator);
            char *copy = malloc(length + 1); /* at the end of its block, so that nobody reads behind it unseen */
            memcpy(copy, line.columns[0], length);
            know_all(&n);
            bound(&n, copy, i, &out);
            bpl_error_clear(w.bpl);
            if (i < length) copy[i] = "()[]{};?←+/∘.1'\" x⍵"[(random = random * 1664525 + 1013904223) >> 24 & 15];
            bound(&n, copy, length, &out);
            bpl_error_clear(w.bpl);
            base_string_free(&out);
            free(copy);
        }
    }
    fclose(file);
    bpl_world_close(&w);
}

/* Every allocation fails once: LIMIT, and nothing is left behind. */
static void test_memory(void **state)
{
    (void)state;
    static const char text[] = "avg←{⍺←0 ⋄ \"DOMAIN\"::$e.kind ⋄ ⍵>0?(+/⍵)÷≢⍵;[p q]←⍵ ⋄ ¯1.5 2j3 'a' (x y⋄z)} ⋄ 1 2 3 v.[1]+←T.(a+b.c)ₓ ² ⋄ \"a\"\"b\" [\"k\":2]";
    bpl_world w;
    bpl_world_open(&w);
    names n = {.session = w.bpl};
    long long needed = 0;
    for (long long at = 0; at <= needed; at++) {
        know_all(&n);
        base_string out = base_string_new(w.bpl->allocator);
        long long before = atomic_load(&w.memory.asked);
        w.memory.fails_at = at ? before + at : 0;
        w.memory.failed = false;
        bound(&n, text, sizeof text - 1, &out);
        w.memory.fails_at = 0;
        if (!at) {
            if (w.bpl->error.kind[0]) fail_msg("%s: %s at %u", w.bpl->error.kind, w.bpl->error.message, w.bpl->error.start);
            needed = atomic_load(&w.memory.asked) - before;
        } else if (w.memory.failed && !out.failed && strcmp(w.bpl->error.kind, "LIMIT")) fail_msg("without allocation %lld of %lld: %s", at, needed, w.bpl->error.kind);
        bpl_error_clear(w.bpl);
        base_string_free(&out);
    }
    assert_true(needed > 20);
    bpl_world_close(&w);
}

/* ---- names of glyphs ---------------------------------------------------------------------------------------------------------------------------------- */

static void test_spellings(void **state)
{
    (void)state;
    bpl_respelling one, other;
    uint32_t count = 0;
    for (; bpl_respelling_at(count, &one); count++) {
        assert_true(one.name[0] && !one.name[strspn(one.name, "abcdefghijklmnopqrstuvwxyz")]);
        for (uint32_t i = 0; i < count; i++) {
            assert_true(bpl_respelling_at(i, &other));
            if (!strcmp(one.name, other.name) || !strcmp(one.character, other.character)) fail_msg("%s and %s are both `%s", one.character, other.character, one.name);
        }
    }
    assert_true(count > 120);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors), cmocka_unit_test(test_diagnostics), cmocka_unit_test(test_depth),
                                       cmocka_unit_test(test_length),  cmocka_unit_test(test_cut),         cmocka_unit_test(test_memory),
                                       cmocka_unit_test(test_spellings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
