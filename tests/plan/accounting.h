/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A second accounting of a plan, as slow and plain as it can be written, over the public facts of nodes alone: the judge of closure,
 * elections, words and volumes. */
#ifndef TESTS_PLAN_ACCOUNTING_H
#define TESTS_PLAN_ACCOUNTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wengert/ops.h"
#include "wengert/run.h"

#define ACCOUNT_MOST 512

typedef struct account_match {
    const char *kind;
    uint32_t root, covered[ACCOUNT_MOST], covered_count, results[2], result_count;
    char why[96]; /* "" : elected */
} account_match;

typedef struct account {
    uint32_t total;
    wg_node_facts nodes[ACCOUNT_MOST];
    bool scheduled[ACCOUNT_MOST], kept[ACCOUNT_MOST];
    bool retain;
    account_match matches[64];
    uint32_t match_count;
    char words[ACCOUNT_MOST][40];
    int64_t series[ACCOUNT_MOST], retain_all, peak;
    uint32_t steps, peak_node;
} account;

/* ---- patterns: each step answers the node it finds, or WG_NONE, which every later step hands on ---- */

static inline uint32_t account_at(const account *a, uint32_t from, uint32_t operand, wg_op op, int64_t axis)
{
    if (from >= ACCOUNT_MOST || operand >= a->nodes[from].operand_count) return WG_NONE;
    uint32_t node = a->nodes[from].operands[operand];
    if (a->nodes[node].op != op || (axis >= 0 && a->nodes[node].attributes[0] != axis)) return WG_NONE;
    return node;
}

static inline bool account_order(const account *a, uint32_t node, const int64_t order[6])
{
    return node != WG_NONE && a->nodes[node].attributes[0] == 6 && !memcmp(a->nodes[node].attributes + 1, order, 6 * sizeof *order);
}

static inline void account_cover(account_match *m, uint32_t node)
{
    for (uint32_t i = 0; i < m->covered_count; i++)
        if (m->covered[i] == node) return;
    m->covered[m->covered_count++] = node;
}

static inline bool account_unfolded(const account *a, account_match *m, uint32_t order)
{
    uint32_t columns = account_at(a, order, 0, WG_OP_Unfold, 4), rows = account_at(a, columns, 0, WG_OP_Unfold, 2);
    if (rows == WG_NONE) return false;
    account_cover(m, columns);
    account_cover(m, rows);
    uint32_t right = account_at(a, rows, 0, WG_OP_Pad, 3), top = account_at(a, right, 0, WG_OP_Pad, 2);
    if (top == WG_NONE) return true;
    account_cover(m, right);
    account_cover(m, top);
    return true;
}

static inline bool account_window_product(const account *a, account_match *m)
{
    static const int64_t order[] = {0, 2, 4, 1, 3, 5};
    uint32_t matrix = account_at(a, m->root, 0, WG_OP_Reshape, -1), windows = account_at(a, matrix, 0, WG_OP_Permute, -1);
    if (a->nodes[m->root].op != WG_OP_MatMul || !account_order(a, windows, order)) return false;
    account_cover(m, m->root);
    account_cover(m, matrix);
    account_cover(m, windows);
    return account_unfolded(a, m, windows);
}

static inline bool account_reduce_window(const account *a, account_match *m)
{
    static const int64_t order[] = {0, 1, 2, 4, 3, 5};
    uint32_t narrows[ACCOUNT_MOST], count = 0, node = account_at(a, m->root, 0, WG_OP_Maximum, -1);
    if (m->root >= ACCOUNT_MOST || node >= ACCOUNT_MOST || a->nodes[m->root].op != WG_OP_Reshape) return false;
    account_cover(m, m->root);
    for (; a->nodes[node].op == WG_OP_Maximum; node = a->nodes[node].operands[0]) {
        assert_true(node < a->total);
        account_cover(m, node);
        narrows[count++] = a->nodes[node].operands[1];
    }
    narrows[count++] = node;
    if (a->nodes[node].op != WG_OP_Narrow) return false;
    uint32_t window = account_at(a, node, 0, WG_OP_Reshape, -1);
    if (window == WG_NONE) return false;
    int64_t axis = (int64_t)a->nodes[window].rank - 1;
    for (uint32_t i = 0; i < count; i++) {
        const wg_node_facts *n = &a->nodes[narrows[i]];
        if (n->op != WG_OP_Narrow || n->operands[0] != window || n->attributes[0] != axis || n->attributes[1] != (int64_t)(count - 1 - i) ||
            n->attributes[2] != 1)
            return false;
        account_cover(m, narrows[i]);
    }
    if ((int64_t)count != a->nodes[window].shape[axis]) return false;
    uint32_t windows = account_at(a, window, 0, WG_OP_Permute, -1);
    if (!account_order(a, windows, order)) return false;
    account_cover(m, window);
    account_cover(m, windows);
    return account_unfolded(a, m, windows);
}

