/* SPDX-License-Identifier: ISC */
/*
 * decode.c - print each system call as one line, when it returns
 *
 * A record of the beginning of a call waits in its task until the call returns. The records of
 * its user memory come in between. In this file, each part uses those above it:
 *	events, and what their records say
 *	tasks
 *	filters
 *	lines and JSON
 *	records
 *	the interface
 */
#include <sched.h>
#include <sys/socket.h>
#include <sys/utsname.h>

#include "base/base.h"
#include "host/host.h"
#include "calls/calls.h"
#include "event/event.h"
#include "show/show.h"

enum {
	HELD_MOST = 16 * 1024 * 1024,   /* bytes of user memory of all tasks */
	PARTS_MOST = CALL_ARGS * CALL_USER_MOST, /* of the next record of a task */
	HEAD = 16,                      /* bytes of a record with its common fields */
	LINE_MOST = SHOW_ROOM / 4,      /* of a line, in bytes */
	PATH_REST = 2048,               /* of them, after a path that another one follows */
	DETAILS_REST = 256,             /* after the last one */
	ARG_MOST = 4096,                /* of the text of an argument in JSON */
	MAX_ERROR = 4095,               /* include/linux/err.h */
};

/* ---- events, and what their records say ---- */

enum kind { OTHER = KIND_OTHER, ENTER, EXIT, MEMORY, PROBE, NEWTASK, EXEC, END, REQUEST, RING,
	    BEGUN, CALLED, PART, FILED, TOLD }; /* the last five are ours */

struct decode_event {
	struct event_seen seen;
	const char *call;       /* ENTER, EXIT: the name of the call; NULL: one event for all */
	int entries;            /* EXIT, CALLED: the trace knows entries, too */
	unsigned nargs;
	const struct field *user[CALL_ARGS]; /* user memory that the kernel has copied */
};

/* tfs-strings marks an event of 32-bit code directly before it, with the record K or k. */
enum mark { MARK_NONE, MARK_ENTRY, MARK_RETURN };

/* The call of a task. */
struct decode_task {
	struct pairing_task pair;       /* by pid */
	int32_t pid;
	int32_t group;                  /* noted.c; 0: not yet known */
	uint8_t shown;                  /* the beginning of the call is selected */
	uint8_t foreign;                /* of the call only its program is known: put_foreign */
	uint8_t untimed;                /* how long it took is not known */
	uint8_t lacking;                /* user memory is missing: print addresses */
	uint8_t compat;                 /* the call is one of 32-bit code */
	uint8_t trapped;                /* it has no result */
	uint8_t marked;                 /* so is that of the next event: enum mark */
	uint32_t mark;                  /* the number of losses when the mark came */
	struct calls *tables;           /* those of the call */
	uint8_t filled;                 /* its user memory may have bytes */
	uint8_t used;                   /* so may that of its values */
	uint8_t early;                  /* its user memory is that of the call that begins next */
	uint8_t torn;                   /* a part of the memory of the next record is missing */
	uint8_t nhead;
	unsigned char head[HEAD];
	uint32_t memory;                /* and when the user memory of the call began */
	uint64_t ts, time;              /* of its beginning; how long it took */
	uint64_t executed;              /* when the open call has executed a program; 0: not yet */
	uint64_t foretold;              /* when one did whose record is to come; 0: none */
	struct otel_context context;    /* at its beginning */
	enum pairing_fate fate;         /* what is printed of it */
	const struct call *call;        /* NULL: not in the tables */
	char name[32];                  /* then: its name, of the event */
	unsigned nargs;
	struct call_values values;
	struct call_user *user;         /* NULL: none */
	struct task_record task;        /* what was told of it; tgid 0: nothing */
	struct strbuf parts;            /* the beginning of the memory of the next record */
	uint32_t parted;                /* losses when the last part came */
};

static int begins(const char *s, const char *word)
{
	return !strncmp(s, word, strlen(word));
}

/* Find out what an event says, and where. A trace knows only the events that were enabled. */
static void decide(const struct decode *d, struct decode_event *of, const struct event *e)
{
	static const struct event_kind kinds[] = {
		/* the number, and the first argument or the result */
		{ "syscalls:sys_enter_*", ENTER, "__syscall_nr" },
		{ "syscalls:sys_exit_*", EXIT, "__syscall_nr ret" },
		{ "raw_syscalls:sys_enter", ENTER, "id args" },
		{ "raw_syscalls:sys_exit", EXIT, "id ret" },
		{ "bpf_trace:bpf_trace_printk", MEMORY, "bpf_string" },
		{ RECORD_SYSTEM ":enter", BEGUN, "" },
		{ RECORD_SYSTEM ":call", CALLED, "" },
		{ RECORD_SYSTEM ":open", BEGUN, "" },
		{ RECORD_SYSTEM ":part", PART, "memory" },
		{ RECORD_SYSTEM ":file", FILED, "path socket inside" },
		{ RECORD_SYSTEM ":task", TOLD, "" }, /* show.c has learned it */
		{ "task:task_newtask", NEWTASK, "pid clone_flags" },
		{ "sched:sched_process_exec", EXEC, "old_pid filename" },
		{ "sched:sched_process_exit", END, "" },
		{ "io_uring:io_uring_submit_req", REQUEST, "" }, /* since 6.4 */
		{ "io_uring:io_uring_submit_sqe", REQUEST, "" },
		{ "io_uring:io_uring_create", RING, "flags" },
		{ "", 0, "" },
	};
	const struct field **field = of->seen.field;
	char name[64];

	event_see(&of->seen, e, kinds, 0);
	if (d->id && !strcmp(e->system, d->id))
		of->seen.kind = PROBE;
	if ((of->seen.kind == ENTER || of->seen.kind == EXIT) && !strcmp(e->system, "syscalls"))
		of->call = e->name + strlen(of->seen.kind == ENTER ? "sys_enter_" : "sys_exit_");
	of->entries = of->seen.kind == CALLED;
	if (of->seen.kind == EXIT) {
		str_format(name, sizeof(name), "sys_enter%s%.50s", of->call ? "_" : "",
			   of->call ? of->call : "");
		of->entries = event_named(d->show->line->events, e->system, name) != NULL;
	}
	if (of->seen.kind != ENTER)
		return;
	if (field[1]) { /* all arguments in one field */
		of->nargs = CALL_ARGS;
		return;
	}
	/* an argument each, and after them __NAME_val, what the argument NAME points to */
	for (unsigned i = e->ncommon; i < e->nfields && of->nargs < CALL_ARGS; i++) {
		const struct field *f = &e->fields[i];

		if (f == field[0] || f->place != PLACE_HERE)
			continue;
		if (!of->nargs)
			field[1] = f;
		str_format(name, sizeof(name), "__%.50s_val", f->name);
		of->user[of->nargs++] = event_field(e, name);
	}
}

/* Return what the event of a record says, until the next call; NULL if it is not known. */
static const struct decode_event *event_at(struct decode *d, const struct record *r)
{
	const struct event *e = event_wanted(d->show->line->events, r);
	struct decode_event *of = e ? event_note(&d->events, e, sizeof(*of)) : NULL;

	if (of && !of->seen.kind)
		decide(d, of, e);
	return of;
}

/* Return field i of a record as a number; 0 if there is none. */
static int64_t number_at(const struct decode *d, const struct decode_event *of, unsigned i,
			 const struct record *r)
{
	return field_integer(d->show->line->events, of->seen.field[i], r);
}

/* ---- tasks ---- */

static void free_memory(struct decode *d, struct decode_task *t)
{
	if (!t->user)
		return;
	d->held -= call_user_room(t->user);
	call_user_free(t->user);
	free(t->user);
	t->user = NULL;
}

/* Forget the user memory of a call, and keep its room only if there is enough. */
static void drop_memory(struct decode *d, struct decode_task *t)
{
	t->lacking = t->early = 0;
	t->memory = d->pairing.losses;
	if (d->held >= HELD_MOST / 2)
		free_memory(d, t);
	else if (t->filled)
		call_user_clear(t->user);
	t->filled = 0;
}

/* Forget the parts of the next record. */
static void free_parts(struct decode *d, struct decode_task *t)
{
	d->held -= t->parts.room;
	free(t->parts.text);
	t->parts = (struct strbuf){ 0 };
}

static void forget(struct decode *d, struct decode_task *t)
{
	free_memory(d, t);
	free_parts(d, t);
	if (d->last == t)
		d->last = NULL;
	table_remove(&d->pairing.tasks, t);
}

static struct decode_task *find(struct decode *d, int32_t pid)
{
	if (d->last && d->last->pid == pid)
		return d->last;
	return table_find(&d->pairing.tasks, (const char *)&pid, sizeof(pid));
}

/* Return the user memory of a task; NULL if there is too much, and the call lacks it. */
static struct call_user *memory_of(struct decode *d, struct decode_task *t)
{
	/* a part may be lost */
	t->lacking |= t->memory != d->pairing.losses;
	t->memory = d->pairing.losses;
	if (t->lacking)
		return NULL;
	if (!t->user && d->held < HELD_MOST && (t->user = calloc(1, sizeof(*t->user)))) {
		t->user->big = d->show->line->events->big;
		t->user->held = &d->held;
		d->held += sizeof(*t->user);
	}
	t->lacking = !t->user || d->held >= HELD_MOST;
	t->filled |= t->user != NULL;
	return t->lacking ? NULL : t->user;
}

/* Add user memory of an argument (call_user_add). */
static void add_memory(struct decode *d, struct decode_task *t, char tag, unsigned arg,
		       const void *bytes, size_t n)
{
	struct call_user *u = memory_of(d, t);

	if (u)
		t->lacking = call_user_add(u, tag, arg, bytes, n) < 0;
}

/* Return the group of a task (noted.c). */
static int group_of(struct decode *d, struct decode_task *t)
{
	if (!t->group)
		t->group = noted_begin(&d->known, t->pid);
	return t->group;
}

