/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Any bytes as a session of calls on arrays: rows with operands and attributes as they come, reads, releases, scopes, gradients, maps,
 * compiled functions, memory that runs out. What must hold: no crash, no leak, no array left; a failure has a code and a message; an array
 * reads what the oracle computes of the same rows, row by row; a function's value is the same by itself, under a derivative and compiled.
 */
#include <string.h>

#include "calls.h"
#include "base/tensor.h"
#include "graph/row.h"
#include "wengert/lazy.h"

#define MOST_ITEMS 1024 /* of an array that takes part */
#define SLOTS 12
#define MOST_CALLS 96
#define MOST_OPERANDS 3
#define MOST_ATTRIBUTES (2 * WG_MAX_RANK)

/* ---- a session ---- */

/* What the oracle knows of an array: its items, or that they cannot be computed, or nothing. */
typedef struct slot {
    wg_array *array;
    wg_tensor *items;
    bool fails;
} slot;

typedef struct session {
    budget memory;
    wg_context *context;
    wg_lazy *lazy;
    slot slots[SLOTS];
    wg_jit *jit;
    struct program *program; /* of jit */
    uint32_t scopes;
} session;

static bool judge(session *s, bool good)
{
    return judge_call(s->lazy, &s->memory, good);
}

static void clear(slot *slot)
{
    wg_array_release(slot->array);
    wg_tensor_release(slot->items);
    *slot = (struct slot){NULL, NULL, false};
}

/* Takes over what a call answered, with a reference of the slot's own; items may be NULL. */
static void put(session *s, slot *slot, wg_array *array, wg_tensor *items, bool fails)
{
    if (array && s->scopes) wg_array_keep(array);
    clear(slot);
    if (array && wg_array_volume(array) > MOST_ITEMS) {
        wg_array_release(array);
        wg_tensor_release(items);
        return;
    }
    slot->array = array;
    slot->items = array ? items : (wg_tensor_release(items), NULL);
    slot->fails = fails;
}

static bool same_items(const wg_tensor *a, const wg_tensor *b)
{
    if (a->kind != b->kind || a->rank != b->rank || (a->rank && memcmp(a->shape, b->shape, a->rank * sizeof *a->shape))) return false;
    return !a->bytes || !memcmp(a->data, b->data, a->bytes) || base_kinds[a->kind].class == BASE_CLASS_FLOAT ||
           base_kinds[a->kind].class == BASE_CLASS_COMPLEX;
}

/* Floats: the same bits, all NaNs being one. */
static bool same_floats(const wg_tensor *a, const wg_tensor *b)
{
    if (base_kinds[a->kind].class != BASE_CLASS_FLOAT) return true;
    size_t bytes = base_kinds[a->kind].bytes;
    for (int64_t i = 0; i < a->volume; i++) {
        double x = base_number_load(a->kind, a->data, i).d, y = base_number_load(b->kind, b->data, i).d;
        if (memcmp((char *)a->data + i * bytes, (char *)b->data + i * bytes, bytes) && (x == x || y == y)) return false;
    }
    return true;
}

static void demand_same(const wg_tensor *a, const wg_tensor *b)
{
    demand(same_items(a, b) && same_floats(a, b));
}

static void read(session *s, slot *slot)
{
    if (!slot->array) return;
    wg_tensor *items = wg_array_tensor(slot->array);
    bool memory = wg_lazy_error(s->lazy)->code == WG_MEMORY;
    judge(s, items != NULL);
    if (!items) demand(slot->fails || !slot->items || memory);
    if (items && slot->items) demand_same(items, slot->items);
    demand(!items || !slot->fails);
    wg_tensor_release(items);
}

/* ---- sources ---- */

static wg_kind kind_of(stream *s)
{
    static const wg_kind often[] = {WG_KIND_F32, WG_KIND_F64, WG_KIND_I64, WG_KIND_F32};
    uint8_t byte = take(s);
    return byte < 192 ? often[byte % 4] : (wg_kind)(byte % WG_KIND_COUNT);
}

static void source(session *s, stream *in, slot *to)
{
    wg_kind kind = kind_of(in);
    uint32_t rank = below(in, 4);
    int64_t shape[4];
    for (uint32_t axis = 0; axis < rank; axis++) shape[axis] = below(in, 5);
    wg_tensor *items = wg_tensor_new(s->context, kind, rank, shape, NULL, NULL);
    if (!items) return;
    bool complex = base_kinds[kind].class == BASE_CLASS_COMPLEX;
    for (int64_t i = 0; i < items->volume && kind != WG_KIND_BOOL; i++)
        if (!complex)
            base_number_store(kind, items->data, i,
                              base_number_convert((base_number){.i = (int64_t)(int8_t)take(in)}, WG_KIND_I64, kind, false));
    wg_array *array;
    if (take(in) & 1) {
        wg_view view = wg_tensor_view(items);
        array = wg_array_borrow(s->lazy, &view, (void (*)(void *))wg_tensor_release, wg_tensor_retain(items));
    } else {
        array = wg_array_of(s->lazy, wg_tensor_retain(items));
    }
    judge(s, array != NULL);
    put(s, to, array, items, false);
}

