/* SPDX-License-Identifier: ISC */
/* tgt - pass a secret to a function, again and again */
#include <unistd.h>

__attribute__((noinline)) void f(const char *s)
{
	__asm__ volatile("" : : "r"(s) : "memory");
}

int main(void)
{
	for (;; usleep(20000))
		f("SECRET-PASSWORD");
}
