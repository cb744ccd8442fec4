/* SPDX-License-Identifier: ISC */
/* key.c - the key of a message, as the instructions of a request probe compute it at both ends */
#include <endian.h>
#include <netinet/tcp.h>

#include "requests/requests.h"
#include "requests/program.h"
#include "unit.h"

/* The fields of a socket that the instructions read, and the entry of the map "sent" for it. */
struct end {
	uint64_t bytes_acked, bytes_received;
	uint32_t snd_una, rcv_nxt, backlog;
	uint8_t status;
	uint32_t write_seq;             /* for the test */
	struct dt_sent *known;
};

enum { LOW = __BYTE_ORDER == __BIG_ENDIAN ? 4 : 0 };

static const struct dt_plan plan = {
	.bytes_acked = offsetof(struct end, bytes_acked) + LOW,
	.bytes_received = offsetof(struct end, bytes_received) + LOW,
	.snd_una = offsetof(struct end, snd_una), .rcv_nxt = offsetof(struct end, rcv_nxt),
	.backlog = offsetof(struct end, backlog), .status = offsetof(struct end, status),
};

/* ---- a machine that runs the instructions of the two phrases --------------------------------- */

static uint64_t *pointer(uint64_t n)
{
	return (uint64_t *)(uintptr_t)n;
}

static uint64_t load(uint64_t from, int size)
{
	uint8_t byte;
	uint32_t word;

	memcpy(&byte, pointer(from), 1);
	memcpy(&word, pointer(from), size == SIZE_B ? 1 : 4);
	return size == SIZE_DW ? *pointer(from) : size == SIZE_W ? word : byte;
}

/* Run the instructions on the socket. Return the R0 of their exit. */
static uint64_t run(struct bpf_code *c, const struct end *e, uint64_t seq, uint64_t *message)
{
	static uint64_t stack[64];
	uint64_t r[11] = { [R6] = (uintptr_t)e, [R9] = seq, [FP] = (uintptr_t)(stack + 64) };
	char why[64];

	EQUAL(emit_resolve(c, why, sizeof(why)), 0);
	for (unsigned i = 0;; i++) {
		const struct bpf_insn *in = &c->v[i];
		int little = __BYTE_ORDER == __LITTLE_ENDIAN;
		int to = little ? in->regs & 15 : in->regs >> 4;
		int from = little ? in->regs >> 4 : in->regs & 15;
		uint64_t by = in->code & 8 ? r[from] : (uint64_t)(int64_t)in->imm;
		uint32_t half = (uint32_t)r[to] - (uint32_t)by;

		switch (in->code) {
		case 0x07: case 0x0f: r[to] += by; break;
		case 0x47: case 0x4f: r[to] |= by; break;
		case 0x67: r[to] <<= by; break;
		case 0xb7: case 0xbf: r[to] = by; break;
		case 0x1c: r[to] = half; break;
		case 0x18: r[to] = (uint32_t)in->imm; i++; break; /* a map */
		case 0x61: case 0x71: case 0x79:
			r[to] = load(r[from] + (uint64_t)(int64_t)in->off, in->code & 0x18);
			break;
		case 0x63:
			half = (uint32_t)r[from];
			memcpy((char *)pointer(r[to]) + in->off, &half, 4);
			break;
		case 0x7b: memcpy((char *)pointer(r[to]) + in->off, &r[from], 8); break;
		case 0x05: i += (unsigned)in->off; break;
		case 0x15: i += r[to] == by ? (unsigned)in->off : 0; break;
		case 0x55: i += r[to] != by ? (unsigned)in->off : 0; break;
		case 0x45: i += r[to] & by ? (unsigned)in->off : 0; break;
		case 0x85:
			if (in->imm == FN_PROBE_READ_KERNEL)
				memcpy(pointer(r[R1]), pointer(r[R3]), r[R2]);
			else
				r[R0] = (uintptr_t)e->known;
			break;
		case 0x95:
			memcpy(message, (char *)(stack + 64) + MESSAGE, 8);
			return r[R0];
		default:
			UNIT_FAIL("the instruction %#x is unknown", in->code);
			exit(1);
		}
	}
}

