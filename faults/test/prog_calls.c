/* SPDX-License-Identifier: MIT */
/*
 * prog_calls.c - a victim that makes calls under each of their names, in the current directory, and
 * says what came of them. What it needs beforehand it does with system calls of its own, which are
 * no points.
 *
 *   prog_calls list          every name with its point, a line each
 *   prog_calls run [NAME...] all, or those: "NAME result errno same|changed". The result is 0 or 1
 *                            for "it worked", or a count; changed, when the files are not as before
 */
#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "points.h"

#define FILE_BYTES 8192
#define PART_BYTES 1024

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dirfd, const char *path, int flags);
int __openat64_2(int dirfd, const char *path, int flags);
ssize_t __read_chk(int fd, void *buffer, size_t bytes, size_t room);
ssize_t __pread_chk(int fd, void *buffer, size_t bytes, off_t offset, size_t room);
ssize_t __pread64_chk(int fd, void *buffer, size_t bytes, off64_t offset, size_t room);
int __fxstat(int version, int fd, struct stat *ret_status);
int __fxstat64(int version, int fd, struct stat64 *ret_status);
int __xstat(int version, const char *path, struct stat *ret_status);
int __xstat64(int version, const char *path, struct stat64 *ret_status);
int __lxstat(int version, const char *path, struct stat *ret_status);
int __lxstat64(int version, const char *path, struct stat64 *ret_status);
int __fxstatat(int version, int dirfd, const char *path, struct stat *ret_status, int flags);
int __fxstatat64(int version, int dirfd, const char *path, struct stat64 *ret_status, int flags);

static int fd;
static char data[FILE_BYTES];
static struct iovec halves[2] = {{data, PART_BYTES / 2}, {data + PART_BYTES / 2, PART_BYTES / 2}};
static struct stat status;
static struct stat64 status64;
static struct statx statusx;

/* A descriptor, as "it worked". */
static long worked(int descriptor)
{
	return descriptor < 0 ? -1 : 1;
}

/* Calls that answer with the errno itself. */
static long answered(int error)
{
	errno = error;
	return error ? -1 : 1;
}

static long pointed(const void *memory)
{
	return memory && memory != MAP_FAILED ? 1 : -1;
}

static void *do_nothing(void *argument)
{
	return argument;
}

static long create_thread(void)
{
	pthread_t thread;
	int error = pthread_create(&thread, NULL, do_nothing, NULL);

	if (error == 0)
		error = pthread_join(thread, NULL);
	return answered(error);
}

static long allocate(void)
{
	void *memory;

	return answered(posix_memalign(&memory, 4096, 4096));
}

#define ANONYMOUS (MAP_PRIVATE | MAP_ANONYMOUS)
#define MAP_ARGUMENTS NULL, 4096, PROT_READ, ANONYMOUS, -1, 0

