/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What happens in the order of the calls: effects, and keys taken from generators. Every open recording notes both, and a replay does them
 * again. */
#include <string.h>

#include "base/random.h"
#include "lazy/lazy.h"

/* ---- notes of a recording ---- */

static lazy_recorded *note(lazy_level *level)
{
    if (!BASE_RESERVE(level->lazy->allocator, level->recorded, level->recorded_capacity, level->recorded_count + 1)) {
        lazy_fail_memory(level->lazy);
        return NULL;
    }
    lazy_recorded *recorded = &level->recorded[level->recorded_count];
    *recorded = (lazy_recorded){0};
    return recorded;
}

/* What an effect does is a part of it: a replay runs the effect again, and no recording around it notes what is inside. */
static bool reads(const lazy_level *level)
{
    return level->kind == LAZY_RECORDING && !level->stopped && level->serial > level->lazy->effect_serial;
}

/* ---- generators ---- */

struct wg_generator {
    lazy_dependent dependent;
    wg_lazy *lazy; /* NULL: it was freed */
    uint32_t references; /* the caller's, and recordings' */
    base_key key;
    uint64_t taken;
    uint32_t born; /* the newest level's serial when it was made: of an open level as new as it, it is a part */
};

static void orphan_generator(lazy_dependent *dependent) { ((wg_generator *)dependent)->lazy = NULL; }

static wg_generator *generator_of(wg_lazy *lazy, base_key key)
{
    wg_generator *generator = base_allocate(lazy->allocator, sizeof *generator);
    if (!generator) return lazy_fail_memory(lazy), NULL;
    *generator = (wg_generator){.lazy = lazy, .references = 1, .key = key, .born = lazy->level_serial};
    lazy_depend(lazy, &generator->dependent, orphan_generator);
    return generator;
}

wg_generator *wg_generator_new(wg_lazy *lazy, uint64_t seed)
{
    return lazy ? generator_of(lazy, (base_key){{(uint32_t)seed, (uint32_t)(seed >> 32)}}) : NULL;
}

static void generator_release(wg_generator *generator)
{
    if (!generator || --generator->references) return;
    lazy_depend_end(&generator->dependent);
    wg_allocator allocator = generator->dependent.allocator;
    base_free(&allocator, generator, sizeof *generator);
}

void wg_generator_free(wg_generator **generator)
{
    if (!generator) return;
    generator_release(*generator);
    *generator = NULL;
}

/* As a stored array; owned. */
static wg_array *next_key(wg_generator *generator)
{
    base_key key = base_key_split(generator->key, generator->taken++);
    wg_error error = {.code = WG_OK};
    wg_tensor *items = wg_tensor_new(generator->lazy->context, WG_KIND_U32, 1, (int64_t[]){2}, key.words, &error);
    if (!items) return lazy_fail_with(generator->lazy, &error, NULL), NULL;
    return lazy_stored(generator->lazy, items);
}

/* The key as the levels from the oldest to this one see it: a source of each recording, of a batch a key for each cell. Owned. */
static wg_array *seen_key(lazy_level *level, wg_generator *generator, wg_array *key)
{
    if (!level) return key;
    wg_array *inner = seen_key(level->older, generator, key), *seen = NULL;
    if (!inner) return NULL;
    bool noted = reads(level) && generator->born < level->serial; /* else it is made anew by each call */
    if (level->kind != LAZY_BATCH && !noted) return inner;
    if (level->kind == LAZY_BATCH) {
        wg_array *keys = lazy_call(level->lazy, WG_OP_KeySplit, &inner, 1, &level->frame, 1, 0);
        if (keys) seen = lazy_level_carry(level, keys, 0);
        lazy_release(keys);
    } else {
        lazy_recorded *recorded = note(level);
        if (recorded && (seen = lazy_level_input(level, inner))) {
            recorded->generator = generator;
            recorded->position = seen->position;
            generator->references++;
            level->recorded_count++;
        }
    }
    lazy_release(inner);
    return seen;
}

wg_array *wg_generator_key(wg_generator *generator)
{
    if (!generator || !generator->lazy) return NULL;
    wg_array *key = next_key(generator);
    return key ? lazy_give(generator->lazy, seen_key(generator->lazy->levels, generator, key)) : NULL;
}

wg_generator *wg_generator_split(wg_generator *generator)
{
    if (!generator || !generator->lazy) return NULL;
    lazy_level *level = generator->lazy->levels;
    for (; level; level = level->older)
        if (reads(level)) level->stopped = "a generator was split";
    return generator_of(generator->lazy, base_key_split(generator->key, generator->taken++));
}

