/* SPDX-License-Identifier: MIT */
/*
 * prog_simtime.c - a victim whose threads wait for each other and for time, in all the ways there
 * are.
 *
 *   prog_simtime CASE       prints what it saw, with times in virtual seconds since its start
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct timespec start_time;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t sem;
static int turn;

static struct timespec now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time;
}

/* Whole seconds: a machine under load is slow, but virtual time does not pass meanwhile. */
static long passed(void)
{
	struct timespec time = now(CLOCK_MONOTONIC);

	return (long)((time.tv_sec - start_time.tv_sec) +
		      (time.tv_nsec - start_time.tv_nsec) / 1000000000);
}

static struct timespec in_seconds(clockid_t clock, long seconds)
{
	struct timespec time = now(clock);

	time.tv_sec += seconds;
	return time;
}

static void say(const char *what, long result)
{
	printf("%s result=%ld at=%ld\n", what, result, passed());
}

static pthread_t run(void *(*main)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, main, NULL) != 0)
		abort();
	return thread;
}

static void sleeps(void)
{
	struct timespec ten = {.tv_sec = 10}, until;
	struct timeval day;

	say("sleep", (long)sleep(100));
	say("usleep", usleep(5000000));
	say("nanosleep", nanosleep(&ten, NULL));
	say("clock_nanosleep", clock_nanosleep(CLOCK_MONOTONIC, 0, &ten, NULL));
	until = in_seconds(CLOCK_REALTIME, 60);
	say("clock_nanosleep-until", clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL));
	say("poll", poll(NULL, 0, 7000));
	gettimeofday(&day, NULL);
	printf("calendar time=%d gettimeofday=%d\n", time(NULL) == now(CLOCK_REALTIME).tv_sec,
	       day.tv_sec == now(CLOCK_REALTIME).tv_sec);
}

static void *hold_for_a_minute(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_rwlock_wrlock(&rwlock);
	turn = 1;
	pthread_cond_broadcast(&condition);
	pthread_mutex_unlock(&mutex);
	sleep(60);
	pthread_rwlock_unlock(&rwlock);
	pthread_mutex_lock(&mutex);
	sleep(30);
	pthread_mutex_unlock(&mutex);
	sem_post(&sem);
	sleep(5);
	return unused;
}

/* In turn: a signalled wait, locks held by a sleeper, a semaphore, a join. */
static void waits(void)
{
	pthread_t thread = run(hold_for_a_minute);
	struct timespec until;

	pthread_mutex_lock(&mutex);
	while (!turn)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
	say("cond", turn);
	until = in_seconds(CLOCK_REALTIME, 10);
	say("rwlock-timed", pthread_rwlock_timedrdlock(&rwlock, &until) == ETIMEDOUT);
	say("rwlock", pthread_rwlock_rdlock(&rwlock));
	until = in_seconds(CLOCK_REALTIME, 10);
	sleep(1); /* whoever is woken second has it by now */
	say("mutex-timed", pthread_mutex_timedlock(&mutex, &until) == ETIMEDOUT);
	say("mutex", pthread_mutex_lock(&mutex));
	say("sem", sem_wait(&sem));
	until = in_seconds(CLOCK_REALTIME, 3);
	say("sem-timed", sem_timedwait(&sem, &until) < 0 && errno == ETIMEDOUT);
	say("join", pthread_join(thread, NULL));
	until = in_seconds(CLOCK_REALTIME, 3600);
	say("cond-timed", pthread_cond_timedwait(&condition, &mutex, &until) == ETIMEDOUT);
}

static void *end_by_exit(void *unused)
{
	sleep(20);
	pthread_exit(unused);
}

static void *end_detached(void *unused)
{
	pthread_detach(pthread_self());
	sleep(40);
	sem_post(&sem);
	return unused;
}

