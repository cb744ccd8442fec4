/* SPDX-License-Identifier: ISC */
/*
 * requests.h - PURPOSE of requests
 */
#ifndef REQUESTS_H
#define REQUESTS_H

#include <limits.h>
#include <stdint.h>

#include "base/base.h"
#include "proc/proc.h"
#include "filter/filter.h"
#include "bpf/bpf.h"

/*
 * dt.h - a probe: what the kernel keeps of one distributed trace
 *
 * A probe has a name. All of it is pinned in a directory of bpffs, tfs-NAME:
 * maps, programs, and the links that hold the programs to their places. There
 * is no process: removing the directory ends the probe.
 */

enum { DT_NAME = 160, DT_TASKS = 16384, DT_SOCKETS = 65536, DT_NETWORKS = 1024,
       DT_DEVICES_MOST = 1024 };

/* What is pinned: maps by these names, the programs of devices, links by their program's. */
#define DT_PIDS "pids"          /* its id is the probe's; pinned last, so that it tells "on" */
#define DT_STATE "state"
#define DT_SETTINGS "settings"
#define DT_DEVICES "devices"
#define DT_MARK "mark"          /* for devices with Ethernet headers */
#define DT_MARK_BARE "mark_bare" /* for those that begin with IP */

/* Of a traced thread, by its number (with -g: a process, by its own). */
struct dt_task {
	uint64_t tag;           /* the socket whose request it serves; 0: added by hand */
	uint64_t key;           /* the message that began the window */
	uint64_t sending;       /* the socket of the send that was told already */
	uint32_t count, pad;
};

/*
 * Marked bytes that came to a socket, from a start to an end that are written at
 * once, as several processors may; up to read they were read.
 */
struct dt_received {
	uint64_t range;         /* the end in the upper half */
	uint32_t read, pad;
};

/* Bytes of a socket that leave it marked: start to end, or all from start on. */
struct dt_sent {
	uint32_t start, end, flags;
	uint32_t high;          /* all before it was sent once */
	uint32_t copied;        /* what threads in windows have read of it */
	uint32_t asked;         /* a marked request came here, and nothing was sent since */
	uint64_t tag;           /* whose request was passed on here last: its dt_task's */
	uint64_t key;           /* SENT_BORN: of the window that it was opened in */
};

enum { SENT_OPEN = 1,           /* the last who sent is traced: there is no end yet */
       SENT_RANGE = 2,          /* start (and end) hold */
       SENT_ACTIVE = 4,         /* the socket connected */
       SENT_PASSIVE = 8,        /* the socket was accepted */
       SENT_EVER = 16,          /* marked bytes were sent on it */
       SENT_BORN = 32 };        /* it was opened in a window, and nothing was sent yet */

/* Of each processor, added up when they are printed. */
struct dt_state {
	uint64_t marked_out;    /* segments (as large as the device takes them) marked */
	uint64_t marked_in;     /* that came marked, with data, and were believed */
	uint64_t refused;       /* that came marked from those who are not believed */
	uint64_t windows;       /* that were opened */
	uint64_t socket_in, socket_out; /* of the packet at hand */
	uint32_t child_start, child_end; /* data that came with the last of a handshake */
};

/* Whose marks are believed: how many bits of the address count, and the address. */
struct dt_network {
	uint32_t bits;
	uint8_t address[16];    /* of version 6; of version 4, mapped into it: 96 bits more */
};

/* Of the probe; one. */
struct dt_settings {
	uint32_t flags;
	uint32_t was_quiet;     /* the kernel is about to switch on bpf_trace_printk's event */
};

/* A device that no link holds (dtdev.c), by its network namespace's inode and its number. */
struct dt_device {
	uint64_t netns;
	uint32_t index, pad;
};

/* What is there of ours. */
struct dt_clsact {
	uint32_t priority, handle; /* of the filter */
	uint32_t made;          /* the queueing discipline is ours, too */
};

enum { DT_GROUP = 1,            /* processes, not threads */
       DT_MODULE = 2,           /* the rules of the kernel module: no event loops */
       DT_ONCE = 4,             /* what is sent again is not marked */
       DT_WAITING = 8 };        /* who waits for events has no window */

