/* SPDX-License-Identifier: ISC */
/*
 * netns - network namespaces for tests, where there is no ip(8)
 *
 *	netns add NAME...                 make them, as "ip netns add" does; lo is up
 *	netns del NAME...                 remove them and everything in them; a missing
 *	                                  namespace is not an error
 *	netns veth NAME IF NAME IF [MTU]  a pair of interfaces, up, without addresses
 *	netns addr NAME IF ADDRESS/BITS...  v4 or v6, usable at once
 *	netns route NAME ADDRESS/BITS GATEWAY
 *	netns forward NAME                make it forward v4 and v6
 *	netns offload NAME IF on|off      tso, gso, gro, checksums of both directions
 *	netns exec NAME COMMAND...        in the network namespace only: mounts stay
 *	netns check [WORD]...             say if this machine can do veth, packet, ipv6
 * A NAME is a file in /run/netns, or any file if it has a slash. A new interface gets no
 * link-local address, so that the kernel sends nothing there by itself.
 * Exit: 0 done, 77 this kernel cannot (one line on stderr says what is missing),
 * 100 usage error, 111 refused.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "base/base.h"
#include "host/host.h"
#include "prog.h"

#define RUN "/run/netns"

/* from <linux/rtnetlink.h> and others, which not every libc has */
struct link { uint8_t family, pad; uint16_t type; int32_t index; uint32_t flags, change; };
struct addr { uint8_t family, bits, flags, scope; uint32_t index; };
struct route { uint8_t family, bits, src_bits, tos, table, protocol, scope, type;
	uint32_t flags; };
struct ethtool { uint32_t command, value; };

enum {
	NEWLINK = 16, NEWADDR = 20, NEWROUTE = 24, ACK = 4, EXCL = 0x200, CREATE = 0x400,
	IFNAME = 3, MTU = 4, LINKINFO = 18, AF_SPEC = 26, NS_FD = 28,
	KIND = 1, DATA = 2, PEER = 1, GEN_MODE = 8, GEN_NONE = 1,
	ADDRESS = 1, LOCAL = 2, FLAGS = 8, NODAD = 2,
	DST = 1, GATEWAY = 5, TABLE_MAIN = 254, BOOT = 3, UNICAST = 1,
	ETHTOOL = 0x8946, SRXCSUM = 0x15, STXCSUM = 0x17, SSG = 0x19, STSO = 0x1f,
	SGSO = 0x24, SGRO = 0x2c,
};

