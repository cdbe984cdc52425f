// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.pattern;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import org.memtrace.analysis.findings.rules.Check;
import org.memtrace.analysis.pattern.WindowUse.Counts;
import org.memtrace.analysis.pattern.WindowUse.ThreadUse;

/**
 * The label of a structure in a window, and why. Conditions and thresholds are those of docs/reference/patterns.md; each pattern has an
 * index, which is the value of its first condition, from 0 to 1. Immutable.
 */
public final class PatternReading {
	private static final int LEAST_PAGES = 16;
	private static final int HOT_OF_PAGES = 32;
	private static final double HOT_SHARE = 0.05;
	static final int MOST_HOT = 16;
	private static final double HOT_TIMES = 4;
	private static final int ENTRIES = 16;
	private static final int LEAST_STEPS = 32;
	private static final double INSIDE = 0.15;
	private static final double SAME_STRIDE = 0.6;
	private static final double AS_MANY = 0.9;
	private static final double HARDLY = 0.3;
	private static final double FREQUENT = 0.25;
	private static final String SAME_DISTANCE = "share of the entries inside of pages that are one stride after another one";
	private static final String SAME_DIVISOR = "share of the distances between entries that are a multiple of one stride";
	/** Two lines: what is nearer is a sweep. */
	private static final int LEAST_STRIDE = 128;
	private static final double ANY_LINE = 0.34;
	private static final double REGULAR = 0.8;
	private static final double IRREGULAR = 0.3;
	private static final double TWO = 0.9;
	private static final double BOTH = 0.5;
	private static final double FILL = 0.75;
	private static final double WRITTEN = 0.3;
	private static final double FEW = 0.2;
	private static final int STACK_PAGES = 8;
	/** A thread takes part when it uses so much of what the busiest one uses. */
	private static final double TAKES_PART = 0.05;

	private static final int LEAST_TEAM = 3;
	/** Windows in which something must be so that it is no accident. */
	static final int LASTING = 3;
	private static final PatternReading[] TINY = IntStream.range(0, LEAST_PAGES).mapToObj(PatternReading::few).toArray(PatternReading[]::new);

	private final Pattern pattern;
	/** The stride, if it is strided. */
	private final long stepBytes;
	private final Map<Pattern, List<Check>> checks;

	private PatternReading(Pattern pattern, long stepBytes, Map<Pattern, List<Check>> checks) {
		this.pattern = pattern;
		this.stepBytes = stepBytes;
		this.checks = checks;
	}

	/** The label; null when no condition holds. */
	public Pattern pattern() {
		return pattern;
	}

	/**
	 * Step of what is strided, in bytes; 0 for others. A step that divides a page is told as the page: only the first address in a page is
	 * recorded.
	 */
	public long strideBytes() {
		return pattern == Pattern.STRIDED ? stepBytes : 0;
	}

	/** How clear the label is, 0 to 1: the value of its first condition; 0 without a label. */
	public double index() {
		return pattern == null ? 0 : checks.get(pattern).get(0).value();
	}

	/** The conditions of each pattern in order, also of those that do not hold: these are what speaks against them. */
	public Map<Pattern, List<Check>> checks() {
		return checks;
	}

	/** Of a few pages that one thread uses: no label is possible, and the many small blocks of a program share the reason. */
	private static PatternReading few(int pages) {
		Map<Pattern, List<Check>> all = new LinkedHashMap<>();
		for (Pattern p : Pattern.values()) {
			all.put(p, switch (p) {
			case PING_PONG -> List.of(Check.atLeast("threads", 1, 2));
			case ALL_TO_ALL -> List.of(Check.atLeast("threads", 1, LEAST_TEAM));
			case HOT_SPOT -> List.of(Check.atLeast("pages", pages, HOT_OF_PAGES));
			case STRIDED, RANDOM, BLOCKS, LINEAR -> List.of(Check.atLeast("pages", pages, LEAST_PAGES));
			});
		}
		return new PatternReading(null, 0, all);
	}

