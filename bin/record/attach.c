/* SPDX-License-Identifier: ISC */
/* attach.c - load the programs of tfs-strings, and attach them to events */
#include <sys/mman.h>

#include "base/base.h"
#include "host/host.h"
#include "strings.h"

int plan_map(const struct plan *p, enum bpf_map_type kind, const char *name, unsigned key,
	     unsigned value, unsigned entries)
{
	char as[32];
	int fd;

	str_format(as, sizeof(as), *p->id ? "%s_%s" : "%s%s", p->id, name);
	fd = bpf_map(kind, as, key, value, entries);
	return fd < 0 ? err_capability(CAPS_BPF, "unable to make a BPF map") : fd;
}

void *plan_array(const struct plan *p, const char *name, int *fd, unsigned size, unsigned entries)
{
	void *map;

	*fd = plan_map(p, MAP_ARRAY, name, 4, size, entries);
	if (*fd < 0)
		return NULL;
	map = mmap(NULL, (size_t)size * entries, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (map == MAP_FAILED)
		err_capability(CAPS_BPF, "unable to make a BPF map");
	return map == MAP_FAILED ? NULL : map;
}

void plan_alone(struct plan *p, const struct btf *btf)
{
	if (kernel_skips_programs())
		btf_alone(btf, &p->alone);
}

/* Load the code. Return a descriptor, or -1, reported. */
static int load_program(const struct plan *p, struct bpf_code *c, const char *name,
			const struct bpf_load_as *as)
{
	static const uint64_t needs = CAPS_BPF | CAPS_PERFMON;
	char why[256];
	int fd = bpf_load(c, p->id, as, why, sizeof(why));

	if (fd < 0 && *why)
		err_capability(needs, "the kernel refused the program for %s (%s)", name, why);
	else if (fd < 0)
		err_capability(needs, "the kernel refused the program for %s", name);
	return fd;
}

int plan_attach(struct plan *p, struct bpf_code *c, const char *event, uint32_t raw)
{
	const uint32_t type = raw <= PROBE_EVENT ? 0 : raw;
	const struct bpf_load_as as = {
		.kind = type ? PROGRAM_TRACING : raw == PROBE_EVENT ? PROGRAM_KPROBE :
			raw ? PROGRAM_RAW_TRACEPOINT : PROGRAM_TRACEPOINT,
		.attach = type ? ATTACH_TRACEPOINT : 0, .function = type, .where = event,
	};
	char path[128], *id = NULL;
	const char *digits;
	int fd, held;

	if (p->n == STRINGS_PROGRAMS)
		return err_msg("too many events");
	if (!raw || raw == PROBE_EVENT) {
		str_format(path, sizeof(path), "events/%s/id", event);
		id = file_read(p->root, path, NULL);
		if (!id)
			return err_file("unable to read %s", path);
	}
	fd = load_program(p, c, event, &as);
	digits = id;
	held = fd < 0 ? -1 : id ? bpf_tracepoint(fd, (unsigned long)text_digits(&digits)) :
	       bpf_raw_tracepoint(fd, type ? NULL : event);
	if (fd >= 0 && held < 0)
		err_capability(CAPS_PERFMON, "unable to attach to %s", event);
	free(id);
	fd_close(fd);
	if (held < 0)
		return -1;
	p->fds[p->n++] = held;
	return 0;
}

int plan_attach_uprobe(struct plan *p, struct bpf_code *c, const char *path, uint64_t offset,
		       int at_return)
{
	const struct bpf_load_as as = { .kind = PROGRAM_KPROBE, .where = "uprobe" };
	int fd, held;

	if (p->n == STRINGS_PROGRAMS)
		return err_msg("too many events");
	fd = load_program(p, c, "uprobe", &as);
	held = fd < 0 ? -1 : bpf_uprobe(fd, path, offset, at_return);
	if (fd >= 0 && held < 0)
		err_capability(CAPS_PERFMON, "unable to attach to a uprobe");
	fd_close(fd);
	if (held < 0)
		return -1;
	p->fds[p->n++] = held;
	return 0;
}

int format_field(const char *format, const char *field)
{
	const char *s = strstr(format, field);

	s = s ? strstr(s, "offset:") : NULL;
	s = s ? s + 7 : "";
	return (int)text_digits(&s);
}
