/* SPDX-License-Identifier: ISC */
/* calls.c - arguments of system calls as text; usage: calls [sizes] */
#include "calls/calls.h"
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <sys/socket.h>

#include "unit.h"

static struct calls *calls;
static const struct call *call;
static struct call_values values;

/* Choose the call with this number; the arguments end with the last that is given. */
static void choose(unsigned number, const uint64_t *args)
{
	memset(&values, 0, sizeof(values));
	memcpy(values.args, args, sizeof(values.args));
	call = calls_find(calls, number);
	if (call)
		call = calls_match(call, values.args);
}

#define CALL(number, ...) choose(number, (const uint64_t[CALL_ARGS]){ __VA_ARGS__ })

/* in the upper half of a register with an int */
#define GARBAGE 0xdeadbeef00000000ull

static void memory(unsigned arg, const void *bytes, size_t n)
{
	values.user[arg] = (struct call_bytes){ .bytes = bytes, .n = n };
}

#define MEMORY(arg, bytes) memory(arg, bytes, sizeof(bytes) - 1)
#define ENTRY(arg, text) \
	(values.entry[arg] = (struct call_bytes){ .bytes = text, .n = sizeof(text) - 1 })

/* Return the call as text, with its result if it has returned. */
static const char *line(void)
{
	static char text[4096];
	size_t n;

	if (!call)
		return NULL;
	n = (size_t)sprintf(text, "%s(", call->name);
	for (unsigned i = 0; i < call->nargs; i++) {
		if (call->args[i].kind == CALL_NONE)
			continue;
		if (i)
			n += (size_t)sprintf(text + n, ", ");
		n += call_print(calls, call, i, &values, text + n, 1000);
	}
	n += (size_t)sprintf(text + n, ")");
	if (values.returned) {
		n += (size_t)sprintf(text + n, " = ");
		n += call_print_result(calls, call, values.result, text + n, 1000);
		n += call_print_behind(calls, call, &values, text + n, 1000);
	}
	text[n] = '\0';
	return text;
}

static const char *returns(int64_t result)
{
	values.returned = 1;
	values.result = result;
	return line();
}

static void test_open(void)
{
	CALL(257, (uint64_t)-100, 0x1000, 02000000);
	EQUAL_TEXT(line(), "openat(AT_FDCWD, 0x1000, O_RDONLY|O_CLOEXEC)");
	MEMORY(1, "/etc/passwd");
	EQUAL_TEXT(returns(3), "openat(AT_FDCWD, \"/etc/passwd\", O_RDONLY|O_CLOEXEC) = 3");
	CALL(257, 7, 0, 0101 | 0x80000000, 0644);
	EQUAL_TEXT(returns(-2), "openat(7, NULL, O_WRONLY|O_CREAT|0x80000000, 0644) = -1 ENOENT");
}

/* Print each call with a structure, and the size of the first one, in this host's ABI. */
static void sizes(void)
{
	for (unsigned n = 0; n <= calls_most(calls); n++) {
		const struct call *c = calls_find(calls, n);

		for (unsigned i = 0; c && i < c->nargs; i++)
			if (c->args[i].kind == CALL_STRUCT) {
				printf("%s %u\n", c->name, c->args[i].size);
				break;
			}
	}
}

static void test_files(void)
{
	static const char stat[144] = { [24] = (char)0xa4, [25] = (char)0x81, [49] = 4 };
	static const char two[] = "/tmp/a\0/tmp/b";

	CALL(0, 3, 0x1000, 10);
	EQUAL_TEXT(line(), "read(3, 0x1000, 10)");
	MEMORY(1, "ab\t\"\1\0012\377");
	EQUAL_TEXT(returns(4), "read(3, \"ab\\t\\\"\", 10) = 4");
	EQUAL_TEXT(returns(-11), "read(3, 0x1000, 10) = -1 EAGAIN");
	CALL(1, 1, 0x1000, 5);
	MEMORY(1, "\1\0012\377");
	EQUAL_TEXT(returns(5), "write(1, \"\\1\\0012\\377\"..., 5) = 5");
	CALL(4, 0x1000, 0x2000);
	MEMORY(0, "/x");
	memory(1, stat, sizeof(stat));
	EQUAL_TEXT(returns(0), "stat(\"/x\", {st_mode=S_IFREG|0644, st_size=1024, ...}) = 0");
	EQUAL_TEXT(returns(-2), "stat(\"/x\", 0x2000) = -1 ENOENT");
	CALL(59, 0x1000, 0x2000, 0);
	memory(1, two, sizeof(two));
	EQUAL_TEXT(line(), "execve(0x1000, [\"/tmp/a\", \"/tmp/b\"], NULL)");
	CALL(8, 3, (uint64_t)-1, 2);
	EQUAL_TEXT(returns(1 << 20), "lseek(3, -1, SEEK_END) = 1048576");
	CALL(21, 0, 4);
	EQUAL_TEXT(line(), "access(NULL, R_OK)");
	CALL(21, 0, 0);
	EQUAL_TEXT(line(), "access(NULL, F_OK)");
	CALL(90, 0, 04755);
	EQUAL_TEXT(line(), "chmod(NULL, 04755)");
	CALL(133, 0, 0020666, 0x103);
	EQUAL_TEXT(line(), "mknod(NULL, S_IFCHR|0666, makedev(0x1, 0x3))");
	CALL(72, 3, 3, 77);
	EQUAL_TEXT(returns(0100002), "fcntl(3, F_GETFL) = 0x8002 (flags O_RDWR|O_LARGEFILE)");
	CALL(72, 3, 2, 1);
	EQUAL_TEXT(line(), "fcntl(3, F_SETFD, FD_CLOEXEC)");
	CALL(16, 1, 0x5401, 0x1000);
	EQUAL_TEXT(returns(-25), "ioctl(1, TCGETS, 0x1000) = -1 ENOTTY");
	CALL(293, 0x1000, 02004000);
	MEMORY(0, "\3\0\0\0\4\0\0\0");
	EQUAL_TEXT(returns(0), "pipe2([3, 4], O_NONBLOCK|O_CLOEXEC) = 0");
	CALL(95, 022);
	EQUAL_TEXT(returns(077), "umask(022) = 077");
}

static void test_memory(void)
{
	CALL(9, 0, 8192, 3, 0x22, (uint64_t)-1, 0);
	EQUAL_TEXT(returns(0x7f1234567000), "mmap(NULL, 8192, PROT_READ|PROT_WRITE, "
		   "MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f1234567000");
	CALL(10, 0x1000, 4096, 0);
	EQUAL_TEXT(line(), "mprotect(0x1000, 4096, PROT_NONE)");
	CALL(12, 0);
	EQUAL_TEXT(returns(0x5000), "brk(NULL) = 0x5000");
	CALL(28, 0x1000, 4096, 4);
	EQUAL_TEXT(line(), "madvise(0x1000, 4096, MADV_DONTNEED)");
}

