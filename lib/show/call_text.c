/* SPDX-License-Identifier: ISC */
/* call_text.c - print a decoded call as text: as C has it, or by its files */

#include "base/base.h"
#include "host/host.h"
#include "show/call_forms.h"

const struct file_known *form_file_named(const struct decoded *c, unsigned i, int64_t fd)
{
	struct decode *d = c->decode;
	const struct file_known *file = d->names ? decoded_file(c, i) : NULL;

	/* the new descriptor of dup2(2) is mostly not open */
	d->unnamed += d->names && !file && !d->known.by_kernel && (fd >= 0 || fd == AT_FDCWD) &&
		      c->values.result != -EBADF &&
		      !(i == 1 && c->call->role->fds == FDS_COPY);
	return file;
}

void form_put_path(struct out *o, const char *path, enum escape how, size_t rest)
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
static void put_file(const struct decoded *c, unsigned i, int64_t fd, struct out *o)
{
	const struct file_known *file = form_file_named(c, i, fd);
	char path[PATH_MAX];

	if (!file)
		return;
	if (!file->family)
		return form_put_path(o, files_path(&c->decode->known, file, path), ESCAPE_NOTHING,
				     PATH_REST);
	out_char(o, '<');
	file_put_known(o, file);
	out_char(o, '>');
}

/* Write a path that begins at the root. Return 0 if it is not known. */
static int put_absolute(const struct decoded *c, unsigned i, struct out *o)
{
	const struct call_arg *a = &c->call->args[i];
	struct call_values values = c->values;
	struct call_bytes *path = &values.user[i];
	char absolute[PATH_MAX];

	if (a->kind != CALL_PATH)
		return 0;
	path->n = decoded_path(c, i, absolute, sizeof(absolute));
	path->bytes = absolute;
	if (path->n)
		o->at += call_print(c->tables, c->call, i, &values, o->at, out_room(o));
	c->decode->unnamed += !path->n && c->values.user[i].n && !c->decode->known.by_kernel;
	return path->n != 0;
}

void form_put_argument(const struct decoded *c, unsigned i, struct out *o)
{
	if (!c->call)
		return out_format(o, "0x%llx", (unsigned long long)c->values.args[i]);
	if (c->decode->paths && put_absolute(c, i, o))
		return;
	o->at += call_print(c->tables, c->call, i, &c->values, o->at, out_room(o));
	if (c->call->args[i].kind == CALL_FD || c->call->args[i].kind == CALL_DIRFD)
		put_file(c, i, (int32_t)c->values.args[i], o);
}

void form_put_result(const struct show *s, const struct decoded *c, struct out *o)
{
	static struct people plain; /* without colours; a const would take room in the file */
	int64_t result = c->values.result;
	const char *name = name_of_error(error_of_result(result));

	/* not the errors that only the kernel uses */
	if (name && result > -512 && (c->decode->strace || s->people)) {
		people_error(c->decode->strace ? &plain : s->people, o, -result, name);
	} else if (c->call) {
		o->at += call_print_result(c->tables, c->call, result, o->at, out_room(o));
	} else if (name) {
		out_string(o, "-1 ");
		out_string(o, name);
	} else {
		out_signed(o, result);
	}
}

/* Write a time in seconds, or the number of a clock that counts. */
static void put_duration(const struct show *s, struct out *o, uint64_t time)
{
	if (s->line->raw_clock)
		out_decimal(o, time);
	else
		out_decimals(o, (time + 500) / 1000, 6);
}

void form_put_latency(const struct show *s, struct out *o, uint64_t time)
{
	if (s->line->raw_clock)
		out_decimal(o, time);
	else
		out_decimals(o, time, 3);
}

/* Are the arguments known? A call without an entry may have some on record, or take none. */
static int has_arguments(const struct decoded *c)
{
	return decoded_no_entry(c) ? c->nargs != 0 || (c->call && !c->call->nargs) :
	       c->fate != PAIRING_RESUMED;
}

int form_next(const struct decoded *c, int i)
{
	const unsigned n = c->call && !c->foreign ? c->call->nargs : c->nargs;

	if (!has_arguments(c))
		return -1;
	while ((unsigned)++i < n)
		if (!c->call || c->call->args[i].kind != CALL_NONE)
			return i;
	return -1;
}

