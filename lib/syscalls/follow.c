/* SPDX-License-Identifier: ISC */
/*
 * follow.c - what descriptors are named by their opens, if the kernel does not say it
 *
 * Without the programs that read the kernel's structures (BTF), a descriptor has the path by which
 * its thread group opened it, or what procfs said when the task was first seen, with "?" before
 * it. What happens to a name later is not followed: renames, mounts, links.
 *
 * In this file, each part uses those above it:
 *	objects and their references
 *	tasks: what procfs shows when they are first seen
 *	paths
 *	rules: what each call does, as data/follow.in says
 *	the interface
 */
#include <sched.h>
#include <sys/socket.h>

#include "base/base.h"
#include "proc/proc.h"
#include "syscalls/tables.h"

enum {
	MOST_MEMORY = 64 << 20, /* bytes */
	MOST_FDS = 1 << 16,     /* of a table; greater descriptors are unknown */
	MOST_READ = 4096,       /* descriptors of a task that procfs shows */
};

/* An open file, or a directory of tasks */
struct file {
	unsigned refs;
	uint8_t netlink;        /* 1 + the protocol of a netlink socket */
	uint16_t family, type;  /* of a socket; 0: it is none */
	char name[];
};

/* Descriptors; or of directories, only descriptor 0 */
struct files {
	unsigned refs, n;
	struct descriptor {
		struct file *file;      /* NULL: unknown */
		int cloexec;
	} *v;
};

struct member {
	struct table_entry entry;
	struct files *d, *w;    /* descriptors, the directory */
};

/* ---- objects and their references ---- */

struct block {
	size_t size;
};

/* Return n bytes that are zero, or NULL beyond the bound. */
static void *take(struct follow *f, size_t n)
{
	struct block *b;

	n += sizeof(*b);
	if (n > MOST_MEMORY - f->used)
		return NULL;
	f->used += n;
	b = xcalloc(1, n);
	b->size = n;
	return b + 1;
}

static void give(struct follow *f, void *p)
{
	struct block *b = p;

	if (!p)
		return;
	f->used -= b[-1].size;
	free(b - 1);
}

/* Return an object with one reference, which is its first member. NULL: no memory. */
static void *object_new(struct follow *f, size_t n)
{
	unsigned *refs = take(f, n);

	if (refs)
		*refs = 1;
	return refs;
}

/* Return one more reference to an object, or NULL. */
static void *object_ref(const void *object)
{
	unsigned *refs = (unsigned *)(size_t)object;

	if (refs)
		++*refs;
	return refs;
}

/* Return a file with n bytes of name, all zero if name is NULL. NULL: no memory. */
static struct file *file_new(struct follow *f, const char *name, size_t n)
{
	struct file *p = object_new(f, sizeof(*p) + n + 1);

	if (p && name)
		memcpy(p->name, name, n);
	return p;
}

static void file_put(struct follow *f, struct file *p)
{
	if (p && !--p->refs)
		give(f, p);
}

/* Let a descriptor be the file, whose reference is given away. */
static void set_file(struct follow *f, struct files *d, uint64_t fd, struct file *file, int cloexec)
{
	if (d && file && fd >= d->n && fd < MOST_FDS) {
		unsigned n = ((unsigned)fd | 3) + 1 > 2 * d->n ? ((unsigned)fd | 3) + 1 : 2 * d->n;
		struct descriptor *more = take(f, n * sizeof(*more));

		if (more) {
			memcpy(more, d->v ? d->v : more, d->n * sizeof(*more));
			give(f, d->v);
			d->v = more;
			d->n = n;
		}
	}
	if (d && fd < d->n) {
		file_put(f, d->v[fd].file);
		d->v[fd] = (struct descriptor){ file, cloexec };
	} else {
		file_put(f, file);
	}
}

static struct file *get_file(const struct files *d, uint64_t fd)
{
	return d && fd < d->n ? d->v[fd].file : NULL;
}

static void files_put(struct follow *f, struct files *d)
{
	if (!d || --d->refs)
		return;
	for (unsigned fd = 0; fd < d->n; fd++)
		file_put(f, d->v[fd].file);
	give(f, d->v);
	give(f, d);
}

