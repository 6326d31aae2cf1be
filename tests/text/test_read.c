/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Reading, feature by feature: what is written, and the canonical text that it stands for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/graph.h"
#include "text/reading.h"
#include "wengert/compose.h"

/* `written` and `canonical` without their first line. */
static void expect(const char *written, const char *canonical)
{
    char *whole = malloc(strlen(written) + strlen(canonical) + 32);
    sprintf(whole, "wengert 1\n%s", written);
    wg_network *network = parse_text(whole, "written");
    char *printed = print_network(network);
    sprintf(whole, "wengert 1\n%s", canonical);
    assert_string_equal(printed, whole);
    wg_network *again = parse_text(printed, "canonical");
    char *twice = print_network(again);
    assert_string_equal(twice, printed);
    assert_int_equal(wg_network_count(network), wg_network_count(again));
    wg_error error;
    wg_error_clear(&error);
    if (!wg_network_verify(again, &error)) fail_msg("%s", error.message);
    wg_network_release(&network);
    wg_network_release(&again);
    wg_text_free(printed);
    wg_text_free(twice);
    free(whole);
}

static void the_head(void **state)
{
    (void)state;
    expect("", "");
    expect("# nothing\n\n   \t# but comments\r\n", "");
    expect("program fashion\n", "program fashion\n");
    expect("program \"my program\" # quoted\nkind f64\nchips 4\n", "program \"my program\"\nkind f64\nchips 4\n");
    expect("kind f32\nchips 1\n", "");
    expect("chips 2*3\nextent n = 2*(3+1)\nextent m=0", "chips 6\nextent n = 8\nextent m = 0\n");
}

static void sources(void **state)
{
    (void)state;
    expect("input x [2,3]\ninput y i32[]=-4\nparameter w f64 [ 2 ] = ( 1 2.5 )\nconstant c bool [2] = (true false)\n",
           "input x [2, 3]\ninput y i32 [] = -4\nparameter w f64 [2] = (1 2.5)\nconstant c bool [2] = (1 0)\n");
    expect("input x [2]\r\n\r\n# lines of another system\r\ny = neg(x)\r\n", "input x [2]\ny = neg(x) : [2]\n");
    expect("constant a = 3\nconstant b = (1 2 3)\n", "constant a [] = 3\nconstant b [3] = (1 2 3)\n");
    expect("constant a [3] = (2 2 2)\nconstant b [2] = (0 -0)\n", "constant a [3] = 2\nconstant b [2] = (0 -0)\n");
    expect("constant a [0, 3] = ()\nconstant b [0] = 1\n", "constant a [0, 3] = ()\nconstant b [0] = 1\n");
    expect("kind f64\ninput x f32 [1]\ninput y f64 [1]\n", "kind f64\ninput x f32 [1]\ninput y [1]\n");
    expect("input c char [2] = (97 1114111)\n", "input c char [2] = (97 1114111)\n");
}

static void numbers_keep_their_bits(void **state)
{
    (void)state;
    expect("constant a [5] = (inf -inf nan 1e-7 -0)\n", "constant a [5] = (inf -inf nan 1e-7 -0)\n");
    expect("constant a [2] = (0.1000000000000000055 16777217)\n", "constant a [2] = (0.1 16777216)\n");
    expect("constant a f64 [2] = (0.1000000000000000055 16777217)\n", "constant a f64 [2] = (0.1 16777217)\n");
    expect("constant a f16 [2] = (65504 0.1)\n", "constant a f16 [2] = (65500 0.1)\n");
    expect("constant a bf16 [2] = (3.3895314e38 0.1)\n", "constant a bf16 [2] = (3.39e+38 0.1)\n");
    expect("constant a u64 [2] = (18446744073709551615 0)\n", "constant a u64 [2] = (18446744073709551615 0)\n");
    expect("constant a i64 [2] = (-9223372036854775808 9223372036854775807)\n",
           "constant a i64 [2] = (-9223372036854775808 9223372036854775807)\n");
    expect("constant a i8 [2] = (-128 127)\n", "constant a i8 [2] = (-128 127)\n");
    expect("constant a i64 [] = 9223372036854775807\n", "constant a i64 [] = 9223372036854775807\n");
}