/* Use the user memory of the call, if all of it came, and find the files of its arguments. */
static void use_memory(struct decode *d, struct decode_task *t)
{
	if (t->filled && !t->lacking && t->memory == d->pairing.losses) {
		call_user_get(t->user, t->call, &t->values);
		t->used = 1;
	} else if (t->used) {
		t->used = 0;
		t->values.netlink = 0;
		memset(t->values.files, 0, sizeof(t->values.files));
		memset(t->values.user, 0, sizeof(t->values.user));
		memset(t->values.entry, 0, sizeof(t->values.entry));
	}
	if (t->call && !d->known.by_kernel && (d->known.prints || d->known.groups.n))
		t->used |= (uint8_t)noted_refer(&d->known, group_of(d, t), t->call, &t->values);
}

/* Return the tables of calls of 64-bit or of 32-bit code. */
static struct calls *tables_of(const struct decode *d, int compat)
{
	return compat && d->calls_32 ? d->calls_32 : d->calls;
}

/* ---- filters ---- */

/*
 * Do the options select a call by its result and its time? A resumed call has no known time.
 * A trapped call failed, but has no result.
 */
static int picks_result(const struct decode *d, int64_t result, int trapped, int resumed,
			uint64_t time)
{
	uint64_t error = trapped ? 0 : (uint64_t)error_of_result(result);

	if ((error || trapped ? d->succeeded : d->failed) ||
	    (d->slower && (resumed || time < d->slower)))
		return 0;
	return !d->by_error || (error && d->errors[error / 64] >> error % 64 & 1);
}

/* ---- lines and JSON ---- */

/* Return the file of an argument, or of CALL_ARGS, which is the result; NULL: it is not known. */
static const struct file_known *file_of(struct decode *d, const struct decode_task *t, unsigned i)
{
	return t->used ? files_find(&d->known, t->values.files[i]) : NULL;
}

/* Return the file of a descriptor, as file_of; count it if it is not known. */
static const struct file_known *named(struct decode *d, const struct decode_task *t, unsigned i,
				      int64_t fd)
{
	const struct file_known *file = d->names ? file_of(d, t, i) : NULL;

	/* dup2(2) mostly has a new one that is not open */
	d->unnamed += d->names && !file && !d->known.by_kernel && (fd >= 0 || fd == AT_FDCWD) &&
		      t->values.result != -EBADF &&
		      !(i == 1 && t->call->role->fds == FDS_COPY);
	return file;
}

/*
 * Write a path in quotes, or in < and >, and leave so much room behind it. If there is no room for
 * all of it, "..." stands for its beginning.
 */
static void put_path(struct out *o, const char *path, enum escape how, size_t rest)
{
	const char *quotes = how == ESCAPE_NOTHING ? "<>" : "\"\"";
	const struct out begin = *o;

	for (const char *at = path; at; at = strchr(at + 1, '/')) {
		struct out to = begin;

		to.end -= rest < out_room(o) ? rest : out_room(o);
		out_char(&to, quotes[0]);
		out_string(&to, at > path ? "..." : "");
		if (how == ESCAPE_NOTHING)
			file_put_name(&to, at);
		else
			out_escaped(&to, at, strlen(at), how);
		out_char(&to, quotes[1]);
		o->at = to.at;
		if (to.cut == begin.cut)
			return;
	}
	*o = begin;
	out_text(o, quotes, 2);
}

/* Write the file of a descriptor: of an argument, or of CALL_ARGS, which is the result. */
static void put_file(struct decode *d, const struct decode_task *t, unsigned i, int64_t fd,
		     struct out *o)
{
	const struct file_known *file = named(d, t, i, fd);
	char path[PATH_MAX];

	if (!file)
		return;
	if (!file->family)
		return put_path(o, files_path(&d->known, file, path), ESCAPE_NOTHING, PATH_REST);
	out_char(o, '<');
	file_put_known(o, file);
	out_char(o, '>');
}

/* Print the file of a descriptor in a structure of the last task's call (call_values.print_fd). */
static size_t print_fd(void *decode, int fd, char *buf, size_t size)
{
	struct decode *d = decode;
	const struct decode_task *t = d->last;
	const struct file_known *file = NULL;
	struct out o = out_to(buf, size - !!size);

	for (unsigned k = 0; k < CALL_RESULTS && t->used && t->call; k++)
		if (noted_made(t->tables, t->call, &t->values, k) == fd)
			file = file_of(d, t, CALL_ARGS + k);
	if (!file)
		file = noted_file(&d->known, t->group, fd);
	if (!file || !size)
		return 0;
	file_put_known(&o, file);
	*o.at = '\0';
	return (size_t)(o.at - buf);
}

/* Is the file in a directory? Then it has a path, of which the beginning may be cut. */
static int is_path(const struct file_known *f)
{
	return f->flags & FILE_CUT || f->path[*f->path == '?'] == '/';
}

/*
 * Write the absolute path of argument i, a path, as the task sees it. Return its length, below
 * size; 0: not known.
 */
static size_t absolute_of(struct decode *d, const struct decode_task *t, unsigned i, char *path,
			  size_t size)
{
	const struct call_bytes *given = &t->values.user[i];
	const unsigned at = i && t->call->args[i - 1].kind == CALL_DIRFD ? i - 1 : i;
	const struct file_known *file, *opened;
	char from[PATH_MAX], to[2 * PATH_MAX];
	const char *known;
	size_t n;
	int mark;

	if (!given->bytes || !given->n || given->cut)
		return 0;
	file = file_of(d, t, at);
	if (!d->known.by_kernel)
		return noted_path(&d->known, file, given, path);
	known = file && is_path(file) && !(*given->bytes == '/' && file->flags & FILE_OUTSIDE) ?
		file->path : "";
	if (*given->bytes != '/' && !*known)
		return 0;
	n = file_join(*given->bytes == '/' ? "" : known, known, given->bytes, given->n, path, size);
	if (!d->known.host_paths || !n)
		return n;
	/* the file that was opened is at this path, whatever is mounted on the way */
	opened = t->call->result.kind == CALL_FD ? file_of(d, t, CALL_ARGS) : NULL;
	if (opened && !strcmp(opened->path, path))
		return str_format(path, size, "%s", files_path(&d->known, opened, from));
	if (!*known || !known[1] || strncmp(path, known, strlen(known)))
		file = file_of(d, t, CALL_ROOT);
	if (!file)
		return 0;
	files_path(&d->known, file, from);
	mark = *from != '?' && (files_between(&d->known, t->pid, file, path) ||
				strstr(path, "/.."));
	n = str_format(to, sizeof(to), "%s%s%s", mark ? "?" : "", from[1] ? from : "",
		       path + (file->path[1] ? strlen(file->path) : 0));
	return n < size ? str_format(path, size, "%s", to) : 0;
}

/* Has the call taken the name that is argument i away from its file? */
static int takes_name(const struct decode_task *t, unsigned i)
{
	return t->values.result >= 0 && t->call->role->file[0].arg == i + 1 &&
	       t->call->role->does & (DOES_RENAMED | DOES_REMOVED);
}

/* Return the descriptor that a path of procfs is for its task, or -1. */
static int own_descriptor(const char *path)
{
	static const char *const before[] = { "/proc/self/fd/", "/proc/thread-self/fd/",
					      "/dev/fd/" };
	unsigned long n;

	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++)
		if (begins(path, before[i]) &&
		    !text_number(path + strlen(before[i]), 0, INT_MAX, &n))
			return (int)n;
	return -1;
}

/*
 * Leave links of procfs to the root directory of the task itself out of a path, and those to its
 * directory: it is other than a program's that looks. Return the length.
 */
static size_t skip_links(const struct decode_task *t, const struct file_known *cwd, char *path)
{
	char own[32], to[PATH_MAX];
	size_t n;

	str_format(own, sizeof(own), "/proc/%d/", t->group);
	for (;;) {
		n = begins(path, "/proc/self/") ? strlen("/proc/self/") :
		    begins(path, "/proc/thread-self/") ? strlen("/proc/thread-self/") :
		    begins(path, own) ? strlen(own) : 0;
		if (n && begins(path + n, "root/"))
			memmove(path, path + n + 4, strlen(path + n + 4) + 1);
		else if (n && cwd && begins(path + n, "cwd/") &&
			 str_format(to, sizeof(to), "%s%s", cwd->path[1] ? cwd->path : "",
				    path + n + 3) < sizeof(to))
			strcpy(path, to);
		else
			return strlen(path);
	}
}

/*
 * Find the file of argument i, a descriptor or path, or of CALL_ARGS, which is the result. Write
 * its path to out (PATH_MAX + 1 bytes). Return the length; 0: it is not known, or in no directory.
 */
static size_t see_file(struct decode *d, const struct decode_task *t, unsigned i,
		       struct file_seen *seen, char *out)
{
	int path = i < CALL_ARGS && t->call->args[i].kind == CALL_PATH;
	const int follows = path && !call_names_link(t->call, t->values.args, i);
	const unsigned at = path && i && t->call->args[i - 1].kind == CALL_DIRFD ? i - 1 : i;
	const struct file_known *f = file_of(d, t, at);
	const char *name;
	char host[PATH_MAX];
	size_t n;
	int fd;

	*seen = (struct file_seen){ .path = out, .root = f ? f->root : 0, .arg = i };
	*out = '\0';
	n = path ? absolute_of(d, t, i, out, PATH_MAX) : 0;
	n = n ? skip_links(t, f, out) : 0;
	if (follows && (fd = own_descriptor(out)) >= 0) {
		f = noted_file(&d->known, t->group, fd);
		path = !f;
	}
	if (!path) {
		if (!f || !is_path(f) || strlen(f->path) > PATH_MAX)
			return 0;
		seen->file = f;
		seen->is = f->is;
		seen->flags = f->flags;
		seen->known = d->known.by_kernel;
		name = f->flags & FILE_DELETED ? files_named(&d->known, &f->is) : NULL;
		return str_format(out, PATH_MAX + 1, "%s",
				  name ? name : files_path(&d->known, f, host));
	}
	if (n && *out == '/' && d->known.live && d->known.by_kernel && !d->known.host_paths &&
	    file_resolve(t->pid, f && f->root == d->root, out, follows, host,
			 d->wanted.n && !takes_name(t, i) ? &seen->is : NULL))
		n = str_format(out, PATH_MAX, "%s", host);
	return n;
}

