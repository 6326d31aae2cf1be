/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * How a name stands in program text: bare, or in quotes where it would be read as something else. */
#include <string.h>

#include "graph/graph.h"

bool graph_name_is_reserved(const char *text, size_t length)
{
    static const char *const words[] = {"program", "kind", "chips", "extent", "input", "parameter", "constant", "entry",
                                        "repeat",  "def",  "end",   "inf",    "nan",   "infi",      "nani",     "true",  "false"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && !memcmp(words[i], text, length)) return true;
    for (int kind = 0; kind < WG_KIND_COUNT; kind++)
        if (strlen(base_kinds[kind].name) == length && !memcmp(base_kinds[kind].name, text, length)) return true;
    return false;
}

bool graph_name_is_number(const char *text, size_t length, uint32_t *number)
{
    uint64_t digits;
    if (length < 2 || text[0] != 't' || text[1] < '0' || text[1] > '9' || (text[1] == '0' && length > 2)) return false;
    if (base_parse_unsigned(text + 1, length - 1, &digits) != length - 1) {
        for (size_t i = 1; i < length; i++)
            if (text[i] < '0' || text[i] > '9') return false;
        digits = WG_NONE; /* of the form, and beyond every node */
    }
    *number = digits < WG_NONE ? (uint32_t)digits : WG_NONE;
    return true;
}

static bool is_bare(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '.'))) return false;
    }
    return length > 0 && !graph_name_is_reserved(text, length);
}

void graph_name_print(const char *text, size_t length, uint32_t own, base_string *string)
{
    uint32_t number;
    bool bare = is_bare(text, length) && !(graph_name_is_number(text, length, &number) && (number != own || own == WG_NONE));
    if (bare) base_string_put(string, text, length);
    else base_string_quoted(string, text, length);
}
