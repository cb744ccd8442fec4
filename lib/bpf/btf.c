/* SPDX-License-Identifier: ISC */
/* btf.c - find structure members and functions in the kernel's BTF */
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/base.h"
#include "bpf/bpf.h"

enum { MAGIC = 0xeb9f };

/* Kinds of types (include/uapi/linux/btf.h). */
enum { INT = 1, ARRAY = 3, STRUCT = 4, UNION = 5, ENUM = 6, TYPEDEF = 8, FUNC = 12,
       FUNC_PROTO = 13, VAR = 14, DATASEC = 15, DECL_TAG = 17, ENUM64 = 19, KINDS = 20 };

/* Bytes that follow the three words of a type: fixed, and for each of its elements. */
static const struct {
	unsigned fixed, each;
} after[KINDS] = {
	[INT] = { 4, 0 }, [ARRAY] = { 12, 0 }, [STRUCT] = { 0, 12 }, [UNION] = { 0, 12 },
	[ENUM] = { 0, 8 }, [FUNC_PROTO] = { 0, 8 }, [VAR] = { 4, 0 }, [DATASEC] = { 0, 12 },
	[DECL_TAG] = { 4, 0 }, [ENUM64] = { 0, 12 },
};

struct type {
	uint32_t number, name, info, kind, n;
	const char *more;
};

static uint32_t word(const char *p)
{
	uint32_t n;

	memcpy(&n, p, sizeof(n));
	return n;
}

/* Decode the type at *p and move *p after it. Return 0 if there is no more. */
static int next_type(const struct btf *b, const char **p, struct type *t)
{
	size_t left = (size_t)(b->types_end - *p), size;

	if (left < 12)
		return 0;
	t->name = word(*p);
	t->info = word(*p + 4);
	t->kind = t->info >> 24 & 31;
	t->n = t->info & 0xffff;
	t->more = *p + 12;
	t->number++;
	if (t->kind >= KINDS)
		return 0;
	size = 12 + after[t->kind].fixed + (size_t)after[t->kind].each * t->n;
	if (left < size)
		return 0;
	*p += size;
	return 1;
}

/* Is this the name at that offset of the strings? */
static int is_named(const struct btf *b, uint32_t at, const char *name)
{
	size_t n = strlen(name) + 1;

	return at < b->nstrings && b->nstrings - at >= n && !memcmp(b->strings + at, name, n);
}

/* Find a type by its name and kind, or by its number if name is NULL. Return 1, or 0. */
static int find(const struct btf *b, struct type *t, const char *name, uint32_t kind,
		uint32_t number)
{
	const char *p = b->types;

	*t = (struct type){ 0 };
	while (next_type(b, &p, t))
		if (name ? t->kind == kind && is_named(b, t->name, name) : t->number == number)
			return 1;
	return 0;
}

/*
 * Return the offset of the member in bits, or -1. A damaged BTF could nest without end, so
 * look into at most *most unnamed members, and at most depth levels deep.
 */
static int64_t member_at(const struct btf *b, const struct type *in, const char *member,
			 int depth, int *most)
{
	for (uint32_t i = 0; i < in->n; i++) {
		const char *m = in->more + (size_t)12 * i;
		uint32_t name = word(m), at = word(m + 8);
		struct type t;
		int64_t inside;

		/* in a structure with bit fields the upper byte is the size of the field */
		if (in->info >> 31)
			at &= 0xffffff;
		if (is_named(b, name, member))
			return at;
		if (!is_named(b, name, "") || !depth || !*most)
			continue;
		--*most;
		if (!find(b, &t, NULL, 0, word(m + 4)) || (t.kind != STRUCT && t.kind != UNION))
			continue;
		inside = member_at(b, &t, member, depth - 1, most);
		if (inside >= 0)
			return at + inside;
	}
	return -1;
}

int btf_member(const struct btf *b, const char *structure, const char *member)
{
	struct type t;
	int most = 256;
	int64_t at = -1;

	if (find(b, &t, structure, STRUCT, 0))
		at = member_at(b, &t, member, 4, &most);
	return at < 0 || at % 8 || at / 8 > INT_MAX ? -1 : (int)(at / 8);
}

uint32_t btf_function(const struct btf *b, const char *name)
{
	struct type t;

	return find(b, &t, name, FUNC, 0) ? t.number : 0;
}

uint32_t btf_structure(const struct btf *b, const char *name)
{
	struct type t;

	return find(b, &t, name, STRUCT, 0) ? t.number : 0;
}

void btf_alone(const struct btf *b, struct bpf_alone *alone)
{
	*alone = (struct bpf_alone){
		btf_function(b, "bpf_preempt_disable"), btf_function(b, "bpf_preempt_enable"),
		btf_function(b, "bpf_local_irq_save"), btf_function(b, "bpf_local_irq_restore"),
	};
	if (!alone->disable || !alone->enable || !alone->save || !alone->restore)
		*alone = (struct bpf_alone){ 0 };
}

/* Each tracepoint has a type for its programs (include/trace/bpf_probe.h). */
uint32_t btf_tracepoint(const struct btf *b, const char *name)
{
	char type[128];
	struct type t;

	str_format(type, sizeof(type), "btf_trace_%s", name);
	return find(b, &t, type, TYPEDEF, 0) ? t.number : 0;
}

/* Map the file, which takes no time, if the kernel can do that (Linux 6.16). */
static void map_file(struct btf *b, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && st.st_size > 0) {
		b->size = (size_t)st.st_size;
		b->text = mmap(NULL, b->size, PROT_READ, MAP_PRIVATE, fd, 0);
		b->mapped = b->text != MAP_FAILED;
	}
	fd_close(fd);
}

int btf_read(struct btf *b, const char *path)
{
	uint32_t head, type_at, type_len, string_at, string_len;

	*b = (struct btf){ 0 };
	map_file(b, path);
	if (!b->mapped)
		b->text = file_read(AT_FDCWD, path, &b->size);
	if (!b->text)
		return -1;
	errno = EINVAL;
	if (b->size < 24)
		goto bad;
	head = word(b->text + 4);
	type_at = word(b->text + 8);
	type_len = word(b->text + 12);
	string_at = word(b->text + 16);
	string_len = word(b->text + 20);
	if ((word(b->text) & 0xffff) != MAGIC && word(b->text) >> 16 != MAGIC)
		goto bad;
	if (head > b->size || type_at > b->size - head || type_len > b->size - head - type_at ||
	    string_at > b->size - head || string_len > b->size - head - string_at)
		goto bad;
	b->types = b->text + head + type_at;
	b->types_end = b->types + type_len;
	b->strings = b->text + head + string_at;
	b->nstrings = string_len;
	return 0;
bad:
	btf_free(b);
	return -1;
}

void btf_free(struct btf *b)
{
	if (b->mapped)
		munmap(b->text, b->size);
	else
		free(b->text);
	b->text = NULL;
}
