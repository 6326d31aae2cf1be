/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "tools/evaluation.h"

#include <string.h>

#include "base/json.h"
#include "tools/progress.h"

/* The scalar results of an entry, in order. */
static uint32_t scalars(const runner *r, wg_symbol *symbols, evaluation *result)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < wg_entry_result_count(r->entry) && count < EVALUATION_MOST; i++) {
        wg_symbol symbol = wg_entry_result(r->entry, i);
        wg_node_facts facts;
        char plain[16];
        wg_network_node(r->network, symbol.position, &facts);
        if (facts.rank || base_kinds[facts.kind].class == BASE_CLASS_COMPLEX) continue;
        symbols[count] = symbol;
        snprintf(result->figures[count++].name, sizeof result->figures[0].name, "%s", tool_result_name(r->network, symbol, plain));
    }
    return count;
}

static bool is_count(const runner *r, wg_symbol symbol)
{
    wg_node_facts facts;
    wg_network_node(r->network, symbol.position, &facts);
    return base_kind_is_integer(facts.kind);
}

static void finish(const runner *r, const wg_symbol *symbols, evaluation *result)
{
    for (uint32_t i = 0; i < result->count; i++) {
        evaluation_figure *figure = &result->figures[i];
        if (!is_count(r, symbols[i])) figure->value /= (double)result->rows;
        else if (!strcmp(figure->name, "correct")) {
            result->has_accuracy = true;
            result->accuracy = figure->value / (double)result->rows;
        }
    }
}

bool evaluation_run(runner *r, batches *b, const wg_parameters *parameters, evaluation *result, wg_error *error)
{
    wg_symbol symbols[EVALUATION_MOST];
    *result = (evaluation){0};
    result->count = scalars(r, symbols, result);
    int64_t batch_count = batches_count(b);
    if (batch_count * b->size < b->rows && !b->extent)
        return base_fail(error, WG_SHAPE, "%lld held-out rows are no whole number of batches of %lld; declare the batch as an extent",
                         (long long)b->rows, (long long)b->size);
    for (int64_t i = 0; i < batch_count; i++) {
        int64_t rows = batches_gather(b, i);
        if (!runner_run(r, b, parameters, error)) return false;
        for (uint32_t s = 0; s < result->count; s++) {
            double number;
            if (!runner_number(r, symbols[s], &number, error)) return false;
            result->figures[s].value += is_count(r, symbols[s]) ? number : number * (double)rows;
        }
        result->rows += rows;
    }
    finish(r, symbols, result);
    return true;
}

void evaluation_put_text(const evaluation *result, base_string *text)
{
    for (uint32_t i = 0; i < result->count; i++) {
        const evaluation_figure *figure = &result->figures[i];
        bool whole = figure->value == (double)(int64_t)(figure->value < 1e15 && figure->value > -1e15 ? figure->value : 0.5);
        char number[32];
        base_string_printf(text, "%s%s ", i ? ", " : "", figure->name);
        if (whole) base_string_printf(text, "%.0f", figure->value);
        else base_string_puts(text, progress_figure(figure->value, number));
    }
    if (result->has_accuracy) base_string_printf(text, "%saccuracy %.4f", result->count ? ", " : "", result->accuracy);
}

void evaluation_put_json(const evaluation *result, base_string *text)
{
    base_string_printf(text, "{\"rows\": %lld", (long long)result->rows);
    for (uint32_t i = 0; i < result->count; i++) {
        base_string_puts(text, ", ");
        base_json_put_string(text, result->figures[i].name, strlen(result->figures[i].name));
        base_string_puts(text, ": ");
        progress_put_number(text, result->figures[i].value);
    }
    if (result->has_accuracy) {
        base_string_puts(text, ", \"accuracy\": ");
        progress_put_number(text, result->accuracy);
    }
    base_string_puts(text, "}");
}
