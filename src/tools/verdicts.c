/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "tools/verdicts.h"

#include <string.h>

#include "base/tensor.h"

#define MOST_CLASSES 100000

static bool has_classify(const wg_network *network)
{
    for (uint32_t i = 0; i < wg_network_entry_count(network); i++)
        if (!strcmp(wg_network_entry_name(network, i), "classify")) return true;
    return false;
}

/* A result [rows] of an integer kind: the class. */
static wg_symbol class_result(const runner *r)
{
    for (uint32_t i = 0; i < wg_entry_result_count(r->entry); i++) {
        wg_symbol result = wg_entry_result(r->entry, i);
        wg_node_facts facts;
        wg_network_node(r->network, result.position, &facts);
        if (facts.rank == 1 && base_kind_is_integer(facts.kind)) return result;
    }
    return (wg_symbol){0, WG_NONE};
}

/* Held-out integers [rows] that the classifier does not read are the true classes; those called labels before others. */
static void find_inputs(const training *t, const runner *r, verdicts *v)
{
    for (uint32_t i = 0; i < t->test.count; i++) {
        const batch_input *in = &t->test.inputs[i];
        const wg_tensor *items = in->data.items;
        bool is_read = r->reached[in->input.position];
        if (!in->is_batched) continue;
        if (!is_read && items->rank == 1 && base_kind_is_integer(items->kind) && (!v->truth || !strcmp(in->name, "labels"))) {
            v->truth = items;
            v->truth_file = in->file;
        }
        bool is_picture = items->rank == 3 || (items->rank == 4 && (items->shape[3] == 1 || items->shape[3] == 3 || items->shape[3] == 4));
        if (is_read && is_picture && items->kind == WG_KIND_U8 && !v->pictures) v->pictures = in;
    }
}

static bool make_room(verdicts *v, const wg_view *probabilities, int64_t rows, wg_error *error)
{
    int64_t items;
    v->rows = rows;
    v->classes = (uint32_t)probabilities->shape[1];
    if (!base_multiply(rows, v->classes, &items) || items > INT32_MAX)
        return base_fail(error, WG_SIZE, "the report needs %lld probabilities; hold out fewer rows", (long long)items);
    v->probabilities = base_allocate(tool_allocator(), (size_t)items * sizeof *v->probabilities);
    v->predicted = base_allocate(tool_allocator(), (size_t)rows * sizeof *v->predicted);
    return (v->probabilities && v->predicted) || base_fail_memory(error);
}

static uint32_t most_probable(const float *row, uint32_t classes)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < classes; i++)
        if (row[i] > row[best]) best = i;
    return best;
}

static bool read_batch(const runner *r, wg_symbol probabilities, wg_symbol class, int64_t first, int64_t rows, int64_t all_rows,
                       verdicts *v, wg_error *error)
{
    wg_view shares, classes;
    if (!wg_session_read(r->session, probabilities, &shares, error)) return false;
    if (class.position != WG_NONE && !wg_session_read(r->session, class, &classes, error)) return false;
    if (!v->probabilities && !make_room(v, &shares, all_rows, error)) return false;
    float *out = v->probabilities + first * v->classes;
    for (int64_t i = 0; i < rows * v->classes; i++)
        out[i] = (float)base_number_to_double(shares.kind, base_number_load(shares.kind, shares.data, i));
    for (int64_t i = 0; i < rows; i++) {
        double named =
            class.position != WG_NONE ? base_number_to_double(classes.kind, base_number_load(classes.kind, classes.data, i)) : -1;
        v->predicted[first + i] = named >= 0 && named < v->classes ? (uint32_t)named : most_probable(out + i * v->classes, v->classes);
    }
    return true;
}

static bool run(training *t, runner *r, verdicts *v, wg_error *error)
{
    wg_symbol probabilities = runner_result(r, "probabilities"), class = class_result(r);
    wg_node_facts facts;
    if (probabilities.position == WG_NONE || !wg_network_node(r->network, probabilities.position, &facts)) return false;
    if (facts.rank != 2 || !base_kind_is_float(facts.kind) || facts.shape[1] < 1 || facts.shape[1] > MOST_CLASSES) return false;
    training_extra_feeds(t, r);
    batches_arrange(&t->test);
    for (int64_t i = 0; i < batches_count(&t->test); i++) {
        int64_t rows = batches_gather(&t->test, i);
        if (!runner_run(r, &t->test, t->model.parameters, error) ||
            !read_batch(r, probabilities, class, i * t->test.size, rows, t->test.rows, v, error))
            return false;
    }
    find_inputs(t, r, v);
    return true;
}

bool verdicts_read(training *t, verdicts *v, wg_error *error)
{
    *v = (verdicts){0};
    if (!t->has_evaluate || !has_classify(t->model.network)) return false;
    runner r;
    bool good = runner_open(&r, t->model.network, "classify", &t->test, "--test", 0, error) && run(t, &r, v, error);
    runner_close(&r);
    if (!good) verdicts_free(v);
    return good;
}

void verdicts_free(verdicts *v)
{
    base_free(tool_allocator(), v->probabilities, (size_t)v->rows * v->classes * sizeof *v->probabilities);
    base_free(tool_allocator(), v->predicted, (size_t)v->rows * sizeof *v->predicted);
    *v = (verdicts){0};
}

uint32_t verdicts_truth(const verdicts *v, int64_t row)
{
    double class = base_number_to_double(v->truth->kind, base_number_load(v->truth->kind, v->truth->data, row));
    return class >= 0 && class < v->classes ? (uint32_t)class : v->classes;
}
