/* SPDX-License-Identifier: MIT */
/*
 * test_manifest_hostile.c - bytes that are no manifest: cut anywhere, with any field changed, with
 * counts and sizes that lie. Refused, or exactly what their bytes say. Under ASan nothing is read
 * past the end.
 */
#include "manifest_samples.h"

static struct swapio_error error;

/* A copy that ends where memory ends. */
static int decode_exactly(const unsigned char *bytes, size_t count)
{
	unsigned char *copy = malloc(count ? count : 1);
	struct manifest *manifest = NULL;
	int ret;

	assert_non_null(copy);
	memcpy(copy, bytes, count);
	ret = swapioi_manifest_decode(copy, count, &manifest, &error);
	assert_true((ret == 0) == (manifest != NULL));
	if (ret < 0)
		assert_int_equal(error.code, ret);
	swapioi_manifest_destroy(manifest);
	free(copy);
	return ret;
}

static void a_manifest_that_is_cut_is_refused(void **state)
{
	struct manifest *manifest = sample_manifest();
	size_t bytes = swapioi_manifest_encoded_bytes(manifest);
	unsigned char *whole = encode(manifest);
	uint64_t exact = get_u64(whole + MANIFEST_AT_BYTES);

	(void)state;
	assert_int_equal(decode_exactly(whole, exact), 0);
	assert_int_equal(decode_exactly(whole, bytes), 0);
	assert_int_equal(decode_exactly(whole, 0), -ENOENT);
	for (size_t count = 1; count < exact; count++)
		assert_int_equal(decode_exactly(whole, count), -EBADMSG);
	/* As if it had been cut when it was made: lengths and sums agree, the contents do not. */
	for (size_t count = MANIFEST_AT_GROUP + SUM_BYTES; count < exact; count++) {
		unsigned char *cut = encode(manifest);

		put_u64(cut + MANIFEST_AT_BYTES, count);
		sum_again(cut, bytes);
		assert_int_equal(decode_exactly(cut, count), -EBADMSG);
		free(cut);
	}
	free(whole);
	swapioi_manifest_destroy(manifest);
}

static void nothing_and_something_else_are_told_apart(void **state)
{
	unsigned char bytes[8192] = {0};

	(void)state;
	assert_int_equal(decode_exactly(bytes, sizeof(bytes)), -ENOENT);
	bytes[5000] = 1; /* what an older, longer manifest left */
	assert_int_equal(decode_exactly(bytes, sizeof(bytes)), -ENOENT);
	bytes[0] = 1;
	assert_int_equal(decode_exactly(bytes, sizeof(bytes)), -EBADMSG);
	assert_string_equal(error.text, "no manifest is there, but something is");
}

static void a_flipped_bit_is_noticed(void **state)
{
	struct manifest *manifest = sample_manifest();
	size_t bytes = swapioi_manifest_encoded_bytes(manifest);
	unsigned char *whole = encode(manifest);
	uint64_t exact = get_u64(whole + MANIFEST_AT_BYTES);

	(void)state;
	for (size_t at = 0; at < exact; at++)
		for (unsigned bit = 0; bit < 8; bit++) {
			whole[at] ^= (unsigned char)(1 << bit);
			assert_int_equal(decode_exactly(whole, bytes), -EBADMSG);
			whole[at] ^= (unsigned char)(1 << bit);
		}
	free(whole);
	swapioi_manifest_destroy(manifest);
}

/* Whoever made it computed the sum, too: what is accepted says what its bytes say. */
static void a_changed_byte_under_a_good_sum_is_refused_or_kept(void **state)
{
	struct manifest *manifest = sample_manifest(), *back;
	size_t bytes = swapioi_manifest_encoded_bytes(manifest);
	unsigned char *whole = encode(manifest), *changed = malloc(bytes);
	uint64_t exact = get_u64(whole + MANIFEST_AT_BYTES);
	unsigned refused = 0, kept = 0;

	(void)state;
	assert_non_null(changed);
	for (size_t at = 0; at < exact - SUM_BYTES; at++)
		for (unsigned value = 1; value < 256; value += 50) {
			memcpy(changed, whole, bytes);
			changed[at] ^= (unsigned char)value;
			sum_again(changed, bytes);
			back = NULL;
			if (swapioi_manifest_decode(changed, bytes, &back, &error) < 0) {
				refused++;
				continue;
			}
			kept++;
			assert_int_equal(swapioi_manifest_encoded_bytes(back), bytes);
			swapioi_manifest_encode(back, whole);
			assert_memory_equal(whole, changed, bytes);
			swapioi_manifest_destroy(back);
			swapioi_manifest_encode(manifest, whole);
		}
	assert_true(refused > 100);
	assert_true(kept > 100); /* letters of names, sums, identity */
	free(changed);
	free(whole);
	swapioi_manifest_destroy(manifest);
}

