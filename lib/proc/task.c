/* SPDX-License-Identifier: ISC */
/* task.c - tasks and processes, read from procfs; proc(5) describes the formats */
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"

/*
 * fs/seq_file.c: a read gives whole records, as many as a page or the caller's buffer takes. A
 * read of fewer bytes has reached the end, because no record here is as long as half a page.
 */
enum { SHORT_READ = 2048 };

int task_read_file(pid_t pid, const char *name, char *text, size_t size)
{
	char path[PATH_MAX];
	size_t n = 0;
	ssize_t got;
	int fd;

	str_format(path, sizeof(path), "%s/%d/%s", path_procfs(), (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	do {
		got = read(fd, text + n, size - 1 - n);
		n += got > 0 ? (size_t)got : 0;
	} while (got >= SHORT_READ && n < size - 1);
	close(fd);
	text[n] = '\0';
	return n ? 0 : -1;
}

int task_read(pid_t pid, struct task *t)
{
	char text[1024], name[32], *open_p, *close_p;
	const char *p;

	/* the kernel sums up all threads of the process for each read of PID/stat */
	str_format(name, sizeof(name), "task/%d/stat", (int)pid);
	if (task_read_file(pid, name, text, sizeof(text)) < 0)
		return -1;
	/* a comm may hold ") R 1", so the last parenthesis ends it */
	open_p = strchr(text, '(');
	close_p = strrchr(text, ')');
	if (!open_p || !close_p || close_p < open_p || !close_p[1] || !close_p[2])
		return -1;
	*close_p = '\0';
	/* if the line ends early, the remaining fields are zero */
	*t = (struct task){ .pid = pid };
	str_format(t->comm, sizeof(t->comm), "%s", open_p + 1);
	t->state = close_p[2];
	/* proc_pid_stat(5): the state is field 3 */
	p = close_p + 3;
	for (int field = 4; field <= 52 && *p == ' '; field++) {
		unsigned long long value;

		p += 1 + (p[1] == '-');
		value = text_digits(&p);
		if (field == 4)
			t->ppid = (pid_t)value;
		else if (field == 20)
			t->threads = (long)value;
		else if (field == 22)
			t->start = value;
		else if (field == 52)
			t->exit_code = (int)value;
	}
	return 0;
}

int task_lives(const struct task *t)
{
	/* a leader that exited before its other threads is a zombie with threads */
	return t->state != 'X' && t->state != 'x' && (t->state != 'Z' || t->threads > 1);
}

pid_t task_self(void)
{
	char path[PATH_MAX], text[32] = "";
	ssize_t n;

	str_format(path, sizeof(path), "%s/self", path_procfs());
	n = readlink(path, text, sizeof(text) - 1);
	return n > 0 ? text_pid(text) : 0;
}

int task_alive(pid_t pid)
{
	struct task t;

	return !task_read(pid, &t) && task_lives(&t);
}

ino_t task_pidns(pid_t pid)
{
	char path[PATH_MAX];
	struct stat st;

	str_format(path, sizeof(path), "%s/%d/ns/pid", path_procfs(), (int)pid);
	return stat(path, &st) ? 0 : st.st_ino;
}

int procfs_shows_initial(void)
{
	ino_t ns = task_pidns(1);

	return !ns || ns == K_PROC_PID_INIT_INO;
}

int procfs_is_initial(void)
{
	if (!procfs_shows_initial())
		return err_msg("%s shows the pids of a container, but tracefs needs those of the "
			       "host; set TRACER_PROCFS_PATH to the host's /proc",
			       path_procfs());
	return 0;
}

/* Return the pid that procfs gives the task of a pidfd, or 0 if procfs does not show it. */
static pid_t pid_behind(int fd)
{
	char path[PATH_MAX];

	str_format(path, sizeof(path), "%s/self/fdinfo/%d", path_procfs(), fd);
	return (pid_t)file_number(AT_FDCWD, path, "\nPid:\t", 0);
}

pid_t task_procfs_pid(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	pid_t shown = fd < 0 ? 0 : pid_behind(fd);

	fd_close(fd);
	return shown > 0 ? shown : pid;
}

int task_fd(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0)
		fd = (int)syscall(SYS_pidfd_open, pid, K_PIDFD_THREAD);
	/* pidfd_open takes pids of this pid namespace, but procfs may show another one */
	if (fd >= 0 && pid_behind(fd) != pid) {
		close(fd);
		return -1;
	}
	return fd;
}

int task_each_process(int (*fn)(void *, pid_t), void *arg)
{
	DIR *d = opendir(path_procfs());
	struct dirent *e;
	int r = 0;

	if (!d)
		return err_errno("unable to read %s", path_procfs());
	while (r >= 0 && (e = readdir(d))) {
		pid_t pid = text_pid(e->d_name);

		if (pid)
			r = fn(arg, pid);
	}
	closedir(d);
	return r < 0 ? -1 : 0;
}

int task_ids(pid_t pid, pid_t *tgid, uid_t *uid)
{
	char text[4096];
	const char *group, *user;
	int r;

	/* the kernel writes all of this text, which the groups of a task can make long */
	if (procfs_begin() < 0)
		return -1;
	r = task_read_file(pid, "status", text, sizeof(text));
	procfs_end();
	if (r < 0)
		return -1;
	/* the kernel escapes newlines of a comm, so these matches are real fields */
	group = strstr(text, "\nTgid:\t");
	user = strstr(text, "\nUid:\t");
	if (!group || !user)
		return -1;
	group += 7;
	user += 6;
	*tgid = (pid_t)text_digits(&group);
	*uid = (uid_t)text_digits(&user);
	return 0;
}

uid_t uid_outside(pid_t pid, uid_t uid)
{
	char *text = procfs_read(pid, "uid_map", NULL, NULL);

	for (const char *s = text; s && *s;) {
		unsigned long long n[3];

		for (unsigned i = 0; i < 3; i++) {
			s += strspn(s, " \n");
			n[i] = text_digits(&s);
		}
		s += strspn(s, " \n");
		if (uid >= n[0] && uid - n[0] < n[2]) {
			uid = (uid_t)(uid - n[0] + n[1]);
			break;
		}
		if (!n[2])
			break;
	}
	free(text);
	return uid;
}

/* Return the tgid of a task, or its pid if the tgid cannot be read. */
static pid_t leader_of(pid_t pid)
{
	pid_t tgid;
	uid_t uid;

	return task_ids(pid, &tgid, &uid) < 0 ? pid : tgid;
}

void task_add_threads(struct pids *out, const struct task *t)
{
	char path[PATH_MAX];
	struct dirent *e;
	DIR *d;

	pids_add(out, t->pid);
	/* /proc/TID/task lists the whole thread group for every thread TID */
	if (t->threads < 2 || leader_of(t->pid) != t->pid)
		return;
	str_format(path, sizeof(path), "%s/%d/task", path_procfs(), (int)t->pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		pid_t tid = text_pid(e->d_name);

		if (tid && tid != t->pid)
			pids_add(out, tid);
	}
	if (d)
		closedir(d);
}
