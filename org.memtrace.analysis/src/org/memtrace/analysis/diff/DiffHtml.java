// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.diff;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

import org.memtrace.analysis.findings.facts.Words;

/** A comparison as one page: no script, no network. Both sides stand beside each other. */
public final class DiffHtml {
	private static final String STYLE = """
			:root{color-scheme:light dark;--fg:#1d2430;--bg:#fff;--soft:#f2f4f7;--line:#d5dae1;--dim:#5c6773;--good:#1a7f37;--bad:#b42318}
			@media (prefers-color-scheme:dark){:root{--fg:#e3e7ee;--bg:#15181d;--soft:#1f242b;--line:#39414c;--dim:#9aa5b3;--good:#5fd07f;--bad:#ff8a7a}}
			body{font:15px/1.5 system-ui,sans-serif;color:var(--fg);background:var(--bg);margin:0 auto;max-width:1100px;padding:24px}
			h1{font-size:22px;margin:0 0 4px}h2{font-size:17px;margin:28px 0 8px;border-bottom:1px solid var(--line)}h3{font-size:15px;margin:18px 0 6px}
			.dim{color:var(--dim)}.sides{display:grid;grid-template-columns:1fr 1fr;gap:16px}.card{background:var(--soft);border-radius:6px;padding:10px 14px;margin:8px 0}
			.gone{border-left:4px solid var(--good)}.new{border-left:4px solid var(--bad)}.changed{border-left:4px solid #c69026}.same{border-left:4px solid var(--line)}
			table{border-collapse:collapse;width:100%}th,td{text-align:right;padding:3px 8px;border-bottom:1px solid var(--line)}th:first-child,td:first-child{text-align:left}
			.better{color:var(--good)}.worse{color:var(--bad)}svg{display:block;width:100%;height:18px;border-radius:3px}ul{margin:4px 0;padding-left:20px}
			.key span{display:inline-block;margin-right:12px}.key i{display:inline-block;width:11px;height:11px;border-radius:2px;margin-right:4px}
			@media print{body{max-width:none}.card{break-inside:avoid}}
			""";
	/** Colours of roles: distinguishable with colour blindness, on light and dark. */
	private static final String[] COLOURS = {"#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#888888", "#dd8452"};

	private DiffHtml() {
	}

