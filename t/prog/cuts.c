/* SPDX-License-Identifier: ISC */
/*
 * cuts - run a program on a file that is cut short, or changed, at many places
 *
 *	cuts cut|change STEP FILE COMMAND...
 * For each N = 0, STEP, 2 * STEP, ... below the size of FILE, COMMAND runs once. Its standard
 * input, and the file "part" of the working directory, are the first N bytes of FILE, or FILE
 * with 255 instead of byte N. "cut" ends with the whole FILE. Prints for each run
 *	N STATUS BYTES HASH LINES LINE
 * the status, the size and the FNV hash of what COMMAND wrote to standard output, the number of
 * lines that it wrote to standard error, and the first of them, or "-". What it wrote to standard
 * output goes to the file "all" as well. A test that starts one process for each place, and not
 * a handful, can try many places.
 * Exit: 0 done, 100 usage error, 111 the system refused.
 */
#include <err.h>
#include <inttypes.h>
#include <stdbool.h>

#include "prog.h"

/* all of FILE, and its size */
static char *content(int fd, size_t *size)
{
	off_t end = lseek(fd, 0, SEEK_END);
	char *text = malloc((size_t)end + 1);

	if (end < 0 || text == NULL || pread(fd, text, (size_t)end, 0) != end)
		err(111, "unable to read a file");
	text[end] = '\0';
	*size = (size_t)end;
	return text;
}

static int memory(const char *name)
{
	int fd = memfd_create(name, 0);

	if (fd < 0)
		err(111, "unable to make a file in memory");
	return fd;
}

/* Run argv with PART's first N bytes, and print the line about it. */
static void run(char **argv, const char *part, size_t n, size_t size, int all)
{
	int in = open("part", O_RDWR | O_CREAT | O_TRUNC, 0600), out = memory("out"),
	    said = memory("err"), status, lines = 0;
	uint64_t hash = 0xcbf29ce484222325;
	size_t bytes, words;
	char *text;
	pid_t pid;

	if (in < 0 || write(in, part, size) != (ssize_t)size)
		err(111, "unable to write part");
	lseek(in, 0, SEEK_SET);
	pid = fork();
	if (pid == 0) {
		dup2(in, 0);
		dup2(out, 1);
		dup2(said, 2);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		err(111, "unable to run %s", argv[0]);
	text = content(out, &bytes);
	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3;
	if (write(all, text, bytes) != (ssize_t)bytes)
		err(111, "unable to write all");
	free(text);
	text = content(said, &words);
	for (size_t i = 0; i < words; i++)
		lines += text[i] == '\n';
	text[strcspn(text, "\n")] = '\0';
	printf("%zu %d %zu %016" PRIx64 " %d %s\n", n,
	       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), bytes, hash, lines,
	       *text != '\0' ? text : "-");
	free(text);
	close(in);
	close(out);
	close(said);
}

int main(int argc, char **argv)
{
	size_t size, step = argc > 4 ? strtoul(argv[2], NULL, 10) : 0;
	bool change = argc > 4 && strcmp(argv[1], "change") == 0;
	int fd, all;
	char *text;

	if (step == 0)
		return 100;
	fd = open(argv[3], O_RDONLY | O_CLOEXEC);
	all = open("all", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0 || all < 0)
		err(111, "unable to open %s", argv[3]);
	text = content(fd, &size);
	for (size_t n = 0; n < size; n += step) {
		char old = text[n];

		if (change)
			text[n] = (char)255;
		run(argv + 4, text, n, change ? size : n, all);
		text[n] = old;
	}
	if (!change)
		run(argv + 4, text, size, size, all);
	return 0;
}
