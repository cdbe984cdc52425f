// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.reader;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Names below names, such as threads in processes, each with a number in the order in which they came. No object is kept for a name: it
 * takes the bytes of its UTF-8 and some 30 more, so that a file with a million of them needs no gigabyte. Used by one thread.
 */
public final class NameTree {
	/** What the topmost names are below. */
	public static final int ROOT = -1;
	private static final int NONE = -1;
	private static final int FIRST = 64;
	/** Of the greatest array. */
	private static final int MOST_BYTES = Integer.MAX_VALUE - 64;

	private int size;
	private int[] parent = new int[FIRST];
	private int[] hash = new int[FIRST];
	/** Where the bytes of each name end. */
	private int[] end = new int[FIRST];
	private byte[] bytes = new byte[FIRST * 16];
	/** Numbers by hash, open addressing. */
	private int[] slots = filled(4 * FIRST);

	private static int[] filled(int length) {
		int[] all = new int[length];
		Arrays.fill(all, NONE);
		return all;
	}

	/** How many names there are; the number of the next one. */
	public int size() {
		return size;
	}

	/** The number of the name that one is below; {@link #ROOT} for a topmost one. */
	public int parent(int number) {
		return parent[number];
	}

	/** The name, without those above it. */
	public String name(int number) {
		int start = start(number);
		return new String(bytes, start, end[number] - start, StandardCharsets.UTF_8);
	}

	private int start(int number) {
		return number == 0 ? 0 : end[number - 1];
	}


	/** The number of a name below another one, {@code -1} when there is none. */
	public int find(int above, String name) {
		byte[] text = name.getBytes(StandardCharsets.UTF_8);
		return slots[slot(above, text, hash(above, text))];
	}

	/**
	 * The number of a name below another one; it is added when it is new.
	 *
	 * @param above a number, or {@link #ROOT}
	 * @throws IllegalStateException when all names together are longer than 2 GiB
	 */
	public int child(int above, String name) {
		byte[] text = name.getBytes(StandardCharsets.UTF_8);
		int hashed = hash(above, text);
		int slot = slot(above, text, hashed);
		if (slots[slot] != NONE) {
			return slots[slot];
		}
		if (size == parent.length) {
			int capacity = size + (size >> 1);
			parent = Arrays.copyOf(parent, capacity);
			hash = Arrays.copyOf(hash, capacity);
			end = Arrays.copyOf(end, capacity);
		}
		int from = size == 0 ? 0 : end[size - 1];
		if (text.length > MOST_BYTES - from) {
			throw new IllegalStateException("names of more than 2 GiB");
		}
		if (from + text.length > bytes.length) {
			bytes = Arrays.copyOf(bytes, (int) Math.min(MOST_BYTES, Math.max(from + text.length, bytes.length + (bytes.length >> 1L))));
		}
		System.arraycopy(text, 0, bytes, from, text.length);
		parent[size] = above;
		hash[size] = hashed;
		end[size] = from + text.length;
		slots[slot] = size;
		if (++size > slots.length / 2) {
			grow();
		}
		return size - 1;
	}

	private static int hash(int above, byte[] text) {
		int h = (Arrays.hashCode(text) * 31 + above) * 0x9e3779b9;
		return h ^ h >>> 15;
	}

	/** Where the number of a name is, or belongs. */
	private int slot(int above, byte[] text, int hashed) {
		int mask = slots.length - 1;
		for (int at = hashed & mask;; at = at + 1 & mask) {
			int n = slots[at];
			if (n == NONE || hash[n] == hashed && parent[n] == above && Arrays.equals(bytes, start(n), end[n], text, 0, text.length)) {
				return at;
			}
		}
	}

	private void grow() {
		slots = filled(2 * slots.length);
		int mask = slots.length - 1;
		for (int n = 0; n < size; n++) {
			int at = hash[n] & mask;
			while (slots[at] != NONE) {
				at = at + 1 & mask;
			}
			slots[at] = n;
		}
	}
}
