/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Statements, and the bodies of dfns. A body is bound when its dfn is, so that its mistakes come before anything runs: names have the roles that
 * its own assignments give them, ⍺ and ⍵ are subjects, ⍶ and ⍹ functions, all others what they are outside. Where a call finds other roles, the
 * statement is bound again. */
#include <string.h>

#include "bpl/binder.h"

static const bpl_token *token_at(const binder *b, uint32_t at) { return &b->source->tokens[at]; }

/* ---- roles of names ----------------------------------------------------------------------------------------------------------------------------- */

static bpl_role_slot *slot_of(bpl_role_map *map, bpl_symbol symbol)
{
    uint32_t at = symbol * 2654435769u & (map->capacity - 1);
    while (map->slots[at].symbol && map->slots[at].symbol != symbol) at = (at + 1) & (map->capacity - 1);
    return &map->slots[at];
}

/* The slot of a symbol, made where there is none. NULL without memory. */
static bpl_role_slot *entry(binder *b, bpl_role_map *map, bpl_symbol symbol)
{
    if (2 * map->count >= map->capacity) {
        bpl_role_map larger = {.capacity = map->capacity ? 2 * map->capacity : 32, .count = map->count};
        larger.slots = base_allocate_zeroed(b->session->allocator, larger.capacity * sizeof *larger.slots);
        if (!larger.slots) return bpl_fail_memory(b->session);
        for (uint32_t at = 0; at < map->capacity; at++)
            if (map->slots[at].symbol) *slot_of(&larger, map->slots[at].symbol) = map->slots[at];
        base_free(b->session->allocator, map->slots, map->capacity * sizeof *map->slots);
        *map = larger;
    }
    bpl_role_slot *slot = slot_of(map, symbol);
    if (!slot->symbol) {
        slot->symbol = symbol;
        map->count++;
    }
    return slot;
}

static bool push_asked(binder *b, bpl_asked **stack, uint32_t *count, uint32_t *capacity, bpl_symbol symbol, uint8_t role)
{
    if (!BASE_RESERVE(b->session->allocator, *stack, *capacity, *count + 1)) return bpl_fail_memory(b->session);
    (*stack)[(*count)++] = (bpl_asked){symbol, role};
    return true;
}

static bool assume(binder *b, bpl_symbol symbol, bpl_role role)
{
    bpl_role_slot *slot = entry(b, &b->assumed, symbol);
    if (!slot || !push_asked(b, &b->undo, &b->undo_count, &b->undo_capacity, symbol, slot->role)) return false;
    slot->role = (uint8_t)(role + 1);
    return true;
}

static void forget(binder *b, uint32_t base)
{
    while (b->undo_count > base) {
        bpl_asked old = b->undo[--b->undo_count];
        slot_of(&b->assumed, old.symbol)->role = old.role;
    }
}

bool bind_note_assigned(binder *b, bpl_symbol symbol, bpl_role role)
{
    return !b->bodies || push_asked(b, &b->assigned, &b->assigned_count, &b->assigned_capacity, symbol, (uint8_t)role);
}

bpl_role bind_role_of(binder *b, bpl_symbol symbol)
{
    if (symbol == BPL_SYMBOL_SELF) return BPL_ROLE_FUNCTION;
    if (symbol == BPL_SYMBOL_QUAD || symbol == BPL_SYMBOL_CAUGHT || symbol == BPL_SYMBOL_DISCARD) return BPL_ROLE_SUBJECT;
    if (symbol == BPL_SYMBOL_ALPHA || symbol == BPL_SYMBOL_OMEGA) return BPL_ROLE_SUBJECT; /* whatever they are: nobody need ask again */
    bpl_role role;
    if (b->bodies && b->assumed.count && slot_of(&b->assumed, symbol)->role) role = (bpl_role)(slot_of(&b->assumed, symbol)->role - 1);
    else role = b->roles.of(b->roles.user, symbol);
    bpl_role_slot *slot = entry(b, &b->known, symbol);
    if (!slot || slot->serial == b->serial) return role;
    slot->serial = b->serial;
    push_asked(b, &b->asked, &b->asked_count, &b->asked_capacity, symbol, (uint8_t)role);
    return role;
}