/* A field of @bytes bytes with a value that cannot be, and what is said of it. */
struct lie {
	size_t at;
	unsigned bytes;
	uint64_t value;
	int error;
	const char *words;
};

/* Tensor 0 ("step") begins behind "layer.0": a scalar with one sum. Tensor 1 has a shape. */
#define TENSOR_0 (MANIFEST_AT_GROUP + 8)
#define TENSOR_1 (TENSOR_0 + 40 + 8 + 8)

static const struct lie lies[] = {
	{8, 4, 2, -ENOTSUP, "version 2, known here: 1"},
	{12, 4, 3, -ENOTSUP, "algorithm 3"},
	{12, 4, 0xffffffff, -ENOTSUP, "algorithm 4294967295"},
	{40, 8, 0, -EBADMSG, "generation 0"},
	{48, 8, 0, -EBADMSG, "chunks of 0 bytes"},
	{48, 8, 4095, -EBADMSG, "chunks of 4095 bytes"},
	{48, 8, (1 << 30) + 4096, -EBADMSG, "chunks of 1073745920 bytes"},
	{56, 4, 0, -EBADMSG, "0 tensors"},
	{56, 4, 65537, -EBADMSG, "65537 tensors"},
	{56, 4, 65536, -EBADMSG, "65536 tensors"},
	{56, 4, 5, -EBADMSG, "ends within a tensor"},
	{56, 4, 3, -EBADMSG, "behind its last tensor"},
	{60, 4, 0, -EBADMSG, "the name of the group has 0 bytes"},
	{60, 4, 1024, -EBADMSG, "the name of the group has 1024 bytes"},
	{60, 4, 1023, -EBADMSG, "ends within a name"},
	{60, 4, 6, -EBADMSG, "or none behind it"},
	{60, 4, 8, -EBADMSG, "has a zero in it"},
	{TENSOR_0 + 0, 8, UINT64_MAX, -EBADMSG, "tensor 0 has 18446744073709551615 elements"},
	{TENSOR_0 + 0, 8, (UINT64_C(1) << 54) + 1, -EBADMSG, "elements of 4 bytes"},
	{TENSOR_0 + 0, 8, UINT64_C(1) << 54, -EBADMSG, "ends within the checksums"},
	{TENSOR_0 + 8, 8, 1, -EBADMSG, "tensor 0 begins at 1"},
	{TENSOR_0 + 8, 8, 4096, -EBADMSG, "tensor 1 begins at 4096"},
	{TENSOR_0 + 8, 8, UINT64_MAX - 4095, -EBADMSG, "tensor 0 begins at"},
	{TENSOR_0 + 8, 8, PLACE_BYTES_MAX, -EBADMSG, "tensor 0 begins at"},
	{TENSOR_0 + 16, 4, 0, -EBADMSG, "elements of 0 bytes"},
	{TENSOR_0 + 16, 4, 65, -EBADMSG, "elements of 65 bytes"},
	{TENSOR_0 + 20, 2, 0, -EBADMSG, "the name of tensor 0 has 0 bytes"},
	{TENSOR_0 + 20, 2, 1024, -EBADMSG, "the name of tensor 0 has 1024 bytes"},
	{TENSOR_0 + 22, 1, 9, -EBADMSG, "9 dimensions"},
	{TENSOR_0 + 23, 1, 2, -EBADMSG, "place 2"},
	{TENSOR_0 + 39, 1, 'x', -EBADMSG, "a type that does not end"},
	{TENSOR_1 + 26, 1, 0, -EBADMSG, "a type that does not end"},
	{TENSOR_1 + 40, 8, 51, -EBADMSG, "the shape of tensor 1 is not of 5050 elements"},
	{TENSOR_1 + 40, 8, UINT64_MAX, -EBADMSG, "the shape of tensor 1"},
};

