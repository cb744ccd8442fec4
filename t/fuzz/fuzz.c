/* SPDX-License-Identifier: ISC */
/* fuzz.c - functions that all harnesses share */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sanitizer/common_interface_defs.h>

#include "fuzz.h"

static int real_stderr = STDERR_FILENO;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	real_stderr = dup(STDERR_FILENO);
	__sanitizer_set_report_fd((void *)(intptr_t)real_stderr);
	return 0;
}

void untrue(const char *file, int line, const char *what)
{
	dprintf(real_stderr, "%s:%d: must be true: %s\n", file, line, what);
	abort();
}

char *next_part(const uint8_t **data, size_t *size)
{
	const uint8_t *end = *size ? memchr(*data, '\0', *size) : NULL;
	size_t n = end ? (size_t)(end - *data) : *size;
	char *part = malloc(n + 1);

	must(part);
	if (n)
		memcpy(part, *data, n);
	part[n] = '\0';
	*data += n + (end != NULL);
	*size -= n + (end != NULL);
	return part;
}

void *copy_of(const void *data, size_t n)
{
	void *copy = malloc(n ? n : 1);

	must(copy);
	if (n)
		memcpy(copy, data, n);
	return copy;
}

/* ---- files ------------------------------------------------------------------- */

const char *place(void)
{
	static char dir[64];

	if (!*dir) {
		const char *given = getenv("FUZZ_DIR");

		must(!given || strlen(given) < sizeof(dir));
		strcpy(dir, given ? given : "/tmp/fuzz.XXXXXX");
		must(given || mkdtemp(dir));
	}
	return dir;
}

void put_file(const char *path, const void *text, size_t n)
{
	char whole[PATH_MAX];
	int fd;

	snprintf(whole, sizeof(whole), "%s/%s", place(), path);
	for (char *p = whole + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		must(!mkdir(whole, 0700) || errno == EEXIST);
	}
	fd = open(whole, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	must(fd >= 0);
	must(!n || write(fd, text, n) == (ssize_t)n);
	close(fd);
}

char memory_path[64];

int memory_file(const uint8_t *data, size_t size)
{
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("input", 0);
		must(fd >= 0);
		snprintf(memory_path, sizeof(memory_path), "/proc/self/fd/%d", fd);
	}
	must(!ftruncate(fd, 0) && !lseek(fd, 0, SEEK_SET));
	must(!size || pwrite(fd, data, size, 0) == (ssize_t)size);
	return fd;
}

static void put_task(int pid, char state, int threads)
{
	char path[64], stat[256];

	snprintf(path, sizeof(path), "proc/%d/task/%d/stat", pid, pid);
	snprintf(stat, sizeof(stat), "%d (task %d) %c 1 %d %d 0 -1 4194304 1 0 0 0 1 2 3 4 20 "
		 "0 %d 0 1000 4096 100\n", pid, pid, state, pid, pid, threads);
	put_file(path, stat, strlen(stat));
}

void prepare_procfs(void)
{
	char path[PATH_MAX];

	put_task(ALSO_ALIVE, 'S', 1);
	put_task(ALIVE, 'R', 2);
	put_task(ZOMBIE, 'Z', 1);
	put_task(ZOMBIE_WITH_THREADS, 'Z', 3);
	snprintf(path, sizeof(path), "%s/proc", place());
	setenv("TRACER_PROCFS_PATH", path, 1);
}

int prepare_tracing(void)
{
	static const char *const files[] = {
		"events/raw_syscalls/enable", "events/syscalls/enable",
		"events/syscalls/sys_enter_openat/enable", "instances/none",
	};
	char path[PATH_MAX];
	int fd;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "tracing/%s", files[i]);
		put_file(path, "", 0);
	}
	snprintf(path, sizeof(path), "%s/tracing", place());
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	must(fd >= 0);
	return fd;
}

/* ---- stderr ------------------------------------------------------------------ */

