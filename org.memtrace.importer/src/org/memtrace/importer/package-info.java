// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/**
 * A trace directory, or files of other tools, become a stored trace: the operation with its settings and its report. Each format
 * has its own package; what they share is in {@code input}, {@code rows}, {@code sharing} and {@code tree}.
 */
package org.memtrace.importer;
