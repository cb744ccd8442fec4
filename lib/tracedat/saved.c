/* SPDX-License-Identifier: ISC */
/*
 * saved.c - what the events of a reserved instance mean, in files
 *
 * FORMATS is a trace.dat without events. NAMES is small and is written again when names or the
 * date change. It has lines of text: "boot ID", "date MICROSECONDS" (added to a time of the
 * trace clock it gives the time since 1970), then "PID NAME". FORMATS is written first, and
 * NAMES replaces the old one when FORMATS is complete.
 */
#include <sys/stat.h>

#include "base/base.h"
#include "tool/tool.h"
#include "tracefs/tracefs.h"
#include "live/live.h"
#include "tracedat/tracedat.h"

#define FORMATS "formats.dat"
#define NAMES "names"

/* How far the date may move until NAMES is written again, in ms. */
#define MOVED_MS 10

static const char *state_directory(void)
{
	return path_from_env("TFS_STATE", "/var/lib/tfs");
}

const char *persist_last_boot(void)
{
	static char path[PATH_MAX];

	str_format(path, sizeof(path), "%s/" LAST_BOOT, state_directory());
	return path;
}

/* Prepare a file of the directory, and write its path to path (PATH_MAX bytes). */
static void prepare(const struct persist *p, struct atomic_file *file, const char *name, char *path)
{
	int scratch;

	str_format(path, PATH_MAX, "%s/%s", p->path, name);
	file->path = path;
	file->name = name;
	file->dir = p->dir;
	scratch = atomic_file_scratch(file);
	if (scratch < 0)
		return; /* the first write reports it */
	atomic_file_try(file, scratch);
	close(scratch);
}

int persist_open(struct persist *p)
{
	struct stat st;

	p->path = state_directory();
	if (mkdir(p->path, 0700) < 0 && errno != EEXIST)
		return err_errno("unable to make %s (TFS_STATE can name another directory)",
				 p->path);
	p->dir = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->dir < 0 || fstat(p->dir, &st) < 0)
		return err_errno("unable to open %s", p->path);
	if (st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH))
		return err_msg("%s must belong to this user, and nobody else may write to it: set "
			       "TFS_STATE to another directory", p->path);
	p->last.files = LAST_BOOTS;
	prepare(p, &p->formats, FORMATS, p->formats_path);
	prepare(p, &p->names, NAMES, p->names_path);
	prepare(p, &p->last, LAST_BOOT, p->last_path);
	return 0;
}

/* Set id (40 bytes) to the id of this boot, or to "" if procfs has none. */
static void read_boot(char *id)
{
	char path[PATH_MAX], *text;

	str_format(path, sizeof(path), "%s/sys/kernel/random/boot_id", path_procfs());
	text = file_read(AT_FDCWD, path, NULL);
	str_format(id, 40, "%.*s", text ? (int)strcspn(text, "\n") : 0, text ? text : "");
	free(text);
}

/* Write a file that replaces the old one when it is on the disk. */
static int write_file(const struct persist *p, const struct atomic_file *file,
		      const struct bytes *b)
{
	int fd, r;

	if (b->failed)
		return err_msg("out of memory");
	fd = atomic_file_make(file);
	r = fd < 0 || fd_write_all(fd, b->v, b->n) < 0 || fsync(fd) < 0 ?
		err_errno("unable to write %s", file->path) : atomic_file_publish(file, fd);
	if (r < 0)
		atomic_file_drop(file);
	fd_close(fd);
	/* not every file system can do this */
	fsync(p->dir);
	return r;
}

/* ---- save ------------------------------------------------------------------------- */

