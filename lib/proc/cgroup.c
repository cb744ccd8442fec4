/* SPDX-License-Identifier: ISC */
/*
 * cgroup.c - find cgroups by all the names that people and tools give them
 *
 * A cgroup is a path in a hierarchy. /proc/PID/cgroup has a line for each
 * hierarchy, ID:CONTROLLERS:PATH (cgroups(7)). The hierarchy of version 2 has the ID 0.
 */
#include <sys/stat.h>

#include "base/base.h"
#include "host/host.h"
#include "proc/proc.h"

/* The depth of directories at which the search for a name ends. */
enum { DEEPEST = 32 };

/* This many consecutive hexadecimal digits in a path are a container's id. */
enum { ID_DIGITS = 32 };

/* ---- the cgroups of a task --------------------------------------------------------- */

char *cgroups_of(pid_t pid)
{
	return procfs_read(pid, "cgroup", NULL, NULL);
}

/* A line of /proc/PID/cgroup. */
struct membership {
	int hierarchy;
	const char *controllers;
	const char *path;
};

/* Read the next line of the text, and put NULs into it. Return 1, or 0 at the end. */
static int next_membership(char **text, struct membership *m)
{
	char *line;

	while ((line = text_next_line(text))) {
		const char *id = line;
		char *colon = strchr(line, ':'), *path = colon ? strchr(colon + 1, ':') : NULL;

		if (!path)
			continue;
		*path = '\0';
		*m = (struct membership){ .hierarchy = (int)text_digits(&id),
					  .controllers = colon + 1, .path = path + 1 };
		return 1;
	}
	return 0;
}

int cgroup_is_among(const struct cgroup *c, const char *lines)
{
	size_t len = strlen(c->path);
	int has = 0;

	for (const char *line = lines; line && *line && !has; line += *line == '\n') {
		const char *path = line;
		int hierarchy = (int)text_digits(&path);

		line += strcspn(line, "\n");
		path = *path == ':' ? strchr(path + 1, ':') : NULL;
		has = path && (c->hierarchy == ANY_HIERARCHY || c->hierarchy == hierarchy) &&
		      !strncmp(++path, c->path, len) &&
		      (path + len == line || path[len] == '/' || len == 1);
	}
	return has;
}

int cgroup_has(const struct cgroup *c, pid_t pid)
{
	char *lines = cgroups_of(pid);
	int has = cgroup_is_among(c, lines);

	free(lines);
	return has;
}

/*
 * Write the container's id that is in the name of a directory, of n bytes, to id. Return 0, or -1
 * if the name has none. Runtimes call the directory docker-ID.scope, cri-containerd-ID.scope,
 * crio-ID.scope, libpod-ID.scope, SLICE:cri-containerd:ID, or ID. The uid of a pod stands
 * after "pod". conmon is the monitor of a container and not in it.
 */
static int id_in_name(const char *name, size_t n, char *id)
{
	static const char digits[] = "0123456789abcdef", conmon[] = "conmon-";
	size_t part;

	for (size_t i = 0; i + sizeof(conmon) - 1 <= n; i++)
		if (!memcmp(name + i, conmon, sizeof(conmon) - 1))
			return -1;
	for (const char *s = name, *end = name + n; s < end; s += part + 1) {
		for (part = 0; s + part < end && !strchr("-:.", s[part]); part++)
			;
		if (part < ID_DIGITS || part > CONTAINER_ID || strspn(s, digits) < part)
			continue;
		memcpy(id, s, part);
		id[part] = '\0';
		return 0;
	}
	return -1;
}

/*
 * A container that may make cgroups below its own can give them any name, also the id of another
 * container. So only the outermost id of a path is one that a runtime has given. Amazon's ECS
 * has the id of a task before that of the container: /ecs/TASK/ID.
 */
size_t cgroup_container(const char *path, char *id)
{
	const char *s = path, *above = "";
	size_t n;

	for (; *s && *s != '\n'; above = s, s += n) {
		s += strspn(s, "/");
		n = strcspn(s, "/\n");
		if (id_in_name(s, n, id) < 0)
			continue;
		if (!strncmp(above, "ecs/", 4) && s[n] == '/' && !strchr(id, '-') &&
		    strlen(id) == n)
			continue;
		return (size_t)(s + n - path);
	}
	*id = '\0';
	return 0;
}

