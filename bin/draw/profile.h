/* SPDX-License-Identifier: ISC */
/* profile.h - the forms of a profile: that of pprof, and that of OpenTelemetry (OTLP) */
#ifndef PROFILE_H
#define PROFILE_H

#include "base/base.h"

/* What a profile says before its samples. */
struct profile_head {
	const char *name, *unit;        /* of the weights of samples; name "": there are none */
	uint64_t from, to;              /* ns since 1970; 0: unknown */
};

/*
 * The functions that write a profile to standard output, in the order of their calls. They exit
 * REFUSED on an error.
 */
struct profile_form {
	void (*begin)(const struct profile_head *);
	/* Add a label, or a function, to the next sample, the outermost function first. */
	void (*label)(const char *key, struct text_part value);
	void (*function)(struct text_part name, int kernel);
	/* End the sample: a number of stacks, and their weight. */
	void (*sample)(uint64_t stacks, uint64_t weight);
	void (*comment)(const char *text);
	void (*end)(void);
};

/* pprof.c: proto/profile.proto of pprof, which reads it without gzip, too */
extern const struct profile_form profile_pprof;

/* otlp_profile.c: a line of OTLP's JSON, an ExportProfilesServiceRequest */
extern const struct profile_form profile_otlp;

#endif
