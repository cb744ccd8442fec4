/* SPDX-License-Identifier: ISC */
/* chainlib - a library of which chains calls a function, and which calls back */
#define AFTER(result) __asm__ volatile("" : "+r"(result))

long library_calls(long (*what)(void));

static __attribute__((noinline)) long calls_back(long (*what)(void), long n)
{
	volatile long kept[20] = { n };
	long result = what();

	AFTER(result);
	return result + kept[0];
}

long library_calls(long (*what)(void))
{
	long result = calls_back(what, 5);

	AFTER(result);
	return result;
}
