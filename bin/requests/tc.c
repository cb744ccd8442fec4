/* SPDX-License-Identifier: ISC */
/*
 * tc.c - attach programs by the queueing discipline clsact, with rtnetlink(7)
 *
 * The numbers are in lib/host/kernel.h.
 */
#include <arpa/inet.h>

#include "base/base.h"
#include "host/host.h"
#include "requests.h"

enum { NEW = K_NLM_F_ACK | K_NLM_F_CREATE | K_NLM_F_EXCL };

/* struct tcmsg of rtnetlink.h */
struct tc_head {
	uint8_t family, pad[3];
	int32_t device;
	uint32_t handle, parent, info;
};

static struct netlink_message begin(unsigned type, unsigned flags, unsigned device,
				    uint32_t handle, uint32_t parent, uint32_t info)
{
	const struct tc_head head = { .device = (int32_t)device, .handle = handle,
				      .parent = parent, .info = info };
	struct netlink_message m;

	netlink_begin(&m, type, flags, &head, sizeof(head));
	return m;
}

/* Is this answer about the same device and parent, and of this kind (NULL: any)? */
static int is_about(const struct netlink_answer *a, const struct tc_head *asked, const char *kind)
{
	struct tc_head head;
	const char *found;
	size_t len;

	if (a->n < sizeof(head))
		return 0;
	memcpy(&head, a->text, sizeof(head));
	found = netlink_find(a->text + sizeof(head), a->n - sizeof(head), K_TCA_KIND, &len);
	return head.device == asked->device && head.handle &&
	       (!asked->parent || head.parent == asked->parent) &&
	       (!kind || (found && len == strlen(kind) + 1 && !memcmp(found, kind, len)));
}

/*
 * Send the request and read all answers. Return 0 or -errno. For a dump, return the number
 * of answers about its device and parent (0: any) of this kind (NULL: any).
 */
static int ask(const struct netlink_message *m, const char *kind)
{
	struct netlink_answer a = { .fd = netlink_open(K_NETLINK_ROUTE), .wait = 1 };
	struct tc_head asked;
	int found = 0, r;

	if (a.fd < 0)
		return -errno;
	memcpy(&asked, m->text, sizeof(asked));
	r = netlink_send(a.fd, m) < 0 ? -errno : 1;
	while (r > 0) {
		r = netlink_next(&a);
		found += r > 0 && is_about(&a, &asked, kind);
	}
	close(a.fd);
	return r < 0 ? r : a.error ? a.error : found;
}

int tc_has_clsact(unsigned device)
{
	struct netlink_message m = begin(K_RTM_GETQDISC, K_NLM_F_DUMP, device, 0, K_TC_H_CLSACT, 0);
	int n = ask(&m, "clsact");

	return n > 0 ? 1 : n;
}

int tc_add_clsact(unsigned device)
{
	struct netlink_message m = begin(K_RTM_NEWQDISC, NEW, device, K_TC_H_MAJ_MASK,
					 K_TC_H_CLSACT, 0);

	netlink_add(&m, K_TCA_KIND, "clsact", 7);
	return ask(&m, NULL);
}

int tc_remove_clsact(unsigned device)
{
	struct netlink_message m = begin(K_RTM_DELQDISC, K_NLM_F_ACK, device, K_TC_H_MAJ_MASK,
					 K_TC_H_CLSACT, 0);

	return ask(&m, NULL);
}

int tc_filters(unsigned device)
{
	int sum = 0;

	for (uint32_t parent = K_TC_CLSACT_INGRESS; parent <= K_TC_CLSACT_EGRESS; parent++) {
		struct netlink_message m = begin(K_RTM_GETTFILTER, K_NLM_F_DUMP, device, 0,
						 parent, 0);
		int n = ask(&m, NULL);

		if (n < 0)
			return n;
		sum += n;
	}
	return sum;
}

/* Return tcm_info of a filter: its priority and its protocol. */
static uint32_t info(unsigned priority)
{
	return priority << 16 | htons(K_ETH_P_ALL);
}

int tc_add_program(unsigned device, unsigned priority, uint32_t handle, int program,
		   const char *name)
{
	struct netlink_message m = begin(K_RTM_NEWTFILTER, NEW, device, handle,
					 K_TC_CLSACT_EGRESS, info(priority));
	uint32_t flags = K_TCA_BPF_FLAG_ACT_DIRECT;
	char *options;

	netlink_add(&m, K_TCA_KIND, "bpf", 4);
	options = netlink_add(&m, K_TCA_OPTIONS, "", 0);
	netlink_add(&m, K_TCA_BPF_FD, &program, sizeof(program));
	netlink_add(&m, K_TCA_BPF_NAME, name, strlen(name) + 1);
	netlink_add(&m, K_TCA_BPF_FLAGS, &flags, sizeof(flags));
	netlink_end(&m, options);
	return ask(&m, NULL);
}

int tc_remove_program(unsigned device, unsigned priority, uint32_t handle)
{
	struct netlink_message m = begin(K_RTM_DELTFILTER, K_NLM_F_ACK, device, handle,
					 K_TC_CLSACT_EGRESS, info(priority));

	netlink_add(&m, K_TCA_KIND, "bpf", 4);
	return ask(&m, NULL);
}
