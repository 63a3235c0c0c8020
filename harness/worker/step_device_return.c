/* SPDX-License-Identifier: MIT */
/*
 * step_device_return.c - the device that a fault pulled out is put back by the harness. The file
 * system that the files were on is dead, whoever has them open; the one that is mounted in its
 * place knows what was synced.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "raw.h"
#include "worker.h"

static bool ask(struct wire_return *answer)
{
	struct wire_pause pause = {.id = worker.wire.id, .step = WIRE_STEP_RETURN};
	int fd = worker.fds[WIRE_FD_PAUSE];

	return raw_write(fd, &pause, sizeof(pause)) == sizeof(pause) &&
	       raw_read(fd, answer, sizeof(*answer)) == sizeof(*answer);
}

void step_device_return(const struct step *step)
{
	static struct wire_return answer;

	(void)step;
	if (!worker.wire.tell_arming)
		return; /* no device here has faults, so none is out */
	if (!ask(&answer))
		syscall(SYS_exit_group, 1); /* the harness is gone */
	if (!answer.is_back)
		return;
	worker.device_returned = true;
	if (chdir(worker.work_dir) < 0)
		tell_broken("%s, on the device that is back: %s", worker.work_dir, strerror(errno));
	for (unsigned i = 0; i < worker.workload.tensors_count; i++) {
		worker.tensors[i].stored = answer.kept[i].stored;
		worker.tensors[i].stored_bytes = answer.kept[i].stored_bytes;
	}
}