static void test_sockets(void)
{
	CALL(41, 2, 02000001, 6);
	EQUAL_TEXT(returns(3), "socket(AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_TCP) = 3");
	CALL(41, 16, 3, 0);
	EQUAL_TEXT(line(), "socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE)");
	CALL(42, 3, 0x1000, 16);
	MEMORY(1, "\2\0\0\120\12\0\0\1\0\0\0\0\0\0\0\0");
	EQUAL_TEXT(returns(0), "connect(3, {sa_family=AF_INET, sin_port=htons(80), "
		   "sin_addr=inet_addr(\"10.0.0.1\")}, 16) = 0");
	CALL(42, 3, 0x1000, 28);
	MEMORY(1, "\12\0\0\120\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\2\0\0\0");
	EQUAL_TEXT(line(), "connect(3, {sa_family=AF_INET6, sin6_port=htons(80), "
		   "sin6_flowinfo=htonl(0), inet_pton(AF_INET6, \"::1\", &sin6_addr), "
		   "sin6_scope_id=2}, 28)");
	CALL(42, 3, 0x1000, 8);
	MEMORY(1, "\1\0/a/\"\0\0");
	EQUAL_TEXT(line(), "connect(3, {sa_family=AF_UNIX, sun_path=\"/a/\\\"\"}, 8)");
	CALL(42, 3, 0x1000, 6);
	MEMORY(1, "\1\0\0a\0b");
	EQUAL_TEXT(line(), "connect(3, {sa_family=AF_UNIX, sun_path=@\"a\\0b\"}, 6)");
	CALL(43, 3, 0x1000, 0x2000);
	MEMORY(1, "\1\0/no");
	MEMORY(2, "\2\0\0\0");
	EQUAL_TEXT(returns(4), "accept(3, {sa_family=AF_UNIX}, [2]) = 4");
	CALL(54, 3, 1, 2, 0x1000, 4);
	MEMORY(3, "\1\0\0\0");
	EQUAL_TEXT(line(), "setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4)");
	CALL(54, 3, 6, 1, 0x1000, 4);
	EQUAL_TEXT(line(), "setsockopt(3, SOL_TCP, TCP_NODELAY, 0x1000, 4)");
	CALL(7, 0x1000, 2, (uint64_t)-1);
	MEMORY(0, "\3\0\0\0\1\0\0\0\4\0\0\0\5\0\0\0");
	EQUAL_TEXT(returns(1), "poll([{fd=3, events=POLLIN}, "
		   "{fd=4, events=POLLIN|POLLOUT}], 2, -1) = 1");
	CALL(233, 4, 1, 3, 0x1000);
	MEMORY(3, "\1\0\0\0\3\0\0\0\0\0\0\0");
	EQUAL_TEXT(line(), "epoll_ctl(4, EPOLL_CTL_ADD, 3, {events=EPOLLIN, data={u32=3, u64=3}})");
	CALL(20, 1, 0x1000, 1);
	MEMORY(1, "\0\20\0\0\0\0\0\0\5\0\0\0\0\0\0\0");
	EQUAL_TEXT(line(), "writev(1, [{iov_base=0x1000, iov_len=5}], 1)");
}

/* Addresses of the other families: the bytes are those of the headers' structures. */
static void test_families(void)
{
	struct sockaddr_ll link = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL),
				    .sll_ifindex = 1, .sll_hatype = ARPHRD_ETHER,
				    .sll_pkttype = PACKET_OUTGOING, .sll_halen = 6,
				    .sll_addr = { 2, 0, 0, 0xaa, 0xbb, 0xcc } };

	CALL(42, 3, 0x1000, sizeof(link));
	memory(1, &link, sizeof(link));
	EQUAL_TEXT(line(), "connect(3, {sa_family=AF_PACKET, sll_protocol=htons(ETH_P_ALL), "
		   "sll_ifindex=if_nametoindex(\"lo\"), sll_hatype=ARPHRD_ETHER, "
		   "sll_pkttype=PACKET_OUTGOING, sll_halen=6, "
		   "sll_addr=[0x2, 0, 0, 0xaa, 0xbb, 0xcc]}, 20)");
	link.sll_ifindex = 2;
	link.sll_halen = 9; /* more than there is room for */
	EQUAL_TEXT(line(), "connect(3, {sa_family=AF_PACKET, sll_protocol=htons(ETH_P_ALL), "
		   "sll_ifindex=2, sll_hatype=ARPHRD_ETHER, sll_pkttype=PACKET_OUTGOING, "
		   "sll_halen=9, sll_addr=[0x2, 0, 0, 0xaa, 0xbb, 0xcc, 0, 0, ...]}, 20)");
	/* linux/ipx.h, linux/x25.h, linux/rxrpc.h */
	CALL(42, 3, 0x1000, 16);
	MEMORY(1, "\4\0\0\120\0\0\376\355\1\0\0\0\0\0\0\0");
	EQUAL_TEXT(line(), "connect(3, {sa_family=AF_IPX, sipx_port=htons(80), "
		   "sipx_network=htonl(0xfeed), sipx_node=[0x1, 0, 0, 0, 0, 0], sipx_type=0}, 16)");
	CALL(42, 3, 0x1000, 18);
	MEMORY(1, "\11\00012345\0\0\0\0\0\0\0\0\0\0\0");
	EQUAL_TEXT(line(), "connect(3, {sa_family=AF_X25, sx25_addr={x25_addr=\"12345\"}}, 18)");
	CALL(42, 3, 0x1000, 36);
	MEMORY(1, "\41\0\64\0\2\0\20\0\2\0\33\131\177\0\0\1\0\0\0\0\0\0\0\0\0"
		   "\0\0\0\0\0\0\0\0\0\0\0");
	EQUAL_TEXT(line(), "connect(3, {sa_family=AF_RXRPC, srx_service=0x34, "
		   "transport_type=SOCK_DGRAM, transport_len=16, "
		   "transport={sin={sin_family=AF_INET, "
		   "sin_port=htons(7001), sin_addr=inet_addr(\"127.0.0.1\")}}}, 36)");
	MEMORY(1, "\41\0\64\0\2\0\50\0\1\0ab\177\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0z");
	EQUAL_TEXT(line(), "connect(3, {sa_family=AF_RXRPC, srx_service=0x34, "
		   "transport_type=SOCK_DGRAM, transport_len=40, transport={family=AF_UNIX, "
		   "\"ab\\177\\0\\0\\1\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0"
		   "\\0\\0\\0\\0\\0\\0z\"}}, 36)");
}

/* Set an attribute at *n of the message and count n up. */
static void attribute(char *message, size_t *n, unsigned type, const void *value, unsigned size)
{
	const uint16_t head[2] = { (uint16_t)(sizeof(head) + size), (uint16_t)type };

	memcpy(message + *n, head, sizeof(head));
	memcpy(message + *n + sizeof(head), value, size);
	*n += (sizeof(head) + size + 3) & ~3u;
}

/* Print a message of a netlink socket that sendto(2) sends; n: with its header. */
static const char *sends(unsigned protocol, unsigned type, unsigned flags, char *message, size_t n)
{
	const struct nlmsghdr head = { .nlmsg_len = (uint32_t)n, .nlmsg_type = (uint16_t)type,
				       .nlmsg_flags = (uint16_t)flags, .nlmsg_seq = 7 };
	static char text[2048];

	memcpy(message, &head, sizeof(head));
	CALL(44, 3, 0x1000, n, 0, 0, 0);
	memory(1, message, n);
	values.netlink = (uint8_t)(1 + protocol);
	text[call_print(calls, call, 1, &values, text, sizeof(text) - 1)] = '\0';
	return text;
}

