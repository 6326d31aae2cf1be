/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Any bytes as a program. What must hold: no crash, no leak, memory within a budget; a failure has a code, a message and a place; what
 * parses prints a text that parses to the same text, and passes the verifier. */
#include <string.h>

#include "budget.h"
#include "wengert/text.h"

static void check_network(wg_context *context, wg_network *network)
{
    wg_error error;
    wg_error_clear(&error);
    demand(wg_network_verify(network, &error) || error.code == WG_MEMORY);
    char *text = wg_text_print(network, NULL);
    if (!text) return; /* beyond the budget */
    wg_error_clear(&error);
    wg_network *again = wg_text_parse(context, text, strlen(text), "printed", NULL, &error);
    demand(again || error.code == WG_MEMORY);
    char *twice = again ? wg_text_print(again, NULL) : NULL;
    demand(!twice || !strcmp(text, twice));
    wg_text_free(text);
    wg_text_free(twice);
    wg_network_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    budget b = {0};
    wg_context *context = budget_context(&b);
    wg_error error;
    wg_error_clear(&error);
    wg_network *network = wg_text_parse(context, (const char *)bytes, length, "fuzz.wg", NULL, &error);
    if (network) check_network(context, network);
    else {
        demand_error(&error);
        demand(error.line > 0 || error.code == WG_MEMORY);
    }
    wg_network_release(&network);
    wg_context_free(context);
    demand(b.used == 0);
    return 0;
}