static void names(void **state)
{
    (void)state;
    expect("input \"a b\\n\\\"q\\\"\\\\\\u{e9}\\t\" [1]\n", "input \"a b\\n\\\"q\\\"\\\\é\\t\" [1]\n");
    expect("input \"x\" [1]\ny = neg(\"x\")\n", "input x [1]\ny = neg(x) : [1]\n");
    expect("input \"input\" [1]\n\"inf\" = neg(\"input\")\n\"f32\" = neg(\"inf\")\n",
           "input \"input\" [1]\n\"inf\" = neg(\"input\") : [1]\n\"f32\" = neg(\"inf\") : [1]\n");
    expect("input \"\\u{1f600}\" [1]\n", "input \"\xF0\x9F\x98\x80\" [1]\n");
    expect("input _a.b_9 [1]\ninput wengert [1]\ninput sum [1]\ny = sum(sum)\n",
           "input _a.b_9 [1]\ninput wengert [1]\ninput sum [1]\ny = sum(sum) : []\n");
}

static void numbered_names(void **state)
{
    (void)state;
    expect("input t0 [1]\nt1 = neg(t0)\n", "input t0 [1]\nt1 = neg(t0) : [1]\n");
    /* Another node's number is a name like any, and is quoted. */
    expect("input x [1]\nt9 = neg(x)\nt2 = exp(t9)\n\"t2\" = ln(t2)\n",
           "input x [1]\n\"t9\" = neg(x) : [1]\nt2 = exp(\"t9\") : [1]\n\"t2\" = ln(t2) : [1]\n");
    expect("input x [1]\nt007 = neg(x)\n", "input x [1]\nt007 = neg(x) : [1]\n");
    expect("input x [1]\n\"t1\" = neg(x)\n", "input x [1]\nt1 = neg(x) : [1]\n");
    expect("extent t3 = 2\ninput x [t3, t3*2]\n", "extent \"t3\" = 2\ninput x [\"t3\", 2*\"t3\"]\n");
    expect("input x [1]\nt4294967295 = neg(x)\nt99999999999999999999 = neg(x)\n",
           "input x [1]\n\"t4294967295\" = neg(x) : [1]\n\"t99999999999999999999\" = neg(x) : [1]\n");
    wg_network *network = parse_text("wengert 1\ninput t0 [1]\nt1 = neg(t0)\n", "t");
    wg_node_facts facts;
    assert_true(wg_network_node(network, 1, &facts));
    assert_null(facts.name);
    wg_network_release(&network);
}

static void sizes(void **state)
{
    (void)state;
    expect("extent rows = 3\nextent ctx = 5\ninput x [ctx*rows*4+(rows-1)*2+1, 7-ctx, rows*rows]\n",
           "extent rows = 3\nextent ctx = 5\ninput x [4*ctx*rows+2*rows-1, -ctx+7, rows*rows]\n");
    expect("extent n = 3\ninput x [n - n, n*0+2]\n", "extent n = 3\ninput x [0, 2]\n");
    expect("extent sum = 3\ninput x [4]\ny = broadcast_along(x, axis=0, extent=sum)\n",
           "extent sum = 3\ninput x [4]\ny = broadcast_along(x, axis=0, extent=sum) : [sum, 4]\n");
    expect("extent n = 3\nconstant c [] = n\nconstant d i64 [n] = n*n-1\n",
           "extent n = 3\nconstant c [] = n\nconstant d i64 [n] = n*n-1\n");
}

