/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
#include "cli/remote/luggage.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/self.h"
#include "cli/backend/probe.h"
#include "cli/base/opened.h"
#include "cli/base/util.h"

/* Those must be the machine's own. */
static bool of_the_c_library(const char *name)
{
	static const char *const names[] = { "libc.so.", "libm.so.", "libpthread.so.", "libdl.so.", "librt.so.", "ld-linux", "linux-vdso." };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

static void add(struct mt_luggage *l, const char *path, const char *name)
{
	MT_GROW(l->file, l->n, l->cap);
	l->file[l->n++] = (struct mt_luggage_file){ mt_strdup(path), mt_strdup(name) };
}

static int add_library(struct dl_phdr_info *info, size_t size, void *luggage)
{
	char *name;

	(void)size;
	if (strchr(info->dlpi_name, '/') && !of_the_c_library(mt_base(info->dlpi_name))) {
		name = mt_printf("lib/memtrace/shared/%s", mt_base(info->dlpi_name));
		add(luggage, info->dlpi_name, name);
		free(name);
	}
	return 0;
}

/* The largest N of the versions GLIBC_2.N that a file asks for; 0: none. */
static int glibc_of(Elf *elf)
{
	int newest = 0;

	for (Elf_Scn *s = elf_nextscn(elf, NULL); s; s = elf_nextscn(elf, s)) {
		GElf_Shdr header;
		Elf_Data *d;
		GElf_Verneed need;
		GElf_Vernaux aux;

		if (!gelf_getshdr(s, &header) || header.sh_type != SHT_GNU_verneed)
			continue;
		d = elf_getdata(s, NULL);
		for (int at = 0, i = 0; d && i < (int)header.sh_info && gelf_getverneed(d, at, &need); i++, at += (int)need.vn_next)
			for (int a = at + (int)need.vn_aux, k = 0; k < need.vn_cnt && gelf_getvernaux(d, a, &aux); k++, a += (int)aux.vna_next) {
				const char *version = elf_strptr(elf, header.sh_link, aux.vna_name);
				int minor;

				if (version && !strncmp(version, "GLIBC_2.", 8)) {
					minor = atoi(version + 8);
					newest = minor > newest ? minor : newest;
				}
			}
	}
	return newest;
}

char *mt_luggage_pack(struct mt_luggage *l)
{
	char self[PATH_MAX], *preload = mt_preload_path();

	memset(l, 0, sizeof(*l));
	if (!preload || mt_self(self)) {
		free(preload);
		return mt_strdup("libmemtrace-preload.so is not beside this program");
	}
	add(l, self, "bin/memtrace");
	add(l, preload, "lib/memtrace/libmemtrace-preload.so");
	free(preload);
	dlopen(MT_OPENED_STDCXX, RTLD_LAZY | RTLD_LOCAL);
	dlopen(MT_OPENED_CAPSTONE, RTLD_LAZY | RTLD_LOCAL);
	dl_iterate_phdr(add_library, l);
	elf_version(EV_CURRENT);
	for (size_t i = 0; i < l->n; i++) {
		const struct mt_luggage_file *f = &l->file[i];
		const int fd = open(f->path, O_RDONLY | O_CLOEXEC);
		struct stat st;
		Elf *elf;
		int minor;

		if (fd < 0 || fstat(fd, &st) || strlen(f->name) > 99) {
			char *why = mt_printf("%s cannot be copied: %s", f->path, fd < 0 ? strerror(errno) : "its name is too long");

			if (fd >= 0)
				close(fd);
			return why;
		}
		l->bytes += (uint64_t)st.st_size;
		elf = elf_begin(fd, ELF_C_READ, NULL);
		minor = elf ? glibc_of(elf) : 0;
		l->glibc_minor = minor > l->glibc_minor ? minor : l->glibc_minor;
		elf_end(elf);
		close(fd);
	}
	return NULL;
}

void mt_luggage_free(struct mt_luggage *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->file[i].path);
		free(l->file[i].name);
	}
	free(l->file);
	memset(l, 0, sizeof(*l));
}

/* ---- tar: POSIX.1-1988 ustar, one header of 512 bytes before each file, which is filled up to 512 */

static int header(mt_put put, void *to, const char *name, uint64_t size, unsigned int mode)
{
	char h[512] = { 0 };
	unsigned int sum = 0;

	snprintf(h, 100, "%s", name);
	snprintf(h + 100, 8, "%07o", mode);
	snprintf(h + 108, 8, "%07o", 0);	/* user and group: those of whom unpacks it */
	snprintf(h + 116, 8, "%07o", 0);
	snprintf(h + 124, 12, "%011llo", (unsigned long long)size);
	snprintf(h + 136, 12, "%011o", 0);
	memset(h + 148, ' ', 8);
	h[156] = '0';
	snprintf(h + 257, 6, "ustar");
	h[263] = h[264] = '0';
	for (int i = 0; i < 512; i++)
		sum += (unsigned char)h[i];
	snprintf(h + 148, 7, "%06o", sum);
	return put(to, h, 512);
}

static int fill(mt_put put, void *to, uint64_t size)
{
	static const char zeros[512];

	return size % 512 ? put(to, zeros, 512 - size % 512) : 0;
}

int mt_tar_file(mt_put put, void *to, const char *path, const char *name)
{
	static char data[64 << 10];
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	uint64_t done = 0;
	int err;

	if (fd < 0)
		return -errno;
	err = fstat(fd, &st) ? -errno : header(put, to, name, (uint64_t)st.st_size, st.st_mode & 0100 ? 0755 : 0644);
	while (!err && done < (uint64_t)st.st_size) {
		const uint64_t left = (uint64_t)st.st_size - done;
		const ssize_t n = read(fd, data, left < sizeof(data) ? left : sizeof(data));

		if (n <= 0)
			err = n < 0 ? -errno : -EIO;
		else
			err = put(to, data, (size_t)n);
		done += n > 0 ? (uint64_t)n : 0;
	}
	close(fd);
	return err ? err : fill(put, to, done);
}

int mt_tar_text(mt_put put, void *to, const void *data, size_t n, const char *name)
{
	int err = header(put, to, name, n, 0600);

	if (!err && n)
		err = put(to, data, n);
	return err ? err : fill(put, to, n);
}

int mt_tar_end(mt_put put, void *to)
{
	static const char zeros[1024];

	return put(to, zeros, sizeof(zeros));
}
