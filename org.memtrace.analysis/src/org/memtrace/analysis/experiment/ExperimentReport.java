// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.experiment;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** What the runs of an experiment gave: a table of statistics, and a page with it and a scatter plot. */
final class ExperimentReport {
	private static final int WIDTH = 860;
	private static final int HEIGHT = 260;
	private static final int LEFT = 90;
	private static final int BELOW = 46;

	private final ExperimentPlan plan;
	private final List<RunResult> runs;
	private final List<RunResult> valid;
	private final List<Map<String, String>> configurations;

	/** @param runs that are done, in the order in which they ran */
	ExperimentReport(ExperimentPlan plan, List<RunResult> runs) {
		this.plan = plan;
		this.runs = runs;
		this.valid = runs.stream().filter(RunResult::isValid).toList();
		this.configurations = plan.configurations();
	}

	/** Statistics of a metric by configuration; those without a run are not in it. */
	Map<Integer, Statistics> statistics(String metric) {
		Map<Integer, List<Double>> values = new TreeMap<>();
		valid.forEach(r -> values.computeIfAbsent(r.configuration(), k -> new ArrayList<>()).add(r.value(metric)));
		Map<Integer, Statistics> all = new TreeMap<>();
		values.forEach((c, v) -> all.put(c, Statistics.of(v.stream().mapToDouble(Double::doubleValue).toArray())));
		return all;
	}

	private Statistics.Speedup speedup(String metric, Map<Integer, Statistics> all, int configuration) {
		Statistics reference = all.get(plan.referenceOf(configuration));
		return plan.referenceOf(configuration) == configuration ? new Statistics.Speedup(1, Double.NaN, Double.NaN)
				: reference == null ? new Statistics.Speedup(Double.NaN, Double.NaN, Double.NaN)
				: all.get(configuration).speedup(reference, plan.higherIsBetter().contains(metric));
	}

	/** A line for each metric and configuration. */
	String summary() {
		StringBuilder b = new StringBuilder("configuration,");
		plan.factors().keySet().forEach(f -> b.append(f).append(','));
		b.append("metric,runs,mean,standard_error,low,high,speedup,speedup_low,speedup_high\n");
		for (String metric : plan.measured()) {
			Map<Integer, Statistics> all = statistics(metric);
			all.forEach((c, s) -> {
				Statistics.Speedup up = speedup(metric, all, c);
				b.append(c + 1).append(',');
				configurations.get(c).values().forEach(level -> b.append(RunResult.quoted(level)).append(','));
				b.append(metric).append(',').append(s.n());
				for (double v : new double[] { s.mean(), s.error(), s.low(), s.high(), up.ratio(), up.low(), up.high() }) {
					b.append(',').append(RunResult.number(v));
				}
				b.append('\n');
			});
		}
		return b.toString();
	}

	private static String text(String s) {
		return s.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
	}

	private static boolean isTime(String metric) {
		return metric.endsWith("_ns");
	}

	private static String title(String metric) {
		return switch (metric) {
		case "wall_ns" -> "elapsed time, ms";
		case "cpu_ns" -> "CPU time, ms (whole ticks of 10 ms)";
		default -> metric;
		};
	}

	/** A value as a person reads it; times in milliseconds. */
	private static String shown(String metric, double v) {
		if (Double.isNaN(v)) {
			return "–";
		}
		double x = isTime(metric) ? v / 1e6 : v;
		int digits = x == 0 ? 0 : Math.max(0, 3 - (int) Math.floor(Math.log10(Math.abs(x))));
		return digits > 9 ? String.format(Locale.ROOT, "%.3e", x) : String.format(Locale.ROOT, "%." + digits + "f", x);
	}