static void rows_and_their_parameters(void **state)
{
    (void)state;
    expect("input x [2, 3]\na = reduce(x, axis=1, op=max)\nb = reduce(x, op=sub, axis=0, order=right)\nc = reshape(x, shape=[3,2])\n",
           "input x [2, 3]\na = reduce(x, op=max, axis=1) : [2]\nb = reduce(x, op=sub, axis=0, order=right) : [3]\n"
           "c = reshape(x, shape=[3, 2]) : [3, 2]\n");
    expect("input x [4]\na = narrow(x, axis=0, start=0, len=2, step=2)\nb = narrow(x, axis=0, start=0, len=2, step=1)\n"
           "c = pad(x, axis=0, start=1, full_extent=6)\n"
           "d = pad(x, axis=0, start=1, full_extent=6, value=-0.5)\n",
           "input x [4]\na = narrow(x, axis=0, start=0, len=2, step=2) : [2]\nb = narrow(x, axis=0, start=0, len=2) : [2]\n"
           "c = pad(x, axis=0, start=1, full_extent=6) : [6]\nd = pad(x, axis=0, start=1, full_extent=6, value=-0.5) : [6]\n");
    expect("input x i8 [2, 2]\na = matmul(x, x)\nb = matmul(x, x, accumulate=i64)\nc = matmul(x, x, accumulate=i32)\n",
           "input x i8 [2, 2]\na = matmul(x, x) : i32 [2, 2]\nb = matmul(x, x, accumulate=i64) : i64 [2, 2]\n"
           "c = matmul(x, x) : i32 [2, 2]\n");
    expect("input x [4]\na = sort(x, axis=0, descending=true)\nb = sort(x, axis=0, descending=false)\nc = convert(x, kind=u8, wrap=true)\n",
           "input x [4]\na = sort(x, axis=0, descending=true) : [4]\nb = sort(x, axis=0) : [4]\n"
           "c = convert(x, kind=u8, wrap=true) : u8 [4]\n");
    expect("input x [2]\na = concat(x, x, x, x, axis=0)\nb = iota(shape=[2, 2], axis=1, kind=i32)\n",
           "input x [2]\na = concat(x, x, x, x, axis=0) : [8]\nb = iota(shape=[2, 2], axis=1, kind=i32) : i32 [2, 2]\n");
    expect("input x [2]\na = reshape(x, shape=[2, 1]) : [2, 1]\nb = sum(a) : f32 []\n",
           "input x [2]\na = reshape(x, shape=[2, 1]) : [2, 1]\nb = sum(a) : []\n");
    expect("input x [3, 4]\ninput p i64 [3]\na = gather(x, p, axis=1, batch=1, outside=fill, fill=nan)\n",
           "input x [3, 4]\ninput p i64 [3]\na = gather(x, p, axis=1, batch=1, outside=fill, fill=nan) : [3]\n");
}

static void nested_calls_are_recorded_when_they_close(void **state)
{
    (void)state;
    expect("input x [2]\ny = add(mul(exp(x), ln(x)), neg(x))\n",
           "input x [2]\nt1 = exp(x) : [2]\nt2 = ln(x) : [2]\nt3 = mul(t1, t2) : [2]\nt4 = neg(x) : [2]\ny = add(t3, t4) : [2]\n");
}

static void operators(void **state)
{
    (void)state;
    expect("input x [2]\ninput y [2]\nz = x - -y * (x + y) / x\n",
           "input x [2]\ninput y [2]\nt2 = neg(y) : [2]\nt3 = add(x, y) : [2]\nt4 = mul(t2, t3) : [2]\nt5 = div(t4, x) : [2]\n"
           "z = sub(x, t5) : [2]\n");
    expect("input x [2]\ny = 1 - x\nz = x * 0.1\n",
           "input x [2]\nconstant t1 [] = 1\nt2 = broadcast(t1, shape=[2]) : [2]\ny = sub(t2, x) : [2]\n"
           "constant t4 [] = 0.1\nt5 = broadcast(t4, shape=[2]) : [2]\nz = mul(x, t5) : [2]\n");
    expect("input x i64 []\ny = x + 9007199254740993\nz = 2 * 3 - 1 + x\n",
           "input x i64 []\nconstant t1 i64 [] = 9007199254740993\ny = add(x, t1) : i64 []\nconstant t3 i64 [] = 5\n"
           "z = add(t3, x) : i64 []\n");
    expect("input x [2, 3]\ninput w [3, 4]\ny = x @ w\n", "input x [2, 3]\ninput w [3, 4]\ny = matmul(x, w) : [2, 4]\n");
    expect("input x [2]\ny = x - inf\nz = -(1 / 4) * x\n",
           "input x [2]\nconstant t1 [] = inf\nt2 = broadcast(t1, shape=[2]) : [2]\ny = sub(x, t2) : [2]\n"
           "constant t4 [] = -0.25\nt5 = broadcast(t4, shape=[2]) : [2]\nz = mul(t5, x) : [2]\n");
    expect("extent n = 4\ninput x [n]\ny = sum(x) / n\nz = x * (n + 1)\n",
           "extent n = 4\ninput x [n]\nt1 = sum(x) : []\nconstant t2 [] = n\ny = div(t1, t2) : []\n"
           "constant t4 [] = n+1\nt5 = broadcast(t4, shape=[n]) : [n]\nz = mul(x, t5) : [n]\n");
}