static void literal(session *s, stream *in, slot *to)
{
    wg_kind kind = kind_of(in);
    double number = (double)(int8_t)take(in) / 4;
    wg_array *array = wg_array_number(s->lazy, kind, number);
    if (judge(s, array != NULL)) put(s, to, array, wg_tensor_fill(s->context, kind, 0, NULL, number, NULL), false);
}

/* ---- rows ---- */

typedef struct row {
    wg_op op;
    uint32_t operand_count, attribute_count;
    int64_t attributes[MOST_ATTRIBUTES + 2];
} row;

static void attribute(stream *in, row *r, const graph_attribute_row *about, uint32_t rank)
{
    int64_t *to = &r->attributes[r->attribute_count++];
    uint8_t byte = take(in);
    *to = byte % 5;
    if (byte > 250) *to = (int64_t)((uint64_t)(int64_t)(byte - 253) << (take(in) % 64)); /* beyond all measure */
    else if (about->type == GRAPH_AXIS) *to = rank ? byte % rank : 0;
    else if (about->type == GRAPH_FLAG) *to = byte & 1;
    else if (about->type == GRAPH_KIND) *to = byte < 128 ? GRAPH_BY_RULE : byte % WG_KIND_COUNT;
    else if (about->type == GRAPH_REAL) memcpy(to, &(double){byte % 7 - 3}, sizeof *to);
    else if (about->type == GRAPH_SIZES || about->type == GRAPH_ORDER) {
        *to = about->type == GRAPH_ORDER ? rank : byte % 4;
        for (int64_t i = 0; i < *to && r->attribute_count < MOST_ATTRIBUTES; i++)
            r->attributes[r->attribute_count++] = about->type == GRAPH_ORDER ? (i + byte) % *to : take(in) % 5;
    }
}

/* A row's name, operands among arrays [count], attributes; false where there is nothing to call it on. */
static bool draw_row(stream *in, wg_array *const *arrays, uint32_t count, row *r, uint32_t operands[MOST_OPERANDS])
{
    *r = (row){.op = (wg_op)(take(in) % WG_OP_COUNT)};
    int32_t arity = wg_op_arity(r->op);
    r->operand_count = arity < 0 ? 1u + below(in, MOST_OPERANDS) : (uint32_t)arity;
    if (!count || r->operand_count > MOST_OPERANDS) return false;
    for (uint32_t i = 0; i < r->operand_count; i++) {
        uint32_t place = take(in) % count;
        for (uint32_t tries = 0; tries < count && i && arity != 1; tries++) { /* mostly one that fits the first */
            const wg_array *a = arrays[operands[0]], *b = arrays[(place + tries) % count];
            if (a && b && wg_array_kind(a) == wg_array_kind(b) && wg_array_volume(a) == wg_array_volume(b)) {
                place = (place + tries) % count;
                break;
            }
        }
        operands[i] = place;
        if (!arrays[place]) return false;
    }
    uint32_t attributes, rank = r->operand_count ? wg_array_rank(arrays[operands[0]]) : 0;
    const graph_attribute_row *rows = graph_row_attributes(r->op, &attributes);
    for (uint32_t i = 0; i < attributes && r->attribute_count < MOST_ATTRIBUTES; i++) attribute(in, r, &rows[i], rank);
    if (take(in) == 255 && r->attribute_count) r->attribute_count--;
    return true;
}

static wg_array *call(wg_lazy *lazy, const row *r, wg_array *const *arrays, const uint32_t *operands)
{
    wg_array *list[MOST_OPERANDS] = {NULL};
    for (uint32_t i = 0; i < r->operand_count; i++) list[i] = arrays[operands[i]];
    return wg_array_record(lazy, r->op, list, r->operand_count, r->attributes, r->attribute_count);
}

