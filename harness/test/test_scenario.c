/* SPDX-License-Identifier: MIT */
/*
 * test_scenario.c - what a scenario file may hold: every refusal with its exact place, and the
 * values that come out of a good one.
 */
#undef NDEBUG
#include <assert.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scenario.h"

#define TITLE "title: t\n"
#define TENSORS                                                                                    \
	"swap:\n  tensors:\n    - {name: a, numel: 1000}\n    - {name: b, numel: 10, dtype: u8}\n"
#define GOOD TITLE TENSORS "  steps: [swap-out, swap-in]\n" /* 6 lines: what follows is line 7 */
#define PROGRAM TITLE "program: {argv: [dd, if=in]}\n"	    /* 2 lines */
#define STEPS TITLE TENSORS				    /* 5 lines: steps come in line 6 */

struct bad {
	const char *text;
	const char *error; /* "line:column: " and the beginning of the sentence */
};

static const struct bad bad_yaml[] = {
	{"", "1:1: the file is empty"},
	{"# nothing but a comment\n", "2:1: the file is empty"},
	{"title: [\n", "2:1: no YAML: did not find expected node content"},
	{"title: 'x\n", "2:1: no YAML: found unexpected end of stream"},
	{"title: t\n  swap: x\n", "2:7: no YAML: mapping values are not allowed"},
	{"title:\tt\n", "1:7: tab: use spaces"},
	{"title: t\x01\n", "1:9: control character 0x01"},
	{"title: caf\xe9\n", "1:11: byte 0xe9 is no UTF-8"},
	{"title: \xc0\xaf\n", "1:8: byte 0xc0 is no UTF-8"},
	{"title: \xed\xa0\x80\n", "1:8: byte 0xed is no UTF-8"},
	{"title: \xf4\x90\x80\x80\n", "1:8: byte 0xf4 is no UTF-8"},
	{"title: t\ntitle: u\n", "2:1: key 'title' is given twice, first in line 1"},
	{"title: &a t\n", "1:8: anchors are not allowed"},
	{"title: *a\n", "1:8: aliases are not allowed"},
	{"title: !!str t\n", "1:8: tags are not allowed"},
	{"a: &a [x]\nb: [*a, *a]\n", "1:4: anchors are not allowed"},
	{"title: t\n---\ntitle: u\n", "2:1: a second document"},
	{"? [a, b]\n: c\n", "1:3: a key must be a word, not a list"},
	{"[[[[[[[[[[[[[[x]]]]]]]]]]]]]]\n", "1:14: nested too deeply"},
	{"- a\n- b\n", "1:1: the scenario: a list, must be a map of keys"},
	{"just words\n", "1:1: the scenario: a single value, must be a map of keys"},
	{"title: \"a\\0b\"\n", "1:8: a value must not hold NUL"},
};

