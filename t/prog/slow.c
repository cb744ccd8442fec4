/* SPDX-License-Identifier: ISC */
/*
 * slow - a program that is slow for known reasons, which TUTORIAL.md finds
 *
 * It looks for a file of settings in 3 places, and finds none. It asks 2,000 times whether
 * slow.out has changed. It writes 20 records to slow.out and calls fsync after each. It starts a
 * child, which sleeps 0.1 s and ends with status 3. Then it sleeps 0.3 s. Its status is 0.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define OUT "slow.out"

static void look_for_settings(void)
{
	static const char *const places[] = {
		"./slow.conf", "/etc/slow/slow.conf", "/nowhere/slow.conf",
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		int fd = open(places[i], O_RDONLY);

		if (fd >= 0)
			close(fd);
	}
}

static void ask_again_and_again(void)
{
	struct stat st;

	for (int i = 0; i < 2000; i++)
		if (stat(OUT, &st))
			exit(111);
}

void save_record(int fd)
{
	if (write(fd, "record\n", 7) != 7 || fsync(fd))
		exit(111);
}

int main(void)
{
	struct timespec pause = {.tv_nsec = 300000000};
	int fd;

	look_for_settings();
	fd = open(OUT, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return 111;
	ask_again_and_again();
	for (int i = 0; i < 20; i++)
		save_record(fd);
	if (system("sleep 0.1; exit 3") < 0)
		return 111;
	nanosleep(&pause, NULL);
	return 0;
}