/* What the programs of one probe are made with. */
struct dt_plan {
	uint32_t id;
	int flags, end_at_send, first_argument;
	int plain;              /* the kernel has no exchange(), bpf.h */
	int pids, received, sent, from, state;          /* maps */
	int copied_seq, write_seq, snd_una, rcv_nxt;    /* in struct tcp_sock */
	int peer_port, port;                            /* in struct sock_common */
	int backlog;                                    /* in struct sock */
	int pid, tgid;                                  /* in struct task_struct */
};

/* ---- dtin.c, dtout.c, dtlife.c: the programs (dtprog.h) ------------------------------ */

typedef void dt_program(struct bpf_code *, const struct dt_plan *);

dt_program dt_rx, dt_read, dt_send, dt_end, dt_state, dt_gone, dt_fork, dt_exit, dt_wait, dt_egress,
	dt_egress_bare;

/* ---- dtmake.c: the making of a probe ---------------------------------------------------- */

/* What it is to be. */
struct dt_wanted {
	int flags;              /* DT_GROUP and the like */
	const struct dt_network *networks; /* the caller's */
	size_t nnetworks;       /* DT_NETWORKS at most */
};

/* What it is. */
struct dt_made {
	uint32_t id;
	const char *how_sent;   /* the programs see a send by this; static */
	int end_at_send;        /* a window ends as the answer's send begins, not behind it */
};

/*
 * Make the probe, in its directory, which must not be there yet: 0 and it is on, or
 * -1 said and what was made of it is gone again.
 */
int dt_make(const char *name, const struct dt_wanted *, struct dt_made *);

/* ---- dt.c: a probe by its name --------------------------------------------------------- */

/* A descriptor of what is pinned there; -1 said, or silent where errno is ENOENT. */
int dt_pinned(const char *name, const char *what);

/* Pin it there. 0 or -1 said, with errno. */
int dt_pin(const char *name, const char *what, int fd);

/* Remove the pin. 0, or -1 said, or silent where errno is ENOENT. */
int dt_unpin(const char *name, const char *what);

/* Make the directory of the probe. 0, or -1 said. */
int dt_make_directory(const char *name);

/* Is there a probe of that name, or what is left of one? */
int dt_there(const char *name);

/* The name of the probe unless told: $TFS_PROBE, or "dt". */
const char *dt_name(void);

/* Is it one: less than DT_NAME of [A-Za-z0-9_.-], not beginning with dot or dash? */
int dt_name_ok(const char *name);

/* The tasks of the map "pids", all or those that were added by hand, sorted. */
int dt_tasks(int map, int by_hand, struct pids *out);

/* Is bpffs at its place? 0, or -1 said. */
int dt_ready(void);

/* A descriptor of what is pinned there; -1 said: the probe is off. */
int dt_open(const char *name, const char *what);

/*
 * The event bpf_trace_printk of the top level: remember it before programs that
 * print are loaded, and put it back behind. 0, or -1 said.
 */
int dt_hush(const char *name, int before);

/*
 * While this descriptor is open nobody ends the probe: who adds to it holds it.
 * -1 and errno, silent.
 */
int dt_hold(const char *name);

/*
 * End the probe, whatever there is of it: 1, or 0 when there is nothing; -1 said.
 * Who holds it is waited for, for a while.
 */
int dt_off(const char *name);

/*
 * End the probe of a dead session. A dt-probe or dt-dev of that session may be at work
 * for a moment more; errno is EBUSY if it goes on. 0, or -1 and errno.
 */
int dt_end_session(const char *instance);

/* ---- dtdev.c: the devices that a probe marks at ------------------------------------- */

/*
 * Mark at the egress of the device, in the network namespace of the caller; *how
 * says by what. 0, 1: it was marked at already; -1 said.
 */
int dt_device_on(const char *name, const char *device, const char **how);

/* Is it a device, and of a kind that marks can leave by? */
int dt_device_ok(const char *device);

/* Let go of it. 0, 1: it is none of the probe's; -1 said. */
int dt_device_off(const char *name, const char *device);

/*
 * Let go of the devices that no link holds, in whatever network namespace that
 * a task or /run/netns still has. 0 or -1 said.
 */
