/* SPDX-License-Identifier: ISC */
/* printk.c - keep the event of programs that print quiet */
#include <sys/file.h>
#include <time.h>

#include "base/base.h"
#include "tracefs/tracefs.h"
#include "bpf/bpf.h"
#include "requests.h"

/* A work item of the kernel: how often this process has queued it, and how often it has ended */
struct item {
	uint64_t queued, ended;
};

/* The map of items by their addresses, and the links of the programs that count; -1: none */
static int items = -1, links[2] = { -1, -1 };

int printk_lock(int root)
{
	int fd = openat(root, "events/bpf_trace", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	while (fd >= 0 && flock(fd, LOCK_EX) < 0)
		if (errno != EINTR) {
			fd_close(fd);
			return -1;
		}
	return fd;
}

int printk_is_on(int root)
{
	char *state = file_read(root, PRINTK_ENABLE, NULL);
	int on = state ? *state != '0' : -1;

	free(state);
	return on;
}

/* Attach a program that counts the items of a tracepoint, whose address is this argument. */
static int count_items(const char *tracepoint, int argument, size_t counter)
{
	static const struct bpf_load_as raw = { .kind = PROGRAM_RAW_TRACEPOINT };
	static struct bpf_code c;
	const int queued = counter == offsetof(struct item, queued);
	char why[8];
	int fd, link;

	memset(&c, 0, sizeof(c));
	emit_load(&c, SIZE_DW, R6, R1, 8 * argument);
	emit_store(&c, SIZE_DW, FP, -8, R6);
	if (queued) {
		emit_call(&c, FN_GET_CURRENT_PID_TGID);
		emit_jump32_if_imm(&c, R0, JNE, getpid(), "out");
		emit_store_imm(&c, SIZE_DW, FP, -16, 0);
		emit_store_imm(&c, SIZE_DW, FP, -24, 0);
		emit_address(&c, R6, FP, -24);
		emit_update(&c, items, -8, R6, 0, UPDATE_NEW);
	}
	emit_find(&c, items, -8, R0, "out");
	emit_count(&c, R0, (int)counter);
	emit_out(&c, 0);
	fd = bpf_load(&c, "tfs_work", &raw, why, sizeof(why));
	link = fd < 0 ? -1 : bpf_raw_tracepoint(fd, tracepoint);
	fd_close(fd);
	return link;
}

void printk_watch(void)
{
	items = bpf_map(MAP_HASH, "tfs_work", sizeof(uint64_t), sizeof(struct item), 256);
	if (items < 0)
		return; /* then no other program is loaded either */
	links[0] = count_items("workqueue_execute_end", 0, offsetof(struct item, ended));
	links[1] = count_items("workqueue_queue_work", 2, offsetof(struct item, queued));
}

/* Is an item still to end? */
static int is_busy(void)
{
	struct item item;
	uint64_t key;

	for (int r = bpf_next(items, NULL, &key); !r; r = bpf_next(items, &key, &key))
		if (!bpf_lookup(items, &key, &item) && item.queued != item.ended)
			return 1;
	return 0;
}

/*
 * Newer kernels enable the event from a work queue, at some time after a load. So wait until all
 * that this process has queued has ended.
 */
int printk_quiet(int root)
{
	const struct timespec pause = { 0, 200000 };

	for (int i = 0; i < 5000 && is_busy(); i++)
		nanosleep(&pause, NULL);
	fd_close(links[0]);
	fd_close(links[1]);
	fd_close(items);
	items = links[0] = links[1] = -1;
	return ctl_write(root, PRINTK_ENABLE, "0", 0) ? -1 : 0;
}
