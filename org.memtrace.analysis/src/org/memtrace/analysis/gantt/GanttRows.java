// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

import org.memtrace.analysis.gantt.GanttSource.Grouping;
import org.memtrace.analysis.text.NaturalOrder;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;

/**
 * The rows of a Gantt chart that are not folded away, in the order in which they are shown. A row is a producer in a group
 * (a thread, a CPU, or everything). Producers without own records that have one child only are shown with that child as one
 * row. Some bytes for each row, so that a million of them are no burden. Immutable.
 */
public final class GanttRows {
	/** More rows than this are not made: the last ones are missing, and {@link #isCut} says so. */
	static final int MAX_ROWS = 4_000_000;

	/** Order of siblings. */
	public enum Order {
		/** By address in a memory trace, as in the trace otherwise. */
		ADDRESS,
		/** By name, numbers by value. */
		NAME
	}

	/**
	 * Which rows are wanted.
	 *
	 * @param root producer whose subtree is shown, or negative for all
	 * @param hideEmpty whether rows without any record are left out
	 */
	public record Request(GanttSource source, Grouping grouping, int root, GanttFold fold, Order order, boolean hideEmpty) {
	}

	private final Request request;
	private final ProducerTree tree;
	private final List<String> groups;
	private int count;
	private boolean cut;
	private int[] producer = new int[256];
	/** Last of the chain that the row stands for. */
	private int[] bottom = new int[256];
	private int[] group;
	private byte[] level = new byte[256];

	private GanttRows(Request request) {
		this.request = request;
		this.tree = request.source().producers();
		this.groups = request.source().groups(request.grouping());
		this.group = request.grouping() == Grouping.PRODUCER ? null : new int[256];
	}

	/** Finds the rows; some ten milliseconds for a million, longer when that many names are sorted. */
	public static GanttRows of(Request request, Progress progress) throws CancelledException {
		GanttRows rows = new GanttRows(request);
		rows.build(progress);
		return rows;
	}

	private void build(Progress progress) throws CancelledException {
		for (int g : request.source().groupsWithRecords(request.grouping())) {
			if (request.root() >= 0) {
				walk(g, new int[] {request.root()}, progress);
			} else {
				walk(g, sorted(children(-1)), progress);
			}
		}
		if (count == 0 && request.root() >= 0 && request.grouping() == Grouping.PRODUCER) {
			add(request.root(), request.root(), GanttSource.ALL, 0); // an empty chart has at least its root
		}
	}

	/** In group mode the group's own row is its first producer; with several roots a group has no row of its own. */
	private void walk(int g, int[] roots, Progress progress) throws CancelledException {
		Deque<int[]> lists = new ArrayDeque<>();
		Deque<int[]> places = new ArrayDeque<>();
		lists.push(roots);
		places.push(new int[] {0, 0});
		while (!lists.isEmpty()) {
			int[] list = lists.peek();
			int[] place = places.peek();
			if (place[0] == list.length) {
				lists.pop();
				places.pop();
				continue;
			}
			int p = list[place[0]++];
			if (request.fold().isSubtreeHidden(p) || request.hideEmpty() && !request.source().has(p, request.grouping(), g)) {
				continue;
			}
			if (count >= MAX_ROWS) {
				cut = true;
				return;
			}
			if ((count & 0xfff) == 0) {
				progress.check();
			}
			int last = chainEnd(p);
			boolean shown = !request.fold().isHidden(p);
			if (shown) {
				add(p, last, g, place[1]);
			}
			if (request.fold().isUnfolded(g, p) && !tree.isLeaf(last)) {
				lists.push(sorted(children(last)));
				places.push(new int[] {0, place[1] + (shown ? 1 : 0)});
			}
		}
	}

	/** Follows single children below producers that have no records of their own. */
	private int chainEnd(int p) {
		int last = p;
		while (!tree.isLeaf(last) && tree.subtreeEnd(last + 1) == tree.subtreeEnd(last) && !request.source().hasOwn(last)) {
			last++;
		}
		return last;
	}

	private int[] children(int parent) {
		int[] list = new int[16];
		int n = 0;
		int end = parent < 0 ? tree.size() : tree.subtreeEnd(parent);
		for (int c = parent + 1; c < end; c = tree.subtreeEnd(c)) {
			if (n == list.length) {
				list = Arrays.copyOf(list, 2 * n);
			}
			list[n++] = c;
		}
		return Arrays.copyOf(list, n);
	}