/* Messages are made of the headers' structures. */
static void test_netlink(void)
{
	const struct ifinfomsg link = { .ifi_type = ARPHRD_ETHER, .ifi_index = 1,
					.ifi_flags = IFF_UP | IFF_RUNNING };
	const struct rtmsg route = { .rtm_family = AF_INET, .rtm_dst_len = 24,
				     .rtm_table = RT_TABLE_MAIN, .rtm_protocol = RTPROT_BOOT,
				     .rtm_scope = RT_SCOPE_LINK, .rtm_type = RTN_UNICAST };
	struct nlmsgerr error = { -ENOENT, { 16, RTM_DELLINK, NLM_F_REQUEST, 6, 0 } };
	char message[256] = { 0 }, info[32] = { 0 };
	size_t n = sizeof(struct nlmsghdr), size = 0;
	const uint32_t mtu = 1500, index = 2;

	EQUAL_TEXT(sends(NETLINK_ROUTE, RTM_GETADDR, NLM_F_REQUEST | NLM_F_DUMP, message, n),
		   "{nlmsg_len=16, nlmsg_type=RTM_GETADDR, nlmsg_flags=NLM_F_REQUEST|NLM_F_DUMP, "
		   "nlmsg_seq=7, nlmsg_pid=0}");
	memcpy(message + n, &link, sizeof(link));
	n += sizeof(link);
	attribute(message, &n, IFLA_IFNAME, "lo", 3);
	attribute(message, &n, IFLA_MTU, &mtu, 4);
	attribute(message, &n, IFLA_ADDRESS, "\2\0\0\xaa\xbb\xcc", 6);
	attribute(info, &size, IFLA_INFO_KIND, "veth", 5);
	attribute(message, &n, IFLA_LINKINFO | NLA_F_NESTED, info, (unsigned)size);
	EQUAL_TEXT(sends(NETLINK_ROUTE, RTM_NEWLINK, NLM_F_REQUEST | NLM_F_CREATE, message, n),
		   "[{nlmsg_len=76, nlmsg_type=RTM_NEWLINK, "
		   "nlmsg_flags=NLM_F_REQUEST|NLM_F_CREATE, "
		   "nlmsg_seq=7, nlmsg_pid=0}, {ifi_family=AF_UNSPEC, ifi_type=ARPHRD_ETHER, "
		   "ifi_index=if_nametoindex(\"lo\"), ifi_flags=IFF_UP|IFF_RUNNING, ifi_change=0}, "
		   "[[{nla_len=7, nla_type=IFLA_IFNAME}, \"lo\"], "
		   "[{nla_len=8, nla_type=IFLA_MTU}, 1500], "
		   "[{nla_len=10, nla_type=IFLA_ADDRESS}, 02:00:00:aa:bb:cc], "
		   "[{nla_len=16, nla_type=NLA_F_NESTED|IFLA_LINKINFO}, "
		   "[{nla_len=9, nla_type=IFLA_INFO_KIND}, \"veth\"]]]]");
	n = sizeof(struct nlmsghdr);
	memcpy(message + n, &route, sizeof(route));
	n += sizeof(route);
	attribute(message, &n, RTA_DST, "\12\0\0\0", 4);
	attribute(message, &n, RTA_OIF, &index, 4);
	EQUAL_TEXT(sends(NETLINK_ROUTE, RTM_DELROUTE, NLM_F_REQUEST | NLM_F_ACK, message, n),
		   "[{nlmsg_len=44, nlmsg_type=RTM_DELROUTE, nlmsg_flags=NLM_F_REQUEST|NLM_F_ACK, "
		   "nlmsg_seq=7, nlmsg_pid=0}, {rtm_family=AF_INET, rtm_dst_len=24, rtm_src_len=0, "
		   "rtm_tos=0, rtm_table=RT_TABLE_MAIN, rtm_protocol=RTPROT_BOOT, "
		   "rtm_scope=RT_SCOPE_LINK, rtm_type=RTN_UNICAST, rtm_flags=0}, "
		   "[[{nla_len=8, nla_type=RTA_DST}, inet_addr(\"10.0.0.0\")], "
		   "[{nla_len=8, nla_type=RTA_OIF}, 2]]]");
	values.user[1].n = 40; /* the end is not recorded */
	n = call_print(calls, call, 1, &values, message + 128, 120);
	EQUAL(n, 120);
	n = sizeof(struct nlmsghdr);
	memcpy(message + n, &error, sizeof(error));
	n += sizeof(error);
	EQUAL_TEXT(sends(NETLINK_ROUTE, NLMSG_ERROR, NLM_F_CAPPED, message, n),
		   "[{nlmsg_len=36, nlmsg_type=NLMSG_ERROR, nlmsg_flags=NLM_F_CAPPED, nlmsg_seq=7, "
		   "nlmsg_pid=0}, {error=-ENOENT, msg={nlmsg_len=16, nlmsg_type=RTM_DELLINK, "
		   "nlmsg_flags=NLM_F_REQUEST, nlmsg_seq=6, nlmsg_pid=0}}]");
	memcpy(message + 16, "\0\0\0\0", 4);
	EQUAL_TEXT(sends(NETLINK_ROUTE, NLMSG_DONE, NLM_F_MULTI, message, 20),
		   "[{nlmsg_len=20, nlmsg_type=NLMSG_DONE, nlmsg_flags=NLM_F_MULTI, nlmsg_seq=7, "
		   "nlmsg_pid=0}, 0]");
	/* another protocol has no payload that is known, and a short text is no message */
	EQUAL_TEXT(sends(NETLINK_GENERIC, 16, 0, message, 20),
		   "[{nlmsg_len=20, nlmsg_type=nlctrl, nlmsg_flags=0, nlmsg_seq=7, nlmsg_pid=0}, "
		   "\"\\0\\0\\0\\0\"]");
	CALL(44, 3, 0x1000, 4, 0, 0, 0);
	MEMORY(1, "abcd");
	values.netlink = 1;
	EQUAL_TEXT(line(), "sendto(3, \"abcd\", 4, 0, NULL, 0)");
}

/* Structures of options: the bytes are those of the headers' structures. */
static void test_option_layouts(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0xe0000003) };
	struct group_req group = { .gr_interface = 1 };
	struct packet_mreq packet = { .mr_ifindex = 2, .mr_type = PACKET_MR_MULTICAST, .mr_alen = 6,
				      .mr_address = { 1, 0, 0x5e, 0, 0, 3 } };

	memcpy(&group.gr_group, &in, sizeof(in));
	CALL(54, 3, IPPROTO_IP, MCAST_JOIN_GROUP, 0x1000, sizeof(group));
	memory(3, &group, sizeof(group));
	EQUAL_TEXT(line(), "setsockopt(3, SOL_IP, MCAST_JOIN_GROUP, {gr_interface="
		   "if_nametoindex(\"lo\"), gr_group={sa_family=AF_INET, sin_port=htons(0), "
		   "sin_addr=inet_addr(\"224.0.0.3\")}}, 136)");
	CALL(54, 3, 263, PACKET_ADD_MEMBERSHIP, 0x1000, sizeof(packet));
	memory(3, &packet, sizeof(packet));
	EQUAL_TEXT(line(), "setsockopt(3, SOL_PACKET, PACKET_ADD_MEMBERSHIP, {mr_ifindex=2, "
		   "mr_type=PACKET_MR_MULTICAST, mr_alen=6, mr_address=01:00:5e:00:00:03}, 16)");
	values.args[4]++; /* a byte of it is not in memory */
	EQUAL_TEXT(line(), "setsockopt(3, SOL_PACKET, PACKET_ADD_MEMBERSHIP, 0x1000, 17)");
	CALL(54, 3, 255, 1, 0x1000, 4);
	MEMORY(3, "\376\377\377\377"); /* linux/icmp.h: all but 0 */
	EQUAL_TEXT(line(), "setsockopt(3, SOL_RAW, ICMP_FILTER, ~[ICMP_ECHOREPLY], 4)");
	CALL(55, 3, 270, 9, 0x1000, 0x2000);
	MEMORY(3, "\5\0\0\0\0\1\0\0");
	MEMORY(4, "\10\0\0\0");
	EQUAL_TEXT(returns(0), "getsockopt(3, SOL_NETLINK, NETLINK_LIST_MEMBERSHIPS, [5, "
		   "256], [8]) = 0");
	ENTRY(4, "\4\0\0\0"); /* the program has room for one of them */
	EQUAL_TEXT(returns(0), "getsockopt(3, SOL_NETLINK, NETLINK_LIST_MEMBERSHIPS, [5], "
		   "[4 => 8]) = 0");
	CALL(55, 3, SOL_SOCKET, SO_LINGER, 0x1000, 0x2000);
	MEMORY(3, "\1\0\0\0\5\0");
	MEMORY(4, "\6\0\0\0");
	EQUAL_TEXT(returns(0),
		   "getsockopt(3, SOL_SOCKET, SO_LINGER, {l_onoff=1, "
		   "l_linger=\"\\5\\0\"}, [6]) = 0");
}

