// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.help;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.memtrace.analysis.text.Markdown;
import org.memtrace.analysis.text.Markdown.Block;

/** The pages of the help, in the order in which one reads them: documents that are packed into this bundle. */
final class HelpPages {
	/** Files below {@code help/}. */
	static final List<String> FILES = List.of("README.md", "start/start.md", "start/line.md", "start/pictures.md", "start/examples.md",
			"howto/workbench/README.md", "howto/workbench/traces.md", "howto/workbench/recording.md", "howto/workbench/picture.md",
			"howto/workbench/find.md", "howto/workbench/findings.md", "howto/workbench/compare.md", "howto/workbench/events.md",
			"howto/workbench/machine.md", "reference/keys.md", "howto/shared.md", "howto/questions.md", "howto/first-touch.md",
			"howto/numa.md", "howto/allocations.md", "howto/sharing.md", "howto/zoom.md", "howto/ticks.md", "howto/price.md",
			"howto/diff.md", "howto/report.md", "howto/serve.md", "howto/filters.md", "howto/regions.md", "howto/exact.md",
			"howto/join.md", "howto/io.md", "howto/cluster.md", "howto/jobs.md", "howto/remote.md", "howto/experiments.md",
			"howto/no-display.md", "howto/traces.md", "howto/export.md", "howto/catalogue.md", "howto/parquet-folder.md",
			"howto/scale.md", "howto/kernel-module.md", "howto/administrator.md", "reference/cli.md", "reference/findings.md",
			"reference/patterns.md", "reference/columns.md", "reference/sql.md", "reference/sql-queries.md", "reference/monitor.md",
			"how/collector-user.md", "how/collector-systems.md", "how/collector-kernel.md", "how/collector-context.md", "how/exact.md",
			"how/import.md", "how/microscopic-model.md", "how/aggregation.md", "how/placement.md", "how/binding.md", "extend/README.md",
			"extend/input-format.md", "extend/rule.md", "extend/metric.md", "extend/dimension.md", "extend/view.md");

	/** Where help on something begins. */
	record Place(String file, String anchor) {
	}

	/** Help on views and dialogs, by their ids; the longest prefix decides. */
	static final Map<String, Place> CONTEXTS = Map.ofEntries( //
			Map.entry("org.memtrace.views", new Place("howto/workbench/README.md", "")),
			Map.entry("org.memtrace.views.traces", new Place("howto/workbench/traces.md", "traces-and-details")),
			Map.entry("org.memtrace.views.details", new Place("howto/workbench/traces.md", "traces-and-details")),
			Map.entry("org.memtrace.views.ocelotl", new Place("howto/workbench/picture.md", "ocelotl-the-picture")),
			Map.entry("org.memtrace.views.findings", new Place("howto/workbench/findings.md", "findings-what-is-wrong")),
			Map.entry("org.memtrace.views.difference", new Place("howto/workbench/compare.md", "difference-two-traces")),
			Map.entry("org.memtrace.views.structures", new Place("howto/workbench/findings.md", "structures")),
			Map.entry("org.memtrace.views.source", new Place("howto/workbench/findings.md", "source-the-line-that-must-change")),
			Map.entry("org.memtrace.views.find", new Place("howto/workbench/find.md", "find-anything")),
			Map.entry("org.memtrace.views.machine", new Place("howto/workbench/machine.md", "machine")),
			Map.entry("org.memtrace.views.gantt", new Place("howto/workbench/events.md", "gantt-what-happened-when")),
			Map.entry("org.memtrace.views.events", new Place("howto/workbench/events.md", "events")),
			Map.entry("org.memtrace.views.statistics", new Place("howto/workbench/events.md", "statistics")),
			Map.entry("org.memtrace.views.profile", new Place("howto/workbench/events.md", "profile-where-the-time-goes")),
			Map.entry("org.memtrace.views.density", new Place("howto/workbench/events.md", "density")),
			Map.entry("org.memtrace.views.binding", new Place("howto/workbench/machine.md", "binding-which-threads-share")),
			Map.entry("org.memtrace.views.sql", new Place("reference/sql.md", "the-view-sql")),
			Map.entry("org.memtrace.views.filters", new Place("howto/workbench/find.md", "filters")),
			Map.entry("org.memtrace.views.record", new Place("howto/workbench/recording.md", "")),
			Map.entry("org.memtrace.views.import", new Place("howto/workbench/traces.md", "importing")),
			Map.entry("org.memtrace.views.preferences", new Place("start/start.md", "settings")),
			Map.entry("org.memtrace.views.keys", new Place("reference/keys.md", "")),
			Map.entry("org.memtrace.views.tutorial", new Place("howto/sharing.md", "")),
			Map.entry("org.memtrace.views.about", new Place("extend/README.md", "how-a-user-installs-it")),
			Map.entry("org.memtrace.views.help", new Place("start/start.md", "getting-help")));

