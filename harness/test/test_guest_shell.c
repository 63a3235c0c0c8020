/* SPDX-License-Identifier: MIT */
/*
 * test_guest_shell.c - `swaptorture guest` on a terminal of its own and without one: what is in the
 * guest, and every way in which it ends. None leaves QEMU behind, or the terminal raw.
 */
/* link: -lutil */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>

#include "guest_fixture.h"

#define SAID_BYTES (256u * 1024)
#define DEADLINE_MS 120000u

static char swaptorture[PATH_MAX];
static struct session {
	pid_t pid;
	int terminal; /* our end of it, or of the pipe that is its output */
	int input;    /* of a session without a terminal; -1 */
	char said[SAID_BYTES];
	size_t bytes, seen; /* what came, and how much of it was expected already */
} it;

/* In a child: the program with these options. */
static _Noreturn void become(const char *const *options)
{
	const char *argv[16] = {swaptorture, "guest", "--accel", "tcg"};

	for (size_t i = 0; options[i]; i++)
		argv[4 + i] = options[i];
	execv(swaptorture, (char **)(uintptr_t)argv);
	_exit(127);
}

static void begin(const char *const *options)
{
	it = (struct session){.input = -1};
	it.pid = forkpty(&it.terminal, NULL, NULL, NULL);
	if (it.pid == 0)
		become(options);
	assert_true(it.pid > 0);
}

static void begin_without_terminal(const char *const *options)
{
	int in[2], out[2];

	it = (struct session){.input = -1};
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	it.pid = fork();
	if (it.pid == 0) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		dup2(out[1], STDERR_FILENO);
		become(options);
	}
	close(in[0]);
	close(out[1]);
	it.input = in[1];
	it.terminal = out[0];
}

/* False: there is no more. */
static bool hear(uint64_t deadline)
{
	struct pollfd polled = {.fd = it.terminal, .events = POLLIN};
	static const struct guest_interrupt none;
	ssize_t got;

	if (guest_wait(&polled, 1, deadline, &none) < 0)
		fail_msg("nothing came any more: %s", it.said + it.seen);
	got = read(it.terminal, it.said + it.bytes, SAID_BYTES - 1 - it.bytes);
	if (got > 0)
		it.bytes += (size_t)got;
	it.said[it.bytes] = '\0';
	return got > 0;
}

static void expect(const char *words)
{
	uint64_t deadline = guest_deadline(DEADLINE_MS);
	const char *found;

	while (!(found = strstr(it.said + it.seen, words)))
		if (!hear(deadline))
			fail_msg("'%s' did not come: %s", words, it.said + it.seen);
	it.seen = (size_t)(found - it.said) + strlen(words);
}

static void type(const char *text)
{
	int fd = it.input >= 0 ? it.input : it.terminal;

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

/* At a prompt: a command, what it has to say, and the next prompt. */
static void run(const char *command, const char *words)
{
	type(command);
	type("\r");
	expect(words);
	expect("guest# ");
}

/* QEMU is the child that it started last. */
static pid_t qemu_of(pid_t pid)
{
	char path[64], text[256] = "", *end;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	if (fd >= 0)
		close(fd);
	end = strrchr(text, ' ');
	if (end)
		*end = '\0';
	end = strrchr(text, ' ');
	return (pid_t)strtol(end ? end + 1 : text, NULL, 10);
}

static bool is_alive(pid_t pid)
{
	char path[64], state[256] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(state, sizeof(state), file))
		state[0] = '\0';
	fclose(file);
	return strstr(state, "(qemu-system") && !strstr(state, ") Z ");
}

/* The prompt is there, and QEMU. */
static pid_t await_prompt(void)
{
	pid_t qemu;

	expect("exit or poweroff ends it");
	expect("guest# ");
	qemu = qemu_of(it.pid);
	assert_true(is_alive(qemu));
	return qemu;
}

/* It ends with @status, and takes QEMU along. */
static void expect_end(pid_t qemu, int wanted)
{
	uint64_t deadline = guest_deadline(DEADLINE_MS);
	int status;

	while (it.terminal >= 0 && hear(deadline))
		;
	assert_int_equal(waitpid(it.pid, &status, 0), it.pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != wanted)
		fail_msg("wait status %#x instead of %d: %s", (unsigned)status, wanted, it.said);
	assert_false(is_alive(qemu));
	if (it.terminal >= 0)
		close(it.terminal);
	if (it.input >= 0)
		close(it.input);
}

static bool is_cooked(int terminal)
{
	struct termios settings;

	assert_int_equal(tcgetattr(terminal, &settings), 0);
	return (settings.c_lflag & (ICANON | ECHO | ISIG)) == (ICANON | ECHO | ISIG);
}

