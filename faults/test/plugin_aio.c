/* SPDX-License-Identifier: MIT */
/*
 * plugin_aio.c - a plugin that does I/O of its own, as extension modules of interpreters do: opened
 * RTLD_LOCAL, linked with libaio or looking it up, or making the system calls itself.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <libaio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT void plugin_write(const char *how, const char *path);
EXPORT void plugin_look_up(void);
EXPORT int plugin_private(void);

struct calls {
	int (*setup)(int, io_context_t *);
	int (*submit)(io_context_t, long, struct iocb **);
	int (*getevents)(io_context_t, long, long, struct io_event *, struct timespec *);
	int (*destroy)(io_context_t);
};

static int setup_by_number(int nr, io_context_t *ret_ctx)
{
	return (int)syscall(SYS_io_setup, nr, ret_ctx);
}

static int submit_by_number(io_context_t ctx, long nr, struct iocb **iocbs)
{
	return (int)syscall(SYS_io_submit, ctx, nr, iocbs);
}

static int getevents_by_number(io_context_t ctx, long min_nr, long nr, struct io_event *events,
			       struct timespec *timeout)
{
	return (int)syscall(SYS_io_getevents, ctx, min_nr, nr, events, timeout);
}

static int destroy_by_number(io_context_t ctx)
{
	return (int)syscall(SYS_io_destroy, ctx);
}

static struct calls look_up(void)
{
	void *libaio = dlopen("libaio.so.1", RTLD_NOW | RTLD_LOCAL);
	struct calls calls = {0};

	if (!libaio)
		libaio = dlopen("libaio.so.1t64", RTLD_NOW | RTLD_LOCAL);
	if (!libaio) {
		printf("no libaio: %s\n", dlerror());
		return calls;
	}
	*(void **)&calls.setup = dlsym(libaio, "io_setup");
	*(void **)&calls.submit = dlsym(libaio, "io_submit");
	*(void **)&calls.getevents = dlvsym(libaio, "io_getevents", "LIBAIO_0.4");
	*(void **)&calls.destroy = dlsym(libaio, "io_destroy");
	return calls;
}

static struct calls calls_of(const char *how)
{
	if (strcmp(how, "number") == 0)
		return (struct calls){setup_by_number, submit_by_number, getevents_by_number,
				      destroy_by_number};
	if (strcmp(how, "looked-up") == 0)
		return look_up();
	return (struct calls){io_setup, io_submit, io_getevents, io_destroy};
}

void plugin_write(const char *how, const char *path)
{
	static char data[4096];
	struct calls calls = calls_of(how);
	struct iocb iocb, *iocbs[1] = {&iocb};
	struct io_event event = {0};
	io_context_t ctx = NULL;
	int fd = open(path, O_RDWR | O_CREAT, 0600), submitted;

	io_prep_pwrite(&iocb, fd, data, sizeof(data), 0);
	printf("setup=%d ", calls.setup(4, &ctx));
	submitted = calls.submit(ctx, 1, iocbs);
	printf("submit=%d ", submitted);
	if (submitted == 1)
		printf("getevents=%d ", calls.getevents(ctx, 1, 1, &event, NULL));
	printf("res=%ld ", (long)event.res);
	printf("destroy=%d\n", calls.destroy(ctx));
	close(fd);
}

int plugin_private(void)
{
	return 42;
}

static const char *found(void *address)
{
	return address ? "found" : dlerror() ? "missing" : "missing without a reason";
}

/* Only who asks can find these: the plugin and its libaio are in nobody else's search order. */
void plugin_look_up(void)
{
	void *libaio = dlopen("libaio.so.1", RTLD_NOW | RTLD_NOLOAD);

	printf("own symbol by RTLD_DEFAULT: %s\n", found(dlsym(RTLD_DEFAULT, "plugin_private")));
	printf("own libaio by RTLD_DEFAULT: %s\n", found(dlsym(RTLD_DEFAULT, "io_pgetevents")));
	printf("own libaio by handle: %s\n", found(dlsym(libaio, "io_pgetevents")));
	printf("own libaio by version: %s\n", found(dlvsym(libaio, "io_pgetevents", "LIBAIO_0.5")));
	printf("wrong version: %s\n", found(dlvsym(libaio, "io_pgetevents", "LIBAIO_0.1")));
}
