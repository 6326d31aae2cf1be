/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Runs examples/recurrence.wg: the state of one run is carried into the next by the session, and can be looked at, put back and forgotten.
 *
 *   cc -std=c11 examples/recurrence.c -lwengert -o recurrence && ./recurrence examples/recurrence.wg */
#include <stdio.h>
#include <stdlib.h>

#include "wengert/wengert.h"

static wg_network *read_program(const char *path, wg_error *error)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 16);
    size_t length = file && text ? fread(text, 1, (1 << 16) - 1, file) : 0;
    wg_network *network = wg_text_parse(NULL, text ? text : "", length, path, NULL, error);
    if (file) fclose(file);
    free(text);
    return network;
}

/* One step of the session with one pair of numbers. */
static bool step(wg_session *session, wg_symbol input, wg_symbol chances, float a, float b, wg_error *error)
{
    float pair[] = {a, b};
    wg_feed feed = {input, {pair, WG_KIND_F32, 2, (int64_t[]){1, 2}, NULL}};
    wg_view view;
    if (!wg_session_run(session, &(wg_run_options){.size = sizeof(wg_run_options), .feeds = &feed, .feed_count = 1}, error)) return false;
    if (!wg_session_read(session, chances, &view, error)) return false;
    const float *p = view.data;
    printf("%g %g gives %.4f %.4f %.4f %.4f\n", a, b, p[0], p[1], p[2], p[3]);
    return true;
}

int main(int count, char **arguments)
{
    wg_error error = {.code = WG_OK};
    wg_network *network = read_program(count > 1 ? arguments[1] : "examples/recurrence.wg", &error);
    wg_entry *entry = network ? wg_network_entry(network, "step", &error) : NULL;
    wg_plan *plan = entry ? wg_plan_new(entry, NULL, 0, &error) : NULL;
    wg_session *session = plan ? wg_session_new(plan, NULL, &error) : NULL;
    bool good = false;
    if (session) {
        wg_symbol x = wg_network_symbol(network, "x"), chances = wg_entry_result(entry, 0);
        good = step(session, x, chances, 1, 0, &error) && step(session, x, chances, 0, 1, &error) &&
               step(session, x, chances, 1, 1, &error);
        wg_session_reset(session);
        if (good) puts("from the beginning:");
        good = good && step(session, x, chances, 1, 0, &error);
    }
    char text[2048];
    wg_error_format(&error, text, sizeof text);
    if (!good) fprintf(stderr, "%s\n", text);
    wg_session_free(&session);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&network);
    return good ? 0 : 1;
}
