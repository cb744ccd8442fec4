/* SPDX-License-Identifier: ISC */
/*
 * programs.c - name the functions of programs, by their addresses in the memory of a task
 *
 * /proc/PID/maps says which part of which file is at an address, and the symbols of that file
 * name the function. The link in /proc/PID/map_files leads to the mapped file itself: in a
 * container, and also if the file was replaced or deleted. The files belong to the traced
 * programs and are untrusted.
 *
 * A task may have ended or begun another program when its records are read. So what a process
 * maps is kept until it begins another program, and is not read if procfs shows another name
 * of the task than the task had at the record.
 */
#include <sys/stat.h>

#include "base/base.h"
#include "proc/proc.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "live/live.h"
#include "record.h"

enum {
	OLD_MS = 1000,          /* look at what a process maps again after so long */
	MISSED_MS = 63,         /* or at most so long, if an address was not in it */
	PATIENCE = 16,          /* and so many times longer than the last look took */
	REGIONS = 512,          /* of a process; more are not named */
	TASKS = 256,            /* that are remembered, by pid */
	PROCESSES = 1024,       /* that are remembered */
	BYTES = 256 << 20,      /* of functions and texts; then forget all and begin anew */
	FILE_BYTES = 4096,      /* counted for a file without functions */
	LONGEST = 250,          /* bytes of a name */
};

/* The beginning of an entry, so that one function can free both kinds. */
struct kept {
	struct table_entry entry;
	void *allocated[2];
	size_t bytes;                   /* of both */
};

/* A file, by its device, inode, size and time of change. */
struct file {
	struct kept kept;
	struct elf_functions functions; /* with .v and .names of kept */
};

/* A part of a file that a process can execute. */
struct region {
	uint64_t from, to, offset;
	const char *path;               /* in the text of the process */
	const struct file *file;        /* NULL: it cannot be read */
};

/*
 * The files that a process maps. The key is its tgid; kept has the text of /proc/PID/maps and its
 * regions.
 */
struct process_maps {
	struct kept kept;
	long long at;                   /* when it was read, or could not be read */
	long long cost_ms;              /* what that took */
	int missed_ms;                  /* wait so long if an address is not in it */
	struct region *regions;
	size_t n, room;
	int more;                       /* some regions are not here */
};

