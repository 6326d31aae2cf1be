/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Parts to runs to one tree: sections 3 to 5 of the grammar. */
#include "bpl/binder.h"
#include "bpl/reader.h"

void *bind_fail(binder *b, uint32_t first, uint32_t end, const char *message)
{
    const bpl_token *tokens = b->source->tokens;
    return bpl_fail_at(b->session, b->source, tokens[first].start, tokens[end > first ? end - 1 : first].end, BPL_SYNTAX, "%s", message);
}

void *bind_fail_at(binder *b, const bpl_node *node, const char *message)
{
    return bpl_fail_at(b->session, b->source, node->start, node->end, BPL_SYNTAX, "%s", message);
}

/* ---- nodes ---------------------------------------------------------------------------------------------------------------------------------- */

bpl_node *bind_node(binder *b, bpl_node_kind kind, bpl_role role, uint32_t start, uint32_t end, const bpl_node *const *children, uint32_t count)
{
    bpl_node *node = base_arena_take(&b->source->arena, sizeof *node + count * sizeof *children);
    if (!node) return bpl_fail_memory(b->session);
    *node = (bpl_node){.kind = (uint8_t)kind, .role = (uint8_t)role, .start = start, .end = end, .count = count, .source = b->source};
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < count; i++) {
        node->children[i] = children[i];
        if (children[i]->depth > deepest) deepest = children[i]->depth;
    }
    node->depth = deepest + 1;
    if (node->depth <= BPL_TREE_DEPTH) return node;
    return bpl_fail_at(b->session, b->source, start, end, BPL_LIMIT, "an expression nests deeper than %u; name parts of it", BPL_TREE_DEPTH);
}

bpl_node *bind_node1(binder *b, bpl_node_kind kind, bpl_role role, const bpl_node *a) { return bind_node(b, kind, role, a->start, a->end, &a, 1); }

/* Children stand in the order in which they print, which is not always the text's: (op / +). */
static bpl_node *spanned(binder *b, bpl_node_kind kind, bpl_role role, const bpl_node *const *children, uint32_t count)
{
    uint32_t start = UINT32_MAX, end = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (children[i]->start < start) start = children[i]->start;
        if (children[i]->end > end) end = children[i]->end;
    }
    return bind_node(b, kind, role, start, end, children, count);
}

bpl_node *bind_node2(binder *b, bpl_node_kind kind, bpl_role role, const bpl_node *a, const bpl_node *c)
{
    return spanned(b, kind, role, (const bpl_node *[]){a, c}, 2);
}

bpl_node *bind_node3(binder *b, bpl_node_kind kind, bpl_role role, const bpl_node *a, const bpl_node *c, const bpl_node *d)
{
    return spanned(b, kind, role, (const bpl_node *[]){a, c, d}, 3);
}

bool bind_push_node(binder *b, const bpl_node *node)
{
    if (!BASE_RESERVE(b->session->allocator, b->nodes, b->node_capacity, b->node_count + 1)) return bpl_fail_memory(b->session);
    b->nodes[b->node_count++] = node;
    return true;
}

bpl_node *bind_gather(binder *b, bpl_node_kind kind, bpl_role role, uint32_t start, uint32_t end, uint32_t base)
{
    uint32_t count = b->node_count - base;
    b->node_count = base;
    return bind_node(b, kind, role, start, end, b->nodes + base, count);
}

/* ---- suffixes and operators: 5.1 to 5.5 ------------------------------------------------------------------------------------------------------- */

static bpl_part *part_at(binder *b, uint32_t at) { return &b->parts[at]; }
static const bpl_token *part_token(const binder *b, const bpl_part *part) { return &b->source->tokens[part->token]; }
static bool is_element(const bpl_part *part) { return part->kind == BPL_PART_ELEMENT; }
static bool is_operator(const bpl_part *part) { return is_element(part) && bind_is_operator(part->node); }

static bpl_role role_of_path(const bpl_node *from) { return (bpl_role)from->role; }

static const bpl_node *superscript(binder *b, const bpl_node *operand, const bpl_part *part)
{
    const bpl_token *token = part_token(b, part);
    bool subject = bind_is_subject(operand), inverse = !token->value && token->row == BPL_MARK_INVERSE;
    bool awaited = b->bodies && operand->kind == BPL_NODE_NAME; /* a name that gets its function before the body runs */
    if (inverse && subject && !awaited)
        return bind_fail(b, part->token, part->token + 1, "⁻ inverts a function, and this is an array; write ⁻ and small digits for a power");
    bpl_role role = !subject || inverse ? BPL_ROLE_FUNCTION : BPL_ROLE_SUBJECT;
    if (!token->value && token->row == BPL_MARK_HELD) role = BPL_ROLE_HOLDER;
    bpl_node *node = bind_node1(b, BPL_NODE_SUPERSCRIPT, role, operand);
    if (!node) return NULL;
    node->end = token->end;
    node->row = token->value ? BPL_MARK_COUNT : token->row;
    node->value = token->value;
    return node;
}

