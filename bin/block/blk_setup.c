/* SPDX-License-Identifier: ISC */
/* blk_setup.c - set up and remove block traces, and tell by a key which session has made one */
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/base.h"
#include "host/host.h"
#include "blktrace.h"

const char blk_actions[][9] = {
	"read", "write", "flush", "sync", "queue", "requeue", "issue", "complete", "fs",
	"pc", "notify", "ahead", "meta", "discard", "drv_data", "fua", "",
};

uint64_t blk_key(const char *name)
{
	uint64_t h = text_hash(TEXT_HASH, name, strlen(name));

	/* larger than the size of any device */
	return (uint64_t)'t' << 56 | (uint64_t)'f' << 48 | (h ^ h >> 48) << 16 >> 16;
}

/*
 * Open a block device. Return a descriptor, or -1 and errno without a message. For ENOTBLK
 * the file is of another kind and was not opened, because an open may have side effects.
 */
static int open_node(const char *path, dev_t *dev)
{
	struct stat st;
	int fd = file_open(path, FILE_BLOCK, O_RDONLY, &st);

	if (fd >= 0)
		*dev = st.st_rdev;
	if (fd != FILE_OTHER)
		return fd;
	errno = ENOTBLK;
	return -1;
}

int blk_open(const char *name, dev_t *dev)
{
	char path[PATH_MAX];
	int fd;

	if (str_format(path, sizeof(path), "%s%s", strchr(name, '/') ? "" : "/dev/", name) >=
	    sizeof(path))
		return err_msg("too long a path: '%.80s'", name);
	fd = open_node(path, dev);
	if (fd < 0 && errno == ENOTBLK)
		return err_msg("%s is not a block device", path);
	return fd < 0 ? err_file("unable to open %s", path) : fd;
}

uint64_t blk_end_lba(dev_t dev)
{
	char path[PATH_MAX];

	str_format(path, sizeof(path), "%s/dev/block/%u:%u/trace/end_lba", path_sysfs(), major(dev),
		   minor(dev));
	return file_number(AT_FDCWD, path, NULL, BLK_UNTOLD); /* "disabled" has no digits */
}

void blk_directory(const char *name, char *path)
{
	str_format(path, PATH_MAX, "%s/kernel/debug/block/%s", path_sysfs(), name);
}

#ifdef __GLIBC__
typedef unsigned long request;
#else
typedef int request; /* POSIX declares int */
#endif

/* Return 0 or -errno. */
static int control(int fd, unsigned long command, void *argument)
{
	return ioctl(fd, (request)command, argument) < 0 ? -errno : 0;
}

int blk_setup(int fd, const struct blk_wanted *w, char name[BLK_NAME])
{
	struct k_blk_user_trace_setup s = {
		.act_mask = (uint16_t)w->actions, .buf_size = w->size, .buf_nr = w->n,
		.start_lba = w->from, .end_lba = w->to, .pid = w->pid,
	};
	int r = control(fd, K_BLKTRACESETUP, &s);

	str_format(name, sizeof(s.name), "%.*s", (int)sizeof(s.name) - 1, s.name);
	return r;
}

int blk_start(int fd)
{
	return control(fd, K_BLKTRACESTART, NULL);
}

int blk_stop(int fd)
{
	return control(fd, K_BLKTRACESTOP, NULL);
}

int blk_remove(int fd)
{
	int r;

	control(fd, K_BLKTRACESTOP, NULL); /* the kernel would not free a trace that runs */
	r = control(fd, K_BLKTRACETEARDOWN, NULL);
	return r == -EINVAL ? 0 : r; /* there is no trace any more */
}

/*
 * Call fn for a disk that sysfs lists if its block trace has the key, and count it in *n. Return
 * 0, or -errno if that fails. A disk whose block trace has another key is not opened.
 */
static int call(const char *name, uint64_t key, int (*fn)(int fd), int *n)
{
	char path[PATH_MAX], *text;
	dev_t disk = 0, dev = 0;
	const char *p;
	uint64_t end;
	int fd, r;

	str_format(path, sizeof(path), "%s/block/%s/dev", path_sysfs(), name);
	p = text = file_read(AT_FDCWD, path, NULL);
	if (text) {
		unsigned high = (unsigned)text_digits(&p), low;

		p += *p == ':';
		low = (unsigned)text_digits(&p); /* makedev may be a macro */
		disk = makedev(high, low);
	}
	free(text);
	end = disk ? blk_end_lba(disk) : 0;
	/* before Linux 5.12 the kernel shows end_lba only while the device is open */
	if (end != key && end != BLK_UNTOLD)
		return 0;
	str_format(path, sizeof(path), "/dev/%s", name);
	for (char *c = path; *c; c++)
		if (*c == '!') /* sysfs writes '!' in place of '/' */
			*c = '/';
	fd = open_node(path, &dev);
	r = fd < 0 ? -errno : dev == disk ? 0 : -ENODEV; /* the node is of another device */
	if (!r && blk_end_lba(dev) == key) {
		r = fn(fd);
		++*n;
	}
	fd_close(fd);
	return end == key ? r : 0;
}

int blk_each(uint64_t key, int (*fn)(int fd), char failed[BLK_NAME])
{
	char path[PATH_MAX], **names;
	int n = 0, r, error = 0;

	*failed = '\0';
	str_format(path, sizeof(path), "%s/block", path_sysfs());
	names = file_names(path);
	if (!names)
		return -1;
	for (char **name = names; *name; name++) {
		r = call(*name, key, fn, &n);
		if (r < 0) {
			error = -r;
			str_format(failed, BLK_NAME, "%s", *name);
		}
	}
	free(names);
	errno = error;
	return error ? -1 : n;
}

int blk_end_session(const char *instance)
{
	char failed[BLK_NAME];

	return blk_each(blk_key(instance), blk_remove, failed) < 0 ? -1 : 0;
}
