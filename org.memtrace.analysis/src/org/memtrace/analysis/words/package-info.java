// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Questions about accesses in words: how they are written, what they mean in a trace, and the answer. docs/reference/words.md */
package org.memtrace.analysis.words;