/* Is task 1 in the same cgroup? Then the cgroup may hold all tasks. */
static int is_shared(const struct membership *m)
{
	char *text = cgroups_of(1), *at = text;
	struct membership first;
	int shared = 0;

	while (!shared && next_membership(&at, &first))
		shared = first.hierarchy == m->hierarchy && !strcmp(first.path, m->path);
	free(text);
	return shared;
}

struct count {
	const struct cgroup *cgroup;
	unsigned long n;
};

static int count_member(void *arg, pid_t pid)
{
	struct count *c = arg;

	c->n += (unsigned long)cgroup_has(c->cgroup, pid);
	return 0;
}

/* Return the number of processes in the cgroup. */
static unsigned long members(const struct cgroup *cgroup)
{
	struct count c = { .cgroup = cgroup };

	task_each_process(count_member, &c);
	return c.n;
}

/*
 * On hybrid hosts a runtime may move its containers in the hierarchies of version 1 only.
 * Then all containers share the runtime's path of version 2, and the path with the
 * container's id has fewer processes.
 */
int cgroup_of(pid_t pid, struct cgroup *c)
{
	char *text = cgroups_of(pid), *at = text;
	struct cgroup two = { .hierarchy = 0 };
	char digits[CONTAINER_ID + 1];
	int shared = 0, id = 0;
	struct membership m;

	if (!text)
		return err_capability(CAPS_SYS_PTRACE,
				      "unable to read the cgroup of %d", (int)pid);
	*c->path = '\0';
	while (next_membership(&at, &m)) {
		int has_id = cgroup_container(m.path, digits) != 0;

		if (!strcmp(m.path, "/"))
			continue;
		if (pid != 1 && is_shared(&m)) {
			shared = 1;
		} else if (!m.hierarchy) {
			str_format(two.path, sizeof(two.path), "%s", m.path);
		} else if (has_id > id || (has_id == id && strlen(m.path) > strlen(c->path))) {
			id = has_id;
			c->hierarchy = m.hierarchy;
			str_format(c->path, sizeof(c->path), "%s", m.path);
		}
	}
	free(text);
	if (*two.path && (!id || members(c) >= members(&two)))
		*c = two;
	if (*c->path)
		return 0;
	if (shared)
		return err_msg("task %d is only in cgroups that task 1 is in as well; give a "
			       "cgroup by its path", (int)pid);
	return err_msg("task %d is only in the root cgroup, which holds all tasks", (int)pid);
}

/* ---- where hierarchies are mounted ------------------------------------------------- */

struct mount {
	char point[PATH_MAX], root[PATH_MAX];
	int hierarchy;
};

/*
 * Copy a word of the mount table, which escapes a space as \040. Return the beginning of
 * the next word.
 */
static const char *mount_word(char *to, const char *s)
{
	size_t n = 0;

	for (; *s && *s != ' ' && *s != '\n'; s++) {
		if (n == PATH_MAX - 1)
			break;
		if (*s == '\\' && strspn(s + 1, "01234567") >= 3) {
			to[n++] = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + s[3] - '0');
			s += 3;
		} else {
			to[n++] = *s;
		}
	}
	to[n] = '\0';
	s += strcspn(s, " \n");
	return s + (*s == ' ');
}

/* Is the word, of n bytes, in the list with commas between? */
static int is_among(const char *words, const char *word, size_t n)
{
	for (; *words; words += *words == ',') {
		size_t m = strcspn(words, ",\n");

		if (m == n && !strncmp(words, word, n))
			return 1;
		words += m;
		if (*words == '\n')
			break;
	}
	return 0;
}

/* Return the hierarchy of version 1 that a mount with these options shows, or -1. */
static int hierarchy_of(const char *options)
{
	char *text, *at, path[PATH_MAX];
	struct membership m;
	int found = -1;

	str_format(path, sizeof(path), "%s/self/cgroup", path_procfs());
	text = at = file_read(AT_FDCWD, path, NULL);
	while (found < 0 && next_membership(&at, &m))
		if (*m.controllers && is_among(options, m.controllers, strcspn(m.controllers, ",")))
			found = m.hierarchy;
	free(text);
	return found;
}

/*
 * Call fn for each mounted hierarchy until fn returns a number other than 0. Return the
 * last result of fn.
 */
