/* SPDX-License-Identifier: MIT */
/*
 * oracle_contract.c - what the library says of each request agrees with itself and with what was
 * asked: counts, ranges, causes, sentences. Whether it should have failed at all is the verdict's.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "oracle.h"
#include "points.h"

struct asked { /* one request, where it is told of */
	const struct observation *seen;
	const struct outcome_request *request;
	struct case_result *result;
};

static const char *tensor_name(const struct asked *asked)
{
	return asked->seen->workload->tensors[asked->request->tensor].name;
}

#define WRONG(asked, format, ...)                                                                  \
	result_add((asked)->result, "contract", CLASS_CONTRACT,                                    \
		   "step %u: %s of tensor %s: " format, (asked)->request->step + 1,                \
		   (asked)->request->write ? "write" : "read", tensor_name(asked), __VA_ARGS__)

static void check_success(const struct asked *asked)
{
	const struct outcome_request *request = asked->request;

	if (request->bytes != request->length)
		WRONG(asked, "success with %" PRIu64 " of %" PRIu64 " bytes", request->bytes,
		      request->length);
	if (strcmp(request->cause, "none") != 0 && !request->synchronous)
		WRONG(asked, "success with cause %s", request->cause);
}

static void check_range(const struct asked *asked)
{
	const struct outcome_request *request = asked->request;
	uint64_t begin = asked->seen->workload->tensors[request->tensor].file_offset_bytes;
	uint64_t end = begin + request->length;

	if (request->fail_length == 0 || request->fail_offset < begin ||
	    request->fail_length > end - request->fail_offset || request->fail_offset >= end)
		WRONG(asked,
		      "fails in bytes %" PRIu64 " + %" PRIu64 ", outside of %" PRIu64 "-%" PRIu64,
		      request->fail_offset, request->fail_length, begin, end);
	if (request->bytes + request->fail_length < request->length)
		WRONG(asked,
		      "fails in %" PRIu64 " bytes and moved %" PRIu64 " of %" PRIu64
		      ": the others are nobody's",
		      request->fail_length, request->bytes, request->length);
	if (request->bytes >= request->length)
		WRONG(asked, "fails with %" PRIu64 " bytes moved of %" PRIu64, request->bytes,
		      request->length);
}

/* Causes that have one errno only, see swapio/io.h. */
static void check_cause(const struct asked *asked)
{
	static const struct {
		const char *cause;
		int error;
	} fixed[] = {{"eof", ENODATA},
		     {"no-progress", EIO},
		     {"protocol", EPROTO},
		     {"cancelled", ECANCELED},
		     {"none", 0}};
	const struct outcome_request *request = asked->request;

	for (unsigned i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
		if (strcmp(request->cause, fixed[i].cause) == 0 && request->error != fixed[i].error)
			WRONG(asked, "fails with %s and cause %s", strerror(request->error),
			      request->cause);
}

static void check_refusal(const struct asked *asked)
{
	const struct outcome_request *request = asked->request;

	if (!request->text[0])
		WRONG(asked, "refused with %s and without a sentence", strerror(request->error));
	if (!errno_name(request->error))
		WRONG(asked, "refused with %d, which is no errno", request->error);
}

static void check_request(const struct asked *asked)
{
	const struct outcome_request *request = asked->request;

	if (request->stage == STAGE_SUBMIT && !request->synchronous) {
		check_refusal(asked);
	} else if (request->stage == STAGE_DONE && !request->error) {
		check_success(asked);
	} else if (request->stage == STAGE_DONE) {
		check_range(asked);
		check_cause(asked);
	}
}

void oracle_contract(const struct observation *seen, struct case_result *result)
{
	const struct outcome *outcome = seen->outcome;

	for (unsigned i = 0; i < outcome->requests_count; i++) {
		struct asked asked = {seen, &outcome->requests[i], result};

		if (!outcome->requests[i].swap)
			check_request(&asked);
	}
	for (unsigned i = 0; i < outcome->wrong_count; i++)
		result_add(result, "contract", CLASS_CONTRACT, "step %u: %s",
			   outcome->wrong[i].step + 1, outcome->wrong[i].text);
}
