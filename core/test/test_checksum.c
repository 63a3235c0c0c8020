/* SPDX-License-Identifier: MIT */
/*
 * test_checksum.c - sums of bytes that come in pieces are those of the bytes at once, and those
 * that xxhash's own description gives.
 */
#include "checksum.h"
#include "helpers.h"

#define BYTES 100000

static uint64_t sum_in_pieces(enum swapio_checksum algorithm, const unsigned char *bytes,
			      size_t count, size_t piece)
{
	struct checksum *sum = swapioi_checksum_create();
	uint64_t result;

	assert_non_null(sum);
	swapioi_checksum_begin(sum, algorithm);
	for (size_t at = 0; at < count; at += piece)
		swapioi_checksum_add(sum, bytes + at, count - at < piece ? count - at : piece);
	result = swapioi_checksum_end(sum);
	swapioi_checksum_destroy(sum);
	return result;
}

static void known_values_of_xxh64(void **state)
{
	(void)state;
	assert_int_equal(swapioi_record_sum("", 0), UINT64_C(0xef46db3751d8e999));
	assert_int_equal(swapioi_record_sum("abc", 3), UINT64_C(0x44bc2cf5ad770999));
	assert_int_equal(sum_in_pieces(SWAPIO_CHECKSUM_XXH64, (const unsigned char *)"abc", 3, 1),
			 UINT64_C(0x44bc2cf5ad770999));
}

static void known_values_of_xxh3(void **state)
{
	(void)state;
	if (!swapioi_checksum_known(SWAPIO_CHECKSUM_XXH3)) {
		print_message("xxhash is older than 0.8 here\n");
		skip();
	}
	assert_int_equal(sum_in_pieces(SWAPIO_CHECKSUM_XXH3, (const unsigned char *)"", 0, 1),
			 UINT64_C(0x2d06800538d394c2));
	assert_int_equal(sum_in_pieces(SWAPIO_CHECKSUM_XXH3, (const unsigned char *)"abc", 3, 2),
			 UINT64_C(0x78af5f94892f3950));
}

static void pieces_make_no_difference(void **state)
{
	static const size_t pieces[] = {1, 7, 64, 4096, 65536, BYTES};
	unsigned char *bytes = malloc(BYTES);

	(void)state;
	assert_non_null(bytes);
	fill_random(bytes, BYTES, 1);
	for (int algorithm = SWAPIO_CHECKSUM_NONE; algorithm <= SWAPIO_CHECKSUM_XXH3; algorithm++) {
		uint64_t whole;

		if (!swapioi_checksum_known((enum swapio_checksum)algorithm))
			continue;
		whole = sum_in_pieces((enum swapio_checksum)algorithm, bytes, BYTES, BYTES);
		for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++)
			assert_int_equal(sum_in_pieces((enum swapio_checksum)algorithm, bytes,
						       BYTES, pieces[i]),
					 whole);
		bytes[BYTES / 2] ^= 1;
		if (algorithm == SWAPIO_CHECKSUM_NONE)
			assert_int_equal(whole, 0);
		else
			assert_true(sum_in_pieces((enum swapio_checksum)algorithm, bytes, BYTES,
						  BYTES) != whole);
		bytes[BYTES / 2] ^= 1;
	}
	free(bytes);
}

static void a_sum_begun_anew_forgets_the_last(void **state)
{
	struct checksum *sum = swapioi_checksum_create();

	(void)state;
	assert_non_null(sum);
	swapioi_checksum_begin(sum, SWAPIO_CHECKSUM_XXH64);
	swapioi_checksum_add(sum, "rest", 4);
	swapioi_checksum_begin(sum, swapioi_checksum_default());
	swapioi_checksum_add(sum, "rest", 4);
	swapioi_checksum_begin(sum, SWAPIO_CHECKSUM_XXH64);
	swapioi_checksum_add(sum, "abc", 3);
	assert_int_equal(swapioi_checksum_end(sum), UINT64_C(0x44bc2cf5ad770999));
	swapioi_checksum_destroy(sum);
	swapioi_checksum_destroy(NULL);
}

static void algorithms_have_names(void **state)
{
	(void)state;
	assert_string_equal(swapioi_checksum_name(SWAPIO_CHECKSUM_NONE), "none");
	assert_string_equal(swapioi_checksum_name(SWAPIO_CHECKSUM_XXH64), "xxh64");
	assert_string_equal(swapioi_checksum_name(SWAPIO_CHECKSUM_XXH3), "xxh3");
	assert_string_equal(swapioi_checksum_name((enum swapio_checksum)3), "unknown");
	assert_false(swapioi_checksum_known((enum swapio_checksum)3));
	assert_true(swapioi_checksum_known(swapioi_checksum_default()));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_values_of_xxh64),
		cmocka_unit_test(known_values_of_xxh3),
		cmocka_unit_test(pieces_make_no_difference),
		cmocka_unit_test(a_sum_begun_anew_forgets_the_last),
		cmocka_unit_test(algorithms_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
