/* SPDX-License-Identifier: ISC */
/*
 * dt-probe - trace requests from host to host with a mark in TCP segments
 *
 * Requires: Linux 5.10 with BTF, bpffs, cgroup v2, tracefs, root.
 * Without a command, dt-probe prints 1 if the request probe is on, 0 if it is off. "on" loads the
 * programs of the request probe and pins them. It prints the id of the request probe, how it sees
 * sends, and when windows end. With -e each system call of every task takes longer. With -S it
 * prints the programs as assembly instead, and loads nothing. "marks" runs a program that reads the
 * marks, and inherits BPF ring buffers in TFS_RINGS; in a hook, the session's stream reads them.
 * Exit: 0 done, 1 the request probe is off, 100 usage error, 111 refused.
 */
#include <arpa/inet.h>

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "tracefs/tracefs.h"
#include "bpf/bpf.h"
#include "live/live.h"
#include "requests.h"

static const struct tool tool = { TOOL_DT_PROBE };

static struct dt_network networks[DT_NETWORKS];
static size_t nnetworks;

/* Add the network or address of -f to networks. */
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
		usage_error(&tool, "-f: not a prefix length from 0 to %lu: '%.80s'",
			    128 - least, cidr);
	n->bits = (uint32_t)(bits + least);
}

static const char *name;
static int of_session; /* the name is from the environment, and $TFS_INSTANCE is set */

/* Begin the request probe and print how it works. Return DONE or REFUSED. */
static int on(int flags)
{
	const struct dt_wanted wanted = { flags, networks, nnetworks };
	struct dt_made made = { 0 };
	int instance;

	if (dt_make(name, &wanted, &made) < 0)
		return REFUSED;
	if (bpf_is_printing()) {
		stdout_flush();
		return DONE;
	}
	/*
	 * The session may have died meanwhile. Another manager has then removed its instance,
	 * perhaps before this request probe existed, so no other process would end it.
	 */
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

/* Print the sum of each counter over all CPUs. Return DONE or REFUSED. */
static int print_state(void)
{
	static struct dt_state each[8192]; /* Linux has at most as many CPUs */
	struct dt_state sum = { 0 };
	uint32_t zero = 0;
	int map = dt_open(name, DT_STATE);

	if (map < 0)
		return REFUSED;
	if (bpf_lookup(map, &zero, each) < 0) {
		err_capability(CAPS_BPF, "unable to read the counters");
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

/*
 * Run the program, which inherits rings with the marks; without one, give the rings to the session
 * of the hook. Return REFUSED, or DONE.
 */
static int read_marks(char **program, int session)
{
	struct channel ch;
	int instance = tracefs_open(NULL, NULL, NULL), held;

	if (instance < 0 || (held = dt_reader_add(name, &ch, instance)) < 0)
		return REFUSED;
	if (*program)
		channel_run(&ch, &held, 1, program);
	else if (!channel_give(&ch, session, &held, 1))
		return DONE;
	return REFUSED;
}

/* Print 1 or 0. Return DONE, NO, or REFUSED if the pin cannot be opened. */
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
	const int session = channel_session();
	const char *command;
	char **rest;
	int c, r, flags = 0;

	name = dt_name();
	while ((c = opt_next(&tool, argc, argv)) != -1)
		switch (c) {
		case '1':
			flags |= DT_ONCE;
			break;
		case 'S':
			bpf_print_only();
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
	dt_check_name(&tool, name);
	command = argv[opt_index];
	rest = command ? &argv[opt_index + 1] : NULL;
	if (command && !strcmp(command, "marks") && *rest && !strcmp(*rest, "--"))
		rest++;
	else if (command)
		opt_end(&tool, *rest);
	if ((!command || strcmp(command, "on")) && (flags || nnetworks ||
							bpf_is_printing()))
		usage_error(&tool, "-1, -S, -e, -f, -g and -m need the command on");
	if (!command)
		return is_on();
	if (!strcmp(command, "on"))
		return on(flags);
	if (!strcmp(command, "state"))
		return print_state();
	if (!strcmp(command, "marks")) {
		if (session < -1)
			usage_error(&tool, SESSION_KEEPS " is not a number");
		if (!*rest && session < 0)
			usage_error(&tool, "marks: give -- and a program that reads the marks, "
					   "such as tfs-catpipe");
		return read_marks(rest, session);
	}
	if (strcmp(command, "off"))
		usage_error(&tool, "no such command: '%.80s'", command);
	r = dt_off(name);
	if (r < 0)
		return REFUSED;
	return r ? DONE : err_no("the request probe %s was off", name);
}
