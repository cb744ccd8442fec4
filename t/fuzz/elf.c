/* SPDX-License-Identifier: ISC */
/*
 * elf.c - a program or library, damaged or not
 *
 * Input: the name of a function or variable, a NUL, the file. A place that is found is inside the
 * file, and a failure is reported on one line. All functions are inside the file and sorted,
 * and the function around a place contains it; reading them says nothing. Nor does a search for a
 * thread-local variable, which finds no place of a variable that has no name, nor the reading of
 * .eh_frame, all of whose functions are inside the file.
 */
#include <sys/stat.h>

#include "fuzz.h"

static void check_functions(const char *path, size_t size)
{
	struct elf_functions f;
	struct stat st;
	int fd = file_open(path, FILE_REGULAR, O_RDONLY, &st);
	uint64_t into;
	size_t len;

	listen_to_stderr();
	elf_functions(fd, size, &f);
	heard(&len);
	must(!len);
	close(fd);
	for (size_t i = 0; i < f.n; i++) {
		must(f.v[i].from < size);
		must(f.v[i].size && f.v[i].name < f.names_size && f.names[f.v[i].name]);
		must(!i || f.v[i].from >= f.v[i - 1].from);
		must(elf_function_around(&f, f.v[i].from, &into) != NULL);
		must(into == 0);
	}
	for (uint64_t i = 0; i < 64; i++)
		if (elf_function_around(&f, i * 61, &into))
			must(into <= i * 61);
	free(f.v);
	free(f.names);
}

static void check_variable(const char *path, size_t size, const char *name)
{
	struct elf_tls t;
	struct stat st;
	int fd = file_open(path, FILE_REGULAR, O_RDONLY, &st);
	size_t len;

	listen_to_stderr();
	elf_tls(fd, size, name, &t);
	heard(&len);
	must(!len);
	close(fd);
	must(t.named || (!t.offset && !t.words));
	must(t.form <= ELF_TLS_DESC);
}

static void check_unwinding(const char *path, size_t size)
{
	struct elf_unwind u;
	struct stat st;
	int fd = file_open(path, FILE_REGULAR, O_RDONLY, &st);
	size_t len;

	listen_to_stderr();
	elf_unwind_read(fd, size, &u);
	heard(&len);
	must(!len);
	close(fd);
	must((u.n > 0) == (u.bytes != NULL) && u.size <= size);
	for (size_t i = 0; i < u.n; i++)
		must(u.v[i].from < size && u.v[i].place < u.size);
	free(u.v);
	free(u.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = next_part(&data, &size), path[PATH_MAX];
	struct elf_location p = { 0 };
	struct elf_file file;
	int r;

	put_file("elf", data, size);
	str_format(path, sizeof(path), "%s/elf", place());
	listen_to_stderr();
	must(!elf_file_open(&file, path, path, 0));
	r = elf_symbol(&file, name, 0, &p);
	close(file.fd);
	must_be_said(r);
	must(r || p.offset < size);
	check_functions(path, size);
	check_variable(path, size, name);
	check_unwinding(path, size);
	free(name);
	return 0;
}
