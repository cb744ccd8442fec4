/* SPDX-License-Identifier: ISC */
/*
 * bpfobjects - what of BPF is in the kernel, whoever made it
 *
 *	bpfobjects [NAME]
 * Prints a line for each object whose name begins so, of a link the name of its
 * program: "program ID NAME", "map ID NAME", "link ID NAME". Told without lib/.
 * Exit: 0, 111 refused.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Commands of bpf(2), and where bpf_prog_info and bpf_map_info have the name. */
enum { PROG_NEXT = 11, MAP_NEXT = 12, PROG_FD = 13, MAP_FD = 14, INFO = 15, LINK_FD = 30,
       LINK_NEXT = 31, PROG_NAME = 64, MAP_NAME = 24 };

static long bpf(int command, void *attr, unsigned size)
{
	return syscall(SYS_bpf, command, attr, size);
}

/* The first bytes of the object's info; -1 when it went meanwhile. */
static int info_of(int get, uint32_t id, char *info, uint32_t size)
{
	uint32_t by_id[3] = { id, 0, 0 };
	struct { uint32_t fd, size; uint64_t info; } a = { .size = size };
	long fd = bpf(get, by_id, sizeof(by_id)), r;

	if (fd < 0)
		return -1;
	memset(info, 0, size);
	a.fd = (uint32_t)fd;
	a.info = (uint64_t)(uintptr_t)info;
	r = bpf(INFO, &a, sizeof(a));
	close((int)fd);
	return r < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *what;
		int next, get, name;
	} kinds[] = {
		{ "program", PROG_NEXT, PROG_FD, PROG_NAME }, { "map", MAP_NEXT, MAP_FD, MAP_NAME },
		{ "link", LINK_NEXT, LINK_FD, 0 },
	};
	const char *begin = argc > 1 ? argv[1] : "";

	for (int i = 0; i < 3; i++) {
		uint32_t id[3] = { 0 };
		char info[128] __attribute__((aligned(8)));

		for (; !bpf(kinds[i].next, id, sizeof(id)); id[0] = id[1]) {
			const char *name = info + kinds[i].name;
			uint32_t program;

			if (info_of(kinds[i].get, id[1], info, 80) < 0)
				continue;
			if (!kinds[i].name) { /* bpf_link_info: kind, number, program's number */
				memcpy(&program, info + 8, 4);
				if (info_of(PROG_FD, program, info, 80) < 0)
					continue;
				name = info + PROG_NAME;
			}
			if (!strncmp(name, begin, strlen(begin)))
				printf("%s %u %.16s\n", kinds[i].what, id[1], name);
		}
		if (errno != ENOENT) {
			perror("bpfobjects: unable to list");
			return 111;
		}
	}
	return 0;
}
