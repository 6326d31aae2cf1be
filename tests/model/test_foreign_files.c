/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Files of other programs. .npy by NumPy (both byte orders, Fortran order, versions 1 to 3, a scalar, nothing, an odd header) against their items. */
#include "model/world.h"
#include <strings.h>

#include "model/gguf.h"
#include "wengert/files.h"

/* The items in f32. */
static wg_tensor *widened(const wg_tensor *tensor)
{
    wg_error error = {.code = WG_OK};
    wg_tensor *wide = wg_op_run(NULL, WG_OP_Convert, &tensor, 1, (const int64_t[]){WG_KIND_F32, 0}, 2, &error);
    CHECKED(wide, error);
    return wide;
}

static double item_of(const wg_tensor *tensor, int64_t i)
{
    const void *data = wg_tensor_data(tensor);
    switch (wg_tensor_kind(tensor)) {
    case WG_KIND_F32: return (double)((const float *)data)[i];
    case WG_KIND_F64: return ((const double *)data)[i];
    case WG_KIND_I32: return ((const int32_t *)data)[i];
    case WG_KIND_I64: return (double)((const int64_t *)data)[i];
    case WG_KIND_U8: return ((const uint8_t *)data)[i];
    case WG_KIND_BOOL: return ((const uint8_t *)data)[i];
    case WG_KIND_C64: return (double)((const float *)data)[i];
    case WG_KIND_F16: {
        wg_tensor *wide = widened(tensor);
        double value = (double)((const float *)wg_tensor_data(wide))[i];
        wg_tensor_release(wide);
        return value;
    }
    default: fail_msg("kind %s is not among the files", wg_kind_name(wg_tensor_kind(tensor)));
    }
    return 0;
}

static void same_item(const char *file, const wg_tensor *tensor, int64_t i, const base_json *wanted)
{
    double value = 0;
    assert_true(base_json_float(wanted, WG_KIND_F64, &value));
    if (item_of(tensor, i) != value) fail_msg("%s: item %d is %.17g, not %.17g", file, (int)i, item_of(tensor, i), value);
}

static void check_file(const base_json *entry)
{
    const char *file = base_json_find(entry, "file")->text;
    const base_json *values = base_json_find(entry, "values_row_major"), *shape = base_json_find(entry, "shape");
    wg_error error = {.code = WG_OK};
    if (!values) return; /* an archive: the command reads those */
    wg_tensor *tensor = wg_npy_read(NULL, data_path("npy/%s", file), &error);
    CHECKED(tensor, error);
    uint32_t axis = 0;
    assert_int_equal(wg_tensor_rank(tensor), shape->count);
    for (const base_json *extent = shape->first; extent; extent = extent->next) {
        int64_t wanted = -1;
        assert_true(base_json_integer(extent, &wanted) && wg_tensor_shape(tensor)[axis++] == wanted);
    }
    assert_int_equal(wg_tensor_volume(tensor), values->count);
    int64_t i = 0;
    for (const base_json *value = values->first; value; value = value->next, i++) {
        if (value->type != BASE_JSON_ARRAY) same_item(file, tensor, i, value);
        else {
            same_item(file, tensor, 2 * i, value->first);
            same_item(file, tensor, 2 * i + 1, value->first->next);
        }
    }
    wg_tensor_release(tensor);
}

static void files(void **state)
{
    (void)state;
    expected e = expected_of(data_path("npy/expected.json"));
    for (const base_json *entry = e.json->first; entry; entry = entry->next) check_file(entry);
    expected_free(&e);
}

/* A tensor of each quantised type of GGUF against items that other programs made of it. */
static void quantised_types(void **state)
{
    (void)state;
    static const char *const types[] = {"iq4_nl", "mxfp4", "q2_k", "q3_k", "q4_0", "q4_1", "q4_k", "q5_0", "q5_1", "q5_k", "q6_k", "q8_0"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char name[32];
        wg_error error = {.code = WG_OK};
        base_file file;
        const char *path = data_path("gguf/quant-%s.gguf", types[i]);
        CHECKED(base_file_map(path, &file, &error), error);
        model_gguf gguf;
        CHECKED(model_gguf_read(&gguf, base_allocator(NULL), path, file.bytes, file.length, &error), error);
        snprintf(name, sizeof name, "x.%s", types[i]);
        const model_tensor *found = NULL;
        for (uint32_t t = 0; t < gguf.tensor_count; t++)
            if (!strcasecmp(gguf.tensors[t].name, name)) found = &gguf.tensors[t];
        if (!found) fail_msg("%s has no %s", path, name);
        wg_tensor *blocks = wg_tensor_new(NULL, found->kind, found->rank, found->shape, file.bytes + found->offset, &error);
        CHECKED(blocks, error);
        wg_tensor *items = widened(blocks);
        wg_tensor *wanted = wg_npy_read(NULL, data_path("gguf/quant-%s.npy", types[i]), &error);
        CHECKED(wanted, error);
        assert_int_equal(wg_tensor_volume(items), wg_tensor_volume(wanted));
        for (int64_t k = 0; k < wg_tensor_volume(wanted); k++) {
            float a = ((const float *)wg_tensor_data(items))[k], b = ((const float *)wg_tensor_data(wanted))[k];
            if (memcmp(&a, &b, sizeof a) && !(a != a && b != b)) fail_msg("%s: item %d is %.9g, not %.9g", types[i], (int)k, (double)a, (double)b);
        }
        wg_tensor_release(wanted);
        wg_tensor_release(items);
        wg_tensor_release(blocks);
        model_gguf_close(&gguf);
        base_file_close(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files), cmocka_unit_test(quantised_types)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
