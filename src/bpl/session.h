/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A session: names, settings, the error under way, the lazy context that computes its numbers. session.c. */
#ifndef BPL_SESSION_H
#define BPL_SESSION_H

#include <pthread.h>
#include <stdatomic.h>

#include "bpl/call.h"
#include "wengert/bpl.h"

typedef enum bpl_error_kind {
#define KIND(ID, ...) BPL_##ID,
#include "bpl/error_kinds.def"
    BPL_ERROR_KINDS
} bpl_error_kind;

/* The symbols that every session begins with, in this order (wg_bpl_new interns them first). */
enum {
    BPL_SYMBOL_ALPHA = 1,   /* ⍺ */
    BPL_SYMBOL_OMEGA,       /* ⍵ */
    BPL_SYMBOL_LEFT,        /* ⍶ */
    BPL_SYMBOL_RIGHT,       /* ⍹ */
    BPL_SYMBOL_SELF,        /* ∇ */
    BPL_SYMBOL_OPERATOR,    /* ⍢ */
    BPL_SYMBOL_QUAD,        /* ⎕ */
    BPL_SYMBOL_CAUGHT,      /* $e: the error that a handler runs for */
    BPL_SYMBOL_DISCARD,     /* _ */
    BPL_SYMBOL_FIXED
};

/* The error under way; kind "" while there is none. Kinds are words: those of error_kinds.def, and a user's own. */
typedef struct bpl_error {
    char kind[32];
    char message[480];
    bpl_source *source;  /* kept; NULL: none */
    uint32_t start, end; /* bytes of it */
} bpl_error;

/* Names and values of a call under way (or of the session: parent NULL). */
typedef struct bpl_slot {
    bpl_symbol name;
    bpl_value *value; /* owned */
} bpl_slot;

typedef struct bpl_frame {
    struct bpl_frame *parent; /* where names are looked up next: lexical */
    struct bpl_frame *caller;
    const bpl_function *function;
    bpl_value *alpha, *omega; /* borrowed; alpha NULL: absent */
    bpl_value *left_operand, *right_operand; /* ⍶ ⍹ */
    bpl_value *self;          /* ∇ as a value, owned; NULL: nobody asked for it */
    bool record;              /* the keys of a record as names (T.(e)): no call */
    bool module;              /* the names of a file (•load): nothing is looked up beyond it */
    bool closures;            /* dfns were made in it */
    uint32_t count, capacity;
    bpl_slot *slots;
    bpl_slot inline_slots[6];
} bpl_frame;

typedef struct bpl_preferences {
    bool mathish, boxes, trees;
    bool boxes_within;      /* boxes around what functions write too */
    bool dissects;          /* how a statement is grouped is written before its value */
    int32_t digits;         /* of display: 10 */
    int32_t width;          /* of the terminal; 0: none */
    int64_t limit;          /* items of an array: 1e9 */
    int64_t shown, edges;   /* an array of more items than `shown` shows `edges` positions a side */
    wg_kind float_kind;     /* f64 */
    bool float_set;         /* by •prefs: it does not follow static_kinds */
    bool static_kinds;
    bool ascii_names;       /* display by names instead of glyphs */
} bpl_preferences;

/* Kinds of numbers that are made again and again. */
enum { BPL_SPARE_F64, BPL_SPARE_TRUTH, BPL_SPARE_INTEGER, BPL_SPARE_F32, BPL_SPARE_KINDS };