static _Noreturn void die(int status, const char *fmt, ...)
{
	int error = errno;
	va_list ap;

	fprintf(stderr, "netns: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	if (status == 111)
		fprintf(stderr, ": %s", strerror(error));
	fputc('\n', stderr);
	exit(status);
}

/* Begin a request about what head, of n bytes, names. */
static struct netlink_message begin(unsigned type, unsigned flags, const void *head, size_t n)
{
	struct netlink_message m;

	netlink_begin(&m, type, ACK | flags, head, n);
	return m;
}

/* Send the message. Return 0, or -1 and errno. */
static int ask(const struct netlink_message *m)
{
	struct netlink_answer a = { .fd = netlink_open(0), .wait = 1 };
	int r = a.fd < 0 || netlink_send(a.fd, m) < 0 ? -errno : netlink_next(&a);

	close(a.fd);
	errno = r ? -r : -a.error;
	return errno ? -1 : 0;
}

/* ---- namespaces ----------------------------------------------------------- */

static const char *path_of(const char *name)
{
	static char path[PATH_MAX];

	if (strchr(name, '/'))
		snprintf(path, sizeof(path), "%s", name);
	else
		snprintf(path, sizeof(path), RUN "/%s", name);
	return path;
}

static int open_ns(const char *name)
{
	int fd = open(path_of(name), O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die(111, "unable to open %s", path_of(name));
	return fd;
}

static void enter(const char *name)
{
	int fd = open_ns(name);

	if (setns(fd, CLONE_NEWNET))
		die(111, "unable to enter %s", name);
	close(fd);
}

static void new_ns(void)
{
	if (unshare(CLONE_NEWNET))
		die(errno == EINVAL ? 77 : 111,
			"needs network namespaces (CONFIG_NET_NS)");
}

static int index_of(const char *name)
{
	int index = (int)if_nametoindex(name);

	if (!index)
		die(111, "unable to find interface %s", name);
	return index;
}

/* Set the interface up, without an automatic address. */
static void set_up(const char *name)
{
	struct link l = { .index = index_of(name), .flags = IFF_UP, .change = IFF_UP };
	struct netlink_message m = begin(NEWLINK, 0, &l, sizeof(l));

	if (ask(&m))
		die(111, "unable to set %s up", name);
}

static void no_link_local(const char *name)
{
	struct link l = { .index = index_of(name) };
	struct netlink_message m = begin(NEWLINK, 0, &l, sizeof(l));
	char *spec = netlink_add(&m, AF_SPEC, "", 0), *six = netlink_add(&m, AF_INET6, "", 0);
	uint8_t mode = GEN_NONE;

	netlink_add(&m, GEN_MODE, &mode, 1);
	netlink_end(&m, six);
	netlink_end(&m, spec);
	if (ask(&m) && errno != EAFNOSUPPORT && errno != EOPNOTSUPP)
		die(111, "unable to keep %s without link-local address", name);
}

static void add(const char *name)
{
	const char *path = path_of(name);
	int fd;

	if (mkdir("/run", 0755) && errno != EEXIST)
		die(111, "unable to make /run");
	if (mkdir(RUN, 0755) && errno != EEXIST)
		die(111, "unable to make " RUN);
	new_ns();
	set_up("lo");
	fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	if (fd < 0)
		die(111, "unable to make %s", path);
	close(fd);
	if (mount("/proc/self/ns/net", path, "none", MS_BIND, NULL)) {
		int error = errno;

		unlink(path);
		errno = error;
		die(111, "unable to mount %s", path);
	}
}

static void del(const char *name)
{
	const char *path = path_of(name);

	if (umount2(path, MNT_DETACH) && errno != EINVAL && errno != ENOENT)
		die(111, "unable to unmount %s", path);
	if (unlink(path) && errno != ENOENT)
		die(111, "unable to remove %s", path);
}

/* ---- interfaces ----------------------------------------------------------- */

/* Make a pair, one end here and the other in the namespace of fd. Return -1 and errno on error. */
static int pair(const char *name, int fd, const char *peer, uint32_t mtu)
{
	const struct link none = { 0 };
	struct netlink_message m = begin(NEWLINK, CREATE | EXCL, &none, sizeof(none));
	char *info, *data, *end;

	netlink_add(&m, IFNAME, name, strlen(name) + 1);
	if (mtu)
		netlink_add(&m, MTU, &mtu, sizeof(mtu));
	info = netlink_add(&m, LINKINFO, "", 0);
	netlink_add(&m, KIND, "veth", 4);
	data = netlink_add(&m, DATA, "", 0);
	end = netlink_add(&m, PEER, &none, sizeof(none));
	netlink_add(&m, IFNAME, peer, strlen(peer) + 1);
	if (mtu)
		netlink_add(&m, MTU, &mtu, sizeof(mtu));
	if (fd >= 0)
		netlink_add(&m, NS_FD, &fd, sizeof(fd));
	netlink_end(&m, end);
	netlink_end(&m, data);
	netlink_end(&m, info);
	return ask(&m);
}

static _Noreturn void no_veth(void)
{
	die(77, "needs veth (CONFIG_VETH, module veth)");
}

static void veth(char **word)
{
	int fd = open_ns(word[2]);

	enter(word[0]);
	if (pair(word[1], fd, word[3], word[4] ? (uint32_t)atoi(word[4]) : 0)) {
		if (errno == EOPNOTSUPP)
			no_veth();
		die(111, "unable to make %s and %s", word[1], word[3]);
	}
	no_link_local(word[1]);
	set_up(word[1]);
	enter(word[2]);
	no_link_local(word[3]);
	set_up(word[3]);
}

/* Parse ADDRESS or ADDRESS/BITS into its family, its bytes and their number. */
static size_t parse(const char *text, uint8_t *family, uint8_t *bits, void *to)
{
	char copy[64], *slash;

	snprintf(copy, sizeof(copy), "%s", text);
	slash = strchr(copy, '/');
	*family = strchr(copy, ':') ? AF_INET6 : AF_INET;
	if (bits && !slash)
		die(100, "no bits in %s", text);
	if (slash) {
		*slash = '\0';
		if (bits)
			*bits = (uint8_t)atoi(slash + 1);
	}
	if (inet_pton(*family, copy, to) != 1)
		die(100, "not an address: %s", text);
	return *family == AF_INET6 ? 16 : 4;
}

static void address(const char *name, const char *text)
{
	struct addr a = { .index = (uint32_t)index_of(name) };
	unsigned char bytes[16];
	uint32_t flags = NODAD;
	size_t n = parse(text, &a.family, &a.bits, bytes);
	struct netlink_message m = begin(NEWADDR, CREATE | EXCL, &a, sizeof(a));

	netlink_add(&m, LOCAL, bytes, n);
	netlink_add(&m, ADDRESS, bytes, n);
	if (n == 16)
		netlink_add(&m, FLAGS, &flags, sizeof(flags));
	if (ask(&m))
		die(errno == EOPNOTSUPP || errno == EAFNOSUPPORT ? 77 : 111,
			"unable to give %s the address %s", name, text);
}

static void route(const char *to, const char *gateway)
{
	struct route r = { .table = TABLE_MAIN, .protocol = BOOT, .type = UNICAST };
	unsigned char bytes[16];
	uint8_t family;
	size_t n = parse(to, &r.family, &r.bits, bytes);
	struct netlink_message m = begin(NEWROUTE, CREATE | EXCL, &r, sizeof(r));

	netlink_add(&m, DST, bytes, n);
	n = parse(gateway, &family, NULL, bytes);
	netlink_add(&m, GATEWAY, bytes, n);
	if (ask(&m))
		die(111, "unable to add the route %s by %s", to, gateway);
}

/* Write to a sysctl of the current namespace. */
static void set(const char *file, int must)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC);

	if ((fd < 0 || write(fd, "1", 1) != 1) && (must || errno != ENOENT))
		die(111, "unable to set %s", file);
	close(fd);
}

