/* SPDX-License-Identifier: MIT */
/*
 * serve_power.c - the device of the case that runs here loses its power: the other side says so, is
 * told what the case has come to, and ends this machine.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "serve.h"

bool serve_power_take(struct serve *serve, const json_t *line)
{
	const char *event = json_string_value(json_object_get(line, "event"));
	bool is_cut = event && strcmp(event, "power-cut") == 0;

	serve->power_is_cut |= is_cut;
	return is_cut;
}

bool serve_power_is_cut(void *arg)
{
	struct serve *serve = arg;
	json_t *line = NULL;

	/* What else may come unasked is of a case whose device is pulled out: not of this one. */
	while (!serve->removal.serial && !serve->power_is_cut &&
	       serve_channel_is_readable(&serve->channel) &&
	       serve_channel_receive(&serve->channel, &line) > 0) {
		serve_power_take(serve, line);
		json_decref(line);
	}
	return serve->power_is_cut;
}

/* Whoever said it ends this machine, with all that its kernel has in memory. */
static _Noreturn void end_with_the_machine(struct serve_channel *channel)
{
	json_t *line;

	while (serve_channel_receive(channel, &line) > 0)
		json_decref(line);
	_exit(1);
}

void serve_power_gone(json_t *state, void *arg)
{
	struct serve *serve = arg;
	json_t *line = state ? serve_done(json_pack("{s:o}", "cut", state)) : NULL;

	if (!line)
		line = serve_failed(-ENOMEM, &(struct diag){.text = ""});
	serve_channel_send(&serve->channel, line);
	end_with_the_machine(&serve->channel);
}
