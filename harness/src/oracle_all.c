/* SPDX-License-Identifier: MIT */
/*
 * oracle_all.c - the list of oracles, the ones that explain most first.
 */
#include "oracle.h"

static oracle_fn *const oracles[] = {
	oracle_deadline, oracle_data,	oracle_ledger, oracle_blame,  oracle_contract,
	oracle_swap,	 oracle_verify, oracle_leaks,  oracle_kernel,
};

static oracle_fn *const of_processes[] = {oracle_ledger, oracle_leaks};

void oracle_ask_process(const struct observation *seen, struct case_result *result)
{
	for (unsigned i = 0; i < sizeof(of_processes) / sizeof(*of_processes); i++)
		of_processes[i](seen, result);
}

void oracle_ask_all(const struct observation *seen, struct case_result *result)
{
	for (unsigned i = 0; i < sizeof(oracles) / sizeof(*oracles); i++)
		oracles[i](seen, result);
}
