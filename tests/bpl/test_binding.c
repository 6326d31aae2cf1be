/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Text to trees: every line of binding.tsv, diagnostics, and texts that are wrong, deep, long or cut off. */
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
        const bpl_node *tree = bpl_bind(n->session, source, &source->body.statements[i], (bpl_roles){role_of, n});
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