	/**
	 * Reads a window alone; whether ping-pong lasts is asked later.
	 *
	 * @param unit what the trace counts, in the plural
	 */
	static PatternReading of(WindowUse u, int pageBytes, boolean stack, String unit) {
		if (u.threads.size() == 1 && u.pages < LEAST_PAGES) {
			return TINY[u.pages];
		}
		Map<Pattern, List<Check>> all = new LinkedHashMap<>();
		int team = team(u.threads.values().stream().mapToInt(t -> t.pages).toArray());
		all.put(Pattern.PING_PONG, pingPong(u, stack));
		all.put(Pattern.ALL_TO_ALL, List.of(Check.atLeast("share of the (page, thread) pairs that are used",
				share(u.pairs, (double) u.pages * team), FILL),
				Check.atLeast("threads", team, LEAST_TEAM), Check.atLeast("share of the pages with several threads and a write",
				share(u.sharedWritten, u.pages), WRITTEN)));
		all.put(Pattern.HOT_SPOT, hotSpot(u, unit));
		int entries = 0;
		int inside = 0;
		int top = 0;
		for (ThreadUse t : u.threads.values()) {
			entries += t.entries;
			inside += t.inside();
			top += t.topLine();
		}
		boolean known = entries >= ENTRIES;
		Counts steps = u.steps();
		Map.Entry<Long, Integer> usual = steps.times().entrySet().stream().max(Map.Entry.comparingByValue()).orElse(null);
		double regular = usual == null ? 0 : share(usual.getValue(), steps.all());
		long step = usual == null ? 1 : usual.getKey();
		double next = share(steps.times().getOrDefault(1L, 0), steps.all());
		// to the same line of each page, or from page to page with the same step
		boolean byLines = known && share(inside, entries) >= INSIDE;
		Stride found = stride(u, steps, entries, pageBytes);
		all.put(Pattern.STRIDED, byLines
				? List.of(Check.atLeast(found.text(), found.share(), SAME_STRIDE), Check.atLeast("the stride in bytes", found.bytes(), LEAST_STRIDE),
						Check.atLeast("share of the pages that are entered far from their ends", share(inside, entries), INSIDE),
						Check.atLeast("pages", u.pages, LEAST_PAGES))
				: List.of(Check.atLeast("share of the steps that are alike", regular, REGULAR), Check.atLeast("that step in pages", step, 2),
						Check.atLeast("pages", u.pages, LEAST_PAGES)));
		long stride = byLines ? found.bytes() : step * pageBytes;
		all.put(Pattern.RANDOM, byLines
				? List.of(Check.atLeast("share of the pages that are entered far from their ends", share(inside, entries), BOTH),
						Check.atMost("share of these entries that are in one line per thread", share(top, inside), ANY_LINE).counter(),
						Check.atMost(found.text(), found.share(), HARDLY).counter(),
						Check.atLeast("pages", u.pages, LEAST_PAGES))
				: List.of(Check.atLeast("share of the steps that are unlike", 1 - regular, 1 - IRREGULAR),
				Check.atLeast("steps from page to page", steps.all(), LEAST_STEPS),
						Check.atLeast("pages", u.pages, LEAST_PAGES)));
		double changes = u.pages < 2 ? 1 : share(u.ownerChanges, u.pages - 1.0);
		all.put(Pattern.BLOCKS, List.of(Check.atLeast("share of the neighbouring pages with the same owner", 1 - changes, REGULAR),
				Check.atLeast("threads", team, 2),
				Check.atLeast("pages", u.pages, LEAST_PAGES), Check.atLeast("share of the pages that one thread uses nearly alone",
				share(u.owned, u.pages), REGULAR),
				Check.atLeast("changes of the owner", u.ownerChanges, team - 1),
				Check.atMost("changes of the owner", u.ownerChanges, 2.0 * team).counter()));
		List<Check> linear = new ArrayList<>();
		linear.add(Check.atLeast("share of the steps that are to the next page", next, REGULAR));
		linear.add(Check.atLeast("pages", u.pages, LEAST_PAGES));
		linear.add(Check.atLeast("pages whose first address is known", entries, ENTRIES));
		linear.add(Check.atLeast("share of the pages that are entered near their ends", share((double) entries - inside, entries),
				REGULAR).counter());
		all.put(Pattern.LINEAR, linear);
		return first(all, stride);
	}

