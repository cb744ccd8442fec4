/* SPDX-License-Identifier: ISC */
/*
 * dt.h - a probe: what the kernel keeps of one distributed trace
 *
 * A probe has a name. All of it is pinned in a directory of bpffs, tfs-NAME:
 * maps, programs, and the links that hold the programs to their places. There
 * is no process: removing the directory ends the probe.
 */
#ifndef DT_H
#define DT_H

#include <limits.h>

#include "bpf.h"
#include "tfs.h"

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

typedef void dt_program(struct code *, const struct dt_plan *);

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

/*
 * The directory of the probe, or with what, the path of that in it: PATH_MAX bytes. It is
 * for messages: to open it would follow whatever somebody put there meanwhile.
 */
void dt_path(char *path, const char *name, const char *what);

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

/* Does somebody hold it? */
int dt_held(const char *name);

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

#endif