	String html() {
		StringBuilder b = new StringBuilder("""
				<!DOCTYPE html>
				<html lang="en"><head><meta charset="utf-8"><title>%s</title><style>
				:root{color-scheme:light dark;--ink:#1c2128;--soft:#5c6672;--line:#d5dae0;--dot:#2f6fb5;--mean:#b3261e;--paper:#fff}
				@media(prefers-color-scheme:dark){:root{--ink:#e6e9ed;--soft:#9aa4b0;--line:#3a424c;--dot:#7fb2e8;--mean:#ff8a80;--paper:#15191e}}
				body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:%dpx;margin:2rem auto;padding:0 1rem}
				h1{font-size:1.5rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .4rem}p.purpose{color:var(--soft);margin:.2rem 0 1rem}
				table{border-collapse:collapse;width:100%%;font-variant-numeric:tabular-nums}
				th,td{padding:.25rem .6rem;border-bottom:1px solid var(--line);text-align:right}
				th{font-weight:600;color:var(--soft)}th.f,td.f{text-align:left}svg{width:100%%;height:auto}svg text{fill:var(--soft);font-size:11px}
				ul.w{border-left:3px solid var(--mean);padding:.4rem 1.6rem;margin:1rem 0}pre{overflow:auto;border:1px solid var(--line);padding:.8rem;font-size:12px}
				</style></head><body>
				""".formatted(text(plan.name()), WIDTH));
		b.append("<h1>").append(text(plan.name())).append("</h1><p class=\"purpose\">").append(text(plan.purpose())).append("</p>\n<p>");
		b.append(runs.size()).append(" of ").append(configurations.size() * plan.repetitions()).append(" runs are done, ").append(valid.size())
				.append(" count; seed ").append(plan.seed()).append(". Command: <code>").append(text(String.join(" ", plan.command())))
				.append("</code></p>\n");
		List<String> warnings = warnings();
		if (!warnings.isEmpty()) {
			b.append("<ul class=\"w\">");
			warnings.forEach(w -> b.append("<li>").append(text(w)).append("</li>"));
			b.append("</ul>\n");
		}
		for (String metric : plan.measured()) {
			Map<Integer, Statistics> all = statistics(metric);
			if (!all.isEmpty()) {
				b.append("<h2>").append(text(title(metric))).append("</h2>\n");
				plot(b, metric, all);
				table(b, metric, all);
			}
		}
		b.append("<h2>How it was computed</h2>\n<p>Arithmetic means of the runs that count; bars and intervals are 95 % confidence intervals by"
				+ " Student's t. The speed-up is the ratio of the means, larger is better; its interval is that of the logarithm of the ratio (delta"
				+ " method, degrees of freedom of Welch and Satterthwaite). Each dot is a run, from left to right in the order in which they ran. These"
				+ " scripts make the table from filtered.csv.</p>\n");
		b.append("<details><summary>analyse.py</summary><pre>").append(text(python())).append("</pre></details>\n")
				.append("<details><summary>analyse.R</summary><pre>")
				.append(text(r())).append("</pre></details>\n</body></html>\n");
		return b.toString();
	}

	private List<String> warnings() {
		List<String> w = new ArrayList<>();
		Map<String, Long> why = runs.stream().filter(r -> !r.isValid()).collect(Collectors.groupingBy(RunResult::whyNot, TreeMap::new,
				Collectors.counting()));
		why.forEach((reason, n) -> w.add(n + (n == 1 ? " run does" : " runs do") + " not count: " + reason));
		long environments = runs.stream().map(RunResult::environment).distinct().count();
		if (environments > 1) {
			w.add("The runs had " + environments + " different environments (machine, system or kernel settings): do not compare them with each other");
		}
		if (plan.record()) {
			w.add("The runs were recorded: their times include what recording costs");
		}
		long lost = runs.stream().filter(r -> r.lost() > 0).count();
		if (lost > 0) {
			w.add("In " + lost + (lost == 1 ? " run" : " runs") + " the recorder lost accesses");
		}
		if (plan.repetitions() < 10) {
			w.add("Fewer than 10 repetitions: the intervals say little about rare runs");
		}
		return w;
	}

	private void table(StringBuilder b, String metric, Map<Integer, Statistics> all) {
		b.append("<table><tr>");
		plan.factors().keySet().forEach(f -> b.append("<th class=\"f\">").append(text(f)).append("</th>"));
		b.append("<th>runs</th><th>mean</th><th>standard error</th><th>95 % interval</th>");
		boolean compared = !plan.reference().isEmpty();
		b.append(compared ? "<th>speed-up</th><th>95 % interval</th></tr>\n" : "</tr>\n");
		all.forEach((c, s) -> {
			b.append("<tr>");
			configurations.get(c).values().forEach(level -> b.append("<td class=\"f\">").append(text(level)).append("</td>"));
			b.append("<td>").append(s.n()).append("</td><td>").append(shown(metric, s.mean())).append("</td><td>").append(shown(metric, s.error()))
					.append("</td><td>").append(shown(metric, s.low())).append(" … ").append(shown(metric, s.high())).append("</td>");
			if (compared) {
				Statistics.Speedup up = speedup(metric, all, c);
				boolean own = plan.referenceOf(c) == c;
				b.append("<td>").append(own ? "reference" : shown("", up.ratio())).append("</td><td>")
						.append(own ? "" : shown("", up.low()) + " … " + shown("", up.high())).append("</td>");
			}
			b.append("</tr>\n");
		});
		b.append("</table>\n");
	}

