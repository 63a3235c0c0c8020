/* SPDX-License-Identifier: MIT */
/*
 * test_tensors.c - what a scenario can say instead of a list of tensors: the states of an
 * optimizer, and the tensors of a checkpoint, whose header may lie.
 */
#undef NDEBUG
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "presets.h"
#include "safetensors.h"
#include "scenario.h"

static struct scenario *read_tensors(const char *tensors, struct diag *diag)
{
	struct scenario *scenario = NULL;
	char text[4096];

	snprintf(text, sizeof(text), "title: t\nswap:\n  tensors: %s\n  steps: [swap-out]\n",
		 tensors);
	scenario_parse(text, strlen(text), "/tmp/dir/test.yaml", &scenario, diag);
	return scenario;
}

static void expect_tensor(const struct scenario *scenario, unsigned index, const char *name,
			  enum dtype dtype, uint64_t numel)
{
	const struct tensor *tensor = &scenario->workload.tensors[index];

	assert_string_equal(tensor->name, name);
	assert_int_equal(tensor->dtype, dtype);
	assert_int_equal(tensor->numel, numel);
}

static void refused(const char *tensors, unsigned column, const char *complaint)
{
	struct diag diag = {0};
	struct scenario *scenario = read_tensors(tensors, &diag);

	assert_null(scenario);
	if (!strstr(diag.text, complaint))
		fail_msg("'%s' lacks '%s'", diag.text, complaint);
	assert_int_equal(diag.line, 3);
	assert_int_equal(diag.column, column);
}

static void torch_adam_has_a_scalar_step_beside_its_moments(void **state)
{
	struct diag diag = {0};
	struct scenario *scenario =
		read_tensors("{preset: torch-adam, shape: [1000, 77], memory: pinned}", &diag);

	(void)state;
	assert_non_null(scenario);
	assert_int_equal(scenario->workload.tensors_count, 3);
	expect_tensor(scenario, 0, "step", DTYPE_FP32, 1);
	assert_int_equal(scenario->workload.tensors[0].dims, 0);
	expect_tensor(scenario, 1, "exp_avg", DTYPE_FP32, 77000);
	expect_tensor(scenario, 2, "exp_avg_sq", DTYPE_FP32, 77000);
	assert_int_equal(scenario->workload.tensors[2].dims, 2);
	assert_int_equal(scenario->workload.tensors[2].shape[1], 77);
	assert_int_equal(scenario->workload.tensors[2].memory, MEMORY_PINNED);
	assert_string_equal(scenario->workload.tensors[2].file, "exp_avg_sq.swp");
	scenario_free(scenario);
}

static void adafactor_keeps_rows_and_columns(void **state)
{
	struct diag diag = {0};
	struct scenario *scenario = read_tensors("{preset: adafactor, shape: [3, 50, 7]}", &diag);

	(void)state;
	assert_non_null(scenario);
	expect_tensor(scenario, 1, "exp_avg_sq_row", DTYPE_FP32, 150);
	expect_tensor(scenario, 2, "exp_avg_sq_col", DTYPE_FP32, 21);
	assert_int_equal(scenario->workload.tensors[2].dims, 2);
	scenario_free(scenario);
}

static void eight_bit_states_have_a_maximum_for_each_block_even_a_short_one(void **state)
{
	struct diag diag = {0};
	struct scenario *scenario =
		read_tensors("{preset: adam8bit, numel: 4097, block: 2048}", &diag);

	(void)state;
	assert_non_null(scenario);
	expect_tensor(scenario, 0, "state1", DTYPE_U8, 4097);
	expect_tensor(scenario, 2, "qmap1", DTYPE_FP32, 256);
	expect_tensor(scenario, 5, "absmax2", DTYPE_FP32, 3);
	scenario_free(scenario);
}

static void parameters_repeat_the_states_under_other_names(void **state)
{
	struct diag diag = {0};
	struct scenario *scenario =
		read_tensors("{preset: bf16-adam, numel: 10, parameters: 12}", &diag);

	(void)state;
	assert_non_null(scenario);
	assert_int_equal(scenario->workload.tensors_count, 60);
	expect_tensor(scenario, 0, "0.param", DTYPE_BF16, 10);
	expect_tensor(scenario, 59, "11.exp_avg_sq", DTYPE_FP32, 10);
	scenario_free(scenario);
}

