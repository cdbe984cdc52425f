// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.diff;

import java.util.List;

/** The conditions of a comparison as a JUnit report, a test case for each: what CI servers show. */
public final class DiffJUnit {
	private DiffJUnit() {
	}

	/** The report. */
	public static String xml(TraceDiff d, List<FailIf.Outcome> outcomes) {
		StringBuilder b = new StringBuilder("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
		long failures = outcomes.stream().filter(FailIf.Outcome::failed).count();
		String program = String.join(", ", TraceDiff.programs(d.after()));
		b.append("<testsuites tests=\"").append(outcomes.size()).append("\" failures=\"").append(failures).append("\">\n");
		b.append("  <testsuite name=\"memtrace diff ").append(escape(program)).append("\" tests=\"").append(outcomes.size())
				.append("\" failures=\"")
				.append(failures).append("\" errors=\"0\" skipped=\"0\">\n");
		for (FailIf.Outcome o : outcomes) {
			b.append("    <testcase classname=\"memtrace.").append(escape(program)).append("\" name=\"")
					.append(escape(o.condition().text())).append("\">");
			if (o.failed()) {
				b.append("<failure message=\"").append(escape(o.reason())).append("\">").append(escape(detail(d))).append("</failure>");
			}
			b.append("</testcase>\n");
		}
		b.append("    <system-out>").append(escape(DiffText.text(d, outcomes))).append("</system-out>\n  </testsuite>\n</testsuites>\n");
		return b.toString();
	}

	private static String detail(TraceDiff d) {
		StringBuilder b = new StringBuilder();
		d.findings().stream().filter(FindingDiff::isWorse).forEach(f -> b.append(DiffText.sentence(f, d)).append('\n'));
		return b.toString();
	}

	/** Text in XML 1.0: without the characters that it cannot have. */
	static String escape(String s) {
		StringBuilder b = new StringBuilder();
		s.codePoints().filter(c -> c == '\t' || c == '\n' || c >= 0x20 && c != 0xfffe && c != 0xffff && (c < 0xd800 || c > 0xdfff)).forEach(c -> {
			switch (c) {
			case '&' -> b.append("&amp;");
			case '<' -> b.append("&lt;");
			case '>' -> b.append("&gt;");
			case '"' -> b.append("&quot;");
			default -> b.appendCodePoint(c);
			}
		});
		return b.toString();
	}
}
