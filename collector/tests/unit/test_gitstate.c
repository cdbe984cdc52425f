// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/base/gitstate.c cli/base/util.c
// libs: -ljansson
/* git is asked about a repository that names a program in every way that is known, and none of them is started. */
#include "harness.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/gitstate.h"
#include "cli/base/util.h"

#define PATIENCE_MS 60000

static char folder[] = "/tmp/mt-gitstate-XXXXXX";

/* A command line of the shell in the folder; $W is the folder, "commit" makes one. */
static int sh(const char *text)
{
	char *line = mt_printf("W=%s; cd $W && git() { command git -c user.name=x -c user.email=a@b -c protocol.file.allow=always \"$@\"; } && "
			       "{ %s\n} >/dev/null", folder, text);
	int rc = system(line); // NOLINT(bugprone-command-processor,cert-env33-c): the texts are below

	free(line);
	return rc;
}

static char *in(const char *name)
{
	return mt_printf("%s/%s", folder, name);
}

static bool ran(void)
{
	char *marker = in("ran");
	const bool yes = !unlink(marker);

	free(marker);
	return yes;
}

/* What `git diff` says of the folder @name. */
static char *diff(const char *name, int expected)
{
	char *there = in(name), *path = in("diff"), *text;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK_EQ(mt_git_diff(there, fd, PATIENCE_MS), expected);
	close(fd);
	text = mt_read_file(path, NULL);
	free(path);
	free(there);
	return text;
}

/* @text sets up the repository r of two files of one commit; one of them is modified, the other one touched. */
static void starts_nothing(const char *what, const char *text, int modified)
{
	char *r = in("r"), *said;

	CHECK_EQ(sh("rm -rf r sub; git init -q -b main r; cd r; echo a >a; echo b >b; git add a b; git commit -qm 1; echo more >>a"), 0);
	CHECK_EQ(sh(text), 0);
	CHECK_EQ(sh("cd r; touch -d '2001-01-01' b"), 0);
	ran();
	if (mt_git_modified(r, PATIENCE_MS) != modified || ran()) {
		printf("%s\n", what);
		CHECK(false);
	}
	said = diff("r", 0);
	if (!strstr(said, "+more") || ran()) {
		printf("%s: diff\n%s\n", what, said);
		CHECK(false);
	}
	free(said);
	free(r);
}