/* A number of digits alone that no float may hold, as an integer; NULL without an error: another number. */
static const bpl_node *exact_literal(binder *b, const bpl_node *node)
{
    const char *text = b->source->text + node->start, *end = b->source->text + node->end;
    uint32_t sign = strncmp(text, "¯", strlen("¯")) ? 0 : (uint32_t)strlen("¯");
    int64_t number = 0;
    if (node->end - node->start < 16) return NULL;
    for (text += sign; text < end; text++) {
        if (*text < '0' || *text > '9' || !base_multiply(number, 10, &number)) return NULL;
        if (!(sign ? base_subtract(number, *text - '0', &number) : base_add(number, *text - '0', &number))) return NULL;
    }
    bpl_value *value = bpl_source_value(b->session, b->source, bpl_integer(b->session, number));
    bpl_node *literal = value ? bind_node(b, BPL_NODE_LITERAL, BPL_ROLE_SUBJECT, node->start, node->end, NULL, 0) : NULL;
    if (literal) literal->value = value;
    return literal;
}

/* The group under an integer's mark: its numbers are what their digits say, though alone they were floats. */
static const bpl_node *exact(binder *b, const bpl_node *node)
{
    uint32_t base = b->node_count, first = node->kind == BPL_NODE_KEY;
    if (node->kind == BPL_NODE_LITERAL) {
        const bpl_node *literal = exact_literal(b, node);
        return literal || bpl_failed(b->session) ? literal : node;
    }
    if (node->kind < BPL_NODE_STRAND || node->kind > BPL_NODE_ROW) return node;
    bool changed = false;
    for (uint32_t i = 0; i < node->count; i++) {
        const bpl_node *child = i < first ? node->children[i] : exact(b, node->children[i]);
        if (!child || !bind_push_node(b, child)) return NULL;
        changed |= child != node->children[i];
    }
    if (changed) return bind_gather(b, (bpl_node_kind)node->kind, (bpl_role)node->role, node->start, node->end, base);
    b->node_count = base;
    return node;
}

static const bpl_node *mark(binder *b, const bpl_node *operand, const bpl_part *part)
{
    const bpl_token *token = part_token(b, part);
    if ((token->row == BPL_MARK_ORDINARY || token->row == BPL_MARK_I64) && !(operand = exact(b, operand))) return NULL;
    bpl_node *node = bind_node1(b, BPL_NODE_MARK, bind_is_subject(operand) ? BPL_ROLE_SUBJECT : BPL_ROLE_FUNCTION, operand);
    if (!node) return NULL;
    node->end = token->end;
    node->row = token->row;
    return node;
}

static const bpl_node *subscript(binder *b, const bpl_node *operand, const bpl_part *part)
{
    const bpl_token *token = part_token(b, part);
    bpl_node *node = bind_node1(b, BPL_NODE_SUBSCRIPT, role_of_path(operand), operand);
    if (!node) return NULL;
    node->end = token->end;
    node->value = token->value;
    return bind_settle_path(b, node);
}

static const bpl_node *field(binder *b, const bpl_node *operand, const bpl_part *part)
{
    const bpl_token *name = part_token(b, part) + 1;
    bpl_node *node = bind_node1(b, BPL_NODE_FIELD, role_of_path(operand), operand);
    if (!node) return NULL;
    node->end = name->end;
    node->symbol = name->symbol;
    return bind_settle_path(b, node);
}

/* operand and the items of a list; of .[r⋄s], the cells as one. */
static const bpl_node *at(binder *b, const bpl_node *operand, const bpl_part *part)
{
    const bpl_node *items = part->node;
    uint32_t base = b->node_count;
    if (!bind_push_node(b, operand)) return NULL;
    if (items->kind != BPL_NODE_LIST) {
        if (!bind_push_node(b, items)) return NULL;
    } else {
        for (uint32_t i = 0; i < items->count; i++)
            if (!bind_push_node(b, items->children[i])) return NULL;
    }
    return bind_settle_path(b, bind_gather(b, BPL_NODE_AT, role_of_path(operand), operand->start, items->end, base));
}

