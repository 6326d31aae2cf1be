/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "support/cases.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/tensors.h"
#include "wengert/run.h"

/* ---- reading words ---- */

typedef struct reader {
    char *text, *at;
    const char *path;
} reader;

static void defect(const reader *r, const char *what)
{
    fail_msg("%s: byte %ld: %s", r->path, (long)(r->at - r->text), what);
}

/* The next word, ended by a NUL; NULL at the end of the file. */
static char *word(reader *r)
{
    r->at += strspn(r->at, " \n");
    if (!*r->at) return NULL;
    char *start = r->at;
    r->at += strcspn(r->at, " \n");
    if (*r->at) *r->at++ = 0;
    return start;
}

static char *need(reader *r)
{
    char *found = word(r);
    if (!found) defect(r, "the file ends too early");
    return found;
}

static double number(reader *r)
{
    char *text = need(r), *end;
    if (!strcmp(text, "-")) return NAN;
    double value = strtod(text, &end);
    if (*end || end == text) defect(r, "no number");
    return value;
}

static wg_kind kind(reader *r)
{
    wg_kind found = wg_kind_from_name(need(r));
    if (found == WG_KIND_COUNT) defect(r, "no kind");
    return found;
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("%s cannot be read", path);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = calloc((size_t)size + 1, 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, file), size);
    fclose(file);
    return text;
}

/* ---- points and cases ---- */

static void read_points(reader *r, cases_file *file)
{
    if (file->points_count == 4) defect(r, "more tables of points than there is room for");
    cases_points *points = &file->points[file->points_count++];
    points->from = kind(r);
    points->to = kind(r);
    points->count = (uint32_t)number(r);
    const char *columns = need(r); /* x,y x,y,dy or a,b,y */
    points->arity = columns[0] == 'a' ? 2 : 1;
    size_t bytes = (points->count + 1) * sizeof(double);
    points->a = malloc(bytes);
    points->b = points->arity == 2 ? malloc(bytes) : NULL;
    points->y = malloc(bytes);
    points->dy = strstr(columns, "dy") ? malloc(bytes) : NULL;
    for (uint32_t i = 0; i < points->count; i++) {
        points->a[i] = number(r);
        if (points->b) points->b[i] = number(r);
        points->y[i] = number(r);
        if (points->dy) points->dy[i] = number(r);
    }
}

static wg_tensor *read_tensor(reader *r)
{
    char *name = need(r);
    if (!strcmp(name, "none")) return NULL;
    wg_kind of = wg_kind_from_name(name);
    if (of == WG_KIND_COUNT) defect(r, "no kind");
    int64_t shape[WG_MAX_RANK];
    uint32_t rank = 0;
    for (char *at = need(r) + 1; *at != ']'; at += *at == ',') shape[rank++] = strtoll(at, &at, 10);
    wg_tensor *tensor = test_tensor_fill(of, rank, shape, 0);
    int64_t volume = wg_tensor_volume(tensor);
    double *items = calloc((size_t)volume + 1, sizeof *items);
    for (int64_t i = 0; i < volume; i++) items[i] = number(r);
    wg_tensor_release(tensor);
    tensor = test_tensor(of, rank, shape, items);
    free(items);
    return tensor;
}

static void read_param(reader *r, cases_case *entry)
{
    if (entry->param_count == CASES_MOST_PARAMS) defect(r, "more parameters than there is room for");
    cases_param *param = &entry->params[entry->param_count++];
    snprintf(param->key, sizeof param->key, "%s", need(r));
    snprintf(param->value, sizeof param->value, "%s", need(r));
}