static void ends(void)
{
	pthread_t thread = run(end_by_exit);
	struct timespec until = in_seconds(CLOCK_REALTIME, 5);

	say("tryjoin", pthread_tryjoin_np(thread, NULL) == EBUSY);
	say("timedjoin", pthread_timedjoin_np(thread, NULL, &until) == ETIMEDOUT);
	say("join", pthread_join(thread, NULL));
	run(end_detached);
	say("detached", sem_wait(&sem));
}

static volatile sig_atomic_t handled;

static void handle(int number)
{
	(void)number;
	handled++;
	sem_post(&sem);
}

static void *kill_main(void *argument)
{
	sleep(10);
	pthread_kill(*(pthread_t *)argument, SIGUSR1);
	return NULL;
}

static void handlers(void)
{
	struct sigaction action = {.sa_handler = handle};
	pthread_t self = pthread_self(), thread;
	unsigned left;

	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&thread, NULL, kill_main, &self);
	left = sleep(1000);
	printf("interrupted handled=%d left=%d\n", (int)handled, left > 900 && left < 1000);
	say("sem", sem_wait(&sem));
	pthread_join(thread, NULL);
}

/* The child's time goes on from the parent's, by itself. */
static void forks(void)
{
	int status = -1;
	pid_t child;

	sleep(10);
	child = fork();
	if (child == 0) {
		pthread_join(run(end_by_exit), NULL);
		_exit(passed() == 30 ? 0 : 1);
	}
	waitpid(child, &status, 0);
	say("child", status);
}

/* Never blocks: it is the clock that must go on. */
static void spins(void)
{
	while (passed() < 1)
		;
	say("spun", 0);
}

/* A lock and a wait that a child shares, and a parent that looks for its child far beyond the
 * deadline of the case. */
static void shares(void)
{
	sem_t *to_parent = mmap(NULL, 2 * sizeof(*to_parent), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sem_t *to_child = to_parent + 1;
	struct timespec until;
	pid_t child;

	sem_init(to_parent, 1, 0);
	sem_init(to_child, 1, 0);
	until = in_seconds(CLOCK_REALTIME, 5);
	say("alone", sem_timedwait(to_parent, &until) < 0 && errno == ETIMEDOUT);
	child = fork();
	if (child == 0) {
		sem_post(to_parent);
		sem_wait(to_child);
		_exit(0);
	}
	until = in_seconds(CLOCK_REALTIME, 30);
	say("shared", sem_timedwait(to_parent, &until));
	sleep(1000);
	sem_post(to_child);
	while (waitpid(child, NULL, WNOHANG) == 0)
		sleep(100);
	puts("child gone");
}

static void *take_both(void *unused)
{
	pthread_mutex_lock(&mutex);
	sleep(1);
	pthread_rwlock_wrlock(&rwlock);
	return unused;
}

/* The classic: each has what the other wants. */
static void deadlock(void)
{
	pthread_t thread = run(take_both);

	pthread_rwlock_wrlock(&rwlock);
	sleep(1);
	pthread_mutex_lock(&mutex);
	pthread_join(thread, NULL);
}

static void wait_for_nobody(void)
{
	pthread_mutex_lock(&mutex);
	pthread_cond_wait(&condition, &mutex);
}

static void sleep_too_long(void)
{
	for (;;)
		sleep(1);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{"spins", spins},	  {"shares", shares},	  {"sleeps", sleeps},
	{"waits", waits},	  {"ends", ends},	  {"handlers", handlers},
	{"forks", forks},	  {"deadlock", deadlock}, {"nobody", wait_for_nobody},
	{"late", sleep_too_long},
};

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	sem_init(&sem, 0, 0);
	start_time = now(CLOCK_MONOTONIC);
	for (size_t i = 0; argc == 2 && i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(cases[i].name, argv[1]) == 0) {
			cases[i].run();
			return 0;
		}
	}
	fprintf(stderr, "usage: prog_simtime CASE\n");
	return 2;
}