static void every_preset_makes_tensors(void **state)
{
	struct tensor tensors[WORKLOAD_TENSORS_MAX];
	char text[256];

	(void)state;
	for (const char *const *name = preset_names; *name; name++) {
		struct preset_asked asked = {.block = 256, .parameters = 1};
		int count;

		snprintf(asked.name, sizeof(asked.name), "%s", *name);
		if (strcmp(*name, "edges") != 0) {
			asked.numel = 12;
			asked.dims = 2;
			asked.shape[0] = 3;
			asked.shape[1] = 4;
		}
		count = preset_expand(&asked, tensors, WORKLOAD_TENSORS_MAX, text, sizeof(text));
		assert_true(count > 0);
		assert_int_equal(
			preset_expand(&asked, tensors, (unsigned)count, text, sizeof(text)), count);
		assert_int_equal(preset_expand(&asked, tensors, (unsigned)count - 1, text,
					       sizeof(text)),
				 -ERANGE);
	}
}

static void what_makes_no_tensors_is_refused_where_it_stands(void **state)
{
	(void)state;
	refused("{preset: torch-adams, numel: 5}", 21, "did you mean 'torch-adam'");
	refused("{preset: sgd}", 21, "needs a numel or a shape");
	refused("{preset: edges, numel: 5}", 21, "takes no numel");
	refused("{preset: adafactor, shape: [5]}", 21, "2 dimensions or more, not 1");
	refused("{preset: sgd, numel: 6, shape: [5]}", 43, "holds 5 elements, numel says 6");
	refused("{preset: sgd, numel: 6, parameters: 65}", 48, "out of range");
	refused("{preset: torch-adam, numel: 6, parameters: 22}", 55,
		"make 66 tensors, at most 64");
	refused("{preset: sgd, shape: [4294967296, 4294967296, 4294967296]}", 33, "more than");
	refused("{preset: sgd, shape: [1,2,3,4,5,6,7,8,9]}", 33, "9 given, must be 0 to 8");
	refused("{preset: sgd, nume: 6}", 26, "did you mean 'numel'");
	refused("[{name: a}]", 13, "key 'numel' is missing");
	refused("[{name: a, shape: [2, -1]}]", 34, "must be a plain number");
	refused("[{name: a, numel: 3, memory: slot}]", 20, "goes with a store only");
	refused("{numel: 3}", 12, "a list of tensors, or a map with preset or safetensors");
	refused("7", 12, "a list of tensors");
}

static void a_shape_is_as_good_as_a_numel(void **state)
{
	struct diag diag = {0};
	struct scenario *scenario = read_tensors("[{name: a, shape: [2, 3, 4]}, {name: b, shape: "
						 "[]}, {name: c, shape: [9, 0]}]",
						 &diag);

	(void)state;
	assert_non_null(scenario);
	expect_tensor(scenario, 0, "a", DTYPE_FP32, 24);
	expect_tensor(scenario, 1, "b", DTYPE_FP32, 1);
	expect_tensor(scenario, 2, "c", DTYPE_FP32, 0);
	scenario_free(scenario);
}

/* A file that begins with @header, padded to @length if that is not 0, and has @data bytes more. */
static int parse(const char *header, uint64_t length, uint64_t data, struct safetensors **ret_file,
		 char text[256])
{
	unsigned char bytes[2048];
	size_t used = strlen(header);

	length = length ? length : used;
	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(length >> 8 * i);
	memcpy(bytes + 8, header, used);
	text[0] = '\0';
	return safetensors_parse(bytes, 8 + used, 8 + used + data, ret_file, text, 256);
}

static void header_refused(const char *header, uint64_t length, uint64_t data,
			   const char *complaint)
{
	struct safetensors *file = NULL;
	char text[256];

	assert_int_equal(parse(header, length, data, &file, text), -EINVAL);
	assert_null(file);
	if (!strstr(text, complaint))
		fail_msg("'%s' lacks '%s'", text, complaint);
}

