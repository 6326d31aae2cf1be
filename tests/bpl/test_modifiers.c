/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Modifiers beyond their cases (modifiers.tsv, generated.tsv): what is called how often and in which order, all cells at once against cell by cell,
 * errors, laws, every allocation failing once. */
#include "bpl/language.h"

/* ---- effects: once a cell, in order, never by a call that was only tried ------------------------------------------------------------- */

static const shown effects[] = {
    {"n←0 ⋄ {n+←⍵ ⋄ n}¨1 2 3", "1 3 6"},
    {"n←0 ⋄ {n+←1 ⋄ ⍵}⍤0⊢5⍴1 ⋄ n", "5"},
    {"n←0 ⋄ 1 2 3{n+←1 ⋄ ⍺×⍵}⊗4 5 ⋄ n", "6"},
    {"n←0 ⋄ {n+←1 ⋄ ⍺+⍵}/3 4⍴1 ⋄ n", "9"},
    {"n←0 ⋄ {n+←1 ⋄ ⍵}⍣5⊢1 ⋄ n", "5"},
    {"n←0 ⋄ {n+←1 ⋄ ⍵+1}@[2<] 1 2 3 4 ⋄ n", "1"},
    {"n←0 ⋄ (0≤)⍚[{n+←1 ⋄ -⍵} ⊢]¯1 ¯2 3 ⋄ n", "1"},
    {"n←0 ⋄ 1 1 2{n+←1 ⋄ ⍺}⌸10 20 30 ⋄ n", "2"},
    {"n←0 ⋄ {n+←1 ⋄ ⍵×⍵}∂1 2 3 ⋄ n", "1"},
    {"n←0 ⋄ {n+←1 ⋄ +/⍵}⌺3⊢1 2 3 4 ⋄ n", "4"},
    {"{\"DOMAIN\"::0 ⋄ ⍵>1?÷'a';⍵}¨1 2 3", "1 0 0"},
    {"{\"DOMAIN\"::¯1 ⋄ ⍎⍵}¨\"1+1\" \"÷'a'\"", "2 ¯1"},
    {"{⍵>2?⍵;∇⍵+1}¨0 1 5", "3 3 5"},
    {"{⍵=0?1;⍵×∇⍵-1}¨⍳6", "1 1 2 6 24 120"},
};

