/* SPDX-License-Identifier: ISC */
/* call_json.c - print a decoded call as JSON */

#include "base/base.h"
#include "host/host.h"
#include "show/call_forms.h"

enum { ARG_MOST = 4096 }; /* of the text of an argument */

/* Write the value of an argument in JSON: a number, or an address in quotes. */
static void put_value(const struct decoded *c, unsigned i, struct out *o)
{
	uint64_t v = c->call ? call_value(c->tables, c->call, i, c->values.args)
			     : c->values.args[i];

	switch (c->call ? c->call->args[i].kind : CALL_HEX) {
	case CALL_INT:
	case CALL_FD:
	case CALL_DIRFD:
		out_signed(o, (int64_t)v);
		break;
	case CALL_UINT:
	case CALL_ID:
	case CALL_OCTAL:
	case CALL_SET:
		out_decimal(o, v);
		break;
	default:
		out_format(o, "\"0x%llx\"", (unsigned long long)v);
	}
}

/* Write the file of an argument, or of CALL_ARGS, which is the result, in JSON, if it is known. */
static void put_file(const struct decoded *c, unsigned i, size_t rest, struct out *o)
{
	const struct file_known *f = c->decode->names ? decoded_file(c, i) : NULL;

	if (!f)
		return;
	out_string(o, i < CALL_ARGS && c->call && c->call->args[i].kind == CALL_PATH ?
		   ",\"directory\":{\"path\":" : ",\"file\":{\"path\":");
	form_put_path(o, f->path, ESCAPE_JSON, rest);
	if (f->is.inode)
		out_format(o, ",\"device\":\"%u:%u\",\"inode\":%llu", f->is.device >> 20,
			   f->is.device & 0xfffff, (unsigned long long)f->is.inode);
	out_char(o, '}');
}

/* Write the result of a call, or why it has none, in JSON. */
static void put_result(const struct show *s, const struct decoded *c, struct out *o)
{
	int64_t v = c->values.result;
	const char *name = error_of_result(v) ? name_of_error(-v) : NULL;

	if (form_has_result(c)) {
		out_format(o, "\"ret\":%lld", (long long)v);
		if (name)
			out_format(o, ",\"error\":\"%s\"", name);
		if (c->call && c->call->result.kind == CALL_FD &&
		    form_file_named(c, CALL_ARGS, v < 0 ? INT64_MIN : v))
			put_file(c, CALL_ARGS, PATH_REST, o);
	}
	switch (c->fate) {
	case PAIRING_RETURNED:
		if (c->foreign) {
			out_string(o, ",\"resumed\":true");
			break;
		}
		if (c->untimed)
			break;
		out_string(o, ",\"lat\":");
		form_put_latency(s, o, c->time);
		break;
	case PAIRING_DENIED:
		out_string(o, c->trapped ? "\"denied\":true" : ",\"denied\":true");
		break;
	case PAIRING_EMULATED:
		out_string(o, ",\"emulated\":true");
		break;
	case PAIRING_RESUMED:
		out_string(o, ",\"resumed\":true");
		break;
	default:
		out_string(o, "\"unfinished\":true");
	}
}

/* Write an argument in JSON. */
static void put_argument(const struct decoded *c, unsigned i, struct out *o)
{
	char text[ARG_MOST];
	struct out argument = out_to(text, sizeof(text));
	size_t n;

	form_put_argument(c, i, &argument);
	out_char(o, '{');
	if (c->call)
		out_format(o, "\"name\":\"%s\",", c->call->args[i].name);
	if (!c->foreign) {
		out_string(o, "\"value\":");
		put_value(c, i, o);
		out_char(o, ',');
	}
	out_string(o, "\"text\":");
	json_string(o, text, (size_t)(argument.at - text));
	n = c->call ? call_print_written(c->tables, c->call, i, &c->values, text, sizeof(text)) : 0;
	if (n) {
		out_string(o, ",\"written\":");
		json_string(o, text, n);
	}
	put_file(c, i, 0, o);
	out_char(o, '}');
}

/* Write what was told of a task in JSON. */
static void put_task(const struct task_record *task, struct out *o)
{
	if (!task->tgid)
		return;
	out_format(o, ",\"tgid\":%d,\"uid\":%u", task->tgid, task->uid);
	if (task->start) {
		out_string(o, ",\"start\":");
		out_decimals(o, task->start, 9);
	}
}

void form_put_json(const struct show *s, const struct decoded *c,
		   const struct decoded_files *files, struct out *o)
{
	const char *comma = "";
	char *mark;
	int cut = 0;

	put_task(&c->task, o);
	out_format(o, ",\"system\":\"syscalls\",\"event\":\"sys_exit_%s\",\"fields\":{",
		   decoded_name(c));
	put_result(s, c, o);
	for (unsigned i = 0; files && i < files->n; i++) {
		out_format(o, ",\"%s\":", files->file[i].name);
		form_put_path(o, files->file[i].path, ESCAPE_JSON,
			 i + 1 < files->n ? PATH_REST : DETAILS_REST);
	}
	if (files && files->bytes && c->values.result >= 0)
		out_format(o, ",\"%s\":%lld", files->bytes, (long long)c->values.result);
	out_string(o, c->fate == PAIRING_RESUMED ? "" : ",\"args\":[");
	for (int i = -1; !cut && (i = form_next(c, i)) >= 0;) {
		mark = o->at;
		out_string(o, comma);
		put_argument(c, (unsigned)i, o);
		comma = ",";
		if (o->at == o->end) {
			o->at = mark;
			cut = 1;
		}
	}
	o->end += LINE_HEAD_ROOM;
	out_string(o, c->fate == PAIRING_RESUMED ? "" : "]");
	o->end += LINE_HEAD_ROOM;
	if (s->otel.on) {
		out_char(o, ',');
		otel_put(&c->context, o, 1);
	}
	out_char(o, '}');
	out_string(o, cut ? ",\"cut\":true}\n" : "}\n");
}
