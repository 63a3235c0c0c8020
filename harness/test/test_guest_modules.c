/* SPDX-License-Identifier: MIT */
/*
 * test_guest_modules.c - which modules are loaded and in which order, from lists that are right,
 * cut off, cyclic or wrong; modules that are packed; files that are kernels, and others.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest_kernel.h"
#include "scratch.h"

static char directory[PATH_MAX];
static struct guest_modules modules;
static struct diag diag;

static void run(const char *script)
{
	scratch_run(directory, script);
}

static int make_directory(void **state)
{
	(void)state;
	if (scratch_make(directory, "modules XXXXXX") < 0)
		return -1;
	diag.text[0] = '\0';
	run("mkdir a b; : >modules.builtin");
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	guest_modules_fini(&modules);
	run("rm -rf \"$PWD\"");
	return 0;
}

/* modules.dep has this text, and every module in it is there. */
static int find(const char *dep)
{
	char path[PATH_MAX + 32];
	FILE *file;

	snprintf(path, sizeof(path), "%s/modules.dep", directory);
	file = fopen(path, "we");
	assert_non_null(file);
	fputs(dep, file);
	fclose(file);
	run("for module in $(tr -d : <modules.dep); do : >\"$module\"; done");
	return guest_modules_find(directory, &modules, &diag);
}

/* All of them, with a blank behind each. */
static const char *found(void)
{
	static char text[4096];
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < modules.count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s ", modules.paths[i]);
	return text;
}

static void expect_refusal(int result, int error, const char *words)
{
	assert_int_equal(result, error);
	assert_int_equal(modules.count, 0);
	if (!strstr(diag.text, words))
		fail_msg("'%s' is not told: %s", words, diag.text);
}

static void what_a_module_depends_on_comes_first(void **state)
{
	(void)state;
	assert_int_equal(find("a/nvme.ko: a/nvme-core.ko b/t10-pi.ko b/crc64.ko\n"
			      "a/nvme-core.ko: b/t10-pi.ko b/crc64.ko\n"
			      "a/other.ko:\n"
			      "b/t10-pi.ko: b/crc64.ko\n"
			      "b/crc64.ko:\n"),
			 0);
	assert_string_equal(found(), "b/crc64.ko b/t10-pi.ko a/nvme-core.ko a/nvme.ko ");
}

/* A list that names only the next ones does as well, and so does one in another order. */
static void needs_of_needs_are_found_wherever_they_are_told(void **state)
{
	(void)state;
	assert_int_equal(find("b/crc64.ko:\n"
			      "a/nvme.ko: b/crc64.ko a/nvme-core.ko\n"
			      "a/nvme-core.ko: b/t10-pi.ko\n"
			      "b/t10-pi.ko: b/crc64.ko\n"),
			 0);
	assert_string_equal(found(), "b/crc64.ko b/t10-pi.ko a/nvme-core.ko a/nvme.ko ");
}

static void what_is_built_in_needs_no_module(void **state)
{
	(void)state;
	run("echo kernel/drivers/nvme/host/nvme.ko >modules.builtin");
	assert_int_equal(find("a/nvme.ko: a/nvme_core.ko\na/nvme_core.ko:\na/ext4.ko:\n"), 0);
	assert_string_equal(found(), "a/ext4.ko ");
}

static void what_is_asked_for_by_name_comes_before_who_asks(void **state)
{
	(void)state;
	run("printf '# softdep\\nsoftdep nvme post: late\\n"
	    "softdep jbd2 pre: crypto-crc32c post: x\\n"
	    "softdep nvme_core pre: other-one nowhere\\n' >modules.softdep");
	run("printf 'alias crypto-crc32c crc32c_intel\\nalias crypto-crc32cx late\\n"
	    "alias crypto-crc32c crc32c_sw\\n' >modules.alias");
	assert_int_equal(find("a/nvme.ko: a/nvme-core.ko\n"
			      "a/nvme-core.ko:\n"
			      "a/other_one.ko:\n"
			      "a/late.ko:\n"
			      "b/ext4.ko: b/jbd2.ko\n"
			      "b/jbd2.ko:\n"
			      "b/crc32c-intel.ko: b/base.ko\n"
			      "b/base.ko:\n"
			      "b/crc32c-sw.ko:\n"),
			 0);
	assert_string_equal(found(), "a/other_one.ko a/nvme-core.ko a/nvme.ko b/base.ko "
				     "b/crc32c-intel.ko b/crc32c-sw.ko b/jbd2.ko b/ext4.ko ");
}

/* Asking twice, or for oneself, is not needing. */
static void a_circle_of_names_asked_for_is_none_of_needs(void **state)
{
	(void)state;
	run("printf 'softdep nvme pre: crc\\nsoftdep crc pre: nvme\\n' >modules.softdep");
	assert_int_equal(find("a/nvme.ko:\na/crc.ko:\n"), 0);
	assert_string_equal(found(), "a/crc.ko a/nvme.ko ");
}

