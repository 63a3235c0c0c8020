/* SPDX-License-Identifier: MIT */
/*
 * number.c - decimal digits and a unit; nothing else, no sign, no blank, no fraction.
 */
#include <errno.h>
#include <string.h>

#include "number.h"

struct unit {
	const char *name;
	uint64_t factor;
};

/* Digits into @ret_value; @ret_rest: what follows them. */
static int digits(const char *text, uint64_t *ret_value, const char **ret_rest)
{
	uint64_t value = 0;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
			return -ERANGE;
	*ret_value = value;
	*ret_rest = text;
	return 0;
}

static int scale(uint64_t value, const char *name, const struct unit *units, uint64_t *ret_value)
{
	for (; units->name; units++) {
		if (strcmp(units->name, name) != 0)
			continue;
		return __builtin_mul_overflow(value, units->factor, ret_value) ? -ERANGE : 0;
	}
	return -EINVAL;
}

int number_count(const char *text, uint64_t *ret_value)
{
	const char *rest;
	uint64_t value;
	int result = digits(text, &value, &rest);

	if (result < 0)
		return result;
	if (*rest)
		return -EINVAL;
	*ret_value = value;
	return 0;
}

int number_bytes(const char *text, uint64_t *ret_bytes)
{
	static const struct unit units[] = {
		{"", 1},	   {"K", 1ull << 10}, {"M", 1ull << 20},
		{"G", 1ull << 30}, {"T", 1ull << 40}, {NULL, 0},
	};
	const char *rest;
	uint64_t value;
	int result = digits(text, &value, &rest);

	return result < 0 ? result : scale(value, rest, units, ret_bytes);
}

int number_duration(const char *text, int64_t *ret_ns)
{
	static const struct unit units[] = {
		{"ns", 1},	   {"us", 1000},       {"ms", 1000000},
		{"s", 1000000000}, {"m", 60000000000}, {NULL, 0},
	};
	const char *rest;
	uint64_t value;
	int result = digits(text, &value, &rest);

	if (result == 0 && !(value == 0 && !*rest))
		result = scale(value, rest, units, &value);
	if (result == 0 && value > INT64_MAX)
		result = -ERANGE;
	if (result < 0)
		return result;
	*ret_ns = (int64_t)value;
	return 0;
}
