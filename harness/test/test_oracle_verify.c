/* SPDX-License-Identifier: MIT */
/*
 * test_oracle_verify.c - what a verify of a store says against what the second reader saw, one
 * thing spoilt at a time.
 */
#undef NDEBUG
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "observed.h"

#define CHUNK 4096u
#define BYTES 10000u /* of each tensor: two chunks and a short one */
#define FIRST_AT (16u * CHUNK)
#define SECOND_AT (32u * CHUNK)
#define ROOM 8u

struct verified { /* a store of two tensors, verified in step 2 */
	struct observed *case_of;
	struct store_look look;
	struct store_looks looks;
	struct outcome_verify *verify;
};

static void add_tensor(struct verified *it, const char *name, uint64_t begin)
{
	struct look_tensor *tensor = &it->look.tensors[it->look.tensors_count++];

	*tensor = (struct look_tensor){.bytes = BYTES, .begin = begin, .end = begin + 3 * CHUNK};
	snprintf(tensor->name, sizeof(tensor->name), "%s", name);
}

static int set_up(void **state)
{
	struct verified *it = calloc(1, sizeof(*it));
	struct outcome *outcome;

	assert_non_null(it);
	it->case_of = observed_make();
	outcome = &it->case_of->outcome;
	outcome->damages = calloc(ROOM, sizeof(*outcome->damages));
	outcome->verifies = calloc(1, sizeof(*outcome->verifies));
	assert_non_null(outcome->damages);
	assert_non_null(outcome->verifies);
	outcome->verifies_count = 1;
	it->verify = outcome->verifies;
	*it->verify = (struct outcome_verify){.step = 1, .place = "store"};
	it->look = (struct store_look){
		.sum_before = 7, .sum_after = 7, .chunk_bytes = CHUNK, .volume_sum = 0xabc};
	add_tensor(it, "exp_avg", FIRST_AT);
	add_tensor(it, "exp_avg_sq", SECOND_AT);
	it->looks = (struct store_looks){.items = &it->look, .count = 1};
	it->case_of->seen.looks = &it->looks;
	*state = it;
	return 0;
}

static int tear_down(void **state)
{
	struct verified *it = *state;

	observed_free(it->case_of);
	free(it);
	return 0;
}

static void damaged(struct verified *it, unsigned tensor, uint64_t offset, uint64_t length)
{
	it->look.ranges[it->look.ranges_count++] = (struct look_range){tensor, offset, length};
}

static struct outcome_damage *tell(struct verified *it, int error)
{
	struct outcome *outcome = &it->case_of->outcome;
	struct outcome_damage *damage = &outcome->damages[outcome->damages_count++];

	assert_true(outcome->damages_count <= ROOM);
	*damage = (struct outcome_damage){.error = error, .group = "optimizer"};
	it->verify->damages_count++;
	it->verify->error = EBADMSG;
	snprintf(it->verify->text, sizeof(it->verify->text), "store: some of it is damaged");
	return damage;
}

static struct outcome_damage *tell_range(struct verified *it, const char *tensor, uint64_t offset,
					 uint64_t length, int error)
{
	struct outcome_damage *damage = tell(it, error);

	damage->named = true;
	damage->offset = offset;
	damage->length = length;
	snprintf(damage->tensor, sizeof(damage->tensor), "%s", tensor);
	snprintf(damage->text, sizeof(damage->text),
		 "group optimizer, tensor %s, %llu bytes at %llu: why", tensor,
		 (unsigned long long)length, (unsigned long long)offset);
	return damage;
}

static struct outcome_damage *tell_group(struct verified *it, int error)
{
	struct outcome_damage *damage = tell(it, error);

	snprintf(damage->text, sizeof(damage->text), "group optimizer: why");
	return damage;
}

/* An event of a read that the verify made. */
static void event(struct verified *it, uint64_t offset, int64_t result, bool injected)
{
	struct eventlog_record record = {
		.type = EVENTLOG_DELIVER,
		.op = FAULT_OP_READ,
		.flags = injected ? EVENTLOG_INJECTED : 0,
		.point = POINT_io_event,
		.pid = 1,
		.ctx = 1,
		.number = 1,
		.offset = offset,
		.length = CHUNK,
		.result = result,
	};

	eventlog_append(it->case_of->seen.log, &record);
	it->look.log_end = eventlog_count(it->case_of->seen.log);
}

static void ask(struct verified *it)
{
	oracle_verify(&it->case_of->seen, &it->case_of->result);
}

static void assert_right(struct verified *it)
{
	ask(it);
	if (it->case_of->result.findings_count)
		fail_msg("%s", it->case_of->result.findings[0].text);
}

