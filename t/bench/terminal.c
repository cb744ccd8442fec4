/* SPDX-License-Identifier: ISC */
/*
 * terminal - run a command at a terminal that shows so much, and type ^C
 *
 *	terminal BYTES MS COMMAND [ARGUMENT]...
 * The terminal shows BYTES per second (0: all at once). MS after the start somebody types ^C (0:
 * nobody does). Print the ms of the command from ^C on, or all of them, the bytes that the terminal
 * has shown, and the last line.
 */
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/poll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	static char text[65536], line[65536], last[65536];
	double speed, start = now_ms(), typed = 0, at, due;
	struct winsize size = { .ws_row = 50, .ws_col = 160 };
	long bytes = 0, n;
	size_t len = 0;
	int master, type;
	pid_t pid;

	if (argc < 4)
		return 100;
	speed = atof(argv[1]) / 1e3;
	type = atoi(argv[2]);
	pid = forkpty(&master, NULL, NULL, &size);
	if (pid < 0)
		return 111;
	if (!pid) {
		execvp(argv[3], argv + 3);
		_exit(127);
	}
	for (;;) {
		struct pollfd p = { .fd = master, .events = POLLIN };

		at = now_ms() - start;
		if (type && !typed && at >= type) {
			typed = now_ms();
			if (write(master, "\3", 1) != 1)
				return 111;
		}
		due = speed > 0 ? (double)bytes / speed - at : 0;
		if (due > 1) {
			usleep(1000);
			continue;
		}
		if (!poll(&p, 1, 10))
			continue;
		n = read(master, text, speed > 0 ? 1024 : sizeof(text));
		if (n <= 0)
			break;
		bytes += n;
		for (long i = 0; i < n; i++) {
			if (text[i] != '\n' && len < sizeof(line) - 1) {
				if (text[i] != '\r')
					line[len++] = text[i];
				continue;
			}
			line[len] = '\0';
			len = 0;
			strcpy(last, line);
		}
	}
	waitpid(pid, NULL, 0);
	printf("%.0f %ld %s\n", now_ms() - (typed > 0 ? typed : start), bytes, last);
	return 0;
}
