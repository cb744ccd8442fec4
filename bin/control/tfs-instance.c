/* SPDX-License-Identifier: ISC */
/*
 * tfs-instance - make, hold, list and remove instances of tracefs
 *
 * Requires: tracefs, and permission to make directories in it. "make" refuses a name that exists,
 * and tfs.NAME, which the next session would remove. "hold" locks the instance, which is stale when
 * PROG has ended. An instance is stale if a session of any subsystem or "hold" made it, and that
 * owner is dead; with it, tfs-instance removes the probes and device traces of the session.
 * Exit: 0 done, 1 list: none, 100 usage error, 111 refused, 126 127 PROG did not start.
 */
#include <sys/stat.h>

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "tracefs/tracefs.h"
#include "session/session.h"

static const char *root;
static int stale;
static unsigned long patience = 2000;

#define NOT_A_NAME \
	"not an instance's name: '%.80s'; use letters, digits, _ . - and 64 of them at most"

static const struct tool tool = {
	TOOL_TFS_INSTANCE,
	.places = (const struct opt_place[]){
		{ 'R', .text = &root }, { 's', .flag = &stale }, { 't', .number = &patience },
		{ 0 },
	},
};

static int print_stale(void *arg, int dir, const char *name)
{
	(void)arg, (void)dir;
	stdout_print("%s\n", name);
	return 1;
}

static int remove_one(int dir, const char *name)
{
	if (!stale_remove(dir, name, (long)patience))
		return 0;
	return err_file("unable to remove instance %s", name);
}

static int remove_stale(void *arg, int dir, const char *name)
{
	(void)arg;
	if (stale_release(dir, name) < 0) {
		err_file("unable to remove the probes and device traces of %s", name);
		return 1;
	}
	return remove_one(dir, name) < 0;
}

static int list_all(const char *path)
{
	char **names = file_names(path), **name;
	int shown;

	if (!names)
		return err_file("unable to list %s", path);
	shown = *names != NULL;
	for (name = names; *name; name++)
		stdout_print("%s\n", *name);
	free(names);
	return shown;
}

static int make_all(int dir, char **names)
{
	for (; *names; names++)
		if (mkdirat(dir, *names, 0750) < 0)
			return err_file("unable to make instance %s", *names);
	return 0;
}

static int hold(int dir, char **argv)
{
	char name[256];
	int fd;

	str_format(name, sizeof(name), INSTANCE_PREFIX "%s", argv[0]);
	fd = owned_make(dir, name, 0750);
	if (fd < 0)
		return err_file("unable to make instance %s", name), REFUSED;
	fcntl(fd, F_SETFD, 0); /* the lock lasts as long as this descriptor is open: keep it */
	setenv("TFS_INSTANCE", name, 1);
	execvp(argv[1], argv + 1);
	err_errno("unable to run %s", argv[1]);
	fd = errno;
	instance_remove(dir, name, 0);
	return fd == ENOENT ? 127 : 126;
}

static void check_names(char **names, const char *command)
{
	if (!*names)
		usage_error(&tool, "%s needs a NAME", command);
	for (; *names; names++)
		if (!text_is_name(*names))
			usage_error(&tool, NOT_A_NAME, *names);
		else if (*command == 'm' && instance_is_session_name(*names))
			usage_error(&tool, "the name %s is reserved for sessions: the next "
				    "session would remove it", *names);
}

/* Exit MISUSED if the arguments of the command are wrong. */
static void check(const char *command, char **argv)
{
	if (!command)
		usage_error(&tool, "no command; give make, hold, list or remove");
	if (!strcmp(command, "hold")) {
		if (!*argv || !argv[1])
			usage_error(&tool, "hold needs a NAME and a PROG");
		if (!text_is_name(*argv))
			usage_error(&tool, NOT_A_NAME, *argv);
	} else if (!strcmp(command, "make") || (!strcmp(command, "remove") && !stale)) {
		check_names(argv, command);
	} else if (strcmp(command, "list") && strcmp(command, "remove")) {
		usage_error(&tool, "no such command: '%.80s'", command);
	} else {
		opt_end(&tool, *argv);
	}
}

int main(int argc, char **argv)
{
	const char *command = NULL;
	char path[PATH_MAX];
	int dir, r;

	opt_next(&tool, argc, argv);
	if (argv[opt_index]) {
		command = argv[opt_index++];
		opt_next(&tool, argc, argv); /* the options after the command */
	}
	argv += opt_index;
	check(command, argv);
	dir = tracefs_open(root, "", path);
	if (dir < 0)
		return REFUSED;
	strncat(path, "/instances", sizeof(path) - strlen(path) - 1);
	dir = dir_open(dir, "instances");
	if (dir < 0)
		return err_file("unable to open %s", path), REFUSED;
	switch (*command) {
	case 'm':
		return make_all(dir, argv) < 0 ? REFUSED : DONE;
	case 'h':
		return hold(dir, argv);
	case 'r':
		r = stale ? stale_each(dir, remove_stale, NULL) : 0;
		for (; !r && *argv; argv++)
			r = remove_one(dir, *argv);
		return r ? REFUSED : DONE;
	}
	r = stale ? stale_each(dir, print_stale, NULL) : list_all(path);
	stdout_flush();
	if (r < 0)
		return REFUSED;
	return r ? DONE : err_no("no %sinstance in %s", stale ? "stale " : "", path);
}
