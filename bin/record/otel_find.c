/* SPDX-License-Identifier: ISC */
/*
 * otel_find.c - find the variable otel_thread_ctx_v1 of processes
 *
 * If a program defines the variable, its file has the offset from the thread pointer. For a
 * library, the loader writes the offset, or the number of the module and the offset in the module's
 * block, to the place of a relocation. That place is read in the memory of the process. The table
 * of blocks (DTV) is that of glibc or musl. Nothing is written.
 *
 * The files and the memory belong to the traced programs and are untrusted: a false answer lets the
 * programs read other memory of the same process, which is all that it can do. Helpers read them
 * (stranger.c). If a helper finds no answer for a process, its contexts are unknown.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"
#include "elf/elf.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "bpf/bpf.h"
#include "otel.h"

#define VARIABLE "otel_thread_ctx_v1"

#ifdef __x86_64__
enum { X86_64 = 1 };
#else
enum { X86_64 = 0 };
#endif

enum {
	FILES = 4096,           /* that are remembered; then forget all */
	LOOKS = 64,             /* at a process; then wait between them */
	PATIENCE = 16,          /* so many times longer than the last one took */
	MODULES = 65536,        /* the most modules of a process */
	PAGE_MOST = 65536,      /* the largest size of pages */
	MAPS_MOST = 64 << 20,   /* the most bytes of mappings that are read */
	LONG_MS = 20,           /* a look that takes longer */
	FIRST_MS = 5000,        /* for the looks at all processes before the session */
	STATIC_MOST = 1 << 24,  /* an offset from the thread pointer is less, an address is more */
};

/* A file, by its device, inode, size and time of change. */
struct file {
	struct table_entry entry;
	int read;
	struct elf_tls tls;
};

static struct table files;

/* Return the regular file behind a link of procfs, or NULL; errno is ENOENT if the link is gone. */
static const struct file *file_at(const char *path)
{
	struct stat st;
	struct file *f;
	int fd = stranger_open(path, &st);

	if (fd < 0) {
		errno = fd == FILE_OTHER ? EINVAL : errno;
		return NULL;
	}
	if (files.n >= FILES)
		table_clear(&files);
	files.size = sizeof(*f);
	f = table_at(&files, (const char *)(const uint64_t []){
		st.st_dev, st.st_ino, (uint64_t)st.st_size, (uint64_t)st.st_ctim.tv_sec,
		(uint64_t)st.st_ctim.tv_nsec }, 5 * sizeof(uint64_t));
	if (!f->read)
		elf_tls(fd, (uint64_t)st.st_size, VARIABLE, &f->tls);
	f->read = 1;
	close(fd);
	return f;
}

/* A search in a process. */
struct search {
	pid_t pid;
	int memory, pages;      /* its /proc/PID/mem and pagemap */
	int musl;
	int by_loader;          /* the user executed the loader, and it the program */
	int waits;              /* the loader is at work on a library */
	int hidden;             /* the kernel refused to open a file of the process */
	uint64_t code;          /* bytes that can be executed and not written */
};

/*
 * Note why a file could not be opened. The context is unknown if we may not look at the process, or
 * if the server of the file does not answer.
 */
static void note_refusal(struct search *s)
{
	s->hidden |= errno == EACCES || errno == EPERM || errno == EHOSTDOWN;
}

/* Note that the helper waits for the process. Return 0 or -1. */
static int enter(const struct search *s)
{
	return stranger_enter(STRANGER_PROCESS | (unsigned)s->pid);
}

/*
 * Is the page in memory, or swapped (pagemap of proc(5))? The loader has written the words. To read
 * a page that is in a file would ask the server of that file.
 */
static int is_in_memory(const struct search *s, uint64_t at)
{
	uint64_t page = at / (uint64_t)sysconf(_SC_PAGESIZE), entry = 0;

	return s->pages < 0 || (pread(s->pages, &entry, 8, (off_t)(page * 8)) == 8 && entry >> 62);
}

