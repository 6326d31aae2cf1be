/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * •signal •time •delay: errors of one's own, and clocks. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "bpl/evaluate.h"
#include "bpl/system.h"

/* ---- •signal ---------------------------------------------------------------------------------------------------------------------------------- */

/* A field of an error that was caught, as text. NULL and no error where there is none. */
static char *field_text(bpl_session *session, bpl_value *record, const char *name, size_t *length)
{
    bpl_value *item = bpl_option(session, record, name);
    char *text = NULL;
    if (item && item->type == BPL_CHARACTERS) bpl_to_text(session, item, name, &text, length);
    bpl_release(item);
    return text;
}

static bool is_word(const char *text)
{
    for (const char *at = text; *at; at++) {
        bool letter = (*at >= 'A' && *at <= 'Z') || (*at >= 'a' && *at <= 'z') || *at == '_', digit = *at >= '0' && *at <= '9';
        if (!letter && (!digit || at == text)) return false;
    }
    return *text && strlen(text) < sizeof ((bpl_error *)NULL)->kind;
}

static void signal_text(bpl_session *session, char *kind, const char *message)
{
    if (!is_word(kind)) {
        bpl_fail(session, BPL_DOMAIN, "•signal takes a kind of errors in one word, as \"DOMAIN\", or an error that was caught");
        return;
    }
    for (char *at = kind; *at; at++) *at = *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at;
    bpl_fail(session, BPL_DOMAIN, "%s", message);
    memcpy(session->error.kind, kind, strlen(kind) + 1);
}

bpl_value *bpl_system_signal(bpl_session *session, const bpl_call *call)
{
    size_t kind_length = 0, length = 0;
    char *kind = NULL, *message = NULL;
    if (call->right->type == BPL_ITEMS) {
        kind = field_text(session, call->right, "kind", &kind_length);
        if (!call->left) message = field_text(session, call->right, "message", &length);
    } else if (call->right->type == BPL_CHARACTERS && !bpl_to_text(session, call->right, "the kind of •signal", &kind, &kind_length)) {
        return NULL;
    }
    bool good = !call->left || bpl_to_text(session, call->left, "the message of •signal", &message, &length);
    if (good && !kind) bpl_fail(session, BPL_DOMAIN, "•signal takes a kind of errors as text, or an error that was caught");
    else if (good) signal_text(session, kind, message ? message : "explicitly signalled");
    if (kind) base_free(session->allocator, kind, kind_length + 1);
    if (message) base_free(session->allocator, message, length + 1);
    return NULL;
}

/* ---- •time, •delay ------------------------------------------------------------------------------------------------------------------------------ */

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The least time of a call in about 0.1 s; negative after an error. */
static double time_calls(bpl_session *session, bpl_value *function, bpl_value *argument)
{
    double begun = seconds_of(CLOCK_MONOTONIC), least = (double)INFINITY, before = begun;
    while (before - begun < 0.1) {
        bpl_value *value = bpl_apply(session, function, NULL, argument);
        bool none = !value && session->no_result;
        session->no_result = false;
        if (!value && !none) return -1;
        if (value && !bpl_force(session, value)) return bpl_release(value), -1;
        bpl_release(value);
        double now = seconds_of(CLOCK_MONOTONIC);
        if (now - before < least) least = now - before;
        before = now;
    }
    return least;
}

static bpl_value *time_functions(bpl_session *session, const bpl_call *call)
{
    bpl_value *functions = call->left;
    bool all = functions->type == BPL_ITEMS;
    for (int64_t i = 0; all && i < functions->items->volume; i++) all = bpl_is_function(functions->items->at[i]);
    if (!all) return bpl_fail(session, BPL_DOMAIN, "the left argument of •time is an array of functions");
    bpl_items *items = bpl_items_new(session, functions->items->rank, functions->items->shape);
    for (int64_t i = 0; items && i < items->volume; i++) {
        double seconds = time_calls(session, functions->items->at[i], call->right);
        items->at[i] = seconds < 0 ? NULL : bpl_float_of(session, WG_KIND_F64, seconds);
        if (items->at[i]) continue;
        bpl_items_free(session, items);
        return NULL;
    }
    return bpl_settle_keys(session, bpl_collect(session, items), bpl_keys_keep(functions->keys));
}

bpl_value *bpl_system_time(bpl_session *session, const bpl_call *call)
{
    double since;
    if (!bpl_act(session, "a clock")) return NULL;
    if (call->left) return time_functions(session, call);
    if (!bpl_to_double(session, call->right, "the argument of •time", &since)) return NULL;
    return bpl_float_of(session, WG_KIND_F64, seconds_of(CLOCK_REALTIME) - since);
}

bpl_value *bpl_system_delay(bpl_session *session, const bpl_call *call)
{
    double seconds;
    if (call->left) return bpl_fail(session, BPL_SYNTAX, "•delay takes one argument, not two");
    if (!bpl_act(session, "a clock") || !bpl_to_double(session, call->right, "the seconds of •delay", &seconds)) return NULL;
    if (!(seconds >= 0)) return bpl_fail(session, BPL_DOMAIN, "•delay waits for a number of seconds that is not negative");
    double begun = seconds_of(CLOCK_MONOTONIC), waited = 0;
    while (waited < seconds) {
        double rest = seconds - waited < 0.05 ? seconds - waited : 0.05; /* an interrupt is served within a blink */
        nanosleep(&(struct timespec){0, (long)(rest * 1e9)}, NULL);
        if (!bpl_go_on(session)) return NULL;
        waited = seconds_of(CLOCK_MONOTONIC) - begun;
    }
    session->shy = true;
    return bpl_float_of(session, WG_KIND_F64, waited);
}
