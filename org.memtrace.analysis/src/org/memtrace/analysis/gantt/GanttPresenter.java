// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.Dimension;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.gantt.GanttRows.Order;
import org.memtrace.analysis.gantt.GanttSource.Grouping;
import org.memtrace.analysis.selection.SelectedTrace;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;

/**
 * What a Gantt chart shows, and what gestures do to it; the widgets are a {@link Screen}. Three steps follow each other, each only
 * when needed: the records (when viewpoint or filters change), the rows (when the producer, folding or order change), the picture
 * (when the window or the scroll position change). The first two are computed by the screen in the background and handed back.
 * Used by one thread.
 */
public final class GanttPresenter {
	/** The trace that is shown. */
	public interface Trace extends SelectedTrace {
		/** The records that pass some filters. Takes time, any thread. */
		GanttSource records(Dimension viewpoint, FilterSet filters, Progress progress) throws MemtraceException;
	}

	/** What shows a chart. The methods that begin work return at once; newer work of the same kind replaces older one. */
	public interface Screen {
		/** Reads records, then calls {@link GanttPresenter#recordsRead}. */
		void read(Records wanted);

		/** What is being read is not wanted any more. */
		void stopReading();

		/** Arranges rows, then calls {@link GanttPresenter#rowsArranged}. */
		void arrange(GanttRows.Request wanted);

		/** The rows that are being arranged are not wanted any more. */
		void stopArranging();

		/** Looks for a record, then calls {@link GanttPresenter#stepped}. */
		void find(Step wanted);

		/** Looks for a row, then calls {@link GanttPresenter#found}. */
		void find(Search wanted);

		/** Something that the picture depends on may be another one. */
		void draw();

		/** Other rows: {@link GanttPresenter#rows}, scrolled and selected as the presenter says. */
		void rowsChanged();

		/** Another first row. */
		void scrolled();

		/** Another row or record is selected. */
		void selectionChanged();

		/** Other groupings or viewpoints are possible or chosen. */
		void choicesChanged();

		/** Rows that have room as a whole, at least 1. */
		int wholeRows(double rowHeight);

		/** Pixels that the labels of the rows need. */
		double labelWidth(GanttRows rows, GanttStyle style);

		/** Pixels of the whole chart. */
		double width();

		/** One line about what is shown or was done; empty for none. */
		void say(String text, boolean warning);

		/** What stands where there is no picture. */
		void sayInstead(String text);
	}

	/** Records that are wanted. */
	public record Records(Trace trace, Dimension viewpoint, FilterSet filters) {
		/** Reads them; any thread. */
		public GanttModel read(Progress progress) throws MemtraceException {
			return new GanttModel(trace.records(viewpoint, filters, progress));
		}
	}

	/** A record of a row, [fromNs, toNs); or an interval without a row, producer -1. */
	public record Span(int group, int producer, long fromNs, long toNs) {
	}

	/** A wish for the record of a row that begins next after an instant, or before it. */
	public record Step(GanttModel model, Grouping grouping, int group, int producer, int row, long fromNs, boolean forward) {
		/** Looks for it; null when there is none. Any thread. */
		public GanttModel.Piece find(Progress progress) throws MemtraceException {
			return model.next(grouping, group, producer, fromNs, forward, progress);
		}
	}

	/** A wish for the row whose name has a pattern, from a row on. */
	public record Search(GanttRows rows, Pattern pattern, int group, int producer, boolean forward) {
		/** Looks for it; null when there is none. Any thread. */
		public GanttSearch.Found find(Progress progress) throws MemtraceException {
			return GanttSearch.next(rows, pattern, group, producer, forward, progress);
		}
	}

	/** Around a record that is zoomed to. */
	private static final long LEAST_MARGIN_NS = 500;

