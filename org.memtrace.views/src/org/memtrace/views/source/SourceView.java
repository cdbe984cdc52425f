// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.source;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

import org.eclipse.jface.action.Action;
import org.eclipse.jface.action.IToolBarManager;
import org.eclipse.jface.dialogs.MessageDialog;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.preference.IPreferenceStore;
import org.eclipse.jface.resource.JFaceResources;
import org.eclipse.swt.SWT;
import org.eclipse.swt.custom.StyledText;
import org.eclipse.swt.graphics.Color;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.layout.GridData;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Canvas;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.FileDialog;
import org.eclipse.swt.widgets.Label;
import org.eclipse.ui.IWorkbenchActionConstants;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.source.EditorCommand;
import org.memtrace.analysis.source.Instructions;
import org.memtrace.analysis.source.LineUse.Line;
import org.memtrace.analysis.source.LineUse;
import org.memtrace.analysis.source.RecordedCode;
import org.memtrace.analysis.source.SourceFiles;
import org.memtrace.analysis.source.SourcePlace;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.CodePlaces;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.preferences.Settings;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.TraceGroup;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.util.Appearance;
import org.memtrace.views.util.Buttons;
import org.memtrace.views.util.Icons;
import org.memtrace.views.util.WhenSeen;
import org.memtrace.views.view.Snapshot;
import org.memtrace.views.view.SourceQuestion;
import org.memtrace.views.view.TraceView;

/**
 * A source file of the traced program. Beside each line stands what it did in the window, memory and filters that are
 * shown: accesses, threads, share of
 * shared ones. Opened by {@link SourceQuestion#show} for what is chosen in another view.
 */
public final class SourceView extends TraceView implements SourceQuestion.Answering {
	/** A longer file is not shown. */
	private static final long MOST_BYTES = 16 << 20;
	private static final int LINES_ABOVE = 5;
	/** Strides of a line that are told. */
	private static final int MOST_STRIDES = 4;
	/** Widths of the columns beside the text, in characters: line, accesses, threads, shared. */
	private static final int[] CHARACTERS = { 7, 13, 9, 9 };
	private static final int GAP = 8;
	/** How much of the colour of a hot line its background has. */
	private static final double TINT = 0.3;

	/**
	 * @param question which places there are; null none
	 * @param place the one of them that is wanted; null: the first
	 * @param rules as text
	 */
	private record Input(OpenTrace trace, ViewState state, SourceQuestion question, SourcePlace place, String rules) {
	}

	/**
	 * @param place null: no place is known
	 * @param file null: not here
	 * @param text null: not here, or it cannot be read
	 * @param problem why there is no text, or what is to be known of it; may be empty
	 * @param instructions of the file: what each line did to each structure, in the whole run; empty where they were not counted
	 * @param hasCode whether the trace has the source lines of its code at all
	 */
	private record Shown(List<SourcePlace> places, SourcePlace place, Path file, String text, String problem, SortedMap<Integer, Line> lines,
			List<Instructions.Row> instructions, boolean hasCode) {
	}

	private Combo places;
	private Label message;
	private Button locate;
	private Canvas head;
	private StyledText text;
	private Action edit;
	private Action next;
	private Action previous;
	private WhenSeen load;
	private LatestResult<Input, Shown> loading;
	private SourceQuestion question;
	private SourcePlace wanted;
	private Shown shown;
	/** Most accesses of a line of the file. */
	private double most;

	@Override
	public void answer(TraceGroup wantedGroup, SourceQuestion of) {
		join(wantedGroup);
		ask(of);
	}