/* A socket option is an int, a structure, a string or bytes, by its name and its length. */
static void test_options(void)
{
	CALL(54, 3, 1, 13, 0x1000, 8);
	MEMORY(3, "\1\0\0\0\5\0\0\0");
	EQUAL_TEXT(line(), "setsockopt(3, SOL_SOCKET, SO_LINGER, {l_onoff=1, l_linger=5}, 8)");
	CALL(54, 3, 1, 13, 0x1000, 4);
	MEMORY(3, "\1\0\0\0");
	EQUAL_TEXT(line(), "setsockopt(3, SOL_SOCKET, SO_LINGER, 0x1000, 4)");
	CALL(54, 3, 1, 20, 0x1000, 16);
	MEMORY(3, "\12\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0");
	EQUAL_TEXT(line(), "setsockopt(3, SOL_SOCKET, SO_RCVTIMEO_OLD, "
		   "{tv_sec=10, tv_usec=7}, 16)");
	CALL(54, 3, 1, 25, 0x1000, 4);
	MEMORY(3, "eth0");
	EQUAL_TEXT(line(), "setsockopt(3, SOL_SOCKET, SO_BINDTODEVICE, \"eth0\", 4)");
	CALL(54, 3, 6, 13, 0x1000, 5);
	MEMORY(3, "cubic");
	EQUAL_TEXT(line(), "setsockopt(3, SOL_TCP, TCP_CONGESTION, \"cubic\", 5)");
	CALL(54, 3, 1, 2, 0x1000, 5);
	MEMORY(3, "\1\0\0\0\1");
	EQUAL_TEXT(line(), "setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 5)");
	CALL(54, 3, 1, 2, 0x1000, (uint64_t)-1);
	MEMORY(3, "\1\0\0\0\1");
	EQUAL_TEXT(line(), "setsockopt(3, SOL_SOCKET, SO_REUSEADDR, 0x1000, -1)");
	CALL(54, 3, 0, 1, 0x1000, 1);
	MEMORY(3, "\20");
	EQUAL_TEXT(line(), "setsockopt(3, SOL_IP, IP_TOS, \"\\20\", 1)");
	CALL(54, 3, 0, 35, 0x1000, 8);
	MEMORY(3, "\340\0\0\1\177\0\0\1");
	EQUAL_TEXT(line(), "setsockopt(3, SOL_IP, IP_ADD_MEMBERSHIP, "
		   "{imr_multiaddr=inet_addr(\"224.0.0.1\"), "
		   "imr_interface=inet_addr(\"127.0.0.1\")}, 8)");
	CALL(55, 3, 1, 17, 0x1000, 0x2000);
	MEMORY(3, "\1\0\0\0\0\0\0\0\377\377\377\377");
	MEMORY(4, "\14\0\0\0");
	EQUAL_TEXT(returns(0), "getsockopt(3, SOL_SOCKET, SO_PEERCRED, {pid=1, uid=0, gid=-1}, "
		   "[12]) = 0");
	CALL(55, 3, 1, 4, 0x1000, 0x2000);
	MEMORY(3, "\157\0\0\0");
	MEMORY(4, "\4\0\0\0");
	EQUAL_TEXT(returns(0), "getsockopt(3, SOL_SOCKET, SO_ERROR, [ECONNREFUSED], [4]) = 0");
	CALL(55, 3, 6, 11, 0x1000, 0x2000);
	MEMORY(3, "\1\0\0\0\0\7");
	MEMORY(4, "\6\0\0\0");
	EQUAL_TEXT(returns(0), "getsockopt(3, SOL_TCP, TCP_INFO, \"\\1\\0\\0\\0\\0\\7\", [6]) = 0");
	CALL(289, (uint64_t)-1, 0x1000, 8, 02004000);
	MEMORY(1, "\2\0\0\0\0\0\0\0");
	EQUAL_TEXT(returns(3), "signalfd4(-1, [INT], 8, SFD_NONBLOCK|SFD_CLOEXEC) = 3");
}

/*
 * The arguments that a command has are printed, and no structure that the kernel does not take:
 * its size is refused, or it has another meaning there.
 */
