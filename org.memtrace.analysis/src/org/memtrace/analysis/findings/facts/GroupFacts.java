// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.facts;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.memory.TypeMembers;

/**
 * Facts about the blocks of one origin: structures of equal image, kind, name (without its number) and site. Counts are exact for what was
 * recorded. A <i>part</i> is the part of a page that belongs to one block; accesses after the first interval of a part are
 * <i>late</i>: they tell who uses it, the first ones who initialised it. A thread index of -1 (nobody is known) is counted in
 * {@link #accesses} and nowhere else. Not changed once it is made.
 */
public final class GroupFacts {
	/** A line of memory that several threads write, for the evidence. */
	public static final class Line {
		/** Address of its first byte. */
		public long address;
		/** Bit for each thread that wrote it; of a close look also for those that read it beside one writer. */
		public final BitSet writers = new BitSet();
		/** First byte in the line that each thread used, by thread index. */
		public final int[] offset;
		/** Number of samples in it. */
		public int samples;
		/** Late records whose first read or write was in it. */
		public int records;

		Line(int threads) {
			offset = new int[threads];
			Arrays.fill(offset, -1);
		}
	}

	/**
	 * A part that is written while several threads use it.
	 *
	 * @param page number of its page in its structure, from 0
	 * @param writers threads that write it later
	 * @param commonLines lines of it with a word that a thread writes and another one uses, and with two writers or more
	 */
	public record Hot(int leaf, long page, int intervals, int sharedIntervals, int[] users, int[] userIntervals, int writers,
			int commonLines) {
		/** Number of threads that use it in so many intervals. */
		public int persistentUsers(double least) {
			int n = 0;
			for (int i : userIntervals) {
				n += i >= least ? 1 : 0;
			}
			return n;
		}
	}

	/** Name without the number of a block. */
	public final String name;
	/** The name, with the rank before it where structures of several ranks of a job have it. */
	public final String label;
	public final StructureKind kind;
	/** File and line of the allocation or definition, empty when not known. */
	public final String site;
	public final int image;
	/** Whether it belongs to a library and not to the program. */
	public final boolean library;
	/** Whether it belongs to a program that its user did not write, or is kept by an allocator or a run time system for others. */
	public boolean others;
	/** Whether it is data that is only read, which most backends do not see. */
	public boolean constants;
	/**
	 * Threads of its process with 2 % of the accesses of that process or more, or a quarter of an equal share when there are many: those
	 * that do the work, and could share it. Of memory that several processes share: of all threads.
	 */
	public int[] team = {};
	/** Type of the elements of its structures, empty when it is not known, or not the same. */
	public String elementType = "";
	/** What an element of {@link #elementType} consists of; null when it is not known. */
	public TypeMembers members;
	/** Ids of its structures. */
	public final List<Integer> structures = new ArrayList<>();
	/** Parts with accesses: of each block the pages that were touched while it lived. */
	public int parts;
	/** Pages that all blocks that lived would fill, touched or not; not less than {@link #parts}. */
	public long pagesOfBlocks;
	/** Bytes of all blocks that lived, and of the largest sum of blocks that lived at one time; not those of structures in them. */
	public long bytes;
	public long liveBytes;
	/** All accesses, of known threads and not. */
	public double accesses;
	/** Accesses to small blocks by code that is not of the program, which are no facts about it. */
	public double passedOver;
	public double writes;
	/** By thread: accesses and writes of the whole run, and late ones. */
	public final double[] byThread;
	public final double[] lateByThread;
	public final double[] lateWritesByThread;
	/** Parts that a thread touched first. */
	public final int[] firstTouched;
	/** Parts that a thread used most later, and those of them where it makes 80 % or more of the late accesses. */
	public final int[] mainUser;
	/** Parts with late accesses. */
	public int lateParts;
	/** Of those: with one thread that makes 80 % or more of the late accesses, as far as they were seen. */
	public int singleParts;
	/** Of {@link #lateParts}: those with few looks. Where the group is regular they count for {@link #handedOn}, too. */
	final Seldom seldom = new Seldom();
	/** Of {@link #lateParts}: those whose first toucher is known. */
	public int touchedParts;
	/**
	 * Of those: the main user is not the first toucher; and it makes 80 % or more. Only parts with looks enough to tell their main user, or
	 * where the main users of neighbours tell it, see {@link #isRegular}: who visits pages at random is alone on most of them if each is
	 * seen once.
	 */
	public int handedOn;
	public int handedOnSingle;
	/** Of {@link #touchedParts}: another thread was seen to use them most, however seldom they were seen: it compares runs and regions. */
	public int otherUser;
	/** Late parts whose neighbour in their block is late, too; of them: with the same main user. */
	public int neighbours;
	public int alikeNeighbours;
	/** By thread: late accesses to the parts of which it is the main user. */
	public final double[] lateOfOwn;
	/** Of {@link #handedOn}: the first toucher goes on writing the part, as who fills a buffer again and again for others. */
	public int refilled;
	/**
	 * Late parts of memory that is divided among threads: of a block with several main users, or of one of several blocks with other users
	 * that live for half of the run or more and that one thread allocated, or another one than uses it. Blocks that each thread allocates
	 * for itself are not, nor those that are handed on and freed.
	 */
	public int dividedParts;
	/** By block with late parts: the main users of these. Made for {@link #dividedParts}. */
	final Map<Integer, Users> usersOfBlocks = new HashMap<>();

