/* SPDX-License-Identifier: MIT */
/*
 * guest_accel.c - KVM only where it is proved: /dev/kvm can be there, firmware run in it, and a
 * kernel hang without a word. The proof is the kernel itself, booted with nothing to mount: it gets
 * through its processors, timers and drivers, says that it has no root, and ends QEMU.
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest_internal.h"
#include "spawn.h"

#define PROBE_DEADLINE_MS 10000u /* it takes one second where it works */
#define LAST_WORDS "Kernel panic"

bool guest_accel_works(const char *accel, const struct guest_kernel *kernel, unsigned deadline_ms,
		       const struct guest_interrupt *interrupt)
{
	char *const argv[] = {(char[]){GUEST_QEMU},
			      (char[]){"-machine"},
			      (char[]){"q35"},
			      (char[]){"-cpu"},
			      (char[]){"max"},
			      (char[]){"-m"},
			      (char[]){"256"},
			      (char[]){"-nodefaults"},
			      (char[]){"-no-user-config"},
			      (char[]){"-no-reboot"},
			      (char[]){"-display"},
			      (char[]){"none"},
			      (char[]){"-serial"},
			      (char[]){"stdio"},
			      (char[]){"-accel"},
			      (char *)(uintptr_t)accel,
			      (char[]){"-kernel"},
			      (char *)(uintptr_t)kernel->path,
			      (char[]){"-append"},
			      (char[]){"console=ttyS0 quiet panic=-1"},
			      NULL};
	const struct spawn_options options = {
		.argv = argv,
		.deadline_ms = deadline_ms,
		.interrupt = interrupt,
		.fd = -1,
	};
	struct spawn_result result;
	bool works;

	if (spawn_run(&options, &result) < 0)
		return false;
	works = WIFEXITED(result.status) && WEXITSTATUS(result.status) == 0 &&
		strstr(result.out, LAST_WORDS);
	spawn_fini(&result);
	return works;
}

const char *guest_accel_choose(const struct guest_options *options,
			       const struct guest_kernel *kernel)
{
	bool works;

	if (options->accel)
		return options->accel;
	if (access("/dev/kvm", R_OK | W_OK) < 0)
		return "tcg";
	if (!guest_accel_known(kernel, &works)) {
		works = guest_accel_works("kvm", kernel, PROBE_DEADLINE_MS, &options->interrupt);
		guest_accel_remember(kernel, works);
	}
	return works ? "kvm" : "tcg";
}
