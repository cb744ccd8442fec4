/* SPDX-License-Identifier: ISC */
/*
 * event_text.c - fields of events whose text contains untrusted strings
 *
 * A task's name may be "a next_pid=1", and a file's name anything, so the name of a field
 * does not tell where the field is. Three facts do: the kernel prints an event in a fixed
 * form (TP_printk in include/trace/events/), a task's name has at most 15 bytes, and only
 * fields of trace_line_add_field follow the kernel's text.
 */
#include <string.h>

#include "filter/filter.h"

/* The bytes of a task's name; the same if all are escaped; the ends of strings to try. */
enum { COMM = 15, ESCAPED = 4 * COMM, TRIES = 64 };

/*
 * The forms in which the kernel prints events. %d: a number, decimal or hexadecimal; %w: up
 * to a blank; %p: up to a closing parenthesis; %c: a task's name; %s: a string of any
 * length, at most one per event.
 */
static const struct form {
	unsigned char n;
	char event[23];
	const char *text;
} forms[] = {
#define FORM(event, text) { sizeof(event) - 1, event, text }
	FORM("sched_switch", "prev_comm=%c prev_pid=%d prev_prio=%d prev_state=%w ==> "
	     "next_comm=%c next_pid=%d next_prio=%d"),
	FORM("sched_waking", "comm=%c pid=%d prio=%d target_cpu=%d"),
	FORM("sched_wakeup", "comm=%c pid=%d prio=%d target_cpu=%d"),
	FORM("sched_wakeup_new", "comm=%c pid=%d prio=%d target_cpu=%d"),
	FORM("sched_migrate_task", "comm=%c pid=%d prio=%d orig_cpu=%d dest_cpu=%d"),
	FORM("sched_process_fork", "comm=%c pid=%d child_comm=%c child_pid=%d"),
	FORM("sched_process_exec", "filename=%s pid=%d old_pid=%d"),
	FORM("sched_process_exit", "comm=%c pid=%d prio=%d group_dead=%w"),
	FORM("sched_process_exit", "comm=%c pid=%d prio=%d"),
	FORM("sched_process_free", "comm=%c pid=%d prio=%d"),
	FORM("sched_process_wait", "comm=%c pid=%d prio=%d"),
	FORM("sched_process_hang", "comm=%c pid=%d"),
	FORM("sched_kthread_stop", "comm=%c pid=%d"),
	FORM("sched_pi_setprio", "comm=%c pid=%d oldprio=%d newprio=%d"),
	FORM("sched_stat_runtime", "comm=%c pid=%d runtime=%d [ns] vruntime=%d [ns]"),
	FORM("sched_stat_runtime", "comm=%c pid=%d runtime=%d [ns]"),
	FORM("sched_stat_wait", "comm=%c pid=%d delay=%d [ns]"),
	FORM("sched_stat_sleep", "comm=%c pid=%d delay=%d [ns]"),
	FORM("sched_stat_iowait", "comm=%c pid=%d delay=%d [ns]"),
	FORM("sched_stat_blocked", "comm=%c pid=%d delay=%d [ns]"),
	FORM("signal_generate", "sig=%d errno=%d code=%d comm=%c pid=%d grp=%d res=%d"),
	FORM("task_newtask", "pid=%d comm=%c clone_flags=%d oom_score_adj=%d"),
	FORM("task_rename", "pid=%d oldcomm=%c newcomm=%c oom_score_adj=%d"),
	FORM("task_rename", "oldcomm=%c newcomm=%c oom_score_adj=%d"),
	FORM("oom_score_adj_update", "pid=%d comm=%c oom_score_adj=%d"),
	FORM("cgroup_attach_task", "dst_root=%d dst_id=%d dst_level=%d dst_path=%s pid=%d "
	     "comm=%c"),
	FORM("cgroup_transfer_tasks", "dst_root=%d dst_id=%d dst_level=%d dst_path=%s pid=%d "
	     "comm=%c"),
	FORM("cgroup_mkdir", "root=%d id=%d level=%d path=%s"),
	FORM("cgroup_rmdir", "root=%d id=%d level=%d path=%s"),
	FORM("cgroup_rename", "root=%d id=%d level=%d path=%s"),
	/* probes of the hook trace_open */
	FORM("open", "(%p) path=\"%s\" flags=%d ret=%d"),
	FORM("open_path", "(%p) path=\"%s\" flags=%d"),
	FORM("exec_open", "(%p) path=\"%s\" flags=%d"),
#undef FORM
};

static int is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (c >= '0' && c <= '9');
}

/* ---- fields of trace_line_add_field ------------------------------------------------ */

/* Read the appended field at *s, and move *s behind it. Return 1, or 0 if there is none. */
static int appended(const char **s, const char *end, struct text_part *name,
		    struct text_part *value)
{
	const char *p = *s, *from;

