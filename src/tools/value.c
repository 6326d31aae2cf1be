/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Values on the command line: what --feed is given, and how results print. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/tensor.h"
#include "tools/dataset.h"
#include "tools/literal.h"
#include "tools/picture.h"
#include "tools/tools.h"

/* ---- files ---- */

static bool has_suffix(const char *value, const char *suffix)
{
    size_t n = strlen(value), m = strlen(suffix);
    return n > m && !strcmp(value + n - m, suffix);
}

/* Whether a value says by itself that it is a literal: it opens as JSON does, or is one number or word of JSON. */
static bool is_literal(const char *value)
{
    static const char *const words[] = {"true", "false", "null"};
    double number;
    size_t length = strlen(value);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(value, words[i])) return true;
    return strchr(" [{\"", *value) || base_parse_float(value, length, WG_KIND_F64, &number) == length;
}

/* Any file that --data takes. */
static wg_tensor *read_data(const char *name, const char *file, uint32_t rank, wg_error *error)
{
    struct stat status;
    dataset data;
    if (!dataset_is_table(file) && stat(file, &status)) {
        base_fail(error, WG_FILE, "there is no file %s, and no JSON literal reads so; give one of the two, such as '[1, 2]'", file);
        return NULL;
    }
    return dataset_read(name, file, rank, &data, error) ? data.items : NULL;
}

/* The items as another kind, where every one of them is that kind's too. */
static wg_tensor *converted(wg_tensor *tensor, wg_kind kind, const char *value, wg_error *error)
{
    if (tensor->kind == kind) return tensor;
    wg_tensor *other = wg_tensor_new(NULL, kind, tensor->rank, tensor->shape, NULL, error);
    bool narrows = base_kind_is_float(tensor->kind) && base_kind_is_float(kind); /* rounding is what a narrower float is for */
    for (int64_t i = 0; other && i < tensor->volume; i++) {
        base_number item = base_number_load(tensor->kind, tensor->data, i), to;
        if (narrows) to = base_number_convert(item, tensor->kind, kind, false);
        else if (!base_number_exact(item, tensor->kind, kind, &to)) {
            base_fail(error, WG_KIND, "%s: item %lld does not fit kind %s; convert the file", value, (long long)i, wg_kind_name(kind));
            wg_tensor_release(other);
            other = NULL;
            break;
        }
        base_number_store(kind, other->data, i, to);
    }
    wg_tensor_release(tensor);
    return other;
}

/* The same items under the wanted shape, where volumes agree and the axes differ by extents of 1 alone. */
static wg_tensor *reshaped(wg_tensor *tensor, uint32_t rank, const int64_t *shape, const char *value, wg_error *error)
{
    uint32_t i = 0, j = 0;
    while (i < tensor->rank || j < rank) {
        if (i < tensor->rank && j < rank && tensor->shape[i] == shape[j]) i++, j++;
        else if (i < tensor->rank && tensor->shape[i] == 1) i++;
        else if (j < rank && shape[j] == 1) j++;
        else break;
    }
    if (i == tensor->rank && j == rank) {
        wg_tensor *other = wg_tensor_new(NULL, tensor->kind, rank, shape, tensor->data, error);
        wg_tensor_release(tensor);
        return other;
    }
    base_fail(error, WG_SHAPE, "%s is %s; the input is %s (bind its extents by --extent)", value, BASE_SHAPE_TEXT(tensor->rank, tensor->shape), BASE_SHAPE_TEXT(rank, shape));
    wg_tensor_release(tensor);
    return NULL;
}

wg_tensor *tool_value_read(const char *name, const char *value, wg_kind kind, uint32_t rank, const int64_t *shape, wg_error *error)
{
    wg_tensor *tensor;
    if (has_suffix(value, ".npy")) tensor = wg_npy_read(NULL, value, error);
    else if (has_suffix(value, ".png") || has_suffix(value, ".jpg") || has_suffix(value, ".jpeg")) tensor = picture_read(value, error);
    else if (!dataset_is_table(value) && is_literal(value)) tensor = literal_read(value, strlen(value), kind, error);
    else tensor = read_data(name, value, rank, error);
    if (tensor) tensor = converted(tensor, kind, value, error);
    if (tensor && shape) tensor = reshaped(tensor, rank, shape, value, error);
    return tensor;
}

/* ---- feeds ---- */

bool tool_no_input(const wg_network *network, const char *option, const char *name, wg_error *error)
{
    char names[300] = "";
    wg_node_facts facts;
    for (uint32_t i = 0; wg_network_node(network, i, &facts); i++) {
        if (facts.op != WG_OP_Input || !facts.name) continue;
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "; it has ", facts.name);
    }
    return base_fail(error, WG_NAME, "--%s: the program has no input %s%s", option, name, names);
}

