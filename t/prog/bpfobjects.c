/* SPDX-License-Identifier: ISC */
/*
 * bpfobjects - list the maps, programs and links that a probe has in the kernel
 *
 *	bpfobjects all [PREFIX]
 *	                      the objects whose names begin with the prefix, or with dt_ as
 *	                      those of every probe: a line each, "map ID NAME",
 *	                      "program ID NAME" or "link ID of NAME"
 *	bpfobjects in DIR     the objects that are pinned in DIR, the programs that those
 *	                      links hold, and the maps of all these programs
 *	bpfobjects still      the lines of standard input whose objects still exist
 *	bpfobjects entries ID the number of entries of the map
 *	bpfobjects fill ID N  add N entries of zeros; their keys are 1 to N
 * Exit: 0 done, 1 still: none, 77 no bpf(2), 100 usage error, 111 refused.
 */
#include <dirent.h>

#include "prog.h"

#include "bpf/bpf.h"

enum { INFO = 15 };
enum { MAP, PROGRAM, LINK, KINDS };

static const char *const words[] = { "map", "program", "link" };
static const int next_id[] = { 12, 11, 31 }, fd_by_id[] = { 14, 13, 30 };

union attr {
	struct { uint32_t id, next, flags; } id;
	struct { uint32_t fd, size; uint64_t info; } info;
	char all[64];
};

/* the beginning of bpf(2)'s information on each kind, as far as it is used */
struct map { uint32_t type, id, key, value, most, flags; char name[16]; };
struct link { uint32_t type, id, program; };
struct program {
	uint32_t type, id;
	uint64_t tag;
	uint32_t jited, xlated;
	uint64_t jited_at, xlated_at, when;
	uint32_t uid, nmaps;
	uint64_t maps;
	char name[16];
};

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "bpfobjects: unable to %s: %s\n", what, strerror(errno));
	exit(errno == ENOSYS ? 77 : 111);
}

static int bpf(int command, union attr *a)
{
	return (int)syscall(SYS_bpf, command, a, sizeof(*a));
}

static int open_id(int kind, uint32_t id)
{
	union attr a = { .all = { 0 } };

	a.id.id = id;
	return bpf(fd_by_id[kind], &a);
}

static int info(int fd, void *to, size_t n)
{
	union attr a = { .all = { 0 } };

	a.info.fd = (uint32_t)fd;
	a.info.size = (uint32_t)n;
	a.info.info = (uintptr_t)to;
	return bpf(INFO, &a);
}

/* ---- the objects found so far, in the order of finding ----------------------------------- */

static struct found { int kind; uint32_t id; } found[65536];
static size_t nfound;

static int is_new(int kind, uint32_t id)
{
	for (size_t i = 0; i < nfound; i++)
		if (found[i].kind == kind && found[i].id == id)
			return 0;
	if (nfound == sizeof(found) / sizeof(*found)) {
		errno = E2BIG;
		die("keep so many");
	}
	found[nfound++] = (struct found){ kind, id };
	return 1;
}

static void program(int fd, int with_maps);

/* All these functions close the descriptor. */
static void map(int fd)
{
	struct map m = { 0 };

	if (!info(fd, &m, sizeof(m)) && is_new(MAP, m.id))
		printf("map %u %s\n", m.id, m.name);
	close(fd);
}

static void link_(int fd, int with_maps)
{
	struct link l = { 0 };
	struct program p = { 0 };
	int of;

	if (!info(fd, &l, sizeof(l)) && is_new(LINK, l.id)) {
		of = open_id(PROGRAM, l.program);
		if (of >= 0)
			info(of, &p, sizeof(p));
		printf("link %u of %s\n", l.id, p.name);
		if (of >= 0)
			program(of, with_maps);
	}
	close(fd);
}

static void program(int fd, int with_maps)
{
	uint32_t ids[64];
	struct program p = { .nmaps = with_maps ? 64 : 0, .maps = (uintptr_t)ids };
	int of;

	if (!info(fd, &p, sizeof(p)) && is_new(PROGRAM, p.id)) {
		printf("program %u %s\n", p.id, p.name);
		for (uint32_t i = 0; with_maps && i < p.nmaps && i < 64; i++) {
			of = open_id(MAP, ids[i]);
			if (of >= 0)
				map(of);
		}
	}
	close(fd);
}

