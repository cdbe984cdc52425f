// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.findings;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.eclipse.jface.action.IToolBarManager;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.resource.JFaceResources;
import org.eclipse.swt.SWT;
import org.eclipse.swt.custom.SashForm;
import org.eclipse.swt.custom.StackLayout;
import org.eclipse.swt.layout.GridData;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.ProgressBar;
import org.eclipse.ui.IWorkbenchActionConstants;
import org.memtrace.analysis.cards.FindingCard;
import org.memtrace.analysis.cards.FindingCards;
import org.memtrace.analysis.cards.FindingsPresenter;
import org.memtrace.analysis.findings.Finding;
import org.memtrace.analysis.findings.facts.Place;
import org.memtrace.analysis.source.SourcePlace;
import org.memtrace.analysis.text.Csv;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.memory.Structure;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.Session;
import org.memtrace.views.util.Appearance;
import org.memtrace.views.util.Buttons;
import org.memtrace.views.util.Clip;
import org.memtrace.views.util.WhenSeen;
import org.memtrace.views.view.Snapshot;
import org.memtrace.views.view.SourceQuestion;
import org.memtrace.views.view.TraceView;

/**
 * What is wrong with the memory use of a trace, as {@code memtrace advise} says it; of two linked traces what became of each finding, as
 * {@code memtrace diff} says it. What a click does is decided by a {@link FindingsPresenter}.
 */
public final class FindingsView extends TraceView {
	private static final int STEPS = 1000;
	private static final int BAR_WIDTH = 320;
	private static final int[] WEIGHTS = {30, 70};

	private final FindingsPresenter presenter = new FindingsPresenter(new Widgets());
	private Composite pages;
	private StackLayout stack;
	private Composite waiting;
	private Label message;
	private ProgressBar bar;
	private Button stopOrAgain;
	private Composite content;
	private Label heading;
	private Label warning;
	private CardList list;
	private Composite right;
	private StackLayout rightStack;
	private CardDetail detail;
	private WhyNotTree whyNot;
	private WhenSeen load;
	private LatestResult<FindingsPresenter.Question, FindingCards> answering;

	private final Session.Listener follow = Session.Listener.ofGroups(this::look);

	@Override
	protected void createContents(Composite parent) {
		pages = new Composite(parent, SWT.NONE);
		stack = new StackLayout();
		pages.setLayout(stack);
		Appearance.asList(pages);
		createWaiting();
		createContent();
		load = new WhenSeen(pages, presenter::load);
		answering = new LatestResult<>("Look for findings", pages, LatestResult.Policy.ONLY_NEWEST, LatestResult.Priority.CAN_WAIT) {
			@Override
			protected FindingCards compute(FindingsPresenter.Question question, Progress progress) throws MemtraceException {
				return question.answer(progress);
			}

			@Override
			protected void show(FindingsPresenter.Question question, FindingCards cards) {
				presenter.answered(question, cards);
			}

			@Override
			protected void failed(FindingsPresenter.Question question, String text) {
				presenter.failed(question, text);
			}

			@Override
			protected void progress(String step, double fraction) {
				if (stack.topControl == waiting) {
					message.setText(step + "…");
					bar.setSelection(fraction < 0 ? 0 : (int) (STEPS * fraction));
				}
			}
		};
		IToolBarManager tools = getViewSite().getActionBars().getToolBarManager();
		tools.appendToGroup(IWorkbenchActionConstants.MB_ADDITIONS, ReportExport.action(getSite().getWorkbenchWindow(), this::trace));
		session().addListener(follow);
		top(waiting);
	}

