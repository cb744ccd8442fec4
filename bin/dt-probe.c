/* SPDX-License-Identifier: ISC */
/*
 * dt-probe - let marks on TCP data follow a request from host to host
 *
 * Requires: Linux 5.10 with BTF, bpffs, cgroup v2, tracefs, root.
 *	on         load the programs and leave them to the kernel: no process stays.
 *	           Prints the probe's id, and how this kernel lets it see what is sent
 *	off        end it; the devices that dt-dev gave it are let go of, too
 *	state      print what was counted, a line each
 *	(nothing)  print 1 when it is on, 0 when it is off
 *	-1         on: mark only what is sent for the first time
 *	-e         on: who waits in epoll_wait(2) has no window; each system call of
 *	           everybody takes longer
 *	-f CIDR    on: believe the marks that come from there; nobody's without
 *	-g         on: trace processes, not threads
 *	-m         on: as the kernel module did it, with no care for event loops
 *	-N NAME    another probe than $TFS_PROBE or "dt"
 * Exit: 0 done, 1 it is off, 100 misused, 111 refused.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "dt.h"

static const struct tool tool = {
	.name = "dt-probe",
	.usage = "dt-probe [-N NAME] [-1egm] [-f CIDR]... [on|off|state]",
	.purpose = "let marks on TCP data follow a request from host to host",
	.letters = "1ef:gmN:",
};

/* A key of the map "from": bits of the address that count, and the address. */
struct network {
	uint32_t bits;
	uint8_t address[16];
};

static struct network networks[DT_NETWORKS];
static size_t nnetworks;

static void believe(const char *cidr)
{
	struct network *n = &networks[nnetworks];
	const char *slash = strchr(cidr, '/');
	unsigned long bits, least = 0;
	char text[64];

	if (nnetworks++ == DT_NETWORKS)
		misused(&tool, "-f: more than %d networks", DT_NETWORKS);
	format(text, sizeof(text), "%.*s", slash ? (int)(slash - cidr) : 63, cidr);
	if (inet_pton(AF_INET, text, n->address + 12) == 1) {
		memset(n->address + 10, 0xff, 2);
		least = 96;
	} else if (inet_pton(AF_INET6, text, n->address) != 1) {
		misused(&tool, "-f: not an address or a network: '%.80s'", cidr);
	}
	bits = 128 - least;
	if (slash && number(slash + 1, 0, 128 - least, &bits) < 0)
		misused(&tool, "-f: not a network's bits, 0 to %lu: '%.80s'", 128 - least, cidr);
	n->bits = (uint32_t)(bits + least);
}

/* ---- on ------------------------------------------------------------------------- */

static const char *name;
static int of_session; /* the name is from the environment, and there is $TFS_INSTANCE */
static char why[256]; /* the verifier's last line */

static int keep(int fd, const char *what)
{
	char path[PATH_MAX];

	dt_path(path, name, what);
	return bpf_pin(fd, path) < 0 ? complain_errno("unable to pin %s", path) : 0;
}

static int make_map(enum map_kind kind, const char *what, size_t key, size_t value, unsigned n)
{
	char as[16];
	int fd;

	format(as, sizeof(as), "dt_%s", what);
	fd = bpf_map(kind, as, (unsigned)key, (unsigned)value, n);
	return fd < 0 ? complain_errno("unable to make the map %s", what) : fd;
}

static int make_maps(struct dt_plan *p, int *settings, int *devices)
{
	struct dt_settings s = { .flags = (uint32_t)p->flags };
	uint8_t one = 1;
	uint32_t zero = 0;

	if ((*settings = make_map(MAP_ARRAY, DT_SETTINGS, 4, sizeof(s), 1)) < 0 ||
	    (p->pids = make_map(MAP_HASH, DT_PIDS, 4, sizeof(struct dt_task), DT_TASKS)) < 0 ||
	    (p->received = make_map(MAP_LRU_HASH, "received", 8, sizeof(struct dt_received),
				    DT_SOCKETS)) < 0 ||
	    (p->sent = make_map(MAP_LRU_HASH, "sent", 8, sizeof(struct dt_sent),
				DT_SOCKETS)) < 0 ||
	    (p->from = make_map(MAP_LPM_TRIE, "from", sizeof(struct network), 1,
				DT_NETWORKS)) < 0 ||
	    (p->state = make_map(MAP_PERCPU_ARRAY, DT_STATE, 4, sizeof(struct dt_state), 1)) < 0 ||
	    (*devices = make_map(MAP_HASH, DT_DEVICES, sizeof(struct dt_device),
				 sizeof(struct dt_clsact), DT_DEVICES_MOST)) < 0)
		return -1;
	for (size_t i = 0; i < nnetworks; i++)
		if (bpf_update(p->from, &networks[i], &one) < 0)
			return complain_errno("unable to note a network");
	if (bpf_update(*settings, &zero, &s) < 0)
		return complain_errno("unable to note the settings");
	p->id = bpf_id(p->pids);
	return p->id ? 0 : complain_errno("unable to learn the id of a map");
}