static struct {
	struct table files, processes;
	size_t bytes;                   /* of functions and texts */
	struct {
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
	free(k->allocated[0]);
	free(k->allocated[1]);
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

/* Return the file at this path, with its functions, or NULL if it is not a regular file. */
static const struct file *file_at(const char *path)
{
	struct stat st;
	int fd = file_open(path, FILE_REGULAR, O_RDONLY, &st);
	struct file *f;

	if (fd < 0)
		return NULL;
	all.files.size = sizeof(*f);
	f = table_at(&all.files, (const char *)(const uint64_t []){
		st.st_dev, st.st_ino, (uint64_t)st.st_size, (uint64_t)st.st_ctim.tv_sec,
		(uint64_t)st.st_ctim.tv_nsec }, 5 * sizeof(uint64_t));
	if (!f->kept.bytes && all.bytes < BYTES) {
		elf_functions(fd, (uint64_t)st.st_size, &f->functions);
		f->kept.allocated[0] = f->functions.v;
		f->kept.allocated[1] = f->functions.names;
		f->kept.bytes = FILE_BYTES + f->functions.n * sizeof(*f->functions.v) +
				(size_t)f->functions.names_size;
		all.bytes += f->kept.bytes;
	}
	close(fd);
	return f;
}

/* Read a line of maps, "FROM-TO r-xp OFFSET MAJOR:MINOR INODE   PATH" (proc(5)). */
static void add_region(struct process_maps *p, pid_t pid, const char *line, const char *end)
{
	struct region r = { 0 };
	char path[96];

	r.from = text_hex(&line, end);
	line += *line == '-';
	r.to = text_hex(&line, end);
	if (end - line < 6 || line[3] != 'x')
		return;
	if (p->n == REGIONS) {
		p->more = 1;
		return;
	}
	line += 6;
	r.offset = text_hex(&line, end);
	r.path = memchr(line, '/', (size_t)(end - line));
	if (!r.path)
		return;
	str_format(path, sizeof(path), "%s/%d/map_files/%llx-%llx", path_procfs(), (int)pid,
		   (unsigned long long)r.from, (unsigned long long)r.to);
	r.file = file_at(path);
	p->kept.allocated[1] = p->regions = xgrow(p->regions, p->n, &p->room, sizeof(r));
	p->regions[p->n++] = r;
}

/*
 * Read what the task maps. Change nothing if it has ended or has another name than comm. What
 * lies after PROCFS_MOST bytes is not known.
 */
static void read_maps(struct process_maps *p, pid_t pid, const char *comm)
{
	char *text, *next;
	struct task t;
	size_t len;
	int cut;

	if (task_read(pid, &t) < 0 || !comm || strcmp(t.comm, comm))
		return;
	text = procfs_read(pid, "maps", &len, &cut);
	if (!text || !*text) {
		free(text);
		return;
	}
	free(p->kept.allocated[0]);
	p->kept.allocated[0] = text;
	all.bytes += len - p->kept.bytes;
	p->kept.bytes = len;
	p->n = 0;
	p->more = 0;
	for (char *line = text; *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		add_region(p, pid, line, line + strlen(line));
	}
	if (p->more && !cut)
		procfs_miss();
}

/* Read what the task maps, and wait the longer until the next time the longer that took. */
static void look_again(struct process_maps *p, pid_t pid, const char *comm)
{
	long long begun = time_now_us();

	if (procfs_begin() < 0)
		return;
	read_maps(p, pid, comm);
	procfs_end();
	p->at = time_now_ms();
	p->cost_ms = (time_now_us() - begun) / 1000;
}

static const struct region *region_at(const struct process_maps *p, uint64_t address)
{
	for (size_t i = 0; i < p->n; i++)
		if (address >= p->regions[i].from && address < p->regions[i].to)
			return &p->regions[i];
	return NULL;
}

/* Return the index of the task in all.tasks. */
static size_t task_of(int pid)
{
	size_t i = (unsigned)pid % TASKS;

	if (all.tasks[i].pid != pid) {
		all.tasks[i].pid = pid;
		all.tasks[i].tgid = 0;
		all.tasks[i].caller = 0;
		all.tasks[i].asked = 0;
	}
	if (!all.tasks[i].asked && !procfs_begin()) {
		uid_t uid;

		all.tasks[i].asked = 1;
		if (task_ids(pid, &all.tasks[i].tgid, &uid) < 0)
			all.tasks[i].tgid = 0;
		procfs_end();
	}
	return i;
}

/* Return what the task maps at the address, or NULL if that is not known. */
static const struct region *find(const struct event_set *evs, int pid, uint64_t address)
{
	pid_t tgid = all.tasks[task_of(pid)].tgid;
	struct process_maps *p;
	const struct region *r;
	long long age;

	if (!tgid)
		return NULL;
	if (all.bytes >= BYTES || all.processes.n >= PROCESSES) {
		forget_all(&all.processes); /* their regions have the files */
		forget_all(&all.files);
	}
	all.processes.size = sizeof(*p);
	p = table_at(&all.processes, (const char *)&tgid, sizeof(tgid));
	r = region_at(p, address);
	age = time_now_ms() - p->at;
	if (p->at && age < (r ? OLD_MS : p->missed_ms) + PATIENCE * p->cost_ms)
		return r;
	/* a task that just began a program may not have mapped it yet: soon look again */
	if (!r && p->missed_ms < MISSED_MS)
		p->missed_ms = 2 * p->missed_ms + (p->at != 0);
	look_again(p, pid, line_task_name(evs, pid));
	return region_at(p, address);
}

/* Print a name of most bytes without those that end a value, need quotes or are no ASCII. */
static void put_name(struct out *o, const char *s, size_t most)
{
	for (; *s && most--; s++)
		out_char(o, *s > ' ' && *s < 0x7f && !strchr("\"\\;=", *s) ? *s : '?');
}

int programs_put(const struct event_set *evs, struct out *o, int pid, uint64_t address, int call,
		 int frame)
{
	const struct region *r = find(evs, pid, address - (uint64_t)call);
	const char *name = NULL;
	uint64_t offset, into;

	if (!r)
		return 0;
	offset = address - r->from + r->offset;
	/* the call may be the last instruction of its function */
	if (r->file)
		name = elf_function_around(&r->file->functions, offset - (uint64_t)call, &into);
	put_name(o, name ? name : r->path, name && strcspn(name, "@") < LONGEST ?
		 strcspn(name, "@") : LONGEST);
	if (name && !frame)
		return 1;
	out_text(o, name ? "+0x" : ":0x", 3);
	out_hex(o, name ? into + (uint64_t)call : offset);
	if (name) {
		out_string(o, " (");
		put_name(o, r->path, LONGEST);
		out_char(o, ')');
	}
	return 1;
}

uint64_t programs_record(struct line_format *l, const struct record *r)
{
	struct event_set *evs = l->events;
	const struct event *e = event_wanted(evs, r);
	int pid = record_pid(evs, r), new = record_names_task(evs, r);
	const struct field *f = e ? event_field(e, new ? "pid" : "parent_ip") : NULL;
	struct field_data v = { .u = 0 };
	size_t i;

	if (f && field_value(evs, f, r, &v) < 0)
		f = NULL;
	if (new) {
		struct process_maps *p;

		/* the task is new, or begins another program */
		pid = f ? (int)v.u : pid;
		all.tasks[(unsigned)pid % TASKS].pid = 0;
		p = table_find(&all.processes, (const char *)&pid, sizeof(pid));
		if (p)
			forget(&all.processes, p);
		line_learn(l, r);
		if (record_id(evs, r) != evs->rename)
			return 0;
	} else if (!f && !record_is_stack(evs, r)) {
		return 0;
	} else if (l->learn_name) {
		l->learn_name(l->arg, pid);
	}
	/* now: the program may have ended when its next event is read */
	find(evs, pid, v.u);
	if (new)
		return 0;
	i = task_of(pid);
	evs->caller = all.tasks[i].caller;
	all.tasks[i].caller = v.u;
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
