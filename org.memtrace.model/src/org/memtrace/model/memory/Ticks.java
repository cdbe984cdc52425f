// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.memory;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.InflaterInputStream;

import org.memtrace.model.StoreException;

/**
 * Samples of the CPU clock: where a thread was after each so many nanoseconds of its CPU time, and which memory it waited for there.
 * Immutable. A store keeps them as a note: a version, the different places, then the ticks in order of time.
 */
public final class Ticks {
	/** Name of the note in the trace. */
	public static final String NOTE = "ticks";
	public static final Ticks NONE = new Ticks(List.of());
	/** No structure, or not known. */
	public static final int NO_STRUCTURE = -1;

	private static final int VERSION = 1;

	/** What the thread did; the ordinal is stored, so only append. */
	public enum Mode {
		/** Code of the program. */
		USER("user"),
		/** The kernel served a fault of an instruction, or was interrupted in it. */
		FAULT("fault"),
		/** A system call. */
		CALL("call");

		private final String id;

		Mode(String id) {
			this.id = id;
		}

		/** Name in tables. */
		public String id() {
			return id;
		}
	}

	/** What the instruction does with memory; the ordinal is stored, so only append. */
	public enum Access {
		/** The instruction is not known. */
		UNKNOWN(""),
		/** It has no operand in memory. */
		NONE("none"), READ("read"), WRITE("write"), BOTH("both"),
		/** It accesses memory in a direction that is not known. */
		ANY("access");

		private final String id;

		Access(String id) {
			this.id = id;
		}

		/** Name in tables. */
		public String id() {
			return id;
		}

		/** Whether it accesses memory. */
		public boolean isMemory() {
			return ordinal() >= READ.ordinal();
		}
	}

	/**
	 * What ticks have in common.
	 *
	 * @param image process image
	 * @param taskId id that the operating system gives the thread
	 * @param ip address of the instruction that waits, as far as that can be told; 0 not known
	 * @param bytes width of its access, 0 not known or none
	 * @param structure number of the structure, {@link #NO_STRUCTURE}
	 * @param addressKnown whether the address is known
	 */
	public record Place(int image, long taskId, Mode mode, long ip, Access access, int bytes, int structure, boolean addressKnown) {
	}

	/**
	 * A tick.
	 *
	 * @param timeNs when, in the clock of the trace
	 * @param cpu number of the CPU
	 * @param address of the byte; 0 where the place does not know it
	 * @param cpuNs CPU time of the thread that it stands for
	 */
	public record Tick(Place place, long timeNs, int cpu, long address, long cpuNs) {
	}

	private final List<Tick> all;

	private Ticks(List<Tick> all) {
		this.all = all;
	}

	/** In order of time. */
	public List<Tick> all() {
		return all;
	}

	public boolean isEmpty() {
		return all.isEmpty();
	}

	/** Collects ticks. Not safe for threads. */
	public static final class Builder {
		private final List<Tick> ticks = new ArrayList<>();
		private final Map<Place, Place> places = new HashMap<>();

		public void add(Place place, long timeNs, int cpu, long address, long cpuNs) {
			ticks.add(new Tick(places.computeIfAbsent(place, p -> p), timeNs, cpu, address, cpuNs));
		}

		public Ticks build() {
			List<Tick> sorted = new ArrayList<>(ticks);
			sorted.sort(Comparator.comparingLong(Tick::timeNs));
			return sorted.isEmpty() ? NONE : new Ticks(List.copyOf(sorted));
		}
	}

	/** For a note. */
	public byte[] toBytes() {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (DataOutputStream out = new DataOutputStream(new DeflaterOutputStream(bytes))) {
			Map<Place, Integer> number = new HashMap<>();
			List<Place> places = new ArrayList<>();
			for (Tick t : all) {
				number.computeIfAbsent(t.place, p -> {
					places.add(p);
					return places.size() - 1;
				});
			}
			out.writeInt(VERSION);
			out.writeInt(places.size());
			for (Place p : places) {
				out.writeInt(p.image);
				out.writeLong(p.taskId);
				out.writeByte(p.mode.ordinal());
				out.writeLong(p.ip);
				out.writeByte(p.access.ordinal());
				out.writeInt(p.bytes);
				out.writeInt(p.structure);
				out.writeBoolean(p.addressKnown);
			}
			out.writeInt(all.size());
			for (Tick t : all) {
				out.writeInt(number.get(t.place));
				out.writeLong(t.timeNs);
				out.writeInt(t.cpu);
				out.writeLong(t.address);
				out.writeLong(t.cpuNs);
			}
		} catch (IOException e) {
			throw new IllegalStateException(e); // memory has no such errors
		}
		return bytes.toByteArray();
	}

	/**
	 * What {@link #toBytes} made.
	 *
	 * @throws StoreException if it is damaged or of a later version
	 */
	public static Ticks of(byte[] bytes) throws StoreException {
		try (DataInputStream in = new DataInputStream(new InflaterInputStream(new ByteArrayInputStream(bytes)))) {
			if (in.readInt() != VERSION) {
				throw new StoreException("the ticks are of another version of memtrace");
			}
			List<Place> places = new ArrayList<>();
			for (int i = in.readInt(); i > 0; i--) {
				places.add(new Place(in.readInt(), in.readLong(), Mode.values()[in.readUnsignedByte()], in.readLong(),
						Access.values()[in.readUnsignedByte()], in.readInt(), in.readInt(), in.readBoolean()));
			}
			List<Tick> ticks = new ArrayList<>();
			for (int i = in.readInt(); i > 0; i--) {
				ticks.add(new Tick(places.get(in.readInt()), in.readLong(), in.readInt(), in.readLong(), in.readLong()));
			}
			return new Ticks(List.copyOf(ticks));
		} catch (IOException | IndexOutOfBoundsException e) {
			throw new StoreException("the ticks are damaged");
		}
	}
}
