// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/ground/image.c preload/ground/settings.c common/out.c common/faultprobe.c common/rawmem.c
/* Descriptors that are kept, the folder and the description of an image. */
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/resource.h>
#include <unistd.h>

#include "harness.h"
#include "preload/ground/image.h"
#include "common/rawsys.h"

static char top[] = "/tmp/mt-image-XXXXXX";

static struct mt_config with(const char *name, const char *value)
{
	struct mt_config c;

	setenv(name, value, 1);
	CHECK_EQ(mt_config_read(&c), 0);
	unsetenv(name);
	return c;
}

static int ascending(void)
{
	const int *fds;
	const int n = mt_fd_kept(&fds);

	for (int i = 1; i < n; i++)
		if (fds[i - 1] >= fds[i])
			return 0;
	return 1;
}

static void descriptors(void)
{
	const int *fds;
	const int before = mt_fd_kept(&fds), low = open("/dev/null", O_RDONLY), a = mt_fd_keep(low), b = mt_fd_keep(open("/dev/zero", O_RDONLY));
	int many[40], n = 0;

	/* moved away from where the program looks */
	CHECK(a > low && a > 100 && fcntl(low, F_GETFD) < 0);
	CHECK_EQ(fcntl(a, F_GETFD), FD_CLOEXEC);
	CHECK(mt_fd_kept(&fds) == before + 2 && ascending());
	/* the program closes one and puts a file of its own there: that is not closed */
	CHECK_EQ(dup2(b, a), a);
	mt_fd_close(a);
	CHECK(fcntl(a, F_GETFD) >= 0);
	close(a);
	mt_fd_close(b);
	CHECK(fcntl(b, F_GETFD) < 0 && mt_fd_kept(&fds) == before);
	mt_fd_close(-1);
	mt_fd_close(9999);
	CHECK_EQ(mt_fd_kept(&fds), before);
	/* as many as fit; one more is refused and closed */
	while (n < 40 && (many[n] = mt_fd_keep(open("/dev/null", O_RDONLY))) >= 0)
		n++;
	CHECK(n == 32 - before && many[n] == -EMFILE && ascending());
	for (int i = 0; i < n; i += 2)
		mt_fd_close(many[i]);
	CHECK(ascending());
	/* a new one takes a number among them */
	many[0] = mt_fd_keep(open("/dev/null", O_RDONLY));
	CHECK(many[0] >= 0 && many[0] < many[n - 1] && ascending());
	mt_fd_close(many[0]);
	for (int i = 1; i < n; i += 2)
		mt_fd_close(many[i]);
	CHECK_EQ(mt_fd_kept(&fds), before);
}

/* Images with many before them, and a parent that is one of the first; each number once, whatever is there. */
static void numbers(void)
{
	struct mt_config c = with("MEMTRACE_BACKEND", "zap");
	static const int there[] = { 1, 2, 3, 7, 8, 100, 1037 };
	struct mt_image img;
	char path[64];
	int made = 0;

	snprintf(c.dir, sizeof(c.dir), "%s/numbers", top);
	CHECK_EQ(mkdir(c.dir, 0755), 0);
	for (size_t k = 0; k < sizeof(there) / sizeof(there[0]); k++) {
		for (; made < there[k]; made++) {
			snprintf(path, sizeof(path), "%s/numbers/p%04d", top, made);
			CHECK_EQ(mkdir(path, 0755), 0);
		}
		for (int parent = -1; parent <= 0; parent++) {
			CHECK_EQ(mt_image_create(&img, &c, parent, "fork"), 0);
			CHECK_EQ(img.index, made);
			mt_fd_close(img.dirfd);
			made++;
		}
	}
	snprintf(path, sizeof(path), "rm -rf '%s/numbers'", top);
	CHECK_EQ(system(path), 0);
}

