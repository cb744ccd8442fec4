/* SPDX-License-Identifier: ISC */
/*
 * usdt.c - the arguments of a USDT probe
 *
 * The argument SIZE@OPERAND is where the value is when the program reaches the probe: an operand of
 * the assembler. A negative SIZE means a signed value. The kernel can read registers, constants,
 * and memory at a register plus a constant. These are translated for x86 and arm64.
 */
#include <elf.h>

#include "base/base.h"
#include "usdt.h"

/* Return the length of a number with an optional sign at s, or 0. */
static size_t number(const char *s)
{
	size_t sign = *s == '-' || *s == '+', n;

	n = !strncmp(s + sign, "0x", 2) ? 2 + strspn(s + sign + 2, "0123456789abcdefABCDEF") :
	    strspn(s + sign, "0123456789");
	return n ? sign + n : 0;
}

/*
 * Write the kernel's name of the register at s (n bytes) into name (8 bytes): ax for eax. Return 0,
 * or -1 if the register is unknown.
 */
static int register_name(unsigned machine, const char *s, size_t n, char *name)
{
	static const char known[] = " ax bx cx dx si di bp sp al bl cl dl ";
	char word[8];

	if (n < 2 || n > 4)
		return -1;
	if (machine == EM_AARCH64) {
		str_format(name, 8, "%s%.*s", *s == 's' ? "s" : "x", (int)n - 1, s + 1);
		return (n == 2 && !memcmp(s, "sp", 2)) ||
		       ((*s == 'x' || *s == 'w') && strspn(s + 1, "0123456789") == n - 1) ? 0 : -1;
	}
	if (*s == 'r' && s[1] >= '0' && s[1] <= '9') {
		size_t digits = strspn(s + 1, "0123456789");

		str_format(name, 8, "r%.*s", (int)digits, s + 1);
		return digits + 1 == n || (digits + 2 == n && strchr("dwb", s[n - 1])) ? 0 : -1;
	}
	if (n == 3 && s[2] == 'l')
		n = 2;                          /* sil */
	else if (n == 3 && (*s == 'e' || *s == 'r'))
		s++, n = 2;
	str_format(word, sizeof(word), " %.*s ", (int)n, s);
	str_format(name, 8, "%c%c", *s, s[1] == 'l' ? 'x' : s[1]);
	return n == 2 && strstr(known, word) ? 0 : -1;
}

/*
 * Append the operand at s, of n bytes, to out in the kernel's syntax. Return 0, or -1 if the kernel
 * cannot read it.
 */
static int operand(unsigned machine, const char *s, size_t n, struct strbuf *out)
{
	int arm = machine == EM_AARCH64, memory;
	const char *end = s + n, *offset = s, *reg;
	size_t digits, length;
	char name[8];

	if (machine != EM_X86_64 && machine != EM_386 && !arm)
		return -1;
	if (!arm && *s == '$')
		offset = ++s;
	digits = number(offset);
	if (digits && offset + digits == end && (arm || s[-1] == '$')) {
		strbuf_puts(out, "\\");
		strbuf_add(out, offset, digits);
		return 0;
	}
	if (arm) {                              /* [sp, 16] */
		memory = *s == '[';
		reg = s + memory;
		length = strcspn(reg, ",] ");
		offset = reg + length;
		if (memory && *offset == ',')
			offset += 1 + strspn(offset + 1, " #");
		digits = memory ? number(offset) : 0;
		if ((memory ? offset + digits + 1 : offset) != end)
			return -1;
	} else {                                /* -16(%rbp) */
		reg = s + digits;
		memory = *reg == '(';
		reg += memory;
		if (*reg++ != '%' || (digits && !memory))
			return -1;
		length = strcspn(reg, ") ,");
		if (reg + length + memory != end)
			return -1;
	}
	if (reg + length > end || register_name(machine, reg, length, name) < 0)
		return -1;
	if (memory) {
		strbuf_puts(out, digits && strchr("+-", *offset) ? "" : "+");
		strbuf_add(out, digits ? offset : "0", digits ? digits : 1);
		strbuf_puts(out, "(");
	}
	strbuf_puts(out, "%");
	strbuf_puts(out, name);
	strbuf_puts(out, memory ? ")" : "");
	return 0;
}

void usdt_args(const struct elf_usdt *u, struct strbuf *fetch, struct strbuf *other)
{
	const char *s = u->args;

	for (int i = 1; *(s += strspn(s, " ")); i++) {
		const char *word = s;
		size_t sign = *s == '-', kept = fetch->n, n;
		char head[16];

		str_format(head, sizeof(head), " arg%d=", i);
		s += strcspn(s, " [");
		s += *s == '[' ? strcspn(s, "]") : 0;
		s += strcspn(s, " ");
		n = (size_t)(s - word);
		strbuf_puts(fetch, head);
		if (n > sign + 2 && strchr("1248", word[sign]) && word[sign + 1] == '@' &&
		    !operand(u->machine, word + sign + 2, n - sign - 2, fetch)) {
			str_format(head, sizeof(head), ":%c%d", "us"[sign], 8 * (word[sign] - '0'));
			strbuf_puts(fetch, head);
			continue;
		}
		fetch->text[fetch->n = kept] = '\0';
		if (other) {
			strbuf_puts(other, head);
			strbuf_add(other, word, n);
		}
	}
}
