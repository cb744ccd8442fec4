/* SPDX-License-Identifier: ISC */
/*
 * jit_names.c - the functions that a just-in-time compiler has made, by the file that it writes
 *
 * Node with --perf-basic-prof, Python with -X perf and agents for Java write perf-PID.map in /tmp,
 * a line for each function: its address and size in hexadecimal, and its name. The pid is that in
 * the process' own pid namespace. The file belongs to the traced program and is untrusted.
 */
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

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

/*
 * Open a file below the directory by names that are no links, if it belongs to this user: anybody
 * can make one in /tmp. Return -1 and errno.
 */
static int open_map(int root, const char *path, uid_t owner, struct stat *st)
{
	struct k_open_how how = { .flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC };
	int fd;

	how.resolve = K_RESOLVE_IN_ROOT | K_RESOLVE_NO_SYMLINKS | K_RESOLVE_NO_MAGICLINKS;
	fd = (int)syscall(K_NR_openat2, root, path, &how, sizeof(how));
	stranger_step();
	if (fd >= 0 && (fstat(fd, st) < 0 || !S_ISREG(st->st_mode) || st->st_uid != owner)) {
		close(fd);
		fd = -1;
		errno = EPERM;
	}
	return fd;
}

/*
 * Open the file of a process. After its end, its user is not known: take a new file of root in our
 * own /tmp.
 */
static int open_map_of(int pid)
{
	enum { NEW = 60 };      /* seconds */
	char path[64];
	struct stat st;
	pid_t tgid;
	uid_t uid;
	int root, fd;

	str_format(path, sizeof(path), "%s/%d/root", path_procfs(), pid);
	root = stranger_enter(STRANGER_PROCESS | (uint64_t)pid) < 0 ? -1 :
	       open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root >= 0 && !task_ids(pid, &tgid, &uid)) {
		str_format(path, sizeof(path), "tmp/perf-%d.map", pid_inside(pid));
		fd = open_map(root, path, uid, &st);
		close(root);
		return fd;
	}
	fd_close(root);
	root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	str_format(path, sizeof(path), "tmp/perf-%d.map", pid);
	fd = root < 0 ? -1 : open_map(root, path, 0, &st);
	fd_close(root);
	if (fd >= 0 && st.st_mtime + NEW < time(NULL)) {
		close(fd);
		fd = -1;
		errno = ESTALE;
	}
	return fd;
}

void jit_read(const void *tgid, struct stranger_answer *a)
{
	struct elf_functions f;
	char path[64], *text;
	size_t n;
	int pid, fd;

	memcpy(&pid, tgid, sizeof(pid));
	fd = open_map_of(pid);
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
