/* SPDX-License-Identifier: ISC */
/* again.c - run a main on input after input. Its own variables survive each run. */
#include <setjmp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "again.h"

enum { WORDS = 32, FILES = 8, OUT_MOST = 64 << 20, KEPT = 1 << 18, MAPS = 64 };

static jmp_buf left;
static int running, status, terminal;

/* ---- what the linker wraps (--wrap) ----------------------------------------------------- */

_Noreturn void __real_exit(int);
_Noreturn void __real__exit(int);
void *__real_mmap(void *, size_t, int, int, int, off_t);
int __real_munmap(void *, size_t);
int __real_isatty(int);

_Noreturn void __wrap_exit(int with);
_Noreturn void __wrap__exit(int with);
void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset);
int __wrap_munmap(void *at, size_t n);
int __wrap_isatty(int fd);
void __wrap_confine(void);
void __wrap_confine_paths(void);

_Noreturn void __wrap_exit(int with)
{
	if (!running)
		__real_exit(with);
	status = with;
	longjmp(left, 1);
}

_Noreturn void __wrap__exit(int with)
{
	if (!running)
		__real__exit(with);
	status = with;
	longjmp(left, 1);
}

static struct { void *at; size_t n; } maps[MAPS];

void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	void *p = __real_mmap(at, n, prot, flags, fd, offset);

	for (int i = 0; running && p != MAP_FAILED && i < MAPS; i++)
		if (!maps[i].at) {
			maps[i].at = p;
			maps[i].n = n;
			break;
		}
	return p;
}

int __wrap_munmap(void *at, size_t n)
{
	for (int i = 0; i < MAPS; i++)
		if (maps[i].at == at)
			maps[i].at = NULL;
	return __real_munmap(at, n);
}

int __wrap_isatty(int fd)
{
	return running ? fd == STDOUT_FILENO && terminal : __real_isatty(fd);
}

/* A tool confines itself; the fuzzer has to open files afterwards. */
void __wrap_confine(void)
{
}

void __wrap_confine_paths(void)
{
}

/* ---- what a run leaves behind ------------------------------------------------------------- */

/* The sanitizers call these functions; without them memory is not freed. */
int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void *, size_t),
					      void (*)(const volatile void *))
	__attribute__((weak));

/* The memory that the run has allocated: a hash table; 1 in place of what was freed. */
static uintptr_t kept[KEPT];
static uint32_t used[KEPT / 2];
static size_t nkept;

#define QUIET __attribute__((no_sanitize("address", "undefined")))

QUIET static void keep(const volatile void *p, size_t n)
{
	size_t i = ((uintptr_t)p >> 4) * 2654435761u % KEPT;

	(void)n;
	if (!running || !p)
		return;
	must(nkept < KEPT / 2);
	while (kept[i] > 1)
		i = (i + 1) % KEPT;
	if (!kept[i])
		used[nkept++] = (uint32_t)i;
	kept[i] = (uintptr_t)p;
}

QUIET static void forget(const volatile void *p)
{
	size_t i = ((uintptr_t)p >> 4) * 2654435761u % KEPT;

	if (!nkept || !p)
		return;
	for (; kept[i]; i = (i + 1) % KEPT)
		if (kept[i] == (uintptr_t)p) {
			kept[i] = 1;
			return;
		}
}

static void free_kept(void)
{
	size_t n = nkept;

	nkept = 0; /* so that forget finds nothing to do */
	for (size_t i = 0; i < n; i++) {
		uintptr_t p = kept[used[i]];

		kept[used[i]] = 0;
		if (p > 1)
			free((void *)p);
	}
}

/* of t/fuzz/state.ld */
extern char fuzz_data_begin[], fuzz_data_end[], fuzz_bss_begin[], fuzz_bss_end[];
static char *saved;

/* Copy variables, the room between them included, which the sanitizers watch. */
QUIET static void copy(void *to, const void *from, size_t n)
{
	volatile uint64_t *t = to;
	const volatile uint64_t *f = from;

	for (size_t i = 0; i < n / sizeof(*t); i++)
		if (t[i] != f[i])
			t[i] = f[i];
}

