// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.pattern;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;

import org.memtrace.analysis.findings.PlantedTrace;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.memory.StructureKind;

/**
 * A made program whose pattern is known, and what a recorder sees of it: an interval has subphases; in each, the first thread on a page is
 * recorded with its first address, another one only sometimes. Sizes, numbers of threads, strides and the work in a subphase are random.
 */
final class MadePattern {
	private static final int PAGE = PlantedTrace.PAGE;
	private static final int ELEMENT = 8;
	private static final int INTERVALS = 8;

	/** What one thread does in one subphase: adds the first address in each page that it enters. */
	private interface Work {
		void subphase(int thread, Visits v);
	}

	/** Pages that a thread enters in a subphase. */
	private static final class Visits {
		final Map<Integer, Integer> offset = new HashMap<>();
		final Map<Integer, Boolean> written = new HashMap<>();

		void at(long address, boolean write) {
			int page = (int) (address / PAGE);
			offset.putIfAbsent(page, (int) (address % PAGE));
			written.merge(page, write, Boolean::logicalOr);
		}

		/** All of [from, from + bytes), or down to from - bytes, in a cyclic range. */
		void sweep(long low, long high, long from, long bytes, boolean down, boolean write) {
			long left = Math.min(bytes, high - low);
			for (long a = from; left > 0;) {
				at(a, write);
				long step = down ? a % PAGE + ELEMENT : PAGE - a % PAGE;
				left -= step;
				a += down ? -step : step;
				if (a >= high) {
					a = low;
				} else if (a < low) {
					a = high - ELEMENT;
				}
			}
		}
	}

	/** What it is; null for a program without one of the patterns. */
	final Pattern truth;
	/** In words, for a message. */
	final String what;
	/** The stride of what is strided, else 0. */
	final long strideBytes;
	/** Whether several threads walk over the same rows at once, so that one of them is not recorded on each page. */
	private boolean together;
	private final int pages;
	private final int threads;
	private final int subphases;
	/** How often a thread that comes to a page after another one is recorded. */
	private final double second;
	private final Work work;
	private final Random random;

	private MadePattern(Pattern truth, String what, long strideBytes, int pages, int threads, int subphases, double second, Work work,
			Random random) {
		this.truth = truth;
		this.what = what + ", " + pages + " pages, " + threads + " threads, " + subphases + " subphases";
		this.strideBytes = strideBytes;
		this.pages = pages;
		this.threads = threads;
		this.subphases = subphases;
		this.second = second;
		this.work = work;
		this.random = random;
	}

	boolean together() {
		return together;
	}

	/** Made from a seed. */
	static MadePattern of(Pattern truth, long seed) {
		Random r = new Random(new SplittableRandom(seed).nextLong()); // seeds that follow each other make alike programs otherwise
		if (truth == null) {
			return none(r);
		}
		return switch (truth) {
		case LINEAR -> linear(r);
		case BLOCKS -> blocks(r);
		case STRIDED -> strided(r);
		case RANDOM -> random(r);
		case HOT_SPOT -> hot(r);
		case ALL_TO_ALL -> all(r);
		case PING_PONG -> pingPong(r);
		};
	}

	private static int pages(Random r, int least, int most) {
		return (int) Math.round(least * Math.pow((double) most / least, r.nextDouble()));
	}

	private static MadePattern linear(Random r) {
		int n = pages(r, 24, 2048);
		int threads = 1 + r.nextInt(6);
		int subphases = 1 + r.nextInt(5);
		boolean down = r.nextInt(4) == 0;
		boolean write = r.nextBoolean();
		boolean all = !write && r.nextBoolean();
		long whole = (long) n * PAGE;
		double passes = Math.max(20.0 / n, 0.2 + 2 * r.nextDouble());
		long[] at = new long[threads];
		for (int t = 0; t < threads; t++) {
			at[t] = r.nextInt(n * PAGE / ELEMENT) * (long) ELEMENT;
		}
		int[] turn = new int[1];
		return new MadePattern(Pattern.LINEAR, (down ? "down" : "up") + (all ? " by all" : " by one") + String.format(", %.1f passes", passes), 0,
				n, threads, subphases, r.nextDouble(), (t, v) -> {
					if (all || t == turn[0] % threads) {
						long bytes = (long) (passes * whole);
						v.sweep(0, whole, at[t], bytes, down, write);
						at[t] = Math.floorMod(at[t] + (down ? -bytes : bytes) / ELEMENT * ELEMENT, whole);
					}
				}, r);
	}

