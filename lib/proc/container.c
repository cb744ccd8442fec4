/* SPDX-License-Identifier: ISC */
/*
 * container.c - the names of containers and pods, from files of the node
 *
 * The cgroup of a task has the id of its container and the uid of its pod. The kubelet and the
 * container runtime keep the names in directories that only root can write:
 * - /var/log/pods/NAMESPACE_POD_UID, which the kubelet makes before the first container;
 * - /var/log/containers/POD_NAMESPACE_CONTAINER-ID.log, which it makes after the start;
 * - a file of the runtime, which is there before the first task enters the cgroup.
 *
 * The image of a container can have chosen labels in the file of a runtime. So names of a pod count
 * only beside the uid that the cgroup has, and a key with two values counts for nothing.
 */
#include <sys/stat.h>

#include "base/base.h"
#include "proc/proc.h"

enum {
	FILE_MOST = 4 << 20,    /* bytes of a file of a runtime */
	AGAIN_MS = 100,         /* a name that is not known is looked for again after this time */
	UID = 36,               /* characters of the uid of a pod, */
	UID_STATIC = 32,        /* or of one that the kubelet has from a file: digits of a hash */
};

/* ---- the cgroup --------------------------------------------------------------------- */

/* Copy the uid of a pod, in which systemd writes "_" for "-"; copy nothing else. */
static void take_uid(char *to, const char *s)
{
	size_t n = strspn(s, "0123456789abcdef-_");

	if (n != UID && n != UID_STATIC)
		return;
	for (to[n] = '\0'; n--;)
		to[n] = s[n] == '_' ? '-' : s[n];
}

/*
 * Parse the path of one hierarchy. The pod's uid follows "pod" before the container, as in
 * kubepods-burstable-podUID.slice (docs.kubernetes.io: cgroup drivers). The outermost container has
 * chosen the names in the rest of the path.
 */
static void parse_path(const char *path, char *id, char *uid)
{
	/* a user who may make cgroups elsewhere may name them like a pod */
	static const char service[] = "/system.slice/containerd.service";
	const size_t n = cgroup_container(path, id);
	const char *s = path, *end = path + (n ? n : strcspn(path, "\n"));

	*uid = '\0';
	if (!strncmp(s, service, sizeof(service) - 1))
		s += sizeof(service) - 1;
	if (!strncmp(s, "/kubepods", 9) || !strncmp(s, "/kubelet", 8))
		for (; s < end && !*uid; s++)
			if (!strncmp(s, "pod", 3))
				take_uid(uid, s + 3);
}

/*
 * Lines that disagree name nothing, because a program that may make cgroups in one hierarchy need
 * not be able to in another. But only root can make a cgroup below those of the kubelet.
 */
void container_of(struct container *c, const char *lines)
{
	char id[sizeof(c->id)], uid[sizeof(c->uid)];
	int best = 0, clash = 0;

	memset(c, 0, sizeof(*c));
	for (const char *line = lines; *line; line += !!*line) {
		size_t n = strcspn(line, "\n");
		const char *path = memchr(line, '/', n);
		int rank;

		line += n;
		if (!path)
			continue;
		parse_path(path, id, uid);
		rank = (*id != '\0') + 2 * (*uid != '\0');
		if (rank > best) {
			clash = 0;
			best = rank;
			strcpy(c->id, id);
			strcpy(c->uid, uid);
			c->of_user = !strncmp(path, "/user.slice/", 12);
		}
		clash |= rank == best && (strcmp(c->id, id) || strcmp(c->uid, uid));
	}
	if (clash)
		*c->id = *c->uid = '\0';
}

/* ---- names ------------------------------------------------------------------------- */

/* Copy a name if it fits, and if it has only the characters that names have. */
static int take_name(char *to, struct text_part name)
{
	char text[sizeof(((struct container *)NULL)->name)];

	if (str_format(text, sizeof(text), "%.*s", (int)name.n, name.text) >= sizeof(text) ||
	    !text_name_fits(text, sizeof(text)))
		return -1;
	strcpy(to, text);
	return 0;
}

