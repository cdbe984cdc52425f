/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memtrace/abi.h>

#include "cli/backend/kmod/kmod_build.h"
#include "cli/backend/kmod/kmod_module.h"
#include "cli/base/user.h"
#include "cli/base/util.h"

#define CACHE "/var/cache/memtrace"

bool mt_kmod_loaded(void)
{
	return mt_exists("/sys/module/memtrace");
}

bool mt_kmod_device(void)
{
	char *text;
	unsigned int major, minor;

	/* devtmpfs and udev need a moment */
	for (int i = 0; i < 20 && !mt_exists(MEMTRACE_DEVICE) && mt_kmod_loaded(); i++)
		usleep(10000);
	if (mt_exists(MEMTRACE_DEVICE))
		return true;
	text = mt_read_line("/sys/class/misc/memtrace/dev");
	if (text && sscanf(text, "%u:%u", &major, &minor) == 2)
		(void)!mknod(MEMTRACE_DEVICE, S_IFCHR | 0600, makedev(major, minor));
	free(text);
	return mt_exists(MEMTRACE_DEVICE);
}

char *mt_kmod_sources(void)
{
	/* a checkout, the workbench product, an installation */
	static const char *const places[] = { "../../collector/module", "lib/memtrace/module",
					      "../lib/memtrace/module", "../share/memtrace/module" };
	const char *env = getenv("MEMTRACE_MODULE_DIR");
	char exe[4096], *p;
	ssize_t n;

	if (env && *env)
		return mt_strdup(env);
	n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	if (n <= 0)
		return NULL;
	exe[n] = 0;
	*strrchr(exe, '/') = 0;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char *kbuild = mt_printf("%s/%s/Kbuild", exe, places[i]);

		if (!access(kbuild, R_OK)) {
			*strrchr(kbuild, '/') = 0;
			p = realpath(kbuild, NULL);
			free(kbuild);
			return p;
		}
		free(kbuild);
	}
	return NULL;
}

static const char *release(void)
{
	static struct utsname u;

	return uname(&u) ? "unknown" : u.release;
}

char *mt_kmod_headers(void)
{
	char *dir = mt_printf("/lib/modules/%s/build", release()), *probe = mt_printf("%s/Makefile", dir);
	bool there = mt_exists(probe);

	free(probe);
	if (there)
		return dir;
	free(dir);
	return NULL;
}

char *mt_kmod_installed(void)
{
	static const char *const places[] = { "/lib/modules/%s/updates/dkms/memtrace.ko",
		"/lib/modules/%s/updates/dkms/memtrace.ko.xz", "/lib/modules/%s/updates/dkms/memtrace.ko.zst",
		"/lib/modules/%s/extra/memtrace.ko", "/lib/modules/%s/updates/memtrace.ko", (CACHE "/%s/memtrace.ko") };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *at = strstr(places[i], "%s");
		char *path = mt_printf("%.*s%s%s", (int)(at - places[i]), places[i], release(), at + 2);

		if (mt_exists(path))
			return path;
		free(path);
	}
	return NULL;
}

char *mt_kmod_refusal(void)
{
	struct utsname u;
	char *text, *out = NULL;
	unsigned int a = 0, b = 0;

	if (uname(&u))
		return NULL;
	if (strcmp(u.machine, "x86_64"))
		return mt_printf("the module works on x86-64 only, this is %s", u.machine);
	/* RHEL 8 says 4.18.0-553.el8_10.x86_64 */
	if (sscanf(u.release, "%u.%u", &a, &b) == 2 && (a < 5 || (a == 5 && b < 10)) &&
	    !(a == 4 && b == 18 && strstr(u.release, ".el8")))
		return mt_printf("the module needs Linux 5.10 or RHEL 8, this is %s", u.release);
	text = mt_read_line("/sys/kernel/realtime");
	if ((text && *text == '1') || strstr(u.version, "PREEMPT_RT"))
		out = mt_strdup("the module does not work on a PREEMPT_RT kernel");
	free(text);
	if (!out && !mt_exists("/proc/sys/kernel/numa_balancing"))
		out = mt_strdup("this kernel is built without NUMA_BALANCING, which the module needs");
	return out;
}

