/* SPDX-License-Identifier: ISC */
/*
 * tfs-stuck - print what tasks wait for, and who would have to act
 *
 * Requires: procfs ($TRACER_PROCFS_PATH, or /proc); no tracefs. tfs-stuck reads the processes of
 * the caller, or with CAP_SYS_PTRACE those of all users.
 * For each thread of the processes, it prints the call, the file, socket, lock or futex that the
 * thread waits for, and below it the tasks that could end the wait, down to one that waits for no
 * other task.
 * Exit: 0 printed at least one, 1 no task matched, 100 usage error, 111 refused.
 */
#include <sys/ioctl.h>

#include "tool/tool.h"
#include "help.h"
#include "people/people.h"
#include "stuck.h"

static int json, dot, marks, all;
static unsigned long every;
static const struct opt_place places[] = {
	{ 'j', .flag = &json },
	{ 'a', .flag = &all },
	{ 'd', .flag = &dot },
	{ 'm', .flag = &marks },
	{ 'i', .number = &every },
	{ 0 }
};
static const struct tool tool = { TOOL_TFS_STUCK, .places = places };

static int add_task(void *arg, pid_t pid)
{
	pids_add(arg, pid);
	return 0;
}

/* Select the threads; if again is set, only those that are left. Return 0, or -1, reported. */
static int find(struct selector *selectors, size_t n, int again, struct pids *found)
{
	struct pids processes = { 0 }, zombies = { 0 };
	int flags = SELECT_THREADS | (again ? SELECT_GONE_OK : 0);
	size_t living = 0;
	const pid_t self = task_self();
	int r;

	for (size_t i = 0; i < n; i++) {
		struct task t;

		/* select_pids refuses a zombie, which is not alive but waits for its parent */
		if (selectors[i].kind == SELECT_PID && !task_read(selectors[i].pid, &t) &&
		    t.state == 'Z')
			add_task(&zombies, t.pid);
		else
			selectors[living++] = selectors[i];
	}
	if (!all) {
		r = living ? select_pids(selectors, living, flags, found) : 0;
		r |= pids_plus(found, &zombies);
		pids_clear(&zombies);
		return r;
	}
	if (task_each_process(add_task, &processes) < 0)
		return -1;
	for (size_t i = 0; i < processes.n; i++) {
		const struct pids *threads = process_threads(processes.v[i]);
		const struct thread *t = thread_of(processes.v[i]);

		/* not this tool, and not the threads of the kernel */
		for (size_t k = 0; t && k < threads->n; k++)
			if (t->tgid != self && t->task.ppid != 2 && t->tgid != 2)
				pids_add(found, threads->v[k]);
	}
	pids_clear(&processes);
	return pids_sort(found);
}

/* Print once. Return how many threads were selected, or -1, reported. */
static long print_once(struct selector *selectors, size_t n, int again)
{
	struct pids found = { 0 };
	long r = find(selectors, n, again || marks, &found);

	if (!r) {
		threads_follow(&found);
		if (json)
			print_json();
		else if (dot)
			print_dot();
		else if (marks)
			print_marks(&found);
		else
			print_tree(&found);
		r = (long)found.n;
	}
	pids_clear(&found);
	threads_forget();
	held_forget();
	ends_forget();
	locks_forget();
	return r;
}

/* Print again and again, at a terminal in place, until no task is left. Return a status. */
static int print_often(struct selector *selectors, size_t n)
{
	struct screen screen = { 0 };
	struct strbuf text = { 0 }, shown = { 0 };
	struct winsize w;
	long r;

	for (int again = 0;; again = 1) {
		stdout_collect(strbuf_empty(&text));
		if (isatty(STDOUT_FILENO))
			stdout_print("%c", SCREEN_FRAME);
		r = print_once(selectors, n, again);
		stdout_collect(NULL);
		if (r <= 0)
			break;
		if (isatty(STDOUT_FILENO)) {
			if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) < 0)
				w = (struct winsize){ 0 };
			screen_add(&screen, strbuf_empty(&shown), text.text, text.n, w.ws_col,
				   w.ws_row);
			stdout_print("%s", shown.text);
		} else {
			stdout_print("%s%s", text.text, json ? "" : "\n");
		}
		stdout_flush();
		usleep((useconds_t)every * 1000);
	}
	return r < 0 ? REFUSED : DONE;
}

int main(int argc, char **argv)
{
	struct selector *selectors = xcalloc((size_t)argc, sizeof(*selectors));
	size_t n = 0;
	long r;
	int c;

	while ((c = opt_next(&tool, argc, argv)) != -1) {
		struct selector *s = &selectors[n++];

		if ((c == 'c' || c == 'k') && !*opt_value)
			usage_error(&tool, "not a %s: ''", c == 'c' ? "cgroup" : "container");
		s->kind = c == 'n' ? SELECT_PIDNS : c == 'u' ? SELECT_UID :
			  c == 'C' ? SELECT_COMM : SELECT_CGROUP;
		s->text = opt_value;
		if (c == 'k' && select_container(opt_value, s) < 0)
			return REFUSED;
		if (c == 'c' || c == 'n')
			s->pid = text_pid(opt_value);
		if (c == 'u')
			s->number = opt_number();
	}
	for (argv += opt_index; *argv; argv++)
		selectors[n++] = (struct selector){
			.kind = SELECT_PID, .pid = opt_pid(&tool, *argv) };
	if (!n && !all)
		usage_error(&tool, "no pid and no selector; give at least one");
	if (json + dot + marks > 1)
		usage_error(&tool, "--json, --dot and --marks cannot be combined");
	if (every)
		c = print_often(selectors, n);
	else
		c = (r = print_once(selectors, n, 0)) < 0 ? REFUSED :
		    r ? DONE : err_no("no task is selected");
	stdout_flush();
	free(selectors);
	return c;
}
