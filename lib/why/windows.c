/* SPDX-License-Identifier: ISC */
/* windows.c - the parts of windows: kept, and printed for people, as JSON, or for flame graphs */

#include "why/why.h"

enum { MOST_NODES = 1000, TENTHS = 1000, DEEPEST = 16, SEVERAL = -1 };

/* The states for people, and below, for the other forms, in one word each. */
static const char states[WHY_STATES][37] = {
	[WHY_UNKNOWN] = "unknown", [WHY_RUNNING] = "running",
	[WHY_RUNNABLE] = "waiting for a CPU", [WHY_PREEMPTED] = "preempted",
	[WHY_THROTTLED] = "throttled by the quota of its cgroup", [WHY_BLOCKED] = "blocked",
};
static const char words[WHY_STATES][10] = {
	[WHY_UNKNOWN] = "unknown", [WHY_RUNNING] = "running", [WHY_RUNNABLE] = "runnable",
	[WHY_PREEMPTED] = "preempted", [WHY_THROTTLED] = "throttled", [WHY_BLOCKED] = "blocked",
};

static int is_same(const struct why_node *a, const struct why_node *b, int merge)
{
	return a->state == b->state && a->on == b->on && a->detail == b->detail &&
	       a->comm == b->comm && a->signal == b->signal &&
	       (a->pid == b->pid || (merge && a->comm && a->pid && b->pid));
}

uint32_t why_add(struct why_window *window, uint32_t node, const struct why_node *part)
{
	struct why_node *v = window->node, more = *part;
	uint32_t *link = &v[node].first, at;
	int full;

	for (; (at = *link); link = &v[at].next)
		if (is_same(&v[at], &more, window->merge))
			break;
	full = !at && window->n >= (node ? 1 : 2) * MOST_NODES; /* the top level matters more */
	if (full) { /* a node of too many parts has one for the rest of each state */
		more = (struct why_node){ .state = part->state, .ns = part->ns, .n = part->n,
					  .on = part->state == WHY_UNKNOWN ? part->on :
						window->others };
		for (link = &v[node].first; (at = *link); link = &v[at].next)
			if (is_same(&v[at], &more, 0))
				break;
	}
	if (at) { /* move it to the front: the next part is often the same */
		*link = v[at].next;
	} else {
		window->node = v = xgrow(v, window->n, &window->room, sizeof(*v));
		at = (uint32_t)window->n++;
		v[at] = more;
		v[at].ns = v[at].n = 0;
		v[at].first = 0;
	}
	v[at].next = v[node].first;
	v[node].first = at;
	if (v[at].pid != more.pid)
		v[at].pid = SEVERAL;
	v[at].ns += more.ns;
	v[at].n += more.n;
	return full && node ? 0 : at;
}

uint32_t why_move(struct why_window *window, uint32_t from, uint32_t to, const struct why_node *as)
{
	uint32_t node = why_add(window, to, as), next;

	for (uint32_t at = window->node[from].first; at; at = next) {
		struct why_node part = window->node[at];

		next = part.next;
		part.first = part.next = 0;
		if (node && part.n)
			why_move(window, at, node, &part);
	}
	window->node[from].ns = window->node[from].n = 0;
	return node;
}

/* Merge the parts of a node that are the same, and likewise their own parts. */
static void merge(struct why_window *window, uint32_t node)
{
	struct why_node *v = window->node;

	for (uint32_t a = v[node].first; a; a = v[a].next) {
		for (uint32_t *link = &v[a].next, b; (b = *link);) {
			uint32_t *last = &v[a].first;

			if (!v[b].n || !is_same(&v[a], &v[b], window->merge)) {
				link = &v[b].next;
				continue;
			}
			v[a].ns += v[b].ns;
			v[a].n += v[b].n;
			if (v[a].pid != v[b].pid)
				v[a].pid = SEVERAL;
			while (*last)
				last = &v[*last].next;
			*last = v[b].first;
			*link = v[b].next;
		}
		merge(window, a);
	}
}

/* Give each task one name: the one that events told last. */
static void name_parts(const struct why *w, struct why_window *window)
{
	for (size_t i = 1; i < window->n; i++) {
		const struct why_node *node = &window->node[i];
		uint32_t comm = node->pid > 0 ? why_comm(w, node->pid, window->end) : 0;

		window->node[i].comm = comm ? comm : node->comm;
	}
	merge(window, 0);
}

/* ---- parts in order ---- */

/* The children of a node, the largest first. */
struct children {
	const struct why_node **v;
	size_t n;
};

static int by_time(const void *a, const void *b)
{
	const struct why_node *x = *(const struct why_node *const *)a;
	const struct why_node *y = *(const struct why_node *const *)b;

	return x->ns != y->ns ? x->ns < y->ns ? 1 : -1 : x < y ? -1 : 1;
}

