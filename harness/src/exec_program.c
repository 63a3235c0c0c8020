/* SPDX-License-Identifier: MIT */
/*
 * exec_program.c - finding a program as a shell does, and seeing from its file why a preload cannot
 * reach it.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exec.h"

static int check_program(const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	return access(path, X_OK) < 0 ? -errno : 0;
}

int exec_find_program(const char *name, char *path, size_t path_bytes)
{
	const char *rest = getenv("PATH");
	int result = -ENOENT;

	if (strchr(name, '/')) {
		if (snprintf(path, path_bytes, "%s", name) >= (int)path_bytes)
			return -ENAMETOOLONG;
		return check_program(path);
	}
	for (rest = rest ? rest : "/usr/bin:/bin"; *rest && *name;) {
		size_t length = strcspn(rest, ":");
		int found;

		if (snprintf(path, path_bytes, "%.*s/%s", (int)length, length ? rest : ".", name) <
		    (int)path_bytes) {
			found = check_program(path);
			if (found == 0)
				return 0;
			if (found == -EACCES)
				result = -EACCES;
		}
		rest += length + (rest[length] == ':');
	}
	return result;
}

/* Does the ELF file of our own class name a dynamic loader? Its name into @name, cut if need be. */
static bool read_loader(int fd, const Elf64_Ehdr *header, char *name, size_t name_bytes)
{
	for (unsigned i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr segment;
		off_t at = (off_t)(header->e_phoff + (uint64_t)i * header->e_phentsize);

		if (pread(fd, &segment, sizeof(segment), at) != (ssize_t)sizeof(segment))
			break;
		if (segment.p_type != PT_INTERP)
			continue;
		memset(name, 0, name_bytes);
		if (segment.p_filesz < name_bytes)
			name_bytes = segment.p_filesz + 1;
		return pread(fd, name, name_bytes - 1, (off_t)segment.p_offset) > 0;
	}
	return false;
}

static bool is_our_elf(const Elf64_Ehdr *header, ssize_t count)
{
	return count == (ssize_t)sizeof(*header) && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       header->e_ident[EI_CLASS] == ELFCLASS64;
}

int exec_find_loader(const char *path, char *loader, size_t loader_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), result = -ENOEXEC;
	Elf64_Ehdr header;

	if (fd < 0)
		return -errno;
	if (is_our_elf(&header, pread(fd, &header, sizeof(header), 0)) &&
	    read_loader(fd, &header, loader, loader_bytes))
		result = 0;
	close(fd);
	return result;
}

static const char *explain_elf(int fd, const Elf64_Ehdr *header, ssize_t count)
{
	char name[PATH_MAX];

	if (count < EI_NIDENT || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return count >= 2 && memcmp(header->e_ident, "#!", 2) == 0
			       ? "it is a script: its interpreter ran, or use --follow-exec"
			       : "it is no ELF file";
	if (header->e_ident[EI_CLASS] != ELFCLASS64)
		return "it is a 32-bit program, the preload has 64 bits";
	if (!is_our_elf(header, count) || read_loader(fd, header, name, sizeof(name)))
		return NULL;
	return "it is linked statically";
}

void exec_explain_silence(const char *path, char *text, size_t text_bytes)
{
	const char *why = NULL;
	struct stat status;
	Elf64_Ehdr header;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && fstat(fd, &status) == 0) {
		why = explain_elf(fd, &header, pread(fd, &header, sizeof(header), 0));
		if (!why && (status.st_mode & (S_ISUID | S_ISGID)))
			why = "it is setuid or setgid, and the loader ignores preloads there";
	}
	if (fd >= 0)
		close(fd);
	snprintf(text, text_bytes, "%s", why ? why : "");
}
