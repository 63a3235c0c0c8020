/* SPDX-License-Identifier: MIT */
/*
 * cmd_serve.c - `swaptorture serve`: what a guest runs from its start to its end. serve.h has the
 * words of the lines that it is told.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "number.h"
#include "run_signal.h"
#include "serve.h"

#define CHANNEL_DEFAULT 3

enum serve_option { SERVE_CHANNEL };

static const struct cli_option options[] = {
	[SERVE_CHANNEL] = {"channel", 0, "NUMBER",
			   "descriptor on which lines come and go; default 3"},
	{0},
};

json_t *serve_done(json_t *what)
{
	return json_pack("{s:o}", "done", what);
}

json_t *serve_failed(int error, const struct diag *diag)
{
	char text[DIAG_FILE_BYTES + DIAG_TEXT_BYTES];

	if (diag->text[0])
		diag_format(diag, text, sizeof(text));
	else
		snprintf(text, sizeof(text), "%s", strerror(-error));
	return json_pack("{s:{s:i, s:s}}", "failed", "errno", -error, "text", text);
}

struct serve_disk *serve_find_disk(struct serve *serve, const char *serial)
{
	for (unsigned i = 0; i < SERVE_DISKS_MAX; i++)
		if (strcmp(serve->serials[i], serial) == 0)
			return &serve->disks[i];
	return NULL;
}

static char *serial_of(struct serve *serve, const struct serve_disk *disk)
{
	return serve->serials[disk - serve->disks];
}

static json_t *do_mount(struct serve *serve, json_t *asked)
{
	struct serve_disk *disk = serve_find_disk(serve, "");
	const char *serial = NULL, *file_system = NULL;
	struct diag diag = {.text = ""};
	int seconds = 0, error;

	if (json_unpack(asked, "{s:s, s:s, s:i}", "serial", &serial, "file_system", &file_system,
			"seconds", &seconds) < 0 ||
	    !serial[0] || strlen(serial) >= SERVE_DISK_BYTES || seconds < 0)
		error = -EINVAL;
	else if (!disk || serve_find_disk(serve, serial))
		error = disk ? -EEXIST : -ENOSPC;
	else
		error = serve_disk_mount(serial, file_system, (unsigned)seconds, disk, &diag);
	if (error < 0)
		return serve_failed(error, &diag);
	snprintf(serial_of(serve, disk), SERVE_DISK_BYTES, "%s", serial);
	return serve_done(
		json_pack("{s:s, s:s}", "device", disk->device, "directory", disk->directory));
}

static json_t *do_unmount(struct serve *serve, json_t *asked)
{
	const char *serial = NULL;
	struct serve_disk *disk = NULL;
	struct diag diag = {.text = ""};
	int seconds = 0, error = -EINVAL;

	if (json_unpack(asked, "{s:s, s:i}", "serial", &serial, "seconds", &seconds) == 0 &&
	    serial[0] && seconds >= 0)
		disk = serve_find_disk(serve, serial);
	if (disk)
		error = serve_disk_unmount(disk, (unsigned)seconds, &diag);
	if (error < 0)
		return serve_failed(error, &diag);
	serial_of(serve, disk)[0] = '\0';
	return serve_done(json_object());
}

static json_t *answer(struct serve *serve, json_t *line)
{
	static const struct {
		const char *name;
		json_t *(*act)(struct serve *serve, json_t *asked);
	} acts[] = {{"mount", do_mount}, {"unmount", do_unmount}, {"run", serve_case}};
	struct diag diag = {.text = ""};

	for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++) {
		json_t *asked = json_object_get(line, acts[i].name);

		if (asked)
			return acts[i].act(serve, asked);
	}
	diag_set(&diag, NULL, 0, 0, "nothing that is known here is asked for");
	return serve_failed(-EINVAL, &diag);
}

static int loop(struct serve *serve)
{
	json_t *line = json_pack("{s:i, s:s}", "hello", 1, "version", SWAPTORTURE_VERSION);
	int error = serve_channel_send(&serve->channel, line);

	while (error == 0) {
		int result = serve_channel_receive(&serve->channel, &line);

		if (result == -EBADMSG) {
			error = serve_channel_send(
				&serve->channel, serve_failed(result, &(struct diag){.text = ""}));
			continue;
		}
		if (result <= 0)
			return result;
		error = serve_channel_send(&serve->channel, answer(serve, line));
		json_decref(line);
	}
	return error;
}

static int serve_on(const struct cli_command *command, uint64_t channel)
{
	struct serve *serve = calloc(1, sizeof(*serve));
	int error;

	if (!serve)
		return cli_refuse_text(command, "%s", strerror(ENOMEM));
	serve->channel.fd = (int)channel;
	error = kernel_log_open(&serve->kernel_log);
	if (error < 0)
		fprintf(stderr, "%s: /dev/kmsg: %s\n", cli_program(), strerror(-error));
	error = loop(serve);
	kernel_log_close(serve->kernel_log);
	forkserver_pool_stop(&serve->pool);
	free(serve);
	if (error < 0)
		return cli_refuse_text(command, "channel: %s", strerror(-error));
	return CLI_EXIT_PASSED;
}

static int command_run(const struct cli_command *command, int argc, char **argv)
{
	uint64_t channel = CHANNEL_DEFAULT;
	struct cli_parser parser;
	int option;

	run_signal_watch();
	cli_parser_init(&parser, command, argc, argv);
	while ((option = cli_next(&parser)) == SERVE_CHANNEL)
		if (number_count(parser.value, &channel) < 0 || channel > INT32_MAX)
			return cli_refuse_text(command, "--channel '%s': must be a descriptor",
					       parser.value);
	if (option == CLI_HELP)
		return CLI_EXIT_PASSED;
	if (option == CLI_WRONG)
		return cli_refuse(command, &parser.diag);
	if (option == CLI_WORD)
		return cli_refuse_text(command, "unexpected word '%s'", parser.value);
	if (fcntl((int)channel, F_GETFD) < 0)
		return cli_refuse_text(command, "--channel %d: %s", (int)channel, strerror(errno));
	fcntl((int)channel, F_SETFD, FD_CLOEXEC);
	return serve_on(command, channel);
}

const struct cli_command cmd_serve = {
	.name = "serve",
	.words = "",
	.summary = "run cases that a harness outside asks for: what a guest of target nvme does",
	.options = options,
	.run = command_run,
};
