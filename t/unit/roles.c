/* SPDX-License-Identifier: ISC */
/*
 * roles.c - what kind of system call is this
 *
 * With CALL[.ARGUMENT]..., make each call of this machine that takes a path, but for opens and
 * these, for a link to nothing. Each answers that there is no file if it follows the link. Print
 * the number of calls that were made.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "calls/calls.h"
#include "unit.h"

static struct text_part part(const char *s)
{
	return (struct text_part){ s, strlen(s) };
}

/* The result of a call is an address in both tables. */
static void test_addresses(void)
{
	static const char *const abis[] = {
		"x86_64", "i386", "aarch64", "arm", "s390x", "ppc64le", "riscv64",
	};

	for (size_t i = 0; i < sizeof(abis) / sizeof(*abis); i++) {
		struct calls *calls = calls_open(abis[i]);

		for (unsigned n = 0; n <= calls_most(calls); n++) {
			const struct call *c = calls_find(calls, n);

			if (c && strcmp(c->name, "create_module") && /* until Linux 2.6 */
			    !(c->role->is & IS_ADDRESS) != (c->result.kind != CALL_HEX))
				UNIT_FAIL("%s of %s", c->name, abis[i]);
		}
	}
}

static void test_names(void)
{
	CHECK(role_of_call("stat")->is & IS_FILE);
	EQUAL(role_of_call("newstat")->is, role_of_call("stat")->is); /* the function */
	EQUAL(role_of_call("nanosleep_time32")->is, role_of_call("nanosleep")->is);
	EQUAL(role_of((struct text_part){ "stats", 4 })->is, role_of_call("stat")->is);
	EQUAL(role_of_call("getppid")->is, 0);
	EQUAL(role_of_call("")->is, 0);
	EQUAL(role_of_call("exec")->is, 0);
	EQUAL(role_of_word(part("exec")), IS_EXEC);
	EQUAL(role_of_word(part("execs")), 0);
	CHECK(!role_waits(role_of_call("read")));
	CHECK(!strcmp(role_waits(role_of_call("flock")), "file lock"));
	CHECK(!role_makes(role_of_call("socket")));
	CHECK(!strcmp(role_makes(role_of_call("pipe2")), "pipe"));
	CHECK(!strcmp(role_makes(role_of_call("eventfd2")), "anon_inode:[eventfd]"));
}

static void test_words(void)
{
	struct call_role_set set;

	EQUAL(roles_parse("exec,written,copy", &set), 0);
	CHECK(roles_match(&set, role_of_call("execveat")));
	CHECK(roles_match(&set, role_of_call("write")));
	CHECK(roles_match(&set, role_of_call("dup")));
	CHECK(!roles_match(&set, role_of_call("read")));
	CHECK(!roles_match(&set, role_of_call("epoll_create1"))); /* a file with a name */
	EQUAL(roles_parse("exec,", &set), -1);
	EQUAL(roles_parse("exec,wait", &set), -1);
}

/* Make a call with a path to a link, argument i, and these flags. Return its error, or 0. */
static int error_of(const struct call *c, long nr, unsigned i, unsigned flag, uint64_t flags)
{
	static char zeros[4096];
	uintptr_t args[CALL_ARGS] = { 0 };
	int status;

	for (unsigned k = 0; k < c->nargs; k++)
		switch (c->args[k].kind) {
		case CALL_PATH:
			args[k] = (uintptr_t)(k == i ? "link" : "other");
			break;
		case CALL_DIRFD:
			args[k] = (uintptr_t)AT_FDCWD;
			break;
		case CALL_STRING:
			args[k] = (uintptr_t)"user.x";
			break;
		case CALL_INT:
		case CALL_UINT:
			args[k] = 64; /* the size of a buffer */
			break;
		default:
			args[k] = c->args[k].kind == CALL_HEX || c->args[k].kind > CALL_PATH ?
				  (uintptr_t)zeros : 0;
		}
	if (flag)
		args[flag - 1] = flags;
	unlink("other"); /* a rename may have made it a link */
	unlink("link");
	CHECK(!symlink("nowhere", "link") && access("nowhere", F_OK) < 0);
	close(open("other", O_CREAT | O_WRONLY, 0600));
	if (!fork())
		_exit(syscall(nr, args[0], args[1], args[2], args[3], args[4], args[5]) < 0 ?
		      errno : 0);
	CHECK(wait(&status) > 0 && WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int is_listed(char **list, const char *call, const char *arg)
{
	char text[128];

	snprintf(text, sizeof(text), "%s.%s", call, arg);
	while (*list && strcmp(*list, text) && strcmp(*list, call))
		list++;
	return *list != NULL;
}

/* Make the calls that take paths, but for those. Return the status. */
static int make_calls(char **but)
{
	static const uint64_t flags[] = { 0, AT_SYMLINK_NOFOLLOW, AT_SYMLINK_FOLLOW };
	struct calls *calls = calls_open(NULL);
	unsigned made = 0;

	for (unsigned nr = 0; nr <= calls_most(calls); nr++) {
		const struct call *c = calls_find(calls, nr);

		for (unsigned i = 0; c && i < c->nargs; i++) {
			const unsigned k = c->role->file[1].arg == i + 1;
			const unsigned link = c->role->file[k].link;
			const unsigned flag = link >= LINK_IF ? link % LINK_IF + 1 : 0;

			if (c->args[i].kind != CALL_PATH || c->role->does & DOES_OPENED ||
			    is_listed(but, c->name, c->args[i].name))
				continue;
			for (unsigned f = 0; f < (flag ? 3 : 1); f++) {
				const int error = error_of(c, nr, i, flag, flags[f]);
				uint64_t args[CALL_ARGS] = { 0 };

				args[flag ? flag - 1 : 0] = flags[f];
				if (error == ENOSYS || (error == EINVAL && f))
					continue;
				made++;
				if ((error == ENOENT) == call_names_link(c, args, i))
					UNIT_FAIL("%s: %s %llu: %s", c->name, c->args[i].name,
						  (unsigned long long)flags[f], strerror(error));
			}
		}
	}
	printf("%u\n", made);
	return unit_end();
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return make_calls(argv + 1);
	TEST(addresses);
	TEST(names);
	TEST(words);
	return unit_end();
}