/* Read two words of the process. Return 0 or -1. */
static int read_words(const struct search *s, uint64_t at, uint64_t words[2])
{
	return !enter(s) && is_in_memory(s, at) && is_in_memory(s, at + 15) &&
	       pread(s->memory, words, 16, (off_t)at) == 16 ? 0 : -1;
}

/* Set the place by what the loader has written for the file at base. Return 1, or 0. */
static int set_place(struct otel_place *p, const struct search *s, const struct elf_tls *t,
		     uint64_t base)
{
	int direct = t->form == ELF_TLS_OFFSET;

	p->words = base + t->words;
	if (read_words(s, p->words, p->word) < 0 || !p->word[0])
		return 0;
	p->offset = (int64_t)(p->word[direct ? 0 : 1] + t->value);
	if (t->form == ELF_TLS_DESC) {
		direct = p->word[1] + STATIC_MOST < 2 * STATIC_MOST;
		if (!direct) {
			p->words = p->word[1];
			/* before 2.34, glibc resolves it at its first use: it is a relocation */
			if (read_words(s, p->words, p->word) < 0 || p->word[0] == t->words)
				return 0;
			p->offset = (int64_t)(p->word[1] + t->value);
		}
	}
	if (direct)
		return p->offset && (uint64_t)p->offset + STATIC_MOST < 2 * STATIC_MOST;
	/* struct pthread: tcbhead_t of glibc, or its last member in musl on arm64 */
	p->dtv = X86_64 ? 8 : s->musl ? -8 : 0;
	p->length = s->musl ? 0 : -16;
	p->module = p->word[0] * (s->musl ? 8 : 16);
	if (t->form == ELF_TLS_OWN_MODULE)
		p->offset = (int64_t)t->value;
	return p->word[0] && p->word[0] < MODULES;
}

/* Look at a line of maps, "FROM-TO r-xp OFFSET MAJOR:MINOR INODE   PATH". Return 1 if found. */
static int look_at(struct otel_place *p, struct search *s, const char *line, const char *end)
{
	uint64_t from = text_hex(&line, end), to, offset;
	const struct file *f;
	char path[96];

	line += *line == '-';
	to = text_hex(&line, end);
	if (end - line < 6 || line[3] != 'x')
		return 0;
	/* as the kernel counts mm->exec_vm, without the page of the kernel's own */
	s->code += line[2] == 'w' || to >> 63 ? 0 : to - from;
	line += 6;
	offset = text_hex(&line, end);
	if (p->state == OTEL_FOUND || !memchr(line, '/', (size_t)(end - line)))
		return 0;
	str_format(path, sizeof(path), "%s/%d/map_files/%llx-%llx", path_procfs(), (int)s->pid,
		   (unsigned long long)from, (unsigned long long)to);
	f = file_at(path);
	if (!f)
		note_refusal(s);
	if (!f || !f->tls.named) {
		s->waits |= !f && errno == ENOENT;
		return 0;
	}
	if (!f->tls.words) { /* not a library */
		p->offset = s->by_loader && f->tls.loader ? f->tls.offset : 0;
		return p->offset != 0;
	}
	/* of several mappings of a file, one has the code */
	if (offset + PAGE_MOST <= f->tls.code_from || offset >= f->tls.code_end)
		return 0;
	if (set_place(p, s, &f->tls, from - offset - f->tls.code))
		return 1;
	*p = (struct otel_place){ 0 };
	s->waits = 1;
	return 0;
}

/*
 * Find the variable in the libraries of the process. A process may have as many mappings as it
 * likes, so read them in parts, and no more than MAPS_MOST bytes of them.
 */