static const struct bad bad_keys[] = {
	{"swap: {}\n", "1:1: key 'title' is missing in the scenario"},
	{TITLE, "1:1: key 'swap' or 'program' is missing"},
	{TITLE "swap: {steps: [wait]}\n", "2:7: key 'tensors' is missing in swap"},
	{GOOD "hadle: {}\n", "7:1: unknown key 'hadle' in the scenario, did you mean 'handle'?"},
	{GOOD "xyzzyx: {}\n", "7:1: unknown key 'xyzzyx' in the scenario, known are title, origin"},
	{GOOD "handle: {queue_dept: 4}\n", "7:10: unknown key 'queue_dept' in handle, did you mean "
					   "'queue_depth'?"},
	{GOOD "handle: [4]\n", "7:9: handle: a list, must be a map of keys"},
	{GOOD "handle: {queue_depth: [4]}\n", "7:23: queue_depth: a list, must be a single value"},
	{GOOD "handle: {queue_depth: }\n", "7:23: queue_depth: has no value"},
	{GOOD "handle: {queue_depth: ~}\n", "7:23: queue_depth: has no value"},
	{GOOD "handle: {queue_depth: many}\n", "7:23: queue_depth: 'many', must be a plain number"},
	{GOOD "handle: {queue_depth: '4'}\n", "7:23: queue_depth: '4' in quotes, must be a plain"},
	{GOOD "handle: {queue_depth: 4K}\n", "7:23: queue_depth: '4K', must be a plain number"},
	{GOOD "handle: {queue_depth: -1}\n", "7:23: queue_depth: '-1', must be a plain number"},
	{GOOD "handle: {queue_depth: 0}\n", "7:23: queue_depth: 0 is out of range, 1 to 4096"},
	{GOOD "handle: {queue_depth: 4097}\n",
	 "7:23: queue_depth: 4097 is out of range, 1 to 4096"},
	{GOOD "handle: {queue_depth: 99999999999999999999}\n", "7:23: queue_depth: "
							       "99999999999999999999 is out of"},
	{GOOD "handle: {block_size: 16k}\n", "7:22: block_size: '16k', must be a size such as"},
	{GOOD "handle: {block_size: 1.5M}\n", "7:22: block_size: '1.5M', must be a size such as"},
	{GOOD "handle: {block_size: 1000}\n", "7:22: block_size: 1000, must be a multiple of 512"},
	{GOOD "handle: {block_size: 2G}\n", "7:22: block_size: 2G is out of range, 512 to"},
	{GOOD "handle: {block_size: 99999999T}\n", "7:22: block_size: 99999999T is out of range"},
	{GOOD "handle: {alignment: 24}\n", "7:21: alignment: 24, must be a power of two"},
	{GOOD "handle: {overlap_events: yes}\n",
	 "7:26: overlap_events: 'yes', must be true or false"},
	{GOOD "handle: {overlap_events: 'true'}\n", "7:26: overlap_events: 'true' in quotes, must"},
	{GOOD "handle: {unaligned: bounc}\n", "7:21: unaligned: 'bounc', did you mean 'bounce'?"},
	{GOOD "handle: {unaligned: xxxxxxxx}\n",
	 "7:21: unaligned: 'xxxxxxxx' is not allowed, one of "
	 "reject, bounce"},
	{GOOD "expect: {deadline: 5}\n", "7:20: deadline: '5', must be a duration such as"},
	{GOOD "expect: {deadline: 5h}\n", "7:20: deadline: '5h', must be a duration such as"},
	{GOOD "expect: {deadline: 0}\n", "7:20: deadline: 0 is out of range"},
	{GOOD "contract: C25\n", "7:11: contract: 'C25', must be a row of the contract, C1 to C24"},
	{GOOD "contract: [C1, C1]\n", "7:16: contract: 'C1' is given twice"},
	{GOOD "contract: []\n", "7:11: contract: 0 given, must be 1 to 8"},
	{GOOD "contract: {C1: 1}\n", "7:11: contract: a map of keys, must be a list"},
	{GOOD "contract: [[C1]]\n", "7:12: contract: a list, must be a single value"},
	{GOOD "targets: [sim, hots]\n", "7:16: targets: 'hots', did you mean 'host'?"},
	{GOOD "targets: [sim, sim]\n", "7:16: targets: 'sim' is given twice"},
	{GOOD "needs: [disk-lots]\n", "7:9: needs: 'disk-lots', must be signal-exact, ptrace"},
	{GOOD "origin: nowhere\n", "7:9: origin: 'nowhere', must be an address"},
	{GOOD "catches: [Min_NR]\n", "7:11: catches: 'Min_NR', must be small letters"},
	{GOOD "device: {sector: 1024}\ntargets: sim\n",
	 "7:18: sector: '1024' is not allowed, one of "
	 "512, 4096"},
	{GOOD "device: {memory_align: 3}\ntargets: sim\n",
	 "7:24: memory_align: 3, must be a power"},
	{GOOD "limits: {nofile: 2}\n", "7:18: nofile: 2 is out of range, 16 to 65536"},
	{GOOD "arm: later\n", "7:6: arm: 'later' is not allowed, one of after-open, before-open"},
	{GOOD "meta: {class: hang}\n", "7:7: key 'verdict' is missing in meta"},
	{GOOD "program: {argv: [dd]}\n", "7:10: program: and swap cannot both be what runs"},
	{GOOD "expect: {stdout: done}\n", "7:18: stdout: goes with program only"},
	{GOOD "expect: {files: [{name: out}]}\n", "7:17: files: goes with program only"},
};

