// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** What a program read and wrote, level by level, and what one call caused below it. */
package org.memtrace.analysis.io;
