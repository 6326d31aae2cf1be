/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * tools/: the command `wengert`. May use every room; nothing uses it.
 *
 *   the call     main.c (verbs.def, options.def, --help), report_error.c (a wg_error as text or JSON, exit codes)
 *   the model    model.c (a .wg text or a trained model), value.c (feeds and results), literal.c (JSON), carried.c (carried values in a model), bits.c (comparing)
 *   the verbs    verb_*.c, one file a verb or a family of small ones
 *   the data     dataset.c (which reader), gzip.c, zip.c, folder.c (pictures by class), picture.c (PNG, JPEG)
 *   training     settings.c (options), batches.c (shuffled rows), runner.c (a session), training.c, training_loop.c, training_fault.c (which node), evaluation.c,
 *                progress.c (the line on a terminal, --log)
 *   the report   page.c (HTML), chart.c (SVG), samples.c and verdicts.c (pictures, probabilities, the confusion matrix)
 *
 * Exit codes: 0 done; 1 failed, or differs; 2 wrong usage; 130 interrupted. Start with main.c. */
#ifndef TOOLS_TOOLS_H
#define TOOLS_TOOLS_H

#include <stdio.h>

#include "base/base.h"
#include "wengert/wengert.h"

#define TOOL_ANY UINT32_MAX

enum { TOOL_DONE = 0, TOOL_FAILED = 1, TOOL_USAGE = 2, TOOL_INTERRUPTED = 130 };

typedef struct tool_option {
    const char *name;  /* without the dashes */
    const char *value; /* what its value is called in help; NULL: a switch */
    bool repeats;
    const char *help;
} tool_option;

typedef struct tool_given {
    const tool_option *option;
    const char *value; /* NULL for a switch */
} tool_given;

/* The words of a call after the verb. */
typedef struct tool_call {
    const struct tool_verb *verb;
    const char **words; /* what is no option */
    uint32_t word_count;
    tool_given *given;
    uint32_t given_count;
    bool json; /* --json */
} tool_call;

typedef struct tool_verb {
    const char *name;
    int (*run)(const tool_call *call);
    const char *usage;   /* after `wengert NAME` */
    uint32_t least, most; /* words; TOOL_ANY: the first one, or an expression, ends the options, and the rest is a program's own */
    const char *options; /* names that it takes, separated by spaces */
    const char *summary;
    const char *example;
} tool_verb;

/* ---- main.c ---- */

/* The value of an option (the last one given), NULL when it was not. A switch answers "". */
const char *tool_value(const tool_call *call, const char *name);
/* The index-th value of an option that repeats; NULL beyond. */
const char *tool_value_at(const tool_call *call, const char *name, uint32_t index);
/* The value as a number within [low, high]; fallback where not given. False: printed as wrong usage. */
bool tool_integer(const tool_call *call, const char *name, int64_t low, int64_t high, int64_t fallback, int64_t *number);
bool tool_real(const tool_call *call, const char *name, double low, double high, double fallback, double *number);
/* Bytes, as 4096, 64K, 64M or 2G; 0 where the option was not given. False: printed as wrong usage. */
bool tool_bytes(const tool_call *call, const char *name, int64_t *bytes);
/* Prints `wengert VERB: what` and where help is; answers TOOL_USAGE. */
int tool_usage(const tool_call *call, const char *format, ...) BASE_PRINTF(2, 3);
/* The allocator and context of the command. */
const wg_allocator *tool_allocator(void);

/* ---- report_error.c ---- */

/* Prints the error on stderr, as text or, with --json, as an object; answers its exit code. */
int tool_fail(const tool_call *call, const wg_error *error);
/* stdout is written out whole, or an error is printed. A closed pipe is quiet. */
int tool_finish(const tool_call *call);
/* Behind a getline() that answered -1: standard input ended, or an error is printed, since it says the same of what it cannot read or hold. */
int tool_input_end(const tool_call *call);

/* ---- model.c ---- */

typedef struct tool_model {
    wg_network *network;
    wg_parameters *parameters; /* from the bundle, from --weights, or the program's initial payloads */
    wg_checkpoint checkpoint;  /* what a bundle held; its network and parameters are those above */
    bool is_checkpoint;
    char *text; /* the source, so that messages can show lines; may be NULL */
} tool_model;

/* Opens a .wg text, a .safetensors bundle or, for "-", a text from stdin; --weights F fills the parameters. */
bool tool_model_open(const tool_call *call, const char *path, tool_model *model, wg_error *error);
void tool_model_close(tool_model *model);
/* The entry that --entry names; where it is not given, the only one there is. With no entries and no --entry: the last node as root. */
wg_entry *tool_model_entry(const tool_call *call, const tool_model *model, wg_error *error);
/* The extents of --extent NAME=N ...: count and bindings [count], owned by the call's end. False: printed or in error. */
bool tool_bindings(const tool_call *call, const wg_binding **bindings, uint32_t *count, wg_error *error);

/* ---- value.c ---- */

/* The VALUE of `name` as an owned tensor: a .npy .png .jpg .jpeg file by suffix, a JSON literal, or any file that --data takes. kind and shape [rank] are those wanted
 * (shape NULL: any): literals take the kind, items of files are converted where each fits; extents of 1 may be missing or extra. */
wg_tensor *tool_value_read(const char *name, const char *value, wg_kind kind, uint32_t rank, const int64_t *shape, wg_error *error);
/* Fails: no input is called so, and which there are. */
bool tool_no_input(const wg_network *network, const char *option, const char *name, wg_error *error);
/* The feeds of --feed NAME=VALUE ... for an entry under bindings. Freed by tool_feeds_free. */
typedef struct tool_feeds {
    wg_feed *feeds;
    wg_tensor **tensors;
    uint32_t count;
} tool_feeds;
bool tool_feeds_read(const tool_call *call, const wg_network *network, const wg_binding *bindings, uint32_t binding_count, tool_feeds *feeds, wg_error *error);
void tool_feeds_free(tool_feeds *feeds);
/* One line for people: kind, shape and the first items. */
void tool_put_brief(base_string *text, const char *name, const wg_view *view);
/* What a result is called: its node's name, or tN. text has at least 16 bytes. */
const char *tool_result_name(const wg_network *network, wg_symbol symbol, char *text);
/* The node that a word of the command line means: the one with that name, or for tN, as the text prints unnamed nodes, node N where it has no name. WG_NONE: neither. */
wg_symbol tool_symbol_called(const wg_network *network, const char *word);
/* The nodes that --option names, separated by commas, at most `most`; none where list is NULL. WG_NAME for a word that is no node. */
bool tool_symbols_read(const char *option, const char *list, const wg_network *network, wg_symbol *symbols, uint32_t most, uint32_t *count, wg_error *error);

/* ---- verb_show.c ---- */

/* A pattern as a JSON object. */
void tool_put_pattern(base_string *text, const wg_pattern *pattern);

/* ---- the verbs ---- */

#define VERB(name, function, ...) int function(const tool_call *call);
#include "tools/verbs.def"

#endif
