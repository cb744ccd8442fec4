/* SPDX-License-Identifier: ISC */
/*
 * tfs-persist - save the trace of the last boot after a crash, panic or reset
 *
 * Requires: Linux 6.12, and an instance that the kernel's command line has reserved.
 * "reserve" prints parameters for the kernel's command line. "save" moves the events of the last
 * boot into FILE, by default last-boot.dat in $TFS_STATE or /var/lib/tfs, and prints its path;
 * FILE.1 and FILE.2 are the files of the boots before. "save" needs the formats and names that
 * `tfs-flight -P` has saved there. Events stay in the ring buffer if the disk is full.
 * Exit: 0 done, 1 save: no event is left of the last boot, 100 usage error, 111 refused.
 */
#include <sys/utsname.h>

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "help.h"
#include "tracefs/tracefs.h"
#include "event/event.h"
#include "show/show.h"
#include "tracedat/tracedat.h"

static const struct tool tool = { TOOL_TFS_PERSIST, .takes_instance = 1 };

/* ---- reserve ---------------------------------------------------------------------- */

/* Return the megabytes to propose: a hundredth of the memory, from 4 to 256. */
static unsigned long default_mb(void)
{
	char path[PATH_MAX];
	unsigned long mb;

	str_format(path, sizeof(path), "%s/meminfo", path_procfs());
	mb = (unsigned long)(file_number(AT_FDCWD, path, "MemTotal:", 0) / 1024 / 100);
	return mb < 4 ? 4 : mb > 256 ? 256 : mb & ~1ul;
}

/* Say what this boot has reserved, and whether the machine reboots after a panic. */
static void print_notes(const char *instance)
{
	char path[PATH_MAX], *text;
	int root = tracefs_open(opt_root, "", NULL), dir, there;

	there = root < 0 ? -1 : openat(root, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (there >= 0 && reserved_is(there, instance)) {
		dir = openat(there, instance, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		text = file_read(dir, "buffer_size_kb", NULL);
		err_note("this boot has reserved %s, %.*s KB for each CPU", instance,
			 text ? (int)strcspn(text, "\n") : 0, text ? text : "");
		free(text);
	} else {
		err_note("add these parameters to the kernel's command line, with \\$ for $ in "
			 "GRUB's configuration, and reboot");
	}
	str_format(path, sizeof(path), "%s/sys/kernel/panic", path_procfs());
	if (file_begins(AT_FDCWD, path, '0'))
		err_note("this machine does not boot again after a panic: add panic=10 as well");
}

static int reserve(const char *instance, const char *operand)
{
	char path[PATH_MAX], words[256], *iomem;
	unsigned long mb = default_mb();
	struct utsname u;
	int r;

	if (operand && text_number(operand, 2, 65536, &mb) < 0)
		usage_error(&tool, "not a number of megabytes from 2 to 65536: '%.80s'", operand);
	if (uname(&u) < 0)
		return err_errno("unable to tell the kernel's version");
	if (kernel_version(u.release) < KERNEL(6, 12))
		return err_msg("Linux %.60s cannot keep a ring buffer over a boot; boot Linux 6.12 "
			       "or later", u.release);
	str_format(path, sizeof(path), "%s/iomem", path_procfs());
	iomem = file_read(AT_FDCWD, path, NULL);
	r = reserved_words(iomem ? iomem : "", u.machine, mb, words, sizeof(words));
	free(iomem);
	if (r < 0)
		return -1;
	stdout_print("%s\n", words);
	stdout_flush();
	print_notes(instance);
	return 0;
}

/* ---- save ------------------------------------------------------------------------- */

static void print_end(const struct persist *p, const struct last_boot *last)
{
	char date[TIME_DATE];

	time_date(date, last->end);
	err_note("Linux %s has left %llu events; the last was at %s", p->saved.release,
		 last->events, date);
	time_date(date, last->panicked);
	if (*last->panic)
		err_note("%s: %s", date, last->panic);
}

/* Say why there is nothing to save. */
static void print_none(const struct persist *p, const char *name, enum last_boot_none why)
{
	switch (why) {
	case LAST_BOOT_IN_USE:
		err_note("%s is in use, so its events are of this boot; a session with --persist "
			 "saves those of the last boot to %s before it records", name,
			 p->last.path);
		break;
	case LAST_BOOT_EMPTY:
		err_note("%s is empty: nothing has recorded, the last session ended before the "
			 "machine did, or the memory was cleared", name);
		break;
	case LAST_BOOT_NO_HEAD:
		err_note("%s has events, but %s does not have their formats, which only a session "
			 "with --persist saves; instances/%s/trace shows the events", name,
			 p->path, name);
		break;
	case LAST_BOOT_THIS:
		err_note("%s has events of this boot only", name);
		break;
	}
}

static int save(const char *name, const char *file)
{
	static struct persist p;
	struct atomic_file other = { .files = LAST_BOOTS }, *place = &p.last;
	struct last_boot last = { 0 };
	int root = tracefs_open(opt_root, "", NULL), instances, dir, r;

	if (root < 0)
		return REFUSED;
	instances = openat(root, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (instances < 0 || !reserved_is(instances, name)) {
		err_msg("this boot has no reserved instance %s: add the parameters that "
			"'tfs-persist reserve' prints to the kernel's command line, and reboot",
			name);
		return NO;
	}
	dir = openat(instances, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0) {
		err_file("unable to open instance %s", name);
		return REFUSED;
	}
	if (persist_open(&p) < 0)
		return REFUSED;
	if (file) {
		if (atomic_file_find(&other, &tool, file) < 0)
			return REFUSED;
		place = &other;
	}
	r = last_boot_save(&p, dir, place, &last);
	if (r < 0)
		return REFUSED;
	if (!r) {
		print_none(&p, name, last.none);
		return NO;
	}
	stdout_print("%s\n", place->path);
	stdout_flush();
	print_end(&p, &last);
	return DONE;
}

int main(int argc, char **argv)
{
	const char *what, *instance, *operand;

	while (opt_next(&tool, argc, argv) != -1)
		;
	what = argv[opt_index];
	if (!what)
		usage_error(&tool, "no command; give reserve or save");
	operand = argv[opt_index + 1];
	if (operand)
		opt_end(&tool, argv[opt_index + 2]);
	instance = opt_instance ? opt_instance : PERSIST_INSTANCE;
	if (!strcmp(what, "reserve"))
		return reserve(instance, operand) < 0 ? REFUSED : DONE;
	if (strcmp(what, "save"))
		usage_error(&tool, "no such command: '%.80s'; give reserve or save", what);
	return save(instance, operand);
}