int main(void)
{
	char *r;

	CHECK(mkdtemp(folder) != NULL);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	setenv("HOME", folder, 1);
	CHECK_EQ(sh("printf '#!/bin/sh\\ntouch %s/ran\\ncat\\n' $W >evil; chmod +x evil"), 0);
	starts_nothing("nothing", ":", 1);
	starts_nothing("monitor of the file system", "cd r; git config core.fsmonitor $W/evil", 1);
	/* the filter is there, or git would not know it: else this test tests nothing */
	CHECK_EQ(sh("rm -rf r; git init -q r; cd r; echo b >b; git add b; git commit -qm 1; echo '* filter=x' >.gitattributes; "
		    "git config filter.x.clean $W/evil; touch -d '2001-01-01' b; git status"), 0);
	CHECK(ran());
	starts_nothing("filter", "cd r; echo '* filter=x' >.git/info/attributes; git config filter.x.clean $W/evil", 1);
	starts_nothing("filter that must work", "cd r; echo '* filter=x.y' >.git/info/attributes; git config filter.x.y.clean $W/evil; "
		       "git config filter.x.y.smudge $W/evil; git config filter.x.y.required true", 1);
	starts_nothing("filter that stays", "cd r; echo '* filter=x' >.git/info/attributes; git config filter.x.process $W/evil", 1);
	starts_nothing("filter of an included file", "cd r; echo '* filter=x' >.git/info/attributes; git config include.path more; "
		       "git config -f .git/more filter.x.clean $W/evil", 1);
	starts_nothing("filter of a worktree", "cd r; echo '* filter=x' >.git/info/attributes; git config extensions.worktreeConfig true; "
		       "git config --worktree filter.x.clean $W/evil", 1);
	starts_nothing("hooks", "cd r; for h in post-index-change fsmonitor-watchman post-checkout; do cp $W/evil .git/hooks/$h; done; "
		       "mkdir hooks; cp $W/evil hooks/post-index-change; git config core.hooksPath hooks", 1);
	starts_nothing("differences", "cd r; git config diff.external $W/evil; git config diff.x.command $W/evil; git config diff.y.textconv $W/evil; "
		       "printf 'a diff=x\\nb diff=y\\n' >.git/info/attributes; git config interactive.diffFilter $W/evil", 1);
	starts_nothing("textconv", "cd r; git config diff.y.textconv $W/evil; echo '* diff=y' >.git/info/attributes", 1);
	starts_nothing("pager and alias", "cd r; git config core.pager $W/evil; git config pager.status $W/evil; git config pager.diff $W/evil; "
		       "git config alias.status '!$W/evil'; git config alias.diff '!$W/evil'; git config core.editor $W/evil", 1);
	starts_nothing("submodule", "git init -q -b main sub; cd sub; echo s >s; git add s; git commit -qm s; cd ../r; "
		       "git submodule -q add $W/sub sub; git commit -qm sub -- sub .gitmodules; cd sub; echo '* filter=x' >\"$(git rev-parse --git-path info/attributes)\"; "
		       "git config filter.x.clean $W/evil; git config core.fsmonitor $W/evil; touch -d '2001-01-01' s", 1);
	/* a partial clone fetches what it lacks, by a program: here it lacks the old text of a; -1 and a part are right, a program is not */
	CHECK_EQ(sh("rm -rf r; git init -q -b main r; cd r; echo a >a; git add a; git commit -qm 1; o=$(git rev-parse HEAD:a); "
		    "rm -f .git/objects/$(echo $o | cut -c1-2)/$(echo $o | cut -c3-); echo more >>a; git config remote.o.url ext::$W/evil; "
		    "git config remote.o.promisor true; git config extensions.partialClone o; git config protocol.ext.allow always; "
		    "git config core.repositoryFormatVersion 1; git config remote.o.uploadpack $W/evil; git config core.sshCommand $W/evil; "
		    "git config credential.helper $W/evil"), 0);
	ran();
	r = diff("r", -1);
	CHECK(!ran());
	free(r);
	r = in("r");
	mt_git_modified(r, PATIENCE_MS);
	CHECK(!ran());
	/* a filter whose name cannot be given: nothing is asked */
	CHECK_EQ(sh("rm -rf r; git init -q -b main r; cd r; echo b >b; git add b; git commit -qm 1; echo '* filter=x=y' >.git/info/attributes; "
		    "git config filter.x=y.clean $W/evil; touch -d '2001-01-01' b"), 0);
	ran();
	CHECK_EQ(mt_git_modified(r, PATIENCE_MS), -1);
	CHECK(!ran());
	/* a folder that looks like a repository, in a folder of files */
	CHECK_EQ(sh("rm -rf r; mkdir r; git init -q --bare r/bare; cd r/bare; git config core.fsmonitor $W/evil; git config core.worktree $W/r"), 0);
	free(r);
	r = in("r/bare");
	mt_git_modified(r, PATIENCE_MS);
	CHECK(!ran());
	free(r);
	/* what the environment says is another repository's */
	CHECK_EQ(sh("rm -rf r other; git init -q -b main r; cd r; echo a >a; git add a; git commit -qm 1; echo more >>a; git init -q ../other"), 0);
	r = in("other/.git");
	setenv("GIT_DIR", r, 1);
	free(r);
	r = in("r");
	CHECK_EQ(mt_git_modified(r, PATIENCE_MS), 1);
	CHECK_EQ(mt_git_modified(folder, PATIENCE_MS), -1);
	free(r);
	unsetenv("GIT_DIR");
	CHECK_EQ(sh("cd /; rm -rf $W"), 0);
	return mt_test_done();
}