	/** Chance that two parts have the same main user, from which on one thread uses nearly all. */
	private static final double NEARLY_ALL = 0.8;

	/** Main users of the late parts of a block. */
	static final class Users {
		private static final int NONE = -1;
		static final int SEVERAL = -2;

		/** Index of the thread, or {@link #SEVERAL}. */
		int thread = NONE;
		int parts;

		void add(int other, int more) {
			thread = thread == NONE || thread == other ? other : SEVERAL;
			parts += more;
		}
	}

	/** By number of late users: parts that have so many. */
	public int[] partsByUsers = new int[8];
	/** Parts with two late users, by these two: the lower number << 32 | the other one. */
	private final Map<Long, Integer> meetings = new HashMap<>();
	/** (interval, part) pairs with late accesses; those with several users and a write; those with one user that was seen. */
	public long pairs;
	public long sharedPairs;
	public long privatePairs;
	/** Sum over parts of their share of intervals that are known to be private. */
	public double privateShares;
	/** Intervals with late accesses, and with shared and written parts. */
	public final BitSet intervals = new BitSet();
	public final BitSet sharedIntervals = new BitSet();
	/** Intervals in which a part is touched for the first time. */
	public final BitSet firstIntervals = new BitSet();
	/** Intervals in which a thread uses a part that another one touched first. */
	public final BitSet foreignIntervals = new BitSet();
	/** Lines as {@link Hot#commonLines} counts them. */
	int commonLines;
	/** Parts that are written while several use them. */
	public final List<Hot> hot = new ArrayList<>();
	/** Parts with several users at all. */
	public int multiUserParts;
	/**
	 * Lines with two or more late samples; of them with several threads; with several writers of which no two use a word in common; and of
	 * these with two writers that were seen twice or more.
	 */
	public int lines;
	public int sharedLines;
	public int apartLines;
	public int falselySharedLines;
	/** Late first addresses in parts with several users; those of them in a line in which there is another one. */
	public long lineRecords;
	public long repeatedRecords;
	/** Of {@link #lineRecords}: those in {@link #apartLines}, for groups with less than 64 leaves. */
	public long apartRecords;
	/** Lines that would be {@link #apartLines}, but are only the border of the parts of two threads. */
	public int borderLines;
	/** Lines of a small group by their users; null for a large one. */
	LineUses lineUses;
	/** Words (8 bytes) with two or more late samples, and of them with several threads. */
	public int words;
	public int sharedWords;
	/** The line with most samples among the falsely shared ones; null without any. */
	public Line worst;
	/** Parts with falsely shared lines, by leaf. */
	public final BitSet falseLeaves = new BitSet();
	/** What record --zoom saw of it; null when it did not look at it. Then {@link #worst} and {@link #falseLeaves} are of that. */
	public CloseFacts close;
	/** How instructions go through it; null where they were not counted. */
	public Steps steps;
	/** How its loops are divided among threads; null in a trace without ticks. */
	public LoopWork loops;
	/** By (interval, thread); made for strides. */
	final Map<Long, PageEntries> entries = new HashMap<>();
	/** Equal parts of a block in which {@link #firstPlaces} and {@link #mainPlaces} count. */
	public static final int PLACES = 64;
	/**
	 * For groups with 64 leaves or more: parts of pages by their relative place in their block and thread, {@code [place * threads + thread]}:
	 * touched first, and used most later. Null for smaller groups.
	 */
	public int[] firstPlaces;
	public int[] mainPlaces;
	/**
	 * On a machine with several NUMA nodes: late accesses of which the node of the thread and that of the page are known, and those of them
	 * where these differ.
	 */
	public double placed;
	public double remote;
	/** Parts with such accesses; of them: where one thread, or one node, makes 80 % or more, and half of all find the page elsewhere. */
	public int placedParts;
	public int misplacedParts;
	/** What of an element is padding; null when it is little, or not known. */
	public ElementPadding padding;
	/** Late first addresses of threads in pages, for groups with {@link #padding}; those of them in padding. */
	public long elementEntries;
	public long paddingEntries;
	/** Range of leaves, to show it. */
	public int leafFrom = Integer.MAX_VALUE;
	public int leafTo;
	/** Share of all accesses or of all parts of the trace, whichever is more. */
	public double weight;
	/** First and last time of an access. */
	public long firstNs = Long.MAX_VALUE;
	public long lastNs = Long.MIN_VALUE;
	/** Which code uses it. */
	final CodeUse code = new CodeUse();
	/** The code that wrote half of the parts first, and that made most late accesses; null without lines, or where code without them did. */
	public Place firstWritten;
	public Place used;
	/** Whether {@link #used} is in a function that makes nearly all later accesses: then what is told of them is told of it. */
	public boolean usedNearlyAlone;
	/** Threads that write it with the line {@link #firstWritten}; 0 when that is not known. */
	public int firstWriters;