/* CALL(point, name, expression): the expression is the result. */
#define CALLS                                                                                      \
	CALL(open, open, worked(open("file", O_RDWR)))                                             \
	CALL(open, open64, worked(open64("file", O_RDWR)))                                         \
	CALL(open, openat, worked(openat(AT_FDCWD, "file", O_RDWR)))                               \
	CALL(open, openat64, worked(openat64(AT_FDCWD, "file", O_RDWR)))                           \
	CALL(open, creat, worked(creat("new", 0600)))                                              \
	CALL(open, creat64, worked(creat64("new", 0600)))                                          \
	CALL(open, __open_2, worked(__open_2("file", O_RDWR)))                                     \
	CALL(open, __open64_2, worked(__open64_2("file", O_RDWR)))                                 \
	CALL(open, __openat_2, worked(__openat_2(AT_FDCWD, "file", O_RDWR)))                       \
	CALL(open, __openat64_2, worked(__openat64_2(AT_FDCWD, "file", O_RDWR)))                   \
	CALL(close, close, close(fd))                                                              \
	CALL(pread, read, read(fd, data, PART_BYTES))                                              \
	CALL(pread, __read_chk, __read_chk(fd, data, PART_BYTES, FILE_BYTES))                      \
	CALL(pread, pread, pread(fd, data, PART_BYTES, 512))                                       \
	CALL(pread, pread64, pread64(fd, data, PART_BYTES, 512))                                   \
	CALL(pread, __pread_chk, __pread_chk(fd, data, PART_BYTES, 512, FILE_BYTES))               \
	CALL(pread, __pread64_chk, __pread64_chk(fd, data, PART_BYTES, 512, FILE_BYTES))           \
	CALL(pread, readv, readv(fd, halves, 2))                                                   \
	CALL(pread, preadv, preadv(fd, halves, 2, 512))                                            \
	CALL(pread, preadv64, preadv64(fd, halves, 2, 512))                                        \
	CALL(pread, preadv2, preadv2(fd, halves, 2, 512, 0))                                       \
	CALL(pread, preadv64v2, preadv64v2(fd, halves, 2, -1, 0))                                  \
	CALL(pwrite, write, write(fd, data, PART_BYTES))                                           \
	CALL(pwrite, pwrite, pwrite(fd, data, PART_BYTES, 512))                                    \
	CALL(pwrite, pwrite64, pwrite64(fd, data, PART_BYTES, 512))                                \
	CALL(pwrite, writev, writev(fd, halves, 2))                                                \
	CALL(pwrite, pwritev, pwritev(fd, halves, 2, 512))                                         \
	CALL(pwrite, pwritev64, pwritev64(fd, halves, 2, 512))                                     \
	CALL(pwrite, pwritev2, pwritev2(fd, halves, 2, 512, 0))                                    \
	CALL(pwrite, pwritev64v2, pwritev64v2(fd, halves, 2, -1, 0))                               \
	CALL(fstat, fstat, fstat(fd, &status))                                                     \
	CALL(fstat, fstat64, fstat64(fd, &status64))                                               \
	CALL(fstat, stat, stat("file", &status))                                                   \
	CALL(fstat, stat64, stat64("file", &status64))                                             \
	CALL(fstat, lstat, lstat("file", &status))                                                 \
	CALL(fstat, lstat64, lstat64("file", &status64))                                           \
	CALL(fstat, fstatat, fstatat(AT_FDCWD, "file", &status, 0))                                \
	CALL(fstat, fstatat64, fstatat64(fd, "", &status64, AT_EMPTY_PATH))                        \
	CALL(fstat, __fxstat, __fxstat(1, fd, &status))                                            \
	CALL(fstat, __fxstat64, __fxstat64(1, fd, &status64))                                      \
	CALL(fstat, __xstat, __xstat(1, "file", &status))                                          \
	CALL(fstat, __xstat64, __xstat64(1, "file", &status64))                                    \
	CALL(fstat, __lxstat, __lxstat(1, "file", &status))                                        \
	CALL(fstat, __lxstat64, __lxstat64(1, "file", &status64))                                  \
	CALL(fstat, __fxstatat, __fxstatat(1, AT_FDCWD, "file", &status, 0))                       \
	CALL(fstat, __fxstatat64, __fxstatat64(1, AT_FDCWD, "file", &status64, 0))                 \
	CALL(fstat, statx, statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &statusx))              \
	CALL(ftruncate, ftruncate, ftruncate(fd, 4096))                                            \
	CALL(ftruncate, ftruncate64, ftruncate64(fd, 4096))                                        \
	CALL(ftruncate, truncate, truncate("file", 4096))                                          \
	CALL(ftruncate, truncate64, truncate64("file", 4096))                                      \
	CALL(fallocate, fallocate, fallocate(fd, 0, 0, 16384))                                     \
	CALL(fallocate, fallocate64, fallocate64(fd, 0, 0, 16384))                                 \
	CALL(fallocate, posix_fallocate, answered(posix_fallocate(fd, 0, 16384)))                  \
	CALL(fallocate, posix_fallocate64, answered(posix_fallocate64(fd, 0, 16384)))              \
	CALL(fsync, fsync, fsync(fd))                                                              \
	CALL(fsync, fdatasync, fdatasync(fd))                                                      \
	CALL(rename, rename, rename("file", "renamed"))                                            \
	CALL(rename, renameat, renameat(AT_FDCWD, "file", AT_FDCWD, "renamed"))                    \
	CALL(rename, renameat2, renameat2(AT_FDCWD, "file", AT_FDCWD, "renamed", 0))               \
	CALL(unlink, unlink, unlink("file"))                                                       \
	CALL(unlink, unlinkat, unlinkat(AT_FDCWD, "file", 0))                                      \
	CALL(unlink, remove, remove("file"))                                                       \
	CALL(mmap, mmap, pointed(mmap(MAP_ARGUMENTS)))                                             \
	CALL(mmap, mmap64, pointed(mmap64(MAP_ARGUMENTS)))                                         \
	CALL(mlock, mlock, mlock(data, 64))                                                        \
	CALL(mlock, mlock2, mlock2(data, 64, 0))                                                   \
	CALL(posix_memalign, posix_memalign, allocate())                                           \
	CALL(posix_memalign, aligned_alloc, pointed(aligned_alloc(4096, 4096)))                    \
	CALL(posix_memalign, memalign, pointed(memalign(4096, 4096)))                              \
	CALL(pthread_create, pthread_create, create_thread())

