/* SPDX-License-Identifier: ISC */
/*
 * bpf.c - bpf(2): maps, programs, links and pins
 *
 * Each command gets a structure with the first fields of the kernel's union bpf_attr. The
 * kernel takes the fields after them as 0.
 */
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/base.h"
#include "bpf/bpf.h"

enum command { MAP_CREATE = 0, LOOKUP = 1, UPDATE = 2, DELETE = 3, NEXT_KEY = 4, LOAD = 5,
	       PIN = 6, GET = 7, INFO = 15, RAW_TRACEPOINT_OPEN = 17, BTF_LOAD = 18,
	       LINK_CREATE = 28, LINK_DETACH = 34 };

enum { NAME = 16, NO_PREALLOCATION = 1, MMAPABLE = 1024, LOG_LEAST = 64 * 1024 };

static int printing;
static char printed_maps[256][NAME]; /* by descriptor */

void bpf_print_only(void)
{
	printing = 1;
}

int bpf_is_printing(void)
{
	return printing;
}

/* Return a descriptor of a file of this size, in place of a map, program or link. */
static int stand_in(const char *name, size_t size)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	return fd >= 0 && !ftruncate(fd, (off_t)size) ? fd : -1;
}

static int bpf(enum command cmd, void *attr, size_t size)
{
	if (!printing)
		return (int)syscall(SYS_bpf, (int)cmd, attr, size);
	return cmd == RAW_TRACEPOINT_OPEN || cmd == LINK_CREATE ? stand_in("link", 0) : 0;
}

/* Return a pointer as bpf(2) takes it. */
static uint64_t address(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* Lift the limit on locked memory, which counts maps and programs before Linux 5.11. */
static void unlimited(void)
{
	static const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };

	prlimit(0, RLIMIT_MEMLOCK, &none, NULL);
}

/* Make a map; inner: an example of the maps that a map of maps has. */
static int make_map(enum bpf_map_type kind, const char *name, unsigned key, unsigned value,
		    unsigned entries, int inner)
{
	struct {
		uint32_t kind, key, value, entries, flags, inner, node;
		char name[NAME];
	} a = { .kind = kind, .key = key, .value = value, .entries = entries,
		.inner = (uint32_t)inner,
		.flags = kind == MAP_LPM_TRIE ? NO_PREALLOCATION :
			 kind == MAP_ARRAY ? MMAPABLE : 0 };
	int fd;

	unlimited();
	str_format(a.name, sizeof(a.name), "%s", name);
	if (printing) {
		fd = stand_in(a.name, (size_t)entries * ((value + 7) & ~7u));
		if (fd >= 0)
			str_format(printed_maps[fd & 255], NAME, "%s", name);
		return fd;
	}
	return bpf(MAP_CREATE, &a, sizeof(a));
}

int bpf_map(enum bpf_map_type kind, const char *name, unsigned key, unsigned value,
	    unsigned entries)
{
	return make_map(kind, name, key, value, entries, 0);
}

int bpf_map_of_maps(const char *name, int inner, unsigned entries)
{
	return make_map(MAP_ARRAY_OF_MAPS, name, 4, 4, entries, inner);
}

static int element(enum command cmd, int map, const void *key, const void *value)
{
	struct {
		uint32_t map, pad;
		uint64_t key, value, flags;
	} a = { .map = (uint32_t)map, .key = address(key), .value = address(value) };

	return bpf(cmd, &a, sizeof(a));
}

int bpf_lookup(int map, const void *key, void *value)
{
	return element(LOOKUP, map, key, value);
}

int bpf_update(int map, const void *key, const void *value)
{
	return element(UPDATE, map, key, value);
}

int bpf_delete(int map, const void *key)
{
	return element(DELETE, map, key, NULL);
}

int bpf_next(int map, const void *key, void *next)
{
	return element(NEXT_KEY, map, key, next);
}

static int object(enum command cmd, const char *path, int fd)
{
	struct {
		uint64_t path;
		uint32_t fd, flags;
	} a = { .path = address(path), .fd = (uint32_t)fd };

	return bpf(cmd, &a, sizeof(a));
}

