/* SPDX-License-Identifier: ISC */
/*
 * otel_find.c - find the variable otel_thread_ctx_v1 of processes
 *
 * A program that defines the variable has it at an offset from the thread pointer that its file
 * says. A library gets the offset, or the number of its module and the offset in the module's
 * block, from the loader, which writes it to the place of a relocation. That place is read in the
 * memory of the process. The table of blocks (DTV) is that of glibc or musl. Nothing is written.
 *
 * The files and the memory belong to the traced programs and are untrusted: a false answer lets the
 * programs read other memory of the same process, which is all that it can do.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/base.h"
#include "proc/proc.h"
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
	LONG_US = 20000,        /* a look that takes longer */
	STATIC_MOST = 1 << 24,  /* an offset from the thread pointer is less, an address is more */
};

/* A file, by its device, inode, size and time of change. */
struct file {
	struct table_entry entry;
	int read;
	struct elf_tls tls;
};

static struct table files;

/* Return the file that a process has mapped there, or NULL. Set *id to its device and inode. */
static const struct file *file_at(const char *path, uint64_t id[2])
{
	struct stat st;
	int fd = file_open(path, FILE_REGULAR, O_RDONLY, &st);
	struct file *f;

	if (fd < 0)
		return NULL;
	id[0] = st.st_dev;
	id[1] = st.st_ino;
	if (files.n >= FILES)
		table_clear(&files);
	files.size = sizeof(*f);
	f = table_at(&files, (const char *)(const uint64_t []){
		st.st_dev, st.st_ino, (uint64_t)st.st_size, (uint64_t)st.st_ctim.tv_sec,
		(uint64_t)st.st_ctim.tv_nsec }, 5 * sizeof(uint64_t));
	if (!f->read++)
		elf_tls(fd, (uint64_t)st.st_size, VARIABLE, &f->tls);
	close(fd);
	return f;
}

/* A search in a process. */
struct search {
	pid_t pid;
	int memory;             /* its /proc/PID/mem */
	uint64_t program[2];    /* device and inode of the program */
	int musl;
	int waits;              /* the loader has yet to write to the place of a relocation */
	int hidden;             /* the kernel refused to open a file of the process */
	uint64_t code;          /* bytes that can be executed and not written */
};

/* Note why a file could not be opened: a process that we may not look at is unknown. */
static void note_refusal(struct search *s)
{
	s->hidden |= errno == EACCES || errno == EPERM;
}

/* Read two words of the process. Return 0 or -1. */
static int read_words(const struct search *s, uint64_t at, uint64_t words[2])
{
	return pread(s->memory, words, 16, (off_t)at) == 16 ? 0 : -1;
}

/* Set the place to that of a module. Return 1, or 0 if there cannot be such a module. */
static int set_module(struct otel_place *p, const struct search *s, const uint64_t words[2])
{
	/* struct pthread: tcbhead_t of glibc, or its last member in musl on arm64 */

	if (!words[0] || words[0] >= MODULES)
		return 0;
	p->dtv = X86_64 ? 8 : s->musl ? -8 : 0;
	p->module = words[0] * (s->musl ? 8 : 16);
	p->offset = (int64_t)words[1];
	return 1;
}

/* Set the place by what the loader has written for the file at base. Return 1, or 0. */
static int set_place(struct otel_place *p, const struct search *s, const struct elf_tls *t,
		     uint64_t base)
{
	uint64_t words[2];

	if (read_words(s, base + t->words, words) < 0)
		return 0;
	switch (t->form) {
	case ELF_TLS_OFFSET:
		p->offset = (int64_t)words[0];
		return words[0] != 0;
	case ELF_TLS_OWN_MODULE:
		words[1] = t->value;
		return set_module(p, s, words);
	case ELF_TLS_MODULE:
		return set_module(p, s, words);
	case ELF_TLS_DESC:
		if (!words[0])
			return 0;
		p->offset = (int64_t)words[1];
		if (words[1] + STATIC_MOST < 2 * STATIC_MOST)
			return words[1] != 0;
		/* before 2.34, glibc resolves it at its first use; until then it is a relocation */
		return !read_words(s, words[1], words) && words[0] != t->words &&
		       set_module(p, s, words);
	}
	return 0;
}

/* Look at a line of maps, "FROM-TO r-xp OFFSET MAJOR:MINOR INODE   PATH". Return 1 if found. */
static int look_at(struct otel_place *p, struct search *s, const char *line, const char *end)
{
	uint64_t from = text_hex(&line, end), to, offset, id[2];
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
	f = file_at(path, id);
	if (!f)
		note_refusal(s);
	if (!f || !f->tls.named)
		return 0;
	if (f->tls.offset && !memcmp(id, s->program, sizeof(id))) {
		p->offset = f->tls.offset;
		return 1;
	}
	if (!f->tls.words)
		return 0;
	if (set_place(p, s, &f->tls, from - offset - f->tls.code))
		return 1;
	*p = (struct otel_place){ 0 };
	s->waits = 1;
	return 0;
}

