/* SPDX-License-Identifier: ISC */
/*
 * live.h - read the ring buffers of an instance on this machine while it records
 *
 * struct live_kernel is what the decoder has to know about this machine's kernel. struct live gives
 * the records of all CPUs in the order of time. A caller refreshes the names with
 * live_kernel_refresh, reads with live_fill, and takes records with live_next, again and again.
 */
#ifndef LIVE_H
#define LIVE_H

#include "host/host.h"
#include "proc/proc.h"
#include "bpf/bpf.h"
#include "calls/calls.h"
#include "event/event.h"

/* ---- kernel.c: formats, options, symbols and names of this machine's kernel --------- */

struct live_kernel {
	int dir;                /* the instance; owned by the caller */
	int root;               /* the tracefs root; owned by the caller */
	struct event_set events;
	struct line_format line;
	int follows;            /* events name all tasks: a name is right until a loss */
	char *enabled;          /* set_event when it was last read */
	int scanned;            /* all events were read since then */
	uint32_t round;         /* number of calls of live_kernel_refresh, plus 1 */
	uint32_t tgids;         /* round when saved_tgids was read */
	int procfs;             /* procfs shows the same pids as tracefs */
	size_t living;          /* names of living tasks at the last pruning */
	unsigned own;           /* naming events that live_names_begin enabled */
	int failed;             /* memory ran out: a format is missing, or more */
};

/*
 * Read how the instance prints and which events it records. Return 0, or 1 if only the kernel can
 * print its lines (another tracer, an option that changes lines). No message.
 */
int live_kernel_open(struct live_kernel *, int dir, int root);

/* Look names up again from now on, because any task may have been renamed. */
void live_kernel_refresh(struct live_kernel *);

/* Let lines have the names of this machine's tasks: a part of live_kernel_open. */
void live_names_prepare(struct live_kernel *);

/*
 * If the instance records the naming events, give each record the name that its task had at that
 * time. First enable the events of the mask which, if possible (names_events_enable).
 */
void live_names_begin(struct live_kernel *, unsigned which);

/* Disable the events that live_names_begin enabled. */
void live_names_end(struct live_kernel *);

/* Read /proc/kallsyms: load_symbols of struct event_set for this machine. */
struct symbols *symbols_load(void *unused);

/* ---- task_names.c: names of tasks, from procfs and from events ---------------------------- */

/* Add the name of a task as procfs shows it. Return 1 if it was not known, else 0. */
int names_add_task(struct comms *, const struct task *);

/* Add the names of the tasks that the instance records. Return how many were not known. */
size_t names_from_instance(struct comms *, int dir);

/*
 * The events by which a task gets its name: task:task_newtask (bit 0) and task:task_rename (bit 1).
 * Return the bits of those that are enabled; enable the others of the mask which and return their
 * bits; disable those of which. All are silent.
 */
enum { NAMING_NEW = 1, NAMING = 3 };
unsigned names_events_enabled(int dir);
unsigned names_events_enable(int dir, unsigned which);
void names_events_disable(int dir, unsigned which);

/* ---- backlog.c: what was read from a ring buffer and not given yet ----------------------- */

/* Bytes that are held of each ring buffer at any time; at least four of its largest blocks. */
enum { BACKLOG_CHUNK = 128 * 1024 };

/* The memory of all ring buffers of a stream together. */
struct backlog_memory {
	size_t chunk;           /* bytes that are taken and given back at once */
	uint64_t most;          /* bytes of all; but each ring buffer may have one chunk */
	uint64_t used;
};

/* The blocks of one ring buffer, oldest first. All zero at first. */
struct backlog {
	struct backlog_chunk *first, *last;
	size_t at;              /* the oldest block, in the first chunk */
	size_t n;               /* blocks */
};

/* A place among the blocks. */
struct backlog_at {
	const struct backlog_chunk *chunk;
	size_t at;
};

/* Begin with blocks of at most largest bytes, and most bytes in all. */
void backlog_limit(struct backlog_memory *, size_t largest, uint64_t most);

/*
 * Return room for a block of at most this size, for backlog_add; NULL if there is none. Without
 * ahead, a ring buffer has room in one chunk only.
 */
void *backlog_room(struct backlog *, struct backlog_memory *, size_t size, int ahead);

