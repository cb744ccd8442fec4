/* SPDX-License-Identifier: ISC */
/* leader_exits - the first thread ends with 3, and another one ends the process with 7 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>

static void *t(void *a)
{
	(void)a;
	usleep(300000);
	open("/etc/hostname", O_RDONLY);
	usleep(300000);
	exit(7);
	return 0;
}

int main(void)
{
	pthread_t p;
	pthread_create(&p, 0, t, 0);
	usleep(100000);
	syscall(SYS_exit, 3);
}
