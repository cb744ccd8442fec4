/* SPDX-License-Identifier: ISC */
/* bigword - execute true(1) with arguments of many sizes: one long, many short, several long */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

int main(void)
{
	int n[] = { 100, 1000, 3000, 4000, 4090, 5000, 19999 };
	char *b = malloc(20001);
	for (int i = 0; i < 7; i++) {
		memset(b, 'z', n[i]);
		b[n[i]] = 0;
		char *c[] = { "true", b, "last", 0 };
		if (!fork()) {
			execv("/bin/true", c);
			_exit(1);
		}
		wait(0);
	}
	char *d[] = { "true", "a", "b", 0 };
	if (!fork())
		execv("/bin/true", d);
	wait(0);
	char *e[] = { "true", "1", "2", "3", "4", "5", "6", "7", 0 };
	if (!fork())
		execv("/bin/true", e);
	wait(0);
	char *f[] = { "true", "1", "2", "3", "4", "5", "6", "7", "8", 0 };
	if (!fork())
		execv("/bin/true", f);
	wait(0);
	for (int k = 1; k < 6; k++) {
		char *b2 = malloc(200000);
		memset(b2, 'q', k * 700);
		b2[k * 700] = 0;
		char *g[] = { "true", b2, b2, b2, b2, b2, "end", 0 };
		if (!fork())
			execv("/bin/true", g);
		wait(0);
	}
	return 0;
}