static void record(session *s, stream *in, slot *to)
{
    row r;
    uint32_t operands[MOST_OPERANDS];
    wg_array *arrays[SLOTS];
    for (uint32_t i = 0; i < SLOTS; i++) arrays[i] = s->slots[i].array;
    if (!draw_row(in, arrays, SLOTS, &r, operands)) return;
    wg_array *array = call(s->lazy, &r, arrays, operands);
    if (!judge(s, array != NULL)) return;
    bool known = true, fails = false;
    const wg_tensor *items[MOST_OPERANDS];
    for (uint32_t i = 0; i < r.operand_count; i++) {
        items[i] = s->slots[operands[i]].items;
        fails = fails || s->slots[operands[i]].fails;
        known = known && items[i];
    }
    wg_error error = {.code = WG_OK};
    wg_tensor *result = NULL;
    if (known && !fails && wg_array_volume(array) <= MOST_ITEMS) {
        result = wg_op_run(s->context, r.op, items, r.operand_count, r.attributes, r.attribute_count, &error);
        fails = !result && error.code != WG_MEMORY;
    }
    put(s, to, array, result, fails);
}

/* ---- functions: what is left of the bytes, as rows of one argument ---- */

typedef struct program {
    const uint8_t *at, *end;
} program;

static bool run_program(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    const program *p = user;
    stream in = {p->at, p->end};
    wg_array *values[SLOTS] = {inputs[0]};
    uint32_t count = 1;
    for (uint32_t steps = 0; in.at < in.end && steps < 8; steps++) {
        row r;
        uint32_t operands[MOST_OPERANDS];
        if (!draw_row(&in, values, count, &r, operands)) continue;
        wg_array *value = call(lazy, &r, values, operands);
        if (!value && wg_lazy_error(lazy)->code == WG_MEMORY) return false;
        wg_lazy_error_clear(lazy);
        if (value && wg_array_volume(value) <= MOST_ITEMS / 4 && count < SLOTS) values[count++] = value;
    }
    outputs[1] = values[count - 1];
    outputs[0] = NULL;
    uint32_t last = count;
    while (last > 0 && base_kinds[wg_array_kind(values[last - 1])].class != BASE_CLASS_FLOAT) last--;
    if (last) outputs[0] = wg_array_record(lazy, WG_OP_Sum, &values[last - 1], 1, &(int64_t){-1}, 1);
    return outputs[0] != NULL;
}

static wg_function function_of(program *p)
{
    return (wg_function){run_program, p, 1, 2};
}

static program program_of(stream *in)
{
    program p = {in->at, in->at};
    uint8_t length = take(in) % 40;
    p.at = in->at;
    while (length-- && in->at < in->end) in->at++;
    p.end = in->at;
    return p;
}

static void keep_all(session *s, wg_array **arrays, uint32_t count)
{
    for (uint32_t i = 0; i < count && s->scopes; i++)
        if (arrays[i]) wg_array_keep(arrays[i]);
}

static void release_all(wg_array **arrays, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) wg_array_release(arrays[i]);
}

/* Two roads to one value. */
static void demand_one_value(session *s, wg_array *a, wg_array *b)
{
    wg_tensor *of_a = wg_array_tensor(a), *of_b = wg_array_tensor(b);
    wg_lazy_error_clear(s->lazy);
    demand(!of_a == !of_b || s->memory.failed);
    if (of_a && of_b) demand_same(of_a, of_b);
    wg_tensor_release(of_a);
    wg_tensor_release(of_b);
}

static void function(session *s, stream *in, slot *to, uint8_t how)
{
    slot *from = &s->slots[below(in, SLOTS)];
    program p = program_of(in);
    wg_function f = function_of(&p);
    wg_array *input = from->array, *plain[2] = {NULL, NULL}, *others[2] = {NULL, NULL}, *result = NULL;
    if (!input || from->fails) return;
    bool direct = judge(s, wg_function_call(s->lazy, &f, &input, plain));
    keep_all(s, plain, 2);
    bool good = false;
    if (how == 0) good = wg_gradient(s->lazy, &f, &input, NULL, others, &result);
    if (how == 1) good = wg_function_map(s->lazy, &f, &input, NULL, NULL, others);
    if (how == 2) good = (result = wg_function_jacobian(s->lazy, &f, &input, 1, 0)) != NULL;
    judge(s, good);
    keep_all(s, others, 2);
    if (good && direct && how == 0) demand_one_value(s, plain[0], others[0]);
    if (good) put(s, to, result, NULL, false);
    release_all(plain, 2);
    release_all(others, 2);
}

static void forward(session *s, stream *in, slot *to)
{
    slot *from = &s->slots[below(in, SLOTS)];
    program p = program_of(in);
    wg_function f = function_of(&p);
    wg_array *input = from->array, *values[2] = {NULL, NULL}, *tangents[2] = {NULL, NULL};
    if (!input || from->fails) return;
    bool good = judge(s, wg_function_jvp(s->lazy, &f, &input, &input, values, tangents));
    keep_all(s, values, 2);
    keep_all(s, tangents + 1, 1);
    release_all(values, 2);
    if (good) put(s, to, tangents[0], NULL, false);
    wg_array_release(tangents[1]);
}