/* Write FORMATS if there are new formats. */
static int write_formats(struct persist *p)
{
	uint64_t *table = calloc(2 * p->head.cpus, sizeof(*table));
	struct bytes b = { 0 };
	int r = 0;

	if (!table || p->head.failed || (dat_head(&p->head, &b, SIZE_MAX) < 0 && b.failed)) {
		r = err_msg("out of memory");
	} else {
		for (unsigned cpu = 0; cpu < p->head.cpus; cpu++)
			table[cpu] = b.n + dat_table_size(&p->head);
		dat_table(&p->head, &b, table, table + p->head.cpus);
		r = write_file(p, &p->formats, &b);
	}
	if (!r)
		p->nformats = p->head.nformats;
	free(table);
	free(b.v);
	return r;
}

/* Write NAMES if its contents have changed. */
static int write_names(struct persist *p)
{
	struct bytes b = { 0 };
	char line[96];
	int r = 0;

	bytes_add(&b, line, str_format(line, sizeof(line), "boot %s\ndate %lld\n", p->boot,
				       (long long)p->head.offset));
	dat_names(&p->head, &b, SIZE_MAX);
	if (b.failed || b.n != p->text.n || memcmp(b.v, p->text.v, b.n))
		r = write_file(p, &p->names, &b);
	free(p->text.v);
	p->text = b;
	return r;
}

int persist_save_head(struct persist *p, int instance, int root)
{
	/* any program may write a marker, which has an address of this boot */
	p->head = (struct dat_head){ .dir = instance, .root = root, .dated = 1, .symbols = 1 };
	if (dat_begin(&p->head) < 0 || trace_clock_offset(instance, &p->head.offset) < 0)
		return -1;
	dat_look(&p->head, 1);
	read_boot(p->boot);
	return write_formats(p) < 0 || write_names(p) < 0 ? -1 : 0;
}

int persist_update(struct persist *p)
{
	long long moved = trace_clock_moved(p->head.dir, p->head.offset);
	int64_t offset;

	if ((moved >= MOVED_MS || moved <= -MOVED_MS) &&
	    !trace_clock_offset(p->head.dir, &offset))
		p->head.offset = offset;
	dat_look(&p->head, 1);
	if (p->head.nformats != p->nformats && write_formats(p) < 0)
		return -1;
	return write_names(p);
}

void persist_forget(const struct persist *p)
{
	unlinkat(p->dir, NAMES, 0);
	unlinkat(p->dir, FORMATS, 0);
}

/* ---- load ------------------------------------------------------------------------- */

/* Read the lines about boot and date at the beginning of NAMES. Return what follows, or NULL. */
static const char *parse_boot(struct persist *p, const char *text)
{
	size_t n = strcspn(text, "\n");
	const char *line = text + n + 1;
	int ahead;

	if (strncmp(text, "boot ", 5) || !text[n] || n - 5 >= sizeof(p->boot) ||
	    strncmp(line, "date ", 5))
		return NULL;
	str_format(p->boot, sizeof(p->boot), "%.*s", (int)n - 5, text + 5);
	line += 5;
	ahead = *line == '-'; /* the trace clock is ahead of the time of day */
	line += ahead;
	p->head.offset = (int64_t)text_digits(&line);
	if (ahead)
		p->head.offset = -p->head.offset;
	return *line == '\n' ? line + 1 : NULL;
}

int persist_load(struct persist *p)
{
	const char *names;
	char now[40], *text;
	int64_t offset;
	size_t n = 0;
	int r = -1;

	text = file_read(p->dir, NAMES, &n);
	if (!text)
		return errno == ENOENT ? 0 : err_errno("unable to read %s", p->names_path);
	names = parse_boot(p, text);
	offset = p->head.offset;
	read_boot(now);
	if (!names) {
		err_msg("%s is damaged, so the events of the last boot cannot be read; remove it "
			"to give them up", p->names_path);
	} else if (!strcmp(p->boot, now)) {
		r = 0;
	} else if (dat_file(&p->saved, p->formats_path) >= 0 && dat_read_head(&p->saved) >= 0 &&
		   dat_begin_from(&p->head, &p->saved) >= 0) {
		p->head.dated = 1;
		p->head.offset = offset;
		comms_parse(&p->head.comms, names, n - (size_t)(names - text));
		r = 1;
	}
	free(text);
	return r;
}