static void test_output_in_order(void **state)
{
    (void)state;
    static const struct { const char *text, *written; } lines[] = {
        {"{⎕←⍵ ⋄ ⍵}¨1 2 3 ⋄ 0", "1\n2\n3\n0"},
        {"{⎕←⍺ ⋄ ⍺+⍵}/1 2 3 ⋄ 0", "2\n1\n0"},
        {"{⎕←⍵ ⋄ ⍺+⍵}\\1 2 3 ⋄ 0", "2\n3\n0"},
        {"({⎕←1 ⋄ ⍵}+{⎕←2 ⋄ ⍵})5", "2\n1\n10"},
        {"{⎕←⍵ ⋄ ⍵×2}∂3", "3\n2"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        written all = {.length = 0};
        bpl_world w = {.bpl = NULL};
        wg_context_options of_context = {.size = sizeof of_context, .allocator = {world_resize, &w.memory}, .threads = 1};
        w.memory.context = wg_context_new(&of_context, NULL);
        wg_bpl_options options = {.size = sizeof options, .context = w.memory.context, .write = write_down, .user = &all};
        assert_non_null(w.bpl = wg_bpl_new(&options, NULL));
        wg_bpl_outcome outcome;
        if (!wg_bpl_run(w.bpl, NULL, lines[i].text, strlen(lines[i].text), &outcome)) fail_msg("%s: %s", lines[i].text, outcome.report);
        char both[8192];
        snprintf(both, sizeof both, "%s%s", all.text, outcome.display);
        if (strcmp(both, lines[i].written)) fail_msg("%s writes\n%s\nnot\n%s", lines[i].text, both, lines[i].written);
        bpl_world_close(&w);
    }
}

/* ---- what this language has of its own ----------------------------------------------------------------------------------------------- */

static const shown own[] = {
    {"{⍺+⍵}/⍬", "0"},
    {"{⍺×⍵}/2 0⍴0", "1 1"},
    {"{⍺⌊⍵}/⍬", "∞"},
    {"{⍺+⍵+0}/⍬", "!DOMAIN without an identity"},
    {"{⍵×⍵}∂2ₓ", "4"},
    {"{⍵×⍵}∂3ₓ₁", "6ₛ"},
    {"{⍵×⍵}∂$t", "2"},
    {"+/[200 100]ₓ₁", "44ₓ₁"},
    {"+/¹ [1 2⋄3 4]", "3 7"},
    {"⌽² [[1 2⋄3 4]⋄[5 6⋄7 8]]", "2 1\n4 3\n\n6 5\n8 7"},
    {"1 2(,⁰ ¹)[3 4⋄5 6]", "1 3 4\n2 5 6"},
    {"(⌽⁻)1 2 3", "3 2 1"},
    {"f←{⍵+1} ⋄ f⁻←{⍵-1} ⋄ f⁻5", "4"},
    {"f←{⍵+1} ⋄ f⁻←{⍵-1} ⋄ f⍣¯3⊢5", "2"},
    {"f←{⍵*2} ⋄ f∂←{⍺×5} ⋄ 2(f∂)3", "!DOMAIN bind the left one"},
    {",⍠1⊢[1 2⋄3 4]", "1 2\n3 4"},
};

static const shown errors[] = {
    {"1 2 3+¨1 2", "!LENGTH lengths 3 and 2"},
    {"1/2 3", "!DOMAIN replicate with #"},
    {"+⍤1 2 3 4⊢1", "!LENGTH one to three"},
    {"+⍤(1 1⍴0)⊢1 2", "!RANK"},
    {"+⍤'a'⊢1 2", "!DOMAIN"},
    {"{⍵}⍠2⊢1 2", "!DOMAIN no axis 2"},
    {"{⍵}⍠\"k\"⊢1 2", "!INDEX no axis \"k\""},
    {"+\\⍠0 1⊢2 2⍴1", "!RANK one axis"},
    {"+⊗1 2", "!SYNTAX two arguments"},
    {"(2 3⍴0)+.×4 5⍴0", "!LENGTH lengths 3 and 4"},
    {"-.×2 2 2⍴0", "!RANK a matrix"},
    {"-.×65 65⍴'a'", "!LIMIT 64"},
    {"{⍵}⌸5", "!RANK with an axis"},
    {"1 2{⍵}⌸1 2 3", "!LENGTH 2 and 3"},
    {"{⍵+1}⍣1.5⊢1", "!DOMAIN"},
    {"{⍵+1}⍣'a'⊢1", "!DOMAIN numbers"},
    {"{⍵+1}⍣[+ -]⊢1", "!DOMAIN"},
    {"{⍵+1}⍣¯1⊢1", "!DOMAIN no known inverse"},
    {"{⍵+1}⍣{2}⊢1", "!DOMAIN"},
    {"0⍚[]3", "!DOMAIN a vector of functions"},
    {"2⍚[+ -]3", "!INDEX outside the 2 cases"},
    {"1 2⍚[+ -]1 2", "!INDEX"},
    {"0.5 1⍚[+ -]1 2", "!DOMAIN"},
    {"1 0⍚[+ {1 2 3}]1 2", "!LENGTH one result for each"},
    {"[1 0⋄0 1]⍚[+ -]1 2", "!RANK the argument lacks"},
    {"9@5⊢1 2 3", "!INDEX"},
    {"1 2 3@0 1⊢1 2 3", "!LENGTH"},
    {"9@0⊢5", "!LENGTH a unit"},
    {"-@(+/)1 2 3", "!DOMAIN no known inverse"},
    {"-@[+ -]1 2", "!DOMAIN"},
    {"+/⌺0⊢1 2", "!DOMAIN a window of 0"},
    {"+/⌺9⊢1 2", "!DOMAIN a window of 9"},
    {"1+/⌺3⊢1 2 3", "!SYNTAX one argument"},
    {"{⍵}∂\"abc\"", "!DOMAIN"},
    {"{⍵ (⍵ ⍵)}∂1", "!DOMAIN not nested"},
    {"{⍵}∂1j2", "!UNSUPPORTED complex"},
    {"[\"method\":\"best\"]{⍵}⇄1", "!DOMAIN no method"},
    {"[\"method\":\"powell\"]{⍵}⇄1 2", "!UNSUPPORTED \"powell\""},
    {"[\"best\":1]{⍵}⇄1", "!DOMAIN no option"},
    {"5{⍵}⇄1", "!DOMAIN a record of options"},
    {"{⍵ ⍵}⇄1", "!DOMAIN one real number"},
    {"{⍵}⇄'a'", "!DOMAIN"},
    {"{⍵}⇄⍬", "!DOMAIN a number at least"},
    {"[\"lower\":2 \"upper\":1]{⍵}⇄1", "!DOMAIN above"},
    {"[\"lower\":[1 2 3]]{⍵}⇄1", "!LENGTH"},
    {"[\"solve\":$t \"bracket\":[2 3]](2-⍨⊼)⇄1", "!DOMAIN one sign"},
    {"6.5∧ᵇ3", "!DOMAIN whole"},
    {"6{2}ᵇ3", "!DOMAIN"},
    {"6∧ᵇ'a'", "!DOMAIN integers"},
};

static void test_effects(void **state) { (void)state; CHECK_ALL(effects); }
static void test_own(void **state) { (void)state; CHECK_ALL(own); }

static void test_errors(void **state)
{
    (void)state;
    CHECK_ALL(errors);
}

/* ---- laws ---------------------------------------------------------------------------------------------------------------------------- */

/* Each line is true: the same by all cells at once, and by calls that cannot be (an outer write makes them one by one). */
static const char *const laws[] = {
    "d←{⍺++/3¿9}\\30⍴0 ⋄ 4<≢∪(1↓d)-¯1↓d", "4<≢∪{+/3¿9}¨30⍴0",
    "a←3 4 5⍴⍳60 ⋄ f←{(+/⍵)×⌽⍵} ⋄ n←0 ⋄ g←{n+←1 ⋄ (+/⍵)×⌽⍵} ⋄ (f⍤1⊢a)≡(g⍤1⊢a)",
    "a←3 4 5⍴⍳60 ⋄ f←{⍉⍵+.×⍉⍵} ⋄ n←0 ⋄ g←{n+←1 ⋄ ⍉⍵+.×⍉⍵} ⋄ (f⍤2⊢a)≡(g⍤2⊢a)",
    "a←3 4⍴⍳12 ⋄ f←{⍺+2×⍵} ⋄ n←0 ⋄ g←{n+←1 ⋄ ⍺+2×⍵} ⋄ ((f/a)≡g/a)∧((f\\a)≡g\\a)∧((f⌿a)≡g⌿a)∧(f⍀a)≡g⍀a",
    "x←1 2 3 ⋄ y←4 5 ⋄ f←{⍺ ⍵×⍺} ⋄ n←0 ⋄ g←{n+←1 ⋄ ⍺ ⍵×⍺} ⋄ (x(f⊗)y)≡x(g⊗)y",
    "x←1 2 3 ⋄ f←{⍵ ⍵+1} ⋄ n←0 ⋄ g←{n+←1 ⋄ ⍵ ⍵+1} ⋄ ((f¨x)≡g¨x)∧(f⍤0⊢x)≡g⍤0⊢x",
    "x←¿5 6⍴0 ⋄ f←{e←*⍵-⌈/⍵ ⋄ e÷+/e} ⋄ n←0 ⋄ g←{n+←1 ⋄ e←*⍵-⌈/⍵ ⋄ e÷+/e} ⋄ (f⍤1⊢x)≡(g⍤1⊢x)",
    "x←\"abc\" \"de\" ⋄ (⌽¨x)≡{⍵}¨⌽¨x",
    "a←2 3 4⍴⍳24 ⋄ f←{⌽⍵} ⋄ n←0 ⋄ g←{n+←1 ⋄ ⌽⍵} ⋄ (f⍠0⊢a)≡(g⍠0⊢a)",
    "a←2 3 4⍴⍳24 ⋄ (+/⍠0 2⊢a)≡{+/,⍵}⍠0 2⊢a",
    "x←¿20⍴0 ⋄ ((x>0.5)⍚[- ⊢]x)≡x×(x>0.5)+¯1×x≤0.5",
    "x←¿20⍴0 ⋄ (-@[0.5<] x)≡x×1-2×x>0.5",
    "x←5 3 9 1 ⋄ (⌽@<x)≡⌽@{⍵.[⍋⍵]} x",
    "x←⍳10 ⋄ ((1+)@(2|#⊢) x)≡x+2|x",
    "x←¿7⍴0 ⋄ ({+/⍵*2}∂x)≡2×x",
    "x←¿3⍴0 ⋄ ({⍵*3}∂∂¨x)≡6×x",
    "x←¿3 4⍴0 ⋄ ({+/⍵×⍵}∂⍤1⊢x)≡2×x",
    "x←¿4⍴0 ⋄ ({+/{⍵×⍵}¨⍵}∂x)≡2×x",
    "x←¿4⍴0 ⋄ ({⍺+⍵×⍵}/∂x)≡{⍺+⍵×⍵}/∂x",
    "k←¿100⍴5ₓ ⋄ v←¿100⍴9ₓ ⋄ (k(+/⊢)⌸v)≡k{+/⍵}⌸v",
    "k←¿100⍴5ₓ ⋄ (≢⊢ ⌸k)≡{≢⍵}⌸k",
    "k←\"mississippi\" ⋄ (≢⊢ ⌸k)≡{≢⍵}⌸k",
    "k←0.5×¿50⍴9ₓ ⋄ (≢⊢ ⌸k)≡{≢⍵}⌸k",
    "x←1 2 3 ⋄ ((⊽⍣(⍳5)) x)≡{(⊽⍣⍵)x}¨⍳5",
    "m←¿5 5⍴100ₓ ⋄ (-.×m)≡⌊0.5+-.×m+0",
    "m←¿3 4⍴9 ⋄ n←¿4 2⍴9 ⋄ (m+.×n)≡m{⍺+⍵}.{⍺×⍵}n",
    "m←¿3 4⍴9 ⋄ n←¿4 2⍴9 ⋄ (m⌊.+n)≡m{⍺⌊⍵}.{⍺+⍵}n",
};

/* Searches end where the least point is known to be. */
static const char *const searches[] = {
    "p←(⊼2-⍨)⇄10 ⋄ 1E¯7>|2-p",
    "r←{[x y]←⍵ ⋄ ⊼1-x + 100×⊼y-⊼x} ⋄ p←[\"tolerance\":1E¯14] r⇄ ¯1.2 1 ⋄ ∧/1E¯9>|1-p",
    "r←{[x y]←⍵ ⋄ ⊼1-x + 100×⊼y-⊼x} ⋄ p←[\"method\":\"nelder-mead\" \"tolerance\":1E¯14] r⇄ ¯1.2 1 ⋄ ∧/1E¯3>|1-p",
    "r←{[x y]←⍵ ⋄ ⊼1-x + 100×⊼y-⊼x} ⋄ p←[\"lower\":[¯∞ 0] \"upper\":[0.8 ∞]] r⇄ 0.5 0.5 ⋄ ∧/1E¯3>|p-0.8 0.64",
    "c←{⍵.((⊼gap-6) + ⊼margin-2×gap)} ⋄ p←c⇄[\"gap\":8 \"margin\":12] ⋄ (1E¯6>|6-p.gap)∧1E¯6>|12-p.margin",
    "p←[\"solve\":$t] (2-⍨⊼)⇄ 1 ⋄ 1E¯12>|p-√2",
    "p←[\"solve\":$t \"bracket\":[0 5]] (2-⍨⊼)⇄ 1 ⋄ 1E¯12>|p-√2",
    "f←{[x y]←⍵ ⋄ [(⊼x)+(⊼y)-4 y-x-1]} ⋄ p←[\"solve\":$t \"tolerance\":1E¯14] f⇄ 1 0 ⋄ ∧/1E¯9>|p-1.8228756555322954 0.8228756555322954",
    "x←⍳5 ⋄ y←2.1 5.4 15.2 40.3 109.1 ⋄ p←[\"solve\":$t \"tolerance\":1E¯12] {⍵.((a×*b×x)-y)}⇄ [\"a\":1 \"b\":1] ⋄ (1E¯7>|2.055580005-p.a)∧1E¯7>|0.9928844207-p.b",
    "r←[\"method\":\"nelder-mead\" \"evaluations\":10 \"report\":$t] {+/⊼⍵-3}⇄ 1 2 ⋄ (10=r.evaluations)∧~r.converged",
    "p←{⊼⍵-3}⇄1ₛ ⋄ 1E¯3>|3-p",
};

static void test_searches(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof searches / sizeof *searches; i++) {
        bpl_world w;
        wg_bpl_outcome outcome;
        bpl_world_open(&w);
        if (!wg_bpl_run(w.bpl, NULL, searches[i], strlen(searches[i]), &outcome)) fail_msg("%s: %s", searches[i], outcome.report);
        if (strcmp(outcome.display, "$t") && strcmp(outcome.display, "1")) fail_msg("%s: %s", searches[i], outcome.display);
        bpl_world_close(&w);
    }
}