static const struct bad bad_programs[] = {
	{TITLE "program: dd\n", "2:10: program: a single value, must be a map of keys"},
	{TITLE "program: {env: [A=1]}\n", "2:10: key 'argv' is missing in program"},
	{PROGRAM "handle: {workers: 1}\n", "3:9: handle: goes with swap only"},
	{PROGRAM "core: answers-eio\n", "3:7: core: goes with swap only"},
	{PROGRAM "limits: {nofile: 64}\n", "3:9: limits: goes with swap only"},
	{PROGRAM "expect: {failures: 1}\n", "3:20: failures: goes with swap only"},
	{PROGRAM "expect: {result: refused}\n",
	 "3:18: result: a program succeeds or fails: ok or error"},
	{PROGRAM "expect: {result: ok, status: 0}\n",
	 "3:30: status: says it, result must not say it, too"},
	{PROGRAM "expect: {status: 256}\n", "3:18: status: 256 is out of range, 0 to 255"},
	{PROGRAM "expect: {files: [{name: a/b}]}\n", "3:25: name: 'a/b', must be a file name"},
	{PROGRAM "expect: {files: [{name: a, same_as: a}]}\n",
	 "3:18: same_as: 'a' is that file itself"},
	{PROGRAM "expect: {files: [{name: a, absent: true, bytes: 1}]}\n",
	 "3:18: absent: says all that there is to say of a"},
	{TITLE "program: {argv: []}\n", "2:17: argv: empty, must be a list of words"},
	{TITLE "program: {argv: [\"{work_dir}/a\"]}\n",
	 "2:17: argv: the program must be a name or a path as it is"},
	{TITLE "program: {argv: [dd, \"of={workdir}/a\"]}\n",
	 "2:26: '{workdir}' stands for nothing, known are {work_dir} and {seed}"},
	{TITLE "program: {argv: dd, env: NOTHING}\n", "2:26: env: 'NOTHING', must be NAME=VALUE"},
	{TITLE "program: {argv: dd, env: LD_PRELOAD=x}\n", "2:26: env: 'LD_PRELOAD=x', must be"},
	{TITLE "program: {argv: dd, inputs: [{name: in}]}\n",
	 "2:30: key 'bytes' is missing in inputs"},
};