static void modules_that_need_each_other_are_refused(void **state)
{
	(void)state;
	expect_refusal(find("a/nvme.ko: a/nvme-core.ko\na/nvme-core.ko: a/nvme.ko\n"), -ELOOP,
		       "modules.dep: a/nvme.ko needs itself");
	diag.text[0] = '\0';
	expect_refusal(find("a/nvme.ko: a/nvme.ko\n"), -ELOOP, "a/nvme.ko needs itself");
}

static void a_list_that_is_cut_off_is_refused(void **state)
{
	static const char *const cut[] = {"a/nvme.ko: a/nvme-core.ko b/t10-",
					  "a/nvme.ko:", "a/nvme.ko"};

	(void)state;
	expect_refusal(find("a/nvme.ko: a/nvme-core.ko\n"), -EINVAL,
		       "a/nvme-core.ko has no line of its own");
	for (size_t i = 0; i < sizeof(cut) / sizeof(*cut); i++) {
		diag.text[0] = '\0';
		expect_refusal(find(cut[i]), -EINVAL, "modules.dep: a/nvme.ko ");
	}
	diag.text[0] = '\0';
	expect_refusal(find(""), -ENOENT, "no module nvme");
}

static void lists_that_are_not_there_are_named(void **state)
{
	(void)state;
	run("rm modules.builtin");
	expect_refusal(guest_modules_find(directory, &modules, &diag), -ENOENT,
		       "no modules.builtin: no modules.dep, which depmod makes");
	diag.text[0] = '\0';
	expect_refusal(guest_modules_find("/nothing/there", &modules, &diag), -ENOENT,
		       "no module nvme in /nothing/there");
	assert_int_equal(guest_modules_find("", &modules, &diag), 0);
	assert_int_equal(modules.count, 0);
}

static void a_module_that_is_not_there_is_named(void **state)
{
	(void)state;
	assert_int_equal(find("a/nvme.ko: a/nvme-core.ko\na/nvme-core.ko:\n"), 0);
	guest_modules_fini(&modules);
	run("rm a/nvme-core.ko");
	expect_refusal(guest_modules_find(directory, &modules, &diag), -ENOENT,
		       "a/nvme-core.ko: No such file");
}

/* One that needs @count others. */
static int find_many(unsigned count)
{
	static char dep[GUEST_MODULES_MAX * 32];
	size_t used = (size_t)snprintf(dep, sizeof(dep), "a/nvme.ko:");

	for (unsigned i = 0; i < count; i++)
		used += (size_t)snprintf(dep + used, sizeof(dep) - used, " b/m%u.ko", i);
	used += (size_t)snprintf(dep + used, sizeof(dep) - used, "\n");
	for (unsigned i = 0; i < count; i++)
		used += (size_t)snprintf(dep + used, sizeof(dep) - used, "b/m%u.ko:\n", i);
	return find(dep);
}

static void as_many_as_there_is_room_for_and_one_more(void **state)
{
	(void)state;
	assert_int_equal(find_many(GUEST_MODULES_MAX - 1), 0);
	assert_int_equal(modules.count, GUEST_MODULES_MAX);
	guest_modules_fini(&modules);
	expect_refusal(find_many(GUEST_MODULES_MAX), -E2BIG, "too long");
}

/* What comes of the module of that name; "" and -errno in *ret_error. */
static const char *unpacked(const char *name, int *ret_error)
{
	static char path[PATH_MAX + 32], text[64];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	memset(text, 0, sizeof(text));
	fd = guest_module_open(path, &diag);
	*ret_error = fd < 0 ? fd : 0;
	if (fd >= 0) {
		assert_true(pread(fd, text, sizeof(text) - 1, 0) >= 0);
		close(fd);
	}
	return text;
}

static void modules_are_unpacked_by_what_packed_them(void **state)
{
	static const char *const packed[] = {"m.ko", "m.ko.gz", "m.ko.xz", "m.ko.zst"};
	int error;

	(void)state;
	run("echo module >m.ko; gzip -k m.ko; ! command -v xz || xz -k m.ko; "
	    "! command -v zstd || zstd -q m.ko");
	for (size_t i = 0; i < sizeof(packed) / sizeof(*packed); i++) {
		char path[PATH_MAX + 32];

		snprintf(path, sizeof(path), "%s/%s", directory, packed[i]);
		if (access(path, F_OK) < 0)
			continue; /* what packs it is not here */
		assert_string_equal(unpacked(packed[i], &error), "module\n");
		assert_int_equal(error, 0);
		assert_int_equal(guest_module_name_length(path), strlen(directory) + 5);
	}
}

static void packed_modules_that_are_damaged_or_of_another_kind_are_refused(void **state)
{
	int error;

	(void)state;
	run("echo nonsense >m.ko.gz; echo x >m.ko.lz9; echo module | gzip | head -c 12 >cut.ko.gz");
	unpacked("m.ko.gz", &error);
	assert_int_equal(error, -EINVAL);
	assert_non_null(strstr(diag.text, "m.ko.gz cannot be unpacked: "));
	unpacked("cut.ko.gz", &error);
	assert_int_equal(error, -EINVAL);
	assert_non_null(strstr(diag.text, "cut.ko.gz cannot be unpacked: "));
	unpacked("m.ko.lz9", &error);
	assert_int_equal(error, -EINVAL);
	assert_non_null(strstr(diag.text, "'.lz9' is no packing that is known here"));
	unpacked("gone.ko", &error);
	assert_int_equal(error, -ENOENT);
	assert_non_null(strstr(diag.text, "gone.ko: No such file"));
}