static void operators_spread_shapes(void **state)
{
    (void)state;
    expect("input x [2, 3]\ninput b [3]\ny = x + b\nz = b + x\n",
           "input x [2, 3]\ninput b [3]\nt2 = reshape(b, shape=[1, 3]) : [1, 3]\nt3 = reshape(t2, shape=[3]) : [3]\n"
           "t4 = broadcast_along(t3, axis=0, extent=2) : [2, 3]\ny = add(x, t4) : [2, 3]\n"
           "t6 = reshape(b, shape=[1, 3]) : [1, 3]\nt7 = reshape(t6, shape=[3]) : [3]\n"
           "t8 = broadcast_along(t7, axis=0, extent=2) : [2, 3]\nz = add(t8, x) : [2, 3]\n");
    expect("input x [2, 1]\ninput y [1, 3]\nz = x * y\n",
           "input x [2, 1]\ninput y [1, 3]\nt2 = reshape(x, shape=[2]) : [2]\nt3 = broadcast_along(t2, axis=1, extent=3) : [2, 3]\n"
           "t4 = reshape(y, shape=[3]) : [3]\nt5 = broadcast_along(t4, axis=0, extent=2) : [2, 3]\nz = mul(t3, t5) : [2, 3]\n");
    expect("extent n = 1\ninput x [n, 2]\ninput y [1, 2]\nz = x + y\n",
           "extent n = 1\ninput x [n, 2]\ninput y [1, 2]\nt2 = reshape(y, shape=[2]) : [2]\n"
           "t3 = broadcast_along(t2, axis=0, extent=n) : [n, 2]\nz = add(x, t3) : [n, 2]\n");
    expect("input x [4, 2, 3]\ninput w [3, 5]\ny = x @ w\n",
           "input x [4, 2, 3]\ninput w [3, 5]\nt2 = reshape(x, shape=[8, 3]) : [8, 3]\nt3 = matmul(t2, w) : [8, 5]\n"
           "y = reshape(t3, shape=[4, 2, 5]) : [4, 2, 5]\n");
    expect("input x [2, 3]\ninput w [4, 3, 5]\ny = x @ w\n",
           "input x [2, 3]\ninput w [4, 3, 5]\nt2 = reshape(x, shape=[1, 2, 3]) : [1, 2, 3]\nt3 = reshape(t2, shape=[2, 3]) : [2, 3]\n"
           "t4 = broadcast_along(t3, axis=0, extent=4) : [4, 2, 3]\ny = matmul(t4, w) : [4, 2, 5]\n");
}

static void numbers_among_operands(void **state)
{
    (void)state;
    expect("input x [2]\ny = maximum(x, 0)\nz = select(greater(1, x), x, 0)\n",
           "input x [2]\nconstant t1 [] = 0\nt2 = broadcast(t1, shape=[2]) : [2]\ny = maximum(x, t2) : [2]\nconstant t4 [] = 1\n"
           "t5 = broadcast(t4, shape=[2]) : [2]\nt6 = greater(t5, x) : bool [2]\nconstant t7 [] = 0\n"
           "t8 = broadcast(t7, shape=[2]) : [2]\nz = select(t6, x, t8) : [2]\n");
    expect("input x [5]\ny = slice(x, 2, len=2)\ninput k u32 [2]\nz = key_fold(k, 7)\n",
           "input x [5]\nconstant t1 i64 [] = 2\ny = slice(x, t1, len=2) : [2]\ninput k u32 [2]\nconstant t4 i64 [] = 7\n"
           "z = key_fold(k, t4) : u32 [2]\n");
}

static void a_second_name_is_the_same_value(void **state)
{
    (void)state;
    expect("input x [2]\ny = x\nz = broadcast_to(y, shape=[2])\nw = neg(z)\nv = w\nentry e: v, y\n",
           "input x [2]\nw = neg(x) : [2]\nentry e: w, x\n");
}