int dt_devices_off(const char *name);

/*
 * dtmark.h - the lines that the programs of a probe write into a trace
 *
 * Of bpf_trace:bpf_trace_printk, one of these each:
 *	dtB ID TID KEY    a window begins: the thread has read marked bytes
 *	dtR ID TID KEY    one that was traced already has read marked bytes
 *	dtM ID TID KEY    a traced thread begins to send marked bytes
 *	dtE ID TID KEY    the window that began with this key ends
 * ID and KEY in hex, TID decimal; it is a thread group where the probe counts by them.
 */

struct dt_mark {
	char what;              /* B, R, M or E */
	uint64_t id, tid, key;
};

/* The event is one: 1, or 0. Silent. */
int dt_mark(struct dt_mark *, const struct trace_line *);

/*
 * dtsock.h - who serves a request that is followed, told by what sockets do
 *
 * Of one host: bytes that a followed thread sends are marked, at the place that they have
 * in their connection. Who reads some of them is followed from there on, which is its
 * window, until it has sent on the socket that they came by, or, if they answer a part of
 * a request, on the socket that the request came by. So
 *	tcp:tcp_sendmsg_locked     a thread begins to send; it says not by which socket
 *	sock:sock_send_length      and has sent so many bytes by this one
 *	sock:sock_recv_length      it has read so many bytes
 *	tcp:tcp_rcv_space_adjust   it reads: which connection a socket is an end of
 *	sock:inet_sock_set_state   a connection is made
 *	tcp:tcp_destroy_sock       a socket is gone
 * with all their fields, in the order of time.
 */

enum sock_event {
	SOCK_NONE, SOCK_SENDS, SOCK_SENT, SOCK_RECEIVED, SOCK_READS, SOCK_STATE, SOCK_GONE,
	SOCK_EVENTS
};

/* Which of them an event is. */
enum sock_event sock_event(const struct trace_line *);

/*
 * What a thread sends with one call: known when it is over, and done when it begins,
 * since others may have read it before. All zero at first.
 */
struct socket_send {
	int over;               /* so socket and n are known */
	char socket[24];
	int64_t n;              /* bytes; an error is less than none */
	int marked, counted, under_way;
	char asker[24];         /* if it is marked: the socket of the request that it is for */
};

struct sockets {
	const struct pids *always;      /* threads that are followed, but have no window */
	struct table sockets, flows, threads;
	struct strbuf key;
	size_t under_way;
	int seen[SOCK_EVENTS], full;
	unsigned long long windows;
};

void sockets_begin(struct sockets *, const struct pids *always);

int sockets_follow(const struct sockets *, uint64_t who);

/* What the end of a send tells of it. */
void socket_send_end(struct socket_send *, const struct trace_line *);

/*
 * The event is done by the thread, or group. A beginning send comes with its struct, or
 * NULL if it began before, and its end with the same, or NULL if the beginning is not
 * known. Does its line belong to something followed? More than 1: it was the last one.
 */
int sockets_event(struct sockets *, enum sock_event, const struct trace_line *, uint64_t who,
		  struct socket_send *);

/* What was lost may have changed everything. How many windows that has closed. */
size_t sockets_forget(struct sockets *);

/*
 * join.h - what puts the traces of several hosts together
 *
 * Times are nanoseconds, from zero to TIME_MOST; those of one host are of its own
 * clock. A message is sent before it is received, which is all that is known of two
 * clocks.
 */

#define TIME_MOST INT64_C(3000000000000000000) /* 95 years; 64 bits hold the sum of three */
#define DT_SECOND INT64_C(1000000000)

/* ---- hosttrace.c: one host's trace, line by line ------------------------------------- */

struct dt_host {
	const char *name, *file;
	struct line_reader in;
	int digits;                     /* behind the point of its times, at most */
	int64_t begin;                  /* its earliest time; -1: it has none */
	struct remarks remarks;
	/* its next line */
	char *line;
	size_t n;
	int there, digits_now;
	struct trace_line l;
	int event, timed, rank;
	int64_t time;                   /* aligned; without one, that of the line before */
};

/*
 * The next line of a host, its time as it is: 1, or 0 at the end. A clock that has
 * no seconds ends the tool, REFUSED, said.
 */