int bpf_pin(int fd, const char *path)
{
	return object(PIN, path, fd);
}

int bpf_pinned(const char *path)
{
	return object(GET, path, 0);
}

/* Read the first n words of struct bpf_map_info or bpf_prog_info. Return 0, or -1 and errno. */
static int info(int fd, uint32_t *words, unsigned n)
{
	struct {
		uint32_t fd, size;
		uint64_t info;
	} a = { .fd = (uint32_t)fd, .size = n * (uint32_t)sizeof(*words), .info = address(words) };

	return bpf(INFO, &a, sizeof(a));
}

uint32_t bpf_id(int fd)
{
	uint32_t words[2] = { 0 }; /* type, id */

	return printing ? 1 : info(fd, words, 2) < 0 ? 0 : words[1];
}

unsigned bpf_map_entries(int fd)
{
	uint32_t words[5] = { 0 }; /* type, id, bytes of a key, of a value, entries */

	return info(fd, words, 5) < 0 ? 0 : words[4];
}

int bpf_raw_tracepoint(int program, const char *name)
{
	struct {
		uint64_t name;
		uint32_t program, pad;
	} a = { .name = address(name), .program = (uint32_t)program };

	return bpf(RAW_TRACEPOINT_OPEN, &a, sizeof(a));
}

int bpf_link(int program, int target, enum bpf_attach_type kind)
{
	struct {
		uint32_t program, target, kind, flags;
		uint64_t more[4];
	} a = { .program = (uint32_t)program, .target = (uint32_t)target, .kind = kind };

	/* an older kernel with a shorter structure accepts this one if the rest is 0 */
	return bpf(LINK_CREATE, &a, sizeof(a));
}

int bpf_link_detach(int link)
{
	uint32_t a = (uint32_t)link;

	return bpf(LINK_DETACH, &a, sizeof(a));
}

/* struct perf_event_attr: type, size, config; then config1 and config2 in more[5] and more[6] */
struct attributes {
	uint32_t type, size;
	uint64_t config, more[13];
};

/* Let the program run at an event. Return a descriptor that keeps it there, or -1. */
static int attach(int program, struct attributes *a)
{
	enum { SET_BPF = 8, CPUS_MAX = 8192 };
	int fd = -1;

	a->size = sizeof(*a);
	if (printing)
		return stand_in("event", 0);
	/* The program runs on all CPUs. Any CPU that is on-line can hold its perf event. */
	for (int cpu = 0; fd < 0 && cpu < CPUS_MAX; cpu++) {
		fd = (int)syscall(SYS_perf_event_open, a, -1, cpu, -1,
				  8 /* PERF_FLAG_FD_CLOEXEC */);
		if (fd < 0 && errno != ENODEV)
			return -1;
	}
	/* musl and glibc declare the command of ioctl() with different types */
	if (fd < 0 || !syscall(SYS_ioctl, fd, _IOW('$', SET_BPF, uint32_t), program))
		return fd;
	fd_close(fd);
	return -1;
}

int bpf_tracepoint(int program, unsigned long id)
{
	return attach(program, &(struct attributes){ .type = 2 /* PERF_TYPE_TRACEPOINT */,
						     .config = id });
}

int bpf_uprobe(int program, const char *path, uint64_t offset, int at_return)
{
	static const char file[] = "/bus/event_source/devices/uprobe/type";
	char type[PATH_MAX];
	unsigned long number;

	str_format(type, sizeof(type), "%s%s", path_sysfs(), file);
	number = (unsigned long)file_number(AT_FDCWD, type, NULL, 0);
	if (!number && !printing) {
		errno = ENOENT;
		return -1;
	}
	return attach(program, &(struct attributes){ .type = (uint32_t)number,
		      .config = at_return != 0, .more = { [5] = address(path), [6] = offset } });
}