/* ---- the commands ---------------------------------------------------------------- */

static void print_all(const char *prefix)
{
	size_t n = strlen(prefix);

	for (int kind = 0; kind < KINDS; kind++) {
		union attr a = { .all = { 0 } };

		while (!bpf(next_id[kind], &a)) {
			int fd = open_id(kind, a.id.next), of;
			struct program p = { 0 };
			struct map m = { 0 };
			struct link l = { 0 };

			a.id.id = a.id.next;
			if (fd < 0)
				continue; /* the object went meanwhile */
			if (kind == MAP && !info(fd, &m, sizeof(m)) &&
			    !strncmp(m.name, prefix, n)) {
				map(fd);
				continue;
			}
			if (kind == PROGRAM)
				info(fd, &p, sizeof(p));
			if (kind == LINK && !info(fd, &l, sizeof(l)) &&
			    (of = open_id(PROGRAM, l.program)) >= 0) {
				info(of, &p, sizeof(p));
				close(of);
			}
			if (strncmp(p.name, prefix, n))
				close(fd);
			else if (kind == PROGRAM)
				program(fd, 0);
			else
				link_(fd, 0);
		}
		if (errno != ENOENT && !(kind == LINK && errno == EINVAL))
			die("list them");
	}
}

static void print_pinned(const char *dir)
{
	char path[4096], self[64], what[64];
	struct dirent *e;
	DIR *d = opendir(dir);
	ssize_t n;

	if (!d)
		die("list the directory");
	while ((e = readdir(d))) {
		int fd;

		if (*e->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		fd = bpf_pinned(path);
		if (fd < 0)
			die("open what is pinned");
		snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
		n = readlink(self, what, sizeof(what) - 1);
		what[n < 0 ? 0 : n] = '\0';
		if (strstr(what, "link"))
			link_(fd, 1);
		else if (strstr(what, "prog"))
			program(fd, 1);
		else
			map(fd);
	}
	closedir(d);
}

static int print_still(void)
{
	char line[128], kind[16];
	unsigned id;
	int n = 0, fd;

	while (fgets(line, sizeof(line), stdin))
		for (int i = 0; i < KINDS; i++)
			if (sscanf(line, "%15s %u", kind, &id) == 2 && !strcmp(kind, words[i]) &&
			    (fd = open_id(i, id)) >= 0) {
				fputs(line, stdout);
				close(fd);
				n++;
			}
	return n ? 0 : 1;
}

/* Open the map with this id, whose keys and values have at most most bytes. */
static int open_map(uint32_t id, size_t most)
{
	struct map m = { 0 };
	int fd = open_id(MAP, id);

	if (fd < 0 || info(fd, &m, sizeof(m)) || m.key > most || m.value > most)
		die("open the map");
	return fd;
}

static void print_entries(uint32_t id)
{
	char key[512];
	unsigned long n = 0;
	int fd = open_map(id, sizeof(key));

	for (int r = bpf_next(fd, NULL, key); !r; r = bpf_next(fd, key, key))
		n++;
	printf("%lu\n", n);
}

static void fill(uint32_t id, uint64_t n)
{
	const char value[512] = { 0 };
	uint64_t key[64] = { 0 };
	int fd = open_map(id, sizeof(value));

	while (n--)
		if (++key[0], bpf_update(fd, key, value))
			die("add an entry");
}

int main(int argc, char **argv)
{
	if ((argc == 2 || argc == 3) && !strcmp(argv[1], "all"))
		print_all(argc == 3 ? argv[2] : "dt_");
	else if (argc == 3 && !strcmp(argv[1], "in"))
		print_pinned(argv[2]);
	else if (argc == 2 && !strcmp(argv[1], "still"))
		return print_still();
	else if (argc == 3 && !strcmp(argv[1], "entries"))
		print_entries((uint32_t)strtoul(argv[2], NULL, 10));
	else if (argc == 4 && !strcmp(argv[1], "fill"))
		fill((uint32_t)strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10));
	else
		return 100;
	return 0;
}
