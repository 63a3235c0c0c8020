/* SPDX-License-Identifier: MIT */
/*
 * main.c - the first program in a guest: mounts what there is to mount, loads the modules of
 * /modules/list in order, and starts `swaptorture serve` with the second serial port as its
 * channel, or a shell. When that ends, so does the machine.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define CHANNEL_FD 3
#define CONSOLE_LEVEL 6	 /* printed from here on: what is more than information */
#define KLOG_SET_LEVEL 8 /* SYSLOG_ACTION_CONSOLE_LEVEL */
#define HUNG_TASK_SECONDS "20"
#define DISKS_DEADLINE_MS 30000u
#define DISKS_AGAIN_MS 20

static char command_line[4096]; /* of the kernel */

static void complain(const char *what)
{
	printf("init: %s: %s\n", what, strerror(errno));
	fflush(stdout);
}

static void mount_all(void)
{
	static const struct {
		const char *type, *place, *data;
	} mounts[] = {{"proc", "/proc", NULL},	      {"sysfs", "/sys", NULL},
		      {"devtmpfs", "/dev", NULL},     {"tmpfs", "/dev/shm", "mode=1777"},
		      {"tmpfs", "/tmp", "mode=1777"}, {"tmpfs", "/var/tmp", "mode=1777"},
		      {"tmpfs", "/run", "mode=755"}};

	for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
		mkdir(mounts[i].place, 0755);
		if (mount(mounts[i].type, mounts[i].place, mounts[i].type, 0, mounts[i].data) < 0 &&
		    errno != EBUSY)
			complain(mounts[i].place);
	}
}

static void read_command_line(void)
{
	FILE *file = fopen("/proc/cmdline", "re");

	if (!file || !fgets(command_line, sizeof(command_line), file))
		complain("/proc/cmdline");
	if (file)
		fclose(file);
}

/* The next word of the kernel's command line; NULL at its end. */
static const char *next_word(const char **rest, size_t *ret_length)
{
	const char *word = *rest + strspn(*rest, " \n");

	*ret_length = strcspn(word, " \n");
	*rest = word + *ret_length;
	return *ret_length ? word : NULL;
}

/* What the command line says of the module at @path, as "nvme_core.io_timeout=2" does: the kernel
 * itself reads it only for what is built in. */
static void find_parameters(const char *path, char *parameters, size_t bytes)
{
	const char *name = strrchr(path, '/') + 1, *rest = command_line, *word;
	size_t length, used = 0, name_bytes = strcspn(name, ".");

	parameters[0] = '\0';
	while ((word = next_word(&rest, &length)) && used < bytes) {
		size_t same = 0;

		while (same < name_bytes &&
		       (word[same] == name[same] || (word[same] == '_' && name[same] == '-')))
			same++;
		if (same == name_bytes && word[same] == '.')
			used += (size_t)snprintf(parameters + used, bytes - used, "%.*s ",
						 (int)(length - same - 1), word + same + 1);
	}
}

/* Of drivers and faster ways for hardware that this machine does not have there is no need. */
static bool load(const char *path)
{
	char parameters[512];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool loaded;

	find_parameters(path, parameters, sizeof(parameters));
	loaded = fd >= 0 && (syscall(SYS_finit_module, fd, parameters, 0) == 0 || errno == EEXIST ||
			     errno == ENODEV);
	if (!loaded)
		printf("init: the kernel does not take its module %s: %s\n", strrchr(path, '/') + 1,
		       strerror(errno));
	if (fd >= 0)
		close(fd);
	return loaded;
}

/* Without all of them there is nothing that a guest is for. */
static bool load_modules(void)
{
	FILE *list = fopen("/modules/list", "re");
	char path[512] = "/";
	bool loaded = true;

	while (loaded && list && fgets(path + 1, sizeof(path) - 1, list)) {
		path[strcspn(path, "\n")] = '\0';
		loaded = load(path);
	}
	if (list)
		fclose(list);
	if (loaded && access("/sys/bus/pci/drivers/nvme", F_OK) < 0) {
		printf("init: the kernel has no driver for NVMe, and no module for it was found\n");
		loaded = false;
	}
	return loaded;
}

static bool told(const char *wanted)
{
	const char *rest = command_line, *word;
	size_t length;

	while ((word = next_word(&rest, &length)))
		if (length == strlen(wanted) && strncmp(word, wanted, length) == 0)
			return true;
	return false;
}

/* Bytes as they are, without echo: what is written into the port is what arrives. */
static int open_channel(void)
{
	struct termios settings;
	int fd = open("/dev/ttyS1", O_RDWR | O_NOCTTY);

	if (fd < 0)
		return -1;
	if (tcgetattr(fd, &settings) == 0) {
		cfmakeraw(&settings);
		settings.c_cflag |= CLOCAL;
		cfsetspeed(&settings, B115200);
		if (tcsetattr(fd, TCSANOW, &settings) < 0)
			complain("/dev/ttyS1");
	}
	return fd;
}