/* Exactly one finding, of that class, with those words. */
static void assert_found(struct verified *it, enum failure_class failure_class, const char *words)
{
	const struct finding *finding = it->case_of->result.findings;

	ask(it);
	assert_int_equal(it->case_of->result.findings_count, 1);
	assert_string_equal(finding->oracle, "verify");
	assert_int_equal(finding->failure_class, failure_class);
	if (!strstr(finding->text, words) || !strstr(finding->text, "step 2: verify"))
		fail_msg("'%s' lacks '%s'", finding->text, words);
}

static void a_whole_store_that_is_called_whole_is_right(void **state)
{
	assert_right(*state);
}

static void damage_that_is_told_to_the_chunk_is_right(void **state)
{
	struct verified *it = *state;

	damaged(it, 0, CHUNK, BYTES - CHUNK);
	damaged(it, 1, 0, CHUNK);
	tell_range(it, "exp_avg", CHUNK, BYTES - CHUNK, EBADMSG);
	tell_range(it, "exp_avg_sq", 0, CHUNK, EBADMSG);
	assert_right(it);
}

/* Without checksums the end of the file is known to the byte, and is told by the chunk. */
static void the_chunk_in_which_a_file_ends_may_be_told_whole(void **state)
{
	struct verified *it = *state;

	damaged(it, 1, CHUNK + 100, BYTES - CHUNK - 100);
	tell_range(it, "exp_avg_sq", CHUNK, BYTES - CHUNK, ENODATA);
	assert_right(it);
}

static void damage_that_is_not_told_is_found(void **state)
{
	struct verified *it = *state;

	damaged(it, 0, CHUNK, CHUNK);
	assert_found(it, CLASS_CORRUPTION, "tensor exp_avg, bytes 4096-8191, is damaged");
}

static void the_second_range_that_is_not_told_is_found(void **state)
{
	struct verified *it = *state;

	damaged(it, 0, 0, CHUNK);
	damaged(it, 1, 2 * CHUNK, BYTES - 2 * CHUNK);
	tell_range(it, "exp_avg", 0, CHUNK, EBADMSG);
	assert_found(it, CLASS_CORRUPTION, "tensor exp_avg_sq, bytes 8192-9999, is damaged");
}

static void a_range_that_is_told_in_part_is_found(void **state)
{
	struct verified *it = *state;

	damaged(it, 0, 0, 2 * CHUNK);
	tell_range(it, "exp_avg", 0, CHUNK, EBADMSG);
	assert_found(it, CLASS_CORRUPTION, "tensor exp_avg, bytes 4096-8191, is damaged");
}

static void a_chunk_that_is_right_and_called_damaged_is_found(void **state)
{
	struct verified *it = *state;

	damaged(it, 0, 0, CHUNK);
	tell_range(it, "exp_avg", 0, 2 * CHUNK, EBADMSG);
	assert_found(it, CLASS_CONTRACT, "exp_avg, bytes 4096-8191, and another process reads");
}

static void the_neighbour_that_is_blamed_is_found_with_what_was_missed(void **state)
{
	struct verified *it = *state;

	damaged(it, 0, 0, CHUNK);
	tell_range(it, "exp_avg_sq", 0, CHUNK, EBADMSG);
	ask(it);
	assert_int_equal(it->case_of->result.findings_count, 2);
	assert_int_equal(it->case_of->result.findings[0].failure_class, CLASS_CONTRACT);
	assert_int_equal(it->case_of->result.findings[1].failure_class, CLASS_CORRUPTION);
}

static void bytes_that_a_tensor_does_not_have_are_found(void **state)
{
	struct verified *it = *state;

	damaged(it, 0, 2 * CHUNK, BYTES - 2 * CHUNK);
	tell_range(it, "exp_avg", 2 * CHUNK, CHUNK, EBADMSG);
	assert_found(it, CLASS_CONTRACT, "bytes 8192 + 4096 of tensor exp_avg, which has 10000");
}

static void an_empty_range_is_found(void **state)
{
	struct verified *it = *state;

	tell_range(it, "exp_avg", 0, 0, EBADMSG);
	assert_found(it, CLASS_CONTRACT, "bytes 0 + 0 of tensor exp_avg");
}

static void a_tensor_that_is_not_stored_is_found(void **state)
{
	struct verified *it = *state;

	tell_range(it, "step", 0, 4, EBADMSG);
	assert_found(it, CLASS_CONTRACT, "tensor step, which the store does not have");
}

static void success_with_damage_is_found(void **state)
{
	struct verified *it = *state;

	damaged(it, 0, 0, CHUNK);
	tell_range(it, "exp_avg", 0, CHUNK, EBADMSG);
	it->verify->error = 0;
	assert_found(it, CLASS_CONTRACT, "answers success after it told of 1");
}

static void an_error_without_damage_is_found(void **state)
{
	struct verified *it = *state;

	it->verify->error = EBADMSG;
	snprintf(it->verify->text, sizeof(it->verify->text), "store: some of it is damaged");
	assert_found(it, CLASS_CONTRACT, "tells of nothing that is damaged");
}

