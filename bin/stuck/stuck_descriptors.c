/* SPDX-License-Identifier: ISC */
/* stuck_descriptors.c - what descriptors lead to, and which processes have the same file */

#include "stuck.h"

static struct {
	int read;
	struct held *v;
	size_t n, room, hidden;
} all;

void file_of(pid_t pid, int fd, struct file *f)
{
	char path[PATH_MAX];
	const char *s;
	ssize_t n;

	*f = (struct file){ .kind = FILE_CLOSED };
	str_format(path, sizeof(path), "%s/%d/fd/%d", path_procfs(), (int)pid, fd);
	n = readlink(path, f->name, sizeof(f->name) - 1);
	if (fd < 0 || n <= 0)
		return;
	f->kind = *f->name == '/' ? FILE_PATH : FILE_ANON;
	if (!strncmp(f->name, "pipe:[", 6))
		f->kind = FILE_PIPE;
	else if (!strncmp(f->name, "socket:[", 8))
		f->kind = FILE_SOCKET;
	s = strchr(f->name, '[');
	if (f->kind == FILE_PIPE || f->kind == FILE_SOCKET) {
		s++;
		f->inode = text_digits(&s);
	}
}

void fd_name(struct thread *t, int fd)
{
	struct file f;

	file_of(t->task.pid, fd, &f);
	strbuf_format(&t->what, " %d<", fd);
	strbuf_escaped(&t->what, f.name, strlen(f.name), ESCAPE_TEXT);
	strbuf_puts(&t->what, ">");
}

void working_directory(pid_t pid, struct file *f)
{
	char path[PATH_MAX];
	ssize_t n;

	str_format(path, sizeof(path), "%s/%d/cwd", path_procfs(), (int)pid);
	n = readlink(path, f->name, sizeof(f->name) - 1);
	f->name[n > 0 ? n : 0] = '\0';
}

uint64_t fdinfo_number(pid_t pid, int fd, const char *key, unsigned base, uint64_t none)
{
	char name[40], text[1024], *at;
	struct text_part number;
	uint64_t v;

	str_format(name, sizeof(name), "fdinfo/%d", fd);
	*text = '\n';
	if (task_read_file(pid, name, text + 1, sizeof(text) - 1) < 0)
		return none;
	for (at = text; (at = strchr(at, '\n')); at++)
		if (!strncmp(at + 1, key, strlen(key))) {
			at += 1 + strlen(key);
			at += strspn(at, ":\t ");
			number = (struct text_part){ at, strcspn(at, "\n ") };
			return text_part_number(number, base, &v) ? none : v;
		}
	return none;
}

/* ---- mounts ----------------------------------------------------------------------------- */

struct mount {
	char device[32], type[32], source[512], place[1024];
	char address[64];       /* of the server, in the options */
	size_t longest;
};

/* Copy a word up to a space. Return what follows the space. */
static const char *take(const char *s, char *to, size_t size)
{
	size_t n = strcspn(s, " ");

	str_format(to, size, "%.*s", (int)(n < size ? n : size - 1), s);
	return s + n + (s[n] == ' ');
}

/* Does the path lie at or below the mount's place, and is that at least as long as longest? */
static int lies_below(const char *path, const struct mount *m, size_t longest)
{
	size_t n = strcmp(m->place, "/") ? strlen(m->place) : 0;

	return n >= longest && !strncmp(path, m->place, n) && (!path[n] || path[n] == '/');
}

/* Find a mount of a task by its number, or by a path if that is not NULL. Return 0, or -1. */
static int find_mount(pid_t pid, uint64_t id, const char *path, struct mount *found)
{
	char *text = procfs_read(pid, "mountinfo", NULL, NULL), *rest = text, *line;
	int r = -1;

	found->longest = 0;
	while (rest && (line = text_next_line(&rest))) {
		const char *s = line, *options;
		uint64_t n = text_digits(&s);
		struct mount m = { .longest = found->longest };
		char word[64];

		if (!path && n != id)
			continue;
		s = take(take(s + 1, word, sizeof(word)), m.device, sizeof(m.device));
		s = take(s, word, sizeof(word));
		s = take(s, m.place, sizeof(m.place));
		s = strstr(s, " - ");
		if (!s || (path && !lies_below(path, &m, m.longest)))
			continue;
		s = take(take(s + 3, m.type, sizeof(m.type)), m.source, sizeof(m.source));
		options = strstr(s, ",addr=");
		if (options) {
			options += 6;
			str_format(m.address, sizeof(m.address), "%.*s",
				   (int)strcspn(options, ",\n"), options);
		}
		m.longest = strcmp(m.place, "/") ? strlen(m.place) : 0;
		*found = m;
		r = 0;
	}
	free(text);
	return r;
}

