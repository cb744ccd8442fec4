/* SPDX-License-Identifier: ISC */
/* wait_words.c - what a task waits for, by its system call and the file of the descriptor */

#include "calls/calls.h"
#include "why/why.h"

/* Is the argument a descriptor, a pid or another int, and no address? */
static int is_small(uint64_t argument)
{
	enum { BITS = 22 }; /* of PID_MAX_LIMIT; the kernel has less than that below address 0 */

	return argument >> BITS == 0 || (int64_t)argument >> BITS == -1 ||
	       (argument >> 32 == 0 && (int32_t)argument >> BITS == -1);
}

/* Return the word for what the call waits for. */
static const char *word_for(const char *call, const char *file)
{
	static const struct {
		char word[9], file[10];
	} files[] = {
		{ "pipe", "pipe" }, { "socket", "socket" }, { "socket", "TCP" },
		{ "socket", "UDP" }, { "socket", "UNIX" }, { "socket", "NETLINK" },
		{ "terminal", "/dev/pts/" }, { "terminal", "/dev/tty" }, { "file", "/" },
	};
	static const char anon[] = "anon_inode:";
	const char *word = role_waits(role_of_call(call));

	if (word)
		return word;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (!strncmp(file, files[i].file, strlen(files[i].file)))
			return files[i].word;
	return !strncmp(file, anon, sizeof(anon) - 1) ? "event" : "call";
}

void why_describe(struct why_wait *wait, const char *call, const uint64_t *first, const char *file)
{
	struct out o = out_to(wait->detail, sizeof(wait->detail) - 2);
	const int64_t number = first ? (int32_t)*first : 0;

	wait->on = word_for(call, file);
	out_string(&o, call);
	if (first && !strcmp(wait->on, "futex")) {
		out_char(&o, '(');
		out_address(&o, *first);
		out_char(&o, ')');
	} else if (*file && role_of_call(call)->is & IS_POLLS) {
		out_format(&o, "(%s)", file);
	} else if (first && number != -1 && is_small(*first) &&
		   !(role_of_call(call)->is & IS_NO_OBJECT)) {
		out_char(&o, '(');
		if (number == AT_FDCWD)
			out_string(&o, "AT_FDCWD");
		else
			out_signed(&o, number);
		out_string(&o, *file ? "<" : "");
		out_string(&o, file);
		out_string(&o, *file ? ">)" : ")");
	}
	*o.at = '\0';
}