static void without_its_program_a_packed_module_is_refused(void **state)
{
	char *path = strdup(getenv("PATH"));
	int error;

	(void)state;
	run("echo module >m.ko; gzip m.ko; mv m.ko.gz m.ko.zst");
	setenv("PATH", directory, 1);
	unpacked("m.ko.zst", &error);
	setenv("PATH", path, 1);
	free(path);
	assert_int_equal(error, -ENOENT);
	assert_non_null(strstr(diag.text, "no zstd in PATH to unpack it (package zstd)"));
}

/* ---- kernels ---- */

/* One sector and four of set-up, 16 times 32 bytes of the rest, its version behind the header. */
#define MAKE_KERNEL                                                                                \
	"mkdir boot; head -c 3072 /dev/zero >boot/k; "                                             \
	"put() { printf \"$2\" | dd of=boot/k bs=1 seek=$(($1)) conv=notrunc status=none; }; "     \
	"put 0x1f1 '\\004'; put 0x1f4 '\\040'; put 0x1fe '\\125\\252'; put 0x202 HdrS; "           \
	"put 0x20e '\\000\\004'; put 0x600 '6.1.0-9-test (a@b) #1 SMP'; "

static int take(const char *name, struct guest_kernel *kernel)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	diag.text[0] = '\0';
	return guest_kernel_file(path, kernel, &diag);
}

static void a_kernel_says_its_version_and_finds_its_modules(void **state)
{
	static struct guest_kernel kernel;

	(void)state;
	run(MAKE_KERNEL);
	assert_int_equal(take("boot/k", &kernel), 0);
	assert_string_equal(kernel.version, "6.1.0-9-test");
	assert_string_equal(kernel.modules, "");
	run("mkdir -p lib/modules/6.1.0-9-test; ln -s boot/k link");
	assert_int_equal(take("link", &kernel), 0);
	assert_non_null(strstr(kernel.modules, "boot/../lib/modules/6.1.0-9-test"));
	run("mkdir boot/modules");
	assert_int_equal(take("boot/k", &kernel), 0);
	assert_non_null(strstr(kernel.modules, "/boot/modules"));
}

static void expect_no_kernel(const char *name, int error, const char *words)
{
	static struct guest_kernel kernel;

	assert_int_equal(take(name, &kernel), error);
	if (!strstr(diag.text, words))
		fail_msg("%s: '%s' is not told: %s", name, words, diag.text);
}

static void what_is_no_kernel_is_told_from_what_is_cut_off(void **state)
{
	(void)state;
	run(MAKE_KERNEL "head -c 3071 boot/k >cut; head -c 600 boot/k >short; : >empty; "
			"mkfifo fifo; cp /bin/sh elf; head -c 4096 /dev/zero >zeros");
	expect_no_kernel("gone", -ENOENT, "/gone: No such file");
	expect_no_kernel("boot", -EINVAL, "is a directory, not a kernel");
	expect_no_kernel("fifo", -EINVAL, "must be a regular file");
	expect_no_kernel("cut", -EINVAL, "is cut off: it has 3071 of 3072 bytes");
	expect_no_kernel("short", -EINVAL, "is no Linux kernel for x86");
	expect_no_kernel("empty", -EINVAL, "is no Linux kernel for x86");
	expect_no_kernel("elf", -EINVAL, "is no Linux kernel for x86");
	expect_no_kernel("zeros", -EINVAL, "is no Linux kernel for x86");
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make_directory, remove_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_a_module_depends_on_comes_first),
		CASE(needs_of_needs_are_found_wherever_they_are_told),
		CASE(what_is_built_in_needs_no_module),
		CASE(what_is_asked_for_by_name_comes_before_who_asks),
		CASE(a_circle_of_names_asked_for_is_none_of_needs),
		CASE(modules_that_need_each_other_are_refused),
		CASE(a_list_that_is_cut_off_is_refused),
		CASE(lists_that_are_not_there_are_named),
		CASE(a_module_that_is_not_there_is_named),
		CASE(as_many_as_there_is_room_for_and_one_more),
		CASE(modules_are_unpacked_by_what_packed_them),
		CASE(packed_modules_that_are_damaged_or_of_another_kind_are_refused),
		CASE(without_its_program_a_packed_module_is_refused),
		CASE(a_kernel_says_its_version_and_finds_its_modules),
		CASE(what_is_no_kernel_is_told_from_what_is_cut_off),
	};
	long fd = syscall(SYS_pidfd_open, getpid(), 0);

	if (fd < 0 && errno == ENOSYS) {
		puts("1..0 # SKIP pidfd_open is missing (Linux 5.3 has it, valgrind does not)");
		return 77;
	}
	close((int)fd);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