static void save(void)
{
	size_t data = (size_t)(fuzz_data_end - fuzz_data_begin);
	size_t bss = (size_t)(fuzz_bss_end - fuzz_bss_begin);

	saved = __real_mmap(NULL, data + bss, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	must(saved != MAP_FAILED);
	copy(saved, fuzz_data_begin, data);
	copy(saved + data, fuzz_bss_begin, bss);
}

static void restore(void)
{
	size_t data = (size_t)(fuzz_data_end - fuzz_data_begin);

	copy(fuzz_data_begin, saved, data);
	copy(fuzz_bss_begin, saved + data, (size_t)(fuzz_bss_end - fuzz_bss_begin));
	free_kept();
	for (int i = 0; i < MAPS; i++)
		if (maps[i].at) {
			__real_munmap(maps[i].at, maps[i].n);
			maps[i].at = NULL;
		}
}

/* ---- a run ---------------------------------------------------------------------------------- */

enum { FDS = 64 };

static int in = -1, out = -1, real_stdout;
static struct sigaction interrupt;

static void prepare(void)
{
	listen_to_stderr();
	in = memfd_create("stdin", MFD_CLOEXEC);
	out = memfd_create("stdout", MFD_CLOEXEC);
	real_stdout = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	must(in >= 0 && out >= 0 && real_stdout >= 0);
	sigaction(SIGINT, NULL, &interrupt);
	setenv("TZ", "UTC0", 1);
	tzset();
	place();
	if (__sanitizer_install_malloc_and_free_hooks)
		__sanitizer_install_malloc_and_free_hooks(keep, forget);
	save();
}

static void empty(int fd, const void *text, size_t n)
{
	must(!ftruncate(fd, 0) && !lseek(fd, 0, SEEK_SET));
	must(!n || write(fd, text, n) == (ssize_t)n);
	must(!lseek(fd, 0, SEEK_SET));
}

/* Split the command line; make the files that it names. Return argc. */
static int make_words(char **argv, char *line, const uint8_t **data, size_t *size)
{
	static char paths[FILES][PATH_MAX];
	int argc = 0, files = 0;

	for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) {
		char *mark = word + strcspn(word, "%&"), name[32];

		must(argc < WORDS - 1);
		argv[argc++] = word;
		for (char *space = word; (space = strchr(space, '^'));)
			*space = ' ';
		if (!*mark)
			continue;
		must(files < FILES);
		snprintf(name, sizeof(name), "file.%d", files);
		if (*mark == '%') {
			char *part = next_part(data, size);

			put_file(name, part, strlen(part));
			free(part);
		} else {
			put_file(name, *data, *size);
		}
		snprintf(paths[files], PATH_MAX, "%.*s%s/%s", (int)(mark - word), word, place(),
			 name);
		argv[argc - 1] = paths[files++];
	}
	argv[argc] = NULL;
	return argc;
}

/* Return a bit for each of the first descriptors that is open. */
static uint64_t open_files(void)
{
	uint64_t all = 0;

	for (int fd = 0; fd < FDS; fd++)
		all |= (uint64_t)(fcntl(fd, F_GETFD) >= 0) << fd;
	return all;
}

/* Run once; return the output in memory of its own. */
static char *run_once(const struct again *a, const char *line, const uint8_t *data, size_t size,
		      size_t *n)
{
	static char words[1024];
	char *argv[WORDS], *text;
	struct stat st;
	static uint64_t open_before; /* not a register, which longjmp may clobber */
	int argc;

	terminal = *line == '!';
	snprintf(words, sizeof(words), "tool %s", line + terminal);
	argc = make_words(argv, words, &data, &size);
	empty(in, data, size);
	empty(out, "", 0);
	listen_to_stderr();
	must(dup2(in, STDIN_FILENO) == STDIN_FILENO);
	must(dup2(out, STDOUT_FILENO) == STDOUT_FILENO);
	open_before = open_files();
	if (!setjmp(left)) {
		running = 1;
		status = a->main(argc, argv);
	}
	running = 0;
	must(dup2(real_stdout, STDOUT_FILENO) == STDOUT_FILENO);
	sigaction(SIGINT, &interrupt, NULL);
	restore();
	for (int fd = 0; fd < FDS; fd++)
		if (!(open_before >> fd & 1))
			close(fd);
	must(!fstat(out, &st) && st.st_size < OUT_MOST);
	*n = (size_t)st.st_size;
	text = malloc(*n + 1);
	must(text && pread(out, text, *n, 0) == (ssize_t)*n);
	text[*n] = '\0';
	return text;
}

