/* SPDX-License-Identifier: ISC */
/* netlink.c - requests and answers of netlink(7) */
#include <sys/socket.h>

#include "base/base.h"
#include "host/host.h"
#include "unit.h"

static void test_attributes(void)
{
	const uint32_t head = 7, value = 42;
	struct netlink_message m;
	const char *text, *in;
	char *outer;
	size_t n, len;

	netlink_begin(&m, 20, 0x300, &head, sizeof(head));
	EQUAL(m.len, 20);
	EQUAL(m.flags, 0x301); /* NLM_F_REQUEST */
	netlink_add(&m, 1, "clsact", 7);
	outer = netlink_add(&m, 0x8002, "", 0); /* with NLA_F_NESTED */
	netlink_add(&m, 3, &value, sizeof(value));
	netlink_end(&m, outer);
	EQUAL(m.len, 20 + 12 + 4 + 8);

	text = m.text + sizeof(head);
	n = m.len - 20;
	EQUAL_TEXT(netlink_find(text, n, 1, &len), "clsact");
	EQUAL(len, 7);
	in = netlink_find(text, n, 2, &len);
	EQUAL(len, 8);
	in = netlink_find(in, len, 3, &len);
	EQUAL(len, 4);
	CHECK(!memcmp(in, &value, 4));
	CHECK(!netlink_find(text, n, 3, &len));
	/* an attribute that is cut off, and one that is shorter than its own head */
	CHECK(!netlink_find(text, 10, 1, &len));
	CHECK(!netlink_find("\1\0\1\0", 4, 1, &len));
}

/* Two messages and the last one in one datagram, then an error, and less than a head. */
static void test_answer(void)
{
	struct netlink_answer a = { 0 };
	struct netlink_message m;
	const int32_t error = -EPERM;
	char all[256];
	size_t n = 0;
	int ends[2];

	EQUAL(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), 0);
	a.fd = ends[0];
	EQUAL(netlink_next(&a), -EAGAIN);
	for (unsigned type = 20; type < 22; type++, n += 24) {
		netlink_begin(&m, type, 0, "12345", 5);
		memcpy(all + n, &m, 24); /* 21 bytes, padded */
	}
	netlink_begin(&m, 3, 0, "", 0); /* NLMSG_DONE */
	memcpy(all + n, &m, 16);
	EQUAL(send(ends[1], all, n + 16, 0), (ssize_t)n + 16);
	netlink_begin(&m, 2, 0, &error, sizeof(error)); /* NLMSG_ERROR */
	EQUAL(netlink_send(ends[1], &m), 0);
	EQUAL(send(ends[1], all, 10, 0), 10);

	for (unsigned type = 20; type < 22; type++) {
		EQUAL(netlink_next(&a), 1);
		EQUAL(a.type, type);
		EQUAL(a.n, 5);
		CHECK(!memcmp(a.text, "12345", 5));
	}
	EQUAL(netlink_next(&a), 0);
	EQUAL(a.error, 0);
	EQUAL(netlink_next(&a), 0);
	EQUAL(a.error, -EPERM);
	EQUAL(netlink_next(&a), -EIO);
	EQUAL(netlink_next(&a), -EAGAIN);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	TEST(attributes);
	TEST(answer);
	return unit_end();
}
