/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include "cli/base/user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/exit.h"
#include "cli/base/util.h"

static struct {
	bool known;
	uid_t uid;
	gid_t gid;
	gid_t *group;
	int n;
	gid_t *root_group;
	int n_root;
} user;

/* All groups of a user; a user of a large site has hundreds. False: not known. */
static bool groups_of(const char *name, gid_t gid, gid_t **group, int *n)
{
	*n = 0;
	*group = NULL;
	for (int room = 64; room <= 1 << 20; room = *n > room ? *n : 2 * room) {
		*group = mt_resize(*group, (size_t)room * sizeof(**group));
		*n = room;
		if (getgrouplist(name, gid, *group, n) >= 0)
			return true;
	}
	return false;
}

/* A number of the environment that is not 0 and nothing else. */
static bool id(const char *name, unsigned int *v)
{
	const char *text = getenv(name);
	char *end;
	unsigned long x;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	x = strtoul(text, &end, 10);
	if (errno || *end || !x || x >= 0xffffffffu)
		return false;
	*v = (unsigned int)x;
	return true;
}

const char *mt_user_lower_for_good(void)
{
	static char name[64];
	unsigned int uid, gid;
	struct passwd *pw;

	if (getuid() || geteuid() || !id("SUDO_UID", &uid) || !id("SUDO_GID", &gid))
		return NULL;
	user.uid = uid;
	user.gid = gid;
	free(user.group);
	free(user.root_group);
	user.group = user.root_group = NULL;
	pw = getpwuid(uid);
	snprintf(name, sizeof(name), "%s", pw ? pw->pw_name : getenv("SUDO_UID"));
	if (!pw || !groups_of(pw->pw_name, user.gid, &user.group, &user.n)) {
		mt_note("the groups of %s are not known: files that only one of them may read cannot be read", name);
		user.group = mt_resize(user.group, sizeof(*user.group));
		user.group[0] = user.gid;
		user.n = 1;
	}
	user.n_root = getgroups(0, NULL);
	user.root_group = mt_alloc((size_t)(user.n_root > 0 ? user.n_root : 1) * sizeof(*user.root_group));
	if (user.n_root > 0)
		user.n_root = getgroups(user.n_root, user.root_group);
	user.known = true;
	mt_user_lower();
	return name;
}

/* What cannot be given up would be kept without a word: no command goes on with the rights of somebody else. */
static void sure(int failed)
{
	if (failed) {
		mt_error("cannot change the user: %s", strerror(errno));
		exit(MT_EXIT_INTERNAL);
	}
}

void mt_user_raise(void)
{
	if (!user.known)
		return;
	sure(seteuid(0));
	sure(setegid(0));
	if (user.n_root >= 0)
		sure(setgroups((size_t)user.n_root, user.root_group));
}

void mt_user_lower(void)
{
	if (!user.known)
		return;
	sure(setgroups((size_t)user.n, user.group));
	sure(setegid(user.gid));
	sure(seteuid(user.uid));
}

int mt_user_become(void)
{
	if (!user.known)
		return 0;
	if (seteuid(0) || setgroups((size_t)user.n, user.group) || setresgid(user.gid, user.gid, user.gid) ||
	    setresuid(user.uid, user.uid, user.uid))
		return -errno;
	return 0;
}