wg_generator *wg_generator_fold(const wg_generator *generator, uint64_t number)
{
    return generator && generator->lazy ? generator_of(generator->lazy, base_key_fold(generator->key, number)) : NULL;
}

/* ---- effects ---- */

/* The effect over operands as a level sees them: those of newer levels are stripped. */
static bool note_effect(lazy_level *level, wg_effect run, void *user, wg_array *const *operands, uint32_t count)
{
    lazy_recorded *recorded = note(level);
    uint32_t *positions = recorded ? base_allocate(level->lazy->allocator, (count + 1) * sizeof *positions) : NULL;
    if (!positions) return recorded ? lazy_fail_memory(level->lazy) : false;
    for (uint32_t i = 0; i < count; i++) {
        wg_array *array = operands[i];
        while (array->state == LAZY_CARRIED && array->as.carried.level->serial > level->serial) array = array->as.carried.inner;
        if ((positions[i] = lazy_level_position(level, array)) != WG_NONE) continue;
        base_free(level->lazy->allocator, positions, (count + 1) * sizeof *positions);
        return false;
    }
    *recorded = (lazy_recorded){.run = run, .user = user, .operands = positions, .count = count};
    level->recorded_count++;
    return true;
}

/* What an effect reads, without the levels that it was called under; that a recording is open does not stop it. Borrowed. */
static wg_array *plain_of(wg_lazy *lazy, wg_array *array)
{
    while ((array = lazy_resolve(lazy, array)) && array->state == LAZY_CARRIED) {
        if (array->as.carried.level->kind == LAZY_BATCH)
            return lazy_fail(lazy, WG_UNSUPPORTED, "an effect reads a batched value: a frame has no order of its own; do it after the map"), NULL;
        array = array->as.carried.inner;
    }
    return array;
}

/* It may call anything but what would take away what its callers stand on. */
static bool call_effect(wg_lazy *lazy, wg_effect run, void *user, const wg_view *views, uint32_t count)
{
    uint32_t scopes = lazy->scope_count, floor = lazy->scope_floor, serial = lazy->effect_serial;
    lazy->scope_floor = scopes;
    lazy->effect_serial = lazy->level_serial;
    lazy->inside++;
    bool good = run(user, views, count);
    lazy->inside--;
    lazy->effect_serial = serial;
    while (lazy->scope_count > scopes) wg_scope_close(lazy);
    lazy->scope_floor = floor;
    return good;
}

static bool run_effect(wg_lazy *lazy, wg_effect run, void *user, wg_array *const *operands, uint32_t count)
{
    size_t bytes = (count + 1) * (sizeof(wg_array *) + sizeof(wg_view));
    wg_view *views = base_allocate(lazy->allocator, bytes);
    if (!views) return lazy_fail_memory(lazy);
    wg_array **plain = (wg_array **)(views + count + 1);
    bool good = true;
    for (uint32_t i = 0; i < count && good; i++) good = (plain[i] = plain_of(lazy, operands[i])) != NULL;
    good = good && lazy_run(lazy, plain, count);
    if (good) {
        for (uint32_t i = 0; i < count; i++) good = lazy_widen(lazy_keep(plain[i]), &views[i]) && good; /* whatever the effect releases */
        good = good && (call_effect(lazy, run, user, views, count) || lazy_fail(lazy, WG_CANCELLED, "an effect answered that it failed"));
        for (uint32_t i = 0; i < count; i++) lazy_release(plain[i]);
    }
    base_free(lazy->allocator, views, bytes);
    return good;
}

bool wg_array_effect(wg_lazy *lazy, wg_effect run, void *user, wg_array *const *operands, uint32_t count)
{
    if (!lazy || !run || (count && !operands)) return lazy_fail(lazy, WG_ARGUMENT, "an effect needs a function to run and its operands");
    for (uint32_t i = 0; i < count; i++)
        if (!lazy_check(lazy, operands[i])) return false;
    for (uint32_t i = 0; i < count; i++) lazy_keep(operands[i]);
    bool good = run_effect(lazy, run, user, operands, count);
    for (lazy_level *level = lazy->levels; level && good; level = level->older)
        if (reads(level)) good = note_effect(level, run, user, operands, count);
    for (uint32_t i = 0; i < count; i++) lazy_release(operands[i]);
    return good;
}

void lazy_recorded_free(lazy_level *level)
{
    const wg_allocator *allocator = level->lazy->allocator;
    for (uint32_t i = 0; i < level->recorded_count; i++) {
        lazy_recorded *recorded = &level->recorded[i];
        generator_release(recorded->generator);
        if (recorded->operands) base_free(allocator, recorded->operands, (recorded->count + 1) * sizeof *recorded->operands);
    }
    base_free(allocator, level->recorded, level->recorded_capacity * sizeof *level->recorded);
}
