/* SPDX-License-Identifier: ISC */
/*
 * noted.c - the files of descriptors that no record names
 *
 * A kernel with BTF says which file each descriptor of a call is (files.c). Here is what else is
 * known of a thread group: how its calls have used and made descriptors, and, if the kernel says
 * nothing, the paths of its opens, and what procfs said when the group was first seen, with "?" in
 * front. Nothing is guessed: a rename, a mount or a new root is not re-enacted.
 */
#include <sched.h>
#include <sys/socket.h>

#include "host/host.h"
#include "event/event.h"
#include "proc/proc.h"
#include "calls/tables.h"

enum {
	MOST_MEMORY = 16 << 20, /* bytes; beyond it, all is forgotten */
	MOST_FDS = 1 << 16,     /* of a group; greater descriptors are unknown */
	MOST_READ = 4096,       /* descriptors of a group that procfs shows */
	FIOCLEX = 0x5451, FIONCLEX = 0x5450, /* asm-generic/ioctls.h */
	FIOCLEX_OLD = 0x20006601, FIONCLEX_OLD = 0x20006602, /* asm/ioctls.h of powerpc */
};

/* A descriptor: its file, or 0; and whether an exec is known to keep it */
struct noted {
	uint64_t id;
	int kept;
};

/* The tasks that share their descriptors, by the pid of one of them. v[0] is their directory. */
struct group {
	struct table_entry entry;
	unsigned n;
	struct noted *v;
};

/* ---- descriptors of a group ---- */

static struct group *find(const struct known_files *f, int group)
{
	return table_find(&f->groups, (const char *)&group, sizeof(group));
}

/* Return a descriptor, or the directory for AT_FDCWD; NULL: nothing is known of it. */
static struct noted *at(const struct group *g, int64_t fd)
{
	if (!g || (fd < 0 && fd != AT_FDCWD))
		return NULL;
	fd = fd == AT_FDCWD ? 0 : fd + 1;
	return fd < g->n ? &g->v[fd] : NULL;
}

/* Let a descriptor be the file with this id, or an unknown one. */
static void set(struct known_files *f, struct group *g, int64_t fd, uint64_t id, int kept)
{
	unsigned n = fd == AT_FDCWD ? 4 : ((unsigned)fd + 2) | 3;

	if ((fd < 0 && fd != AT_FDCWD) || fd >= MOST_FDS || (!id && !at(g, fd)))
		return;
	if (!at(g, fd)) {
		n = n > 2 * g->n ? n : 2 * g->n;
		g->v = xrealloc(g->v, n, sizeof(*g->v));
		memset(g->v + g->n, 0, (n - g->n) * sizeof(*g->v));
		f->held += (n - g->n) * sizeof(*g->v);
		g->n = n;
	}
	*at(g, fd) = (struct noted){ id, kept };
}

/* Forget what is known of a group. */
static void clear(struct known_files *f, struct group *g)
{
	f->held -= g->n * sizeof(*g->v);
	free(g->v);
	g->v = NULL;
	g->n = 0;
}

/* Return the group; nothing is known of it. */
static struct group *group_new(struct known_files *f, int group)
{
	struct group *g = find(f, group);

	if (!g) {
		f->groups.size = sizeof(*g);
		f->held += sizeof(*g);
		g = table_at(&f->groups, (const char *)&group, sizeof(group));
	}
	clear(f, g);
	return g;
}

void noted_forget(struct known_files *f, int group)
{
	struct group *g = find(f, group);

	if (!g)
		return;
	clear(f, g);
	f->held -= sizeof(*g);
	table_remove(&f->groups, g);
}

void noted_lost(struct known_files *f)
{
	for (size_t i = 0; i < f->groups.room; i++)
		if (f->groups.v[i])
			free(((struct group *)(void *)f->groups.v[i])->v);
	table_clear(&f->groups);
	f->held = 0;
}

/* ---- what procfs says ---- */

