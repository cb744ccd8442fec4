/* SPDX-License-Identifier: ISC */
/*
 * noted.c - calls of a few groups of tasks in any order, compared with plain arrays; then calls
 * with any arguments and user memory, whose names have to be printable
 */
#include <sched.h>

#include "fuzz.h"

enum { GROUPS = 4, FDS = 20, MOST = 17 << 20 };

/* The oracle: files of descriptors and of the directory, 0: unknown; whether an exec keeps them */
static struct {
	unsigned char file[FDS], kept[FDS], directory;
} groups[GROUPS];

static struct known_files f;
static const uint8_t *data;
static size_t left;

static unsigned byte(void)
{
	return left ? (left--, *data++) : 0;
}

static const char *const names[] = {
	"accept", "chdir", "chroot", "close", "close_range", "creat", "dup", "dup2", "dup3",
	"epoll_create1", "fchdir", "fcntl", "ioctl", "memfd_create", "open", "openat", "openat2",
	"open_tree", "pidfd_open", "pipe", "pipe2", "setns", "socket", "socketpair", "unshare",
	"mq_open",
};
enum { NAMES = sizeof(names) / sizeof(*names) };
static const struct call *calls[NAMES];
static struct calls *abi;

static struct call_values next;

static int call(unsigned group, const char *name, int64_t result, uint64_t a, uint64_t b,
		uint64_t c)
{
	const int pid = (int)group + 100;
	const struct call *made;
	unsigned i = 0;
	int now;

	while (strcmp(names[i], name))
		i++;
	abi = calls_open("x86_64");
	for (unsigned n = 0; !calls[i] || strcmp(calls[i]->name, name); n++)
		calls[i] = calls_find(abi, n);
	next.args[0] = a;
	next.args[1] = b;
	next.args[2] = c;
	next.result = result;
	next.returned = 1;
	made = calls_match(calls[i], next.args);
	noted_refer(&f, pid, made, &next);
	now = noted_call(&f, abi, pid, pid, made, &next);
	next = (struct call_values){ 0 };
	must(now == pid || now == -pid);
	return now;
}

/* One step that the oracle knows. */
static void step(void)
{
	unsigned op = byte(), g = byte() % GROUPS, fd = byte() % FDS, to = byte() % FDS, other;
	char name[3] = { '/', (char)('a' + to % 8), '\0' };
	const int closes = op & 128;

	switch (op % 11) {
	case 0:
		next.user[1] = (struct call_bytes){ name, 2, 0, 0, 0 };
		call(g, "openat", fd, (uint64_t)AT_FDCWD, 0, closes ? O_CLOEXEC : 0);
		groups[g].file[fd] = (unsigned char)(to % 8 + 1);
		groups[g].kept[fd] = !closes;
		break;
	case 1:
		call(g, "close", closes ? -4 : 0, fd, 0, 0);
		groups[g].file[fd] = 0;
		break;
	case 2:
		if (fd == to)
			break;
		call(g, "dup3", to, fd, to, closes ? O_CLOEXEC : 0);
		groups[g].file[to] = groups[g].file[fd];
		groups[g].kept[to] = !closes;
		break;
	case 3:
		call(g, "fcntl", 0, fd, F_SETFD, closes != 0);
		groups[g].kept[fd] = !closes;
		break;
	case 4:
		call(g, "close_range", 0, fd, to, closes ? 4 : 0);
		for (unsigned i = fd; i <= to; i++)
			if (closes)
				groups[g].kept[i] = 0;
			else
				groups[g].file[i] = 0;
		break;
	case 5:
		other = fd % GROUPS;
		if (other == g)
			break;
		must(noted_fork(&f, (int)g + 100, (int)other + 100, 0) == (int)other + 100);
		groups[other] = groups[g];
		break;
	case 6:
		noted_forget(&f, (int)g + 100);
		memset(&groups[g], 0, sizeof(*groups));
		break;
	case 7:
		must(noted_exec(&f, (int)g + 100, (int)g + 100) == (int)g + 100);
		for (unsigned i = 0; i < FDS; i++)
			if (!groups[g].kept[i])
				groups[g].file[i] = 0;
		break;
	case 8:
		next.user[0] = (struct call_bytes){ name, 2, 0, 0, 0 };
		call(g, "chdir", 0, 0, 0, 0);
		groups[g].directory = (unsigned char)(to % 8 + 1);
		break;
	case 9:
		call(g, "fchdir", 0, fd, 0, 0);
		groups[g].directory = groups[g].file[fd];
		break;
	case 10:
		call(g, "dup2", -9, fd, to, 0);
		break;
	}
}

static void check(unsigned group, int fd, unsigned file)
{
	char wanted[3] = { '/', (char)('a' + file - 1), '\0' };
	const struct file_known *known = noted_file(&f, (int)group + 100, fd);

	must(file ? known && !strcmp(known->path, wanted) : !known);
}

/* A call with any arguments. */
static void any(void)
{
	unsigned g = byte() % GROUPS, i = byte() % NAMES, n = byte();
	char text[600], path[PATH_MAX], *memory = malloc(n + !n);
	uint64_t a[3];

	must(memory);
	for (unsigned k = 0; k < n; k++)
		memory[k] = (char)byte();
	for (unsigned k = 0; k < CALL_ARGS; k++)
		if (n & 1 << k)
			next.user[k] = (struct call_bytes){ memory, n, n & 64, n & 128, 0 };
	for (unsigned k = 0; k < 3; k++)
		a[k] = (uint64_t)byte() << (byte() % 64);
	call(g, names[i], (int64_t)byte() - 20, a[0], a[1], a[2]);
	for (int fd = -100; fd < 256; fd++) {
		const struct file_known *known = noted_file(&f, (int)g + 100, fd);
		struct out o = out_to(text, byte() + 1u);
		size_t len;

		if (!known)
			continue;
		file_put_known(&o, known);
		for (size_t k = 0; k < (size_t)(o.at - text); k++)
			must((unsigned char)text[k] >= ' ' && text[k] != '<' && text[k] != 0x7f);
		len = noted_path(&f, known, &(struct call_bytes){ memory, n, 0, 0, 0 }, path);
		must(len < sizeof(path) &&
		     (!len || (path[*path == '?'] == '/' && strlen(path) == len)));
	}
	free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	data = input;
	left = size;
	memset(groups, 0, sizeof(groups));
	f.prints = 1;
	for (unsigned n = 0; left > size / 4 && n < 200; n++) {
		step();
		for (unsigned g = 0; g < GROUPS; g++) {
			for (int fd = 0; fd < FDS; fd++)
				check(g, fd, groups[g].file[fd]);
			check(g, AT_FDCWD, groups[g].directory);
		}
	}
	while (left) {
		any();
		must(f.held <= MOST);
	}
	if (size & 1)
		noted_lost(&f);
	for (int fd = 0; fd < FDS && size & 1; fd++)
		check(0, fd, 0);
	files_free(&f);
	must(!f.held);
	return 0;
}
