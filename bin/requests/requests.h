/* SPDX-License-Identifier: ISC */
/*
 * requests.h - follow a request from host to host, and show what served it
 *
 * The programs are dt-*.c here and the subsystem trace-hooks/distributed. "dt" stands for
 * distributed tracing. Terms:
 *
 *	request         work that a client causes on hosts
 *	message         the bytes of one direction of a connection, from one send
 *	mark            the bit that a request probe sets in a TCP segment of a request
 *	window          the time in which a task serves a request: from the read of marked
 *	                bytes to the send of the answer
 *	request probe   maps, programs and links in the kernel that set and find marks
 *	mark line       an event of a trace that tells of a window or a message; see mark.c
 *	key             a number that both ends of a message derive from the connection's
 *	                sequence numbers
 *
 * The first half makes a request probe: make.c, pins.c, probe.c, readers.c, device.c, tc.c,
 * program*.c. The second half reads traces: sockets.c, host.c, clocks.c, messages.c, sequence*.c. A
 * function that fails reports that and returns -1, unless its comment says otherwise. If memory
 * runs out, the functions that read traces end the program (REFUSED).
 */
#ifndef REQUESTS_H
#define REQUESTS_H

#include "base/base.h"
#include "tool/tool.h"
#include "proc/proc.h"
#include "lines/lines.h"
#include "bpf/bpf.h"

/* The prefix of the instances of sessions. */
#define DT_INSTANCE_PREFIX "tfs-dt."

/* ---- the maps of a request probe ----------------------------------------------------- */

/*
 * A request probe has a name. Everything of it is pinned in the directory tfs/NAME of
 * bpffs: maps, programs, and the links that attach the programs. There is no process:
 * removing the pins ends the request probe.
 */

enum { DT_NAME = 160, DT_TASKS = 16384, DT_SOCKETS = 65536, DT_NETWORKS = 1024,
       DT_DEVICES_MOST = 1024 };

/* Names of pins. A link has the name of its program. */
#define DT_PIDS "pids"          /* its map id is the ID of the request probe; it is pinned
				   last, so that it shows a complete request probe */
#define DT_STATE "state"
#define DT_SETTINGS "settings"
#define DT_DEVICES "devices"
#define DT_CONTROLS "controls"  /* struct readers */
#define DT_RINGS "rings"
#define DT_MARK "mark"          /* program for devices with Ethernet headers */
#define DT_MARK_BARE "mark_bare" /* program for devices whose packets begin with IP */

/* A traced thread, in the map "pids" by its pid. With dt-probe -g: a process by its tgid. */
struct dt_task {
	uint64_t tag;           /* socket of the request that it serves; 0: added by a user */
	uint64_t key;           /* of the message that began the window */
	uint64_t sending;       /* socket of the send that has its mark line already */
	uint32_t count, pad;
};

/*
 * The marked bytes that came to a socket. range has their start and end in one word,
 * because programs on several CPUs change both at once.
 */
struct dt_received {
	uint64_t range;         /* the end is the upper half */
	uint32_t read, pad;     /* a thread has read all bytes before this one */
};

/* The bytes that leave a socket marked: from start to end, or all from start on. */
struct dt_sent {
	uint32_t start, end, flags;
	uint32_t high;          /* all bytes before this one were sent at least once */
	uint32_t copied;        /* copied_seq at the last read by a thread in a window */
	uint32_t asked;         /* a marked request came here, and nothing was sent since */
	uint64_t tag;           /* socket of the request that was last passed on here */
	uint64_t key;           /* SENT_BORN: of the window that opened the socket */
};

enum { SENT_OPEN = 1,           /* the last sender is traced: the range has no end yet */
       SENT_RANGE = 2,          /* start is valid, and end without SENT_OPEN */
       SENT_ACTIVE = 4,         /* the socket connected */
       SENT_PASSIVE = 8,        /* the socket was accepted */
       SENT_EVER = 16,          /* marked bytes were sent on the socket */
       SENT_BORN = 32 };        /* it was opened in a window, and has sent nothing yet */

/* Counters and scratch values of each CPU. A reader adds up the counters. */
struct dt_state {
	uint64_t marked_out;    /* segments marked; the device may split them later */
	uint64_t marked_in;     /* marked segments with data from believed hosts */
	uint64_t refused;       /* marked segments from hosts that are not believed */
	uint64_t windows;       /* windows that began */
	uint64_t socket_in, socket_out; /* socket of the packet in progress */
	uint32_t child_start, child_end; /* data that came with the end of a handshake */
};

