/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * bpl/: the array language. It reads text, binds it, and evaluates it; every number is an array of lazy/, so that fusion, plans, derivatives
 * and maps are not its business. It uses lazy/ through its public headers, base/, and of other people's libraries GMP (unbounded numbers),
 * PCRE2 (regular expressions), utf8proc (Unicode) and jansson (JSON), each of them optional.
 *
 *     text -> reader.c: tokens -> binder.c: trees, a statement at a time -> evaluate.c -> call.c: one entry for everything callable
 *          -> pervasive.c, or the code of a row -> lazy arrays (numbers) or host values (items.c)
 *
 * Start with tree.h (what text becomes), value.h (what is computed with), call.h (functions and their tables) and session.h (names, errors,
 * settings). The tables: glyphs.def (primitive functions), operators.def (modifiers), marks.def, system.def (•names), error_kinds.def,
 * tree.def.
 *
 *   reader.c binder.c print.c        text and trees              evaluate.c assign.c dfn.c stack.c  running them
 *   value.c items.c axes.c keys.c    values                      kinds.c pervasive.c rule_*.c       item by item functions and their kinds
 *   do_*.c                           the other primitives        derived_*.c fold.c under.c         modifiers
 *   frames.c cells.c map.c choose.c  frames, cells, all at once  inverse.c undo.c                   inverses
 *   derivative.c                     derivatives                 minimize.c solve.c                 searches
 *   recipe.c index.c put.c write.c   x.[..] read and written     display.c literal.c format.c       values as text
 *   system_*.c                       •names (system.h)           execute.c                          texts and files that are run
 *   distribution.c csv_dialect.c     parts of •distribution, •csv
 */
#ifndef BPL_BPL_H
#define BPL_BPL_H

#include "bpl/session.h"

#endif
