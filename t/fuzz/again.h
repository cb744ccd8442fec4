/* SPDX-License-Identifier: ISC */
/*
 * again.h - run the main of a tool on input after input, in one process
 *
 * A tool expects to run once: it ends with exit(3), keeps its tables in static variables, and
 * leaves memory, maps and descriptors to the kernel. So after each run everything is as before
 * it: t/fuzz/state.ld puts the variables of the library and of the target into one place, and
 * again.c restores that, frees what the run has allocated, unmaps what it has mapped, and
 * closes what it has opened.
 */
#ifndef AGAIN_H
#define AGAIN_H

#include "fuzz.h"

struct again {
	int (*main)(int, char **);
	/*
	 * Command lines, each a string of words, with ^ for a space in a word, up to NULL. The
	 * first byte of the input selects one. A word "%" is a file with the next part of the
	 * input, up to a NUL; "N=%" is one, too. "&" is a file with all of the rest. A "!" in
	 * front: standard output is a terminal.
	 */
	const char *const *lines;
	/* Check the output of a run with this command line. */
	void (*check)(const char *out, size_t n, int status, const char *line);
};

/*
 * Run the main on the input after its first byte. Check that its status is one of those that a
 * valid command line may lead to, and that it fails with a message. Each eighth size runs twice,
 * and must print the same twice.
 */
void run_again(const struct again *, const uint8_t *data, size_t size);

/* Define the target of tool_main, with this check and these command lines. */
#define RUN_AGAIN(check_of_run, ...) \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) \
	{ \
		static const char *const lines[] = { __VA_ARGS__, NULL }; \
		static const struct again again = { tool_main, lines, check_of_run }; \
\
		run_again(&again, data, size); \
		return 0; \
	}

/* Check that a text has no control characters but newlines and tabs. */
void must_be_clean(const char *text, size_t n);

/* Check that a text is one element of XML with elements in each other. */
void must_be_xml(const char *text, size_t n);

#endif