	/** A page that was read. */
	record Page(String file, String title, List<Block> blocks) {
		/** Whether it has such a heading. */
		boolean has(String anchor) {
			return anchor.isEmpty() || blocks.stream().anyMatch(b -> b instanceof Block.Heading h && h.anchor().equals(anchor));
		}
	}

	private static final Map<String, Page> READ = new HashMap<>();

	private HelpPages() {
	}

	/** A page, or null when there is none of that name. Display thread. */
	static Page page(String file) {
		return FILES.contains(file) ? READ.computeIfAbsent(file, HelpPages::read) : null;
	}

	private static Page read(String file) {
		try (InputStream in = HelpPages.class.getResourceAsStream("/help/" + file)) {
			String text = in == null ? "# " + file + "\n\nThis page is missing in the installation."
					: new String(in.readAllBytes(), StandardCharsets.UTF_8);
			List<Block> blocks = Markdown.parse(text);
			String title = blocks.stream().filter(Block.Heading.class::isInstance).map(b -> Markdown.plain(((Block.Heading) b).text()))
					.findFirst().orElse(file);
			return new Page(file, title, blocks);
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
	}

	/** Where help on a view or dialog is; parts of it without a text of their own lead to the page. */
	static Place context(String id) {
		String best = "org.memtrace.views";
		for (String known : CONTEXTS.keySet()) {
			if (id != null && (id.equals(known) || id.startsWith(known + ".")) && known.length() > best.length()) {
				best = known;
			}
		}
		Place place = CONTEXTS.get(best);
		return page(place.file()).has(place.anchor()) ? place : new Place(place.file(), "");
	}

	/** Where a link of a page leads to, or null when it is none to a page of the help. */
	static Place link(String from, String target) {
		int hash = target.indexOf('#');
		String path = hash < 0 ? target : target.substring(0, hash);
		String anchor = hash < 0 ? "" : target.substring(hash + 1);
		if (path.isEmpty()) {
			return new Place(from, anchor);
		}
		if (path.contains(":")) {
			return null;
		}
		List<String> parts = new ArrayList<>(List.of(from.split("/")));
		parts.remove(parts.size() - 1);
		for (String part : path.split("/")) {
			if (part.equals("..")) {
				if (parts.isEmpty()) {
					return null;
				}
				parts.remove(parts.size() - 1);
			} else if (!part.equals(".")) {
				parts.add(part);
			}
		}
		String file = String.join("/", parts);
		return FILES.contains(file) ? new Place(file, anchor) : null;
	}

	/** A heading and what is under it. */
	record Section(Place place, String title, int level, String text) {
	}

	/** All sections of all pages; the text is in small letters. */
	static List<Section> sections() {
		List<Section> sections = new ArrayList<>();
		for (String file : FILES) {
			Page page = page(file);
			Section open = null;
			StringBuilder text = new StringBuilder();
			for (Block b : page.blocks()) {
				if (b instanceof Block.Heading h && (h.level() <= 2 || open == null)) {
					if (open != null) {
						sections.add(new Section(open.place(), open.title(), open.level(), text.toString()));
					}
					text.setLength(0);
					open = new Section(new Place(file, open == null ? "" : h.anchor()), Markdown.plain(h.text()), open == null ? 1 : 2, "");
				}
				text.append(plain(b).toLowerCase(Locale.ROOT)).append('\n');
			}
			if (open != null) {
				sections.add(new Section(open.place(), open.title(), open.level(), text.toString()));
			}
		}
		return sections;
	}

	private static String plain(Block block) {
		return switch (block) {
		case Block.Heading h -> Markdown.plain(h.text());
		case Block.Paragraph p -> Markdown.plain(p.text());
		case Block.Item i -> Markdown.plain(i.text());
		case Block.Code c -> c.text();
		case Block.Table t -> {
			StringBuilder b = new StringBuilder();
			t.rows().forEach(row -> row.forEach(cell -> b.append(Markdown.plain(cell)).append(' ')));
			yield b.toString();
		}
		};
	}
}
