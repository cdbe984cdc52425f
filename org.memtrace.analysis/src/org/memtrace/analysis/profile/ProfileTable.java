// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.profile;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

import org.memtrace.analysis.profile.Profile.By;
import org.memtrace.analysis.profile.Profile.Group;
import org.memtrace.analysis.profile.Profile.Row;

/**
 * The lines of a table of a profile: groups, unless there is one for all, below them their regions or calling contexts and the time in no
 * state; ordered, searched and folded. Immutable.
 */
public final class ProfileTable {
	/**
	 * A group, or a region in one, by names: it stays the same when times are others.
	 *
	 * @param producer of the group
	 * @param path names of the region and of those around it, outermost first; in a flat profile one, of a group none
	 */
	public record Place(int producer, List<String> path) {
		public Place {
			path = List.copyOf(path);
		}

		public static Place of(Group group, Row row) {
			return new Place(group.producer(), row == null ? List.of() : row.path());
		}

		/** Its group in a profile, or null. */
		public Group group(Profile in) {
			return in.groups().stream().filter(g -> g.producer() == producer).findFirst().orElse(null);
		}

		/** Its row in a profile; null for a group, and when there is none. */
		public Row row(Profile in) {
			Group group = group(in);
			return group == null || path.isEmpty() ? null
					: group.rows().stream().filter(r -> r.region().equals(path.getLast()) && r.path().equals(path)).findFirst().orElse(null);
		}

		/** Whether a profile has it. */
		public boolean isIn(Profile profile) {
			return path.isEmpty() ? group(profile) != null : row(profile) != null;
		}
	}

	/**
	 * How it is shown.
	 *
	 * @param search what names must have, null for any; what is around or in a group that is called so is there, too
	 * @param folded of which nothing below is shown, unless something is searched
	 */
	public record Look(ProfileColumn order, boolean descending, Pattern search, Set<Place> folded) {
		public Look {
			folded = Set.copyOf(folded);
		}
	}

	/**
	 * A line.
	 *
	 * @param row null for a group and the time in no state
	 * @param none whether it is the time in no state
	 * @param depth how far it is moved to the right
	 * @param parts whether it has lines below it that are shown or folded
	 * @param folded whether they are folded
	 */
	public record Line(Group group, Row row, boolean none, int depth, boolean parts, boolean folded) {
		/** What it is about, null for the time in no state. */
		public Place place() {
			return none ? null : Place.of(group, row);
		}
	}

	private final Profile profile;
	private final List<Line> lines = new ArrayList<>();

	private ProfileTable(Profile profile) {
		this.profile = profile;
	}

	public static ProfileTable of(Profile profile, Look look) {
		ProfileTable table = new ProfileTable(profile);
		boolean heads = profile.request().by() != By.ALL;
		for (Group g : profile.groups()) {
			table.add(g, heads, look);
		}
		return table;
	}

	private void add(Group g, boolean heads, Look look) {
		boolean all = look.search() == null || heads && look.search().matcher(g.name()).find();
		Map<Row, List<Row>> children = new IdentityHashMap<>();
		List<Row> top = new ArrayList<>();
		Set<Row> wanted = all ? null : wanted(g, look.search());
		for (Row r : g.rows()) {
			if (wanted == null || wanted.contains(r)) {
				(r.around() == null ? top : children.computeIfAbsent(r.around(), a -> new ArrayList<>())).add(r);
			}
		}
		boolean none = g.inNoneNs() > 0 && (all || look.search().matcher(ProfileColumn.REGION.textOfNone(profile.info(), g)).find());
		if (top.isEmpty() && !none && !all) {
			return;
		}
		boolean mayFold = look.search() == null && !look.folded().isEmpty();
		int depth = heads ? 1 : 0;
		if (heads) {
			boolean folded = mayFold && look.folded().contains(Place.of(g, null));
			lines.add(new Line(g, null, false, 0, true, folded));
			if (folded) {
				return;
			}
		}
		var order = look.order().order(look.descending());
		// contexts can be as deep as the program called: no recursion
		top.sort(order);
		List<Row> waiting = new ArrayList<>(top.reversed());
		while (!waiting.isEmpty()) {
			Row r = waiting.removeLast();
			List<Row> below = children.getOrDefault(r, List.of());
			boolean folded = mayFold && !below.isEmpty() && look.folded().contains(Place.of(g, r));
			lines.add(new Line(g, r, false, depth + r.depth(), !below.isEmpty(), folded));
			if (!folded && !below.isEmpty()) {
				below.sort(order);
				waiting.addAll(below.reversed());
			}
		}
		if (none) {
			lines.add(new Line(g, null, true, depth, false, false));
		}
	}

	/** Rows that are called so, and those around them. */
	private static Set<Row> wanted(Group g, Pattern search) {
		Set<Row> wanted = java.util.Collections.newSetFromMap(new IdentityHashMap<>());
		for (Row r : g.rows()) {
			if (search.matcher(r.region()).find()) {
				for (Row a = r; a != null && wanted.add(a); a = a.around()) {
					// those around it
				}
			}
		}
		return wanted;
	}

	public Profile profile() {
		return profile;
	}

	public List<Line> lines() {
		return lines;
	}

	/** What a cell says. */
	public String text(ProfileColumn column, Line line) {
		return line.none() ? column.textOfNone(profile.info(), line.group()) : line.row() == null ? column.text(profile.info(), line.group())
				: column.text(profile.info(), line.row());
	}

	/** The line of a place, -1 when it is not shown. */
	public int indexOf(Place place) {
		for (int i = 0; i < lines.size(); i++) {
			Line l = lines.get(i);
			boolean may = place.path().isEmpty() ? l.row() == null : l.row() != null && l.row().region().equals(place.path().getLast());
			if (may && place.equals(l.place())) {
				return i;
			}
		}
		return -1;
	}

	/** All places that can be folded. */
	public List<Place> foldable() {
		return lines.stream().filter(Line::parts).map(Line::place).toList();
	}
}