	private final Screen screen;
	private Trace trace;
	private GanttModel model;
	private Records modelOf;
	private GanttRows rows;
	private Grouping grouping = Grouping.PRODUCER;
	private Order order = Order.ADDRESS;
	private boolean hideEmpty = true;
	private GanttFold fold = GanttFold.folded();
	private GanttStyle style = GanttStyle.DEFAULT;
	private double labelWidth;
	private int firstRow;
	private int selectedRow = -1;
	private Span selected;
	/** Rows are to be shown although they are the same. */
	private boolean again;
	/** Row that shall be visible when the rows are there: producer in a group, -1 none. */
	private int revealGroup;
	private int revealProducer = -1;
	/** Record that shall be selected in that row; null none. */
	private Span revealSpan;

	public GanttPresenter(Screen screen) {
		this.screen = screen;
	}

	// ---- what is shown

	/** The trace whose records are there; null while there are none. */
	public Trace loaded() {
		return modelOf == null ? null : modelOf.trace();
	}

	/** The records; null while they are being read. */
	public GanttModel model() {
		return model;
	}

	/** The rows; null while they are not known. */
	public GanttRows rows() {
		return rows;
	}

	public Grouping grouping() {
		return grouping;
	}

	public Order order() {
		return order;
	}

	public boolean hidesEmptyRows() {
		return hideEmpty;
	}

	/** Whether the user has hidden rows. */
	public boolean hidesRows() {
		return fold.hidesSomething();
	}

	public GanttStyle style() {
		return style;
	}

	/** Pixels of the labels: what the user wants, else what they need. */
	public double labelWidth() {
		return style.labelWidth() >= 0 ? style.labelWidth() : labelWidth;
	}

	/** First row that is shown. */
	public int firstRow() {
		return firstRow;
	}

	/** Row that is selected, -1 none. */
	public int selectedRow() {
		return selectedRow;
	}

	/** Record that is selected; null none. */
	public Span selected() {
		return selected;
	}

	/** Whether there is a selected row. */
	public boolean hasSelectedRow() {
		return rows != null && selectedRow >= 0 && selectedRow < rows.count();
	}

	/** Whether there is all that a picture needs. */
	public boolean isDrawable() {
		return trace != null && model != null && rows != null;
	}

	/** Whether a grouping is possible. */
	public boolean knows(Grouping g) {
		return model != null && model.source().knows(g);
	}

	/**
	 * Shows another trace.
	 *
	 * @param now null none
	 * @param same whether it is the one of {@link #loaded}, perhaps with another selection: folding and style stay
	 */
	public void show(Trace now, boolean same) {
		if (!same) {
			fold = now == null ? GanttFold.folded() : GanttFold.initial(now.producers());
			grouping = Grouping.PRODUCER;
			style = style.withHiddenTypes(Set.of()).withLabelWidth(-1);
		}
		trace = now;
		model = null;
		modelOf = null;
		rows = null;
		firstRow = 0;
		selectedRow = -1;
		selected = null;
		revealProducer = -1;
		revealSpan = null;
		screen.rowsChanged();
		screen.say("", false);
		if (now != null) {
			stateChanged();
		} else {
			screen.choicesChanged();
		}
	}

	/** Window, producer, viewpoint or filters are others: reads records if others are needed, else what depends on them. */
	public void stateChanged() {
		ViewState s = trace.selection().state();
		// events are coloured by their type whatever the viewpoint is
		Dimension viewpoint = !trace.hasAccesses() ? BasicDimensions.EVENT_TYPE
				: s.viewpoint() == BasicDimensions.EVENT_TYPE ? BasicDimensions.TYPE : s.viewpoint();
		Records wanted = new Records(trace, viewpoint, s.filters());
		if (model != null && wanted.equals(modelOf)) {
			screen.stopReading();
			arrange();
		} else {
			screen.read(wanted);
		}
		screen.choicesChanged();
	}

	/** The records that the screen was asked for are there. */
	public void recordsRead(Records input, GanttModel result) {
		model = result;
		modelOf = input;
		if (!result.source().knows(grouping)) {
			grouping = Grouping.PRODUCER;
		}
		screen.choicesChanged();
		arrange();
	}