static int find_fields(struct dt_plan *p, const struct btf *b)
{
	const struct {
		const char *in, *member;
		int *at;
	} wanted[] = {
		{ "tcp_sock", "copied_seq", &p->copied_seq },
		{ "tcp_sock", "write_seq", &p->write_seq },
		{ "tcp_sock", "snd_una", &p->snd_una },
		{ "tcp_sock", "rcv_nxt", &p->rcv_nxt },
		{ "sock_common", "skc_dport", &p->peer_port },
		{ "sock_common", "skc_num", &p->port },
		{ "task_struct", "pid", &p->pid },
		{ "task_struct", "tgid", &p->tgid },
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		*wanted[i].at = btf_member(b, wanted[i].in, wanted[i].member);
		if (*wanted[i].at < 0)
			return complain("this kernel's BTF has no %s in struct %s",
					wanted[i].member, wanted[i].in);
	}
	return 0;
}

static int load_as(dt_program *build, const char *as, const struct kind *k,
		   const struct dt_plan *p)
{
	static struct code c;
	char full[16];

	memset(&c, 0, sizeof(c));
	build(&c, p);
	format(full, sizeof(full), "dt_%s", as);
	return code_load(&c, full, k, why, sizeof(why));
}

static int refused(const char *as)
{
	return *why ? complain_errno("the kernel refused the program dt_%s (%s)", as, why)
		    : complain_errno("the kernel refused the program dt_%s", as);
}

/* Is it a kernel that may take the processor from a thread in a tracepoint? */
static int may_be_left_out(void)
{
	struct utsname u;
	const char *s = u.release;
	unsigned long long major;

	if (uname(&u) < 0)
		return 1;
	major = digits_at(&s);
	s += *s == '.';
	return major > 6 || (major == 6 && digits_at(&s) >= 19);
}

/* The program at the tracepoint, pinned. */
static int at_tracepoint_once(dt_program *build, const char *as, const char *tracepoint,
			      const struct dt_plan *p)
{
	static const struct kind raw = { .kind = PROGRAM_RAW_TRACEPOINT };
	int fd = load_as(build, as, &raw, p), link;

	if (fd < 0)
		return refused(as);
	link = bpf_raw_tracepoint(fd, tracepoint);
	close(fd);
	if (link < 0)
		return errno == ENOENT ? 0 : complain_errno("unable to attach to %s", tracepoint);
	return keep(link, as) < 0 ? -1 : 1;
}

/*
 * How often a program is at its tracepoint: each is left out by itself, so that of
 * threads that lose the processor in one (a send wakes who reads) the next has another.
 */
enum { TIMES = 4 };

/* The same, and where one may be left out others, which then are not (dtprog.c). */
static int at_tracepoint(dt_program *build, const char *as, const char *tracepoint,
			 const struct dt_plan *p)
{
	int r = at_tracepoint_once(build, as, tracepoint, p), times = may_be_left_out() ? TIMES : 1;
	char again[16];

	for (int i = 2; i <= times && r > 0; i++) {
		format(again, sizeof(again), "%s%d", as, i);
		r = at_tracepoint_once(build, again, tracepoint, p);
	}
	return r;
}

static int at_cgroup(const struct dt_plan *p)
{
	static const struct kind k = { PROGRAM_CGROUP_SKB, ATTACH_CGROUP_INGRESS, 0 };
	int cgroup = open_cgroup2(), fd, link;

	if (cgroup < 0)
		return complain("no cgroup2 is mounted: mount -t cgroup2 none DIRECTORY");
	fd = load_as(dt_rx, "rx", &k, p);
	if (fd < 0)
		return refused("rx");
	link = bpf_link(fd, cgroup, ATTACH_CGROUP_INGRESS);
	if (link < 0)
		return complain_errno("unable to attach to the ingress of the root cgroup");
	close(fd);
	close(cgroup);
	return keep(link, "rx");
}

/* A link to the entry of a function by BTF; -1 and errno, silent. */
static int at_entry(const char *function, const struct btf *b, struct dt_plan *p)
{
	struct kind k = { PROGRAM_TRACING, ATTACH_FENTRY, btf_function(b, function) };
	int fd, link;

	p->first_argument = 0;
	errno = ENOENT;
	if (!k.function)
		return -1;
	fd = load_as(dt_send, "send", &k, p);
	if (fd < 0)
		return -1;
	link = bpf_raw_tracepoint(fd, NULL);
	close(fd);
	return link;
}