	GroupFacts(String name, String label, StructureKind kind, String site, int image, boolean library, int threads) {
		this.name = name;
		this.label = label;
		this.kind = kind;
		this.site = site;
		this.image = image;
		this.library = library;
		byThread = new double[threads];
		lateByThread = new double[threads];
		lateWritesByThread = new double[threads];
		lateOfOwn = new double[threads];
		firstTouched = new int[threads];
		mainUser = new int[threads];
	}

	/** Adds what was found in another part of memory. */
	void add(GroupFacts o) {
		parts += o.parts;
		accesses += o.accesses;
		passedOver += o.passedOver;
		writes += o.writes;
		for (int t = 0; t < byThread.length; t++) {
			byThread[t] += o.byThread[t];
			lateByThread[t] += o.lateByThread[t];
			lateWritesByThread[t] += o.lateWritesByThread[t];
			lateOfOwn[t] += o.lateOfOwn[t];
			firstTouched[t] += o.firstTouched[t];
			mainUser[t] += o.mainUser[t];
		}
		lateParts += o.lateParts;
		singleParts += o.singleParts;
		seldom.add(o.seldom);
		touchedParts += o.touchedParts;
		handedOn += o.handedOn;
		handedOnSingle += o.handedOnSingle;
		otherUser += o.otherUser;
		neighbours += o.neighbours;
		alikeNeighbours += o.alikeNeighbours;
		refilled += o.refilled;
		o.usersOfBlocks.forEach((block, users) -> usersOf(block).add(users.thread, users.parts));
		for (int k = 0; k < o.partsByUsers.length; k++) {
			if (o.partsByUsers[k] > 0) {
				usedBy(k, o.partsByUsers[k]);
			}
		}
		o.meetings.forEach((pair, n) -> meetings.merge(pair, n, Integer::sum));
		pairs += o.pairs;
		sharedPairs += o.sharedPairs;
		privatePairs += o.privatePairs;
		privateShares += o.privateShares;
		intervals.or(o.intervals);
		sharedIntervals.or(o.sharedIntervals);
		firstIntervals.or(o.firstIntervals);
		foreignIntervals.or(o.foreignIntervals);
		hot.addAll(o.hot);
		multiUserParts += o.multiUserParts;
		lines += o.lines;
		sharedLines += o.sharedLines;
		apartLines += o.apartLines;
		falselySharedLines += o.falselySharedLines;
		lineRecords += o.lineRecords;
		repeatedRecords += o.repeatedRecords;
		words += o.words;
		sharedWords += o.sharedWords;
		if (o.worst != null && (worst == null || o.worst.samples > worst.samples)) {
			worst = o.worst;
		}
		falseLeaves.or(o.falseLeaves);
		if (lineUses == null) {
			lineUses = o.lineUses;
		} else if (o.lineUses != null) {
			lineUses.add(o.lineUses);
		}
		o.entries.forEach((key, more) -> entries.merge(key, more, PageEntries::add));
		firstPlaces = sum(firstPlaces, o.firstPlaces);
		mainPlaces = sum(mainPlaces, o.mainPlaces);
		placed += o.placed;
		remote += o.remote;
		placedParts += o.placedParts;
		misplacedParts += o.misplacedParts;
		elementEntries += o.elementEntries;
		paddingEntries += o.paddingEntries;
		leafFrom = Math.min(leafFrom, o.leafFrom);
		leafTo = Math.max(leafTo, o.leafTo);
		firstNs = Math.min(firstNs, o.firstNs);
		lastNs = Math.max(lastNs, o.lastNs);
		code.add(o.code);
	}