static const bpl_node *scope(binder *b, const bpl_node *operand, const bpl_part *part)
{
    bpl_node *node = bind_node2(b, BPL_NODE_SCOPE, bind_is_subject(operand) ? (bpl_role)part->node->role : BPL_ROLE_FUNCTION, operand, part->node);
    bpl_body *body = node ? base_arena_take(&b->source->arena, sizeof *body + sizeof *body->statements) : NULL;
    if (!body) return node ? bpl_fail_memory(b->session) : NULL;
    *body = (bpl_body){1, (bpl_statement *)(body + 1)};
    body->statements[0] = (bpl_statement){part->token + 1, b->source->tokens[part->token + 1].partner + 1, NULL}; /* with its parentheses */
    node->end = b->source->tokens[body->statements[0].end - 1].end;
    node->bodies = body;
    return node;
}

/* x ⱼ y: y is one primary with nothing attached. *i moves behind it. Behind a function ᵣ is the mark. */
static const bpl_node *joined(binder *b, const bpl_node *operand, uint32_t *i, uint32_t end)
{
    bpl_part joiner = *part_at(b, *i);
    uint16_t row = part_token(b, &joiner)->row;
    if (!bind_is_subject(operand) && row == BPL_MARK_RATIONAL) return mark(b, operand, &joiner);
    bpl_part *right = *i + 1 < end ? part_at(b, *i + 1) : NULL;
    if (!bind_is_subject(operand) || !right || !is_element(right) || !bind_is_subject(right->node))
        return bind_fail(b, joiner.token, joiner.token + 1, "ⱼ, ₑ and ᵣ stand between two arrays that they touch: xⱼy");
    ++*i;
    bpl_node *node = bind_node2(b, BPL_NODE_JOIN, BPL_ROLE_SUBJECT, operand, right->node);
    if (node) node->row = row;
    return node;
}

/* One suffix at part *i, which moves behind it. */
static const bpl_node *suffixed(binder *b, const bpl_node *operand, uint32_t *i, uint32_t end)
{
    bpl_part part = *part_at(b, *i);
    const bpl_node *node = NULL;
    switch ((bpl_part_kind)part.kind) {
    case BPL_PART_SUPERSCRIPT: node = superscript(b, operand, &part); break;
    case BPL_PART_MARK: node = mark(b, operand, &part); break;
    case BPL_PART_SUBSCRIPT: node = subscript(b, operand, &part); break;
    case BPL_PART_JOINER: node = joined(b, operand, i, end); break;
    case BPL_PART_FIELD: node = field(b, operand, &part); break;
    case BPL_PART_AT: node = at(b, operand, &part); break;
    case BPL_PART_SCOPE: node = scope(b, operand, &part); break;
    case BPL_PART_ELEMENT: break;
    }
    ++*i;
    return node;
}

/* The right operand of an operator: one primary, and what binds tightly to it where it is a subject. */
static const bpl_node *operand(binder *b, uint32_t *i, uint32_t end, const bpl_node *operator)
{
    if (*i >= end || !is_element(part_at(b, *i))) return bind_fail_at(b, operator, "this operator takes an operand on its right");
    if (is_operator(part_at(b, *i))) return bind_fail_at(b, part_at(b, *i)->node, "an operator cannot be an operand; give it its own first, in parentheses");
    const bpl_node *node = part_at(b, (*i)++)->node;
    while (node && bind_is_subject(node) && *i < end && !is_element(part_at(b, *i)) && part_at(b, *i)->kind != BPL_PART_SUPERSCRIPT &&
           part_at(b, *i)->kind != BPL_PART_MARK)
        node = suffixed(b, node, i, end);
    return node;
}

/* left.right, by the token of its dot. */
static const bpl_node *product(binder *b, const bpl_node *left, const bpl_token *dot, const bpl_node *right)
{
    bpl_node *operator = bind_node(b, BPL_NODE_OPERATOR, BPL_ROLE_OPERATOR2, dot->start, dot->end, NULL, 0);
    if (!operator) return NULL;
    operator->row = BPL_OPERATOR_PRODUCT;
    return bind_node3(b, BPL_NODE_DERIVE, BPL_ROLE_FUNCTION, operator, left, right);
}

