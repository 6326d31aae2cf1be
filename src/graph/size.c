/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Sizes as polynomials in named extents with integer coefficients. An expression is an interned list
 * [terms, (coefficient, degree, extents ..) ..], terms by falling degree, then by the extents' names bytewise, the extents of a term sorted by name; so equal
 * polynomials have one place, and printing follows the list. */
#include <string.h>

#include "graph/graph.h"

#define MAX_TERMS 24
#define MAX_DEGREE 8

typedef struct term {
    int64_t coefficient;
    uint32_t degree;
    uint32_t extents[MAX_DEGREE];
} term;

typedef struct polynomial {
    uint32_t count;
    term terms[MAX_TERMS];
} polynomial;

static int compare_extents(const wg_graph *graph, uint32_t a, uint32_t b)
{
    return a == b ? 0 : strcmp(graph_name_at(graph, graph_extent_at(graph, a)->name)->text, graph_name_at(graph, graph_extent_at(graph, b)->name)->text);
}

static int compare_terms(const wg_graph *graph, const term *a, const term *b)
{
    if (a->degree != b->degree) return a->degree > b->degree ? -1 : 1;
    for (uint32_t i = 0; i < a->degree; i++) {
        int order = compare_extents(graph, a->extents[i], b->extents[i]);
        if (order) return order;
    }
    return 0;
}

static bool too_large(wg_error *error)
{
    return base_fail(error, WG_SIZE, "a size expression is too large: at most %d terms of degree %d, coefficients of 64 bits", MAX_TERMS, MAX_DEGREE);
}

/* Adds a term in its place; equal monomials join, a coefficient of 0 goes. */
static bool add_term(const wg_graph *graph, polynomial *sum, const term *t, wg_error *error)
{
    uint32_t at = 0;
    int order = 1;
    while (at < sum->count && (order = compare_terms(graph, &sum->terms[at], t)) < 0) at++;
    if (at < sum->count && order == 0) {
        if (!base_add(sum->terms[at].coefficient, t->coefficient, &sum->terms[at].coefficient)) return too_large(error);
        if (sum->terms[at].coefficient) return true;
        memmove(&sum->terms[at], &sum->terms[at + 1], (--sum->count - at) * sizeof *t);
        return true;
    }
    if (!t->coefficient) return true;
    if (sum->count == MAX_TERMS) return too_large(error);
    memmove(&sum->terms[at + 1], &sum->terms[at], (sum->count++ - at) * sizeof *t);
    sum->terms[at] = *t;
    return true;
}

static void load(const wg_graph *graph, wg_size size, polynomial *p)
{
    p->count = 0;
    if (!size.expression) {
        if (size.number) p->terms[p->count++] = (term){.coefficient = size.number};
        return;
    }
    const int64_t *numbers = graph_list_at(graph, size.expression).numbers;
    uint32_t count = (uint32_t)*numbers++;
    for (; p->count < count; p->count++) {
        term *t = &p->terms[p->count];
        t->coefficient = *numbers++;
        t->degree = (uint32_t)*numbers++;
        for (uint32_t i = 0; i < t->degree; i++) t->extents[i] = (uint32_t)*numbers++;
    }
}

static bool store(wg_tape *tape, const polynomial *p, int64_t number, wg_size *result)
{
    *result = (wg_size){number, 0};
    if (p->count == 0 || (p->count == 1 && p->terms[0].degree == 0)) return true;
    wg_size flat[1 + MAX_TERMS * (2 + MAX_DEGREE)];
    uint32_t used = 0;
    flat[used++] = (wg_size){p->count, 0};
    for (uint32_t i = 0; i < p->count; i++) {
        flat[used++] = (wg_size){p->terms[i].coefficient, 0};
        flat[used++] = (wg_size){p->terms[i].degree, 0};
        for (uint32_t j = 0; j < p->terms[i].degree; j++) flat[used++] = (wg_size){p->terms[i].extents[j], 0};
    }
    result->expression = graph_intern_list(tape, used, flat);
    return result->expression != 0;
}

static bool does_not_fit(wg_error *error, const char *what, wg_size a, wg_size b)
{
    return base_fail(error, WG_SIZE, "the %s of sizes %lld and %lld does not fit in 64 bits", what, (long long)a.number, (long long)b.number);
}

