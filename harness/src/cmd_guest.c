/* SPDX-License-Identifier: MIT */
/*
 * cmd_guest.c - `swaptorture guest`: a shell in a machine in QEMU with this build and NVMe
 * namespaces, on the caller's terminal; or the command line that makes one without us.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "cli.h"
#include "guest_parts.h"
#include "number.h"
#include "places.h"
#include "run_signal.h"

#define MIB (UINT64_C(1) << 20)
#define SIZE_DEFAULT (64 * MIB)
#define SIZE_MAX_BYTES (UINT64_C(1) << 44)
#define CPUS_MAX 64u
#define MDTS_MAX 12u
#define QUEUES_MAX 1024u
#define TIMEOUT_MAX_S 3600u

enum guest_option {
	GUEST_NAMESPACE,
	GUEST_KERNEL,
	GUEST_ACCEL,
	GUEST_CPUS,
	GUEST_MEMORY,
	GUEST_IO_TIMEOUT,
	GUEST_PRINT
};

static const struct cli_option options[] = {
	[GUEST_NAMESPACE] = {"namespace", 'n', "KEY=VALUE,...",
			     "an NVMe namespace; see below; default: one of 64M"},
	[GUEST_KERNEL] = {"kernel", 0, "FILE", "a vmlinuz; default: the distribution's"},
	[GUEST_ACCEL] = {"accel", 0, "NAME", "kvm or tcg; default: kvm where it works"},
	[GUEST_CPUS] = {"cpus", 0, "N", "processors, 1 to 64; default 2"},
	[GUEST_MEMORY] = {"memory", 0, "SIZE", "128M to 1T; default 1G"},
	[GUEST_IO_TIMEOUT] = {"io-timeout", 0, "TIME",
			      "after which the kernel aborts a request, such as 2s; default 30s"},
	[GUEST_PRINT] = {"print", 0, "DIR",
			 "write initramfs and empty namespaces there, and print the command line "
			 "that boots them"},
	{0},
};

struct session {
	struct guest_options options;
	struct guest_namespace namespaces[GUEST_NAMESPACES_MAX];
	const char *files[GUEST_NAMESPACES_MAX]; /* NULL: in memory. Borrowed from argv */
	unsigned count;
	const char *print;
	struct guest_parts parts;
	char scenarios[PATH_MAX];
};

static int take_count(const char *key, const char *text, unsigned max, unsigned *ret_value,
		      struct diag *diag)
{
	uint64_t value;

	if (number_count(text, &value) < 0 || value < 1 || value > max)
		return diag_set(diag, NULL, 0, 0, "%s '%s': must be a number, 1 to %u", key, text,
				max);
	*ret_value = (unsigned)value;
	return 0;
}

static int take_switch(const char *key, const char *text, bool *ret_value, struct diag *diag)
{
	if (strcmp(text, "on") != 0 && strcmp(text, "off") != 0)
		return diag_set(diag, NULL, 0, 0, "%s '%s': must be on or off", key, text);
	*ret_value = strcmp(text, "on") == 0;
	return 0;
}

static int take_size(const char *text, uint64_t min, uint64_t *ret_bytes, struct diag *diag)
{
	if (number_bytes(text, ret_bytes) < 0 || *ret_bytes < min || *ret_bytes > SIZE_MAX_BYTES ||
	    *ret_bytes % 4096)
		return diag_set(diag, NULL, 0, 0,
				"size '%s': must be a multiple of 4096 such as 64M, %juM to 16T",
				text, (uintmax_t)(min / MIB));
	return 0;
}

static int take_name(struct session *session, const char *name, struct diag *diag)
{
	struct guest_namespace *namespace = &session->namespaces[session->count];
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";

	if (!*name || strlen(name) > 20 || strspn(name, allowed) != strlen(name))
		return diag_set(diag, NULL, 0, 0,
				"name '%s': must be 1 to 20 letters, digits, hyphens", name);
	for (unsigned i = 0; i < session->count; i++)
		if (strcmp(session->namespaces[i].id, name) == 0)
			return diag_set(diag, NULL, 0, 0, "two namespaces are named %s", name);
	snprintf(namespace->id, sizeof(namespace->id), "%s", name);
	return 0;
}

static int take_pair(struct session *session, const char *key, char *value, struct diag *diag)
{
	struct guest_namespace *namespace = &session->namespaces[session->count];

	if (strcmp(key, "size") == 0)
		return take_size(value, MIB, &namespace->size_bytes, diag);
	if (strcmp(key, "mdts") == 0)
		return take_count(key, value, MDTS_MAX, &namespace->mdts, diag);
	if (strcmp(key, "queues") == 0)
		return take_count(key, value, QUEUES_MAX, &namespace->queues, diag);
	if (strcmp(key, "cache") == 0)
		return take_switch(key, value, &namespace->write_cache, diag);
	if (strcmp(key, "read-only") == 0)
		return take_switch(key, value, &namespace->read_only, diag);
	if (strcmp(key, "name") == 0)
		return take_name(session, value, diag);
	if (strcmp(key, "file") == 0) {
		session->files[session->count] = value;
		return 0;
	}
	if (strcmp(key, "sector") != 0)
		return diag_set(diag, NULL, 0, 0,
				"--namespace: unknown key '%s', known are size, sector, mdts, "
				"queues, cache, read-only, name, file",
				key);
	if (strcmp(value, "512") != 0 && strcmp(value, "4096") != 0)
		return diag_set(diag, NULL, 0, 0, "sector '%s': must be 512 or 4096", value);
	namespace->sector_bytes = (unsigned)strtoul(value, NULL, 10);
	return 0;
}