/* Return the children of a node that have this state, or all with WHY_STATES; free(v). */
static struct children children_of(const struct why_window *window, const struct why_node *node,
				   unsigned state)
{
	struct children c = { NULL, 0 };
	size_t n = 1;

	for (uint32_t at = node->first; at; at = window->node[at].next)
		n++;
	c.v = xcalloc(n, sizeof(*c.v));
	for (uint32_t at = node->first; at; at = window->node[at].next)
		if (window->node[at].n && (state == WHY_STATES || window->node[at].state == state))
			c.v[c.n++] = &window->node[at];
	array_sort(c.v, c.n, sizeof(*c.v), by_time);
	return c;
}

static uint64_t total_of(const struct why_window *window)
{
	return window->end - window->begin;
}

/* ---- for people ---- */

static void put_name(const struct why *w, struct out *o, uint32_t name)
{
	out_escaped(o, w->name[name], strlen(w->name[name]), ESCAPE_TEXT);
}

static void put_task(const struct why *w, struct out *o, const struct why_node *node)
{
	put_name(w, o, node->comm);
	if (node->pid == SEVERAL)
		out_string(o, " (several)");
	else if (node->pid)
		out_format(o, "%s%d", node->comm ? " " : "task ", node->pid % WHY_PIDS);
}

/* Write a time in a column, or without one. */
static void put_time(struct out *o, uint64_t ns, int column)
{
	static const struct {
		uint64_t unit;
		char name[4];
	} units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" }, { 1, "ns" } };
	char text[40];
	size_t i = 0;

	while (i < 3 && ns < units[i].unit)
		i++;
	if (units[i].unit == 1 || ns >= units[i].unit * 100)
		str_format(text, sizeof(text), "%llu", (unsigned long long)(ns / units[i].unit));
	else
		str_format(text, sizeof(text), "%llu.%02llu",
			   (unsigned long long)(ns / units[i].unit),
			   (unsigned long long)(ns % units[i].unit * 100 / units[i].unit));
	out_format(o, column ? "%7s %-2s" : "%s %s", text, units[i].name);
}

static uint64_t rounded(uint64_t ns, uint64_t total)
{
	return total > UINT64_MAX / TENTHS / 2 ? ns / (total / TENTHS) :
	       (ns * TENTHS + total / 2) / total;
}

/* Begin a line: "  12.3 %   4.56 ms  ". share: thousandths. */
static void put_share(struct out *o, uint64_t share, uint64_t ns, unsigned indent)
{
	out_format(o, "%5llu.%llu %%", (unsigned long long)(share / 10),
		   (unsigned long long)(share % 10));
	put_time(o, ns, 1);
	out_fill(o, ' ', (int)(2 + 2 * indent));
}

/* Write what a part is, after the word for its state. */
static void put_part(const struct why *w, struct out *o, const struct why_node *node)
{
	const char *on = w->name[node->on];

	if (node->on == w->others) {
		out_string(o, on);
		return;
	}
	switch (node->state) {
	case WHY_RUNNING:
		out_string(o, !strcmp(on, "user") ? "user code" : !strcmp(on, "call") ? "in " :
			   *on ? "interrupt " : "running");
		put_name(w, o, node->detail);
		return;
	case WHY_RUNNABLE:
	case WHY_PREEMPTED:
		out_string(o, !node->pid ? "the CPU was idle" :
			   node->state == WHY_RUNNABLE ? "behind " : "by ");
		if (node->pid)
			put_task(w, o, node);
		return;
	case WHY_BLOCKED:
		put_name(w, o, node->on);
		out_string(o, node->on && node->detail ? ": " : "");
		put_name(w, o, node->detail);
		if (!node->on && !node->detail)
			out_string(o, "not known for what");
		out_string(o, node->signal || node->comm || node->pid ? ", woken by " :
			   ", not woken");
		put_name(w, o, node->signal);
		out_string(o, node->signal && (node->comm || node->pid) ? " from " : "");
		put_task(w, o, node);
		return;
	}
	out_string(o, node->state == WHY_THROTTLED ? "no CPU time was left" :
		   *on ? on : "no event tells");
}

static void print_children(const struct why *w, const struct why_window *, const struct why_node *,
			   unsigned indent);

static int is_large(const struct why_window *window, const struct why_node *part)
{
	return part->ns >= total_of(window) / 100;
}

static void print_part(const struct why *w, const struct why_window *window,
		       const struct why_node *node, const struct why_node *of, unsigned indent)
{
	char line[1024];
	struct out o = out_to(line, sizeof(line));

	put_share(&o, rounded(node->ns, total_of(window)), node->ns, indent);
	if (of && node->on != w->between) { /* of another task */
		put_task(w, &o, of);
		out_string(&o, ": ");
		if (node->state != WHY_RUNNING || node->on) {
			out_string(&o, states[node->state]);
			out_string(&o, ", ");
		}
	}
	put_part(w, &o, node);
	if (node->n > 1 && node->state != WHY_RUNNING)
		out_format(&o, ", %llu times", (unsigned long long)node->n);
	stdout_print("%.*s\n", (int)(o.at - line), line);
	if (node->first && indent < DEEPEST)
		print_children(w, window, node, indent + 1);
}

