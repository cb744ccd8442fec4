/* SPDX-License-Identifier: ISC */
/*
 * datwalk - print the contents of a trace.dat of version 6, without lib/
 *
 *	datwalk FILE
 * It prints, one line each: "page BYTES", "format SYSTEM:EVENT COUNT" with the number of
 * these events in the sub-buffers, "symbols BYTES", "name PID NAME",
 * "stats CPU READ-EVENTS", "clock WORDS", "cpu N PAGES EVENTS", "events ALL".
 * Exit: 1 and the reason if anything differs from trace-cmd.dat.v6(5), if sub-buffers
 * overlap, or if anything follows them.
 */
#include <sys/stat.h>

#include "prog.h"

static unsigned char *file, *p;
static size_t size;

#define check(truth) ((truth) ? (void)0 : broken(#truth, __LINE__))

static void broken(const char *what, int line)
{
	printf("broken at %zu: line %d: %s\n", (size_t)(p - file), line, what);
	exit(1);
}

static unsigned char *take(size_t n)
{
	check(n <= size - (size_t)(p - file));
	return (p += n) - n;
}

static uint64_t number(size_t n)
{
	uint64_t v64;
	uint32_t v32;
	uint16_t v16;
	unsigned char *at = take(n);

	memcpy(&v64, at, n == 8 ? 8 : 0);
	memcpy(&v32, at, n == 4 ? 4 : 0);
	memcpy(&v16, at, n == 2 ? 2 : 0);
	return n == 8 ? v64 : n == 4 ? v32 : n == 2 ? v16 : *at;
}

static void expect(const char *s, size_t n)
{
	check(!memcmp(take(n), s, n));
}

static const char *string(void)
{
	unsigned char *end = memchr(p, 0, size - (size_t)(p - file));

	check(end != NULL);
	return (char *)take((size_t)(end - p) + 1);
}

static char *text(size_t n)
{
	char *s = malloc(n + 1);

	memcpy(s, take(n), n);
	s[n] = '\0';
	return s;
}

static struct { char name[200]; unsigned id; unsigned long n; } events[4096];
static size_t nevents;

static void formats(const char *system, uint64_t n)
{
	while (n--) {
		char *s = text(number(8)), *name = strstr(s, "name: "), *id = strstr(s, "\nID: ");

		check(name && id && nevents < 4096);
		snprintf(events[nevents].name, sizeof(events->name), "%s:%.*s", system,
			 (int)strcspn(name + 6, "\n"), name + 6);
		for (size_t i = 0; i < nevents; i++)
			check(strcmp(events[i].name, events[nevents].name));
		events[nevents++].id = (unsigned)atoi(id + 5);
		free(s);
	}
}

static const int big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

static unsigned long walk(const unsigned char *subbuf, size_t bytes, unsigned wide)
{
	size_t at = 8 + wide, len, end;
	unsigned long n = 0;
	uint32_t w;

	memcpy(&w, subbuf + 8 + (big ? wide - 4 : 0), 4);
	end = at + (w & 0xfffff);
	check(end <= bytes);
	for (; at < end; at += len) {
		uint32_t type, delta, more = 0;
		unsigned short id;

		memcpy(&w, subbuf + at, 4);
		if (at + 8 <= end)
			memcpy(&more, subbuf + at + 4, 4);
		type = big ? w >> 27 : w & 31;
		delta = big ? w & 0x7ffffff : w >> 5;
		if (type == 29 && !delta)
			break;
		len = type == 29 || !type ? more + 4 : type >= 30 ? 8 : 4 + 4 * type;
		check(len >= 8 && len <= end - at);
		if (type >= 29)
			continue;
		memcpy(&id, subbuf + at + (type ? 4 : 8), 2);
		n++;
		for (size_t i = 0; i < nevents; i++)
			if (events[i].id == id) {
				events[i].n++;
				id = 0;
				break;
			}
		check(!id); /* each event has its format */
	}
	return n;
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1, clock = 0;
	unsigned long subbufs = 0, all = 0;
	uint64_t subbuf_size, cpus, last;
	unsigned wide;
	struct stat st;
	char *names, *line;

	if (fd < 0 || fstat(fd, &st))
		return 111;
	size = (size_t)st.st_size;
	p = file = malloc(size + 1);
	for (size_t n = 0; n < size;) {
		ssize_t got = read(fd, file + n, size - n);

		check(got > 0);
		n += (size_t)got;
	}
	expect("\x17\x08\x44" "tracing6", 12);
	check(number(1) == (uint64_t)big);
	wide = (unsigned)number(1);
	check(wide == 4 || wide == 8);
	subbuf_size = number(4);
	printf("page %lu\n", (unsigned long)subbuf_size);
	expect("header_page", 12);
	check(strstr(text(number(8)), "commit") != NULL);
	expect("header_event", 13);
	take(number(8));
	formats("ftrace", number(4));
	for (uint64_t n = number(4); n--;) {
		const char *system = string();

		formats(system, number(4));
	}
	last = number(4);
	printf("symbols %lu\n", (unsigned long)last);
	take(last);
	take(number(4));
	names = text(number(8));
	for (line = strtok(names, "\n"); line; line = strtok(NULL, "\n"))
		printf("name %s\n", line);
	cpus = number(4);
	expect("options  ", 10);
	for (uint64_t id; (id = number(2));) {
		char *s = text(number(4)), *read_events = strstr(s, "read events: ");

		clock |= id == 4;
		if (id == 2)
			printf("stats %d %d\n", atoi(s + 5),
			       read_events ? atoi(read_events + 13) : -1);
	}
	expect("flyrecord", 10);
	uint64_t at[2 * cpus + 1];
	for (uint64_t i = 0; i < 2 * cpus; i++)
		at[i] = number(8);
	if (clock)
		printf("clock %s", text(number(8)));
	last = ((size_t)(p - file) + subbuf_size - 1) / subbuf_size * subbuf_size;
	for (uint64_t cpu = 0; cpu < cpus; cpu++) {
		uint64_t from = at[2 * cpu], n = at[2 * cpu + 1];
		unsigned long count = 0;

		check(!(from % subbuf_size) && !(n % subbuf_size) && from <= size &&
		      n <= size - from);
		check(!n || from >= (uint64_t)(p - file));
		for (uint64_t other = 0; other < cpu; other++)
			check(from >= at[2 * other] + at[2 * other + 1] ||
			      from + n <= at[2 * other]);
		for (uint64_t i = 0; i < n; i += subbuf_size)
			count += walk(file + from + i, subbuf_size, wide);
		printf("cpu %lu %lu %lu\n", (unsigned long)cpu,
		       (unsigned long)(n / subbuf_size), count);
		subbufs += (unsigned long)(n / subbuf_size);
		all += count;
		if (from + n > last)
			last = from + n;
	}
	check(size <= last);
	for (size_t i = 0; i < nevents; i++)
		printf("format %s %lu\n", events[i].name, events[i].n);
	printf("events %lu\n", all);
	return 0;
}