char *mt_kmod_signature_needed(void)
{
	char *text = mt_read_line("/sys/kernel/security/lockdown"), *out = NULL, *p, *mode;

	/* none [integrity] confidentiality */
	p = text ? strchr(text, '[') : NULL;
	if (p && strncmp(p, "[none]", 6)) {
		mode = mt_printf("%.*s", (int)strcspn(p + 1, "]"), p + 1);
		out = mt_printf("the kernel is locked down (%s) and takes signed modules only", mode);
		free(mode);
	}
	free(text);
	if (out)
		return out;
	text = mt_read_line("/sys/module/module/parameters/sig_enforce");
	if (text && *text == 'Y')
		out = mt_strdup("the kernel takes signed modules only (module.sig_enforce)");
	free(text);
	return out;
}

char *mt_kmod_no_probes(void)
{
	char *text = mt_read_line("/sys/kernel/security/lockdown"), *out = NULL;

	if (text && strstr(text, "[confidentiality]"))
		out = mt_strdup("the kernel is locked down (confidentiality) and refuses kprobes, without which no page fault can be seen");
	free(text);
	return out;
}

bool mt_kmod_installed_for_kernel(void)
{
	char *path = mt_kmod_installed();
	const bool there = path && strncmp(path, CACHE, strlen(CACHE));

	free(path);
	return there;
}

/* A command with its output in a file. Exit code, or -1. */
static int run(char *const argv[], const char *log)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		int fd = open(log ? log : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0600);

		if (fd >= 0) {
			dup2(fd, 1);
			dup2(fd, 2);
		}
		/* the build shall not see what a user of sudo has in the environment */
		clearenv();
		setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
		setenv("LC_ALL", "C", 1);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int insert(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (syscall(SYS_finit_module, fd, "temporary=1", 0))
		err = -errno;
	close(fd);
	return err;
}

static int build(const char *sources, const char *headers, const char *dir, char **why, char **fix)
{
	char *log = mt_printf("%s/build.log", dir), *src = mt_strdup(sources);
	char *kdir = mt_printf("KDIR=%s", headers), *out = mt_printf("BUILD=%s", dir);
	char *jobs = mt_printf("-j%ld", sysconf(_SC_NPROCESSORS_ONLN));
	char *argv[] = { (char *)"make", jobs, (char *)"-C", src, kdir, out, NULL };
	int code;

	mt_note("building the kernel module for Linux %s", release());
	code = run(argv, log);
	if (code == 127) {
		*why = mt_strdup("the kernel module cannot be built: make is not installed");
		*fix = mt_kmod_install_command("make", NULL, NULL);
	} else if (code) {
		*why = mt_kmod_build_error(log, fix);
	}
	free(log);
	free(src);
	free(kdir);
	free(out);
	free(jobs);
	return code ? -1 : 0;
}

char *mt_kmod_install_signed(void)
{
	return mt_printf("dkms install memtrace/%d.%d, with a machine owner key (docs/howto/kernel-module.md)",
			 MEMTRACE_ABI_MAJOR, MEMTRACE_ABI_MINOR);
}

char *mt_kmod_no_headers(char **fix)
{
	static const char apt[] = "apt install ";
	char *show[] = { (char *)"apt-cache", (char *)"show", NULL, NULL };

	*fix = mt_kmod_install_command(NULL, release(), NULL);
	if (*fix && !strncmp(*fix, apt, strlen(apt))) {
		show[2] = *fix + strlen(apt);
		if (run(show, NULL) == 100) {	/* what it says of a package that no list has */
			char *why = mt_printf("the kernel module must be built, and the headers of this kernel are not installed; no package list of this machine has %s",
					      show[2]);

			free(*fix);
			*fix = NULL;
			return why;
		}
	}
	return mt_strdup("the kernel module must be built, and the headers of this kernel are not installed");
}