static bool add_scaled(wg_tape *tape, wg_size a, wg_size b, int64_t sign, int64_t number, wg_size *result, wg_error *error)
{
    polynomial sum, other;
    load(tape, a, &sum);
    load(tape, b, &other);
    for (uint32_t i = 0; i < other.count; i++) {
        if (!base_multiply(other.terms[i].coefficient, sign, &other.terms[i].coefficient)) return too_large(error);
        if (!add_term(tape, &sum, &other.terms[i], error)) return false;
    }
    return store(tape, &sum, number, result);
}

bool graph_size_sum(wg_tape *tape, wg_size a, wg_size b, wg_size *result, wg_error *error)
{
    int64_t number;
    if (!base_add(a.number, b.number, &number)) return does_not_fit(error, "sum", a, b);
    *result = (wg_size){number, 0};
    return (!a.expression && !b.expression) || !tape || add_scaled(tape, a, b, 1, number, result, error);
}

bool graph_size_difference(wg_tape *tape, wg_size a, wg_size b, wg_size *result, wg_error *error)
{
    int64_t number;
    if (!base_subtract(a.number, b.number, &number)) return does_not_fit(error, "difference", a, b);
    *result = (wg_size){number, 0};
    return (!a.expression && !b.expression) || !tape || add_scaled(tape, a, b, -1, number, result, error);
}

/* The product of two terms, extents merged by name. */
static bool multiply_terms(const wg_graph *graph, const term *a, const term *b, term *product, wg_error *error)
{
    if (a->degree + b->degree > MAX_DEGREE || !base_multiply(a->coefficient, b->coefficient, &product->coefficient)) return too_large(error);
    uint32_t i = 0, j = 0;
    for (product->degree = 0; i < a->degree || j < b->degree;)
        product->extents[product->degree++] =
            j == b->degree || (i < a->degree && compare_extents(graph, a->extents[i], b->extents[j]) <= 0) ? a->extents[i++] : b->extents[j++];
    return true;
}

bool graph_size_product(wg_tape *tape, wg_size a, wg_size b, wg_size *result, wg_error *error)
{
    int64_t number;
    if (!base_multiply(a.number, b.number, &number)) return does_not_fit(error, "product", a, b);
    *result = (wg_size){number, 0};
    if ((!a.expression && !b.expression) || !tape) return true;
    polynomial left, right, product = {.count = 0};
    load(tape, a, &left);
    load(tape, b, &right);
    for (uint32_t i = 0; i < left.count; i++)
        for (uint32_t j = 0; j < right.count; j++) {
            term t;
            if (!multiply_terms(tape, &left.terms[i], &right.terms[j], &t, error) || !add_term(tape, &product, &t, error)) return false;
        }
    return store(tape, &product, number, result);
}

bool graph_size_equal(wg_size a, wg_size b)
{
    return a.number == b.number && a.expression == b.expression;
}

/* Does a list have the form of a polynomial in extents that there are? */
static bool is_polynomial(const wg_graph *graph, graph_list list)
{
    if (list.expressions || !list.count || list.numbers[0] < 1 || list.numbers[0] > MAX_TERMS) return false;
    uint32_t at = 1;
    for (int64_t i = 0; i < list.numbers[0]; i++) {
        if (at + 2 > list.count || list.numbers[at + 1] < 0 || list.numbers[at + 1] > MAX_DEGREE) return false;
        uint32_t first = at + 2, end = first + (uint32_t)list.numbers[at + 1];
        if (end > list.count) return false;
        for (at = first; at < end; at++)
            if (list.numbers[at] < 0 || list.numbers[at] >= graph->extents.count) return false;
    }
    return at == list.count;
}

/* The value of a polynomial under the numbers that extents were declared with. */
static bool number_today(const wg_graph *graph, const polynomial *p, int64_t *number)
{
    *number = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        int64_t product = p->terms[i].coefficient;
        for (uint32_t j = 0; j < p->terms[i].degree; j++)
            if (!base_multiply(product, graph_extent_at(graph, p->terms[i].extents[j])->number, &product)) return false;
        if (!base_add(*number, product, number)) return false;
    }
    return true;
}

bool graph_check_sizes(wg_tape *tape, const wg_size *sizes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!sizes[i].expression) continue;
        polynomial p;
        int64_t number;
        bool ours = graph_list_is(tape, sizes[i].expression) && is_polynomial(tape, graph_list_at(tape, sizes[i].expression));
        if (ours) load(tape, sizes[i], &p);
        if (ours && number_today(tape, &p, &number) && number == sizes[i].number) continue;
        graph_fail(tape, WG_TAPE, "a size of another tape, or one whose number was changed; make it by this tape's extents");
        return false;
    }
    return true;
}