/* Add a block: its data, size bytes, are where backlog_room said. look is any number. */
void backlog_add(struct backlog *, size_t size, uint32_t look);

/* Return the place of the oldest block. */
struct backlog_at backlog_begin(const struct backlog *);

/* Return the data of the block at a place, set its size and look, and go on; NULL at the end. */
const void *backlog_next(struct backlog_at *, size_t *size, uint32_t *look);

/* Drop the oldest block, and give its chunk back if it was the last one in it. */
void backlog_drop(struct backlog *, struct backlog_memory *);

/* Drop all blocks. */
void backlog_free(struct backlog *, const struct backlog_memory *);

/* ---- rings.c: the rings of the session's BPF programs ---------------------------------- */

/*
 * Programs of tfs-strings write into BPF ring buffers, one for each CPU. The session's stream
 * inherits the descriptors. SESSION_RINGS has a list of sets, "c5r7r8p6 c9r10r11": a control map,
 * the rings of the CPUs that have one, and the map of the calls that are open.
 */

/*
 * What programs do: before the session they keep the calls that are open, in it they record, and
 * after it they change nothing, so that the session's reader finds each open call.
 */
enum ring_state { RINGS_WAIT, RINGS_RECORD, RINGS_ENDED };

/* An entry of the control map, one for each CPU that may come */
struct ring_control {
	uint64_t lost;          /* records that had no room */
	uint32_t ring, state;   /* ring 1: this CPU has a ring */
	uint32_t cpus;          /* number of entries */
	uint32_t has;           /* of entry 0: RINGS_FILES, RINGS_STACKS */
	uint32_t pad[10];       /* programs of two CPUs share no cache line */
};

/* The head before each record in a ring: the time, and lost of ring_control of the CPU */
struct ring_head {
	uint64_t ts, lost;
};

/*
 * Write the names of the functions of a struct stack_copy, lines without a newline at the end, into
 * text of size bytes. n: bytes of the copy, memory included. ts: when it was made. Return their
 * length.
 */
typedef size_t stack_frames(const unsigned char *copy, size_t n, uint64_t ts, char *text,
			    size_t size);

struct live_ring {
	int fd;                 /* for poll(2) */
	int cpu;
	/* the kernel's unsigned long; a 32-bit machine has no atomic access to more */
	volatile unsigned long *consumer;
	const volatile unsigned long *producer;
	const unsigned char *data;
	uint64_t mask;
	const struct ring_control *control;
	uint64_t lost;          /* the number of lost records that the last record said */
	size_t done;            /* bytes of the memory of the next record that are taken */
	uint64_t unread;        /* records whose length none of our programs writes */
	stack_frames *frames;   /* NULL: stacks are dropped */
	struct stack_chunks {   /* the chunks of a large stack so far */
		int pid;
		uint32_t stamp;
		size_t n;
		unsigned char bytes[sizeof(struct stack_copy) + STACK_MOST];
	} *chunks;
};

struct open_call;

/* The rings, control map and open calls of one tfs-strings */
struct ring_set {
	struct ring_control *control;
	unsigned cpus;          /* entries of control */
	int calls;              /* the map of open calls; -1: none */
	const struct open_call *open; /* private: rings_next_open */
};

struct rings {
	struct live_ring *v;
	unsigned n, nsets;
	struct ring_set sets[4];
	unsigned set;           /* private: rings_next_open */
	size_t at;              /* private */
	struct record record;   /* private */
	_Alignas(8) unsigned char bytes[1024]; /* private */
};

/* Did this process inherit rings of calls? */
int rings_have_calls(void);

/* Take the rings that this process has inherited. Return 0, or -1, reported. */
int rings_open(struct rings *);

/* Set the state of the programs of a control map. Return 0, or -1 and errno. */
int rings_turn(int control, enum ring_state);

/*
 * Note in a control map that records name the files of descriptors, or that there are user stacks.
 * Return 0, or -1 and errno. rings_have returns whether that is noted for one of the rings.
 */
enum ring_has { RINGS_FILES = 1, RINGS_STACKS };
int rings_set(int control, enum ring_has);
int rings_have(const struct rings *, enum ring_has);

/* Let a function name the functions of stacks. */
void rings_name_stacks(const struct rings *, stack_frames *);

