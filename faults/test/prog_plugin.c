/* SPDX-License-Identifier: MIT */
/*
 * prog_plugin.c - a victim that knows nothing of AIO and opens a plugin that does.
 *
 *   prog_plugin PLUGIN write linked|looked-up|number FILE
 *   prog_plugin PLUGIN look-up
 */
/* link: -ldl */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char *found(void *address)
{
	return address ? "found" : dlerror() ? "missing" : "missing without a reason";
}

int main(int argc, char **argv)
{
	void *plugin = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	void (*write_file)(const char *, const char *);
	void (*look_up)(void);

	if (!plugin) {
		fprintf(stderr, "prog_plugin: %s\n", argc > 2 ? dlerror() : "no plugin");
		return 2;
	}
	*(void **)&write_file = dlsym(plugin, "plugin_write");
	*(void **)&look_up = dlsym(plugin, "plugin_look_up");
	if (argc == 5 && strcmp(argv[2], "write") == 0) {
		write_file(argv[3], argv[4]);
		return 0;
	}
	printf("libaio by RTLD_DEFAULT: %s\n", found(dlsym(RTLD_DEFAULT, "io_pgetevents")));
	printf("libaio by RTLD_NEXT: %s\n", found(dlsym(RTLD_NEXT, "io_submit")));
	printf("libc by RTLD_NEXT: %s\n", found(dlsym(RTLD_NEXT, "pread64")));
	printf("nonsense: %s\n", found(dlsym(RTLD_DEFAULT, "no_such_symbol")));
	look_up();
	return 0;
}