/* ---- the kubelet's directories ------------------------------------------------------- */

/*
 * Split the beginning of the name that ends with `end` in a directory, at "_", which no name of
 * Kubernetes has. Return the number of parts, up to 3; 0 if there is no such name.
 */
static int split(const char *root, const char *dir, const char *end, char *name,
		 struct text_part *part)
{
	char path[PATH_MAX];
	size_t n = 0, length = strlen(end);
	const char *found;
	int parts = 0;
	DIR *d;

	str_format(path, sizeof(path), "%s%s", root, dir);
	d = opendir(path);
	while ((found = file_next(d))) {
		n = strlen(found);
		if (n > length && !strcmp(found + n - length, end))
			break;
	}
	if (!found)
		return 0;
	str_format(name, NAME_MAX + 1, "%.*s", (int)(n - length), found);
	closedir(d);
	for (; parts < 3; name += part[parts++].n + 1) {
		part[parts] = (struct text_part){ name, strcspn(name, "_") };
		if (!name[part[parts].n])
			return parts + 1;
	}
	return 0;
}

/* Take the names that the kubelet has given below this root. */
static void ask_kubelet(struct container *c, const char *root)
{
	char end[CONTAINER_ID + 8], name[NAME_MAX + 1];
	struct text_part part[3];

	str_format(end, sizeof(end), "_%s", c->uid);
	if (!*c->pod && split(root, "/var/log/pods", end, name, part) == 2 &&
	    !take_name(c->namespace, part[0]))
		take_name(c->pod, part[1]);
	str_format(end, sizeof(end), "-%s.log", c->id);
	if (!*c->name && split(root, "/var/log/containers", end, name, part) == 3 &&
	    !take_name(c->pod, part[0]) && !take_name(c->namespace, part[1]))
		take_name(c->name, part[2]);
}

/* ---- the files of runtimes ----------------------------------------------------------- */

/* What a file says of a container */
struct said {
	struct container labels; /* with the id of an entry of podman's list */
	int wrong;              /* a label has no name as its value, or two */
	char name[NAME_MAX - 1]; /* that people have given it */
	/* The keys that lead to a value, from the outside, from 1 on; that of a list is "" */
	struct text_part key[4];
	unsigned depth;         /* may be greater */
};

/* Take a label or an annotation, if it is one of those. */
static void take_label(struct said *said, struct text_part key, struct text_part value)
{
	/* the keys of the kubelet, and of containerd, in the order of struct container */
	static const char keys[] = "pod.uid\0" "pod.name\0" "pod.namespace\0" "container.name\0"
		"cri.sandbox-uid\0" "cri.sandbox-name\0" "cri.sandbox-namespace\0"
		"cri.container-name\0", begin[] = "io.kubernetes.";
	char text[sizeof(said->name)], *to;
	unsigned i = 0;

	if (!text_part_begins(key, begin))
		return;
	key.text += sizeof(begin) - 1;
	key.n -= sizeof(begin) - 1;
	for (const char *known = keys; *known; known += strlen(known) + 1, i++) {
		if (!text_part_is(key, known))
			continue;
		to = (char *)&said->labels + offsetof(struct container, uid) +
		     i % 4 * sizeof(said->name);
		said->wrong |= take_name(text, value) < 0 || (*to && strcmp(to, text));
		if (!said->wrong)
			strcpy(to, text);
	}
}

/* Take a string of a file: OCI's config.json, Docker's config.v2.json, or podman's list. */
static void take_string(struct said *said, struct text_part value)
{
	const struct text_part *key = said->key;

	if (said->depth == 1 && text_part_is(key[1], "Name") && value.n > 1) /* "/NAME" */
		take_name(said->name, (struct text_part){ value.text + 1, value.n - 1 });
	if (said->depth == 2 && text_part_is(key[1], "annotations"))
		take_label(said, key[2], value);
	if (said->depth == 2 && !key[1].n && text_part_is(key[2], "id"))
		take_name(said->labels.id, value);
	if (said->depth == 3 && text_part_is(key[1], "Config") && text_part_is(key[2], "Labels"))
		take_label(said, key[3], value);
	if (said->depth == 3 && !key[1].n && text_part_is(key[2], "names"))
		take_name(said->name, value);
}