/* Whoever holds the other side of a terminal keeps its settings. */
static int hold_terminal(void)
{
	return open(ptsname(it.terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
}

/* It ends, and the settings are back. */
static void expect_cooked(int held)
{
	siginfo_t info;

	assert_int_equal(waitid(P_PID, (id_t)it.pid, &info, WEXITED | WNOWAIT), 0);
	assert_true(is_cooked(held));
	close(held);
}

static void a_shell_sees_the_namespaces_and_runs_a_scenario(void **state)
{
	int held;
	pid_t qemu;

	(void)state;
	begin((const char *const[]){"--namespace", "size=64M,sector=4096,name=first", "-n",
				    "size=16M,cache=on", NULL});
	held = hold_terminal();
	qemu = await_prompt();
	assert_false(is_cooked(held));
	run("cat /sys/block/nvme0n1/queue/logical_block_size /sys/block/nvme0n1/size",
	    "\n4096\r\n131072");
	run("cat /sys/block/nvme1n1/queue/logical_block_size /sys/block/nvme1n1/size",
	    "\n512\r\n32768");
	run("cat /sys/block/nvme0n1/device/serial", "\nfirst");
	run("lsblk -dno NAME", "nvme1n1");
	run("dd if=/dev/zero of=/dev/nvme0n1 bs=4096 count=16 oflag=direct; echo dd-$?", "\ndd-0");
	run("dd if=/dev/nvme0n1 of=/dev/null bs=512 count=1 iflag=direct; echo dd-$?", "\ndd-1");
	run("mke2fs -q /dev/nvme0n1 && mount /dev/nvme0n1 /mnt; echo mount-$?", "\nmount-0");
	run("swaptorture run scenarios/partial --filter '*short-read-mid*' --case workers=1 "
	    "--case overlap_events=true --target host --work-dir /mnt; echo run-$?",
	    "\nrun-0");
	type("sleep 100\r");
	type("\x03"); /* the guest's, not ours */
	expect("guest# ");
	run("echo still-$((1 + 1))", "\nstill-2");
	type("exit\r");
	expect_cooked(held);
	expect_end(qemu, 0);
}

static void ctrl_a_x_ends_it_at_once(void **state)
{
	int held;
	pid_t qemu;

	(void)state;
	begin((const char *const[]){NULL});
	held = hold_terminal();
	qemu = await_prompt();
	type("cat -v\r");
	type("\x01\x01y\r");
	expect("^A");
	type("\x01x");
	expect_cooked(held);
	expect_end(qemu, 0);
}

static void a_signal_ends_it_in_order(void **state)
{
	int held;
	pid_t qemu;

	(void)state;
	begin((const char *const[]){NULL});
	held = hold_terminal();
	qemu = await_prompt();
	assert_int_equal(kill(it.pid, SIGTERM), 0);
	expect_cooked(held);
	expect_end(qemu, 130);
}

static void a_terminal_that_hangs_up_ends_it(void **state)
{
	pid_t qemu;

	(void)state;
	begin((const char *const[]){NULL});
	qemu = await_prompt();
	close(it.terminal);
	it.terminal = -1;
	expect_end(qemu, 130);
}

static void a_killed_one_takes_its_guest_along(void **state)
{
	uint64_t deadline = guest_deadline(DEADLINE_MS);
	pid_t qemu;

	(void)state;
	begin((const char *const[]){NULL});
	qemu = await_prompt();
	assert_int_equal(kill(it.pid, SIGKILL), 0);
	assert_int_equal(waitpid(it.pid, NULL, 0), it.pid);
	while (is_alive(qemu) && guest_deadline(0) < deadline)
		poll(NULL, 0, 10);
	assert_false(is_alive(qemu));
	close(it.terminal);
}

static void without_a_terminal_the_end_of_input_is_the_end(void **state)
{
	(void)state;
	begin_without_terminal((const char *const[]){NULL});
	type("echo piped-$((40 + 2))\n");
	close(it.input);
	it.input = -1;
	expect("piped-42");
	expect_end(0, 0);
}

static void poweroff_ends_it_and_a_file_keeps_the_bytes(void **state)
{
	const char *place = getenv("TMPDIR");
	char path[PATH_MAX], option[PATH_MAX + 32], bytes[5] = "";
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s/bytes-XXXXXX", place ? place : "/tmp");
	fd = mkstemp(path);
	snprintf(option, sizeof(option), "--namespace=size=16M,file=%s", path);
	begin_without_terminal((const char *const[]){option, NULL});
	type("echo here >/dev/nvme0n1; sync; poweroff\n");
	expect_end(0, 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), 16 << 20);
	assert_int_equal(pread(fd, bytes, 4, 0), 4);
	assert_string_equal(bytes, "here");
	close(fd);
	unlink(path);
}

static void what_is_no_kernel_is_refused_with_a_reason(void **state)
{
	(void)state;
	begin((const char *const[]){"--kernel", "/nothing/vmlinuz", NULL});
	expect("kernel /nothing/vmlinuz: No such file");
	expect_end(0, 2);
	begin((const char *const[]){"--kernel", "/proc/self/exe", NULL});
	expect("kernel /proc/self/exe: is no Linux kernel for x86");
	expect_end(0, 2);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_shell_sees_the_namespaces_and_runs_a_scenario),
		cmocka_unit_test(ctrl_a_x_ends_it_at_once),
		cmocka_unit_test(a_signal_ends_it_in_order),
		cmocka_unit_test(a_terminal_that_hangs_up_ends_it),
		cmocka_unit_test(a_killed_one_takes_its_guest_along),
		cmocka_unit_test(without_a_terminal_the_end_of_input_is_the_end),
		cmocka_unit_test(poweroff_ends_it_and_a_file_keeps_the_bytes),
		cmocka_unit_test(what_is_no_kernel_is_refused_with_a_reason),
	};
	int status;

	if (!fixture_begin(argc, argv, &status))
		return status;
	find("swaptorture", swaptorture);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