	/** Threads that take part, of those that use so many pages. */
	static int team(int[] pages) {
		int busiest = Arrays.stream(pages).max().orElse(0);
		return (int) Arrays.stream(pages).filter(n -> n >= TAKES_PART * busiest).count();
	}

	private static PatternReading first(Map<Pattern, List<Check>> all, long stepBytes) {
		for (Pattern p : Pattern.values()) {
			if (all.get(p).stream().allMatch(Check::holds)) {
				return new PatternReading(p, stepBytes, all);
			}
		}
		return new PatternReading(null, stepBytes, all);
	}

	/** This reading with one more condition of a pattern, which does not hold because the pattern does not last. */
	PatternReading without(Pattern unsteady, Check lasting) {
		Map<Pattern, List<Check>> now = new LinkedHashMap<>(checks);
		List<Check> list = new ArrayList<>(now.get(unsteady));
		list.add(lasting);
		now.put(unsteady, list);
		return first(now, stepBytes);
	}

	/** A stride between the first addresses in pages, and the share of them that it explains. */
	private record Stride(long bytes, double share, String text) {
	}

	private static Stride stride(WindowUse u, Counts steps, int entries, int pageBytes) {
		Counts distances = u.distances();
		Map.Entry<Long, Integer> usual = distances.times().entrySet().stream().filter(e -> e.getKey() >= pageBytes)
				.max(Map.Entry.<Long, Integer>comparingByValue().thenComparing(Map.Entry.comparingByKey(Comparator.reverseOrder()))).orElse(null);
		Stride again = new Stride(0, 0, SAME_DISTANCE);
		if (usual != null) {
			// a stride that does not divide the page comes back to the same place after several pages: frequent shorter distances tell it
			long part = distances.times().entrySet().stream().filter(e -> e.getValue() >=
					FREQUENT * usual.getValue()).map(Map.Entry::getKey).reduce(0L, WindowUse::gcd);
			again = new Stride(part >= LEAST_STRIDE ? part : usual.getKey(), Math.min(1, share(usual.getValue(), distances.all())), SAME_DISTANCE);
		}
		Counts divisors = u.divisors();
		long divisor = divisor(divisors);
		int made = steps.times().subMap(Math.max(1, divisor / pageBytes), true, Math.max(1, Math.ceilDiv(divisor, pageBytes)),
				true).values().stream()
				.mapToInt(Integer::intValue).sum();
		// a walk with this stride enters a page less than a stride from its end, and comes to the next pages in order
		if (divisor < LEAST_STRIDE || u.near(divisor, pageBytes) < REGULAR * entries || made < REGULAR * steps.all()) {
			return again;
		}
		Stride common = new Stride(divisor, share(multiples(divisors, divisor), divisors.all()), SAME_DIVISOR);
		return common.share() >= again.share() * AS_MANY ? common : again;
	}

	/** The largest one that divides nearly as many as the best one; 0 of none. */
	private static long divisor(Counts seen) {
		int best = seen.times().keySet().stream().filter(g -> g >= LEAST_STRIDE).mapToInt(g -> multiples(seen, g)).max().orElse(0);
		return seen.times().descendingKeySet().stream().filter(g -> multiples(seen, g) >= AS_MANY * best).findFirst().orElse(0L);
	}

	private static int multiples(Counts seen, long g) {
		return seen.times().entrySet().stream().filter(e -> g > 0 && e.getKey() % g == 0).mapToInt(Map.Entry::getValue).sum();
	}