void run_again(const struct again *a, const uint8_t *data, size_t size)
{
	size_t n = 0, m, said;
	const char *line, *heard_text;
	char *text, *same;
	int was;

	if (!size)
		return;
	if (!saved)
		prepare();
	while (a->lines[n])
		n++;
	line = a->lines[*data % n];
	text = run_once(a, line, data + 1, size - 1, &n);
	must(status == DONE || status == NO || status == REFUSED);
	heard_text = heard(&said);
	must_be_clean(heard_text, said);
	must(status != REFUSED || (said && heard_text[said - 1] == '\n'));
	a->check(text, n, status, line + (*line == '!'));
	if (size % 8 == 0) {
		was = status;
		same = run_once(a, line, data + 1, size - 1, &m);
		must(status == was && m == n && !memcmp(text, same, n));
		free(same);
	}
	free(text);
}

/* ---- checks --------------------------------------------------------------------------------- */

void must_be_clean(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		must((unsigned char)text[i] >= ' ' ? text[i] != 0x7f :
		     text[i] == '\n' || text[i] == '\t');
}

static int is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == ':' || c == '_';
}

/* Check a character or an entity; return the next one. */
static const char *must_be_text(const char *p, const char *end)
{
	const unsigned char *at = (const unsigned char *)p;
	uint32_t c = must_be_utf8(&at, (const unsigned char *)end);

	must(c != 0xfffe && c != 0xffff && c != '<');
	must(c >= ' ' || c == '\n' || c == '\t');
	if (c != '&')
		return (const char *)at;
	for (p++; *p != ';'; p++)
		must(p < end && (is_name(*p) || *p == '#'));
	return p + 1;
}

void must_be_xml(const char *p, size_t n)
{
	const char *end = p + n, *open[64];
	size_t length[64], depth = 0, elements = 0;

	while (p < end) {
		const char *name = ++p, *q;
		char quote;

		if (p[-1] != '<') {
			must(depth || p[-1] == '\n');
			p = must_be_text(p - 1, end);
			continue;
		}
		if (!strncmp(p, "![CDATA[", 8)) {
			p = strstr(p, "]]>");
			must(depth && p);
			p += 3;
			continue;
		}
		if (*p == '?' || !strncmp(p, "!--", 3)) {
			p = strstr(p, *p == '?' ? "?>" : "-->");
			must(p);
			p = strchr(p, '>') + 1;
			continue;
		}
		name += *p == '/';
		for (q = name; is_name(*q); q++)
			;
		must(q > name);
		if (*p == '/') {
			must(depth && *q == '>');
			depth--;
			must(length[depth] == (size_t)(q - name) &&
			     !memcmp(open[depth], name, length[depth]));
			p = q + 1;
			continue;
		}
		must(depth < 64 && (depth || !elements++));
		open[depth] = name;
		length[depth++] = (size_t)(q - name);
		for (p = q; *p != '>' && *p != '/';) {
			must(*p == ' ' || *p == '\n');
			for (p++; is_name(*p); p++)
				;
			must(p[0] == '=' && (p[1] == '"' || p[1] == '\''));
			quote = p[1];
			for (p += 2; *p != quote;)
				p = must_be_text(p, end);
			p++;
		}
		if (*p == '/') {
			depth--;
			p++;
		}
		must(*p == '>');
		p++;
	}
	must(!depth && elements == 1);
}
