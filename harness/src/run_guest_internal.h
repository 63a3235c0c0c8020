/* SPDX-License-Identifier: MIT */
/*
 * run_guest_internal.h - what the parts of the process share that runs cases in a guest.
 *
 * Threads: one thread; guest and devices end with it.
 */
#ifndef RUN_GUEST_INTERNAL_H
#define RUN_GUEST_INTERNAL_H

#include "case.h"
#include "device.h"
#include "guest_parts.h"
#include "guest_program.h"
#include "result.h"

/* What the process says: the result of a case, or in its reason why there is no guest at all. */
struct guest_message {
	bool refused;
	unsigned index; /* of the case in the plan */
	struct case_result result;
};

/* Is a namespace in the guest? It was told of its end, it said that it is out, it is back. */
enum guest_removal {
	GUEST_REMOVAL_NONE,
	GUEST_REMOVAL_BEGUN,
	GUEST_REMOVAL_OUT,
	GUEST_REMOVAL_OVER
};

/* A namespace in the guest, and what it is made of. */
struct guest_disk {
	bool plugged, mounted;
	char id[GUEST_ID_BYTES];
	struct scenario_device geometry;
	int image_fd; /* -1: none */
	struct device *device;
	const struct schedule *schedule; /* that its device was given */
	bool faulty;			 /* its device was given faults: it is another's no more */
	enum guest_removal removal;
	enum fault_removal way;
	bool armed;   /* its device's faults fire */
	bool is_deaf; /* its device's process is gone */
	bool is_cut;  /* its device has no power any more */
	json_t *told; /* what became of the faults of the device before; NULL */
	char node[64], directory[64];
};

struct guest_lane {
	const struct plan *plan;
	const char *keep_dir; /* where what is kept of a case lies */
	const char *kernel;   /* by its path; NULL: the distribution's */
	struct guest_parts parts;
	struct guest_file *files; /* scenarios and what they name */
	unsigned files_count;
	struct guest *guest; /* NULL: none is up */
	unsigned cpus;	     /* that it has, or will have; 0: as ever */
	struct guest_disk disk;
	unsigned disks_made; /* each gets a name of its own */
};

/* Is the case one of those that run in the guest? */
static inline bool guest_lane_has(const struct test_case *test_case)
{
	return test_case->target == TARGET_NVME && !test_case->skip_reason[0];
}

/* run_guest_lane.c: all cases, in the process that was made for it. Never returns. */
_Noreturn void guest_lane_main(const struct plan *plan, const char *keep_dir, const char *kernel,
			       int socket);
/* A guest is up behind it; a new one also has the file @more, if not NULL. 0, -errno with @diag. */
int guest_lane_boot(struct guest_lane *lane, const struct guest_file *more, struct diag *diag);
/* What became of the faults of its device, a new reference. */
json_t *guest_lane_outcome(const struct guest_disk *disk);
/* What there is of guest and disk is thrown away. */
void guest_lane_drop(struct guest_lane *lane);
/*
 * Say a line (consumed) and wait for what comes of it, @ret its "done" (a new reference, if not
 * NULL). In between the guest may ask for the device of the lane's disk. 0; -errno of the guest's
 * "failed"; -EPIPE it died, -ETIMEDOUT no answer came, -EPROTO: it is no use any more; with @diag.
 */
int guest_lane_ask(struct guest_lane *lane, json_t *line, unsigned seconds, json_t **ret,
		   struct diag *diag);
bool guest_lane_is_lost(int error);

/* run_guest_case.c: run one; its result. */
void guest_case_run(struct guest_lane *lane, const struct test_case *test_case,
		    struct case_result *ret_result);

/* run_guest_power.c: the power is cut: tell the guest. 0, -errno. */
int guest_power_cut(struct guest_lane *lane);
/*
 * The guest ends, and another one is asked @question (consumed) on what is left of the disk. It
 * finds in a file what the case has come to (@state). As guest_lane_ask().
 */
int guest_power_resume(struct guest_lane *lane, json_t *question, const json_t *state,
		       unsigned seconds, json_t **ret, struct diag *diag);

/* run_guest_disk.c: the same bytes, behind a device without faults, in a new guest. 0, -errno. */
int guest_disk_again(struct guest_lane *lane, struct diag *diag);
/* A namespace fit for the case is mounted behind it. 0, -errno with @diag. */
int guest_disk_provide(struct guest_lane *lane, const struct test_case *test_case,
		       struct diag *diag);
/* Take it out in order. 0, -errno with @diag: the guest does not let go. */
int guest_disk_remove(struct guest_lane *lane, struct diag *diag);
/* As QEMU is told of it. */
struct guest_namespace guest_disk_namespace(const struct guest_disk *disk);
/* The guest is gone: the rest goes, too. */
void guest_disk_forget(struct guest_disk *disk);

/* run_guest_removal.c: the device is to be pulled out: the guest is told. 0, -errno with @diag. */
int guest_removal_begin(struct guest_lane *lane, const struct device_event *event,
			struct diag *diag);
/* Is the guest one for the case? One from which a device is torn out has a single processor. */
void guest_removal_choose(struct guest_lane *lane, const struct test_case *test_case);
/* Can the guest serve another case? Not without its device; nor does QEMU let go of a controller
 * that was torn out with requests in flight, whose completions it could not deliver. */
bool guest_removal_spoilt(const struct guest_lane *lane);
/* The guest says that it is out; it wants it back. 0, -errno, with @diag. */
int guest_removal_is_out(struct guest_lane *lane, struct diag *diag);
int guest_removal_end(struct guest_lane *lane, struct diag *diag);

/* run_guest_files.c: what the plan's cases read and run, with room for one more. 0, -errno. */
int guest_files_find(const struct plan *plan, struct guest_file **ret_files, unsigned *ret_count);

#endif /* RUN_GUEST_INTERNAL_H */
