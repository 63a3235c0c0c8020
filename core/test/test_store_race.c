/* SPDX-License-Identifier: MIT */
/*
 * test_store_race.c - a group that is swapped out exactly while it is looked at: between the reads
 * of its slots, and between its manifest and its tensors. It is looked at again, and not damaged.
 */
/* link: -Wl,--wrap=swapioi_store_io,--wrap=swapioi_verify_read */
#include "store_helpers.h"
#include "verify_read.h"

#define NUMEL 3000

static struct swapio_store *store;
static unsigned swap_outs; /* to be done at the next chance */
static unsigned reads;	   /* of slots, or of tensors */
static uint64_t seed;

static void swap_out_now(void)
{
	unsigned count = swap_outs;

	swap_outs = 0;
	while (count--)
		swap_out(store, "g", NUMEL, ++seed);
}

int __real_swapioi_store_io(struct swapio_store *of, const struct store_io *io,
			    struct swapio_error *why);
int __wrap_swapioi_store_io(struct swapio_store *of, const struct store_io *io,
			    struct swapio_error *why);
int __real_swapioi_verify_read(struct verify_reader *reader, const struct volume *volume,
			       const struct manifest *manifest, struct damages *damages,
			       struct swapio_error *why);
int __wrap_swapioi_verify_read(struct verify_reader *reader, const struct volume *volume,
			       const struct manifest *manifest, struct damages *damages,
			       struct swapio_error *why);

static bool tear_slots, overtake_tensors;

/* Slot 1 as it was before the swap-out, slot 0 as it is after it. */
int __wrap_swapioi_store_io(struct swapio_store *of, const struct store_io *io,
			    struct swapio_error *why)
{
	unsigned char before[4096];
	int ret = __real_swapioi_store_io(of, io, why);

	if (ret < 0 || !tear_slots || io->length_bytes != 2 * sizeof(before))
		return ret;
	tear_slots = false;
	reads++;
	memcpy(before, (char *)io->buf + sizeof(before), sizeof(before));
	swap_out_now();
	ret = __real_swapioi_store_io(of, io, why);
	memcpy((char *)io->buf + sizeof(before), before, sizeof(before));
	return ret;
}

int __wrap_swapioi_verify_read(struct verify_reader *reader, const struct volume *volume,
			       const struct manifest *manifest, struct damages *damages,
			       struct swapio_error *why)
{
	if (overtake_tensors) {
		reads++;
		swap_out_now();
	}
	return __real_swapioi_verify_read(reader, volume, manifest, damages, why);
}

static int race_set_up(void **state)
{
	store_set_up(state);
	tear_slots = overtake_tensors = false;
	swap_outs = reads = 0;
	store = open_store();
	seed = 0;
	swap_out(store, "g", NUMEL, ++seed);
	return 0;
}

static int race_tear_down(void **state)
{
	close_store(store);
	return store_tear_down(state);
}

static int damage_is_handed_out(const struct swapio_damage *damage, void *arg)
{
	*(unsigned *)arg += 1;
	print_message("%s\n", damage->text);
	return 0;
}

static void slots_that_change_while_they_are_read_are_read_again(void **state)
{
	(void)state;
	tear_slots = true;
	swap_outs = 1;
	assert_int_equal(find_error(store, "g"), 0);
	assert_int_equal(reads, 1);
	assert_stored(store, "g", 2, 2);
}

/* The second swap-out writes to the places of the generation that is being read. */
static void tensors_that_change_while_they_are_read_are_read_again(void **state)
{
	unsigned damages = 0;

	(void)state;
	overtake_tensors = true;
	swap_outs = 2;
	assert_int_equal(swapio_store_verify(store, "g", damage_is_handed_out, &damages, &error),
			 0);
	assert_int_equal(damages, 0);
	assert_int_equal(reads, 2);
}

static void damage_that_stays_is_handed_out_once(void **state)
{
	char path[STORE_PATH_BYTES + 64];
	unsigned damages = 0;

	(void)state;
	volume_path("g", 1, path);
	overtake_tensors = true;
	flip_byte(path, 3 * 4096, 1);
	assert_int_equal(swapio_store_verify(store, NULL, damage_is_handed_out, &damages, &error),
			 -EBADMSG);
	assert_int_equal(damages, 1);
	assert_int_equal(reads, 1);
}

#define RACE_TEST(name) cmocka_unit_test_setup_teardown(name, race_set_up, race_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RACE_TEST(slots_that_change_while_they_are_read_are_read_again),
		RACE_TEST(tensors_that_change_while_they_are_read_are_read_again),
		RACE_TEST(damage_that_stays_is_handed_out_once),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