static const struct bad bad_workloads[] = {
	{TITLE "swap: {tensors: [], steps: [wait]}\n", "2:17: tensors: 0 given, must be 1 to 64"},
	{TITLE "swap: {tensors: {a: 1}, steps: [wait]}\n",
	 "2:17: tensors: a map of keys, must be a"},
	{TITLE "swap:\n  tensors: [{name: a}]\n  steps: [wait]\n",
	 "3:13: key 'numel' is missing in"},
	{TITLE "swap:\n  tensors: [{name: ../a, numel: 1}]\n  steps: [wait]\n",
	 "3:20: name: '../a', must be letters"},
	{TITLE "swap:\n  tensors: [{name: a, numel: 1, file: ../x}]\n  steps: [wait]\n",
	 "3:39: file: '../x', must be a file name in the work directory"},
	{TITLE "swap:\n  tensors: [{name: a, numel: 1, file: /etc/x}]\n  steps: [wait]\n",
	 "3:39: file: '/etc/x', must be a file name in the work directory"},
	{TITLE "swap:\n  tensors: [{name: a, numel: 1, file: ..}]\n  steps: [wait]\n",
	 "3:39: file: '..', must be a file name in the work directory"},
	{TITLE "swap:\n  tensors: [{name: a, numel: 1}, {name: a, numel: 1}]\n  steps: [wait]\n",
	 "3:41: name: 'a' is given twice"},
	{TITLE "swap:\n  tensors:\n    - {name: a, numel: 10, dtype: u8, file: f}\n"
	       "    - {name: b, numel: 1, dtype: u8, file: f, file_offset: 9}\n  steps: [wait]\n",
	 "5:60: tensors a and b overlap in file f"},
	{TITLE "swap:\n  tensors: [{name: a, numel: 1, pointer_offset: 1}]\n  steps: [wait]\n",
	 "3:49: pointer_offset: goes with memory: heap only"},
	{TITLE "swap:\n  tensors: [{name: a, numel: 1099511627777}]\n  steps: [wait]\n",
	 "3:30: numel: 1099511627777 is out of range"},
	{TITLE "swap:\n  tensors: [{name: a, numel: 1, dtype: fp31}]\n  steps: [wait]\n",
	 "3:40: dtype: 'fp31', did you mean 'fp32'? Allowed are u8"},
	{STEPS "  steps: swap-in\n", "6:10: steps: a single value, must be a list"},
	{STEPS "  steps: []\n", "6:10: steps: 0 given, must be 1 to 64"},
	{STEPS "  steps: [swap-on]\n", "6:11: unknown step 'swap-on', did you mean 'swap-in'?"},
	{STEPS "  steps: [explode-now]\n", "6:11: unknown step 'explode-now', known are swap-out"},
	{STEPS "  steps: [{swap-in: 3}]\n", "6:21: swap-in: a single value, must be a map of keys"},
	{STEPS "  steps: [{swap-in: {}, wait: {}}]\n", "6:11: a step must be a name, or one name"},
	{STEPS "  steps: [{swap-in: {thread: 2}}]\n",
	 "6:22: unknown key 'thread' in swap-in, did you "
	 "mean 'threads'?"},
	{STEPS "  steps: [{fork: {threads: 2}}]\n", "6:19: unknown key 'threads' in fork, it takes "
						    "none"},
	{STEPS "  steps: [{swap-in: {tensors: [c]}}]\n", "6:32: no tensor is named 'c'"},
	{STEPS "  steps: [{swap-in: {tensors: [a, a]}}]\n", "6:35: tensors: 'a' is given twice"},
	{STEPS "  steps: [{swap-in: {buffered: true}}]\n", "6:32: buffered: goes with by: fd only"},
	{STEPS "  steps: [{swap-in: {own_handles: true}}]\n",
	 "6:35: own_handles: goes with threads:"},
	{STEPS "  steps: [{swap-in: {expect: EWHATEVER}}]\n",
	 "6:30: expect: 'EWHATEVER' is no errno"},
	{STEPS "  steps: [{swap-in: {expect: bad}}]\n",
	 "6:30: expect: 'bad', must be ok, any or an"},
	{STEPS "  steps: [{truncate: {tensors: [a]}}]\n",
	 "6:11: key 'bytes' is missing in truncate"},
	{STEPS "  steps: [{corrupt: {tensors: [b], offset: 10}}]\n",
	 "6:44: offset: 10, tensor b has "
	 "10 bytes"},
	{STEPS "  steps: [{repeat: {count: 3}}]\n", "6:11: repeat: there is no step to repeat"},
	{STEPS "  steps: [swap-out, {repeat: {count: 1}}]\n",
	 "6:38: count: 1 is out of range, 2 to"},
	{STEPS "  steps: [close, swap-in]\n",
	 "6:18: swap-in: the handle is closed, a step open is"},
	{STEPS "  steps: [open]\n", "6:11: open: the handle is open already"},
	{STEPS "  steps: [device-return]\n",
	 "6:11: device-return: only target nvme has a device that can return, targets must be"},
	{STEPS "  steps: [device-return, device-return]\ntargets: [nvme]\n",
	 "6:11: device-return: a device is pulled out once, and returns once"},
	{STEPS "  steps: [swap-out, restart, device-return]\ntargets: [nvme]\n",
	 "6:30: device-return: must stand before the restart"},
	{STEPS "  steps: [{truncate: {bytes: 1}}, device-return]\ntargets: [nvme]\n",
	 "6:11: truncate: must stand behind the device-return"},
	{STEPS "  steps: [swap-out, prepare, device-return]\ntargets: [nvme]\n",
	 "6:21: prepare: must stand before the first write, or behind the device-return"},
	{GOOD "expect: {data: old-or-new}\n", "7:16: data: old-or-new is what a fresh process"},
	{GOOD "expect: {result: error, tensor: c}\n", "7:33: tensor: no tensor is named 'c'"},
	{GOOD "expect: {result: ok, error: EIO}\n", "7:29: error: contradicts result: ok"},
	{GOOD "expect: {result: ok, failures: 1}\n", "7:32: failures: contradicts result: ok"},
	{GOOD "expect: {error: EWHATEVER}\n", "7:17: error: 'EWHATEVER' is no errno name"},
	{GOOD "expect: {stats: [speed>=1]}\n", "7:18: stats: 'speed>=1', must be a counter of"},
	{GOOD "device: {sector: 4096}\n", "7:9: device: a host's disk has its own geometry"},
	{GOOD "meta: {verdict: pass, class: hang}\n", "7:30: class: goes with verdict: fail only"},
};

#define STORE TITLE "store: {}\nswap:\n  tensors: [{name: a, numel: 10}]\n"