/* Loads the module that was built in @dir, or builds one there. 0, or -1 with *why. */
static int load_built(const char *dir, char **why, char **fix)
{
	char *ko = mt_printf("%s/memtrace.ko", dir), *sources = mt_kmod_sources(), *headers = NULL;
	bool current;
	int err = -1;

	if (!mt_exists(ko) && !sources) {
		*why = mt_strdup("the kernel module is neither installed nor are its sources here");
		goto out;
	}
	current = !sources || mt_kmod_fresh(dir, sources);
	if (current)
		err = insert(ko);
	/* ENOEXEC: built for another kernel of the same name */
	if (sources && (!current || err == -ENOEXEC)) {
		err = -1;
		headers = mt_kmod_headers();
		if (!headers) {
			*why = mt_kmod_no_headers(fix);
			goto out;
		}
		unlink(ko);
		if (build(sources, headers, dir, why, fix))
			goto out;
		err = insert(ko);
	}
	if (err == -EEXIST)
		err = 0;
	if (err) {
		*why = mt_printf("the kernel refuses the module: %s; the kernel log says why", strerror(-err));
		*fix = mt_strdup("dmesg | tail");
	}
out:
	free(ko);
	free(sources);
	free(headers);
	return err ? -1 : 0;
}

int mt_kmod_load(char **why, char **fix)
{
	char *modprobe[] = { (char *)"modprobe", (char *)"memtrace", (char *)"temporary=1", NULL };
	char *dir;
	int err = -1, lock = -1;

	if (mt_kmod_loaded())
		return 0;
	if (geteuid()) {
		*why = mt_strdup("the kernel module is not loaded, and only root can load it");
		*fix = mt_strdup(mt_kmod_installed_for_kernel() ? "sudo modprobe memtrace" :
				 "sudo memtrace record --backend kmod ...");
		return -1;
	}
	*why = mt_kmod_no_probes();
	if (!*why)
		*why = mt_kmod_refusal();
	if (*why)
		return -1;
	if (!run(modprobe, NULL) && mt_kmod_loaded())
		return 0;
	*why = mt_kmod_signature_needed();
	if (*why) {	/* one that is built now would not be signed */
		char *sentence = mt_printf("%s; %s", *why, mt_kmod_installed_for_kernel() ?
			"the installed one has no signature that it trusts" : "none is installed");

		free(*why);
		*why = sentence;
		*fix = mt_kmod_install_signed();
		return -1;
	}
	dir = mt_printf("%s/%s", CACHE, release());
	if ((mkdir(CACHE, 0700) && errno != EEXIST) || (mkdir(dir, 0700) && errno != EEXIST)) {
		*why = mt_printf("%s cannot be made: %s", dir, strerror(errno));
	} else {
		/* another recorder may be building here; it will have loaded the module then */
		lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (lock >= 0)
			flock(lock, LOCK_EX);
		err = mt_kmod_loaded() ? 0 : load_built(dir, why, fix);
	}
	if (lock >= 0)
		close(lock);
	free(dir);
	return err;
}

bool mt_kmod_temporary(void)
{
	char *text = mt_read_line("/sys/module/memtrace/parameters/temporary");
	const bool yes = text && *text == 'Y';

	free(text);
	return yes;
}

int mt_kmod_unload(void)
{
	int err = 0;

	mt_user_raise();
	/* the last reference of the descriptor can take a moment to go */
	for (int i = 0; syscall(SYS_delete_module, "memtrace", O_NONBLOCK); i++) {
		if ((errno != EAGAIN && errno != EBUSY) || i == 50) {
			err = -errno;
			break;
		}
		usleep(20000);
	}
	mt_user_lower();
	return err;
}
