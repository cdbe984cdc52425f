// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.fine;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.InflaterInputStream;

/**
 * What a recording with a fine clock counted (docs/reference/trace-fine.md): raw numbers, so that they can be regrouped; {@link
 * FineEstimate} makes numbers of pages of them. Times are those of the trace. Immutable.
 *
 * @param bins by image and number
 * @param strata by image and number
 * @param counts by image, bin and stratum; only of bins that are known
 * @param firsts who came first, by image, bin, stratum and thread; only of bins that are known
 * @param stays of pages in the panel
 */
public record FineCounts(List<Bin> bins, List<Stratum> strata, List<Count> counts, List<First> firsts, List<Stay> stays) {
	/** Name of the note in the trace, see {@link #toBytes}. */
	public static final String NOTE = "fine";
	public static final FineCounts NONE = new FineCounts(List.of(), List.of(), List.of(), List.of(), List.of());

	/**
	 * What lies between two ticks of the clock: {@code [startNs, endNs)}.
	 *
	 * @param awayNs at this time all pages that the tick takes away were away
	 * @param cpuNs CPU time of the thread that used most, -1 not known
	 * @param look whether it begins with a complete look
	 * @param faults that came of the fine clock
	 * @param lost events that were lost
	 * @param known whether its counts can be used; else nothing is known of it, which is not 0
	 */
	public record Bin(int image, long number, long startNs, long awayNs, long endNs, long cpuNs, boolean look, long faults, long lost,
			boolean known) {
	}

	/**
	 * Pages of {@code [start, end)} that are likely to behave alike.
	 *
	 * @param taskId the thread that was the last one on them, -1 any or nobody
	 */
	public record Stratum(int image, long number, long start, long end, long taskId) {
	}

	/** Pages of a stratum in a bin: those that were mapped, with their sample, and those that are known exactly. */
	public record Count(int image, long bin, long stratum, long mapped, long sampled, long hit, long hitWritten, long armed, long armedHit,
			long armedWritten) {
		/** Whether the numbers can be. */
		public boolean isValid() {
			return hitWritten >= 0 && hitWritten <= hit && hit <= sampled && sampled <= mapped && armedWritten >= 0 && armedWritten <= armedHit
					&& armedHit <= armed && mapped <= Integer.MAX_VALUE && armed <= Integer.MAX_VALUE;
		}
	}

	/** Pages to which a thread came first. */
	public record First(int image, long bin, long stratum, long taskId, long hit, long written, long armedHit, long armedWritten,
			long waitNs) {
	}

	/**
	 * A stay of a page in the panel.
	 *
	 * @param looks so often it was taken away and looked at
	 * @param active after so many of them somebody came
	 * @param written so many of these saw a write
	 * @param users {@code TID:N} between semicolons: N times the thread came first
	 */
	public record Stay(int image, long address, long startNs, long endNs, long looks, long active, long waitNs, long written, String users) {
		/** After how many looks each thread came first, by its number in the system; -1: all others. */
		public Map<Long, Long> looksByTask() {
			Map<Long, Long> looks = new LinkedHashMap<>();
			for (String user : users.isEmpty() ? new String[0] : users.split(";")) {
				int colon = user.indexOf(':');
				looks.merge(Long.parseLong(user.substring(0, colon)), Long.parseLong(user.substring(colon + 1)), Long::sum);
			}
			return looks;
		}
	}

	public FineCounts {
		bins = List.copyOf(bins);
		strata = List.copyOf(strata);
		counts = List.copyOf(counts);
		firsts = List.copyOf(firsts);
		stays = List.copyOf(stays);
	}

	/** Whether there was no fine clock. */
	public boolean isEmpty() {
		return bins.isEmpty();
	}

	/** As it is stored: a line for each, a letter and its numbers between tabs, deflated. */
	public byte[] toBytes() {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (DeflaterOutputStream out = new DeflaterOutputStream(bytes)) {
			StringBuilder b = new StringBuilder();
			for (Bin x : bins) {
				line(b, 'B', x.image, x.number, x.startNs, x.awayNs, x.endNs, x.cpuNs, x.look ? 1 : 0, x.faults, x.lost, x.known ? 1 : 0);
				flush(b, out);
			}
			for (Stratum x : strata) {
				line(b, 'S', x.image, x.number, x.start, x.end, x.taskId);
				flush(b, out);
			}
			for (Count x : counts) {
				line(b, 'C', x.image, x.bin, x.stratum, x.mapped, x.sampled, x.hit, x.hitWritten, x.armed, x.armedHit, x.armedWritten);
				flush(b, out);
			}
			for (First x : firsts) {
				line(b, 'F', x.image, x.bin, x.stratum, x.taskId, x.hit, x.written, x.armedHit, x.armedWritten, x.waitNs);
				flush(b, out);
			}
			for (Stay x : stays) {
				line(b, 'P', x.image, x.address, x.startNs, x.endNs, x.looks, x.active, x.waitNs, x.written);
				b.insert(b.length() - 1, '\t').insert(b.length() - 1, x.users);
				flush(b, out);
			}
		} catch (IOException e) {
			throw new UncheckedIOException(e); // in memory
		}
		return bytes.toByteArray();
	}

	private static void line(StringBuilder b, char kind, long... numbers) {
		b.append(kind);
		for (long n : numbers) {
			b.append('\t').append(n);
		}
		b.append('\n');
	}

	private static void flush(StringBuilder b, DeflaterOutputStream out) throws IOException {
		out.write(b.toString().getBytes(StandardCharsets.UTF_8));
		b.setLength(0);
	}

	/**
	 * What {@link #toBytes} made.
	 *
	 * @throws IllegalArgumentException if it is something else
	 */
	public static FineCounts parse(byte[] note) {
		List<Bin> bins = new ArrayList<>();
		List<Stratum> strata = new ArrayList<>();
		List<Count> counts = new ArrayList<>();
		List<First> firsts = new ArrayList<>();
		List<Stay> stays = new ArrayList<>();
		try (InflaterInputStream in = new InflaterInputStream(new ByteArrayInputStream(note))) {
			for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().collect(Collectors.toList())) {
				String[] f = line.split("\t", -1);
				switch (f[0]) {
				case "B" -> bins.add(new Bin((int) n(f, 1), n(f, 2), n(f, 3), n(f, 4), n(f, 5), n(f, 6), n(f, 7) == 1, n(f, 8), n(f, 9),
						n(f, 10) == 1));
				case "S" -> strata.add(new Stratum((int) n(f, 1), n(f, 2), n(f, 3), n(f, 4), n(f, 5)));
				case "C" -> counts.add(new Count((int) n(f, 1), n(f, 2), n(f, 3), n(f, 4), n(f, 5), n(f, 6), n(f, 7), n(f, 8), n(f, 9),
						n(f, 10)));
				case "F" -> firsts.add(new First((int) n(f, 1), n(f, 2), n(f, 3), n(f, 4), n(f, 5), n(f, 6), n(f, 7), n(f, 8), n(f, 9)));
				case "P" -> stays.add(new Stay((int) n(f, 1), n(f, 2), n(f, 3), n(f, 4), n(f, 5), n(f, 6), n(f, 7), n(f, 8), f[9]));
				default -> throw new IllegalArgumentException("counts of a fine clock begin with " + f[0]);
				}
			}
		} catch (IOException | ArrayIndexOutOfBoundsException e) {
			throw new IllegalArgumentException("counts of a fine clock are damaged: " + e.getMessage(), e);
		}
		return new FineCounts(bins, strata, counts, firsts, stays);
	}

	private static long n(String[] fields, int at) {
		return Long.parseLong(fields[at]);
	}
}
