/* SPDX-License-Identifier: ISC */
/* thr - four threads call f 50 times each and end, and the program ends at once */
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

__attribute__((noinline)) int f(int x)
{
	__asm__ volatile("" ::: "memory");
	return x + 1;
}

__attribute__((noinline)) void *g(void *sum)
{
	for (int i = 0; i < 50; i++) {
		*(int *)sum += f(i);
		usleep(300);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[4];
	int sums[4] = { 0 };

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, g, &sums[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
