/* SPDX-License-Identifier: MIT */
/*
 * safetensors.c - reads the header of a checkpoint, and believes nothing of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "safetensors.h"

#define LENGTH_BYTES 8u
#define METADATA "__metadata__"

struct parse {
	struct safetensors *file;
	uint64_t data_bytes; /* behind the header */
	char *text;
	size_t text_bytes;
};

static const struct {
	const char *name;
	enum dtype dtype;
} dtypes[] = {
	{"BOOL", DTYPE_BOOL}, {"U8", DTYPE_U8},	  {"I8", DTYPE_I8},    {"F8_E5M2", DTYPE_FP8_E5M2},
	{"I16", DTYPE_I16},   {"U16", DTYPE_U16}, {"F16", DTYPE_FP16}, {"F8_E4M3", DTYPE_FP8_E4M3},
	{"BF16", DTYPE_BF16}, {"I32", DTYPE_I32}, {"U32", DTYPE_U32},  {"F32", DTYPE_FP32},
	{"F64", DTYPE_FP64},  {"I64", DTYPE_I64}, {"U64", DTYPE_U64},
};

static __attribute__((format(printf, 2, 3))) int refuse(const struct parse *parse,
							const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(parse->text, parse->text_bytes, format, arguments);
	va_end(arguments);
	return -EINVAL;
}

static uint64_t length_of(const unsigned char *bytes)
{
	uint64_t length = 0;

	for (unsigned i = LENGTH_BYTES; i-- > 0;)
		length = length << 8 | bytes[i];
	return length;
}

static int read_dtype(const struct parse *parse, const json_t *value,
		      struct safetensors_tensor *tensor)
{
	const char *name = json_string_value(value);

	for (size_t i = 0; name && i < sizeof(dtypes) / sizeof(*dtypes); i++)
		if (strcmp(dtypes[i].name, name) == 0) {
			tensor->dtype = dtypes[i].dtype;
			return 0;
		}
	if (!name)
		return refuse(parse, "tensor %.80s: its dtype is no text", tensor->name);
	return refuse(parse, "tensor %.80s: dtype '%.20s' is not known", tensor->name, name);
}

static int read_number(const struct parse *parse, const struct safetensors_tensor *tensor,
		       const char *what, const json_t *value, uint64_t *ret_number)
{
	json_int_t number = json_integer_value(value);

	if (!json_is_integer(value) || number < 0)
		return refuse(parse, "tensor %.80s: %s holds what is no number of 0 or more",
			      tensor->name, what);
	*ret_number = (uint64_t)number;
	return 0;
}

static int read_shape(const struct parse *parse, const json_t *list,
		      struct safetensors_tensor *tensor)
{
	size_t dims = json_array_size(list);

	if (!json_is_array(list))
		return refuse(parse, "tensor %.80s: its shape is no list", tensor->name);
	if (dims > WORKLOAD_DIMS_MAX)
		return refuse(parse, "tensor %.80s: %zu dimensions, at most %d are taken",
			      tensor->name, dims, WORKLOAD_DIMS_MAX);
	tensor->dims = (unsigned)dims;
	for (unsigned i = 0; i < dims; i++)
		if (read_number(parse, tensor, "its shape", json_array_get(list, i),
				&tensor->shape[i]) < 0)
			return -EINVAL;
	return 0;
}

static int count_elements(const struct parse *parse, struct safetensors_tensor *tensor)
{
	tensor->numel = 1;
	for (unsigned i = 0; i < tensor->dims; i++)
		if (__builtin_mul_overflow(tensor->numel, tensor->shape[i], &tensor->numel))
			return refuse(parse, "tensor %.80s: its shape overflows", tensor->name);
	if (tensor->numel > SAFETENSORS_NUMEL_MAX)
		return refuse(parse, "tensor %.80s: %llu elements, at most %llu are taken",
			      tensor->name, (unsigned long long)tensor->numel,
			      (unsigned long long)SAFETENSORS_NUMEL_MAX);
	return 0;
}