/* Is the file wanted, by the name that the task has for it, or that of the host? */
static int is_wanted(struct decode *d, const struct decode_task *t, const struct file_seen *seen)
{
	char path[PATH_MAX];
	const char *host;

	if (wanted_is(&d->wanted, seen))
		return 1;
	if (d->known.host_paths || !d->known.by_kernel)
		return 0;
	d->known.host_paths = 1;
	host = seen->file ? files_path(&d->known, seen->file, path) :
	       absolute_of(d, t, seen->arg, path, sizeof(path)) ? path : "";
	d->known.host_paths = 0;
	return wanted_names(&d->wanted, host);
}

/* Is a file of the call wanted, by a descriptor, its result, or a path? */
static int picks_path(struct decode *d, const struct decode_task *t)
{
	const struct call *c = t->call;
	char path[PATH_MAX + 1];
	struct file_seen seen;

	for (unsigned i = 0; i <= CALL_ARGS; i++) {
		const unsigned kind = i == CALL_ARGS ? c->result.kind :
				      i < c->nargs ? c->args[i].kind : CALL_NONE;
		const char *given = i < CALL_ARGS ? t->values.user[i].bytes : NULL;

		if (kind == CALL_PATH && given) {
			seen = (struct file_seen){ .path = given };
			if (wanted_is(&d->wanted, &seen))
				return 1;
		}
		if (d->known.by_kernel &&
		    (kind == CALL_FD || kind == CALL_DIRFD || kind == CALL_PATH) &&
		    see_file(d, t, i, &seen, path) &&
		    is_wanted(d, t, &seen))
			return 1;
	}
	return 0;
}

/* Do the options select a call by its arguments? */
static int picks_arguments(struct decode *d, const struct decode_task *t)
{
	const struct call *c = t->call;
	int fd = !d->by_fd, path = !d->wanted.n || d->files;

	if (fd && path)
		return 1;
	if (!c)
		return 0;
	for (unsigned i = 0; i < c->nargs; i++)
		if (c->args[i].kind == CALL_FD || c->args[i].kind == CALL_DIRFD)
			fd |= (int32_t)t->values.args[i] == d->fd;
	fd |= c->result.kind == CALL_FD && t->values.returned && t->values.result == d->fd;
	return fd && (path || picks_path(d, t));
}

/* Write a path that begins at the root. Return 0 if it is not known. */
static int put_absolute(struct decode *d, const struct decode_task *t, unsigned i, struct out *o)
{
	const struct call_arg *a = &t->call->args[i];
	struct call_values values = t->values;
	struct call_bytes *path = &values.user[i];
	char absolute[PATH_MAX];

	if (a->kind != CALL_PATH)
		return 0;
	path->n = absolute_of(d, t, i, absolute, sizeof(absolute));
	path->bytes = absolute;
	if (path->n)
		o->at += call_print(t->tables, t->call, i, &values, o->at, out_room(o));
	d->unnamed += !path->n && t->values.user[i].n && !d->known.by_kernel;
	return path->n != 0;
}

/* Write an argument as text. */
static void put_argument(struct decode *d, const struct decode_task *t, unsigned i, struct out *o)
{
	if (!t->call)
		return out_format(o, "0x%llx", (unsigned long long)t->values.args[i]);
	if (d->paths && put_absolute(d, t, i, o))
		return;
	o->at += call_print(t->tables, t->call, i, &t->values, o->at, out_room(o));
	if (t->call->args[i].kind == CALL_FD || t->call->args[i].kind == CALL_DIRFD)
		put_file(d, t, i, (int32_t)t->values.args[i], o);
}

static void put_result(const struct decode *d, const struct decode_task *t, struct out *o)
{
	static struct people plain; /* without colours; a const would take room in the file */
	int64_t result = t->values.result;
	const char *name = name_of_error(error_of_result(result));

	/* not the errors that only the kernel uses */
	if (name && result > -512 && (d->strace || d->show->people)) {
		people_error(d->strace ? &plain : d->show->people, o, -result, name);
	} else if (t->call) {
		o->at += call_print_result(t->tables, t->call, result, o->at, out_room(o));
	} else if (name) {
		out_string(o, "-1 ");
		out_string(o, name);
	} else {
		out_signed(o, result);
	}
}

/* Write a time in seconds, or the number of a clock that counts. */
static void put_duration(const struct decode *d, struct out *o, uint64_t time)
{
	if (d->show->line->raw_clock)
		out_decimal(o, time);
	else
		out_decimals(o, (time + 500) / 1000, 6);
}

/* Write a time in microseconds with three decimals, or the number of a clock that counts. */
static void put_latency(const struct decode *d, struct out *o, uint64_t time)
{
	if (d->show->line->raw_clock)
		out_decimal(o, time);
	else
		out_decimals(o, time, 3);
}

/* The record of the beginning of a call, as far as a line's head needs it. */
static struct record head_of(const struct decode_task *t)
{
	return (struct record){ .ts = t->ts, .data = t->head, .len = t->nhead, .cpu = t->pair.cpu };
}

static const char *name_of(const struct decode_task *t)
{
	return t->call ? t->call->name : t->name;
}

static unsigned roles_of_task(const struct decode_task *t)
{
	return t->call ? t->call->role->is : role_of_call(t->name)->is;
}

/* Is an argument printed? */
static int is_printed(const struct decode_task *t, unsigned i)
{
	return !t->call || t->call->args[i].kind != CALL_NONE;
}

static unsigned arguments(const struct decode_task *t)
{
	return t->call && !t->foreign ? t->call->nargs : t->nargs;
}

/* Had the call no entry? */
static int had_no_entry(const struct decode_task *t)
{
	return t->fate == PAIRING_DENIED || t->fate == PAIRING_EMULATED;
}

/* Are the arguments known? Those of a call without an entry may be, or it may have none. */
static int has_arguments(const struct decode_task *t)
{
	return had_no_entry(t) ? t->nargs != 0 || (t->call && !t->call->nargs) :
	       t->fate != PAIRING_RESUMED;
}

/* Has the call a result that is known? */
static int has_result(const struct decode_task *t)
{
	return t->fate == PAIRING_RETURNED || t->fate == PAIRING_RESUMED ||
	       (had_no_entry(t) && !t->trapped);
}

/* Write the line of a call after its head. */
static void put_call(struct decode *d, struct decode_task *t, struct out *o)
{
	const char *comma = "";

	if (t->fate == PAIRING_RESUMED) {
		out_format(o, "<... %s resumed>)", name_of(t));
	} else {
		out_string(o, name_of(t));
		out_char(o, '(');
	}
	for (unsigned i = 0; has_arguments(t) && i < arguments(t); i++) {
		if (!is_printed(t, i))
			continue;
		out_string(o, comma);
		put_argument(d, t, i, o);
		comma = ", ";
	}
	/* the rest is short: there is room for it after a long line */
	o->end += LINE_HEAD_ROOM;
	if (had_no_entry(t) && !has_arguments(t))
		out_string(o, "...");
	else if (t->foreign)
		out_string(o, ", ...");
	out_string(o, t->fate == PAIRING_UNFINISHED ? " <unfinished ...>" :
		      t->fate == PAIRING_RESUMED ? " = " : ") = ");
	if (has_result(t))
		put_result(d, t, o);
	else if (t->fate != PAIRING_UNFINISHED)
		out_char(o, '?');
	if (had_no_entry(t))
		out_string(o, t->fate == PAIRING_DENIED ? " (denied)" : " (emulated)");
	if (t->foreign)
		out_string(o, " (32-bit)");
	if (t->fate == PAIRING_RETURNED && t->call && t->call->result.kind == CALL_FD)
		put_file(d, t, CALL_ARGS, t->values.result < 0 ? INT64_MIN : t->values.result, o);
	if (t->fate == PAIRING_RETURNED && t->call)
		o->at += call_print_behind(t->tables, t->call, &t->values, o->at, out_room(o));
	if (t->fate == PAIRING_RETURNED && !t->foreign && !t->untimed) {
		out_string(o, " <");
		put_duration(d, o, t->time);
		out_char(o, '>');
	}
	out_char(o, '\n');
}

size_t decoded_text(const struct decoded *c, char *buf, size_t size)
{
	struct out o = out_to(buf, size - LINE_HEAD_ROOM);

	put_call(c->decode, c->task, &o);
	return (size_t)(o.at - 1 - buf);
}

size_t decoded_result(const struct decoded *c, char *buf, size_t size)
{
	struct out o = out_to(buf, size);

	if (has_result(c->task))
		put_result(c->decode, c->task, &o);
	else if (c->fate != PAIRING_UNFINISHED)
		out_char(&o, '?');
	return (size_t)(o.at - buf);
}

/* ---- calls by file ---- */

/* What a call does to which files. */
struct file_call {
	unsigned n;             /* 0: to none that is known */
	const char *bytes;      /* NULL, or what its result counts: "read", "written" */
	struct {
		const char *name;       /* of the field */
		char path[PATH_MAX + 1];
		struct file_seen seen;
	} file[2];
};

/* Add the file of argument i, or of CALL_ARGS, which is the result, if it is known. */
static void add_file(struct decode *d, const struct decode_task *t, unsigned i,
		     struct file_call *to)
{
	const unsigned kind = i < CALL_ARGS ? t->call->args[i].kind : CALL_FD;
	const int at = kind == CALL_PATH && i && t->call->args[i - 1].kind == CALL_DIRFD;
	const struct call_bytes *given = i < CALL_ARGS ? &t->values.user[i] : NULL;

