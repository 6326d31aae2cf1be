/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The command: finds the verb, reads its options, answers help and wrong usage. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/tools.h"

static const tool_option options[] = {
#define OPTION(name, value, repeats, help) {name, value, repeats, help},
#include "tools/options.def"
};

static const tool_verb verbs[] = {
#define VERB(name, function, usage, least, most, options, summary, example) {name, function, usage, least, most, options, summary, example},
#include "tools/verbs.def"
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

const wg_allocator *tool_allocator(void)
{
    return base_allocator(NULL);
}

/* ---- options ---- */

static const tool_option *find_option(const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT(options); i++)
        if (strlen(options[i].name) == length && !memcmp(options[i].name, name, length)) return &options[i];
    return NULL;
}

/* Whether a list of words separated by spaces holds a word. */
static bool lists(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == 0 || at[length] == ' ')) return true;
    return false;
}

const char *tool_value_at(const tool_call *call, const char *name, uint32_t index)
{
    for (uint32_t i = 0; i < call->given_count; i++)
        if (!strcmp(call->given[i].option->name, name) && index-- == 0) return call->given[i].value ? call->given[i].value : "";
    return NULL;
}

const char *tool_value(const tool_call *call, const char *name)
{
    const char *last = NULL, *value;
    for (uint32_t i = 0; (value = tool_value_at(call, name, i)); i++) last = value;
    return last;
}

bool tool_integer(const tool_call *call, const char *name, int64_t low, int64_t high, int64_t fallback, int64_t *number)
{
    const char *value = tool_value(call, name);
    *number = fallback;
    if (!value) return true;
    if (base_parse_integer(value, strlen(value), number) == strlen(value) && *number >= low && *number <= high && *value) return true;
    tool_usage(call, "--%s needs a whole number from %lld to %lld, not '%s'", name, (long long)low, (long long)high, value);
    return false;
}

bool tool_real(const tool_call *call, const char *name, double low, double high, double fallback, double *number)
{
    const char *value = tool_value(call, name);
    *number = fallback;
    if (!value) return true;
    if (*value && base_parse_float(value, strlen(value), WG_KIND_F64, number) == strlen(value) && *number >= low && *number <= high) return true;
    tool_usage(call, "--%s needs a number from %g to %g, not '%s'", name, low, high, value);
    return false;
}

bool tool_bytes(const tool_call *call, const char *name, int64_t *bytes)
{
    static const char units[] = "KMGT";
    const char *value = tool_value(call, name);
    *bytes = 0;
    if (!value) return true;
    size_t length = strlen(value), digits = base_parse_integer(value, length, bytes);
    const char *unit = digits && digits + 1 == length ? strchr(units, value[digits]) : NULL;
    bool good = digits && (unit || digits == length) && *bytes > 0;
    for (const char *at = units; good && unit && at <= unit; at++) good = base_multiply(*bytes, 1024, bytes);
    if (!good) tool_usage(call, "--%s needs bytes, as 4096, 64K, 64M or 2G, not '%s'", name, value);
    return good;
}

int tool_usage(const tool_call *call, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "wengert %s: %s", call->verb->name, text);
    /* A question is its own advice. */
    if (*text && text[strlen(text) - 1] == '?') fputs("\n", stderr);
    else fprintf(stderr, "; see wengert %s --help\n", call->verb->name);
    return TOOL_USAGE;
}

/* ---- help ---- */

static void print_verbs(FILE *out)
{
    fputs("wengert: one graph, many readings\n\nusage: wengert VERB ...\n\n", out);
    for (size_t i = 0; i < COUNT(verbs); i++)
        if (!strchr(verbs[i].name, ' ')) fprintf(out, "  %-10s %s\n", verbs[i].name, verbs[i].summary);
    fputs("  model ...  language models: wengert model --help lists what there is\n", out);
    fputs("\nwengert VERB --help tells more. A MODEL is a program text (.wg, or - for stdin) or a trained model (.safetensors).\n", out);
}

#define HELP_INDENT 25
#define HELP_WIDTH 100

/* Words behind a column of HELP_INDENT characters, lines broken at HELP_WIDTH. */
static void print_wrapped(const char *text)
{
    int column = HELP_INDENT;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column > HELP_INDENT && column + 1 + length > HELP_WIDTH) {
            printf("\n%*s", HELP_INDENT, "");
            column = HELP_INDENT;
        } else if (column > HELP_INDENT) {
            putchar(' ');
            column++;
        }
        printf("%.*s", length, text);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
}

static void print_help(const tool_verb *verb)
{
    printf("wengert %s: %s\n\nusage: wengert %s%s%s\n\n", verb->name, verb->summary, verb->name, verb->usage[0] ? " " : "", verb->usage);
    for (size_t i = 0; i < COUNT(options); i++) {
        if (!lists(verb->options, options[i].name)) continue;
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", options[i].name, options[i].value ? " " : "", options[i].value ? options[i].value : "");
        char help[512];
        snprintf(help, sizeof help, "%s%s", options[i].help, options[i].repeats ? " (may be repeated)" : "");
        printf("  %-22s ", left);
        print_wrapped(help);
        putchar('\n');
    }
    printf("\nexample:\n  %s\n", verb->example);
}

