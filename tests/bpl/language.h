/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Tables of statements and what they show: "!KIND" and perhaps a part of the message for an error, "" for nothing. */
#ifndef TESTS_BPL_LANGUAGE_H
#define TESTS_BPL_LANGUAGE_H

#include "bpl/world.h"

typedef struct shown {
    const char *text, *shows;
} shown;

/* What a session wrote by ⎕←. */
typedef struct written {
    char text[4096];
    size_t length;
} written;

static inline void write_down(void *user, const char *text, size_t length)
{
    written *all = user;
    if (all->length + length >= sizeof all->text) length = sizeof all->text - 1 - all->length;
    memcpy(all->text + all->length, text, length);
    all->length += length;
    all->text[all->length] = 0;
}

static inline void check_shown(const char *text, const char *expected, bool good, const wg_bpl_outcome *outcome)
{
    if (*expected != '!') {
        if (!good) fail_msg("%s: %s", text, outcome->report);
        if (strcmp(outcome->display, expected)) fail_msg("%s shows\n%s\nnot\n%s", text, outcome->display, expected);
        return;
    }
    size_t kind = strcspn(expected + 1, " ");
    const char *message = expected + 1 + kind + (expected[1 + kind] == ' ');
    if (good) fail_msg("%s shows %s instead of failing", text, outcome->display);
    if (strlen(outcome->kind) != kind || strncmp(outcome->kind, expected + 1, kind)) fail_msg("%s: %s", text, outcome->report);
    if (!strstr(outcome->message, message)) fail_msg("%s fails with: %s", text, outcome->message);
}

/* Each in a session of its own, at whose end nothing is held. */
static inline void check_all(const shown *lines, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bpl_world w;
        wg_bpl_outcome outcome;
        bpl_world_open(&w);
        bool good = wg_bpl_run(w.bpl, NULL, lines[i].text, strlen(lines[i].text), &outcome);
        check_shown(lines[i].text, lines[i].shows, good, &outcome);
        bpl_world_close(&w);
    }
}
#define CHECK_ALL(lines) check_all((lines), sizeof(lines) / sizeof *(lines))

/* One after the other in one session. */
static inline void check_session(bpl_world *w, const shown *lines, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        wg_bpl_outcome outcome;
        bool good = wg_bpl_run(w->bpl, NULL, lines[i].text, strlen(lines[i].text), &outcome);
        check_shown(lines[i].text, lines[i].shows, good, &outcome);
    }
}
#define CHECK_SESSION(w, lines) check_session((w), (lines), sizeof(lines) / sizeof *(lines))

#endif