static void compiled(session *s, stream *in, slot *to)
{
    slot *from = &s->slots[below(in, SLOTS)];
    wg_array *input = from->array, *plain[2] = {NULL, NULL}, *others[2] = {NULL, NULL};
    if (!input || from->fails || !s->jit) return;
    wg_function f = function_of(s->program);
    bool direct = judge(s, wg_function_call(s->lazy, &f, &input, plain));
    keep_all(s, plain, 2);
    bool good = judge(s, wg_jit_call(s->jit, &input, others));
    keep_all(s, others + 1, 1);
    demand(good == direct || s->memory.failed);
    if (good && direct) {
        demand_one_value(s, plain[0], others[0]);
        demand_one_value(s, plain[1], others[1]);
    }
    if (good) put(s, to, others[0], NULL, false);
    wg_array_release(others[1]);
    release_all(plain, 2);
}

/* ---- the session ---- */

static void scope(session *s, bool open)
{
    if (open && s->scopes < 4) wg_scope_open(s->lazy), s->scopes++;
    else if (!open && s->scopes) wg_scope_close(s->lazy), s->scopes--;
    wg_lazy_error_clear(s->lazy);
}

static void tag(session *s, stream *in, slot *to)
{
    slot *from = &s->slots[below(in, SLOTS)];
    if (!from->array) return;
    wg_array *array = wg_array_tagged(from->array, below(in, 3));
    if (judge(s, array != NULL)) put(s, to, array, wg_tensor_retain(from->items), from->fails);
}

static void several(session *s)
{
    wg_array *list[SLOTS];
    uint32_t count = 0;
    bool fails = false;
    for (uint32_t i = 0; i < SLOTS; i++) {
        if (!s->slots[i].array) continue;
        fails = fails || s->slots[i].fails || !s->slots[i].items;
        list[count++] = s->slots[i].array;
    }
    bool good = wg_array_run(list, count);
    demand(good || fails || s->memory.failed);
    judge(s, good);
}

static void step(session *s, stream *in)
{
    uint8_t what = take(in);
    slot *to = &s->slots[below(in, SLOTS)];
    switch (what % 24) {
    case 0: literal(s, in, to); break;
    case 1:
    case 2:
    case 3: source(s, in, to); break;
    case 4: read(s, to); break;
    case 5: clear(to); break;
    case 6: scope(s, true); break;
    case 7: scope(s, false); break;
    case 8: function(s, in, to, 0); break;
    case 9: function(s, in, to, 1); break;
    case 10: function(s, in, to, 2); break;
    case 11: forward(s, in, to); break;
    case 12:
    case 13: compiled(s, in, to); break;
    case 14: tag(s, in, to); break;
    case 15: several(s); break;
    case 16: wg_lazy_explain(s->lazy, take(in) & 1); break;
    case 17:
        s->memory.fails_at = s->memory.allocations + 1u + take(in);
        break;
    default: record(s, in, to);
    }
}

static void begin(session *s, stream *in, program *p)
{
    s->context = budget_context(&s->memory);
    uint8_t byte = take(in);
    wg_lazy_options settings = {
        .size = sizeof settings, .context = s->context, .same_bits_only = true, .retrace = byte & 1, .cached_plans = byte & 2 ? 2 : 0};
    s->lazy = wg_lazy_new(&settings, NULL);
    demand(s->lazy != NULL);
    *p = program_of(in);
    s->program = p;
    wg_function f = function_of(p);
    s->jit = wg_jit_new(s->lazy, &f, NULL, 0);
}

static void end(session *s)
{
    s->memory.fails_at = 0;
    for (uint32_t i = 0; i < SLOTS; i++) read(s, &s->slots[i]);
    char *text = wg_lazy_explained(s->lazy, true);
    demand(text != NULL);
    wg_text_free(text);
    for (uint32_t i = 0; i < SLOTS; i++) clear(&s->slots[i]);
    while (s->scopes) scope(s, false);
    wg_jit_free(&s->jit);
    demand_nothing_left(&s->lazy, s->context, &s->memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    session s;
    memset(&s, 0, sizeof s);
    stream in = {bytes, bytes + length};
    program p;
    begin(&s, &in, &p);
    for (uint32_t calls = 0; in.at < in.end && calls < MOST_CALLS; calls++) step(&s, &in);
    end(&s);
    return 0;
}
