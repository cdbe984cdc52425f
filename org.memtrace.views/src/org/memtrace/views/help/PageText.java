// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.help;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.eclipse.jface.resource.FontDescriptor;
import org.eclipse.jface.resource.JFaceResources;
import org.eclipse.jface.resource.LocalResourceManager;
import org.eclipse.swt.SWT;
import org.eclipse.swt.custom.StyleRange;
import org.eclipse.swt.custom.StyledText;
import org.eclipse.swt.graphics.Color;
import org.eclipse.swt.graphics.Font;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.text.Markdown;
import org.memtrace.analysis.text.Markdown.Block;
import org.memtrace.analysis.text.Markdown.Span;
import org.memtrace.views.paint.ScenePainter;

/** A page as styled text. A row of a table is a paragraph that begins with its first cell: that can be read at any width. */
final class PageText {
	private static final int INDENT = 16;

	/** A link in the text; styles cannot carry it, StyledText shares those that look the same. */
	record Link(int from, int to, String target) {
	}

	/** Where the headings and links of the text are. */
	record Shown(Map<String, Integer> anchors, List<Link> links) {
		static final Shown NOTHING = new Shown(Map.of(), List.of());

		/** Target of the link at an offset, or null. */
		String linkAt(int offset) {
			return links.stream().filter(l -> offset >= l.from && offset < l.to).map(Link::target).findFirst().orElse(null);
		}
	}

	private final List<Link> links = new ArrayList<>();

	private record Indent(int line, int first, int next) {
	}

	private final StringBuilder text = new StringBuilder();
	private final List<StyleRange> ranges = new ArrayList<>();
	private final List<Indent> indents = new ArrayList<>();
	private final List<int[]> codeLines = new ArrayList<>();
	private final Map<String, Integer> anchors = new HashMap<>();
	private final LocalResourceManager resources;
	private final Palette palette;
	private final Color muted;
	private int line;

	private PageText(StyledText control) {
		resources = new LocalResourceManager(JFaceResources.getResources(), control);
		palette = ScenePainter.palette(control);
		muted = ScenePainter.color(palette.mutedText());
	}

	/** Shows a page. */
	static Shown show(HelpPages.Page page, StyledText control) {
		PageText t = new PageText(control);
		page.blocks().forEach(t::block);
		control.setText(t.text.toString());
		control.setStyleRanges(t.ranges.stream().filter(r -> r.length > 0).toArray(StyleRange[]::new));
		for (Indent i : t.indents) {
			control.setLineIndent(i.line(), 1, i.first());
			control.setLineWrapIndent(i.line(), 1, i.next());
		}
		Color ground = ScenePainter.color(t.palette.plotBackground());
		for (int[] lines : t.codeLines) {
			control.setLineBackground(lines[0], lines[1] - lines[0], ground);
		}
		return new Shown(t.anchors, t.links);
	}

	private void block(Block block) {
		switch (block) {
		case Block.Heading h -> {
			if (!text.isEmpty()) {
				newLine();
			}
			anchors.putIfAbsent(h.anchor(), text.length());
			int from = text.length();
			text.append(Markdown.plain(h.text()));
			StyleRange r = range(from, text.length() - from);
			r.font = resources.create(FontDescriptor.createFrom(JFaceResources.getDefaultFont())
					.increaseHeight(h.level() == 1 ? 7 : h.level() == 2 ? 3 : 1).setStyle(SWT.BOLD));
			newLine();
			newLine();
		}
		case Block.Paragraph p -> {
			spans(p.text());
			newLine();
			newLine();
		}
		case Block.Item i -> {
			int at = line;
			text.append(i.number() > 0 ? i.number() + ".  " : "•  ");
			spans(i.text());
			indents.add(new Indent(at, INDENT * (i.depth() + 1), INDENT * (i.depth() + 2) + 6));
			newLine();

		}
		case Block.Code c -> {
			int from = line;
			Font mono = JFaceResources.getTextFont();
			for (String s : c.text().split("\n")) {
				int at = text.length();
				text.append(s.isEmpty() ? " " : s);
				range(at, text.length() - at).font = mono;
				indents.add(new Indent(line, INDENT, INDENT));
				newLine();
			}
			codeLines.add(new int[] {from, line});
			newLine();
		}
		case Block.Table t -> table(t);
		}
	}

	private void table(Block.Table t) {
		for (List<List<Span>> row : t.rows()) {
			int at = line;
			int from = text.length();
			spans(row.get(0));
			for (StyleRange r : ranges) {
				if (r.start >= from && !r.underline && r.font == null) {
					r.fontStyle |= SWT.BOLD;
				}
			}
			boldPlain(from, text.length());
			for (int c = 1; c < row.size(); c++) {
				if (Markdown.plain(row.get(c)).isEmpty()) {
					continue;
				}
				text.append("   ");
				String head = c < t.header().size() && row.size() > 2 ? Markdown.plain(t.header().get(c)) : "";
				if (!head.isEmpty()) {
					int h = text.length();
					text.append(head).append(": ");
					range(h, head.length() + 1).foreground = muted;
				}
				spans(row.get(c));
			}
			indents.add(new Indent(at, INDENT, 3 * INDENT));
			newLine();

		}
		newLine();
	}

	/** Text without a style yet between two places. */
	private void boldPlain(int from, int to) {
		int at = from;
		List<StyleRange> inside = ranges.stream().filter(r -> r.start >= from && r.start < to).toList();
		for (StyleRange r : inside) {
			if (r.start > at) {
				bold(at, r.start);
			}
			at = r.start + r.length;
		}
		if (at < to) {
			bold(at, to);
		}
		ranges.sort((a, b) -> Integer.compare(a.start, b.start));
	}

	private void bold(int from, int to) {
		range(from, to - from).fontStyle = SWT.BOLD;
	}

	private void spans(List<Span> spans) {
		for (Span s : spans) {
			int from = text.length();
			text.append(s.text());
			switch (s.style()) {
			case PLAIN -> {
			}
			case BOLD -> range(from, s.text().length()).fontStyle = SWT.BOLD;
			case ITALIC -> range(from, s.text().length()).fontStyle = SWT.ITALIC;
			case CODE -> {
				StyleRange r = range(from, s.text().length());
				r.font = JFaceResources.getTextFont();
				r.background = ScenePainter.color(palette.plotBackground());
			}
			case LINK -> {
				StyleRange r = range(from, s.text().length());
				r.underline = true;
				r.underlineStyle = SWT.UNDERLINE_LINK;
				links.add(new Link(from, text.length(), s.target()));
			}
			}
		}
	}

	private StyleRange range(int from, int length) {
		StyleRange r = new StyleRange();
		r.start = from;
		r.length = length;
		ranges.add(r);
		return r;
	}

	private void newLine() {
		text.append('\n');
		line++;
	}
}