	to->file[to->n].name = !to->n ? "path" : kind == CALL_PATH ? "to" :
			       i < CALL_ARGS ? "from" : "program";
	/* without a name in the path: the file of the descriptor itself */
	if (at && (!t->values.args[i] || (given->bytes && (!given->n || !*given->bytes))))
		i--;
	to->n += see_file(d, t, i, &to->file[to->n].seen, to->file[to->n].path) != 0;
}

/* Is it a device that takes or gives anything, or a terminal? */
static int is_idle_device(const char *path)
{
	return glob_listed("/dev/null,/dev/zero,/dev/full,/dev/tty,/dev/ptmx,/dev/pts/*,"
			   "/dev/urandom,/dev/random", path);
}

/* A call has succeeded: note the name that it gives a file that has none, or takes away. */
static void note_names(struct decode *d, const struct decode_task *t, struct file_call *files)
{
	const unsigned does = t->call->role->does, links = does & DOES_LINKED;
	const struct file_seen *from = &files->file[0].seen, *to = &files->file[1].seen;

	if (!(does & (DOES_LINKED | DOES_RENAMED | DOES_REMOVED)))
		return;
	for (unsigned i = links && files->n > 1; i < files->n; i++)
		files_name(&d->known, NULL, files->file[i].path);
	if (links && files->n > 1 && from->flags & FILE_DELETED)
		files_name(&d->known, &from->is, to->path);
	if (files->n > 1)
		wanted_name(&d->wanted, from, to);
	if (does & DOES_RENAMED && files->n > 1 &&
	    call_flags(t->tables, t->call, &t->values) & K_RENAME_EXCHANGE)
		wanted_name(&d->wanted, to, from);
	else if (!links)
		wanted_name(&d->wanted, from, NULL);
}

/* Find the files of a call that has returned. Return 1, or 0 if --files and --path leave it out. */
static int files_of(struct decode *d, struct decode_task *t, struct file_call *to)
{
	const struct call *c = t->call;
	unsigned does = c ? c->role->does : 0;
	int wanted;

	to->n = 0;
	to->bytes = NULL;
	if (t->fate != PAIRING_RETURNED || !(does & d->files))
		return 0;
	if (does & DOES_OPENED) {
		if (!d->reads && !(call_flags(t->tables, c, &t->values) &
				   (O_ACCMODE | O_CREAT | O_TRUNC)))
			return 0;
		if (t->values.result >= 0) /* the descriptor tells where the path led */
			add_file(d, t, CALL_ARGS, to);
	}
	for (unsigned k = 0; k < 2 && c->role->file[k].arg; k++) {
		if (to->n && does & DOES_OPENED)
			break;
		add_file(d, t, c->role->file[k].arg - 1u, to);
		/* to a socket or pipe: the file is only read */
		if (!to->n && does & DOES_READ)
			does &= ~(unsigned)DOES_WRITTEN;
	}
	if (does & DOES_EXECUTED && t->values.result >= 0)
		add_file(d, t, CALL_ARGS, to);
	if (does & (DOES_READ | DOES_WRITTEN))
		to->bytes = does & DOES_WRITTEN ? "written" : "read";
	if (!to->n || (!d->wanted.n && is_idle_device(to->file[0].path)) ||
	    (does & DOES_READ && !(does & DOES_WRITTEN) && !d->reads))
		return 0;
	/* both, as either may be a name made anew */
	wanted = is_wanted(d, t, &to->file[0].seen);
	if (to->n > 1 && (d->reads || !(does & DOES_READ)))
		wanted |= is_wanted(d, t, &to->file[1].seen);
	if (t->values.result >= 0)
		note_names(d, t, to);
	/* a program that is no script */
	to->n -= does & DOES_EXECUTED && to->n > 1 && !strcmp(to->file[0].path, to->file[1].path);
	return wanted;
}

/* Is the argument told beside the files? */
static int is_detail(const struct decode_task *t, unsigned i)
{
	unsigned kind = t->call->args[i].kind;

	if (kind == CALL_SET) /* no flags are no detail, but those of an open are */
		return t->values.args[i] || t->call->result.kind == CALL_FD;
	return kind == CALL_OCTAL || kind == CALL_ID || kind == CALL_STRING ||
	       kind == CALL_INT || kind == CALL_UINT ||
	       (kind == CALL_STRUCT && t->call->role->does & (DOES_CHANGED | DOES_OPENED)) ||
	       (kind == CALL_PATH && t->call->role->file[0].arg > i + 1); /* of symlink */
}

/* Write a call by its files, after the head of the line. */
static void put_files(struct decode *d, const struct decode_task *t, const struct file_call *files,
		      struct out *o)
{
	int people = d->show->people != NULL;
	const char *comma = people ? ", " : " ";

	out_string(o, name_of(t));
	out_string(o, people ? " " : ": ");
	for (unsigned i = 0; i < files->n; i++) {
		if (people)
			out_string(o, !i ? "" : *files->file[i].name == 't' ? " -> " : " <- ");
		else
			out_format(o, "%s%s=", i ? " " : "", files->file[i].name);
		put_path(o, files->file[i].path, ESCAPE_QUOTED,
			 i + 1 < files->n ? PATH_REST : DETAILS_REST);
	}
	for (unsigned i = 0; i < t->call->nargs; i++) {
		if (!is_detail(t, i))
			continue;
		out_string(o, comma);
		if (!people)
			out_format(o, "%s=", t->call->args[i].name);
		o->at += call_print(t->tables, t->call, i, &t->values, o->at, out_room(o));
	}
	o->end += LINE_HEAD_ROOM;
	if (people) {
		out_string(o, " = ");
		put_result(d, t, o);
		out_string(o, " <");
		put_duration(d, o, t->time);
		out_string(o, ">\n");
		return;
	}
	out_format(o, " ret=%lld", (long long)t->values.result);
	if (error_of_result(t->values.result) && name_of_error(-t->values.result))
		out_format(o, " error=%s", name_of_error(-t->values.result));
	else if (files->bytes)
		out_format(o, " %s=%lld", files->bytes, (long long)t->values.result);
	out_string(o, " lat=");
	put_latency(d, o, t->time);
	out_char(o, '\n');
}

/* Write the value of an argument in JSON: a number, or an address in quotes. */
static void put_value(const struct decode_task *t, unsigned i, struct out *o)
{
	uint64_t v = t->call ? call_value(t->tables, t->call, i, t->values.args)
			     : t->values.args[i];

	switch (t->call ? t->call->args[i].kind : CALL_HEX) {
	case CALL_INT:
	case CALL_FD:
	case CALL_DIRFD:
		out_signed(o, (int64_t)v);
		break;
	case CALL_UINT:
	case CALL_ID:
	case CALL_OCTAL:
	case CALL_SET:
		out_decimal(o, v);
		break;
	default:
		out_format(o, "\"0x%llx\"", (unsigned long long)v);
	}
}

/* Write the file of an argument, or of CALL_ARGS, which is the result, in JSON, if it is known. */
static void put_json_file(struct decode *d, const struct decode_task *t, unsigned i, size_t rest,
			  struct out *o)
{
	const struct file_known *f = d->names ? file_of(d, t, i) : NULL;

	if (!f)
		return;
	out_string(o, i < CALL_ARGS && t->call && t->call->args[i].kind == CALL_PATH ?
		   ",\"directory\":{\"path\":" : ",\"file\":{\"path\":");
	put_path(o, f->path, ESCAPE_JSON, rest);
	if (f->is.inode)
		out_format(o, ",\"device\":\"%u:%u\",\"inode\":%llu", f->is.device >> 20,
			   f->is.device & 0xfffff, (unsigned long long)f->is.inode);
	out_char(o, '}');
}

/* Write the result of a call, or why it has none, in JSON. */
static void put_json_result(struct decode *d, const struct decode_task *t,
			    struct out *o)
{
	int64_t v = t->values.result;
	const char *name = error_of_result(v) ? name_of_error(-v) : NULL;

	if (has_result(t)) {
		out_format(o, "\"ret\":%lld", (long long)v);
		if (name)
			out_format(o, ",\"error\":\"%s\"", name);
		if (t->call && t->call->result.kind == CALL_FD &&
		    named(d, t, CALL_ARGS, v < 0 ? INT64_MIN : v))
			put_json_file(d, t, CALL_ARGS, PATH_REST, o);
	}
	switch (t->fate) {
	case PAIRING_RETURNED:
		if (t->foreign) {
			out_string(o, ",\"resumed\":true");
			break;
		}
		if (t->untimed)
			break;
		out_string(o, ",\"lat\":");
		put_latency(d, o, t->time);
		break;
	case PAIRING_DENIED:
		out_string(o, t->trapped ? "\"denied\":true" : ",\"denied\":true");
		break;
	case PAIRING_EMULATED:
		out_string(o, ",\"emulated\":true");
		break;
	case PAIRING_RESUMED:
		out_string(o, ",\"resumed\":true");
		break;
	default:
		out_string(o, "\"unfinished\":true");
	}
}

/* Write an argument in JSON. */
static void put_json_argument(struct decode *d, const struct decode_task *t, unsigned i,
			      struct out *o)
{
	char text[ARG_MOST];
	struct out argument = out_to(text, sizeof(text));
	size_t n;

	put_argument(d, t, i, &argument);
	out_char(o, '{');
	if (t->call)
		out_format(o, "\"name\":\"%s\",", t->call->args[i].name);
	if (!t->foreign) {
		out_string(o, "\"value\":");
		put_value(t, i, o);
		out_char(o, ',');
	}
	out_string(o, "\"text\":");
	json_string(o, text, (size_t)(argument.at - text));
	n = t->call ? call_print_written(t->tables, t->call, i, &t->values, text, sizeof(text)) : 0;
	if (n) {
		out_string(o, ",\"written\":");
		json_string(o, text, n);
	}
	put_json_file(d, t, i, 0, o);
	out_char(o, '}');
}