static void test_laws(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        bpl_world w;
        wg_bpl_outcome outcome;
        bpl_world_open(&w);
        if (!wg_bpl_run(w.bpl, NULL, laws[i], strlen(laws[i]), &outcome)) fail_msg("%s: %s", laws[i], outcome.report);
        if (strcmp(outcome.display, "$t") && strcmp(outcome.display, "1") && strcmp(outcome.display, "1ₓ")) fail_msg("%s: %s", laws[i],
            outcome.display);
        bpl_world_close(&w);
    }
}

/* Loops that need not call their function again, and those that must, beside calls that cannot be watched: g writes to a name outside. */
static const struct { const char *function, *state; } loops[] = {
    {"{⍵+0.01×-⍵}", "3.5"}, {"{⍵+1}", "5ₓ"}, {"{⍵×3ₓ}", "7ₓ"}, {"{⍵×2ₓ₂}", "5ₓ₂"}, {"{~⍵}", "$t"}, {"{⍵÷0}", "1.5"}, {"{√⍵-10}", "3.5"}, {"{⍵×1ⱼ1}", "1.5"},
    {"{n←⍵ ⋄ n×1.01}", "1 2 3"}, {"{⍵.[0]+⍵}", "1.5 2 3"}, {"{⌽⍵+1}", "⍳5"}, {"{+\\⍵÷4}", "5 2 4 1"}, {"{⍵>5?⍵-1.5;⍵+1}", "1.5"}, {"(⊢×0.5+⊢)", "0.1"},
    {"{⍵+\"DOMAIN\"::⍵ ⋄ 1}", "1.5"}, {"{{⍵×0.9}⍣7⊢⍵+1}", "1.5"}, {"{⍵×2}", "[\"a\":1.5 \"b\":2]"}, {"{⍵,1}", "1.5"}, {"{w+.×⍵}", "1 2"}, {"{(+/,w)×⍵}", "0.75 2"},
    {"{⍺0⊘1 ⍵}", "2.5"}, {"{|⍵-1ᵣ3}", "7ᵣ2"}, {"{⍵}", "1.5"}, {"{2.5+0×⍵}", "1.5"}, {"{×⍵}", "¯1.5ₛ"}, {"{⍵≡1.5}", "1.5"}, {"{⍉⍵÷3}", "w"}, {"{⍵×k}", "1.5"},
};