static void offload(const char *name, uint32_t on)
{
	/* on in the order of dependencies, off in reverse */
	static const uint32_t commands[] = { SRXCSUM, STXCSUM, SSG, STSO, SGSO, SGRO };
	const size_t n = sizeof(commands) / sizeof(*commands);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	for (size_t i = 0; i < n; i++) {
		struct ethtool e = { commands[on ? i : n - 1 - i], on };
		struct ifreq r;

		memset(&r, 0, sizeof(r));
		snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
		r.ifr_data = (void *)&e;
		if (ioctl(fd, ETHTOOL, &r) && errno != EOPNOTSUPP)
			die(111, "unable to set the offload %#x of %s", e.command, name);
		e.command--; /* the number of the query is one below the command's */
		e.value = on;
		if (!ioctl(fd, ETHTOOL, &r) && !on && e.value)
			die(77, "needs an interface whose offloads can be off: %s", name);
	}
	close(fd);
}

static void check(const char *word)
{
	int fd;

	if (!strcmp(word, "veth")) {
		if (!pair("tfs0", -1, "tfs1", 0))
			return;
		if (errno == EOPNOTSUPP)
			no_veth();
		die(111, "unable to make an interface");
	} else if (!strcmp(word, "packet")) {
		fd = socket(AF_PACKET, SOCK_RAW, 0);
		if (fd < 0 && errno == EAFNOSUPPORT)
			die(77, "needs packet sockets (CONFIG_PACKET, module af_packet)");
	} else if (!strcmp(word, "ipv6")) {
		fd = socket(AF_INET6, SOCK_DGRAM, 0);
		if (fd < 0 || access("/proc/sys/net/ipv6", F_OK))
			die(77, "needs IPv6 (CONFIG_IPV6)");
	} else {
		die(100, "cannot check %s", word);
	}
	if (fd < 0)
		die(111, "unable to open a socket");
	close(fd);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	char **word = argv + 2;

	if (!strcmp(what, "add") && argc > 2) {
		for (; *word; word++)
			add(*word);
	} else if (!strcmp(what, "del") && argc > 2) {
		for (; *word; word++)
			del(*word);
	} else if (!strcmp(what, "veth") && (argc == 6 || argc == 7)) {
		veth(word);
	} else if (!strcmp(what, "addr") && argc > 4) {
		enter(word[0]);
		for (int i = 2; word[i]; i++)
			address(word[1], word[i]);
	} else if (!strcmp(what, "route") && argc == 5) {
		enter(word[0]);
		route(word[1], word[2]);
	} else if (!strcmp(what, "forward") && argc == 3) {
		enter(word[0]);
		set("/proc/sys/net/ipv4/ip_forward", 1);
		set("/proc/sys/net/ipv6/conf/all/forwarding", 0);
	} else if (!strcmp(what, "offload") && argc == 5) {
		enter(word[0]);
		offload(word[1], !strcmp(word[2], "on"));
	} else if (!strcmp(what, "exec") && argc > 3) {
		enter(word[0]);
		execvp(word[1], word + 1);
		die(111, "unable to run %s", word[1]);
	} else if (!strcmp(what, "check")) {
		new_ns();
		for (; *word; word++)
			check(*word);
	} else {
		die(100, "add|del|veth|addr|route|forward|offload|exec|check ...; see its source");
	}
	return 0;
}
