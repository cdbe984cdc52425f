// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.help;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import org.eclipse.core.runtime.ILog;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.resource.FontDescriptor;
import org.eclipse.jface.resource.JFaceResources;
import org.eclipse.jface.resource.LocalResourceManager;
import org.eclipse.swt.SWT;
import org.eclipse.swt.custom.ScrolledComposite;
import org.eclipse.swt.layout.GridData;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Label;
import org.eclipse.ui.IWorkbenchPage;
import org.eclipse.ui.PartInitException;
import org.eclipse.ui.PlatformUI;
import org.eclipse.ui.part.ViewPart;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.importer.record.Example;
import org.memtrace.model.store.EventType;
import org.memtrace.views.record.RecordDialog;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.Session;
import org.memtrace.views.session.TraceGroup;
import org.memtrace.views.session.ViewIds;
import org.memtrace.views.traces.CompareDialog;
import org.memtrace.views.util.Appearance;
import org.memtrace.views.util.Buttons;

/** Find a sharing problem in ten minutes: steps with a button that does each of them. */
public final class TutorialView extends ViewPart {
	private static final TraceFilter SHARED_WRITE = TraceFilter
			.only(Condition.type(EventType.SHARED_WRITE));

	/** What a button does. */
	private interface Deed {
		void run() throws PartInitException;
	}

	/** Controls of a step. */
	private record Step(Label mark, Button button, boolean needsTrace) {
	}

	private Session session;
	private ScrolledComposite scrolled;
	private Composite body;
	private final List<Step> steps = new ArrayList<>();
	private final List<Label> wrapped = new ArrayList<>();
	private final Session.Listener follow = new Session.Listener() {
		@Override
		public void groupChanged(TraceGroup changed) {
			enable();
		}
	};

	@Override
	public void createPartControl(Composite parent) {
		session = getSite().getService(Session.class);
		scrolled = new ScrolledComposite(parent, SWT.V_SCROLL);
		scrolled.setExpandHorizontal(true);
		scrolled.setExpandVertical(true);
		body = new Composite(scrolled, SWT.NONE);
		Appearance.asList(body);
		body.setBackgroundMode(SWT.INHERIT_FORCE);
		GridLayoutFactory.swtDefaults().numColumns(2).margins(12, 12).spacing(8, 4).applyTo(body);
		scrolled.setContent(body);
		PlatformUI.getWorkbench().getHelpSystem().setHelp(body, ViewIds.TUTORIAL);
		LocalResourceManager resources = new LocalResourceManager(JFaceResources.getResources(), body);
		Label title = new Label(body, SWT.WRAP);
		title.setText("Find a sharing problem in ten minutes");
		title.setFont(resources.create(FontDescriptor.createFrom(JFaceResources.getDefaultFont()).increaseHeight(4).setStyle(SWT.BOLD)));
		GridDataFactory.fillDefaults().span(2, 1).grab(true, false).applyTo(title);
		wrapped.add(title);
		text("A stencil computation on four threads is slow on a machine with several NUMA nodes. Each button does what the step says; "
				+ "do it yourself if you like, everything can be taken back with Esc in the picture.");
		step("Record the example", "Some seconds; nothing is asked. The picture then opens by itself. Any other trace that is open will do, too.",
				"Record", false, () -> record(Example.STENCIL_SERIAL));
		step("Read what is wrong", "Findings, below the picture, has a card for each problem: both grids are touched first by one thread. A click on a "
				+ "card shows its proof, what to change, and the memory in all views.", "Show the findings", true, () -> view(ViewIds.FINDINGS));
		step("Read the picture", "Memory runs down, time runs to the right. Blue is private to one thread at that time, orange and red are shared, "
				+ "grey and hatched is not known; light is read, dark is written. At the left a dark stripe: the two grids are written for the first time.",
				"Show everything", true, () -> {
					selection().removeFilter(SHARED_WRITE);
					selection().reset();
					selection().viewpoint(BasicDimensions.TYPE);
					view(ViewIds.OCELOTL);
				});
		step("Ask who", "The same by thread. The stripe at the left has one colour from top to bottom: one thread initialises all pages. "
				+ "After that each quarter belongs to another thread.", "Colour by thread", true, () -> {
					selection().viewpoint(BasicDimensions.THREAD);
					view(ViewIds.OCELOTL);
				});
		step("Know what that means", "A page lives on the NUMA node of the thread that first writes to it. The column First toucher says it in "
				+ "numbers: one thread, for all pages of both grids.", "Show the structures", true, () -> view(ViewIds.STRUCTURES));
		step("Look at the machine", "The second button of the view Machine colours by distance: orange CPUs work on remote memory. With one node "
				+ "everything is near.", "Show the machine", true, () -> view(ViewIds.MACHINE));
		step("Look for real sharing", "Only writes to pages that several threads use at the same time. What is left are the planes where two "
				+ "quarters meet: that is what a stencil needs, and not much.", "Filter shared writes", true, () -> {
					selection().viewpoint(BasicDimensions.TYPE);
					selection().addFilter(SHARED_WRITE);
					view(ViewIds.OCELOTL);
				});
		step("Change the program", "Let each thread initialise what it works on later: one line, the variant \"parallel\" of the example.",
				"Record the fixed version", false, () -> record(Example.STENCIL_PARALLEL));
		step("Compare", "Side by side, with the same time. By thread, the stripe at the left of the fixed version has four colours. Findings says that "
				+ "they are gone, and with which numbers.",
				"Compare…", true, () -> CompareDialog.ask(getSite().getWorkbenchWindow()));
		session.addListener(follow);
		scrolled.addListener(SWT.Resize, e -> layout());
		enable();
		layout();
	}

