/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A folder of pictures by class: ROOT/CLASS/PICTURE.png. Class numbers are the places of the class folders in the order of their names,
 * bytewise. */
#define _POSIX_C_SOURCE 200809L /* opendir, stat */

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/tensor.h"
#include "tools/dataset.h"
#include "tools/picture.h"

bool folder_is(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/* Names in an arena, sorted. */
typedef struct listing {
    base_arena *arena;
    const char **names;
    uint32_t count, capacity;
} listing;

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *join(base_arena *arena, const char *folder, const char *name)
{
    size_t bytes = strlen(folder) + strlen(name) + 2;
    char *path = base_arena_take(arena, bytes);
    if (path) snprintf(path, bytes, "%s/%s", folder, name);
    return path;
}

static bool add(listing *list, const char *folder, const char *name, bool (*accepts)(const char *), wg_error *error)
{
    const char *path = join(list->arena, folder, name);
    if (!path) return base_fail_memory(error);
    if (!accepts(path)) return true;
    const char *kept = base_arena_string(list->arena, name, strlen(name));
    if (!kept || !BASE_RESERVE(list->arena->allocator, list->names, list->capacity, list->count + 1)) return base_fail_memory(error);
    list->names[list->count++] = kept;
    return true;
}

static void listing_free(listing *list)
{
    base_free(list->arena->allocator, list->names, list->capacity * sizeof *list->names);
    list->names = NULL;
}

/* The entries of a folder that are accepted, without hidden ones; the names array is freed by listing_free. */
static bool list_folder(base_arena *arena, const char *folder, bool (*accepts)(const char *), listing *list, wg_error *error)
{
    *list = (listing){.arena = arena};
    DIR *directory = opendir(folder);
    if (!directory) return base_fail(error, WG_FILE, "the folder %s cannot be read: %s", folder, strerror(errno));
    bool good = true;
    const struct dirent *entry;
    while (good && (entry = readdir(directory)))
        if (entry->d_name[0] != '.') good = add(list, folder, entry->d_name, accepts, error);
    closedir(directory);
    if (good && list->count) qsort(list->names, list->count, sizeof *list->names, compare_names);
    if (!good) listing_free(list);
    return good;
}

/* Every picture's path with its class number, in order. */
typedef struct pictures {
    base_arena arena;
    const char **paths;
    int64_t *classes;
    uint32_t count, path_capacity, class_capacity;
} pictures;

static bool add_class(pictures *p, const char *folder, int64_t number, wg_error *error)
{
    listing files;
    if (!list_folder(&p->arena, folder, picture_is_name, &files, error)) return false;
    bool good = files.count ||
                base_fail(error, WG_SHAPE, "the class folder %s holds no .png, .jpg or .jpeg picture; fill it or remove it", folder);
    const wg_allocator *allocator = p->arena.allocator;
    for (uint32_t i = 0; good && i < files.count; i++) {
        const char *path = join(&p->arena, folder, files.names[i]);
        good = path && BASE_RESERVE(allocator, p->paths, p->path_capacity, p->count + 1) &&
               BASE_RESERVE(allocator, p->classes, p->class_capacity, p->count + 1);
        if (!good) base_fail_memory(error);
        else p->paths[p->count] = path, p->classes[p->count++] = number;
    }
    listing_free(&files);
    return good;
}

static void pictures_free(pictures *p)
{
    const wg_allocator *allocator = p->arena.allocator;
    base_free(allocator, p->paths, p->path_capacity * sizeof *p->paths);
    base_free(allocator, p->classes, p->class_capacity * sizeof *p->classes);
    base_arena_free(&p->arena);
}

/* Freed by pictures_free, also after a failure. */
static bool list_pictures(const char *root, pictures *p, wg_error *error)
{
    *p = (pictures){.arena = base_arena_new(base_allocator(NULL))};
    listing classes;
    if (!list_folder(&p->arena, root, folder_is, &classes, error)) return false;
    bool good =
        classes.count ||
        base_fail(error, WG_SHAPE, "%s holds no class folders; put the pictures of each class into a folder of its own in it", root);
    for (uint32_t i = 0; good && i < classes.count; i++) {
        const char *folder = join(&p->arena, root, classes.names[i]);
        good = folder ? add_class(p, folder, i, error) : base_fail_memory(error);
    }
    listing_free(&classes);
    return good;
}

static wg_tensor *stack_new(const pictures *p, const wg_tensor *first, wg_error *error)
{
    int64_t shape[4] = {p->count};
    memcpy(shape + 1, first->shape, first->rank * sizeof *shape);
    return wg_tensor_new(NULL, WG_KIND_U8, first->rank + 1, shape, NULL, error);
}

static bool stack_put(wg_tensor *stack, const pictures *p, uint32_t index, const wg_tensor *pixels, wg_error *error)
{
    if (pixels->rank + 1 != stack->rank || memcmp(pixels->shape, stack->shape + 1, pixels->rank * sizeof *pixels->shape))
        return base_fail(error, WG_SHAPE, "%s is %s and %s is %s; make all pictures one size and colour", p->paths[index],
                         BASE_SHAPE_TEXT(pixels->rank, pixels->shape), p->paths[0], BASE_SHAPE_TEXT(stack->rank - 1, stack->shape + 1));
    memcpy((unsigned char *)stack->data + index * pixels->bytes, pixels->data, pixels->bytes);
    return true;
}

wg_tensor *folder_pictures(const char *path, wg_error *error)
{
    pictures p;
    wg_tensor *stack = NULL;
    bool good = list_pictures(path, &p, error);
    for (uint32_t i = 0; good && i < p.count; i++) {
        wg_tensor *pixels = picture_read(p.paths[i], error);
        good = pixels != NULL;
        if (good && !stack) good = (stack = stack_new(&p, pixels, error)) != NULL;
        good = good && stack_put(stack, &p, i, pixels, error);
        wg_tensor_release(pixels);
    }
    pictures_free(&p);
    if (good) return stack;
    wg_tensor_release(stack);
    return NULL;
}

wg_tensor *folder_labels(const char *path, wg_error *error)
{
    pictures p;
    wg_tensor *labels = NULL;
    if (list_pictures(path, &p, error)) labels = wg_tensor_new(NULL, WG_KIND_I64, 1, (int64_t[]){p.count}, p.classes, error);
    pictures_free(&p);
    return labels;
}

bool folder_classes(const char *path, base_arena *arena, const char ***names, uint32_t *count, wg_error *error)
{
    listing classes;
    if (!list_folder(arena, path, folder_is, &classes, error)) return false;
    *count = classes.count;
    *names = base_arena_take(arena, (classes.count + 1) * sizeof **names);
    if (*names && classes.count) memcpy(*names, classes.names, classes.count * sizeof **names);
    listing_free(&classes);
    return *names || base_fail_memory(error);
}
