/* SPDX-License-Identifier: ISC */
/*
 * preload - make trace-cmd touch nothing but instances
 *
 * LD_PRELOAD loads it into trace-cmd. It replaces files outside instances/ that
 * trace-cmd would write, and files that a locked-down host refuses even to root
 * (set_ftrace_pid), by /dev/null or a copy.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

typedef int open_fn(const char *, int, ...);
typedef FILE *fopen_fn(const char *, const char *);

#define NEXT(type, name) ((type *)dlsym(RTLD_NEXT, name))

/* ftrace_enabled can be opened but refuses the write; all users share it as well. */
static int off_limits(const char *path, int writes)
{
	return writes && (strstr(path, "/ftrace_enabled") ||
			  (strstr(path, "/tracing/") && !strstr(path, "/instances/")));
}

static int locked_down(const char *path)
{
	return errno == EPERM && strstr(path, "/tracing/");
}

/* trace-cmd reads files before it writes them, to restore them: give it a copy. */
static int copy_of(const char *path)
{
	int from = NEXT(open_fn, "open")(path, O_RDONLY | O_CLOEXEC);
	int to = memfd_create("copy", MFD_CLOEXEC);
	char text[4096];
	ssize_t n;

	while ((n = read(from, text, sizeof(text))) > 0)
		if (write(to, text, (size_t)n) < 0)
			break;
	close(from);
	lseek(to, 0, SEEK_SET);
	return to;
}

static int pass(const char *path, int flags, mode_t mode)
{
	int fd = -1;

	if ((flags & O_ACCMODE) == O_RDWR && off_limits(path, 1))
		return copy_of(path);
	if (!off_limits(path, (flags & O_ACCMODE) != O_RDONLY)) {
		fd = NEXT(open_fn, "open")(path, flags, mode);
		if (fd >= 0 || !locked_down(path))
			return fd;
	}
	return NEXT(open_fn, "open")("/dev/null", flags & O_ACCMODE);
}

static FILE *fpass(const char *path, const char *mode)
{
	FILE *f;

	if (!off_limits(path, *mode != 'r' || strchr(mode, '+'))) {
		f = NEXT(fopen_fn, "fopen")(path, mode);
		if (f || !locked_down(path))
			return f;
	}
	return NEXT(fopen_fn, "fopen")("/dev/null", mode);
}

#define OPEN(name) \
int name(const char *path, int flags, ...) \
{ \
	mode_t mode = 0; \
	va_list ap; \
\
	va_start(ap, flags); \
	if (flags & O_CREAT) \
		mode = va_arg(ap, mode_t); \
	va_end(ap); \
	return pass(path, flags, mode); \
}

/* the names that a program's open may have, depending on how it was compiled */
OPEN(open)
OPEN(open64)

int __open_2(const char *path, int flags)
{
	return pass(path, flags, 0);
}

int __open64_2(const char *path, int flags)
{
	return pass(path, flags, 0);
}

FILE *fopen(const char *path, const char *mode)
{
	return fpass(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
	return fpass(path, mode);
}
