/* SPDX-License-Identifier: ISC */
/* channel.c - the rings into which BPF programs write */

#include <sys/mman.h>

#include "base/base.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "syscalls/syscalls.h"
#include "bpf/bpf.h"
#include "live/live.h"

enum { RING_LEAST = 64 * 1024, RING_MOST = 1 << 30 };

int channel_clock(int instance)
{
	char *clocks = file_read(instance, "trace_clock", NULL);
	const char *now = clocks ? strchr(clocks, '[') : NULL;
	int r = 0;

	if (!now)
		r = err_file("unable to read trace_clock");
	else if (!strncmp(now, "[local]", 7) && getenv(SESSION_KEEPS) && !getenv("HOOK_CLOCK"))
		r = ctl_write(instance, "trace_clock", "mono", 0);
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
			uint32_t entry = ch->first + cpu;
			int ring = bpf_map(MAP_RINGBUF, name, 0, 0, size);

			if (ring < 0)
				return -1;
			if (ch->outer < 0)
				ch->outer = bpf_map_of_maps("tfs_rings", ring, ch->cpus);
			if (ch->outer < 0 || bpf_update(ch->outer, &entry, &ring) < 0)
				return -1;
			control[cpu].ring = 1;
			ch->rings[ch->n++] = ring;
		}
	}
	return 0;
}

int channel_make(struct channel *ch, int instance, int few)
{
	char *online = cpu_list("online");
	struct ring_control *control = MAP_FAILED;
	int r = 0;

	ch->cpus = channel_cpus();
	ch->calls = -1;
	ch->rings = calloc(ch->cpus, sizeof(*ch->rings));
	file_raise_limit();
	if (!online || !ch->rings) {
		free(online);
		return err_msg("out of memory");
	}
	ch->control = channel_control(ch->cpus);
	if (ch->control >= 0)
		control = mmap(NULL, ch->cpus * sizeof(*control), PROT_READ | PROT_WRITE,
			       MAP_SHARED, ch->control, 0);
	if (control == MAP_FAILED) {
		free(online);
		return err_capability(CAPS_BPF, "unable to make a BPF map");
	}
	str_format(ch->id, sizeof(ch->id), "tfs_%x", bpf_id(ch->control));
	for (unsigned cpu = 0; cpu < ch->cpus; cpu++)
		control[cpu].cpus = ch->cpus;
	if (make_rings(ch, control, ring_size(instance, few), online) < 0)
		r = err_capability(CAPS_BPF, "unable to make a BPF ring buffer");
	munmap(control, ch->cpus * sizeof(*control));
	free(online);
	return r;
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
 * The control is at R0, the number of the ring at FP + key. Write the record into the ring. If it
 * has no room, go on at "lost"; otherwise, if counted is not 0, jump to "written".
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

/* R0 = the control of this CPU, or jump away if there is none. key: a slot for the number */
static void find_control(struct bpf_code *c, const struct channel *ch, int key, const char *none)
{
	emit_call(c, FN_GET_SMP_PROCESSOR_ID);
	emit_store(c, SIZE_W, FP, key, R0);
	emit_find(c, ch->control, key, R0, none);
}

void emit_until_end(struct bpf_code *c, const struct channel *ch, int key)
{
	find_control(c, ch, key, "out");
	emit_get(c, R1, R0, ring_control, state);
	emit_jump_if_imm(c, R1, JEQ, RINGS_ENDED, "out");
}

void emit_lost(struct bpf_code *c, const struct channel *ch, int key)
{
	emit_scope(c);
	find_control(c, ch, key, "counted");
	emit_count(c, R0, (int)offsetof(struct ring_control, lost));
	emit_label(c, "counted");
	emit_scope_end(c);
}

void emit_record(struct bpf_code *c, const struct channel *ch, enum bpf_reg base, int at, int size,
		 int key, int counted)
{
	emit_scope(c);
	find_control(c, ch, key + 4, "written");
	emit_get(c, R1, R0, ring_control, state);
	emit_jump_if_imm(c, R1, JEQ, RINGS_WAIT, "written");
	emit_output(c, ch->outer, base, at, size, key + 4, counted);
	if (counted) {
		emit_find(c, ch->control, key + 4, R0, "written");
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
		return err_errno("unable to begin to record");
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