/* .name behind a function is its inner product with a function of that name. */
static const bpl_node *product_with_name(binder *b, const bpl_node *left, const bpl_part *part, bool *is_product)
{
    const bpl_token *dot = part_token(b, part), *token = dot + 1;
    *is_product = bind_is_system(bpl_symbol_text(b->session, token->symbol));
    if (!*is_product && bind_role_of(b, token->symbol) != BPL_ROLE_FUNCTION) return NULL;
    *is_product = true;
    uint32_t base = b->part_count;
    if (!bind_parts(b, part->token + 1, part->token + 2)) return NULL;
    const bpl_node *right = b->parts[base].node;
    b->part_count = base;
    return product(b, left, dot, right);
}

/* One step of a chain: a suffix, or an operator with its right operand. */
static const bpl_node *chained(binder *b, const bpl_node *left, uint32_t *i, uint32_t end)
{
    bpl_part part = *part_at(b, *i);
    bool function = !bind_is_subject(left), is_product = false;
    if (function && part.kind == BPL_PART_FIELD) {
        const bpl_node *named = product_with_name(b, left, &part, &is_product);
        if (is_product) return ++*i, named;
        if (bpl_failed(b->session)) return NULL;
    }
    if (function && part.kind == BPL_PART_SCOPE && part.node->role == BPL_ROLE_FUNCTION)
        return ++*i, product(b, left, part_token(b, &part), part.node);
    if (part.kind != BPL_PART_ELEMENT) return suffixed(b, left, i, end);
    ++*i;
    if (part.node->role == BPL_ROLE_OPERATOR1) return bind_node2(b, BPL_NODE_DERIVE, BPL_ROLE_FUNCTION, part.node, left);
    const bpl_node *right = operand(b, i, end, part.node);
    return right ? bind_node3(b, BPL_NODE_DERIVE, BPL_ROLE_FUNCTION, part.node, left, right) : NULL;
}

/* A run that begins with an operator: the operator alone, or one with its right operand fixed. */
static const bpl_node *lone_operator(binder *b, uint32_t *i, uint32_t end)
{
    const bpl_node *operator = part_at(b, (*i)++)->node;
    if (*i == end) return operator;
    if (operator->role == BPL_ROLE_OPERATOR1) return bind_fail_at(b, operator, "this operator takes an operand on its left");
    const bpl_node *right = operand(b, i, end, operator);
    if (right && *i < end) return bind_fail_at(b, operator, "this operator takes an operand on its left");
    return right ? bind_node2(b, BPL_NODE_PART, BPL_ROLE_OPERATOR1, operator, right) : NULL;
}

bool bind_elements(binder *b, uint32_t first, uint32_t *end)
{
    uint32_t out = first;
    for (uint32_t i = first; i < *end;) {
        bpl_part part = *part_at(b, i);
        if (!is_element(&part)) return bind_fail(b, part.token, part.token + 1, "this stands behind an array or a function, and there is none before it");
        if (is_operator(&part) && i > first) return bind_fail_at(b, part.node, "this operator takes an operand on its left");
        bool alone = true;
        if (is_operator(&part)) {
            part.node = lone_operator(b, &i, *end);
        } else {
            for (i++; part.node && i < *end && (!is_element(part_at(b, i)) || is_operator(part_at(b, i)));) {
                part.node = chained(b, part.node, &i, *end);
                alone = false;
            }
        }
        if (!part.node) return false;
        part.grouped = part.grouped && alone;
        *part_at(b, out++) = part;
    }
    *end = out;
    return true;
}

/* ---- values and trains: 5.6, 5.7 ---------------------------------------------------------------------------------------------------------------- */

/* Elements [first, end), the last one a subject. Strands wait on the stack of nodes, from the right. */
static const bpl_node *value(binder *b, uint32_t first, uint32_t end)
{
    uint32_t base = b->node_count, i = end - 1;
    const bpl_node *right = part_at(b, i)->node;
    if (!bind_push_node(b, right)) return NULL;
    while (i > first || b->node_count > base + 1) {
        const bpl_node *next = i > first ? part_at(b, i - 1)->node : NULL;
        if (next && next->role == BPL_ROLE_SUBJECT) {
            i--;
            if (!bind_push_node(b, next)) return NULL;
            continue;
        }
        if (b->node_count > base + 1) { /* the strand ends here */
            for (uint32_t low = base, high = b->node_count - 1; low < high; low++, high--) {
                const bpl_node *swap = b->nodes[low];
                b->nodes[low] = b->nodes[high];
                b->nodes[high] = swap;
            }
            right = bind_gather(b, BPL_NODE_STRAND, BPL_ROLE_SUBJECT, b->nodes[base]->start, b->nodes[b->node_count - 1]->end, base);
            if (!right || !bind_push_node(b, right)) return NULL;
            continue;
        }
        const bpl_node *left = i > first + 1 ? part_at(b, i - 2)->node : NULL;
        bool dyadic = left && bind_is_subject(left);
        right = dyadic ? bind_node3(b, BPL_NODE_CALL, BPL_ROLE_SUBJECT, left, next, right) : bind_node2(b, BPL_NODE_CALL, BPL_ROLE_SUBJECT, next, right);
        if (!right) return NULL;
        i -= dyadic ? 2 : 1;
        b->nodes[base] = right;
    }
    b->node_count = base;
    return right;
}

