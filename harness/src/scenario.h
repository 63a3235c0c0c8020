/* SPDX-License-Identifier: MIT */
/*
 * scenario.h - a scenario file as data, and its matrix as cases.
 *
 * Threads: caller storage.
 */
#ifndef SCENARIO_H
#define SCENARIO_H

#include "program.h"
#include "schedule.h"
#include "workload.h"

struct yaml_node;

enum target { TARGET_SIM, TARGET_HOST, TARGET_NVME, TARGET_COUNT };
const char *target_name(enum target target);

/* What the scenario says must happen; unset fields come from the faults' effects. */
enum expect_result {
	EXPECT_FROM_EFFECT, /* join over the faults: transparent -> ok, fails-one, fails-all,
			       corrupts */
	EXPECT_OK,	    /* every request succeeds */
	EXPECT_ERROR,	/* at least one request fails, as errno/tensor/range/cause say; others exact
			 */
	EXPECT_REFUSED, /* refused before anything is submitted (swapio_submit or swapio_open) */
};

enum expect_data {
	EXPECT_DATA_ANY,
	EXPECT_DATA_EXACT,	/* what succeeded; after a loss of power, what was made durable */
	EXPECT_DATA_OLD_OR_NEW, /* and all tensors hold one generation, and nothing else */
};

struct expectation {
	enum expect_result result;
	char error[16];			  /* errno name, "" any */
	char cause[16];			  /* swapio_cause_name, "" any */
	char tensor[WORKLOAD_NAME_BYTES]; /* the one that must fail, "" any */
	char message[128];		  /* must occur in the error's sentence, "" any */
	enum expect_data data;		  /* default exact */
	int64_t deadline_ns;		  /* default 5 s; virtual in sim */
	unsigned failures;		  /* exactly so many requests fail; 0: as the effect says */
	char stats[4][48]; /* "spurious_events>=1", "interrupts==0": counters of swapio_stats */
	unsigned stats_count;
	struct program_expectation program;
};

enum scenario_file_system { FILE_SYSTEM_EXT4, FILE_SYSTEM_NONE };
const char *file_system_name(enum scenario_file_system file_system);

/* What the files lie on (key `device:`). A host has what it has; sim knows the two alignments. */
struct scenario_device {
	unsigned sector_bytes, memory_align_bytes;
	uint64_t size_bytes;
	unsigned mdts;	 /* longest transfer, 4 KiB << mdts; 0: no limit */
	unsigned queues; /* pairs of I/O queues */
	bool write_cache, read_only;
	enum scenario_file_system file_system;
};

#define SCENARIO_MATRIX_KEYS_MAX 8
#define SCENARIO_MATRIX_VALUES_MAX 32

#define SCENARIO_CELLS_MAX 1024
#define SCENARIO_VALUE_BYTES 256

struct matrix_key {
	char key[64]; /* an option of handle, a dotted place such as swap.tensors.0.numel, or faults
		       */
	unsigned values_count;
	char values[SCENARIO_MATRIX_VALUES_MAX]
		   [SCENARIO_VALUE_BYTES]; /* as written; faults joined by "; " */
	unsigned line, column;
};

struct scenario {
	char path[DIAG_FILE_BYTES];
	char title[256];
	char origin[256];
	char contract[8][4]; /* "C2" */
	unsigned contract_count;
	unsigned targets; /* bit per enum target */
	char needs[8][32];
	unsigned needs_count;
	char catches[8][32];
	unsigned catches_count;
	char core[64]; /* meta: a faulty core, build/lib/meta/NAME.so, "" none */
	char meta_verdict[16],
		meta_class[16]; /* what the harness's own tests demand; not used by run */
	unsigned matrix_count;
	struct matrix_key matrix[SCENARIO_MATRIX_KEYS_MAX];
	struct workload workload; /* defaults; a case has its cell applied */
	struct program program;	  /* in place of it, if there is one */
	char *schedule_text;	  /* malloc'ed, lines; NULL none */
	struct expectation expect;
	struct scenario_device device;
	char checkpoint[2 * DIAG_FILE_BYTES]; /* file that the tensors' shapes are from, "" none */
	struct yaml_node *root; /* the parsed YAML, owned here (the matrix is applied to it) */
};

/* 0; -EINVAL with @diag; -errno of the file, with @diag, too. */
int scenario_load(const char *path, struct scenario **ret_scenario, struct diag *diag);
/* As from a file that holds @bytes of @text; @path is for messages. */
int scenario_parse(const char *text, size_t bytes, const char *path, struct scenario **ret_scenario,
		   struct diag *diag);
void scenario_free(struct scenario *scenario);

#endif /* SCENARIO_H */