/* Find the variable of the process. */
static void find(struct otel_place *p, struct search *s, const char *text)
{
	const char *next;

	for (const char *line = text; *line; line = next) {
		const char *end = line + strcspn(line, "\n");

		next = end + (*end == '\n');
		if (look_at(p, s, line, end))
			p->state = OTEL_FOUND;
	}
	if (p->state == OTEL_FOUND)
		return;
	p->state = s->waits || s->hidden ? OTEL_UNKNOWN : OTEL_NONE;
	p->pending = s->waits != 0;
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

/*
 * Write the place of the process to the map. If the programs see more code while this is read, they
 * do so again at the next event: the old number of pages stays. Return 1 if no look is to follow.
 */
static int look(const struct otel *o, pid_t pid)
{
	struct search s = { .pid = pid };
	struct otel_place p = { 0 }, old = { 0 };
	const struct file *program;
	uint64_t begun = (uint64_t)time_now_us();
	char path[64], *text;
	int cut;

	if (bpf_lookup(o->places, &pid, &old) < 0) /* it has ended */
		return 1;
	if (begun < old.next_us)
		return 0;
	str_format(path, sizeof(path), "%s/%d/exe", path_procfs(), (int)pid);
	program = file_at(path, s.program);
	s.musl = program && program->tls.musl;
	str_format(path, sizeof(path), "%s/%d/mem", path_procfs(), (int)pid);
	s.memory = open(path, O_RDONLY | O_CLOEXEC);
	if (s.memory < 0)
		note_refusal(&s);
	text = procfs_read(pid, "maps", NULL, &cut);
	if (!text)
		note_refusal(&s);
	find(&p, &s, text ? text : "");
	free(text);
	fd_close(s.memory);
	p.code = old.code ? old.code : s.code / (uint64_t)sysconf(_SC_PAGESIZE);
	p.looks = old.looks + 1;
	if (!old.looks && p.state != OTEL_FOUND)
		look_again(pid, begun);
	if (p.looks > LOOKS) /* a program that makes code all the time */
		p.next_us = begun + (PATIENCE + 1) * ((uint64_t)time_now_us() - begun);
	bpf_update(o->places, &pid, &p);
	return p.state == OTEL_FOUND;
}

static int look_at_process(void *otel, pid_t pid)
{
	const struct otel_place p = { .pending = 1 };
	const struct otel *o = otel;

	bpf_update(o->places, &pid, &p);
	look(o, pid);
	return 0;
}

int otel_find_all(const struct memory_plan *plan, struct otel *o)
{
	const uint64_t needs = CAPS_SYS_PTRACE | CAPS_CHECKPOINT_RESTORE;
	struct pids now = { 0 }, known = { 0 };
	int r = 0;

	o->all = !plan->tasks;
	if (bpf_is_printing())
		return 0;
	if (!caps_have(needs))
		return err_capability(needs, "unable to look at the files of other processes");
	if (o->all)
		return task_each_process(look_at_process, o);
	/* A child of a process without a place is in the filter, which has no others at the end */
	while (!r) {
		pids_clear(&known);
		known = now;
		now = (struct pids){ 0 };
		r = pidfilter_list(plan->tasks, &now);
		if (!r && pids_same(&known, &now))
			break;
		for (size_t i = 0; i < now.n; i++) {
			pid_t tgid;
			uid_t uid;

			if (task_ids(now.v[i], &tgid, &uid) == 0)
				look_at_process(o, tgid);
		}
	}
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

		if (b->pid && b->due_us <= now) {
			b->wait_us *= 3;
			b->due_us = now + b->wait_us;
			if (look(o, b->pid) || b->wait_us > 1000000)
				b->pid = 0;
		}
		if (b->pid && b->due_us < next)
			next = b->due_us;
	}
	return next == UINT64_MAX ? -1 : next > now ? (int)((next - now + 999) / 1000) : 0;
}

void otel_serve(const struct otel *o, int until)
{
	struct pollfd p[] = { { .fd = o->notes, .events = POLLIN },
			      { .fd = until, .events = POLLIN } };
	pid_t pids[256];
	struct ring r = { 0 };
	int wait;

	if (map_ring(&r, o->notes) < 0)
		p[0].fd = -1;
	urgent_begin(); /* a program may publish a context within a millisecond of its start */
	confine_paths(CAPS_SYS_PTRACE | CAPS_MAPPED | CAPS_BPF, NULL, 0);
	while (!p[1].revents) {
		size_t n = p[0].fd < 0 ? 0 : take_notes(&r, pids, sizeof(pids) / sizeof(*pids));

		for (size_t i = 0; i < n; i++) {
			long long begun = time_now_us();

			look(o, pids[i]);
			if (time_now_us() - begun > LONG_US) /* no program makes all others wait */
				urgent_end();
		}
		wait = look_at_begun(o);
		poll(p, 2, n ? 0 : wait);
	}
}
