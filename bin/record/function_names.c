/* SPDX-License-Identifier: ISC */
/*
 * function_names.c - name the functions of programs, by their addresses in the memory of a task
 *
 * The symbols of the file that is mapped at an address name the function. The files belong to the
 * traced programs and are untrusted.
 *
 * A task may have ended, or executed another program, when its records are read. So the kernel says
 * what a process maps from its exec on, and which children it has (mapped_files.c).
 *
 * Another library may take the place of an unloaded one. The kernel's records have times, so an
 * address belongs to the library that was there when the trace recorded the address.
 *
 * For a program that was executed before the session, or if the kernel does not tell, maps of
 * /proc/PID is read, but only while the task has the name that it had at the record. The link in
 * /proc/PID/map_files leads to the mapped file itself, also if it was replaced or deleted.
 */
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"
#include "elf/elf.h"
#include "event/event.h"
#include "live/live.h"
#include "record.h"

enum {
	OLD_MS = 1000,          /* look at what a process maps again after so long */
	MISSED_MS = 63,         /* or at most so long, if an address was not in the list */
	JIT_MS = 127,           /* read the functions of a JIT again after at most so long */
	PATIENCE = 16,          /* and so many times longer than the last look took */
	REGIONS = 512,          /* of a process; more are not named */
	TASKS = 4096,           /* that are remembered, by pid */
	PROCESSES = 1024,       /* that are remembered */
	RECENT_NS = 200000000,          /* a process has ended in this time */
	PROGRAMS = 8,           /* of a process, the last ones; a power of 2 */
	BYTES = 256 << 20,      /* of functions and texts; then forget all and begin anew */
	FILE_BYTES = 4096,      /* counted for a file without functions */
	LONGEST = 250,          /* bytes of a name */
};

/* The beginning of an entry, so that one function can free both kinds. */
struct kept {
	struct table_entry entry;
	void *allocated[4];
	size_t bytes;                   /* of all */
};

/* A file. The key is its struct mapped_file, and its path. */
struct file {
	struct kept kept;
	struct elf_functions functions; /* with .v and .names of kept */
	struct elf_unwind tables;       /* with .v and .bytes of kept */
	struct {
		int read;               /* they are those of the file, if it has any */
		int failed;             /* the last task for which it could not be read */
	} of[2];                        /* enum contents */
	/* of a JIT: when to read its functions again, in ms, and how long that waits */
	long long again_at, wait;
};
enum contents { FUNCTIONS, TABLES };

/* A part of a file that a process can execute. */
struct region {
	uint64_t from, to, offset;
	uint64_t since;                 /* when it was mapped; 0: not known */
	struct file *file;
	unsigned program;               /* number of the program that has mapped it */
};

/* The files that a process maps. The key is its tgid; kept has the regions. */
struct process_maps {
	struct kept kept;
	long long at;                   /* when it was read, or could not be read */
	long long cost_ms;              /* what that took */
	int missed_ms;                  /* wait so long if an address is not in the list */
	struct region *regions;
	size_t n, room;
	int told;                       /* the kernel tells all that it maps */
	uint64_t ended;                 /* when its first thread has; 0: not yet */
	unsigned program;               /* how many programs it has begun */
	struct {
		uint64_t since;         /* when it began */
		char name[16];          /* TASK_COMM_LEN */
	} programs[PROGRAMS];           /* by their numbers */
};

static struct {
	struct table files, processes;
	size_t bytes;                   /* of functions and texts */
	uint64_t ended;                 /* when the last process has */
	uint64_t now;                   /* of the last record, by the clock of perf; 0: not known */
	struct known_task {
		int pid;
		pid_t tgid;             /* 0: not known */
		int asked;              /* procfs was asked for it */
		uint64_t caller;        /* of the last event; 0: none, or its stack is printed */
	} tasks[TASKS];
} all; /* large; an initializer would put it into the program's file */

static void forget(struct table *t, void *entry)
{
	struct kept *k = entry;

	all.bytes -= k->bytes;
	for (size_t i = 0; i < sizeof(k->allocated) / sizeof(*k->allocated); i++)
		free(k->allocated[i]);
	table_remove(t, k);
}