/* Give a task a copy of its own. */
static void own_copy(struct follow *f, struct files **at)
{
	struct files *from = *at, *d;

	if (!from || from->refs == 1)
		return;
	*at = d = object_new(f, sizeof(struct files));
	for (unsigned fd = from->n; fd--;)
		set_file(f, d, fd, object_ref(from->v[fd].file), from->v[fd].cloexec);
	files_put(f, from);
}

static void forget(struct follow *f, struct member *m)
{
	files_put(f, m->d);
	files_put(f, m->w);
	table_remove(&f->tasks, m);
	f->used -= sizeof(*m);
}

static struct file *socket_new(struct follow *f, uint64_t family, uint64_t type)
{
	struct file *s = file_new(f, "", 0);

	if (s) {
		s->family = (uint16_t)family;
		s->type = type & K_SOCK_TYPE_MASK;
	}
	return s;
}

/* ---- tasks: what procfs shows ---- */

/* Write the path of a task's file in procfs to out (PATH_MAX bytes). pid 0: this program. */
static void task_path(int pid, const char *name, char *out)
{
	char digits[16];

	str_format(digits, sizeof(digits), "%d", pid);
	str_format(out, PATH_MAX, "%s/%s/%s", path_procfs(), pid ? digits : "self", name);
}

/*
 * Read a link of a task in procfs into out (PATH_MAX bytes). The kernel gives a path from the
 * root directory of the mount namespace. Return the length; 0, silent, if it cannot be read.
 */
