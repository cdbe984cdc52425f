// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * kept.h - pages of the memory file whose memory was unmapped, for the block that comes to the same place next.
 *
 * A page that is given back and made anew costs more than the fault that shows it, and most blocks of an allocator come to the addresses of
 * those before. So what was unmapped stays in the file until the end of the interval, up to some MiB, and is overwritten by zeroes when
 * it is mapped again. Such a page is there before anybody has touched it: where that matters (a page that is missing, for a userfaultfd
 * of the program) it is known which pages nobody has touched. All under zap_space.lock.
 */
#ifndef MEMTRACE_KEPT_H
#define MEMTRACE_KEPT_H

#include <stdint.h>

/* The range is not mapped any more. 1: its pages stay in the file; 0: there is no room, they are to be given back. */
int zap_keep(uint64_t addr, uint64_t len);
/* The range of the memory file @fd reads as zeroes, and nothing of it is kept. 0 or negative errno. */
long zap_make_zero(int fd, uint64_t addr, uint64_t len);
/* All that is kept is given back. */
void zap_drop_kept(int fd);
/* The memory file is another one, with the same contents where memory is mapped. */
void zap_forget_kept(void);
/* May files be written up to there? write(2) obeys RLIMIT_FSIZE. */
int zap_files_reach(uint64_t bytes);

/* Is there a page in the range that is in the file and that nobody has touched, as far as is known? */
int zap_has_untouched(uint64_t start, uint64_t end);
/* Pages that were found mapped: before they are unmapped by us. */
void zap_touched(uint64_t start, uint64_t end);
/* Takes those out that are mapped now. */
void zap_look_at_untouched(void);
/* Contents were copied. */
void zap_untouched_copied(uint64_t to, uint64_t from, uint64_t len);

#endif
