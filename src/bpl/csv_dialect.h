/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * CSV as others write it: the options of •csv. A text of a dialect is first written as RFC 4180 has it, and then read as any other. */
#ifndef BPL_CSV_DIALECT_H
#define BPL_CSV_DIALECT_H

#include "bpl/system.h"

typedef struct bpl_csv_dialect {
    uint32_t separator, quote, escape, decimal, thousands; /* code points; quote, escape, thousands 0: none */
    bool header, double_quote, trim;
    int64_t force_quotes;     /* writing: 0 where it must be, 2 all fields */
    char *line_end;           /* writing: \n or \r\n; owned, NULL: \n */
    size_t line_end_length;
    bpl_value *fill;          /* what stands for a number that lacks; owned, NULL: NaN */
    bpl_value *missing;       /* texts that say that a field lacks, beside nothing; owned, NULL: none */
    bpl_value *text_columns, *numeric_columns; /* names; owned, NULL: none */
    bool plain;               /* reading: RFC 4180 with a header */
} bpl_csv_dialect;

/* Options NULL: none. DOMAIN, LENGTH. Free it in any case. */
bool bpl_csv_dialect_read(bpl_session *session, const bpl_value *options, bool writes, bpl_csv_dialect *d);
void bpl_csv_dialect_free(bpl_session *session, bpl_csv_dialect *d);
/* The text with commas, quotes doubled in quotes, points, and a first line of names, which are numbers where the text has none. LENGTH, DOMAIN. */
bool bpl_csv_plain(bpl_session *session, const bpl_csv_dialect *d, const char *text, size_t length, base_string *out);

#endif