/* "size=64M,sector=4096": @text is cut into its words, which stay. */
static int take_namespace(struct session *session, char *text, struct diag *diag)
{
	struct guest_namespace *namespace = &session->namespaces[session->count];
	char *save = NULL, name[16];
	int error = 0;

	if (session->count == GUEST_NAMESPACES_MAX)
		return diag_set(diag, NULL, 0, 0, "a guest has room for %u namespaces",
				GUEST_NAMESPACES_MAX);
	for (char *pair = strtok_r(text, ",", &save); pair && error == 0;
	     pair = strtok_r(NULL, ",", &save)) {
		char *value = strchr(pair, '=');

		if (!value)
			return diag_set(diag, NULL, 0, 0, "--namespace: '%s' is no KEY=VALUE",
					pair);
		*value++ = '\0';
		error = take_pair(session, pair, value, diag);
	}
	if (error == 0 && !namespace->id[0]) {
		snprintf(name, sizeof(name), "disk-%u", session->count);
		error = take_name(session, name, diag);
	}
	if (error == 0)
		session->count++;
	return error;
}

static int take_accel(struct session *session, const char *name, struct diag *diag)
{
	if (strcmp(name, "kvm") != 0 && strcmp(name, "tcg") != 0)
		return diag_set(diag, NULL, 0, 0, "accel '%s': must be kvm or tcg", name);
	session->options.accel = name;
	return 0;
}

static int take_memory(struct session *session, const char *text, struct diag *diag)
{
	uint64_t bytes;
	int error = take_size(text, 128 * MIB, &bytes, diag);

	if (error == 0)
		session->options.memory_mib = (unsigned)(bytes / MIB);
	return error;
}

static int take_timeout(struct session *session, const char *text, struct diag *diag)
{
	int64_t ns;

	if (number_duration(text, &ns) < 0 || ns < 1000000000 || ns % 1000000000 ||
	    ns / 1000000000 > TIMEOUT_MAX_S)
		return diag_set(diag, NULL, 0, 0,
				"io-timeout '%s': must be whole seconds, 1s to 1h", text);
	session->options.io_timeout_seconds = (unsigned)(ns / 1000000000);
	return 0;
}

static int take_option(struct session *session, enum guest_option option, char *value,
		       struct diag *diag)
{
	switch (option) {
	case GUEST_NAMESPACE:
		return take_namespace(session, value, diag);
	case GUEST_KERNEL:
		session->options.kernel = value;
		return 0;
	case GUEST_ACCEL:
		return take_accel(session, value, diag);
	case GUEST_CPUS:
		return take_count("cpus", value, CPUS_MAX, &session->options.cpus, diag);
	case GUEST_MEMORY:
		return take_memory(session, value, diag);
	case GUEST_IO_TIMEOUT:
		return take_timeout(session, value, diag);
	case GUEST_PRINT:
		session->print = value;
		return 0;
	}
	return 0;
}

static int find_programs(struct session *session, struct diag *diag)
{
	int error = guest_parts_find(&session->parts, diag);

	if (places_scenarios(session->scenarios, sizeof(session->scenarios)) == 0)
		session->parts.programs.scenarios = session->scenarios;
	session->options.programs = &session->parts.programs;
	return error;
}

