/* SPDX-License-Identifier: ISC */
/* make.c - make a request probe: create its maps, load and attach its programs */
#include <endian.h>
#include <sys/syscall.h>

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"
#include "event/event.h"
#include "bpf/bpf.h"
#include "live/live.h"
#include "requests.h"
#include "program.h"

/* A request probe in the making. */
struct make {
	const char *name;
	const struct dt_wanted *wanted;
	struct btf btf;
	struct dt_plan plan;
	const char *how_sent;
	char why[256];          /* the verifier's last line */
};

/* Pin an object of the request probe. */
static int keep(const struct make *m, int fd, const char *what)
{
	return bpf_is_printing() ? 0 : dt_pin(m->name, what, fd);
}

/* ---- maps, and the offsets of kernel structures -------------------------------------- */

static int make_maps(struct make *m, int *settings, int *devices)
{
	struct dt_plan *p = &m->plan;
	const struct {
		int *map;
		enum bpf_map_type kind;
		const char *what;
		size_t key, value;
		unsigned n;
	} maps[] = {
		{ settings, MAP_ARRAY, DT_SETTINGS, 4, sizeof(struct dt_settings), 1 },
		{ &p->pids, MAP_HASH, DT_PIDS, 4, sizeof(struct dt_task), DT_TASKS },
		{ &p->received, MAP_LRU_HASH, "received", 8, sizeof(struct dt_received),
		  DT_SOCKETS },
		{ &p->sent, MAP_LRU_HASH, "sent", 8, sizeof(struct dt_sent), DT_SOCKETS },
		{ &p->from, MAP_LPM_TRIE, "from", sizeof(struct dt_network), 1, DT_NETWORKS },
		{ &p->state, MAP_PERCPU_ARRAY, DT_STATE, 4, sizeof(struct dt_state), 1 },
		{ devices, MAP_HASH, DT_DEVICES, sizeof(struct dt_device),
		  sizeof(struct dt_clsact), DT_DEVICES_MOST },
	};
	const struct dt_settings s = { .flags = (uint32_t)p->flags };
	const uint8_t one = 1;
	const uint32_t zero = 0;
	char as[16];

	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++) {
		str_format(as, sizeof(as), "dt_%s", maps[i].what);
		*maps[i].map = bpf_map(maps[i].kind, as, (unsigned)maps[i].key,
				       (unsigned)maps[i].value, maps[i].n);
		if (*maps[i].map < 0)
			return err_capability(CAPS_BPF, "unable to make the map %s", maps[i].what);
	}
	for (size_t i = 0; i < m->wanted->nnetworks; i++)
		if (bpf_update(p->from, &m->wanted->networks[i], &one) < 0)
			return err_capability(CAPS_BPF, "unable to store a network in its map");
	if (bpf_update(*settings, &zero, &s) < 0)
		return err_capability(CAPS_BPF, "unable to store the settings in their map");
	p->id = bpf_id(p->pids);
	return p->id ? 0 : err_capability(CAPS_BPF, "unable to read the id of a map");
}

/* Make the maps of readers, empty. The control and the ring are examples of what readers add. */
static int make_readers(struct readers *r)
{
	const unsigned cpus = channel_cpus();
	int control = channel_control(cpus);
	int ring = bpf_map(MAP_RINGBUF, "dt_ring", 0, 0, (unsigned)sysconf(_SC_PAGESIZE));

	*r = (struct readers){ -1, -1, cpus };
	if (control >= 0 && ring >= 0) {
		r->controls = bpf_map_of_maps("dt_controls", control, READERS_MOST);
		r->rings = bpf_map_of_maps("dt_rings", ring, READERS_MOST * cpus);
	}
	fd_close(control);
	fd_close(ring);
	return r->controls < 0 || r->rings < 0 ?
	       err_capability(CAPS_BPF, "unable to make a BPF ring buffer") : 0;
}