static void test_loops_are_their_calls(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        static const char *const forms[] = { /* of h, which is f and then g */
            "h⍣23⊢⍵", "h⍣4 19 2⊢⍵", "•literal⁻h⍣23⊢⍵", "{⍺×h ⍵}/30⍴1.5 0.75", "{h ⍺-⍵}\\30⍴1.5 0.75", "⍵{h ⍵-⍺}\\30⍴5ₓ 4"};
        for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
            char text[1024];
            bpl_world w;
            wg_bpl_outcome outcome;
            snprintf(text, sizeof text, "n←0 ⋄ k←+/0.25 0.5 ⋄ w←2 2⍴0.5 0.1 0.2 0.4 ⋄ x←%s ⋄ f←%s ⋄ g←{n+←1 ⋄ f ⍵} ⋄ t←{h←f ⋄ ∞::$e.kind ⋄ %s}x ⋄ t≡{h←g ⋄ ∞::$e.kind ⋄ %s}x",
                     loops[i].state, loops[i].function, forms[k], forms[k]);
            bpl_world_open(&w);
            bool done = wg_bpl_run(w.bpl, NULL, text, strlen(text), &outcome);
            if (!done || strcmp(outcome.display, "$t")) fail_msg("%s: %s%s", text, done ? outcome.display : "", done ? "" : outcome.report);
            bpl_world_close(&w);
        }
    }
}

