/* SPDX-License-Identifier: ISC */
/*
 * box - stand between two hosts, and lose, delay or change their TCP segments
 *
 *	box [-p PERCENT [-s SEED]] [-n N]... [-a] [-m] [-c] [-b] [-o ab|ba]
 *		[-i N] [-r MBIT] A B
 *
 * It passes every frame that arrives on interface A out of B, and the other way. Both
 * interfaces are its own, without addresses. The interfaces at their other ends have
 * their offloads off, so each frame is as on a wire.
 *	-p PERCENT  so many TCP segments get lost, the same segments for the same SEED
 *	-n N        the Nth segment with data gets lost, counted from 1 over both
 *	            directions (with -o in that direction); up to 16 times
 *	-a          the first segment of a connection's opener that has no data and no
 *	            SYN gets lost, so that data completes the handshake
 *	-m          segments with the mark (0x08 of byte 12) get lost
 *	-c          the mark is cleared, and the checksum is corrected
 *	-b          segments with data get the mark, and the checksum is corrected
 *	-o ab       all these for frames that arrive on A only; "-o ba": on B
 *	-i N        add N to the sequence numbers of A's segments, and take it from those
 *	            that B acknowledges, as a firewall that makes initial numbers random
 *	-r MBIT     limit of each direction per second; 1000 frames wait, others get lost
 * It prints "ready" when it passes frames. At SIGUSR1 and at SIGTERM, which ends it, it
 * prints one line of NAME=NUMBER words that count the frames until then:
 *	frames tcp              all frames; frames of TCP
 *	data data_ab data_ba    TCP segments with data
 *	marked marked_ab marked_ba  of these, the segments that arrived with the mark
 *	marked_other            with the mark and without data (SYN, pure ACK ...)
 *	again                   segments whose data all came before: retransmissions
 *	flows first             directions of connections that had data; directions
 *	                        whose first such segment arrived with the mark
 *	badsum                  wrong checksums, of TCP or of IPv4's head
 *	dropped cleared set     changes that it made
 *	lost                    frames that it was too late to see; if not 0, no count is exact
 * Exit: 0 after SIGTERM, 77 no packet sockets, 100 misused, 111 refused.
 */
#include <net/if.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <time.h>

#include "prog.h"

#define ALL 0x0003 /* ETH_P_ALL */
#define FRAME 70000
#define MARK 0x08
#define FLOWS 16384 /* a power of two */
#define SECOND 1000000000LL
#define QUEUE 1000

enum { FIN = 1, SYN = 2, RST = 4, HAS_ACK = 16 };
enum { STATISTICS = 6, IGNORE_OUTGOING = 23 };

static struct {
	unsigned long frames, tcp, data[2], marked[2], marked_other, again, flows, first,
		badsum, dropped, cleared, set, lost;
} seen;

static struct {
	uint64_t percent; /* of 2^32 */
	unsigned long nth[16], nths;
	int ack, drop_marked, clear, set, only;
	uint32_t shift;
	double mbit;
} opt = { .only = -1 };

static const char *names[2];
static int fd[2];

static _Noreturn void die(int status, const char *what, const char *which)
{
	fprintf(stderr, "box: %s%s", what, which);
	if (status == 111)
		fprintf(stderr, ": %s", strerror(errno));
	fputc('\n', stderr);
	exit(status);
}

/* ---- a TCP segment in a frame -------------------------------------------- */

struct segment {
	unsigned char *ip, *tcp;
	size_t tcp_len, data_len;
	int six;
};