/* Where the next tensor of a role goes; NULL: no such role. */
static wg_tensor **place_of(cases_case *entry, const char *role)
{
    struct {
        const char *role;
        wg_tensor **tensors;
        uint32_t *count;
    } places[] = {{"input", entry->inputs, &entry->input_count},
                  {"result", entry->results, &entry->result_count},
                  {"cotangent", entry->cotangents, &entry->cotangent_count},
                  {"gradient", entry->gradients, &entry->gradient_count}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (!strcmp(places[i].role, role) && *places[i].count < CASES_MOST_TENSORS) return &places[i].tensors[(*places[i].count)++];
    return NULL;
}

static void read_line(reader *r, cases_file *file, const char *first)
{
    cases_case *entry = file->case_count ? &file->cases[file->case_count - 1] : NULL;
    if (!strcmp(first, "op")) {
        snprintf(file->op, sizeof file->op, "%s", need(r));
    } else if (!strcmp(first, "points")) {
        read_points(r, file);
    } else if (!strcmp(first, "case")) {
        file->cases = realloc(file->cases, (file->case_count + 1) * sizeof *file->cases);
        entry = &file->cases[file->case_count++];
        memset(entry, 0, sizeof *entry);
        snprintf(entry->name, sizeof entry->name, "%s", need(r));
    } else if (entry && !strcmp(first, "param")) {
        read_param(r, entry);
    } else {
        wg_tensor **place = entry ? place_of(entry, first) : NULL;
        if (!place) defect(r, "an unknown word");
        *place = read_tensor(r);
    }
}

cases_file *cases_read(const char *op)
{
    char path[512];
    snprintf(path, sizeof path, "%s/data/ops/%s.txt", TEST_DATA_DIR, op);
    reader r = {.text = read_file(path), .path = path};
    r.at = r.text;
    cases_file *file = calloc(1, sizeof *file);
    assert_non_null(file);
    for (char *first; (first = word(&r));) read_line(&r, file, first);
    free(r.text);
    return file;
}

void cases_free(cases_file *file)
{
    for (uint32_t i = 0; i < file->points_count; i++) {
        free(file->points[i].a);
        free(file->points[i].b);
        free(file->points[i].y);
        free(file->points[i].dy);
    }
    for (uint32_t i = 0; i < file->case_count; i++)
        for (uint32_t j = 0; j < CASES_MOST_TENSORS; j++) {
            wg_tensor_release(file->cases[i].inputs[j]);
            wg_tensor_release(file->cases[i].results[j]);
            wg_tensor_release(file->cases[i].cotangents[j]);
            wg_tensor_release(file->cases[i].gradients[j]);
        }
    free(file->cases);
    free(file);
}

/* ---- parameters ---- */

const char *cases_text(const cases_case *entry, const char *key)
{
    for (uint32_t i = 0; i < entry->param_count; i++)
        if (!strcmp(entry->params[i].key, key)) return entry->params[i].value;
    return NULL;
}

double cases_number(const cases_case *entry, const char *key, double silent)
{
    const char *text = cases_text(entry, key);
    return text ? strtod(text, NULL) : silent;
}

uint32_t cases_list(const cases_case *entry, const char *key, int64_t *numbers, uint32_t most)
{
    char *at = (char *)cases_text(entry, key);
    uint32_t count = 0;
    while (at && *at && count < most) {
        numbers[count++] = strtoll(at, &at, 10);
        at += *at == ',';
    }
    return count;
}

/* ---- which rows serve ---- */

static const struct {
    const char *op;
    wg_op row;
} points_rows[] = {
    {"exp", WG_OP_Exp},       {"expm1", WG_OP_Expm1},     {"ln", WG_OP_Ln},           {"log1p", WG_OP_Log1p},       {"sqrt", WG_OP_Sqrt},
    {"tanh", WG_OP_Tanh},     {"sin", WG_OP_Sin},         {"cos", WG_OP_Cos},         {"tan", WG_OP_Tan},           {"asin", WG_OP_Asin},
    {"acos", WG_OP_Acos},     {"atan", WG_OP_Atan},       {"sinh", WG_OP_Sinh},       {"cosh", WG_OP_Cosh},         {"asinh", WG_OP_Asinh},
    {"acosh", WG_OP_Acosh},   {"atanh", WG_OP_Atanh},     {"erf", WG_OP_Erf},         {"erf_derivative", WG_OP_ErfDerivative},
    {"lgamma", WG_OP_Lgamma}, {"digamma", WG_OP_Digamma}, {"add", WG_OP_Add},         {"sub", WG_OP_Sub},           {"mul", WG_OP_Mul},
    {"div", WG_OP_Div},       {"maximum", WG_OP_Maximum}, {"minimum", WG_OP_Minimum}, {"pow", WG_OP_Powf},          {"atan2", WG_OP_Atan2},
    {"neg", WG_OP_Neg},       {"abs", WG_OP_Abs},         {"sign", WG_OP_Sign},       {"floor", WG_OP_Floor},       {"ceil", WG_OP_Ceil},
    {"round", WG_OP_Round},   {"residue", WG_OP_Residue}, {"floor_divide", WG_OP_FloorDivide},                      {"convert",
            WG_OP_Convert},
};

const char *const cases_array_rows[] = {"sum",     "sum_along", "reduce", "arg",     "scan",    "log_softmax", "logsumexp", "matmul",
                                        "gather",
                                        "scatter", "slice_at",  "update_at", "sort", "grade",   "top_k",       "permute",   "pad",
                                            "narrow",
                                        "concat",  "reverse",   "broadcast_along", "unfold", "step", "select", NULL};

const char *cases_points_row(uint32_t index, wg_op *op)
{
    if (index >= sizeof points_rows / sizeof *points_rows) return NULL;
    *op = points_rows[index].row;
    return points_rows[index].op;
}

static wg_value record_one(const char *op, const cases_case *entry, const wg_value *in)
{
    uint32_t axis = (uint32_t)cases_number(entry, "axis", 0);
    wg_size len = wg_number((int64_t)cases_number(entry, "len", 0)), extent = wg_number((int64_t)cases_number(entry, "extent", 0));
    wg_size start = wg_number((int64_t)cases_number(entry, "start", 0)), size = wg_number((int64_t)cases_number(entry, "size", 0));
    int64_t step = (int64_t)cases_number(entry, "step", 1), dilation = (int64_t)cases_number(entry, "dilation", 1), order[WG_MAX_RANK];
    bool descending = cases_number(entry, "descending", 0) != 0;
    const char *word = cases_text(entry, "op");
    if (!strcmp(op, "sum")) return wg_sum(in[0]);
    if (!strcmp(op, "sum_along")) return wg_sum_along(in[0], axis);
    if (!strcmp(op, "reduce")) return wg_reduce(in[0], word, axis);
    if (!strcmp(op, "arg")) return !strcmp(word, "argmax") ? wg_arg_max(in[0], axis) : wg_arg_min(in[0], axis);
    if (!strcmp(op, "scan")) return wg_scan(in[0], word, axis, cases_number(entry, "reverse", 0) != 0);
    if (!strcmp(op, "log_softmax")) return wg_log_softmax(in[0], axis);
    if (!strcmp(op, "logsumexp")) return wg_log_sum_exp(in[0], axis);
    if (!strcmp(op, "matmul")) return wg_matmul(in[0], in[1]);
    if (!strcmp(op, "gather")) return wg_gather(in[0], in[1], axis);
    if (!strcmp(op, "scatter")) return wg_scatter(in[0], in[1], axis, extent);
    if (!strcmp(op, "slice_at")) return wg_slice(in[0], in[1], axis, 0, len, "clamp");
    if (!strcmp(op, "update_at")) return wg_update(in[0], in[1], in[2], axis, 0, "clamp");
    if (!strcmp(op, "sort")) return wg_sort(in[0], axis, descending);
    if (!strcmp(op, "grade")) return wg_grade(in[0], axis, descending);
    if (!strcmp(op, "pad")) return wg_pad(in[0], axis, start, wg_number((int64_t)cases_number(entry, "full_extent", 0)), 0);
    if (!strcmp(op, "narrow")) return wg_narrow_step(in[0], axis, start, len, step);
    if (!strcmp(op, "concat")) return wg_concat(in, entry->input_count, axis);
    if (!strcmp(op, "reverse")) return wg_reverse(in[0], axis);
    if (!strcmp(op, "broadcast_along")) return wg_broadcast_along(in[0], axis, extent);
    if (!strcmp(op, "unfold")) return wg_unfold(in[0], axis, size, step, dilation);
    if (!strcmp(op, "step")) return wg_step(in[0], in[1]);
    if (!strcmp(op, "select")) return wg_select(in[0], in[1], in[2]);
    if (!strcmp(op, "permute")) {
        uint32_t axes[WG_MAX_RANK], count = cases_list(entry, "order", order, WG_MAX_RANK);
        for (uint32_t i = 0; i < count; i++) axes[i] = (uint32_t)order[i];
        return wg_permute(in[0], axes);
    }
    fail_msg("%s is no row", op);
    return in[0];
}

uint32_t cases_record(const cases_file *file, const cases_case *entry, const wg_value *inputs, wg_value results[CASES_MOST_TENSORS])
{
    if (strcmp(file->op, "top_k")) {
        results[0] = record_one(file->op, entry, inputs);
        return 1;
    }
    wg_size k = wg_number((int64_t)cases_number(entry, "k", 0));
    uint32_t last = wg_value_rank(inputs[0]) - 1;
    results[0] = wg_top_k_values(inputs[0], last, k);
    results[1] = wg_top_k_positions(inputs[0], last, k);
    return 2;
}

double cases_tolerance(const char *op, wg_kind of)
{
    if (of == WG_KIND_F64) return 1e-12;
    bool wide = strstr(op, "norm") || strstr(op, "conv") || !strcmp(op, "matmul");
    return wide ? 1e-5 : 2e-6;
}

/* ---- running a case ---- */

wg_tensor *cases_as_kind(const wg_tensor *tensor, wg_kind kind)
{
    return test_tensor_convert(tensor, wg_tensor_kind(tensor) == WG_KIND_F64 ? kind : wg_tensor_kind(tensor));
}

void cases_check(const cases_file *file, const cases_case *entry, wg_kind kind, cases_recorder record)
{
    wg_tape *tape = wg_tape_new_kind(NULL, kind);
    wg_value inputs[CASES_MOST_TENSORS], results[CASES_MOST_TENSORS];
    for (uint32_t i = 0; i < entry->input_count; i++) inputs[i] = wg_input(tape, cases_as_kind(entry->inputs[i], kind));
    uint32_t count = record(file, entry, inputs, results);
    assert_int_equal(count, entry->result_count);
    wg_symbol symbols[CASES_MOST_TENSORS];
    for (uint32_t i = 0; i < count; i++) symbols[i] = wg_symbol_of(results[i]);
    wg_error error = {.code = WG_OK};
    wg_network *network = wg_tape_seal(&tape, &error);
    if (!network) fail_msg("%s: %s", entry->name, error.message);
    wg_run *run = wg_network_forward(network, NULL, &error);
    if (!run) fail_msg("%s: %s", entry->name, error.message);
    for (uint32_t i = 0; i < count; i++) {
        bool is_float = wg_tensor_kind(entry->results[i]) == WG_KIND_F64;
        wg_tensor *expected = cases_as_kind(entry->results[i], kind);
        assert_int_equal(wg_tensor_kind(wg_run_of(run, symbols[i], NULL)), wg_tensor_kind(expected));
        test_assert_near(wg_run_of(run, symbols[i], NULL), expected, is_float ? cases_tolerance(file->op, kind) : 0, entry->name);
        wg_tensor_release(expected);
    }
    wg_run_free(&run);
    wg_network_release(&network);
}