static void forget_all(struct table *t)
{
	for (size_t i = 0; i < t->room;)
		if (t->v[i]) /* the removal may move another entry here */
			forget(t, t->v[i]);
		else
			i++;
}

static struct file *file_at(const struct mapped_file *as, const char *path, size_t n)
{
	char key[sizeof(*as) + PATH_MAX];
	struct file *f;

	n = n < PATH_MAX ? n : PATH_MAX;
	memcpy(key, as, sizeof(*as));
	memcpy(key + sizeof(*as), path, n);
	all.files.size = sizeof(*f);
	f = table_at(&all.files, key, sizeof(*as) + n);
	if (!f->kept.bytes)
		all.bytes += f->kept.bytes = FILE_BYTES;
	return f;
}

/* Code that is in no file: its struct mapped_file has inode 0 */
static const char vdso[] = "[vdso]", jit[] = "[jit]", anonymous[] = "//anon";

static const struct mapped_file *key_of(const struct file *f)
{
	return (const void *)f->kept.entry.key;
}

static const char *path_of(const struct file *f)
{
	return f->kept.entry.key + sizeof(struct mapped_file);
}

struct file_question {
	struct mapped_file as;
	char link[96];                  /* "": the task does not map it now */
	char path[PATH_MAX];
};

/* Is the file that is mapped now another one? On overlayfs a file may have two inodes. */
static int is_other(const struct file_question *q, const struct stat *st)
{
	char path[PATH_MAX];
	ssize_t n;

	if (st->st_ino == q->as.inode)
		return 0;
	n = readlink(q->link, path, sizeof(path));
	return n < 0 || (size_t)n != strlen(q->path) || memcmp(path, q->path, (size_t)n);
}

/* Open the file at the link, or else that at the path, if it is the same. */
static int open_mapped(const struct file_question *q, struct stat *st, struct stranger_answer *a)
{
	int fd = *q->link ? stranger_open(q->link, st) : -1;

	if (fd >= 0 && is_other(q, st)) {
		close(fd);
		fd = -1;
	}
	if (fd < 0 && !stranger_enter(makedev(q->as.major, q->as.minor))) {
		fd = stranger_open(q->path, st);
		if (fd >= 0 && st->st_ino != q->as.inode) {
			close(fd);
			fd = FILE_OTHER;
		}
	}
	if (fd < 0)
		a->error = fd == FILE_OTHER ? ENOENT : errno;
	return fd;
}

/* In a helper: read the tables by which stacks are unwound. */
static void read_tables(const void *question, struct stranger_answer *a)
{
	struct elf_unwind u;
	struct stat st;
	int fd = open_mapped(question, &st, a);

	if (fd < 0)
		return;
	elf_unwind_read(fd, (uint64_t)st.st_size, &u);
	close(fd);
	a->part[0] = u.v;
	a->size[0] = u.n * sizeof(*u.v);
	a->part[1] = u.bytes;
	a->size[1] = u.size;
}

/* In a helper: read the functions. */
static void read_functions(const void *question, struct stranger_answer *a)
{
	struct elf_functions f;
	struct stat st;
	int fd = open_mapped(question, &st, a);

	if (fd < 0)
		return;
	elf_functions(fd, (uint64_t)st.st_size, &f);
	close(fd);
	a->part[0] = f.v;
	a->size[0] = f.n * sizeof(*f.v);
	a->part[1] = f.names;
	a->size[1] = (size_t)f.names_size;
}

/* Take the functions that a helper has read, unless a name lies outside of the names. */
static void take_functions(struct file *f, struct stranger_answer *a)
{
	struct elf_functions all_of = {
		.v = a->part[0], .n = a->size[0] / sizeof(*all_of.v),
		.names = a->part[1], .names_size = a->size[1],
	};

	for (size_t i = 0; i < all_of.n; i++)
		if (all_of.v[i].name >= all_of.names_size) {
			stranger_free(a);
			return;
		}
	f->functions = all_of;
}

/* Take the tables that a helper has read, unless they are none. */
static void take_tables(struct file *f, struct stranger_answer *a)
{
	f->tables = (struct elf_unwind){
		.v = a->part[0], .n = a->size[0] / sizeof(*f->tables.v),
		.bytes = a->part[1], .size = a->size[1],
	};
	if (elf_unwind_check(&f->tables) < 0) {
		stranger_free(a);
		f->tables = (struct elf_unwind){ 0 };
	}
}

