/* SPDX-License-Identifier: ISC */
/* call_forms.h - private: the forms of a decoded call, as text and JSON */
#ifndef CALL_FORMS_H
#define CALL_FORMS_H

#include "show/show.h"

enum {
	PATH_REST = 2048,               /* bytes of a line after a path that another one follows */
	DETAILS_REST = 256,             /* after the last one */
};

/* Return the argument after i that is printed; i is -1 at first. Return -1 at the end. */
int form_next(const struct decoded *, int i);

/* Has the call a result that is known? */
int form_has_result(const struct decoded *);

/* Return the file of a descriptor, as decoded_file; count it if it is not known. */
const struct file_known *form_file_named(const struct decoded *, unsigned i, int64_t fd);

/*
 * Write a path in quotes, or in < and >, and leave so much room behind it. If there is no room for
 * all of it, "..." stands for its beginning.
 */
void form_put_path(struct out *, const char *path, enum escape how, size_t rest);

/* Write an argument, or the result, as text. */
void form_put_argument(const struct decoded *, unsigned i, struct out *);
void form_put_result(const struct show *, const struct decoded *, struct out *);

/* Write a time in microseconds with three decimals, or the number of a clock that counts. */
void form_put_latency(const struct show *, struct out *, uint64_t time);

/* Write the line of a call after its head: as C has it, by its files, or as JSON. */
void form_put_line(const struct show *, const struct decoded *, struct out *);
void form_put_files(const struct show *, const struct decoded *, const struct decoded_files *,
		    struct out *);
void form_put_json(const struct show *, const struct decoded *, const struct decoded_files *,
		   struct out *);

#endif