/* The function at part *i, bound to the subject before it; *i moves before both. */
static const bpl_node *taken(binder *b, uint32_t first, uint32_t *i, bool *bound)
{
    const bpl_node *function = part_at(b, --*i)->node;
    *bound = *i > first && bind_is_subject(part_at(b, *i - 1)->node);
    return *bound ? bind_node2(b, BPL_NODE_BIND, BPL_ROLE_FUNCTION, part_at(b, --*i)->node, function) : function;
}

/* Elements [first, end), the last one a function. */
static const bpl_node *train(binder *b, uint32_t first, uint32_t end)
{
    uint32_t i = end;
    bool bound;
    const bpl_node *whole = taken(b, first, &i, &bound);
    while (whole && i > first) {
        if (bound && bind_is_subject(part_at(b, i - 1)->node)) { /* more subjects before a bound function are one value */
            const bpl_node *left = value(b, first, i);
            return left ? bind_node2(b, BPL_NODE_BIND, BPL_ROLE_FUNCTION, left, whole) : NULL;
        }
        const bpl_node *function = taken(b, first, &i, &bound);
        if (!function) return NULL;
        if (bound || i == first) {
            whole = bind_node2(b, BPL_NODE_ATOP, BPL_ROLE_FUNCTION, function, whole);
        } else {
            const bpl_node *left = taken(b, first, &i, &bound);
            whole = left ? bind_node3(b, BPL_NODE_FORK, BPL_ROLE_FUNCTION, left, function, whole) : NULL;
        }
    }
    return whole;
}

const bpl_node *bind_combine(binder *b, uint32_t first, uint32_t end)
{
    if (end == first + 1) return part_at(b, first)->node;
    for (uint32_t i = first; i < end; i++)
        if (is_operator(part_at(b, i))) return bind_fail_at(b, part_at(b, i)->node, "this operator takes an operand on its left, touching it or in the run before");
    return part_at(b, end - 1)->node->role == BPL_ROLE_FUNCTION ? train(b, first, end) : value(b, first, end);
}

/* ---- runs: section 4 ------------------------------------------------------------------------------------------------------------------------------ */

static uint32_t raw_run_end(binder *b, uint32_t first)
{
    uint32_t end = first + 1;
    while (end < b->part_count && !part_at(b, end)->space) end++;
    return end;
}

static bool continues(const bpl_part *part)
{
    return part->kind != BPL_PART_ELEMENT ? part->kind != BPL_PART_JOINER : bind_is_operator(part->node);
}

static bool ends_open(binder *b, uint32_t end) { return is_operator(part_at(b, end - 1)) && part_at(b, end - 1)->node->role == BPL_ROLE_OPERATOR2; }

static const bpl_node *bind_run(binder *b, uint32_t first, uint32_t end)
{
    return bind_elements(b, first, &end) ? bind_combine(b, first, end) : NULL;
}

/* The run [first, *end) ends in an operator that waits: the next run, grouped, becomes part *end, and *next moves behind it. */
static bool take_operand(binder *b, uint32_t first, uint32_t *end, uint32_t *next)
{
    const bpl_node *operator = part_at(b, *end - 1)->node;
    if (*next == b->part_count) return *end == first + 1 || bind_fail_at(b, operator, "this operator takes an operand on its right");
    if (continues(part_at(b, *next))) return bind_fail_at(b, part_at(b, *next)->node ? part_at(b, *next)->node : operator, "this operator takes an operand on its right, not another operator");
    if (++b->depth > 2 * BPL_NESTING) return bpl_fail_at(b->session, b->source, operator->start, operator->end, BPL_LIMIT, "too many operators wait for the run behind them");
    uint32_t start = *next, stop = raw_run_end(b, start);
    *next = stop;
    if (ends_open(b, stop) && !take_operand(b, start, &stop, next)) return false;
    bpl_part part = *part_at(b, start);
    part.node = bind_run(b, start, stop);
    part.grouped = true;
    b->depth--;
    if (!part.node) return false;
    *part_at(b, (*end)++) = part;
    return true;
}