/* Forget the functions, because others come. */
static void drop_functions(struct file *f)
{
	const size_t bytes = f->functions.n * sizeof(*f->functions.v) +
			     (size_t)f->functions.names_size;

	f->kept.bytes -= bytes;
	all.bytes -= bytes;
	for (int i = 0; i < 2; i++) {
		free(f->kept.allocated[i]);
		f->kept.allocated[i] = NULL;
	}
	f->functions = (struct elf_functions){ 0 };
}

/* Take what a helper has read, or free it. */
static void take(struct file *f, struct stranger_answer *a, enum contents what)
{
	if (a->error) {
		stranger_free(a);
		return;
	}
	if (what == TABLES)
		take_tables(f, a);
	else
		take_functions(f, a);
	f->kept.allocated[2 * what] = a->part[0];
	f->kept.allocated[2 * what + 1] = a->part[1];
	f->kept.bytes += a->size[0] + a->size[1];
	all.bytes += a->size[0] + a->size[1];
}

/* Take functions and tables of the vDSO, of which each process has the same. */
static void take_vdso(struct file *f)
{
	const ElfW(Ehdr) *e = (const void *)getauxval(AT_SYSINFO_EHDR);
	const size_t size = e ? (size_t)e->e_shoff + (size_t)e->e_shnum * e->e_shentsize : 0;
	int fd = e ? (int)syscall(SYS_memfd_create, "vdso", MFD_CLOEXEC) : -1;

	if (fd >= 0 && !fd_write_all(fd, (const char *)e, size)) {
		elf_functions(fd, size, &f->functions);
		elf_unwind_read(fd, size, &f->tables);
		elf_unwind_check(&f->tables);
	}
	fd_close(fd);
}

/* Take the functions of a JIT, whose process f names, unless nothing was found a moment ago. */
static void take_jit(struct file *f)
{
	const int tgid = (int)key_of(f)->minor;
	struct stranger_answer a;

	if (time_now_ms() < f->again_at || procfs_begin_file() < 0)
		return;
	if (!stranger_ask(jit_read, &tgid, sizeof(tgid), tgid, &a)) {
		if (!a.error)
			drop_functions(f);
		take(f, &a, FUNCTIONS);
	}
	procfs_end();
}

/* Take the functions of code that is in no file. For those of a JIT, see take_jit. */
static void take_special(struct file *f)
{
	if (!strcmp(path_of(f), vdso))
		take_vdso(f);
	f->of[FUNCTIONS].read = f->of[TABLES].read = 1;
}

/*
 * Read the functions of the file, or its tables. mapped: the task still maps it, unless it has
 * ended.
 */
static void read_mapped(const struct region *r, int pid, int mapped, enum contents what)
{
	struct file *f = r->file;
	struct file_question q = { .as = *key_of(f) };
	struct stranger_answer a;
	size_t n;

	if (!q.as.inode)
		take_special(f);
	if (f->of[what].read || f->of[what].failed == pid || all.bytes >= BYTES ||
	    procfs_begin_file() < 0)
		return;
	if (mapped)
		str_format(q.link, sizeof(q.link), "%s/%d/map_files/%llx-%llx", path_procfs(), pid,
			   (unsigned long long)r->from, (unsigned long long)r->to);
	n = (size_t)str_format(q.path, sizeof(q.path), "%s", path_of(f));
	if (!stranger_ask(what == TABLES ? read_tables : read_functions, &q,
			  offsetof(struct file_question, path) + n + 1, pid, &a)) {
		if (a.error == EHOSTDOWN)
			procfs_miss();
		f->of[what].read = !a.error;
		take(f, &a, what);
	}
	f->of[what].failed = f->of[what].read ? 0 : pid;
	procfs_end();
}