/* Every composition, through its table, is the function of compose.h. */
static void compositions(void **state)
{
    (void)state;
    wg_network *network = parse_text("wengert 1\ninput x [2, 2, 6, 6] = 0.5\nparameter f [4, 1, 3, 2] = 0.25\n"
                                     "y = conv2d(x, f, step=[2, 1], padding=[1, 0, 0, 2], dilation=[1, 2], groups=2)\n",
                                     "t");
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = wg_name(wg_input_fill(tape, WG_KIND_F32, 4, (const wg_size[]){{2, 0}, {2, 0}, {6, 0}, {6, 0}}, 0.5), "x");
    wg_value f = wg_name(wg_parameter_fill(tape, WG_KIND_F32, 4, (const wg_size[]){{4, 0}, {1, 0}, {3, 0}, {2, 0}}, 0.25), "f");
    wg_window window = {.step = {2, 1}, .dilation = {1, 2}, .pad = {1, 0, 0, 2}};
    wg_name(wg_conv2d_general(x, f, WG_ABSENT, &window, 2), "y");
    wg_network *recorded = wg_tape_seal(&tape, NULL);
    char *from_text = print_network(network), *from_calls = print_network(recorded);
    assert_string_equal(from_text, from_calls);
    wg_text_free(from_text);
    wg_text_free(from_calls);
    wg_network_release(&network);
    wg_network_release(&recorded);
    expect("input x [2, 3]\na = mean(x)\nb = mean(x, axis=1)\n",
           "input x [2, 3]\nt1 = sum(x) : []\nconstant t2 [] = 6\na = div(t1, t2) : []\nt4 = sum_along(x, axis=1) : [2]\n"
           "constant t5 [2] = 3\nb = div(t4, t5) : [2]\n");
}

static void entries(void **state)
{
    (void)state;
    expect("input x [2]\ny = neg(x)\nz = exp(y)\nentry a: z\nentry \"b c\": z, y; observe x,y;retain;exact\nentry c: ; observe x\n"
           "entry d: y ; carry y->x ; strict feeds ; fast\n",
           "input x [2]\ny = neg(x) : [2]\nz = exp(y) : [2]\nentry a: z\nentry \"b c\": z, y ; observe x, y ; retain\n"
           "entry c: ; observe x\n"
           "entry d: y ; fast ; carry y -> x ; strict feeds\n");
    expect("input a [2]\ninput b [2]\nc = add(a, b)\nd = sub(a, b)\nentry e: c ; carry c -> a, d -> b\n",
           "input a [2]\ninput b [2]\nc = add(a, b) : [2]\nd = sub(a, b) : [2]\nentry e: c ; carry c -> a, d -> b\n");
}

static void shards(void **state)
{
    (void)state;
    expect("chips 4\nparameter w [2, 8] = @\"w\" shard(axis=1, of=4)\nparameter q [6] = @\"q\" shard(axis=0, of=2, parts=[4,2])\n"
           "input x [2] = 0 shard(axis=0, of=2)\n",
           "chips 4\nparameter w [2, 8] = @\"w\" shard(axis=1, of=4)\nparameter q [6] = @\"q\" shard(axis=0, of=2, parts=[4, 2])\n"
           "input x [2] = 0 shard(axis=0, of=2)\n");
}

/* ---- payloads by name ---- */

static const float weights[4] = {0.5f, -1, 2, 7};

static wg_tensor *give(void *user, const char *manifest)
{
    (void)user;
    if (!strcmp(manifest, "w")) return wg_tensor_new(NULL, WG_KIND_F32, 2, (const int64_t[]){2, 2}, weights, NULL);
    if (!strcmp(manifest, "ones")) return wg_tensor_fill(NULL, WG_KIND_F32, 1, (const int64_t[]){300}, 1, NULL);
    return NULL;
}

static wg_network *parse_with_payloads(const char *body, wg_error *error)
{
    static char text[1024];
    snprintf(text, sizeof text, "wengert 1\n%s", body);
    wg_text_options options = {.size = sizeof options, .payload = give};
    wg_error_clear(error);
    return wg_text_parse(NULL, text, strlen(text), "t", &options, error);
}

