/* SPDX-License-Identifier: MIT */
/*
 * prog_static.c - a victim that no preload can reach: linked statically.
 */
/* link: -static */
#include <stdio.h>

int main(void)
{
	puts("ran");
	return 0;
}