const char *device_of(pid_t pid, int fd)
{
	static struct mount m;

	return find_mount(pid, fdinfo_number(pid, fd, "mnt_id", 10, 0), NULL, &m) ? "" : m.device;
}

/* ---- the descriptors of all processes --------------------------------------------------- */

/* For task_each_process: add the descriptors of a process. */
static int add_process(void *arg, pid_t pid)
{
	char path[PATH_MAX];
	struct dirent *e;
	struct task task;
	int hidden = 0;
	DIR *d;

	if (pid == *(const pid_t *)arg)
		return 0;
	str_format(path, sizeof(path), "%s/%d/fd", path_procfs(), (int)pid);
	d = opendir(path);
	if (!d) {
		/* threads of the kernel have no descriptors */
		all.hidden += errno == EACCES && !task_read(pid, &task) && task.ppid != 2 &&
			      pid != 2 && task_lives(&task);
		return 0;
	}
	while ((e = readdir(d))) {
		unsigned long fd;
		struct file f;

		if (text_number(e->d_name, 0, INT_MAX, &fd))
			continue;
		errno = 0;
		file_of(pid, (int)fd, &f);
		hidden |= f.kind == FILE_CLOSED && (errno == EACCES || errno == EPERM);
		if (f.kind == FILE_CLOSED)
			continue;
		all.v = xgrow(all.v, all.n, &all.room, sizeof(*all.v));
		all.v[all.n++] = (struct held){ pid, (int)fd, f.kind, f.inode,
			(uint32_t)text_hash(TEXT_HASH, f.name, strlen(f.name)) };
	}
	closedir(d);
	all.hidden += hidden != 0;
	return 0;
}

static void read_all(void)
{
	pid_t self = task_self();

	if (!all.read)
		task_each_process(add_process, &self);
	all.read = 1;
}

void held_each(void (*fn)(void *, const struct held *), void *arg)
{
	read_all();
	for (size_t i = 0; i < all.n; i++)
		fn(arg, &all.v[i]);
}

void held_note(struct thread *t)
{
	read_all();
	if (t->hidden < all.hidden)
		t->hidden = all.hidden;
}

void held_forget(void)
{
	free(all.v);
	memset(&all, 0, sizeof(all));
}

/* Do the descriptor's flags allow this access? */
static int has_access(const struct held *h, int access)
{
	uint64_t mode = access < 0 ? 0 :
			fdinfo_number(h->tgid, h->fd, "flags", 8, O_RDWR) & O_ACCMODE;

	return access < 0 || mode == O_RDWR || mode == (uint64_t)access;
}

void link_holders(struct thread *t, enum file_kind kind, uint64_t inode, int access,
		  const char *relation)
{
	size_t before = t->nlinks;

	read_all();
	for (size_t i = 0; i < all.n; i++)
		if (all.v[i].kind == kind && all.v[i].inode == inode &&
		    has_access(&all.v[i], access))
			link_task(t, relation, all.v[i].tgid, 0);
	held_note(t);
	if (t->nlinks == before && all.hidden)
		link_unknown(t, "the %s: %zu processes may not be read", relation, all.hidden);
	else if (t->nlinks == before)
		link_unknown(t, "the %s: no process has it open", relation);
}

/*
 * Link the processes that have a descriptor of the same file: with the same number after a key of
 * fdinfo, and with the same name; or if it has a path, on the same device.
 */
static void link_same(struct thread *t, int fd, const char *name, const char *key, int access,
		      const char *relation)
{
	const pid_t tid = t->task.pid;
	uint64_t id = fdinfo_number(tid, fd, key, 10, UINT64_MAX);
	int is_path = *name == '/';
	uint32_t hash = (uint32_t)text_hash(TEXT_HASH, name, strlen(name));
	char device[32] = "";
	size_t before = t->nlinks;

	if (is_path)
		str_format(device, sizeof(device), "%s", device_of(tid, fd));
	read_all();
	for (size_t i = 0; i < all.n && id != UINT64_MAX; i++) {
		const struct held *h = &all.v[i];

		/* in another mount namespace a file may have another name */
		if (h->kind == (is_path ? FILE_PATH : FILE_ANON) && (is_path || h->hash == hash) &&
		    fdinfo_number(h->tgid, h->fd, key, 10, UINT64_MAX) == id &&
		    (!is_path || !strcmp(device_of(h->tgid, h->fd), device)) &&
		    has_access(h, access))
			link_task(t, relation, h->tgid, 0);
	}
	held_note(t);
	if (t->nlinks == before)
		link_unknown(t, "the %s", relation);
}