static int each_mount(int (*fn)(void *, const struct mount *), void *arg)
{
	char path[PATH_MAX], *text;
	const char *line, *next;
	struct mount m;
	int r = 0;

	str_format(path, sizeof(path), "%s/self/mountinfo", path_procfs());
	text = file_read_most(AT_FDCWD, path, MOUNTS_MOST, NULL);
	for (line = text; line && *line && !r; line = next) {
		const char *p = line, *type = strstr(line, " - ");

		next = strchr(line, '\n');
		next = next ? next + 1 : line + strlen(line);
		if (!type || type > next)
			continue;
		type += 3;
		for (int i = 0; i < 3; i++) /* skip two ids and the device */
			p += strcspn(p, " ") + 1;
		p = mount_word(m.root, p);
		mount_word(m.point, p);
		if (!strncmp(type, "cgroup2 ", 8)) {
			m.hierarchy = 0;
		} else if (!strncmp(type, "cgroup ", 7)) {
			type += 7;
			type += strcspn(type, " ") + 1; /* skip the source */
			m.hierarchy = hierarchy_of(type);
		} else {
			continue;
		}
		/* a root "/..": another cgroup namespace, with other paths than procfs */
		if (m.hierarchy >= 0 && strncmp(m.root, "/..", 3))
			r = fn(arg, &m);
	}
	free(text);
	return r;
}

/* ---- from names to cgroups --------------------------------------------------------- */

struct cgroup_search {
	const char *name;       /* without slashes at its end */
	struct cgroup *found;
	char other[PATH_MAX];   /* the path of a second cgroup with the name, or "" */
};

/*
 * Set *c to the cgroup of the directory below the mount point. Return 1, or 0 if the path
 * is too long.
 */
static int take(struct cgroup *c, const struct mount *m, const char *below)
{
	const char *root = strcmp(m->root, "/") ? m->root : "";

	if (str_format(c->path, sizeof(c->path), "%s%s", root, below) >= sizeof(c->path))
		return 0;
	if (!*c->path)
		strcpy(c->path, "/");
	c->hierarchy = m->hierarchy;
	return 1;
}

/* For each_mount: is the name a directory below this mount point? */
static int is_below(void *arg, const struct mount *m)
{
	struct cgroup_search *s = arg;
	size_t n = strlen(m->point);

	if (strncmp(s->name, m->point, n) || (s->name[n] && s->name[n] != '/'))
		return 0;
	return take(s->found, m, s->name + n);
}