static void counts_and_sizes_that_lie_are_refused(void **state)
{
	struct manifest *manifest = sample_manifest();
	size_t bytes = swapioi_manifest_encoded_bytes(manifest);

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		unsigned char *whole = encode(manifest);

		for (unsigned byte = 0; byte < lies[i].bytes; byte++)
			whole[lies[i].at + byte] = (unsigned char)(lies[i].value >> 8 * byte);
		sum_again(whole, bytes);
		error.text[0] = 0;
		if (decode_exactly(whole, bytes) != lies[i].error)
			fail_msg("lie %zu: %s", i, error.text);
		if (!strstr(error.text, lies[i].words))
			fail_msg("lie %zu: \"%s\" lacks \"%s\"", i, error.text, lies[i].words);
		free(whole);
	}
	swapioi_manifest_destroy(manifest);
}

static void lengths_that_lie_are_refused(void **state)
{
	static const uint64_t lengths[] = {0, 63, 71, 8192, UINT64_MAX, UINT64_MAX - 7, 1 << 30};
	struct manifest *manifest = sample_manifest();
	size_t bytes = swapioi_manifest_encoded_bytes(manifest);

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		unsigned char *whole = encode(manifest);

		put_u64(whole + MANIFEST_AT_BYTES, lengths[i]);
		assert_int_equal(decode_exactly(whole, bytes), -EBADMSG);
		free(whole);
	}
	swapioi_manifest_destroy(manifest);
}

/* 65536 tensors of one chunk in a few bytes: refused before anything is allocated for them. */
static void checksums_that_are_not_there_are_refused(void **state)
{
	struct manifest *manifest = sample_manifest();
	size_t bytes = swapioi_manifest_encoded_bytes(manifest);
	unsigned char *whole = encode(manifest);

	(void)state;
	/* 2^50 elements of 64 bytes in chunks of 4096: 2^44 sums, 2^47 bytes. */
	put_u64(whole + TENSOR_1 + TENSOR_AT_NUMEL, UINT64_C(1) << 50);
	put_u32(whole + TENSOR_1 + TENSOR_AT_ELEMENT_BYTES, 64);
	put_u64(whole + TENSOR_1 + TENSOR_AT_SHAPE, UINT64_C(1) << 25);
	put_u64(whole + TENSOR_1 + TENSOR_AT_SHAPE + 8, UINT64_C(1) << 25);
	sum_again(whole, bytes);
	assert_int_equal(decode_exactly(whole, bytes), -EBADMSG);
	assert_string_equal(error.text, "the manifest ends within the checksums of a tensor");
	free(whole);
	swapioi_manifest_destroy(manifest);
}

static void one_name_for_two_tensors_is_refused(void **state)
{
	struct swapio_tensor tensors[] = {tensor_of("a", 1, 1), tensor_of("b", 1, 1)};
	struct manifest *manifest = make_manifest("g", tensors, 2, SWAPIO_CHECKSUM_NONE, 4096);
	unsigned char *bytes;

	(void)state;
	manifest->generation = 1;
	manifest->tensors[1].name[0] = 'a';
	bytes = encode(manifest);
	assert_int_equal(decode_exactly(bytes, 4096), -EBADMSG);
	assert_string_equal(error.text, "tensors 0 and 1 have one name");
	free(bytes);
	swapioi_manifest_destroy(manifest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_manifest_that_is_cut_is_refused),
		cmocka_unit_test(nothing_and_something_else_are_told_apart),
		cmocka_unit_test(a_flipped_bit_is_noticed),
		cmocka_unit_test(a_changed_byte_under_a_good_sum_is_refused_or_kept),
		cmocka_unit_test(counts_and_sizes_that_lie_are_refused),
		cmocka_unit_test(lengths_that_lie_are_refused),
		cmocka_unit_test(checksums_that_are_not_there_are_refused),
		cmocka_unit_test(one_name_for_two_tensors_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
