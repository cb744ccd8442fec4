/* SPDX-License-Identifier: ISC */
/*
 * user_event N - write an event of its own N times (Linux 6.4 with CONFIG_USER_EVENTS)
 *
 * The event is user_events:tfs_PID, with the fields of .NET 10 and two more. It exists while the
 * program runs. The program registers it, prints "ready" and waits for a line of standard input. It
 * calls getppid after each event. An event that nobody records is not written.
 * Exit: 0 done, 1 refused.
 */
#include <sys/ioctl.h>
#include <sys/uio.h>

#include "prog.h"

/* include/uapi/linux/user_events.h */
struct user_reg {
	uint32_t size;
	uint8_t enable_bit, enable_size;
	uint16_t flags;
	uint64_t enable_addr, name_args;
	uint32_t write_index;
} __attribute__((packed));

#define DIAG_IOCSREG _IOWR('*', 0, struct user_reg *)

int main(int argc, char **argv)
{
	int fd = open("/sys/kernel/tracing/user_events_data", O_RDWR | O_CLOEXEC);
	static uint32_t enabled;
	static const char payload[] = "G\0C"; /* UTF-16 */
	char name[200];
	struct user_reg reg = {
		.size = sizeof(reg), .enable_bit = 31, .enable_size = sizeof(enabled),
		.enable_addr = (uintptr_t)&enabled, .name_args = (uintptr_t)name,
	};
	struct {
		uint32_t index;
		uint8_t version;
		uint16_t id;
		uint32_t extension, payload;
		char word[8];
		int32_t delta;
	} __attribute__((packed)) event = { .version = 1, .word = "a\nb\"c", .delta = -5 };

	snprintf(name, sizeof(name), "tfs_%d u8 version; u16 event_id; __rel_loc u8[] extension; "
		 "__rel_loc u8[] payload; char[8] word; s32 delta", getpid());
	if (fd < 0 || ioctl(fd, DIAG_IOCSREG, &reg) < 0)
		return perror("user_events_data"), 1;
	ready();
	event.index = reg.write_index;
	/* from the end of the field on, where the word and the number come first */
	event.extension = sizeof(event.payload) + sizeof(event.word) + sizeof(event.delta);
	event.payload = (uint32_t)sizeof(payload) << 16 |
			(sizeof(event.word) + sizeof(event.delta));
	for (int i = 0; i < atoi(argv[argc - 1]) && enabled; i++) {
		struct iovec io[] = {
			{ &event, sizeof(event) }, { (char *)(uintptr_t)payload, sizeof(payload) },
		};

		event.id = (uint16_t)(i + 1);
		if (writev(fd, io, 2) < 0)
			return perror("writev"), 1;
		getppid();
	}
	return 0;
}
