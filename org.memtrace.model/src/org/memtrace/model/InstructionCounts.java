// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * What {@code record --exact --instructions} counted: how often each instruction accessed memory, and with which strides, the differences
 * of the addresses of its successive accesses in a thread. Immutable.
 */
public final class InstructionCounts {
	/** Name of the note in the trace: a line for each use, see {@link #toBytes}. */
	public static final String NOTE = "instructions";
	public static final InstructionCounts NONE = new InstructionCounts(List.of());

	/** How far a stride goes; of negative ones backwards. The number is that of the trace directory. */
	public enum Reach {
		/** The same address again. */
		SAME,
		/** As far as an access is wide. */
		ELEMENT,
		/** Another distance, up to a cache line. */
		LINE,
		/** Up to 4 KiB. */
		PAGE,
		/** Up to 2 MiB. */
		NEAR,
		/** Farther. */
		FAR
	}

	/**
	 * The strides of one reach and direction.
	 *
	 * @param reach number of {@link Reach}, negative backwards
	 * @param value the first of them
	 * @param same how many were equal to it
	 * @param others how many were not
	 */
	public record Stride(int reach, long value, long same, long others) {
		public Reach kind() {
			return Reach.values()[Math.abs(reach)];
		}

		public long count() {
			return same + others;
		}
	}

	/**
	 * What an instruction did in a thread, in one direction.
	 *
	 * @param image process image
	 * @param taskId id that the operating system gives the thread
	 * @param ip address of the instruction
	 * @param bytes width of an access
	 * @param accesses how many; one more than the strides for each run of them
	 * @param first address of the first access
	 * @param last address of the last one
	 * @param strides by reach
	 */
	public record Use(int image, long taskId, long ip, boolean write, int bytes, long accesses, long first, long last, List<Stride> strides) {
		public Use {
			strides = List.copyOf(strides);
		}

		/** The value that most strides have, as far as they were told apart; null when there is none. */
		public Stride dominant() {
			return strides.stream().filter(s -> s.same > 0).max(Comparator.comparingLong(Stride::same)).orElse(null);
		}

		/** Strides of a reach, forwards and backwards. */
		public long count(Reach reach) {
			return strides.stream().filter(s -> s.kind() == reach).mapToLong(Stride::count).sum();
		}

		/** Both together, where they are one instruction; first and last are those of this one. */
		public Use with(Use o) {
			TreeMap<Integer, Stride> all = new TreeMap<>();
			Stream.concat(strides.stream(), o.strides.stream()).forEach(s -> all.merge(s.reach, s, (a, b) -> {
				Stride most = a.same >= b.same ? a : b;
				long same = a.value == b.value ? a.same + b.same : most.same;
				return new Stride(a.reach, most.value, same, a.count() + b.count() - same);
			}));
			return new Use(image, taskId, ip, write, Math.max(bytes, o.bytes), accesses + o.accesses, first, last, List.copyOf(all.values()));
		}
	}

	private final List<Use> uses;

	private InstructionCounts(List<Use> uses) {
		this.uses = List.copyOf(uses);
	}

	/** By image, instruction, direction and task. */
	public List<Use> uses() {
		return uses;
	}

	public boolean isEmpty() {
		return uses.isEmpty();
	}

	/** The strides as in the trace directory: {@code reach:value:same:others}, between blanks. */
	public static String text(List<Stride> strides) {
		StringBuilder b = new StringBuilder();
		for (Stride s : strides) {
			b.append(b.isEmpty() ? "" : " ").append(s.reach).append(':').append(s.value).append(':').append(s.same).append(':').append(s.others);
		}
		return b.toString();
	}

	/**
	 * What {@link #text} made.
	 *
	 * @throws NumberFormatException if it is something else
	 */
	public static List<Stride> strides(String text) {
		List<Stride> all = new ArrayList<>();
		for (String one : text.isEmpty() ? new String[0] : text.split(" ")) {
			String[] f = one.split(":", -1);
			if (f.length != 4) {
				throw new NumberFormatException(one);
			}
			Stride s = new Stride(Integer.parseInt(f[0]), Long.parseLong(f[1]), Long.parseLong(f[2]), Long.parseLong(f[3]));
			if (Math.abs((long) s.reach) >= Reach.values().length || s.same < 0 || s.others < 0 || s.same > Long.MAX_VALUE - s.others
					|| all.stream().anyMatch(o -> o.reach >= s.reach)) {
				throw new NumberFormatException(one);
			}
			all.add(s);
		}
		return all;
	}

	/** As it is stored: image, task, instruction, direction, bytes, accesses, first, last and strides between tabs. */
	public byte[] toBytes() {
		StringBuilder b = new StringBuilder();
		for (Use u : uses) {
			b.append(u.image).append('\t').append(u.taskId).append('\t').append(Long.toHexString(u.ip)).append('\t').append(u.write ? 1 : 0)
					.append('\t').append(u.bytes).append('\t').append(u.accesses).append('\t').append(Long.toHexString(u.first)).append('\t')
					.append(Long.toHexString(u.last)).append('\t').append(text(u.strides)).append('\n');
		}
		return b.toString().getBytes(StandardCharsets.UTF_8);
	}

	/** Reads what was stored; a line that is damaged is left out. */
	public static InstructionCounts parse(byte[] stored) {
		Builder b = new Builder();
		for (String line : new String(stored, StandardCharsets.UTF_8).split("\n")) {
			String[] f = line.split("\t", -1);
			try {
				if (f.length == 9) {
					b.add(new Use(Integer.parseInt(f[0]), Long.parseLong(f[1]), Long.parseUnsignedLong(f[2], 16), f[3].equals("1"),
							Integer.parseInt(f[4]), Long.parseLong(f[5]), Long.parseUnsignedLong(f[6], 16), Long.parseUnsignedLong(f[7], 16),
							strides(f[8])));
				}
			} catch (NumberFormatException e) {
				// left out
			}
		}
		return b.build();
	}

	/** Collects uses; those of one instruction, direction, thread and image are one. Not safe for threads. */
	public static final class Builder {
		private record Key(int image, long ip, boolean write, long taskId) {
		}

		private static final Comparator<Key> ORDER = Comparator.comparingInt(Key::image).thenComparing(Key::ip, Long::compareUnsigned)
				.thenComparing(Key::write).thenComparingLong(Key::taskId);

		private final Map<Key, Use> uses = new TreeMap<>(ORDER);

		public void add(Use u) {
			uses.merge(new Key(u.image, u.ip, u.write, u.taskId), u, Use::with);
		}

		public InstructionCounts build() {
			return new InstructionCounts(List.copyOf(uses.values()));
		}
	}
}