/* ---- waits ------------------------------------------------------------------------------ */

/* Find the process that serves the FUSE file system of a device: its minor is the connection. */
static void link_fuse_server(struct thread *t, const char *device)
{
	static const char fuse[] = "/dev/fuse";
	const char *minor = strchr(device, ':');
	uint32_t hash = (uint32_t)text_hash(TEXT_HASH, fuse, strlen(fuse));
	size_t before = t->nlinks;
	uint64_t connection = 0;

	if (minor) {
		minor++;
		connection = text_digits(&minor);
	}
	read_all();
	for (size_t i = 0; i < all.n && connection; i++)
		if (all.v[i].kind == FILE_PATH && all.v[i].hash == hash &&
		    fdinfo_number(all.v[i].tgid, all.v[i].fd, "fuse_connection", 10, 0) ==
		    connection)
			link_task(t, "server", all.v[i].tgid, 0);
	if (t->nlinks == before)
		link_unknown(t, "the server of FUSE connection %u", (unsigned)connection);
}

void file_system_wait(struct thread *t, int fd, const char *path)
{
	struct mount m = { .longest = 0 };
	int fuse = strstr(t->wchan, "fuse") || !strcmp(t->wchan, "request_wait_answer");
	char disk[PATH_MAX], to[512];
	ssize_t n;

	if (find_mount(t->task.pid, path ? 0 :
		       fdinfo_number(t->task.pid, fd, "mnt_id", 10, UINT64_MAX), path, &m) < 0) {
		link_unknown(t, "the file system");
		return;
	}
	if (!strncmp(m.type, "fuse", 4) && (fuse || !strncmp(t->wchan, "folio_wait", 10) ||
					    !strncmp(t->wchan, "wait_on_page", 12))) {
		t->on = "fuse";
		strbuf_puts(&t->what, ", the FUSE mount ");
		strbuf_escaped(&t->what, m.place, strlen(m.place), ESCAPE_TEXT);
		link_fuse_server(t, m.device);
	} else if (fuse) {
		link_unknown(t, "which FUSE mount");
	} else if (!strncmp(m.type, "nfs", 3)) {
		t->on = "nfs";
		link_active(t, "network", "NFS server %s of %s",
			    *m.address ? m.address : "not known", m.source);
	} else if (t->task.state == 'D') {
		str_format(disk, sizeof(disk), "%s/dev/block/%s", path_sysfs(), m.device);
		n = readlink(disk, to, sizeof(to) - 1);
		to[n > 0 ? n : 0] = '\0';
		if (n > 0) {
			t->on = "disk";
			link_active(t, "disk", "%s", strrchr(to, '/') ? strrchr(to, '/') + 1 : to);
		} else {
			t->on = "file system";
			link_active(t, "file system", "%s of type %s", m.place, m.type);
		}
	} else {
		link_unknown(t, "who acts on this file");
	}
}

/* A poll of an epoll descriptor waits for all files that epoll watches. */
static void epoll_wait_for(struct thread *t, int fd)
{
	static int depth;
	char name[40], *text, *rest, *line;

	str_format(name, sizeof(name), "fdinfo/%d", fd);
	rest = text = depth < 4 ? procfs_read(t->task.pid, name, NULL, NULL) : NULL;
	depth++;
	strbuf_puts(&t->what, " {");
	while (rest && (line = text_next_line(&rest))) {
		const char *s = line + 4, *events = strstr(line, "events:");
		const char *inode = strstr(line, "ino:");
		uint64_t bits = 0, id = 0;
		struct file f;
		int watched;

		if (strncmp(line, "tfd:", 4) || !events)
			continue;
		s += strspn(s, " ");
		watched = (int)text_digits(&s);
		bits = text_value(events + 7, NULL, 16);
		id = inode ? text_value(inode + 4, NULL, 16) : 0;
		file_of(t->task.pid, watched, &f);
		/* the number may mean another file by now */
		if (f.kind == FILE_CLOSED || (f.inode && inode && f.inode != id))
			link_unknown(t, "a file whose descriptor %d was closed", watched);
		else if (bits & (0x1 | 0x4))
			fd_wait(t, watched, (bits & 1 ? TO_READ : 0) | (bits & 4 ? TO_WRITE : 0));
	}
	strbuf_puts(&t->what, " }");
	depth--;
	if (!text)
		link_unknown(t, "what the epoll watches");
	free(text);
}