struct wg_bpl {
    wg_lazy *lazy;
    wg_context *context;
    const wg_allocator *allocator;
    bpl_preferences preferences;
    bpl_error error;
    bool shows;             /* the value of every statement of the source that runs is written, the last one's aside */
    bool no_result;         /* the NULL just answered is "no result", no error */
    atomic_bool interrupted; /* set by any thread, and by signal handlers */
    /* Symbols: names by number; their values in the session, by number. */
    char **symbol_texts;
    uint32_t symbol_count, symbol_capacity;
    uint32_t *symbol_table; /* hashed: a power of two */
    uint32_t symbol_table_size;
    bpl_value **globals;    /* [symbol_capacity], owned, NULL: no value */
    bpl_frame *frame;       /* innermost; NULL: the session's own statements */
    uint32_t depth;         /* of calls */
    const bpl_node *at;     /* what runs: the place of the next error */
    bpl_value *primitives[BPL_GLYPH_COUNT];
    bpl_value *caught;      /* $e, inside a handler */
    bpl_value *free_values; /* spare heads */
    bpl_value *spare_atoms[BPL_SPARE_KINDS]; /* numbers that are gone, with their arrays, by their kinds */
    bpl_value *dying;       /* values that nobody holds, still to be taken apart: nests are as deep as memory allows, the stack is not */
    bool burying;           /* one of them is being taken apart */
    wg_generator *generator;
    uint64_t seed;
    wg_bpl_options options;
    /* Where ⎕← and display go, and where ⎕ reads. */
    void (*write)(void *user, const char *text, size_t length);
    bool (*read_line)(void *user, base_string *line);
    void *user;
    bpl_value absent;       /* what ⍺ is in a call with one argument: known by its address, never seen outside the evaluator */
    /* stack.c */
    uintptr_t stack_low;    /* below it the code that may go deep goes on upon another stack */
    uintptr_t stack_bottom; /* of the thread that ran last */
    pthread_t stack_thread;
    bool stack_known;
    struct bpl_stack *stack, *spare_stacks; /* the one in use beyond the first; one kept for later */
    uint32_t dfns;          /* under way */
    uint64_t serial;        /* of names that •index made */
    bool shy;               /* the value just answered is not shown, as that of an assignment */
    struct bpl_module *modules; /* execute.c: files that were loaded */
    struct bpl_trace *trace;/* public.c: the calls that the error under way came through */
    struct bpl_runs *runs;  /* public.c: the texts of the last outcome, and sources of texts that were run before */
    /* Modifiers. trials: maps that are tried on all cells at once, and give way to calls cell by cell where the body asks for more than arrays:
     * see bpl_act. prototypes: calls under way that ask an empty argument for its result's form; picking outside an array answers its fill in
     * them. */
    uint32_t trials, prototypes;
    struct bpl_trial *trial; /* the innermost one: masks.c */
    uint32_t masks, slopes;  /* bodies under way that some cells alone chose; derivatives under way */
    uint64_t acts;          /* how often bpl_act let something be done: loop.c */
    bpl_value *stream;      /* whose draws these are: a generator that •rand made; NULL: the session's. Borrowed for a call */
};

/* Asked by everything that does more than compute, before it does it: output, a write outside the frame under way, a draw, a clock or a file, an
 * error guard. False, and an error that nobody sees, while a map is tried: its body is then called cell by cell instead. cells.c */
bool bpl_act(bpl_session *session, const char *what);

/* Code that calls itself for data or programs of any depth asks first, and goes on by bpl_stack_more: stack.c. */
static inline bool bpl_stack_is_low(const bpl_session *session) { return (uintptr_t)__builtin_frame_address(0) < session->stack_low; }
/* code(session, data) on another stack. NULL and LIMIT without memory for one. */
bpl_value *bpl_stack_more(bpl_session *session, bpl_value *(*code)(bpl_session *session, void *data), void *data);