static int find_fields(struct make *m)
{
	struct dt_plan *p = &m->plan;
	const struct {
		const char *in, *member;
		int *at;
	} fields[] = {
		{ "tcp_sock", "copied_seq", &p->copied_seq },
		{ "tcp_sock", "write_seq", &p->write_seq },
		{ "tcp_sock", "snd_una", &p->snd_una },
		{ "tcp_sock", "rcv_nxt", &p->rcv_nxt },
		{ "tcp_sock", "bytes_acked", &p->bytes_acked },
		{ "tcp_sock", "bytes_received", &p->bytes_received },
		{ "sock_common", "skc_state", &p->status },
		{ "sock", "sk_max_ack_backlog", &p->backlog },
		{ "task_struct", "pid", &p->pid },
		{ "task_struct", "tgid", &p->tgid },
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		*fields[i].at = btf_member(&m->btf, fields[i].in, fields[i].member);
		if (*fields[i].at < 0)
			return err_msg("this kernel's BTF has no %s in struct %s",
				       fields[i].member, fields[i].in);
	}
	if (__BYTE_ORDER == __BIG_ENDIAN) {
		p->bytes_acked += 4;
		p->bytes_received += 4;
	}
	return 0;
}

/* ---- programs ------------------------------------------------------------------------ */

/* Load a program. Return a descriptor; or -1 and errno, silent, with the reason in m->why. */
static int load_as(struct make *m, dt_program *build, const char *as, const struct bpf_load_as *k)
{
	static struct bpf_code c;
	char full[16];

	c = (struct bpf_code){ .slots = dt_slots };
	build(&c, &m->plan);
	str_format(full, sizeof(full), "dt_%s", as);
	return bpf_load(&c, full, k, m->why, sizeof(m->why));
}

/* Write the error message of a load that failed. Return -1. */
static int refused(const struct make *m, const char *as)
{
	static const uint64_t needs = CAPS_BPF | CAPS_PERFMON | CAPS_NET_ADMIN;

	return *m->why ?
	       err_capability(needs, "the kernel refused the program dt_%s (%s)", as, m->why) :
	       err_capability(needs, "the kernel refused the program dt_%s", as);
}

/* Attach the program to the tracepoint. Return 0 or -1. */
static int at_tracepoint_once(struct make *m, dt_program *build, const char *as,
			      const char *tracepoint)
{
	static const struct bpf_load_as raw = { .kind = PROGRAM_RAW_TRACEPOINT };
	int fd = load_as(m, build, as, &raw), link;

	if (fd < 0)
		return refused(m, as);
	link = bpf_raw_tracepoint(fd, tracepoint);
	close(fd);
	if (link < 0)
		return err_capability(CAPS_PERFMON, "unable to attach to %s", tracepoint);
	return keep(m, link, as);
}

/*
 * How often to attach a program. While a thread is preempted in one copy (a send wakes the
 * reader, for example), the kernel skips only this copy for other threads.
 */
enum { TIMES = 4 };

/*
 * Do the same, several times if the kernel may skip a program. Return 1; 0: no such tracepoint;
 * or -1.
 */
static int at_tracepoint(struct make *m, dt_program *build, const char *as,
			 const char *tracepoint)
{
	const int times = kernel_skips_programs() && !bpf_is_printing() ? TIMES : 1;
	char numbered[16];
	int r = 0;

	if (!btf_tracepoint(&m->btf, tracepoint))
		return 0;
	for (int i = 1; i <= times && !r; i++) {
		str_format(numbered, sizeof(numbered), i == 1 ? "%s" : "%s%d", as, i);
		r = at_tracepoint_once(m, build, numbered, tracepoint);
	}
	return r < 0 ? -1 : 1;
}

/*
 * Load the program of incoming segments. Return a descriptor or -1. Do this first, because
 * it sets m->plan.plain if the kernel has no emit_cmpxchg. Without emit_cmpxchg, if segments
 * come to one socket on two CPUs at the same time, the marks of one may be lost.
 */
static int load_rx(struct make *m)
{
	static const struct bpf_load_as ingress = { PROGRAM_CGROUP_SKB, ATTACH_CGROUP_INGRESS, 0,
						   NULL };
	int fd = load_as(m, dt_rx, "rx", &ingress);

	if (fd < 0) {
		m->plan.plain = 1;
		fd = load_as(m, dt_rx, "rx", &ingress);
	}
	return fd < 0 ? refused(m, "rx") : fd;
}