/* Wait for an anonymous file of the kernel. */
static void anon_wait(struct thread *t, int fd, const char *name, unsigned dir)
{
	const pid_t tid = t->task.pid;
	uint64_t pid;

	if (strstr(name, "[eventfd]")) {
		link_same(t, fd, name, "eventfd-id", -1, dir & TO_WRITE ? "reader" : "writer");
	} else if (strstr(name, "[timerfd]")) {
		link_active(t, "clock", "a timer");
	} else if (strstr(name, "[signalfd]")) {
		expects_signals(t, fdinfo_number(tid, fd, "sigmask", 16, UINT64_MAX));
	} else if (strstr(name, "inotify") || strstr(name, "fanotify")) {
		link_active(t, "files", "a change of a file that it watches");
	} else if (strstr(name, "[pidfd]")) {
		pid = fdinfo_number(tid, fd, "Pid", 10, 0);
		if (pid)
			link_task(t, "process", (pid_t)pid, 0);
		else
			link_unknown(t, "the process of the pidfd");
	} else if (strstr(name, "[eventpoll]")) {
		epoll_wait_for(t, fd);
	} else if (strstr(name, "[userfaultfd]")) {
		link_unknown(t, "the process with the next page fault");
	} else {
		link_unknown(t, "who acts on this file");
	}
}

static int is_terminal(const char *name)
{
	return !strncmp(name, "/dev/tty", 8) || !strncmp(name, "/dev/pts/", 9) ||
	       !strcmp(name, "/dev/console");
}

/* Note that the thread waits for a file that has a path. */
static void path_wait(struct thread *t, int fd, const char *name, unsigned dir)
{
	if (is_terminal(name)) {
		t->on = t->on ? t->on : "terminal";
		link_active(t, "terminal", "%s", name);
	} else if (!strcmp(name, "/dev/ptmx") || !strcmp(name, "/dev/pts/ptmx")) {
		t->on = t->on ? t->on : "terminal";
		link_active(t, "terminal", "/dev/pts/%u, which a program uses",
			    (unsigned)fdinfo_number(t->task.pid, fd, "tty-index", 10, 0));
	} else if (!strcmp(name, "/dev/fuse")) {
		t->on = t->on ? t->on : "fuse";
		link_active(t, "requests", "of FUSE connection %u",
			    (unsigned)fdinfo_number(t->task.pid, fd, "fuse_connection", 10, 0));
	} else if (strstr(t->wchan, "pipe") || !strcmp(t->wchan, "wq_sleep")) {
		t->on = t->on ? t->on : strstr(t->wchan, "pipe") ? "fifo" : "message queue";
		if (dir & TO_READ)
			link_same(t, fd, name, "ino", O_WRONLY, "writer");
		if (dir & TO_WRITE)
			link_same(t, fd, name, "ino", O_RDONLY, "reader");
	} else {
		file_system_wait(t, fd, NULL);
	}
}

void fd_wait(struct thread *t, int fd, unsigned dir)
{
	struct file f;

	file_of(t->task.pid, fd, &f);
	strbuf_format(&t->what, " %d<", fd);
	strbuf_escaped(&t->what, f.name, strlen(f.name), ESCAPE_TEXT);
	switch (f.kind) {
	case FILE_CLOSED:
		link_unknown(t, "the file of descriptor %d", fd);
		break;
	case FILE_PIPE:
		t->on = t->on ? t->on : "pipe";
		if (t->on[0] == 'p' && t->on[1] == 'i')
			strbuf_puts(&t->what, dir & TO_READ ? ", empty" : ", full");
		if (dir & TO_READ)
			link_holders(t, f.kind, f.inode, O_WRONLY, "writer");
		if (dir & TO_WRITE)
			link_holders(t, f.kind, f.inode, O_RDONLY, "reader");
		break;
	case FILE_SOCKET:
		t->on = t->on ? t->on : "socket";
		socket_wait(t, f.inode, dir);
		break;
	case FILE_ANON:
		strbuf_puts(&t->what, ">");
		t->on = t->on ? t->on : strstr(f.name, "pidfd") ? "process" :
			strstr(f.name, "timerfd") ? "clock" : strstr(f.name, "signalfd") ?
			"signal" : strstr(f.name, "eventfd") ? "eventfd" : "file";
		anon_wait(t, fd, f.name, dir);
		return;
	case FILE_PATH:
		path_wait(t, fd, f.name, dir);
	}
	strbuf_puts(&t->what, ">");
}
