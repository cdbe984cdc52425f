/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/arch.h"
#include "cli/base/exit.h"
#include "cli/base/program.h"
#include "common/sanitizer.h"
#include "cli/base/util.h"

/* 0 executable, -EACCES there but not executable, -ENOENT not there */
static int executable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno == EACCES ? -EACCES : -ENOENT;
	if (!S_ISREG(st.st_mode) || access(path, X_OK))
		return -EACCES;
	return 0;
}

char *mt_program_find(const char *name, int *code)
{
	const char *path = getenv("PATH");
	bool seen = false;

	*code = MT_EXIT_NOT_FOUND;
	if (!*name)
		return NULL;
	if (strchr(name, '/')) {
		int err = executable(name);

		if (!err)	/* as typed: a script sees it as $0 */
			return mt_strdup(name);
		if (err == -EACCES)
			*code = MT_EXIT_CANNOT_EXECUTE;
		return NULL;
	}
	if (!path)
		path = "/bin:/usr/bin";
	for (;;) {
		size_t n = strcspn(path, ":");
		char *p = n ? mt_printf("%.*s/%s", (int)n, path, name) : mt_printf("./%s", name);
		int err = executable(p);

		if (!err)
			return p;
		seen |= err == -EACCES;
		free(p);
		if (!path[n])
			break;
		path += n + 1;
	}
	if (seen)
		*code = MT_EXIT_CANNOT_EXECUTE;
	return NULL;
}

static bool privileged(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return false;
	if ((st.st_mode & S_ISUID) && st.st_uid != geteuid())
		return true;
	if ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != getegid())
		return true;
	return geteuid() && getxattr(path, "security.capability", NULL, 0) > 0;
}

static const char has_sanitizer[] = "was built with a sanitizer (address, leak or memory) whose runtime bears no library before it";
static const char has_other_libc[] = "was built for another C library than glibc (musl, bionic), which the recorder's library needs";
static const char is_static[] = "is statically linked, so that no library can be preloaded";

bool mt_obstacle_is_static(const char *obstacle)
{
	return obstacle == is_static;
}

bool mt_obstacle_refuses_library(const char *obstacle)
{
	return obstacle == has_sanitizer || obstacle == has_other_libc || strstr(obstacle, "64-bit");
}

const char *mt_program_obstacle(const char *path, char **which)
{
	char *p = mt_strdup(path);
	const char *why = NULL;

	for (int depth = 0; depth < 5; depth++) {
		union {
			char text[512];
			Elf64_Ehdr eh;
		} u;
		int fd = open(p, O_RDONLY | O_CLOEXEC);
		ssize_t n;

		memset(&u, 0, sizeof(u));
		n = fd < 0 ? -1 : pread(fd, &u, sizeof(u) - 1, 0);
		if (n >= 2 && !memcmp(u.text, "#!", 2)) {
			char *s = u.text + 2 + strspn(u.text + 2, " \t"), *next;
			char *env;

			close(fd);
			/* "#!/usr/bin/env python3" is about python3 */
			s[strcspn(s, "\n")] = 0;
			env = s + strcspn(s, " \t");
			if (*env)
				*env++ = 0;
			env += strspn(env, " \t");
			env[strcspn(env, " \t")] = 0;
			if (!strcmp(mt_base(s), "env") && *env && *env != '-') {
				int code;

				next = mt_program_find(env, &code);
			} else {
				next = mt_strdup(s);
			}
			if (!next)
				break;
			free(p);
			p = next;
			continue;
		}
		if (n < 0) {	/* executable but not readable: trust it */
			if (fd >= 0)
				close(fd);
			break;
		}
		if (privileged(p)) {
			why = "gains privileges when it starts (setuid, setgid or file capabilities), so that the loader ignores LD_PRELOAD";
		} else if (n >= (ssize_t)sizeof(u.eh) && !memcmp(u.text, ELFMAG, SELFMAG)) {
			if (u.eh.e_ident[EI_CLASS] != ELFCLASS64 || u.eh.e_machine != MT_ELF_MACHINE) {
				why = "is not a " MT_ARCH_NAME " program";
			} else {
				bool interp = false;

				for (int i = 0; i < u.eh.e_phnum; i++) {
					Elf64_Phdr ph;

					if (pread(fd, &ph, sizeof(ph), (off_t)(u.eh.e_phoff +
						  (uint64_t)i * u.eh.e_phentsize)) == sizeof(ph))
						interp |= ph.p_type == PT_INTERP;
				}
				if (!interp)
					why = is_static;
				else if (mt_is_of_other_libc(AT_FDCWD, p))
					why = has_other_libc;
				else if (mt_sanitizer_of_file(AT_FDCWD, p))
					why = has_sanitizer;
			}
		}
		close(fd);
		break;
	}
	if (why)
		*which = p;
	else
		free(p);
	return why;
}

int mt_program_counts(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), found = -1;
	Elf *elf = NULL;
	Elf_Scn *s = NULL;
	size_t names;

	elf_version(EV_CURRENT);
	if (fd >= 0)
		elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF && !elf_getshdrstrndx(elf, &names)) {
		found = 0;
		while (!found && (s = elf_nextscn(elf, s))) {
			GElf_Shdr header;
			const char *name = gelf_getshdr(s, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;

			found = name && !strcmp(name, ".note.memtrace");
		}
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return found;
}