static void an_error_without_a_sentence_is_found(void **state)
{
	struct verified *it = *state;

	it->verify->error = ENOMEM;
	assert_found(it, CLASS_CONTRACT, "answers ENOMEM without a sentence");
}

/* Whoever could not read says so, and is not asked what there is. */
static void a_verify_that_did_not_come_to_its_end_need_not_tell_all(void **state)
{
	struct verified *it = *state;

	damaged(it, 0, 0, CHUNK);
	it->verify->error = ENOMEM;
	snprintf(it->verify->text, sizeof(it->verify->text), "store: no memory to verify it");
	assert_right(it);
}

static void sentences_name_group_tensor_and_range(void **state)
{
	static const struct {
		const char *text, *complaint;
	} spoilt[] = {
		{"tensor exp_avg, 4096 bytes at 8192: why", "does not name group optimizer"},
		{"group optimizer, 4096 bytes at 8192: why", "does not name tensor exp_avg"},
		{"group optimizer, tensor exp_avg, 4096 bytes: why", "does not say"},
		{"group optimizer, tensor exp_avg, 14096 bytes at 8192: why", "does not say"},
		{"group optimizer, tensor exp_avg, 4096 bytes at 81920: why", "does not say"},
	};
	struct outcome_damage *damage;

	for (size_t i = 0; i < sizeof(spoilt) / sizeof(*spoilt); i++) {
		struct verified *it = *state;

		it->look.tensors[0].bytes = 3 * CHUNK;
		damaged(it, 0, 2 * CHUNK, CHUNK);
		damage = tell_range(it, "exp_avg", 2 * CHUNK, CHUNK, EBADMSG);
		snprintf(damage->text, sizeof(damage->text), "%s", spoilt[i].text);
		assert_found(it, CLASS_CONTRACT, spoilt[i].complaint);
		tear_down(state);
		set_up(state);
	}
}

static void a_group_without_a_manifest_has_to_be_told(void **state)
{
	struct verified *it = *state;

	it->look.tensors_count = 0;
	it->look.error = -EBADMSG;
	snprintf(it->look.text, sizeof(it->look.text), "no manifest is left");
	assert_found(it, CLASS_CORRUPTION, "the group cannot be read: no manifest is left");
}

static void a_group_that_cannot_be_read_may_be_called_by_its_file(void **state)
{
	struct verified *it = *state;
	struct outcome_damage *damage;

	it->look.tensors_count = 0;
	it->look.error = -EBADMSG;
	damage = tell_group(it, EBADMSG);
	snprintf(damage->group, sizeof(damage->group), "0000000000000abc-1.vol");
	snprintf(damage->text, sizeof(damage->text), "volume 0000000000000abc-1.vol: why");
	assert_right(it);
	snprintf(damage->group, sizeof(damage->group), "0000000000000abd-1.vol");
	snprintf(damage->text, sizeof(damage->text), "volume 0000000000000abd-1.vol: why");
	assert_found(it, CLASS_CONTRACT, "blames group 0000000000000abd-1.vol, which is not");
}

/* Its record is what every group needs. */
static void a_store_that_cannot_be_read_may_be_called_by_its_place(void **state)
{
	struct verified *it = *state;
	struct outcome_damage *damage;

	it->look.tensors_count = 0;
	it->look.error = -EBADMSG;
	damage = tell_group(it, EBADMSG);
	snprintf(damage->group, sizeof(damage->group), "store");
	snprintf(damage->text, sizeof(damage->text), "store: swapio.store is gone");
	assert_right(it);
}

static void a_group_that_is_called_damaged_and_is_not_is_found(void **state)
{
	tell_group(*state, EBADMSG);
	assert_found(*state, CLASS_CONTRACT, "another process finds it as it must be");
}

/* Nothing stored is nothing damaged. */
static void a_store_without_the_group_is_whole(void **state)
{
	struct verified *it = *state;

	it->look.tensors_count = 0;
	it->look.error = -ENOENT;
	assert_right(it);
}

static void a_read_that_failed_is_told_with_its_errno(void **state)
{
	struct verified *it = *state;

	event(it, FIRST_AT + CHUNK, -EIO, true);
	tell_range(it, "exp_avg", CHUNK, CHUNK, EIO);
	assert_right(it);
}

/* Whole sectors are read, and those behind the last byte belong to its chunk. */
static void a_read_of_padding_that_failed_is_of_the_last_chunk(void **state)
{
	struct verified *it = *state;

	it->look.tensors[0].end += CHUNK;
	event(it, FIRST_AT + 3 * CHUNK, -EIO, true);
	tell_range(it, "exp_avg", 2 * CHUNK, BYTES - 2 * CHUNK, EIO);
	assert_right(it);
}