	private void arrange() {
		if (model == null || trace == null) {
			return;
		}
		GanttRows.Request wanted = new GanttRows.Request(model.source(), grouping, trace.selection().state().producer(), fold, order,
				hideEmpty);
		if (!again && rows != null && wanted.equals(rows.request())) {
			screen.stopArranging();
			screen.draw();
		} else {
			again = false;
			screen.arrange(wanted);
		}
	}

	/** The rows that the screen was asked for are there: the first one stays the first, the selected one selected. */
	public void rowsArranged(GanttRows result) {
		if (trace == null || model == null || result.request().source() != model.source()) {
			return; // of another trace
		}
		GanttRows old = rows;
		boolean sameGrouping = old != null && old.request().grouping() == result.request().grouping();
		int top = sameGrouping && firstRow > 0 && firstRow < old.count()
				? Math.max(0, result.rowOf(old.group(firstRow), old.producer(firstRow))) : 0;
		int row = sameGrouping && selectedRow >= 0 && selectedRow < old.count()
				? result.rowOf(old.group(selectedRow), old.producer(selectedRow)) : -1;
		rows = result;
		measureLabels(!sameGrouping);
		if (row < 0) {
			selected = null;
		}
		selectedRow = row;
		firstRow = Math.min(top, maxFirst());
		screen.rowsChanged();
		screen.sayInstead(result.count() > 0 ? "" // until the picture is there
				: trace.selection().state().filters().isActive() ? "Nothing passes the filters" : "Nothing here has any record");
		if (revealProducer >= 0) {
			int at = result.rowOf(revealGroup, revealProducer);
			revealProducer = -1;
			if (at >= 0) {
				setSelected(at, revealSpan);
				reveal(at);
			}
		}
		revealSpan = null;
		screen.draw();
	}

	/** Labels get wider when longer ones appear, but not narrower: the chart would jump. */
	private void measureLabels(boolean anew) {
		labelWidth = Math.max(anew ? 0 : labelWidth, screen.labelWidth(rows, style));
	}

	private int maxFirst() {
		return rows == null ? 0 : Math.max(0, rows.count() - screen.wholeRows(style.rowHeight()));
	}

	/** A line about a picture: how many rows there are, and what is not shown. */
	public void drawn(GanttPicture picture) {
		String text = Units.plural(rows.count(), "row") + (rows.isCut() ? ", more are not shown" : "")
				+ (fold.hidesSomething() ? ", some hidden" : "");
		if (picture.linksShown() < picture.linksThere()) {
			text += ", " + Units.percent(100.0 * picture.linksShown() / picture.linksThere()) + " of links shown";
		}
		screen.say(text, rows.isCut());
	}

	/** What stands beside the mouse; null when it stays what it was. Records are described by {@link GanttDetails}. */
	public String tip(GanttPicture.Hit hit) {
		return switch (hit.area()) {
		case LABEL, FOLD -> rows.name(hit.row());
		case FLAG -> hit.marker().name();
		case LEGEND -> "Click to show or hide " + model.source().types().get(hit.type()).displayName();
		case MINIMAP -> "The whole trace; click or drag to move the window";
		default -> null;
		};
	}

	/** What a picture was made of, for a file beside it. */
	public static Map<String, String> parameters(SelectedTrace of, ViewState state, GanttRows rows, int firstRow, GanttStyle style) {
		Map<String, String> parameters = new LinkedHashMap<>();
		parameters.put("trace", of.name());
		parameters.put("from_ns", Long.toString(state.fromNs()));
		parameters.put("to_ns", Long.toString(state.toNs()));
		parameters.put("producer", state.producer() < 0 ? "all" : of.producers().name(state.producer()));
		parameters.put("viewpoint", state.viewpoint().id());
		parameters.put("filters", String.join("; ",
				state.filters().filters().stream().map(f -> f.text(of.threads(), of.info().isInTicks(), of.info().counts())).toList()));
		parameters.put("rows", rows.request().grouping().name().toLowerCase(Locale.ROOT));
		parameters.put("first_row", Integer.toString(firstRow));
		parameters.put("hidden_types", String.join(", ", new TreeSet<>(style.hiddenTypes())));
		return parameters;
	}