/* For each_mount: is the name a path from the root of this hierarchy? */
static int is_path(void *arg, const struct mount *m)
{
	struct cgroup_search *s = arg;
	const char *slash = *s->name == '/' ? "" : "/", *below = s->name;
	char path[PATH_MAX];
	struct stat st;

	if (strcmp(m->root, "/")) { /* only a part of the hierarchy is mounted */
		size_t n = strlen(m->root);

		if (*slash || strncmp(below, m->root, n) || (below[n] && below[n] != '/'))
			return 0;
		below += n;
	}
	if (str_format(path, sizeof(path), "%s%s%s", m->point, slash, below) >= sizeof(path) ||
	    stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return 0;
	str_format(s->found->path, sizeof(s->found->path), "%s%s", slash, s->name);
	s->found->hierarchy = ANY_HIERARCHY;
	return 1;
}

/* A search of all cgroups. */
struct each_cgroup {
	void (*fn)(void *, const struct mount *, const char *path);
	void *arg;
};

/*
 * Call fn for each directory below the mount point, for at most DEEPEST levels. path has
 * PATH_MAX bytes; its first n bytes are the directory to begin with.
 */
static void each_below(const struct mount *m, char *path, size_t n, int depth,
		       const struct each_cgroup *each)
{
	DIR *d = depth < DEEPEST ? opendir(path) : NULL;
	struct dirent *e;
	size_t len;

	while (d && (e = readdir(d))) {
		if (e->d_type != DT_DIR || *e->d_name == '.')
			continue;
		len = str_format(path + n, PATH_MAX - n, "/%s", e->d_name);
		if (len >= PATH_MAX - n)
			continue;
		each->fn(each->arg, m, path);
		each_below(m, path, n + len, depth + 1, each);
	}
	path[n] = '\0';
	if (d)
		closedir(d);
}

/* For each_mount: search the whole mount, and go on with the next mount. */
static int search_mount(void *each, const struct mount *m)
{
	char path[PATH_MAX];

	each_below(m, path, str_format(path, sizeof(path), "%s", m->point), 0, each);
	return 0;
}

/* For each_cgroup: take a path that ends with the name. */
static void ends_with_name(void *arg, const struct mount *m, const char *path)
{
	struct cgroup_search *s = arg;
	size_t n = strlen(path), name = strlen(s->name);
	struct cgroup c;

	if (n <= name || strcmp(path + n - name, s->name) || path[n - name - 1] != '/' ||
	    !take(&c, m, path + strlen(m->point)))
		return;
	c.hierarchy = ANY_HIERARCHY;
	if (!*s->found->path)
		*s->found = c;
	else if (strcmp(s->found->path, c.path))
		str_format(s->other, sizeof(s->other), "%s", c.path);
}

/* For task_each_process: stop at a member of the cgroup. */
static int is_member(void *c, pid_t pid)
{
	return cgroup_has(c, pid) ? -1 : 0;
}

/* Does the path have a part "." or ".."? The kernel's path of a cgroup has none. */
static int has_dots(const char *path)
{
	for (const char *p = path; *p; p += strcspn(p, "/")) {
		size_t n;

		p += strspn(p, "/");
		n = strcspn(p, "/");
		if ((n == 1 && *p == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
			return 1;
	}
	return 0;
}

int cgroup_find(const char *text, struct cgroup *c)
{
	char name[PATH_MAX], real[PATH_MAX];
	struct cgroup_search s = { .name = name, .found = c };
	size_t n = str_format(name, sizeof(name), "%s", text);

	*c = (struct cgroup){ .hierarchy = ANY_HIERARCHY };
	if (!n || n >= sizeof(name) || has_dots(name))
		return 1;
	while (n > 1 && name[n - 1] == '/')
		name[--n] = '\0';
	/* use the host's sysfs if TRACER_SYSFS_PATH names it */
	if (strcmp(path_sysfs(), "/sys") && !strncmp(name, "/sys/", 5) &&
	    str_format(real, sizeof(real), "%s%s", path_sysfs(), name + 4) < sizeof(real))
		strcpy(name, real);
	if (!strcmp(name, "/")) {
		strcpy(c->path, "/");
		return 0;
	}
	/* the path may lead through a link, such as cpu to cpu,cpuacct */
	if (!strncmp(name, path_sysfs(), strlen(path_sysfs())) && realpath(name, real) &&
	    strcmp(name, real)) {
		s.name = real;
		if (each_mount(is_below, &s))
			return 0;
		s.name = name;
	}
	if (*name == '/' && !access(name, F_OK) && each_mount(is_below, &s))
		return 0;
	if (each_mount(is_path, &s))
		return 0;
	/* the hierarchy may not be mounted here: compare with the cgroups of all processes */
	str_format(c->path, sizeof(c->path), "%s%s", *name == '/' ? "" : "/", name);
	c->hierarchy = ANY_HIERARCHY;
	if (task_each_process(is_member, c) < 0)
		return 0;
	*c->path = '\0';
	if (*name == '/')
		return 1;
	each_mount(search_mount, &(struct each_cgroup){ ends_with_name, &s });
	if (*s.other)
		return err_msg("more than one cgroup is called '%.80s': %.200s and %.200s; give "
			       "the path", text, c->path, s.other);
	return *c->path ? 0 : 1;
}

/* ---- containers -------------------------------------------------------------------- */

enum { CONTAINERS_MAX = 4 };

/* The containers whose ids begin with the digits, in the order of their ids. */
struct container_search {
	const char *digits;
	struct with_id {
		char id[CONTAINER_ID + 1];
		char *path;             /* its cgroup */
		char *other;            /* another cgroup with the same id, or NULL */
	} v[CONTAINERS_MAX];
	size_t n;                       /* may be greater than CONTAINERS_MAX */
	char inside[PATH_MAX];          /* a cgroup with the id in the cgroup of a container */
};

/* For each_cgroup: add the container unless it was found in another hierarchy. */
static void add_container(void *arg, const struct mount *m, const char *path)
{
	struct container_search *s = arg;
	size_t kept = s->n < CONTAINERS_MAX ? s->n : CONTAINERS_MAX, i, at, last;
	const char *name = strrchr(path, '/') + 1;
	char id[CONTAINER_ID + 1];
	struct cgroup c;

	if (id_in_name(name, strlen(name), id) < 0 ||
	    strncmp(id, s->digits, strlen(s->digits)) || !take(&c, m, path + strlen(m->point)))
		return;
	at = cgroup_container(c.path, id);
	last = strlen(c.path);
	if (at < last) { /* a directory above it has an id, too */
		if (at)
			str_format(s->inside, sizeof(s->inside), "%s", c.path);
		return;
	}
	for (i = 0; i < kept; i++) {
		struct with_id *known = &s->v[i];

		if (strcmp(known->id, id))
			continue;
		if (strcmp(known->path, c.path) && !known->other)
			known->other = xstrdup(c.path);
		return;
	}
	s->n++;
	if (kept == CONTAINERS_MAX)
		return;
	for (i = kept; i && strcmp(s->v[i - 1].id, id) > 0; i--)
		s->v[i] = s->v[i - 1];
	s->v[i] = (struct with_id){ .path = xstrdup(c.path) };
	str_format(s->v[i].id, sizeof(s->v[i].id), "%s", id);
}

/* Report that more than one id begins with the digits. Show enough digits to tell them apart. */
static int report_containers(const struct container_search *s)
{
	char list[CONTAINERS_MAX * (CONTAINER_ID + 2) + 8];
	size_t kept = s->n < CONTAINERS_MAX ? s->n : CONTAINERS_MAX, shown = 12, n = 0;

	for (size_t i = 1; i < kept; i++)
		while (shown < CONTAINER_ID && !strncmp(s->v[i].id, s->v[i - 1].id, shown))
			shown++;
	for (size_t i = 0; i < kept; i++)
		n += str_format(list + n, sizeof(list) - n, "%s%.*s", i ? ", " : "", (int)shown,
				s->v[i].id);
	if (s->n > kept)
		str_format(list + n, sizeof(list) - n, ", ...");
	return err_msg("more than one container has an id that begins with '%s': %s; give more "
		       "digits", s->digits, list);
}

static int choose_container(const struct container_search *s, char *path)
{
	const struct with_id *c = &s->v[0];

	if (s->n > 1)
		return report_containers(s);
	if (!s->n && *s->inside)
		return err_msg("the id '%s' is only in the cgroup of another container: %.700s; "
			       "if you mean that, give the path with --cgroup", s->digits,
			       s->inside);
	if (!s->n)
		return 1;
	if (c->other)
		return err_msg("two cgroups have the id of the container '%s': %.400s and %.400s; "
			       "give the right one with --cgroup", s->digits, c->path, c->other);
	str_format(path, PATH_MAX, "%s", c->path);
	return 0;
}

int cgroup_find_container(const char *digits, char *path)
{
	struct container_search s = { .digits = digits };
	int r;

	*path = '\0';
	each_mount(search_mount, &(struct each_cgroup){ add_container, &s });
	r = choose_container(&s, path);
	for (size_t i = 0; i < CONTAINERS_MAX; i++) {
		free(s.v[i].path);
		free(s.v[i].other);
	}
	return r;
}

/* ---- cgroups that come later --------------------------------------------------------- */

int cgroup_expect(const char *text, char *path)
{
	struct cgroup found = { .hierarchy = ANY_HIERARCHY };
	struct cgroup_search s = { .name = path, .found = &found };
	size_t n = str_format(path, PATH_MAX, "%s", text);

	if (!n || n >= PATH_MAX || has_dots(path))
		return -1;
	while (n > 1 && path[n - 1] == '/')
		path[--n] = '\0';
	if (*path == '/' && each_mount(is_below, &s))
		str_format(path, PATH_MAX, "%s", found.path);
	return 0;
}

int cgroup_is_named(const char *path, const struct cgroup_name *name)
{
	size_t n = strlen(name->text);

	if (name->container) /* no line of procfs has a newline in its path */
		return !strchr(path, '\n') && container_is_named(path, name->text);
	if (*name->text == '/')
		return n == 1 || (!strncmp(path, name->text, n) && (!path[n] || path[n] == '/'));
	for (const char *s = path; (s = strstr(s, name->text)); s++)
		if (s > path && s[-1] == '/' && (!s[n] || s[n] == '/'))
			return 1;
	return 0;
}

int cgroup_names_task(const struct cgroup_name *name, pid_t pid)
{
	char path[PATH_MAX], *text, *at;
	struct membership m;
	int is = -1;

	/* not procfs_read: the answer cannot wait, and no task makes this file long */
	str_format(path, sizeof(path), "%s/%d/cgroup", path_procfs(), (int)pid);
	text = at = file_read(AT_FDCWD, path, NULL);
	if (text && name->container)
		is = container_is_named(text, name->text);
	while (!name->container && is <= 0 && next_membership(&at, &m))
		is = cgroup_is_named(m.path, name);
	free(text);
	return is;
}

int cgroup_open_v2(void)
{
	char path[PATH_MAX];

	return path_open_listed(path, "cgroup2", K_CGROUP2_SUPER_MAGIC);
}