/* Return the id of a file of which nothing more is known. */
static uint64_t id_of(struct known_files *f, struct file_record r, const char *path,
		      const char *socket)
{
	const char *name = *socket ? socket : path;
	const struct file_known *known;

	r.id = text_hash(TEXT_HASH + r.flags + r.protocol, name, strlen(name));
	/* a program may choose several names with the same hash */
	while ((known = files_find(f, r.id)) &&
	       (strcmp(known->name, name) || known->flags != r.flags))
		r.id++;
	if (!known)
		files_add(f, &r, path, socket, "");
	return r.id;
}

/* Return the file of a link of a process in procfs, as it is now; 0: not known. */
static uint64_t read_link(struct known_files *f, int pid, const char *name)
{
	char path[PATH_MAX], link[PATH_MAX + 1] = "?";
	ssize_t n;

	str_format(path, sizeof(path), "%s/%d/%s", path_procfs(), pid, name);
	n = readlink(path, link + 1, PATH_MAX - 1);
	link[n > 0 ? n + 1 : 0] = '\0';
	return n > 0 ? id_of(f, (struct file_record){ .flags = FILE_SOLID }, link, "") : 0;
}

/* Does an exec keep the descriptor? */
static int read_kept(int pid, const char *fd)
{
	char text[128];
	const char *s;

	str_format(text, sizeof(text), "fdinfo/%s", fd);
	s = task_read_file(pid, text, text, sizeof(text)) < 0 ? NULL : strstr(text, "flags:\t");
	return s && !(text_value(s + 7, NULL, 8) & O_CLOEXEC);
}

static void read_process(struct known_files *f, struct group *g, int pid)
{
	char path[PATH_MAX];
	struct dirent *e;
	unsigned long fd;
	DIR *list;

	set(f, g, AT_FDCWD, read_link(f, pid, "cwd"), 1);
	str_format(path, sizeof(path), "%s/%d/fd", path_procfs(), pid);
	list = file_list(AT_FDCWD, path);
	for (unsigned n = 0; list && n < MOST_READ && (e = readdir(list)); n++) {
		if (text_number(e->d_name, 0, MOST_FDS - 1, &fd) < 0)
			continue;
		if (procfs_begin() < 0)
			break;
		str_format(path, sizeof(path), "fd/%lu", fd);
		set(f, g, (int64_t)fd, read_link(f, pid, path), read_kept(pid, e->d_name));
		procfs_end();
	}
	if (list)
		closedir(list);
}

/* Return the group. At first, read its files from procfs, unless the kernel says them. */
static struct group *group_at(struct known_files *f, int group)
{
	struct group *g = find(f, group);

	if (g)
		return g;
	if (f->held > MOST_MEMORY)
		noted_lost(f);
	g = group_new(f, group);
	if (f->live && f->prints && !f->by_kernel && !procfs_begin()) {
		read_process(f, g, group);
		procfs_end();
	}
	return g;
}

int noted_begin(struct known_files *f, int pid)
{
	pid_t group = pid;
	uid_t uid;

	if (!f->live || !f->prints || f->by_kernel)
		return pid;
	if (task_ids(pid, &group, &uid) < 0)
		group = pid;
	group_at(f, group);
	return group;
}

/* ---- what calls do ---- */

uint64_t call_flags(const struct calls *calls, const struct call *c, const struct call_values *v)
{
	for (unsigned i = 0; i < c->nargs; i++) {
		const struct call_bytes *how = &v->user[i];
		const int big = calls_big_endian(calls);

		if (!strcmp(c->args[i].name, "flags") || !strcmp(c->args[i].name, "type"))
			return v->args[i];
		if (c->args[i].kind == CALL_STRUCT && c->args[i].set == LAYOUT_OPEN_HOW)
			return how->n < 24 ? K_O_TMPFILE | O_RDWR :
			       raw_number(how->bytes, 8, 0, big) |
			       (raw_number(how->bytes + 16, 8, 0, big) & K_RESOLVE_IN_ROOT ?
				K_O_TMPFILE : 0);
	}
	return c->role->fds == FDS_PATH ? O_WRONLY | O_CREAT | O_TRUNC : 0; /* creat(2) */
}