/* Read the strings of a JSON text that are the values of keys, or the first in a list. */
static void take_strings(struct said *said, const char *id, const char *s, const char *end)
{
	struct text_part string = { "", 0 };
	int is_value = 0;

	for (; s < end; s++) {
		if (*s == '"') {
			for (string.text = ++s; s < end && *s != '"'; s++)
				s += *s == '\\';
			if (s >= end)
				return;
			string.n = (size_t)(s - string.text);
			if (is_value)
				take_string(said, string);
		} else if (*s == '}' || *s == ']') {
			/* the entry of a list ends: is it the right one? */
			if (said->depth-- == 2 && !said->key[1].n) {
				if (!strcmp(said->labels.id, id))
					return;
				*said->name = '\0';
			}
		}
		if (*s == '{' || *s == '[') {
			said->depth++;
			string.n = 0;
		}
		if (strchr("{[:", *s) && said->depth < 4)
			said->key[said->depth] = string;
		is_value = strchr("[:", *s) || (is_value && strchr(" \t\r\n", *s));
	}
}

void container_said(struct container *c, const char *text, size_t n)
{
	struct said said = { .key = { { "", 0 } } };

	take_strings(&said, c->id, text, text + n);
	if (!*c->uid)
		strcpy(c->name, said.name);
	if (!*c->uid || said.wrong || strcmp(said.labels.uid, c->uid))
		return;
	if (strcmp(said.labels.name, "POD")) /* the container that only keeps the namespaces */
		strcpy(c->name, said.labels.name);
	if (!*c->pod) {
		strcpy(c->pod, said.labels.pod);
		strcpy(c->namespace, said.labels.namespace);
	}
}

/* Return the contents of a file of root and its length, or NULL. */
static char *read_file(const char *path, size_t *n)
{
	struct stat st;
	int fd = file_open(path, FILE_REGULAR, O_RDONLY | O_NOFOLLOW, &st);
	char *text = NULL;
	ssize_t got = -1;

	if (fd >= 0 && st.st_size <= FILE_MOST && (!st.st_uid || st.st_uid == geteuid()))
		text = malloc((size_t)st.st_size + 1);
	if (text)
		got = pread(fd, text, (size_t)st.st_size, 0);
	fd_close(fd);
	if (got < 0) {
		free(text);
		return NULL;
	}
	*n = (size_t)got;
	text[*n] = '\0';
	return text;
}

/* Take the names that the runtime has given below this root. */
static void ask_runtime(struct container *c, const char *root)
{
	/* what is before the id, and what is after it; the last ones, of podman, have all ids */
#define CONTAINERD "containerd/io.containerd.runtime.v2.task/k8s.io/\0/config.json\0"
#define STORAGE "/containers/storage/overlay-containers/"
	static const char files[] = "/run/" CONTAINERD "/run/k3s/" CONTAINERD
		"/run" STORAGE "\0/userdata/config.json\0"
		"/var/lib/docker/containers/\0/config.v2.json\0"
		"/var/lib" STORAGE "containers.json\0\0"
		"/run" STORAGE "volatile-containers.json\0\0";
#undef CONTAINERD
#undef STORAGE
	char path[PATH_MAX], *text;
	const char *after;
	size_t n;

	for (const char *file = files; *file && !*c->name; file = after + strlen(after) + 1) {
		after = file + strlen(file) + 1;
		str_format(path, sizeof(path), "%s%s%s%s", root, file, *after ? c->id : "", after);
		text = read_file(path, &n);
		if (text)
			container_said(c, text, n);
		free(text);
	}
}

