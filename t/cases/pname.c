/* SPDX-License-Identifier: ISC */
/* pname - three children that get another name: by prctl, by /proc/self/comm, by a thread */
#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void *rename_first(void *first)
{
	pthread_setname_np(*(pthread_t *)first, "leader");
	return NULL;
}

int main(void)
{
	pthread_t thread, me;
	int fd;

	if (!fork()) {
		prctl(PR_SET_NAME, "worker");
		usleep(1000);
		_exit(7);
	}
	wait(NULL);
	if (!fork()) {
		fd = open("/proc/self/comm", O_WRONLY);
		if (write(fd, "writer", 6) != 6)
			_exit(1);
		close(fd);
		usleep(1000);
		_exit(8);
	}
	wait(NULL);
	if (!fork()) {
		me = pthread_self();
		pthread_create(&thread, NULL, rename_first, &me);
		pthread_join(thread, NULL);
		usleep(1000);
		_exit(9);
	}
	wait(NULL);
	return 0;
}