	private static int[] sum(int[] a, int[] b) {
		if (a == null || b == null) {
			return a == null ? b : a;
		}
		for (int i = 0; i < a.length; i++) {
			a[i] += b[i];
		}
		return a;
	}

	/** A line that several threads write in different words, and that is no border of their parts. */
	void apart(int leaf, Line line, boolean often) {
		apartLines++;
		apartRecords += line.records;
		falselySharedLines += often ? 1 : 0;
		falseLeaves.set(leaf);
		if (worst == null || line.samples > worst.samples) {
			worst = line;
		}
	}

	/** Decides about the lines of a small group, when all of them are known. */
	void decideLines(IntFunction<Structure> structures) {
		if (lineUses == null) {
			return;
		}
		for (LineUses.Apart a : lineUses.apart) {
			if (lineUses.isBorder(a, structures)) {
				borderLines++;
			} else {
				apart(a.leaf(), a.line(), a.often());
			}
		}
		lineUses = null;
	}

	/** Counts a part of a page at a place. */
	void place(double relative, int toucher, int main) {
		if (firstPlaces == null) {
			firstPlaces = new int[PLACES * byThread.length];
			mainPlaces = new int[PLACES * byThread.length];
		}
		int at = (int) Math.min(PLACES - 1, relative * PLACES) * byThread.length;
		if (toucher >= 0) {
			firstPlaces[at + toucher]++;
		}
		if (main >= 0) {
			mainPlaces[at + main]++;
		}
	}

	/**
	 * Whether threads have pages and not only come by: neighbours have the same main user at least half way from what chance makes to
	 * always, or one thread uses nearly all.
	 */
	public boolean isRegular() {
		double chance = Arrays.stream(mainUser).mapToDouble(n -> (double) n * n).sum() / Math.max(1, (double) lateParts * lateParts);
		return chance >= NEARLY_ALL || neighbours > 0 && alikeNeighbours >= (1 + chance) / 2 * neighbours;
	}

	/** Of {@link #lateParts}: those of which it is known who uses them mainly. */
	public int knownParts() {
		return isRegular() ? lateParts : lateParts - seldom.parts;
	}

	/** Of {@link #knownParts}: those with one main user. */
	public int knownSingle() {
		return isRegular() ? singleParts : singleParts - seldom.single;
	}