	/** The page. */
	public static String html(TraceDiff d, List<FailIf.Outcome> outcomes) {
		StringBuilder b = new StringBuilder("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">");
		String program = String.join(", ", TraceDiff.programs(d.after()));
		b.append("<title>").append(text(program)).append(": before and after</title><style>").append(STYLE).append("</style></head><body>\n");
		b.append("<h1>").append(text(program)).append(": before and after</h1>\n<div class=\"sides\">");
		side(b, "Before", d.before());
		side(b, "After", d.after());
		b.append("</div>\n");
		Verdict v = d.verdict();
		String judged = !v.isTested() ? "" : v.isSlower() ? " new"
				: Verdict.change(v.time()) == Verdict.Change.LESS ? " gone" : "";
		b.append("<div class=\"card verdict").append(judged).append("\">")
				.append(v.sentences().stream().map(DiffHtml::text).collect(Collectors.joining("<br>"))).append("</div>\n");
		if (!d.warnings().isEmpty()) {
			b.append("<h2>Warnings</h2><ul>");
			d.warnings().forEach(w -> b.append("<li>").append(text(Character.toUpperCase(w.charAt(0)) + w.substring(1))).append(".</li>"));
			b.append("</ul>\n");
		}
		findings(b, d);
		b.append("<h2>Whole run</h2>\n");
		table(b, d.whole());
		b.append("<p class=\"dim\">").append(text((DiffText.statistics(d) + " " + DiffText.counting(d)).strip()))
				.append("</p>\n<h2>Structures</h2>\n");
		key(b, d);
		for (StructureDiff s : d.relevant()) {
			b.append("<h3>").append(text(s.name())).append(" <span class=\"dim\">").append(text(s.origin()))
					.append(s.inA() == 0 ? ", new" : s.inB() == 0 ? ", gone" : s.how().isEmpty() ? "" : ", matched " + s.how()).append("</span></h3>\n");
			b.append("<div class=\"sides\">");
			use(b, s.before(), d);
			use(b, s.after(), d);
			b.append("</div>\n");
			table(b, s.comparisons());
		}
		regions(b, d);
		if (!outcomes.isEmpty()) {
			b.append("<h2>Conditions</h2><ul>");
			outcomes.forEach(o -> b.append("<li class=\"").append(o.failed() ? "worse" : "better").append("\">").append(o.failed() ? "failed"
					: "passed").append(": ")
					.append(text(o.condition().text())).append(" <span class=\"dim\">").append(text(o.reason())).append("</span></li>"));
			b.append("</ul>\n");
		}
		return b.append("</body></html>\n").toString();
	}

	private static void regions(StringBuilder b, TraceDiff d) {
		if (!d.regions().isEmpty()) {
			b.append("<h2>Regions of the program</h2>\n");
		}
		for (RegionDiff r : d.regions()) {
			b.append("<h3>").append(text(r.name())).append(" <span class=\"dim\">").append(r.inA() == 0 ? "new" : r.inB() == 0 ? "gone" : "")
					.append("</span></h3>\n");
			table(b, r.comparisons());
			List<StructureDiff> inside = r.relevant();
			if (!inside.isEmpty()) {
				b.append("<details><summary>").append(Words.count(inside.size(), "structure")).append(" in it</summary>\n");
			}
			for (StructureDiff s : inside) {
				b.append("<h4>").append(text(s.name())).append(" <span class=\"dim\">").append(text(s.origin())).append("</span></h4>\n");
				table(b, s.comparisons());
			}
			b.append(inside.isEmpty() ? "" : "</details>\n");
		}
	}

	private static void findings(StringBuilder b, TraceDiff d) {
		b.append("<h2>Findings</h2>\n");
		if (d.findings().isEmpty()) {
			b.append("<p>None, before and after.</p>");
		}
		for (FindingDiff f : d.findings()) {
			// green is what helped: not what is gone from a slower program
			String state = f.state() == FindingDiff.State.GONE && d.verdict().isSlower() ? FindingDiff.State.CHANGED.id() : f.state().id();
			b.append("<div class=\"card ").append(state).append("\">").append(text(DiffText.sentence(f, d).replaceFirst("\\s+",
					": "))).append("</div>\n");
		}
	}

	private static void side(StringBuilder b, String title, List<Run> runs) {
		b.append("<div class=\"card\"><b>").append(title).append("</b>, ").append(Words.count(runs.size(), "run")).append("<br>");
		b.append(runs.stream().map(r -> text(r.label())).collect(Collectors.joining("<br>"))).append("<br><span class=\"dim\">")
				.append(text(runs.get(0).facts().property("command"))).append("</span></div>");
	}

	private static void table(StringBuilder b, List<Comparison> comparisons) {
		b.append("<table><tr><th></th><th>before</th><th>after</th><th>change</th><th></th></tr>\n");
		for (Comparison c : comparisons) {
			String judged = c.judged() == 0 ? "" : c.judged() > 0 ? "worse" : "better";
			b.append("<tr><td>").append(text(c.metric().title())).append("</td><td>").append(DiffText.value(c.metric(),
					c.before())).append("</td><td>")
					.append(DiffText.value(c.metric(), c.after())).append("</td><td class=\"").append(judged).append("\">").append(DiffText.change(c))
					.append("</td><td class=\"dim\">")
					.append(c.isTested() ? String.format(Locale.ROOT, "p %.3f%s", c.p(), c.isSignificant() ? "" : ", not significant")
					: "").append("</td></tr>\n");
		}
		b.append("</table>\n");
	}

	private static void key(StringBuilder b, TraceDiff d) {
		b.append("<p class=\"key dim\">");
		for (int r = 0; r < Math.min(COLOURS.length, d.roles().size()); r++) {
			b.append("<span><i style=\"background:").append(COLOURS[r]).append("\"></i>").append(text(d.roles().get(r))).append("</span>");
		}
		b.append(d.roles().size() > COLOURS.length ? "<span>… the colours repeat</span>" : "").append("</p>\n");
	}

	private static void use(StringBuilder b, StructureDiff.Use u, TraceDiff d) {
		b.append("<div class=\"card\">");
		if (u == null) {
			b.append("<span class=\"dim\">not there</span>");
		} else {
			b.append("First touched by ").append(text(DiffText.shares(u.firstTouch(), d)));
			strip(b, u.firstPlaces(), "who touches first, from the beginning of the block to its end", d);
			b.append("Used mostly by ").append(text(DiffText.shares(u.mainUse(), d)));
			strip(b, u.mainPlaces(), "main user, from the beginning of the block to its end", d);
		}
		b.append("</div>");
	}

	private static void strip(StringBuilder b, int[] places, String title, TraceDiff d) {
		if (places.length == 0) {
			b.append("<br>");
			return;
		}
		b.append("<svg viewBox=\"0 0 ").append(places.length).append(" 1\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"")
				.append(title).append("\"><title>")
				.append(title).append("</title>");
		for (int i = 0; i < places.length;) {
			int end = i;
			while (end < places.length && places[end] == places[i]) {
				end++;
			}
			if (places[i] >= 0) {
				b.append("<rect x=\"").append(i).append("\" width=\"").append(end - i).append("\" height=\"1\" fill=\"")
						.append(COLOURS[places[i] % COLOURS.length])
						.append("\"><title>").append(text(d.roles().get(places[i]))).append("</title></rect>");
			}
			i = end;
		}
		b.append("</svg>");
	}

	private static String text(String s) {
		return DiffJUnit.escape(s);
	}
}
