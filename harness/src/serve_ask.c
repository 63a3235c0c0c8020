/* SPDX-License-Identifier: MIT */
/*
 * serve_ask.c - a question of the guest to the other side, where the device and its faults are.
 */
#include <errno.h>
#include <string.h>

#include "serve.h"

/* What was said unasked before the answer is late: the question was about the end of the faults. */
static int receive_answer(struct serve *serve, json_t **ret_answer)
{
	int result;

	while ((result = serve_channel_receive(&serve->channel, ret_answer)) > 0) {
		if (!serve_power_take(serve, *ret_answer) &&
		    !json_object_get(*ret_answer, "removal"))
			return 0;
		json_decref(*ret_answer);
	}
	return result < 0 ? result : -EPIPE;
}

int serve_ask(struct serve *serve, const char *what, json_t **ret, struct diag *diag)
{
	json_t *answer = NULL;
	const char *text = "";
	json_int_t value = -EPROTO;
	int result = serve_channel_send(&serve->channel, json_pack("{s:s}", "ask", what));

	if (result == 0)
		result = receive_answer(serve, &answer);
	if (result < 0)
		return result;
	if (json_unpack(answer, "{s:I, s:s}", "answer", &value, "text", &text) < 0)
		value = -EPROTO;
	if (value < 0 && text[0])
		diag_set(diag, NULL, 0, 0, "%s", text);
	if (ret && value == 0)
		*ret = json_incref(answer);
	json_decref(answer);
	return (int)value;
}
