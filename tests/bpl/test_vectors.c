/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The cases of core.tsv, generated.tsv, respelled.tsv, layout.tsv (whole-array functions), kinds.tsv (pervasive functions), modifiers.tsv, system.tsv
 * (system names) and judged.tsv (what random expressions showed), measured, each in a session of its own: the value matches what is expected, in kinds, shape,
 * nesting, keys and fill too; or the error is of the kind that is told. Counted by feature. open.tsv lists the cases that do not hold yet: one
 * that holds must be taken off the list, one that stops holding fails. WENGERT_REWRITE=1 writes the list anew; WENGERT_SHOW=1 prints what is
 * wrong with each open case, WENGERT_SHOW=text with those alone whose expression holds the text. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <unistd.h>

#include "bpl/display.h"
#include "bpl/world.h"

/* ---- two values, of two sessions -------------------------------------------------------------------------------------------------------------- */

typedef struct comparison {
    bool approximate;
    char why[400];
} comparison;

static bool differ(comparison *c, const char *what)
{
    if (!c->why[0]) snprintf(c->why, sizeof c->why, "%.300s differs", what);
    return false;
}

static bool near_double(const comparison *c, double a, double b, wg_kind kind)
{
    if (a != a || b != b) return a != a && b != b;
    if (a == b) return true;
    bool narrow = kind == WG_KIND_F32 || kind == WG_KIND_C64;
    double share = c->approximate ? (kind == WG_KIND_F16 ? 1e-2 : narrow ? 1e-4 : 1e-9) : kind == WG_KIND_F64 || kind == WG_KIND_C128 ? 1e-14 : 0;
    double size = (a < 0 ? -a : a) > (b < 0 ? -b : b) ? (a < 0 ? -a : a) : (b < 0 ? -b : b), gap = a > b ? a - b : b - a;
    if (size > 1e300 && gap > 1e300) return false;
    return gap <= share * size || (c->approximate && size < share * 1e-3);
}

static bool same_items(comparison *c, const wg_view *a, const wg_view *b, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        bool same;
        switch (a->kind) {
        case WG_KIND_F32: same = near_double(c, (double)((const float *)a->data)[i], (double)((const float *)b->data)[i], a->kind); break;
        case WG_KIND_F64: same = near_double(c, ((const double *)a->data)[i], ((const double *)b->data)[i], a->kind); break;
        case WG_KIND_F16:
            same = near_double(c, (double)base_f16_to_f32(((const uint16_t *)a->data)[i]), (double)base_f16_to_f32(((const uint16_t *)b->data)[i]), a->kind);
            break;
        case WG_KIND_C64: {
            wg_complex64 x = ((const wg_complex64 *)a->data)[i], y = ((const wg_complex64 *)b->data)[i];
            double scale = c->approximate ? 1e-6 * (double)(x.re < 0 ? -x.re : x.re) : 0;
            same = near_double(c, (double)x.re, (double)y.re, a->kind) && (near_double(c, (double)x.im, (double)y.im, a->kind) || (double)(x.im < 0 ? -x.im : x.im) < scale);
            break;
        }
        case WG_KIND_C128: {
            wg_complex128 x = ((const wg_complex128 *)a->data)[i], y = ((const wg_complex128 *)b->data)[i];
            double size = (x.re < 0 ? -x.re : x.re) + (x.im < 0 ? -x.im : x.im), share = c->approximate ? 1e-9 : 1e-14; /* ≡ of complex numbers is by distance */
            double gap = (x.re > y.re ? x.re - y.re : y.re - x.re) + (x.im > y.im ? x.im - y.im : y.im - x.im);
            same = gap <= share * size || (near_double(c, x.re, y.re, a->kind) && near_double(c, x.im, y.im, a->kind));
            break;
        }
        default: same = !memcmp((const char *)a->data + i * base_kinds[a->kind].bytes, (const char *)b->data + i * base_kinds[a->kind].bytes, base_kinds[a->kind].bytes);
        }
        if (!same) return differ(c, "an item");
    }
    return true;
}

static bool same_value(comparison *c, const bpl_value *a, const bpl_value *b);

static bool same_label(comparison *c, const bpl_value *a, const bpl_value *b)
{
    if (!a || !b) return (!a && !b) || differ(c, "a key");
    return same_value(c, a, b);
}

static const char *shown_name(const bpl_axis *axis) { return axis && axis->name && axis->name[0] != '_' ? axis->name : ""; }

static bool same_keys(comparison *c, const bpl_value *a, const bpl_value *b)
{
    for (uint32_t axis = 0; axis < bpl_rank(a); axis++) {
        const bpl_axis *x = bpl_axis_of(a, axis), *y = bpl_axis_of(b, axis);
        if (strcmp(shown_name(x), shown_name(y))) return differ(c, "the name of an axis");
        for (int64_t i = 0; i < bpl_shape(a)[axis]; i++)
            if (!same_label(c, x && x->labels ? x->labels[i] : NULL, y && y->labels ? y->labels[i] : NULL)) return false;
    }
    return true;
}

