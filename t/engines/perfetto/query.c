/* SPDX-License-Identifier: ISC */
/*
 * query - load a trace into Perfetto's trace processor, and print what SQL answers
 *
 *	query LIBRARY TRACE SQL...
 *
 * LIBRARY is libtest_trace_processor.so of Debian's package chromium-shell: the trace processor
 * after three C++ functions. This program calls them with the layouts that libc++ and the
 * Itanium C++ ABI give to their values on x86_64. A row is a line with a tab between columns,
 * and an empty line follows each answer. The first line of an answer has the names of its columns
 * and is left out.
 * Exit: 0 done, 1 the trace processor refused the trace, or SQL; 111 no such file or library.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* the functions' names, as C++ writes them for the linker */
#define CLASS "4base4test22TestTraceProcessorImpl"
#define CONSTRUCT "_ZN" CLASS "C1Ev"
#define PARSE "_ZN" CLASS "10ParseTraceERKNSt3__16vectorIcNS2_9allocatorIcEEEE"
#define ASK "_ZNK" CLASS \
	"12ExecuteQueryERKNSt3__112basic_stringIcNS2_11char_traitsIcEENS2_9allocatorIcEEEE"

enum { OK = 1 };        /* absl::Status of success */

/* std::vector */
struct vector {
	char *begin, *end, *room;
};

/* std::string; a string of up to 22 bytes is in the object itself, after its length times 2 */
union string {
	struct {
		size_t room_and_1, size;
		const char *text;
	} is_long;
	unsigned char is_short[24];
};

/* base::test::QueryResultOrError */
struct answer {
	struct vector rows;     /* of vectors of strings */
	union string error;
};

/* absl::Status, if it is an error with a message */
struct refusal {
	int references, code;
	union string message;
};

static const char *text_of(const union string *s, size_t *n)
{
	int is_long = s->is_short[0] & 1;

	*n = is_long ? s->is_long.size : s->is_short[0] / 2;
	return is_long ? s->is_long.text : (const char *)s->is_short + 1;
}

static int say(const char *what, const union string *why)
{
	size_t n;
	const char *text = text_of(why, &n);

	fprintf(stderr, "query: %s: %.*s\n", what, (int)n, text);
	return 1;
}

static struct vector file_of(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct vector v = { 0 };
	size_t room = 1 << 28, n;

	if (!f || !(v.begin = malloc(room))) {
		perror(path);
		exit(111);
	}
	n = fread(v.begin, 1, room, f);
	fclose(f);
	v.end = v.begin + n;
	v.room = v.begin + room;
	return v;
}

static void print(const struct answer *a)
{
	const struct vector *begin = (void *)a->rows.begin, *end = (void *)a->rows.end;

	for (const struct vector *row = begin; row < end; row++) {
		const union string *v = (void *)row->begin;

		for (; row > begin && v < (const union string *)(void *)row->end; v++) {
			size_t n;
			const char *text = text_of(v, &n);

			if (v != (void *)row->begin)
				putchar('\t');
			fwrite(text, 1, n, stdout);
		}
		if (row > begin)
			putchar('\n');
	}
	putchar('\n');
}

int main(int argc, char **argv)
{
	/* a class with a destructor is returned where the first argument points */
	void (*construct)(void *), (*ask)(struct answer *, void *, const union string *);
	void (*parse)(void *, void *, const struct vector *);
	void *library, *self[2], *status;
	struct vector file;

	if (argc < 3)
		return fputs("usage: query LIBRARY TRACE SQL...\n", stderr), 100;
	library = dlopen(argv[1], RTLD_NOW);
	if (library) {
		*(void **)&construct = dlsym(library, CONSTRUCT);
		*(void **)&parse = dlsym(library, PARSE);
		*(void **)&ask = dlsym(library, ASK);
	}
	if (!library || !construct || !parse || !ask)
		return fprintf(stderr, "query: %s\n", dlerror()), 111;
	file = file_of(argv[2]);
	construct(self);
	parse(&status, self, &file);
	if (status != (void *)OK)
		return say("the trace is refused", &((struct refusal *)status)->message);
	for (int i = 3; i < argc; i++) {
		const union string sql = {
			.is_long = { (strlen(argv[i]) + 1) | 1, strlen(argv[i]), argv[i] }
		};
		struct answer a;
		size_t n;

		ask(&a, self, &sql);
		text_of(&a.error, &n);
		if (n)
			return say("SQL is refused", &a.error);
		print(&a);
	}
	return 0;
}
