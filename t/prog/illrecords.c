/* SPDX-License-Identifier: ISC */
/*
 * illrecords - publish thread contexts (OTEP 4947) that no reader may believe
 *
 *	illrecords [-w]
 *
 * Print a line, and wait for a byte, if -w is given. Make 15 calls lseek(-1, SPAN, 0). Three have a
 * whole record with that span. Five have none: two records that are not valid, one without a trace,
 * one without a span, and no record. Seven have a pointer to memory that cannot be read.
 */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 65536, RECORD = 28 };

__thread const void *volatile otel_thread_ctx_v1;

static void call(const void *record, uint64_t span)
{
	otel_thread_ctx_v1 = record;
	syscall(SYS_lseek, -1, span, 0);
	otel_thread_ctx_v1 = NULL;
}

/* Write a record with 65,535 bytes of attributes, and make the call. */
static void publish(unsigned char *record, uint64_t span, unsigned char valid)
{
	memset(record, 0x11, 16);
	for (int i = 0; i < 8; i++)
		record[16 + i] = (unsigned char)(span >> (56 - 8 * i));
	record[24] = valid;
	record[25] = 1;
	memset(record + 26, 0xff, 2);
	call(record, span);
}

int main(int argc, char **argv)
{
	unsigned char *memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char byte;

	(void)argv;
	if (memory == MAP_FAILED || munmap(memory + PAGE, PAGE) < 0 ||
	    (argc > 1 && (write(1, "ready\n", 6) < 0 || read(0, &byte, 1) < 0)))
		return 1;
	publish(memory, 1, 1);
	publish(memory + 1, 2, 1);
	publish(memory + PAGE - RECORD, 3, 1); /* the attributes are absent */
	publish(memory, 4, 2);
	publish(memory, 5, 255);
	publish(memory, 0, 1);
	memset(memory, 0, 16);
	memory[24] = 1;
	call(memory, 7);
	call(NULL, 8);
	call((void *)1, 9);
	call((void *)-1, 10);
	call((void *)(UINTPTR_MAX / 2 + 1), 11);
	call((void *)(UINTPTR_MAX - 0x7effffff), 12); /* the kernel's, on x86-64 */
	call(memory + PAGE, 13);
	call(memory + PAGE - RECORD + 1, 14);
	mprotect(memory, PAGE, PROT_NONE);
	call(memory, 15);
	return 0;
}