static void folders(void)
{
	struct mt_config c = with("MEMTRACE_BACKEND", "zap");
	struct mt_image one, two;
	char path[64], text[8192], *end;
	struct stat st;
	FILE *f;
	int fd;

	snprintf(path, sizeof(path), "%s/p0001", top);
	CHECK_EQ(mkdir(path, 0755), 0);
	CHECK_EQ(mt_image_create(&one, &c, -1, "root"), 0);
	CHECK_EQ(mt_image_create(&two, &c, 0, "exec"), 0);
	CHECK(one.index == 0 && one.parent == -1 && two.index == 2 && two.parent == 0 && one.pid == getpid());
	CHECK_STR(two.path + strlen(top), "/p0002");
	fd = mt_image_open(&two, "a.csv");
	CHECK(fd >= 0 && !fstatat(two.dirfd, "a.csv", &st, 0));
	CHECK_EQ(mt_image_open(&two, "a.csv"), -EEXIST);
	mt_fd_close(fd);

	CHECK_EQ(mt_image_describe(&two, "none", "why \"not\"\n"), 0);
	snprintf(path, sizeof(path), "%s/p0002/image.json", top);
	f = fopen(path, "re");
	CHECK(f != NULL);
	if (f) {
		text[fread(text, 1, sizeof(text) - 1, f)] = 0;
		fclose(f);
		CHECK(strstr(text, "\"index\": 2") && strstr(text, "\"parent\": 0, \"how\": \"exec\"") && strstr(text, "\"backend\": \"none\""));
		CHECK(strstr(text, "\"backend_message\": \"why \\\"not\\\"") && strstr(text, "test_image\""));
		CHECK(!strstr(text, "monitor_tid"));
		CHECK(!strstr(text, "monitor_pid"));
		CHECK(!stat("/proc/self/ns/pid", &st));
		snprintf(path, sizeof(path), "\"pid_namespace\": %lu,", (unsigned long)st.st_ino);
		CHECK(strstr(text, path));
	}
	two.monitor_pid = 77;
	two.monitor_ns = 123456789012;
	CHECK_EQ(mt_image_describe(&two, "none", ""), 0);
	snprintf(path, sizeof(path), "%s/p0002/image.json", top);
	f = fopen(path, "re");
	if (f) {
		text[fread(text, 1, sizeof(text) - 1, f)] = 0;
		fclose(f);
		CHECK(strstr(text, "\"monitor_pid\": 77, \"monitor_ns\": 123456789012,"));
	}
	CHECK_EQ(mt_image_save_maps(&two, "maps.txt"), 0);
	CHECK(!fstatat(two.dirfd, "maps.txt", &st, 0) && st.st_size > 500);

	/* the variable for programs that come after: in place where there is room, else only by a constructor */
	unsetenv("MEMTRACE_PARENT_IMAGE");
	mt_image_export(&two, 0);
	CHECK(!getenv("MEMTRACE_PARENT_IMAGE"));
	mt_image_export(&two, 1);
	CHECK_STR(getenv("MEMTRACE_PARENT_IMAGE"), "0000000002");
	end = getenv("MEMTRACE_PARENT_IMAGE");
	two.index = 1234567;
	mt_image_export(&two, 0);
	CHECK(end == getenv("MEMTRACE_PARENT_IMAGE"));
	CHECK_STR(end, "0001234567");
	CHECK_EQ(mt_config_read(&c), 0);
	CHECK_EQ(c.parent_image, 1234567);
	setenv("MEMTRACE_PARENT_IMAGE", "7", 1);
	mt_image_export(&two, 0);
	CHECK_STR(getenv("MEMTRACE_PARENT_IMAGE"), "7");
	mt_fd_close(one.dirfd);
	mt_fd_close(two.dirfd);
}

/* Above the soft limit, which is as it was afterwards; where there is no room above, or it is not asked for, below. */
static void hidden(void)
{
	struct rlimit old, now, l;
	int fd, parents;

	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
	l = (struct rlimit){ 200, old.rlim_max };
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &l), 0);
	mt_fd_hide(1);
	fd = mt_fd_keep(open("/dev/null", O_RDONLY));
	CHECK(fd >= 200);
	CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	CHECK(!getrlimit(RLIMIT_NOFILE, &now) && now.rlim_cur == 200 && now.rlim_max == old.rlim_max);
	mt_fd_close(fd);
	CHECK_EQ(fcntl(fd, F_GETFD), -1);
	mt_fd_hide(0);
	/* a child: its program's parent had closed one of ours, whose number is closed as the parent's only when the child has files */
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &old), 0);
	parents = mt_fd_keep(open("/dev/null", O_RDONLY));
	close(parents);
	mt_fd_hide(1);
	fd = mt_fd_keep(open("/dev/zero", O_RDONLY));
	mt_fd_close(parents);
	CHECK(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
	mt_fd_close(fd);
	mt_fd_hide(0);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &l), 0);
	fd = mt_fd_keep(open("/dev/null", O_RDONLY));
	CHECK(fd > 2 && fd < 200);
	mt_fd_close(fd);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &old), 0);
}

int main(void)
{
	char command[64];

	CHECK(mkdtemp(top) != NULL);
	setenv("MEMTRACE_DIR", top, 1);
	descriptors();
	numbers();
	folders();
	snprintf(command, sizeof(command), "rm -rf %s", top);
	CHECK_EQ(system(command), 0);
	hidden();
	return mt_test_done();
}