/* Loops until a function says so: those of one run, and those that are called step by step, beside calls that cannot be watched. */
static const struct { const char *function, *predicate, *state; bool runs; } untils[] = {
    {"{⍵+1}", "{⍺>90}", "0", true}, {"{⍵+3ₓ}", "{50<+/⍺}", "[1 2]ₓ", true}, {"{2○⍵}", "≡", "1 2", true}, {"{2○⍵}", "(≡)", "1ₛ", true}, {"{⍵÷2}", "{(⍵-⍺)<0.01×c}", "9.5", true},
    {"{⍵×$n}", "≡", "1 2", true}, {"{⍵}", "≡", "5", false}, {"{~⍵}", "{⍺}", "$t", false}, {"{⍵>50?⍵;⍵+7}", "≡", "0", false}, {"{⍵,1}", "{5=≢⍺}", "0", false},
    {"{⍵+1}", "{⍺>9?1;0}", "0", false}, {"{⍵+1}", "{m←⍺ ⋄ 9<m}", "0", true}, {"{⍵+1}", "{c+←⍺ ⋄ ⍺>9}", "0", false}, {"{⍵+1}", "{⍺>3 4}", "0", false}, {"{⍵-1}", "{⍺}", "9", false},
    {"{⍵×2}", "{9<⌈/⍺}", "[\"a\":1.5 \"b\":2]", false}, {"{⍵+0.5}", "{⍺>9}", "5000⍴1 2", false}, {"{⍵-0.5×k.[⌊⍵]}", "{⍺<0}", "3", false},
};

static void test_ends_are_their_calls(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof untils / sizeof *untils; i++) {
        char text[1024];
        bpl_world w;
        wg_bpl_outcome outcome;
        wg_event event;
        int loops_run = 0;
        snprintf(text, sizeof text, "n←0 ⋄ c←+/0.25 0.75 ⋄ k←1 2 3 4 ⋄ f←%s ⋄ g←{n+←1 ⋄ f ⍵} ⋄ t←{∞::$e.kind ⋄ f⍣%s⊢⍵}%s ⋄ t≡{∞::$e.kind ⋄ g⍣%s⊢⍵}%s", untils[i].function,
                 untils[i].predicate, untils[i].state, untils[i].predicate, untils[i].state);
        bpl_world_open(&w);
        wg_lazy_explain(w.bpl->lazy, true);
        bool done = wg_bpl_run(w.bpl, NULL, text, strlen(text), &outcome);
        if (!done || strcmp(outcome.display, "$t")) fail_msg("%s: %s%s", text, done ? outcome.display : "", done ? "" : outcome.report);
        for (uint64_t at = 0; wg_lazy_event(w.bpl->lazy, at, &event); at++) loops_run += !strcmp(event.what, "loop");
        if (loops_run != untils[i].runs) fail_msg("%s: %d loops ran", text, loops_run);
        bpl_world_close(&w);
    }
}