static size_t read_link(int pid, const char *name, char *out)
{
	char path[PATH_MAX];
	ssize_t n;

	task_path(pid, name, path);
	n = readlink(path, out, PATH_MAX - 1);
	out[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* Return the file of a link in procfs, as it is now; NULL if there is none. */
static struct file *file_of_link(struct follow *f, int pid, const char *name)
{
	char link[PATH_MAX + 1] = "?";
	size_t n = read_link(pid, name, link + 1);

	return n ? file_new(f, link, n + 1) : NULL;
}

/* Does an exec close the descriptor? */
static int read_cloexec(int pid, const char *fd)
{
	char text[128];
	const char *s;

	str_format(text, sizeof(text), "fdinfo/%s", fd);
	s = task_read_file(pid, text, text, sizeof(text)) < 0 ? NULL : strstr(text, "flags:\t");
	return s && strtoul(s + 7, NULL, 8) & O_CLOEXEC;
}

static void read_descriptors(struct follow *f, struct files *d, int pid)
{
	char path[PATH_MAX];
	struct dirent *e;
	DIR *list;

	task_path(pid, "fd", path);
	list = file_list(AT_FDCWD, path);
	for (unsigned n = 0; list && n < MOST_READ && (e = readdir(list)); n++) {
		unsigned long fd;
		struct file *p;

		if (text_number(e->d_name, 0, MOST_FDS - 1, &fd) < 0)
			continue;
		/* what the kernel says of a descriptor can be long, too */
		if (procfs_begin() < 0)
			break;
		str_format(path, sizeof(path), "fd/%lu", fd);
		p = file_of_link(f, pid, path);
		if (p)
			set_file(f, d, fd, p, read_cloexec(pid, e->d_name));
		procfs_end();
	}
	if (list)
		closedir(list);
}

static struct member *member_find(const struct follow *f, int pid)
{
	return table_find(&f->tasks, (const char *)&pid, sizeof(pid));
}

/* Return the new task. NULL: no memory. */
static struct member *member_new(struct follow *f, int pid)
{
	struct member *m;

	f->tasks.size = sizeof(*m);
	if (f->used > MOST_MEMORY / 2)
		return NULL;
	m = table_at(&f->tasks, (const char *)&pid, sizeof(pid));
	f->used += sizeof(*m);
	return m;
}

/* Let a task share descriptors and directories of another. */
static void share(struct member *m, const struct member *with)
{
	m->d = object_ref(with->d);
	m->w = object_ref(with->w);
}

/* Return the task; begin with procfs if it is first seen. NULL: no memory. */
static struct member *member(struct follow *f, int pid)
{
	struct member *m = member_find(f, pid), *leader;
	pid_t tgid = pid;
	uid_t uid;

	if (m)
		return m;
	if (f->live && task_ids(pid, &tgid, &uid) < 0)
		tgid = pid;
	leader = tgid == pid ? NULL : member(f, tgid);
	m = member_new(f, pid);
	if (m && leader) {
		share(m, member_find(f, tgid));
	} else if (m) {
		m->d = object_new(f, sizeof(struct files));
		m->w = object_new(f, sizeof(struct files));
		if (f->live && !procfs_begin()) {
			set_file(f, m->w, 0, file_of_link(f, pid, "cwd"), 0);
			procfs_end();
			read_descriptors(f, m->d, pid);
		}
	}
	return m;
}

/*
 * Write the path that a task gives, relative to a descriptor, to out (PATH_MAX bytes). Return the
 * length; 0: it is not known, or does not fit.
 */
static size_t join(const struct member *m, int dirfd, const struct call_bytes *path, char *out)
{
	size_t n = path->bytes ? strnlen(path->bytes, path->n) : 0, mark;
	const struct file *from = dirfd == AT_FDCWD ? get_file(m->w, 0) :
				  get_file(m->d, (unsigned)dirfd);
	const char *name = from ? from->name : "";

	mark = *name == '?';
	if (!n || path->cut || path->fault)
		return 0;
	if (*path->bytes == '/')
		return file_join("", "", path->bytes, n, out, PATH_MAX);
	if (name[mark] != '/')
		return 0;
	*out = '?';
	n = file_join(name + mark, "", path->bytes, n, out + mark, PATH_MAX - mark);
	return n ? n + mark : 0;
}

/* ---- rules: what each call does ---- */

/* A call that has succeeded. */
struct done {
	struct follow *f;
	struct member *m;
	int pid;
	const struct call *c;
	const uint64_t *a;
	const struct call_bytes *user;
	int64_t result;
	const struct follow_rule *rule;
	struct file *file;              /* of the first argument, if that is a descriptor */
};

/* Return the file of the first path of the call, which begins at the descriptor before it. */
static struct file *path_of(const struct done *d)
{
	char path[PATH_MAX];

	for (unsigned i = 0; i < d->c->nargs; i++) {
		const int at = i && d->c->args[i - 1].kind == CALL_DIRFD;
		size_t n;

		if (d->c->args[i].kind != CALL_PATH)
			continue;
		n = join(d->m, at ? (int)d->a[i - 1] : AT_FDCWD, &d->user[i], path);
		return n ? file_new(d->f, path, n) : NULL;
	}
	return NULL;
}

static int closes(const struct done *d)
{
	return d->rule->always || d->a[d->rule->flags] & d->rule->cloexec;
}

/* Let the new descriptor be the file. */
static void returns(const struct done *d, struct file *file)
{
	set_file(d->f, d->m->d, (uint64_t)d->result, file, closes(d));
}

static int is_known(const struct call_bytes *user, size_t n)
{
	return user->bytes && !user->fault && user->n >= n;
}

static void do_nothing(const struct done *d)
{
	(void)d;
}

static void do_unknown(const struct done *d)
{
	returns(d, NULL);
}

/* A file is opened with flags of open(2). One of O_TMPFILE has no name. */
static void open_file(const struct done *d, uint64_t flags)
{
	set_file(d->f, d->m->d, (uint64_t)d->result, flags & K_O_TMPFILE ? NULL : path_of(d),
		 !!(flags & O_CLOEXEC));
}

static void do_open(const struct done *d)
{
	open_file(d, d->rule->cloexec ? d->a[d->rule->flags] : 0);
}

static void do_open_how(const struct done *d)
{
	uint64_t flags = K_O_TMPFILE;

	if (is_known(&d->user[2], sizeof(flags)))
		memcpy(&flags, d->user[2].bytes, sizeof(flags));
	open_file(d, d->f->swapped ? __builtin_bswap64(flags) : flags);
}

static void do_memfd(const struct done *d)
{
	const struct call_bytes *user = d->user;
	size_t n = user->bytes ? strnlen(user->bytes, user->n) : 0;
	char name[300];

	n = str_format(name, sizeof(name), "/memfd:%.*s (deleted)", (int)n, n ? user->bytes : "");
	returns(d, user->bytes && !user->cut && !user->fault && n < 267 ?
		   file_new(d->f, name, n) : NULL);
}

static void do_anonymous(const struct done *d)
{
	char name[64];
	size_t n = str_format(name, sizeof(name), "anon_inode:%s", call_texts + d->rule->text);

	returns(d, file_new(d->f, name, n));
}

static void do_signalfd(const struct done *d)
{
	/* otherwise it changes this descriptor */
	if ((int)d->a[0] < 0)
		do_anonymous(d);
}

static void do_close(const struct done *d)
{
	set_file(d->f, d->m->d, (uint32_t)d->a[0], NULL, 0);
}

static void do_close_range(const struct done *d)
{
	struct files **files = &d->m->d;

	if (d->a[2] & K_CLOSE_RANGE_UNSHARE)
		own_copy(d->f, files);
	for (uint32_t fd = (uint32_t)d->a[0]; *files && fd < (*files)->n && fd <= (uint32_t)d->a[1];
	     fd++)
		if (d->a[2] & K_CLOSE_RANGE_CLOEXEC)
			(*files)->v[fd].cloexec = 1;
		else
			set_file(d->f, *files, fd, NULL, 0);
}

static void do_dup(const struct done *d)
{
	if ((uint32_t)d->a[0] != (uint64_t)d->result)
		returns(d, object_ref(d->file));
}

static void set_cloexec(const struct done *d, int cloexec)
{
	if (d->file)
		d->m->d->v[(uint32_t)d->a[0]].cloexec = cloexec;
}

static void do_fcntl(const struct done *d)
{
	if (d->a[1] == F_DUPFD || d->a[1] == F_DUPFD_CLOEXEC)
		set_file(d->f, d->m->d, (uint64_t)d->result, object_ref(d->file),
			 d->a[1] == F_DUPFD_CLOEXEC);
	else if (d->a[1] == F_SETFD)
		set_cloexec(d, d->a[2] & 1);
}

/* FIOCLEX and FIONCLEX of asm-generic/ioctls.h, and of asm/ioctls.h of powerpc */
static void do_ioctl(const struct done *d)
{
	uint32_t request = (uint32_t)d->a[1];

	if (request == 0x5451 || request == 0x20006601)
		set_cloexec(d, 1);
	else if (request == 0x5450 || request == 0x20006602)
		set_cloexec(d, 0);
}

/* Two descriptors in user memory are the file. */
static void pair(const struct done *d, const struct call_bytes *user, struct file *p)
{
	uint32_t fds[2];

	for (unsigned i = 0; is_known(user, sizeof(fds)) && i < 2; i++) {
		memcpy(fds, user->bytes, sizeof(fds));
		set_file(d->f, d->m->d, d->f->swapped ? __builtin_bswap32(fds[i]) : fds[i],
			 object_ref(p), closes(d));
	}
	file_put(d->f, p);
}

static void do_pipe(const struct done *d)
{
	pair(d, &d->user[0], file_new(d->f, "pipe", 4));
}

static void do_socketpair(const struct done *d)
{
	pair(d, &d->user[3], socket_new(d->f, d->a[0], d->a[1]));
}

static void do_socket(const struct done *d)
{
	struct file *s = socket_new(d->f, d->a[0], d->a[1]);

	if (s && d->a[0] == AF_NETLINK)
		s->netlink = (uint8_t)(1 + d->a[2]);
	returns(d, s);
}

static void do_accept(const struct done *d)
{
	returns(d, d->file && d->file->family ? socket_new(d->f, d->file->family, d->file->type) :
		   NULL);
}

static void do_chdir(const struct done *d)
{
	set_file(d->f, d->m->w, 0, d->c->args[0].kind == CALL_PATH ? path_of(d) :
		 object_ref(d->file), 0);
}

static void do_unshare(const struct done *d)
{
	if (d->a[0] & CLONE_FILES)
		own_copy(d->f, &d->m->d);
	if (d->a[0] & (CLONE_FS | CLONE_NEWNS | CLONE_NEWUSER))
		own_copy(d->f, &d->m->w);
}

static void (*const rules[])(const struct done *) = { FOLLOW_RULES };

/* ---- the interface ---- */

int follow_makes_pair(const struct call *c)
{
	unsigned what = call_rules[c->follow].what;

	return what == FOLLOW_PIPE || what == FOLLOW_SOCKETPAIR;
}

int follow_makes_netlink(const struct call *c, const struct call_values *v)
{
	return call_rules[c->follow].what == FOLLOW_SOCKET && v->args[0] == AF_NETLINK;
}

int follow_knows(const struct follow *f, int pid)
{
	return member_find(f, pid) != NULL;
}

unsigned follow_netlink(const struct follow *f, int pid, int fd)
{
	const struct member *m = member_find(f, pid);
	const struct file *s = m ? get_file(m->d, (uint32_t)fd) : NULL;

	return s ? s->netlink : 0;
}

void follow_call(struct follow *f, int pid, const struct call *c, const struct call_values *v)
{
	const struct follow_rule *rule = &call_rules[c->follow];
	struct done d = { f, NULL, pid, c, v->args, v->user, v->result, rule, NULL };
	int failed = error_of_result(v->result) != 0;

	/* a descriptor is closed even so, close(2) */
	if (rule->what == FOLLOW_NOTHING ||
	    (failed && rule->what != FOLLOW_CLOSE))
		return;
	d.m = member(f, pid);
	if (!d.m)
		return;
	d.file = get_file(d.m->d, (uint32_t)v->args[0]);
	rules[rule->what](&d);
}

void follow_begin(struct follow *f, int pid)
{
	if (f->live)
		member(f, pid);
}

void follow_task(struct follow *f, int pid, int child, uint64_t clone_flags)
{
	const struct member *parent = member(f, pid);
	struct member *m;

	follow_end(f, child);
	m = parent ? member_new(f, child) : NULL;
	if (!m)
		return;
	parent = member_find(f, pid);
	share(m, parent);
	if (!(clone_flags & CLONE_FILES))
		own_copy(f, &m->d);
	if (!(clone_flags & CLONE_FS))
		own_copy(f, &m->w);
}

void follow_end(struct follow *f, int pid)
{
	struct member *m = member_find(f, pid);

	if (m)
		forget(f, m);
}

void follow_rename(struct follow *f, int old_pid, int pid)
{
	struct member *m, *old;

	if (old_pid == pid || !member_find(f, old_pid))
		return;
	follow_end(f, pid);
	m = member_new(f, pid);
	old = member_find(f, old_pid);
	if (m)
		share(m, old);
	forget(f, old);
}

void follow_exec(struct follow *f, int pid)
{
	struct member *m = member(f, pid);

	if (!m)
		return;
	own_copy(f, &m->d);
	for (unsigned fd = 0; m->d && fd < m->d->n; fd++)
		if (m->d->v[fd].cloexec)
			set_file(f, m->d, fd, NULL, 0);
}

void follow_lost(struct follow *f)
{
	for (size_t i = 0; i < f->tasks.room; i++)
		while (f->tasks.v[i])
			forget(f, (struct member *)f->tasks.v[i]);
}

void follow_free(struct follow *f)
{
	follow_lost(f);
	free(f->tasks.v);
	f->tasks = (struct table){ 0 };
}

size_t follow_print_fd(struct follow *f, int pid, int fd, char *buf, size_t size)
{
	struct out o = out_to(buf, size - !!size);
	struct member *m = member(f, pid);
	struct file *p = !m ? NULL : fd == AT_FDCWD ? get_file(m->w, 0) :
			 get_file(m->d, (unsigned)fd);

	if (!p || !size)
		return 0;
	if (p->family)
		file_put_protocol(&o, p->family, p->type);
	else
		file_put_name(&o, p->name);
	for (char *s = o.end; o.cut && s > buf && o.end - s < 3;)
		*--s = '.';
	*o.at = '\0';
	return (size_t)(o.at - buf);
}

size_t follow_print_path(struct follow *f, int pid, int dirfd, const char *path, char *buf,
			 size_t size)
{
	return follow_print_file(f, pid, dirfd, &(struct call_bytes){ path, strlen(path), 0, 0, 0 },
				 buf, size);
}

size_t follow_print_file(struct follow *f, int pid, int fd, const struct call_bytes *path,
			 char *buf, size_t size)
{
	char text[PATH_MAX];
	struct member *m = member(f, pid);
	const struct file *p = m && !path ? get_file(m->d, (unsigned)fd) : NULL;
	const char *to = m && path && join(m, fd, path, text) ? text : p ? p->name : "";

	return to[*to == '?'] == '/' && strlen(to) < size ?
	       str_format(buf, size, "%s%s", f->host_paths && *to == '/' ? "?" : "", to) : 0;
}