/* Write what was told of a task in JSON. */
static void put_json_task(const struct task_record *task, struct out *o)
{
	if (!task->tgid)
		return;
	out_format(o, ",\"tgid\":%d,\"uid\":%u", task->tgid, task->uid);
	if (task->start) {
		out_string(o, ",\"start\":");
		out_decimals(o, task->start, 9);
	}
}

/* Write a call as JSON after its head. */
static void put_json(struct decode *d, const struct decode_task *t,
		     const struct file_call *files, struct out *o)
{
	const char *comma = "";
	char *mark;
	int cut = 0;

	out_format(o, ",\"system\":\"syscalls\",\"event\":\"sys_exit_%s\",\"fields\":{",
		   name_of(t));
	put_json_result(d, t, o);
	for (unsigned i = 0; files && i < files->n; i++) {
		out_format(o, ",\"%s\":", files->file[i].name);
		put_path(o, files->file[i].path, ESCAPE_JSON,
			 i + 1 < files->n ? PATH_REST : DETAILS_REST);
	}
	if (files && files->bytes && t->values.result >= 0)
		out_format(o, ",\"%s\":%lld", files->bytes, (long long)t->values.result);
	out_string(o, t->fate == PAIRING_RESUMED ? "" : ",\"args\":[");
	for (unsigned i = 0; has_arguments(t) && i < arguments(t) && !cut; i++) {
		if (!is_printed(t, i))
			continue;
		mark = o->at;
		out_string(o, comma);
		put_json_argument(d, t, i, o);
		comma = ",";
		if (o->at == o->end) {
			o->at = mark;
			cut = 1;
		}
	}
	o->end += LINE_HEAD_ROOM;
	out_string(o, t->fate == PAIRING_RESUMED ? "" : "]");
	o->end += LINE_HEAD_ROOM;
	if (d->show->otel.on) {
		out_char(o, ',');
		otel_put(&t->context, o, 1);
	}
	out_char(o, '}');
	out_string(o, cut ? ",\"cut\":true}\n" : "}\n");
}

/* Write the beginning of a line of strace -f -ttt: PID, and seconds since 1970. */
static void put_strace_head(const struct decode *d, const struct decode_task *t,
			    const struct record *r, struct out *o)
{
	int64_t us = (int64_t)((r->ts + 500) / 1000) + d->show->offset;

	us = us < 0 ? 0 : us;
	out_format(o, "%-5d %lld.%06d ", t->pid, (long long)us / 1000000, (int)(us % 1000000));
}

/* Write a call. r: the record of its beginning, or of its return if that is all there is. */
static void put_record(struct decode *d, struct decode_task *t, const struct record *r,
		       struct out *o)
{
	struct show *s = d->show;
	struct out line = *o;
	const struct file_known *file;
	struct file_call files;

	if (s->sink) {
		d->last = t;
		s->sink->event(s->sink->arg, r, &(struct decoded){
			name_of(t), t->fate,
			t->fate == PAIRING_RETURNED && !t->foreign && !t->untimed, t->time, d, t,
		});
		return;
	}
	if (out_room(o) < LINE_MOST || (d->files && !files_of(d, t, &files)))
		return;
	d->last = t; /* for print_fd */
	file = file_of(d, t, 0);
	if (file && file->family == AF_NETLINK)
		t->values.netlink = (uint8_t)(1 + file->protocol);
	line.end = o->at + LINE_MOST - 2 * LINE_HEAD_ROOM;
	if (s->json) {
		line.at += json_begin(&s->lines, r, line.at, out_room(&line));
		put_json_task(&t->task, &line);
		put_json(d, t, d->files ? &files : NULL, &line);
	} else {
		if (d->strace)
			put_strace_head(d, t, r, &line);
		else if (s->people)
			s->view->start(s, r, &line);
		else
			line.at += line_begin(s->line, r, line.at);
		if (d->files)
			put_files(d, t, &files, &line);
		else
			put_call(d, t, &line);
		line.end += LINE_HEAD_ROOM;
		if (s->otel.on) {
			line.at--; /* the newline */
			otel_put(&t->context, &line, 0);
			out_char(&line, '\n');
		}
	}
	o->at = line.at;
}

/* Print the call of a task that does not return. */
static void put_endless(struct decode *d, struct decode_task *t, enum pairing_fate fate,
			struct out *o)
{
	struct record r = head_of(t);

	t->fate = fate;
	t->values.returned = 0;
	use_memory(d, t);
	if (t->shown && !d->failed && !d->succeeded && !d->by_error && !d->slower &&
	    picks_arguments(d, t))
		put_record(d, t, &r, o);
	drop_memory(d, t);
}

/* Do the options select the call that has returned? */
static int picks(struct decode *d, const struct decode_task *t)
{
	int known = t->fate == PAIRING_RETURNED || (had_no_entry(t) && t->nargs);

	return picks_result(d, t->values.result, t->trapped, t->fate != PAIRING_RETURNED,
			    t->time) &&
	       (known ? picks_arguments(d, t) : !d->by_fd && !d->wanted.n);
}

/*
 * Print the call of a task that has returned at ts, by the record of its beginning or, if that is
 * not known, of its return.
 */
static void put_returned(struct decode *d, struct decode_task *t, int64_t result, uint64_t ts,
			 int shown, const struct record *r, struct out *o)
{
	t->time = ts > t->ts ? ts - t->ts : 0;
	t->values.result = result;
	t->values.returned = 1;
	use_memory(d, t);
	if (t->fate == PAIRING_RETURNED && t->call && (d->names || !d->known.by_kernel))
		t->group = noted_call(&d->known, t->tables, t->pid, group_of(d, t), t->call,
				      &t->values);
	if (shown && d->files && t->call && result > 0 && t->call->role->does & DOES_QUEUED)
		d->queued += (uint64_t)result;
	if (shown && picks(d, t))
		put_record(d, t, r, o);
	drop_memory(d, t);
}

/*
 * Print a call that has executed a program of 32 bits: syscalls has no event of its return, which
 * is one of 32-bit code.
 */
static void put_executed(struct decode *d, struct decode_task *t, struct out *o)
{
	struct record r = head_of(t);

	t->fate = PAIRING_RETURNED;
	t->trapped = 0;
	put_returned(d, t, 0, t->executed, t->shown, &r, o);
}

/* End the call of a task that is not known to return. */
static void put_unfinished(struct decode *d, struct decode_task *t, struct out *o)
{
	if (!t->pair.open)
		return;
	t->pair.open = 0;
	if (t->executed)
		put_executed(d, t, o);
	else
		put_endless(d, t, PAIRING_UNFINISHED, o);
	t->executed = 0;
}

/* ---- records ---- */

/* Return the task; make it if it is not known, and make room for that. */
static struct decode_task *task_at(struct decode *d, int32_t pid, struct out *o)
{
	struct decode_task *t = find(d, pid);
	struct pairing_task *surplus;

	while (!t && (surplus = pairing_surplus(&d->pairing))) {
		put_unfinished(d, (struct decode_task *)surplus, o);
		forget(d, (struct decode_task *)surplus);
	}
	if (!t) {
		t = table_at(&d->pairing.tasks, (const char *)&pid, sizeof(pid));
		t->pid = pid;
		t->memory = d->pairing.losses;
		t->values.print_fd = d->names ? print_fd : NULL;
		t->values.arg = d;
	}
	d->last = t;
	return t;
}

/*
 * Set the call of a task. compat: it is one of 32-bit code, which has other numbers. A call that is
 * not in the tables has the name that strace(1) gives it.
 */
static void set_call(struct decode *d, struct decode_task *t, const struct decode_event *of,
		     uint64_t number, int compat)
{
	t->compat = compat != 0;
	t->tables = tables_of(d, compat);
	t->call = compat && !d->calls_32 ? NULL : calls_find(t->tables, number);
	if (t->call)
		return;
	if (of->call)
		str_format(t->name, sizeof(t->name), "%s", of->call);
	else
		str_format(t->name, sizeof(t->name), "syscall_0x%llx",
			   (unsigned long long)number);
}

/* Take the user memory that the kernel has copied into the record. */
static void take_copies(struct decode *d, struct decode_task *t, const struct decode_event *of,
			const struct record *r)
{
	static const char fault[] = "(fault)", more[] = "...";
	struct field_data v;

	for (unsigned i = 0; i < of->nargs; i++) {
		if (!of->user[i] || field_value(d->show->line->events, of->user[i], r, &v) < 0 ||
		    v.kind <= FIELD_POINTER || !v.size /* none was copied */ ||
		    (t->user && t->user->entry[i].bytes.bytes))
			continue;
		if (v.kind == FIELD_ARRAY)
			add_memory(d, t, 'D', i, v.data, v.n * of->user[i]->elem);
		else if (v.n == sizeof(fault) - 1 && !memcmp(v.data, fault, v.n))
			add_memory(d, t, 'X', i, "", 0);
		else if (v.n >= 3 && !memcmp(v.data + v.n - 3, more, 3))
			add_memory(d, t, 'C', i, v.data, v.n - 3);
		else
			add_memory(d, t, 'A', i, v.data, v.n);
	}
}

/*
 * Is this event one of 32-bit code? If the mark of the event may be lost, the code is that of the
 * task's event before.
 */
static int is_compat(const struct decode *d, struct decode_task *t, enum mark mark)
{
	int marked = t->marked == mark;

	if (marked ? t->mark != d->pairing.losses : d->gap)
		return t->compat;
	return marked;
}

/*
 * A call of the task begins, whose record has this head; its CPU is that of the entry. Its values
 * have nargs arguments.
 */