/* Where the first argument of a function is in struct pt_regs; -1: not known here. */
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

/* The same by a kprobe (perf_event_open(2)); its link holds it from Linux 5.15 on. */
static int at_kprobe(const char *function, struct dt_plan *p)
{
	static const struct kind k = { .kind = PROGRAM_KPROBE };
	struct {
		uint32_t type, size;
		uint64_t config, period, sample, read, flags;
		uint32_t wakeup, breakpoint;
		uint64_t function, offset;
		uint64_t more[6];
	} a = { .size = sizeof(a), .function = (uint64_t)(uintptr_t)function };
	char path[PATH_MAX], *type;
	const char *digits;
	int fd, event, link, e;

	*why = '\0';
	p->first_argument = argument_register();
	format(path, sizeof(path), "%s/bus/event_source/devices/kprobe/type", sysfs());
	type = ctl_read(AT_FDCWD, path, NULL);
	if (!type || p->first_argument < 0) {
		free(type);
		errno = type ? ENOSYS : errno;
		return -1;
	}
	digits = type;
	a.type = (uint32_t)digits_at(&digits);
	free(type);
	fd = load_as(dt_send, "send", &k, p);
	if (fd < 0)
		return -1;
	event = (int)syscall(SYS_perf_event_open, &a, -1, 0, -1, 8 /* PERF_FLAG_FD_CLOEXEC */);
	link = event < 0 ? -1 : bpf_link(fd, event, ATTACH_PERF_EVENT);
	e = errno;
	if (event >= 0)
		close(event);
	close(fd);
	errno = e;
	return link;
}

static const char *how_sent; /* for the user */

/*
 * The entry of a send: a tracepoint from Linux 6.16 on, else the entry of the
 * function; before 6.5 sendfile(2) has one of its own.
 */
static int at_send(struct dt_plan *p, const struct btf *b)
{
	static const char *const functions[] = { "tcp_sendmsg_locked", "do_tcp_sendpages" };
	static const char *const names[] = { "send", "sendpage" };
	char fentry[sizeof(why)];
	int r = at_tracepoint(dt_send, "send", "tcp_sendmsg_locked", p), e;

	how_sent = "tracepoint";
	if (r)
		return r < 0 ? -1 : 0;
	for (int i = 0; i < 2; i++) {
		if (i && !btf_function(b, functions[i]))
			break;
		r = at_entry(functions[i], b, p);
		how_sent = "fentry";
		e = errno;
		format(fentry, sizeof(fentry), "%s", *why ? why : strerror(e));
		if (r < 0) {
			r = at_kprobe(functions[i], p);
			how_sent = "kprobe";
		}
		if (r < 0)
			return complain("this kernel does not show what is sent: it has no "
					"tracepoint tcp_sendmsg_locked (Linux 6.16), no fentry "
					"(%s), and no kprobe that stays (%s; Linux 5.15)", fentry,
					*why ? why : strerror(errno));
		if (keep(r, names[i]) < 0)
			return -1;
	}
	return 0;
}

static int make_marks(const struct dt_plan *p)
{
	static const struct kind k = { .kind = PROGRAM_SCHED_CLS };
	int fd = load_as(dt_egress, DT_MARK, &k, p);

	if (fd < 0)
		return refused(DT_MARK);
	if (keep(fd, DT_MARK) < 0)
		return -1;
	fd = load_as(dt_egress_bare, DT_MARK_BARE, &k, p);
	if (fd < 0)
		return refused(DT_MARK_BARE);
	return keep(fd, DT_MARK_BARE);
}

static int attach(struct dt_plan *p, const struct btf *b)
{
	int ends;

	if (make_marks(p) < 0 || at_tracepoint(dt_gone, "gone", "tcp_destroy_sock", p) < 0 ||
	    at_tracepoint(dt_exit, "exit", "sched_process_exit", p) < 0 ||
	    at_tracepoint(dt_fork, "fork", "sched_process_fork", p) < 0 ||
	    at_tracepoint(dt_state, "sockets", "inet_sock_set_state", p) < 0 ||
	    at_tracepoint(dt_read, "read", "tcp_rcv_space_adjust", p) < 0)
		return -1;
	if (p->flags & DT_WAITING && at_tracepoint(dt_wait, "wait", "sys_enter", p) < 0)
		return -1;
	ends = at_tracepoint(dt_end, "end", "sock_send_length", p);
	if (ends < 0)
		return -1;
	p->end_at_send = !ends;
	return at_send(p, b) < 0 || at_cgroup(p) < 0 ? -1 : 0;
}

