/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * wengert version: what this build is, and which optional parts it has. */
#include <string.h>

#include "base/fma.h"
#include "base/json.h"
#include "base/lapack.h"
#include "exec/kernels.h"
#include "tools/tools.h"

typedef struct part {
    const char *name;
    bool here;
    const char *how; /* to get it */
    bool (*opens)(void); /* of a part that is looked for at run time; NULL: `here` says it */
} part;

static const part parts[] = {
#ifdef HAVE_ZLIB
    {"gzip", true, "", NULL},
#else
    {"gzip", false, "install zlib1g-dev and build again", NULL},
#endif
#ifdef HAVE_PNG
    {"png", true, "", NULL},
#else
    {"png", false, "install libpng-dev and build again", NULL},
#endif
#ifdef HAVE_JPEG
    {"jpeg", true, "", NULL},
#else
    {"jpeg", false, "install libjpeg-dev and build again", NULL},
#endif
#ifdef HAVE_LIBEDIT
    {"libedit", true, "", NULL},
#else
    {"libedit", false, "install libedit-dev and build again, to edit lines at the prompt of bpl", NULL},
#endif
    {"lapacke", false, "install " BASE_LAPACK_PACKAGE " for the rows of dense algebra", base_lapack_is_here},
};

#define PARTS (sizeof parts / sizeof *parts)

static bool is_here(const part *of)
{
    return of->opens ? of->opens() : of->here;
}

static void print_json(const char *level, unsigned threads)
{
    printf("{\"wengert\": 1, \"version\": \"%s\", \"semantics\": %d, \"licence\": \"Apache-2.0 OR MIT\", \"simd\": \"%s\", \"fma\": \"%s\", \"threads\": %u, \"parts\": {", WENGERT_VERSION, WG_SEMANTICS,
           level, base_has_fma() ? "processor" : "software", threads);
    for (size_t i = 0; i < PARTS; i++) printf("%s\"%s\": %s", i ? ", " : "", parts[i].name, is_here(&parts[i]) ? "true" : "false");
    fputs("}, \"blas\": ", stdout);
    const char *blas = base_lapack_blas();
    base_string text = base_string_new(tool_allocator());
    if (blas) base_json_put_string(&text, blas, strlen(blas));
    printf("%s}\n", blas && !text.failed ? text.text : "null");
    base_string_free(&text);
}

int verb_version(const tool_call *call)
{
    const wg_context *context = base_context(NULL);
    const char *level = exec_kernels_for(context->simd[0] ? context->simd : NULL)->name;
    if (call->json) {
        print_json(level, context->threads);
        return TOOL_DONE;
    }
    printf("wengert %s, semantics %d, licence Apache-2.0 OR MIT\nkernels %s%s, %u thread%s\n", WENGERT_VERSION, WG_SEMANTICS, level,
           base_has_fma() ? "" : ", fma in software (this processor has none)", context->threads, context->threads == 1 ? "" : "s");
    for (size_t i = 0; i < PARTS; i++) {
        bool here = is_here(&parts[i]);
        const char *blas = here && parts[i].opens == base_lapack_is_here ? base_lapack_blas() : NULL;
        printf("%-7s %s%s%s%s\n", parts[i].name, here ? "yes" : "off: ", here ? "" : parts[i].how, blas ? ", with the BLAS in " : "",
               blas ? blas : "");
    }
    return TOOL_DONE;
}