/* What goes with a store only, or without one only. */
static const struct bad bad_stores[] = {
	{TITLE "store: {sluts: 2}\n", "2:9: unknown key 'sluts' in store, did you mean 'slots'?"},
	{TITLE "store: {slots: 1}\n", "2:16: slots: 1 is out of range, 2 to 65536"},
	{TITLE "store: {chunk_size: 5000}\n", "2:21: chunk_size: 5000, must be a multiple of 4096"},
	{TITLE "store: {threads: 17}\n", "2:18: threads: 17 is out of range, 0 to 16"},
	{STEPS "  steps: [store-close]\n", "6:11: step store-close goes with a store"},
	{STEPS "  steps: [{swap-in: {as: [{name: a, numel: 1}]}}]\n",
	 "6:22: unknown key 'as' in swap-in"},
	{STORE "  steps: [write]\n", "5:11: step write goes without a store"},
	{STORE "  steps: [swap-out, sync, swap-in]\n", "5:21: step sync goes without a store"},
	{STORE "  steps: [replace]\n", "5:11: step replace goes without a store"},
	{STORE "  steps: [swap-out, {copy-volume: {from: a, to: store}}, restart, swap-in]\n",
	 "5:21: copy-volume: must stand behind the restart"},
	{STORE "  steps: [{swap-out: {as: [{name: b, numel: 1}]}}, restart, swap-in]\n",
	 "5:27: as: must have every tensor of the scenario, or stand behind the restart"},
	{STORE "  steps: [swap-out, device-return]\ntargets: [nvme]\n",
	 "5:21: device-return: the store is open, a step store-close is due"},
	{STORE "  steps: [store-close, store-remove]\n",
	 "5:24: store-remove: the store is closed, a step store-open is due"},
	{STEPS "  steps: [store-remove]\n", "6:11: step store-remove goes with a store"},
	{STORE "  steps: [{swap-in: {by: fd}}]\n", "5:22: unknown key 'by' in swap-in"},
	{STORE "  steps: [store-close, swap-in]\n",
	 "5:24: swap-in: the store is closed, a step store-open is due"},
	{STEPS "  steps: [verify]\n", "6:11: step verify goes with a store"},
	{STORE "  steps: [{verify: {tensors: [a]}}]\n", "5:21: unknown key 'tensors' in verify"},
	{STORE "  steps: [store-close, verify]\n",
	 "5:24: verify: the store is closed, a step store-open is due"},
	{STORE "  steps: [store-open]\n", "5:11: store-open: the store is open already"},
	{STORE "  steps: [prepare]\n", "5:11: prepare: the store is open, a step store-close is"},
	{STORE "  steps: [swap-out, store-close, {repeat: {count: 2}}]\n",
	 "5:34: repeat: the store is closed at the end"},
	{STORE "  steps: [{swap-in: {generation: 0}}]\n", "5:34: generation: 0 is out of range"},
	{STORE "  steps: [{corrupt: {part: middle, offset: 1}}]\n",
	 "5:28: part: 'middle' is not allowed, one of data, manifest, head, record"},
	{STORE "  steps: [{copy-volume: {from: ../x}}]\n", "5:32: from: '../x', must be small"},
	{STORE "  steps: [{swap-in: {as: [{name: b, numel: 1}, {name: b, numel: 2}]}}]\n",
	 "5:26: as: tensor 'b' is given twice"},
	{STORE "  steps: [{swap-in: {tensors: [a], as: [{name: a, numel: 1}]}}]\n",
	 "5:31: tensors: does not go with as"},
	{STORE "  steps: [{swap-in: {as: {preset: sgd}}}]\n", "5:35: preset sgd needs a numel"},
	{STORE "  steps: [{swap-in: {as: {preset: sgd, numel: 1, parameters: 64}}}]\n",
	 "5:62: 64 parameters of preset sgd make 64 tensors, at most 63"},
	{TITLE "store: {}\nswap:\n  tensors: [{name: a, numel: 1, file: f}]\n  steps: [swap-in]\n",
	 "4:39: file: goes without a store only"},
};