/* ---- the call ---- */

/* Edits between two words (Levenshtein 1966), words of up to 31 characters. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[33];
    size_t n = strlen(b);
    if (n > 32 || strlen(a) > 32) return 100;
    for (size_t j = 0; j <= n; j++) row[j] = (unsigned)j;
    for (size_t i = 1; a[i - 1]; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= n; j++) {
            unsigned above = row[j], best = diagonal + (a[i - 1] != b[j - 1]);
            if (above + 1 < best) best = above + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = above;
            row[j] = best;
        }
    }
    return row[n];
}

static int unknown_option(const tool_call *call, const char *name)
{
    const char *nearest = NULL;
    unsigned least = 3;
    for (size_t i = 0; i < COUNT(options); i++)
        if (lists(call->verb->options, options[i].name) && distance(name, options[i].name) < least) {
            least = distance(name, options[i].name);
            nearest = options[i].name;
        }
    if (nearest) return tool_usage(call, "there is no --%s here; did you mean --%s?", name, nearest);
    return tool_usage(call, "there is no --%s here", name);
}

/* Whether an option's value is a place of the file system: an empty one is a variable that was not set. */
static bool names_place(const char *value)
{
    return lists("FILE PATH DIR MODEL", value);
}

/* One `--name`, `--name=value` or `--name value`; how many arguments it took, 0: printed. */
static int read_option(tool_call *call, int left, char **arguments)
{
    const char *name = arguments[0] + 2, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const tool_option *option = find_option(name, length);
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    if (!option || !lists(call->verb->options, option->name)) return unknown_option(call, word), 0;
    tool_given given = {option, equals ? equals + 1 : NULL};
    if (!option->value && equals) return tool_usage(call, "--%s takes no value", word), 0;
    if (option->value && !equals) {
        if (left < 2) return tool_usage(call, "--%s needs %s", word, option->value), 0;
        given.value = arguments[1];
    }
    if (option->value && !*given.value && names_place(option->value)) return tool_usage(call, "--%s needs %s, and it is empty", word, option->value), 0;
    if (!option->repeats && tool_value(call, option->name)) return tool_usage(call, "--%s stands twice", word), 0;
    call->given[call->given_count++] = given;
    return option->value && !equals ? 2 : 1;
}

/* -1: the call is read; else the exit code. */
static int read_call(tool_call *call, int count, char **arguments)
{
    bool only_words = false;
    for (int i = 0; i < count;) {
        const char *argument = arguments[i];
        if (!only_words && !strcmp(argument, "--")) {
            only_words = true;
            i++;
        } else if (!only_words && (!strcmp(argument, "--help") || !strcmp(argument, "-h"))) {
            print_help(call->verb);
            return TOOL_DONE;
        } else if (!only_words && !strcmp(argument, "-e") && lists(call->verb->options, "expression")) {
            if (i + 1 == count) return tool_usage(call, "-e needs TEXT");
            call->given[call->given_count++] = (tool_given){find_option("expression", strlen("expression")), arguments[i + 1]};
            only_words = true;
            i += 2;
        } else if (!only_words && argument[0] == '-' && argument[1] == '-') {
            int taken = read_option(call, count - i, arguments + i);
            if (!taken) return TOOL_USAGE;
            only_words = call->verb->most == TOOL_ANY && tool_value(call, "expression");
            i += taken;
        } else if (!only_words && argument[0] == '-' && argument[1]) {
            return tool_usage(call, "there is no %s; options begin with two dashes", argument);
        } else {
            call->words[call->word_count++] = argument;
            only_words = only_words || call->verb->most == TOOL_ANY;
            i++;
        }
    }
    call->json = tool_value(call, "json") != NULL;
    if (call->word_count < call->verb->least || call->word_count > call->verb->most)
        return tool_usage(call, "usage: wengert %s%s%s", call->verb->name, call->verb->usage[0] ? " " : "", call->verb->usage);
    return -1;
}

/* The library reads its thread count from a default context's environment. */
static int set_threads(const tool_call *call)
{
    int64_t threads;
    if (!tool_integer(call, "threads", 1, 1024, 0, &threads)) return TOOL_USAGE;
    if (threads) {
        char text[16];
        snprintf(text, sizeof text, "%lld", (long long)threads);
        setenv("WENGERT_THREADS", text, 1);
    }
    wg_error error = {.code = WG_OK};
    wg_context *told = wg_context_new(NULL, &error); /* the default context stands without what was wrong in the environment */
    if (!told) return error.code == WG_MEMORY ? tool_fail(call, &error) : tool_usage(call, "%s", error.message);
    wg_context_free(told);
    wg_context_default()->spin = true; /* the command has the machine to itself while it runs */
    return -1;
}