uint32_t graph_size_extent(const wg_graph *graph, wg_size size)
{
    if (!size.expression) return WG_NONE;
    polynomial p;
    load(graph, size, &p);
    return p.count == 1 && p.terms[0].coefficient == 1 && p.terms[0].degree == 1 ? p.terms[0].extents[0] : WG_NONE;
}

bool graph_size_evaluate(const wg_graph *graph, wg_size size, const int64_t *extents, int64_t *number)
{
    *number = size.number;
    if (!size.expression) return true;
    polynomial p;
    load(graph, size, &p);
    *number = 0;
    for (uint32_t i = 0; i < p.count; i++) {
        int64_t product = p.terms[i].coefficient;
        for (uint32_t j = 0; j < p.terms[i].degree; j++)
            if (!base_multiply(product, extents[p.terms[i].extents[j]], &product)) return false;
        if (!base_add(*number, product, number)) return false;
    }
    return true;
}

void graph_size_print(const wg_graph *graph, wg_size size, base_string *text)
{
    if (!size.expression) {
        base_string_integer(text, size.number);
        return;
    }
    polynomial p;
    load(graph, size, &p);
    for (uint32_t i = 0; i < p.count; i++) {
        const term *t = &p.terms[i];
        if (i && t->coefficient >= 0) base_string_puts(text, "+");
        if (t->degree && t->coefficient == -1) base_string_puts(text, "-");
        bool bare = t->degree && (t->coefficient == 1 || t->coefficient == -1);
        if (!bare) base_string_integer(text, t->coefficient);
        for (uint32_t j = 0; j < t->degree; j++) {
            if (j || !bare) base_string_puts(text, "*");
            const graph_name *name = graph_name_at(graph, graph_extent_at(graph, t->extents[j])->name);
            graph_name_print(name->text, name->length, WG_NONE, text);
        }
    }
}

/* ---- the public calls ---- */

static wg_size failed_size(void)
{
    return (wg_size){-1, 0};
}

wg_size wg_number(int64_t number)
{
    return (wg_size){number, 0};
}

/* Extents stand bare in expressions: a letter or _, then letters, digits, _ and dots. */
static bool plain_name(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char c = name[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(i && ((c >= '0' && c <= '9') || c == '.'))) return false;
    }
    return length > 0;
}

wg_size wg_extent(wg_tape *tape, const char *name, int64_t number)
{
    if (!tape || !tape->recording || tape->error.code) return graph_poison(tape), failed_size();
    size_t length = name ? strlen(name) : 0;
    if (!plain_name(name, length) || number < 0)
        return graph_fail(tape, WG_ARGUMENT, "an extent needs a plain name (letters, digits, _ and dots) and a number of at least 0"), failed_size();
    uint32_t place = graph_intern_name(tape, name, length);
    if (place == WG_NONE) return failed_size();
    graph_name *entry = base_pool_at(&tape->names, place);
    if (entry->node != WG_NONE || entry->extent != WG_NONE) return graph_fail(tape, WG_NAME, "the name %s is already taken", name), failed_size();
    uint32_t extent = base_pool_append(&tape->extents, 1);
    if (extent == WG_NONE) return graph_fail(tape, WG_MEMORY, "out of memory"), failed_size();
    *(graph_extent *)base_pool_at(&tape->extents, extent) = (graph_extent){place, number};
    entry->extent = extent;
    polynomial p = {.count = 1, .terms = {{.coefficient = 1, .degree = 1, .extents = {extent}}}};
    wg_size size;
    return store(tape, &p, number, &size) ? size : failed_size();
}

typedef bool size_operation(wg_tape *tape, wg_size a, wg_size b, wg_size *result, wg_error *error);

static wg_size combine(wg_tape *tape, wg_size a, wg_size b, size_operation *operation)
{
    wg_size result, operands[2] = {a, b};
    if (!tape || !tape->recording || tape->error.code) return graph_poison(tape), failed_size();
    if (!graph_check_sizes(tape, operands, 2)) return failed_size();
    return operation(tape, a, b, &result, &tape->error) ? result : failed_size();
}

wg_size wg_size_add(wg_tape *tape, wg_size a, wg_size b)
{
    return combine(tape, a, b, graph_size_sum);
}

wg_size wg_size_subtract(wg_tape *tape, wg_size a, wg_size b)
{
    return combine(tape, a, b, graph_size_difference);
}

wg_size wg_size_multiply(wg_tape *tape, wg_size a, wg_size b)
{
    return combine(tape, a, b, graph_size_product);
}