/* Attach this program to the ingress of the root cgroup. Return 0 or -1. */
static int at_cgroup(const struct make *m, int rx)
{
	int cgroup, link;

	if (bpf_is_printing())
		return 0;
	cgroup = cgroup_open_v2();
	if (cgroup < 0)
		return err_msg("no cgroup2 is mounted: mount -t cgroup2 none DIRECTORY");
	link = bpf_link(rx, cgroup, ATTACH_CGROUP_INGRESS);
	if (link < 0)
		return err_capability(CAPS_NET_ADMIN,
				      "unable to attach to the ingress of the root cgroup");
	close(rx);
	close(cgroup);
	return keep(m, link, "rx");
}

/* Attach dt_send to a function's entry (fentry). Return a link, or -1 and errno. */
static int at_entry(struct make *m, const char *function)
{
	struct bpf_load_as k = { PROGRAM_TRACING, ATTACH_FENTRY, btf_function(&m->btf, function),
				 NULL };
	int fd, link;

	m->plan.first_argument = 0;
	errno = ENOENT;
	if (!k.function)
		return -1;
	fd = load_as(m, dt_send, "send", &k);
	if (fd < 0)
		return -1;
	link = bpf_raw_tracepoint(fd, NULL);
	close(fd);
	return link;
}

/* Return the offset of a function's first argument in struct pt_regs; -1: unknown. */
static int argument_register(void)
{
#if defined(__x86_64__)
	return 112;
#elif defined(__aarch64__)
	return 0;
#elif defined(__s390x__)
	return 8 + 16 + 2 * 8;
#elif defined(__powerpc64__)
	return 3 * 8;
#elif defined(__riscv) && __riscv_xlen == 64
	return 10 * 8;
#else
	return -1;
#endif
}

/* Do as at_entry with a kprobe (perf_event_open(2)). From Linux 5.15 on, a link keeps it. */
static int at_kprobe(struct make *m, const char *function)
{
	static const struct bpf_load_as k = { .kind = PROGRAM_KPROBE };
	struct {
		uint32_t type, size;
		uint64_t config, period, sample, read, flags;
		uint32_t wakeup, breakpoint;
		uint64_t function, offset;
		uint64_t more[6];
	} a = { .size = sizeof(a), .function = (uint64_t)(uintptr_t)function };
	char path[PATH_MAX];
	int fd, event, link;

	*m->why = '\0';
	m->plan.first_argument = argument_register();
	str_format(path, sizeof(path), "%s/bus/event_source/devices/kprobe/type", path_sysfs());
	a.type = (uint32_t)file_number(AT_FDCWD, path, NULL, 0);
	if (!a.type || m->plan.first_argument < 0) {
		errno = a.type ? ENOSYS : errno;
		return -1;
	}
	fd = load_as(m, dt_send, "send", &k);
	if (fd < 0)
		return -1;
	event = (int)syscall(SYS_perf_event_open, &a, -1, 0, -1, K_PERF_FLAG_FD_CLOEXEC);
	link = event < 0 ? -1 : bpf_link(fd, event, ATTACH_PERF_EVENT);
	fd_close(event);
	fd_close(fd);
	return link;
}

/*
 * Attach dt_send to the beginning of a send: to a tracepoint from Linux 6.16 on, else to the
 * entry of the function. Before 6.5 sendfile(2) has a function of its own. Return 0 or -1.
 */
static int at_send(struct make *m)
{
	static const char *const functions[] = { "tcp_sendmsg_locked", "do_tcp_sendpages" };
	static const char *const names[] = { "send", "sendpage" };
	char fentry[sizeof(m->why)];
	int r = at_tracepoint(m, dt_send, "send", "tcp_sendmsg_locked"), e;

	m->how_sent = "tracepoint";
	if (r)
		return r < 0 ? -1 : 0;
	for (int i = 0; i < 2; i++) {
		if (i && !btf_function(&m->btf, functions[i]))
			break;
		r = at_entry(m, functions[i]);
		m->how_sent = "fentry";
		e = errno;
		str_format(fentry, sizeof(fentry), "%s", *m->why ? m->why : strerror(e));
		if (r < 0) {
			r = at_kprobe(m, functions[i]);
			e = errno;
			m->how_sent = "kprobe";
		}
		/* with perf_event_paranoid 3 Debian's kernel wants more than CAP_PERFMON */
		if (r < 0)
			return err_msg("this kernel does not show sent data: it has no "
				       "tracepoint tcp_sendmsg_locked (Linux 6.16), no fentry "
				       "(%s), and no kprobe that stays (%s; Linux 5.15)%s", fentry,
				       *m->why ? m->why : strerror(e),
				       *m->why ? "" : caps_hint(e, CAPS_SYS_ADMIN));
		if (keep(m, r, names[i]) < 0)
			return -1;
	}
	return 0;
}

