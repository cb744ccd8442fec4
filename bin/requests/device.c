/* SPDX-License-Identifier: ISC */
/*
 * device.c - devices at whose egress segments are marked
 *
 * From Linux 6.6 on a link (TCX), pinned as dev_NETNS_INDEX, attaches the program. On older
 * kernels the program is a filter of the queueing discipline clsact, which other programs
 * may use as well. The map "devices" lists the filters and disciplines that this tool added. An
 * entry is written before its filter is made, so that a killed dt-dev leaves no unknown filter.
 */
#include <net/if.h>
#include <net/if_arp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/base.h"
#include "host/host.h"
#include "bpf/bpf.h"
#include "requests.h"

/* Take the first free one of these priorities. People choose smaller numbers by hand. */
enum { PRIORITY = 0xd700, PRIORITIES = 16 };

#ifndef ARPHRD_IP6GRE /* glibc does not have it */
#define ARPHRD_IP6GRE 823
#endif

/* Return the inode of a network namespace, or 0. */
static uint64_t netns_of(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 ? 0 : st.st_ino;
}

static uint64_t own_netns(void)
{
	return netns_of("/proc/self/ns/net");
}

/*
 * Return the name of the program for the device. Return NULL without an error message if there
 * is none for the device's hardware type *kind, or if the type is unknown (-1, with errno).
 */
static const char *program_for(const char *device, int *kind)
{
	struct ifreq r = { 0 };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), known;

	*kind = -1;
	errno = ENODEV;
	known = fd >= 0 && strlen(device) < sizeof(r.ifr_name);
	if (known) {
		memcpy(r.ifr_name, device, strlen(device));
		known = !ioctl(fd, SIOCGIFHWADDR, &r);
	}
	fd_close(fd);
	if (!known)
		return NULL;
	*kind = r.ifr_hwaddr.sa_family;
	switch (*kind) {
	case ARPHRD_ETHER:
	case ARPHRD_LOOPBACK:
		return DT_MARK;
	case ARPHRD_PPP:
	case ARPHRD_TUNNEL:
	case ARPHRD_TUNNEL6:
	case ARPHRD_SIT:
	case ARPHRD_IPGRE:
	case ARPHRD_IP6GRE:
	case ARPHRD_NONE:
	case ARPHRD_RAWIP:
		return DT_MARK_BARE;
	}
	return NULL;
}

int dt_device_ok(const char *device)
{
	int kind;

	return program_for(device, &kind) != NULL;
}

/* Make the name of a device's link. */
static void link_name(char *what, size_t size, uint64_t netns, unsigned index)
{
	str_format(what, size, "dev_%llu_%u", (unsigned long long)netns, index);
}

/* Add clsact to the device unless it is there, and note who has made it. Return 0 or -errno. */
static int ensure_clsact(int map, const struct dt_device *at, struct dt_clsact *is)
{
	int r = tc_has_clsact(at->index);

	if (r < 0)
		return r;
	is->made = !r;
	if (bpf_update(map, at, is) < 0)
		return -errno;
	r = is->made ? tc_add_clsact(at->index) : 0;
	if (r != -EEXIST)
		return r;
	/*
	 * Somebody else has just made clsact, so do not remove it later. Or there is the
	 * discipline "ingress": it accepts egress filters but never runs them.
	 */
	is->made = 0;
	r = tc_has_clsact(at->index);
	return r > 0 ? 0 : r ? r : -EBUSY;
}

/* Add the filter at the first free priority. Return 0 or -errno. */
static int add_filter(int map, const struct dt_device *at, struct dt_clsact *is, int program,
		      const char *as)
{
	int r;

	do {
		if (bpf_update(map, at, is) < 0)
			return -errno;
		r = tc_add_program(at->index, is->priority, is->handle, program, as);
		/* the priority has a filter of another kind (EINVAL), or this handle (EEXIST) */
	} while ((r == -EEXIST || r == -EINVAL) && is->priority++ < PRIORITY + PRIORITIES);
	return r;
}

/* Attach the program to a device that the map does not have. Return 0 or -errno. */
static int attach_new(int map, const struct dt_device *at, struct dt_clsact *is, int program,
		      const char *as)
{
	int r = ensure_clsact(map, at, is);

	if (!r)
		r = add_filter(map, at, is, program, as);
	if (r < 0) {
		if (is->made && !tc_filters(at->index))
			tc_remove_clsact(at->index);
		bpf_delete(map, at);
	}
	return r;
}

