/* SPDX-License-Identifier: MIT */
/*
 * swaps.c - who carries out swaps: threads of the store, or callers one at a time.
 */
#include "swaps.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "deadline.h"
#include "error.h"
#include "handle.h"
#include "store.h"
#include "swap_job.h"

static struct list *bucket(struct swaps *swaps, swapio_swap_id id)
{
	return &swaps->jobs[id % SWAP_BUCKETS];
}

struct swap_job *swapioi_swaps_find_locked(struct swapio_store *store, swapio_swap_id id)
{
	struct list *head = bucket(&store->swaps, id);

	for (struct list *link = head->next; link != head; link = link->next) {
		struct swap_job *job = list_entry(link, struct swap_job, by_id);

		if (job->result.id == id)
			return job;
	}
	return NULL;
}

/* The first of its group may go on. */
static void make_ready(struct swaps *swaps, struct swap_job *job)
{
	list_append(&swaps->ready, &job->ready);
	pthread_cond_signal(&swaps->work);
}

static struct swap_job *first_of(struct swapio_group *group)
{
	return list_entry(group->jobs.next, struct swap_job, in_group);
}

void swapioi_swaps_add_locked(struct swapio_store *store, struct swap_job *job)
{
	struct swaps *swaps = &store->swaps;

	list_append(bucket(swaps, job->result.id), &job->by_id);
	list_append(&job->group->jobs, &job->in_group);
	swaps->running++;
	if (first_of(job->group) == job)
		make_ready(swaps, job);
}

void swapioi_swaps_end_locked(struct swapio_store *store, struct swap_job *job)
{
	struct swapio_group *group = job->group;

	job->over = true;
	store->swaps.running--;
	list_remove(&job->ready);
	list_remove(&job->in_group);
	if (!list_empty(&group->jobs) && !first_of(group)->taken &&
	    list_empty(&first_of(group)->ready))
		make_ready(&store->swaps, first_of(group));
	pthread_cond_broadcast(&store->changed);
}

static struct swap_job *take_ready(struct swaps *swaps)
{
	struct list *link = list_pop(&swaps->ready);
	struct swap_job *job;

	if (!link)
		return NULL;
	job = list_entry(link, struct swap_job, ready);
	job->taken = true;
	return job;
}

static void *runner_main(void *arg)
{
	struct runner *runner = arg;
	struct swapio_store *store = runner->store;
	struct swap_job *job;

	pthread_mutex_lock(&store->lock);
	while (!store->swaps.stop) {
		job = take_ready(&store->swaps);
		if (!job) {
			pthread_cond_wait(&store->swaps.work, &store->lock);
			continue;
		}
		pthread_mutex_unlock(&store->lock);
		swapioi_job_turn(job, runner->window, INT64_MAX);
		pthread_mutex_lock(&store->lock);
		swapioi_swaps_end_locked(store, job);
	}
	pthread_mutex_unlock(&store->lock);
	return NULL;
}

/* A caller goes on with the swap that was begun, or begins the next. */
static void drive(struct swapio_store *store, int64_t deadline_ns)
{
	struct swaps *swaps = &store->swaps;
	bool over;

	swaps->driven = true;
	if (!swaps->current)
		swaps->current = take_ready(swaps);
	pthread_mutex_unlock(&store->lock);
	over = swapioi_job_turn(swaps->current, swaps->runners->window, deadline_ns);
	pthread_mutex_lock(&store->lock);
	swaps->driven = false;
	if (!over)
		return;
	swapioi_swaps_end_locked(store, swaps->current);
	swaps->current = NULL;
}

static bool can_drive(const struct swapio_store *store)
{
	const struct swaps *swaps = &store->swaps;

	return !store->options.threads && !swaps->driven &&
	       (swaps->current || !list_empty(&swaps->ready));
}

void swapioi_swaps_step_locked(struct swapio_store *store, int64_t deadline_ns)
{
	struct timespec until = timespec_of(deadline_ns);

	if (can_drive(store))
		drive(store, deadline_ns);
	else if (deadline_ns == INT64_MAX)
		pthread_cond_wait(&store->changed, &store->lock);
	else if (deadline_ns)
		pthread_cond_timedwait(&store->changed, &store->lock, &until);
}

/* Somebody else may have to drive now. */
void swapioi_swaps_leave_locked(struct swapio_store *store)
{
	if (can_drive(store))
		pthread_cond_broadcast(&store->changed);
}