static const struct bad bad_faults[] = {
	{GOOD "faults: {a: b}\n", "7:9: faults: a map of keys, must be a list of faults"},
	{GOOD "faults: [[x]]\n", "7:10: faults: a list, must be a single value"},
	{GOOD "faults:\n  - io_sumbit#1 => error:EIO\n", "8:5: fault 'io_sumbit#1 => error:EIO'"},
	{GOOD "faults:\n  - io_submit#1 => eror:EIO\n", "8:20: fault 'io_submit#1 => eror:EIO'"},
	{GOOD "faults:\n  - \"io_submit#1 => eror:EIO\"\n",
	 "8:21: fault 'io_submit#1 => eror:EIO'"},
	{GOOD "faults:\n  - io_submit#1 => error:ENOSPC\n", "8:26: fault 'io_submit#1 => "},
	{GOOD "faults: ['# nothing']\n", "7:10: faults: '# nothing' holds no fault"},
	{GOOD "faults: [\"io_submit#1 => accept:1\\n\"]\n",
	 "7:10: faults: must be one line of text"},
	{GOOD "matrix: [1]\n", "7:9: matrix: a list, must be a map of keys"},
	{GOOD "matrix: {}\n", "7:9: matrix: 0 keys, must be 1 to 8"},
	{GOOD "matrix: {workers: 1}\n", "7:19: workers: a single value, must be a list of values"},
	{GOOD "matrix: {workers: []}\n", "7:19: workers: 0 values, must be 1 to 32"},
	{GOOD "matrix: {workers: [1, 1]}\n", "7:23: workers: '1' is given twice"},
	{GOOD "matrix: {wrokers: [1]}\n", "7:10: unknown key 'wrokers' in the matrix, did you mean "
					  "'workers'?"},
	{GOOD "matrix: {title: [x]}\n", "7:10: key 'title' cannot be in a matrix"},
	{GOOD "matrix: {workers: [65]}\n",
	 "7:20: workers: 65 is out of range, 0 to 64 (in the case "
	 "workers=65)"},
	{GOOD "matrix: {swap.tensors.2.numel: [1]}\n",
	 "7:10: key 'swap.tensors.2.numel': no member "
	 "'2', the list has 2, from 0"},
	{GOOD "matrix: {swap.tensors.0.numle: [1]}\n",
	 "7:10: unknown key 'numle' in tensors, did you "
	 "mean 'numel'?"},
	{GOOD "matrix: {swap.tensors.0.numel.x: [1]}\n",
	 "7:10: key 'swap.tensors.0.numel.x': nothing "
	 "is below '1000'"},
	{GOOD "matrix: {faults: [[io_submit => what]]}\n", "7:33: fault 'io_submit => what'"},
	{GOOD "matrix: {a: [1], b: [1], c: [1], d: [1], e: [1], f: [1], g: [1], h: [1], i: [1]}\n",
	 "7:9: matrix: 9 keys, must be 1 to 8"},
};

static void refuse_all(const struct bad *table, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct scenario *scenario = (void *)&refuse_all;
		struct diag diag = {0};
		char text[2048], expected[2048];
		int result = scenario_parse(table[i].text, strlen(table[i].text), "f.yaml",
					    &scenario, &diag);

		diag_format(&diag, text, sizeof(text));
		snprintf(expected, sizeof(expected), "f.yaml:%s", table[i].error);
		if (result != -EINVAL || strncmp(text, expected, strlen(expected)) != 0)
			fail_msg("of\n%s\nexpected %s\n     got %s (%d)", table[i].text, expected,
				 text, result);
		assert_ptr_equal(scenario, &refuse_all);
	}
}

#define REFUSE_ALL(table) refuse_all(table, sizeof(table) / sizeof((table)[0]))

static struct scenario *parse_good(const char *text)
{
	struct scenario *scenario = NULL;
	struct diag diag = {0};
	char message[2048];

	if (scenario_parse(text, strlen(text), "f.yaml", &scenario, &diag) < 0) {
		diag_format(&diag, message, sizeof(message));
		fail_msg("%s", message);
	}
	return scenario;
}

static void what_is_no_plain_yaml_is_refused_with_its_place(void **state)
{
	(void)state;
	REFUSE_ALL(bad_yaml);
}

static void wrong_keys_and_values_are_refused_with_their_place(void **state)
{
	(void)state;
	REFUSE_ALL(bad_keys);
}

static void workloads_that_contradict_themselves_are_refused(void **state)
{
	(void)state;
	REFUSE_ALL(bad_workloads);
	REFUSE_ALL(bad_programs);
}

static void what_does_not_go_with_a_store_or_without_is_refused(void **state)
{
	(void)state;
	REFUSE_ALL(bad_stores);
}