static int read_offsets(const struct parse *parse, const json_t *list,
			struct safetensors_tensor *tensor)
{
	uint64_t bytes;

	if (!json_is_array(list) || json_array_size(list) != 2)
		return refuse(parse, "tensor %.80s: data_offsets is no list of two", tensor->name);
	if (read_number(parse, tensor, "data_offsets", json_array_get(list, 0), &tensor->begin) <
		    0 ||
	    read_number(parse, tensor, "data_offsets", json_array_get(list, 1), &tensor->end) < 0)
		return -EINVAL;
	bytes = tensor->numel * dtype_bytes(tensor->dtype);
	if (tensor->end < tensor->begin || tensor->end - tensor->begin != bytes)
		return refuse(parse,
			      "tensor %.80s: data_offsets [%llu, %llu], its dtype and shape take "
			      "%llu bytes",
			      tensor->name, (unsigned long long)tensor->begin,
			      (unsigned long long)tensor->end, (unsigned long long)bytes);
	return 0;
}

static int read_tensor(const struct parse *parse, const char *name, const json_t *value)
{
	struct safetensors_tensor *tensor = &parse->file->tensors[parse->file->count];

	if (!name[0])
		return refuse(parse, "a tensor has no name");
	if (!json_is_object(value))
		return refuse(parse, "tensor %.80s: is no object", name);
	tensor->name = strdup(name);
	if (!tensor->name)
		return -ENOMEM;
	parse->file->count++;
	if (read_dtype(parse, json_object_get(value, "dtype"), tensor) < 0 ||
	    read_shape(parse, json_object_get(value, "shape"), tensor) < 0 ||
	    count_elements(parse, tensor) < 0)
		return -EINVAL;
	return read_offsets(parse, json_object_get(value, "data_offsets"), tensor);
}

static int check_metadata(const struct parse *parse, json_t *metadata)
{
	const char *name;
	json_t *value;

	if (!json_is_object(metadata))
		return refuse(parse, METADATA ": is no object");
	json_object_foreach(metadata, name, value) if (!json_is_string(value)) return refuse(
		parse, METADATA ": '%.80s' is no text", name);
	return 0;
}

static int compare_begins(const void *a, const void *b)
{
	const struct safetensors_tensor *one = a, *other = b;

	if (one->begin != other->begin)
		return one->begin < other->begin ? -1 : 1;
	return one->end < other->end ? -1 : one->end > other->end;
}

/* In order, each begins where the one before it ends, and the last one ends with the file. */
static int check_layout(const struct parse *parse)
{
	struct safetensors *file = parse->file;
	uint64_t end = 0;

	qsort(file->tensors, file->count, sizeof(*file->tensors), compare_begins);
	for (size_t i = 0; i < file->count; i++) {
		const struct safetensors_tensor *tensor = &file->tensors[i];

		if (tensor->begin != end)
			return refuse(parse,
				      "tensor %.80s: begins at %llu, and the one before %s %llu",
				      tensor->name, (unsigned long long)tensor->begin,
				      tensor->begin < end ? "reaches to" : "ends at",
				      (unsigned long long)end);
		end = tensor->end;
	}
	if (end != parse->data_bytes)
		return refuse(parse, "the tensors take %llu bytes, and %llu are behind the header",
			      (unsigned long long)end, (unsigned long long)parse->data_bytes);
	return 0;
}

static int read_header(const struct parse *parse, json_t *header)
{
	const char *name;
	json_t *value;
	int error = 0;

	parse->file->tensors = calloc(json_object_size(header) + 1, sizeof(*parse->file->tensors));
	if (!parse->file->tensors)
		return -ENOMEM;
	json_object_foreach(header, name, value)
	{
		if (strcmp(name, METADATA) == 0)
			error = check_metadata(parse, value);
		else
			error = read_tensor(parse, name, value);
		if (error < 0)
			return error;
	}
	return check_layout(parse);
}