int dt_host_next(struct dt_host *);

/* At one time: what has no time at once, what is received behind what is sent. */
int dt_host_rank(const struct dt_host *);

/* Print its line, its name in a column so wide and its time as it is in time. */
void dt_host_print(const struct dt_host *, size_t wide);

/* Add nanoseconds as seconds, so many digits behind the point, the others cut off. */
void strbuf_seconds(struct strbuf *, int64_t time, int digits);

/* ---- clocks.c: how clocks differ, by who heard from whom ---------------------------- */

#define NO_MESSAGE INT64_MAX

/* One host's clock. */
struct dt_clock {
	int64_t add;            /* to its times: they are the first host's then */
	int64_t within;         /* add is right but for this, plus or minus */
	enum known {
		CLOCK_FIRST,    /* the one that the others are compared with */
		CLOCK_BOTH,     /* messages of both directions: add is the middle */
		CLOCK_MOST,     /* add is this or less: it is taken */
		CLOCK_LEAST,    /* add is this or more: it is taken */
		CLOCK_ALONE,    /* no message: add is 0, the clock as it is */
	} known;
	unsigned by;            /* compared with this host, which is not the first
				   where that is not known as CLOCK_BOTH */
};

struct dt_clocks {
	unsigned n;
	int64_t unit;           /* a time may be so much too early or too late */
	/*
	 * [from * n + to]: of the messages between two hosts the least of the time at
	 * which it is received, by the one clock, less that at which it is sent, by
	 * the other. NO_MESSAGE: there was none.
	 */
	int64_t *least;
	struct dt_clock *v;     /* of n: filled in */
	/*
	 * No clocks have each message received before it is not sent: 0, or by how
	 * much they are off. They are taken so that this is least.
	 */
	int64_t off;
};

void dt_clocks_align(struct dt_clocks *);

/*
 * Add what is known of a host's clock, and how (clocktell.c); times with so many
 * digits. names: all hosts'.
 */
void dt_clock_describe(struct strbuf *, const struct dt_clocks *, unsigned host,
		       const char *const *names, int digits);

/* ---- messages.c: both ends of a message ----------------------------------------------- */

/* A thread that has marks, or with -g a process; its key is host and tid. */
struct dt_actor {
	struct table_entry entry;
	unsigned host;
	uint32_t tid;
	int group;              /* its marks are of several threads */
	char comm[16];          /* the last that its marks have, NUL-terminated */
	struct sequence_lane *lane; /* the picture's */
};

/* A mark, where and when. */
struct dt_point {
	uint64_t key;
	int64_t time;
	struct dt_actor *actor;
	uint32_t peer;          /* the other end of the message, in the same array */
	uint32_t order;         /* as the traces have it */
	char what;              /* as in struct dt_mark */
};

/*
 * Instead of a peer: there is none; nobody knows which it is, as others have the key
 * too; another mark of the actor is the one with a peer, or it is no end of a message.
 */
#define PEER_NOT UINT32_C(0xfffffffd)
#define PEER_MANY UINT32_C(0xfffffffe)
#define PEER_NONE UINT32_C(0xffffffff)

struct dt_messages {
	struct dt_point *points;
	size_t n;
	unsigned nhosts;
	struct met {
		unsigned long long between;     /* messages with other hosts */
		unsigned long long sent, received; /* of which nobody has the other end */
	} *hosts;
	unsigned long long many;        /* keys that several have */
	int64_t *least;                 /* as in struct clocks */
};

/* Of points and hosts all the rest; the points are in another order then. */
void dt_messages_find(struct dt_messages *);

/* ---- sequence.c, seqdraw.c: the messages as a picture -------------------------------- */

struct sequence;

/* Of hosts and messages, which stay the caller's until it is drawn. */
struct sequence *sequence_make(const char *const *hosts, const struct dt_messages *);

/* An event of a host, in the order of time. */
void sequence_event(struct sequence *, unsigned host, const struct trace_line *, int64_t time);

/* Print the picture, with these lines below it (seqdraw.c). */
void sequence_draw(struct sequence *, char *const *notes, size_t nnotes);

#endif