int swapioi_swaps_drain(struct swapio_store *store, int64_t deadline_ns)
{
	struct swaps *swaps = &store->swaps;
	bool busy;

	pthread_mutex_lock(&store->lock);
	pthread_cond_broadcast(&store->changed);
	for (bool looked = false; swaps->running; looked = true) {
		if (looked && deadline_passed(deadline_ns))
			break;
		swapioi_swaps_step_locked(store, deadline_ns);
	}
	busy = swaps->running || swaps->slots.lent || !list_empty(&swaps->groups);
	swapioi_swaps_leave_locked(store);
	pthread_mutex_unlock(&store->lock);
	return busy ? -EBUSY : 0;
}

static void stop_threads(struct swapio_store *store)
{
	struct swaps *swaps = &store->swaps;

	pthread_mutex_lock(&store->lock);
	swaps->stop = true;
	pthread_cond_broadcast(&swaps->work);
	pthread_mutex_unlock(&store->lock);
	for (unsigned i = 0; i < swaps->runners_count; i++) {
		if (swaps->runners[i].has_thread)
			pthread_join(swaps->runners[i].thread, NULL);
		swaps->runners[i].has_thread = false;
	}
}

static void free_jobs(struct swaps *swaps)
{
	struct list *link;

	for (unsigned i = 0; i < SWAP_BUCKETS; i++)
		while ((link = list_pop(&swaps->jobs[i])))
			swapioi_job_destroy(list_entry(link, struct swap_job, by_id));
}

static void free_runners(struct swaps *swaps)
{
	for (unsigned i = 0; i < swaps->runners_count && swaps->runners; i++)
		swapioi_window_destroy(swaps->runners[i].window);
	free(swaps->runners);
}

/* Results that were never fetched go; in a child so do its copies of groups and running swaps. */
void swapioi_swaps_fini(struct swapio_store *store, bool forked)
{
	struct swaps *swaps = &store->swaps;
	struct list *link;

	if (!forked) {
		stop_threads(store);
		pthread_cond_destroy(&swaps->work);
	}
	free_jobs(swaps);
	while ((link = list_pop(&swaps->groups)))
		swapioi_group_free(list_entry(link, struct swapio_group, link));
	free_runners(swaps);
	swapioi_slots_fini(store);
}

static int make_runners(struct swapio_store *store)
{
	struct swaps *swaps = &store->swaps;
	unsigned size = swapioi_window_size(store, swaps->runners_count);
	int ret = 0;

	swaps->runners = calloc(swaps->runners_count, sizeof(*swaps->runners));
	if (!swaps->runners)
		return -ENOMEM;
	for (unsigned i = 0; i < swaps->runners_count && ret == 0; i++) {
		swaps->runners[i].store = store;
		ret = swapioi_window_create(store, size, &swaps->runners[i].window);
	}
	return ret;
}

/* The program's signals are none of the threads' business. */
static int start_threads(struct swapio_store *store)
{
	sigset_t all, old;
	int ret = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (unsigned i = 0; i < store->options.threads && ret == 0; i++) {
		struct runner *runner = &store->swaps.runners[i];

		ret = pthread_create(&runner->thread, NULL, runner_main, runner);
		runner->has_thread = ret == 0;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -ret;
}

static int start(struct swapio_store *store)
{
	int ret = swapioi_slots_init(store, store->swaps.runners_count);

	if (ret == 0)
		ret = make_runners(store);
	if (ret == 0)
		ret = start_threads(store);
	return ret;
}

/* Runners never wait for each other, so each needs a request and its slots. */
static int check_runners(const struct swapio_store *store, struct swapio_error *error)
{
	unsigned runners = store->swaps.runners_count,
		 requests = store->handle->options.requests_max;

	if (store->options.slots < runners * SLOTS_RESERVED)
		return swapioi_error(error, -EINVAL,
				     "slots is %u, allowed with %u threads: %u or more",
				     store->options.slots, store->options.threads,
				     runners * SLOTS_RESERVED);
	if (requests < runners)
		return swapioi_error(
			error, -EINVAL,
			"threads is %u, allowed with the handle's requests_max: 0 to %u",
			store->options.threads, requests);
	return 0;
}

int swapioi_swaps_init(struct swapio_store *store, struct swapio_error *error)
{
	struct swaps *swaps = &store->swaps;
	char text[ERRNO_TEXT_BYTES];
	int ret;

	swaps->runners_count = store->options.threads ? store->options.threads : 1;
	ret = check_runners(store, error);
	if (ret < 0)
		return ret;
	list_init(&swaps->groups);
	list_init(&swaps->ready);
	for (unsigned i = 0; i < SWAP_BUCKETS; i++)
		list_init(&swaps->jobs[i]);
	pthread_cond_init(&swaps->work, NULL);
	ret = start(store);
	if (ret == 0)
		return 0;
	swapioi_swaps_fini(store, false);
	return swapioi_error(error, ret, "%.300s: cannot start %u threads: %s", store->path,
			     store->options.threads, swapioi_errno_text(-ret, text));
}
