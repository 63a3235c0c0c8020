/* SPDX-License-Identifier: MIT */
/*
 * test_manifest.c - manifests are made of what can be stored and of nothing else, say what differs,
 * and come back from their bytes.
 */
#include "manifest_samples.h"

#include <limits.h>

static struct swapio_error error;

static int try_create(const struct swapio_tensor *tensors, unsigned count)
{
	struct manifest *manifest = NULL;
	int ret = swapioi_manifest_create("g", tensors, count, SWAPIO_CHECKSUM_NONE, 4096, &error,
					  &manifest);

	assert_true((ret == 0) == (manifest != NULL));
	swapioi_manifest_destroy(manifest);
	return ret;
}

static void assert_refused(struct swapio_tensor tensor, const char *sentence)
{
	struct swapio_tensor tensors[] = {tensor_of("before", 1, 1), tensor};

	memset(&error, 0, sizeof(error));
	assert_int_equal(try_create(tensors, 2), -EINVAL);
	assert_int_equal(error.code, -EINVAL);
	assert_string_equal(error.text, sentence);
}

static char *long_name(size_t bytes)
{
	char *name = malloc(bytes + 1);

	assert_non_null(name);
	memset(name, 'n', bytes);
	name[bytes] = 0;
	return name;
}

static void tensors_that_cannot_be_are_refused(void **state)
{
	struct swapio_tensor tensor = tensor_of("w", 6, 4);
	static const uint64_t shape[] = {2, 4}, overflow[] = {UINT64_C(1) << 33, UINT64_C(1) << 31};
	char sentence[80];

	(void)state;
	tensor.size_bytes--;
	snprintf(sentence, sizeof(sentence), "size_bytes of tensor 1 is %zu, allowed: %zu",
		 sizeof(tensor) - 1, sizeof(tensor));
	assert_refused(tensor, sentence);
	assert_refused(tensor_of("w", 1, 0), "tensor w: element_bytes is 0, allowed: 1 to 64");
	assert_refused(tensor_of("w", 1, 65), "tensor w: element_bytes is 65, allowed: 1 to 64");
	assert_refused(tensor_of("w", (UINT64_C(1) << 54) + 1, 4),
		       "tensor w: numel is 18014398509481985, allowed: 0 to 18014398509481984 with "
		       "elements of 4 bytes");
	assert_refused(tensor_of("w", UINT64_MAX, 64),
		       "tensor w: numel is 18446744073709551615, allowed: 0 to 1125899906842624 "
		       "with elements of 64 bytes");
	assert_refused(tensor_of(NULL, 1, 1), "tensor 1 has no name, allowed: 1 to 1023 bytes");
	assert_refused(tensor_of("", 1, 1), "tensor 1 has no name, allowed: 1 to 1023 bytes");
	tensor = tensor_of("w", 6, 4);
	tensor.dtype = "sixteen letters!";
	assert_refused(tensor,
		       "tensor w: dtype begins \"sixteen letters!\", allowed: up to 15 bytes");
	tensor.dtype = NULL;
	tensor.dims = 9;
	assert_refused(tensor, "tensor w: dims is 9, allowed: 0 to 8");
	tensor.dims = 2;
	assert_refused(tensor, "tensor w: shape is NULL, with dims 2");
	tensor.shape = shape;
	assert_refused(tensor, "tensor w: the product of its 2 dimensions is not numel, 6");
	tensor.shape = overflow;
	tensor.numel = 0;
	assert_refused(tensor, "tensor w: the product of its 2 dimensions is not numel, 0");
	assert_refused(tensor_of("before", 1, 1),
		       "group g: tensors 0 and 1 have the same name, before");
}

static void a_shape_with_a_zero_is_of_an_empty_tensor(void **state)
{
	static const uint64_t shape[] = {UINT64_MAX, 0, UINT64_MAX};
	struct swapio_tensor tensor = tensor_of("w", 0, 4);

	(void)state;
	tensor.dims = 3;
	tensor.shape = shape;
	assert_int_equal(try_create(&tensor, 1), 0);
	tensor.numel = 1;
	assert_int_equal(try_create(&tensor, 1), -EINVAL);
}

static void names_have_1023_bytes_at_most(void **state)
{
	char *fits = long_name(1023), *longer = long_name(1024);
	struct swapio_tensor tensor = tensor_of(fits, 1, 1);
	struct manifest *manifest = NULL;

	(void)state;
	assert_int_equal(try_create(&tensor, 1), 0);
	tensor.name = longer;
	assert_int_equal(try_create(&tensor, 1), -EINVAL);
	assert_non_null(strstr(error.text, "the name of tensor 0 has more than 1023 bytes"));
	tensor.name = "w";
	assert_int_equal(swapioi_manifest_create(longer, &tensor, 1, SWAPIO_CHECKSUM_NONE, 4096,
						 &error, &manifest),
			 -EINVAL);
	assert_non_null(strstr(error.text, "the name of the group has more than 1023 bytes"));
	assert_int_equal(swapioi_manifest_create("", &tensor, 1, SWAPIO_CHECKSUM_NONE, 4096, &error,
						 &manifest),
			 -EINVAL);
	assert_string_equal(error.text, "the group has no name, allowed: 1 to 1023 bytes");
	assert_null(manifest);
	free(fits);
	free(longer);
}

