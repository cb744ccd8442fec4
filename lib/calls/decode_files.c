/* SPDX-License-Identifier: ISC */
/* decode_files.c - the files of calls: of descriptors and paths, and what is done to them */

#include <sys/socket.h>

#include "host/host.h"
#include "calls/decode.h"

static int begins(const char *s, const char *word)
{
	return !strncmp(s, word, strlen(word));
}

const struct file_known *decoded_file(const struct decoded *c, unsigned i)
{
	return c->used ? files_find(&c->decode->known, c->values.files[i]) : NULL;
}

size_t decode_print_fd(void *decode, int fd, char *buf, size_t size)
{
	struct decode *d = decode;
	const struct decoded *c = &d->last->c;
	const struct file_known *file = NULL;
	struct out o = out_to(buf, size - !!size);

	for (unsigned k = 0; k < CALL_RESULTS && c->used && c->call; k++)
		if (noted_made(c->tables, c->call, &c->values, k) == fd)
			file = decoded_file(c, CALL_ARGS + k);
	if (!file)
		file = noted_file(&d->known, c->group, fd);
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

size_t decoded_path(const struct decoded *c, unsigned i, char *path, size_t size)
{
	struct decode *d = c->decode;
	const struct call_bytes *given = &c->values.user[i];
	const unsigned at = i && c->call->args[i - 1].kind == CALL_DIRFD ? i - 1 : i;
	const struct file_known *file, *opened;
	char from[PATH_MAX], to[2 * PATH_MAX];
	const char *known;
	size_t n;
	int mark;

	if (!given->bytes || !given->n || given->cut)
		return 0;
	file = decoded_file(c, at);
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
	opened = c->call->result.kind == CALL_FD ? decoded_file(c, CALL_ARGS) : NULL;
	if (opened && !strcmp(opened->path, path))
		return str_format(path, size, "%s", files_path(&d->known, opened, from));
	if (!*known || !known[1] || strncmp(path, known, strlen(known)))
		file = decoded_file(c, CALL_ROOT);
	if (!file)
		return 0;
	files_path(&d->known, file, from);
	mark = *from != '?' && (files_between(&d->known, c->pid, file, path) ||
				strstr(path, "/.."));
	n = str_format(to, sizeof(to), "%s%s%s", mark ? "?" : "", from[1] ? from : "",
		       path + (file->path[1] ? strlen(file->path) : 0));
	return n < size ? str_format(path, size, "%s", to) : 0;
}

/* Has the call taken the name that is argument i away from its file? */
static int takes_name(const struct decoded *c, unsigned i)
{
	return c->values.result >= 0 && c->call->role->file[0].arg == i + 1 &&
	       c->call->role->does & (DOES_RENAMED | DOES_REMOVED);
}

/* Return the task's own descriptor that a path such as /proc/self/fd/3 names, or -1. */
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
 * Replace links of procfs to the task's own root directory and directory in a path, because they
 * would lead this program elsewhere. Return the length.
 */
static size_t skip_links(const struct decoded *c, const struct file_known *cwd, char *path)
{
	char own[32], to[PATH_MAX];
	size_t n;

	str_format(own, sizeof(own), "/proc/%d/", c->group);
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
static size_t see_file(struct decode *d, const struct decoded *c, unsigned i,
		       struct file_seen *seen, char *out)
{
	int path = i < CALL_ARGS && c->call->args[i].kind == CALL_PATH;
	const int follows = path && !call_names_link(c->call, c->values.args, i);
	const unsigned at = path && i && c->call->args[i - 1].kind == CALL_DIRFD ? i - 1 : i;
	const struct file_known *f = decoded_file(c, at);
	const char *name;
	char host[PATH_MAX];
	size_t n;
	int fd;

	*seen = (struct file_seen){ .path = out, .root = f ? f->root : 0, .arg = i };
	*out = '\0';
	n = path ? decoded_path(c, i, out, PATH_MAX) : 0;
	n = n ? skip_links(c, f, out) : 0;
	if (follows && (fd = own_descriptor(out)) >= 0) {
		f = noted_file(&d->known, c->group, fd);
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
	    file_resolve(c->pid, f && f->root == d->root, out, follows, host,
			 d->wanted.n && !takes_name(c, i) ? &seen->is : NULL))
		n = str_format(out, PATH_MAX, "%s", host);
	return n;
}

/* Is the file wanted, by the name that the task has for it, or that of the host? */
static int is_wanted(struct decode *d, const struct decoded *c, const struct file_seen *seen)
{
	char path[PATH_MAX];
	const char *host;

	if (wanted_is(&d->wanted, seen))
		return 1;
	if (d->known.host_paths || !d->known.by_kernel)
		return 0;
	d->known.host_paths = 1;
	host = seen->file ? files_path(&d->known, seen->file, path) :
	       decoded_path(c, seen->arg, path, sizeof(path)) ? path : "";
	d->known.host_paths = 0;
	return wanted_names(&d->wanted, host);
}

int decode_wanted(struct decode *d, const struct decoded *c)
{
	const struct call *call = c->call;
	char path[PATH_MAX + 1];
	struct file_seen seen;

	for (unsigned i = 0; i <= CALL_ARGS; i++) {
		const unsigned kind = i == CALL_ARGS ? call->result.kind :
				      i < call->nargs ? call->args[i].kind : CALL_NONE;
		const char *given = i < CALL_ARGS ? c->values.user[i].bytes : NULL;

		if (kind == CALL_PATH && given) {
			seen = (struct file_seen){ .path = given };
			if (wanted_is(&d->wanted, &seen))
				return 1;
		}
		if (d->known.by_kernel &&
		    (kind == CALL_FD || kind == CALL_DIRFD || kind == CALL_PATH) &&
		    see_file(d, c, i, &seen, path) &&
		    is_wanted(d, c, &seen))
			return 1;
	}
	return 0;
}

/* Add the file of argument i, or of CALL_ARGS, which is the result, if it is known. */
static void add_file(struct decode *d, const struct decoded *c, unsigned i,
		     struct decoded_files *to)
{
	const unsigned kind = i < CALL_ARGS ? c->call->args[i].kind : CALL_FD;
	const int at = kind == CALL_PATH && i && c->call->args[i - 1].kind == CALL_DIRFD;
	const struct call_bytes *given = i < CALL_ARGS ? &c->values.user[i] : NULL;

	to->file[to->n].name = !to->n ? "path" : kind == CALL_PATH ? "to" :
			       i < CALL_ARGS ? "from" : "program";
	/* without a name in the path: the file of the descriptor itself */
	if (at && (!c->values.args[i] || (given->bytes && (!given->n || !*given->bytes))))
		i--;
	to->n += see_file(d, c, i, &to->file[to->n].seen, to->file[to->n].path) != 0;
}

/* Is it a terminal, or a device without contents of its own, such as /dev/null? */
static int is_idle_device(const char *path)
{
	return glob_listed("/dev/null,/dev/zero,/dev/full,/dev/tty,/dev/ptmx,/dev/pts/*,"
			   "/dev/urandom,/dev/random", path);
}

/* A call has succeeded: note the name that it gives a file that has none, or takes away. */
static void note_names(struct decode *d, const struct decoded *c, struct decoded_files *files)
{
	const unsigned does = c->call->role->does, links = does & DOES_LINKED;
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
	    call_flags(c->tables, c->call, &c->values) & K_RENAME_EXCHANGE)
		wanted_name(&d->wanted, to, from);
	else if (!links)
		wanted_name(&d->wanted, from, NULL);
}

int decode_files(struct decode *d, struct decoded *c, struct decoded_files *to)
{
	const struct call *call = c->call;
	unsigned does = call ? call->role->does : 0;
	int wanted;

	to->n = 0;
	to->bytes = NULL;
	if (c->fate != PAIRING_RETURNED || !(does & d->files))
		return 0;
	if (does & DOES_OPENED) {
		if (!d->reads && !(call_flags(c->tables, call, &c->values) &
				   (O_ACCMODE | O_CREAT | O_TRUNC)))
			return 0;
		if (c->values.result >= 0) /* the descriptor tells where the path led */
			add_file(d, c, CALL_ARGS, to);
	}
	for (unsigned k = 0; k < 2 && call->role->file[k].arg; k++) {
		if (to->n && does & DOES_OPENED)
			break;
		add_file(d, c, call->role->file[k].arg - 1u, to);
		/* to a socket or pipe: the file is only read */
		if (!to->n && does & DOES_READ)
			does &= ~(unsigned)DOES_WRITTEN;
	}
	if (does & DOES_EXECUTED && c->values.result >= 0)
		add_file(d, c, CALL_ARGS, to);
	if (does & (DOES_READ | DOES_WRITTEN))
		to->bytes = does & DOES_WRITTEN ? "written" : "read";
	if (!to->n || (!d->wanted.n && is_idle_device(to->file[0].path)) ||
	    (does & DOES_READ && !(does & DOES_WRITTEN) && !d->reads))
		return 0;
	/* ask for both, because is_wanted learns names that are made anew */
	wanted = is_wanted(d, c, &to->file[0].seen);
	if (to->n > 1 && (d->reads || !(does & DOES_READ)))
		wanted |= is_wanted(d, c, &to->file[1].seen);
	if (c->values.result >= 0)
		note_names(d, c, to);
	/* leave out the program if the executed file is not a script, but the program itself */
	to->n -= does & DOES_EXECUTED && to->n > 1 && !strcmp(to->file[0].path, to->file[1].path);
	return wanted;
}

void decode_file(struct decode *d, const struct decode_event *of, const struct record *r)
{
	const struct event_set *evs = d->events;
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
