/* SPDX-License-Identifier: ISC */
/* columns.c - the columns that a hook or a person chooses for the people who read a trace */

#include "base/base.h"
#include "reader/reader.h"

int column_next(const char **s, struct column *c)
{
	const char *p = *s + strspn(*s, " ");
	size_t n;

	*c = (struct column){ .name = p };
	if (!*p)
		return 0;
	c->nname = c->width = strcspn(p, " :=");
	p += c->nname;
	if (*p == ':') {
		p++;
		c->width = (size_t)text_digits(&p);
	}
	n = *p == '=' ? strspn(++p, "abcdefghijklmnopqrstuvwxyz0123456789_.*") : 0;
	if (!n || n >= sizeof(c->field) || !c->nname || c->width < c->nname || c->width > 99)
		return -1;
	memcpy(c->field, p, n);
	p += n;
	c->prefix = p += *p == '-';
	c->nprefix = strcspn(p, " ");
	*s = p + c->nprefix;
	return c->nprefix && p[-1] != '-' ? -1 : 1;
}
