/* SPDX-License-Identifier: ISC */
/*
 * persist.h - ring buffers that survive a crash of the machine
 *
 * Since Linux 6.12 the kernel's command line can place the ring buffer of an instance in memory
 * that the next boot does not clear (Documentation/trace/debugging.rst). After a crash the
 * events are still there, but not what they mean: the formats of events, the names of tasks
 * and the addresses of symbols belong to the boot that has ended. So these are saved to
 * files while the kernel that knows them runs. Terms:
 *
 *	reserved instance  an instance whose ring buffer lies in such memory
 *	saved head         the head of a trace.dat, without sub-buffers
 *	last boot          the boot whose events a reserved instance still has
 *
 * The layer uses base, tracefs, event, live and tracedat. A function that fails writes an
 * error message and returns -1, unless its comment says otherwise.
 */
#ifndef PERSIST_H
#define PERSIST_H

#include "base/base.h"
#include "event/event.h"
#include "tracedat/tracedat.h"

/* ---- reserved.c: instances in memory that the command line reserved ------------------- */

/* The name that `tfs-persist reserve` proposes: the instance of a session named "boot". */
#define PERSIST_SESSION "boot"
#define PERSIST_INSTANCE INSTANCE_PREFIX PERSIST_SESSION

/* Return whether the instance is reserved: only then it has the file last_boot_info. */
int reserved_is(int instances, const char *name);

/*
 * Return whether nothing records in the instance and no event is enabled. A backup, which newer
 * kernels make of a reserved instance, is always at rest: it lacks the files to record.
 */
int reserved_at_rest(int instance);

/*
 * Stop the recording, disable all events with their filters and triggers, clear the pid
 * filters and the events of the ring buffer. Such an instance cannot be removed. Return 0
 * or -1.
 */
int reserved_reset(int instance);

/*
 * Write the kernel parameters that reserve this much memory to words (size
 * bytes): on x86 at an address in the middle of a range of free memory. iomem is the text
 * of /proc/iomem. machine is that of uname. Return 0 or -1.
 */
int reserved_words(const char *iomem, const char *machine, unsigned long mb, char *words,
		   size_t size);

/* ---- directory.c: where the files are --------------------------------------------------- */

/* Return $TFS_STATE or /var/lib/tfs. */
const char *persist_directory(void);

/* Return the path of the newest trace of a last boot, valid until the next call. */
const char *persist_last_boot(void);

#define LAST_BOOT "last-boot.dat"

/* ---- saved.c: what the events mean, in files -------------------------------------------- */

/* The files of a directory. Zero it. */
struct persist {
	const char *path;       /* of the directory */
	int dir;
	struct dat_head head;
	struct dat saved;       /* the saved head */
	char formats_path[PATH_MAX], names_path[PATH_MAX], last_path[PATH_MAX];
	struct atomic_file formats, names, last; /* last: the trace.dat of the last boot */
	struct bytes text;      /* the names file as it was written last */
	size_t nformats;        /* of head, when it was written last */
	char boot[40];          /* id of the boot of the saved head; "": not known */
};

/*
 * Make and open the directory. It must belong to this user, and nobody else may
 * write to it. Return 0 or -1.
 */
int persist_open(struct persist *);

/*
 * Save what the events of the instance mean, so that they can be read after a crash: the
 * formats of its enabled events, then names of tasks, the date and the id of this boot. root is
 * the tracefs root. The descriptors have to stay open for persist_update. Return 0 or -1.
 */
int persist_save_head(struct persist *, int instance, int root);

/* Look again, and write what has changed. Return 0 or -1. */
int persist_update(struct persist *);

/* Forget the saved head, because the recording has ended. */
void persist_forget(const struct persist *);

/*
 * Read the saved head of the last boot into head. Return 1, 0 if there is none or if it is of this
 * boot, or -1.
 */
int persist_load(struct persist *);

/* ---- last_boot.c: a trace.dat of the events of the last boot ----------------------------- */

/* The files of last boots to keep: last-boot.dat, last-boot.dat.1 and so on. */
#define LAST_BOOTS 3

/* Why an instance has no events of the last boot. */
enum last_boot_none {
	LAST_BOOT_IN_USE = 1,   /* it records, or events are enabled */
	LAST_BOOT_EMPTY,        /* it has no event at all */
	LAST_BOOT_NO_HEAD,      /* it has events, but nobody has saved what they mean */
	LAST_BOOT_THIS,         /* its events are of this boot */
};

/* The facts about the end of the last boot that could be saved or found. */
struct last_boot {
	enum last_boot_none none; /* after last_boot_save has returned 0 */
	unsigned long long events; /* in the file */
	int64_t end;            /* time of the last event, in microseconds since 1970 */
	char panic[256];        /* the kernel's line about its panic; "": not recorded */
	int64_t panicked;       /* its time, as end */
};

/*
 * Move the events of the last boot out of the instance into a trace.dat with the head that
 * persist_load finds. Check first that the disk has room, so that no event is lost: after -1 the
 * events are still in the ring buffer. Return 1, 0 and the reason in `none` if there is no such
 * event, or -1.
 */
int last_boot_save(struct persist *, int instance, struct atomic_file *, struct last_boot *);

#endif