/* Add a region. Return 0, or -1 if the process has too many. */
static int add_region(struct process_maps *p, const struct region *r)
{
	const size_t room = p->room;

	if (p->n == REGIONS)
		return -1;
	p->kept.allocated[0] = p->regions = xgrow(p->regions, p->n, &p->room, sizeof(*r));
	p->kept.bytes += (p->room - room) * sizeof(*r);
	all.bytes += (p->room - room) * sizeof(*r);
	p->regions[p->n] = *r;
	p->regions[p->n++].program = p->program;
	return 0;
}

static int begins_with(const char *path, size_t n, const char *word)
{
	return n >= strlen(word) && !memcmp(path, word, strlen(word));
}

/*
 * Return the file at a region; NULL: none that is of use. Anonymous memory belongs to a JIT, whose
 * functions have addresses in place of offsets.
 */
static struct file *region_file(struct region *r, pid_t tgid, const struct mapped_file *as,
				const char *path, size_t n)
{
	const struct mapped_file of = { .minor = (uint32_t)tgid };

	if (!n || begins_with(path, n, anonymous) || begins_with(path, n, "[anon:") ||
	    begins_with(path, n, "/memfd:doublemapper")) { /* of .NET */
		r->offset = r->from;
		return file_at(&of, jit, strlen(jit));
	}
	return as->inode || (n == strlen(vdso) && !memcmp(path, vdso, n)) ? file_at(as, path, n) :
	       NULL;
}

/* Read a line of maps, "FROM-TO r-xp OFFSET MAJOR:MINOR INODE   PATH" (proc(5)). */
static int read_line(struct process_maps *p, pid_t tgid, pid_t pid, const char *line,
		     const char *end)
{
	struct mapped_file as = { 0 };
	struct region r = { 0 };
	const char *path;

	r.from = text_hex(&line, end);
	line += *line == '-';
	r.to = text_hex(&line, end);
	if (end - line < 6 || line[3] != 'x')
		return 0;
	line += 6;
	r.offset = text_hex(&line, end);
	line += *line == ' ';
	as.major = (uint32_t)text_hex(&line, end);
	line += *line == ':';
	as.minor = (uint32_t)text_hex(&line, end);
	line += *line == ' ';
	as.inode = text_digits(&line);
	path = line + strspn(line, " ");
	r.file = region_file(&r, tgid, &as, path, (size_t)(end - path));
	if (!r.file)
		return 0;
	read_mapped(&r, pid, 1, FUNCTIONS);
	return add_region(p, &r);
}

/*
 * Read what the task maps. Change nothing if it has ended or has another name than comm. Regions
 * after PROCFS_MOST bytes are not known.
 */
static void read_maps(struct process_maps *p, pid_t tgid, pid_t pid, const char *comm)
{
	char *text, *next;
	struct task t;
	int cut;

	if (task_read(pid, &t) < 0 || !comm || strcmp(t.comm, comm))
		return;
	text = procfs_read(pid, "maps", NULL, &cut);
	if (text && *text)
		p->n = 0;
	for (char *line = text; line && *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		if (read_line(p, tgid, pid, line, line + strlen(line)) < 0) {
			if (!cut)
				procfs_miss();
			break;
		}
	}
	free(text);
}

/* Read what the task maps. The longer that takes, the longer wait until the next time. */
static void look_again(struct process_maps *p, pid_t tgid, pid_t pid, const char *comm)
{
	long long begun = time_now_us();

	if (procfs_begin() < 0)
		return;
	read_maps(p, tgid, pid, comm);
	procfs_end();
	p->at = time_now_ms();
	p->cost_ms = (time_now_us() - begun) / 1000;
}

static int is_called(const struct process_maps *p, unsigned program, const char *name)
{
	return !strcmp(p->programs[program % PROGRAMS].name, name);
}

/*
 * Return which program the process, whose task has this name, executed at the time of the record,
 * which may be older than the last exec. If the time is not known, go by the name.
 */
static unsigned program_at(const struct process_maps *p, const char *name)
{
	unsigned program = p->program, first = program < PROGRAMS ? 0 : program - PROGRAMS + 1;

	if (!all.now)
		return program && name && !is_called(p, program, name) &&
		       is_called(p, program - 1, name) ? program - 1 : program;
	while (program > first && p->programs[program % PROGRAMS].since > all.now)
		program--;
	return program;
}

/*
 * Return the region with the address, of a process whose task has this name. Later regions are of
 * files that were mapped where others had been.
 */
