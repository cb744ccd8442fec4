/* SPDX-License-Identifier: ISC */
/* victim - print what a function returns, one instruction of 5 bytes, again and again */
#include <stdio.h>
#include <unistd.h>

#ifdef __x86_64__
__attribute__((noinline, naked)) int g(void)
{
	__asm__("mov $0x11223344,%eax; ret");
}
#else
int g(void)
{
	return 0x11223344;
}
#endif

int main(void)
{
	for (setvbuf(stdout, NULL, _IOLBF, 0);; usleep(20000))
		printf("%x\n", g());
}
