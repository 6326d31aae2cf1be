/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * More stack: recursion that nears the end of its C stack goes on upon a segment of its own, and comes back when that call returns. Nothing is
 * copied and nothing jumps: a call on another segment is a call. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "bpl/evaluate.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

/* What code that does not ask may use below the mark: plans, kernels, and what goes down into BPL_VALUE_DEPTH nested items. */
#define HEADROOM ((size_t)4 << 20)
#define SEGMENT ((size_t)32 << 20) /* of addresses: memory follows use */
/* Segments in use at once. */
#define MOST 64u

struct bpl_stack {
    struct bpl_stack *next; /* in use: the one before; spare: the next */
    unsigned char *memory;  /* [SEGMENT], its first page forbidden */
    uint32_t depth;
    ucontext_t here, back;
    bpl_session *session;
    bpl_value *(*code)(bpl_session *session, void *data);
    void *data;
    bpl_value *result;
#if defined(__SANITIZE_ADDRESS__)
    const void *back_bottom;
    size_t back_size;
#elif defined(__SANITIZE_THREAD__)
    void *fibre, *back_fibre;
#endif
};

/* Before the stacks are exchanged, and on the other side; back: to the one that was left. fake NULL: this one is not come back to. */
static void exchange_to(struct bpl_stack *stack, bool back, void **fake)
{
#if defined(__SANITIZE_ADDRESS__)
    if (back) __sanitizer_start_switch_fiber(fake, stack->back_bottom, stack->back_size);
    else __sanitizer_start_switch_fiber(fake, stack->memory, SEGMENT);
#elif defined(__SANITIZE_THREAD__)
    (void)fake;
    __tsan_switch_to_fiber(back ? stack->back_fibre : stack->fibre, 0);
#else
    (void)stack, (void)back, (void)fake;
#endif
}

static void exchanged(struct bpl_stack *stack, bool back, void *fake)
{
#if defined(__SANITIZE_ADDRESS__)
    if (back) __sanitizer_finish_switch_fiber(fake, NULL, NULL);
    else __sanitizer_finish_switch_fiber(fake, &stack->back_bottom, &stack->back_size);
#else
    (void)stack, (void)back, (void)fake;
#endif
}

/* makecontext hands over ints. */
static void enter(unsigned high, unsigned low)
{
    struct bpl_stack *stack = (struct bpl_stack *)(((uintptr_t)high << 32) | low);
    exchanged(stack, false, NULL);
    stack->result = stack->code(stack->session, stack->data);
    exchange_to(stack, true, NULL);
}

static struct bpl_stack *segment_new(bpl_session *session)
{
    struct bpl_stack *stack = session->spare_stacks;
    if (stack) return session->spare_stacks = stack->next, stack;
    stack = base_allocate_zeroed(session->allocator, sizeof *stack);
    if (!stack) return NULL;
    void *memory = mmap(NULL, SEGMENT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) return base_free(session->allocator, stack, sizeof *stack), NULL;
    stack->memory = memory;
    mprotect(memory, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE);
#if defined(__SANITIZE_THREAD__)
    stack->fibre = __tsan_create_fiber(0);
#endif
    return stack;
}

static void segment_free(bpl_session *session, struct bpl_stack *stack)
{
#if defined(__SANITIZE_THREAD__)
    __tsan_destroy_fiber(stack->fibre);
#endif
    munmap(stack->memory, SEGMENT);
    base_free(session->allocator, stack, sizeof *stack);
}

/* The context in which a segment begins; nothing else is live here, as getcontext may return again. */
static void prepare(struct bpl_stack *stack)
{
    getcontext(&stack->here);
    stack->here.uc_stack.ss_sp = stack->memory, stack->here.uc_stack.ss_size = SEGMENT;
    stack->here.uc_link = &stack->back;
    makecontext(&stack->here, (void (*)(void))enter, 2, (unsigned)((uintptr_t)stack >> 32), (unsigned)(uintptr_t)stack);
}

bpl_value *bpl_stack_more(bpl_session *session, bpl_value *(*code)(bpl_session *session, void *data), void *data)
{
    uint32_t depth = session->stack ? session->stack->depth + 1 : 1;
    struct bpl_stack *stack = depth <= MOST ? segment_new(session) : NULL;
    if (!stack) return bpl_fail(session, BPL_LIMIT, "this is nested too deep");
    uintptr_t low = session->stack_low;
    stack->session = session, stack->code = code, stack->data = data, stack->depth = depth;
    stack->next = session->stack, session->stack = stack;
    session->stack_low = (uintptr_t)stack->memory + HEADROOM;
    prepare(stack);
    void *fake = NULL;
#if defined(__SANITIZE_THREAD__)
    stack->back_fibre = __tsan_get_current_fiber();
#endif
    exchange_to(stack, false, &fake);
    swapcontext(&stack->back, &stack->here);
    exchanged(stack, true, fake);
    session->stack_low = low, session->stack = stack->next;
    bpl_value *result = stack->result;
    if (session->spare_stacks) return segment_free(session, stack), result;
    stack->next = NULL, session->spare_stacks = stack;
    return result;
}

/* The lowest address of this thread's stack; 0: nobody knows. */
static uintptr_t bottom_of_stack(void)
{
    pthread_attr_t attributes;
    void *bottom = NULL;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes)) return 0;
    if (pthread_attr_getstack(&attributes, &bottom, &size)) bottom = NULL;
    pthread_attr_destroy(&attributes);
    return (uintptr_t)bottom;
}

void bpl_stack_begin(bpl_session *session)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), low = session->stack_bottom + HEADROOM;
    if (!session->stack_known || !pthread_equal(session->stack_thread, pthread_self())) {
        session->stack_thread = pthread_self(), session->stack_known = true;
        session->stack_bottom = bottom_of_stack();
        low = session->stack_bottom + HEADROOM;
    }
    /* a stack that is too small for anything, or whose size nobody knows, is left at once */
    session->stack_low = session->stack_bottom && here > low ? low : UINTPTR_MAX;
}

void bpl_stack_end(bpl_session *session)
{
    while (session->spare_stacks) {
        struct bpl_stack *stack = session->spare_stacks;
        session->spare_stacks = stack->next;
        segment_free(session, stack);
    }
}