	private int[] sorted(int[] children) {
		if (request.order() == Order.ADDRESS || children.length < 2) {
			return children;
		}
		record Named(String name, int id) {
		}
		Named[] named = new Named[children.length];
		for (int i = 0; i < named.length; i++) {
			named[i] = new Named(tree.name(children[i]), children[i]);
		}
		Arrays.sort(named, (a, b) -> NaturalOrder.INSTANCE.compare(a.name(), b.name()));
		for (int i = 0; i < named.length; i++) {
			children[i] = named[i].id();
		}
		return children;
	}

	private void add(int p, int last, int g, int depth) {
		if (count == producer.length) {
			int n = count + (count >> 1);
			producer = Arrays.copyOf(producer, n);
			bottom = Arrays.copyOf(bottom, n);
			level = Arrays.copyOf(level, n);
			group = group == null ? null : Arrays.copyOf(group, n);
		}
		producer[count] = p;
		bottom[count] = last;
		level[count] = (byte) Math.min(127, depth);
		if (group != null) {
			group[count] = g;
		}
		count++;
	}

	public Request request() {
		return request;
	}

	public int count() {
		return count;
	}

	/** Whether there were more than {@link #MAX_ROWS}. */
	public boolean isCut() {
		return cut;
	}

	/** Producer of a row: the first of the chain that it stands for. */
	public int producer(int row) {
		return producer[row];
	}

	/** Group of a row. */
	public int group(int row) {
		return group == null ? GanttSource.ALL : group[row];
	}

	/** Depth of a row, for its indentation. */
	public int level(int row) {
		return level[row];
	}

	/** Whether a row has something to unfold. */
	public boolean isFoldable(int row) {
		return !tree.isLeaf(bottom[row]);
	}

	public boolean isUnfolded(int row) {
		return isFoldable(row) && request.fold().isUnfolded(group(row), producer[row]);
	}

	/** Row of a producer in a group, or the nearest row that stands for it (a folded parent, a chain); -1 when there is none. */
	public int rowOf(int groupOfRow, int producerId) {
		int best = -1;
		for (int row = 0; row < count; row++) {
			int p = producer[row];
			if (p == producerId && group(row) == groupOfRow) {
				return row;
			}
			if (p < producerId && producerId < tree.subtreeEnd(p) && group(row) == groupOfRow
					&& (best < 0 || p > producer[best])) {
				best = row;
			}
		}
		return best;
	}

	/** For each producer the row that stands for it, -1 when there is none. Only without groups. */
	int[] rowByProducer() {
		int[] rows = new int[tree.size()];
		Arrays.fill(rows, -1);
		for (int row = 0; row < count; row++) {
			rows[producer[row]] = row;
		}
		for (int p = 0; p < rows.length; p++) {
			// a parent comes before its children
			if (rows[p] < 0 && tree.parent(p) >= 0 && !request.fold().isSubtreeHidden(p)) {
				rows[p] = rows[tree.parent(p)];
			}
		}
		return rows;
	}

	/** Parent row, -1 for none. */
	public int parentRow(int row) {
		for (int r = row - 1; r >= 0; r--) {
			if (level[r] < level[row]) {
				return r;
			}
		}
		return -1;
	}

	/** What stands at the left of a row. */
	public String label(int row) {
		int p = producer[row];
		if (request.grouping() != Grouping.PRODUCER && (p == request.root() || level[row] == 0 && isOnlyTop(p))) {
			return groups.get(group(row));
		}
		String name = shortName(p);
		if (bottom[row] != p) {
			String last = tree.name(bottom[row]);
			String first = tree.name(p);
			name = last.startsWith(first) ? name : name + " › " + last;
		}
		return level[row] == 0 && request.grouping() != Grouping.PRODUCER ? groups.get(group(row)) + ": " + name : name;
	}

	private boolean isOnlyTop(int p) {
		return tree.subtreeEnd(p) == tree.size() && p == 0;
	}

	/** Parts of a structure without its name: that stands above them. */
	private String shortName(int p) {
		String name = tree.name(p);
		ProducerKind kind = tree.kind(p);
		if (kind == ProducerKind.ROOT) {
			return "All memory";
		}
		if (kind == ProducerKind.PART || kind == ProducerKind.PAGE) {
			int open = name.lastIndexOf(" [");
			if (open > 0 && name.endsWith("]")) {
				return name.substring(open + 2, name.length() - 1);
			}
		}
		return name;
	}

	/** The full name of a row: what a tooltip says and what a search looks through. */
	public String name(int row) {
		String name = tree.name(producer[row]);
		if (request.grouping() != Grouping.PRODUCER) {
			String g = groups.get(group(row));
			return producer[row] == request.root() || level[row] == 0 && isOnlyTop(producer[row]) ? g : g + ": " + name;
		}
		return tree.kind(producer[row]) == ProducerKind.ROOT ? "All memory" : name;
	}
}
