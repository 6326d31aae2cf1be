/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Weights packed once: what stages say can be packed of parameters that they alone read (exec_stage.pack), for runs of any session of the
 * plan with the same parameters. */
#include <string.h>

#include "base/tensor.h"
#include "exec/session.h"
#include "graph/feeds.h"
#include "graph/parameters.h"

struct wg_prepared {
    atomic_uint references;
    wg_plan *plan;
    const wg_allocator *allocator;
    const wg_parameters *table; /* NULL: the initial payloads */
    uint64_t stamp;
    uint32_t parameter_count;
    wg_tensor **payloads; /* [parameter_count] of the table when it was read: references, so that no other has its address */
    uint32_t *nodes;      /* [parameter_count] whose */
    exec_packed *packed;  /* [stage count] */
    int64_t bytes;
};

static bool take_payloads(wg_prepared *prepared, wg_session *session, wg_error *error)
{
    for (uint32_t i = 0; i < session->parameter_count && prepared->table; i++) {
        const exec_parameter *parameter = &session->parameters[i];
        wg_tensor *payload = graph_parameter_payload(prepared->plan->graph, prepared->table, parameter->node, parameter->shape, error);
        if (!payload) return false;
        prepared->payloads[i] = wg_tensor_retain(payload);
        prepared->nodes[i] = parameter->node;
    }
    return true;
}

static bool pack_stages(wg_prepared *prepared, wg_session *session, exec_run *run, wg_error *error)
{
    for (uint32_t s = 0; s < prepared->plan->stage_count; s++) {
        const exec_stage *stage = &session->laid.stages[s];
        if (!stage->pack) continue;
        exec_packed *packed = &prepared->packed[s];
        packed->bytes = stage->packed_bytes;
        packed->items = base_allocate_aligned(prepared->allocator, (size_t)packed->bytes);
        if (!packed->items) return base_fail_memory(error);
        prepared->bytes += packed->bytes;
        stage->pack(run, stage, packed);
    }
    return true;
}

static bool fill(wg_prepared *prepared, wg_session *session, wg_error *error)
{
    wg_plan *plan = prepared->plan;
    prepared->parameter_count = session->parameter_count;
    prepared->payloads = base_allocate_zeroed(prepared->allocator, (session->parameter_count + 1) * sizeof *prepared->payloads);
    prepared->nodes = base_allocate_zeroed(prepared->allocator, (session->parameter_count + 1) * sizeof *prepared->nodes);
    prepared->packed = base_allocate_zeroed(prepared->allocator, (plan->stage_count + 1) * sizeof *prepared->packed);
    if (!prepared->payloads || !prepared->nodes || !prepared->packed) return base_fail_memory(error);
    if (!take_payloads(prepared, session, error)) return false;
    exec_run run = exec_session_run(session);
    return exec_sources_parameters(session, prepared->table, error) && pack_stages(prepared, session, &run, error);
}

wg_prepared *wg_prepared_new(wg_plan *plan, const wg_parameters *parameters, wg_error *error)
{
    if (!plan) return base_fail(error, WG_ARGUMENT, "weights are prepared for a plan"), NULL;
    /* a session's stages and sources, without an arena: nothing is run */
    wg_session *session = wg_session_new(plan, &(wg_session_options){.size = sizeof(wg_session_options), .arena_lent = true}, error);
    wg_prepared *prepared = session ? base_allocate_zeroed(plan->allocator, sizeof *prepared) : NULL;
    if (session && !prepared) base_fail_memory(error);
    if (prepared) {
        atomic_init(&prepared->references, 1);
        prepared->plan = wg_plan_retain(plan);
        prepared->allocator = plan->allocator;
        prepared->table = parameters;
        prepared->stamp = parameters ? parameters->stamp : 0;
        atomic_uint *readers = parameters ? &((wg_parameters *)parameters)->readers : NULL;
        if (readers) atomic_fetch_add(readers, 1);
        if (!fill(prepared, session, error)) wg_prepared_release(&prepared);
        if (readers) atomic_fetch_sub(readers, 1);
    }
    wg_session_free(&session);
    return prepared;
}

wg_prepared *wg_prepared_retain(wg_prepared *prepared)
{
    if (prepared) atomic_fetch_add(&prepared->references, 1);
    return prepared;
}

void wg_prepared_release(wg_prepared **handle)
{
    if (!handle || !*handle) return;
    wg_prepared *prepared = *handle;
    *handle = NULL;
    if (atomic_fetch_sub(&prepared->references, 1) != 1) return;
    const wg_allocator *allocator = prepared->allocator;
    wg_plan *plan = prepared->plan;
    for (uint32_t i = 0; prepared->payloads && i < prepared->parameter_count; i++) wg_tensor_release(prepared->payloads[i]);
    for (uint32_t s = 0; prepared->packed && s < plan->stage_count; s++)
        base_free_aligned(allocator, prepared->packed[s].items, (size_t)prepared->packed[s].bytes);
    base_free(allocator, prepared->payloads, (prepared->parameter_count + 1) * sizeof *prepared->payloads);
    base_free(allocator, prepared->nodes, (prepared->parameter_count + 1) * sizeof *prepared->nodes);
    base_free(allocator, prepared->packed, (plan->stage_count + 1) * sizeof *prepared->packed);
    base_free(allocator, prepared, sizeof *prepared);
    wg_plan_release(&plan);
}

int64_t wg_prepared_bytes(const wg_prepared *prepared) { return prepared ? prepared->bytes : 0; }

bool wg_session_prepare(wg_session *session, wg_prepared *prepared, wg_error *error)
{
    if (!exec_session_enter(session, error)) return false;
    bool good = !prepared || prepared->plan == session->plan || base_fail(error, WG_ARGUMENT, "the weights were prepared for another plan");
    if (good) {
        wg_prepared *before = session->prepared;
        session->prepared = wg_prepared_retain(prepared);
        wg_prepared_release(&before);
    }
    exec_session_leave(session);
    return good;
}

bool exec_prepared_begin(const wg_session *session, const wg_parameters *table, const exec_packed **packed, wg_error *error)
{
    const wg_prepared *prepared = session->prepared;
    *packed = NULL;
    if (!prepared) return true;
    bool same = table == prepared->table && (!table || table->stamp == prepared->stamp);
    for (uint32_t i = 0; same && table && i < prepared->parameter_count; i++)
        same = prepared->payloads[i] ==
               graph_parameter_payload(session->plan->graph, table, prepared->nodes[i], session->parameters[i].shape, error);
    if (!same)
        return base_fail(error, WG_PARAMETERS,
                         "the session's weights were prepared from other parameters, or these have changed since: prepare them again");
    *packed = prepared->packed;
    return true;
}
