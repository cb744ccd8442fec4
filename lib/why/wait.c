/* SPDX-License-Identifier: ISC */
/* wait.c - what a task waits for, by its system call and the file of the descriptor */

#include "why/why.h"

/* Is the word in the list, with spaces between? */
static int is_listed(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += n)
		if ((at == list || at[-1] == ' ') && (!at[n] || at[n] == ' '))
			return 1;
	return 0;
}

/* Calls whose first argument tells nothing of what they wait for. */
#define NO_OBJECT "pause vfork clone exit exit_group nanosleep clock_nanosleep " \
	"clock_nanosleep_time64 select pselect6 pselect6_time64 _newselect socketcall ipc sync " \
	"msync waitid prctl ioperm poll ppoll ppoll_time64 mmap mmap2 brk"

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
	/* arrays, not pointers: each wait searches them */
	static const struct {
		char word[18], calls[14][23];
	} words[] = {
#include "waits.h"
	};
	static const struct {
		const char *word, *file;
	} files[] = {
		{ "pipe", "pipe" }, { "socket", "socket" }, { "socket", "TCP" },
		{ "socket", "UDP" }, { "socket", "UNIX" }, { "socket", "NETLINK" },
		{ "terminal", "/dev/pts/" }, { "terminal", "/dev/tty" }, { "file", "/" },
	};
	static const char anon[] = "anon_inode:";

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		for (size_t k = 0; *words[i].calls[k]; k++)
			if (*words[i].calls[k] == *call && !strcmp(words[i].calls[k], call))
				return words[i].word;
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
	} else if (first && number != -1 && is_small(*first) && !is_listed(NO_OBJECT, call)) {
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

int why_sends(const char *call)
{
	return is_listed("write writev pwrite64 sendto sendmsg sendmmsg send sendfile sendfile64 "
			 "splice connect shutdown close exit exit_group", call);
}