static bool same_fill(comparison *c, const bpl_value *a, const bpl_value *b)
{
    bpl_value *x = bpl_fill(a->session, a), *y = bpl_fill(b->session, b);
    bool same = x && y && (same_value(c, x, y) || differ(c, "the fill"));
    bpl_release(x);
    bpl_release(y);
    return same;
}

static bool same_text(comparison *c, const bpl_value *a, const bpl_value *b)
{
    base_string x = base_string_new(a->session->allocator), y = base_string_new(b->session->allocator);
    bool same = bpl_display(a->session, a, &x) && bpl_display(b->session, b, &y) && !strcmp(x.text, y.text);
    base_string_free(&x);
    base_string_free(&y);
    return same || differ(c, "the text");
}

static bool same_value(comparison *c, const bpl_value *a, const bpl_value *b)
{
    wg_view x, y;
    if (a->type != b->type) return differ(c, "the storage");
    if (a->type >= BPL_RATIONAL) return same_text(c, a, b);
    if (a->atom != b->atom || bpl_rank(a) != bpl_rank(b)) return differ(c, "the rank");
    if (memcmp(bpl_shape(a), bpl_shape(b), bpl_rank(a) * sizeof(int64_t))) return differ(c, "the shape");
    if (a->type != BPL_ITEMS && (a->class != b->class || bpl_kind(a) != bpl_kind(b))) return differ(c, "the kind");
    if (!same_keys(c, a, b)) return false;
    int64_t volume = bpl_volume(a);
    if (!volume) return a->type != BPL_ITEMS || same_fill(c, a, b);
    if (a->type != BPL_ITEMS) return bpl_read(a->session, a, &x) && bpl_read(b->session, b, &y) ? same_items(c, &x, &y, volume) : differ(c, "what can be read");
    for (int64_t i = 0; i < volume; i++)
        if (!same_value(c, a->items->at[i], b->items->at[i])) return false;
    return true;
}

/* ---- cases --------------------------------------------------------------------------------------------------------------------------------------- */

/* The value of a text; forced: what is pending fails here or never. */
static bpl_value *run(bpl_session *session, const char *text)
{
    bpl_value *value = run_text(session, text);
    if (!value) return NULL;
    base_string shown = base_string_new(session->allocator);
    bool done = bpl_display(session, value, &shown);
    base_string_free(&shown);
    if (done && !bpl_failed(session)) return value;
    bpl_release(value);
    return NULL;
}

static void tell(comparison *c, bpl_session *session, const bpl_value *value)
{
    base_string shown = base_string_new(session->allocator);
    if (value && bpl_put_inline(session, &shown, value, &(bpl_style){.full = true, .exact = !bpl_is_function(value)})) {
        size_t used = strlen(c->why);
        snprintf(c->why + used, sizeof c->why - used, "%s%.200s", used ? ": " : "", shown.text);
    } else if (bpl_failed(session)) {
        size_t used = strlen(c->why);
        snprintf(c->why + used, sizeof c->why - used, "%s%s ERROR: %.200s", used ? ": " : "", session->error.kind, session->error.message);
    }
    bpl_error_clear(session);
    base_string_free(&shown);
}

/* Whether •literal⁻ of a value reads back as it is. Functions have no such text. */
static bool reads_back(comparison *c, bpl_session *session, bpl_session *other, const bpl_value *value)
{
    base_string text = base_string_new(session->allocator);
    bool same = true;
    if (bpl_literal(session, value, &text)) {
        bpl_value *again = run(other, text.text);
        comparison exact = {.approximate = false, .why = ""};
        same = again && same_value(&exact, value, again);
        if (!same) snprintf(c->why, sizeof c->why, "its literal %.200s reads back otherwise (%.100s%.60s)", text.text, exact.why, other->error.message);
        bpl_release(again);
        bpl_error_clear(other);
    } else if (strcmp(session->error.kind, "DOMAIN")) same = differ(c, session->error.message);
    bpl_error_clear(session);
    base_string_free(&text);
    return same;
}

static bool judge(comparison *c, bpl_session *session, bpl_session *other, const char *expression, const char *expected)
{
    bpl_value *value = run(session, expression);
    bool holds = false;
    if (!strncmp(expected, "ERROR ", 6)) {
        holds = !value && !strcmp(session->error.kind, expected + 6);
    } else if (!strcmp(expected, "NORESULT")) {
        holds = !value && !bpl_failed(session);
    } else if (value && !strncmp(expected, "text:", 5)) {
        base_string shown = base_string_new(session->allocator);
        holds = bpl_display(session, value, &shown) && !strcmp(shown.text, expected + 5);
        base_string_free(&shown);
    } else if (value) {
        bpl_value *wanted = run(other, expected);
        if (!wanted) tell(c, other, NULL), differ(c, "what is expected cannot be read, and");
        holds = wanted && same_value(c, value, wanted) && reads_back(c, session, other, value);
        bpl_release(wanted);
        bpl_error_clear(other);
    }
    if (!holds) tell(c, session, value);
    bpl_release(value);
    return holds;
}