static void payloads_by_name(void **state)
{
    (void)state;
    wg_error error;
    const char *body = "parameter a [2, 2] = @\"w\"\nparameter b [3] = @\"elsewhere\"\nparameter c [300] = @\"ones\"\n";
    wg_network *network = parse_with_payloads(body, &error);
    assert_non_null(network);
    wg_parameters *parameters = wg_parameters_new(network, &error);
    wg_tensor *a = wg_parameters_of(parameters, wg_network_symbol(network, "a"), &error);
    assert_memory_equal(wg_tensor_data(a), weights, sizeof weights);
    wg_tensor *c = wg_parameters_of(parameters, wg_network_symbol(network, "c"), &error);
    assert_int_equal(wg_tensor_volume(c), 300);
    assert_null(wg_parameters_of(parameters, wg_network_symbol(network, "b"), &error));
    assert_non_null(strstr(error.message, "give the weight file"));
    char *printed = print_network(network);
    assert_string_equal(printed + strlen("wengert 1\n"), body); /* by name, though the items are there */
    wg_text_free(printed);
    wg_parameters_free(&parameters);
    wg_network_release(&network);
    assert_null(parse_with_payloads("parameter a [4] = @\"w\"\n", &error));
    assert_string_equal(error.message, "the payload w is f32 [2, 2]; the program says f32 [4]");
    assert_int_equal(error.code, WG_SHAPE);
    assert_int_equal(error.line, 2);
}

/* SHA-256 of the 16 little-endian bytes of weights, by another implementation. */
#define WEIGHTS_DIGEST "e68d98a5c055369fd07a9d64bbae17b6b6fd58fc79c97cfc6788831ff5c0fe70"

static void payload_digests(void **state)
{
    (void)state;
    wg_error error;
    wg_network *network = parse_with_payloads("constant c [2, 2] = @\"w\" sha256:" WEIGHTS_DIGEST "\n", &error);
    assert_non_null(network);
    wg_network_release(&network);
    network = parse_with_payloads("constant c [2, 2] = @\"w\"\n", &error); /* what is there is told by its digest */
    char *printed = print_network(network);
    assert_string_equal(printed, "wengert 1\nconstant c [2, 2] = @\"w\" sha256:" WEIGHTS_DIGEST "\n");
    wg_text_free(printed);
    wg_network_release(&network);
    assert_null(parse_with_payloads("parameter c [2, 2] = @\"w\" sha256:c0cb9e9f85ebb82f3c35ee16ec7916d5debf75d23638d0d6a4bbd31ce247cece\n", &error));
    assert_int_equal(error.code, WG_DIFFERS);
}

static void large_items_print_by_name(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    float items[257];
    for (int i = 0; i < 257; i++) items[i] = (float)i;
    wg_leaf(tape, wg_tensor_new(NULL, WG_KIND_F32, 1, (const int64_t[]){257}, items, NULL));
    wg_parameter(tape, wg_tensor_new(NULL, WG_KIND_F32, 1, (const int64_t[]){257}, items, NULL));
    wg_name(wg_leaf(tape, wg_tensor_new(NULL, WG_KIND_F32, 1, (const int64_t[]){257}, items, NULL)), "the table");
    wg_leaf_fill(tape, WG_KIND_F32, 1, (const wg_size[]){{1000, 0}}, 2);
    wg_network *network = wg_tape_seal(&tape, NULL);
    char *printed = print_network(network);
    assert_string_equal(printed,
                        "wengert 1\n"
                        "constant t0 [257] = @\"t0\" sha256:7ab050428aff38744a8e7d6b17a6475c2672aa60ee8d4cabcdca2da654d1f640\n"
                        "parameter t1 [257] = @\"t1\"\n"
                                 "constant \"the table\" [257] = @\"the table\" sha256:7ab050428aff38744a8e7d6b17a6475c2672aa60ee8d4cabcdca2da654d1f640\nconstant t3 [1000] = 2\n");
    wg_text_free(printed);
    wg_network_release(&network);
}