	// ---- choices

	public void setGrouping(Grouping chosen) {
		if (chosen == grouping || !knows(chosen)) {
			screen.choicesChanged();
			return;
		}
		grouping = chosen;
		fold = chosen == Grouping.PRODUCER ? GanttFold.initial(trace.producers()) : GanttFold.folded();
		screen.choicesChanged();
		arrange();
	}

	public void setOrder(Order chosen) {
		order = chosen;
		arrange();
	}

	/** Whether rows without any record are left out. */
	public void setHideEmpty(boolean hide) {
		hideEmpty = hide;
		arrange();
	}

	public void setStyle(GanttStyle now) {
		if (!now.equals(style)) {
			boolean otherHeight = now.rowHeight() != style.rowHeight();
			style = now;
			if (otherHeight && rows != null) {
				measureLabels(false);
				firstRow = Math.min(firstRow, maxFirst());
				screen.scrolled();
			}
			screen.draw();
		}
	}

	/** Labels as wide as the user draws them, but not wider than most of the chart. */
	public void setLabelWidth(double pixels) {
		setStyle(style.withLabelWidth(Math.min(pixels, screen.width() * 0.6)));
	}

	/** Hides a type that is shown, shows one that is hidden. */
	public void toggleType(int type) {
		setStyle(style.toggleType(model.source().types().get(type).name()));
	}

	/** Hides all types but one. */
	public void onlyType(int type) {
		Set<String> others = new TreeSet<>();
		model.source().types().forEach(t -> others.add(t.name()));
		others.remove(model.source().types().get(type).name());
		setStyle(style.withHiddenTypes(others));
	}

	// ---- rows

	private void setFold(GanttFold now) {
		fold = now;
		arrange();
	}

	/** Folds or unfolds a row. */
	public void toggle(int row) {
		if (rows.isFoldable(row)) {
			setFold(fold.with(rows.group(row), rows.producer(row), !rows.isUnfolded(row)));
		}
	}

	/** Folds or unfolds everything below the selected row. */
	public void unfoldBelow(boolean open) {
		if (hasSelectedRow()) {
			setFold(fold.withSubtree(trace.producers(), rows.group(selectedRow), rows.producer(selectedRow), open));
		}
	}

	/** Hides the selected row, or it with all below. */
	public void hideRow(boolean subtree) {
		if (hasSelectedRow()) {
			int producer = rows.producer(selectedRow);
			setFold(subtree ? fold.hideSubtree(producer) : fold.hide(producer));
		}
	}

	public void showHiddenRows() {
		setFold(fold.unhideAll());
	}

	public void scrollTo(int row) {
		if (rows == null) {
			return;
		}
		int first = Math.max(0, Math.min(maxFirst(), row));
		if (first != firstRow) {
			firstRow = first;
			screen.scrolled();
			screen.draw();
		}
	}

	/** Makes a row visible, in the middle when it was not. */
	private void reveal(int row) {
		int whole = screen.wholeRows(style.rowHeight());
		if (row < firstRow || row >= firstRow + whole) {
			scrollTo(row - whole / 2);
		}
	}

	private void setSelected(int row, Span span) {
		selectedRow = row;
		selected = span;
		screen.selectionChanged();
	}

	/** A row was clicked, or reached by a key. Its structure is marked in all views. */
	public void select(int row) {
		setSelected(row, null);
		reveal(row);
		trace.selection().mark(trace.memberOf(rows.producer(row)));
	}