static bool read_feed(const wg_network *network, const char *given, const wg_binding *bindings, uint32_t count, wg_symbol *input, wg_tensor **tensor, wg_error *error)
{
    const char *equals = strchr(given, '=');
    char name[256];
    size_t length = equals ? (size_t)(equals - given) : 0;
    if (!length || length >= sizeof name || !equals[1]) return base_fail(error, WG_USAGE, "--feed needs NAME=VALUE, not '%s'", given);
    memcpy(name, given, length);
    name[length] = 0;
    *input = tool_symbol_called(network, name);
    wg_node_facts facts;
    if (input->position == WG_NONE || !wg_network_node(network, input->position, &facts) || facts.op != WG_OP_Input)
        return tool_no_input(network, "feed", name, error);
    int64_t shape[WG_MAX_RANK];
    if (!wg_network_bound_shape(network, *input, bindings, count, shape, error)) return false;
    *tensor = tool_value_read(name, equals + 1, facts.kind, facts.rank, shape, error);
    if (!*tensor && error) base_error_note(error, "in --feed %s", name);
    return *tensor != NULL;
}

bool tool_feeds_read(const tool_call *call, const wg_network *network, const wg_binding *bindings, uint32_t binding_count, tool_feeds *feeds, wg_error *error)
{
    uint32_t count = 0;
    while (tool_value_at(call, "feed", count)) count++;
    *feeds = (tool_feeds){.feeds = calloc(count + 1, sizeof *feeds->feeds), .tensors = calloc(count + 1, sizeof *feeds->tensors)};
    bool good = (feeds->feeds && feeds->tensors) || base_fail_memory(error);
    for (uint32_t i = 0; good && i < count; i++) {
        wg_symbol input;
        good = read_feed(network, tool_value_at(call, "feed", i), bindings, binding_count, &input, &feeds->tensors[i], error);
        if (!good) break;
        feeds->feeds[i] = (wg_feed){input, wg_tensor_view(feeds->tensors[i])};
        feeds->count = i + 1;
    }
    if (!good) tool_feeds_free(feeds);
    return good;
}

void tool_feeds_free(tool_feeds *feeds)
{
    for (uint32_t i = 0; feeds->tensors && i < feeds->count; i++) wg_tensor_release(feeds->tensors[i]);
    free(feeds->feeds);
    free(feeds->tensors);
    *feeds = (tool_feeds){0};
}

/* ---- results ---- */

#define BRIEF_ITEMS 12

void tool_put_brief(base_string *text, const char *name, const wg_view *view)
{
    int64_t volume = 1;
    for (uint32_t axis = 0; axis < view->rank; axis++) volume *= view->shape[axis];
    base_string_printf(text, "%-16s %s %s ", name, wg_kind_name(view->kind), BASE_SHAPE_TEXT(view->rank, view->shape));
    for (int64_t i = 0; i < volume && i < BRIEF_ITEMS; i++) {
        base_string_puts(text, " ");
        base_string_item(text, view->kind, view->data, i);
    }
    if (volume > BRIEF_ITEMS) base_string_printf(text, " .. (%lld items)", (long long)volume);
    base_string_puts(text, "\n");
}

const char *tool_result_name(const wg_network *network, wg_symbol symbol, char *text)
{
    wg_node_facts facts;
    if (wg_network_node(network, symbol.position, &facts) && facts.name) return facts.name;
    snprintf(text, 16, "t%u", symbol.position);
    return text;
}

wg_symbol tool_symbol_called(const wg_network *network, const char *word)
{
    wg_symbol symbol = wg_network_symbol(network, word);
    int64_t number;
    size_t length = strlen(word);
    if (symbol.position != WG_NONE || word[0] != 't' || length < 2 || base_parse_integer(word + 1, length - 1, &number) != length - 1) return symbol;
    wg_node_facts facts;
    bool is_unnamed = number >= 0 && number < WG_NONE && wg_network_node(network, (uint32_t)number, &facts) && !facts.name;
    return is_unnamed ? wg_network_symbol_at(network, (uint32_t)number) : symbol;
}

bool tool_symbols_read(const char *option, const char *list, const wg_network *network, wg_symbol *symbols, uint32_t most, uint32_t *count, wg_error *error)
{
    for (*count = 0; list && *list;) {
        size_t length = strcspn(list, ",");
        char word[256];
        snprintf(word, sizeof word, "%.*s", (int)(length < 255 ? length : 255), list);
        wg_symbol symbol = tool_symbol_called(network, word);
        if (symbol.position == WG_NONE) return base_fail(error, WG_NAME, "--%s: the program has no node %s", option, word);
        if (*count == most) return base_fail(error, WG_USAGE, "--%s names more than %u nodes", option, most);
        symbols[(*count)++] = symbol;
        list += length + (list[length] == ',');
    }
    return true;
}