static const struct region *region_at(const struct process_maps *p, const char *name,
				      uint64_t address)
{
	const unsigned program = program_at(p, name);
	const struct region *found = NULL;

	for (size_t i = p->n; i--;) {
		const struct region *r = &p->regions[i];

		if (address < r->from || address >= r->to)
			continue;
		if (r->program == program && (!all.now || r->since <= all.now))
			return r;
		found = found ? found : r;
	}
	return found;
}

static struct process_maps *process_at(pid_t tgid)
{
	all.processes.size = sizeof(struct process_maps);
	return table_at(&all.processes, (const char *)&tgid, sizeof(tgid));
}

static void forget_process(pid_t tgid)
{
	void *p = table_find(&all.processes, (const char *)&tgid, sizeof(tgid));

	if (p)
		forget(&all.processes, p);
}

/* The process begins a program of this name. Keep the regions of the last ones. */
static void begin_program(struct process_maps *p, const char *name, uint64_t when)
{
	const unsigned keep = p->n < REGIONS / 2 ? PROGRAMS - 1 : 1;
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		if (p->program - p->regions[i].program < keep)
			p->regions[n++] = p->regions[i];
	p->n = p->told ? n : 0;
	p->told = 1;
	p->program++;
	p->programs[p->program % PROGRAMS].since = when;
	str_format(p->programs[p->program % PROGRAMS].name, sizeof(p->programs->name), "%s", name);
}

/* A process begins, as a copy of its parent. */
static void begin_process(pid_t tgid, pid_t parent_tgid)
{
	const struct process_maps *parent;
	struct process_maps *p;

	forget_process(tgid);
	parent = table_find(&all.processes, (const char *)&parent_tgid, sizeof(parent_tgid));
	if (!parent || !parent->n)
		return;
	p = process_at(tgid);
	p->told = parent->told;
	memcpy(p->programs, parent->programs, sizeof(p->programs));
	for (size_t i = 0; i < parent->n; i++) {
		p->program = parent->regions[i].program;
		add_region(p, &parent->regions[i]);
	}
	p->program = parent->program;
}

static void end_process(pid_t tgid, uint64_t when)
{
	struct process_maps *p = table_find(&all.processes, (const char *)&tgid, sizeof(tgid));

	if (p)
		p->ended = when;
	all.ended = when;
}

/*
 * Forget processes that have ended, so that many short ones do not cost the files of others. Stacks
 * of the last ones may still come.
 */
static void forget_ended(void)
{
	struct table *t = &all.processes;
	const struct process_maps *p;

	for (size_t i = 0; i < t->room;)
		if ((p = (void *)t->v[i]) && p->ended && p->ended + RECENT_NS < all.ended)
			forget(t, t->v[i]); /* the removal may move another entry here */
		else
			i++;
}

static void make_room(void)
{
	if (all.processes.n >= PROCESSES)
		forget_ended();
	if (all.bytes < BYTES && all.processes.n < PROCESSES)
		return;
	forget_all(&all.processes); /* their regions point to the files */
	forget_all(&all.files);
}

/* Note what the kernel has told since the last call. */
static void learn(void)
{
	const struct mapping *m;
	struct region r;
	uint64_t when;

	for (; (m = mappings_next(&when)); make_room())
		switch (m->head.type) {
		case K_PERF_RECORD_LOST:
			forget_all(&all.processes);
			break;
		case K_PERF_RECORD_FORK:
			all.tasks[(unsigned)m->fork.pid % TASKS] = (struct known_task){
				.pid = m->fork.pid, .tgid = m->fork.tgid, .asked = 1 };
			if (m->fork.tgid != m->fork.parent_tgid)
				begin_process(m->fork.tgid, m->fork.parent_tgid);
			break;
		case K_PERF_RECORD_EXIT:
			if (m->fork.pid == m->fork.tgid)
				end_process(m->fork.tgid, when);
			break;
		case K_PERF_RECORD_COMM:
			if (m->head.misc & K_PERF_RECORD_MISC_COMM_EXEC)
				begin_program(process_at(m->comm.tgid), m->comm.name, when);
			break;
		case K_PERF_RECORD_MMAP2:
			if (!process_at(m->map.tgid)->told)
				break;
			r = (struct region){
				.from = m->map.from, .to = m->map.from + m->map.length,
				.offset = m->map.offset, .since = when,
			};
			r.file = region_file(&r, m->map.tgid, &m->map.file, m->map.path,
					     strlen(m->map.path));
			if (!r.file)
				break;
			if (add_region(process_at(m->map.tgid), &r) < 0)
				forget_process(m->map.tgid); /* procfs has the present ones */
		}
}