	private static MadePattern blocks(Random r) {
		int threads = 2 + r.nextInt(7);
		int n = pages(r, 10 * threads, 2048);
		boolean halo = r.nextBoolean();
		double passes = 0.6 + 2 * r.nextDouble();
		long[] at = new long[threads];
		for (int t = 0; t < threads; t++) {
			at[t] = low(n, threads, t);
		}
		return new MadePattern(Pattern.BLOCKS, (halo ? "with" : "without") + " borders" + String.format(", %.1f passes", passes), 0, n, threads, 1
				+ r.nextInt(5), r.nextDouble(), (t, v) -> {
					long low = low(n, threads, t);
					long high = low(n, threads, t + 1);
					long bytes = (long) (passes * (high - low));
					if (halo && t > 0) {
						v.at(low - PAGE + 16, false);
					}
					if (halo && t < threads - 1) {
						v.at(high, false);
					}
					v.sweep(low, high, at[t], bytes, false, true);
					at[t] = low + (at[t] - low + bytes / ELEMENT * ELEMENT) % (high - low);
				}, r);
	}

	private static long low(int pages, int threads, int thread) {
		return (long) pages * thread / threads * PAGE;
	}

	private static MadePattern strided(Random r) {
		int threads = 1 + r.nextInt(4);
		boolean own = r.nextBoolean();
		long stride = r.nextBoolean() ? 1L << 9 + r.nextInt(6) : 8L * (64 + r.nextInt(1500));
		int rows = (int) Math.max(40L * threads * Math.max(1, PAGE / stride), pages(r, 64, 4000));
		int n = (int) ((rows * stride + PAGE - 1) / PAGE);
		double columns = 0.5 + 3 * r.nextDouble();
		long[] at = new long[threads];
		MadePattern made = new MadePattern(Pattern.STRIDED, stride + " bytes" + (own ? " in own rows" : " in all rows")
				+ String.format(", %.1f columns", columns), stride, n, threads, 1 + r.nextInt(5), r.nextDouble(), (t, v) -> {
					long from = own ? (long) rows * t / threads : 0;
					at[t] = r.nextInt(1 << 30); // many columns between two looks
					long count = own ? (long) rows * (t + 1) / threads - from : rows;
					for (long k = (long) (columns * count); k > 0; k--, at[t]++) {
						long column = at[t] / count % (stride / ELEMENT);
						v.at((from + at[t] % count) * stride + column * ELEMENT, own);
					}
				}, r);
		made.together = threads > 1 && !own;
		return made;
	}

	private static MadePattern random(Random r) {
		int threads = 1 + r.nextInt(5);
		int n = pages(r, 40, 2048);
		double perPage = Math.max(40.0 / n, Math.pow(10, r.nextDouble() * 2 - 1));
		boolean one = r.nextBoolean();
		int element = ELEMENT << r.nextInt(7);
		int field = r.nextInt(element / ELEMENT) * ELEMENT;
		return new MadePattern(Pattern.RANDOM, String.format("%.2f accesses for each page, elements of %d bytes, ", perPage, element)
				+ (one ? "by one" : "by all, which read"), 0, n, threads, 1 + r.nextInt(5), r.nextDouble(), (t, v) -> {
					for (int k = (int) (perPage * n); k > 0 && (!one || t == 0); k--) {
						v.at(r.nextInt(n * PAGE / element) * (long) element + field, one);
					}
				}, r);
	}

	private static MadePattern hot(Random r) {
		int threads = 3 + r.nextInt(6);
		int n = pages(r, Math.max(64, 10 * threads), 2048);
		int hot = 1 + r.nextInt(Math.min(8, n / 25));
		int[] place = r.ints(0, n).distinct().limit(hot).toArray();
		int subphases = 4 + r.nextInt(2);
		int[] turn = new int[1];
		return new MadePattern(Pattern.HOT_SPOT, hot + " pages", 0, n, threads, subphases, 0.4 + 0.6 * r.nextDouble(), (t, v) -> {
			long low = low(n, threads, t);
			long high = low(n, threads, t + 1);
			// a sweep of its own part lasts for the interval
			long part = (high - low) / subphases / PAGE * PAGE;
			int s = turn[0]++ / threads % subphases;
			v.sweep(low, high, Math.min(low + s * part, high - PAGE), s == subphases - 1 ? high - low - s * part
					: Math.max(part, PAGE), false, true);
			for (int p : place) {
				v.at((long) p * PAGE + 64 * r.nextInt(64), true);
			}
		}, r);
	}

