/* SPDX-License-Identifier: ISC */
/* catalog.c - find the hooks of all subsystems, and those of the user */
#include <sys/stat.h>

#include "base/base.h"
#include "front.h"
#include "session/session.h"

int catalog_find(char *dir, const char *subsystem)
{
	static const char *const near[] = { "../trace-hooks", "../lib/trace-hooks", NULL };
	char bin[PATH_MAX], manager[PATH_MAX + 100];

	if (program_directory(bin) < 0)
		return REFUSED;
	if (program_find(bin, dir, near) < 0)
		return err_msg("no hooks in %s/../trace-hooks: the installation is not complete",
			       bin), MISUSED;
	if (!subsystem)
		return 0;
	str_format(manager, sizeof(manager), "%s/%s/manager", dir, subsystem);
	if (!text_is_name(subsystem) || access(manager, F_OK) < 0)
		return err_msg("no subsystem '%.80s' in %s; leave -m out", subsystem, dir), MISUSED;
	return 0;
}

/* ---- directories of hooks -------------------------------------------------------------- */

/* A search through the directories of hooks. */
struct search {
	const char *dir, *subsystem;   /* as catalog_read has them */
	const char *name;              /* only this name, or trace_ and this name; NULL: all */
	struct catalog_hook *v;
	size_t n;
};

/* Add the hook that name in the directory files is, if it is one. */
static void add_hook(struct search *s, const char *files, const char *name, const char *subsystem)
{
	struct catalog_hook *h;
	char path[PATH_MAX];
	struct stat st;

	if (!hook_is_name(name) ||
	    str_format(path, sizeof(path), "%s/%s", files, name) >= sizeof(path) ||
	    stat(path, &st) || !S_ISREG(st.st_mode))
		return;
	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->v[i].name, name) && !strcmp(s->v[i].subsystem, subsystem))
			return; /* the user's own hook of that name comes first */
	if (!(s->n & (s->n - 1)))
		s->v = xrealloc(s->v, s->n ? 2 * s->n : 1, sizeof(*s->v));
	h = &s->v[s->n++];
	str_format(h->name, sizeof(h->name), "%s", name);
	str_format(h->subsystem, sizeof(h->subsystem), "%s", subsystem);
	str_format(h->dir, sizeof(h->dir), "%s/%s", s->dir, subsystem);
	str_format(h->path, sizeof(h->path), "%s", path);
	h->executable = (st.st_mode & 0111) != 0;
}

static void add_directory(struct search *s, const char *files, const char *subsystem)
{
	char with_prefix[80], **names;

	if (s->name) {
		add_hook(s, files, s->name, subsystem);
		str_format(with_prefix, sizeof(with_prefix), "trace_%s", s->name);
		add_hook(s, files, with_prefix, subsystem);
		return;
	}
	names = file_names(files);
	for (char **name = names; name && *name; name++)
		add_hook(s, files, *name, subsystem);
	free(names);
}

/* Search the user's own hooks first, then those of each subsystem. */
static void search(struct search *s)
{
	char **subsystems = file_names(s->dir), path[PATH_MAX];

	for (size_t i = 0; !hook_own_directory(path, i); i++)
		add_directory(s, path, s->subsystem ? s->subsystem : "ftrace");
	for (char **name = subsystems; name && *name; name++)
		if ((!s->subsystem || !strcmp(*name, s->subsystem)) &&
		    str_format(path, sizeof(path), "%s/%s/hooks.d", s->dir, *name) <
			sizeof(path))
			add_directory(s, path, *name);
	free(subsystems);
}

static int by_name(const void *a, const void *b)
{
	const struct catalog_hook *x = a, *y = b;

	return strcmp(x->name, y->name);
}

struct catalog_hook *catalog_read(const char *dir, const char *subsystem, size_t *n)
{
	struct search s = { .dir = dir, .subsystem = subsystem };

	search(&s);
	if (s.n)
		array_sort(s.v, s.n, sizeof(*s.v), by_name);
	*n = s.n;
	return s.v;
}

/* ---- one hook -------------------------------------------------------------------------- */

/* Put the directory of an executable file before $TFS_HOOKS. Return its name or NULL. */
static const char *own_hook(const char *word)
{
	const char *name = strrchr(word, '/') + 1, *old = getenv(HOOK_DIRECTORIES);
	char dir[PATH_MAX], real[PATH_MAX], *list;
	size_t size;
	struct stat st;

	str_format(dir, sizeof(dir), "%.*s", (int)(name - word), word);
	if (stat(word, &st) < 0 || !realpath(dir, real)) {
		err_errno("unable to run the hook %s", word);
		return NULL;
	}
	if (!S_ISREG(st.st_mode) || !hook_is_name(name) || strchr(real, ':')) {
		err_msg("unable to run the hook %s: a hook is a file with a name of letters, "
			"digits, _ and -, in a directory without a colon", word);
		return NULL;
	}
	size = strlen(real) + (old ? strlen(old) : 0) + 2;
	list = xcalloc(size, 1);
	str_format(list, size, "%s%s%s", real, old && *old ? ":" : "", old ? old : "");
	setenv(HOOK_DIRECTORIES, list, 1);
	free(list);
	return name;
}

int catalog_suggest(const char *dir, const char *subsystem, const char *word)
{
	struct suggest near = { .word = word };
	size_t n;
	struct catalog_hook *v = catalog_read(dir, subsystem, &n);

	for (size_t i = 0; i < n; i++) {
		suggest_offer(&near, v[i].name);
		if (!strncmp(v[i].name, "trace_", 6) && strncmp(word, "trace_", 6))
			suggest_offer(&near, v[i].name + 6);
	}
	return err_msg("no hook '%.80s'%s%s%s tfs-run alone lists the hooks", word,
		       near.n ? "; did you mean " : ";", near.n ? near.name[0] : "",
		       near.n ? "?" : "");
}

int catalog_choose(struct catalog_hook *hook, const char *dir, const char *subsystem,
		   const char *word)
{
	struct search s = { .dir = dir, .subsystem = subsystem, .name = word };

	if (strchr(word, '/') && !(s.name = own_hook(word)))
		return -1;
	search(&s);
	if (!s.n)
		return CATALOG_NONE;
	if (s.n > 1 && !strcmp(s.v[0].name, s.v[1].name))
		return err_msg("%s is a hook of the subsystems %s and %s; give one of them "
			       "with -m", s.v[0].name, s.v[0].subsystem, s.v[1].subsystem);
	if (!s.v[0].executable)
		return err_msg("%s is not executable; run chmod +x %s", s.v[0].name, s.v[0].path);
	*hook = s.v[0];
	free(s.v);
	return 0;
}
