/* SPDX-License-Identifier: ISC */
/*
 * kernelshark - print the events of a trace.dat as the library of KernelShark reads them
 *
 * Each line is TASK-PID EVENT: INFO. The functions are those of kernelshark/libkshark.h, which
 * includes headers of three other libraries. Exit: 0 done, 1 the library cannot read the file.
 */
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct kshark_context;
struct kshark_entry;

bool kshark_instance(struct kshark_context **context);
int kshark_open(struct kshark_context *context, const char *file);
ssize_t kshark_load_entries(struct kshark_context *context, int stream, struct kshark_entry ***);
char *kshark_get_task(const struct kshark_entry *entry);
int kshark_get_pid(const struct kshark_entry *entry);
char *kshark_get_event_name(const struct kshark_entry *entry);
char *kshark_get_info(const struct kshark_entry *entry);

int main(int argc, char **argv)
{
	struct kshark_context *context = NULL;
	struct kshark_entry **entries = NULL;
	int stream;
	ssize_t n;

	if (argc != 2 || !kshark_instance(&context))
		return 1;
	stream = kshark_open(context, argv[1]);
	n = stream < 0 ? -1 : kshark_load_entries(context, stream, &entries);
	for (ssize_t i = 0; i < n; i++)
		printf("%s-%d %s: %s\n", kshark_get_task(entries[i]), kshark_get_pid(entries[i]),
		       kshark_get_event_name(entries[i]), kshark_get_info(entries[i]));
	return n < 0;
}