/*
 * Print as many parts as wanted, each of 1 % or more unless all are wanted, and then the sum of the
 * others. of: the node of the task that they belong to, or NULL.
 */
static void print_parts(const struct why *w, const struct why_window *window, struct children c,
			const struct why_node *of, unsigned indent)
{
	char line[128];
	struct out o = out_to(line, sizeof(line));
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < c.n && (w->top == WHY_ALL ||
				(i < w->top && is_large(window, c.v[i]))); i++)
		print_part(w, window, c.v[i], of, indent);
	/* print one line for the others only if they are two or more, and not the whole */
	if (i && i + 1 == c.n) {
		print_part(w, window, c.v[i], of, indent);
	} else if (i && i < c.n) {
		for (size_t k = i; k < c.n; k++)
			ns += c.v[k]->ns;
		put_share(&o, rounded(ns, total_of(window)), ns, indent);
		out_format(&o, "other, %zu causes", c.n - i);
		stdout_print("%.*s\n", (int)(o.at - line), line);
	}
	free(c.v);
}

static void print_children(const struct why *w, const struct why_window *window,
			   const struct why_node *node, unsigned indent)
{
	print_parts(w, window, children_of(window, node, WHY_STATES), node, indent);
}

/* Round the shares of the states so that their sum is 100.0 %. */
static void round_shares(uint64_t *ns, uint64_t total, uint64_t *share)
{
	uint64_t left = TENTHS;

	for (; total > INT64_MAX / TENTHS / 2; total /= 2) /* more than 50 days */
		for (unsigned s = 0; s < WHY_STATES; s++)
			ns[s] /= 2;
	for (unsigned s = 0; s < WHY_STATES; s++)
		left -= share[s] = ns[s] * TENTHS / total;
	while (left) {
		unsigned most = 0;

		for (unsigned s = 1; s < WHY_STATES; s++)
			if ((int64_t)(ns[s] * TENTHS - share[s] * total) >
			    (int64_t)(ns[most] * TENTHS - share[most] * total))
				most = s;
		share[most]++;
		left--;
	}
}

static void print_window(const struct why *w, const struct why_window *window)
{
	uint64_t ns[WHY_STATES] = { 0 }, share[WHY_STATES], most = 0;
	uint64_t halves[WHY_STATES];
	struct children parts;
	struct why_node whole = { .comm = window->comm, .pid = window->pid };
	char line[512];
	struct out o = out_to(line, sizeof(line));
	unsigned next;

	for (uint32_t at = window->node->first; at; at = window->node[at].next)
		ns[window->node[at].state] += window->node[at].ns;
	memcpy(halves, ns, sizeof(halves));
	round_shares(halves, total_of(window), share);
	put_task(w, &o, &whole);
	if (window->label) {
		out_string(&o, ", ");
		put_name(w, &o, window->label);
	}
	out_string(&o, ": ");
	put_time(&o, total_of(window), 0);
	out_string(&o, w->name[window->context]);
	if (window->losses)
		out_format(&o, "; events were lost in %u of its intervals", window->losses);
	stdout_print("%.*s\n", (int)(o.at - line), line);
	/* the states by their time, and what is unknown last, always */
	for (unsigned printed = 0; printed < WHY_STATES; printed++) {
		for (unsigned s = next = 0, found = 0; s < WHY_STATES; s++)
			if (s && ns[s] != UINT64_MAX && (!found || ns[s] > most)) {
				most = ns[next = s];
				found = 1;
			}
		if (!next || ns[next]) {
			o = out_to(line, sizeof(line));
			put_share(&o, share[next], ns[next], 0);
			stdout_print("%.*s%s\n", (int)(o.at - line), line, states[next]);
			parts = children_of(window, window->node, next);
			/* the name of the state may be enough */
			if (next == WHY_THROTTLED ||
			    (next == WHY_RUNNING && parts.n == 1 && !parts.v[0]->on))
				free(parts.v);
			else
				print_parts(w, window, parts, NULL, 1);
		}
		ns[next] = UINT64_MAX;
	}
}

/* ---- as JSON, and for flame graphs ---- */

static void put_json_task(const struct why *w, struct out *o, int32_t pid, uint32_t comm)
{
	out_format(o, "\"pid\":%d,\"comm\":", pid % WHY_PIDS);
	json_string(o, w->name[comm], strlen(w->name[comm]));
}