/* Hosts whose marks are believed: prefix length and address, a key of the map "from". */
struct dt_network {
	uint32_t bits;          /* for IPv4 96 more */
	uint8_t address[16];    /* IPv6; an IPv4 address is mapped to ::ffff:0:0/96 */
};

/* The only value of the map "settings". */
struct dt_settings {
	uint32_t flags;
};

/* A device that marks by clsact: key and value of the map "devices". */
struct dt_device {
	uint64_t netns;         /* inode of its network namespace */
	uint32_t index, pad;
};

struct dt_clsact {
	uint32_t priority, handle; /* of our filter */
	uint32_t made;          /* this tool added the queueing discipline, too */
};

enum { DT_GROUP = 1,            /* trace processes, not threads */
       DT_MODULE = 2,           /* the rules of the kernel module: none for event loops */
       DT_ONCE = 4,             /* do not mark retransmissions */
       DT_WAITING = 8 };        /* a task that waits for events has no window */

/* ---- make.c: make a request probe ---------------------------------------------------- */

struct dt_wanted {
	int flags;              /* DT_GROUP and so on */
	const struct dt_network *networks; /* owned by the caller */
	size_t nnetworks;       /* DT_NETWORKS at most */
};

struct dt_made {
	uint32_t id;
	const char *how_sent;   /* how the programs see a send; static text */
	int end_at_send;        /* a window ends when the send of the answer begins, not after */
};

/*
 * Make a request probe that does not exist yet, and switch it on. Return 0; or -1 and
 * remove all of it again. After bpf_print_only, only print its programs.
 */
int dt_make(const char *name, const struct dt_wanted *, struct dt_made *);

/* ---- pins.c: find a request probe by its name, and open its pins --------------------- */

/* Return the name to use without an option: $TFS_PROBE, or "dt". */
const char *dt_name(void);

/* Exit MISUSED unless name has less than DT_NAME of [A-Za-z0-9_.-], and no dot or dash first. */
void dt_check_name(const struct tool *, const char *name);

/* Check that bpffs is mounted. Return 0 or -1. */
int dt_ready(void);

/* Make the directory of the request probe; does it exist? The request probe may be incomplete. */
int dt_make_directory(const char *name);
int dt_there(const char *name);

/*
 * Pin an object, open or remove a pin. Return a descriptor or 0; or -1 and errno. If there is no
 * such pin, errno is ENOENT, and only dt_open reports it: the request probe is off.
 */
int dt_pin(const char *name, const char *what, int fd);
int dt_pinned(const char *name, const char *what);
int dt_unpin(const char *name, const char *what);
int dt_open(const char *name, const char *what);

/* Return the flags of the request probe, such as DT_GROUP. */
int dt_flags(const char *name);

/* ---- readers.c: programs that read the marks of a request probe ------------------------- */

/*
 * Each reader has rings of its own, and the programs write each mark into the rings of every
 * reader. A reader that has ended leaves its rings in the maps of the request probe: the next
 * reader, or the end of the request probe, removes them.
 *
 * Make the rings of a reader, sized by the buffers of the instance; instance -1: small ones. Return
 * a descriptor, or -1, reported. The reader exists as long as any process has the descriptor open.
 */
struct channel;
int dt_reader_add(const char *name, struct channel *, int instance);

/* Remove the rings of a reader before its end. Silent. */
void dt_reader_remove(const char *name, const struct channel *);

/* ---- probe.c: hold and end a request probe ------------------------------------------- */

/* Append the tasks of the map "pids" to out, sorted: all, or those that a user has added. */
int dt_tasks(int map, int by_hand, struct pids *out);

/* Add a task to the map, as a user does. */
int dt_follow(int map, pid_t);

/*
 * Prevent the end of the request probe while the returned descriptor is open, in order to
 * add something to it. Return -1 and errno if that is impossible; it reports only a directory
 * that exists and cannot be opened.
 */
int dt_hold(const char *name);

/*
 * End the request probe, even if it is incomplete. If it is held, wait up to five seconds.
 * Return 1, or 0 if there is none, or -1.
 */
int dt_off(const char *name);

/*
 * Do the same for a dead session. First wait up to two seconds for a dt-probe or dt-dev of that
 * session that still runs; errno is EBUSY if it goes on. Return 0, or -1 and errno.
 */
int dt_end_session(const char *instance);

/* ---- device.c: devices at whose egress segments are marked --------------------------- */

/* Does the device exist, with Ethernet headers or bare IP? */
int dt_device_ok(const char *device);

/*
 * Begin or stop to mark at the egress of the device, in the network namespace of the caller.
 * Store "tcx" or "clsact" in *how. Return 0; 1 if there is nothing to change; or -1.
 */