/* NaN is one value, whatever its bits. */
static void every_nan_is_one(void **state)
{
    (void)state;
    uint32_t bits[300];
    for (int i = 0; i < 300; i++) bits[i] = 0x7FC00000u + (uint32_t)i;
    wg_tape *tape = wg_tape_new(NULL);
    wg_leaf(tape, wg_tensor_new(NULL, WG_KIND_F32, 1, (const int64_t[]){300}, bits, NULL));
    bits[299] = 0;
    wg_leaf(tape, wg_tensor_new(NULL, WG_KIND_F32, 1, (const int64_t[]){300}, bits, NULL));
    wg_leaf(tape, wg_tensor_new(NULL, WG_KIND_F32, 1, (const int64_t[]){2}, bits + 298, NULL));
    wg_network *network = wg_tape_seal(&tape, NULL);
    char *printed = print_network(network);
    assert_string_equal(printed,
                        "wengert 1\nconstant t0 [300] = nan\nconstant t1 [300] = @\"t1\" sha256:227090d64de85b0b4bb4a72abbd726d11a3c9d5fad739ada0ebbc79d33b5d424\nconstant t2 [2] = (nan 0)\n");
    wg_text_free(printed);
    wg_network_release(&network);
}

static void where_nodes_come_from(void **state)
{
    (void)state;
    wg_network *network = parse_text("wengert 1\ninput x [2]\n\n  y = relu(x + 1)\n", "place.wg");
    wg_node_facts facts;
    for (uint32_t i = 0; i < wg_network_count(network); i++) {
        assert_true(wg_network_node(network, i, &facts));
        assert_string_equal(facts.file, "place.wg");
        assert_int_equal(facts.line, i == 0 ? 2 : 4);
    }
    wg_network_release(&network);
}

/* Deep but legal, long but legal: no limit of length, and nothing quadratic in sight. */
static void long_texts(void **state)
{
    (void)state;
    size_t capacity = 1 << 22, used = 0;
    char *text = malloc(capacity);
    used += (size_t)sprintf(text, "wengert 1\ninput x.0 [2]\n");
    for (int i = 0; i < 20000; i++) used += (size_t)sprintf(text + used, "x.%d = neg(x.%d)\n", i + 1, i);
    used += (size_t)sprintf(text + used, "y = x.0");
    for (int i = 0; i < 20000; i++) used += (size_t)sprintf(text + used, " + x.%d", i);
    used += (size_t)sprintf(text + used, "\nz = ");
    for (int i = 0; i < 98; i++) text[used++] = '(';
    text[used++] = 'y';
    for (int i = 0; i < 98; i++) text[used++] = ')';
    text[used] = 0;
    assert_true(used < capacity);
    wg_network *network = parse_text(text, "long");
    assert_int_equal(wg_network_count(network), 40001);
    wg_network_release(&network);
    free(text);
}

/* ---- quantised weights ---- */

static wg_tensor *blocks_by_name(void *user, const char *manifest)
{
    return strcmp(manifest, "w") ? NULL : wg_tensor_retain(user);
}

/* Types, parameters and payloads of block kinds are read and printed; a digest is that of the bytes. */
static void weights_of_blocks(void **state)
{
    (void)state;
    static const char text[] = "wengert 1\n"
                               "input x [2, 64]\n"
                               "parameter w q4_0 [3, 64] = @\"w\"\n"
                               "input e i64 [2] = 0\n"
                               "t3 = qmatmul(x, w) : [2, 3]\n"
                               "t4 = qmatmul(x, w, activation=q8) : [2, 3]\n"
                               "t5 = gather(w, e) : [2, 64]\n"
                               "t6 = narrow(w, axis=1, start=32, len=32, step=1) : q4_0 [3, 32]\n"
                               "t7 = convert(t6, kind=f32) : [3, 32]\n"
                               "parameter v q6_k [2, 3, 256] = @\"v\"\n"
                               "input z [2, 256]\n"
                               "t10 = expert_matmul(z, v, e) : [2, 3]\n"
                               "entry main: t3, t4, t5, t7, t10\n";
    wg_error error = {0};
    wg_tensor *blocks = wg_tensor_new(NULL, WG_KIND_Q4_0, 2, (int64_t[]){3, 64}, NULL, &error);
    memset(wg_tensor_data(blocks), 0x35, 108);
    wg_text_options options = {.size = sizeof options, .payload = blocks_by_name, .user = blocks};
    wg_network *network = wg_text_parse(NULL, text, strlen(text), "blocks", &options, &error);
    if (!network) fail_msg("%s", error.message);
    char *printed = print_network(network);
    char *silent = strstr(printed, ", step=1"); /* not printed */
    assert_null(silent);
    wg_text_free(printed);
    wg_tensor_release(blocks);
    wg_network_release(&network);
}

