/* SPDX-License-Identifier: ISC */
/*
 * follow.c - calls of a few tasks in any order, compared with plain arrays; then calls with any
 * arguments and user memory, whose names have to be printable
 */
#include <sched.h>

#include "fuzz.h"

enum { TASKS = 4, FDS = 20, MOST = 64 << 20 };

/* The oracle: a table of descriptors is an index, and two tasks share it if it is the same. */
static struct {
	int known;
	unsigned table, directory;
} tasks[TASKS];
static struct {
	unsigned char file[FDS], cloexec[FDS];
} tables[256];
static unsigned char directories[256];
static unsigned used;

static struct follow f;
static const uint8_t *data;
static size_t left;

static unsigned byte(void)
{
	return left ? (left--, *data++) : 0;
}

static unsigned new_table(unsigned from)
{
	tables[used % 256] = tables[from];
	directories[used % 256] = directories[from];
	return used++ % 256;
}

static void know(unsigned t)
{
	if (tasks[t].known)
		return;
	memset(&tables[used % 256], 0, sizeof(*tables));
	directories[used % 256] = 0;
	tasks[t].known = 1;
	tasks[t].table = tasks[t].directory = used++ % 256;
}

static const char *const names[] = {
	"accept", "accept4", "bind", "chdir", "chroot", "close", "close_range", "connect", "creat",
	"dup", "dup2", "dup3", "epoll_create1", "eventfd2", "fchdir", "fcntl", "getpeername",
	"getsockname", "inotify_init1", "ioctl", "memfd_create", "open", "openat", "openat2",
	"pidfd_open", "pipe", "pipe2", "setns", "signalfd4", "socket", "socketpair",
	"timerfd_create", "unshare", "mq_open",
};
enum { NAMES = sizeof(names) / sizeof(*names) };
static const struct call *calls[NAMES];

static struct call_values next;

static void call(unsigned t, const char *name, int64_t result, uint64_t a, uint64_t b, uint64_t c)
{
	unsigned i = 0;

	while (strcmp(names[i], name))
		i++;
	for (unsigned n = 0; !calls[i] || strcmp(calls[i]->name, name); n++)
		calls[i] = calls_find(calls_open("x86_64"), n);
	next.args[0] = a;
	next.args[1] = b;
	next.args[2] = c;
	next.result = result;
	next.returned = 1;
	follow_call(&f, (int)t + 100, calls[i], &next);
	next = (struct call_values){ 0 };
}

/* One step that the oracle knows. */
static void step(void)
{
	unsigned op = byte(), t = byte() % TASKS, fd = byte() % FDS, to = byte() % FDS;
	unsigned table, other;
	char name[3] = { '/', (char)('a' + to % 8), '\0' };

	know(t);
	table = tasks[t].table;
	switch (op % 12) {
	case 0:
		next.user[1] = (struct call_bytes){ name, 2, 0, 0, 0 };
		call(t, "openat", fd, (uint64_t)AT_FDCWD, 0, op & 128 ? O_CLOEXEC : 0);
		tables[table].file[fd] = (unsigned char)(to % 8 + 1);
		tables[table].cloexec[fd] = op >> 7;
		break;
	case 1:
		call(t, "close", op & 128 ? -4 : 0, fd, 0, 0);
		tables[table].file[fd] = 0;
		break;
	case 2:
		call(t, "dup3", to, fd, to, op & 128 ? O_CLOEXEC : 0);
		if (fd == to)
			break;
		tables[table].file[to] = tables[table].file[fd];
		tables[table].cloexec[to] = op >> 7;
		break;
	case 3:
		call(t, "fcntl", 0, fd, F_SETFD, op >> 7);
		tables[table].cloexec[fd] = op >> 7;
		break;
	case 4:
		call(t, "close_range", 0, fd, to, op & 128 ? 4 : 0);
		for (unsigned i = fd; i <= to; i++)
			if (op & 128)
				tables[table].cloexec[i] = 1;
			else
				tables[table].file[i] = 0;
		break;
	case 5:
		other = fd % TASKS;
		if (other == t)
			break;
		follow_task(&f, (int)t + 100, (int)other + 100,
			    (op & 128 ? CLONE_FILES : 0) | (op & 64 ? CLONE_FS : 0));
		tasks[other].known = 1;
		tasks[other].table = op & 128 ? table : new_table(table);
		tasks[other].directory = op & 64 ? tasks[t].directory :
					 new_table(tasks[t].directory);
		break;
	case 6:
		follow_end(&f, (int)t + 100);
		tasks[t].known = 0;
		break;
	case 7:
		follow_exec(&f, (int)t + 100);
		tasks[t].table = table = new_table(table);
		for (unsigned i = 0; i < FDS; i++)
			if (tables[table].cloexec[i])
				tables[table].file[i] = 0;
		break;
	case 8:
		call(t, "unshare", 0, CLONE_FILES | CLONE_FS, 0, 0);
		tasks[t].table = new_table(table);
		tasks[t].directory = new_table(tasks[t].directory);
		break;
	case 9:
		next.user[0] = (struct call_bytes){ name, 2, 0, 0, 0 };
		call(t, "chdir", 0, 0, 0, 0);
		directories[tasks[t].directory] = (unsigned char)(to % 8 + 1);
		break;
	case 10:
		call(t, "fchdir", 0, fd, 0, 0);
		directories[tasks[t].directory] = tables[table].file[fd];
		break;
	case 11:
		call(t, "dup2", -9, fd, to, 0);
		break;
	}
}