size_t noted_path(const struct known_files *f, const struct file_known *dir,
		  const struct call_bytes *path, char *out)
{
	const size_t given = path->n ? strnlen(path->bytes, path->n) : 0;
	const int absolute = given && *path->bytes == '/';
	const char *from = absolute ? "" : dir ? dir->path : "?";
	const int mark = *from == '?', solid = !absolute && dir && dir->flags & FILE_SOLID;
	char whole[2 * PATH_MAX];
	size_t n;

	if (!given || given >= PATH_MAX || path->cut || path->fault ||
	    (!absolute && from[mark] != '/') ||
	    (!solid && strstr(from, "/..") && !strncmp(path->bytes, "..", 2)))
		return 0;
	str_format(whole, sizeof(whole), "%s/%.*s", solid ? "" : from + mark, (int)given,
		   path->bytes);
	*out = '?';
	n = file_join(solid ? from + mark : "", "", whole, strlen(whole),
		      out + (mark || f->host_paths), PATH_MAX - 1);
	return n ? n + (mark || f->host_paths) : 0;
}

/* Is the path the name of a file in the directory, with no link in between? */
static int is_solid(const struct calls *calls, const struct file_known *dir, const char *path,
		    uint64_t flags)
{
	const int other = calls->ppc || *calls->abi->name == 'a'; /* asm/fcntl.h of arm, powerpc */
	const int link = !(flags & (other ? 0100000 : 0400000)); /* O_NOFOLLOW */
	const char *name = path + strspn(path, "/");
	const size_t n = strcspn(name, "/");

	return !name[n + strspn(name + n, "/")] &&
	       (name > path || (dir && dir->flags & FILE_SOLID)) &&
	       (!link || n == strspn(name, "."));
}

/* Return the file of the first path of the call, which begins at the descriptor before it; or 0. */
static uint64_t path_of(struct known_files *f, const struct calls *calls, const struct call *c,
			const struct call_values *v, uint64_t flags)
{
	const struct file_known *dir;
	char path[PATH_MAX];
	unsigned i = 0;

	while (i < c->nargs && c->args[i].kind != CALL_PATH)
		i++;
	if (i == c->nargs || !v->user[i].bytes)
		return 0;
	dir = files_find(f, v->files[i && c->args[i - 1].kind == CALL_DIRFD ? i - 1 : i]);
	if (!noted_path(f, dir, &v->user[i], path))
		return 0;
	flags = is_solid(calls, dir, v->user[i].bytes, flags) ? FILE_SOLID : 0;
	return id_of(f, (struct file_record){ .flags = (uint16_t)flags }, path, "");
}

/* Return the file of a socket with these arguments of socket(2). */
static uint64_t socket_of(struct known_files *f, const uint64_t *args)
{
	char name[32];
	struct out o = out_to(name, sizeof(name) - 1);

	file_put_protocol(&o, (unsigned)args[0], args[1] & K_SOCK_TYPE_MASK);
	*o.at = '\0';
	return id_of(f, (struct file_record){ .family = (uint16_t)args[0],
					      .protocol = (uint16_t)args[2] }, "", name);
}

/* Return the file of the descriptor that the call returns, or of both that it makes; or 0. */
static uint64_t made(struct known_files *f, const struct calls *calls, const struct call *c,
		     const struct call_values *v, uint64_t flags)
{
	const struct file_known *from;

	switch (c->role->fds) {
	case FDS_PATH:
		return flags & K_O_TMPFILE ? 0 : path_of(f, calls, c, v, flags);
	case FDS_COPY:
	case FDS_FCNTL:
		return v->files[0];
	case FDS_CONNECTION: /* it has the protocol of the socket that accepts it */
		from = files_find(f, v->files[0]);
		return from && from->family ? v->files[0] : 0;
	case FDS_SOCKET:
		return socket_of(f, v->args);
	}
	return role_makes(c->role) ?
	       id_of(f, (struct file_record){ 0 }, role_makes(c->role), "") : 0;
}