int dt_device_on(const char *name, const char *device, const char **how);
int dt_device_off(const char *name, const char *device);

/*
 * Stop marking at all devices that no link holds, in every network namespace that a task
 * or a file of /run/netns keeps. Return 0 or -1.
 */
int dt_devices_off(const char *name);

/* ---- tc.c: attach programs by clsact, with rtnetlink(7) ---------------------------- */

/*
 * A filter of the queueing discipline clsact runs a program when a device sends a packet,
 * on kernels without TCX. The device must be in the caller's network namespace. All return
 * -errno on failure. tc_has_clsact returns 1 or 0, tc_filters the number of filters of the
 * device's clsact, ingress and egress, the others 0.
 */
int tc_has_clsact(unsigned device);
int tc_add_clsact(unsigned device);
int tc_remove_clsact(unsigned device);
int tc_filters(unsigned device);
int tc_add_program(unsigned device, unsigned priority, uint32_t handle, int program,
		   const char *name);
int tc_remove_program(unsigned device, unsigned priority, uint32_t handle);

/* ---- sockets.c: follow requests without a request probe, by events of sockets -------- */

/*
 * This works on one host. Bytes that a followed thread sends count as marked, by their
 * offset in the connection. A thread that reads some of them begins a window. The window
 * ends when the thread has sent on the socket that it read from. But if the bytes answer a request
 * that this process passed on, the window ends with a send on the first request's socket.
 * The trace must have these events with all their fields, in the order of time:
 *
 *	tcp:tcp_sendmsg_locked     a thread begins to send; the socket is unknown
 *	sock:sock_send_length      the thread has sent so many bytes on this socket
 *	sock:sock_recv_length      a thread has read so many bytes
 *	tcp:tcp_rcv_space_adjust   a thread reads; shows the connection of a socket
 *	sock:inet_sock_set_state   a connection is made
 *	tcp:tcp_destroy_sock       a socket is destroyed
 */

enum sock_event {
	SOCK_NONE, SOCK_SENDS, SOCK_SENT, SOCK_RECEIVED, SOCK_READS, SOCK_STATE, SOCK_GONE,
	SOCK_EVENTS
};

/* Return which of these events it is. */
enum sock_event sock_event(const struct seen *);

/*
 * One call of a thread that sends. Its socket and length are known when it ends. But its bytes
 * count from its beginning, because the receiver may have read them before its end. All zero
 * at first.
 */
struct socket_send {
	int over;               /* it has ended: socket and n are valid */
	char socket[24];
	int64_t n;              /* bytes; negative: an error */
	int marked, counted, under_way;
	char asker[24];         /* if it is marked: the socket of the request that it is for */
};

struct sockets {
	const struct pids *always;      /* threads that are always followed, without a window */
	struct table sockets, flows, threads;
	struct strbuf key;
	size_t under_way;               /* sends that have begun and not ended */
	int seen[SOCK_EVENTS], full;    /* the trace has the event; a table was full */
};

void sockets_begin(struct sockets *, const struct pids *always);

/* Is the thread followed now? */
int sockets_follow(const struct sockets *, uint64_t task);

/* Take socket and length of a send from its SOCK_SENT event. Return 0, or -1, reported. */
int socket_send_end(struct socket_send *, const struct seen *);

/*
 * Process the next event, of this thread or thread group. SOCK_SENDS comes with the
 * struct of its call, or NULL if it is not the first of its call. SOCK_SENT comes with the same
 * struct, or NULL if the beginning of the call is not in the trace. Return nonzero if the
 * event belongs to a followed thread; more than 1 if its window has just ended;
 * -1, reported, if the event lacks a field.
 */
int sockets_event(struct sockets *, enum sock_event, const struct seen *, uint64_t task,
		  struct socket_send *);

/* Forget everything, after events were lost. Return the number of windows that this closed. */
size_t sockets_forget(struct sockets *);

/* ---- host.c: read and print the trace of one host, line by line ---------------------- */

/*
 * dt-join puts the traces of several hosts together. Times are in nanoseconds from 0 to
 * TIME_MOST. Each host has a clock of its own.
 */

#define TIME_MOST INT64_C(3000000000000000000) /* 95 years; 64 bits hold the sum of three */
#define DT_SECOND INT64_C(1000000000)

struct dt_host {
	const char *name, *file;
	struct line_reader in;
	int digits;                     /* most digits after the point of its times */
	int64_t begin;                  /* earliest time; -1: none */
	struct comments comments;
	/* the next line */
	char *line;
	size_t n;
	int there, digits_now;          /* there is one; digits of its time */
	struct seen l;
	int event, timed, rank;         /* it is an event; it has a time; dt_host_rank */
	int64_t time;                   /* aligned; without a time, that of the line before */
	int64_t date;                   /* aligned time of its "# date" line; -1: another line */
};