	private void createWaiting() {
		waiting = new Composite(pages, SWT.NONE);
		Appearance.asList(waiting);
		waiting.setBackgroundMode(SWT.INHERIT_FORCE);
		GridLayoutFactory.swtDefaults().margins(12, 10).applyTo(waiting);
		message = new Label(waiting, SWT.WRAP);
		GridDataFactory.fillDefaults().grab(true, false).hint(BAR_WIDTH, SWT.DEFAULT).applyTo(message);
		Composite line = new Composite(waiting, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(2).spacing(10, 0).applyTo(line);
		bar = new ProgressBar(line, SWT.HORIZONTAL);
		bar.setMaximum(STEPS);
		GridDataFactory.fillDefaults().hint(BAR_WIDTH, SWT.DEFAULT).align(SWT.FILL, SWT.CENTER).applyTo(bar);
		stopOrAgain = Buttons.push(line, "Look again", null, this::stopOrAgain);
	}

	private void createContent() {
		content = new Composite(pages, SWT.NONE);
		Appearance.asList(content);
		GridLayoutFactory.fillDefaults().spacing(0, 0).applyTo(content);
		Composite head = new Composite(content, SWT.NONE);
		Appearance.asList(head);
		head.setBackgroundMode(SWT.INHERIT_FORCE);
		GridLayoutFactory.fillDefaults().numColumns(2).margins(10, 5).spacing(14, 0).applyTo(head);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(head);
		heading = new Label(head, SWT.NONE);
		heading.setFont(JFaceResources.getFontRegistry().getBold(JFaceResources.DEFAULT_FONT));
		warning = new Label(head, SWT.NONE);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(warning);
		Appearance.onChange(warning, () -> warning.setForeground(ScenePainter.color(ScenePainter.palette(head).warning())));
		SashForm sash = new SashForm(content, SWT.HORIZONTAL | SWT.SMOOTH);
		GridDataFactory.fillDefaults().grab(true, true).applyTo(sash);
		list = new CardList(sash, presenter::choose, presenter::open);
		right = new Composite(sash, SWT.NONE);
		rightStack = new StackLayout();
		right.setLayout(rightStack);
		detail = new CardDetail(right, presenter::copyCode, () -> presenter.open(presenter.chosen()));
		whyNot = new WhyNotTree(right);
		sash.setWeights(WEIGHTS);
		sash.setSashWidth(3);
	}

	/** Asks for what is looked at now, if that is something else. */
	private void look() {
		if (pages == null || pages.isDisposed()) {
			return;
		}
		presenter.traces(trace(), linkedTrace());
		if (presenter.isOpen()) {
			waiting("Looking for findings…", true);
			load.request();
		}
	}

	/** The code that a finding names, then where its structure is made. */
	@Override
	protected SourceQuestion source() {
		int chosen = presenter.cards() == null ? -1 : presenter.chosen();
		if (chosen < 0 || chosen >= presenter.cards().cards().size()) {
			return null;
		}
		FindingCard card = presenter.cards().cards().get(chosen);
		Finding f = card.finding();
		List<Structure> structures = card.after() == null ? List.of()
				: f.structures().stream().filter(i -> i >= 0 && i < trace().structures().size()).limit(1).map(trace().structures()::get).toList();
		return (store, code) -> {
			List<SourcePlace> places = new ArrayList<>();
			add(places, "first written: ", f.firstWritten());
			add(places, "used: ", f.used());
			for (Structure s : structures) {
				places.addAll(SourceQuestion.of(s).places(store, code));
			}
			return places;
		};
	}

	private static void add(List<SourcePlace> places, String what, Place place) {
		if (place != null && !place.file().isEmpty()) {
			places.add(new SourcePlace(what + place.function(), place.file(), place.line()));
		}
	}

	private void waiting(String text, boolean busy) {
		message.setText(text);
		bar.setVisible(busy);
		((GridData) bar.getLayoutData()).exclude = !busy;
		bar.setSelection(0);
		stopOrAgain.setText(busy ? "Stop" : "Look again");
		stopOrAgain.setVisible(busy || trace() != null && trace().hasAccesses());
		top(waiting);
		waiting.layout(true, true);
	}

	private void stopOrAgain() {
		if (answering.isBusy()) {
			presenter.cancel();
		} else {
			presenter.again();
		}
	}

	private void top(Composite page) {
		if (stack.topControl != page) {
			stack.topControl = page;
			pages.layout();
		}
	}

	/** The presenter's hands. */
	private final class Widgets implements FindingsPresenter.Screen {
		@Override
		public void ask(FindingsPresenter.Question question) {
			waiting("Looking for findings…", true);
			answering.submit(question);
		}

		@Override
		public void stop() {
			answering.cancel();
		}

		@Override
		public void show(FindingCards cards) {
			heading.setText((cards.heading() + (cards.isComparison() ? ": " + cards.before() + " → " + cards.after() : "")).replace("&", "&&"));
			List<String> warnings = cards.warnings();
			warning.setText(warnings.isEmpty() ? "" : warnings.get(0).replace("&", "&&")
					+ (warnings.size() > 1 ? " (and " + (warnings.size() - 1) + " more)" : ""));
			warning.setToolTipText(warnings.isEmpty() ? null : String.join("\n", warnings).replace("&", "&&"));
			list.show(cards);
			whyNot.show(cards);
			top(content);
			content.layout(true, true);
		}

		@Override
		public void say(String text) {
			waiting(text.isEmpty() ? nothingShown("No trace is shown.") : text, false);
		}

		@Override
		public void detail(int card) {
			Control wanted = card < 0 ? whyNot.control() : detail.control();
			if (card >= 0) {
				FindingCard c = presenter.cards().cards().get(card);
				detail.show(presenter.cards(), c);
			}
			if (rightStack.topControl != wanted) {
				rightStack.topControl = wanted;
				right.layout();
			}
			list.select(card);
		}

		@Override
		public void copy(String text) {
			Clip.copy(pages.getDisplay(), text);
		}
	}

	@Override
	protected void traceShown(OpenTrace now) {
		look();
	}

	@Override
	protected void openingChanged() {
		if (trace() == null) {
			waiting(nothingShown("No trace is shown."), false);
		}
	}

	@Override
	protected void coloursChanged() {
		content.redraw();
	}

	@Override
	protected boolean isSettled() {
		return !load.isWaiting() && !answering.isBusy();
	}

	@Override
	protected Snapshot snapshot() {
		FindingCards shown = presenter.cards();
		return shown == null ? null : new Snapshot(trace().name() + " findings", null, () -> csv(shown),
				Map.of("trace", trace().name(), "before", shown.before()));
	}

	private static String csv(FindingCards cards) {
		StringBuilder b = new StringBuilder("state,severity,cost,confidence,rule,structures,evidence,advice,fix\n");
		for (FindingCard c : cards.cards()) {
			b.append(String.join(",", c.state() == null ? "" : c.state().id(), c.severity().id(), Csv.cell(c.finding().worth()),
					c.finding().confidence().id(), c.finding().rule(),
					Csv.cell(c.name()), Csv.cell(c.finding().evidence()), Csv.cell(c.finding().advice()),
							Csv.cell(c.finding().fix().text()))).append('\n');
		}
		return b.toString();
	}

	/** What decides; for tests. */
	FindingsPresenter presenter() {
		return presenter;
	}

	/** The cards, for tests. */
	List<? extends Control> cardControls() {
		return list.controls();
	}

	@Override
	public void setFocus() {
		if (stack.topControl == content) {
			list.setFocus();
		} else {
			stopOrAgain.setFocus();
		}
	}

	@Override
	public void dispose() {
		if (session() != null) {
			session().removeListener(follow);
		}
		if (answering != null) {
			answering.cancel();
		}
		super.dispose();
	}
}
