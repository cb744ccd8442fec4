/* SPDX-License-Identifier: ISC */
/*
 * uring_tcp.c - connect and accept by io_uring
 *
 * It prints "ready", waits for a line, and then, in a network namespace of its own, makes a connect
 * without a route, one that is refused, and three that succeed: one with an accept before it, two
 * with one accept of several connections. Then it does the same with sockets in the ring's own
 * table of files, to other ports; the descriptor of the number of such a socket is another socket.
 * Without io_uring it ends with 77.
 */
#include <poll.h>
#include <arpa/inet.h>
#include <linux/io_uring.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PORT = 7100, SLOTS = 16, CLIENT = 15 };

static int ring;
static struct io_uring_params params;
static char *rings; /* both: IORING_FEAT_SINGLE_MMAP */
static struct io_uring_sqe *requests;

static unsigned *at(unsigned offset)
{
	return (unsigned *)(void *)(rings + offset);
}

static void set_up(void)
{
	size_t n;

	ring = (int)syscall(SYS_io_uring_setup, 16, &params);
	if (ring < 0)
		exit(77);
	n = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
	if (n < params.sq_off.array + params.sq_entries * 4)
		n = params.sq_off.array + params.sq_entries * 4;
	rings = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	requests = mmap(NULL, params.sq_entries * sizeof(*requests), PROT_READ | PROT_WRITE,
			MAP_SHARED, ring, IORING_OFF_SQES);
	if (rings == MAP_FAILED || requests == MAP_FAILED)
		exit(1);
}

static void submit(struct io_uring_sqe request)
{
	unsigned *tail = at(params.sq_off.tail), i = *tail & *at(params.sq_off.ring_mask);

	requests[i] = request;
	at(params.sq_off.array)[i] = i;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring, 1, 0, 0, NULL, 0) != 1)
		exit(1);
}

static void wait_one(void)
{
	unsigned *head = at(params.cq_off.head);

	while (*head == __atomic_load_n(at(params.cq_off.tail), __ATOMIC_ACQUIRE))
		syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
}

static struct sockaddr_in address(const char *ip, int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };

	inet_pton(AF_INET, ip, &a.sin_addr);
	return a;
}

/* Put a new socket into the slot of the ring's table, and connect it. */
static void connect_fixed(const char *ip, int port)
{
	struct sockaddr_in a = address(ip, port);

	submit((struct io_uring_sqe){ .opcode = IORING_OP_SOCKET, .fd = AF_INET, .off = SOCK_STREAM,
				      .file_index = CLIENT + 1 });
	wait_one();
	submit((struct io_uring_sqe){ .opcode = IORING_OP_CONNECT, .addr = (size_t)&a,
				      .flags = IOSQE_FIXED_FILE, .fd = CLIENT, .off = sizeof(a) });
	wait_one();
}

static void connect_to(const char *ip, int port)
{
	struct sockaddr_in a = address(ip, port);

	submit((struct io_uring_sqe){ .opcode = IORING_OP_CONNECT, .addr = (size_t)&a,
				      .fd = socket(AF_INET, SOCK_STREAM, 0), .off = sizeof(a) });
	wait_one();
}

/* Close all, and wait until no connection is left: the kernel closes those of a ring later. */
static int close_all(int listener)
{
	char line[256], state[8];
	int left = 1;

	if (syscall(SYS_io_uring_register, ring, IORING_UNREGISTER_FILES, NULL, 0))
		return 1;
	for (int fd = 3; fd < 256; fd++)
		if (fd != ring && fd != listener)
			close(fd);
	while (left) {
		FILE *f = fopen("/proc/net/tcp", "r");

		if (!f)
			return 1;
		for (left = 0; fgets(line, sizeof(line), f);) /* 0A: listens, 06: TIME_WAIT */
			left += sscanf(line, "%*d: %*s %*s %2s", state) == 1 &&
				strcmp(state, "0A") && strcmp(state, "06");
		fclose(f);
		if (left)
			poll(NULL, 0, 1);
	}
	return 0;
}

int main(void)
{
	struct sockaddr_in a = address("127.0.0.1", PORT);
	struct ifreq up = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	struct io_uring_sqe accepts = { .opcode = IORING_OP_ACCEPT };
	int slots[SLOTS];
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	set_up();
	puts("ready");
	fflush(stdout);
	getchar();
	accepts.fd = listener;
	if (ioctl(listener, SIOCSIFFLAGS, &up) < 0 ||
	    bind(listener, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(listener, 16) < 0)
		return 1;
	connect_to("198.51.100.1", 80);
	connect_to("127.0.0.1", 9);
	submit(accepts);
	connect_to("127.0.0.1", PORT);
	wait_one();
	accepts.ioprio = IORING_ACCEPT_MULTISHOT;
	submit(accepts);
	for (int i = 0; i < 2; i++) {
		connect_to("127.0.0.1", PORT);
		wait_one();
	}
	memset(slots, -1, sizeof(slots));
	if (syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, slots, SLOTS))
		return 1;
	dup2(socket(AF_INET, SOCK_STREAM, 0), CLIENT);
	connect_fixed("198.51.100.2", 81);
	connect_fixed("127.0.0.1", 10);
	accepts.ioprio = 0;
	accepts.file_index = 4;
	accepts.user_data = 1;
	submit(accepts);
	connect_fixed("127.0.0.1", PORT);
	wait_one();
	accepts.ioprio = IORING_ACCEPT_MULTISHOT;
	accepts.file_index = IORING_FILE_INDEX_ALLOC;
	submit(accepts);
	for (int i = 0; i < 2; i++) {
		connect_fixed("127.0.0.1", PORT);
		wait_one();
	}
	return close_all(listener);
}
