/* SPDX-License-Identifier: ISC */
/*
 * jit_names.c - the functions that a just-in-time compiler has made, by the file that it writes
 *
 * Node with --perf-basic-prof, Python with -X perf and agents for Java write perf-PID.map in /tmp,
 * a line for each function: its address and size in hexadecimal, and its name. The pid is that in
 * the process' own pid namespace. The file belongs to the traced program and is untrusted.
 */
#include <sys/stat.h>

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"
#include "elf/elf.h"
#include "record.h"

enum { FILE_MOST = 64 << 20 };  /* bytes of a file that are read */

static int by_place(const void *a, const void *b)
{
	const struct elf_function *x = a, *y = b;

	/* of functions at one place the last line counts: its code has replaced the others */
	return x->from != y->from ? x->from < y->from ? -1 : 1 : x->rank - y->rank;
}

void jit_parse(char *text, size_t n, struct elf_functions *f)
{
	char *end = text + n, *next;
	int line = 0;

	*f = (struct elf_functions){ .names = text, .names_size = n };
	for (char *s = text; s < end; s = next + 1) {
		struct elf_function function = { .rank = line++ };
		const char *at = s;
		uint64_t size;

		next = memchr(s, '\n', (size_t)(end - s));
		if (!next)
			return; /* the line is being written */
		*next = '\0';
		function.from = text_hex(&at, next);
		if (at == s || *at != ' ')
			continue;
		at++;
		size = text_hex(&at, next);
		if (*at != ' ' || !at[1] || !size || size > UINT32_MAX)
			continue;
		function.size = (uint32_t)size;
		function.name = (uint32_t)(at + 1 - text);
		f->v = xgrow(f->v, f->n, &f->room, sizeof(function));
		f->v[f->n++] = function;
	}
}

/* Return the pid of a process in its own namespace, or the same pid. */
static int pid_inside(int tgid)
{
	char path[64], *text, *line;
	int pid = tgid;

	str_format(path, sizeof(path), "%s/%d/status", path_procfs(), tgid);
	text = file_read(AT_FDCWD, path, NULL);
	line = text ? strstr(text, "\nNSpid:") : NULL;
	for (const char *s = line ? line + 7 : ""; *s == '\t' || *s == ' ';) {
		s++;
		pid = (int)text_digits(&s);
	}
	free(text);
	return pid ? pid : tgid;
}

/* Open the file, unless it is a link: anybody can make one in /tmp. Return -1 and errno. */
static int open_map(const char *path)
{
	struct stat st, itself;
	int fd = stranger_open(path, &st);

	if (fd >= 0 && (lstat(path, &itself) < 0 || itself.st_ino != st.st_ino ||
			itself.st_dev != st.st_dev)) {
		close(fd);
		fd = -1;
		errno = ELOOP;
	}
	return fd;
}

void jit_read(const void *tgid, struct stranger_answer *a)
{
	struct elf_functions f;
	char path[128], *text;
	size_t n;
	int pid, fd;

	memcpy(&pid, tgid, sizeof(pid));
	str_format(path, sizeof(path), "%s/%d/root/tmp/perf-%d.map", path_procfs(), pid,
		   pid_inside(pid));
	fd = open_map(path);
	if (fd < 0) { /* the process has ended */
		str_format(path, sizeof(path), "/tmp/perf-%d.map", pid);
		fd = open_map(path);
	}
	str_format(path, sizeof(path), "%s/self/fd/%d", path_procfs(), fd);
	text = fd < 0 ? NULL : file_read_most(AT_FDCWD, path, FILE_MOST, &n);
	a->error = text ? 0 : errno;
	fd_close(fd);
	if (!text)
		return;
	jit_parse(text, n, &f);
	if (f.n)
		array_sort(f.v, f.n, sizeof(*f.v), by_place);
	a->part[0] = f.v;
	a->size[0] = f.n * sizeof(*f.v);
	a->part[1] = text;
	a->size[1] = n;
}