/* Is it known that an exec keeps the descriptors that the call makes? */
static int keeps(const struct call *c, const struct call_values *v, uint64_t flags)
{
	if (c->role->fds == FDS_FCNTL)
		return v->args[1] == F_DUPFD;
	return c->role->fds && c->role->fds <= FDS_PIPE && !(flags & O_CLOEXEC);
}

int64_t noted_made(const struct calls *calls, const struct call *c, const struct call_values *v,
		   unsigned k)
{
	for (unsigned i = 0; i < c->nargs; i++)
		if (call_makes_pair(calls, &c->args[i]) && v->user[i].n >= 4 * k + 4)
			return (int32_t)raw_number(v->user[i].bytes + 4 * k, 4, 1,
						   calls_big_endian(calls));
	return -1;
}

static void set_kept(const struct group *g, uint64_t fd, int kept)
{
	if (at(g, (int)fd))
		at(g, (int)fd)->kept = kept;
}

/* Note what a call that has succeeded does to descriptors that it does not return. */
static void change(struct known_files *f, struct group *g, const struct calls *calls,
		   const struct call *c, const struct call_values *v)
{
	const uint32_t *a = (uint32_t[]){ (uint32_t)v->args[0], (uint32_t)v->args[1],
					  (uint32_t)v->args[2] };

	switch (c->role->fds) {
	case FDS_RANGE:
		for (uint64_t fd = a[0]; fd + 1 < g->n && fd <= a[1]; fd++)
			if (a[2] & K_CLOSE_RANGE_CLOEXEC)
				set_kept(g, fd, 0);
			else
				set(f, g, (int64_t)fd, 0, 0);
		break;
	case FDS_FCNTL:
		if (a[1] == F_SETFD)
			set_kept(g, a[0], !(a[2] & FD_CLOEXEC));
		break;
	case FDS_IOCTL:
		if (a[1] == FIOCLEX || a[1] == FIOCLEX_OLD)
			set_kept(g, a[0], 0);
		else if (a[1] == FIONCLEX || a[1] == FIONCLEX_OLD)
			set_kept(g, a[0], 1);
		break;
	case FDS_CWD:
		set(f, g, AT_FDCWD, c->args[0].kind == CALL_FD ? v->files[0] :
				    path_of(f, calls, c, v, 0), 1);
		break;
	case FDS_UNSHARE:
		set(f, g, AT_FDCWD, 0, 0);
		break;
	case FDS_ROOT:
		clear(f, g); /* the names were those of another place */
		break;
	}
}

/* Let the socket of connect(2) have the address that it connects to. Its own is not known. */
static void connected(struct known_files *f, const struct group *g, const struct call_values *v)
{
	const struct file_known *from = files_find(f, v->files[0]);
	struct noted *socket = at(g, (int)v->args[0]);
	char name[192];
	struct out o = out_to(name, sizeof(name) - 1);

	if (!from || !from->family || !socket)
		return;
	out_format(&o, "%.*s:?->", (int)strcspn(from->name, ":"), from->name);
	if (!file_put_peer(&o, &v->user[1]))
		return;
	*o.at = '\0';
	socket->id = id_of(f, (struct file_record){ .family = from->family,
						    .protocol = from->protocol }, "", name);
}

/* Return the group if its calls are noted: without names, only if it has a netlink socket. */
static struct group *noted_group(struct known_files *f, int group, const struct call *c,
				 const struct call_values *v)
{
	const int netlink = v->returned && c->role->fds == FDS_SOCKET && v->args[0] == AF_NETLINK;

	return f->prints || netlink ? group_at(f, group) : f->groups.n ? find(f, group) : NULL;
}

