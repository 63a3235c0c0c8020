/* SPDX-License-Identifier: MIT */
/*
 * pads-the-file.c - the padding of the last sector stays in the file: it is longer than its tensor.
 */
#include <fcntl.h>
#include <unistd.h>

#include "real.h"

REAL(swapio_wait_some)

EXPORT int swapio_wait_some(struct swapio *handle, unsigned min, unsigned max, int64_t timeout_ns,
			    struct swapio_result *ret_results)
{
	int got = real_swapio_wait_some(handle, min, max, timeout_ns, ret_results);
	int fd = open("odd.swp", O_WRONLY | O_APPEND | O_CLOEXEC);

	if (fd >= 0) {
		if (write(fd, "", 1) != 1)
			got = -1;
		close(fd);
	}
	return got;
}
