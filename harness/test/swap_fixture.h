/* SPDX-License-Identifier: MIT */
/*
 * swap_fixture.h - torch Adam's states swapped out to a store that is made by hand, and what the
 * worker told of it, for tests of what judges swaps.
 *
 * Threads: one thread.
 */
#ifndef SWAP_FIXTURE_H
#define SWAP_FIXTURE_H

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "observed.h"
#include "pattern.h"
#include "store_image.h"

#define SEED 7

struct fixture {
	struct observed *it;
	char directory[64];
	unsigned char volume[IMAGE_VOLUME_BYTES];
};

static inline const struct image_tensor *tensors(void)
{
	static struct image_group adam;

	adam = image_adam(1);
	return adam.tensors;
}

/* torch Adam's states as the workload has them; one swap-out of generation 1. */
static inline void describe(struct observed *it)
{
	struct workload *workload = &it->test_case.workload;
	struct outcome_request *swap = &it->outcome.requests[0];

	workload->store.used = true;
	workload->tensors_count = 4;
	for (unsigned i = 0; i < 4; i++) {
		const struct image_tensor *from = &tensors()[i];
		struct tensor *to = &workload->tensors[i];

		tensor_defaults(to);
		snprintf(to->name, sizeof(to->name), "%s", from->name);
		to->numel = from->numel;
		to->dtype = from->element == 1 ? DTYPE_U8 : DTYPE_FP32;
		to->dims = from->dims;
		memcpy(to->shape, from->shape, sizeof(to->shape));
	}
	it->outcome.requests_count = 1;
	*swap = (struct outcome_request){.write = true,
					 .stage = STAGE_DONE,
					 .length = 4 + 12000 + 12288,
					 .bytes = 4 + 12000 + 12288,
					 .generation = 1,
					 .swap = true,
					 .unnamed = true,
					 .tensors = 15,
					 .stored = 1,
					 .cause = "none",
					 .place = "store"};
}

static inline void fill(unsigned tensor, uint64_t generation, unsigned char *data, uint64_t bytes)
{
	struct pattern pattern = {SEED, tensor, (uint32_t)generation};

	pattern_fill(&pattern, 0, data, bytes);
}

static inline void write_file(const char *directory, const char *name, const void *bytes,
			      size_t count)
{
	char path[192];
	int fd;

	snprintf(path, sizeof(path), "%s/store/%s", directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, count), count);
	close(fd);
}

static inline void volume_name(char name[64])
{
	snprintf(name, 64, "%016" PRIx64 "-1.vol", (uint64_t)XXH64("optimizer", 9, 0));
}

static inline void write_volume(const struct fixture *fixture)
{
	char name[64];

	volume_name(name);
	write_file(fixture->directory, name, fixture->volume, sizeof(fixture->volume));
}

static inline void make_generation(struct fixture *fixture, uint64_t generation)
{
	struct image_group adam = image_adam(generation);

	adam.fill = fill;
	image_generation(fixture->volume, &adam);
}

static inline int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	unsigned char record[IMAGE_UNIT];
	char path[128];

	assert_non_null(fixture);
	fixture->it = observed_make();
	describe(fixture->it);
	snprintf(fixture->directory, sizeof(fixture->directory), "/tmp/test_swap.XXXXXX");
	assert_non_null(mkdtemp(fixture->directory));
	snprintf(path, sizeof(path), "%s/store", fixture->directory);
	assert_int_equal(mkdir(path, 0777), 0);
	image_record(record, 0);
	write_file(fixture->directory, "swapio.store", record, sizeof(record));
	image_head(fixture->volume, "optimizer", 1);
	make_generation(fixture, 1);
	write_volume(fixture);
	*state = fixture;
	return 0;
}

static inline int tear_down(void **state)
{
	struct fixture *fixture = *state;
	char name[64], path[192];

	volume_name(name);
	snprintf(path, sizeof(path), "%s/store/%s", fixture->directory, name);
	unlink(path);
	snprintf(path, sizeof(path), "%s/store/swapio.store", fixture->directory);
	unlink(path);
	snprintf(path, sizeof(path), "%s/store", fixture->directory);
	rmdir(path);
	assert_int_equal(rmdir(fixture->directory), 0);
	observed_free(fixture->it);
	free(fixture);
	return 0;
}

static inline void found(const struct fixture *fixture, const char *oracle, const char *words)
{
	const struct case_result *result = &fixture->it->result;

	assert_true(result->findings_count >= 1);
	assert_string_equal(result->findings[0].oracle, oracle);
	if (!strstr(result->findings[0].text, words))
		fail_msg("'%s' lacks '%s'", result->findings[0].text, words);
}

#endif /* SWAP_FIXTURE_H */
