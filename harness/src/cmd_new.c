/* SPDX-License-Identifier: MIT */
/*
 * cmd_new.c - `swaptorture new GROUP/NAME`: a first scenario that runs as it is and says what may
 * be changed.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

enum new_option { NEW_DIR };

static const struct cli_option options[] = {
	[NEW_DIR] = {"dir", 0, "DIR", "where the groups lie; default: the scenarios here"},
	{0},
};

static const char template_text[] =
	"# One sentence: what a correct program does here. It heads every report of a failure.\n"
	"title: A read that ends short is resumed, and every byte arrives once\n"
	"\n"
	"# The public report that the scenario comes from; leave it out if there is none.\n"
	"#origin: https://github.com/OWNER/PROJECT/issues/NUMBER\n"
	"\n"
	"# Rows of docs/CONTRACT.md that it tests.\n"
	"contract: C3\n"
	"\n"
	"# sim: the preload stands in for the kernel, fast and deterministic. host: this machine.\n"
	"targets: [sim, host]\n"
	"\n"
	"# What the machine must have; without it the case is skipped and says so.\n"
	"#needs: [signal-exact, disk-512M]\n"
	"\n"
	"swap:\n"
	"  # Every tensor has a file of its own, NAME.swp, unless file: and file_offset: say.\n"
	"  tensors:\n"
	"    - {name: exp_avg, numel: 16384, dtype: fp32}\n"
	"  # prepare writes the files without the library, so that only the read is under test.\n"
	"  steps: [prepare, swap-in]\n"
	"\n"
	"# 64 KiB in blocks of 16 KiB: four requests, all of them in flight together.\n"
	"handle: {block_size: 16K, queue_depth: 4}\n"
	"\n"
	"# Every combination is a case. A key is an option of handle, or a place in this file:\n"
	"#   swap.tensors.0.numel: [511, 512, 513]\n"
	"matrix:\n"
	"  workers: [0, 1]\n"
	"  overlap_events: [true, false]\n"
	"\n"
	"# POINT#WHEN CONDITION => KIND; `swaptorture points` lists what there is. Each of them\n"
	"# must fire, or the case is vacuous.\n"
	"faults:\n"
	"  - io_event#2 op=read => short:512\n"
	"\n"
	"# ok: all succeeds. error: something fails, as error:, tensor:, message: say. refused:\n"
	"# nothing is even submitted. Without result: it follows from the effects of the faults.\n"
	"expect: {result: ok, data: exact, deadline: 5s}\n";

static bool is_word(const char *text, size_t length)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-";

	return length > 0 && length <= 64 && text[0] != '-' && strspn(text, allowed) >= length;
}

/* "group/name" and nothing that could lead elsewhere. */
static bool is_name(const char *name)
{
	size_t group = strcspn(name, "/");

	return name[group] == '/' && is_word(name, group) && !strchr(name + group + 1, '/') &&
	       is_word(name + group + 1, strlen(name + group + 1));
}

static int write_template(int fd)
{
	size_t length = sizeof(template_text) - 1, done = 0;

	while (done < length) {
		ssize_t count = write(fd, template_text + done, length - done);

		if (count < 0 && errno != EINTR)
			return -errno;
		done += count < 0 ? 0 : (size_t)count;
	}
	return 0;
}

static int make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	int result;

	if (fd < 0)
		return -errno;
	result = write_template(fd);
	if (close(fd) < 0 && result == 0)
		result = -errno;
	if (result < 0)
		unlink(path);
	return result;
}

static int make_scenario(const struct cli_command *command, const char *directory, const char *name)
{
	char group[2 * PATH_MAX], path[2 * PATH_MAX];
	struct diag diag;
	int result;

	snprintf(group, sizeof(group), "%s/%.*s", directory, (int)strcspn(name, "/"), name);
	snprintf(path, sizeof(path), "%s/%s.yaml", directory, name);
	if (mkdir(group, 0777) < 0 && errno != EEXIST) {
		diag_set(&diag, group, 0, 0, "%s", strerror(errno));
		return cli_refuse(command, &diag);
	}
	result = make_file(path);
	if (result < 0) {
		diag_set(&diag, path, 0, 0, "%s%s", strerror(-result),
			 result == -EEXIST ? ", it is left as it is" : "");
		return cli_refuse(command, &diag);
	}
	printf("%s is made; try '%s run %s'\n", path, cli_program(), path);
	return CLI_EXIT_PASSED;
}

static int make_named(const struct cli_command *command, const char *directory, const char *name)
{
	struct stat status;

	if (!name)
		return cli_refuse_text(command, "GROUP/NAME is missing");
	if (!is_name(name))
		return cli_refuse_text(command,
				       "'%s': must be GROUP/NAME of small letters, digits and "
				       "hyphens: partial/short-read-mid-file",
				       name);
	if (directory)
		return make_scenario(command, directory, name);
	/* Not into those that are installed: they are not the user's. */
	if (stat("scenarios", &status) < 0 || !S_ISDIR(status.st_mode))
		return cli_refuse_text(command, "no directory scenarios here, --dir names one");
	return make_scenario(command, "scenarios", name);
}

static int command_run(const struct cli_command *command, int argc, char **argv)
{
	const char *directory = NULL, *name = NULL;
	struct cli_parser parser;
	int option;

	cli_parser_init(&parser, command, argc, argv);
	while ((option = cli_next(&parser)) >= 0 || option == CLI_WORD) {
		if (option == CLI_WORD && name)
			return cli_refuse_text(command, "'%s': one name at a time", parser.value);
		if (option == CLI_WORD)
			name = parser.value;
		else
			directory = parser.value;
	}
	if (option == CLI_WRONG)
		return cli_refuse(command, &parser.diag);
	if (option == CLI_HELP)
		return CLI_EXIT_PASSED;
	return make_named(command, directory, name);
}

const struct cli_command cmd_new = {
	.name = "new",
	.words = "GROUP/NAME",
	.summary = "make a scenario to start from",
	.options = options,
	.run = command_run,
};
