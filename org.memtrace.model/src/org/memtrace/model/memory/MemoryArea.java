// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.model.memory;

/**
 * A line of the memory map of a process image; used for the names of ranges outside of structures.
 *
 * @param image process image
 * @param start first address
 * @param end address after the last
 * @param name file and section, empty for anonymous memory
 */
public record MemoryArea(int image, long start, long end, String name) {
}