#define TENSOR(name, dtype, shape, begin, end)                                                     \
	"\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" begin     \
	"," end "]}"

static void a_header_gives_tensors_in_the_order_of_their_bytes(void **state)
{
	struct safetensors *file = NULL;
	char text[256];

	(void)state;
	assert_int_equal(parse("{\"__metadata__\":{\"format\":\"pt\"}," TENSOR(
				       "w", "BF16", "3,2", "8",
				       "20") "," TENSOR("s", "I64", "", "0",
							"8") "," TENSOR("none", "F32", "5,0", "8",
									"8") "}   ",
			       0, 20, &file, text),
			 0);
	assert_int_equal(file->count, 3);
	assert_string_equal(file->tensors[0].name, "s");
	assert_int_equal(file->tensors[0].numel, 1);
	assert_string_equal(file->tensors[1].name, "none");
	assert_int_equal(file->tensors[1].numel, 0);
	assert_int_equal(file->tensors[2].dtype, DTYPE_BF16);
	assert_int_equal(file->tensors[2].dims, 2);
	assert_int_equal(file->tensors[2].begin, 8);
	safetensors_free(file);
	assert_int_equal(parse("{}", 0, 0, &file, text), 0);
	assert_int_equal(file->count, 0);
	safetensors_free(file);
}

static void headers_that_lie_are_refused_with_place_and_value(void **state)
{
	struct safetensors *file = NULL;
	char text[256];

	(void)state;
	assert_int_equal(safetensors_parse("\1\0\0", 3, 3, &file, text, sizeof(text)), -EINVAL);
	assert_string_equal(text, "3 bytes, and the length of the header takes 8");
	header_refused("{}", 100000001, 0, "a header of 100000001 bytes, at most 100000000");
	header_refused("{}", UINT64_MAX, 0, "a header of 18446744073709551615 bytes");
	header_refused("{}", 3, 0, "a header of 3 bytes, and 2 follow");
	header_refused("{}", 4, 4, "byte 10: the header is cut");
	header_refused(" {}", 0, 0, "does not begin with {");
	header_refused("[]", 0, 0, "does not begin with {");
	header_refused("{\"a\":", 0, 0, "byte 13: the header is no JSON");
	header_refused("{}x", 0, 0, "the header is no JSON");
	header_refused("{\"a\xff\":1}", 0, 0, "the header is no JSON");
	header_refused("{" TENSOR("a", "U8", "1", "0", "1") "," TENSOR("a", "U8", "1", "1",
								       "2") "}",
		       0, 2, "no JSON: duplicate");
	header_refused("{}", 0, 1, "the tensors take 0 bytes, and 1 are behind the header");
	header_refused("{\"__metadata__\":{\"a\":1}}", 0, 0, "__metadata__: 'a' is no text");
	header_refused("{\"__metadata__\":[]}", 0, 0, "__metadata__: is no object");
	header_refused("{\"a\":[]}", 0, 0, "tensor a: is no object");
	header_refused("{\"\":{}}", 0, 0, "a tensor has no name");
	header_refused("{\"a\":{\"dtype\":\"F4\"}}", 0, 0, "tensor a: dtype 'F4' is not known");
	header_refused("{\"a\":{\"shape\":[]}}", 0, 0, "tensor a: its dtype is no text");
	header_refused("{\"a\":{\"dtype\":\"U8\"}}", 0, 0, "tensor a: its shape is no list");
	header_refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[]}}", 0, 0, "no list of two");
	header_refused("{" TENSOR("a", "U8", "-1", "0", "1") "}", 0, 1, "no number of 0 or more");
	header_refused("{" TENSOR("a", "U8", "1.0", "0", "1") "}", 0, 1, "no number of 0 or more");
	header_refused("{" TENSOR("a", "U8", "99999999999999999999", "0", "1") "}", 0, 1,
		       "no JSON: too big");
	header_refused("{" TENSOR("a", "U8", "4294967296,4294967296", "0", "0") "}", 0, 0,
		       "its shape overflows");
	header_refused("{" TENSOR("a", "F32", "4294967296,1024", "0", "0") "}", 0, 0,
		       "4398046511104 elements, at most");
	header_refused("{" TENSOR("a", "U8", "1,1,1,1,1,1,1,1,1", "0", "1") "}", 0, 1,
		       "9 dimensions");
	header_refused("{" TENSOR("a", "F32", "2", "0", "4") "}", 0, 4,
		       "data_offsets [0, 4], its dtype and shape take 8 bytes");
	header_refused("{" TENSOR("a", "U8", "2", "4", "2") "}", 0, 4, "data_offsets [4, 2]");
	header_refused("{" TENSOR("a", "U8", "2", "1", "3") "}", 0, 3,
		       "tensor a: begins at 1, and the one before ends at 0");
	header_refused("{" TENSOR("a", "U8", "4", "0", "4") "," TENSOR("b", "U8", "4", "3",
								       "7") "}",
		       0, 7, "tensor b: begins at 3, and the one before reaches to 4");
	header_refused("{" TENSOR("a", "U8", "4", "0", "4") "}", 0, 3,
		       "the tensors take 4 bytes, and 3 are behind");
}