	private void plot(StringBuilder b, String metric, Map<Integer, Statistics> all) {
		double most = valid.stream().mapToDouble(r -> r.value(metric)).max().orElse(1);
		double least = Math.min(0, valid.stream().mapToDouble(r -> r.value(metric)).min().orElse(0));
		double step = step(most - least);
		double top = Math.max(step, Math.ceil(most / step) * step);
		double bottom = Math.floor(least / step) * step;
		double scale = (HEIGHT - BELOW - 10) / (top - bottom);
		double column = (double) (WIDTH - LEFT) / configurations.size();
		b.append(String.format(Locale.ROOT, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s by configuration\">\n", WIDTH, HEIGHT,
				text(title(metric))));
		for (int k = 0; bottom + k * step <= top + step / 2; k++) {
			double v = bottom + k * step;
			double y = HEIGHT - BELOW - (v - bottom) * scale;
			b.append(String.format(Locale.ROOT, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"var(--line)\"/>"
					+ "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT, WIDTH, y, y, LEFT - 6, y + 4,
					tick(isTime(metric) ? v / 1e6 : v)));
		}
		for (Map.Entry<Integer, Statistics> e : all.entrySet()) {
			double x = LEFT + column * (e.getKey() + 0.5);
			List<RunResult> own = valid.stream().filter(r -> r.configuration() == e.getKey()).toList();
			for (int i = 0; i < own.size(); i++) {
				RunResult r = own.get(i);
				double at = x + column * 0.6 * ((i + 0.5) / own.size() - 0.5);
				b.append(String.format(Locale.ROOT, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"var(--dot)\" fill-opacity=\".55\"><title>run %d: %s"
						+ "</title></circle>\n", at, HEIGHT - BELOW - (r.value(metric) - bottom) * scale, r.run(), shown(metric, r.value(metric))));
			}
			Statistics s = e.getValue();
			double mean = HEIGHT - BELOW - (s.mean() - bottom) * scale;
			b.append(String.format(Locale.ROOT, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"var(--mean)\" stroke-width=\"2\"/>\n",
					x - column * 0.35, x + column * 0.35, mean, mean));
			if (s.n() > 1) {
				b.append(String.format(Locale.ROOT, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"var(--mean)\"/>\n", x, x,
						mean - (s.high() - s.mean()) * scale, mean + (s.mean() - s.low()) * scale));
			}
			List<String> levels = List.copyOf(configurations.get(e.getKey()).values());
			for (int i = 0; i < Math.min(3, levels.size()); i++) {
				b.append(String.format(Locale.ROOT, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x, HEIGHT - BELOW + 14 + 13 * i,
						text(levels.get(i))));
			}
		}
		b.append("</svg>\n");
	}

	private static String tick(double v) {
		return new java.math.BigDecimal(v).round(new java.math.MathContext(6)).stripTrailingZeros().toPlainString();
	}

	/** 1, 2 or 5 times a power of ten, so that some five lines are drawn. */
	private static double step(double range) {
		double raw = (range > 0 ? range : 1) / 5;
		double power = Math.pow(10, Math.floor(Math.log10(raw)));
		return power * (raw / power < 1.5 ? 1 : raw / power < 3.5 ? 2 : raw / power < 7.5 ? 5 : 10);
	}

	// scripts

	String python() {
		return script("analyse.py", "[%s]", "[%s]", "%s: %s", "{%s}");
	}

	String r() {
		return script("analyse.R", "c(%s)", "c(%s)", "%s = %s", "list(%s)").replace("<- c()", "<- character()");
	}

	private String script(String name, String list, String set, String pair, String map) {
		String text;
		try (InputStream in = ExperimentReport.class.getResourceAsStream(name)) {
			text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
		return text.replace("@FACTORS@", list.formatted(joined(plan.factors().keySet())))
				.replace("@METRICS@", list.formatted(joined(plan.measured())))
				.replace("@HIGHER@", set.formatted(joined(new TreeSet<>(plan.higherIsBetter()))))
				.replace("@REFERENCE@", map.formatted(plan.reference().entrySet().stream()
						.map(e -> pair.formatted(literal(e.getKey()), literal(e.getValue()))).collect(Collectors.joining(", "))));
	}

	private static String joined(Collection<String> texts) {
		return texts.stream().map(ExperimentReport::literal).collect(Collectors.joining(", "));
	}

	/** A text as Python and R write it. */
	private static String literal(String s) {
		return "\"" + s.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + "\"";
	}
}
