/* SPDX-License-Identifier: ISC */
/*
 * roles.c - what kind of system call is this
 *
 * With a word of roles.in, print the number and the name of each call of this machine that has it.
 */

#include "roles/roles.h"
#include "syscalls/syscalls.h"
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
			    !(roles_of_call(c->name) & IS_ADDRESS) != (c->result.kind != CALL_HEX))
				UNIT_FAIL("%s of %s", c->name, abis[i]);
		}
	}
}

static void test_names(void)
{
	CHECK(roles_of_call("stat") & IS_FILE);
	EQUAL(roles_of_call("newstat"), roles_of_call("stat")); /* the function */
	EQUAL(roles_of_call("nanosleep_time32"), roles_of_call("nanosleep"));
	EQUAL(roles_of((struct text_part){ "stats", 4 }), roles_of_call("stat"));
	EQUAL(roles_of_call("getppid"), 0);
	EQUAL(roles_of_call(""), 0);
	EQUAL(roles_of_call("exec"), 0);
	EQUAL(role_of_word(part("exec")), IS_EXEC);
	EQUAL(role_of_word(part("execs")), 0);
	CHECK(!roles_wait(roles_of_call("read")));
	CHECK(!strcmp(roles_wait(roles_of_call("flock")), "file lock"));
}

/* Print the calls that have a role. Return the status. */
static int list(const char *word)
{
	struct calls *calls = calls_open(NULL);
	const unsigned role = role_of_word(part(word));

	for (unsigned n = 0; n <= calls_most(calls); n++) {
		const struct call *c = calls_find(calls, n);

		if (c && roles_of_call(c->name) & role)
			printf("%u %s\n", n, c->name);
	}
	return !role;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return list(argv[1]);
	TEST(addresses);
	TEST(names);
	return unit_end();
}
