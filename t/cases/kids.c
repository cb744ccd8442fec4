/* SPDX-License-Identifier: ISC */
/* kids - a child and a thread that each sleep 20 times 2 ms */
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void *sleeps(void *name)
{
	prctl(PR_SET_NAME, name);
	for (int i = 0; i < 20; i++)
		usleep(2000);
	return NULL;
}

int main(void)
{
	pthread_t t;

	if (!fork()) {
		sleeps("kid");
		_exit(0);
	}
	pthread_create(&t, NULL, sleeps, "thread");
	pthread_join(t, NULL);
	return wait(NULL) < 0;
}