static void begin(struct decode *d, struct decode_task *t, const struct decode_event *of,
		  uint64_t number, const struct record *r, int shown)
{
	set_call(d, t, of, number, t->compat);
	t->shown = shown != 0;
	t->ts = r->ts;
	t->executed = 0;
	t->nhead = (uint8_t)(r->len < HEAD ? r->len : HEAD);
	memcpy(t->head, r->data, t->nhead);
	if (d->show->otel.on)
		t->context = otel_of(&d->show->otel, d->show->line->events, r);
	if (t->call)
		t->call = calls_match(t->call, t->values.args);
}

/* The call has begun: is it one that does not return? Then print it. */
static void open_call(struct decode *d, struct decode_task *t, const struct pairing_event *e,
		      struct out *o)
{
	if (pairing_enter(&d->pairing, &t->pair, e) == PAIRING_NO_RETURN)
		put_endless(d, t, PAIRING_NO_RETURN, o);
}

static void enter(struct decode *d, const struct decode_event *of, const struct record *r,
		  int shown, struct out *o)
{
	const struct event_set *evs = d->show->line->events;
	struct decode_task *t = task_at(d, record_pid(evs, r), o);
	uint32_t at = of->seen.field[1] ? of->seen.field[1]->offset : 0;
	unsigned size = (unsigned)evs->long_size;
	uint64_t number = (uint64_t)number_at(d, of, 0, r);
	int compat;

	put_unfinished(d, t, o);
	/* of a call without events, as those of 32-bit code */
	compat = is_compat(d, t, MARK_ENTRY);
	t->marked = MARK_NONE;
	if (!t->early || (compat && of->call))
		drop_memory(d, t);
	t->early = 0;
	t->compat = compat && !d->abi && !of->call;
	t->nargs = of->nargs;
	for (unsigned i = 0; i < CALL_ARGS; i++, at += size)
		t->values.args[i] = i < of->nargs && at + size <= r->len ?
				    raw_number(r->data + at, size, 0, evs->big) : 0;
	begin(d, t, of, number, r, shown);
	take_copies(d, t, of, r);
	open_call(d, t, &(struct pairing_event){ .id = number, .cpu = r->cpu,
						 .class = pairing_class(roles_of_task(t)) }, o);
}

/* Return the class of the call that returns by this number. */
static enum pairing_class class_of(const struct decode *d, const struct decode_task *t,
				   uint64_t number, int compat)
{
	const struct call *c;

	if (t->pair.open && t->pair.id == number)
		return t->pair.class;
	c = calls_find(tables_of(d, compat), number);
	return pairing_class(c ? c->role->is : 0);
}

/*
 * Has a call without an entry no result? If the call is trapped or killed, the kernel puts back
 * what was in the register of the result (syscall_rollback): the number, or the first argument.
 */
static int is_trapped(const struct decode *d, const struct decode_task *t, uint64_t number,
		      int64_t result)
{
	uint64_t first;

	if (d->keeps_number)
		return result == (int64_t)number;
	if (!t->user || t->lacking || !t->user->nregisters)
		return 0;
	first = t->user->registers[0];
	return result == (int64_t)first || (first <= UINT32_MAX && result == (int32_t)first);
}

/* Take the arguments of a call without an entry, if they are known. */
static void take_registers(struct decode_task *t)
{
	t->nargs = t->user && !t->lacking ? t->user->nregisters : 0;
	memcpy(t->values.args, t->nargs ? t->user->registers : (uint64_t[CALL_ARGS]){ 0 },
	       sizeof(t->values.args));
	if (t->call && t->nargs)
		t->call = calls_match(t->call, t->values.args);
}

/* Is the next record of another CPU after a loss, which began before this record? */
static int in_loss(const struct decode *d)
{
	return d->merge && merge_in_loss(d->merge);
}

/* Do the globs of events select the call of a record? The record stands for entry and return. */
static int picks_name(const struct decode *d, const struct decode_event *of,
		      const struct decode_task *t)
{
	const struct pick *p = &d->show->pick;
	char event[64];

	if (!p->nglobs || (of->seen.kind != CALLED && of->seen.kind != BEGUN))
		return 1;
	for (int leaves = 0; leaves < 2; leaves++) {
		str_format(event, sizeof(event), leaves ? "sys_exit_%.40s" : "sys_enter_%.40s",
			   name_of(t));
		if (pick_names(p, "syscalls", event) ||
		    pick_names(p, "raw_syscalls", leaves ? "sys_exit" : "sys_enter"))
			return 1;
	}
	return pick_names(p, RECORD_SYSTEM, "call");
}

/*
 * The call of a task returns, by the number and with the result of e. compat: it is one of 32-bit
 * code.
 */
static void end(struct decode *d, struct decode_task *t, const struct decode_event *of,
		struct pairing_event *e, const struct record *r, int compat, int shown,
		struct out *o)
{
	struct record begin = head_of(t);
	int marked = compat, exec, open = t->pair.open;
	enum pairing_fate fate;

	e->class = class_of(d, t, e->id, compat);
	e->cpu = r->cpu;
	e->registers = t->user && t->user->nregisters;
	e->losing = (!open || t->pair.cpu != r->cpu) && in_loss(d);
	e->trapped = !open && is_trapped(d, t, e->id, e->result);
	/* on x86 an exec returns by the number of the new program's ABI */
	exec = open && t->pair.class == PAIRING_EXEC && e->class == PAIRING_EXEC;
	d->pairing.entries = of->entries;
	fate = pairing_return(&d->pairing, &t->pair, e);
	if (fate == PAIRING_NOTHING)
		return;
	if (open && fate != PAIRING_RETURNED)
		put_endless(d, t, PAIRING_UNFINISHED, o);
	t->fate = fate == PAIRING_ACROSS || fate == PAIRING_BORN ? PAIRING_RESUMED : fate;
	if (fate == PAIRING_RETURNED && exec && t->user && e->id != t->pair.id &&
	    t->call && t->call->args[0].kind == CALL_DIRFD)
		call_user_shift(t->user);
	if (fate == PAIRING_RETURNED && (exec || t->compat))
		compat = t->compat;
	if (fate != PAIRING_RETURNED || compat != t->compat)
		set_call(d, t, of, e->id, compat);
	if (fate != PAIRING_RETURNED && d->show->otel.on)
		t->context = otel_of(&d->show->otel, d->show->line->events, r);
	t->trapped = had_no_entry(t) && e->trapped;
	if (had_no_entry(t))
		take_registers(t);
	/* strace shows no return of a fork in the child */
	put_returned(d, t, e->result, r->ts,
		     shown && picks_name(d, of, t) && !(d->strace && fate == PAIRING_BORN),
		     fate == PAIRING_RETURNED ? &begin : r, o);
	t->compat = (uint8_t)(exec && fate == PAIRING_RETURNED ? marked : compat);
}

static void leave(struct decode *d, const struct decode_event *of, const struct record *r,
		  int shown, struct out *o)
{
	struct decode_task *t = task_at(d, record_pid(d->show->line->events, r), o);
	struct pairing_event e = {
		.id = (uint64_t)number_at(d, of, 0, r), .result = number_at(d, of, 1, r),
	};
	/* 32-bit code has other numbers, if no option names its ABI; syscalls leave it out */
	int compat = is_compat(d, t, MARK_RETURN) && !d->abi && !of->call;

	t->marked = MARK_NONE;
	end(d, t, of, &e, r, compat, shown, o);
}

/* ---- records of our own ---- */

/* Return the number of size bytes at an offset of a record. */
static uint64_t own_number(const struct decode *d, const struct record *r, size_t at, unsigned size)
{
	return raw_number(r->data + at, size, 1, d->show->line->events->big);
}

#define OWN(MEMBER) own_number(d, r, offsetof(struct call_record, MEMBER), \
			       (unsigned)sizeof(((struct call_record *)0)->MEMBER))

static void add_part(struct decode *d, struct decode_task *t, const void *bytes, size_t n)
{
	d->held -= t->parts.room;
	strbuf_add(&t->parts, bytes, n);
	d->held += t->parts.room;
}

/* May a part of the memory of the next record be missing? */
static int is_torn(const struct decode *d, const struct decode_task *t)
{
	return t->torn || (t->parts.n && t->parted != d->pairing.losses);
}

/* Keep a part of the memory of the next record of the task. */
static void keep_part(struct decode *d, const struct decode_event *of, const struct record *r,
		      struct out *o)
{
	struct decode_task *t = task_at(d, record_pid(d->show->line->events, r), o);
	const int torn = is_torn(d, t);
	struct field_data v;

	t->parted = d->pairing.losses;
	v = event_value(&of->seen, 0, d->show->line->events, r);
	if (torn || v.kind != FIELD_ARRAY || t->parts.n + v.n > PARTS_MOST ||
	    d->held >= HELD_MOST) {
		t->torn = 1;
		free_parts(d, t);
	} else {
		add_part(d, t, v.data, v.n);
	}
}

/* Add the memory of a record, after its parts. */
static void take_own(struct decode *d, struct decode_task *t, const struct record *r)
{
	const uint64_t place = OWN(memory);
	size_t at = place & 0xffff, n = place >> 16 & 0xffff;
	const void *memory = r->data + at;
	struct call_user *u;

	if (is_torn(d, t) || at + n > r->len) {
		t->lacking = 1;
	} else if (n || t->parts.n) {
		if (t->parts.n) {
			add_part(d, t, memory, n);
			memory = t->parts.text;
			n = t->parts.n;
		}
		u = memory_of(d, t);
		if (u)
			t->lacking = call_user_take(u, memory, n) < 0;
	}
	t->torn = 0;
	free_parts(d, t);
}

/* The call of the record begins. */
static void begin_own(struct decode *d, struct decode_task *t, const struct decode_event *of,
		      const struct record *r, uint64_t ts, unsigned flags, int shown,
		      struct out *o)
{
	struct record at = *r;