/*
 * Read the next line, with the host's own time. Return 1, or 0 at the end.
 * Return -1, reported, also if the clock counts something other than seconds.
 */
int dt_host_next(struct dt_host *);

/* Return the order of lines with equal times: those without a time, sends, receives. */
int dt_host_rank(const struct dt_host *);

/* Print the line with the host's name in a column of this width, and with h->time or date. */
void dt_host_print(const struct dt_host *, size_t wide);

/* Append nanoseconds as seconds with this many digits after the point; cut off the rest. */
void strbuf_seconds(struct strbuf *, int64_t time, int digits);

/* ---- clocks.c: compute how the clocks of hosts differ -------------------------------- */

#define NO_MESSAGE INT64_MAX

/* The clock of one host. */
struct dt_clock {
	int64_t add;            /* converts its times to the first host's clock */
	int64_t within;         /* CLOCK_BOTH: error of add, plus or minus */
	enum known {
		CLOCK_FIRST,    /* the clock that the others are compared with */
		CLOCK_BOTH,     /* messages in both directions: add is the middle */
		CLOCK_MOST,     /* one bound: the true value is add or less */
		CLOCK_LEAST,    /* one bound: the true value is add or more */
		CLOCK_ALONE,    /* no message: add is 0 */
	} known;
	unsigned by;            /* the host from whose add this add was computed, and which gives
				   it its error: host 0, or one that is not CLOCK_BOTH */
};

struct dt_clocks {
	unsigned n;
	int64_t unit;           /* resolution of the times, the coarsest of all hosts */
	/*
	 * [from * n + to]: for the messages between two hosts, the least difference of the
	 * receive time (clock of to) and the send time (clock of from); or NO_MESSAGE.
	 */
	int64_t *least;
	struct dt_clock *v;     /* n results */
	/*
	 * The longest time by which a message seems to arrive before it is sent, minimized
	 * by dt_clocks_align; 0 if at most unit.
	 */
	int64_t off;
};

/* Compute v and off from n, unit and least. */
void dt_clocks_align(struct dt_clocks *);

/*
 * Append a description of one host's clock, with times of this many digits after the
 * point. names are the names of all hosts.
 */
void dt_clock_describe(struct strbuf *, const struct dt_clocks *, unsigned host,
		       const char *const *names, int digits);

/* ---- messages.c: find the two ends of each message ----------------------------------- */

/* A thread that has mark lines, or with dt-probe -g a process. Its key is host and tid. */
struct dt_actor {
	struct table_entry entry;
	unsigned host;
	uint32_t tid;
	int group;              /* its mark lines come from several threads */
	char comm[16];          /* of its last mark line, NUL-terminated */
	struct sequence_lane *lane; /* used by the picture */
};

/* A mark line in the trace of a host. */
struct dt_point {
	uint64_t key;
	int64_t time;
	struct dt_actor *actor;
	uint32_t peer;          /* index of the other end of the message, or PEER_... */
	uint32_t order;         /* in the traces */
	char what;              /* as in struct dt_mark */
};

/* the point is not an end of a message, or another mark line of the actor stands for that end */
#define PEER_NOT UINT32_C(0xfffffffd)
/* several actors have the key, so the other end is unknown */
#define PEER_MANY UINT32_C(0xfffffffe)
/* no trace has the other end */
#define PEER_NONE UINT32_C(0xffffffff)

struct dt_messages {
	struct dt_point *points;
	size_t n;
	unsigned nhosts;
	struct met {
		unsigned long long between;     /* messages with other hosts */
		unsigned long long sent, received; /* messages whose other end is missing */
	} *hosts;
	unsigned long long many;        /* number of keys with PEER_MANY */
	int64_t *least;                 /* as in struct dt_clocks */
};

/* Fill in the peers of the points, and all the counts. Reorder the points. */
void dt_messages_find(struct dt_messages *);

/* ---- sequence.c, sequence_draw.c: draw the messages as a sequence diagram ------------ */

struct sequence;

/* Lay out the diagram. hosts and messages stay owned by the caller until it is drawn. */
struct sequence *sequence_make(const char *const *hosts, const struct dt_messages *);

/* Add an event of a host. Call it in the order of time. */
void sequence_event(struct sequence *, unsigned host, const struct seen *, int64_t time);

/* Print the diagram as SVG, with the notes below it. */
void sequence_draw(struct sequence *, char *const *notes, size_t nnotes);

#endif
