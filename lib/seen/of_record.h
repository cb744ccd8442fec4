/* SPDX-License-Identifier: ISC */
/* of_record.h - private to this layer: a record of a trace.dat as an event of lines.h */
#ifndef OF_RECORD_H
#define OF_RECORD_H

/*
 * Let l be the record, or the call; l is valid as long as they are, and until the next one. Return
 * 1, or 0 if its text is of a form of its own: then read its lines.
 */
int seen_record(struct seen *l, struct replay *, const struct record *,
		const struct decoded *call);

/* Print the text of the record or call, without the last newline. Return the length. */
size_t record_text(struct replay *, const struct record *, const struct decoded *call,
		   char *buf, size_t size);

#endif