/* Maps whose cells take different ways, at once or in groups, beside calls that cannot be: g writes to a name outside. Together: no call by itself. */
static const struct { const char *function, *cells; bool together; } choices[] = {
    {"{⍵>3?⍵;0}", "0.5×⍳9", true}, {"{⍵<1?0;⍵<2?1;⍵<3?2;3}", "0.5×⍳9", true}, {"{2|⍵?1+3×⍵;⍵÷2}", "⍳9", true}, {"{2ₓ|⍵?1ₓ+3ₓ×⍵;⍵}", "⍳ₓ9", true},
    {"{a←⍵×2 ⋄ a>6?b←a+1 ⋄ a←b×2 ⋄ a;a}", "⍳9", true}, {"{⍵>3?'a';'b'}", "⍳9", true}, {"{⍵>3?\"aa\";\"bb\"}", "⍳9", true},
    {"{a←⍵>4 ⋄ {a?-⍵;⍺←1 ⋄ ⍵+1}⍵}", "⍳9", true}, {"{⍵>3?⍵>2;⍵<1}", "⍳9", true}, {"{({⍵>3?0.5;1}⍵)+2ₛ}", "⍳9", true}, {"{⍵>0?÷⍵;⍵}", "¯2+⍳5", true}, {"{⍵>3?⍺;⍵}", "⍳9", false},
    {"{∞::9 ⋄ ⍵>3?⍵;0}", "⍳9", false}, {"{⍵>3?⍵;⍳⍵}", "⍳5", false}, {"{⍵>3?⍵;10⍴⍵}", "⍳9", false}, {"{⍵>3?2ₛ;0}", "⍳9", false}, {"{⍵>3?2ₓ;⍵}", "⍳9", false}, {"{⍵>8?⍵}", "9+⍳9", false},
    {"{⍵<2?⍵;(∇⍵-1)+∇⍵-2}", "⍳6", false}, {"{⍵<9?∇⍵+4;⍵}", "⍳9", false}, {"{⍵>3?\"a\";⍵}", "⍳9", false}, {"{⍵?1;0}", "0 1 1 0", true}, {"{⍵=2?⍵÷ₓ0;⍵}", "⍳ₓ2", true},
    {"{√⍵-2}", "⍳4", false}, {"{⍵>1?√⍵-1;⍵}", "⍳4", false}, {"{⍵=0?0;6ₓ÷⍵}", "⍳ₓ4", false}, {"{⍵=0?0ₓ;6ₓ÷⍵}", "⍳ₓ4", false}, {"{⍵=1?+/⍳200×⍵;⍵}", "⍳3", false},
    {"{a←100⍴⍵ ⋄ ⍵>1?+/a;⍵}", "⍳3", false}, {"{√⍵-9}", "⍳4", true}, {"{⍵<8?+/√⍵-9 10;⍵}", "⍳4", false}, {"{{⍵>1?⍵×⍵;2×⍵}∂⍵}", "⍳3", false}, {"{2|⍵?∇⍵+3;⍵}", "⍳4", false},
    /* What no cell chooses does not run: it would fail, or never end. */
    {"{⍵<10?⍵;{∇⍵}0}", "⍳5", false}, {"{⍵<10?⍵;{1+∇⍵}0}", "⍳5", false}, {"{⍵<10?⍵;+/⍳1e300}", "⍳5", false},
};
/* What only groups can do together. */
static const char *const grouped[] = {"{√⍵-2}", "{⍵>1?√⍵-1;⍵}", "{⍵=0?0;6ₓ÷⍵}", "{⍵=0?0ₓ;6ₓ÷⍵}", "{⍵>3?2ₓ;⍵}", "{⍵>3?10⍴⍵;⍵}", "{⍵>3?\"a\";⍵}", "{⍵>3?[⍵ 1];⍵}",
    "{√⍵-9 2}", "{⍵>3?2ₛ;0}"};

static int fallbacks(wg_lazy *lazy)
{
    wg_event event;
    int told = 0;
    for (uint64_t at = 0; wg_lazy_event(lazy, at, &event); at++) told += !strcmp(event.what, "fallback");
    return told;
}

