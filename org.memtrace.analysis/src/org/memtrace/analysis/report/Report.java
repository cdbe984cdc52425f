// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.report;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

import org.memtrace.aggregation.AccessTable;
import org.memtrace.analysis.findings.AdviceText;
import org.memtrace.analysis.findings.Advisor;
import org.memtrace.analysis.findings.Finding;
import org.memtrace.analysis.findings.FirstLines;
import org.memtrace.analysis.findings.TraceSummary;
import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.facts.TraceFacts;
import org.memtrace.analysis.pattern.PatternText;
import org.memtrace.analysis.pattern.Patterns;
import org.memtrace.analysis.source.Instructions;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.CallFrame;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.TraceStore;

/** A trace as one HTML page: no network, no other file. The numbers are in it as compressed columns; a script draws them. */
public final class Report {
	/** Pages of all structures that are kept one by one; above, rows are maxima of several. */
	public static final int MOST_ROWS = 1_000_000;
	/** So many structures have pictures, the heaviest ones. */
	private static final int PICTURES = 200;
	/** So many source lines are in the table of instructions. */
	private static final int INSTRUCTIONS = 100;
	private static final String TEMPLATE = "report.html";
	private static final Gson GSON = new GsonBuilder().create();

	private Report() {
	}

	/** Makes the page. The accesses are read for the patterns, too. */
	public static String html(TraceStore store, Advisor advisor, String topology, int mostRows, Progress progress) throws MemtraceException {
		return html(store, advisor, Patterns.of(AccessTable.load(store, progress), progress), topology, mostRows, progress);
	}

	/**
	 * Makes the page.
	 *
	 * @param patterns of the same trace
	 * @param topology picture of the machine as SVG, null without
	 * @param mostRows as {@link #MOST_ROWS}
	 */
	public static String html(TraceStore store, Advisor advisor, Patterns patterns, String topology, int mostRows, Progress progress)
			throws MemtraceException {
		TraceFacts t = advisor.facts();
		List<GroupFacts> groups = new ArrayList<>(t.groups());
		groups.removeIf(g -> g.library || g.parts == 0);
		groups.sort(Comparator.comparingDouble((GroupFacts g) -> -g.weight).thenComparing(g -> g.label).thenComparing(g -> g.site));
		int hidden = t.groups().size() - groups.size();
		List<Integer> named = advisor.findings().stream().flatMap(f -> f.structures().stream()).toList();
		List<GroupFacts> drawn = new ArrayList<>(groups.stream().filter(g -> named.contains(g.structures.get(0))).limit(PICTURES).toList());
		groups.stream().filter(g -> !drawn.contains(g)).limit(Math.max(0, PICTURES - drawn.size())).forEach(drawn::add);
		int[] ordinals = new int[store.producers().size()];
		ReportColumns[] columns = ReportColumns.read(store, t, drawn, mostRows, ordinals, progress);
		JsonObject top = head(t);
		top.addProperty("hidden", hidden);
		JsonArray first = new JsonArray();
		FirstLines.of(store, advisor, TraceSummary.lossWarning(t.info()))
				.forEach(l -> first.add(GSON.toJsonTree(new String[] {l.head(), l.text()})));
		top.add("first", first);
		JsonArray findings = new JsonArray();
		for (Finding f : advisor.findings()) {
			JsonObject one = finding(f, groups, ordinals);
			one.addProperty("also", advisor.mainOf(f) != null);
			findings.add(one);
		}
		top.add("findings", findings);
		top.add("small", GSON.toJsonTree(AdviceText.small(advisor)));
		JsonArray structures = new JsonArray();
		progress.begin("Packing", groups.size());
		for (GroupFacts g : groups) {
			int at = drawn.indexOf(g);
			JsonObject one = structure(g, t, store, at < 0 ? null : columns[at]);
			one.addProperty("pattern", PatternText.line(patterns.shares(g.structures)));
			structures.add(one);
			progress.worked(1);
		}
		top.add("structures", structures);
		top.add("instructions", instructions(store));
		String template = template();
		String title = escape(t.info().alias());
		return template.replace("@TITLE@", title).replace("@TOPOLOGY@", topology == null ? "<p class=\"dim\">The machine was not recorded.</p>"
				: topology.replaceFirst("^<\\?xml[^>]*>\\s*", "")).replace("@DATA@", GSON.toJson(top).replace("<", "\\u003c"));
	}

