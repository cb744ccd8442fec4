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
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "tracefs/tracefs.h"
#include "bpf/bpf.h"
#include "requests/requests.h"

static const struct tool tool = {
	.name = "dt-probe",
	.usage = "dt-probe [-N NAME] [-1egm] [-f CIDR]... [on|off|state]",
	.purpose = "let marks on TCP data follow a request from host to host",
	.letters = "1ef:gmN:",
};

static struct dt_network networks[DT_NETWORKS];
static size_t nnetworks;

static void believe(const char *cidr)
{
	struct dt_network *n = &networks[nnetworks];
	const char *slash = strchr(cidr, '/');
	unsigned long bits, least = 0;
	char text[64];

	if (nnetworks++ == DT_NETWORKS)
		usage_error(&tool, "-f: more than %d networks", DT_NETWORKS);
	str_format(text, sizeof(text), "%.*s", slash ? (int)(slash - cidr) : 63, cidr);
	if (inet_pton(AF_INET, text, n->address + 12) == 1) {
		memset(n->address + 10, 0xff, 2);
		least = 96;
	} else if (inet_pton(AF_INET6, text, n->address) != 1) {
		usage_error(&tool, "-f: not an address or a network: '%.80s'", cidr);
	}
	bits = 128 - least;
	if (slash && text_number(slash + 1, 0, 128 - least, &bits) < 0)
		usage_error(&tool, "-f: not a network's bits, 0 to %lu: '%.80s'", 128 - least, cidr);
	n->bits = (uint32_t)(bits + least);
}

static const char *name;
static int of_session; /* the name is from the environment, and there is $TFS_INSTANCE */

static int on(int flags)
{
	const struct dt_wanted wanted = { flags, networks, nnetworks };
	struct dt_made made = { 0 };
	int instance;

	if (dt_make(name, &wanted, &made) < 0)
		return REFUSED;
	/* a session's that has died meanwhile: who swept it up may have been before us */
	if (of_session) {
		instance = tracefs_open(NULL, NULL, NULL);
		if (instance < 0) {
			dt_off(name);
			return REFUSED;
		}
		close(instance);
	}
	stdout_print("id %x\nsend %s\nend %s\n", made.id, made.how_sent,
		     made.end_at_send ? "at the send" : "sock_send_length");
	stdout_flush();
	return DONE;
}

static int print_state(void)
{
	static struct dt_state each[8192]; /* the most processors that Linux is built for */
	struct dt_state sum = { 0 };
	uint32_t zero = 0;
	int map = dt_open(name, DT_STATE);

	if (map < 0)
		return REFUSED;
	if (bpf_lookup(map, &zero, each) < 0) {
		err_capability(CAPS_BPF, "unable to read what was counted");
		return REFUSED;
	}
	for (size_t i = 0; i < sizeof(each) / sizeof(*each); i++) {
		sum.marked_out += each[i].marked_out;
		sum.marked_in += each[i].marked_in;
		sum.refused += each[i].refused;
		sum.windows += each[i].windows;
	}
	stdout_print("marked out %llu\nmarked in %llu\nnot believed %llu\nwindows %llu\n",
		     (unsigned long long)sum.marked_out, (unsigned long long)sum.marked_in,
		     (unsigned long long)sum.refused, (unsigned long long)sum.windows);
	stdout_flush();
	return DONE;
}

static int is_on(void)
{
	int fd = dt_pinned(name, DT_PIDS);

	if (fd < 0 && errno != ENOENT)
		return REFUSED;
	stdout_print("%d\n", fd >= 0);
	stdout_flush();
	return fd >= 0 ? DONE : NO;
}

int main(int argc, char **argv)
{
	const char *command;
	int c, r, flags = 0;

	name = dt_name();
	while ((c = opt_next(&tool, argc, argv)) != -1)
		switch (c) {
		case '1':
			flags |= DT_ONCE;
			break;
		case 'e':
			flags |= DT_WAITING;
			break;
		case 'f':
			believe(opt_value);
			break;
		case 'g':
			flags |= DT_GROUP;
			break;
		case 'm':
			flags |= DT_MODULE;
			break;
		default:
			name = opt_value;
		}
	of_session = name == dt_name() && getenv("TFS_PROBE") && getenv("TFS_INSTANCE");
	if (!dt_name_ok(name))
		usage_error(&tool, "not a probe's name: '%.80s'", name);
	command = argv[opt_index];
	if (command && argv[opt_index + 1])
		usage_error(&tool, "unexpected operand '%.80s'", argv[opt_index + 1]);
	if ((!command || strcmp(command, "on")) && (flags || nnetworks))
		usage_error(&tool, "-1 -e -f -g -m are for \"on\"");
	if (!command)
		return is_on();
	if (!strcmp(command, "on"))
		return on(flags);
	if (!strcmp(command, "state"))
		return print_state();
	if (strcmp(command, "off"))
		usage_error(&tool, "no such command: '%.80s'", command);
	r = dt_off(name);
	return r < 0 ? REFUSED : r ? DONE : NO;
}