/* The name that a path begins with; NULL: none. */
static const bpl_node *root_of(const bpl_node *path)
{
    while (path->kind == BPL_NODE_FIELD || path->kind == BPL_NODE_AT || path->kind == BPL_NODE_SUBSCRIPT) path = path->children[0];
    return path->kind == BPL_NODE_NAME ? path : NULL;
}

bpl_node *bind_settle_path(binder *b, bpl_node *path)
{
    const bpl_node *root = path && path->role == BPL_ROLE_HOLDER ? root_of(path) : NULL;
    if (!root || !b->roles.is_function) return path;
    if (!BASE_RESERVE(b->session->allocator, b->paths, b->path_capacity, b->path_count + 1)) return bpl_fail_memory(b->session);
    bool local = b->bodies && b->assumed.count && slot_of(&b->assumed, root->symbol)->role; /* nobody knows before the body runs */
    if (!local && b->roles.is_function(b->roles.user, path)) path->role = BPL_ROLE_FUNCTION;
    b->paths[b->path_count++] = path;
    return path;
}

/* ---- statements ----------------------------------------------------------------------------------------------------------------------------------- */

/* Whether it stands in a dfn's body, where predicates and guards do. */
static bool in_body(const binder *b, const bpl_statement *statement)
{
    const bpl_body *top = &b->source->body;
    return !(statement >= top->statements && statement < top->statements + top->count);
}

static uint32_t find_guard(const binder *b, const bpl_statement *statement)
{
    for (uint32_t at = statement->first; at < statement->end; at++) {
        if (token_at(b, at)->kind == BPL_TOKEN_GUARD) return at;
        if (token_at(b, at)->kind == BPL_TOKEN_OPEN) at = token_at(b, at)->partner;
    }
    return statement->end;
}

static const bpl_node *statement_tree(binder *b, const bpl_statement *statement)
{
    uint32_t first = statement->first, end = statement->end;
    if (!in_body(b, statement)) return bind_expression(b, first, end);
    if (token_at(b, end - 1)->kind == BPL_TOKEN_QUESTION) {
        if (end - 1 == first) return bind_fail(b, first, end, "a predicate is missing before ?");
        const bpl_node *predicate = bind_expression(b, first, end - 1);
        return predicate ? bind_node1(b, BPL_NODE_IF, BPL_ROLE_SUBJECT, predicate) : NULL;
    }
    uint32_t guard = find_guard(b, statement);
    if (guard == end) return bind_expression(b, first, end);
    if (guard == first || guard + 1 == end) return bind_fail(b, guard, guard + 1, ":: stands between kinds of errors and what handles them: \"DOMAIN\"::0");
    const bpl_node *kinds = bind_expression(b, first, guard), *handler = kinds ? bind_expression(b, guard + 1, end) : NULL;
    return handler ? bind_node2(b, BPL_NODE_GUARD, BPL_ROLE_SUBJECT, kinds, handler) : NULL;
}

/* The tree, and the names and paths asked since `base` and `first_path`. */
static bool keep_binding(binder *b, bpl_statement *statement, const bpl_node *tree, uint32_t base, uint32_t first_path)
{
    uint32_t count = b->asked_count - base, path_count = b->path_count - first_path;
    bpl_binding *binding = base_arena_take(&b->source->arena, sizeof *binding + path_count * sizeof(bpl_node *) + count * (sizeof(bpl_symbol) + 1));
    if (!binding) return bpl_fail_memory(b->session);
    const bpl_node **paths = (const bpl_node **)(binding + 1);
    for (uint32_t i = 0; i < path_count; i++) paths[i] = b->paths[first_path + i];
    bpl_symbol *names = (bpl_symbol *)(paths + path_count);
    uint8_t *roles = (uint8_t *)(names + count);
    for (uint32_t i = 0; i < count; i++) {
        names[i] = b->asked[base + i].symbol;
        roles[i] = b->asked[base + i].role;
    }
    *binding = (bpl_binding){tree, statement->bindings, count, names, roles, path_count, paths};
    statement->bindings = binding;
    return true;
}

