// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.resource.FontDescriptor;
import org.eclipse.jface.resource.JFaceResources;
import org.eclipse.jface.resource.LocalResourceManager;
import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.Font;
import org.eclipse.swt.layout.GridData;
import org.eclipse.swt.layout.GridLayout;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Link;
import org.eclipse.swt.widgets.ProgressBar;
import org.eclipse.swt.widgets.Text;
import org.eclipse.ui.IWorkbenchWindow;
import org.memtrace.analysis.selection.RecentTraces.Recent;
import org.memtrace.importer.record.Example;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.record.RecordDialog;
import org.memtrace.views.session.Opening;
import org.memtrace.views.session.RecentList;
import org.memtrace.views.session.Session;
import org.memtrace.views.traces.TraceActions;
import org.memtrace.views.util.Appearance;
import org.memtrace.views.util.Buttons;

/** What one sees when no trace is shown: how to get one, or how far the opening of one is. */
final class Welcome extends Composite {
	private static final int STEPS = 1000;
	private static final int TEXT_WIDTH = 470;
	private static final int HINT_WIDTH = 640;
	private static final int BAR_WIDTH = 360;
	private static final int MOST_RECENT = 5;
	private static final int LEAST_WIDTH = 120;
	/** Room at each side of the text of a button. */
	private static final int BESIDE_TEXT = 10;
	private static final String WHAT = "memtrace shows which threads read and write which memory pages of a program, and when.";

	private final Label title;
	private final Label hint;
	private final Composite commands;
	private final Composite buttons;
	/** The traces that were shown last. */
	private final Composite recent;
	private final Session session;
	private final Composite progress;
	/** The title when nothing is opened. */
	private String heading = "";
	private final Label step;
	private final ProgressBar bar;
	private Button first;
	private List<Recent> listed = List.of();
	private final LatestResult<String, Integer> counting;