static void a_group_has_1_to_65536_tensors(void **state)
{
	struct swapio_tensor *tensors = calloc(SWAPIO_TENSORS_MAX, sizeof(*tensors));
	char(*names)[8] = calloc(SWAPIO_TENSORS_MAX, sizeof(*names));

	(void)state;
	assert_non_null(tensors);
	assert_non_null(names);
	for (unsigned i = 0; i < SWAPIO_TENSORS_MAX; i++) {
		snprintf(names[i], sizeof(names[i]), "t%u", i);
		tensors[i] = tensor_of(names[i], i, 4);
	}
	assert_int_equal(try_create(tensors, SWAPIO_TENSORS_MAX), 0);
	assert_int_equal(try_create(tensors, SWAPIO_TENSORS_MAX + 1), -EINVAL);
	assert_string_equal(error.text, "group g has 65537 tensors, allowed: 1 to 65536");
	assert_int_equal(try_create(tensors, 0), -EINVAL);
	assert_int_equal(try_create(NULL, 1), -EINVAL);
	assert_string_equal(error.text, "group g: tensors is NULL");
	free(tensors);
	free(names);
}

static void tensors_lie_one_after_the_other_in_units(void **state)
{
	struct manifest *manifest = sample_manifest();

	(void)state;
	assert_int_equal(manifest->tensors[0].offset_bytes, 0);
	assert_int_equal(manifest->tensors[0].padded_bytes, 4096);
	assert_int_equal(manifest->tensors[1].offset_bytes, 4096);
	assert_int_equal(manifest->tensors[1].padded_bytes, 20480);
	assert_int_equal(manifest->tensors[2].offset_bytes, 24576);
	assert_int_equal(manifest->tensors[2].padded_bytes, 12288);
	assert_int_equal(manifest->tensors[3].padded_bytes, 0);
	assert_int_equal(swapioi_manifest_place_bytes(manifest), 36864);
	assert_int_equal(swapioi_manifest_chunks(manifest, 0), 1);
	assert_int_equal(swapioi_manifest_chunks(manifest, 1), 5);
	assert_int_equal(swapioi_manifest_chunks(manifest, 3), 0);
	assert_null(manifest->tensors[3].sums);
	swapioi_manifest_destroy(manifest);
}

static void sizes_past_32_bits_are_laid_out(void **state)
{
	struct swapio_tensor tensors[] = {tensor_of("a", (UINT64_C(1) << 31) + 1, 1),
					  tensor_of("b", UINT64_C(3) << 31, 4),
					  tensor_of("c", UINT64_C(1) << 50, 64)};
	struct manifest *manifest =
		make_manifest("g", tensors, 3, SWAPIO_CHECKSUM_NONE, CHUNK_BYTES_MAX);
	const uint64_t before_stride = STORE_STRIDE - STORE_UNIT;

	(void)state;
	assert_int_equal(manifest->tensors[0].offset_bytes, before_stride);
	assert_int_equal(manifest->tensors[1].offset_bytes,
			 (UINT64_C(1) << 31) + STORE_STRIDE + before_stride);
	assert_int_equal(manifest->tensors[2].offset_bytes,
			 (UINT64_C(1) << 31) + STORE_STRIDE + (UINT64_C(3) << 33) + before_stride);
	assert_int_equal(swapioi_manifest_place_bytes(manifest),
			 manifest->tensors[2].offset_bytes + (UINT64_C(1) << 56));
	assert_int_equal(swapioi_manifest_chunks(manifest, 2), UINT64_C(1) << 26);
	swapioi_manifest_destroy(manifest);
}

static void a_group_too_large_for_offsets_is_refused(void **state)
{
	struct swapio_tensor tensors[16];
	char names[16][4];

	(void)state;
	for (unsigned i = 0; i < 16; i++) {
		snprintf(names[i], sizeof(names[i]), "t%u", i);
		tensors[i] = tensor_of(names[i], UINT64_C(1) << 50, 64);
	}
	assert_int_equal(try_create(tensors, 15), 0);
	assert_int_equal(try_create(tensors, 16), -EINVAL);
	assert_string_equal(error.text, "group g: its tensors up to t15 take 1152921504606908416 "
					"bytes, allowed: 1152921504606846976");
}

static void assert_same(const struct manifest *a, const struct manifest *b)
{
	unsigned char *left = encode(a), *right = encode(b);

	assert_int_equal(swapioi_manifest_encoded_bytes(a), swapioi_manifest_encoded_bytes(b));
	assert_memory_equal(left, right, swapioi_manifest_encoded_bytes(a));
	free(left);
	free(right);
}