static inline bool account_mean(const account *a, account_match *m, uint32_t node, uint32_t *of)
{
    if (a->nodes[node].op != WG_OP_Div) return false;
    uint32_t total = account_at(a, node, 0, WG_OP_SumAlong, 0), count = account_at(a, node, 1, WG_OP_Leaf, -1);
    if (total == WG_NONE || count == WG_NONE) return false;
    account_cover(m, node);
    account_cover(m, total);
    account_cover(m, count);
    *of = a->nodes[total].operands[0];
    return true;
}

static inline bool account_is_source(const account *a, uint32_t node)
{
    return a->nodes[node].op == WG_OP_Leaf || a->nodes[node].op == WG_OP_Parameter || a->nodes[node].op == WG_OP_Input;
}

static inline bool account_batch_norm(const account *a, account_match *m, bool training)
{
    if (a->nodes[m->root].op != WG_OP_Add) return false;
    uint32_t scaled = account_at(a, m->root, 0, WG_OP_Mul, -1), quotient = account_at(a, scaled, 0, WG_OP_Div, -1);
    uint32_t centred = account_at(a, quotient, 0, WG_OP_Sub, -1), means = account_at(a, centred, 1, WG_OP_BroadcastAlong, 0);
    uint32_t spread = account_at(a, quotient, 1, WG_OP_BroadcastAlong, 0), deviation = account_at(a, spread, 0, WG_OP_Sqrt, -1);
    uint32_t guarded = account_at(a, deviation, 0, WG_OP_Add, -1), epsilon = account_at(a, guarded, 1, WG_OP_Broadcast, -1);
    uint32_t scale = account_at(a, scaled, 1, WG_OP_BroadcastAlong, 0), shift = account_at(a, m->root, 1, WG_OP_BroadcastAlong, 0);
    const uint32_t parts[] = {m->root, scaled, quotient, centred, means, spread, deviation, guarded, epsilon, scale, shift};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i] == WG_NONE) return false;
        account_cover(m, parts[i]);
    }
    uint32_t mean = a->nodes[means].operands[0], variance = a->nodes[guarded].operands[0], x, square;
    if (!training) return account_is_source(a, mean) && account_is_source(a, variance);
    if (!account_mean(a, m, mean, &x) || !account_mean(a, m, variance, &square)) return false;
    if (x != a->nodes[centred].operands[0] || a->nodes[square].op != WG_OP_Mul) return false;
    if (a->nodes[square].operands[0] != centred || a->nodes[square].operands[1] != centred) return false;
    account_cover(m, square);
    m->results[0] = mean;
    m->results[1] = variance;
    m->result_count = 2;
    return true;
}

static inline int account_compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static inline void account_find(account *a)
{
    static const char *const kinds[] = {"WindowProduct", "ReduceWindow", "BatchNormTraining", "BatchNormInference"};
    for (uint32_t root = 0; root < a->total; root++)
        for (uint32_t k = 0; a->scheduled[root] && k < 4; k++) {
            account_match *m = &a->matches[a->match_count];
            *m = (account_match){.kind = kinds[k], .root = root};
            bool found = k == 0 ? account_window_product(a, m) : k == 1 ? account_reduce_window(a, m) : account_batch_norm(a, m, k == 2);
            if (!found) continue;
            qsort(m->covered, m->covered_count, sizeof *m->covered, account_compare);
            assert_true(++a->match_count < 64);
        }
}

/* ---- elections ---- */

static inline bool account_covers(const account_match *m, uint32_t node)
{
    for (uint32_t i = 0; i < m->covered_count; i++)
        if (m->covered[i] == node) return true;
    return false;
}