static void warn_environment(void)
{
    extern char **environ;
    static const char *const known[] = {"WENGERT_THREADS=", "WENGERT_SIMD=", "WENGERT_MEMORY=", "WENGERT_EXPLAIN=", "WENGERT_OFFLINE="};
    for (char **variable = environ; *variable; variable++) {
        if (strncmp(*variable, "WENGERT_", 8)) continue;
        bool is_known = false;
        for (size_t i = 0; i < COUNT(known); i++) is_known = is_known || !strncmp(*variable, known[i], strlen(known[i]));
        if (!is_known) fprintf(stderr, "wengert: the environment's %.*s is not known and has no effect\n", (int)strcspn(*variable, "="), *variable);
    }
}

static int run_verb(const tool_verb *verb, int count, char **arguments)
{
    tool_call call = {.verb = verb};
    size_t room = (size_t)count + 1;
    call.words = calloc(room, sizeof *call.words);
    call.given = calloc(room, sizeof *call.given);
    int code = TOOL_FAILED;
    if (!call.words || !call.given) fputs("wengert: out of memory\n", stderr);
    else {
        code = read_call(&call, count, arguments);
        if (code < 0) code = set_threads(&call);
        if (code < 0) code = verb->run(&call);
        int flushed = tool_finish(&call);
        if (code == TOOL_DONE) code = flushed;
    }
    free(call.words);
    free(call.given);
    return code;
}

/* The verb that arguments begin with, of one word or two ("model author"); how many words in *taken. */
static const tool_verb *find_verb(int count, char **arguments, int *taken)
{
    for (size_t i = 0; i < COUNT(verbs) && count; i++) {
        const char *space = strchr(verbs[i].name, ' ');
        size_t first = space ? (size_t)(space - verbs[i].name) : strlen(verbs[i].name);
        if (strlen(arguments[0]) != first || memcmp(arguments[0], verbs[i].name, first)) continue;
        if (space && (count < 2 || strcmp(arguments[1], space + 1))) continue;
        *taken = space ? 2 : 1;
        return &verbs[i];
    }
    return NULL;
}

/* Verbs of two words that share their first one: their lines. */
static bool print_family(const char *name, FILE *out)
{
    bool any = false;
    size_t length = strlen(name);
    for (size_t i = 0; i < COUNT(verbs); i++) {
        if (strncmp(verbs[i].name, name, length) || verbs[i].name[length] != ' ') continue;
        if (!any) fprintf(out, "usage: wengert %s VERB ...\n\n", name);
        any = true;
        fprintf(out, "  %-20s %s\n", verbs[i].name, verbs[i].summary);
    }
    if (any) fprintf(out, "\nwengert %s VERB --help tells more.\n", name);
    return any;
}

static int unknown_verb(int count, char **arguments)
{
    char name[64];
    const char *nearest = NULL;
    unsigned least = 3;
    if (count == 1 && print_family(arguments[0], stderr)) return TOOL_USAGE;
    bool family = count > 1 && !strcmp(arguments[0], "model");
    snprintf(name, sizeof name, family ? "%s %s" : "%s", arguments[0], family ? arguments[1] : "");
    for (size_t i = 0; i < COUNT(verbs); i++)
        if (distance(name, verbs[i].name) < least) {
            least = distance(name, verbs[i].name);
            nearest = verbs[i].name;
        }
    if (distance(name, "model") < least) nearest = "model";
    fprintf(stderr, "wengert: there is no verb %s", name);
    if (nearest) fprintf(stderr, "; did you mean %s?", nearest);
    fputs(nearest ? "\n" : family ? "; see wengert model --help\n" : "; see wengert --help\n", stderr);
    return TOOL_USAGE;
}

/* `wengert help VERB` is `wengert VERB --help`. */
static int help(int count, char **arguments)
{
    int taken;
    const tool_verb *verb = find_verb(count, arguments, &taken);
    if (count == 1 && !verb && print_family(arguments[0], stdout)) return tool_finish(NULL);
    if (count && !verb) return unknown_verb(count, arguments);
    if (verb) print_help(verb);
    else print_verbs(stdout);
    return tool_finish(NULL);
}

/* Where the caller closed a standard file, the first file that is opened would take its number, and messages would go into it. The device that
 * takes the number instead is opened the wrong way, so that using it is an error still. */
static void hold_standard_files(void)
{
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
        if (fcntl(file, F_GETFD) < 0 && open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
}

int main(int count, char **arguments)
{
    hold_standard_files();
    if (count < 2) {
        print_verbs(stderr);
        return TOOL_USAGE;
    }
    const char *name = arguments[1];
    if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) return help(count - 2, arguments + 2);
    if (!strcmp(name, "--version")) arguments[1] = "version";
    if (!strcmp(name, "repl")) arguments[1] = "bpl"; /* its other name */
    warn_environment();
    int taken;
    if (count == 3 && (!strcmp(arguments[2], "--help") || !strcmp(arguments[2], "-h")) && print_family(name, stdout)) return tool_finish(NULL);
    const tool_verb *verb = find_verb(count - 1, arguments + 1, &taken);
    return verb ? run_verb(verb, count - 1 - taken, arguments + 1 + taken) : unknown_verb(count - 1, arguments + 1);
}