	/** Another view has marked a producer: its row is selected, unless the selected one belongs to it. */
	public void marked(int producer) {
		if (rows == null || producer < 0) {
			return;
		}
		if (hasSelectedRow()) {
			int own = rows.producer(selectedRow);
			if (own == producer || trace.memberOf(own) == producer) {
				return; // it is the own mark
			}
		}
		int at = rows.rowOf(hasSelectedRow() ? rows.group(selectedRow) : GanttSource.ALL, producer);
		if (at >= 0) {
			setSelected(at, null);
			reveal(at);
		}
	}

	/** Only what is below the selected row is shown, by all views. */
	public void zoomToProducer() {
		if (hasSelectedRow()) {
			ViewState s = trace.selection().state();
			trace.selection().zoom(s.fromNs(), s.toNs(), rows.producer(selectedRow));
		}
	}

	// ---- records

	/**
	 * A record was clicked, and is found.
	 *
	 * @param in rows in which it was clicked
	 * @param zoom whether the window becomes its time
	 */
	public void chosen(GanttRows in, GanttDetails d, boolean zoom) {
		if (in != rows || rows == null || d.records() == 0) {
			return;
		}
		int row = d.row() < 0 ? selectedRow : d.row();
		if (row >= 0) {
			setSelected(row, new Span(rows.group(row), rows.producer(row), d.fromNs(), d.toNs()));
		}
		screen.say(String.join(" · ", d.lines().subList(0, Math.min(4, d.lines().size()))), false);
		if (zoom) {
			long margin = Math.max(LEAST_MARGIN_NS, (d.toNs() - d.fromNs()) / 10);
			trace.selection().window(d.fromNs() - margin, d.toNs() + margin);
		}
	}

	/** Wants the next or previous record of the selected row. */
	public void step(boolean forward) {
		if (rows == null || rows.count() == 0) {
			return;
		}
		int row = Math.max(0, selectedRow);
		ViewState s = trace.selection().state();
		long from = selected != null ? selected.fromNs() : forward ? s.fromNs() - 1 : s.toNs();
		screen.find(new Step(model, grouping, rows.group(row), rows.producer(row), row, from, forward));
	}

	/** The record that was wanted; null when there is none. It is selected, and the window moves when it does not show it. */
	public void stepped(Step in, GanttModel.Piece piece) {
		if (in.model() != model || rows == null || in.row() >= rows.count() || rows.producer(in.row()) != in.producer()) {
			return;
		}
		if (piece == null) {
			screen.say(in.forward() ? "No later record in this row" : "No earlier record in this row", true);
			return;
		}
		setSelected(in.row(), new Span(in.group(), in.producer(), piece.fromNs(), piece.toNs()));
		reveal(in.row());
		ViewState s = trace.selection().state();
		long length = piece.toNs() - piece.fromNs();
		if (piece.fromNs() < s.fromNs() || piece.fromNs() >= s.toNs()) {
			long middle = piece.fromNs() + Math.min(length, s.durationNs()) / 2;
			trace.selection().window(middle - s.durationNs() / 2, middle - s.durationNs() / 2 + s.durationNs());
		}
		screen.say(rows.name(in.row()) + " · " + Units.duration(trace.info(), piece.fromNs() - trace.info().startNs()) + ", "
				+ Units.duration(trace.info(), length) + " long", false);
	}

	/** Wants the next or previous row whose name has a regular expression. */
	public void find(String text, boolean forward) {
		if (rows == null || text.isEmpty()) {
			return;
		}
		Pattern pattern;
		try {
			pattern = Pattern.compile(text, Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE);
		} catch (PatternSyntaxException e) {
			screen.say("Not a regular expression: " + e.getDescription(), true);
			return;
		}
		boolean has = hasSelectedRow();
		screen.find(new Search(rows, pattern, has ? rows.group(selectedRow) : 0, has ? rows.producer(selectedRow) : -1, forward));
	}

	/** The row that was wanted; null when there is none. It is unfolded and selected. */
	public void found(Search in, GanttSearch.Found found) {
		if (model == null || in.rows().request().source() != model.source()) {
			return;
		}
		if (found == null) {
			screen.say("No row is called " + in.pattern(), true);
			return;
		}
		revealRow(found.group(), found.producer());
		trace.selection().mark(trace.memberOf(found.producer()));
		if (found.wrapped()) {
			screen.say("Search went round", false);
		}
	}

