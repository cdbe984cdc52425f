// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Where code addresses are: for each process image and address the library or program, the function and the source line. Immutable, safe
 * for all threads. A store keeps it as a note: a version, the texts, then the addresses of each image in ascending order of unsigned
 * numbers.
 */
public final class CodePlaces {
	/** No addresses. */
	public static final CodePlaces NONE = new CodePlaces(List.of(), new long[0][], List.of());
	private static final int VERSION = 1;
	private static final long BIAS = Long.MIN_VALUE;

	private final List<CallFrame> frames;
	/** By image: the addresses with their sign turned, ascending. */
	private final long[][] ip;
	/** By image: the frame of each address. */
	private final List<int[]> frame;

	private CodePlaces(List<CallFrame> frames, long[][] ip, List<int[]> frame) {
		this.frames = frames;
		this.ip = ip;
		this.frame = frame;
	}

	/** Collects addresses. Not safe for threads. */
	public static final class Builder {
		private final List<TreeMap<Long, CallFrame>> images = new ArrayList<>();

		/** Adds an address of an image; the last one counts. */
		public void add(int image, CallFrame place) {
			while (images.size() <= image) {
				images.add(new TreeMap<>());
			}
			images.get(image).put(place.ip() ^ BIAS, new CallFrame(0, place.object(), place.function(), place.file(), place.line()));
		}

		/** Everything that was added. */
		public CodePlaces build() {
			Map<CallFrame, Integer> index = new HashMap<>();
			List<CallFrame> frames = new ArrayList<>();
			long[][] ip = new long[images.size()][];
			List<int[]> frame = new ArrayList<>();
			for (int i = 0; i < ip.length; i++) {
				ip[i] = images.get(i).keySet().stream().mapToLong(Long::longValue).toArray();
				frame.add(images.get(i).values().stream().mapToInt(f -> index.computeIfAbsent(f, k -> {
					frames.add(k);
					return frames.size() - 1;
				})).toArray());
			}
			return new CodePlaces(List.copyOf(frames), ip, frame);
		}
	}

	/** Different places; their {@link CallFrame#ip} is 0. */
	public List<CallFrame> frames() {
		return frames;
	}

	/** Whether there is no address. */
	public boolean isEmpty() {
		return frames.isEmpty();
	}

	/**
	 * Index in {@link #frames} of an address.
	 *
	 * @param image process image, -1 when it is not known: then the first image that has the address
	 * @return -1 when the address is not known
	 */
	public int of(int image, long address) {
		if (image >= 0) {
			return image < ip.length ? find(image, address) : -1;
		}
		for (int i = 0; i < ip.length; i++) {
			int f = find(i, address);
			if (f >= 0) {
				return f;
			}
		}
		return -1;
	}

	private int find(int image, long address) {
		int at = Arrays.binarySearch(ip[image], address ^ BIAS);
		return at < 0 ? -1 : frame.get(image)[at];
	}

	/** For a note. */
	public byte[] toBytes() {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (DataOutputStream out = new DataOutputStream(bytes)) {
			out.writeInt(VERSION);
			Map<String, Integer> index = new HashMap<>();
			List<String> texts = new ArrayList<>();
			for (CallFrame f : frames) {
				for (String text : new String[] {f.object(), f.function(), f.file()}) {
					index.computeIfAbsent(text, t -> {
						texts.add(t);
						return texts.size() - 1;
					});
				}
			}
			out.writeInt(texts.size());
			for (String text : texts) {
				byte[] utf8 = text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
				out.writeInt(utf8.length);
				out.write(utf8);
			}
			out.writeInt(frames.size());
			for (CallFrame f : frames) {
				out.writeInt(index.get(f.object()));
				out.writeInt(index.get(f.function()));
				out.writeInt(index.get(f.file()));
				out.writeInt(f.line());
			}
			out.writeInt(ip.length);
			for (int i = 0; i < ip.length; i++) {
				out.writeInt(ip[i].length);
				for (int k = 0; k < ip[i].length; k++) {
					out.writeLong(ip[i][k]);
					out.writeInt(frame.get(i)[k]);
				}
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
	public static CodePlaces of(byte[] bytes) throws StoreException {
		try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
			if (in.readInt() != VERSION) {
				throw new StoreException("the functions of code addresses are of another version of memtrace");
			}
			String[] texts = new String[count(in, Integer.BYTES)];
			for (int i = 0; i < texts.length; i++) {
				texts[i] = new String(in.readNBytes(count(in, 1)), java.nio.charset.StandardCharsets.UTF_8);
			}
			CallFrame[] frames = new CallFrame[count(in, 4 * Integer.BYTES)];
			for (int i = 0; i < frames.length; i++) {
				frames[i] = new CallFrame(0, texts[in.readInt()], texts[in.readInt()], texts[in.readInt()], in.readInt());
			}
			long[][] ip = new long[count(in, Integer.BYTES)][];
			List<int[]> frame = new ArrayList<>();
			for (int i = 0; i < ip.length; i++) {
				ip[i] = new long[count(in, Long.BYTES + Integer.BYTES)];
				int[] of = new int[ip[i].length];
				for (int k = 0; k < of.length; k++) {
					ip[i][k] = in.readLong();
					of[k] = java.util.Objects.checkIndex(in.readInt(), frames.length);
				}
				frame.add(of);
			}
			return new CodePlaces(List.of(frames), ip, frame);
		} catch (IOException | IndexOutOfBoundsException e) {
			throw new StoreException("the functions of code addresses are damaged");
		}
	}

	/** A number of things that each take so many bytes at least, so that a damaged one needs no memory. */
	private static int count(DataInputStream in, int bytes) throws IOException {
		int n = in.readInt();
		if (n < 0 || (long) n * bytes > in.available()) {
			throw new IOException("cut");
		}
		return n;
	}
}