	/** The source lines with most accesses, if instructions were counted. */
	private static JsonArray instructions(TraceStore store) throws MemtraceException {
		JsonArray all = new JsonArray();
		for (Instructions.Row r : Instructions.byLine(Instructions.of(store, false))) {
			if (all.size() == INSTRUCTIONS) {
				break;
			}
			JsonObject o = new JsonObject();
			o.addProperty("where", r.where());
			o.addProperty("structure", r.structureName());
			o.addProperty("access", r.use().write() ? "write" : "read");
			o.addProperty("accesses", r.use().accesses());
			o.addProperty("threads", r.threads());
			o.addProperty("stride", r.stride());
			o.addProperty("jumps", r.jumps());
			all.add(o);
		}
		return all;
	}

	private static String template() {
		try (InputStream in = Report.class.getResourceAsStream(TEMPLATE)) {
			return new String(in.readAllBytes(), StandardCharsets.UTF_8);
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
	}

	private static String escape(String s) {
		return s.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
	}

	private static JsonObject head(TraceFacts t) {
		TraceInfo info = t.info();
		JsonObject o = new JsonObject();
		o.addProperty("name", info.alias());
		o.addProperty("command", t.property("command"));
		o.addProperty("program", info.application());
		o.addProperty("purpose", t.property("purpose"));
		o.addProperty("recorded", info.recordedAt().toString());
		o.addProperty("machine", info.host() + (t.property("cpu_model").isEmpty() ? "" : ", " + t.property("cpu_model")) + ", " + info.cpus()
				+ " CPUs"
				+ (t.nodes() > 0 ? ", " + t.nodes() + (t.nodes() == 1 ? " NUMA node" : " NUMA nodes") : ""));
		o.addProperty("system", info.operatingSystem());
		o.addProperty("seconds", info.durationNs() / 1e9);
		o.addProperty("duration", Units.duration(info, info.durationNs()));
		o.addProperty("intervals", t.intervals());
		o.addProperty("interval", Units.duration(info, t.intervalNs()));
		o.addProperty("backend", t.property("backend"));
		JsonObject guarantee = new JsonObject();
		new TreeMap<>(info.properties()).forEach((k, v) -> {
			if (k.startsWith("guarantee_")) {
				guarantee.addProperty(k.substring("guarantee_".length()), v);
			}
		});
		o.add("guarantee", guarantee);
		o.addProperty("lost", t.lost());
		o.addProperty("unseen", TraceSummary.unseen(info));
		o.addProperty("seen", TraceSummary.seen(info));
		o.addProperty("unreached", TraceSummary.unreached(info));
		o.addProperty("accesses", t.accesses());
		o.addProperty("counted", info.counts().plural());
		o.addProperty("exact", info.counts().isExact());
		o.addProperty("row", info.counts().row());
		o.addProperty("pages", t.parts());
		o.addProperty("page_bytes", info.pageSizeBytes());
		o.addProperty("slices", ReportColumns.SLICES);
		JsonArray threads = new JsonArray();
		for (int i = 0; i < t.threads().size(); i++) {
			ThreadInfo thread = t.threads().get(i);
			JsonObject one = new JsonObject();
			one.addProperty("name", t.thread(i));
			one.addProperty("task", thread.taskId());
			one.addProperty("start", thread.main() ? "main" : thread.startRoutine());
			one.addProperty("cpu_ns", t.cpu().total(i));
			threads.add(one);
		}
		o.add("threads", threads);
		return o;
	}

	private static JsonObject finding(Finding f, List<GroupFacts> groups, int[] ordinals) {
		JsonObject o = new JsonObject();
		o.addProperty("rule", f.rule());
		o.addProperty("title", f.title());
		o.addProperty("name", f.name());
		o.addProperty("severity", f.severity().id());
		o.addProperty("worth", f.worth());
		o.addProperty("confidence", f.confidence().id());
		o.addProperty("evidence", f.evidence());
		o.addProperty("advice", f.advice());
		o.addProperty("fix", f.fix().words());
		o.addProperty("command", f.fix().command());
		o.addProperty("code", f.fix().code());
		o.addProperty("check", f.check());
		o.add("notes", GSON.toJsonTree(f.notes()));
		o.addProperty("view", f.view());
		// indices of the structures, and the touched pages of the first one that it is about
		o.add("structures", GSON.toJsonTree(IntStream.range(0, groups.size()).filter(g ->
				f.structures().contains(groups.get(g).structures.get(0))).toArray()));
		int from = Integer.MAX_VALUE;
		int to = 0;
		for (int leaf = Math.max(0, f.leafFrom()); leaf < Math.min(ordinals.length, f.leafTo()); leaf++) {
			if (ordinals[leaf] >= 0) {
				from = Math.min(from, ordinals[leaf]);
				to = Math.max(to, ordinals[leaf] + 1);
			}
		}
		if (to > 0 && f.names().size() == 1) {
			o.addProperty("from", from);
			o.addProperty("to", to);
		}
		return o;
	}

	private static JsonObject structure(GroupFacts g, TraceFacts t, TraceStore store, ReportColumns c) throws MemtraceException {
		JsonObject o = new JsonObject();
		o.addProperty("name", g.label);
		o.addProperty("kind", g.kind.name().toLowerCase(Locale.ROOT));
		o.addProperty("site", g.site);
		o.addProperty("blocks", g.structures.size());
		o.addProperty("bytes", g.liveBytes);
		o.addProperty("all_bytes", g.bytes);
		o.addProperty("pages", g.parts);
		o.addProperty("all_pages", g.pagesOfBlocks);
		o.addProperty("reads", g.accesses - g.writes);
		o.addProperty("writes", g.writes);
		o.addProperty("weight", g.weight);
		o.addProperty("users", g.users());
		o.addProperty("first", g.firstToucher());
		o.addProperty("first_share", g.firstTouchShare());
		o.addProperty("handed_on", g.knownParts() == 0 ? 0 : (double) g.handedOn / g.knownParts());
		o.addProperty("shared", g.pairs == 0 ? 0 : (double) g.sharedPairs / g.pairs);
		o.add("by_thread", GSON.toJsonTree(g.byThread));
		if (c != null) {
			o.addProperty("rows", c.rows);
			o.addProperty("per_row", c.pagesPerRow);
			o.addProperty("time_rows", c.timeRows);
			JsonObject data = new JsonObject();
			data.add("page", column(c.page.length, i -> c.page[i]));
			data.add("first", column(c.first.length, i -> c.first[i]));
			data.add("reads", column(c.reads.length, i -> c.reads[i]));
			data.add("writes", column(c.writes.length, i -> c.writes[i]));
			data.add("who", column(c.who.length, i -> c.who[i]));
			data.add("what", column(c.what.length, i -> c.what[i]));
			o.add("data", data);
			if (c.stack >= 0) {
				JsonArray stack = new JsonArray();
				for (CallFrame f : store.stack(c.stack)) {
					stack.add((f.function().isEmpty() ? "0x" + Long.toHexString(f.ip()) : f.function())
							+ (f.file().isEmpty() ? "" : " (" + f.file() + ":" + f.line() + ")"));
				}
				o.add("stack", stack);
			}
		}
		return o;
	}

	/**
	 * Numbers as little-endian bytes of the smallest width that holds them, compressed, in base 64. What has more than 32 bits is the largest
	 * number of 32 bits.
	 */
	private static JsonObject column(int n, IntToLongFunction value) {
		long most = IntStream.range(0, n).mapToLong(value).max().orElse(0);
		int width = most < 1 << 8 ? 1 : most < 1 << 16 ? 2 : 4;
		byte[] bytes = new byte[n * width];
		for (int i = 0; i < n; i++) {
			long v = Math.min(0xffffffffL, value.applyAsLong(i));
			for (int k = 0; k < width; k++) {
				bytes[i * width + k] = (byte) (v >>> 8 * k);
			}
		}
		ByteArrayOutputStream packed = new ByteArrayOutputStream();
		Deflater deflater = new Deflater(Deflater.BEST_COMPRESSION);
		try (DeflaterOutputStream out = new DeflaterOutputStream(packed, deflater)) {
			out.write(bytes);
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		} finally {
			deflater.end();
		}
		JsonObject o = new JsonObject();
		o.addProperty("w", width);
		o.addProperty("n", n);
		o.addProperty("b", Base64.getEncoder().encodeToString(packed.toByteArray()));
		return o;
	}
}