/* ---- counts and the open list ------------------------------------------------------------------------------------------------------------------------ */

typedef struct feature {
    char name[40];
    int held, all;
} feature;

typedef struct tally {
    feature features[256];
    int count, held, all, broken, fixed;
    char **open; /* the list, sorted as it is in the file */
    bool *seen;
    int open_count;
    FILE *rewritten;
} tally;

static void count_case(tally *t, const char *name, bool held)
{
    int i = 0;
    while (i < t->count && strcmp(t->features[i].name, name)) i++;
    if (i == t->count && t->count < (int)(sizeof t->features / sizeof *t->features)) snprintf(t->features[t->count++].name, sizeof t->features->name, "%.39s", name);
    if (i < t->count) t->features[i].all++, t->features[i].held += held;
    t->all++;
    t->held += held;
}

static void read_open(tally *t)
{
    char path[1024], line[1 << 14];
    snprintf(path, sizeof path, "%s/bpl/open.tsv", TEST_DATA_DIR);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\t\n")] = 0;
        t->open = realloc(t->open, (size_t)(t->open_count + 1) * sizeof *t->open);
        t->seen = realloc(t->seen, (size_t)(t->open_count + 1) * sizeof *t->seen);
        t->seen[t->open_count] = false;
        t->open[t->open_count++] = strdup(line);
    }
    if (file) fclose(file);
    if (getenv("WENGERT_REWRITE")) t->rewritten = fopen(path, "w");
}

static bool is_open(tally *t, const char *expression)
{
    for (int i = 0; i < t->open_count; i++)
        if (!strcmp(t->open[i], expression)) return t->seen[i] = true;
    return false;
}

/* A crash says where it was. */
static const char *running = "";

static void crashed(int signal)
{
    static const char said[] = "\ncrashed in: ";
    if (write(2, said, sizeof said - 1) > 0 && write(2, running, strlen(running)) > 0 && write(2, "\n", 1) > 0) _exit(128 + signal);
    _exit(1);
}

static void run_case(tally *t, bpl_session *other, const case_line *line, const char *feature)
{
    wg_bpl_options options = {.size = sizeof options, .context = other->context};
    comparison c = {.approximate = !strcmp(line->columns[3], "approx") || !strcmp(line->columns[2], "approx")};
    const char *show = getenv("WENGERT_SHOW");
    wg_bpl *session = wg_bpl_new(&options, NULL);
    assert_non_null(session);
    running = line->columns[0];
    bool held = judge(&c, session, other, line->columns[0], line->columns[1]), open = is_open(t, line->columns[0]);
    wg_bpl_free(&session);
    count_case(t, feature, held);
    if (t->rewritten && !held) fprintf(t->rewritten, "%s\t%s\n", line->columns[0], feature);
    bool asked = show && (!strcmp(show, "1") || strstr(line->columns[0], show) || !strcmp(show, feature));
    if (!held && (!open || asked)) print_message("%s: %s\n    expected %s\n    %s\n", feature, line->columns[0], line->columns[1], c.why);
    if (held && open && !t->rewritten) print_message("%s: %s holds now; take it off tests/bpl/open.tsv\n", feature, line->columns[0]);
    t->broken += !held && !open;
    t->fixed += held && open;
}

static void test_cases(void **state)
{
    (void)state;
    static const char *const files[] = {"core.tsv", "generated.tsv", "respelled.tsv", "layout.tsv", "kinds.tsv", "modifiers.tsv", "system.tsv", "judged.tsv"};
    static tally t;
    bpl_world w;
    bpl_world_open(&w);
    read_open(&t);
    signal(SIGSEGV, crashed);
    signal(SIGABRT, crashed);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        FILE *file = open_cases(files[i]);
        case_line line = {.number = 0};
        while (next_case(file, &line)) run_case(&t, w.bpl, &line, line.columns[3][0] && strcmp(line.columns[3], "approx") && i != 2 ? line.columns[3] : files[i]);
        fclose(file);
    }
    for (int i = 0; i < t.count; i++)
        if (t.features[i].held < t.features[i].all) print_message("%4d of %4d  %s\n", t.features[i].held, t.features[i].all, t.features[i].name);
    print_message("%d of %d cases hold\n", t.held, t.all);
    int gone = 0;
    for (int i = 0; i < t.open_count; i++) {
        if (!t.seen[i]) gone++, print_message("open.tsv: %s is no case\n", t.open[i]);
        free(t.open[i]);
    }
    free(t.open);
    free(t.seen);
    bool rewritten = t.rewritten;
    if (rewritten) fclose(t.rewritten);
    bpl_world_close(&w);
    if (!rewritten && t.broken + t.fixed + gone) fail_msg("%d cases stopped holding, %d hold now, %d are none", t.broken, t.fixed, gone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