static void find(struct otel_place *p, struct search *s)
{
	static char text[64 * 1024]; /* longer than any line */
	size_t n = 0, all = 0;
	const char *end;
	char path[64];
	ssize_t got;
	int fd;

	str_format(path, sizeof(path), "%s/%d/maps", path_procfs(), (int)s->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		note_refusal(s);
	while (all < MAPS_MOST && !enter(s) &&
	       (got = read(fd, text + n, sizeof(text) - n)) > 0) {
		const char *line = text;

		n += (size_t)got;
		all += (size_t)got;
		while ((end = memchr(line, '\n', (size_t)(text + n - line)))) {
			if (look_at(p, s, line, end))
				p->state = OTEL_FOUND;
			line = end + 1;
		}
		n -= (size_t)(line - text);
		memmove(text, line, n);
	}
	fd_close(fd);
	if (p->state == OTEL_FOUND)
		return;
	p->state = s->waits || s->hidden || all >= MAPS_MOST ? OTEL_UNKNOWN : OTEL_NONE;
	p->pending = s->waits != 0;
}

/* Does musl's loader start the program, which names no loader if it is one? */
static int is_musl(const struct file *program, const char *exe)
{
	char path[PATH_MAX];
	ssize_t n = program->tls.loader ? 0 : readlink(exe, path, sizeof(path) - 1);

	path[n < 0 ? 0 : n] = '\0';
	return program->tls.loader == ELF_MUSL || strstr(path, "musl");
}

/*
 * A process has mapped its libraries some time after its exec, and may do so long before the event
 * that tells of them: look again 1, 3, 9 ms and so on after it, up to 1 s, without being asked.
 */
static struct begun {
	pid_t pid;              /* 0: none */
	uint64_t due_us, wait_us;
} begun_programs[64];

static void look_again(pid_t pid, uint64_t now)
{
	struct begun *b = begun_programs, *const end = b + sizeof(begun_programs) / sizeof(*b);

	while (b < end && b->pid && b->pid != pid)
		b++;
	if (b < end) /* of more at once, the events tell */
		*b = (struct begun){ pid, now + 1000, 1000 };
}

static void forget_begun(pid_t pid)
{
	for (size_t i = 0; i < sizeof(begun_programs) / sizeof(*begun_programs); i++)
		if (begun_programs[i].pid == pid)
			begun_programs[i].pid = 0;
}

/* Find the place of a process, and the bytes of its code in .code: a stranger_fn. */
static void search(const void *question, struct stranger_answer *a)
{
	struct search s = { .memory = -1, .pages = -1 };
	struct otel_place *p = xcalloc(1, sizeof(*p));
	const struct file *program;
	char path[64];

	memcpy(&s.pid, question, sizeof(s.pid));
	str_format(path, sizeof(path), "%s/%d/exe", path_procfs(), (int)s.pid);
	program = file_at(path);
	if (!program)
		note_refusal(&s);
	if (program && program->tls.offset) {
		*p = (struct otel_place){ .state = OTEL_FOUND, .offset = program->tls.offset };
	} else {
		s.musl = program && is_musl(program, path);
		s.by_loader = program && !program->tls.loader;
		str_format(path, sizeof(path), "%s/%d/mem", path_procfs(), (int)s.pid);
		s.memory = open(path, O_RDONLY | O_CLOEXEC);
		if (s.memory < 0)
			note_refusal(&s);
		str_format(path, sizeof(path), "%s/%d/pagemap", path_procfs(), (int)s.pid);
		s.pages = open(path, O_RDONLY | O_CLOEXEC);
		find(p, &s);
		fd_close(s.memory);
		fd_close(s.pages);
	}
	p->code = s.code / (uint64_t)sysconf(_SC_PAGESIZE);
	a->part[0] = p;
	a->size[0] = sizeof(*p);
}

/* The looks that go on, by helper. */
static struct look {
	pid_t pid;              /* 0: none */
	uint64_t begun;
	int again;              /* it was asked for once more */
	struct otel_place old;
} looks[STRANGER_HELPERS];

/*
 * Wait at most so long for the end of a look, and write the place of the process to the map. If the
 * process changes its code while its mappings are read, the programs see at the next event that it
 * has not as many pages of code as were read, and send a note. Return 1 if the look has ended.
 */
static int end_look(const struct otel *o, int helper, int ms)
{
	struct look l = looks[helper];
	struct otel_place p = { 0 };
	struct stranger_answer a = { 0 };
	int r = stranger_end(helper, ms, &a);

	if (!r)
		return 0;
	looks[helper].pid = 0;
	if (a.size[0] == sizeof(p))
		memcpy(&p, a.part[0], sizeof(p));
	stranger_free(&a);
	p.looks = l.old.looks + 1;
	if (p.state == OTEL_FOUND)
		forget_begun(l.pid);
	else if (!l.old.looks || l.again)
		look_again(l.pid, l.begun);
	if (r < 0 || p.looks > LOOKS) /* a program that makes code all the time */
		p.next_us = l.begun + (PATIENCE + 1) * ((uint64_t)time_now_us() - l.begun);
	bpf_update(o->places, &l.pid, &p);
	return 1;
}

/* Wait for an idle helper, and return it. */
static int wait_for_helper(const struct otel *o)
{
	for (;;) {
		struct pollfd p[STRANGER_HELPERS];

		for (int i = 0; i < STRANGER_HELPERS; i++) {
			if (!looks[i].pid || end_look(o, i, 0))
				return i;
			p[i] = (struct pollfd){ .fd = stranger_fd(i), .events = POLLIN };
		}
		poll(p, STRANGER_HELPERS, LONG_MS);
	}
}

/*
 * Look at a process. If that takes longer than LONG_MS, go on without its end, so that no program
 * makes all others wait.
 */
static void look(const struct otel *o, pid_t pid)
{
	uint64_t begun = (uint64_t)time_now_us();
	struct otel_place old = { 0 };
	int helper;

	for (int i = 0; i < STRANGER_HELPERS; i++)
		if (looks[i].pid == pid) {
			looks[i].again = 1;
			return;
		}
	if (bpf_lookup(o->places, &pid, &old) < 0) { /* it has ended */
		forget_begun(pid);
		return;
	}
	if (begun < old.next_us)
		return;
	wait_for_helper(o);
	helper = stranger_begin(search, &pid, sizeof(pid), pid);
	if (helper < 0) {
		old = (struct otel_place){ .looks = old.looks + 1 };
		bpf_update(o->places, &pid, &old);
		return;
	}
	looks[helper] = (struct look){ .pid = pid, .begun = begun, .old = old };
	if (!end_look(o, helper, LONG_MS))
		stranger_demote(helper);
}

/* The looks before the session. */
struct first {
	const struct otel *otel;
	long long until;        /* in ms; the events tell of the processes after that */
};

static int look_at_process(void *of, pid_t pid)
{
	const struct otel_place p = { .pending = 1 };
	const struct first *f = of;

	bpf_update(f->otel->places, &pid, &p);
	if (time_now_ms() < f->until)
		look(f->otel, pid);
	return 0;
}

/* End the looks before the session, and leave those that do not end. */
static void end_looks(const struct first *f)
{
	for (int i = 0; i < STRANGER_HELPERS; i++) {
		long long left = f->until - time_now_ms();

		if (looks[i].pid && !end_look(f->otel, i, left > 0 ? (int)left : 0))
			looks[i].pid = 0; /* it is pending */
	}
}

int otel_find_all(const struct plan *plan, struct otel *o)
{
	const uint64_t needs = CAPS_SYS_PTRACE | CAPS_CHECKPOINT_RESTORE;
	struct first f = { o, time_now_ms() + FIRST_MS };
	struct pids now = { 0 }, known = { 0 };
	int r = 0;

	o->all = !plan->listed;
	if (bpf_is_printing())
		return 0;
	if (!caps_have(needs))
		return err_capability(needs, "unable to look at the files of other processes");
	if (o->all) {
		r = task_each_process(look_at_process, &f);
		end_looks(&f);
		return r;
	}
	/* A child of a process without a place is in the filter, which has no others at the end */
	while (!r) {
		pids_clear(&known);
		known = now;
		now = (struct pids){ 0 };
		r = pidfilter_list(plan->instance, &now);
		if (!r && pids_same(&known, &now))
			break;
		for (size_t i = 0; i < now.n; i++) {
			pid_t tgid;
			uid_t uid;

			if (task_ids(now.v[i], &tgid, &uid) == 0)
				look_at_process(&f, tgid);
		}
	}
	end_looks(&f);
	pids_clear(&known);
	pids_clear(&now);
	return r;
}

/* The ring buffer of notes, as the kernel maps it (kernel/bpf/ringbuf.c). */
struct ring {
	volatile unsigned long *read, *written; /* of the kernel's own size */
	const unsigned char *notes;
};

static int map_ring(struct ring *r, int fd)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *ours = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), *kernels;

	kernels = mmap(NULL, page + 2 * OTEL_NOTES, PROT_READ, MAP_SHARED, fd, (off_t)page);
	if (ours == MAP_FAILED || kernels == MAP_FAILED)
		return -1;
	*r = (struct ring){ (unsigned long *)(void *)ours,
			     (unsigned long *)(void *)kernels, kernels + page };
	return 0;
}

