/* SPDX-License-Identifier: ISC */
/*
 * kexec - start another kernel at once, without the firmware
 *
 *	kexec KERNEL INITRD WORDS
 *
 * WORDS are the command line of the new kernel. Nothing is synced or unmounted.
 */
#include <sys/reboot.h>

#include "prog.h"

#ifndef SYS_kexec_file_load
#define SYS_kexec_file_load -1 /* ENOSYS */
#endif
#define KEXEC 0x45584543 /* LINUX_REBOOT_CMD_KEXEC */

int main(int argc, char **argv)
{
	int kernel, initrd;

	if (argc != 4)
		return 100;
	kernel = open(argv[1], O_RDONLY);
	initrd = open(argv[2], O_RDONLY);
	if (syscall(SYS_kexec_file_load, kernel, initrd, strlen(argv[3]) + 1, argv[3], 0L) < 0)
		return perror("kexec_file_load"), 111;
	reboot(KEXEC);
	return perror("reboot"), 111;
}