static void check(int pid, int fd, unsigned file)
{
	char text[8], wanted[3] = { '/', (char)('a' + file - 1), '\0' };
	size_t n = follow_print_fd(&f, pid, fd, text, sizeof(text));

	must(n == (file ? 2 : 0));
	must(!n || !strcmp(text, wanted));
}

/* A call with any arguments. */
static void any(void)
{
	unsigned t = byte() % TASKS, i = byte() % NAMES, n = byte();
	char text[600], path[64], *memory = malloc(n + !n);
	uint64_t a[3];
	size_t len;

	must(memory);
	for (unsigned k = 0; k < n; k++)
		memory[k] = (char)byte();
	for (unsigned k = 0; k < CALL_ARGS; k++)
		if (n & 1 << k)
			next.user[k] = (struct call_bytes){ memory, n, n & 64, n & 128, 0 };
	for (unsigned k = 0; k < 3; k++)
		a[k] = (uint64_t)byte() << (byte() % 64);
	f.swapped = byte() & 1;
	call(t, names[i], (int64_t)byte() - 20, a[0], a[1], a[2]);
	for (int fd = -100; fd < 256; fd++) {
		size_t size = byte() + 1u;

		len = follow_print_fd(&f, (int)t + 100, fd, text, size);
		must(len < size && (!len || strlen(text) == len));
		for (size_t k = 0; k < len; k++)
			must((unsigned char)text[k] >= ' ' && text[k] != '<' && text[k] != 0x7f &&
			     (text[k] != '>' || (k && text[k - 1] == '-')));
	}
	memory[n - !!n] = '\0';
	len = follow_print_path(&f, (int)t + 100, (int)a[0], memory, path, sizeof(path));
	must(len < sizeof(path) &&
	     (!len || (path[*path == '?'] == '/' && strlen(path) == len)));
	free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	data = input;
	left = size;
	memset(tasks, 0, sizeof(tasks));
	used = 0;
	while (left > size / 4 && used < 200) {
		step();
		for (unsigned t = 0; t < TASKS; t++) {
			for (int fd = 0; tasks[t].known && fd < FDS; fd++)
				check((int)t + 100, fd, tables[tasks[t].table].file[fd]);
			if (tasks[t].known)
				check((int)t + 100, AT_FDCWD, directories[tasks[t].directory]);
		}
	}
	while (left) {
		any();
		must(f.used <= MOST);
	}
	if (size & 1)
		follow_lost(&f);
	for (int fd = 0; fd < FDS && size & 1; fd++)
		check(100, fd, 0);
	follow_free(&f);
	must(!f.used);
	return 0;
}
