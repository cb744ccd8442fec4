/* SPDX-License-Identifier: ISC */
/*
 * paced - a reader of a trace that takes its time
 *
 *	paced RATE [STALL]
 * It reads standard input, 4096 bytes at a time as container-tracer does, RATE
 * lines per second (0: as fast as they come). After STALL lines it stops reading.
 * SIGUSR1 lets it read the rest as fast as it comes. It prints the comment lines,
 * and at the end the number of event lines and the last line.
 */
#include <time.h>

#include "prog.h"

static long long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

int main(int argc, char **argv)
{
	long long rate = argc > 1 ? atoll(argv[1]) : 0, begun = now_us(), early;
	long long stall = argc > 2 ? atoll(argv[2]) : -1, lines = 0, events = 0;
	static char text[4096], line[65536];
	size_t len = 0;
	sigset_t go;
	ssize_t n;
	struct timespec wait;
	int signo;

	sigemptyset(&go);
	sigaddset(&go, SIGUSR1);
	sigprocmask(SIG_BLOCK, &go, NULL);
	for (;;) {
		if (stall >= 0 && lines >= stall) {
			sigwait(&go, &signo);
			rate = 0;
			stall = -1;
		}
		early = rate ? begun + lines * 1000000 / rate - now_us() : 0;
		wait = (struct timespec){ early / 1000000, early % 1000000 * 1000 };
		if (early > 0 && sigtimedwait(&go, NULL, &wait) > 0)
			rate = 0;
		n = read(STDIN_FILENO, text, sizeof(text));
		if (n <= 0)
			break;
		for (ssize_t i = 0; i < n; i++) {
			if (!len || line[len - 1] == '\n')
				len = 0;
			if (len < sizeof(line) - 1)
				line[len++] = text[i];
			if (text[i] != '\n')
				continue;
			lines++;
			events += *line == ' '; /* and not CPU:0 [LOST 9 EVENTS] */
			line[len] = '\0';
			if (*line == '#')
				fputs(line, stdout);
		}
	}
	line[len] = '\0';
	printf("%lld\n%s", events, line);
	return 0;
}