static void what_is_encoded_is_decoded(void **state)
{
	struct manifest *manifest = sample_manifest(), *back = NULL;
	unsigned char *bytes = encode(manifest);

	(void)state;
	assert_int_equal(swapioi_manifest_decode(bytes, swapioi_manifest_encoded_bytes(manifest),
						 &back, &error),
			 0);
	assert_same(manifest, back);
	assert_string_equal(back->group, "layer.0");
	assert_int_equal(back->generation, 7);
	assert_int_equal(back->checksum, SWAPIO_CHECKSUM_XXH64);
	assert_int_equal(back->tensors[1].place, 1);
	assert_int_equal(back->tensors[1].shape[1], 101);
	assert_int_equal(back->tensors[1].padded_bytes, 20480);
	assert_int_equal(back->tensors[2].sums[2], 2002);
	assert_string_equal(back->tensors[2].dtype, "fifteen letters");
	swapioi_manifest_destroy(back);
	swapioi_manifest_destroy(manifest);
	free(bytes);
}

static void a_copy_is_the_same_and_its_own(void **state)
{
	struct manifest *manifest = sample_manifest(), *copy = NULL;

	(void)state;
	assert_int_equal(swapioi_manifest_dup(manifest, &copy), 0);
	assert_same(manifest, copy);
	manifest->tensors[1].sums[0]++;
	assert_int_equal(copy->tensors[1].sums[0], 1000);
	swapioi_manifest_destroy(manifest);
	assert_string_equal(copy->tensors[0].name, "step");
	swapioi_manifest_destroy(copy);
	swapioi_manifest_destroy(NULL);
}

struct change {
	void (*make)(struct manifest *asked);
	unsigned tensor;
	const char *sentence;
};

static void other_name(struct manifest *asked)
{
	asked->tensors[0].name[0] = 'S';
}

static void other_numel(struct manifest *asked)
{
	asked->tensors[0].numel = 5050;
}

static void other_element(struct manifest *asked)
{
	asked->tensors[2].element_bytes = 4;
}

static void other_dtype(struct manifest *asked)
{
	memcpy(asked->tensors[1].dtype, "bf16", sizeof("bf16"));
}

static void other_shape(struct manifest *asked)
{
	asked->tensors[1].shape[0] = 101;
	asked->tensors[1].shape[1] = 50;
}

static void other_count(struct manifest *asked)
{
	asked->count = 3;
}

static void the_first_difference_is_told_with_both_values(void **state)
{
	static const struct change changes[] = {
		{other_name, 0, "tensor 0 (Step): name: stored is step, asked for is Step"},
		{other_numel, 0, "tensor 0 (step): numel: stored is 1, asked for is 5050"},
		{other_element, 2,
		 "tensor 2 (exp_avg_sq): element_bytes: stored is 2, asked for is 4"},
		{other_dtype, 1, "tensor 1 (exp_avg): dtype: stored is fp32, asked for is bf16"},
		{other_shape, 1,
		 "tensor 1 (exp_avg): shape: stored is [50, 101], asked for is [101, 50]"},
		{other_count, UINT_MAX, "number of tensors: stored is 4, asked for is 3"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		struct manifest *stored = sample_manifest(), *asked = sample_manifest();
		unsigned tensor = 99;

		assert_int_equal(swapioi_manifest_compare(stored, asked, &tensor, &error), 0);
		assert_int_equal(tensor, 99);
		changes[i].make(asked);
		assert_int_equal(swapioi_manifest_compare(stored, asked, &tensor, &error), -EINVAL);
		assert_int_equal(tensor, changes[i].tensor);
		assert_non_null(strstr(error.text, "layer.0"));
		assert_non_null(strstr(error.text, changes[i].sentence));
		asked->count = 4;
		swapioi_manifest_destroy(stored);
		swapioi_manifest_destroy(asked);
	}
}

static void what_was_not_given_is_not_compared(void **state)
{
	struct manifest *stored = sample_manifest(), *asked = sample_manifest();
	unsigned tensor;

	(void)state;
	asked->tensors[1].dtype[0] = 0;
	asked->tensors[1].dims = 0;
	assert_int_equal(swapioi_manifest_compare(stored, asked, &tensor, &error), 0);
	assert_int_equal(swapioi_manifest_compare(asked, stored, &tensor, &error), 0);
	swapioi_manifest_destroy(stored);
	swapioi_manifest_destroy(asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tensors_that_cannot_be_are_refused),
		cmocka_unit_test(a_shape_with_a_zero_is_of_an_empty_tensor),
		cmocka_unit_test(names_have_1023_bytes_at_most),
		cmocka_unit_test(a_group_has_1_to_65536_tensors),
		cmocka_unit_test(tensors_lie_one_after_the_other_in_units),
		cmocka_unit_test(sizes_past_32_bits_are_laid_out),
		cmocka_unit_test(a_group_too_large_for_offsets_is_refused),
		cmocka_unit_test(what_is_encoded_is_decoded),
		cmocka_unit_test(a_copy_is_the_same_and_its_own),
		cmocka_unit_test(the_first_difference_is_told_with_both_values),
		cmocka_unit_test(what_was_not_given_is_not_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
