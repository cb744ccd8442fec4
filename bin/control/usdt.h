/* SPDX-License-Identifier: ISC */
/* usdt.h - the arguments of USDT probes */
#ifndef USDT_H
#define USDT_H

#include "base/base.h"
#include "elf/elf.h"

/* ---- usdt.c: the arguments of a USDT probe ------------------------------------------- */

/*
 * Append the arguments to fetch, as " argN=FETCH:TYPE" in the kernel's syntax. Append to other,
 * unless it is NULL, the arguments that the kernel cannot read, as " argN=OPERAND".
 */
void usdt_args(const struct elf_usdt *, struct strbuf *fetch, struct strbuf *other);

#endif