/* Take the pids of all notes, each once, as far as there is room. Return their number. */
static size_t take_notes(struct ring *r, pid_t *pids, size_t room)
{
	enum { NOTE = 16 }; /* 8 bytes of its head, and the pid */
	const uint32_t busy = 1u << 31;
	unsigned long at = *r->read;
	size_t n = 0, i;

	while (n < room && at < __atomic_load_n(r->written, __ATOMIC_ACQUIRE)) {
		const unsigned char *note = r->notes + (at & (OTEL_NOTES - 1));
		uint32_t head = __atomic_load_n((const uint32_t *)(const void *)note,
						__ATOMIC_ACQUIRE);
		pid_t pid;

		if (head & busy)
			break;
		memcpy(&pid, note + 8, sizeof(pid));
		for (i = 0; i < n && pids[i] != pid;)
			i++;
		pids[i] = pid;
		n += i == n;
		at += NOTE;
		__atomic_store_n(r->read, at, __ATOMIC_RELEASE);
	}
	return n;
}

/* Look at the programs that are due. Return the milliseconds until the next one, or -1. */
static int look_at_begun(const struct otel *o)
{
	uint64_t now = (uint64_t)time_now_us(), next = UINT64_MAX;

	for (size_t i = 0; i < sizeof(begun_programs) / sizeof(*begun_programs); i++) {
		struct begun *b = begun_programs + i;
		pid_t pid;

		if (b->pid && b->due_us <= now) {
			b->wait_us *= 3;
			b->due_us = now + b->wait_us;
			pid = b->pid;
			b->pid = b->wait_us > 1000000 ? 0 : pid;
			look(o, pid);
		}
		if (b->pid && b->due_us < next)
			next = b->due_us;
	}
	return next == UINT64_MAX ? -1 : next > now ? (int)((next - now + 999) / 1000) : 0;
}