	put_unfinished(d, t, o);
	at.ts = ts;
	if (t->foretold <= ts) /* the memory is not the path of the program that it executed */
		drop_memory(d, t);
	t->foretold = 0;
	t->compat = (flags & CALL_COMPAT) && !d->abi;
	t->untimed = (flags & CALL_AT_RETURN) != 0;
	t->nargs = CALL_ARGS;
	for (unsigned i = 0; i < CALL_ARGS; i++)
		t->values.args[i] = OWN(call.args[i]);
	begin(d, t, of, OWN(call.nr), &at, shown);
	t->pair.cpu = (int)OWN(call.cpu);
	t->shown &= (uint8_t)picks_name(d, of, t);
	/* its memory was in a record that is lost */
	t->lacking = of->seen.kind == CALLED && (flags & CALL_ENTERED);
}

/* Take what is told of the task of a call's record. Its pid may be that of an earlier task. */
static void take_task(struct decode *d, struct decode_task *t, struct out *o)
{
	const struct told_tasks *told = &d->show->told;
	char line[40];
	size_t n;

	if (told->reused) {
		put_unfinished(d, t, o);
		drop_memory(d, t);
		if (d->show->sink) {
			n = str_format(line, sizeof(line), "# reused %d\n", t->pid);
			d->show->sink->line(d->show->sink->arg, line, n);
		} else if (!d->strace && !d->show->people) {
			out_format(o, d->show->json ? "{\"reused\":%d}\n" : "# reused %d\n",
				   t->pid);
		}
	}
	if (told->now)
		t->task = *told->now;
}

/* Take a record of a call, which has begun, or has returned. */
static void take_call(struct decode *d, const struct decode_event *of, const struct record *r,
		      int shown, struct out *o)
{
	struct decode_task *t = task_at(d, record_pid(d->show->line->events, r), o);
	struct pairing_event e = { 0 };
	struct record begin;
	struct call_user *u;
	unsigned flags;
	uint64_t ts;
	int begins;

	if (r->len < sizeof(struct call_record))
		return;
	take_task(d, t, o);
	ts = OWN(call.begin);
	flags = (unsigned)OWN(call.flags);
	begins = ts && !(t->pair.open && t->ts == ts);
	if (begins)
		begin_own(d, t, of, r, ts, flags, shown, o);
	else if (!ts && !t->pair.open && (u = memory_of(d, t))) {
		for (unsigned i = 0; i < CALL_ARGS; i++)
			u->registers[i] = OWN(call.args[i]);
		u->nregisters = CALL_ARGS;
	}
	take_own(d, t, r);
	if (begins) {
		e.id = OWN(call.nr);
		e.cpu = (int)OWN(call.cpu);
		e.class = pairing_class(roles_of_task(t));
		if (of->seen.kind == CALLED && OWN(ret_nr) == e.id &&
		    !(flags & (CALL_COMPAT | CALL_COMPAT_RETURN)) &&
		    pairing_whole(&d->pairing, &t->pair, &e)) {
			begin = head_of(t);
			t->fate = PAIRING_RETURNED;
			t->trapped = 0;
			put_returned(d, t, (int64_t)OWN(ret), r->ts, t->shown, &begin, o);
			return;
		}
		open_call(d, t, &e, o);
	}
	if (of->seen.kind != CALLED)
		return;
	e.id = OWN(ret_nr);
	e.result = (int64_t)OWN(ret);
	end(d, t, of, &e, r, (flags & CALL_COMPAT_RETURN) && !d->abi, shown, o);
}

/* Know a file, to which later records refer. */
static void take_file(struct decode *d, const struct decode_event *of, const struct record *r)
{
	const struct event_set *evs = d->show->line->events;
	struct file_record f = { 0 };
	struct field_data texts[3];

	for (unsigned i = 0; i < 3; i++)
		if (r->len < sizeof(f) || !of->seen.field[i] ||
		    field_value(evs, of->seen.field[i], r, &texts[i]) < 0 ||
		    texts[i].kind != FIELD_STRING)
			return;
#define FILE_NUMBER(MEMBER) own_number(d, r, offsetof(struct file_record, MEMBER), \
				       (unsigned)sizeof(f.MEMBER))
	f.id = FILE_NUMBER(id);
	f.inode = FILE_NUMBER(inode);
	f.device = (uint32_t)FILE_NUMBER(device);
	f.mode = (uint16_t)FILE_NUMBER(mode);
	f.flags = (uint16_t)FILE_NUMBER(flags);
	f.family = (uint16_t)FILE_NUMBER(family);
	f.protocol = (uint16_t)FILE_NUMBER(protocol);
	f.space = (uint32_t)FILE_NUMBER(space);
	f.generation = (uint32_t)FILE_NUMBER(generation);
	f.root = (uint32_t)FILE_NUMBER(root);
	files_add(&d->known, &f, (const char *)texts[0].data, (const char *)texts[1].data,
		  (const char *)texts[2].data);
	d->known.by_kernel = 1;
}

/*
 * Take the strings of a probe inside of a call. Its fields have the names of records: a1 is the
 * string of argument 1, s1_0 of its array; a number e1 says that the array has more. In a1 the
 * kernel stores a string that it could not read as one without a byte.
 */
static void take_probe(struct decode *d, const struct event *e, const struct record *r)
{
	const struct event_set *evs = d->show->line->events;
	struct decode_task *t = find(d, record_pid(evs, r));
	struct field_data v;

	for (unsigned i = e->ncommon; t && t->pair.open && i < e->nfields; i++) {
		const char *name = e->fields[i].name;
		const unsigned argument = (unsigned)(unsigned char)name[1] - '0';

		if (argument >= CALL_ARGS || field_value(evs, &e->fields[i], r, &v) < 0)
			continue;
		if (v.kind != FIELD_STRING || *name == 's')
			add_memory(d, t, *name, argument, "", 0);
		if (v.kind == FIELD_STRING)
			add_memory(d, t, *name == 's' || v.n ? 'a' : 'x', argument, v.data, v.n);
	}
}

/* Take a record of user memory. Return 1, or 0 if tfs-strings did not write the record. */
static int take_memory(struct decode *d, const struct decode_event *of, const struct record *r,
		       struct out *o)
{
	const struct event_set *evs = d->show->line->events;
	int32_t pid = record_pid(evs, r);
	struct decode_task *t;
	struct call_user *u;
	size_t n;
	const char *text = older_text(evs, of->seen.field[0], r, d->id, &n);

	if (!text)
		return 0;
	t = find(d, pid);
	if (older_begins(text, n)) {
		/* the return of the last call is missing, as that of an exec of 32-bit code */
		t = t ? t : task_at(d, pid, o);
		put_unfinished(d, t, o);
		drop_memory(d, t);
		t->early = 1;
	} else if (!t) { /* perhaps its first part is from before the trace */
		t = task_at(d, pid, o);
		t->lacking = 1;
	}
	/* 32-bit code has no events: its call returns, and was not that which begins next */
	if (t->early && *text == 'k')
		t->early = 0;
	if (n == 1 && (*text == 'K' || *text == 'k')) {
		t->marked = *text == 'K' ? MARK_ENTRY : MARK_RETURN;
		t->mark = d->pairing.losses;
		return 1;
	}
	u = memory_of(d, t);
	if (u)
		t->lacking = older_memory(u, text, n) < 0;
	return d->id || !t->lacking;
}

/* A program is executed: its path, as the kernel has it, stands for one that was not recorded. */
static void take_program(struct decode *d, struct decode_task *t, const struct decode_event *of,
			 const struct record *r)
{
	struct field_data v;

	v = event_value(&of->seen, 1, d->show->line->events, r);
	if (v.kind != FIELD_STRING || (t->user && t->user->program.bytes.bytes))
		return;
	add_memory(d, t, 'n', 0, v.data, v.n);
}

/*
 * Print that the task has executed a program by a call of 32-bit code, of which syscalls has no
 * event: all that is known is the program. Its return is not news.
 */
static void put_foreign(struct decode *d, struct decode_task *t, const struct decode_event *of,
			const struct record *r, struct out *o)
{
	const struct call *c = NULL;

	for (unsigned n = 0; n <= calls_most(d->calls) && !(c && c->role->is & IS_EXEC); n++)
		c = calls_find(d->calls, n);
	drop_memory(d, t);
	take_program(d, t, of, r);
	t->tables = d->calls;
	t->call = c;
	t->nargs = 1;
	t->ts = t->executed = r->ts;
	t->nhead = (uint8_t)(r->len < HEAD ? r->len : HEAD);
	memcpy(t->head, r->data, t->nhead);
	t->values.args[0] = 1; /* no NULL */
	t->shown = t->foreign = 1;
	put_executed(d, t, o);
	t->executed = t->foreign = 0;
	t->pair.skip = 1;
}

/* A thread that is not the leader has executed a program: it takes the leader's pid. */
static void exec(struct decode *d, int old_pid, int pid, struct out *o)
{
	struct decode_task *old = old_pid != pid ? find(d, old_pid) : NULL, *t;
	struct table_entry entry;

	if (!old)
		return;
	t = task_at(d, pid, o);
	old = find(d, old_pid); /* if task_at has not dropped it */
	if (!old)
		return put_unfinished(d, t, o);
	put_unfinished(d, t, o);
	free_memory(d, t);
	free_parts(d, t);
	entry = t->pair.entry;
	*t = *old;
	t->pair.entry = entry;
	t->pid = pid;
	old->user = NULL;
	old->parts = (struct strbuf){ 0 };
	old->pair.open = 0;
	forget(d, old);
}