static void a_checkpoint_is_found_beside_the_scenario(void **state)
{
	char header[] = "\0\0\0\0\0\0\0\0{" TENSOR("model.0/w", "F16", "2,2", "0",
						   "8") "," TENSOR("b", "I8", "3", "8", "11") "}";
	char directory[] = "/tmp/test_tensors.XXXXXX", path[64], file[64], text[512];
	struct scenario *scenario = NULL;
	struct diag diag = {0};
	int fd;

	(void)state;
	header[0] = sizeof(header) - 9;
	assert_non_null(mkdtemp(directory));
	snprintf(file, sizeof(file), "%s/small.safetensors", directory);
	snprintf(path, sizeof(path), "%s/test.yaml", directory);
	fd = open(file, O_WRONLY | O_CREAT, 0666);
	assert_int_equal(write(fd, header, sizeof(header) - 1), sizeof(header) - 1);
	assert_int_equal(ftruncate(fd, 8 + header[0] + 11), 0);
	close(fd);
	snprintf(text, sizeof(text),
		 "title: t\nswap:\n  tensors: {safetensors: small.safetensors, memory: heap}\n"
		 "  steps: [swap-out]\n");
	if (scenario_parse(text, strlen(text), path, &scenario, &diag) < 0)
		fail_msg("%s", diag.text);
	assert_int_equal(scenario->workload.tensors_count, 2);
	expect_tensor(scenario, 0, "model.0/w", DTYPE_FP16, 4);
	assert_string_equal(scenario->workload.tensors[0].file, "model.0_w.swp");
	expect_tensor(scenario, 1, "b", DTYPE_I8, 3);
	assert_int_equal(scenario->workload.tensors[1].memory, MEMORY_HEAP);
	scenario_free(scenario);
	assert_int_equal(truncate(file, 100), 0);
	assert_int_equal(scenario_parse(text, strlen(text), path, &scenario, &diag), -EINVAL);
	assert_int_equal(diag.line, 3);
	assert_int_equal(diag.column, 26);
	assert_non_null(strstr(diag.text, "small.safetensors: byte 0: a header of 1"));
	unlink(file);
	assert_int_equal(scenario_parse(text, strlen(text), path, &scenario, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "No such file"));
	rmdir(directory);
	refused("{safetensors: /dev/zero}", 26, "is no regular file");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(torch_adam_has_a_scalar_step_beside_its_moments),
		cmocka_unit_test(adafactor_keeps_rows_and_columns),
		cmocka_unit_test(eight_bit_states_have_a_maximum_for_each_block_even_a_short_one),
		cmocka_unit_test(parameters_repeat_the_states_under_other_names),
		cmocka_unit_test(every_preset_makes_tensors),
		cmocka_unit_test(what_makes_no_tensors_is_refused_where_it_stands),
		cmocka_unit_test(a_shape_is_as_good_as_a_numel),
		cmocka_unit_test(a_header_gives_tensors_in_the_order_of_their_bytes),
		cmocka_unit_test(headers_that_lie_are_refused_with_place_and_value),
		cmocka_unit_test(a_checkpoint_is_found_beside_the_scenario),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
