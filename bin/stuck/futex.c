/* SPDX-License-Identifier: ISC */
/*
 * futex.c - who owns a futex, or could wake the threads that wait for it
 *
 * The word of a futex names its owner only if the kernel, or the library whose layout is known,
 * wrote it there: FUTEX_LOCK_PI; a robust futex, which is in the owner's robust list; a mutex of
 * glibc, with its owner beside the word; and the tid that pthread_join(3) waits for. For any other
 * futex, only the processes that could wake the thread are known: all that have the memory.
 */
#include <sys/syscall.h>

#include "stuck.h"

enum { LOCK_PI = 6, WAIT_REQUEUE_PI = 11, LOCK_PI2 = 13, PRIVATE = 128, COMMAND = 127 };
#define WAITERS 0x80000000u
#define TID_MASK 0x3fffffffu

/* A part of a shared mapping. */
struct place {
	char file[64];          /* DEVICE INODE, as in maps */
	uint64_t offset;
};

/* Read a line of maps. Return 0, or -1: it is no shared mapping. */
static int parse(const char *line, uint64_t *first, uint64_t *last, struct place *p)
{
	const char *end;
	size_t n;

	*first = text_value(line, &end, 16);
	*last = *end == '-' ? text_value(end + 1, &end, 16) : 0;
	if (*end != ' ' || strlen(end) < 6 || end[4] != 's')
		return -1;
	p->offset = text_value(end + 6, &end, 16);
	end += *end == ' ';
	n = strcspn(end, " ");
	n += end[n] ? 1 + strcspn(end + n + 1, " ") : 0;
	str_format(p->file, sizeof(p->file), "%.*s",
		   (int)(n < sizeof(p->file) ? n : sizeof(p->file) - 1), end);
	return 0;
}

/*
 * Find where a process maps an address, or, if address is 0, at which address it maps the place.
 * Return the address; 0: the process does not map it as shared memory.
 */
static uint64_t find_place(pid_t tgid, uint64_t address, struct place *place)
{
	char *text = procfs_read(tgid, "maps", NULL, NULL), *rest = text, *line;
	uint64_t found = 0, first, last;
	struct place p;

	while (rest && !found && (line = text_next_line(&rest))) {
		if (parse(line, &first, &last, &p) < 0)
			continue;
		if (address && address >= first && address < last) {
			*place = p;
			place->offset += address - first;
			found = address;
		} else if (!address && !strcmp(p.file, place->file) && place->offset >= p.offset &&
			   place->offset - p.offset < last - first) {
			found = first + (place->offset - p.offset);
		}
	}
	free(text);
	return found;
}

/* The processes that have the word, and its address in each. */
struct sharers {
	struct place place;
	struct sharer {
		pid_t tgid;
		uint64_t address;
	} *v;
	size_t n, room, hidden;
};

static void add_sharer(struct sharers *s, pid_t tgid, uint64_t address)
{
	s->v = xgrow(s->v, s->n, &s->room, sizeof(*s->v));
	s->v[s->n++] = (struct sharer){ tgid, address };
}

/* For task_each_process */
static int add_if_shares(void *arg, pid_t pid)
{
	struct sharers *s = arg;
	uint64_t address;

	errno = 0;
	address = find_place(pid, 0, &s->place);
	s->hidden += !address && errno == EACCES;
	if (address)
		add_sharer(s, pid, address);
	return 0;
}

/* Is the word at the address in the robust list of a thread? See get_robust_list(2). */
static int is_in_robust_list(pid_t tid, uint64_t address)
{
	unsigned long head = 0, size = 0;
	struct {
		unsigned long next;
		long offset;
	} list;
	unsigned long at;

	if (syscall(SYS_get_robust_list, (int)tid, &head, &size) < 0 || !head ||
	    memory_read(tid, head, &list, sizeof(list)) < 0)
		return 0;
	at = list.next;
	for (unsigned i = 0; i < 2048 && at && (at & ~1ul) != head; i++) { /* ROBUST_LIST_LIMIT */
		if ((uint64_t)((at & ~1ul) + (unsigned long)list.offset) == address)
			return 1;
		if (memory_read(tid, at & ~1ul, &at, sizeof(at)) < 0)
			return 0;
	}
	return 0;
}

/* Find a thread by its tid, as the thread that waits sees it, among those that have the word. */
static pid_t find_tid(const struct thread *t, const struct sharers *s, pid_t inner, size_t *which)
{
	pid_t found = 0;

	for (*which = 0; *which < s->n && !found; ++*which)
		found = thread_inside(t, s->v[*which].tgid, inner);
	--*which;
	return found;
}

/* A mutex of glibc has its owner beside the word: struct __pthread_mutex_s. */
static pid_t glibc_owner(const struct thread *t, uint64_t address, uint32_t value)
{
	uint32_t m[5]; /* lock, count, owner, nusers, kind; with 32 bits kind, nusers */
	unsigned users = sizeof(long) == 8 ? 3 : 4, kind = 7 - users;

	if (value != 2 || memory_read(t->task.pid, address, m, sizeof(m)) < 0 || m[0] != 2 ||
	    !m[users] || m[kind] >= 0x400)
		return 0;
	return (pid_t)m[2];
}

void futex_wait(struct thread *t, uint64_t address, unsigned op, uint32_t value)
{
	const unsigned command = op & COMMAND;
	struct sharers s = { .hidden = 0 };
	uint32_t word = 0;
	int known = !memory_read(t->task.pid, address, &word, sizeof(word));
	int pi = command == LOCK_PI || command == LOCK_PI2;
	pid_t owner = 0;
	size_t which = 0;

	t->on = "futex";
	if (!(op & PRIVATE) && find_place(t->tgid, address, &s.place))
		task_each_process(add_if_shares, &s);
	if (!s.n)
		add_sharer(&s, t->tgid, address);
	if (pi && known)
		owner = find_tid(t, &s, (pid_t)(word & TID_MASK), &which);
	if (pi)
		strbuf_puts(&t->what, ", with priority inheritance");
	if (owner) {
		link_task(t, "owner", s.v[which].tgid, owner);
	} else if (pi) {
		link_unknown(t, "the owner, a task with the pid %u", (unsigned)(word & TID_MASK));
	} else if (known && word == value) {
		if (word & WAITERS)
			owner = find_tid(t, &s, (pid_t)(word & TID_MASK), &which);
		if (owner && !is_in_robust_list(owner, s.v[which].address))
			owner = 0;
		if (owner)
			strbuf_puts(&t->what, ", robust");
		else if ((owner = glibc_owner(t, address, value)))
			owner = find_tid(t, &s, owner, &which);
		if (owner)
			link_task(t, "owner", s.v[which].tgid, owner);
		/* pthread_join(3) of glibc: the kernel clears the word when the thread ends */
		if (!owner && !(op & PRIVATE) && word > 1 &&
		    (owner = thread_inside(t, t->tgid, (pid_t)word))) {
			strbuf_puts(&t->what, ", the end of a thread");
			link_task(t, "thread", t->tgid, owner);
		}
	}
	for (size_t i = 0; i < s.n && !owner && !pi; i++)
		link_task(t, "waker", s.v[i].tgid, 0);
	if (t->hidden < s.hidden)
		t->hidden = s.hidden;
	free(s.v);
}