void listen_to_stderr(void)
{
	static int listening;

	/* not before the first input: the fuzzer keeps the real one until then */
	if (!listening) {
		int fd = memfd_create("stderr", MFD_CLOEXEC);

		must(fd >= 0 && dup2(fd, STDERR_FILENO) == STDERR_FILENO);
		close(fd);
		listening = 1;
	}
	must(!ftruncate(STDERR_FILENO, 0) && !lseek(STDERR_FILENO, 0, SEEK_SET));
}

const char *heard(size_t *len)
{
	static char text[1 << 20];
	ssize_t n = pread(STDERR_FILENO, text, sizeof(text) - 1, 0);

	must(n >= 0);
	text[n] = '\0';
	*len = (size_t)n;
	return text;
}

void must_be_said(int result)
{
	size_t n;
	const char *text = heard(&n), *tell = strstr(text, ": fatal: ");

	must(result == 0 || result == -1);
	if (!result) {
		must(n == 0);
		return;
	}
	must(n > 0 && n <= 1024 && text[n - 1] == '\n' && tell && tell[9] != '\n');
	for (size_t i = 0; i + 1 < n; i++)
		must((unsigned char)text[i] >= ' ' && text[i] != 0x7f);
}

/* ---- JSON -------------------------------------------------------------------- */

uint32_t must_be_utf8(const unsigned char **at, const unsigned char *end)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = *at;
	unsigned n = *p < 0x80 ? 1 : *p < 0xc0 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3
		     : *p < 0xf8 ? 4 : 0;
	uint32_t c;

	must(n && n <= (size_t)(end - p));
	c = n == 1 ? *p : *p & (0x7fu >> n);
	for (unsigned i = 1; i < n; i++) {
		must((p[i] & 0xc0) == 0x80);
		c = c << 6 | (p[i] & 0x3f);
	}
	must(c >= least[n] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff));
	*at += n;
	return c;
}

static const unsigned char *at, *end;

static void string(void)
{
	must(*at == '"');
	for (at++; *at != '"';) {
		must(at < end);
		if (*at != '\\') {
			must(must_be_utf8(&at, end) >= ' ');
			continue;
		}
		at++;
		must(*at && strchr("\"\\/bfnrtu", *at));
		if (*at++ == 'u')
			for (int i = 0; i < 4; i++, at++)
				must(*at && strchr("0123456789abcdefABCDEF", *at));
	}
	at++;
}

static void integer(void)
{
	must(*at >= '0' && *at <= '9');
	must(*at != '0' || at[1] < '0' || at[1] > '9');
	while (*at >= '0' && *at <= '9')
		at++;
}

static void value(int depth)
{
	unsigned char open = *at, close = open == '{' ? '}' : ']';

	must(at < end && depth);
	if (open == '"') {
		string();
	} else if (open == '-' || (open >= '0' && open <= '9')) {
		at += open == '-';
		integer();
		if (*at == '.') {
			at++;
			must(*at >= '0' && *at <= '9');
			while (*at >= '0' && *at <= '9')
				at++;
		}
	} else if (open == '{' || open == '[') {
		for (at++; *at != close; at += *at == ',') {
			if (open == '{') {
				string();
				must(*at++ == ':');
			}
			value(depth - 1);
			must(*at == close || (*at == ',' && at[1] != close));
		}
		at++;
	} else if (!strncmp((const char *)at, "null", 4) ||
		   !strncmp((const char *)at, "true", 4)) {
		at += 4;
	} else if (!strncmp((const char *)at, "false", 5)) {
		at += 5;
	} else {
		must(!"a value");
	}
}

void must_be_json(const char *text, size_t n, int depth)
{
	char *copy = malloc(n + 1);

	must(copy);
	memcpy(copy, text, n);
	copy[n] = '\0';
	at = (const unsigned char *)copy;
	end = at + n;
	value(depth);
	must(at == end);
	free(copy);
}