/*
 * The programs record the calls of listed tasks: the value of a map has a byte for each possible
 * pid, with this bit set. List these tasks. Return 0, or -1 and errno.
 */
enum { LIST_PIDS = sizeof(long) == 8 ? K_PID_MAX_LIMIT : 32 * 1024, LIST_BIT = 1 };
struct pids;
int rings_list(int map, const struct pids *);

/* Let the programs change nothing more, and wait until those that run have ended. */
void rings_stop(const struct rings *);

/* Add the formats of their events. Return 0, or -1 without memory. */
int rings_formats(struct event_set *);

/* Move records from the ring to an empty sub-buffer. Return how many; 0: the ring has none. */
unsigned ring_take(struct live_ring *, const struct subbuf_format *, void *subbuf);

/* Return the number of bytes that the ring has now. */
static inline uint64_t ring_bytes(const struct live_ring *r)
{
	return *r->producer - *r->consumer;
}

/* Return the number of records that the rings have now, as live_rest does without counts. */
unsigned long long rings_records(const struct rings *);

/* Return the number of records that had no room or no sense, of all CPUs or of one. */
unsigned long long rings_lost(const struct rings *);
unsigned long long rings_lost_of(const struct rings *, unsigned cpu);

/* Return a record open of the next call that has not returned, until the next use; or NULL. */
const struct record *rings_next_open(struct rings *);

/* Drop all records that the rings have now. */
void rings_drop(const struct rings *);

/* ---- channel.c: the rings into which BPF programs write ---------------------------------- */

enum { CHANNEL_CHILDREN = 9 };

/* All zero at first, but outer. */
struct channel {
	char id[16];            /* for the names of the maps and programs of the channel */
	int control;            /* the map of struct ring_control */
	int outer;              /* the map of rings; -1: make one for the CPUs */
	uint32_t first;         /* the entry of CPU 0 in it */
	int calls;              /* the map of open calls, or -1 */
	unsigned cpus;          /* number of CPUs that may come */
	int *rings;             /* one for each CPU that is there now */
	size_t n;
	pid_t children[CHANNEL_CHILDREN]; /* they change the clock and the map of rings */
	unsigned nchildren;
};

/* Return the number of CPUs that may come. Make a control map for as many, as bpf_map does. */
unsigned channel_cpus(void);
int channel_control(unsigned cpus);

/*
 * Make a ring for each CPU, as large as the ring buffers of the instance; an eighth of that for few
 * records. The instance, if it is not -1, must have the clock of the records, CLOCK_MONOTONIC; a
 * session that has the default clock gets it. Return 0, or -1, reported. The rings and the clock
 * can be used after channel_ready, which waits for them, and returns the same.
 */
int channel_make(struct channel *, int instance, int few);
int channel_ready(struct channel *);

/*
 * Return the socket of the session whose hook has started this tool; -1: there is none; -2: the
 * variable has no valid number.
 */
int channel_session(void);

/* Give the rings, and descriptors to keep, to the session. Return 0, or -1, reported. */
int channel_give(const struct channel *, int socket, const int *fds, size_t n);

/* Let programs write, and read the rings in this process. Return 0, or -1, reported. */
int channel_take(const struct channel *, struct rings *);

/*
 * Let programs write, and execute a program that inherits the rings and the descriptors. Does not
 * return, or returns -1, reported.
 */
int channel_run(const struct channel *, const int *fds, size_t n, char **argv);

/*
 * Can a task preempt the program of another task at a tracepoint (Linux 6.19)? If it then comes to
 * the same tracepoint, the kernel takes that for a recursion and skips its program: see emit_alone.
 */
int kernel_skips_programs(void);

/*
 * Put the head of a record of this kind, struct ring_head and struct record_head, at to + at.
 * Overwrites R0 to R5. With emit_head_of it is a record of the task whose pid is in R0.
 */
void emit_head_of(struct bpf_code *, enum bpf_reg to, int at, unsigned kind);
void emit_head(struct bpf_code *, enum bpf_reg to, int at, unsigned kind);

/*
 * Jump to out after the end of the session. A program does so before it changes a map or records,
 * so it does both or none. slot has 16 bytes on the stack: the control and the number of this CPU,
 * for emit_lost and emit_record. Overwrites R0 to R5.
 */