/* f⁰ ¹: another exponent in the list of the one before. False where it is none; after an error too. */
static bool extends(binder *b, bpl_part *before, uint32_t first, uint32_t end)
{
    bpl_part *part = part_at(b, first);
    const bpl_node *node = before->node;
    if (end > first + 1 || part->kind != BPL_PART_SUPERSCRIPT || !part_token(b, part)->value) return false;
    if (node->kind != BPL_NODE_SUPERSCRIPT || !node->value || node->role != BPL_ROLE_FUNCTION) return false;
    int64_t exponents[3], *old = NULL, *more = NULL, count = 0, one = 0;
    bool room = bpl_to_integers(b->session, (bpl_value *)node->value, "an exponent", false, &old, &count) && count < 3 &&
                bpl_to_integers(b->session, part_token(b, part)->value, "an exponent", false, &more, &one);
    if (room) {
        memcpy(exponents, old, (size_t)count * sizeof *old);
        exponents[count] = more[0];
    }
    if (old) bpl_free_integers(b->session, old, count);
    if (more) bpl_free_integers(b->session, more, one);
    bpl_value *list = room ? bpl_source_value(b->session, b->source, bpl_integers(b->session, exponents, count + 1)) : NULL;
    bpl_node *longer = list ? bind_node1(b, BPL_NODE_SUPERSCRIPT, BPL_ROLE_FUNCTION, node->children[0]) : NULL;
    if (!longer) return false;
    longer->row = BPL_MARK_COUNT;
    longer->value = list;
    longer->end = part_token(b, part)->end;
    before->node = longer;
    return true;
}

bool bind_runs(binder *b, uint32_t base, uint32_t *results, uint32_t *last_start)
{
    uint32_t done = base; /* results are parts [base, done) */
    for (uint32_t next = base; next < b->part_count;) {
        uint32_t first = next, end = raw_run_end(b, first);
        bool last = last_start && end == b->part_count;
        bool target = last && end == first + 1 && is_element(part_at(b, first)) && part_at(b, first)->node->kind == BPL_NODE_NAME;
        next = end;
        if (continues(part_at(b, first)) && done > base && !target) {
            bpl_part before = *part_at(b, done - 1);
            if (extends(b, &before, first, end)) {
                *part_at(b, done - 1) = before;
                continue;
            }
            if (bpl_failed(b->session)) return false;
            if (part_at(b, first)->kind == BPL_PART_SUBSCRIPT && end > first + 1)
                return bind_fail(b, part_at(b, first)->token, part_at(b, first)->token + 1, "a subscript behind a space stands alone; put it behind what it selects from");
            done--;
            before.grouped = true;
            *part_at(b, --first) = before;
        }
        if (!target && ends_open(b, end) && !take_operand(b, first, &end, &next)) return false;
        if (last_start && next == b->part_count) {
            b->part_count = end;
            *last_start = first;
            break;
        }
        bpl_part part = *part_at(b, first);
        part.grouped = end == first + 1 && part.grouped;
        part.node = bind_run(b, first, end);
        if (!part.node) return false;
        part.kind = BPL_PART_ELEMENT;
        *part_at(b, done++) = part;
    }
    *results = done - base;
    return true;
}

static const bpl_node *bind_value(binder *b, uint32_t first, uint32_t end)
{
    uint32_t base = b->part_count, results;
    const bpl_node *node = NULL;
    if (bind_parts(b, first, end) && bind_runs(b, base, &results, NULL)) node = bind_combine(b, base, base + results);
    b->part_count = base;
    return node;
}

const bpl_node *bind_expression(binder *b, uint32_t first, uint32_t end)
{
    uint32_t stop = end, arrow;
    const bpl_node *value = NULL;
    for (bool rightmost = true;; rightmost = false) { /* assignments from the right */
        for (arrow = stop; arrow > first; arrow--) {
            const bpl_token *token = &b->source->tokens[arrow - 1];
            if (token->kind == BPL_TOKEN_CLOSE) arrow = token->partner + 1;
            else if (token->kind == BPL_TOKEN_ARROW) break;
        }
        if (rightmost) {
            if (arrow < end && !(value = bind_value(b, arrow, end))) return NULL;
        } else if (!(value = bind_assignment(b, arrow, stop, value))) return NULL;
        if (arrow == first) return value;
        stop = arrow - 1;
    }
}
