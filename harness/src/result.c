/* SPDX-License-Identifier: MIT */
/*
 * result.c - names of verdicts and classes; adding what an oracle found, and what of it is worst.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "result.h"

static const char *const verdict_names[VERDICT_COUNT] = {
	[VERDICT_PASS] = "pass", [VERDICT_FAIL] = "fail",     [VERDICT_VACUOUS] = "vacuous",
	[VERDICT_SKIP] = "skip", [VERDICT_BROKEN] = "broken",
};

static const char *const class_names[CLASS_COUNT] = {
	[CLASS_NONE] = "none", [CLASS_CORRUPTION] = "corruption",
	[CLASS_HANG] = "hang", [CLASS_CRASH] = "crash",
	[CLASS_LEAK] = "leak", [CLASS_CONTRACT] = "contract",
};

const char *verdict_name(enum verdict verdict)
{
	return verdict_names[verdict];
}

const char *failure_class_name(enum failure_class failure_class)
{
	return class_names[failure_class];
}

void result_add(struct case_result *result, const char *oracle, enum failure_class failure_class,
		const char *format, ...)
{
	struct finding *finding;
	va_list arguments;

	if (result->findings_count == RESULT_FINDINGS_MAX) {
		result->findings_lost++;
		return;
	}
	finding = &result->findings[result->findings_count++];
	snprintf(finding->oracle, sizeof(finding->oracle), "%s", oracle);
	finding->failure_class = failure_class;
	va_start(arguments, format);
	vsnprintf(finding->text, sizeof(finding->text), format, arguments);
	va_end(arguments);
}

static bool is_among(const char *const *names, const char *name)
{
	for (; names && *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

const struct finding *result_worst(const struct case_result *result, const char *const *ignored)
{
	static const enum failure_class severity[] = {CLASS_CRASH, CLASS_HANG, CLASS_CORRUPTION,
						      CLASS_CONTRACT, CLASS_LEAK};

	for (unsigned s = 0; s < sizeof(severity) / sizeof(*severity); s++) {
		for (unsigned i = 0; i < result->findings_count; i++) {
			const struct finding *finding = &result->findings[i];

			if (finding->failure_class == severity[s] &&
			    !is_among(ignored, finding->oracle))
				return finding;
		}
	}
	return NULL;
}

void result_forget(struct case_result *result, const char *oracle)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < result->findings_count; i++)
		if (strcmp(result->findings[i].oracle, oracle) != 0)
			result->findings[kept++] = result->findings[i];
	result->findings_count = kept;
}
