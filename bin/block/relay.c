/* SPDX-License-Identifier: ISC */
/* relay.c - read relay channels: one file per CPU in a directory of debugfs */
#include <poll.h>
#include <sched.h>
#include <sys/stat.h>

#include "base/base.h"
#include "host/host.h"
#include "blktrace.h"

/* More than any kernel supports. */
#define MOST_CPUS 16384

#define WORD_BITS (8 * sizeof(unsigned long))

typedef unsigned long cpus[MOST_CPUS / WORD_BITS]; /* a cpu_set_t of that size */

static int by_number(const void *a, const void *b)
{
	const struct relay_file *x = a, *y = b;

	return ASCENDING(x->cpu, y->cpu);
}

/* Open a relay file and append it to r. Return 0 or -1. */
static int add(struct relay *r, int dir, const char *path, const char *name, unsigned cpu)
{
	struct stat st;
	int fd;

	/* the open of a device may have side effects */
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_file("unable to look at %s/%s", path, name);
	if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
		return err_msg("%s/%s is neither a file nor a FIFO", path, name);
	fd = openat(dir, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == EPERM)
		return err_errno("unable to open %s/%s (the lockdown of the kernel forbids relay "
				 "files)", path, name);
	if (fd < 0)
		return err_file("unable to open %s/%s", path, name);
	r->v = xrealloc(r->v, r->n + 1, sizeof(*r->v));
	r->v[r->n] = (struct relay_file){ .fd = fd, .cpu = cpu };
	str_format(r->v[r->n++].name, sizeof(r->v->name), "%s", name);
	return 0;
}

/* Does the machine have more than one CPU? If nobody knows, it may have. */
static int several_cpus(void)
{
	char path[PATH_MAX], *online;
	int several;

	str_format(path, sizeof(path), "%s/devices/system/cpu/online", path_sysfs());
	online = file_read(AT_FDCWD, path, NULL);
	several = !online || strpbrk(online, "-,");
	free(online);
	return several;
}

int relay_open(struct relay *r, const char *path, const char *prefix)
{
	size_t len = strlen(prefix), first = r->n;
	unsigned long cpu;
	struct dirent *e;
	DIR *d = opendir(path);
	int result = 0;

	if (!d)
		return err_file("unable to open %s", path);
	while (!result && (e = readdir(d)))
		if (!strncmp(e->d_name, prefix, len) &&
		    !text_number(e->d_name + len, 0, MOST_CPUS - 1, &cpu))
			result = add(r, dirfd(d), path, e->d_name, (unsigned)cpu);
	closedir(d);
	if (result)
		return -1;
	if (r->n == first)
		return err_msg("no %s0 in %s: not a relay directory, or no channel is open "
			       "there", prefix, path);
	array_sort(r->v + first, r->n - first, sizeof(*r->v), by_number);
	r->v[first].alone = r->n - first == 1 && several_cpus();
	return 0;
}

/* ---- reading ---------------------------------------------------------------- */

/* Move to the CPU that writes the file. Return 0, or -1 if that is impossible. */
static int run_on(const struct relay_file *f)
{
	cpus only = { 0 };

	if (f->alone)
		return f->ready - 1; /* its CPU is unknown: read only full sub-buffers */
	only[f->cpu / WORD_BITS] = 1ul << f->cpu % WORD_BITS;
	return sched_setaffinity(0, sizeof(only), (const cpu_set_t *)only);
}

/* Give all bytes of the file to sink. Return 0 or -1. */
static int read_file(struct relay_file *f, relay_sink *sink, void *arg)
{
	static char chunk[128 * 1024];
	ssize_t n;

	while ((n = read(f->fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0)
			return err_errno("unable to read %s", f->name);
		f->ready = 0;
		if (sink(arg, f, chunk, (size_t)n) < 0)
			return -1;
	}
	return 0;
}

int relay_read(struct relay *r, int last, relay_sink *sink, void *arg)
{
	cpus before;
	int known = sched_getaffinity(0, sizeof(before), (cpu_set_t *)before) >= 0;
	int result = 0;

	for (size_t i = 0; i < r->n && !result; i++)
		/* an offline CPU writes nothing; last reads the bytes that it has left */
		if (run_on(&r->v[i]) >= 0 || last || r->v[i].ended)
			result = read_file(&r->v[i], sink, arg);
	if (known)
		sched_setaffinity(0, sizeof(before), (const cpu_set_t *)before);
	return result;
}

int relay_wait(struct relay *r, int signals, int out, int ms)
{
	struct pollfd *p = xcalloc(r->n + 2, sizeof(*p));
	size_t left = 0;

	for (size_t i = 0; i < r->n; i++) {
		struct relay_file *f = &r->v[i];

		/* poll(2) always reports a plain file readable: do not wait for it */
		p[i] = (struct pollfd){ .fd = f->ended || f->ready ? -1 : f->fd,
					.events = POLLIN };
		left += !f->ended;
		f->ready = 0;
	}
	p[r->n] = (struct pollfd){ .fd = signals, .events = POLLIN };
	p[r->n + 1] = (struct pollfd){ .fd = out };
	if (left && poll(p, r->n + 2, ms) > 0)
		for (size_t i = 0; i < r->n; i++) {
			r->v[i].ready = (p[i].revents & POLLIN) != 0;
			r->v[i].ended |= !(p[i].revents & POLLIN) &&
					 p[i].revents & (POLLHUP | POLLERR);
		}
	free(p);
	return !left;
}

int relay_open_dropped(const char *dir)
{
	char path[PATH_MAX];

	if (str_format(path, sizeof(path), "%s/dropped", dir) >= sizeof(path))
		return -1;
	return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

unsigned long long relay_dropped(int file)
{
	char text[32] = "";
	const char *p = text;

	if (file < 0)
		return 0;
	if (pread(file, text, sizeof(text) - 1, 0) < 0)
		*text = '\0'; /* the channel is closed: no number */
	close(file);
	return text_digits(&p);
}