void emit_until_end(struct bpf_code *, const struct channel *, int slot);

/* Count a lost record, if the session has begun to record. Overwrites R0 to R5. */
void emit_lost(struct bpf_code *, int slot);

/*
 * Write the record at base + at into the ring of this CPU, or count it as lost. If counted is 0, do
 * not count it, because another record will report the loss. The record has size bytes; size 0: R8
 * has their number, within bounds that the verifier knows. Overwrites R0 to R5. R0 is 0 if the ring
 * took the record.
 */
void emit_record(struct bpf_code *, const struct channel *, enum bpf_reg base, int at, int size,
		 int slot, int counted);

/*
 * Maps of programs that outlive their loader: readers come and go, each with a channel of its own.
 * controls has the control map of reader N as entry N; rings has its rings from entry N * cpus on.
 */
enum { READERS_MOST = 8 };
struct readers {
	int controls, rings;
	unsigned cpus;
};

/* Write the record at FP + at for each reader. scratch is a slot of 24 bytes. As emit_record. */
void emit_to_readers(struct bpf_code *, const struct readers *, int at, int size, int scratch);

/* ---- buffers.c: sub-buffers of all CPUs, merged -------------------------------------- */

struct live_cpu {
	int fd;                 /* its trace_pipe_raw */
	int stats;
	struct backlog backlog;       /* the oldest sub-buffer is the current one */
	size_t old;             /* how many of backlog.n were read before the last live_fill */
	int empty;              /* the last live_fill found the ring buffer empty */
	int open;               /* the merge has the oldest sub-buffer */
	uint32_t look;          /* looks of struct live when the oldest sub-buffer was read */
};

struct live {
	struct subbuf_format format;
	size_t subbuf_size;     /* bytes of a sub-buffer */
	unsigned ncpus;
	struct live_cpu *cpu;
	struct backlog_memory memory; /* the caller may set most */
	size_t held, old;       /* sub-buffers of all CPUs, as backlog.n and old */
	uint32_t looks;         /* how many times live_fill found all ring buffers empty */
	uint32_t look;          /* the last record of live_next was made after so many looks */
	struct merge merge;
	struct rings rings;     /* each is one of merge.cpus and of cpu, after the ncpus CPUs */
};

/* Open the ring buffers of the instance at dir, which stays open. Return 0, or -1, reported. */
int live_open(struct live *, int dir);

/*
 * Read what the ring buffers have, as far as there is room. live_next gives a record only after one
 * more live_fill, which finds older ones. ahead: the records that are held can not be taken now, so
 * use memory up to its limit. Return the number of sub-buffers, or -1, reported.
 */
long live_fill(struct live *, int ahead);

/*
 * Return a descriptor that becomes readable when a ring or fd does; fd -1: when a ring or a ring
 * buffer does. Return -1, reported. Without rings return fd.
 */
int live_wake(struct live *, int fd);

/* Did the last live_fill find all ring buffers empty? 0 if it had no room. */
int live_empty(const struct live *);

/*
 * Is nothing left: were all ring buffers empty, and has live_next given every record? The result 0
 * of live_fill does not say so: the records that it holds until the next call may fill its room.
 */
int live_done(const struct live *);

/* Read the next sub-buffer of one CPU, past live_next. Return 1, 0: none now, or -1, reported. */
int live_read_subbuf(struct live *, unsigned cpu, void *data);

/* Return the next record as merge_next does. */
const struct record *live_next(struct live *, int64_t *lost);

/*
 * Return how many records that counts accepts are held and were not given by live_next. NULL
 * accepts all that are events of their own (record_helps).
 */
unsigned long long live_rest(const struct live *,
			     int (*counts)(void *, const struct record *), void *arg);

/* Return the number of events that the ring buffer of a CPU has dropped. */
unsigned long long live_lost(const struct live *, unsigned cpu);

/* Return the number of events that the CPU has tried to record since the buffer was cleared. */
unsigned long long live_tried(const struct live *, unsigned cpu);

/* Does any ring buffer have at least so many bytes of records? */
int live_has(const struct live *, unsigned long long bytes);

/* Close the ring buffers, so that the instance can be removed. */
void live_close(struct live *);

#endif