	Welcome(Composite parent, Session session, IWorkbenchWindow window) {
		super(parent, SWT.NONE);
		this.session = session;
		Appearance.asList(this);
		setBackgroundMode(SWT.INHERIT_FORCE);
		GridLayoutFactory.fillDefaults().margins(8, 0).applyTo(this);
		LocalResourceManager resources = new LocalResourceManager(JFaceResources.getResources(), this);
		Font big = resources.create(FontDescriptor.createFrom(JFaceResources.getDefaultFont()).increaseHeight(8));
		Font mono = resources.create(FontDescriptor.createFrom(JFaceResources.getTextFont()).increaseHeight(1));

		Composite middle = new Composite(this, SWT.NONE);
		GridDataFactory.fillDefaults().grab(true, true).align(SWT.CENTER, SWT.CENTER).applyTo(middle);
		GridLayoutFactory.fillDefaults().spacing(0, 14).applyTo(middle);
		title = new Label(middle, SWT.NONE);
		title.setFont(big);
		hint = new Label(middle, SWT.WRAP);
		GridDataFactory.fillDefaults().hint(HINT_WIDTH, SWT.DEFAULT).applyTo(hint);

		buttons = new Composite(middle, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(2).spacing(14, 8).applyTo(buttons);
		GridDataFactory.fillDefaults().applyTo(buttons);
		makeButtons(window);

		recent = new Composite(middle, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(2).spacing(14, 4).applyTo(recent);
		GridDataFactory.fillDefaults().exclude(true).applyTo(recent);

		commands = new Composite(middle, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(2).spacing(18, 10).applyTo(commands);
		GridDataFactory.fillDefaults().indent(0, 10).applyTo(commands);
		Label terminal = new Label(commands, SWT.NONE);
		terminal.setText("In a terminal:");
		GridDataFactory.fillDefaults().span(2, 1).applyTo(terminal);
		command(commands, "Record a program", "memtrace record -- ./app", mono);
		command(commands, "Look at it", "memtrace open app.memtrace", mono);

		progress = new Composite(middle, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(2).spacing(10, 6).applyTo(progress);
		GridDataFactory.fillDefaults().applyTo(progress);
		step = new Label(progress, SWT.NONE);
		GridDataFactory.fillDefaults().hint(BAR_WIDTH, SWT.DEFAULT).span(2, 1).applyTo(step);
		bar = new ProgressBar(progress, SWT.HORIZONTAL);
		bar.setMaximum(STEPS);
		GridDataFactory.fillDefaults().hint(BAR_WIDTH, SWT.DEFAULT).align(SWT.FILL, SWT.CENTER).applyTo(bar);
		Buttons.push(progress, "Cancel", null, () -> session.opener().cancel());

		counting = counting();
		addListener(SWT.Resize, e -> fit(getClientArea().width - 16));
		say("memtrace", WHAT);
		opening(null);
	}

	private void makeButtons(IWorkbenchWindow window) {
		if (System.getProperty("os.name", "").startsWith("Linux")) {
			first = button(buttons, "Record the example", "A stencil computation in which one thread initialises everything; "
					+ "some seconds.", () -> recordExamples(window, Example.STENCIL_SERIAL));
			button(buttons, "Record before and after", "The same with serial and with parallel initialisation, to compare.",
					() -> recordExamples(window, Example.STENCIL_SERIAL, Example.STENCIL_PARALLEL));
			button(buttons, "Record a program…", "One of yours, unchanged; compiled with -g its data gets names.",
					() -> RecordDialog.open(window));
		}
		Button importButton = button(buttons, "Import…", "What was recorded elsewhere, also by Moca and TABARNAC; or drop it onto "
				+ "this window.", () -> TraceActions.openImportWizard(window, List.of()));
		first = first == null ? importButton : first;
	}

	private LatestResult<String, Integer> counting() {
		return new LatestResult<>("Count traces", this, LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected Integer compute(String input, Progress p) throws MemtraceException {
				return session.catalogue().list().size();
			}

			@Override
			protected void show(String input, Integer count) {
				fillRecent(); // the catalogue is open now
				if (count == 0) {
					say("No traces yet", WHAT);
				} else {
					say("Open a trace", "Double-click a trace at the left, or bring in another one:");
				}
			}
		};
	}

	private static Button button(Composite parent, String text, String what, Runnable action) {
		Button button = Buttons.push(parent, text, what, () -> action.run());
		GridDataFactory.fillDefaults().align(SWT.FILL, SWT.CENTER)
				.hint(button.computeSize(SWT.DEFAULT, SWT.DEFAULT).x + 2 * BESIDE_TEXT, SWT.DEFAULT).applyTo(button);
		Label label = new Label(parent, SWT.WRAP);
		label.setText(what);
		GridDataFactory.fillDefaults().align(SWT.FILL, SWT.CENTER).hint(TEXT_WIDTH, SWT.DEFAULT).applyTo(label);
		return button;
	}

	/** Records examples that are installed, one after the other, without questions. */
	private static void recordExamples(IWorkbenchWindow window, Example... examples) {
		RecordDialog.record(window, source -> Stream.of(examples).map(source::example).filter(Objects::nonNull).toList());
	}

	private static void command(Composite parent, String what, String command, Font mono) {
		new Label(parent, SWT.NONE).setText(what);
		Text text = new Text(parent, SWT.READ_ONLY);
		text.setText(command);
		text.setFont(mono);
		text.setToolTipText("Type this in a terminal");
	}

	/** Texts are wrapped in a narrow view, as one of two beside each other. */
	private void fit(int room) {
		Control[] rows = buttons.getChildren();
		int button = 0;
		for (Control c : rows) {
			if (c instanceof Button) {
				button = Math.max(button, ((GridData) c.getLayoutData()).widthHint);
			}
		}
		int beside = room - button - ((GridLayout) buttons.getLayout()).horizontalSpacing;
		for (Control c : rows) {
			if (c instanceof Label) {
				((GridData) c.getLayoutData()).widthHint = Math.clamp(beside, LEAST_WIDTH, TEXT_WIDTH);
			}
		}
		((GridData) hint.getLayoutData()).widthHint = Math.clamp(room, LEAST_WIDTH, HINT_WIDTH);
		((GridData) step.getLayoutData()).widthHint = Math.clamp(room, LEAST_WIDTH, BAR_WIDTH);
		layout(true, true);
	}

	/** Counts the traces again. */
	void refresh() {
		if (!isDisposed()) {
			counting.submit("");
		}
	}

	/** The names of the traces that were shown last: a click opens one. */
	private void fillRecent() {
		List<Recent> traces = RecentList.list(session);
		if (!traces.equals(listed)) { // else the links stay: somebody may be clicking on one
			listed = traces;
			fill(traces);
		}
		show(recent, !traces.isEmpty() && !progress.getVisible());
	}

	private void fill(List<Recent> traces) {
		for (Control c : recent.getChildren()) {
			c.dispose();
		}
		for (Recent t : traces.subList(0, Math.min(MOST_RECENT, traces.size()))) {
			Label before = new Label(recent, SWT.NONE);
			before.setText(recent.getChildren().length == 1 ? "Shown last:" : "");
			Link link = new Link(recent, SWT.NONE);
			link.setText("<a>" + t.name().replace("&", "&&") + "</a>");
			link.setToolTipText("Open " + t.database());
			link.addListener(SWT.Selection, e -> RecentList.open(session, t));
		}
	}

	private void say(String what, String more) {
		heading = what;
		if (!progress.getVisible()) {
			title.setText(what);
		}
		hint.setText(more);
		arrange();
	}

	/** Not behind a picture, where it would keep the display thread for nothing; before it is seen again, traces are counted. */
	private void arrange() {
		if (getVisible()) {
			layout(true, true);
		}
	}

	/** How far the opening of a trace is; null when nothing is opened. */
	void opening(Opening state) {
		if (isDisposed()) {
			return;
		}
		boolean on = state != null;
		if (on) {
			title.setText("Opening " + state.name() + "…");
			step.setText(state.step());
			bar.setSelection(state.fraction() < 0 ? 0 : (int) (STEPS * state.fraction()));
			if (!hint.getVisible()) {
				return; // nothing else changes
			}
		}
		for (Composite c : new Composite[] { commands, buttons }) {
			show(c, !on);
		}
		show(recent, !on && recent.getChildren().length > 0);
		show(progress, on);
		hint.setVisible(!on);
		if (!on) {
			title.setText(heading);
			refresh();
		}
		arrange();
	}

	private static void show(Composite c, boolean visible) {
		c.setVisible(visible);
		((GridData) c.getLayoutData()).exclude = !visible;
	}

	@Override
	public boolean setFocus() {
		return first.setFocus();
	}
}