#define CALL(point, name, expression)                                                              \
	static long make_##name(void)                                                              \
	{                                                                                          \
		return (long)(expression);                                                         \
	}
CALLS
#undef CALL

#define CALL(point, name, expression) {#point, #name, make_##name},
static const struct call {
	const char *point, *name;
	long (*make)(void);
} calls[] = {CALLS};
#undef CALL

#define CALL_COUNT (sizeof(calls) / sizeof(calls[0]))

static int list_calls(void)
{
	for (size_t i = 0; i < CALL_COUNT; i++)
		printf("%s %s\n", calls[i].name, calls[i].point);
	return 0;
}

static void prepare(void)
{
	if (fd > 0)
		syscall(SYS_close, fd);
	syscall(SYS_unlinkat, AT_FDCWD, "new", 0);
	syscall(SYS_unlinkat, AT_FDCWD, "renamed", 0);
	fd = (int)syscall(SYS_openat, AT_FDCWD, "file", O_RDWR | O_CREAT | O_TRUNC, 0600);
	memset(data, 'a', sizeof(data));
	if (fd < 0 || syscall(SYS_pwrite64, fd, data, FILE_BYTES, 0) != FILE_BYTES)
		abort();
	memset(data, 'b', sizeof(data));
}

static int exists(const char *name)
{
	return syscall(SYS_faccessat, AT_FDCWD, name, F_OK) == 0;
}

/* Are the files as prepare() left them? */
static int is_changed(void)
{
	static char now[2 * FILE_BYTES];
	long file = syscall(SYS_openat, AT_FDCWD, "file", O_RDONLY);
	long bytes = file < 0 ? -1 : syscall(SYS_pread64, file, now, sizeof(now), 0);

	if (file >= 0)
		syscall(SYS_close, file);
	if (bytes != FILE_BYTES || exists("new") || exists("renamed"))
		return 1;
	return now[0] != 'a' || memcmp(now, now + 1, FILE_BYTES - 1) != 0;
}

static void make_call(const struct call *call)
{
	long result;
	int error;

	prepare();
	errno = 0;
	result = call->make();
	error = errno;
	printf("%s %ld %s %s\n", call->name, result, result < 0 ? errno_name(error) : "0",
	       is_changed() ? "changed" : "same");
}

static int make_named(const char *name)
{
	for (size_t i = 0; i < CALL_COUNT; i++) {
		if (strcmp(calls[i].name, name) == 0) {
			make_call(&calls[i]);
			return 0;
		}
	}
	fprintf(stderr, "prog_calls: no call %s\n", name);
	return 2;
}

int main(int argc, char **argv)
{
	int result = 0;

	if (argc == 2 && strcmp(argv[1], "list") == 0)
		return list_calls();
	if (argc < 2 || strcmp(argv[1], "run") != 0) {
		fprintf(stderr, "usage: prog_calls list | run [NAME...]\n");
		return 2;
	}
	for (size_t i = 0; argc == 2 && i < CALL_COUNT; i++)
		make_call(&calls[i]);
	for (int i = 2; i < argc && result == 0; i++)
		result = make_named(argv[i]);
	return result;
}
