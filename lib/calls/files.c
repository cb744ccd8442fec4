/* SPDX-License-Identifier: ISC */
/* files.c - the files to which records refer, by their ids */
#include <sys/socket.h>
#include <sys/stat.h>

#include "host/host.h"
#include "proc/proc.h"
#include "calls/mounts.h"
#include "calls/tables.h"

/* Beyond so many files, those that were not used for long are forgotten. */
enum { FILES_MOST = 64 * 1024 };

/* ---- the path of a record ------------------------------------------------------------------ */

/* Write the name of a file that is in no directory, as its d_dname() in the kernel does. */
static void put_pseudo(struct out *o, const struct file_record *f, const char *name)
{
	switch (f->magic) {
	case K_PIPEFS_MAGIC:
		out_format(o, "pipe:[%llu]", (unsigned long long)f->inode);
		break;
	case K_SOCKFS_MAGIC:
		out_format(o, "socket:[%llu]", (unsigned long long)f->inode);
		break;
	case K_NSFS_MAGIC:
		out_format(o, "%s:[%llu]", name, (unsigned long long)f->inode);
		break;
	case K_PIDFS_MAGIC:
		out_string(o, "anon_inode:[pidfd]");
		break;
	case K_ANON_INODE_FS_MAGIC:
		out_string(o, "anon_inode:");
		out_string(o, name);
		break;
	default: /* simple_dname() in fs/d_path.c, as of memfd_create(2) */
		out_format(o, !strcmp(name, "/") ? "/" : "/%s (deleted)", name);
	}
}

/* Write names, each with a NUL at its end, the last one first, as a path. */
static void put_names(struct out *o, const char *names, size_t n)
{
	const char *at = names + n;

	if (!n)
		out_char(o, '/');
	while (at > names) {
		for (at--; at > names && at[-1]; at--)
			;
		out_char(o, '/');
		out_string(o, at);
	}
}

size_t file_inside(const struct file_record *f, const char *names, size_t n, char *path,
		   size_t size)
{
	struct out o = out_to(path, size - 1);

	if (f->flags & FILE_INSIDE && f->inside <= n)
		put_names(&o, names + f->inside, n - f->inside);
	if (o.cut)
		o.at = path;
	*o.at = '\0';
	return (size_t)(o.at - path);
}

size_t file_path(const struct file_record *f, const char *names, size_t n, char *path, size_t size)
{
	struct out o = out_to(path, size - 1);
	int cut = f->flags & FILE_CUT;

	if (f->flags & FILE_INSIDE && f->inside <= n)
		n = f->inside;
	if (f->flags & FILE_PSEUDO) {
		put_pseudo(&o, f, n ? names : "");
	} else {
		/* without room, the beginning is missing */
		for (; n && n + sizeof("... (deleted)") > size; cut = 1)
			for (n--; n && names[n - 1]; n--)
				;
		if (cut)
			out_string(&o, "...");
		put_names(&o, names, n);
		if (f->flags & FILE_DELETED)
			out_string(&o, " (deleted)");
	}
	if (o.cut)
		memcpy(o.end - 3, "...", 3);
	*o.at = '\0';
	return (size_t)(o.at - path);
}

/* Write the address of IPv4 or IPv6. */
static void put_inet(struct out *o, int v6, const unsigned char *ip, unsigned port)
{
	if (v6) {
		out_char(o, '[');
		call_ip6(o, ip);
		out_format(o, "]:%u", port);
	} else {
		out_format(o, "%d.%d.%d.%d:%u", ip[0], ip[1], ip[2], ip[3], port);
	}
}

int file_put_peer(struct out *o, const struct call_bytes *user)
{
	const unsigned char *a = (const unsigned char *)user->bytes;
	const size_t n = user->fault || !a ? 0 : user->n;
	const unsigned family = n < 4 ? 0 : (unsigned)a[0] | a[1]; /* in any byte order */
	const size_t abstract = n > 2 && !a[2];

	if (family == AF_INET && n >= 8)
		put_inet(o, 0, a + 4, (unsigned)a[2] << 8 | a[3]);
	else if (family == AF_INET6 && n >= 24)
		put_inet(o, 1, a + 8, (unsigned)a[2] << 8 | a[3]);
	else if (family == AF_UNIX) /* unix(7) */
		out_format(o, "%s%.*s", abstract ? "@" : "", (int)(n - 2 - abstract),
			   (const char *)a + 2 + abstract);
	else
		return 0;
	return 1;
}

/* Write both addresses of a socket, which are in its names. */
static void put_addresses(struct out *o, const struct file_record *f, const char *names, size_t n)
{
	const int v6 = f->family == AF_INET6;
	struct file_socket s;
	unsigned port;

	if (n < sizeof(s))
		return;
	memcpy(&s, names, sizeof(s));
	port = (unsigned)names[offsetof(struct file_socket, port_there)] % 256 * 256 +
	       (unsigned)names[offsetof(struct file_socket, port_there) + 1] % 256;
	if (s.port_here)
		put_inet(o, v6, s.here, s.port_here);
	if (port) {
		out_string(o, "->");
		put_inet(o, v6, s.there, port);
	}
}

