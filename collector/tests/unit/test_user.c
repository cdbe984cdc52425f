// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/base/util.c
// includes: cli/base/user.c
// libs: -ljansson
/* Who called sudo, with all of his groups; the system is played by this test. */
#include "harness.h"

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static int groups_there = 700, groups_set;
static gid_t last_set;

static int fake_getgrouplist(const char *name, gid_t gid, gid_t *group, int *n)
{
	const int room = *n;

	(void)name;
	*n = groups_there;
	for (int i = 0; i < room && i < groups_there; i++)
		group[i] = i ? (gid_t)(10000 + i) : gid;
	return room < groups_there ? -1 : groups_there;
}

static int fake_setgroups(size_t n, const gid_t *group)
{
	groups_set = (int)n;
	last_set = n ? group[n - 1] : 0;
	return 0;
}

static struct passwd *fake_getpwuid(uid_t uid)
{
	static struct passwd pw = { .pw_name = (char *)"someone" };

	return uid == 1234 ? &pw : NULL;
}

static uid_t fake_root(void)
{
	return 0;
}

static int fake_set(uid_t id)
{
	(void)id;
	return 0;
}

#define getgrouplist fake_getgrouplist
#define setgroups fake_setgroups
#define getpwuid fake_getpwuid
#define getuid fake_root
#define geteuid fake_root
#define seteuid fake_set
#define setegid fake_set
#include "cli/base/user.c"

int main(void)
{
	mt_quiet = true;
	CHECK(mt_user_lower_for_good() == NULL);
	setenv("SUDO_UID", "1234", 1);
	setenv("SUDO_GID", "4321", 1);
	for (groups_there = 1; groups_there < 3000; groups_there += 637) {
		CHECK_STR(mt_user_lower_for_good(), "someone");
		CHECK_EQ(groups_set, groups_there);
		CHECK_EQ(last_set, groups_there == 1 ? 4321 : 10000 + groups_there - 1);
	}
	/* of one without a name only his first group is known, which is told */
	setenv("SUDO_UID", "77", 1);
	CHECK_STR(mt_user_lower_for_good(), "77");
	CHECK_EQ(groups_set, 1);
	CHECK_EQ(last_set, 4321);
	mt_user_raise();
	mt_user_lower();
	CHECK_EQ(groups_set, 1);
	return mt_test_done();
}