static inline bool account_names(const account_match *m, uint32_t node)
{
    for (uint32_t i = 0; i < m->result_count; i++)
        if (m->results[i] == node) return true;
    return false;
}

static inline bool account_reads(const account *a, uint32_t reader, uint32_t node)
{
    for (uint32_t k = 0; a->scheduled[reader] && k < a->nodes[reader].operand_count; k++)
        if (a->nodes[reader].operands[k] == node) return true;
    return false;
}

static inline void account_elect(account *a)
{
    for (uint32_t i = 0; i < a->match_count; i++) {
        account_match *m = &a->matches[i];
        if (!strcmp(m->kind, "BatchNormInference")) strcpy(m->why, "served abroad only");
        else if (a->retain) strcpy(m->why, "the retain posture elects nothing");
        for (uint32_t c = 0; c + 1 < m->covered_count && !m->why[0]; c++) {
            uint32_t node = m->covered[c], reader = 0;
            while (reader < a->total &&
                   (!account_reads(a, reader, node) || account_covers(m, reader) || (account_names(m, node) && reader > m->root)))
                reader++;
            if (reader < a->total) snprintf(m->why, sizeof m->why, "node %u is read by node %u outside", node, reader);
            else if (a->kept[node] && !account_names(m, node)) snprintf(m->why, sizeof m->why, "node %u is declared", node);
        }
        for (uint32_t j = 0; j < i && !m->why[0]; j++)
            for (uint32_t c = 0; c < m->covered_count && !a->matches[j].why[0]; c++)
                if (account_covers(&a->matches[j], m->covered[c])) strcpy(m->why, "overlaps an elected match");
    }
}

/* ---- words and volumes ---- */

/* The operands (and y, the result) that the derivative terms of each row read, straight from the table. */
static inline bool account_term_reads(wg_op op, char letter)
{
    static const struct {
        wg_op op;
        const char *reads;
    } terms[] = {
#define TERM(Name, operand, form, reads) {WG_OP_##Name, reads},
#include "wengert/ops.def"
    };
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
        if (terms[i].op == op && strchr(terms[i].reads, letter)) return true;
    return false;
}

static inline const account_match *account_group(const account *a, uint32_t node)
{
    for (uint32_t i = 0; i < a->match_count; i++)
        if (!a->matches[i].why[0] && account_covers(&a->matches[i], node)) return &a->matches[i];
    return NULL;
}

static inline uint32_t account_step(const account *a, uint32_t node)
{
    const account_match *m = account_group(a, node);
    return m ? m->root : node;
}

static inline bool account_retained(const account *a, uint32_t node)
{
    if (!a->retain) return false;
    if (a->nodes[node].operand_count && account_term_reads(a->nodes[node].op, 'y')) return true;
    for (uint32_t reader = 0; reader < a->total; reader++)
        for (uint32_t k = 0; a->scheduled[reader] && k < a->nodes[reader].operand_count && k < 3; k++)
            if (a->nodes[reader].operands[k] == node && account_term_reads(a->nodes[reader].op, (char)('a' + k))) return true;
    return false;
}

static inline void account_walk(account *a)
{
    int64_t leaves[ACCOUNT_MOST] = {0}, alive = 0;
    a->peak = -1;
    for (uint32_t node = 0; node < a->total; node++) {
        if (!a->scheduled[node]) continue;
        const account_match *m = account_group(a, node);
        bool interior = m && m->root != node, named = m && account_names(m, node), retained = account_retained(a, node);
        int64_t last = -1;
        for (uint32_t reader = 0; reader < a->total; reader++)
            if (account_reads(a, reader, node) && !(named && account_covers(m, reader)) && (int64_t)account_step(a, reader) > last)
                last = account_step(a, reader);
        if (a->kept[node]) strcpy(a->words[node], "kept");
        else if (interior) strcpy(a->words[node], "fused");
        else if (retained) strcpy(a->words[node], "retained");
        else snprintf(a->words[node], 40, "%s after %lld", a->retain ? "releasable" : "freed", (long long)last);
        if (!a->kept[node] && !retained && (!interior || named) && last >= 0) leaves[last] += a->nodes[node].volume;
    }
    for (uint32_t node = 0; node < a->total; node++) {
        const account_match *m = account_group(a, node);
        if (!a->scheduled[node] || (m && m->root != node)) continue;
        int64_t added = a->nodes[node].volume;
        for (uint32_t r = 0; m && r < m->result_count; r++) added += a->nodes[m->results[r]].volume;
        alive += added;
        a->retain_all += added;
        a->series[a->steps++] = alive;
        if (alive > a->peak) {
            a->peak = alive;
            a->peak_node = node;
        }
        alive -= leaves[node];
    }
}

