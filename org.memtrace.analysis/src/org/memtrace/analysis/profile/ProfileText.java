// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.profile;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

import org.memtrace.analysis.profile.Profile.Group;
import org.memtrace.analysis.profile.Profile.Row;
import org.memtrace.analysis.text.Csv;
import org.memtrace.analysis.text.TextColumns;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.TraceInfo;

/** Profiles in words: as tables for a person, as values for a program, as folded stacks for flame graphs of others. */
public final class ProfileText {
	/** Names of the {@link #values}. */
	public static final List<String> COLUMNS = List.of("group", "depth", "region", "path", "count", "inclusive_ns", "exclusive_ns", "percent",
			"min_ns", "p10_ns", "median_ns", "mean_ns", "max_ns", "sci", "lost_ns");
	private static final int WIDEST = 44;

	private ProfileText() {
	}

	/**
	 * Tables with a title each.
	 *
	 * @param most rows of a table at most
	 */
	public static String text(Profile profile, long most) {
		TraceInfo info = profile.info();
		StringBuilder b = new StringBuilder();
		boolean exact = true;
		for (Group g : profile.groups()) {
			String producers = g.producers() == 1 ? "" : ", " + Units.plural(g.producers(), "producer");
			b.append(b.isEmpty() ? "" : "\n").append(g.name()).append(": ").append(Units.duration(info,
					g.timeNs())).append(producers).append("\n\n");
			List<String[]> lines = new ArrayList<>();
			lines.add(cells(ProfileColumn::title));
			for (Row r : g.rows().subList(0, (int) Math.min(most, g.rows().size()))) {
				exact &= r.exact();
				String[] cells = cells(c -> c.text(info, r));
				cells[0] = "  ".repeat(r.depth()) + TextColumns.cut(cells[0], WIDEST);
				lines.add(cells);
			}
			if (g.inNoneNs() > 0) {
				lines.add(cells(c -> c.textOfNone(info, g)));
			}
			TextColumns.columns(b, lines, "lrrrrrrrrrr");
			if (g.rows().size() > most) {
				b.append(Units.plural(g.rows().size() - most, "more row")).append("\n");
			}
		}
		b.append("\nMin to Max: exclusive durations of the executions. SCI, slowdown caused by interference: the share of the exclusive time above ")
				.append(String.format(Locale.ROOT, "the %.0f %% quantile\nof the durations", 100 * profile.request().reference()))
				.append("; Lost is that time. n/a: fewer than ").append(Profile.LEAST_EXECUTIONS).append(" executions.\n");
		if (!exact) {
			b.append("Quantiles, SCI and Lost of rows with more than ").append(Units.count(Durations.MOST_EXACT))
					.append(" executions are within 1 %.\n");
		}
		return b.toString();
	}

	private static String[] cells(Function<ProfileColumn, String> cell) {
		return Arrays.stream(ProfileColumn.values()).map(cell).toArray(String[]::new);
	}

	/** The values of a row, as {@link #COLUMNS}; null for what is not told. */
	public static Object[] values(Group group, Row r) {
		return new Object[] {group.name(), r.depth(), r.region(), String.join(";", r.path()), r.count(), r.inclusiveNs(), r.exclusiveNs(),
			rounded(100 * r.share()), r.minNs(), Math.round(r.p10Ns()), Math.round(r.medianNs()), Math.round(r.meanNs()), r.maxNs(),
			rounded(r.sci()), Double.isNaN(r.lostNs()) ? null : (Long) Math.round(r.lostNs())};
	}

	/** The same of the time in no state. */
	public static Object[] valuesOfNone(Group group) {
		Object[] none = new Object[COLUMNS.size()];
		none[0] = group.name();
		none[COLUMNS.indexOf("exclusive_ns")] = group.inNoneNs();
		none[COLUMNS.indexOf("percent")] = rounded(100.0 * group.inNoneNs() / group.timeNs());
		return none;
	}

	/** Names of the {@link #values} with the unit of a trace. */
	public static String[] columns(TraceInfo info) {
		return COLUMNS.stream().map(info.timeUnit()::column).toArray(String[]::new);
	}

	/** All rows for a program (RFC 4180), as {@code memtrace profile --format csv} prints them. */
	public static String csv(Profile profile) {
		StringBuilder b = new StringBuilder(String.join(",", columns(profile.info()))).append('\n');
		for (Group g : profile.groups()) {
			g.rows().forEach(r -> csv(b, values(g, r)));
			csv(b, valuesOfNone(g));
		}
		return b.toString();
	}

	private static void csv(StringBuilder b, Object[] row) {
		b.append(Arrays.stream(row).map(v -> v == null ? "" : Csv.cell(v.toString())).collect(Collectors.joining(","))).append('\n');
	}

	/** To four digits behind the point; null for what is not told. */
	public static Double rounded(double v) {
		return Double.isNaN(v) ? null : (Double) (Math.rint(1e4 * v) / 1e4);
	}

	/**
	 * A line for each calling context: the regions from the outermost on behind the name of the group, divided by semicolons, and the
	 * exclusive time: what flamegraph.pl, speedscope and others read.
	 *
	 * @param profile one with contexts
	 */
	public static String folded(Profile profile) {
		StringBuilder b = new StringBuilder();
		for (Group g : profile.groups()) {
			for (Row r : g.rows()) {
				if (r.exclusiveNs() > 0) {
					b.append(frame(g.name()));
					r.path().forEach(name -> b.append(';').append(frame(name)));
					b.append(' ').append(r.exclusiveNs()).append('\n');
				}
			}
		}
		return b.toString();
	}

	private static String frame(String name) {
		return name.replace(';', ':').replaceAll("\\s+", " ");
	}

	/**
	 * SCI by region for several traces of the same program, such as runs with more and more threads: the first line has the numbers of
	 * producers with states, each further line a region. Regions are ordered by their largest exclusive time.
	 *
	 * @param profiles by all, flat
	 */
	public static List<Object[]> curve(List<Profile> profiles) {
		Map<String, Object[]> rows = new TreeMap<>();
		Map<String, Long> time = new TreeMap<>();
		for (int i = 0; i < profiles.size(); i++) {
			for (Group g : profiles.get(i).groups()) {
				for (Row r : g.rows()) {
					Object[] row = rows.computeIfAbsent(r.region(), name -> {
						Object[] made = new Object[profiles.size() + 1];
						made[0] = name;
						return made;
					});
					row[i + 1] = rounded(r.sci());
					time.merge(r.region(), r.exclusiveNs(), Math::max);
				}
			}
		}
		List<String> names = new ArrayList<>(rows.keySet());
		names.sort((a, b) -> Long.compare(time.get(b), time.get(a)));
		return names.stream().map(rows::get).toList();
	}
}
