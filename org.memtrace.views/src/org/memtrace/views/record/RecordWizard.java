// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.record;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;

import org.eclipse.jface.wizard.IWizardPage;
import org.eclipse.jface.wizard.Wizard;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.ui.IWorkbenchWindow;
import org.memtrace.analysis.selection.SelectionLink;
import org.memtrace.importer.record.Example;
import org.memtrace.importer.record.RecordSettings;
import org.memtrace.importer.record.ShellWords;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.views.compare.Comparison;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.jobs.OnDisplay;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.RecordHistory;
import org.memtrace.views.session.Session;

/** Two pages of questions, and a page that follows the recording. */
final class RecordWizard extends Wizard {
	private static final int MAX_WORDS = 60;

	private final IWorkbenchWindow window;
	private final Session session;
	private final ProgramPage program;
	private final CollectorPage collector;
	private final RunPage run;
	private LatestResult<String, Machine> looking;
	private Machine machine;
	private boolean filling;
	private Function<RecordSource, List<RecordSettings>> waiting;

	RecordWizard(IWorkbenchWindow window) {
		this.window = window;
		this.session = window.getService(Session.class);
		program = new ProgramPage(this);
		collector = new CollectorPage(this);
		run = new RunPage(this, session);
		setWindowTitle("Record");
		addPage(program);
		addPage(collector);
		addPage(run);
	}

	@Override
	public void createPageControls(Composite pages) {
		super.createPageControls(pages);
		looking = new LatestResult<>("Check this machine", pages, LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected Machine compute(String input, Progress progress) throws MemtraceException {
				return Machine.look(session, progress);
			}

			@Override
			protected void show(String input, Machine result) {
				machine = result;
				collector.machine(result);
				changed();
				startWaiting();
			}
		};
		look();
		changed();
	}

	/** Finds out again what works here. */
	void look() {
		machine = null;
		collector.machine(null);
		looking.submit("");
	}

	/** Null while it is being found out. */
	Machine machine() {
		return machine;
	}

	/** The program of an example, null when it is not there or not known yet. */
	Path example(Example e) {
		return machine == null ? null : machine.installation().example(e.program());
	}

	RunPage run() {
		return run;
	}

	/** A recording in few words. */
	static String describe(RecordSettings s) {
		if (s.pid() > 0) {
			return "process " + s.pid();
		}
		String text = s.baseName() + (s.arguments().isEmpty() ? "" : " " + ShellWords.join(s.arguments()));
		return text.length() > MAX_WORDS ? text.substring(0, MAX_WORDS - 1) + "…" : text;
	}

	/** Fills all pages as an earlier recording had them. */
	void fill(RecordSettings s) {
		filling = true;
		program.fill(s);
		collector.fill(s);
		filling = false;
		changed();
	}

	/** Something on a page was changed. */
	void changed() {
		if (filling || program.getControl() == null || collector.getControl() == null) {
			return;
		}
		filling = true;
		collector.preset(program.wishes());
		filling = false;
		RecordSettings now = settings();
		String first = program.problem();
		String second = collector.problem();
		if (first == null && machine != null && machine.problem() != null) {
			first = machine.problem();
		}
		if (first == null && second == null && now != null && machine != null) {
			String wrong = now.problem(now.environment().getOrDefault("PATH", System.getenv().getOrDefault("PATH", "")));
			if (wrong != null && (wrong.startsWith("--") || wrong.startsWith("The trace directory"))) {
				second = wrong;
			} else {
				first = wrong;
			}
		}
		program.update(now, first);
		String before = first == null ? null
				: first.isEmpty() ? program.toDo() + " Back leads there." : "Record is grey, because of the page before: " + first;
		collector.update(now, second, before, now == null ? "" : output(now));
		if (getContainer() != null && getContainer().getCurrentPage() != null) {
			getContainer().updateButtons();
		}
	}

	/** What is on the pages now; null when it is not complete. */
	RecordSettings settings() {
		RecordSettings chosen = program.settings();
		if (chosen == null) {
			return null;
		}
		RecordSettings all = collector.complete(chosen);
		return all.output().isEmpty() ? all.withOutput(chosen.output()) : all;
	}

	/** Where the trace goes. */
	private String output(RecordSettings s) {
		if (!s.output().isEmpty()) {
			return s.output();
		}
		Path directory = Path.of(s.directory()).toAbsolutePath();
		Path parent = s.pid() == 0 && Files.isWritable(directory) || machine == null ? directory : machine.recordings();
		return RecordSettings.freeDirectory(parent, s.baseName()).toString();
	}

	@Override
	public IWizardPage getNextPage(IWizardPage page) {
		return page == program ? collector : null;
	}

	@Override
	public IWizardPage getPreviousPage(IWizardPage page) {
		return page == run ? (run.isOver() ? program : null) : page == collector ? program : null;
	}

	@Override
	public boolean canFinish() {
		return getContainer().getCurrentPage() == run ? run.isOver()
				: machine != null && machine.problem() == null && program.isPageComplete() && collector.isPageComplete();
	}

	@Override
	public boolean performFinish() {
		if (getContainer().getCurrentPage() == run) {
			return run.isOver();
		}
		RecordSettings now = settings();
		if (now == null) {
			return false;
		}
		RecordHistory.add(now);
		start(List.of(now.withOutput(output(now))));
		return false; // the last page follows the recording
	}

	/** Records one after the other. */
	void start(List<RecordSettings> all) {
		getContainer().showPage(run);
		run.start(machine.installation().launcher().toString(), all);
	}

	/** Records as soon as it is known what works here. */
	void startWhenReady(Function<RecordSource, List<RecordSettings>> settings) {
		waiting = settings;
		startWaiting();
	}

	private void startWaiting() {
		if (waiting == null || machine == null || getContainer().getCurrentPage() == run && !run.isOver()) {
			return;
		}
		List<RecordSettings> all = machine.problem() != null ? List.of() : waiting.apply(new RecordSource(machine));
		waiting = null;
		if (!all.isEmpty()) {
			start(all);
		} // else the first page says what is missing
	}

	/** The traces are in the catalogue: shows the last one; of a pair the first, beside it the second, and what differs. */
	void opened(List<TraceInfo> traces) {
		if (traces.size() != 2) {
			session.opener().open(traces.get(traces.size() - 1));
			return;
		}
		session.addListener(new Session.Listener() {
			@Override
			public void traceChanged(OpenTrace trace) {
				session.removeListener(this);
				if (trace != null && trace.isListed(traces.get(0))) {
					OnDisplay.later(window.getShell(),
							() -> Comparison.show(window.getActivePage(), traces.get(1), SelectionLink.Time.SCALED));
				}
			}
		});
		session.opener().open(traces.get(0));
	}
}
