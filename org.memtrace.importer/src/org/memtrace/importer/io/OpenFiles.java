// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.io;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which file a process has behind a file descriptor. A descriptor is used for one file after the other: its uses are numbered in the
 * order of time. A first pass over the events learns the files of the uses, from what was seen in {@code /proc/PID/fd}, from the paths
 * of opens and from the events below a call; a second pass, which counts the uses alike, asks for them from their beginning on.
 */
final class OpenFiles {
	/**
	 * A file by its number.
	 *
	 * @param device as the kernel has it: major shifted left by 20, or minor
	 */
	record Inode(long device, long number) {
	}

	/** One use of a descriptor. */
	static final class Use {
		Inode inode;
		String path = "";

		/** Whether anything is known of it. */
		private boolean known() {
			return inode != null || !path.isEmpty();
		}
	}

	private final Map<Long, List<Use>> uses = new HashMap<>();
	private final Map<Long, Integer> current = new HashMap<>();
	private final Map<Inode, String> names = new HashMap<>();
	private final Map<Inode, Integer> blockBytes = new HashMap<>();
	private final Set<Inode> seen = new HashSet<>();
	private boolean learning = true;

	private static long key(int process, int fd) {
		return (long) process << 32 | fd & 0xffffffffL;
	}

	/** Begins the second pass. */
	void again() {
		current.clear();
		learning = false;
	}

	private Use use(long key, int number) {
		List<Use> all = uses.computeIfAbsent(key, k -> new ArrayList<>());
		while (all.size() <= number) {
			all.add(new Use());
		}
		current.put(key, number);
		return all.get(number);
	}

	private Use begin(long key) {
		return use(key, current.getOrDefault(key, -1) + 1);
	}

	/** What the descriptor stands for now. */
	Use at(int process, int fd) {
		long key = key(process, fd);
		Integer number = current.get(key);
		return number == null ? begin(key) : uses.get(key).get(number);
	}

	/** A process has opened a file. */
	void opened(int process, int fd, String path) {
		Use use = begin(key(process, fd));
		if (use.path.isEmpty()) {
			use.path = path;
		}
	}

	/** A process has closed a descriptor; its next use is another one. */
	void closed(int process, int fd) {
		long key = key(process, fd);
		if (current.containsKey(key)) {
			begin(key);
		}
	}

	/** A descriptor is a copy of another one from now on. */
	void copied(int process, int from, int to) {
		if (from == to) {
			return;
		}
		Use source = at(process, from);
		long key = key(process, to);
		int number = current.getOrDefault(key, -1) + 1;
		use(key, number);
		uses.get(key).set(number, source);
	}

	/** What a look at a process has found. */
	void seen(int process, int fd, Inode inode, int bytesOfBlock, String path) {
		Use use = at(process, fd);
		if (use.inode != null && !use.inode.equals(inode)) { // a descriptor that was copied over
			use = begin(key(process, fd));
		}
		if (learning) {
			use.inode = inode;
			use.path = path;
			names.put(inode, path);
			blockBytes.put(inode, bytesOfBlock);
		}
	}

	/** A process begins with the descriptors of another one. */
	void inherited(int child, int parent) {
		Map<Long, Use> copies = new HashMap<>();
		current.forEach((key, number) -> {
			if (key >> 32 == parent) {
				copies.put(key(child, key.intValue()), uses.get(key).get(number));
			}
		});
		copies.forEach((key, from) -> {
			Use use = begin(key);
			if (!use.known()) {
				use.inode = from.inode;
				use.path = from.path;
			}
		});
	}

	/** An event below a call on this use has told the file. */
	void learn(Use use, Inode inode) {
		if (use.inode == null) {
			use.inode = inode;
			if (!use.path.isEmpty()) {
				names.putIfAbsent(inode, use.path);
			}
		}
	}

	/** The program has used this file. */
	void touched(Inode inode) {
		seen.add(inode);
	}

	boolean isTouched(Inode inode) {
		return seen.contains(inode);
	}

	/** Bytes of a block of the file system of a file. */
	int blockBytes(Inode inode) {
		int bytes = blockBytes.getOrDefault(inode, 4096);
		return bytes >= 512 && bytes <= 1 << 20 ? bytes : 4096;
	}

	/** Path of a file, or its numbers; empty when nothing is known. */
	String name(Use use) {
		if (use == null) {
			return "";
		}
		return use.path.isEmpty() ? name(use.inode) : use.path;
	}

	String name(Inode inode) {
		if (inode == null) {
			return "";
		}
		String name = names.get(inode);
		return name != null ? name : "inode " + (inode.device() >> 20) + ":" + (inode.device() & 0xfffff) + "/" + inode.number();
	}
}
