/* SPDX-License-Identifier: MIT */
/*
 * list.h - a ring of links embedded in the structs it orders; the head is a link too.
 */
#ifndef SWAPIOI_LIST_H
#define SWAPIOI_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *prev, *next;
};

#define list_entry(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

static inline void list_init(struct list *list)
{
	list->prev = list->next = list;
}

static inline bool list_empty(const struct list *head)
{
	return head->next == head;
}

/* Before the head, that is at the end. */
static inline void list_append(struct list *head, struct list *link)
{
	link->prev = head->prev;
	link->next = head;
	head->prev->next = link;
	head->prev = link;
}

static inline void list_prepend(struct list *head, struct list *link)
{
	list_append(head->next, link);
}

/* A removed link is a ring of its own, so removing it again changes nothing. */
static inline void list_remove(struct list *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
	list_init(link);
}

static inline struct list *list_pop(struct list *head)
{
	struct list *link = head->next;

	if (link == head)
		return NULL;
	list_remove(link);
	return link;
}

/* Move everything of @from to the end of @to. */
static inline void list_splice(struct list *to, struct list *from)
{
	if (list_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	list_init(from);
}

#endif /* SWAPIOI_LIST_H */