	@Override
	protected void createContents(Composite parent) {
		Composite area = new Composite(parent, SWT.NONE);
		GridLayoutFactory.fillDefaults().spacing(0, 2).applyTo(area);
		Composite line = new Composite(area, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(3).margins(4, 2).spacing(8, 0).applyTo(line);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(line);
		places = new Combo(line, SWT.READ_ONLY);
		Accessibility.name(places, "Places in the source");
		GridDataFactory.fillDefaults().hint(300, SWT.DEFAULT).applyTo(places);
		places.addListener(SWT.Selection, e -> {
			wanted = shown.places().get(places.getSelectionIndex());
			load.request();
		});
		message = new Label(line, SWT.WRAP);
		GridDataFactory.fillDefaults().grab(true, false).align(SWT.FILL, SWT.CENTER).applyTo(message);
		locate = Buttons.push(line, "Locate…", "Show where the file is on this machine", this::locate);
		GridDataFactory.fillDefaults().exclude(true).applyTo(locate);
		head = new Canvas(area, SWT.DOUBLE_BUFFERED | SWT.NO_FOCUS);
		Appearance.asList(head);
		Accessibility.name(head, "Columns: line, accesses, threads, shared");
		text = new StyledText(area, SWT.READ_ONLY | SWT.H_SCROLL | SWT.V_SCROLL | SWT.FULL_SELECTION);
		Appearance.asList(text);
		Accessibility.name(text, "Source");
		text.setFont(JFaceResources.getTextFont());
		text.setMargins(margin() + GAP, 0, 0, 0);
		GridDataFactory.fillDefaults().grab(true, true).applyTo(text);
		GridDataFactory.fillDefaults().grab(true, false).hint(SWT.DEFAULT, text.getLineHeight() + 2).applyTo(head);
		head.addListener(SWT.Paint, e -> titles(e.gc));
		text.addListener(SWT.Paint, e -> numbers(e.gc));
		text.addLineBackgroundListener(e -> {
			Line l = line(text.getLineAtOffset(e.lineOffset) + 1);
			if (l != null) {
				e.lineBackground = tint(l);
			}
		});
		text.addCaretListener(e -> describe(text.getLineAtOffset(e.caretOffset) + 1));
		loading = new LatestResult<>("Source", text, LatestResult.Policy.ONLY_NEWEST, LatestResult.Priority.CAN_WAIT) {
			@Override
			protected Shown compute(Input input, Progress progress) throws MemtraceException {
				return SourceView.load(input, progress);
			}

			@Override
			protected void show(Input input, Shown result) {
				SourceView.this.show(result);
			}

			@Override
			protected void failed(Input input, String problem) {
				message.setText(problem);
			}
		};
		load = new WhenSeen(text, this::load);
		makeActions();
		show(null);
	}

	private void makeActions() {
		edit = action("Open in editor", "rename", "Open this line in your editor (Preferences, memtrace, Source)", this::edit);
		next = action("Next line with accesses", "next", "Next line with accesses", () -> go(true));
		previous = action("Previous line with accesses", "previous", "Previous line with accesses", () -> go(false));
		IToolBarManager tools = getViewSite().getActionBars().getToolBarManager();
		tools.appendToGroup(IWorkbenchActionConstants.MB_ADDITIONS, previous);
		tools.appendToGroup(IWorkbenchActionConstants.MB_ADDITIONS, next);
		tools.appendToGroup(IWorkbenchActionConstants.MB_ADDITIONS, edit);
	}

	private static Action action(String name, String icon, String tip, Runnable what) {
		Action action = new Action(name, Icons.get(icon)) {
			@Override
			public void run() {
				what.run();
			}
		};
		action.setToolTipText(tip);
		return action;
	}

	/** Shows the best place of an answer. */
	private void ask(SourceQuestion what) {
		question = what;
		wanted = null;
		shown = null;
		load.request();
	}

	private void load() {
		if (trace() != null && question != null) {
			loading.submit(new Input(trace(), trace().selection().state(), question, wanted, Settings.store().getString(Settings.SOURCE_RULES)));
		}
	}

	private static Shown load(Input input, Progress progress) throws MemtraceException {
		CodePlaces code;
		List<SourcePlace> places;
		List<Instructions.Row> all;
		try (OpenTrace.Lease lease = input.trace().lease()) {
			code = RecordedCode.of(lease.virtual());
			places = input.question().places(lease.virtual(), code);
			all = Instructions.of(lease.virtual(), false);
		}
		boolean hasCode = code.frames().stream().anyMatch(f -> f.line() > 0);
		if (places.isEmpty()) {
			return new Shown(places, null, null, null, "No source line is known of it. Compile the program with -g, and record it again.",
					Collections.emptySortedMap(), List.of(), hasCode);
		}
		SourcePlace place = input.place() != null ? input.place() : places.get(0);
		List<SourceFiles.Rule> rules;
		try {
			rules = SourceFiles.rules(input.rules());
		} catch (IllegalArgumentException e) {
			rules = List.of();
		}
		ViewState s = input.state();
		LineUse use = !all.isEmpty() ? LineUse.of(all)
				: LineUse.of(input.trace().accesses(s.filters(), progress), code, s.fromNs(), s.toNs(), s.producer(), progress);
		SortedMap<Integer, Line> lines = use.of(place);
		List<Instructions.Row> rows = Instructions.byLine(all.stream()
				.filter(r -> r.place() != null && use.files().get(r.place().file()) == lines).toList());
		Path file = SourceFiles.of(rules, code).find(place.file());
		if (file == null) {
			return new Shown(places, place, null, null, place.fileName() + " is not on this machine. It was recorded as "
					+ place.file() + ".", lines, rows, hasCode);
		}
		try {
			if (Files.size(file) > MOST_BYTES) {
				return new Shown(places, place, file, null, file + " is longer than " + Units.bytes(MOST_BYTES) + ".", lines, rows, hasCode);
			}
			String content = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
			boolean changed = Files.getLastModifiedTime(file).toInstant().isAfter(input.trace().info().recordedAt());
			return new Shown(places, place, file, content, changed ? "This file has changed since the recording: lines may be others."
					: "", lines, rows, hasCode);
		} catch (IOException e) {
			return new Shown(places, place, file, null, file + " cannot be read: " + e.getMessage(), lines, rows, hasCode);
		}
	}

	private void show(Shown now) {
		boolean sameFile = shown != null && now != null && now.place() != null && now.place().equals(shown.place()) && text.getCharCount() > 0;
		shown = now;
		boolean has = now != null && now.text() != null;
		most = now == null ? 0 : now.lines().values().stream().mapToDouble(Line::accesses).max().orElse(0);
		places.setItems(now == null ? new String[0] : now.places().stream().map(SourceView::name).toArray(String[]::new));
		if (now != null && now.place() != null) {
			places.select(now.places().indexOf(now.place()));
		}
		places.setEnabled(now != null && now.places().size() > 1);
		edit.setEnabled(now != null && now.file() != null);
		next.setEnabled(has && !now.lines().isEmpty());
		previous.setEnabled(has && !now.lines().isEmpty());
		boolean missing = now != null && now.place() != null && now.file() == null;
		locate.setVisible(missing);
		((GridData) locate.getLayoutData()).exclude = !missing;
		if (!sameFile) {
			text.setText(has ? now.text() : missing ? known(now) : "");
			if (has && now.place().line() > 0 && now.place().line() <= text.getLineCount()) {
				select(now.place().line());
			}
		}
		if (now == null) {
			message.setText(nothingShown(trace() == null ? "No trace is shown."
					: "Choose a structure, an event or a finding, and press F3 there, to see its source."));
		} else {
			describe(has ? text.getLineAtOffset(text.getCaretOffset()) + 1 : 0);
		}
		message.getParent().getParent().layout(true, true);
		text.redraw();
		head.redraw();
	}

	private static String shared(Line l) {
		return Double.isNaN(l.shared()) ? "" : ", shared: " + l.sharedText();
	}

	/** With which strides a line goes through which structures: "reads b 2,400 bytes apart (99 %)". */
	private static String strides(Shown s, int line) {
		return s.instructions().stream().filter(r -> r.place().line() == line && !r.stride().isEmpty()).limit(MOST_STRIDES)
				.map(r -> (r.use().write() ? "writes " : "reads ") + (r.structure() == null ? "" : r.structureName() + " ") + r.stride())
				.collect(Collectors.joining("; "));
	}

	/** What is known of a file that is not here: its lines with accesses. */
	private static String known(Shown now) {
		StringBuilder all = new StringBuilder();
		now.lines().forEach((line, use) -> all.append(String.format(Locale.ROOT,
				"%s:%d  %,.0f reads, %,.0f writes, %s%s%n", now.place().fileName(),
				line, use.reads(), use.writes(), Units.plural(use.threads(), "thread"), shared(use))));
		return all.toString();
	}

	private static String name(SourcePlace p) {
		return p.what().isEmpty() ? p.at() : p.at() + "  " + p.what();
	}

	/** What the line at the caret did: also for who cannot see the numbers beside it. */
	private void describe(int number) {
		if (shown == null) {
			return;
		}
		Line l = shown.text() == null ? null : shown.lines().get(number);
		String strides = l == null ? "" : strides(shown, number);
		String said = l == null ? "" : String.format(Locale.ROOT, "Line %d: %,.0f reads, %,.0f writes, %s%s%s.%s", number, l.reads(),
				l.writes(), Units.plural(l.threads(), "thread"), shared(l), shown.instructions().isEmpty() ? "" : ", in the whole run",
				strides.isEmpty() ? "" : "  It " + strides + ".");
		String none = shown.text() == null ? "" : !shown.hasCode() ? "The trace does not tell which lines made its accesses."
				: shown.lines().isEmpty() ? "No line of this file made an access in what is shown." : "";
		String all = String.join("  ", List.of(said.isEmpty() ? none : said, shown.problem())).strip();
		message.setText(all.replace("&", "&&"));
		message.setToolTipText(shown.file() == null ? null : shown.file().toString());
	}

	private Line line(int number) {
		return shown == null || shown.text() == null ? null : shown.lines().get(number);
	}

	private double intensity(Line l) {
		return most <= 0 ? 0 : Math.sqrt(l.accesses() / most);
	}

	private Color tint(Line l) {
		Palette palette = ScenePainter.palette(text);
		int hot = palette.heat(intensity(l));
		int paper = palette.background();
		int mixed = 0xff000000;
		for (int shift = 0; shift <= 16; shift += 8) {
			mixed |= (int) Math.round((hot >> shift & 0xff) * TINT + (paper >> shift & 0xff) * (1 - TINT)) << shift;
		}
		return ScenePainter.color(mixed);
	}

	private int character() {
		GC gc = new GC(text);
		try {
			gc.setFont(text.getFont());
			return (int) Math.ceil(gc.getFontMetrics().getAverageCharacterWidth());
		} finally {
			gc.dispose();
		}
	}

	private int margin() {
		int all = 0;
		for (int c : CHARACTERS) {
			all += c;
		}
		return all * character();
	}

	private void titles(GC gc) {
		Palette palette = ScenePainter.palette(head);
		gc.setForeground(ScenePainter.color(palette.mutedText()));
		gc.setFont(text.getFont());
		String accesses = trace() == null ? "Accesses" : trace().info().counts().title();
		row(gc, 1, new String[] { "Line", accesses, "Threads", "Shared" });
	}

	private void row(GC gc, int y, String[] cells) {
		int width = character();
		int right = 0;
		for (int i = 0; i < cells.length; i++) {
			right += CHARACTERS[i] * width;
			Point size = gc.textExtent(cells[i]);
			gc.drawText(cells[i], right - size.x, y, true);
		}
	}

	/** The columns beside the lines that are seen. */
	private void numbers(GC gc) {
		if (shown == null || shown.text() == null) {
			return;
		}
		Palette palette = ScenePainter.palette(text);
		Rectangle area = text.getClientArea();
		int width = character();
		int height = text.getLineHeight();
		gc.setFont(text.getFont());
		gc.setBackground(ScenePainter.color(palette.background()));
		gc.fillRectangle(0, 0, margin() + GAP / 2, area.height);
		int last = Math.min(text.getLineCount() - 1, text.getLineIndex(area.height));
		for (int i = text.getLineIndex(0); i <= last; i++) {
			int y = text.getLinePixel(i);
			Line l = line(i + 1);
			if (l != null) {
				int bar = (int) Math.round((CHARACTERS[1] - 1) * width * (most <= 0 ? 0 : l.accesses() / most));
				gc.setBackground(ScenePainter.color(palette.heat(Math.max(0.15, intensity(l)))));
				gc.fillRectangle((CHARACTERS[0] + CHARACTERS[1]) * width - Math.max(2, bar), y + height - 3, Math.max(2, bar), 3);
			}
			boolean here = i + 1 == shown.place().line();
			gc.setForeground(ScenePainter.color(l != null || here ? palette.text() : palette.mutedText()));
			row(gc, y, new String[] { (here ? "▶ " : "") + (i + 1), l == null ? "" : Units.count(l.accesses()), l == null ? ""
					: Integer.toString(l.threads()),
					l == null ? "" : l.sharedText() });
		}
		gc.setForeground(ScenePainter.color(palette.separator()));
		gc.drawLine(margin() + GAP / 2, 0, margin() + GAP / 2, area.height);
	}

	private void select(int number) {
		text.setSelection(text.getOffsetAtLine(number - 1));
		text.setTopIndex(Math.max(0, number - 1 - LINES_ABOVE));
		describe(number);
	}

	/** Goes to the next or previous line with accesses, round the ends. */
	private void go(boolean forward) {
		int here = text.getLineAtOffset(text.getCaretOffset()) + 1;
		SortedMap<Integer, Line> lines = new TreeMap<>(shown.lines());
		lines.tailMap(text.getLineCount() + 1).clear();
		if (!lines.isEmpty()) {
			SortedMap<Integer, Line> rest = forward ? lines.tailMap(here + 1) : lines.headMap(here);
			select(rest.isEmpty() ? forward ? lines.firstKey() : lines.lastKey() : forward ? rest.firstKey() : rest.lastKey());
		}
	}

	private void locate() {
		FileDialog dialog = new FileDialog(getSite().getShell(), SWT.OPEN);
		dialog.setText("Where is " + shown.place().fileName() + "?");
		dialog.setFileName(shown.place().fileName());
		String file = dialog.open();
		if (file != null) {
			located(Path.of(file));
		}
	}

	/** The file of the place is this one: a rule is made of it, for the other files, too. */
	void located(Path file) {
		IPreferenceStore store = Settings.store();
		List<SourceFiles.Rule> rules = new ArrayList<>(List.of(SourceFiles.rule(shown.place().file(), file)));
		try {
			rules.addAll(SourceFiles.rules(store.getString(Settings.SOURCE_RULES)));
		} catch (IllegalArgumentException e) {
			// what cannot be read is replaced
		}
		store.setValue(Settings.SOURCE_RULES, SourceFiles.text(rules));
		shown = null;
		load.request();
	}

	private void edit() {
		if (shown == null || shown.file() == null) {
			return;
		}
		int line = shown.text() == null ? shown.place().line() : text.getLineAtOffset(text.getCaretOffset()) + 1;
		try {
			List<String> command = EditorCommand.of(Settings.store().getString(Settings.SOURCE_EDITOR), System::getenv,
					SourceView::isThere, shown.file(), line);
			new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
		} catch (IOException | IllegalArgumentException e) {
			MessageDialog.openError(getSite().getShell(), "Open in editor", e.getMessage());
		}
	}

	private static boolean isThere(String program) {
		String path = System.getenv("PATH");
		for (String directory : path == null ? new String[0] : path.split(java.io.File.pathSeparator)) {
			if (!directory.isEmpty() && Files.isExecutable(Path.of(directory, program))) {
				return true;
			}
		}
		return false;
	}

	@Override
	protected void traceShown(OpenTrace now) {
		question = null;
		wanted = null;
		loading.cancel();
		show(null);
	}

	@Override
	protected void openingChanged() {
		show(shown);
	}

	@Override
	protected void stateChanged(ViewState old, ViewState now) {
		if (!now.sameAccesses(old)) {
			load.request();
		}
	}

	@Override
	protected void coloursChanged() {
		text.redraw();
		head.redraw();
	}

	@Override
	protected boolean isSettled() {
		return !load.isWaiting() && !loading.isBusy();
	}

	@Override
	protected Snapshot snapshot() {
		Shown s = shown;
		if (s == null || s.place() == null) {
			return null;
		}
		return new Snapshot(trace().name() + " " + s.place().fileName(), null, () -> {
			StringBuilder csv = new StringBuilder("line,reads,writes,threads,shared_percent,shared_not_known_percent\n");
			s.lines().forEach((n, l) -> csv.append(String.format(Locale.ROOT, "%d,%.0f,%.0f,%d,%.3f,%.3f%n", n, l.reads(), l.writes(),
					l.threads(), l.sharedPercent(), l.notKnownPercent())));
			return csv.toString();
		}, Map.of("trace", trace().name(), "file", s.place().file()));
	}

	/** For tests. */
	StyledText text() {
		return text;
	}

	/** For tests. */
	Combo places() {
		return places;
	}

	/** For tests: what is said above the text. */
	String said() {
		return message.getText();
	}

	@Override
	public void setFocus() {
		text.setFocus();
	}

	@Override
	public void dispose() {
		if (loading != null) {
			loading.cancel();
		}
		super.dispose();
	}
}