	private void text(String text) {
		Label label = new Label(body, SWT.WRAP);
		label.setText(text);
		GridDataFactory.fillDefaults().span(2, 1).grab(true, false).applyTo(label);
		wrapped.add(label);
	}

	private void step(String title, String text, String button, boolean needsTrace, Deed deed) {
		int number = steps.size() + 1;
		Label mark = new Label(body, SWT.NONE);
		mark.setText(number + ".");
		mark.setFont(JFaceResources.getFontRegistry().getBold(JFaceResources.DEFAULT_FONT));
		GridDataFactory.fillDefaults().hint(22, SWT.DEFAULT).indent(0, 12).applyTo(mark);
		Label heading = new Label(body, SWT.NONE);
		heading.setText(title);
		heading.setFont(JFaceResources.getFontRegistry().getBold(JFaceResources.DEFAULT_FONT));
		GridDataFactory.fillDefaults().indent(0, 12).applyTo(heading);
		new Label(body, SWT.NONE);
		Label label = new Label(body, SWT.WRAP);
		label.setText(text);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(label);
		wrapped.add(label);
		new Label(body, SWT.NONE);
		Button b = Buttons.push(body, button, "Do step " + number + ": " + title, () -> {
			try {
				deed.run();
				mark.setText("✓");
			} catch (PartInitException x) {
				ILog.of(TutorialView.class).error("A step of the tutorial failed.", x);
			}
		});
		GridDataFactory.fillDefaults().align(SWT.BEGINNING, SWT.CENTER).applyTo(b);
		steps.add(new Step(mark, b, needsTrace));
	}

	/** Steps that look at a trace need one. */
	private void enable() {
		if (!body.isDisposed()) {
			OpenTrace trace = session.trace();
			steps.forEach(s -> s.button().setEnabled(!s.needsTrace() || trace != null));
		}
	}

	/** The width of the view decides how the texts are wrapped. */
	private void layout() {
		int width = Math.max(160, scrolled.getClientArea().width);
		for (Label label : wrapped) {
			Object data = label.getLayoutData();
			((GridData) data).widthHint = width - (((GridData) data).horizontalSpan == 2 ? 30 : 62);
		}
		body.layout(true);
		scrolled.setMinHeight(body.computeSize(width, SWT.DEFAULT).y);
	}

	private TraceSelection selection() {
		return session.trace().selection();
	}

	private void record(Example example) {
		RecordDialog.record(getSite().getWorkbenchWindow(),
				source -> Stream.of(example).map(source::example).filter(Objects::nonNull).toList());
	}

	private void view(String id) throws PartInitException {
		getSite().getPage().showView(id, null, IWorkbenchPage.VIEW_VISIBLE);
	}

	List<Button> buttons() {
		return steps.stream().map(Step::button).toList();
	}

	@Override
	public void setFocus() {
		steps.stream().map(Step::button).filter(Button::isEnabled).findFirst().ifPresent(Button::setFocus);
	}

	@Override
	public void dispose() {
		if (session != null) {
			session.removeListener(follow);
		}
		super.dispose();
	}
}
