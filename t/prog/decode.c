/* SPDX-License-Identifier: ISC */
/*
 * decode [-BL] [-l BYTES] [-V VERSION] [-ctqsabohx] [-m VMEMMAP] [-n TIMES] INSTANCE [ROOT]
 *
 * Read per_cpu/cpuN/trace_pipe_raw of the instance to their ends and print the
 * text of all, merged by time, without the header. ROOT has the files that instances
 * lack: saved_cmdlines, printk_formats; by default it is ../.. of the instance. Both
 * may be plain directories of the same files.
 *	-B  the sub-buffers are of a big-endian kernel; -L of a little-endian kernel;
 *	    -l 4 or 8: with a long of that size; default: as this machine
 *	-V  the kernel's version; default: this kernel's
 *	-c  the clock is a counter; -t with thread groups; -q without irq-info;
 *	    -s with sym-offset; -a with sym-addr; -b with bitmask-list
 *	-n  print only how many ns of CPU time an event takes, decoded so many times
 *	-o  print the names of the formats that could not be compiled whole, after
 *	    compiling all of them
 *	-x  print control characters unchanged
 *	-h  print the header only, as of an empty buffer
 *	-m  the address of the kernel's array of struct page
 */
#include <sys/utsname.h>
#include <time.h>

#include "base/base.h"
#include "event/event.h"
#include "live/live.h"

#include "prog.h"

enum { MOST_CPUS = 64, LINE = 65536 };

struct stream {
	char *subbufs;
	size_t n, at;
	struct subbuf subbuf;
	struct record r;
	int more, first;
};

static struct event_set events;
static struct line_format line = { .events = &events };
static struct subbuf_format format;
static struct stream streams[MOST_CPUS];

static char *slurp(int dir, const char *file, size_t *len)
{
	char *text = file_read(dir, file, len);

	if (!text)
		*len = 0;
	return text;
}

static void read_formats(int dir)
{
	int fd = openat(dir, "events", O_RDONLY | O_DIRECTORY);
	DIR *systems = fdopendir(fd), *names;
	struct dirent *s, *e;
	char path[600];
	size_t len;

	while (systems && (s = readdir(systems))) {
		snprintf(path, sizeof(path), "events/%s", s->d_name);
		fd = *s->d_name == '.' ? -1 : openat(dir, path, O_RDONLY | O_DIRECTORY);
		names = fd < 0 ? NULL : fdopendir(fd);
		while (names && (e = readdir(names))) {
			char *text;

			snprintf(path, sizeof(path), "events/%s/%s/format", s->d_name, e->d_name);
			text = *e->d_name == '.' ? NULL : slurp(dir, path, &len);
			if (text && !event_add(&events, s->d_name, text, len))
				fprintf(stderr, "no format: %s\n", path);
			free(text);
		}
		if (names)
			closedir(names);
	}
}

static void read_subbufs(struct stream *s, int fd)
{
	size_t room = 0;
	ssize_t n;

	for (;; s->n += (size_t)n) {
		if (room - s->n < format.size) {
			room = 2 * room + format.size;
			s->subbufs = realloc(s->subbufs, room);
		}
		n = read(fd, s->subbufs + s->n, format.size);
		if (n <= 0)
			break;
	}
}

/* Read the stream's next record into r. Return 0 at the end. */
static int advance(struct stream *s, int cpu)
{
	for (;;) {
		if (subbuf_next(&s->subbuf, &s->r))
			return 1;
		if (s->at >= s->n)
			return 0;
		size_t size = s->n - s->at < format.size ? s->n - s->at : format.size;

		subbuf_open(&s->subbuf, &format, s->subbufs + s->at, size, cpu);
		s->at += size;
		s->first = 1;
	}
}

/* Write all lines to out if it is not NULL. Return their number. */
static unsigned long decode(FILE *out)
{
	static char buf[LINE];
	unsigned long n = 0;

	for (int i = 0; i < MOST_CPUS; i++) {
		streams[i].at = 0;
		streams[i].more = advance(&streams[i], i);
	}
	for (;; n++) {
		int best = -1;
		size_t len;

		for (int i = 0; i < MOST_CPUS; i++)
			if (streams[i].more &&
			    (best < 0 || streams[i].r.ts < streams[best].r.ts))
				best = i;
		if (best < 0)
			return n;
		struct stream *s = &streams[best];

		if (s->first && s->subbuf.lost) {
			len = line_lost(best, s->subbuf.lost, buf, sizeof(buf));
			if (out)
				fwrite(buf, 1, len, out);
		}
		s->first = 0;
		len = line_print(&line, &s->r, buf, sizeof(buf));
		if (out)
			fwrite(buf, 1, len, out);
		s->more = advance(s, best);
	}
}