static inline account *account_of(const wg_network *network, const wg_entry *entry, bool retain)
{
    account *a = calloc(1, sizeof *a);
    a->total = wg_network_count(network);
    a->retain = retain;
    assert_true(a->total <= ACCOUNT_MOST);
    for (uint32_t i = 0; i < a->total; i++) assert_true(wg_network_node(network, i, &a->nodes[i]));
    for (uint32_t i = 0; i < wg_entry_result_count(entry); i++)
        a->kept[wg_entry_result(entry, i).position] = a->scheduled[wg_entry_result(entry, i).position] = true;
    for (uint32_t i = a->total; i-- > 0;)
        for (uint32_t k = 0; a->scheduled[i] && k < a->nodes[i].operand_count; k++) a->scheduled[a->nodes[i].operands[k]] = true;
    account_find(a);
    account_elect(a);
    account_walk(a);
    return a;
}

/* ---- comparing ---- */

/* The patterns of the licence; what others elect moves no count. */
static inline bool account_counts(const char *kind)
{
    static const char *const kinds[] = {"WindowProduct", "ReduceWindow", "BatchNormTraining", "BatchNormInference"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kind, kinds[i])) return true;
    return false;
}

/* The plan's figures, words, matches and series against the account; false: writes why. */
static inline bool account_agrees(const account *a, const wg_plan *plan, char *why, size_t bytes)
{
    wg_plan_figures figures;
    wg_plan_figures_of(plan, &figures);
    uint32_t count, scheduled = 0;
    const int64_t *series = wg_plan_live_series(plan, &count);
    for (uint32_t i = 0; i < a->total; i++) scheduled += a->scheduled[i];
    snprintf(why, bytes, "figures: peak %lld at %u retain-all %lld, must be %lld %u %lld", (long long)figures.peak, figures.peak_node,
             (long long)figures.retain_all, (long long)a->peak, a->peak_node, (long long)a->retain_all);
    if (figures.peak != a->peak || figures.peak_node != a->peak_node || figures.retain_all != a->retain_all ||
        figures.evaluated != scheduled || count != a->steps)
        return false;
    snprintf(why, bytes, "the live series differs");
    if (memcmp(series, a->series, count * sizeof *series)) return false;
    wg_pattern p;
    uint32_t candidates = 0, at = 0;
    for (uint32_t i = 0; wg_plan_pattern(plan, i, &p); i++) candidates += account_counts(p.kind);
    snprintf(why, bytes, "%u candidates, must be %u", candidates, a->match_count);
    if (candidates != a->match_count) return false;
    for (uint32_t i = 0; i < a->match_count; i++) {
        const account_match *m = &a->matches[i];
        do wg_plan_pattern(plan, at++, &p);
        while (!account_counts(p.kind));
        snprintf(why, bytes, "candidate %u: %s at %u: %s, must be %s at %u: %s", i, p.kind, p.root, p.reason ? p.reason : "elected",
                 m->kind, m->root, m->why);
        if (strcmp(p.kind, m->kind) || p.root != m->root || p.node_count != m->covered_count ||
            memcmp(p.nodes, m->covered, p.node_count * sizeof *p.nodes))
            return false;
        if (p.elected != !m->why[0] || strcmp(p.reason ? p.reason : "", m->why) || p.elected != (p.formula != NULL)) return false;
    }
    char *text = wg_plan_describe(plan), *rest = text;
    bool same = true;
    for (uint32_t i = 0; i < a->total && same; i++) {
        if (!a->scheduled[i]) continue;
        char *end = strchr(rest, '\n');
        size_t length = strlen(a->words[i]);
        same = strtoul(rest, NULL, 10) == i && (size_t)(end - rest) > length && !strncmp(end - length, a->words[i], length) &&
               end[-(long)length - 1] == ' ';
        snprintf(why, bytes, "node %u: `%.*s` must be %s", i, (int)(end - rest), rest, a->words[i]);
        rest = end + 1;
    }
    wg_text_free(text);
    return same;
}

#endif
