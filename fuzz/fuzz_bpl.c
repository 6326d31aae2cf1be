/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Any bytes as a program of the array language. What must hold: no crash, no leak, memory within a budget; a failure has a kind and a message;
 * what is bound prints; names of glyphs and glyphs name each other; a value that is shown has a literal that reads back, or none. A statement
 * that runs for a second is stopped. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "bpl/display.h"
#include "bpl/respell.h"
#include "budget.h"

static wg_bpl *running;

static void stop(int signal)
{
    (void)signal;
    if (running) wg_bpl_interrupt(running);
}

/* Any role for any name, the same one each time. */
static bpl_role any_role(void *user, bpl_symbol name) { return (bpl_role)((name * 2654435769u + *(uint32_t *)user) >> 16) % 5; }

static void bind_all(wg_bpl *bpl, const char *text, size_t length, uint32_t salt)
{
    bpl_source *source = bpl_source_new(bpl, "fuzz.bpl", text, length);
    for (uint32_t i = 0; source && i < source->body.count && !bpl_failed(bpl); i++) {
        const bpl_node *tree = bpl_bind(bpl, source, &source->body.statements[i], (bpl_roles){any_role, &salt, NULL});
        base_string shown = base_string_new(bpl->allocator);
        demand(tree || bpl_failed(bpl));
        if (tree) bpl_print_tree(&shown, tree);
        base_string_free(&shown);
    }
    demand(source || (bpl->error.kind[0] && bpl->error.message[0]));
    if (source) bpl_source_release(source);
    bpl_error_clear(bpl);
}

static void run(wg_bpl *bpl, const char *text, size_t length)
{
    wg_bpl_outcome outcome;
    struct itimerval second = {{0, 200000}, {1, 0}}, never = {{0, 0}, {0, 0}}; /* again and again: it may come between two statements */
    struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART}; /* it stays, unlike what signal sets */
    running = bpl;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &second, NULL);
    bool done = wg_bpl_run(bpl, "fuzz.bpl", text, length, &outcome);
    setitimer(ITIMER_REAL, &never, NULL);
    running = NULL;
    demand(done || (outcome.kind[0] && outcome.message[0] && outcome.report[0]));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    budget b = {0};
    wg_context *context = budget_context(&b);
    wg_bpl_options of_session = {.size = sizeof of_session, .context = context};
    wg_bpl *bpl = wg_bpl_new(&of_session, NULL);
    if (bpl) {
        const char *text = (const char *)bytes;
        bind_all(bpl, text, length, (uint32_t)length);
        base_string names = base_string_new(bpl->allocator);
        bpl_respell(&names, text, length, true);
        base_string_free(&names);
        if (length < 4096) run(bpl, text, length);
    }
    wg_bpl_free(&bpl);
    wg_context_free(context);
    demand(b.used == 0);
    return 0;
}
