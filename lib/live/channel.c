/* SPDX-License-Identifier: ISC */
/* channel.c - the rings into which BPF programs write */

#include <sys/mman.h>
#include <sys/utsname.h>

#include "base/base.h"
#include "host/host.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "calls/calls.h"
#include "bpf/bpf.h"
#include "live/live.h"

enum { RING_LEAST = 64 * 1024, RING_MOST = 1 << 30 };

/*
 * Return 1 if the clock of the instance has to be set to mono, the clock of the records; 0 if it
 * is mono already; -1, reported, if another clock was asked for.
 */
static int wants_clock(int instance)
{
	char *clocks = file_read(instance, "trace_clock", NULL);
	const char *now = clocks ? strchr(clocks, '[') : NULL;
	int r = 0;

	if (!now)
		r = err_file("unable to read trace_clock");
	else if (!strncmp(now, "[local]", 7) && getenv(SESSION_KEEPS) && !getenv("HOOK_CLOCK"))
		r = 1;
	else if (strncmp(now, "[mono]", 6) && !bpf_is_printing())
		r = err_msg("BPF programs record times of the clock mono, not %.*s; "
			    "set trace_clock to mono, or give no other --clock",
			    (int)strcspn(now + 1, "]"), now + 1);
	free(clocks);
	return r;
}

/* Return the bytes of a ring: a power of 2, as the kernel wants it. */
static unsigned ring_size(int instance, int few)
{
	const uint64_t buffer = KB_BYTES(file_number(instance, "buffer_size_kb", NULL, 0));
	const uint64_t want = few ? buffer / 8 : buffer;
	unsigned size = RING_LEAST;

	while (size < want && size < RING_MOST)
		size *= 2;
	return size;
}

/* Return a list of CPUs, as "0-3,5". The caller frees it. NULL: no memory. */
static char *cpu_list(const char *which)
{
	char path[PATH_MAX], *list;

	str_format(path, sizeof(path), "%s/devices/system/cpu/%s", path_sysfs(), which);
	list = file_read(AT_FDCWD, path, NULL);
	if (!list && (list = malloc(32)))
		str_format(list, 32, "0-%ld", sysconf(_SC_NPROCESSORS_CONF) - 1);
	return list;
}

/* Return 1 more than the highest number in a list. */
static unsigned cpu_count(const char *list)
{
	unsigned n = 1;

	for (const char *p = list; p && *p; p += *p != '\0')
		if (*p >= '0' && *p <= '9')
			n = (unsigned)text_digits(&p) + 1;
	return n;
}

unsigned channel_cpus(void)
{
	char *possible = cpu_list("possible");
	unsigned n = cpu_count(possible);

	free(possible);
	return n;
}

int channel_control(unsigned cpus)
{
	return bpf_map(MAP_ARRAY, "tfs_control", sizeof(uint32_t), sizeof(struct ring_control),
		       cpus);
}

/* Make the rings of a list of CPUs, as "0-3,5". Return 0, or -1 and errno. */
static int make_rings(struct channel *ch, struct ring_control *control, unsigned size,
		      const char *list)
{
	char name[32];

	str_format(name, sizeof(name), "%s_ring", ch->id);
	while (*list >= '0' && *list <= '9') {
		unsigned cpu = (unsigned)text_digits(&list), last = cpu;

		if (*list == '-') {
			list++;
			last = (unsigned)text_digits(&list);
		}
		list += *list == ',';
		for (; cpu <= last && cpu < ch->cpus; cpu++) {
			int ring = bpf_map(MAP_RINGBUF, name, 0, 0, size);

			if (ring < 0)
				return -1;
			if (ch->outer < 0)
				ch->outer = bpf_map_of_maps("tfs_rings", ring, ch->cpus);
			if (ch->outer < 0)
				return -1;
			control[cpu].ring = 1;
			ch->rings[ch->n++] = ring;
		}
	}
	return 0;
}

/*
 * Make the changes of one child: child 0 sets the clock, and the others put their rings into the
 * map of rings. Return 0, or -1, reported.
 */
static int change(const struct channel *ch, const struct ring_control *control, int instance,
		  int clock, unsigned child)
{
	size_t ring = 0;

	if (!child)
		return clock ? ctl_write(instance, "trace_clock", "mono", 0) : 0;
	for (uint32_t cpu = 0; cpu < ch->cpus; cpu++) {
		const uint32_t entry = ch->first + cpu;

		if (!control[cpu].ring || ring++ % (CHANNEL_CHILDREN - 1) != child - 1)
			continue;
		if (bpf_update(ch->outer, &entry, &ch->rings[ring - 1]) < 0)
			return err_capability(CAPS_BPF, "unable to make a BPF ring buffer");
	}
	return 0;
}

/*
 * At each change of the clock or of the map of rings, the kernel waits some milliseconds, a grace
 * period of RCU or three. Let children make the changes in parallel, while this process goes on.
 */
