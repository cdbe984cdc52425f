// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

/**
 * A frame of a call stack; unknown texts are empty, an unknown line is 0.
 *
 * @param ip return address
 * @param object file of the code
 * @param function demangled name
 * @param file source file
 * @param line line in the source file
 */
public record CallFrame(long ip, String object, String function, String file, int line) {
}