/* name←: a form of h, which is f or g, of x, or the error that it ends in; "UNSUPPORTED", which nothing catches, is one too. */
static void set_name(bpl_world *w, const char *name, const char *function, const char *form)
{
    char text[512];
    wg_bpl_outcome outcome;
    snprintf(text, sizeof text, "%s←{h←%s ⋄ ∞::$e.kind $e.message ⋄ %s}x", name, function, form);
    bool done = wg_bpl_run(w->bpl, NULL, text, strlen(text), &outcome);
    if (!done && strcmp(outcome.kind, "UNSUPPORTED")) fail_msg("%s: %s", text, outcome.report);
    snprintf(text, sizeof text, "%s←\"UNSUPPORTED\"", name);
    if (!done) assert_true(wg_bpl_run(w->bpl, NULL, text, strlen(text), &outcome));
}

/* A form of f is that of calls of it one by one. Answers how often f was called one by one after all. */
static int same_as_calls(const char *function, const char *cells, const char *form)
{
    char text[512];
    bpl_world w;
    wg_bpl_outcome outcome;
    snprintf(text, sizeof text, "n←0 ⋄ x←%s ⋄ f←%s ⋄ g←{n+←1 ⋄ ⍺ f ⍵}", cells, function);
    bpl_world_open(&w);
    if (!wg_bpl_run(w.bpl, NULL, text, strlen(text), &outcome)) fail_msg("%s: %s", text, outcome.report);
    set_name(&w, "t", "g", form);
    wg_lazy_explain(w.bpl->lazy, true);
    set_name(&w, "s", "f", form);
    int told = fallbacks(w.bpl->lazy);
    if (!wg_bpl_run(w.bpl, NULL, "t≡s", strlen("t≡s"), &outcome) || strcmp(outcome.display, "$t")) {
        wg_bpl_run(w.bpl, NULL, "s t", strlen("s t"), &outcome);
        fail_msg("%s of %s, %s: %s", function, cells, form, outcome.display);
    }
    bpl_world_close(&w);
    return told;
}

static void test_choices_are_their_calls(void **state)
{
    static const char *const forms[] = {"•literal⁻h¨⍵", "•literal⁻h⍤0⊢⍵", "•literal⁻(⍵ h¨⌽⍵)", "•literal⁻(⍵ h⊗3↑⍵)", "•literal⁻(2.5 h¨⍵)", "•literal⁻{+/∊h¨⍵}∂⍵", "•literal⁻h∂¨⍵",
        "•literal⁻h¨2 2⍴⍵", "•literal⁻h¨[\"k\":≢⍵]⍴⍵", "•literal⁻{h¨⍵}⍤1⊢2 3⍴⍵", "•literal⁻h¨3000⍴⍵"};
    (void)state;
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
            int told = same_as_calls(choices[i].function, choices[i].cells, forms[k]);
            if (!k && !told != choices[i].together) fail_msg("%s of %s: %d fallbacks", choices[i].function, choices[i].cells, told);
        }
    }
    for (size_t i = 0; i < sizeof grouped / sizeof *grouped; i++)
        if (same_as_calls(grouped[i], "⍳5", "•literal⁻h¨3000⍴⍵")) fail_msg("%s: not in groups", grouped[i]);
    if (same_as_calls("{⍵>4?∞;⍺>3?⍵;⍺}", "300⍴0.5×⍳13", "•literal⁻((⌽⍵)h¨⍵)")) fail_msg("two arguments");
}

/* A map that was called cell by cell after all, and a loop that was, say why, to who asks. */
static void test_fallback_is_told(void **state)
{
    (void)state;
    static const struct { const char *text; int told; } lines[] = {{"{⍵×2}⍤1⊢3 4⍴1", 0}, {"{⍵>1?⍵;-⍵}¨1 2 3", 0}, {"{⍵>1?⍵;3↑⍵}¨1 2 3", 1}, {"n←0 ⋄ {n+←1 ⋄ ⍵}¨1 2 3", 1},
        {"{⍵+0.5}⍣20⊢1.5", 0}, {"{⍵>9?⍵-4;⍵+1}⍣20⊢1.5", 1}, {"n←0 ⋄ {n+←1 ⋄ ⍵+n}⍣20⊢1.5", 1}, {"{⍺+2×⍵}/20⍴1.5", 0}, {"{⍺>⍵?⍺-1;⍵+⍺}\\20⍴1.5", 1}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        bpl_world w;
        wg_bpl_outcome outcome;
        wg_event event;
        int told = 0;
        bpl_world_open(&w);
        wg_lazy_explain(w.bpl->lazy, true);
        if (!wg_bpl_run(w.bpl, NULL, lines[i].text, strlen(lines[i].text), &outcome)) fail_msg("%s: %s", lines[i].text, outcome.report);
        for (uint64_t at = 0; wg_lazy_event(w.bpl->lazy, at, &event); at++) told += !strcmp(event.what, "fallback") && event.reason && event.reason[0];
        if (told != lines[i].told) fail_msg("%s: %d fallbacks are told, not %d", lines[i].text, told, lines[i].told);
        bpl_world_close(&w);
    }
}

