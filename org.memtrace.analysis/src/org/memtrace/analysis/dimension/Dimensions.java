// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.dimension;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension.Use;
import org.memtrace.aggregation.Dimension;

/**
 * All dimensions of accesses, in the order in which a person sees them. Colours, groups, filters, sums, columns of tables and of files,
 * and what the command line offers come from this list. Safe for all threads.
 */
public final class Dimensions {
	/** A new dimension is a line here. */
	private static final List<Dimension> ALL = new CopyOnWriteArrayList<>(List.of(
			BasicDimensions.TYPE,
			BasicDimensions.THREAD,
			BasicDimensions.READ_WRITE,
			BasicDimensions.CPU,
			BasicDimensions.NODE,
			BasicDimensions.SHARING,
			new Structures(),
			new AllocationSites(),
			new ElementTypes(),
			new SizeClasses(),
			new Phases(),
			new AccessPatterns(),
			RegionsOfProgram.INNERMOST,
			RegionsOfProgram.PATH,
			new NumaDistances(),
			new Offsets(),
			new MemoryLevels(),
			new Latencies(),
			OfCode.FUNCTION,
			OfCode.SOURCE,
			OfCode.OBJECT,
			new Pages(),
			new MemoryParts(),
			new TimeWindows()));

	/** In no list that a person sees: filters and groups find them by their id. */
	private static final List<Dimension> BY_ID = Stream.concat(PageCounts.ALL.stream(),
			Stream.of(new FirstTouchOfPage(), new Images(), new Kinds())).toList();

	private Dimensions() {
	}

	/** All of them. */
	public static List<Dimension> all() {
		return List.copyOf(ALL);
	}

	/** By which the workbench and the command line colour a picture most, besides the type: an import saves these pictures, too. */
	public static List<Dimension> firstPictures() {
		return List.of(BasicDimensions.THREAD, find("structure", Use.COLOUR));
	}

	/** Those that can be used for something. */
	public static List<Dimension> of(Use use) {
		return ALL.stream().filter(d -> d.can(use)).toList();
	}

	/** The one with an id that can be used for something, or null. */
	public static Dimension find(String id, Use use) {
		// before there was a list, pictures called the type "sharing"
		String wanted = use == Use.COLOUR && id.equals("sharing") ? BasicDimensions.TYPE.id() : id;
		return Stream.concat(ALL.stream(), BY_ID.stream()).filter(d -> d.can(use) && d.id().equals(wanted)).findFirst().orElse(null);
	}

	/** Ids of those that can be used for something, for a message. */
	public static String ids(Use use) {
		return of(use).stream().map(Dimension::id).collect(Collectors.joining(", "));
	}

	/**
	 * Adds a dimension at the end; what another bundle brings is added before a trace is opened.
	 *
	 * @throws IllegalArgumentException if there is one with this id
	 */
	public static void add(Dimension dimension) {
		synchronized (ALL) {
			if (ALL.stream().anyMatch(d -> d.id().equals(dimension.id()))) {
				throw new IllegalArgumentException("there is a dimension '" + dimension.id() + "' already");
			}
			ALL.add(dimension);
		}
	}

	/** Takes a dimension away that was added. */
	public static void remove(Dimension dimension) {
		ALL.remove(dimension);
	}
}