static struct known_task *task_of(int pid)
{
	struct known_task *t = &all.tasks[(unsigned)pid % TASKS];

	if (t->pid != pid)
		*t = (struct known_task){ .pid = pid };
	if (!t->asked && table_find(&all.processes, (const char *)&pid, sizeof(pid))) {
		t->tgid = pid;
		t->asked = 1;
	}
	if (!t->asked && !procfs_begin()) {
		uid_t uid;

		t->asked = 1;
		if (task_ids(pid, &t->tgid, &uid) < 0)
			t->tgid = 0;
		procfs_end();
	}
	return t;
}

/* Did the program map another file at the place of the region, before or after it? */
static int is_shared(const struct process_maps *p, const struct region *r)
{
	for (const struct region *other = p->regions; other < p->regions + p->n; other++)
		if (other->program == r->program && other->file != r->file &&
		    other->from < r->to && r->from < other->to)
			return 1;
	return 0;
}

/* Return what the task of this name maps at the address, or NULL if that is not known. */
static const struct region *find(const char *name, int pid, uint64_t address)
{
	pid_t tgid = task_of(pid)->tgid;
	struct process_maps *p;
	const struct region *r;
	long long age;

	if (!tgid)
		return NULL;
	make_room();
	p = process_at(tgid);
	r = region_at(p, name, address);
	if (p->told && r && !all.now && is_shared(p, r))
		return NULL; /* it is not known which file was there */
	if (p->told && r && !r->file->of[FUNCTIONS].read)
		read_mapped(r, pid, r->program == p->program && !is_shared(p, r), FUNCTIONS);
	if (p->told)
		return r;
	age = time_now_ms() - p->at;
	if (p->at && age < (r ? OLD_MS : p->missed_ms) + PATIENCE * p->cost_ms)
		return r;
	/* a task that just began a program may not have mapped it yet: soon look again */
	if (!r && p->missed_ms < MISSED_MS)
		p->missed_ms = 2 * p->missed_ms + (p->at != 0);
	look_again(p, tgid, pid, name);
	return region_at(p, name, address);
}

/* Print a name of most bytes without those that end a value, need quotes or are no ASCII. */
static void put_name(struct out *o, const char *s, size_t most)
{
	for (; *s && most--; s++)
		out_char(o, *s <= ' ' || *s >= 0x7f || *s == '"' || *s == '\\' || *s == ';' ||
			 *s == '=' ? '?' : *s);
}

/* Find the function at an address in the region. */
static void find_function(const struct region *r, uint64_t address, struct program_place *at)
{
	struct file *f = r->file;
	const char *path = path_of(f);

	*at = (struct program_place){
		.file = path, .offset = address - r->from + r->offset,
		.tables = f->tables.n ? &f->tables : NULL,
		.kind = key_of(f)->inode || strcmp(path, jit) ? PLACE_OF_FILE : PLACE_OF_JIT,
	};
	at->name = elf_function_around(&f->functions, at->offset, &at->into);
	if (at->name || at->kind != PLACE_OF_JIT)
		return;
	take_jit(f);
	at->name = elf_function_around(&f->functions, at->offset, &at->into);
	/* the longer that finds nothing, the longer it waits */
	f->wait = at->name ? 0 : f->wait < JIT_MS ? 2 * f->wait + 1 : f->wait;
	f->again_at = f->wait ? time_now_ms() + f->wait : 0;
}

/*
 * Do as programs_function does. frame: 0 without the place in the function, 1 with it, 2 also with
 * its file.
 */