/* Write both names of a Unix socket. */
static void put_unix(struct out *o, const char *names, size_t n)
{
	const size_t first = strnlen(names, n);

	out_format(o, "%.*s", (int)first, names);
	if (first + 1 < n && names[first + 1])
		out_format(o, "->%.*s", (int)(n - first - 1), names + first + 1);
}

void file_put_protocol(struct out *o, unsigned family, unsigned type)
{
	static const char unix_types[][11] = { "", "-STREAM", "-DGRAM", "", "", "-SEQPACKET" };

	if (family == AF_INET || family == AF_INET6)
		out_format(o, "%s%s", type == SOCK_STREAM ? "TCP" : type == SOCK_DGRAM ? "UDP" :
			   "IP", family == AF_INET6 ? "v6" : "");
	else if (family == AF_UNIX)
		out_format(o, "UNIX%s", type < 6 ? unix_types[type] : "");
	else
		out_string(o, family == AF_NETLINK ? "NETLINK" : "socket");
}

size_t file_socket(const struct file_record *f, const char *names, size_t n, char *text,
		   size_t size)
{
	struct out o = out_to(text, size - 1);
	const char *begin;

	*text = '\0';
	if (!f->family)
		return 0;
	file_put_protocol(&o, f->family, f->type);
	out_char(&o, ':');
	begin = o.at;
	if (f->family == AF_INET || f->family == AF_INET6)
		put_addresses(&o, f, names, n);
	else if (f->family == AF_UNIX)
		put_unix(&o, names, n);
	if (o.at == begin)
		out_format(&o, "[%llu]", (unsigned long long)f->inode);
	*o.at = '\0';
	return (size_t)(o.at - text);
}

/* ---- the files of a trace ------------------------------------------------------------------ */

static int by_use(const void *a, const void *b)
{
	const struct file_known *x = *(struct file_known *const *)a;
	const struct file_known *y = *(struct file_known *const *)b;

	return (x->used < y->used) - (x->used > y->used);
}

/* Forget the half of the files whose last use is the longest ago. */
static void forget_half(struct known_files *f)
{
	struct table kept = { .size = sizeof(struct file_known) };

	table_sort(&f->all, by_use);
	for (size_t i = 0; i < f->all.n; i++) {
		struct file_known *from = (struct file_known *)(void *)f->all.v[i], *to;

		if (i >= FILES_MOST / 2) {
			free(from->path);
			continue;
		}
		to = table_at(&kept, (const char *)&from->id, sizeof(from->id));
		from->entry = to->entry;
		*to = *from;
	}
	table_clear(&f->all);
	free(f->all.v);
	f->all = kept;
}

void files_add(struct known_files *f, const struct file_record *r, const char *path,
	       const char *socket, const char *inside)
{
	const size_t n = strlen(path) + 1, more = strlen(socket) + 1, last = strlen(inside) + 1;
	struct file_known *to;

	f->all.size = sizeof(*to);
	if (f->all.n >= FILES_MOST)
		forget_half(f);
	to = table_at(&f->all, (const char *)&r->id, sizeof(r->id));
	free(to->path);
	to->id = r->id;
	to->is = (struct file_identity){ r->inode, r->device, r->generation };
	/* all root directories inside a mount, except the mount's own, count as one */
	to->root = r->root ^ (r->flags & FILE_CHROOT ? ROOT_BELOW : 0);
	to->space = r->space;
	to->mode = r->mode;
	to->flags = r->flags;
	to->used = ++f->uses;
	to->family = r->family;
	to->protocol = r->protocol;
	to->path = xcalloc(1, n + more + last);
	memcpy(to->path, path, n);
	memcpy(to->path + n, socket, more);
	memcpy(to->path + n + more, inside, last);
	to->inside = to->path + n + more;
	to->name = *socket ? to->path + n : to->path;
}

const struct file_known *files_find(struct known_files *f, uint64_t id)
{
	struct file_known *found = id && f->all.n ?
				   table_find(&f->all, (const char *)&id, sizeof(id)) : NULL;

	if (found)
		found->used = ++f->uses;
	return found;
}

size_t file_join(const char *from, const char *known, const char *path, size_t n, char *out,
		 size_t size)
{
	const size_t whole = strlen(known);
	size_t len, solid, part;

	if (strlen(from) >= size)
		return 0;
	len = str_format(out, size, "%s", from);
	len -= len && out[len - 1] == '/';
	solid = len;
	for (const char *end = path + n, *slash; path < end; path += part + !!slash) {
		slash = memchr(path, '/', (size_t)(end - path));
		part = slash ? (size_t)(slash - path) : (size_t)(end - path);
		if (part == 2 && !memcmp(path, "..", 2) && len <= solid) {
			while (len && out[--len] != '/')
				;
			solid = len;
		} else if (part && (part != 1 || *path != '.')) {
			if (len + part + 2 > size)
				return 0;
			out[len++] = '/';
			memcpy(out + len, path, part);
			len += part;
			if (len == whole && !memcmp(out, known, len))
				solid = len;
		}
	}
	if (!len)
		out[len++] = '/';
	out[len] = '\0';
	return len;
}

