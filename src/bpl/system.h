/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What the code of system names (system_*.c) shares: records of options, values item by item, functions that carry data. system_shared.c. */
#ifndef BPL_SYSTEM_H
#define BPL_SYSTEM_H

#include "bpl/bpl.h"

/* Whether a left argument is a record with none but these keys (NULL: no options). DOMAIN, which names the function (`who`) and the key. */
bool bpl_options_known(bpl_session *session, const bpl_value *options, const char *who, const char *const *names, int64_t count);
/* The item under a key of a record, such as options (NULL: none) that are known, owned; NULL: it is not given, or an error. */
bpl_value *bpl_option(bpl_session *session, const bpl_value *options, const char *name);
/* The same as a truth or a text (allocated: base_free(.., length + 1)); what is not given is left as it is. False: an error. */
bool bpl_option_truth(bpl_session *session, const bpl_value *options, const char *name, bool *truth);
bool bpl_option_text(bpl_session *session, const bpl_value *options, const char *name, char **text, size_t *length);

/* A nested array with code applied to each item; its keys stay. */
typedef bpl_value *(*bpl_data_code)(bpl_session *session, bpl_value *item, void *data);
bpl_value *bpl_each_item(bpl_session *session, bpl_value *value, void *data, bpl_data_code code);
/* An array of the shape and keys of another; atoms stay atoms. */
bpl_value *bpl_numbers_alike(bpl_session *session, const bpl_value *value, bpl_class class, wg_kind kind, const void *items);

/* A function of C code with its data (borrowed; call->function->left), of a row of system.def. */
bpl_value *bpl_native(bpl_session *session, uint16_t row, bpl_code code, bpl_value *data);

#endif