static void put_json_string(const struct why *w, struct out *o, const char *key, uint32_t name)
{
	if (!name)
		return;
	out_format(o, ",\"%s\":", key);
	json_string(o, w->name[name], strlen(w->name[name]));
}

static void print_json_parts(const struct why *w, const struct why_window *window,
			     const struct why_node *node)
{
	struct children c = children_of(window, node, WHY_STATES);

	stdout_print(",\"parts\":[");
	for (size_t i = 0; i < c.n; i++) {
		const struct why_node *part = c.v[i];
		char text[2048];
		struct out o = out_to(text, sizeof(text));

		out_format(&o, "%s{\"state\":\"%s\"", i ? "," : "", words[part->state]);
		put_json_string(w, &o, "on", part->on);
		put_json_string(w, &o, "detail", part->detail);
		put_json_string(w, &o, "signal", part->signal);
		out_format(&o, ",\"count\":%llu,\"ns\":%llu", (unsigned long long)part->n,
			   (unsigned long long)part->ns);
		if (part->comm || part->pid) {
			out_string(&o, part->state == WHY_BLOCKED ? ",\"waker\":{" :
				   ",\"instead\":{");
			put_json_task(w, &o, part->pid, part->comm);
			out_char(&o, '}');
		}
		stdout_print("%.*s", (int)(o.at - text), text);
		if (part->first)
			print_json_parts(w, window, part);
		stdout_print("}");
	}
	stdout_print("]");
	free(c.v);
}

static void print_json(const struct why *w, const struct why_window *window)
{
	char text[1024];
	struct out o = out_to(text, sizeof(text) - 1);

	out_char(&o, '{');
	put_json_task(w, &o, window->pid, window->comm);
	put_json_string(w, &o, "label", window->label);
	out_format(&o, window->context ? ",%s" : "%s", w->name[window->context]);
	out_format(&o, ",\"start_ns\":%llu,\"total_ns\":%llu,\"lost_intervals\":%u",
		   (unsigned long long)window->begin, (unsigned long long)total_of(window),
		   window->losses);
	stdout_print("%.*s", (int)(o.at - text), text);
	print_json_parts(w, window, window->node);
	stdout_print("}\n");
}

/* Print a line for the own time of each node: what its children do not account for. */
static void print_folded(const struct why *w, const struct why_window *window,
			 const struct why_node *node, const char *stack)
{
	struct children c = children_of(window, node, WHY_STATES);
	uint64_t own = node->ns;

	for (size_t i = 0; i < c.n; i++) {
		const struct why_node *part = c.v[i];
		char text[2048];
		struct out o = out_to(text, sizeof(text) - 1);
		char *frame;

		own -= part->ns < own ? part->ns : own;
		out_string(&o, stack);
		if (node != window->node) {
			out_char(&o, ';');
			frame = o.at;
			put_task(w, &o, node);
			text_mask_semicolons(frame, o.at);
		}
		out_format(&o, ";%s;", states[part->state]);
		frame = o.at;
		put_part(w, &o, part);
		text_mask_semicolons(frame, o.at);
		*o.at = '\0';
		print_folded(w, window, part, text);
	}
	if (node != window->node && own >= 1000)
		stdout_print("%s %llu\n", stack, (unsigned long long)(own / 1000));
	free(c.v);
}

static void print_window_folded(const struct why *w, const struct why_window *window)
{
	char text[256];
	struct out o = out_to(text, sizeof(text) - 1);

	put_name(w, &o, window->comm);
	text_mask_semicolons(text, o.at);
	*o.at = '\0';
	print_folded(w, window, window->node, text);
}

/* Tell how many windows are not shown, because others are longer. */
static void print_dropped(const struct why *w)
{
	char line[128];
	struct out o = out_to(line, sizeof(line) - 1);

	if (w->json) {
		stdout_print("{\"more\":%zu,\"ns\":%llu}\n", w->dropped,
			     (unsigned long long)w->dropped_ns);
		return;
	}
	put_time(&o, w->dropped_ns, 0);
	stdout_print("# %zu shorter ones are not shown, %.*s together\n", w->dropped,
		     (int)(o.at - line), line);
}

size_t why_end(struct why *w)
{
	why_close_all(w);
	for (size_t i = 0; i < w->nkept; i++) {
		name_parts(w, w->kept[i]);
		if (w->json) {
			print_json(w, w->kept[i]);
		} else if (w->folded) {
			print_window_folded(w, w->kept[i]);
		} else {
			stdout_print(i ? "\n" : "");
			print_window(w, w->kept[i]);
		}
	}
	if (w->dropped)
		print_dropped(w);
	if (w->open)
		stdout_print(w->json ? "{\"without_end\":%zu}\n" :
			     "# %zu windows have no end, and are not shown\n", w->open);
	return w->nkept;
}
