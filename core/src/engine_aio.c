/* SPDX-License-Identifier: MIT */
/*
 * engine_aio.c - Linux AIO through libaio, the only file that knows it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <libaio.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "deadline.h"
#include "engine.h"

typedef int pgetevents_fn(io_context_t, long, long, struct io_event *, struct timespec *,
			  sigset_t *);

struct engine {
	io_context_t context;
	unsigned depth;
	_Atomic int wait_call;	   /* enum swapio_wait_call */
	pgetevents_fn *pgetevents; /* NULL: this libaio has none */
	struct io_event *events;   /* [depth] */
	struct iocb **batch;	   /* [depth] */
	struct iocb *iocbs;	   /* [count]: they live as long as their transfers */
};

/*
 * A weak reference would not do: linked where io_pgetevents exists, the library would require
 * symbol version LIBAIO_0.5 and not load elsewhere.
 */
static pgetevents_fn *find_pgetevents(void)
{
	void *symbol = dlsym(RTLD_DEFAULT, "io_pgetevents");
	pgetevents_fn *function;

	memcpy(&function, &symbol, sizeof(function));
	return function;
}

static void aio_forget(struct engine *engine)
{
	free(engine->iocbs);
	free(engine->batch);
	free(engine->events);
	free(engine);
}

static void aio_destroy(struct engine *engine)
{
	io_destroy(engine->context);
	aio_forget(engine);
}

static int aio_create(unsigned depth, unsigned count, struct engine **ret_engine)
{
	struct engine *engine = calloc(1, sizeof(*engine));
	int ret = -ENOMEM;

	if (!engine)
		return -ENOMEM;
	engine->depth = depth;
	engine->events = calloc(depth, sizeof(*engine->events));
	engine->batch = calloc(depth, sizeof(*engine->batch));
	engine->iocbs = calloc(count, sizeof(*engine->iocbs));
	if (!engine->events || !engine->batch || !engine->iocbs)
		goto fail;
	engine->pgetevents = find_pgetevents();
	engine->wait_call =
		engine->pgetevents ? SWAPIO_WAIT_IO_PGETEVENTS : SWAPIO_WAIT_IO_GETEVENTS;
	ret = io_setup((int)depth, &engine->context);
	if (ret < 0)
		goto fail;
	*ret_engine = engine;
	return 0;
fail:
	aio_forget(engine);
	return ret;
}

static struct iocb *fill_iocb(struct engine *engine, const struct engine_io *io)
{
	struct iocb *iocb = &engine->iocbs[io->index];

	if (io->write)
		io_prep_pwrite(iocb, io->fd, io->mem, io->length_bytes,
			       (long long)io->offset_bytes);
	else
		io_prep_pread(iocb, io->fd, io->mem, io->length_bytes, (long long)io->offset_bytes);
	iocb->data = (void *)io->cookie;
	return iocb;
}

static int aio_submit(struct engine *engine, struct engine_io *const *ios, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		engine->batch[i] = fill_iocb(engine, ios[i]);
	return io_submit(engine->context, count, engine->batch);
}

/* The raw call returns -1 and errno where libaio's wrappers return -errno. */
static int raw_getevents(struct engine *engine, long min, long max, struct timespec *timeout)
{
	long ret = syscall(SYS_io_getevents, engine->context, min, max, engine->events, timeout);

	return ret < 0 ? -errno : (int)ret;
}

static int call_once(struct engine *engine, enum swapio_wait_call call, long min, long max,
		     struct timespec *timeout)
{
	switch (call) {
	case SWAPIO_WAIT_IO_PGETEVENTS:
		return engine->pgetevents(engine->context, min, max, engine->events, timeout, NULL);
	case SWAPIO_WAIT_IO_GETEVENTS:
		return io_getevents(engine->context, min, max, engine->events, timeout);
	case SWAPIO_WAIT_RAW_GETEVENTS:
		return raw_getevents(engine, min, max, timeout);
	}
	return -ENOSYS;
}

/*
 * ENOSYS: a kernel before 4.18. EPERM: a container's filter that does not know the call. Newer
 * libaio issues io_pgetevents inside io_getevents too, hence the raw call as the last resort.
 */
static int wait_falling_back(struct engine *engine, long min, long max, struct timespec *timeout)
{
	enum swapio_wait_call call = (enum swapio_wait_call)engine->wait_call;
	int ret = call_once(engine, call, min, max, timeout);

	while ((ret == -ENOSYS || ret == -EPERM) && call != SWAPIO_WAIT_RAW_GETEVENTS) {
		call++;
		engine->wait_call = (int)call;
		ret = call_once(engine, call, min, max, timeout);
	}
	return ret;
}

static int aio_wait(struct engine *engine, unsigned min, unsigned max, int64_t timeout_ns,
		    struct engine_event *events)
{
	struct timespec timeout = timespec_of(timeout_ns);
	int count;

	if (max > engine->depth)
		max = engine->depth;
	count = wait_falling_back(engine, min, max, timeout_ns == INT64_MAX ? NULL : &timeout);
	if (count > (int)max)
		return -EPROTO;
	for (int i = 0; i < count; i++) {
		events[i].cookie = (uintptr_t)engine->events[i].data;
		/* Declared unsigned, carries negative errnos. */
		events[i].result = (long)engine->events[i].res;
	}
	return count;
}

static enum swapio_wait_call aio_wait_call(const struct engine *engine)
{
	return (enum swapio_wait_call)engine->wait_call;
}

static const struct engine_ops aio_ops = {
	.name = "aio",
	.create = aio_create,
	.destroy = aio_destroy,
	.forget = aio_forget,
	.submit = aio_submit,
	.wait = aio_wait,
	.wait_call = aio_wait_call,
};

const struct engine_ops *swapioi_engine_find(const char *name)
{
	return !name || strcmp(name, aio_ops.name) == 0 ? &aio_ops : NULL;
}
