// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.memory;

/** Where a data structure comes from; see docs/reference/trace-files.md, structures.csv. The ordinal is stored, so only append. */
public enum StructureKind {
	STATIC, HEAP, MMAP, STACK, BRK, FILE
}