static int on(struct dt_plan *p)
{
	char path[PATH_MAX];
	struct btf b;
	int settings, devices, held, instance, r;

	if (dt_ready() < 0)
		return -1;
	dt_path(path, name, NULL);
	if (mkdir(path, 0700) < 0)
		return errno == EEXIST ?
		       complain("the probe %s is on, or what is left of one: dt-probe off ends it",
				name) :
		       complain_errno("unable to make %s", path);
	held = dt_hold(name);
	if (held < 0)
		return complain_errno("unable to hold %s", path);
	format(path, sizeof(path), "%s/kernel/btf/vmlinux", sysfs());
	r = btf_read(&b, path);
	if (r < 0)
		complain("this kernel does not tell of its structures in %s; it needs "
			 "CONFIG_DEBUG_INFO_BTF", path);
	if (!r) {
		r = find_fields(p, &b);
		if (!r)
			r = make_maps(p, &settings, &devices);
		if (!r)
			r = keep(settings, DT_SETTINGS) < 0 || keep(p->state, DT_STATE) < 0 ||
			    keep(devices, DT_DEVICES) < 0 || dt_hush(name, 1) < 0 ||
			    attach(p, &b) < 0 || dt_hush(name, 0) < 0 ||
			    keep(p->pids, DT_PIDS) < 0 ? -1 : 0;
		btf_free(&b);
	}
	close(held);
	/* a session's that has died meanwhile: who swept it up may have been before us */
	if (!r && of_session) {
		instance = r = open_tracefs(NULL, NULL, NULL);
		if (instance >= 0)
			close(instance);
	}
	if (r < 0) {
		dt_off(name);
		return -1;
	}
	print("id %x\nsend %s\nend %s\n", p->id, how_sent,
	      p->end_at_send ? "at the send" : "sock_send_length");
	flush();
	return 0;
}

/* ---- the rest --------------------------------------------------------------------- */

static int print_state(void)
{
	static struct dt_state each[8192]; /* the most processors that Linux is built for */
	struct dt_state sum = { 0 };
	uint32_t zero = 0;
	int map = dt_open(name, DT_STATE);

	if (map < 0)
		return REFUSED;
	if (bpf_lookup(map, &zero, each) < 0) {
		complain_errno("unable to read what was counted");
		return REFUSED;
	}
	for (size_t i = 0; i < sizeof(each) / sizeof(*each); i++) {
		sum.marked_out += each[i].marked_out;
		sum.marked_in += each[i].marked_in;
		sum.refused += each[i].refused;
		sum.windows += each[i].windows;
	}
	print("marked out %llu\nmarked in %llu\nnot believed %llu\nwindows %llu\n",
	      (unsigned long long)sum.marked_out, (unsigned long long)sum.marked_in,
	      (unsigned long long)sum.refused, (unsigned long long)sum.windows);
	flush();
	return DONE;
}

static int is_on(void)
{
	char path[PATH_MAX];
	int fd;

	dt_path(path, name, DT_PIDS);
	fd = bpf_pinned(path);
	print("%d\n", fd >= 0);
	flush();
	return fd >= 0 ? DONE : NO;
}

int main(int argc, char **argv)
{
	struct dt_plan p = { 0 };
	const char *command;
	int c, r;

	name = dt_name();
	while ((c = next_option(&tool, argc, argv)) != -1)
		switch (c) {
		case '1':
			p.flags |= DT_ONCE;
			break;
		case 'e':
			p.flags |= DT_WAITING;
			break;
		case 'f':
			believe(opt_value);
			break;
		case 'g':
			p.flags |= DT_GROUP;
			break;
		case 'm':
			p.flags |= DT_MODULE;
			break;
		default:
			name = opt_value;
		}
	of_session = name == dt_name() && getenv("TFS_PROBE") && getenv("TFS_INSTANCE");
	if (!dt_name_ok(name))
		misused(&tool, "not a probe's name: '%.80s'", name);
	command = argv[opt_index];
	if (command && argv[opt_index + 1])
		misused(&tool, "unexpected operand '%.80s'", argv[opt_index + 1]);
	if ((!command || strcmp(command, "on")) && (p.flags || nnetworks))
		misused(&tool, "-1 -e -f -g -m are for \"on\"");
	if (!command)
		return is_on();
	if (!strcmp(command, "on"))
		return on(&p) < 0 ? REFUSED : DONE;
	if (!strcmp(command, "state"))
		return print_state();
	if (strcmp(command, "off"))
		misused(&tool, "no such command: '%.80s'", command);
	r = dt_off(name);
	return r < 0 ? REFUSED : r ? DONE : NO;
}
