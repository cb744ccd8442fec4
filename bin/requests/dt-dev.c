/* SPDX-License-Identifier: ISC */
/*
 * dt-dev - add and remove the network devices at which a request probe marks
 *
 * Requires: a request probe that is on (dt-probe), root; Ethernet or bare IP.
 * The kernel has tcx since Linux 6.6. "dt-probe off" releases all devices. NETNS is a file
 * such as a container's /proc/PID/ns/net, or /run/netns/NAME.
 * Exit: 0 done, 1 remove: the request probe did not mark at a device, 100 usage error,
 * 111 refused.
 */
#include <net/if.h>
#include <sched.h>
#include <sys/stat.h>

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "requests.h"

static const char *name, *netns;
static int everything;

static const struct tool tool = {
	TOOL_DT_DEV,
	.places = (const struct opt_place[]){
		{ 'a', .flag = &everything }, { 'N', .text = &name }, { 'n', .text = &netns },
		{ 0 },
	},
};

enum { DEVICES = 1024 };

/* Mark at the devices. If one fails, remove those that are new. Return -1 if one fails. */
static int add(char **devices)
{
	static char is_new[DEVICES];
	const char *how = "";
	int n = 0, r = 0;

	for (; devices[n] && n < DEVICES; n++) {
		r = dt_device_on(name, devices[n], &how);
		if (r < 0)
			break;
		is_new[n] = !r;
		stdout_print("%s %s\n", devices[n], how);
	}
	if (r >= 0)
		stdout_flush();
	else
		while (n--)
			if (is_new[n])
				dt_device_off(name, devices[n]);
	return r;
}

/*
 * Write the names of all devices that a request probe can mark at to all, NULL after them.
 * Return 0, or -1, reported.
 */
static int list_all(char **all)
{
	const struct if_nameindex *v = if_nameindex(); /* until exit */
	size_t n = 0;

	if (!v)
		return err_errno("unable to list the devices");
	for (; v->if_name; v++) {
		if (!dt_device_ok(v->if_name))
			continue;
		if (n == DEVICES)
			return err_msg("more than %d devices; name the devices at which to "
				       "mark", DEVICES);
		all[n++] = v->if_name;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static char *all[DEVICES + 1];
	const char *command;
	int fd, r = 0;
	struct stat st;

	name = dt_name();
	opt_next(&tool, argc, argv);
	dt_check_name(&tool, name);
	argv += opt_index;
	command = *argv ? *argv++ : "";
	if (strcmp(command, "add") && strcmp(command, "remove"))
		usage_error(&tool, *command ? "no such command: '%.80s'" :
			    "no command; give add or remove%s", command);
	if (everything == !!*argv)
		usage_error(&tool, everything ? "-a: unexpected operand '%.80s'"
					  : "no device; name devices, or give -a for all%s",
			    *argv ? *argv : "");
	if (netns) {
		fd = file_open(netns, FILE_REGULAR, O_RDONLY, &st);
		errno = fd == FILE_OTHER ? EINVAL : errno;
		if (fd < 0 || setns(fd, CLONE_NEWNET) < 0) {
			/* the kernel opens a task's namespaces by the rules of ptrace(2) */
			err_capability(fd < 0 ? CAPS_SYS_PTRACE : CAPS_SYS_ADMIN,
				       "unable to enter the network namespace %.200s", netns);
			return REFUSED;
		}
	}
	if (everything) {
		if (list_all(all) < 0)
			return REFUSED;
		argv = all;
	}
	/* hold the request probe until exit; if there is none, dt_device_on reports it */
	if (*command == 'a') {
		dt_hold(name);
		return add(argv) < 0 ? REFUSED : DONE;
	}
	for (; r >= 0 && *argv; argv++)
		r |= dt_device_off(name, *argv);
	if (r < 0)
		return REFUSED;
	return r ? err_no("the request probe %s was not on all of these devices", name) : DONE;
}