static _Noreturn void become_serve(void)
{
	int channel = open_channel(), nothing = open("/dev/null", O_RDONLY);

	setsid();
	if (channel < 0) {
		complain("/dev/ttyS1");
		_exit(126);
	}
	dup2(nothing, STDIN_FILENO);
	if (channel != CHANNEL_FD) {
		dup2(channel, CHANNEL_FD);
		close(channel);
	}
	if (nothing > CHANNEL_FD)
		close(nothing);
	execl("/opt/swaptorture/bin/swaptorture", "swaptorture", "serve", "--channel", "3", NULL);
	complain("/opt/swaptorture/bin/swaptorture");
	_exit(127);
}

/* Namespaces there are. */
static unsigned count_disks(void)
{
	DIR *directory = opendir("/sys/block");
	struct dirent *entry;
	unsigned count = 0;

	while (directory && (entry = readdir(directory)))
		count += strncmp(entry->d_name, "nvme", 4) == 0;
	if (directory)
		closedir(directory);
	return count;
}

static unsigned await_disks(unsigned wanted)
{
	unsigned count = count_disks();

	for (unsigned waited = 0; count < wanted && waited < DISKS_DEADLINE_MS;
	     waited += DISKS_AGAIN_MS) {
		poll(NULL, 0, DISKS_AGAIN_MS);
		count = count_disks();
	}
	return count;
}

/*
 * Say hello, then do what lines ask: {"await":N} waits for so many namespaces and answers how many
 * there are, {"shell":true} begins the shell. Where nobody has the second serial port nobody asks.
 */
static void be_prepared(void)
{
	int fd = open_channel();
	FILE *channel = fd < 0 ? NULL : fdopen(fd, "r+");
	char line[64];

	if (!channel)
		return;
	fputs("{\"hello\":1,\"shell\":true}\n", channel);
	while (fflush(channel) == 0 && fgets(line, sizeof(line), channel) &&
	       !strstr(line, "\"shell\"")) {
		unsigned wanted = (unsigned)strtoul(line + strcspn(line, "0123456789"), NULL, 10);

		fprintf(channel, "{\"there\":%u}\n", await_disks(wanted));
	}
	fclose(channel);
}

/* The shell's parent leads the session: when the leader ends, what its terminal has not yet sent is
 * thrown away. */
static _Noreturn void become_shell(void)
{
	int terminal;
	pid_t pid;

	be_prepared();
	setsid();
	terminal = open("/dev/ttyS0", O_RDWR); /* the controlling one: Ctrl-C works */
	for (int fd = STDIN_FILENO; terminal >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(terminal, fd);
	if (chdir("/opt/swaptorture") < 0)
		complain("/opt/swaptorture");
	pid = fork();
	if (pid == 0) {
		execl("/bin/sh", "sh", "-i", NULL);
		complain("/bin/sh");
		_exit(127);
	}
	signal(SIGTTOU, SIG_IGN);
	waitpid(pid, NULL, 0);
	tcdrain(STDOUT_FILENO);
	_exit(0);
}

/* The first process gets everybody's orphans. */
static int await(pid_t wanted)
{
	int status = 0;
	pid_t pid;

	do
		pid = wait(&status);
	while (pid != wanted && (pid > 0 || errno == EINTR));
	return status;
}

/* The kernel looks for tasks that are stuck only so often: within a case, not after it. */
static void hasten_hung_tasks(void)
{
	int fd = open("/proc/sys/kernel/hung_task_timeout_secs", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, HUNG_TASK_SECONDS, strlen(HUNG_TASK_SECONDS)) < 0)
		complain("hung_task_timeout_secs");
	if (fd >= 0)
		close(fd);
}

static void set_environment(void)
{
	setenv("PATH", "/opt/swaptorture/bin:/bin", 1);
	setenv("HOME", "/root", 1);
	setenv("TERM", "vt100", 0);
	setenv("PS1", "guest# ", 1);
}

/* Called under that name, by a link in the image. */
static int power_off(void)
{
	sync();
	tcdrain(STDOUT_FILENO); /* else the last words stay in the serial port */
	reboot(RB_POWER_OFF);
	complain("power off");
	return 1;
}

int main(int argc, char **argv)
{
	bool shell;
	pid_t pid;
	int status;

	if (argc > 0 && strstr(argv[0], "poweroff"))
		return power_off();
	mount_all();
	read_command_line();
	if (!load_modules())
		return power_off();
	hasten_hung_tasks();
	set_environment();
	sethostname("guest", 5);
	shell = told("swaptorture.shell");
	klogctl(KLOG_SET_LEVEL, NULL, shell ? 4 : CONSOLE_LEVEL);
	pid = fork();
	if (pid == 0 && shell)
		become_shell();
	if (pid == 0)
		become_serve();
	status = await(pid);
	if (!shell)
		printf("init: serve ended with %s %d\n", WIFEXITED(status) ? "status" : "signal",
		       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	fflush(stdout);
	return power_off();
}