const bpl_node *bind_statement(binder *b, bpl_statement *statement)
{
    uint32_t serial = b->serial, asked = b->asked_count, assigned = b->assigned_count, paths = b->path_count;
    b->serial = ++b->serials;
    const bpl_node *tree = statement_tree(b, statement);
    if (bpl_failed(b->session) || (tree && !keep_binding(b, statement, tree, asked, paths))) tree = NULL;
    for (uint32_t i = assigned; tree && i < b->assigned_count; i++)
        if (!assume(b, b->assigned[i].symbol, (bpl_role)b->assigned[i].role)) tree = NULL;
    b->assigned_count = assigned;
    b->asked_count = asked;
    b->serial = serial;
    return tree;
}

/* ---- dfns ------------------------------------------------------------------------------------------------------------------------------------------ */

/* The statements of a body [first, end): counted, or put into body->statements where it is there. A predicate ends with its ?. */
static uint32_t statements_of(const binder *b, uint32_t first, uint32_t end, bpl_statement *statements, bool *predicate)
{
    uint32_t count = 0, start = first;
    *predicate = false;
    for (uint32_t at = first; at <= end; at++) {
        bpl_token_kind kind = at == end ? BPL_TOKEN_DIAMOND : (bpl_token_kind)token_at(b, at)->kind;
        if (kind == BPL_TOKEN_OPEN) at = token_at(b, at)->partner;
        if (kind != BPL_TOKEN_DIAMOND && kind != BPL_TOKEN_QUESTION) continue;
        uint32_t stop = kind == BPL_TOKEN_QUESTION ? at + 1 : at;
        if (kind == BPL_TOKEN_QUESTION) *predicate = true;
        if (stop > start) {
            if (statements) statements[count] = (bpl_statement){start, stop, NULL};
            count++;
        }
        start = at + 1;
    }
    return count;
}

/* The end of the body that begins at `first`. */
static uint32_t body_end(const binder *b, uint32_t first, uint32_t close)
{
    uint32_t at = first;
    for (; at < close && token_at(b, at)->kind != BPL_TOKEN_SEMICOLON; at++)
        if (token_at(b, at)->kind == BPL_TOKEN_OPEN) at = token_at(b, at)->partner;
    return at;
}

static bool bind_body(binder *b, bpl_body *body, uint32_t first, uint32_t end, uint32_t close, bool only)
{
    bool predicate;
    body->count = statements_of(b, first, end, NULL, &predicate);
    if (!body->count && !only) return bind_fail(b, end, end + 1, "a body is missing beside ;");
    if (end < close && !predicate) return bind_fail(b, first, end, "a body before ; begins with a predicate: {p?this;that}");
    body->statements = base_arena_take(&b->source->arena, body->count * sizeof *body->statements);
    if (!body->statements) return bpl_fail_memory(b->session);
    statements_of(b, first, end, body->statements, &predicate);
    for (uint32_t i = 0; i < body->count; i++)
        if (!bind_statement(b, &body->statements[i])) return false;
    return true;
}

