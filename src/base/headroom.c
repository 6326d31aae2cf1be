/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define _GNU_SOURCE /* sysinfo, malloc_trim */
#include "base/headroom.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/control_group.h"
#include "base/text.h"

/* A look at every so many bytes at most, and when an eighth of what there is may be gone, but not at fewer than LEAST_STEP: a look costs some 20
 * microseconds. */
#define MOST_STEP ((uint64_t)64 << 20)
#define LEAST_STEP ((uint64_t)1 << 20)

/* What is left to the rest of the system, and to telling that there is no more: a sixteenth of it, but no more than this. */
#define MOST_RESERVE ((uint64_t)512 << 20)

atomic_llong base_headroom_left;
static atomic_llong large_bytes; /* in living blocks of BASE_LARGE_BLOCK bytes and more */

void base_headroom_large(long long bytes) { atomic_fetch_add_explicit(&large_bytes, bytes, memory_order_relaxed); }

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t less(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

/* ---- files of the system ---- */

/* The number behind a name that begins a line; 0: there is none. */
static uint64_t number_of(const char *text, const char *name)
{
    size_t length = strlen(name);
    uint64_t number = 0;
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL)
        if (!strncmp(line, name, length)) {
            line += length;
            while (*line == ' ') line++;
            base_parse_unsigned(line, strspn(line, "0123456789"), &number);
            return number;
        }
    return 0;
}

static bool number_in(const char *directory, const char *file, uint64_t *number)
{
    char path[1100], text[64];
    snprintf(path, sizeof path, "%s/%s", directory, file);
    if (!base_read_start(path, text, sizeof text)) return false;
    size_t length = strspn(text, "0123456789"); /* "max" is none */
    return length && base_parse_unsigned(text, length, number) == length;
}

/* ---- control groups ---- */

/* Those that bound memory: found once, as processes seldom move. */
typedef struct memory_group {
    char directory[256];
    bool second;
} memory_group;
static memory_group groups[4];
static int group_count;
static pthread_once_t groups_once = PTHREAD_ONCE_INIT;

#define UNBOUNDED ((uint64_t)1 << 60) /* version 1 writes a number of pages that no machine has */

static bool group_limit(const memory_group *group, uint64_t *limit)
{
    return number_in(group->directory, group->second ? "memory.max" : "memory.limit_in_bytes", limit) && *limit < UNBOUNDED;
}

static void keep_group(void *user, const char *directory, bool second)
{
    (void)user;
    uint64_t limit;
    memory_group *group = &groups[group_count];
    if (group_count == sizeof groups / sizeof *groups || strlen(directory) >= sizeof group->directory) return;
    strcpy(group->directory, directory);
    group->second = second;
    group_count += group_limit(group, &limit);
}

static void find_groups(void) { base_control_groups("memory", keep_group, NULL); }

/* What a group has left beyond its reserve: pages of files that it reads are given up for others. */
static uint64_t group_room(const memory_group *group)
{
    char path[1100], text[4096];
    uint64_t limit, used = 0, files = 0;
    if (!group_limit(group, &limit) || !number_in(group->directory, group->second ? "memory.current" : "memory.usage_in_bytes", &used)) return UINT64_MAX;
    snprintf(path, sizeof path, "%s/memory.stat", group->directory);
    if (base_read_start(path, text, sizeof text))
        files = group->second ? number_of(text, "inactive_file ") + number_of(text, "active_file ")
                              : number_of(text, "total_inactive_file ") + number_of(text, "total_active_file ");
    return less(limit, less(used, files) + smaller(limit / 16, MOST_RESERVE));
}

/* ---- looks ---- */

/* The process's pages in memory, and bytes of large blocks that were granted and not written yet. */
static void own_pages(uint64_t *resident, uint64_t *promised)
{
    char text[256];
    uint64_t fields[6] = {0}, page = (uint64_t)sysconf(_SC_PAGESIZE);
    long long large = atomic_load_explicit(&large_bytes, memory_order_relaxed);
    if (!base_read_start("/proc/self/statm", text, sizeof text)) text[0] = 0;
    const char *at = text;
    for (int i = 0; i < 6; i++, at += strspn(at, " ")) at += base_parse_unsigned(at, strspn(at, "0123456789"), &fields[i]);
    *resident = fields[1] * page; /* size resident shared text lib data */
    *promised = smaller(large > 0 ? (uint64_t)large : 0, less(fields[5], less(fields[1], fields[2])) * page);
}

/* What may be taken beyond the reserve. */
static uint64_t room(size_t bytes, uint64_t limit)
{
    struct sysinfo info;
    char text[2048];
    uint64_t resident, promised, have = UINT64_MAX;
    own_pages(&resident, &promised);
    if (!sysinfo(&info)) {
        uint64_t unit = info.mem_unit, swap = info.freeswap * unit, reserve = smaller(info.totalram * unit / 16, MOST_RESERVE);
        have = info.freeram * unit + swap;
        if (have < bytes + promised + reserve + 8 * MOST_STEP && base_read_start("/proc/meminfo", text, sizeof text)) {
            uint64_t available = number_of(text, "MemAvailable:") * 1024 + swap; /* pages of files that are given up for others, too */
            if (available > have) have = available;
        }
        have = less(have, promised + reserve);
    }
    pthread_once(&groups_once, find_groups);
    for (int i = 0; i < group_count; i++) have = smaller(have, less(group_room(&groups[i]), promised));
    return limit ? smaller(have, less(limit, resident + promised)) : have;
}

bool base_headroom_look(size_t bytes, uint64_t limit)
{
    uint64_t have = room(bytes, limit);
#ifdef __GLIBC__
    if (have < bytes) { /* what was freed and kept for the next blocks is given back */
        malloc_trim(0);
        have = room(bytes, limit);
    }
#endif
    uint64_t step = smaller(have / 8, MOST_STEP);
    atomic_store_explicit(&base_headroom_left, (long long)(step > LEAST_STEP ? step : LEAST_STEP), memory_order_relaxed);
    return have >= bytes;
}
