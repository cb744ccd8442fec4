/* SPDX-License-Identifier: ISC */
/*
 * bpfobjects PREFIX - the BPF programs and maps of the kernel whose names begin so
 *
 * One a line, "prog ID NAME" or "map ID NAME": what a probe left is still there, be
 * it pinned, attached or held by some process.
 * Exit: 0 done, 77 the kernel has no such list, or not for us.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int bpf(int what, union bpf_attr *a)
{
	return (int)syscall(SYS_bpf, what, a, sizeof(*a));
}

static const char *name_of(int fd, int map)
{
	static struct bpf_prog_info prog;
	static struct bpf_map_info of_map;
	union bpf_attr a;

	memset(&prog, 0, sizeof(prog));
	memset(&of_map, 0, sizeof(of_map));
	memset(&a, 0, sizeof(a));
	a.info.bpf_fd = (uint32_t)fd;
	a.info.info = (uint64_t)(uintptr_t)(map ? (void *)&of_map : (void *)&prog);
	a.info.info_len = map ? sizeof(of_map) : sizeof(prog);
	return bpf(BPF_OBJ_GET_INFO_BY_FD, &a) ? "" : map ? of_map.name : prog.name;
}

int main(int argc, char **argv)
{
	const char *prefix = argc > 1 ? argv[1] : "", *name;
	union bpf_attr a;
	uint32_t id;
	int fd;

	for (int map = 0; map < 2; map++)
		for (id = 0;; ) {
			memset(&a, 0, sizeof(a));
			a.start_id = id;
			if (bpf(map ? BPF_MAP_GET_NEXT_ID : BPF_PROG_GET_NEXT_ID, &a)) {
				if (errno == ENOENT)
					break;
				perror("bpfobjects");
				return 77;
			}
			id = a.next_id;
			memset(&a, 0, sizeof(a));
			a.prog_id = id;
			fd = bpf(map ? BPF_MAP_GET_FD_BY_ID : BPF_PROG_GET_FD_BY_ID, &a);
			if (fd < 0)
				continue; /* gone meanwhile */
			name = name_of(fd, map);
			if (!strncmp(name, prefix, strlen(prefix)))
				printf("%s %u %s\n", map ? "map" : "prog", id, name);
			close(fd);
		}
	return 0;
}