static void a_read_that_failed_and_is_not_told_is_found(void **state)
{
	struct verified *it = *state;

	event(it, SECOND_AT, -EIO, true);
	assert_found(it, CLASS_CORRUPTION, "reading exp_avg_sq, bytes 131072 + 4096");
}

static void a_record_that_could_not_be_read_has_to_be_told(void **state)
{
	struct verified *it = *state;

	event(it, CHUNK, -EIO, true);
	assert_found(it, CLASS_CORRUPTION, "reading its records, bytes 4096 + 4096");
	it->case_of->result.findings_count = 0;
	tell_group(it, EIO);
	assert_right(it);
}

static void a_read_that_failed_is_no_wrong_checksum(void **state)
{
	struct verified *it = *state;

	event(it, FIRST_AT + CHUNK, -EIO, true);
	damaged(it, 0, CHUNK, CHUNK);
	tell_range(it, "exp_avg", CHUNK, CHUNK, EBADMSG);
	assert_found(it, CLASS_CONTRACT,
		     "says EBADMSG of exp_avg, of which a read failed with EIO");
}

static void an_error_that_no_event_had_is_found(void **state)
{
	struct verified *it = *state;

	event(it, FIRST_AT + CHUNK, CHUNK, false);
	tell_range(it, "exp_avg", CHUNK, CHUNK, EIO);
	assert_found(it, CLASS_CONTRACT, "says EIO of tensor exp_avg, bytes 4096-8191");
}

static void an_event_before_or_behind_the_verify_explains_nothing(void **state)
{
	struct verified *it = *state;

	event(it, FIRST_AT + CHUNK, -EIO, true);
	it->look.log_first = it->look.log_end;
	tell_range(it, "exp_avg", CHUNK, CHUNK, EIO);
	event(it, SECOND_AT, CHUNK, false);
	event(it, FIRST_AT + CHUNK, -EIO, true);
	it->look.log_end--;
	assert_found(it, CLASS_CONTRACT, "says EIO of tensor exp_avg, bytes 4096-8191");
}

/* The log says that they came otherwise than they lie there: neither reader is wrong. */
static void bytes_that_changed_on_the_way_may_be_told(void **state)
{
	struct verified *it = *state;

	event(it, FIRST_AT, CHUNK, true);
	tell_range(it, "exp_avg", 0, CHUNK, EBADMSG);
	assert_right(it);
}

static void files_that_change_are_found(void **state)
{
	struct verified *it = *state;

	it->look.sum_after++;
	assert_found(it, CLASS_CORRUPTION, "changes files of the store in store");
}

static void what_the_reader_cannot_take_down_is_not_judged_right(void **state)
{
	struct verified *it = *state;

	it->look.cut = true;
	assert_found(it, CLASS_CRASH, "cannot be judged");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_whole_store_that_is_called_whole_is_right),
		TEST(damage_that_is_told_to_the_chunk_is_right),
		TEST(the_chunk_in_which_a_file_ends_may_be_told_whole),
		TEST(damage_that_is_not_told_is_found),
		TEST(the_second_range_that_is_not_told_is_found),
		TEST(a_range_that_is_told_in_part_is_found),
		TEST(a_chunk_that_is_right_and_called_damaged_is_found),
		TEST(the_neighbour_that_is_blamed_is_found_with_what_was_missed),
		TEST(bytes_that_a_tensor_does_not_have_are_found),
		TEST(an_empty_range_is_found),
		TEST(a_tensor_that_is_not_stored_is_found),
		TEST(success_with_damage_is_found),
		TEST(an_error_without_damage_is_found),
		TEST(an_error_without_a_sentence_is_found),
		TEST(a_verify_that_did_not_come_to_its_end_need_not_tell_all),
		TEST(sentences_name_group_tensor_and_range),
		TEST(a_group_without_a_manifest_has_to_be_told),
		TEST(a_group_that_cannot_be_read_may_be_called_by_its_file),
		TEST(a_store_that_cannot_be_read_may_be_called_by_its_place),
		TEST(a_group_that_is_called_damaged_and_is_not_is_found),
		TEST(a_store_without_the_group_is_whole),
		TEST(a_read_that_failed_is_told_with_its_errno),
		TEST(a_read_of_padding_that_failed_is_of_the_last_chunk),
		TEST(a_read_that_failed_and_is_not_told_is_found),
		TEST(a_record_that_could_not_be_read_has_to_be_told),
		TEST(a_read_that_failed_is_no_wrong_checksum),
		TEST(an_error_that_no_event_had_is_found),
		TEST(an_event_before_or_behind_the_verify_explains_nothing),
		TEST(bytes_that_changed_on_the_way_may_be_told),
		TEST(files_that_change_are_found),
		TEST(what_the_reader_cannot_take_down_is_not_judged_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