int noted_refer(struct known_files *f, int group, const struct call *c, struct call_values *v)
{
	const struct group *g = f->by_kernel ? NULL : noted_group(f, group, c, v);

	if (!g)
		return 0;
	memset(v->files, 0, sizeof(v->files));
	for (unsigned i = 0; i < c->nargs; i++) {
		const unsigned kind = c->args[i].kind;
		const struct noted *to = at(g, kind == CALL_PATH ? AT_FDCWD : (int)v->args[i]);

		if (to && (kind == CALL_FD || kind == CALL_DIRFD ||
			   (kind == CALL_PATH && v->user[i].n && *v->user[i].bytes != '/' &&
			    !(i && c->args[i - 1].kind == CALL_DIRFD))))
			v->files[i] = to->id;
	}
	return 1;
}

int noted_call(struct known_files *f, const struct calls *calls, int pid, int group,
	       const struct call *c, struct call_values *v)
{
	struct group *g = noted_group(f, group, c, v);
	const int pair = noted_made(calls, c, v, 0) >= 0, makes = pair || c->result.kind == CALL_FD;
	uint64_t *id = v->files;
	int kept = 0;

	if (!g)
		return group;
	for (unsigned i = 0; f->by_kernel && i < c->nargs; i++)
		if (id[i] && c->args[i].kind == CALL_FD &&
		    !(at(g, (int)v->args[i]) && at(g, (int)v->args[i])->id == id[i]))
			set(f, g, (int)v->args[i], id[i], 0);
	if (c->role->fds == FDS_CLOSED) /* even if it fails, close(2) */
		set(f, g, (int)v->args[0], 0, 0);
	if (call_addresses(c) && f->by_kernel && id[CALL_ARGS])
		set(f, g, (int)v->args[0], id[CALL_ARGS], 0);
	if (c->role->fds == FDS_CONNECTED && !f->by_kernel) /* a connect may outlast its call */
		connected(f, g, v);
	if (error_of_result(v->result))
		return group;
	if ((c->role->fds == FDS_UNSHARE && v->args[0] & CLONE_FILES) ||
	    (c->role->fds == FDS_RANGE && v->args[2] & K_CLOSE_RANGE_UNSHARE)) {
		group_new(f, -pid);
		return -pid;
	}
	if (!f->by_kernel && makes) {
		const uint64_t flags = call_flags(calls, c, v);

		kept = keeps(c, v, flags);
		id[CALL_ARGS] = id[CALL_ARGS + 1] = made(f, calls, c, v, flags);
	}
	if (c->result.kind == CALL_FD)
		set(f, g, v->result, id[CALL_ARGS], kept);
	for (unsigned k = 0; k < CALL_RESULTS && pair; k++)
		set(f, g, noted_made(calls, c, v, k), id[CALL_ARGS + k], kept);
	change(f, g, calls, c, v);
	return group;
}

int noted_fork(struct known_files *f, int group, int child, uint64_t clone_flags)
{
	const int shares = (clone_flags & CLONE_FILES) != 0;
	struct group *from, *to;

	noted_forget(f, child);
	from = find(f, group);
	/* the child shares only the descriptors, or only the directory: forget the directory */
	if (from && shares != ((clone_flags & CLONE_FS) != 0))
		set(f, from, AT_FDCWD, 0, 0);
	if (!from || shares)
		return shares ? group : child;
	to = group_new(f, child);
	for (unsigned i = from->n; i--;)
		set(f, to, i ? (int64_t)i - 1 : AT_FDCWD, from->v[i].id, from->v[i].kept);
	return child;
}

int noted_exec(struct known_files *f, int group, int pid)
{
	const struct group *g;

	if (group != pid && group != -pid)
		group = noted_fork(f, group, pid, 0);
	g = find(f, group);
	for (unsigned i = 1; g && i < g->n; i++)
		if (!g->v[i].kept)
			g->v[i].id = 0;
	return group;
}

const struct file_known *noted_file(struct known_files *f, int group, int fd)
{
	const struct noted *to = at(f->groups.n ? find(f, group) : NULL, fd);

	return to ? files_find(f, to->id) : NULL;
}