	private static double share(double part, double whole) {
		return whole <= 0 ? 0 : part / whole;
	}

	private static List<Check> pingPong(WindowUse u, boolean stack) {
		long two = -1;
		int both = 0;
		for (Map.Entry<Long, Integer> e : u.twos.entrySet()) {
			if (e.getValue() > both || e.getValue() == both && e.getKey() < two) {
				two = e.getKey();
				both = e.getValue();
			}
		}
		long pairs = 0;
		for (Map.Entry<Integer, ThreadUse> t : u.threads.entrySet()) {
			boolean oneOfThem = two >= 0 && (t.getKey() == (int) (two >>> 32) || t.getKey() == (int) two);
			pairs += oneOfThem ? t.getValue().pages : 0;
		}
		List<Check> checks = new ArrayList<>(List.of(Check.atLeast("share of the pages that the same two threads use, with writes",
				share(both, u.pages), BOTH), Check.atLeast("share of the uses of pages that are by these two", share(pairs, u.pairs), TWO).counter()));
		if (stack) {
			checks.add(Check.atLeast("pages of a stack (the run time system shares a few)", u.pages, STACK_PAGES).counter());
		}
		return checks;
	}

	/**
	 * Whether threads that use a page over the run are most of those that use the structure. A thread counts that was seen often enough: in a
	 * quarter of the windows, or, since of many threads a window shows some, in half of the windows that each would have in turn.
	 *
	 * @param windowsOfThread for each thread that uses the page, in how many windows
	 * @param together windows in which several use it, with writes
	 * @param used windows in which the structure is used
	 * @param team threads that use the structure
	 */
	static boolean isCrowded(int[] windowsOfThread, int together, int used, int team) {
		double inTurn = Math.max(LASTING, BOTH * Arrays.stream(windowsOfThread).sum() / team);
		double least = Math.max(2, Math.min(FREQUENT * used, inTurn));
		return together >= Math.max(LASTING, BOTH * used)
				&& Arrays.stream(windowsOfThread).filter(n -> n >= least).count() >= Math.max(LEAST_TEAM, FILL * team);
	}

	private static List<Check> hotSpot(WindowUse u, String unit) {
		int most = (int) Math.max(1, Math.min(MOST_HOT, HOT_SHARE * u.pages));
		int hot = 0;
		double in = 0;
		// so many that each has several times what the rest has on average
		for (int i = 0; i < u.topAccesses.length && u.topAccesses[i] > 0 && i < u.pages - 1; i++) {
			double rest = (u.accesses - in - u.topAccesses[i]) / (u.pages - i - 1);
			if (u.topUsers[i] < 2 || u.topAccesses[i] < HOT_TIMES * rest) {
				break;
			}
			in += u.topAccesses[i];
			hot++;
		}
		// where the other pages are used in each subphase, too, the users tell a hot page, not the number of records
		boolean crowd = u.crowdedPages > hot;
		if (crowd) {
			hot = u.crowdedPages;
			in = u.crowdedAccesses;
		}
		double times = hot == 0 ? 0 : in / hot / Math.max(1e-9, (u.accesses - in) / (u.pages - hot));
		return List.of(Check.atLeast("share of the " + unit + " that the busiest pages have", share(in, u.accesses), hot == 0 ? FEW
				: share(hot, u.pages)),
				Check.atLeast("pages", u.pages, HOT_OF_PAGES),
				Check.atLeast(crowd
				? "pages that most threads use over the run, several of them in this window"
						: "pages that several threads use much more than the others", hot, 1),
				Check.atMost("such pages", hot, most).counter(),
				Check.atLeast(unit + " of such a page, times those of another", times, crowd ? 1 : HOT_TIMES),
				Check.atMost("share of the other pages that several threads use", share((double) u.sharedPages - hot, (double) u.pages - hot),
				FEW).counter());
	}
}