static void put_function(struct out *o, const struct program_place *at, int call, int frame)
{
	const char *name = at->name;
	size_t n = name ? strcspn(name, at->kind == PLACE_OF_JIT ? "" : "@") : LONGEST;

	if (name || frame != 1)
		put_name(o, name ? name : at->file, n < LONGEST ? n : LONGEST);
	if (name && !frame)
		return;
	out_text(o, name ? "+0x" : ":0x", 3);
	out_hex(o, (name ? at->into : at->offset) + (uint64_t)call);
	if (name && frame > 1) {
		out_string(o, " (");
		put_name(o, at->file, LONGEST);
		out_char(o, ')');
	}
}

int programs_put(const struct event_set *evs, struct out *o, int pid, uint64_t address, int call,
		 int frame)
{
	const struct region *r = find(line_task_name(evs, pid), pid, address - (uint64_t)call);
	struct program_place at;

	if (!r)
		return 0;
	/* the call may be the last instruction of its function */
	find_function(r, address - (uint64_t)call, &at);
	put_function(o, &at, call, 2 * frame);
	return 1;
}

/* Does the kernel tell what the process of the task maps? */
static int is_told(int pid)
{
	const struct known_task *t = &all.tasks[(unsigned)pid % TASKS];
	const pid_t tgid = t->pid == pid && t->tgid ? t->tgid : pid;
	const struct process_maps *p;

	p = table_find(&all.processes, (const char *)&tgid, sizeof(tgid));
	return p && p->told;
}

void programs_learn(uint64_t ts)
{
	learn();
	all.now = mappings_time(ts);
}

void programs_at(const char *name, int pid, pid_t tgid, uint64_t address, struct program_place *at)
{
	struct known_task *t = task_of(pid);
	const struct process_maps *p;
	const struct region *r;

	t->tgid = tgid;
	t->asked = 1;
	r = find(name, pid, address);
	*at = (struct program_place){ 0 };
	if (!r)
		return;
	p = process_at(tgid);
	if (!r->file->of[TABLES].read)
		read_mapped(r, pid, !p->told || (r->program == p->program && !is_shared(p, r)),
			    TABLES);
	find_function(r, address, at);
}

void programs_function(struct out *o, const struct program_place *at, int call, int whole)
{
	put_function(o, at, call, 1 + whole);
}

uint64_t programs_record(struct line_format *l, const struct record *r)
{
	struct event_set *evs = l->events;
	const struct event *e = event_wanted(evs, r);
	int pid = record_pid(evs, r), new = record_names_task(evs, r);
	const struct field *f = e ? event_field(e, new ? "pid" : "parent_ip") : NULL;
	struct field_data v = { .u = 0 };
	struct known_task *t;

	if (f && field_value(evs, f, r, &v) < 0)
		f = NULL;
	if (!new && !f && !record_is_stack(evs, r))
		return 0;
	learn();
	all.now = mappings_time(r->ts);
	if (new) {
		/* the task is new, or begins another program */
		pid = f ? (int)v.u : pid;
		if (!is_told(pid)) {
			forget_process(pid);
			all.tasks[(unsigned)pid % TASKS].pid = 0;
		}
		line_learn(l, r);
		if (record_id(evs, r) != evs->rename)
			return 0;
	} else if (l->learn_name) {
		l->learn_name(l->arg, pid);
	}
	/* now: the program may have ended when its next event is read */
	find(line_task_name(evs, pid), pid, v.u);
	if (new)
		return 0;
	t = task_of(pid);
	evs->caller = t->caller;
	t->caller = v.u;
	return v.u;
}

size_t programs_caller(const struct event_set *evs, const struct record *r, uint64_t caller,
		       char *line, size_t n, size_t size)
{
	int json = n > 3 && !memcmp(line + n - 3, "}}\n", 3);
	size_t end = json ? 3 : 1;
	struct out o = { line + n - end, line + size - 4, 0 };

	out_text(&o, json ? ",\"caller\":\"" : " caller=", json ? 11 : 8);
	if (!evs->put_user || !evs->put_user(evs, &o, record_pid(evs, r), caller, 1, 0)) {
		out_string(&o, "0x");
		out_hex(&o, caller);
	}
	memcpy(o.at, json ? "\"}}\n" : "\n", json ? 4 : 1);
	return (size_t)(o.at - line) + (json ? 4 : 1);
}