int form_has_result(const struct decoded *c)
{
	return c->fate == PAIRING_RETURNED || c->fate == PAIRING_RESUMED ||
	       (decoded_no_entry(c) && !c->trapped);
}

void form_put_line(const struct show *s, const struct decoded *c, struct out *o)
{
	const char *comma = "";

	if (c->fate == PAIRING_RESUMED) {
		out_format(o, "<... %s resumed>)", decoded_name(c));
	} else {
		out_string(o, decoded_name(c));
		out_char(o, '(');
	}
	for (int i = -1; (i = form_next(c, i)) >= 0;) {
		out_string(o, comma);
		form_put_argument(c, (unsigned)i, o);
		comma = ", ";
	}
	/* the rest is short: there is room for it after a long line */
	o->end += LINE_HEAD_ROOM;
	if (decoded_no_entry(c) && !has_arguments(c))
		out_string(o, "...");
	else if (c->foreign)
		out_string(o, ", ...");
	out_string(o, c->fate == PAIRING_UNFINISHED ? " <unfinished ...>" :
		      c->fate == PAIRING_RESUMED ? " = " : ") = ");
	if (form_has_result(c))
		form_put_result(s, c, o);
	else if (c->fate != PAIRING_UNFINISHED)
		out_char(o, '?');
	if (decoded_no_entry(c))
		out_string(o, c->fate == PAIRING_DENIED ? " (denied)" : " (emulated)");
	if (c->foreign)
		out_string(o, " (32-bit)");
	if (c->fate == PAIRING_RETURNED && c->call && c->call->result.kind == CALL_FD)
		put_file(c, CALL_ARGS, c->values.result < 0 ? INT64_MIN : c->values.result, o);
	if (c->fate == PAIRING_RETURNED && c->call)
		o->at += call_print_behind(c->tables, c->call, &c->values, o->at, out_room(o));
	if (decoded_timed(c)) {
		out_string(o, " <");
		put_duration(s, o, c->time);
		out_char(o, '>');
	}
	out_char(o, '\n');
}

/* Is the argument told beside the files? */
static int is_detail(const struct decoded *c, unsigned i)
{
	unsigned kind = c->call->args[i].kind;

	if (kind == CALL_SET) /* flags that are 0 are told only of a call that opens */
		return c->values.args[i] || c->call->result.kind == CALL_FD;
	return kind == CALL_OCTAL || kind == CALL_ID || kind == CALL_STRING ||
	       kind == CALL_INT || kind == CALL_UINT ||
	       (kind == CALL_STRUCT && c->call->role->does & (DOES_CHANGED | DOES_OPENED)) ||
	       (kind == CALL_PATH && c->call->role->file[0].arg > i + 1); /* of symlink */
}

void form_put_files(const struct show *s, const struct decoded *c,
		    const struct decoded_files *files, struct out *o)
{
	int people = s->people != NULL;
	const char *comma = people ? ", " : " ";

	out_string(o, decoded_name(c));
	out_string(o, people ? " " : ": ");
	for (unsigned i = 0; i < files->n; i++) {
		if (people)
			out_string(o, !i ? "" : *files->file[i].name == 't' ? " -> " : " <- ");
		else
			out_format(o, "%s%s=", i ? " " : "", files->file[i].name);
		form_put_path(o, files->file[i].path, ESCAPE_QUOTED,
			 i + 1 < files->n ? PATH_REST : DETAILS_REST);
	}
	for (unsigned i = 0; i < c->call->nargs; i++) {
		if (!is_detail(c, i))
			continue;
		out_string(o, comma);
		if (!people)
			out_format(o, "%s=", c->call->args[i].name);
		o->at += call_print(c->tables, c->call, i, &c->values, o->at, out_room(o));
	}
	o->end += LINE_HEAD_ROOM;
	if (people) {
		out_string(o, " = ");
		form_put_result(s, c, o);
		out_string(o, " <");
		put_duration(s, o, c->time);
		out_string(o, ">\n");
		return;
	}
	out_format(o, " ret=%lld", (long long)c->values.result);
	if (error_of_result(c->values.result) && name_of_error(-c->values.result))
		out_format(o, " error=%s", name_of_error(-c->values.result));
	else if (files->bytes)
		out_format(o, " %s=%lld", files->bytes, (long long)c->values.result);
	out_string(o, " lat=");
	form_put_latency(s, o, c->time);
	out_char(o, '\n');
}