void file_put_name(struct out *o, const char *s)
{
	int control = 0;

	for (size_t left = 0; *s; s++, left--) {
		if (!left) /* the bytes of this character */
			left = text_char(s, strnlen(s, 4), &control);
		if (control || strchr("<>\"\\", *s) || !strncmp(s, ") = ", 4))
			out_format(o, "\\%d%d%d", (unsigned char)*s >> 6,
				   (unsigned char)*s >> 3 & 7, *s & 7);
		else
			out_char(o, *s);
	}
}

void file_put_known(struct out *o, const struct file_known *f)
{
	const char *name = f->name;

	for (const char *arrow; f->family && (arrow = strstr(name, "->")); name = arrow + 2) {
		char here[300];

		str_format(here, sizeof(here), "%.*s", (int)(arrow - name), name);
		file_put_name(o, here);
		out_string(o, "->");
	}
	file_put_name(o, name);
}

/* The name that a file got later, as by linkat(2) after O_TMPFILE. */
struct named {
	struct table_entry entry;
	char *path;
};

void files_name(struct known_files *f, const struct file_identity *is, const char *path)
{
	struct named *to;

	for (size_t i = 0; f->linked.n && i < f->linked.room; i++) {
		to = (struct named *)(void *)f->linked.v[i];
		if (to && !strcmp(to->path, path)) {
			free(to->path);
			table_remove(&f->linked, to);
			break; /* one file has a name at a time */
		}
	}
	if (!is || f->linked.n >= FILES_MOST / 64)
		return;
	f->linked.size = sizeof(*to);
	to = table_at(&f->linked, (const char *)is, sizeof(*is));
	free(to->path);
	to->path = xstrdup(path);
}

const char *files_named(struct known_files *f, const struct file_identity *is)
{
	const struct named *at = f->linked.n ?
				 table_find(&f->linked, (const char *)is, sizeof(*is)) : NULL;

	return at ? at->path : NULL;
}

/* ---- the paths of the host ----------------------------------------------------------------- */

/* Write the path that the host has for the file to out (PATH_MAX bytes). Return 0, or -1. */
static int find_on_host(struct known_files *f, const struct file_known *file, char *out)
{
	if (!*file->inside)
		return -1;
	for (int again = 0; again < 2; again++) {
		if (f->host && !mounts_find(f->host, file->is.device, file->inside, out))
			return 0;
		/* perhaps it has been mounted since; but do not look again for each file */
		if (!f->live || (f->host && f->host_read == time_now_ms() / 1024))
			return -1;
		f->host_read = time_now_ms() / 1024;
		mounts_free(f->host);
		f->host = mounts_of(1);
	}
	return -1;
}

const char *files_path(struct known_files *f, const struct file_known *file, char *out)
{
	if (!f->host_paths || *file->path != '/' || file->flags & FILE_PSEUDO)
		return file->path;
	if (find_on_host(f, file, out) < 0)
		str_format(out, PATH_MAX, "?%s", file->path);
	else if (file->flags & FILE_DELETED)
		str_format(out + strlen(out), PATH_MAX - strlen(out), " (deleted)");
	return out;
}

int files_between(struct known_files *f, int pid, const struct file_known *from, const char *to)
{
	char path[PATH_MAX];
	struct stat st;

	str_format(path, sizeof(path), "%s/self/ns/mnt", path_procfs());
	if (f->live && !f->own && !stat(path, &st))
		f->own = st.st_ino;
	/* in the namespace of this program, the host has the same mounts on the way */
	if (from->space == f->own)
		return 0;
	if (f->live && f->space != from->space) {
		mounts_free(f->mounts);
		f->mounts = mounts_of(pid);
		f->space = from->space;
	}
	return !f->mounts || mounts_between(f->mounts, from->path, to);
}

void files_free(struct known_files *f)
{
	mounts_free(f->host);
	mounts_free(f->mounts);
	for (size_t i = 0; i < f->linked.room; i++)
		if (f->linked.v[i])
			free(((struct named *)(void *)f->linked.v[i])->path);
	table_clear(&f->linked);
	free(f->linked.v);
	for (size_t i = 0; i < f->all.room; i++)
		if (f->all.v[i])
			free(((struct file_known *)(void *)f->all.v[i])->path);
	table_clear(&f->all);
	free(f->all.v);
	noted_lost(f);
	free(f->groups.v);
	*f = (struct known_files){ .live = f->live, .host_paths = f->host_paths,
				   .prints = f->prints };
}
