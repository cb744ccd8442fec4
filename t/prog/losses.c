/* SPDX-License-Identifier: ISC */
/*
 * losses - count a lost record at each call of this machine, in each state of a session
 *
 * It prints, for each state, whether records were counted while it made 1,000 calls.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "live/live.h"

enum { SLOT = -16, CALLS = 1000 };

static uint64_t counted(const struct ring_control *control, unsigned cpus)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < cpus; i++)
		n += *(const volatile uint64_t *)&control[i].lost;
	return n;
}

int main(void)
{
	static const struct bpf_load_as as = { .kind = PROGRAM_RAW_TRACEPOINT };
	static const char *const states[] = { "before the session records", "while it records",
					      "after its end" };
	static struct bpf_code code;
	struct channel ch = { .cpus = channel_cpus() };
	struct ring_control *control;
	char why[256] = "";
	int fd;

	ch.control = channel_control(ch.cpus);
	control = mmap(NULL, ch.cpus * sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED,
		       ch.control, 0);
	if (ch.control < 0 || control == MAP_FAILED)
		return 77;
	control->cpus = ch.cpus;
	emit_until_end(&code, &ch, SLOT);
	emit_lost(&code, SLOT);
	emit_out(&code, 0);
	fd = bpf_load(&code, "losses", &as, why, sizeof(why));
	if (fd < 0 || bpf_raw_tracepoint(fd, "sys_enter") < 0) {
		fprintf(stderr, "losses: the program is refused: %s\n", why);
		return 111;
	}
	for (int i = 0; i < 3; i++) {
		uint64_t before, after;

		if (rings_turn(ch.control, (enum ring_state)i) < 0)
			return 111;
		syscall(SYS_membarrier, 1, 0, 0); /* MEMBARRIER_CMD_GLOBAL: no program runs on */
		before = counted(control, ch.cpus);
		for (int n = 0; n < CALLS; n++)
			syscall(SYS_getppid);
		after = counted(control, ch.cpus);
		printf("%s: %s\n", states[i], after == before ? "none" :
		       after - before >= CALLS ? "each" : "some");
	}
	return 0;
}
