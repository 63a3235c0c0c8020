/* SPDX-License-Identifier: MIT */
/*
 * real.c - the definitions that follow ours in the search order. The real dlsym() cannot be had
 * from dlsym(), which is ours; it is read out of the loader's list of objects. That works before
 * any constructor ran: a sanitizer calls dlsym() while it sets itself up.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "interpose.h"
#include "real.h"

extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));
extern struct real_slot __start_real_slots[] __attribute__((visibility("hidden")));
extern struct real_slot __stop_real_slots[] __attribute__((visibility("hidden")));
extern const struct interposed __start_interposed[] __attribute__((visibility("hidden")));
extern const struct interposed __stop_interposed[] __attribute__((visibility("hidden")));

#define VERSION_HIDDEN 0x8000u

/* What a look-up needs of one loaded object. */
struct object {
	ElfW(Addr) base;
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *gnu_hash;
	const ElfW(Versym) * versions;
};

/* glibc relocates these pointers in place, except in read-only dynamic sections. */
static const void *object_pointer(const struct link_map *map, ElfW(Addr) value)
{
	return (const void *)(value < map->l_addr ? value + map->l_addr : value);
}

static bool object_read(const struct link_map *map, struct object *ret_object)
{
	struct object object = {.base = map->l_addr};

	for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_SYMTAB)
			object.symbols = object_pointer(map, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_STRTAB)
			object.strings = object_pointer(map, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_GNU_HASH)
			object.gnu_hash = object_pointer(map, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_VERSYM)
			object.versions = object_pointer(map, entry->d_un.d_ptr);
	}
	*ret_object = object;
	return object.symbols && object.strings && object.gnu_hash;
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

/* Not strcmp(): a sanitizer wraps it, and its wrapper asks us for dlsym() before it works itself.
 */
static bool names_equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static bool is_function(const struct object *object, uint32_t index, const char *name)
{
	const ElfW(Sym) *symbol = &object->symbols[index];

	return symbol->st_shndx != SHN_UNDEF &&
	       names_equal(object->strings + symbol->st_name, name);
}

/* The default version of @name, or any where no version is the default. */
static void *object_find(const struct object *object, const char *name)
{
	const uint32_t *table = object->gnu_hash;
	uint32_t bucket_count = table[0], first = table[1], bloom_words = table[2];
	const uint32_t *buckets = table + 4 + bloom_words * (sizeof(ElfW(Addr)) / 4);
	const uint32_t *chain = buckets + bucket_count;
	uint32_t hash = gnu_hash(name);
	uint32_t index = bucket_count ? buckets[hash % bucket_count] : 0;
	void *hidden = NULL;

	for (; index >= first; index++) {
		uint32_t link = chain[index - first];

		if ((link | 1) == (hash | 1) && is_function(object, index, name)) {
			void *address = (void *)(object->base + object->symbols[index].st_value);

			if (!object->versions || !(object->versions[index] & VERSION_HIDDEN))
				return address;
			hidden = address;
		}
		if (link & 1)
			break;
	}
	return hidden;
}

/* The next definition of @name after ours, without the help of the loader. */
static void *find_after_us(const char *name)
{
	const struct link_map *map = _r_debug.r_map;

	while (map && map->l_ld != _DYNAMIC)
		map = map->l_next;
	for (map = map ? map->l_next : NULL; map; map = map->l_next) {
		struct object object;
		void *found = object_read(map, &object) ? object_find(&object, name) : NULL;

		if (found)
			return found;
	}
	return NULL;
}

static void *find_once(_Atomic(void *) *slot, const char *name)
{
	void *found = atomic_load_explicit(slot, memory_order_relaxed);

	if (!found) {
		found = find_after_us(name);
		atomic_store_explicit(slot, found, memory_order_relaxed);
	}
	return found;
}

dlsym_function *real_dlsym(void)
{
	static _Atomic(void *) found;

	return (dlsym_function *)find_once(&found, "dlsym");
}

dlvsym_function *real_dlvsym(void)
{
	static _Atomic(void *) found;

	return (dlvsym_function *)find_once(&found, "dlvsym");
}

/*
 * The loader is asked last: a look-up that fails there gives memory back with free(), which is ours
 * and may just be what is looked for (under a sanitizer it is). Not a tail call: RTLD_NEXT means
 * the object that the return address lies in.
 */
void *real_resolve(struct real_slot *slot)
{
	void *found = find_after_us(slot->name);

	if (!found)
		found = real_dlsym()(RTLD_NEXT, slot->name);

	if (!found)
		found = slot->fallback;
	atomic_store_explicit(&slot->function, found, memory_order_relaxed);
	return found;
}

void real_resolve_all(void)
{
	for (struct real_slot *slot = __start_real_slots; slot < __stop_real_slots; slot++)
		real_resolve(slot);
}

void *interposed_find(const char *name)
{
	const struct interposed *entry;

	for (entry = __start_interposed; entry < __stop_interposed; entry++)
		if (names_equal(entry->name, name))
			return entry->function;
	return NULL;
}