void otel_serve(const struct otel *o, int until)
{
	struct pollfd p[2 + STRANGER_HELPERS] = { { .fd = o->notes, .events = POLLIN },
						  { .fd = until, .events = POLLIN } };
	pid_t pids[256];
	struct ring r = { 0 };

	if (map_ring(&r, o->notes) < 0)
		p[0].fd = -1;
	urgent_begin(); /* a program may publish a context within a millisecond of its start */
	confine_paths(CAPS_SYS_PTRACE | CAPS_MAPPED | CAPS_BPF, NULL, 0);
	stranger_stop_at(until);
	while (!p[1].revents) {
		size_t n = p[0].fd < 0 ? 0 : take_notes(&r, pids, sizeof(pids) / sizeof(*pids));
		int wait;

		for (size_t i = 0; i < n; i++)
			look(o, pids[i]);
		wait = look_at_begun(o);
		for (int i = 0; i < STRANGER_HELPERS; i++) {
			int busy = looks[i].pid && !end_look(o, i, 0);

			p[2 + i].fd = busy ? stranger_fd(i) : -1;
			p[2 + i].events = POLLIN;
			/* it may have to be abandoned */
			wait = busy && (wait < 0 || wait > LONG_MS) ? LONG_MS : wait;
		}
		poll(p, 2 + STRANGER_HELPERS, n ? 0 : wait);
	}
}
