/* SPDX-License-Identifier: MIT */
/*
 * bytes.h - little-endian numbers at any address.
 */
#ifndef SWAPIOI_BYTES_H
#define SWAPIOI_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t get_u16(const unsigned char *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return le16toh(value);
}

static inline uint32_t get_u32(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

static inline uint64_t get_u64(const unsigned char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return le64toh(value);
}

static inline void put_u16(unsigned char *at, uint16_t value)
{
	value = htole16(value);
	memcpy(at, &value, sizeof(value));
}

static inline void put_u32(unsigned char *at, uint32_t value)
{
	value = htole32(value);
	memcpy(at, &value, sizeof(value));
}

static inline void put_u64(unsigned char *at, uint64_t value)
{
	value = htole64(value);
	memcpy(at, &value, sizeof(value));
}

static inline bool all_zeros(const void *bytes, size_t count)
{
	const unsigned char *at = bytes;

	return !count || (!at[0] && memcmp(at, at + 1, count - 1) == 0);
}

#endif /* SWAPIOI_BYTES_H */