/* Keeps an error (the first one stays) at the node that runs; answers NULL, so that `return bpl_fail(..)` serves every pointer. */
void *bpl_fail(bpl_session *session, bpl_error_kind kind, const char *format, ...) BASE_PRINTF(3, 4);
/* The same at bytes [start, end) of a source. */
void *bpl_fail_at(bpl_session *session, bpl_source *source, uint32_t start, uint32_t end, bpl_error_kind kind, const char *format, ...) BASE_PRINTF(6, 7);
/* The error of the lazy context as the session's, cleared there. */
void *bpl_fail_lazy(bpl_session *session);
void *bpl_fail_memory(bpl_session *session); /* LIMIT */
void *bpl_fail_interrupted(bpl_session *session); /* INTERRUPT; it is served */
/* Serves an interrupt: false and INTERRUPT where one waits. */
static inline bool bpl_go_on(bpl_session *session) { return !session->interrupted || bpl_fail_interrupted(session); }
/* The same in a loop over items that makes no values: asked at every 65536th. */
static inline bool bpl_goes_on(bpl_session *session, int64_t item) { return (item & 0xFFFF) || bpl_go_on(session); }
bool bpl_failed(const bpl_session *session);
void bpl_error_clear(bpl_session *session);
/* public.c: the calls that an error came through: one more, and none. */
void bpl_trace(bpl_session *session, const bpl_node *call);
void bpl_trace_clear(bpl_session *session);

/* The key of one draw, in the open scope: of the generator whose call this is (system_distribution.c), else of the session's, which is seeded by
 * •prefs, or by the system at its first draw. NULL: an error. */
wg_array *bpl_draw_key(bpl_session *session);
wg_array *bpl_stream_key(bpl_session *session);

bpl_symbol bpl_intern(bpl_session *session, const char *name, size_t length); /* 0 without memory */
const char *bpl_symbol_text(const bpl_session *session, bpl_symbol symbol);
/* The value of a name as the running code sees it, borrowed; NULL: none. */
static inline bpl_value *bpl_lookup(const bpl_session *session, bpl_symbol symbol)
{
    for (const bpl_frame *frame = session->frame; frame; frame = frame->parent) {
        for (uint32_t i = 0; i < frame->count; i++)
            if (frame->slots[i].name == symbol) return frame->slots[i].value;
        if (frame->module) return NULL;
    }
    return session->globals[symbol];
}
/* Binds a name in the innermost frame. */
bool bpl_define(bpl_session *session, bpl_symbol symbol, bpl_value *value);

/* Runs the statements of a source; the value of the last one, NULL with no_result where it has none (or was an assignment: *shy). evaluate.c */
bpl_value *bpl_run_source(bpl_session *session, bpl_source *source, bool *shy);
bpl_value *bpl_evaluate(bpl_session *session, const bpl_node *node);
/* bpl_source_new for a text that is run: settings of literals that it begins with (•prefs [..]) hold for the rest of it. execute.c */
bpl_source *bpl_read_source(bpl_session *session, const char *name, const char *text, size_t length);

/* The session's allocator for one call that takes long and asks for memory now and then: it gives none once an interrupt waits. What failed for want of memory
 * then: INTERRUPT or LIMIT, false. file.c */
wg_allocator bpl_stopping_allocator(bpl_session *session);
bool bpl_fail_stopping(bpl_session *session);
/* Appends a file's text, that of standard input where path is NULL; file.c. False: IO, LIMIT or INTERRUPT. */
bool bpl_read_file(bpl_session *session, const char *path, base_string *text);

/* Gives back what is kept for later values. */
void bpl_trim(bpl_session *session);
/* public.c: texts that were run are read again. */
void bpl_forget_texts(bpl_session *session);
/* public.c: what a session has beside session.c's, at its beginning and its end. */
void bpl_modules_free(bpl_session *session); /* execute.c */
bool bpl_runs_new(bpl_session *session);
void bpl_runs_free(bpl_session *session);

/* display.c: the lines that the REPL shows; •literal⁻: source that reads back with the same kinds. */
bool bpl_display(bpl_session *session, const bpl_value *value, base_string *out);
bool bpl_display_whole(bpl_session *session, const bpl_value *value, base_string *out); /* nothing is left out */
bool bpl_literal(bpl_session *session, const bpl_value *value, base_string *out);

#endif
