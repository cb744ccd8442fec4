/* SPDX-License-Identifier: ISC */
/* channel.c - the rings into which the programs of tfs-strings write */

#include "base/base.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "syscalls/syscalls.h"
#include "live/live.h"
#include "strings.h"

enum { RING_LEAST = 64 * 1024, RING_MOST = 1 << 30 };

/* Return the bytes of a ring: a power of 2, as the kernel wants it. */
static unsigned ring_size(const struct plan *p)
{
	const uint64_t buffer = KB_BYTES(file_number(p->instance, "buffer_size_kb", NULL, 0));
	const uint64_t want = p->few ? buffer / 8 : buffer;
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

/* Make the rings of a list of CPUs, as "0-3,5". Return 0, or -1 and errno. */
static int make_rings(struct plan *p, struct ring_control *control, unsigned cpus,
		      const char *list)
{
	struct channel *ch = &p->channel;
	const unsigned size = ring_size(p);
	char name[32];

	str_format(name, sizeof(name), "%s_ring", p->id);
	while (*list >= '0' && *list <= '9') {
		unsigned cpu = (unsigned)text_digits(&list), last = cpu;

		if (*list == '-') {
			list++;
			last = (unsigned)text_digits(&list);
		}
		list += *list == ',';
		for (; cpu <= last && cpu < cpus; cpu++) {
			int ring = bpf_map(MAP_RINGBUF, name, 0, 0, size);

			if (ring < 0)
				return -1;
			if (!ch->n)
				ch->outer = bpf_map_of_maps("tfs_rings", ring, cpus);
			if (ch->outer < 0 || bpf_update(ch->outer, &cpu, &ring) < 0)
				return -1;
			control[cpu].ring = 1;
			ch->rings[ch->n++] = ring;
		}
	}
	return 0;
}

int channel_make(struct plan *p)
{
	struct channel *ch = &p->channel;
	char *possible = cpu_list("possible"), *online = cpu_list("online");
	const unsigned cpus = cpu_count(possible);
	struct ring_control *control;
	int r = -1;

	ch->calls = -1;
	ch->rings = calloc(cpus, sizeof(*ch->rings));
	file_raise_limit();
	if (!possible || !online || !ch->rings)
		err_msg("out of memory");
	else if ((control = plan_array(p, "tfs_control", &ch->control, sizeof(*control), cpus))) {
		str_format(p->id, sizeof(p->id), "tfs_%x", bpf_id(ch->control));
		for (unsigned cpu = 0; cpu < cpus; cpu++)
			control[cpu].cpus = cpus;
		r = make_rings(p, control, cpus, online);
		if (r < 0)
			err_capability(CAPS_BPF, "unable to make a BPF ring buffer");
	}
	free(possible);
	free(online);
	return r;
}

void emit_head(struct bpf_code *c, enum bpf_reg to, int at, unsigned kind)
{
	emit_call(c, FN_GET_CURRENT_PID_TGID);
	emit_alu_imm(c, ALU_LSH, R0, 32);
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) {
		emit_alu_imm(c, ALU_RSH, R0, 32);
		emit_load_imm64(c, R1, (uint64_t)(RECORD_FIRST + kind) << 48);
	} else {
		emit_mov_imm(c, R1, (int32_t)(RECORD_FIRST + kind));
	}
	emit_alu(c, ALU_OR, R0, R1);
	emit_store(c, SIZE_DW, to, at + (int)sizeof(struct ring_head), R0);
	emit_call(c, FN_KTIME_GET_NS);
	emit_store(c, SIZE_DW, to, at, R0);
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

void emit_record(struct bpf_code *c, const struct channel *ch, enum bpf_reg base, int at, int size,
		 int key, int counted)
{
	emit_scope(c);
	if (!size)
		emit_store(c, SIZE_W, FP, key, R3);
	find_control(c, ch, key + 4, "written");
	emit_get(c, R1, R0, ring_control, state);
	emit_jump_if_imm(c, R1, JEQ, RINGS_WAIT, "written");
	emit_get(c, R1, R0, ring_control, lost);
	emit_store(c, SIZE_DW, base, at + (int)offsetof(struct ring_head, lost), R1);
	emit_find(c, ch->outer, key + 4, R1, "lost");
	emit_address(c, R2, base, at);
	if (size)
		emit_mov_imm(c, R3, size);
	else
		emit_load(c, SIZE_W, R3, FP, key);
	if (!size) /* the verifier has forgotten it */
		emit_alu_imm(c, ALU_AND, R3, RECORD_MASK);
	emit_mov_imm(c, R4, 0);
	emit_call(c, FN_RINGBUF_OUTPUT);
	if (counted)
		emit_jump_if_imm(c, R0, JEQ, 0, "written");
	emit_label(c, "lost");
	if (counted) {
		emit_find(c, ch->control, key + 4, R0, "written");
		emit_count(c, R0, (int)offsetof(struct ring_control, lost));
	}
	emit_label(c, "written");
	emit_scope_end(c);
}

void channel_pass(const struct channel *ch, char *value, size_t size)
{
	size_t n = str_format(value, size, "c%d", ch->control);

	fcntl(ch->control, F_SETFD, 0);
	for (size_t i = 0; i < ch->n; i++) {
		n += str_format(value + n, size - n, "r%d", ch->rings[i]);
		fcntl(ch->rings[i], F_SETFD, 0);
	}
	if (ch->calls >= 0) {
		str_format(value + n, size - n, "p%d", ch->calls);
		fcntl(ch->calls, F_SETFD, 0);
	}
}