static bool bind_bodies(binder *b, bpl_body *bodies, uint32_t count, uint32_t open, uint32_t close)
{
    static const struct {
        uint8_t symbol, role;
    } given[] = {{BPL_SYMBOL_ALPHA, BPL_ROLE_SUBJECT}, {BPL_SYMBOL_OMEGA, BPL_ROLE_SUBJECT}, {BPL_SYMBOL_LEFT, BPL_ROLE_FUNCTION}, {BPL_SYMBOL_RIGHT, BPL_ROLE_FUNCTION}};
    uint16_t operands = token_at(b, open)->row;
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        bool outer = given[i].role == BPL_ROLE_FUNCTION && !operands; /* the operands of an operator around it */
        if (!outer && !assume(b, given[i].symbol, (bpl_role)given[i].role)) return false;
    }
    if (operands && !assume(b, BPL_SYMBOL_OPERATOR, operands & 2 ? BPL_ROLE_OPERATOR2 : BPL_ROLE_OPERATOR1)) return false;
    for (uint32_t i = 0, at = open + 1; i < count; i++) {
        uint32_t end = body_end(b, at, close);
        if (!bind_body(b, &bodies[i], at, end, close, count == 1)) return false;
        at = end + 1;
    }
    return true;
}

const bpl_node *bind_dfn(binder *b, uint32_t open)
{
    bpl_source *source = b->source;
    bpl_token *token = &source->tokens[open];
    if (token->dfn) return source->dfns[token->dfn - 1];
    uint32_t close = token->partner, count = 1, undo = b->undo_count;
    for (uint32_t at = body_end(b, open + 1, close); at < close; at = body_end(b, at + 1, close)) count++;
    bpl_role role = token->row & 2 ? BPL_ROLE_OPERATOR2 : token->row & 1 ? BPL_ROLE_OPERATOR1 : BPL_ROLE_FUNCTION;
    bpl_node *node = bind_node(b, BPL_NODE_DFN, role, token->start, token_at(b, close)->end, NULL, 0);
    bpl_body *bodies = node ? base_arena_take_zeroed(&source->arena, count * sizeof *bodies) : NULL;
    if (!bodies) return node ? bpl_fail_memory(b->session) : NULL;
    b->bodies++;
    bool done = bind_bodies(b, bodies, count, open, close);
    forget(b, undo);
    b->bodies--;
    if (!done) return NULL;
    node->count = count;
    node->bodies = bodies;
    if (!BASE_RESERVE(b->session->allocator, source->dfns, source->dfn_capacity, source->dfn_count + 1)) return bpl_fail_memory(b->session);
    source->dfns[source->dfn_count++] = node;
    source->tokens[open].dfn = source->dfn_count;
    return node;
}

/* ---- the entry --------------------------------------------------------------------------------------------------------------------------------------- */

static void close_binder(binder *b)
{
    const wg_allocator *allocator = b->session->allocator;
    base_free(allocator, b->parts, b->part_capacity * sizeof *b->parts);
    base_free(allocator, b->nodes, b->node_capacity * sizeof *b->nodes);
    base_free(allocator, b->paths, b->path_capacity * sizeof *b->paths);
    base_free(allocator, b->asked, b->asked_capacity * sizeof *b->asked);
    base_free(allocator, b->assigned, b->assigned_capacity * sizeof *b->assigned);
    base_free(allocator, b->undo, b->undo_capacity * sizeof *b->undo);
    base_free(allocator, b->known.slots, b->known.capacity * sizeof *b->known.slots);
    base_free(allocator, b->assumed.slots, b->assumed.capacity * sizeof *b->assumed.slots);
}

static bool holds(const bpl_binding *binding, bpl_roles roles)
{
    for (uint32_t i = 0; i < binding->count; i++)
        if (roles.of(roles.user, binding->names[i]) != (bpl_role)binding->roles[i]) return false;
    for (uint32_t i = 0; i < binding->path_count; i++)
        if (!roles.is_function || roles.is_function(roles.user, binding->paths[i]) != (binding->paths[i]->role == BPL_ROLE_FUNCTION)) return false;
    return true;
}

const bpl_node *bpl_bind(bpl_session *session, bpl_source *source, bpl_statement *statement, bpl_roles roles)
{
    for (const bpl_binding *binding = statement->bindings; binding; binding = binding->next)
        if (holds(binding, roles)) return binding->tree;
    binder b = {.session = session, .source = source, .roles = roles};
    const bpl_node *tree = bind_statement(&b, statement);
    close_binder(&b);
    return tree;
}
