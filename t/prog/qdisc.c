/* SPDX-License-Identifier: ISC */
/*
 * qdisc - make and show another program's qdisc at a device, for tests of dt-dev
 *
 *	qdisc add clsact|ingress DEVICE   add this queueing discipline
 *	qdisc filter DEVICE               add a filter at the egress of clsact
 *	qdisc show DEVICE                 print "clsact N", "ingress N" or "none"; N is the
 *	                                  number of filters
 *	qdisc check                       say if this machine can do it
 * It works in the network namespace of the caller. Exit: 0, 77 this kernel cannot (one
 * line says what is missing), 100 usage error, 111 refused.
 */
#include <net/if.h>
#include <sched.h>

#include "base/base.h"
#include "bpf/bpf.h"
#include "requests/requests.h"

#include "prog.h"

enum { NEW_QDISC = 36, GET_QDISC = 38, ACK = 4, EXCLUSIVE = 0x200,
       CREATE = 0x400, DUMP = 0x300, KIND = 1, ROUTES = 0 };

struct qdisc_head {
	uint32_t family;
	int32_t device;
	uint32_t handle, parent, info;
};

/*
 * Send a request about the device's qdisc and read the answers. Unless found is NULL, copy
 * the kind from a dump to it. Return 0 or -errno.
 */
static int ask(unsigned type, unsigned flags, unsigned device, const char *kind, char *found)
{
	const struct qdisc_head asked = { .device = (int32_t)device, .handle = 0xffff0000,
					  .parent = 0xfffffff1 };
	struct netlink_answer a = { .fd = netlink_open(ROUTES), .wait = 1 };
	struct netlink_message m;
	struct qdisc_head head;
	const char *text;
	size_t len;
	int r;

	netlink_begin(&m, type, flags, &asked, sizeof(asked));
	if (*kind)
		netlink_add(&m, KIND, kind, strlen(kind) + 1);
	if (a.fd < 0 || netlink_send(a.fd, &m) < 0)
		return -errno;
	while ((r = netlink_next(&a)) > 0) {
		memcpy(&head, a.text, sizeof(head));
		text = netlink_find(a.text + sizeof(head), a.n - sizeof(head), KIND, &len);
		if (found && text && head.device == asked.device && head.handle == asked.handle)
			snprintf(found, 8, "%.7s", text);
	}
	close(a.fd);
	return r ? r : a.error;
}

static int filter(unsigned device)
{
	static struct bpf_code c;
	static const struct bpf_load_as k = { .kind = PROGRAM_SCHED_CLS };
	char why[256];
	int program;

	emit_exit(&c, -1);
	program = bpf_load(&c, "theirs", &k, why, sizeof(why));
	return program < 0 ? -errno : tc_add_program(device, 1, 1, program, "theirs");
}

static int show(unsigned device)
{
	char kind[8] = "none";
	int r = ask(GET_QDISC, DUMP, device, "", kind);

	if (r < 0)
		return r;
	if (strcmp(kind, "none"))
		printf("%s %d\n", kind, tc_filters(device));
	else
		puts(kind);
	return 0;
}

/* Check on the loopback device of a new network namespace. */
static int check(void)
{
	if (unshare(CLONE_NEWNET)) {
		fputs("qdisc: needs network namespaces (CONFIG_NET_NS)\n", stderr);
	} else if (ask(NEW_QDISC, ACK | CREATE | EXCLUSIVE, 1, "clsact", NULL)) {
		fputs("qdisc: needs clsact (CONFIG_NET_SCH_INGRESS)\n", stderr);
	} else if (filter(1)) {
		fputs("qdisc: needs filters by BPF (CONFIG_NET_CLS_BPF)\n", stderr);
	} else {
		return 0;
	}
	return 77;
}

int main(int argc, char **argv)
{
	const char *command = argc > 1 ? argv[1] : "";
	unsigned device = argc > 2 ? if_nametoindex(argv[argc - 1]) : 0;
	int r;

	if (argc == 2 && !strcmp(command, "check"))
		return check();
	if (argc == 4 && !strcmp(command, "add") && strlen(argv[2]) < 8)
		r = ask(NEW_QDISC, ACK | CREATE | EXCLUSIVE, device, argv[2], NULL);
	else if (argc == 3 && !strcmp(command, "filter"))
		r = filter(device);
	else if (argc == 3 && !strcmp(command, "show"))
		r = show(device);
	else
		return 100;
	if (r < 0)
		fprintf(stderr, "qdisc: unable to %s %s: %s\n", command, argv[argc - 1],
			strerror(-r));
	return r < 0 ? 111 : 0;
}