/* ---- without memory ------------------------------------------------------------------------------------------------------------------ */

static const char *const everything[] = {
    "{⍵>1?⍵;-⍵}¨1 2 3", "{a←⍵ ⋄ ⍵>1?√⍵-1;a}¨400⍴⍳3", "{⍵>1?⍵ 1;⍵}¨400⍴⍳3", "{⍵×2}⍣9⊢1.5", "{⍵×2}⍣{⍺>50}⊢1.5", "{2○⍵}⍣≡⊢1.5 2", "{⍺+2×⍵}/9⍴1.5", "{⍺+2×⍵}\\9⍴1.5", "{⍵ ⍵}¨1 2 3", "{⍺,⍵}⊗⍨1 2", "[\"a\":1 \"b\":2],¨[\"b\":3]", "{⍵⍴1}⍤0⊢1 2", "+/⍤1⊢2 2⍴1", "{⍺-2×⍵}/2 3⍴⍳6", "{⍺,⍵}\\1 2 3",
        "+/⍠\"i\"⊢[\"i\":2 \"j\":2]⍴⍳4",
    "(2 2⍴1)+.×2 2⍴2", "⌈.⌊[1 5⋄4 2]", "1 2 1{⍵}⌸3 4 5", "⊽⍣(0 2 ¯1)⊢4", "≥⍣[{⍺=3}]0", "0 1 2⍚[- 9 10×]1 2 3", "⌽@(1↓)1 2 3", "⌽@<3 1 2",
        "-@[1<]1 2 3", "+\\@∊[3 1;2 5]",
    "9@[[1 2]][1 2 3;4 5 6]", "{+/⍵×⍵}∂1 2", "{⍵.a×⍵.b}∂[\"a\":1 \"b\":2]", "{(0⊃⍵)×+/1⊃⍵}∂[1 2;3 4 5]", "{\"RANK\"::0 ⋄ ⍵×⊂+/0⊃⍵}(1 2⋄3⋄4 5⋄6⋄7 8 9⋄1⋄2 3⋄4⋄5 6⋄7)",
    "f←{⍵*2} ⋄ f∂←{⍺×2×⍵} ⋄ {+/f ⍵}∂1 2", "+/⌺3⊢1 2 3", "6 3∧ᵇ5",
        "(⊽@⌽)⁻2 4 6", "-\\⁻5 3 1",
    "1 2+⊗⁻1 2+⊗10 20", "(×↢*)⁻1", "1○⁻2", "⍸⁻0 2 2", "1 0 1#⁻3 4", "{+/⊼⍵-1 2}⇄0 0", "[\"method\":\"nelder-mead\" \"report\":$t]{⊼⍵-1}⇄0",
        "[\"solve\":$t](2 3-⊼)⇄1",
};

/* Every allocation fails once: LIMIT (or the value, where somebody could do without), and nothing is left behind. */
static void test_without_memory(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof everything / sizeof *everything; k++) {
        bpl_world w;
        wg_bpl_outcome outcome;
        bpl_world_open(&w);
        long long before = atomic_load(&w.memory.asked);
        assert_true(wg_bpl_run(w.bpl, NULL, everything[k], strlen(everything[k]), &outcome));
        long long needed = atomic_load(&w.memory.asked) - before;
        bpl_world_close(&w);
        for (long long at = 1; at <= needed; at += 1 + needed / 150) {
            bpl_world_open(&w);
            w.memory.fails_at = atomic_load(&w.memory.asked) + at;
            bool done = wg_bpl_run(w.bpl, NULL, everything[k], strlen(everything[k]), &outcome);
            if (!done && strcmp(outcome.kind, "LIMIT")) fail_msg("%s without allocation %lld of %lld: %s", everything[k], at, needed, outcome.report);
            w.memory.fails_at = 0;
            bpl_world_close(&w);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_effects), cmocka_unit_test(test_output_in_order), cmocka_unit_test(test_own),
        cmocka_unit_test(test_errors),  cmocka_unit_test(test_laws),            cmocka_unit_test(test_without_memory),
            cmocka_unit_test(test_searches), cmocka_unit_test(test_fallback_is_told), cmocka_unit_test(test_loops_are_their_calls),
            cmocka_unit_test(test_ends_are_their_calls), cmocka_unit_test(test_choices_are_their_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