/* Print what a record gives: nothing, a call, or the text of another event. */
static size_t decode_text(void *decode, const struct record *r, int lost, int *shown, char *buf,
			  size_t size)
{
	struct decode *d = decode;
	const struct decode_event *of = event_at(d, r);
	enum kind kind = of ? of->seen.kind : OTHER;
	int pid = record_pid(d->show->line->events, r);
	struct out o = out_to(buf, size);
	struct decode_task *t;

	d->gap = lost != 0;
	d->pairing.losses += lost != 0;
	if (lost)
		noted_lost(&d->known);
	if (kind == ENTER) {
		enter(d, of, r, *shown, &o);
	} else if (kind == EXIT) {
		leave(d, of, r, *shown, &o);
	} else if (kind == BEGUN || kind == CALLED) {
		take_call(d, of, r, *shown, &o);
	} else if (kind == PART) {
		keep_part(d, of, r, &o);
	} else if (kind == FILED) {
		take_file(d, of, r);
	} else if (kind == PROBE) {
		take_probe(d, of->seen.event, r);
	} else if (kind != TOLD && (kind != MEMORY || !take_memory(d, of, r, &o))) {
		if (kind == EXEC) {
			exec(d, (int)number_at(d, of, 0, r), pid, &o);
			t = task_at(d, pid, &o);
			if (!t->pair.open) { /* its record comes at its return, if it has one */
				t->pair.outside = d->pairing.losses + 1;
				drop_memory(d, t);
				t->foretold = r->ts;
			}
			take_program(d, t, of, r);
			if (t->pair.open && t->pair.class == PAIRING_EXEC)
				t->executed = r->ts;
			else if (d->execs)
				put_foreign(d, t, of, r, &o);
			t->group = noted_exec(&d->known, group_of(d, t), pid);
		}
		if (kind == NEWTASK) {
			int child = (int)number_at(d, of, 0, r), group;

			if (!find(d, child))
				pairing_born(&d->pairing, &task_at(d, child, &o)->pair);
			group = group_of(d, task_at(d, pid, &o));
			t = find(d, child);
			if (t)
				t->group = noted_fork(&d->known, group, child,
						      (uint64_t)number_at(d, of, 1, r));
		}
		d->requests += kind == REQUEST;
		d->polled += kind == RING && number_at(d, of, 0, r) & K_IORING_SETUP_SQPOLL;
		t = kind == END ? find(d, pid) : NULL;
		if (t) {
			put_unfinished(d, t, &o);
			noted_forget(&d->known, pid);
			noted_forget(&d->known, (int)-(unsigned)pid);
			forget(d, t);
		}
		if (*shown)
			o.at += show_text(d->show, r, o.at, out_room(&o));
	}
	*shown = o.at > buf;
	return (size_t)(o.at - buf);
}

/* ---- the interface ---- */

/* Set the errors of a list of names. Return 0, or -1. */
static int parse_errors(struct decode *d, const char *names)
{
	for (;; names++) {
		size_t n = strcspn(names, ",");
		uint64_t e = (uint64_t)error_of_name(names, n);

		if (!e || e > MAX_ERROR)
			return -1;
		d->errors[e / 64] |= (uint64_t)1 << e % 64;
		d->by_error = 1;
		names += n;
		if (!*names)
			return 0;
	}
}

int decode_take(struct decode *d, const struct tool *tool)
{
	unsigned long fd = 0, us = 0; /* which may have 32 bits */
	const struct opt_place places[] = {
		{ .name = "decode", .flag = &d->on }, { .name = "failed", .flag = &d->failed },
		{ .name = "succeeded", .flag = &d->succeeded },
		{ .name = "execs", .flag = &d->execs }, { .name = "fd", .number = &fd },
		{ .name = "slower", .number = &us }, { .name = "names", .flag = &d->names },
		{ .name = "paths", .flag = &d->paths }, { .name = "reads", .flag = &d->reads },
		{ .name = "host-paths", .flag = &d->known.host_paths },
		{ .name = "strace", .flag = &d->strace }, { .name = "id", .text = &d->id },
		{ .name = "abi", .text = &d->abi }, { .name = "note", .text = &d->note }, { 0 },
	};
	const char *name = opt_last.name;
	struct call_role_set set;

	if (!strcmp(name, "files")) {
		if (roles_parse(opt_value, &set) < 0 || set.is || set.fds)
			opt_refuse(tool, "what calls do, such as opened,written");
		d->files = set.does;
	} else if (!strcmp(name, "path")) {
		wanted_add(&d->wanted, opt_value);
	} else if (!strcmp(name, "errno")) {
		if (parse_errors(d, opt_value) < 0)
			opt_refuse(tool, "a list of names of errors, such as ENOENT");
	} else if (!opt_put(places)) {
		return 0;
	}
	if (strcmp(name, "decode") && strcmp(name, "note")) /* which -T has, too */
		d->option = opt_last.line;
	d->paths |= d->known.host_paths || d->files;
	d->known.prints = d->names || d->paths;
	if (!strcmp(name, "fd")) {
		d->fd = (int32_t)fd;
		d->by_fd = 1;
	}
	if (!strcmp(name, "slower")) {
		d->slower = us; /* an unsigned long may have 32 bits */
		d->slower = d->slower < UINT64_MAX / 1000 ? d->slower * 1000 : UINT64_MAX;
	}
	return 1;
}

void decode_check(const struct decode *d, const struct tool *tool, struct show *s)
{
	if (d->option && !d->on)
		usage_error(tool, "%.*s is for -D", (int)strcspn(d->option, " "), d->option);
	if (d->on && s->process)
		usage_error(tool, "-D and -P cannot be combined; leave one out");
	if (s->decoder && (d->on || s->process))
		usage_error(tool, "-T cannot be combined with -D and -P");
	if (d->strace && (s->json || s->people || s->otel.on || d->files))
		usage_error(tool, "--strace cannot be combined with -j, -m, -O and --files");
	s->strace = d->strace;
	s->dated |= d->strace;
	s->asked |= d->on;
}

int decode_open(struct decode *d, const char *machine)
{
	const char *abi = d->abi ? d->abi : machine, *abi_32 = NULL;
	struct utsname u;

	machine = abi ? abi : !uname(&u) ? u.machine : "";
	if (!d->abi)
		abi_32 = calls_abi_32(machine);
	d->keeps_number = begins(machine, "x86") || begins(machine, "mips") ||
			  (*machine == 'i' && !strcmp(machine + 2, "86"));
	d->calls = calls_open(abi);
	d->calls_32 = abi_32 && d->calls ? calls_open(abi_32) : NULL;
	return d->calls && (!abi_32 || d->calls_32) ? 0 : -1;
}

void decode_begin(struct decode *d, struct show *s)
{
	decode_free(d);
	d->pairing.tasks.size = sizeof(struct decode_task);
	d->root = d->known.live ? file_root() : 0;
	wanted_begin(&d->wanted, d->root);
	d->show = s;
	s->pick.calls = 1;
	s->decoder = decode_text;
	s->decode = d;
	s->plain = 0;
}

/* Compare the times at which the calls of two tasks began. */
static int by_time(const void *a, const void *b)
{
	const struct decode_task *x = *(struct decode_task *const *)a;
	const struct decode_task *y = *(struct decode_task *const *)b;

	return x->ts != y->ts ? x->ts > y->ts ? 1 : -1 : (x->pid > y->pid) - (x->pid < y->pid);
}

const struct call *decode_call(struct decode *d, int pid, const struct call_values **values)
{
	struct decode_task *t = find(d, pid);

	*values = t ? &t->values : NULL;
	if (t && t->pair.open)
		use_memory(d, t); /* as far as it is known */
	return t && t->pair.open ? t->call : NULL;
}

/* Tell the requests of io_uring and io_submit. The thread that polls a ring may not be traced. */
static void put_requests(const struct decode *d, struct out *o)
{
	int json = d->show->json;

	if (d->requests || d->polled)
		out_format(o, json ? "{\"io_uring\":%llu" :
			   "# %llu requests of io_uring are not shown: they make no system calls",
			   d->requests);
	if (d->polled)
		out_format(o, json ? ",\"polled_rings\":%llu" :
			   "; those of %llu rings with SQPOLL may be missing in this number",
			   d->polled);
	if (d->requests || d->polled)
		out_string(o, json ? "}\n" : "\n");
	if (d->queued)
		out_format(o, json ? "{\"io_submit\":%llu}\n" :
			   "# %llu requests of io_submit are not shown: one call makes several\n",
			   d->queued);
}

size_t decode_end(struct decode *d, char *buf, size_t size)
{
	struct out o = out_to(buf, size);

	if (!d->ended++) {
		table_sort(&d->pairing.tasks, by_time);
		d->hand = 0;
	}
	while (d->hand < d->pairing.tasks.n && out_room(&o) >= LINE_MOST)
		put_unfinished(d, (struct decode_task *)(void *)d->pairing.tasks.v[d->hand++],
			       &o);
	if (o.at == buf && (d->requests || d->polled || d->queued) && size >= LINE_MOST) {
		put_requests(d, &o);
		d->requests = d->polled = d->queued = 0;
	}
	if (d->unnamed && d->hand == d->pairing.tasks.n && out_room(&o) >= LINE_MOST) {
		out_format(&o, d->show->json ? "{\"unnamed\":%llu}\n" :
			   "# %llu names of files are not known: without BTF "
			   "(CONFIG_DEBUG_INFO_BTF), the kernel does not say them\n", d->unnamed);
		d->unnamed = 0;
	}
	return (size_t)(o.at - buf);
}

void decode_free(struct decode *d)
{
	for (size_t i = 0; i < d->pairing.tasks.room; i++) {
		struct decode_task *t = (struct decode_task *)(void *)d->pairing.tasks.v[i];

		if (t) {
			free_memory(d, t);
			free_parts(d, t);
		}
		free(t);
	}
	event_notes_free(&d->events);
	files_free(&d->known);
	wanted_free(&d->wanted);
	free(d->pairing.tasks.v);
	d->pairing.tasks = (struct table){ 0 };
	d->held = d->hand = 0;
	d->last = NULL;
	d->ended = 0;
	d->requests = d->polled = d->queued = d->unnamed = 0;
}