	private static MadePattern all(Random r) {
		int threads = 3 + r.nextInt(6);
		int n = pages(r, 8, 1024);
		boolean sweeps = r.nextBoolean();
		return new MadePattern(Pattern.ALL_TO_ALL, sweeps ? "all sweep"
				: "all at random", 0, n, threads, 4 + r.nextInt(2), 0.5 + 0.5 * r.nextDouble(), (t, v) -> {
			if (sweeps) {
				v.sweep(0, (long) n * PAGE, (long) r.nextInt(n) * PAGE, (long) n * PAGE, false, true);
			} else {
				for (int k = 8 * n; k > 0; k--) {
					v.at(r.nextInt(n * PAGE / ELEMENT) * (long) ELEMENT, true);
				}
			}
		}, r);
	}

	private static MadePattern pingPong(Random r) {
		int threads = 2 + r.nextInt(6);
		int n = pages(r, 1, 64);
		int a = r.nextInt(threads);
		int b = (a + 1 + r.nextInt(threads - 1)) % threads;
		return new MadePattern(Pattern.PING_PONG, "two", 0, n, threads, 4 + r.nextInt(2), 0.5 + 0.5 * r.nextDouble(), (t, v) -> {
			if (t == a || t == b) {
				v.sweep(0, (long) n * PAGE, 0, (long) n * PAGE, false, t == a);
			}
		}, r);
	}

	private static MadePattern none(Random r) {
		int n = pages(r, 48, 1024);
		int threads = 2 + r.nextInt(5);
		int kind = r.nextInt(3);
		boolean[] used = new boolean[n];
		int[] owner = new int[n];
		int left = 0;
		int now = 0;
		boolean on = true;
		for (int p = 0; p < n; p++) {
			if (left-- <= 0) { // a new piece
				left = r.nextInt(3);
				on = !on;
				now = r.nextInt(threads);
			}
			used[p] = on;
			owner[p] = now;
		}
		String[] names = {"pieces by one", "small pieces dealt out", "half swept, half at random"};
		return new MadePattern(null, names[kind], 0, n, threads, 1 + r.nextInt(5), r.nextDouble(), (t, v) -> {
			for (int p = 0; p < n; p++) {
				if (kind == 0 ? t == 0 && used[p] : kind == 1 ? owner[p] == t : t == 0) {
					v.at((long) p * PAGE + (kind == 2 && p >= n / 2 ? r.nextInt(PAGE) : 0), t == 0);
				}
			}
		}, r);
	}

	/** The label of each interval; null for none. */
	List<PatternReading> read() throws MemtraceException {
		PlantedTrace trace = new PlantedTrace(threads, INTERVALS);
		int s = trace.structure("data", StructureKind.HEAP, pages);
		for (int i = 0; i < INTERVALS; i++) {
			// by page and thread: reads, writes, first read, first write
			Map<Integer, Map<Integer, int[]>> records = new TreeMap<>();
			for (int k = 0; k < subphases; k++) {
				Visits[] all = new Visits[threads];
				List<Integer> order = new ArrayList<>();
				for (int t = 0; t < threads; t++) {
					all[t] = new Visits();
					work.subphase(t, all[t]);
					order.add(t);
				}
				for (int p = 0; p < pages; p++) {
					Collections.shuffle(order, random);
					boolean first = true;
					for (int t : order) {
						Integer offset = all[t].offset.get(p);
						if (offset != null && (first || random.nextDouble() < second)) {
							first = false;
							boolean write = all[t].written.get(p);
							int[] r = records.computeIfAbsent(p, x -> new TreeMap<>()).computeIfAbsent(t, x -> new int[] {0, 0, -1, -1});
							r[write ? 1 : 0]++;
							r[write ? 3 : 2] = r[write ? 3 : 2] < 0 ? offset : r[write ? 3 : 2];
						}
					}
				}
			}
			int interval = i;
			records.forEach((p, byThread) -> byThread.forEach((t, r) -> trace.access(s, p, interval, t, r[0], r[1], r[2], r[3])));
		}
		Patterns patterns = trace.patterns();
		List<PatternReading> readings = new ArrayList<>();
		for (int w = 0; w < patterns.windows(); w++) {
			PatternReading reading = patterns.reading(0, w);
			if (reading != null) {
				readings.add(reading);
			}
		}
		return readings;
	}
}