static unsigned get16(const unsigned char *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

static uint32_t get32(const unsigned char *p)
{
	return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static uint64_t add(uint64_t sum, const unsigned char *p, size_t n)
{
	for (; n > 1; p += 2, n -= 2)
		sum += get16(p);
	return n ? sum + ((uint64_t)*p << 8) : sum;
}

static unsigned fold(uint64_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (unsigned)sum;
}

/* Return 1 if the frame has a TCP header, so it is not a later fragment of a packet. */
static int find(unsigned char *frame, size_t n, struct segment *s)
{
	unsigned char *ip = frame + 14;
	size_t head, total;

	if (n < 14 + 20)
		return 0;
	s->ip = ip;
	s->six = get16(frame + 12) == 0x86dd;
	if (s->six) {
		if (n < 14 + 40 || ip[6] != IPPROTO_TCP)
			return 0;
		head = 40;
		total = 40 + get16(ip + 4);
	} else {
		if (get16(frame + 12) != 0x0800 || ip[9] != IPPROTO_TCP ||
		    (get16(ip + 6) & 0x1fff))
			return 0;
		head = (ip[0] & 15U) * 4;
		total = get16(ip + 2);
	}
	if (14 + total > n || total < head + 20)
		return 0;
	s->tcp = ip + head;
	s->tcp_len = total - head;
	head = (size_t)(s->tcp[12] >> 4) * 4;
	if (head < 20 || head > s->tcp_len)
		return 0;
	s->data_len = s->tcp_len - head;
	return 1;
}

static int sums_right(const struct segment *s)
{
	uint64_t sum = IPPROTO_TCP + s->tcp_len;

	if (!s->six && fold(add(0, s->ip, (size_t)(s->tcp - s->ip))) != 0xffff)
		return 0;
	sum = s->six ? add(sum, s->ip + 8, 32) : add(sum, s->ip + 12, 8);
	return fold(add(sum, s->tcp, s->tcp_len)) == 0xffff;
}

/* Change two bytes of the header and update the checksum: a wrong checksum stays as wrong. */
static void put16(struct segment *s, size_t at, unsigned word)
{
	/* RFC 1624: HC' = ~(~HC + ~m + m') */
	unsigned sum = ~fold((~get16(s->tcp + 16) & 0xffff) +
			     (~get16(s->tcp + at) & 0xffff) + word) & 0xffff;

	s->tcp[at] = (unsigned char)(word >> 8);
	s->tcp[at + 1] = (unsigned char)word;
	s->tcp[16] = (unsigned char)(sum >> 8);
	s->tcp[17] = (unsigned char)sum;
}

/* Flip the mark. */
static void turn(struct segment *s)
{
	put16(s, 12, get16(s->tcp + 12) ^ MARK << 8);
}

/* Add a number to the sequence number at this offset. */
static void shift(struct segment *s, size_t at, uint32_t by)
{
	uint32_t seq = get32(s->tcp + at) + by;

	put16(s, at, seq >> 16);
	put16(s, at + 2, seq & 0xffff);
}

/* ---- directions of connections -------------------------------------------- */

struct flow {
	unsigned char key[36]; /* addresses and ports */
	uint32_t end;          /* sequence number after the data that came */
	char used, data, opened;
};

static struct flow flows[FLOWS];

static struct flow *flow_of(const struct segment *s)
{
	unsigned char key[36] = { 0 };
	uint32_t hash = 2166136261;
	struct flow *f;

	if (s->six)
		memcpy(key, s->ip + 8, 32);
	else
		memcpy(key, s->ip + 12, 8);
	memcpy(key + 32, s->tcp, 4);
	for (size_t i = 0; i < sizeof(key); i++)
		hash = (hash ^ key[i]) * 16777619;
	for (uint32_t i = 0; i < FLOWS; i++) {
		f = &flows[(hash + i) % FLOWS];
		if (!f->used) {
			f->used = 1;
			memcpy(f->key, key, sizeof(key));
			return f;
		}
		if (!memcmp(f->key, key, sizeof(key)))
			return f;
	}
	die(100, "more connections than there is room for", "");
}

/* ---- what to do with a frame ----------------------------------------------- */

/* xorshift64*: a sequence of its own for each direction */
static uint64_t state[2];

static uint32_t some(int from)
{
	uint64_t x = state[from];

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	state[from] = x;
	return (uint32_t)(x * 0x2545f4914f6cdd1dULL >> 32);
}

/* Count a frame and change it. Return 0 if the frame gets lost. */
static int look(unsigned char *frame, size_t n, int from)
{
	struct segment s;
	struct flow *f;
	int flags, marked, lose = 0;

	seen.frames++;
	if (!find(frame, n, &s))
		return 1;
	seen.tcp++;
	seen.badsum += !sums_right(&s);
	flags = s.tcp[13];
	marked = s.tcp[12] & MARK;
	f = flow_of(&s);
	if (flags & SYN) {
		f->data = 0;
		f->opened = !(flags & HAS_ACK);
	}
	if (s.data_len) {
		uint32_t end = get32(s.tcp + 4) + (uint32_t)s.data_len;

		seen.data[from]++;
		if (marked)
			seen.marked[from]++;
		if (!f->data) {
			seen.flows++;
			seen.first += marked != 0;
			f->end = end - (uint32_t)s.data_len;
			f->data = 1;
		}
		if ((int32_t)(end - f->end) > 0)
			f->end = end;
		else
			seen.again++;
		for (unsigned long i = 0; i < opt.nths; i++)
			lose |= opt.nth[i] ==
				seen.data[from] + (opt.only < 0 ? seen.data[!from] : 0);
	} else if (marked) {
		seen.marked_other++;
	}
	if (from == 0)
		shift(&s, 4, opt.shift);
	else if (flags & HAS_ACK)
		shift(&s, 8, -opt.shift);
	if (opt.only >= 0 && opt.only != from)
		return 1;
	/* data may have overtaken this segment */
	if (opt.ack && f->opened && !s.data_len && !(flags & (SYN | FIN | RST)) &&
	    flags & HAS_ACK) {
		f->opened = 0;
		lose = 1;
	}
	lose |= opt.percent && some(from) < opt.percent;
	lose |= opt.drop_marked && marked;
	if (lose)
		return 0;
	if (opt.clear && marked) {
		turn(&s);
		seen.cleared++;
	}
	if (opt.set && s.data_len && !(s.tcp[12] & MARK)) {
		turn(&s);
		seen.set++;
	}
	return 1;
}

static void pass(const unsigned char *frame, size_t n, int to)
{
	while (send(fd[to], frame, n, 0) < 0) {
		if (errno == EMSGSIZE)
			die(111, "offloads are on: unable to pass a large frame to ", names[to]);
		if (errno != ENOBUFS && errno != EINTR)
			die(111, "unable to send to ", names[to]);
	}
}

/* ---- a link that is slow ---------------------------------------------------- */

struct wait {
	struct wait *next;
	int64_t time; /* when the whole frame has crossed the link */
	size_t n;
	unsigned char frame[];
};

static struct queue {
	struct wait *first, **last;
	size_t n;
	int64_t free; /* when the link is free again */
} queues[2]; /* by the interface on which frames arrived */

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

/* Append a frame to a queue. Return 0 if there is no room. */
static int enqueue(struct queue *q, const unsigned char *frame, size_t n)
{
	struct wait *w;
	int64_t t = now();

	if (q->n == QUEUE)
		return 0;
	w = malloc(sizeof(*w) + n);
	if (!w)
		die(111, "unable to get memory", "");
	if (q->free < t)
		q->free = t;
	q->free += (int64_t)((double)n * 8000 / opt.mbit);
	*w = (struct wait){ .time = q->free, .n = n };
	memcpy(w->frame, frame, n);
	if (!q->n++)
		q->last = &q->first;
	*q->last = w;
	q->last = &w->next;
	return 1;
}

/* Pass frames whose time has come. Return the nanoseconds until the next, or -1. */
static int64_t dequeue(void)
{
	int64_t least = -1, t = now();

	for (int from = 0; from < 2; from++) {
		struct queue *q = &queues[from];

		while (q->n && q->first->time <= t) {
			struct wait *w = q->first;

			pass(w->frame, w->n, !from);
			q->first = w->next;
			q->n--;
			free(w);
		}
		if (q->n && (least < 0 || q->first->time - t < least))
			least = q->first->time - t;
	}
	return least;
}

/* ------------------------------------------------------------------------------ */

/* Read the waiting frames, up to a limit that gives the other interface its turn. */
static int take(int from, int most)
{
	static unsigned char frame[FRAME];
	struct sockaddr_ll a;
	int i;

	for (i = 0; i < most; i++) {
		socklen_t size = sizeof(a);
		ssize_t n = recvfrom(fd[from], frame, sizeof(frame), MSG_DONTWAIT | MSG_TRUNC,
			(struct sockaddr *)&a, &size);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (n < 0)
			die(111, "unable to receive from ", names[from]);
		if ((size_t)n > sizeof(frame))
			die(100, "offloads are on: a frame is too large from ", names[from]);
		if (a.sll_pkttype == PACKET_OUTGOING)
			continue;
		if (!look(frame, (size_t)n, from))
			seen.dropped++;
		else if (opt.mbit <= 0)
			pass(frame, (size_t)n, !from);
		else if (!enqueue(&queues[from], frame, (size_t)n))
			seen.dropped++;
	}
	return i;
}

static void tell(void)
{
	for (int i = 0; i < 2; i++) {
		unsigned n[2] = { 0, 0 }; /* packets and drops since the last question */
		socklen_t size = sizeof(n);

		getsockopt(fd[i], SOL_PACKET, STATISTICS, n, &size);
		seen.lost += n[1];
	}
	printf("frames=%lu tcp=%lu data=%lu data_ab=%lu data_ba=%lu marked=%lu marked_ab=%lu "
	       "marked_ba=%lu marked_other=%lu again=%lu flows=%lu first=%lu badsum=%lu "
	       "dropped=%lu cleared=%lu set=%lu lost=%lu\n",
	       seen.frames, seen.tcp, seen.data[0] + seen.data[1], seen.data[0], seen.data[1],
	       seen.marked[0] + seen.marked[1], seen.marked[0], seen.marked[1],
	       seen.marked_other, seen.again, seen.flows, seen.first, seen.badsum,
	       seen.dropped, seen.cleared, seen.set, seen.lost);
	fflush(stdout);
}

static int packets_of(const char *name)
{
	struct sockaddr_ll a = { .sll_family = AF_PACKET, .sll_protocol = htons(ALL),
		.sll_ifindex = (int)if_nametoindex(name) };
	struct packet_mreq all = { .mr_ifindex = a.sll_ifindex, .mr_type = PACKET_MR_PROMISC };
	int one = 1, room = 32 << 20;
	/* no protocol until it is bound, otherwise it gets frames of other interfaces */
	int s = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (s < 0)
		die(errno == EAFNOSUPPORT ? 77 : 111,
			"needs packet sockets (CONFIG_PACKET, module af_packet)", "");
	if (!a.sll_ifindex)
		die(111, "unable to find interface ", name);
	setsockopt(s, SOL_PACKET, IGNORE_OUTGOING, &one, sizeof(one));
	if (setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) ||
	    setsockopt(s, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof(all)) ||
	    bind(s, (struct sockaddr *)&a, sizeof(a)))
		die(111, "unable to listen on ", name);
	return s;
}

static void run(int signals)
{
	struct pollfd p[3] = { { fd[0], POLLIN, 0 }, { fd[1], POLLIN, 0 },
		{ signals, POLLIN, 0 } };
	struct signalfd_siginfo info;
	int64_t next = -1;

	for (;;) {
		struct timespec t = { (time_t)(next / SECOND), (long)(next % SECOND) };

		if (ppoll(p, 3, next < 0 ? NULL : &t, NULL) < 0 && errno != EINTR)
			die(111, "unable to wait", "");
		if (p[2].revents && read(signals, &info, sizeof(info)) == sizeof(info)) {
			/* frames before the signal are counted before the counts are printed */
			while (take(0, 64) | take(1, 64))
				;
			tell();
			if (info.ssi_signo == SIGTERM)
				return;
		}
		take(0, 64);
		take(1, 64);
		next = dequeue();
	}
}

static double number(const char *text)
{
	char *end;
	double d = strtod(text, &end);

	if (*end || end == text || d < 0)
		die(100, "no such number: ", text);
	return d;
}

int main(int argc, char **argv)
{
	uint64_t seed = 1;
	sigset_t set;
	int o, signals;

	while ((o = getopt(argc, argv, "p:s:n:amcbo:i:r:")) != -1)
		switch (o) {
		case 'p': opt.percent = (uint64_t)(number(optarg) / 100 * 4294967296.0); break;
		case 's': seed = (uint64_t)number(optarg); break;
		case 'n':
			if (opt.nths == sizeof(opt.nth) / sizeof(*opt.nth))
				die(100, "too many of -n", "");
			opt.nth[opt.nths++] = (unsigned long)number(optarg);
			break;
		case 'a': opt.ack = 1; break;
		case 'm': opt.drop_marked = 1; break;
		case 'c': opt.clear = 1; break;
		case 'b': opt.set = 1; break;
		case 'o': opt.only = !strcmp(optarg, "ba"); break;
		case 'i': opt.shift = (uint32_t)number(optarg); break;
		case 'r': opt.mbit = number(optarg); break;
		default: die(100, "no such option; see its source", "");
		}
	if (argc - optind != 2)
		die(100, "which two interfaces?", "");
	for (int i = 0; i < 2; i++) {
		state[i] = (2 * seed + (i ? 3 : 1)) * UINT64_C(0x9e3779b97f4a7c15);
		for (int warm = 0; warm < 8; warm++)
			some(i);
		names[i] = argv[optind + i];
		fd[i] = packets_of(names[i]);
	}
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (signals < 0)
		die(111, "unable to wait for signals", "");
	puts("ready");
	fflush(stdout);
	run(signals);
	return 0;
}