	private void revealRow(int group, int producer) {
		revealGroup = group;
		revealProducer = producer;
		fold = fold.reveal(trace.producers(), group, producer);
		again = true; // also the same rows must be revealed
		arrange();
	}

	/** Unfolds what is above a producer and selects its row. */
	private void revealProducer(int producer) {
		if (grouping != Grouping.PRODUCER) {
			grouping = Grouping.PRODUCER;
			fold = GanttFold.initial(trace.producers());
			screen.choicesChanged();
		}
		revealRow(GanttSource.ALL, producer);
	}

	/** Unfolds what is above a producer and selects one of its records; for other views. */
	public void showRecord(int producer, long fromNs, long toNs) {
		revealSpan = new Span(GanttSource.ALL, producer, fromNs, toNs);
		revealProducer(producer);
	}

	// ---- markers

	/**
	 * A marker of the selected row.
	 *
	 * @param number of markers that there are
	 * @return null when no row is selected
	 */
	public MarkerDraft markerOfRow(int number) {
		return hasSelectedRow()
				? MarkerDraft.of("Marker of a row", "Marker", number, Marker.NO_TIME, Marker.NO_TIME, rows.producer(selectedRow), false) : null;
	}

	/**
	 * A marker of what is chosen: an interval, the selected record, an instant, or the middle of the window.
	 *
	 * @param interval chosen with the mouse; null none
	 * @param instantNs where the mouse is; null elsewhere
	 * @param number of markers that there are
	 * @return null while there are no rows
	 */
	public MarkerDraft markerOfTime(Span interval, Long instantNs, int number) {
		if (rows == null || trace == null) {
			return null;
		}
		ViewState s = trace.selection().state();
		Span span = interval != null ? interval : selected;
		long from = span != null ? span.fromNs() : instantNs != null ? instantNs : s.fromNs() + s.durationNs() / 2;
		long to = span != null ? span.toNs() : from;
		return MarkerDraft.of(from == to ? "Marker of an instant" : "Marker of an interval", "Marker", number, from, to,
				interval == null && selected != null ? selected.producer() : Marker.NO_PRODUCER, false);
	}

	/** A bookmark of the window, and of the selected row if there is one; null while there are no rows. */
	public MarkerDraft bookmark(int number) {
		if (rows == null || trace == null) {
			return null;
		}
		ViewState s = trace.selection().state();
		return MarkerDraft.of("Bookmark of this window" + (hasSelectedRow() ? " and row" : ""), "Bookmark", number, s.fromNs(), s.toNs(),
				hasSelectedRow() ? rows.producer(selectedRow) : Marker.NO_PRODUCER, true);
	}

	/** Goes to a marker: its row, and its time with something around it. */
	public void jump(Marker m) {
		if (trace == null || rows == null) {
			return;
		}
		TraceSelection selection = trace.selection();
		ViewState s = selection.state();
		if (m.hasTime()) {
			long length = m.bookmark() ? m.toNs() - m.fromNs() : m.isInstant() ? s.durationNs() : (m.toNs() - m.fromNs()) * 3 / 2;
			boolean outside = m.fromNs() < s.fromNs() || m.toNs() > s.toNs();
			if (m.bookmark() || outside || !m.isInstant()) {
				long middle = m.fromNs() + (m.toNs() - m.fromNs()) / 2;
				selection.window(middle - length / 2, middle - length / 2 + length);
			}
		}
		if (m.producer() != Marker.NO_PRODUCER && m.producer() < trace.producers().size()) {
			int shown = selection.state().producer();
			if (shown >= 0 && (m.producer() < shown || m.producer() >= trace.producers().subtreeEnd(shown))) {
				selection.zoom(selection.state().fromNs(), selection.state().toNs(), selection.initial().producer());
			}
			revealProducer(m.producer());
		}
	}
}