	/** Parts whose first toucher is known. */
	public long knownFirst() {
		return Arrays.stream(firstTouched).asLongStream().sum();
	}

	/** The main users of a block; made when there are none. */
	Users usersOf(int block) {
		return usersOfBlocks.computeIfAbsent(block, k -> new Users());
	}

	/** Share of the pages of its blocks that were touched while the block lived. */
	public double touchedShare() {
		return pagesOfBlocks == 0 ? 1 : (double) parts / pagesOfBlocks;
	}

	/** For each (interval, thread) where pages were entered; for large groups only. */
	public Collection<PageEntries> entries() {
		return entries.values();
	}

	/** Data of the program: static, heap or mapped. */
	public boolean isData() {
		return !library && (kind == StructureKind.STATIC || kind == StructureKind.HEAP || kind == StructureKind.MMAP || isSmallBlocks());
	}

	/** All blocks that were too small to be recorded one by one; only what code of the program does with them is counted. */
	public boolean isSmallBlocks() {
		return kind == StructureKind.BRK;
	}

	void usedBy(int users, int count) {
		if (users >= partsByUsers.length) {
			partsByUsers = Arrays.copyOf(partsByUsers, Math.max(users + 1, 2 * partsByUsers.length));
		}
		partsByUsers[users] += count;
	}

	/** Share of the parts with late accesses that are used by at least so many threads. */
	public double usedByAtLeast(double users) {
		long n = 0;
		for (int k = 0; k < partsByUsers.length; k++) {
			n += k >= users ? partsByUsers[k] : 0;
		}
		return lateParts == 0 ? 0 : (double) n / lateParts;
	}

	/** Counts a part that two threads use. */
	void meet(int one, int other) {
		meetings.merge((long) Math.min(one, other) << 32 | Math.max(one, other), 1, Integer::sum);
	}

	/**
	 * Do all meet? The share of the pairs of a team, of three threads or more, that are the two users of at least a quarter of the parts
	 * that each pair would have if they were divided equally.
	 */
	public double meetings(int[] team) {
		if (team.length < 3) {
			return 0;
		}
		long parts = 0;
		for (int n : meetings.values()) {
			parts += n;
		}
		long all = (long) team.length * (team.length - 1) / 2;
		double least = Math.max(1, parts / 4.0 / all);
		BitSet members = new BitSet();
		for (int t : team) {
			members.set(t);
		}
		long meeting = meetings.entrySet().stream().filter(m -> m.getValue() >= least && members.get((int) (m.getKey() >> 32))
				&& members.get(m.getKey().intValue())).count();
		return (double) meeting / all;
	}

	/** The thread that touched most parts first, -1 when nobody is known to. */
	public int firstToucher() {
		return most(firstTouched);
	}

	/** Share of the parts, of those whose first toucher is known, that {@link #firstToucher} touched first. */
	public double firstTouchShare() {
		long all = Arrays.stream(firstTouched).asLongStream().sum();
		int t = firstToucher();
		return t < 0 || all == 0 ? 0 : (double) firstTouched[t] / all;
	}

	private static int most(int[] counts) {
		int best = -1;
		for (int t = 0; t < counts.length; t++) {
			if (counts[t] > 0 && (best < 0 || counts[t] > counts[best])) {
				best = t;
			}
		}
		return best;
	}

	/** Threads with accesses. */
	public int users() {
		int n = 0;
		for (double a : byThread) {
			n += a > 0 ? 1 : 0;
		}
		return n;
	}

	/** Sum of the late accesses of known threads. */
	public double late() {
		return Arrays.stream(lateByThread).sum();
	}

	/** Sum of the late writes of known threads. */
	public double lateWrites() {
		return Arrays.stream(lateWritesByThread).sum();
	}

	/** Threads in the order of their late accesses, most first; those without are left out. */
	public int[] lateOrder() {
		return IntStream.range(0, lateByThread.length).filter(t -> lateByThread[t] > 0).boxed()
				.sorted((a, b) -> Double.compare(lateByThread[b], lateByThread[a])).mapToInt(Integer::intValue).toArray();
	}
}