static int begin_changes(struct channel *ch, const struct ring_control *control, int instance,
			 int clock)
{
	unsigned n = ch->n < CHANNEL_CHILDREN ? (unsigned)ch->n + 1 : CHANNEL_CHILDREN;

	signal(SIGCHLD, SIG_DFL); /* if ignored, waitpid gets no status */
	for (unsigned child = !clock; child < n; child++) {
		pid_t pid = fork();

		if (pid < 0)
			return err_errno("unable to start a process");
		if (!pid)
			_exit(change(ch, control, instance, clock, child) ? REFUSED : DONE);
		ch->children[ch->nchildren++] = pid;
	}
	return 0;
}

int channel_ready(struct channel *ch)
{
	int r = 0;

	while (ch->nchildren)
		if (child_wait(ch->children[--ch->nchildren]))
			r = -1;
	return r;
}

int channel_make(struct channel *ch, int instance, int few)
{
	const int clock = instance < 0 ? 0 : wants_clock(instance);
	char *online = cpu_list("online");
	struct ring_control *control = MAP_FAILED;
	int r = clock < 0 ? -1 : 0;

	ch->cpus = channel_cpus();
	ch->calls = -1;
	ch->rings = calloc(ch->cpus, sizeof(*ch->rings));
	file_raise_limit();
	if (!r && (!online || !ch->rings))
		r = err_msg("out of memory");
	ch->control = r ? -1 : channel_control(ch->cpus);
	if (ch->control >= 0)
		control = mmap(NULL, ch->cpus * sizeof(*control), PROT_READ | PROT_WRITE,
			       MAP_SHARED, ch->control, 0);
	if (!r && control == MAP_FAILED)
		r = err_capability(CAPS_BPF, "unable to make a BPF map");
	if (!r) {
		str_format(ch->id, sizeof(ch->id), "tfs_%x", bpf_id(ch->control));
		for (unsigned cpu = 0; cpu < ch->cpus; cpu++)
			control[cpu].cpus = ch->cpus;
		if (make_rings(ch, control, ring_size(instance, few), online) < 0)
			r = err_capability(CAPS_BPF, "unable to make a BPF ring buffer");
		else
			r = begin_changes(ch, control, instance, clock);
		munmap(control, ch->cpus * sizeof(*control));
	}
	free(online);
	return r;
}

int kernel_skips_programs(void)
{
	struct utsname u;

	return uname(&u) < 0 || kernel_version(u.release) >= KERNEL(6, 19);
}

void emit_head_of(struct bpf_code *c, enum bpf_reg to, int at, unsigned kind)
{
	const int head = at + (int)sizeof(struct ring_head);

	emit_store_imm(c, SIZE_H, to, head, (int32_t)(RECORD_FIRST + kind));
	emit_store_imm(c, SIZE_H, to, head + 2, 0);
	emit_store(c, SIZE_W, to, head + (int)offsetof(struct record_head, pid), R0);
	emit_call(c, FN_KTIME_GET_NS);
	emit_store(c, SIZE_DW, to, at, R0);
}

void emit_head(struct bpf_code *c, enum bpf_reg to, int at, unsigned kind)
{
	emit_call(c, FN_GET_CURRENT_PID_TGID);
	emit_head_of(c, to, at, kind);
}

/*
 * The control is at R0, the number of the ring at FP + key. Write the record into the ring. If the
 * ring has no room, go on at "lost"; otherwise, if counted is not 0, jump to "written".
 */
static void emit_output(struct bpf_code *c, int outer, enum bpf_reg base, int at, int size,
			int key, int counted)
{
	emit_get(c, R1, R0, ring_control, lost);
	emit_store(c, SIZE_DW, base, at + (int)offsetof(struct ring_head, lost), R1);
	emit_find(c, outer, key, R1, "lost");
	emit_address(c, R2, base, at);
	if (size)
		emit_mov_imm(c, R3, size);
	else
		emit_mov(c, R3, R8);
	emit_mov_imm(c, R4, 0);
	emit_call(c, FN_RINGBUF_OUTPUT);
	if (counted)
		emit_jump_if_imm(c, R0, JEQ, 0, "written");
	emit_label(c, "lost");
}

void emit_until_end(struct bpf_code *c, const struct channel *ch, int slot)
{
	emit_call(c, FN_GET_SMP_PROCESSOR_ID);
	emit_store(c, SIZE_W, FP, slot + 8, R0);
	emit_find(c, ch->control, slot + 8, R0, "out");
	emit_store(c, SIZE_DW, FP, slot, R0);
	emit_get(c, R1, R0, ring_control, state);
	emit_jump_if_imm(c, R1, JEQ, RINGS_ENDED, "out");
}

/* R0 = the control of this CPU; jump to written before the session records. */
static void load_control(struct bpf_code *c, int slot)
{
	emit_load(c, SIZE_DW, R0, FP, slot);
	emit_get(c, R1, R0, ring_control, state);
	emit_jump_if_imm(c, R1, JEQ, RINGS_WAIT, "written");
}