enum { NO_KEY = 9 };

static uint64_t key_sent(const struct end *e, uint32_t seq)
{
	static struct bpf_code c;
	uint64_t key = 0;

	memset(&c, 0, sizeof(c));
	dt_emit_key_sent(&c, &plan, R9, "skip");
	emit_exit(&c, 0);
	emit_label(&c, "skip");
	emit_exit(&c, 1);
	return run(&c, e, seq, &key) ? NO_KEY : key;
}

static uint64_t key_read(const struct end *e, uint32_t seq)
{
	static struct bpf_code c;
	uint64_t key = 0;

	memset(&c, 0, sizeof(c));
	dt_emit_key_read(&c, &plan, R9);
	emit_exit(&c, 0);
	run(&c, e, seq, &key);
	return key;
}

/* ---- a connection, as the kernel counts it ------------------------------------------------- */

static struct dt_sent active = { .flags = SENT_ACTIVE | SENT_EVER },
		      passive = { .flags = SENT_PASSIVE | SENT_OPEN }, unknown;

/* Make a connection whose sides begin with these numbers. */
static void connect_ends(struct end *client, struct end *server, uint32_t a, uint32_t b)
{
	*client = (struct end){ .snd_una = a, .write_seq = a + 1, .status = TCP_SYN_SENT,
				.known = &active };
	EQUAL(key_sent(client, a + 1), NO_KEY);
	*server = (struct end){ .snd_una = b + 1, .write_seq = b + 1, .rcv_nxt = a + 1,
				.backlog = 1, .status = TCP_ESTABLISHED, .known = &passive };
	client->rcv_nxt = b + 1;
	client->snd_una++;
	client->bytes_acked++;
	client->status = TCP_ESTABLISHED;
}

/* So many bytes of the sender were acknowledged. */
static void acknowledge(struct end *from, uint32_t n)
{
	from->snd_una += n;
	from->bytes_acked += n;
}

/* Send a message, and check its key at both ends. */
static void message(struct end *from, struct end *to, uint32_t n, uint32_t other_first)
{
	uint32_t seq = from->write_seq;
	uint64_t key = (uint64_t)other_first << 32 | seq;

	EQUAL(key_sent(from, seq), key);
	from->write_seq += n;
	to->rcv_nxt += n;
	to->bytes_received += n;
	EQUAL(key_read(to, seq), key);
	acknowledge(from, n);
	EQUAL(key_read(to, seq), key);
}

/* Exchange messages, more bytes than a number of 32 bits counts, on such a connection. */
static void exchange(uint32_t a, uint32_t b)
{
	struct end client, server;

	connect_ends(&client, &server, a, b);
	for (int i = 0; i < 40; i++) {
		message(&client, &server, i < 10 ? 1 : 0x11111111, b + 1);
		message(&server, &client, i < 20 ? 3 : 0x22222222, a + 1);
		/* the sides of an older connection are known by the backlog */
		client.known = i == 12 ? NULL : i == 13 ? &unknown : &active;
		server.known = i == 12 ? NULL : i == 13 ? &unknown : &passive;
	}
	/* an end that has sent its FIN still reads */
	server.write_seq++;
	acknowledge(&server, 1);
	client.rcv_nxt++;
	client.bytes_received++;
	message(&client, &server, 5, b + 1);
	/* data of the other side that are on their way, or not acknowledged, change nothing */
	connect_ends(&client, &server, a, b);
	client.write_seq += 1000;
	server.rcv_nxt += 400;
	server.bytes_received += 400;
	message(&server, &client, 7, a + 1);
	acknowledge(&client, 300);
	message(&server, &client, 7, a + 1);
	message(&client, &server, 7, b + 1);
}

static void test_key(void)
{
	static const uint32_t numbers[] = {
		0, 1, 12345, 0x7fffffff, 0x80000000, 0xfffffff0, 0xfffffffe, 0xffffffff,
	};
	enum { N = sizeof(numbers) / sizeof(*numbers) };

	for (int i = 0; i < N * N; i++)
		exchange(numbers[i / N], numbers[i % N]);
}

int main(void)
{
	TEST(key);
	return unit_end();
}
