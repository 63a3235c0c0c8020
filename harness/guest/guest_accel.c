/* SPDX-License-Identifier: MIT */
/*
 * guest_accel.c - KVM only where it is proved: /dev/kvm can be there and a guest hang in it without
 * a word. The proof is a machine whose firmware is one instruction that ends QEMU with a status of
 * its own; a guest that then does not boot under KVM is booted under TCG by guest.c.
 */
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest_internal.h"
#include "spawn.h"

#define PROBE_DEADLINE_MS 2000u
#define ROM_BYTES 65536u
#define EXIT_PORT 0xf4
#define EXIT_VALUE 0x2a
#define EXIT_STATUS ((EXIT_VALUE << 1) | 1) /* what isa-debug-exit makes of it */

/* mov al, EXIT_VALUE; out EXIT_PORT, al; hlt; jmp to the hlt - at the reset vector. */
static const unsigned char code[16] = {0xb0, EXIT_VALUE, 0xe6, EXIT_PORT, 0xf4, 0xeb, 0xfd};

static int make_rom(void)
{
	int fd = memfd_create("probe", MFD_CLOEXEC);

	if (fd >= 0 && (ftruncate(fd, ROM_BYTES) < 0 ||
			pwrite(fd, code, sizeof(code), ROM_BYTES - sizeof(code)) < 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool probe(const char *accel, int rom, const struct guest_interrupt *interrupt)
{
	struct guest_words words = {0};
	struct spawn_result result;
	bool works;

	guest_words_add(&words, GUEST_QEMU);
	for (const char *const *word =
		     (const char *const[]){"-machine", "q35", "-nodefaults", "-no-user-config",
					   "-display", "none", "-accel", accel, NULL};
	     *word; word++)
		guest_words_add(&words, "%s", *word);
	guest_words_add(&words, "-device");
	guest_words_add(&words, "isa-debug-exit,iobase=%d,iosize=1", EXIT_PORT);
	guest_words_add(&words, "-bios");
	guest_words_add(&words, "/proc/self/fd/%d", rom);
	works = !words.failed && spawn_run(&(struct spawn_options){.argv = words.words,
								   .deadline_ms = PROBE_DEADLINE_MS,
								   .interrupt = interrupt,
								   .fd = rom},
					   &result) == 0;
	if (works) {
		works = WIFEXITED(result.status) && WEXITSTATUS(result.status) == EXIT_STATUS;
		spawn_fini(&result);
	}
	guest_words_fini(&words);
	return works;
}

bool guest_accel_works(const char *accel, const struct guest_interrupt *interrupt)
{
	int rom = make_rom();
	bool works = rom >= 0 && probe(accel, rom, interrupt);

	if (rom >= 0)
		close(rom);
	return works;
}

const char *guest_accel_choose(const struct guest_options *options)
{
	if (options->accel)
		return options->accel;
	if (access("/dev/kvm", R_OK | W_OK) == 0 && guest_accel_works("kvm", &options->interrupt))
		return "kvm";
	return "tcg";
}