/* Attach the program by clsact. Return 0, 1 if it is attached already, or -1. */
static int by_clsact(const char *name, const char *device, unsigned index, int program)
{
	struct dt_device at = { .netns = own_netns(), .index = index };
	struct dt_clsact is = { .priority = PRIORITY }, old;
	int map = dt_open(name, DT_DEVICES), pids = dt_open(name, DT_PIDS), r = -ENOENT;
	char as[16];

	if (map < 0 || pids < 0)
		return -1;
	is.handle = bpf_id(pids);
	close(pids);
	str_format(as, sizeof(as), "dt_%x", is.handle);
	/* a dt-dev that was killed may have left the entry without the filter */
	if (!bpf_lookup(map, &at, &old))
		r = tc_add_program(index, old.priority, old.handle, program, as);
	if (r == -EEXIST)
		r = 1;
	if (r < 0)
		r = attach_new(map, &at, &is, program, as);
	close(map);
	errno = -r;
	return r < 0 ? err_capability(CAPS_NET_ADMIN, "unable to mark at %s by clsact", device)
		     : r;
}

int dt_device_on(const char *name, const char *device, const char **how)
{
	char what[64];
	int kind, program, link, r;
	const char *which = program_for(device, &kind);
	unsigned index = if_nametoindex(device);

	if (!which && kind < 0)
		return err_errno("unable to find the device %.80s in this network namespace",
				 device);
	if (!which)
		return err_msg("%.80s is of kind %d (ARPHRD_...): neither Ethernet nor bare IP",
			       device, kind);
	program = dt_open(name, which);
	if (program < 0)
		return -1;
	link_name(what, sizeof(what), own_netns(), index);
	link = dt_pinned(name, what);
	*how = "tcx";
	r = 1;
	if (link < 0) {
		link = bpf_link(program, (int)index, ATTACH_TCX_EGRESS);
		r = link < 0 ? -1 : dt_pin(name, what, link);
	}
	if (link >= 0) {
		close(link);
	} else if (errno == EINVAL || errno == ENOTSUP) {
		*how = "clsact";
		r = by_clsact(name, device, index, program);
	} else {
		err_capability(CAPS_NET_ADMIN, "unable to mark at %s", device);
	}
	close(program);
	return r;
}

/* Remove one of our filters, in the network namespace of the device. Return 0 or -1. */
static int remove_clsact(int map, const struct dt_device *at, const struct dt_clsact *is)
{
	int r = tc_remove_program(at->index, is->priority, is->handle);

	if (r < 0 && r != -ENOENT && r != -EINVAL && r != -ENODEV) {
		errno = -r;
		return err_capability(CAPS_NET_ADMIN,
				      "unable to remove the filter of device %u",
				      at->index);
	}
	/* keep the discipline if others have added filters since */
	if (is->made && !tc_filters(at->index))
		tc_remove_clsact(at->index);
	bpf_delete(map, at);
	return 0;
}

int dt_device_off(const char *name, const char *device)
{
	struct dt_device at = { .netns = own_netns(), .index = if_nametoindex(device) };
	struct dt_clsact is;
	char what[64];
	int link, map, r = 1;

	link_name(what, sizeof(what), at.netns, at.index);
	link = dt_pinned(name, what);
	if (link >= 0) {
		bpf_link_detach(link);
		close(link);
	} else if (errno != ENOENT) {
		return -1;
	}
	if (!dt_unpin(name, what))
		return 0;
	if (errno != ENOENT)
		return -1;
	map = dt_open(name, DT_DEVICES);
	if (map < 0)
		return -1;
	if (!bpf_lookup(map, &at, &is))
		r = remove_clsact(map, &at, &is);
	close(map);
	return r;
}

/*
 * Enter the network namespace with this inode, if a file of /run/netns or a task has it.
 * Return 0, or -1 without an error message.
 */
static int enter(uint64_t netns)
{
	char path[PATH_MAX], **names;
	int r = -1;

	for (int i = 0; r < 0 && i < 2; i++) {
		const char *dir = i ? path_procfs() : "/run/netns";

		names = file_names(dir);
		for (char **n = names; n && *n && r < 0; n++) {
			int fd;

			str_format(path, sizeof(path), "%s/%s%s", dir, *n, i ? "/ns/net" : "");
			if (netns_of(path) != netns)
				continue;
			fd = open(path, O_RDONLY | O_CLOEXEC);
			r = fd < 0 ? -1 : setns(fd, CLONE_NEWNET);
			fd_close(fd);
		}
		free(names);
	}
	return r;
}

int dt_devices_off(const char *name)
{
	struct dt_device at;
	struct dt_clsact is;
	uint64_t own = own_netns();
	int home, map = dt_pinned(name, DT_DEVICES), r = 0;

	if (map < 0)
		return 0;
	home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	/* each round removes the first entry of the map, or fails and ends the loop */
	for (int e = bpf_next(map, NULL, &at); !r && !e; e = bpf_next(map, NULL, &at)) {
		if (bpf_lookup(map, &at, &is) < 0)
			break;
		/* if no process has the namespace, its devices no longer exist */
		if (at.netns != own && enter(at.netns) < 0)
			bpf_delete(map, &at);
		else
			r = remove_clsact(map, &at, &is);
		/* do not call setns without need, because the process may lack the right */
		if (at.netns != own && home >= 0 && setns(home, CLONE_NEWNET) < 0)
			r = err_errno("unable to return to the network namespace");
	}
	fd_close(home);
	close(map);
	return r;
}