static void refused(const char *line, const char *message)
{
    char text[512];
    wg_error error = {0};
    snprintf(text, sizeof text, "wengert 1\ninput x [2, 64]\nparameter w q4_0 [3, 64] = @\"w\"\n%s\n", line);
    assert_null(wg_text_parse(NULL, text, strlen(text), "blocks", NULL, &error));
    if (!strstr(error.message, message)) fail_msg("%s: %s", line, error.message);
}

static void what_blocks_are_not_for(void **state)
{
    (void)state;
    refused("y = add(w, w)", "add does not take q4_0; convert it first, as with convert(x, kind=f32)");
    refused("y = permute(w, order=[1, 0])", "permute does not take q4_0");
    refused("y = convert(w, kind=f16)", "convert makes f32 of q4_0");
    refused("y = convert(x, kind=q8_0)", "convert cannot make q8_0");
    refused("y = narrow(w, axis=1, start=16, len=32)", "narrow takes whole blocks of q4_0, 32 items side by side");
    refused("y = narrow(w, axis=1, start=0, len=2, step=32)", "narrow takes whole blocks");
    refused("input e i64 [2] = 0\ny = gather(w, e, axis=1)", "gather cannot take single items out of the blocks of q4_0");
    refused("y = matmul(x, w)", "matmul does not take q4_0");
    refused("y = qmatmul(x, x)", "qmatmul needs weights of a block kind, not f32");
    refused("h = convert(x, kind=f16)\ny = qmatmul(h, w)", "qmatmul does not take f16");
    refused("input z [2, 32]\ny = qmatmul(z, w)", "qmatmul cannot multiply [2, 32] by the transpose of [3, 64]: inner extents 32 and 64 differ");
    refused("input z [64]\ny = qmatmul(z, w)", "qmatmul takes rows [.., m, k] and weights [n, k]");
    refused("y = qmatmul(x, w, activation=q7)", "activation is one of: f32, q8");
    refused("input e i64 [2] = 0\ny = expert_matmul(x, w, e)", "expert_matmul takes rows [rows, k], weights [experts, n, k]");
    refused("parameter v q4_0 [2, 3, 64] = @\"v\"\ninput e i64 [3] = 0\ny = expert_matmul(x, v, e)", "expert_matmul needs an expert for each row");
    refused("parameter v q4_0 [2, 3, 64] = @\"v\"\ninput e i64 [2] = 0\nh = convert(x, kind=f64)\ny = expert_matmul(h, v, e)", "expert_matmul of q4_0 takes f32, not f64");
    refused("parameter v q4_k [3, 64] = @\"v\"", "its last axis must be whole blocks of 256 items");
    refused("parameter v q4_0 [] = @\"v\"", "its last axis must be whole blocks of 32 items");
    refused("parameter v q4_0 [2, 32] = 0", "items of q4_0 are blocks");
    refused("constant v q4_0 [32] = (1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1)", "items of q4_0 are blocks");
    refused("y = sort(w, axis=0)", "sort does not take q4_0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_of_blocks),
        cmocka_unit_test(what_blocks_are_not_for),
        cmocka_unit_test(the_head),
        cmocka_unit_test(sources),
        cmocka_unit_test(numbers_keep_their_bits),
        cmocka_unit_test(names),
        cmocka_unit_test(numbered_names),
        cmocka_unit_test(sizes),
        cmocka_unit_test(rows_and_their_parameters),
        cmocka_unit_test(nested_calls_are_recorded_when_they_close),
        cmocka_unit_test(operators),
        cmocka_unit_test(operators_spread_shapes),
        cmocka_unit_test(numbers_among_operands),
        cmocka_unit_test(a_second_name_is_the_same_value),
        cmocka_unit_test(compositions),
        cmocka_unit_test(entries),
        cmocka_unit_test(shards),
        cmocka_unit_test(payloads_by_name),
        cmocka_unit_test(payload_digests),
        cmocka_unit_test(large_items_print_by_name),
        cmocka_unit_test(every_nan_is_one),
        cmocka_unit_test(where_nodes_come_from),
        cmocka_unit_test(long_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