void emit_lost(struct bpf_code *c, int slot)
{
	emit_scope(c);
	load_control(c, slot);
	emit_count(c, R0, (int)offsetof(struct ring_control, lost));
	emit_label(c, "written");
	emit_scope_end(c);
}

void emit_record(struct bpf_code *c, const struct channel *ch, enum bpf_reg base, int at, int size,
		 int slot, int counted)
{
	emit_scope(c);
	load_control(c, slot);
	emit_output(c, ch->outer, base, at, size, slot + 8, counted);
	if (counted) {
		emit_load(c, SIZE_DW, R0, FP, slot);
		emit_count(c, R0, (int)offsetof(struct ring_control, lost));
	}
	emit_label(c, "written");
	emit_scope_end(c);
}

void emit_to_readers(struct bpf_code *c, const struct readers *r, int at, int size, int scratch)
{
	const int reader = scratch, control = scratch + 8, key = scratch + 16, cpu = scratch + 20;

	emit_scope(c);
	emit_mov_imm(c, R1, 0);
	emit_label(c, "reader");
	emit_store(c, SIZE_DW, FP, reader, R1);
	emit_store(c, SIZE_W, FP, key, R1);
	emit_call(c, FN_GET_SMP_PROCESSOR_ID);
	emit_store(c, SIZE_W, FP, cpu, R0);
	emit_find(c, r->controls, key, R1, "written");
	emit_address(c, R2, FP, cpu);
	emit_call(c, FN_MAP_LOOKUP_ELEM);
	emit_jump_if_imm(c, R0, JEQ, 0, "written");
	emit_get(c, R1, R0, ring_control, state);
	emit_jump_if_imm(c, R1, JNE, RINGS_RECORD, "written");
	emit_store(c, SIZE_DW, FP, control, R0);
	emit_load(c, SIZE_DW, R1, FP, reader);
	emit_alu_imm(c, ALU_MUL, R1, (int32_t)r->cpus);
	emit_load(c, SIZE_W, R2, FP, cpu);
	emit_alu(c, ALU_ADD, R1, R2);
	emit_store(c, SIZE_W, FP, key, R1);
	emit_output(c, r->rings, FP, at, size, key, 1);
	emit_load(c, SIZE_DW, R0, FP, control);
	emit_count(c, R0, (int)offsetof(struct ring_control, lost));
	emit_label(c, "written");
	emit_load(c, SIZE_DW, R1, FP, reader);
	emit_alu_imm(c, ALU_ADD, R1, 1);
	emit_jump_if_imm(c, R1, JNE, READERS_MOST, "reader");
	emit_scope_end(c);
}

int channel_session(void)
{
	const char *text = getenv(SESSION_KEEPS);
	unsigned long fd;

	return !text ? -1 : text_number(text, 0, INT_MAX, &fd) < 0 ? -2 : (int)fd;
}

int channel_give(const struct channel *ch, int socket, const int *fds, size_t n)
{
	int r = fd_send(socket, fds, n, KEEP);

	r = r ? r : fd_send(socket, &ch->control, 1, KEEP_CONTROL);
	r = r ? r : fd_send(socket, ch->rings, ch->n, KEEP_RING);
	if (!r && ch->calls >= 0)
		r = fd_send(socket, &ch->calls, 1, KEEP_CALLS);
	return r ? err_errno("unable to give the programs to the session") : 0;
}

/* Append the channel to the value of SESSION_RINGS. Return 0, or -1, reported. */
static int pass(const struct channel *ch)
{
	const char *before = getenv(SESSION_RINGS);
	struct strbuf list = { 0 };

	strbuf_format(&list, "%s%sc%d", before ? before : "", before ? " " : "", ch->control);
	for (size_t i = 0; i < ch->n; i++)
		strbuf_format(&list, "r%d", ch->rings[i]);
	if (ch->calls >= 0)
		strbuf_format(&list, "p%d", ch->calls);
	if (rings_turn(ch->control, RINGS_RECORD) < 0 || setenv(SESSION_RINGS, list.text, 1) < 0)
		return err_errno("unable to let the programs record");
	free(list.text);
	return 0;
}

int channel_take(const struct channel *ch, struct rings *rings)
{
	unsetenv(SESSION_RINGS);
	return pass(ch) < 0 ? -1 : rings_open(rings);
}

int channel_run(const struct channel *ch, const int *fds, size_t n, char **argv)
{
	if (pass(ch) < 0)
		return -1;
	fcntl(ch->control, F_SETFD, 0);
	for (size_t i = 0; i < ch->n; i++)
		fcntl(ch->rings[i], F_SETFD, 0);
	for (size_t i = 0; i < n; i++)
		fcntl(fds[i], F_SETFD, 0);
	if (ch->calls >= 0)
		fcntl(ch->calls, F_SETFD, 0);
	execvp(*argv, argv);
	return err_errno("unable to run %s", *argv);
}
