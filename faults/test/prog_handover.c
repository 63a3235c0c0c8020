/* SPDX-License-Identifier: MIT */
/*
 * prog_handover.c - a plain variable goes from thread to thread by each means that orders threads:
 * creation, semaphore, mutex and condition variable, read-write lock, join. For a race detector
 * nothing is wrong with it; with the argument "race" one thread also writes the variable unasked.
 */
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#define ROUNDS 3

static unsigned value; /* plain, whoever's turn it is */
static sem_t ours, theirs;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned turn; /* under @mutex: even ours, odd theirs */
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static unsigned guarded; /* by @rwlock */
static int race;

static void await_turn(unsigned number)
{
	pthread_mutex_lock(&mutex);
	while (turn != number)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void end_turn(void)
{
	pthread_mutex_lock(&mutex);
	turn++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
}

static void count_guarded(void)
{
	pthread_rwlock_wrlock(&rwlock);
	guarded++;
	pthread_rwlock_unlock(&rwlock);
}

static void *play_theirs(void *argument)
{
	(void)argument;
	if (race)
		value++; /* in whatever order they run: nobody handed it over yet */
	for (unsigned i = 0; i < ROUNDS; i++) {
		sem_wait(&theirs);
		value++;
		sem_post(&ours);
		await_turn(2 * i + 1);
		value++;
		end_turn();
		count_guarded();
	}
	value++; /* for whoever joins */
	return NULL;
}

static void play_ours(void)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		value++;
		sem_post(&theirs);
		sem_wait(&ours);
		value++;
		end_turn();
		await_turn(2 * i + 2);
		count_guarded();
	}
}

int main(int count, char **arguments)
{
	pthread_t thread;

	race = count > 1 && strcmp(arguments[1], "race") == 0;
	assert(sem_init(&ours, 0, 0) == 0 && sem_init(&theirs, 0, 0) == 0);
	value = 1;
	assert(pthread_create(&thread, NULL, play_theirs, NULL) == 0);
	play_ours();
	pthread_join(thread, NULL);
	value++;
	pthread_rwlock_rdlock(&rwlock);
	assert(guarded == 2 * ROUNDS);
	pthread_rwlock_unlock(&rwlock);
	assert(race || value == 4 * ROUNDS + 3);
	return 0;
}
