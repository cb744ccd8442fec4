/* SPDX-License-Identifier: ISC */
/* twig - the library leaf, whose function at the same place is called other */
#define MIDDLE other
#include "leaf.c"