static void a_store_has_the_librarys_defaults_and_steps_their_other_tensors(void **state)
{
	struct scenario *scenario = parse_good(
		STORE "  steps: [swap-out, {swap-in: {as: [{name: b, numel: 1}, {name: a, shape: "
		      "[2, 5]}], generation: 3}}]\n");
	const struct workload *workload = &scenario->workload;

	(void)state;
	assert_true(workload->store.used && workload->store.durable);
	assert_int_equal(workload->store.slots, 32);
	assert_int_equal(workload->store.threads, 2);
	assert_string_equal(workload->store.group, "optimizer");
	assert_int_equal(workload->tensors_count, 1);
	assert_int_equal(workload->as_count, 2);
	assert_int_equal(workload->steps[0].as_count, 0);
	assert_int_equal(workload->steps[1].as_first, 1);
	assert_int_equal(workload->steps[1].as_count, 2);
	assert_int_equal(workload->steps[1].generation, 3);
	assert_string_equal(workload->tensors[2].name, "a");
	assert_int_equal(workload->tensors[2].numel, 10);
	scenario_free(scenario);
}

static void wrong_faults_and_matrices_are_refused_with_their_place(void **state)
{
	(void)state;
	REFUSE_ALL(bad_faults);
}

static void an_empty_file_of_keys_has_the_defaults(void **state)
{
	struct scenario *scenario = parse_good(GOOD);

	(void)state;
	assert_int_equal(scenario->targets, 1u << TARGET_SIM | 1u << TARGET_HOST);
	assert_int_equal(scenario->workload.handle.block_bytes, 1 << 20);
	assert_int_equal(scenario->workload.handle.workers, 1);
	assert_true(scenario->workload.aftermath);
	assert_true(scenario->workload.limits.nofile == UINT64_MAX);
	assert_int_equal(scenario->expect.result, EXPECT_FROM_EFFECT);
	assert_int_equal(scenario->expect.data, EXPECT_DATA_EXACT);
	assert_true(scenario->expect.deadline_ns == 5000000000);
	assert_string_equal(scenario->workload.tensors[1].file, "b.swp");
	assert_null(scenario->schedule_text);
	scenario_free(scenario);
}

static void units_choices_and_lists_become_values(void **state)
{
	struct scenario *scenario = parse_good(
		GOOD "handle: {block_size: 16K, unaligned: bounce, overlap_events: false}\n"
		     "expect: {result: error, error: EIO, deadline: 250ms, stats: interrupts>=1}\n"
		     "contract: [C1, C24]\ntargets: sim\narm: before-open\naftermath: false\n"
		     "limits: {memlock: 0, fsize: 40000}\n"
		     "faults: [\"io_submit#1 => accept:1\", \"io_event#2 => res:EIO\"]\n");

	(void)state;
	assert_int_equal(scenario->workload.handle.block_bytes, 16384);
	assert_int_equal(scenario->workload.handle.unaligned, 1);
	assert_false(scenario->workload.handle.overlap_events);
	assert_int_equal(scenario->expect.result, EXPECT_ERROR);
	assert_true(scenario->expect.deadline_ns == 250000000);
	assert_int_equal(scenario->expect.stats_count, 1);
	assert_string_equal(scenario->contract[1], "C24");
	assert_int_equal(scenario->targets, 1u << TARGET_SIM);
	assert_true(scenario->workload.arm_before_open);
	assert_false(scenario->workload.aftermath);
	assert_true(scenario->workload.limits.memlock_bytes == 0);
	assert_string_equal(scenario->schedule_text,
			    "io_submit#1 => accept:1\nio_event#2 => res:EIO\n");
	scenario_free(scenario);
}

static void steps_take_names_and_options(void **state)
{
	struct scenario *scenario =
		parse_good(STEPS "  steps:\n    - prepare\n    - start: {op: write, tensors: b}\n"
				 "    - {wait: {timeout: 50ms, expect: ETIMEDOUT}}\n"
				 "    - {swap-in: {numel: 7, dtype: i64, by: fd}}\n");
	const struct step *steps = scenario->workload.steps;

	(void)state;
	assert_int_equal(scenario->workload.steps_count, 4);
	assert_int_equal(steps[0].kind, STEP_PREPARE);
	assert_true(steps[0].tensors == 0 && steps[0].numel == UINT64_MAX && steps[0].dtype == -1);
	assert_true(steps[1].write && steps[1].tensors == 2 && steps[1].line == 8);
	assert_true(steps[2].timeout_ns == 50000000);
	assert_string_equal(steps[2].expect_error, "ETIMEDOUT");
	assert_true(steps[3].numel == 7 && steps[3].dtype == DTYPE_I64 && steps[3].by_fd);
	scenario_free(scenario);
}