static void test_commands(void)
{
	CALL(157, 37, 0x1000, 1, 2, 3);
	EQUAL_TEXT(line(), "prctl(PR_GET_CHILD_SUBREAPER, 0x1000)");
	CALL(157, 7, 0x1000, 1, 2, 3);
	EQUAL_TEXT(line(), "prctl(PR_GET_KEEPCAPS)");
	CALL(157, 47, 2, 12, 0, 0);
	EQUAL_TEXT(line(), "prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_ADMIN, 0, 0)");
	CALL(157, 47, 4, 12, 0, 0);
	EQUAL_TEXT(line(), "prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0xc, 0, 0)");
	CALL(250, 0, (uint64_t)-3, GARBAGE | 1);
	EQUAL_TEXT(line(), "keyctl(KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 1)");
	CALL(312, 1, 2, 1, 7, 8);
	EQUAL_TEXT(line(), "kcmp(1, 2, KCMP_VM)");
	CALL(202, 0x1000, 0x189, 2, 0x2000, 0, 0xffffffff);
	MEMORY(3, "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0");
	EQUAL_TEXT(line(), "futex(0x1000, FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME, 2, "
		   "{tv_sec=1, tv_nsec=2}, FUTEX_BITSET_MATCH_ANY)");
	CALL(14, 0, 0x1000, 0, 16);
	MEMORY(1, "\2\0\1\0\0\0\0\0");
	EQUAL_TEXT(line(), "rt_sigprocmask(SIG_BLOCK, 0x1000, NULL, 16)");
	CALL(437, (uint64_t)-100, 0, 0x1000, 11);
	MEMORY(2, "\100\0\0\0\0\0\0\0\244\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
	EQUAL_TEXT(line(), "openat2(AT_FDCWD, NULL, 0x1000, 11)");
	CALL(437, (uint64_t)-100, 0, 0x1000, 24);
	MEMORY(2, "\100\0\0\0\0\0\0\0\244\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
	EQUAL_TEXT(line(), "openat2(AT_FDCWD, NULL, {flags=O_RDONLY|O_CREAT, mode=0644, "
		   "resolve=0}, 24)");
	CALL(42, 3, 0x1000, 8);
	MEMORY(1, "\2\0\0\120\12\0\0\1");
	EQUAL_TEXT(line(), "connect(3, {sa_family=AF_INET, sa_data=\"\\0P\\n\\0\\0\\1\"}, 8)");
	CALL(280, (uint64_t)-100, 0, 0x1000, 0);
	MEMORY(2, "\0\0\0\0\0\0\0\0\377\377\377\77\0\0\0\0"
	       "\0\0\0\0\0\0\0\0\376\377\377\77\0\0\0\0");
	EQUAL_TEXT(line(), "utimensat(AT_FDCWD, NULL, [UTIME_NOW, UTIME_OMIT], 0)");
	CALL(16, 1, 0x5451, 0x1000);
	EQUAL_TEXT(line(), "ioctl(1, FIOCLEX)");
	CALL(165, 0, 0, 0x1000, 0xc0ed0001, 0);
	EQUAL_TEXT(line(), "mount(NULL, NULL, 0x1000, MS_MGC_VAL|MS_RDONLY, NULL)");
	CALL(308, 3, 0);
	EQUAL_TEXT(line(), "setns(3, 0)");
	CALL(62, 1, (uint64_t)-64206);
	EQUAL_TEXT(line(), "kill(1, -64206)");
}

static void test_tasks(void)
{
	CALL(56, 0x1200011, 0, 0, 0x1000, 0);
	EQUAL_TEXT(returns(7), "clone(CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD, NULL, NULL, "
		   "0x1000, 0) = 7");
	CALL(61, (uint64_t)-1, 0x1000, 1, 0);
	MEMORY(1, "\0\3\0\0");
	EQUAL_TEXT(returns(7), "wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 3}], "
		   "WNOHANG, NULL) = 7");
	MEMORY(1, "\213\0\0\0");
	EQUAL_TEXT(returns(7), "wait4(-1, [{WIFSIGNALED(s) && WTERMSIG(s) == SIGSEGV && "
		   "WCOREDUMP(s)}], WNOHANG, NULL) = 7");
	CALL(14, 0, 0x1000, 0, 8);
	MEMORY(1, "\2\0\1\0\0\0\0\0");
	EQUAL_TEXT(returns(0), "rt_sigprocmask(SIG_BLOCK, [INT CHLD], NULL, 8) = 0");
	MEMORY(1, "\376\377\377\377\377\377\377\377");
	EQUAL_TEXT(returns(0), "rt_sigprocmask(SIG_BLOCK, ~[HUP], NULL, 8) = 0");
	CALL(13, 2, 0x1000, 0, 8);
	MEMORY(1, "\0\20\0\0\0\0\0\0\0\0\0\24\0\0\0\0\0\40\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
	EQUAL_TEXT(line(), "rt_sigaction(SIGINT, {sa_handler=0x1000, "
		   "sa_flags=SA_RESTORER|SA_RESTART, "
		   "sa_restorer=0x2000, sa_mask=[]}, NULL, 8)");
	CALL(202, 0x1000, 128, 2, 0);
	EQUAL_TEXT(line(), "futex(0x1000, FUTEX_WAIT_PRIVATE, 2, NULL)");
	CALL(202, 0x1000, 129, 1, 0x33);
	EQUAL_TEXT(line(), "futex(0x1000, FUTEX_WAKE_PRIVATE, 1)");
	CALL(302, 0, 3, 0, 0x1000);
	MEMORY(3, "\0\0\200\0\0\0\0\0\377\377\377\377\377\377\377\377");
	EQUAL_TEXT(returns(0), "prlimit64(0, RLIMIT_STACK, NULL, "
		   "{rlim_cur=8192*1024, rlim_max=RLIM64_INFINITY}) = 0");
	CALL(35, 0x1000, 0);
	MEMORY(0, "\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
	EQUAL_TEXT(returns(-516),
		   "nanosleep({tv_sec=1, tv_nsec=0}, NULL) = ? ERESTART_RESTARTBLOCK");
	CALL(23, 10, 0x1000, 0, 0, 0);
	MEMORY(1, "\51\1\0\0\0\0\0\0");
	EQUAL_TEXT(line(), "select(10, [0 3 5 8], NULL, NULL, NULL)");
	CALL(62, 0, 34);
	EQUAL_TEXT(line(), "kill(0, SIGRT_2)");
	CALL(157, 15, 0x1000);
	MEMORY(1, "me");
	EQUAL_TEXT(line(), "prctl(PR_SET_NAME, \"me\")");
	CALL(231, 1);
	EQUAL_TEXT(returns(0), "exit_group(1) = ?");
}

/* Each number is as its C type has it, whatever the rest of the register is. */
static void test_widths(void)
{
	static const char date[32] = { 0, 0, 0, 0, 1, 0, 0, 0, (char)0xff, (char)0xff, (char)0xff,
				       (char)0xff, (char)0xff, (char)0xff, (char)0xff, (char)0xff };
	static const char stat[144] = { [24] = (char)0xa4, [25] = (char)0x81, [52] = 1 };

	CALL(8, GARBAGE | 3, 5368709120, 0);
	EQUAL_TEXT(returns(5368709120), "lseek(3, 5368709120, SEEK_SET) = 5368709120");
	CALL(8, 3, 1ull << 63, GARBAGE | 1);
	EQUAL_TEXT(returns(-4096), "lseek(3, -9223372036854775808, SEEK_CUR) = -4096");
	CALL(17, 3, 0x1000, 1, 8589934593);
	EQUAL_TEXT(line(), "pread64(3, 0x1000, 1, 8589934593)");
	CALL(285, 3, GARBAGE | 3, 1ull << 32, 1ull << 40);
	EQUAL_TEXT(line(), "fallocate(3, FALLOC_FL_KEEP_SIZE|FALLOC_FL_PUNCH_HOLE, "
		   "4294967296, 1099511627776)");
	CALL(76, 0, 8589934592);
	EQUAL_TEXT(line(), "truncate(NULL, 8589934592)");
	CALL(295, GARBAGE | 3, 0, 2, 1ull << 33, 0xffff);
	EQUAL_TEXT(line(), "preadv(3, NULL, 2, 8589934592)");
	CALL(4, 0, 0x2000);
	memory(1, stat, sizeof(stat));
	EQUAL_TEXT(returns(0), "stat(NULL, {st_mode=S_IFREG|0644, st_size=4294967296, ...}) = 0");
	CALL(280, (uint64_t)-100, 0, 0x1000, 0);
	memory(2, date, sizeof(date));
	EQUAL_TEXT(line(), "utimensat(AT_FDCWD, NULL, "
		   "[{tv_sec=4294967296, tv_nsec=18446744073709551615}, "
		   "{tv_sec=0, tv_nsec=0}], 0)");
	CALL(201, 0x1000);
	MEMORY(0, "\0\0\0\0\1\0\0\0");
	EQUAL_TEXT(returns(4294967296), "time([4294967296]) = 4294967296");
	CALL(95, 037777600000);
	EQUAL_TEXT(returns(022), "umask(000) = 022");
	CALL(90, 0, GARBAGE | 0xffff0000 | 04755);
	EQUAL_TEXT(line(), "chmod(NULL, 04755)");
	CALL(92, 0, GARBAGE | 4294967295, 2147483648);
	EQUAL_TEXT(line(), "chown(NULL, -1, 2147483648)");
	CALL(102, 0);
	EQUAL_TEXT(returns(4294967294), "getuid() = 4294967294");
	CALL(116, 2, 0x1000);
	MEMORY(1, "\377\377\377\377\376\377\377\377");
	EQUAL_TEXT(line(), "setgroups(2, [-1, 4294967294])");
	CALL(3, GARBAGE | 0xffffffff);
	EQUAL_TEXT(line(), "close(-1)");
	CALL(7, 0x1000, GARBAGE | 1, GARBAGE | 0xffffffff);
	MEMORY(0, "\3\0\0\0\1\0\0\0");
	EQUAL_TEXT(line(), "poll([{fd=3, events=POLLIN}], 1, -1)");
	CALL(275, 3, 0x1000, 4, 0, 5, 0);
	MEMORY(1, "\0\0\0\0\1\0\0\0");
	EQUAL_TEXT(line(), "splice(3, [4294967296], 4, NULL, 5, 0)");
}

/* The same in two registers of 32-bit ABIs, of which each has 32 bits. */
static void test_pairs(void)
{
	struct calls *own = calls;

	calls = calls_open("i386");
	CALL(180, 3, 0x1000, 1, GARBAGE | 9, GARBAGE | 1);
	EQUAL_TEXT(line(), "pread64(3, 0x1000, 1, 4294967305)");
	CALL(140, 3, 1, 0x40000000, 0x1000, 0);
	MEMORY(3, "\0\0\0\100\1\0\0\0");
	EQUAL_TEXT(returns(0), "_llseek(3, 5368709120, [5368709120], SEEK_SET) = 0");
	CALL(19, 3, 0xfffffff6, 2);
	EQUAL_TEXT(returns(0x7fffffff), "lseek(3, -10, SEEK_END) = 2147483647");
	CALL(272, 3, 0, 256, 0, 512, 4);
	EQUAL_TEXT(line(), "fadvise64_64(3, 1099511627776, 2199023255552, POSIX_FADV_DONTNEED)");
	CALL(324, 3, 1, 0, 1, 0xffffffff, 0xffffffff);
	EQUAL_TEXT(line(), "fallocate(3, FALLOC_FL_KEEP_SIZE, 4294967296, -1)");
	CALL(193, 0, 0xffffffff, 0x7fffffff);
	EQUAL_TEXT(line(), "truncate64(NULL, 9223372036854775807)");
	CALL(339, 3, 1, 0x80, 1, 0xffffff9c, 0);
	EQUAL_TEXT(line(), "fanotify_mark(3, FAN_MARK_ADD, FAN_MOVED_TO|0x100000000, AT_FDCWD, "
		   "NULL)");
	CALL(333, 3, 0, 1, 7, 2);
	EQUAL_TEXT(line(), "preadv(3, NULL, 1, 8589934599)");
	CALL(192, 0, 4096, 0, 1, 3, 0x100000);
	EQUAL_TEXT(returns(-12), "mmap2(NULL, 4096, PROT_NONE, MAP_SHARED, 3, 0x100000000) = "
		   "-1 ENOMEM");
	CALL(182, 0, 0xffff, 0x10001);
	EQUAL_TEXT(line(), "chown(NULL, -1, 1)");
	CALL(212, 0, 0xffff, 0xffffffff);
	EQUAL_TEXT(line(), "chown32(NULL, 65535, -1)");
	CALL(199, 0);
	EQUAL_TEXT(returns(-5000), "getuid32() = 4294962296");
	CALL(13, 0x1000);
	MEMORY(0, "\377\377\377\177");
	EQUAL_TEXT(returns(0x7fffffff), "time([2147483647]) = 2147483647");
	calls = calls_open("arm");
	CALL(180, 3, 0x1000, 1, 77, 9, 1);
	EQUAL_TEXT(line(), "pread64(3, 0x1000, 1, 4294967305)");
	CALL(194, 3, 77, 0, 2);
	EQUAL_TEXT(line(), "ftruncate64(3, 8589934592)");
	CALL(270, 3, 4, 0, 256, 0, 512);
	EQUAL_TEXT(line(), "arm_fadvise64_64(3, POSIX_FADV_DONTNEED, 1099511627776, "
		   "2199023255552)");
	CALL(352, 3, 1, 0, 1, 5, 0);
	EQUAL_TEXT(line(), "fallocate(3, FALLOC_FL_KEEP_SIZE, 4294967296, 5)");
	calls = own;
}

/* What the kernel reads is from the entry, what it writes from the return. */
static void test_sides(void)
{
	CALL(40, 4, 3, 0x1000, 5);
	ENTRY(2, "\3\0\0\0\0\0\0\0");
	MEMORY(2, "\10\0\0\0\0\0\0\0");
	EQUAL_TEXT(returns(5), "sendfile(4, 3, [3] => [8], 5) = 5");
	MEMORY(2, "\3\0\0\0\0\0\0\0");
	EQUAL_TEXT(returns(0), "sendfile(4, 3, [3], 5) = 0");
	values.entry[2] = (struct call_bytes){ .fault = 1 };
	EQUAL_TEXT(returns(5), "sendfile(4, 3, 0x1000 => [3], 5) = 5");
	values.user[2] = (struct call_bytes){ .bytes = "\3\0\0\0\0\0\0\0", .n = 8 };
	values.entry[2] = values.user[2];
	EQUAL_TEXT(returns(-9), "sendfile(4, 3, [3], 5) = -1 EBADF");
	CALL(51, 3, 0x1000, 0x2000);
	MEMORY(1, "\1\0/no");
	ENTRY(2, "\144\0\0\0");
	MEMORY(2, "\5\0\0\0");
	EQUAL_TEXT(returns(0), "getsockname(3, {sa_family=AF_UNIX, sun_path=\"/no\"}, "
		   "[100 => 5]) = 0");
	ENTRY(2, "\5\0\0\0");
	EQUAL_TEXT(returns(0), "getsockname(3, {sa_family=AF_UNIX, sun_path=\"/no\"}, [5]) = 0");
	CALL(23, 10, 0x1000, 0x1080, 0, 0x1100);
	ENTRY(1, "\30\0\0\0\0\0\0\0");
	ENTRY(2, "\40\0\0\0\0\0\0\0");
	ENTRY(4, "\1\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0");
	MEMORY(1, "\10\0\0\0\0\0\0\0");
	MEMORY(2, "\0\0\0\0\0\0\0\0");
	MEMORY(4, "\0\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0");
	EQUAL_TEXT(returns(1), "select(10, [3 4], [5], NULL, {tv_sec=1, tv_usec=5}) = 1 "
		   "(in [3], left {tv_sec=0, tv_usec=7})");
	EQUAL_TEXT(returns(0), "select(10, [3 4], [5], NULL, {tv_sec=1, tv_usec=5}) = 0 (Timeout)");
	CALL(7, 0x1000, 2, 9);
	ENTRY(0, "\3\0\0\0\1\0\0\0\4\0\0\0\1\0\0\0");
	MEMORY(0, "\3\0\0\0\1\0\0\0\4\0\0\0\1\0\1\0");
	EQUAL_TEXT(returns(1), "poll([{fd=3, events=POLLIN}, {fd=4, events=POLLIN}], 2, 9) = 1 "
		   "([{fd=4, revents=POLLIN}])");
	CALL(35, 0x1000, 0x1000);
	ENTRY(0, "\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
	values.user[0] = values.entry[0];
	MEMORY(1, "\0\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0");
	EQUAL_TEXT(returns(-516), "nanosleep({tv_sec=1, tv_nsec=0}, {tv_sec=0, tv_nsec=7}) = "
		   "? ERESTART_RESTARTBLOCK");
	EQUAL_TEXT(returns(0), "nanosleep({tv_sec=1, tv_nsec=0}, 0x1000) = 0");
	CALL(232, 3, 0x1000, 4, 1);
	EQUAL_TEXT(returns(0), "epoll_wait(3, [], 4, 1) = 0");
}

/* A mark is after the string that is cut; a complete list has none. */
static void test_cut(void)
{
	CALL(59, 0x1000, 0x2000, 0);
	MEMORY(1, "a\0bb\0c\0");
	EQUAL_TEXT(line(), "execve(0x1000, [\"a\", \"bb\", \"c\"], NULL)");
	values.user[1].cut_strings = 2;
	EQUAL_TEXT(line(), "execve(0x1000, [\"a\", \"bb\"..., \"c\"], NULL)");
	values.user[1].cut = 1;
	EQUAL_TEXT(line(), "execve(0x1000, [\"a\", \"bb\"..., \"c\", ...], NULL)");
	MEMORY(1, "");
	EQUAL_TEXT(line(), "execve(0x1000, [], NULL)");
}

static void test_short(void)
{
	char text[8];

	CALL(257, (uint64_t)-100);
	EQUAL(call_print(calls, call, 0, &values, text, 8), 8);
	CHECK(!memcmp(text, "AT_FDCWD", 8));
	EQUAL(call_print(calls, call, 0, &values, text, 7), 7);
	CHECK(!memcmp(text, "AT_F...", 7));
	EQUAL(call_print(calls, call, 0, &values, text, 2), 2);
	EQUAL(call_print(calls, call, 0, &values, text, 0), 0);
	CHECK(!calls_find(calls, 100000));
	CHECK(!calls_find(calls, UINT64_MAX));
}

/* Print the calls of another ABI. */
static void test_abis(void)
{
	struct calls *own = calls;

	calls = calls_open("i386");
	CALL(295, 0xffffff9c, 0, 0100101, 0600);
	EQUAL_TEXT(returns(3), "openat(AT_FDCWD, NULL, O_WRONLY|O_CREAT|O_LARGEFILE, 0600) = 3");
	CALL(192, 0, 4096, 5, 2, 3, 0);
	EQUAL_TEXT(returns((int32_t)0xf7f00000), "mmap2(NULL, 4096, "
		   "PROT_READ|PROT_EXEC, MAP_PRIVATE, "
		   "3, 0) = 0xf7f00000");
	CALL(180, 3, 0x1000, 1, 9, 0);
	EQUAL_TEXT(line(), "pread64(3, 0x1000, 1, 9)");
	calls = calls_open("armv7l");
	CALL(322, 0xffffff9c, 0, 0240000);
	EQUAL_TEXT(line(), "openat(AT_FDCWD, NULL, O_RDONLY|O_DIRECT|O_DIRECTORY)");
	calls = calls_open("s390x");
	CHECK(calls_big_endian(calls));
	CALL(120, 0x1000, 0x11, 0, 0, 0);
	EQUAL_TEXT(line(), "clone(0x1000, SIGCHLD, NULL, NULL, 0)");
	CALL(168, 0x1000, 1, 0);
	MEMORY(0, "\0\0\0\3\0\1\0\0");
	EQUAL_TEXT(line(), "poll([{fd=3, events=POLLIN}], 1, 0)");
	CALL(175, 2, 0x1000, 0, 8);
	MEMORY(1, "\0\0\0\0\0\1\0\2");
	EQUAL_TEXT(line(), "rt_sigprocmask(SIG_SETMASK, [INT CHLD], NULL, 8)");
	calls = calls_open("ppc64le");
	CALL(54, 1, 0x402c7413, 0x1000);
	EQUAL_TEXT(line(), "ioctl(1, TCGETS, 0x1000)");
	calls = own;
}

/* What the kernel does not read or write is no structure; what it refuses is an address. */
static void test_refused(void)
{
	static const char usage[144], message[56] = { [8] = 36 }, attr[24] = { 1 }, info[128] = {
		17, [8] = 1, [16] = 42, [24] = 3, [32] = 1, [40] = 2 };

	CALL(61, 7, 0x1000, 1, 0x2000);
	memory(3, usage, sizeof(usage));
	EQUAL_TEXT(returns(0), "wait4(7, 0x1000, WNOHANG, 0x2000) = 0");
	CALL(47, 3, 0x1000, 0);
	memory(1, message, sizeof(message));
	ENTRY(1, "");
	EQUAL_TEXT(returns(-14), "recvmsg(3, {msg_namelen=36}, 0) = -1 EFAULT");
	CALL(170, 0x1000, 65);
	MEMORY(0, "name");
	EQUAL_TEXT(line(), "sethostname(0x1000, 65)");
	CALL(116, 65537, 0x1000);
	MEMORY(1, "\1\0\0\0");
	EQUAL_TEXT(line(), "setgroups(65537, 0x1000)");
	CALL(7, 0x1000, 2, 0);
	values.user[0] = (struct call_bytes){ .bytes = "\3\0\0\0\1\0\0\0", .n = 8, .cut = 1 };
	EQUAL_TEXT(line(), "poll([{fd=3, events=POLLIN}, ...], 2, 0)");
	values.user[0].n = 5;
	EQUAL_TEXT(line(), "poll(0x1000, 2, 0)");
	CALL(7, 0x1000, 0, 0);
	EQUAL_TEXT(line(), "poll([], 0, 0)");
	CALL(444, 0x1000, 8, 0);
	memory(0, attr, 8);
	EQUAL_TEXT(line(), "landlock_create_ruleset("
		   "{handled_access_fs=LANDLOCK_ACCESS_FS_EXECUTE}, 8, 0)");
	CALL(444, 0x1000, 4, 0);
	memory(0, attr, 4);
	EQUAL_TEXT(line(), "landlock_create_ruleset(0x1000, 4, 0)");
	CALL(247, 1, 42, 0x1000, 4, 0);
	memory(2, info, sizeof(info));
	EQUAL_TEXT(returns(0), "waitid(P_PID, 42, {si_signo=SIGCHLD, si_code=CLD_EXITED, "
		   "si_pid=42, si_uid=0, si_status=3, si_utime=1, si_stime=2}, WEXITED, NULL) = 0");
	memory(2, usage, sizeof(usage));
	EQUAL_TEXT(returns(0), "waitid(P_PID, 42, {}, WEXITED, NULL) = 0");
}

/* Names of parts of a number, of results, and of what has no name. */
static void test_parts(void)
{
	static const char event[64] = { [8] = 14, [12] = 4, [16] = 7 };

	CALL(319, 0, 0x54000005);
	EQUAL_TEXT(line(), "memfd_create(NULL, MFD_CLOEXEC|MFD_HUGETLB|21<<MFD_HUGE_SHIFT)");
	CALL(29, 1, 4096, 0x54001600);
	EQUAL_TEXT(line(), "shmget(0x1, 4096, IPC_CREAT|IPC_EXCL|SHM_NORESERVE|21<<"
		   "SHM_HUGE_SHIFT|000)");
	CALL(68, 1, 01600);
	EQUAL_TEXT(line(), "msgget(0x1, IPC_CREAT|0600)");
	CALL(16, 3, 0xc0083d01, 0);
	EQUAL_TEXT(line(), "ioctl(3, _IOC(_IOC_READ|_IOC_WRITE, 0x3d, 0x1, 0x8), 0)");
	CALL(222, 0, 0x1000, 0);
	memory(1, event, sizeof(event));
	EQUAL_TEXT(line(), "timer_create(CLOCK_REALTIME, {sigev_signo=SIGALRM, "
		   "sigev_notify=SIGEV_THREAD_ID, sigev_notify_thread_id=7}, NULL)");
	CALL(135, 0xffffffff);
	EQUAL_TEXT(returns(0x40000), "personality(0xffffffff) = 0x40000 "
		   "(PER_LINUX|ADDR_NO_RANDOMIZE)");
	CALL(128, 0, 0, 0, 8);
	EQUAL_TEXT(returns(14), "rt_sigtimedwait(NULL, NULL, NULL, 8) = 14 (SIGALRM)");
	CALL(203, 0, 8, 0x1000);
	MEMORY(2, "\5\0\0\0\0\0\0\1");
	EQUAL_TEXT(line(), "sched_setaffinity(0, 8, [0 2 56])");
	CALL(427, 3, 1, 0, 0);
	EQUAL_TEXT(line(), "io_uring_register(3, IORING_UNREGISTER_BUFFERS, NULL, 0)");
	CALL(301, 3, 1, 2, (uint64_t)-1, 0);
	EQUAL_TEXT(line(), "fanotify_mark(3, FAN_MARK_ADD, FAN_MODIFY, FAN_NOFD, NULL)");
	CALL(470, 0, 0, 0, 0);
	EQUAL_TEXT(line(), "listns(NULL, NULL, 0, 0)");
	CALL(471);
	EQUAL_TEXT(line(), "rseq_slice_yield()");
}

/* Structures of commands, their sizes, and bytes after them; the texts are those of strace. */
static void test_commands_of_bpf(void)
{
	static const uint32_t map[] = { 2, 4, 8, 256, 3, 0, 0, 0x79617272, 0, 0, 0, 0 };
	static const uint64_t link[] = { 3 | 4ull << 32, 42, 0, 0, 0, 0xff };
	static const uint64_t how[] = { 0101, 0644, 8, 0x4241 };

	CALL(321, 0, 0x1000, sizeof(map));
	memory(1, map, sizeof(map));
	EQUAL_TEXT(returns(5), "bpf(BPF_MAP_CREATE, {map_type=BPF_MAP_TYPE_ARRAY, key_size=4, "
		   "value_size=8, max_entries=256, map_flags=BPF_F_NO_PREALLOC|"
		   "BPF_F_NO_COMMON_LRU, inner_map_fd=0, map_name=\"rray\", "
		   "map_ifindex=0}, 48) = 5");
	CALL(321, 0, 0x1000, 16);
	memory(1, map, 16);
	EQUAL_TEXT(line(), "bpf(BPF_MAP_CREATE, {map_type=BPF_MAP_TYPE_ARRAY, key_size=4, "
		   "value_size=8, max_entries=256}, 16)");
	CALL(321, 0, 0x1000, 8);
	memory(1, map, 8);
	EQUAL_TEXT(line(), "bpf(BPF_MAP_CREATE, 0x1000, 8)");
	CALL(321, 28, 0x1000, sizeof(link));
	memory(1, link, sizeof(link));
	EQUAL_TEXT(line(), "bpf(BPF_LINK_CREATE, {link_create={prog_fd=3, target_fd=4, "
		   "attach_type=BPF_TRACE_KPROBE_MULTI, flags=0}}, 48)");
	CALL(437, (uint64_t)-100, 0, 0x1000, 24);
	memory(2, how, 32);
	EQUAL_TEXT(line(), "openat2(AT_FDCWD, NULL, {flags=O_WRONLY|O_CREAT, mode=0644, "
		   "resolve=RESOLVE_BENEATH}, 24)");
	CALL(437, (uint64_t)-100, 0, 0x1000, 32);
	memory(2, how, 32);
	EQUAL_TEXT(line(), "openat2(AT_FDCWD, NULL, {flags=O_WRONLY|O_CREAT, mode=0644, "
		   "resolve=RESOLVE_BENEATH, /* bytes 24..31 */ \"AB\\0\\0\\0\\0\\0\\0\"}, 32)");
	values.user[2].n = 24;
	values.user[2].cut = 1;
	EQUAL_TEXT(line(), "openat2(AT_FDCWD, NULL, {flags=O_WRONLY|O_CREAT, mode=0644, "
		   "resolve=RESOLVE_BENEATH, ???}, 32)");
	values.user[2].n = 16;
	EQUAL_TEXT(line(), "openat2(AT_FDCWD, NULL, 0x1000, 32)");
}

/* Bits of a number, and capabilities, which are in two structures */
static void test_bits(void)
{
	static const uint64_t cache[] = { 3 | 64ull << 32, 0xdeadf15700010306, 4000, 7, 1,
					  1 << 10 | 1 << 15 | 1ull << 17 | 1ull << 37, 0, 0 };
	static const uint32_t caps[] = { 2, 4, 0, 8, 16, 0 }, desc[] = { 12, 0x1000, 0xfff, 0x83 };

	CALL(298, 0x1000, 0, (uint64_t)-1, (uint64_t)-1, 8);
	memory(0, cache, sizeof(cache));
	EQUAL_TEXT(line(), "perf_event_open({type=PERF_TYPE_HW_CACHE, size=PERF_ATTR_SIZE_VER0, "
		   "config=0xdeadf157<<32|PERF_COUNT_HW_CACHE_RESULT_MISS<<16|0x3<<8|"
		   "PERF_COUNT_HW_CACHE_NODE, sample_freq=4000, sample_type=PERF_SAMPLE_IP|"
		   "PERF_SAMPLE_TID|PERF_SAMPLE_TIME, read_format=PERF_FORMAT_TOTAL_TIME_ENABLED, "
		   "freq=1, precise_ip=1 /* constant skid */, mmap_data=1, sigtrap=1, ...}, "
		   "0, -1, -1, PERF_FLAG_FD_CLOEXEC)");
	CALL(126, 0, 0x1000);
	memory(1, caps, sizeof(caps));
	EQUAL_TEXT(line(), "capset(NULL, {effective=1<<CAP_DAC_OVERRIDE|1<<CAP_WAKE_ALARM, "
		   "permitted=1<<CAP_DAC_READ_SEARCH|1<<CAP_BLOCK_SUSPEND, inheritable=0})");
	memory(1, caps, 12); /* version 1 */
	EQUAL_TEXT(line(), "capset(NULL, {effective=1<<CAP_DAC_OVERRIDE, "
		   "permitted=1<<CAP_DAC_READ_SEARCH, inheritable=0})");
	CALL(205, 0x1000);
	memory(0, desc, sizeof(desc));
	EQUAL_TEXT(line(), "set_thread_area({entry_number=12, base_addr=0x001000, limit=0x000fff, "
		   "seg_32bit=1, contents=1, read_exec_only=0, limit_in_pages=0, "
		   "seg_not_present=0, useable=0, lm=1})");
	CALL(154, 3, 0, 0);
	EQUAL_TEXT(returns(0xffffffda), "modify_ldt(3, NULL, 0) = -1 ENOSYS");
}

/* Arrays whose elements are for bits or pages that the argument counts */
static void test_units(void)
{
	static const uint64_t nodes[] = { 1, 0x8000 };

	CALL(238, 2, 0x1000, 65);
	memory(1, nodes, 8);
	EQUAL_TEXT(line(), "set_mempolicy(MPOL_BIND, [0x00000000000001], 65)");
	CALL(238, 2, 0x1000, 66);
	memory(1, nodes, 16);
	EQUAL_TEXT(line(), "set_mempolicy(MPOL_BIND, [0x00000000000001, 0x00000000008000], 66)");
	CALL(238, 0, 0x1000, 0);
	memory(1, nodes, 0);
	EQUAL_TEXT(line(), "set_mempolicy(MPOL_DEFAULT, [], 0)");
	CALL(238, 0, 0x1000, 1);
	memory(1, nodes, 8);
	EQUAL_TEXT(line(), "set_mempolicy(MPOL_DEFAULT, 0x1000, 1)");
	CALL(27, 0x7000, 8193, 0x1000);
	memory(2, "\1\0\1", 3);
	EQUAL_TEXT(returns(0), "mincore(0x7000, 8193, [1, 0, 1]) = 0");
}

int main(int argc, char **argv)
{
	(void)argv;
	program_name = "calls";
	calls = calls_open(argc > 1 ? NULL : "x86_64");
	if (!calls)
		return 1;
	if (argc > 1)
		return sizes(), 0;
	TEST(open);
	TEST(files);
	TEST(memory);
	TEST(sockets);
	TEST(families);
	TEST(netlink);
	TEST(options);
	TEST(option_layouts);
	TEST(commands);
	TEST(tasks);
	TEST(widths);
	TEST(sides);
	TEST(cut);
	TEST(short);
	TEST(refused);
	TEST(parts);
	TEST(commands_of_bpf);
	TEST(bits);
	TEST(units);
	TEST(pairs);
	TEST(abis);
	return unit_end();
}
