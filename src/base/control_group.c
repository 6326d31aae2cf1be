/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define _GNU_SOURCE /* O_CLOEXEC */
#include "base/control_group.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool base_read_start(const char *path, char *text, size_t bytes)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t got = read(file, text, bytes - 1);
    close(file);
    text[got > 0 ? got : 0] = 0;
    return got > 0;
}

/* Whether a list "cpu,cpuacct" has a controller. */
static bool lists(const char *controllers, const char *controller)
{
    size_t wanted = strlen(controller);
    while (*controllers) {
        size_t length = strcspn(controllers, ",");
        if (length == wanted && memcmp(controllers, controller, length) == 0) return true;
        controllers += length + (controllers[length] == ',');
    }
    return false;
}

/* A group and the groups above it. Cuts the text of `group`. */
static void visit_upwards(const char *mount, char *group, bool second, void (*visit)(void *user, const char *directory, bool second), void *user)
{
    char directory[1024];
    for (;;) {
        if (snprintf(directory, sizeof directory, "%s%s", mount, group) < (int)sizeof directory) visit(user, directory, second);
        char *slash = strrchr(group, '/');
        if (!slash) return;
        *slash = 0;
    }
}

/* /proc/self/cgroup holds lines `number:controllers:/group`; version 2 has no controllers in its line. */
void base_control_groups(const char *controller, void (*visit)(void *user, const char *directory, bool second), void *user)
{
    char lines[4096], mount[64];
    if (!base_read_start("/proc/self/cgroup", lines, sizeof lines)) return;
    for (char *line = lines, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next) *next++ = 0;
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group) continue;
        *group++ = 0; /* ends the controllers */
        bool second = controllers[1] == 0;
        if (!second && !lists(controllers + 1, controller)) continue;
        snprintf(mount, sizeof mount, second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/%s", controller);
        visit_upwards(mount, group, second, visit, user);
    }
}