static void a_close_that_must_fail_leaves_the_handle_open(void **state)
{
	(void)state;
	scenario_free(parse_good(
		STEPS "  steps: [{close: {timeout: 0, expect: EBUSY}}, abort, open, swap-in]\n"));
}

static void tensors_may_touch_in_a_file(void **state)
{
	(void)state;
	scenario_free(parse_good(
		TITLE "swap:\n  tensors:\n    - {name: a, numel: 10, dtype: u8, file: f}\n"
		      "    - {name: b, numel: 1, dtype: u8, file: f, file_offset: 10}\n"
		      "  steps: [swap-out]\n"));
}

/* Lists at their maximum, and one more. */
static void sixty_four_tensors_fit_and_one_more_does_not(void **state)
{
	(void)state;
	for (unsigned count = WORKLOAD_TENSORS_MAX; count <= WORKLOAD_TENSORS_MAX + 1; count++) {
		struct scenario *scenario = NULL;
		struct diag diag = {0};
		char text[8192];
		size_t used = (size_t)snprintf(text, sizeof(text), TITLE "swap:\n  tensors:\n");
		int result;

		for (unsigned i = 0; i < count; i++)
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 "    - {name: t%u, numel: 1}\n", i);
		snprintf(text + used, sizeof(text) - used,
			 "  steps: [{swap-in: {tensors: t63}}]\n");
		result = scenario_parse(text, strlen(text), "f", &scenario, &diag);
		assert_int_equal(result, count > WORKLOAD_TENSORS_MAX ? -EINVAL : 0);
		if (result == 0)
			assert_true(scenario->workload.steps[0].tensors == 1ull << 63);
		scenario_free(result == 0 ? scenario : NULL);
	}
}

static void long_values_and_huge_files_are_refused(void **state)
{
	struct scenario *scenario = NULL;
	struct diag diag = {0};
	size_t bytes = 300 * 1024;
	char *text = malloc(bytes);

	(void)state;
	assert_non_null(text);
	memset(text, 'x', bytes);
	assert_int_equal(scenario_parse(text, bytes, "f", &scenario, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "at most 262144"));
	memcpy(text, "title: ", 7);
	text[300] = '\n';
	assert_int_equal(scenario_parse(text, 301, "f", &scenario, &diag), -EINVAL);
	assert_string_equal(diag.text, "title: 293 bytes long, at most 255");
	text[5000] = '\n';
	text[300] = 'x';
	assert_int_equal(scenario_parse(text, 5001, "f", &scenario, &diag), -EINVAL);
	assert_string_equal(diag.text, "value too long, at most 4095 bytes");
	free(text);
}

static void a_file_that_cannot_be_read_is_refused_with_its_errno(void **state)
{
	struct scenario *scenario = NULL;
	struct diag diag = {0};

	(void)state;
	assert_int_equal(scenario_load("/nonexistent/x.yaml", &scenario, &diag), -ENOENT);
	assert_string_equal(diag.file, "/nonexistent/x.yaml");
	assert_int_equal(scenario_load("/", &scenario, &diag), -EINVAL);
	assert_string_equal(diag.text, "must be a regular file");
	assert_int_equal(scenario_load("/dev/null", &scenario, &diag), -EINVAL);
	assert_null(scenario);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_plain_yaml_is_refused_with_its_place),
		cmocka_unit_test(wrong_keys_and_values_are_refused_with_their_place),
		cmocka_unit_test(workloads_that_contradict_themselves_are_refused),
		cmocka_unit_test(what_does_not_go_with_a_store_or_without_is_refused),
		cmocka_unit_test(a_store_has_the_librarys_defaults_and_steps_their_other_tensors),
		cmocka_unit_test(wrong_faults_and_matrices_are_refused_with_their_place),
		cmocka_unit_test(an_empty_file_of_keys_has_the_defaults),
		cmocka_unit_test(units_choices_and_lists_become_values),
		cmocka_unit_test(steps_take_names_and_options),
		cmocka_unit_test(a_close_that_must_fail_leaves_the_handle_open),
		cmocka_unit_test(tensors_may_touch_in_a_file),
		cmocka_unit_test(sixty_four_tensors_fit_and_one_more_does_not),
		cmocka_unit_test(long_values_and_huge_files_are_refused),
		cmocka_unit_test(a_file_that_cannot_be_read_is_refused_with_its_errno),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
