/* SPDX-License-Identifier: ISC */
/* readers.c - programs that read the marks of a request probe */
#include <sys/file.h>

#include "base/base.h"
#include "bpf/bpf.h"
#include "live/live.h"
#include "requests.h"
#include "pins.h"

/* Return an argument of fcntl: a lock of this kind on a reader's byte of the probe's directory. */
static struct flock lock_of(unsigned reader, short kind)
{
	return (struct flock){
		.l_type = kind, .l_whence = SEEK_SET, .l_start = reader, .l_len = 1,
	};
}

/* Does a process hold the lock of the reader? */
static int is_alive(int dir, unsigned reader)
{
	struct flock l = lock_of(reader, F_WRLCK);

	return fcntl(dir, F_OFD_GETLK, &l) < 0 || l.l_type != F_UNLCK;
}

/* Remove the rings of a reader, if it has any. */
static void clean(const struct readers *r, uint32_t reader)
{
	bpf_delete(r->controls, &reader);
	for (uint32_t i = reader * r->cpus; i < (reader + 1) * r->cpus; i++)
		bpf_delete(r->rings, &i);
}

static int open_readers(const char *name, struct readers *r)
{
	r->controls = dt_open(name, DT_CONTROLS);
	r->rings = r->controls < 0 ? -1 : dt_open(name, DT_RINGS);
	r->cpus = r->rings < 0 ? 0 : bpf_map_entries(r->rings) / READERS_MOST;
	return r->rings < 0 ? -1 : 0;
}

static void close_readers(const struct readers *r)
{
	fd_close(r->controls);
	fd_close(r->rings);
}

/* Do as dt_reader_add. The caller has locked the directory dir. */
static int add(const char *name, const struct readers *r, struct channel *ch, int instance, int dir)
{
	uint32_t reader = READERS_MOST;
	struct flock l;

	for (uint32_t i = 0; i < READERS_MOST; i++)
		if (!is_alive(dir, i)) {
			clean(r, i);
			reader = i;
		}
	if (reader == READERS_MOST)
		return err_msg("%d programs read the marks of the request probe %s already",
			       READERS_MOST, name);
	l = lock_of(reader, F_RDLCK);
	*ch = (struct channel){ .outer = r->rings, .first = reader * r->cpus };
	if (channel_make(ch, instance, 1) < 0 || channel_ready(ch) < 0)
		return -1;
	if (fcntl(dir, F_OFD_SETLK, &l) < 0 || bpf_update(r->controls, &reader, &ch->control) < 0)
		return err_errno("unable to read the marks of the request probe %s", name);
	return 0;
}

int dt_reader_add(const char *name, struct channel *ch, int instance)
{
	struct readers r;
	int dir = -1;

	if (open_readers(name, &r) < 0)
		return -1;
	dir = dt_lock(name, LOCK_EX);
	if (dir < 0) {
		err_errno("unable to hold the request probe %s", name);
	} else if (add(name, &r, ch, instance, dir) < 0) {
		close(dir);
		dir = -1;
	} else {
		flock(dir, LOCK_UN);
	}
	close_readers(&r);
	return dir;
}

void dt_reader_remove(const char *name, const struct channel *ch)
{
	struct readers r;

	if (open_readers(name, &r) < 0)
		return;
	clean(&r, ch->first / r.cpus);
	close_readers(&r);
}
