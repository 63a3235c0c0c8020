/* SPDX-License-Identifier: MIT */
/*
 * stage_list.c - lists of requests, and the table that they come from. No allocation: the table was
 * made with the context.
 */
#include <string.h>

#include "stage_internal.h"

struct stage_req *stage_req_take(struct stage_ctx *ctx)
{
	struct stage_req *req = ctx->free;

	if (req)
		ctx->free = req->next;
	else if (ctx->table_used < ctx->table_count)
		req = &ctx->table[ctx->table_used++];
	if (req)
		ctx->live++;
	return req;
}

void stage_req_release(struct stage_ctx *ctx, struct stage_req *req)
{
	stage_req_fini(req);
	req->state = STAGE_FREE;
	req->next = ctx->free;
	ctx->free = req;
	ctx->live--;
}

void stage_list_add(struct stage_list *list, struct stage_req *req)
{
	req->next = NULL;
	if (list->last)
		list->last->next = req;
	else
		list->first = req;
	list->last = req;
	list->count++;
}

void stage_list_push(struct stage_list *list, struct stage_req *req)
{
	req->next = list->first;
	list->first = req;
	if (!list->last)
		list->last = req;
	list->count++;
}

struct stage_req *stage_list_take(struct stage_list *list)
{
	struct stage_req *req = list->first;

	if (!req)
		return NULL;
	list->first = req->next;
	if (!list->first)
		list->last = NULL;
	list->count--;
	return req;
}

void stage_list_remove(struct stage_list *list, struct stage_req *req)
{
	struct stage_req *at, *before = NULL;

	for (at = list->first; at && at != req; at = at->next)
		before = at;
	if (!at)
		return;
	if (before)
		before->next = req->next;
	else
		list->first = req->next;
	if (list->last == req)
		list->last = before;
	list->count--;
}
