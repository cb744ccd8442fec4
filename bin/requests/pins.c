/* SPDX-License-Identifier: ISC */
/* pins.c - the directories of request probes in bpffs, and what is pinned there */
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/base.h"
#include "host/host.h"
#include "tool/tool.h"
#include "bpf/bpf.h"
#include "requests.h"
#include "pins.h"

/* The directory of all request probes, below bpffs. */
#define HOME "tfs"

#define OPEN_DIRECTORY (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/*
 * Write the name of the request probe's directory in HOME to the buffer to. Each dot
 * becomes a plus. Names in bpffs have no dots, and names of request probes have no plus.
 */
static void name_in_home(char *to, const char *name)
{
	str_format(to, DT_NAME, "%s", name);
	for (char *p = to; *p; p++)
		if (*p == '.')
			*p = '+';
}

/* Write the path of a pin to path, for error messages. */
static void dt_path(char *path, const char *name, const char *what)
{
	char in_home[DT_NAME];

	name_in_home(in_home, name);
	str_format(path, PATH_MAX, "%s/fs/bpf/" HOME "/%s%s%s", path_sysfs(), in_home,
		   what ? "/" : "", what ? what : "");
}

int dt_open_home(int make)
{
	char path[PATH_MAX];
	struct statfs fs;
	struct stat st;
	int bpffs, fd = -1;

	str_format(path, sizeof(path), "%s/fs/bpf", path_sysfs());
	bpffs = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (bpffs < 0)
		return errno == ENOENT ? -1 : err_file("unable to open %s", path);
	strcat(path, "/" HOME);
	errno = EPERM;
	/* a directory that an ordinary user has made would prevent root from making one */
	if (make && geteuid())
		err_msg("unable to make %s: Operation not permitted; only root may, with "
			"CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN", path);
	else if (make && mkdirat(bpffs, HOME, 0700) < 0 && errno != EEXIST)
		err_file("unable to make %s", path);
	else if ((fd = openat(bpffs, HOME, OPEN_DIRECTORY)) < 0 && errno != ENOENT)
		err_file("unable to open %s", path);
	fd_close(bpffs);
	if (fd >= 0 && (fstat(fd, &st) < 0 || fstatfs(fd, &fs) < 0 || st.st_uid != geteuid() ||
			st.st_mode & 077 || (unsigned)fs.f_type != K_BPF_FS_MAGIC)) {
		err_msg("%s must be a directory that only this user can enter; remove it",
			path);
		close(fd);
		fd = -1;
		errno = EPERM;
	}
	return fd;
}

int dt_open_probe(const char *name)
{
	char in_home[DT_NAME];
	int home = dt_open_home(0), fd;

	if (home < 0)
		return -1;
	name_in_home(in_home, name);
	fd = openat(home, in_home, OPEN_DIRECTORY);
	if (fd < 0 && errno != ENOENT)
		err_file("unable to open the request probe %s", name);
	fd_close(home);
	return fd;
}

/*
 * Call bpf_pin, or for fd -1 bpf_pinned, for this name in the directory. Before Linux 6.5
 * bpf(2) accepts no directory descriptor. So change to the directory and use a relative
 * path, because no user can replace the working directory.
 */
static int in_directory(int dir, const char *what, int fd)
{
	int back = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), r = -1, e;

	if (back < 0)
		return -1;
	if (!fchdir(dir))
		r = fd < 0 ? bpf_pinned(what) : bpf_pin(fd, what);
	e = errno;
	if (fchdir(back) < 0 && r >= 0) {
		e = errno;
		r = -1;
	}
	close(back);
	errno = e;
	return r;
}

int dt_pinned(const char *name, const char *what)
{
	char path[PATH_MAX];
	int dir = dt_open_probe(name), fd;

	if (dir < 0)
		return -1;
	fd = in_directory(dir, what, -1);
	if (fd < 0 && errno != ENOENT) {
		dt_path(path, name, what);
		err_capability(CAPS_DAC_OVERRIDE | CAPS_BPF, "unable to open %s", path);
	}
	fd_close(dir);
	return fd;
}

int dt_pin(const char *name, const char *what, int fd)
{
	char path[PATH_MAX];
	int dir = dt_open_probe(name), r;

	dt_path(path, name, what);
	r = dir < 0 ? -1 : in_directory(dir, what, fd);
	if (r < 0 && (dir >= 0 || errno == ENOENT))
		err_capability(CAPS_DAC_OVERRIDE | CAPS_BPF, "unable to pin %s", path);
	fd_close(dir);
	return r < 0 ? -1 : 0;
}

int dt_unpin(const char *name, const char *what)
{
	int dir = dt_open_probe(name), r;

	if (dir < 0)
		return -1;
	r = unlinkat(dir, what, 0);
	if (r < 0 && errno != ENOENT)
		err_file("unable to remove %s of the request probe %s", what, name);
	fd_close(dir);
	return r;
}

int dt_make_directory(const char *name)
{
	char in_home[DT_NAME];
	int home = dt_open_home(1), r;

	if (home < 0)
		return -1;
	name_in_home(in_home, name);
	r = mkdirat(home, in_home, 0700);
	if (r < 0 && errno == EEXIST)
		err_msg("the request probe %s is on, or left over from a killed dt-probe: run "
			"dt-probe off first", name);
	else if (r < 0)
		err_file("unable to make the request probe %s", name);
	fd_close(home);
	return r;
}

int dt_there(const char *name)
{
	int dir = dt_open_probe(name);

	fd_close(dir);
	return dir >= 0 || errno != ENOENT;
}

const char *dt_name(void)
{
	const char *name = getenv("TFS_PROBE");

	return name && *name ? name : "dt";
}

/* The name may be that of a session's instance, which may be long. */
void dt_check_name(const struct tool *t, const char *name)
{
	if (!text_name_fits(name, DT_NAME - 1))
		usage_error(t, "not a request probe's name: '%.80s'; use letters, digits, _ . -",
			    name);
}

int dt_ready(void)
{
	char path[PATH_MAX];
	struct statfs fs;

	str_format(path, sizeof(path), "%s/fs/bpf", path_sysfs());
	if (!statfs(path, &fs) && (unsigned)fs.f_type == K_BPF_FS_MAGIC)
		return 0;
	return err_msg("no bpffs at %s: as root, mount -t bpf bpf %s", path, path);
}

int dt_open(const char *name, const char *what)
{
	int fd = dt_pinned(name, DT_PIDS);

	if (fd >= 0 && strcmp(what, DT_PIDS)) {
		close(fd);
		fd = dt_pinned(name, what);
	}
	if (fd < 0 && errno == ENOENT)
		err_msg("the request probe %s is off; begin it with dt-probe on", name);
	return fd;
}

int dt_flags(const char *name)
{
	struct dt_settings s;
	uint32_t zero = 0;
	int map = dt_open(name, DT_SETTINGS), r;

	if (map < 0)
		return -1;
	r = bpf_lookup(map, &zero, &s) < 0 ?
	    err_capability(CAPS_BPF, "unable to read the settings of the request probe %s", name) :
	    (int)s.flags;
	close(map);
	return r;
}

int dt_remove_directory(const char *name)
{
	char in_home[DT_NAME];
	int home = dt_open_home(0), r = 0;

	if (home < 0)
		return 0;
	name_in_home(in_home, name);
	if (unlinkat(home, in_home, AT_REMOVEDIR) < 0 && errno != ENOENT)
		r = err_file("unable to remove the directory of the request probe %s", name);
	close(home);
	return r;
}