/* How long the header says it is; refused unless all of it can be there. */
static int check_length(const struct parse *parse, const void *data, size_t bytes,
			uint64_t file_bytes, uint64_t *ret_length)
{
	if (bytes < LENGTH_BYTES)
		return refuse(parse, "%zu bytes, and the length of the header takes %u", bytes,
			      LENGTH_BYTES);
	*ret_length = length_of(data);
	if (*ret_length > SAFETENSORS_HEADER_BYTES_MAX)
		return refuse(parse, "byte 0: a header of %llu bytes, at most %u are taken",
			      (unsigned long long)*ret_length, SAFETENSORS_HEADER_BYTES_MAX);
	if (*ret_length > file_bytes - LENGTH_BYTES)
		return refuse(parse, "byte 0: a header of %llu bytes, and %llu follow",
			      (unsigned long long)*ret_length,
			      (unsigned long long)(file_bytes - LENGTH_BYTES));
	return 0;
}

static int parse_header(struct parse *parse, const char *header, size_t length)
{
	json_error_t error;
	json_t *object;
	int result;

	if (length == 0 || header[0] != '{')
		return refuse(parse, "byte 8: the header does not begin with {");
	object = json_loadb(header, length, JSON_REJECT_DUPLICATES, &error);
	if (!object)
		return refuse(parse, "byte %d: the header is no JSON: %.120s",
			      error.position + (int)LENGTH_BYTES, error.text);
	result = json_is_object(object) ? read_header(parse, object)
					: refuse(parse, "byte 8: the header is no object");
	json_decref(object);
	return result;
}

int safetensors_parse(const void *data, size_t bytes, uint64_t file_bytes,
		      struct safetensors **ret_file, char *text, size_t text_bytes)
{
	struct parse parse = {.text = text, .text_bytes = text_bytes};
	uint64_t length;
	int error;

	if (check_length(&parse, data, bytes, file_bytes, &length) < 0)
		return -EINVAL;
	if (length > bytes - LENGTH_BYTES)
		return refuse(&parse, "byte %zu: the header is cut", bytes);
	parse.data_bytes = file_bytes - LENGTH_BYTES - length;
	parse.file = calloc(1, sizeof(*parse.file));
	if (!parse.file)
		return -ENOMEM;
	error = parse_header(&parse, (const char *)data + LENGTH_BYTES, length);
	if (error < 0)
		safetensors_free(parse.file);
	else
		*ret_file = parse.file;
	return error;
}

static ssize_t read_all(int fd, char *to, size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t got = read(fd, to + done, bytes - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

/* Length and header of a file, and not a byte of its tensors. */
static int read_file(const struct parse *parse, int fd, uint64_t file_bytes,
		     struct safetensors **ret_file)
{
	char first[LENGTH_BYTES], *data;
	ssize_t got = read_all(fd, first, sizeof(first));
	uint64_t length;
	int error;

	if (got < 0)
		return refuse(parse, "%s", strerror((int)-got));
	if (check_length(parse, first, (size_t)got, file_bytes, &length) < 0)
		return -EINVAL;
	data = malloc(LENGTH_BYTES + length);
	if (!data)
		return -ENOMEM;
	memcpy(data, first, sizeof(first));
	got = read_all(fd, data + LENGTH_BYTES, length);
	if (got < 0)
		error = refuse(parse, "%s", strerror((int)-got));
	else
		error = safetensors_parse(data, LENGTH_BYTES + (size_t)got, file_bytes, ret_file,
					  parse->text, parse->text_bytes);
	free(data);
	return error;
}

int safetensors_read(const char *path, struct safetensors **ret_file, char *text, size_t text_bytes)
{
	struct parse parse = {.text = text, .text_bytes = text_bytes};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error;
	struct stat status;

	if (fd < 0) {
		error = -errno;
		refuse(&parse, "%s", strerror(-error));
		return error;
	}
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		error = refuse(&parse, "is no regular file");
	else
		error = read_file(&parse, fd, (uint64_t)status.st_size, ret_file);
	close(fd);
	return error;
}

void safetensors_free(struct safetensors *file)
{
	if (!file)
		return;
	for (size_t i = 0; i < file->count; i++)
		free(file->tensors[i].name);
	free(file->tensors);
	free(file);
}
