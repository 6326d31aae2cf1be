/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Samplers against measured vectors: what the cuts keep, and with which chances. */
#include "model/world.h"
#include "wengert/generate.h"

static double number(const base_json *json, const char *key)
{
    double value = 0;
    const base_json *found = base_json_find(json, key);
    assert_non_null(found);
    assert_true(base_json_float(found, WG_KIND_F64, &value));
    return value;
}

static wg_sampler sampler_of(const base_json *params)
{
    wg_sampler s;
    wg_sampler_defaults(&s);
    s.temperature = number(params, "temperature");
    s.top_k = (int64_t)number(params, "top_k");
    s.top_p = number(params, "top_p");
    s.min_p = number(params, "min_p");
    s.repeat_penalty = number(params, "repeat_penalty");
    s.repeat_last = (int64_t)number(params, "repeat_last_n");
    s.frequency_penalty = number(params, "frequency_penalty");
    s.presence_penalty = number(params, "presence_penalty");
    s.temperature_first = !strcmp(base_json_find(params, "order")->text, "temperature-first");
    return s;
}

static void measured_vectors(void **state)
{
    (void)state;
    expected e = expected_of(data_path("sampling.json"));
    uint32_t cases = 0;
    for (const base_json *c = base_json_find(e.json, "cases")->first; c; c = c->next, cases++) {
        float logits[64];
        double chances[64], wanted;
        int32_t history[64], ids[64], kept[64];
        uint32_t vocabulary = 0, seen = whole_numbers(base_json_find(c, "history"), history, 64), count = whole_numbers(base_json_find(c, "kept"), kept, 64);
        for (const base_json *item = base_json_find(c, "logits")->first; item; item = item->next) {
            assert_true(base_json_float(item, WG_KIND_F64, &wanted));
            logits[vocabulary++] = (float)wanted;
        }
        wg_sampler s = sampler_of(base_json_find(c, "params"));
        wg_error error = {.code = WG_OK};
        int64_t found = wg_sampler_candidates(&s, logits, vocabulary, history, seen, ids, chances, &error);
        CHECKED(found, error);
        assert_int_equal(found, count);
        assert_memory_equal(ids, kept, count * sizeof *ids);
        const base_json *chance = base_json_find(c, "probabilities")->first;
        for (uint32_t i = 0; i < count; i++, chance = chance->next) {
            assert_true(base_json_float(chance, WG_KIND_F64, &wanted));
            if (!(chances[i] - wanted < 1e-6 && wanted - chances[i] < 1e-6)) fail_msg("case %u: chance %u is %.9g, not %.9g", cases, i, chances[i], wanted);
        }
    }
    assert_int_equal(cases, 14);
    expected_free(&e);
}

/* Draws follow the chances, and a step is a function of its number. */
static void draws(void **state)
{
    (void)state;
    wg_sampler s;
    wg_error error = {.code = WG_OK};
    wg_sampler_defaults(&s);
    s.temperature = 1, s.top_k = 0, s.top_p = 1, s.min_p = 0;
    const float logits[3] = {0, 1, -1}; /* 0.2447, 0.6652, 0.0900 */
    int times[3] = {0};
    for (uint64_t step = 0; step < 20000; step++) {
        int32_t token = wg_sampler_next(&s, logits, 3, NULL, 0, step, &error);
        CHECKED(token >= 0, error);
        assert_int_equal(token, wg_sampler_next(&s, logits, 3, NULL, 0, step, &error));
        times[token]++;
    }
    assert_in_range(times[0], 4894 - 300, 4894 + 300);
    assert_in_range(times[1], 13304 - 300, 13304 + 300);
    const float nothing[2] = {__builtin_nanf(""), __builtin_nanf("")};
    assert_int_equal(wg_sampler_next(&s, nothing, 2, NULL, 0, 0, &error), -1);
    s.top_p = 0;
    wg_error_clear(&error);
    assert_int_equal(wg_sampler_next(&s, logits, 3, NULL, 0, 0, &error), -1);
    assert_int_equal(error.code, WG_ARGUMENT);
}

/* Of equal logits the least id comes first, whatever cuts. */
static void ties(void **state)
{
    (void)state;
    enum { COUNT = 40 };
    float logits[COUNT];
    for (int32_t i = 0; i < COUNT; i++) logits[i] = i % 4 ? 1 : 2;
    for (int form = 0; form < 4; form++) {
        wg_sampler s;
        wg_error error = {.code = WG_OK};
        int32_t ids[COUNT];
        double chances[COUNT];
        wg_sampler_defaults(&s);
        s.temperature = form ? 1 : 0;
        s.repeat_penalty = 1, s.min_p = 0;
        s.top_k = form == 1 ? 7 : 0;
        s.top_p = form == 2 ? 0.3 : 1;
        int64_t found = wg_sampler_candidates(&s, logits, COUNT, NULL, 0, ids, chances, &error);
        CHECKED(found, error);
        assert_true(found == (form == 0 ? 1 : form == 1 ? 7 : form == 3 ? COUNT : found));
        for (int64_t i = 0; i < found; i++) {
            int64_t rest = i - 10, wanted = i < 10 ? 4 * i : rest / 3 * 4 + 1 + rest % 3;
            assert_int_equal(ids[i], wanted);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(measured_vectors), cmocka_unit_test(draws), cmocka_unit_test(ties)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