/* A file that is there has its size; a new one, and memory, the size that was said. */
static int open_bytes(struct session *session, unsigned index, struct diag *diag)
{
	struct guest_namespace *namespace = &session->namespaces[index];
	const char *path = session->files[index];
	int flags = namespace->read_only ? O_RDONLY : O_RDWR | O_CREAT;
	int fd = path ? open(path, flags | O_CLOEXEC, 0666) : memfd_create("disk", MFD_CLOEXEC);
	uint64_t wanted = namespace->size_bytes ? namespace->size_bytes : SIZE_DEFAULT;
	struct stat status;
	int error = fd < 0 || fstat(fd, &status) < 0 ? -errno : 0;

	if (error == 0 && !S_ISREG(status.st_mode))
		error = -ENOTSUP; /* a guest's faults are nothing for a real device */
	else if (error == 0 && status.st_size == 0 && ftruncate(fd, (off_t)wanted) < 0)
		error = -errno;
	else if (error == 0 && status.st_size > 0 && namespace->size_bytes &&
		 (uint64_t)status.st_size != namespace->size_bytes)
		error = -EFBIG;
	if (error == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	diag_set(diag, NULL, 0, 0, "namespace %s: %s: %s", namespace->id, path ? path : "memory",
		 error == -EFBIG     ? "the file has another size"
		 : error == -ENOTSUP ? "must be a regular file"
				     : strerror(-error));
	return error;
}

static int plug_all(struct session *session, struct guest *guest, struct diag *diag)
{
	int error = 0;

	for (unsigned i = 0; i < session->count && error == 0; i++) {
		int fd = open_bytes(session, i, diag);

		if (fd < 0)
			return fd;
		error = guest_plug_file(guest, &session->namespaces[i], fd, diag);
		close(fd);
		if (error == 0)
			error = guest_await_namespaces(guest, i + 1, diag);
	}
	return error;
}

/* The terminal is raw as long as the shell has it: Ctrl-C is the guest's. */
static int use_terminal(struct guest *guest)
{
	struct termios before, raw;
	bool terminal = tcgetattr(STDIN_FILENO, &before) == 0;
	int result;

	if (terminal) {
		raw = before;
		cfmakeraw(&raw);
		tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	}
	result = guest_shell(guest, STDIN_FILENO, STDOUT_FILENO);
	if (terminal)
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
	return result;
}

static enum cli_exit tell_end(struct guest *guest, int result)
{
	const char *panic = strstr(guest_console_tail(guest), "Kernel panic");

	if (result == -EINTR || result == -EIO)
		return CLI_EXIT_INTERRUPTED;
	if (result == 1 || (result == 0 && !panic))
		return CLI_EXIT_PASSED;
	fprintf(stderr, "%s: the guest died: %.*s\n", cli_program(),
		panic ? (int)strcspn(panic, "\n") : 100, panic ? panic : strerror(-result));
	return CLI_EXIT_UNSURE;
}

static int run_shell(const struct cli_command *command, struct session *session)
{
	struct guest *guest = NULL;
	struct diag diag = {.text = ""};
	int error = guest_start(&guest, &session->options, &diag), status;

	if (error == 0)
		error = plug_all(session, guest, &diag);
	if (error == 0) {
		fprintf(stderr,
			"%s: a guest with kernel %s under %s; exit or poweroff ends it, Ctrl-A X "
			"at once\n",
			cli_program(), guest_kernel_version(guest), guest_accel(guest));
		error = use_terminal(guest);
		status = tell_end(guest, error);
	} else {
		status = error == -EINTR ? CLI_EXIT_INTERRUPTED : cli_refuse(command, &diag);
	}
	guest_stop(guest);
	return status;
}

static int print_line(const struct cli_command *command, struct session *session)
{
	struct diag diag = {.text = ""};
	char *line = NULL;
	int error;

	for (unsigned i = 0; i < session->count; i++) {
		if (session->files[i])
			return cli_refuse_text(command, "--print makes the files of namespaces, "
							"file= is not for it");
		if (!session->namespaces[i].size_bytes)
			session->namespaces[i].size_bytes = SIZE_DEFAULT;
	}
	error = guest_print(&session->options, session->namespaces, session->count, session->print,
			    &line, &diag);
	if (error == -EINTR)
		return CLI_EXIT_INTERRUPTED;
	if (error < 0)
		return cli_refuse(command, &diag);
	puts(line);
	free(line);
	return CLI_EXIT_PASSED;
}

static int run_session(const struct cli_command *command, struct session *session)
{
	struct run_signal kept;
	struct diag diag = {.text = ""};
	char one[] = "";
	int status;

	if (find_programs(session, &diag) < 0 ||
	    (session->count == 0 && take_namespace(session, one, &diag) < 0))
		return cli_refuse(command, &diag);
	session->options.shell = true;
	run_signal_watch();
	run_signal_begin(&kept);
	session->options.interrupt =
		(struct guest_interrupt){run_signal_mask(&kept), run_signal_came};
	status = session->print ? print_line(command, session) : run_shell(command, session);
	run_signal_end(&kept);
	return status;
}

static int command_run(const struct cli_command *command, int argc, char **argv)
{
	struct session session = {.count = 0};
	struct cli_parser parser;
	int option;

	cli_parser_init(&parser, command, argc, argv);
	while ((option = cli_next(&parser)) >= 0 || option == CLI_WORD) {
		struct diag diag;

		if (option == CLI_WORD)
			return cli_refuse_text(command, "'%s': no word is expected", parser.value);
		if (take_option(&session, option, (char *)(uintptr_t)parser.value, &diag) < 0)
			return cli_refuse(command, &diag);
	}
	if (option == CLI_WRONG)
		return cli_refuse(command, &parser.diag);
	if (option == CLI_HELP)
		return CLI_EXIT_PASSED;
	return run_session(command, &session);
}

const struct cli_command cmd_guest = {
	.name = "guest",
	.words = "",
	.summary = "a shell in an emulated machine with NVMe namespaces",
	.options = options,
	.more = "--namespace can be repeated. Its keys: size (64M), sector (512, 4096), mdts,\n"
		"queues, cache and read-only (on, off), name, and file: a regular file that holds\n"
		"the bytes, which otherwise are in memory and gone with the guest.\n",
	.run = command_run,
};
