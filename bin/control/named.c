/* SPDX-License-Identifier: ISC */
/*
 * named.c - find the file that a name means, even if some files or tasks do not answer
 *
 * A script with readlink(1) or grep(1) may wait for ever for the servers of such files (FUSE, NFS)
 * and for the memory of such tasks. Here helper processes ask (stranger.c), with a time limit.
 */
#include "named.h"

enum { ALL_MS = 3000 };         /* for the mappings of all tasks */

/* Answer the path without links: a stranger_fn. */
static void resolve(const void *path, struct stranger_answer *a)
{
	a->part[0] = realpath(path, NULL);
	a->error = a->part[0] ? 0 : errno;
	a->size[0] = a->part[0] ? strlen(a->part[0]) : 0;
}

static int real_path(const char *path)
{
	struct stranger_answer a;

	if (stranger_ask(resolve, path, strlen(path) + 1, 0, &a) < 0)
		a.error = EHOSTDOWN;
	errno = a.error;
	if (errno == EHOSTDOWN)
		return err_errno("unable to resolve %s", path), REFUSED;
	if (errno)
		return err_no("unable to resolve %s: %s", path, strerror(errno));
	if (text_has_control(a.part[0]))
		return err_msg("'%s' leads to a path with control characters", path), MISUSED;
	stdout_print("%s\n", (char *)a.part[0]);
	stranger_free(&a);
	return DONE;
}

/* Is this file called NAME, NAME.so.VERSION, or NAME-VERSION.so? */
static int is_called(const char *file, const char *name)
{
	static const char version[] = ".0123456789";
	const char *so = strstr(name, ".so");
	size_t n = strlen(name), stem = so ? (size_t)(so - name) : n;

	if (!strncmp(file, name, n) &&
	    (!file[n] || (!strncmp(file + n, ".so", 3) &&
			  !file[n + 3 + strspn(file + n + 3, version)])))
		return 1;
	if (strncmp(file, name, stem) || file[stem] != '-')
		return 0;
	file += stem + 1;
	n = strspn(file, version);
	return n && file[n - 1] == '.' && !strcmp(file + n, "so");
}

/* The file that was found. */
struct found {
	const char *name;
	pid_t pid;
	char range[64];         /* "": none */
	char inode[64];         /* MAJOR:MINOR INODE */
	char path[PATH_MAX];
};

/* Look at "FROM-TO r-xp OFFSET MAJOR:MINOR INODE   PATH". Return 1 if it is a second file. */
static int look_at(struct found *f, pid_t pid, const char *line)
{
	size_t range = strcspn(line, " ");
	const char *path = strchr(line, '/'), *access = line + range, *inode;
	char is[sizeof(f->inode)];

	if (!path || strncmp(access, " r", 2) || strncmp(access + 3, "xp ", 3) ||
	    !is_called(strrchr(path, '/') + 1, f->name))
		return 0;
	inode = access + 6 + strcspn(access + 6, " ");
	inode += *inode == ' ';
	range = strcspn(inode, " ");
	range += inode[range] == ' ' ? 1 + strcspn(inode + range + 1, " ") : 0;
	str_format(is, sizeof(is), "%.*s", (int)range, inode);
	if (*f->range)
		return strcmp(is, f->inode) != 0;
	f->pid = pid;
	str_format(f->inode, sizeof(f->inode), "%s", is);
	str_format(f->path, sizeof(f->path), "%s", path);
	/* the kernel's names of the links have no zeros in front */
	line += strspn(line, "0");
	access = strchr(line, '-') + 1;
	access += strspn(access, "0");
	str_format(f->range, sizeof(f->range), "%.*s-%.*s", (int)strcspn(line, "-"), line,
		   (int)strcspn(access, " "), access);
	return 0;
}

/* Print a path that leads to the file from here, as a task may have another root; and its path. */
static int print_found(const struct found *f)
{
	char link[PATH_MAX], target[1];

	if (text_has_control(f->path))
		return err_msg("'%s' is a path with control characters", f->path), MISUSED;
	str_format(link, sizeof(link), "%s/%d/map_files/%s", path_procfs(), (int)f->pid, f->range);
	if (readlink(link, target, sizeof(target)) > 0)
		stdout_print("%s %s\n", link, f->path);
	else
		stdout_print("%s/%d/root%s %s\n", path_procfs(), (int)f->pid, f->path, f->path);
	return DONE;
}

static int mapped_file(const char *name, const struct pids *tasks)
{
	struct found f = { .name = name };
	long long begun = time_now_ms();

	for (size_t i = 0; i < tasks->n; i++) {
		int cut, others = 0;
		char *text = procfs_read(tasks->v[i], "maps", NULL, &cut), *next;

		for (char *line = text; line && *line && !others; line = next) {
			next = line + strcspn(line, "\n");
			if (*next)
				*next++ = '\0';
			others = look_at(&f, tasks->v[i], line);
		}
		free(text);
		if (others)
			return err_msg("the tasks use several files called '%s'; give one by its "
				       "absolute path", name), MISUSED;
		if (time_now_ms() - begun > ALL_MS)
			stranger_stop();
	}
	if (*f.range)
		return print_found(&f);
	if (procfs_missed())
		return err_msg("unable to read what %llu of the tasks map in time; give '%s' by "
			       "its absolute path", procfs_missed(), name), REFUSED;
	return err_no("no task executes a file called %s", name);
}

int named_file(const char *name, const struct pids *tasks)
{
	int status = *name == '/' ? real_path(name) : mapped_file(name, tasks);

	stdout_flush();
	return status;
}