	if (p == end || *p++ != ' ')
		return 0;
	for (from = p; p < end && is_letter(*p); p++)
		;
	*name = (struct text_part){ from, (size_t)(p - from) };
	if (!name->n || p == end || *p++ != '=')
		return 0;
	from = p;
	if (p < end && *p == '"') {
		from++;
		p = memchr(from, '"', (size_t)(end - from));
		if (!p)
			return 0;
		*value = (struct text_part){ from, (size_t)(p - from) };
		p++;
	} else if (end - p >= 7 && !memcmp(p, "(fault)", 7)) {
		p += 7;
		*value = (struct text_part){ from, 7 };
	} else {
		while (p < end && !strchr(NOT_PLAIN, *p))
			p++;
		*value = (struct text_part){ from, (size_t)(p - from) };
	}
	*s = p;
	return p == end || *p == ' ';
}

int event_text_only_appended(const char *s, const char *end)
{
	struct text_part name, value;

	while (s < end)
		if (!appended(&s, end, &name, &value))
			return 0;
	return 1;
}

struct text_part event_text_appended(const char *s, const char *end, const char *key)
{
	struct text_part name, value;

	while (appended(&s, end, &name, &value))
		if (text_part_is(name, key))
			return value;
	return (struct text_part){ NULL, 0 };
}

/* ---- forms ------------------------------------------------------------------------- */

struct field_search {
	const char *key;
	size_t n;               /* its length */
	struct text_part value; /* of the key */
	const char *behind;     /* the end of the kernel's text */
	unsigned tries;         /* the ends of strings that may still be tried */
};

/* Return the length of a name without the decoder's escapes, such as \x1b and \n. */
static size_t unescaped(const char *s, size_t n)
{
	size_t length = 0;

	for (size_t i = 0; i < n; length++)
		i += s[i] == '\\' && n - i >= 4 && s[i + 1] == 'x' ? 4 :
		     s[i] == '\\' && n - i >= 2 && strchr("nt", s[i + 1]) ? 2 : 1;
	return length;
}

/* Keep the value if the name in front of the % at f is the wanted key. */
static void found(struct field_search *w, const char *form, const char *f, const char *from,
		  const char *to)
{
	f -= f > form && f[-1] == '"';
	f -= f > form && f[-1] == '=';
	if ((size_t)(f - form) >= w->n && !memcmp(f - w->n, w->key, w->n) &&
	    ((size_t)(f - form) == w->n || !is_letter(f[-1 - (ptrdiff_t)w->n])))
		w->value = (struct text_part){ from, (size_t)(to - from) };
}

/*
 * Does the text from s on match the form from f on? If a string may end in several places,
 * choose the last one, because all text behind the string comes from the kernel.
 */
static int has_form(struct field_search *w, const char *form, const char *f, const char *s,
		    const char *end)
{
	for (; *f; f++) {
		const char *from = s, *e;
		size_t n;

		if (*f != '%') {
			if (s == end || *s++ != *f)
				return 0;
			continue;
		}
		switch (*++f) {
		case 'd':
			while (s < end && ((*s >= '0' && *s <= '9') || (*s >= 'a' && *s <= 'f') ||
					   *s == 'x' || *s == '-'))
				s++;
			break;
		case 'w':
			while (s < end && *s != ' ')
				s++;
			break;
		case 'p':
			while (s < end && *s != ')')
				s++;
			break;
		default:
			n = strcspn(f + 1, "%");
			if (!n) { /* the last string, which includes anything appended */
				found(w, form, f - 1, s, end);
				w->behind = end;
				return 1;
			}
			if ((size_t)(end - s) < n)
				return 0;
			e = *f == 'c' && end - s > ESCAPED ? s + ESCAPED : end;
			for (e = (size_t)(end - e) < n ? end - n : e; e >= s; e--) {
				if (*e != f[1] || memcmp(e, f + 1, n) ||
				    (*f == 'c' && e - s > COMM &&
				     unescaped(s, (size_t)(e - s)) > COMM))
					continue;
				if (!w->tries)
					return 0;
				w->tries--;
				if (has_form(w, form, f + 1, e, end)) {
					found(w, form, f - 1, s, e);
					return 1;
				}
			}
			return 0;
		}
		if (s == from)
			return 0;
		found(w, form, f - 1, from, s);
	}
	w->behind = s;
	return event_text_only_appended(s, end);
}

int event_text_field(const struct trace_line *l, const char *key, struct text_part *value)
{
	const char *s = l->body.text, *end = s + l->body.n;
	size_t n = strlen(key);

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct field_search w = { .key = key, .n = n, .tries = TRIES };

		if (forms[i].n != l->event.n || memcmp(forms[i].event, l->event.text, forms[i].n) ||
		    !has_form(&w, forms[i].text, forms[i].text, s, end))
			continue;
		*value = w.value.text ? w.value : event_text_appended(w.behind, end, key);
		return 1;
	}
	return 0;
}