/* Format the lines of one CPU after the other, and write nothing. Return their number. */
static unsigned long decode_only(void)
{
	static char buf[LINE];
	unsigned long n = 0;

	for (int i = 0; i < MOST_CPUS; i++) {
		struct stream *s = &streams[i];

		for (s->at = 0; advance(s, i); n++)
			line_print(&line, &s->r, buf, sizeof(buf));
	}
	return n;
}

int main(int argc, char **argv)
{
	struct utsname un;
	char path[PATH_MAX], *text;
	size_t len;
	long times = 0;
	int c, dir, root, opaque = 0, header = 0;

	uname(&un);
	events.long_size = sizeof(long);
	events.big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	events.version = kernel_version(un.release);
	events.load_symbols = symbols_load;
	while ((c = getopt(argc, argv, "BLl:V:ctqsabn:ohxm:")) != -1)
		switch (c) {
		case 'B': events.big = 1; break;
		case 'L': events.big = 0; break;
		case 'l': events.long_size = atoi(optarg); break;
		case 'V': events.version = kernel_version(optarg); break;
		case 'c': line.raw_clock = 1; break;
		case 't': line.tgid = 1; break;
		case 'n': times = atol(optarg); break;
		case 'o': opaque = 1; break;
		case 's': events.sym_offset = 1; break;
		case 'a': events.sym_addr = 1; break;
		case 'b': events.bitmask_list = 1; break;
		case 'q': line.no_irq_info = 1; break;
		case 'x': events.exact = 1; break;
		case 'h': header = 1; break;
		case 'm': events.vmemmap = strtoull(optarg, NULL, 16); break;
		default: return 100;
		}
	if (!argv[optind])
		return 100;
	dir = open(argv[optind], O_RDONLY | O_DIRECTORY);
	root = argv[optind + 1] ? open(argv[optind + 1], O_RDONLY | O_DIRECTORY)
				: openat(dir, "../..", O_RDONLY | O_DIRECTORY);
	if (dir < 0 || root < 0) {
		perror(argv[optind]);
		return 111;
	}
	format.big = events.big;
	text = slurp(dir, "events/header_page", &len);
	if (!text)
		text = slurp(root, "events/header_page", &len);
	if (subbuf_format_parse(&format, text ? text : "") < 0)
		fprintf(stderr, "no header_page\n");
	free(text);
	read_formats(dir);
	text = slurp(root, "saved_cmdlines", &len);
	comms_parse(&events.comms, text, len);
	free(text);
	text = slurp(root, "saved_tgids", &len);
	comms_parse_tgids(&events.comms, text, len, NULL, NULL);
	free(text);
	text = slurp(root, "printk_formats", &len);
	events_strings(&events, text, len);
	free(text);
	if (opaque) {
		for (uint32_t id = 0; id < events.size; id++) {
			struct event *e = event_by_id(&events, id);

			if (e && (event_prepare(&events, e) < 0 || e->unclear))
				printf("%s:%s\n", e->system, e->name);
		}
		return 0;
	}
	for (int i = 0; i < MOST_CPUS; i++) {
		int fd;

		snprintf(path, sizeof(path), "per_cpu/cpu%d/trace_pipe_raw", i);
		fd = openat(dir, path, O_RDONLY | O_NONBLOCK);
		if (fd >= 0)
			read_subbufs(&streams[i], fd);
	}
	if (header) {
		len = line_header(&line, 0, path, sizeof(path));
		fwrite(path, 1, len, stdout);
		return 0;
	}
	if (times) {
		struct timespec a, b;
		unsigned long n = decode_only();
		double ns;

		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
		for (long i = 0; i < times; i++)
			decode_only();
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
		ns = (double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec);
		printf("%lu events, %.1f ns each\n", n, ns / (double)times / (double)n);
		return 0;
	}
	decode(stdout);
	return 0;
}