void container_name(struct container *c)
{
	char host[PATH_MAX];
	const char *const roots[] = { host, "" };

	str_format(host, sizeof(host), "%s/1/root", path_procfs());
	/* the files of root's containers say nothing of others, whatever their ids are */
	for (int i = 0; i < 2 && *c->id && !*c->name && !c->of_user; i++) {
		if (*c->uid)
			ask_kubelet(c, roots[i]);
		if (!*c->name)
			ask_runtime(c, roots[i]);
	}
}

/* ---- containers that were looked up ---------------------------------------------------- */

/* Its names, and when they were last looked up */
struct looked_up {
	struct table_entry entry;       /* of_user, its id, and the uid of its pod */
	struct container names;
	long long at;                   /* in ms; 0: never */
};

/* Who makes cgroups chooses how many lookups there are, but not how long they take together. */
static struct share share;

void container_limit(void)
{
	share_limit(&share);
}

static struct looked_up *entry_of(struct table *known, const struct container *c)
{
	char key[sizeof(c->id) + sizeof(c->uid) + 1];

	known->size = sizeof(struct looked_up);
	return table_at(known, key,
			str_format(key, sizeof(key), "%d%s%s", c->of_user, c->id, c->uid));
}

const struct container *containers_keep(struct table *known, const struct container *c)
{
	struct looked_up *l = entry_of(known, c);

	l->names = *c;
	return &l->names;
}

const struct container *containers_find(struct table *known, const char *lines)
{
	const long long now = time_now_ms();
	struct container c;
	struct looked_up *l;

	container_of(&c, lines);
	l = entry_of(known, &c);
	if (!l->at)
		l->names = c;
	if (*c.id && !*l->names.name && (!l->at || now - l->at >= AGAIN_MS) &&
	    share_begin(&share) == 0) {
		container_name(&l->names);
		l->at = time_now_ms();
		share_end(&share);
	}
	return &l->names;
}

const struct container *containers_find_task(struct table *known, pid_t pid)
{
	char *lines = procfs_read(pid, "cgroup", NULL, NULL);
	const struct container *c = lines ? containers_find(known, lines) : NULL;

	free(lines);
	/* in hierarchies of version 1, a zombie is in the root: cgroups(7) */
	return c && (*c->id || task_alive(pid)) ? c : NULL;
}

size_t container_text(const struct container *c, char *text, size_t size)
{
	return str_format(text, size, "%s/%s/%s:%s", c->namespace, c->pod, c->name, c->id);
}

/* The members of JSON, and where in struct container their values are */
static const struct { char name[10]; uint16_t at; } members[] = {
	{ "id", offsetof(struct container, id) },
	{ "name", offsetof(struct container, name) },
	{ "pod_uid", offsetof(struct container, uid) },
	{ "pod_name", offsetof(struct container, pod) },
	{ "namespace", offsetof(struct container, namespace) },
};
static const char before[] = "container_"; /* before id and name where there are other members */

void container_members(struct out *o, const struct container *c, int among_others)
{
	char name[32];

	for (unsigned i = 0; i < sizeof(members) / sizeof(*members); i++) {
		str_format(name, sizeof(name), "%s%s", among_others && i < 2 ? before : "",
			   members[i].name);
		json_put_plain(o, name, (const char *)c + members[i].at);
	}
}

void container_take(struct container *c, struct text_part name, struct text_part value)
{
	if (text_part_begins(name, before)) {
		name.text += sizeof(before) - 1;
		name.n -= sizeof(before) - 1;
	}
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
		if (text_part_is(name, members[i].name))
			take_name((char *)c + members[i].at, value);
}

int container_is_named(const char *lines, const char *globs)
{
	static struct table known;
	const struct container *c;
	char text[sizeof(*c)];

	if (known.n >= CONTAINERS_MOST)
		table_clear(&known);
	c = containers_find(&known, lines);
	container_text(c, text, sizeof(text));
	return *c->id && glob_listed(globs, text);
}