/* Load and pin a program of devices, which dt_device_on attaches. Return 0 or -1. */
static int make_mark(struct make *m, dt_program *build, const char *as)
{
	static const struct bpf_load_as k = { .kind = PROGRAM_SCHED_CLS };
	int fd = load_as(m, build, as, &k);

	return fd < 0 ? refused(m, as) : keep(m, fd, as);
}

static int attach(struct make *m)
{
	static const struct {
		dt_program *build;
		const char *as, *tracepoint;
	} programs[] = {
		{ dt_gone, "gone", "tcp_destroy_sock" },
		{ dt_exit, "exit", "sched_process_exit" },
		{ dt_fork, "fork", "sched_process_fork" },
		{ dt_state, "sockets", "inet_sock_set_state" },
		{ dt_read, "read", "tcp_rcv_space_adjust" },
		{ dt_wait, "wait", "sys_enter" },
	};
	const size_t n = sizeof(programs) / sizeof(*programs) - !(m->plan.flags & DT_WAITING);
	int rx = load_rx(m), ends;

	if (rx < 0 || make_mark(m, dt_egress, DT_MARK) < 0 ||
	    make_mark(m, dt_egress_bare, DT_MARK_BARE) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (at_tracepoint(m, programs[i].build, programs[i].as, programs[i].tracepoint) < 0)
			return -1;
	ends = at_tracepoint(m, dt_end, "end", "sock_send_length");
	if (ends < 0)
		return -1;
	m->plan.end_at_send = !ends;
	return at_send(m) < 0 || at_cgroup(m, rx) < 0 ? -1 : 0;
}

/* ---- the whole request probe --------------------------------------------------------- */

/* Make everything in the directory of the request probe. Return 0 or -1. */
static int fill(struct make *m)
{
	char path[PATH_MAX];
	int settings, devices, r;

	str_format(path, sizeof(path), "%s/kernel/btf/vmlinux", path_sysfs());
	if (btf_read(&m->btf, path) < 0)
		return err_msg("this kernel has no BTF in %s: use one with CONFIG_DEBUG_INFO_BTF",
			       path);
	r = find_fields(m);
	if (!r)
		r = make_maps(m, &settings, &devices);
	if (!r)
		r = make_readers(&m->plan.readers);
	if (!r)
		r = keep(m, settings, DT_SETTINGS) < 0 || keep(m, m->plan.state, DT_STATE) < 0 ||
		    keep(m, devices, DT_DEVICES) < 0 ||
		    keep(m, m->plan.readers.controls, DT_CONTROLS) < 0 ||
		    keep(m, m->plan.readers.rings, DT_RINGS) < 0 || attach(m) < 0 ||
		    keep(m, m->plan.pids, DT_PIDS) < 0 ? -1 : 0;
	btf_free(&m->btf);
	return r;
}

int dt_make(const char *name, const struct dt_wanted *wanted, struct dt_made *made)
{
	struct make m = { .name = name, .wanted = wanted, .plan.flags = wanted->flags };
	int held, r;

	if (bpf_is_printing())
		return fill(&m);
	if (dt_ready() < 0 || dt_make_directory(name) < 0)
		return -1;
	held = dt_hold(name);
	if (held < 0)
		return err_errno("unable to hold the request probe %s", name);
	r = fill(&m);
	close(held);
	if (r < 0) {
		dt_off(name);
		return -1;
	}
	*made = (struct dt_made){ m.plan.id, m.how_sent, m.plan.end_at_send };
	return 0;
}