/* Copy the last line of the verifier's log to why, but skip its statistics. */
static void last_line(const char *log, char *why, size_t size)
{
	size_t n = 0;

	for (const char *p = log, *end; *p; p = *end ? end + 1 : end) {
		end = p + strcspn(p, "\n");
		if (end == p || !strncmp(p, "processed ", 10))
			continue;
		n = (size_t)(end - p);
		str_format(why, size, "%.*s", (int)n, p);
	}
}

static const char *printed_map(int map)
{
	return printed_maps[map & 255];
}

/* The first instruction of a function, and its type: struct bpf_func_info */
struct function {
	uint32_t at, type;
};

/* BTF with three types, and their names: INT, PROTOTYPE, which returns it, and TYPE_FUNCTION */
enum { INT = 1, PROTOTYPE, TYPE_FUNCTION };
struct functions_btf {
	uint16_t magic;
	uint8_t version, flags;
	uint32_t head, type_at, type_len, string_at, string_len;
	uint32_t type[10];
	char names[4 + 9 + 1];
};

/*
 * Give the kernel the type of all functions, which is global and has no arguments
 * (Documentation/bpf/btf.rst). Return its descriptor, or -1 and errno.
 */
static int load_functions_btf(void)
{
	static const struct functions_btf btf = {
		.magic = 0xeb9f, .version = 1, .head = offsetof(struct functions_btf, type),
		.type_len = sizeof(btf.type), .string_at = sizeof(btf.type),
		.string_len = sizeof(btf.names),
		.type = { 1, 1 << 24, 8, 64, 0, 13 << 24, INT, 5, 12 << 24 | 1, PROTOTYPE },
		.names = "\0int\0function",
	};
	struct {
		uint64_t btf, log;
		uint32_t size, log_size;
	} a = { .btf = address(&btf), .size = offsetof(struct functions_btf, names) +
					      sizeof(btf.names) };

	return bpf(BTF_LOAD, &a, sizeof(a));
}

int bpf_load(struct bpf_code *c, const char *name, const struct bpf_load_as *k, char *why,
	     size_t size)
{
	static char log[LOG_LEAST];
	struct {
		uint32_t kind, ninsns;
		uint64_t insns, license;
		uint32_t level, log_size;
		uint64_t log;
		uint32_t version, flags;
		char name[NAME];
		uint32_t device, attach, btf, func_info_size;
		uint64_t func_info;
		uint32_t nfunc_info, line_info_size;
		uint64_t line_info;
		uint32_t nline_info, function;
	} a = { .kind = k->kind, .ninsns = c->n, .insns = address(c->v),
		.license = address("Dual BSD/GPL"), .attach = k->attach, .function = k->function };
	struct function functions[1 + FUNCTIONS_MOST];
	int fd, e, btf = -1;

	if (emit_resolve(c, why, size) < 0) {
		errno = E2BIG;
		return -1;
	}
	if (printing) {
		bpf_print(c, k->where ? k->where : name, printed_map);
		return stand_in(name, 0);
	}
	unlimited();
	str_format(a.name, sizeof(a.name), "%s", name);
	*why = '\0';
	if (c->nfunctions) {
		btf = load_functions_btf();
		if (btf < 0)
			return -1;
		for (unsigned i = 0; i <= c->nfunctions; i++)
			functions[i] = (struct function){ i ? c->functions[i - 1] : 0,
							  TYPE_FUNCTION };
		a.btf = (uint32_t)btf;
		a.func_info_size = sizeof(*functions);
		a.func_info = address(functions);
		a.nfunc_info = 1 + c->nfunctions;
	}
	fd = bpf(LOAD, &a, sizeof(a));
	e = errno;
	/* load it again for the log, which costs time; ENOSPC then only means a cut log */
	if (fd < 0 && e != EPERM) {
		*log = '\0';
		a.level = 1;
		a.log_size = sizeof(log);
		a.log = address(log);
		fd = bpf(LOAD, &a, sizeof(a));
		log[sizeof(log) - 1] = '\0';
		last_line(log, why, size);
	}
	fd_close(btf);
	errno = e;
	return fd;
}
