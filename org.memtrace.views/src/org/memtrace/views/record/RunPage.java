// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.record;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import org.eclipse.jface.dialogs.IDialogConstants;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.resource.FontDescriptor;
import org.eclipse.jface.resource.JFaceColors;
import org.eclipse.jface.resource.JFaceResources;
import org.eclipse.jface.resource.LocalResourceManager;
import org.eclipse.jface.wizard.IWizardPage;
import org.eclipse.jface.wizard.WizardPage;
import org.eclipse.swt.SWT;
import org.eclipse.swt.custom.SashForm;
import org.eclipse.swt.graphics.Font;
import org.eclipse.swt.layout.GridData;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Display;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.ProgressBar;
import org.eclipse.swt.widgets.Text;
import org.memtrace.analysis.text.Units;
import org.memtrace.importer.live.LiveReader;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.record.LiveCounters;
import org.memtrace.importer.record.Orphans;
import org.memtrace.importer.record.RecordSettings;
import org.memtrace.importer.record.Recording;
import org.memtrace.model.CancelledException;
import org.memtrace.model.LivePages;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.jobs.OnDisplay;
import org.memtrace.views.session.RecordHistory;
import org.memtrace.views.session.Session;
import org.memtrace.views.session.TraceImport;
import org.memtrace.views.util.Accessibility;

/** Follows a recording: counters, what the program prints, the import; then the trace is opened. */
final class RunPage extends WizardPage {
	private static final int REFRESH_MS = 200;
	/** Looks at the counters for one at the pages. */
	private static final int PAGES_EVERY = 3;
	private static final int STEPS = 1000;
	private static final int MAX_CONSOLE = 200_000;
	/** 128 and SIGKILL. */
	private static final int KILLED = 137;
	private static final String[] TITLES = { "Time", "Intervals", "Records", "Page faults", "Lost", "Overhead",
			"Interval now", "Memory" };
	private static final String[] HELP = { "Since the program was started", "Monitoring intervals until now",
			"Records in the trace: a page that a thread touched in an interval", "Page faults that were made to see which pages are used",
			"What the recorder knows to have missed", "CPU time of recording as a share of the program's",
			"Length of an interval; it grows when recording costs more than its limit", "Memory of the program that is watched" };
	private static final int LOST = 4;

	/** A finished recording that is to be imported; the reader is closed when the program has ended. */
	private record Finished(Recording recording, LiveCounters counters, LiveReader reader) {
	}

	/** @param error null when it was imported */
	private record Imported(Recording.Result result, ImportReport report, String error, LiveCounters.Counts counts) {
	}

	/** What to do with a program whose recorder is gone. */
	private final List<ProcessHandle> orphans = new ArrayList<>();

	private final RecordWizard wizard;
	private final Session session;
	private final Label[] values = new Label[TITLES.length];
	private final StringBuffer unseen = new StringBuffer();
	private final List<TraceInfo> traces = new ArrayList<>();
	private final List<String> warnings = new ArrayList<>();
	private List<RecordSettings> queue = List.of();
	private int next;
	private String launcher;
	private Activity activity;
	private LiveCanvas live;
	private LiveReader reader;
	private Text console;
	private Label status;
	private ProgressBar bar;
	private Button closes;
	private Button endProgram;
	private Recording recording;
	private long beginNs;
	private int ticks;
	private boolean over;
	private boolean importing;
	private Display display;
	private LatestResult<LiveCounters, LiveCounters.Counts> counting;
	private LatestResult<LiveReader, LivePages> following;
	private LatestResult<Finished, Imported> finishing;

	RunPage(RecordWizard wizard, Session session) {
		super("run");
		this.wizard = wizard;
		this.session = session;
		setTitle("Recording");
		setPageComplete(false);
	}

	@Override
	public void createControl(Composite parent) {
		Composite c = new Composite(parent, SWT.NONE);
		GridLayoutFactory.swtDefaults().margins(10, 8).spacing(6, 8).applyTo(c);
		makeCounters(c);
		activity = new Activity(c);
		GridDataFactory.fillDefaults().grab(true, false).hint(SWT.DEFAULT, 56).applyTo(activity);

		SashForm parts = new SashForm(c, SWT.VERTICAL | SWT.SMOOTH);
		GridDataFactory.fillDefaults().grab(true, true).hint(600, 360).applyTo(parts);
		live = new LiveCanvas(parts);
		Composite output = new Composite(parts, SWT.NONE);
		GridLayoutFactory.fillDefaults().spacing(6, 4).applyTo(output);
		parts.setWeights(5, 2);
		Label label = new Label(output, SWT.NONE);
		label.setText("What the program prints:");
		console = new Text(output, SWT.BORDER | SWT.MULTI | SWT.READ_ONLY | SWT.V_SCROLL | SWT.WRAP);
		console.setFont(JFaceResources.getTextFont());
		Accessibility.name(console, "Output of the program and of the recorder");
		GridDataFactory.fillDefaults().grab(true, true).hint(600, 60).applyTo(console);

		status = new Label(c, SWT.WRAP);
		GridDataFactory.fillDefaults().grab(true, false).hint(600, SWT.DEFAULT).applyTo(status);
		endProgram = new Button(c, SWT.PUSH);
		endProgram.setText("&End the program");
		endProgram.setToolTipText("The program runs on, and is not recorded any more. Asks it to end (SIGTERM); pressed again, kills it");
		endProgram.addListener(SWT.Selection, e -> endOrphans());
		GridDataFactory.fillDefaults().exclude(true).align(SWT.BEGINNING, SWT.CENTER).applyTo(endProgram);
		endProgram.setVisible(false);
		bar = new ProgressBar(c, SWT.HORIZONTAL);
		bar.setMaximum(STEPS);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(bar);
		closes = new Button(c, SWT.CHECK);
		closes.setText("C&lose this window when the trace is open");
		closes.setSelection(RecordHistory.closesItself());
		closes.addListener(SWT.Selection, e -> RecordHistory.closesItself(closes.getSelection()));
		setControl(c);
		display = c.getDisplay();
		makeJobs();
		c.addDisposeListener(e -> {
			if (isRecording()) {
				recording.stop();
			}
		});
	}

	private void makeCounters(Composite c) {
		LocalResourceManager resources = new LocalResourceManager(JFaceResources.getResources(), c);
		Font big = resources.create(FontDescriptor.createFrom(JFaceResources.getDefaultFont()).increaseHeight(4));
		Composite grid = new Composite(c, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(TITLES.length / 2).equalWidth(true).spacing(18, 8).applyTo(grid);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(grid);
		for (int i = 0; i < TITLES.length; i++) {
			Composite cell = new Composite(grid, SWT.NONE);
			GridLayoutFactory.fillDefaults().spacing(0, 0).applyTo(cell);
			GridDataFactory.fillDefaults().grab(true, false).applyTo(cell);
			Label title = new Label(cell, SWT.NONE);
			title.setText(TITLES[i]);
			title.setToolTipText(HELP[i]);
			values[i] = new Label(cell, SWT.NONE);
			values[i].setFont(big);
			values[i].setText("–");
			values[i].setToolTipText(HELP[i]);
			GridDataFactory.fillDefaults().grab(true, false).applyTo(values[i]);
		}
	}

	private void makeJobs() {
		counting = new LatestResult<>("Count accesses", getControl(), LatestResult.Policy.KEEP_UP) {
			@Override
			protected LiveCounters.Counts compute(LiveCounters counters, Progress progress) {
				return counters.read();
			}

			@Override
			protected void show(LiveCounters counters, LiveCounters.Counts counts) {
				if (isRecording()) {
					RunPage.this.show(counts);
				}
			}
		};
		following = new LatestResult<>("Pages of the last intervals", getControl(), LatestResult.Policy.KEEP_UP) {
			@Override
			protected LivePages compute(LiveReader of, Progress progress) throws MemtraceException {
				try {
					return of.read();
				} catch (InterruptedException e) {
					Thread.currentThread().interrupt();
					throw new CancelledException();
				}
			}

			@Override
			protected void show(LiveReader of, LivePages pages) {
				if (of == reader && pages.endNs() > pages.startNs()) {
					live.show(pages);
				}
			}
		};
		finishing = new LatestResult<>("Record", getControl(), LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected Imported compute(Finished f, Progress progress) throws MemtraceException {
				return finish(f, progress);
			}

			@Override
			protected void progress(String step, double fraction) {
				if (importing) {
					status.setText(step + "…");
					bar.setSelection(fraction < 0 ? 0 : (int) (STEPS * fraction));
				}
			}

			@Override
			protected void show(Finished f, Imported result) {
				ended(f, result);
			}

			@Override
			protected void failed(Finished f, String message) {
				fail(message);
			}
		};
	}

	/** Records one after the other; display thread. */
	void start(String recorder, List<RecordSettings> all) {
		launcher = recorder;
		queue = List.copyOf(all);
		next = 0;
		traces.clear();
		warnings.clear();
		console.setText("");
		startNext();
	}

	private void startNext() {
		RecordSettings s = queue.get(next++);
		over = false;
		importing = false;
		orphans.clear();
		offerToEnd(false);
		setErrorMessage(null);
		setMessage(null, NONE);
		setTitle("Recording " + RecordWizard.describe(s) + (queue.size() > 1 ? " (" + next + " of " + queue.size() + ")" : ""));
		setDescription(s.output());
		status.setText("The program runs.");
		bar.setSelection(0);
		for (Label v : values) {
			v.setText("–");
		}
		activity.show(List.of());
		live.show(LivePages.none());
		beginNs = System.nanoTime();
		print("$ " + s.shellText() + "\n");
		try {
			recording = Recording.start(launcher, s, (text, error) -> unseen.append(text));
		} catch (MemtraceException e) {
			fail(e.getMessage());
			return;
		}
		LiveCounters counters = new LiveCounters(recording.trace());
		reader = new LiveReader(recording.trace(), Path.of(launcher), LiveReader.USUAL_INTERVALS);
		finishing.submit(new Finished(recording, counters, reader));
		ticks = 0;
		tick(recording, counters);
		getContainer().updateButtons();
	}

	private void tick(Recording of, LiveCounters counters) {
		if (getControl().isDisposed() || recording != of || over) {
			return;
		}
		flush();
		if (isRecording()) {
			values[0].setText(String.format(Locale.ROOT, "%.1f s", (System.nanoTime() - beginNs) / 1e9));
			counting.submit(counters);
			if (ticks++ % PAGES_EVERY == 0) {
				following.submit(reader);
			}
			getContainer().updateButtons();
		}
		getControl().getDisplay().timerExec(REFRESH_MS, () -> tick(of, counters));
	}

	/** Waits for the end, then imports; on a job thread. */
	private Imported finish(Finished f, Progress progress) throws MemtraceException {
		progress.begin("The program runs", -1);
		try (LiveReader ended = f.reader()) {
			while (!f.recording().waitFor(50)) {
				progress.check();
			}
			ended.close();
			Recording.Result result = f.recording().result();
			LiveCounters.Counts counts = new LiveCounters(f.recording().trace()).read();
			if (result.trace() == null) {
				return new Imported(result, null, result.message(), counts);
			}
			OnDisplay.later(display, () -> {
				importing = true;
				if (!getControl().isDisposed()) {
					getContainer().updateButtons();
				}
			});
			try {
				return new Imported(result, TraceImport.run(session.catalogue(), result.trace(), progress), null, counts);
			} catch (CancelledException e) {
				return new Imported(result, null, "The import was cancelled; the trace is in " + result.trace() + ".", counts);
			} catch (MemtraceException e) {
				return new Imported(result, null, e.getMessage(), counts);
			}
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
			throw new CancelledException();
		}
	}

	private void ended(Finished f, Imported done) {
		flush();
		show(done.counts());
		if (done.error() != null) {
			fail(done.error());
			return;
		}
		ImportReport report = done.report();
		print("\n" + report.toText() + "\n");
		traces.add(report.trace());
		warnings.addAll(report.warnings());
		int code = done.result().exitCode();
		boolean killed = done.result().killed();
		if (killed) {
			// what the import says of it stands below what the program has printed; here is one sentence
			warnings.removeIf(w -> w.contains("the recorder was killed") || w.contains("the state of now"));
			orphans.addAll(Orphans.of(done.result().trace()));
			warnings.add(0, (code == KILLED ? "The recorder was killed" : "The recorder died (code " + code + ")")
					+ ": the trace has what was recorded until then"
					+ (orphans.isEmpty() ? "." : ", and " + program(orphans) + " runs on without being recorded."));
			offerToEnd(!orphans.isEmpty());
		} else if (code != 0 && !f.recording().isStopping()) {
			warnings.add("The program ended with code " + code + ".");
		}
		session.catalogueChanged();
		if (next < queue.size() && !f.recording().isStopping() && !killed) {
			startNext();
			return;
		}
		over = true;
		bar.setSelection(STEPS);
		status.setText("The trace is in the catalogue; it was recorded into " + done.result().trace() + ".");
		setTitle(traces.size() == 1 ? "Recorded " + traces.get(0).alias() : "Recorded " + traces.size() + " traces");
		setMessage(warnings.isEmpty() ? null : String.join("  ", warnings), WARNING);
		setPageComplete(true);
		getContainer().updateButtons();
		wizard.opened(List.copyOf(traces));
		if (closes.getSelection() && warnings.isEmpty()) {
			((RecordDialog) getContainer()).close();
		}
	}

	/** Such as "app (process 12)". */
	private static String program(List<ProcessHandle> processes) {
		ProcessHandle first = processes.get(0);
		String name = first.info().command().map(c -> Path.of(c).getFileName().toString()).orElse("the program");
		return name + (processes.size() == 1 ? " (process " + first.pid() + ")" : " (" + processes.size() + " processes)");
	}

	private void offerToEnd(boolean on) {
		if (endProgram.getVisible() != on) {
			endProgram.setVisible(on);
			((GridData) endProgram.getLayoutData()).exclude = !on;
			endProgram.getParent().layout();
		}
		endProgram.setData(null);
	}

	/** Asks what is left of the program to end; what was asked before is killed. */
	private void endOrphans() {
		boolean again = endProgram.getData() != null;
		endProgram.setData(Boolean.TRUE);
		status.setText(again ? "The program is killed." : "The program is asked to end (SIGTERM).");
		for (ProcessHandle p : orphans) {
			if (again) {
				p.destroyForcibly();
			} else {
				p.destroy();
			}
		}
		if (!again) {
			watchOrphans();
		}
	}

	private void watchOrphans() {
		if (endProgram.isDisposed() || orphans.isEmpty()) {
			return; // something else is recorded meanwhile
		}
		if (orphans.stream().noneMatch(Orphans::isRunning)) {
			offerToEnd(false);
			status.setText("The program has ended.");
		} else {
			display.timerExec(REFRESH_MS, this::watchOrphans);
		}
	}

	private void fail(String message) {
		flush();
		over = true;
		status.setText("");
		bar.setSelection(0);
		setErrorMessage(message);
		setTitle("Nothing was recorded");
		setPageComplete(true);
		getContainer().updateButtons();
	}

	private void show(LiveCounters.Counts c) {
		set(1, count(c.intervals()) + (c.images() > 1 ? "  (" + c.images() + " images)" : ""));
		set(2, count(c.records()));
		set(3, count(c.faults()));
		set(4, count(c.lost()));
		values[LOST].setForeground(c.lost() > 0 ? JFaceColors.getErrorText(getControl().getDisplay()) : null);
		set(5, Double.isNaN(c.overhead()) ? "–" : String.format(Locale.ROOT, "%.1f %%", 100 * c.overhead()));
		set(6, c.targetNs() == 0 ? "–" : Units.duration(c.targetNs()));
		set(7, c.residentBytes() == 0 ? "–" : Units.bytes(c.residentBytes()));
		activity.show(c.history());
	}

	private void set(int i, String text) {
		if (!values[i].getText().equals(text)) {
			values[i].setText(text);
		}
	}

	private static String count(long n) {
		return String.format(Locale.ROOT, "%,d", n);
	}

	private void print(String text) {
		unseen.append(text);
		flush();
	}

	/** Shows what was printed; of much output the end. */
	private void flush() {
		String text;
		synchronized (unseen) {
			text = unseen.toString();
			unseen.setLength(0);
		}
		if (text.isEmpty()) {
			return;
		}
		String all = text.length() > MAX_CONSOLE ? text.substring(text.length() - MAX_CONSOLE) : text;
		if (console.getCharCount() + all.length() > MAX_CONSOLE) {
			String kept = console.getText();
			console.setText(kept.substring(Math.max(0, kept.length() + all.length() - MAX_CONSOLE / 2)));
		}
		console.append(all);
	}

	/** One page back only when nothing runs: to change something and try again. */
	@Override
	public IWizardPage getPreviousPage() {
		return wizard.getPreviousPage(this);
	}

	/** Nothing runs and nothing is imported. */
	boolean isOver() {
		return over;
	}

	boolean isRecording() {
		return recording != null && recording.isRunning();
	}

	Path trace() {
		return recording == null ? null : recording.trace();
	}

	/** What pressing Cancel does now. */
	String stopLabel() {
		if (over) {
			return IDialogConstants.CANCEL_LABEL;
		}
		return importing ? "Cancel import" : !isRecording() || !recording.isStopping() ? "&Stop" : "&Terminate";
	}

	/** Ends what is going on: the program, and with a further press more rudely; then the import. */
	void stop() {
		if (isRecording()) {
			status.setText(recording.isStopping() ? "The program is terminated." : "The program is asked to end (as by Ctrl-C).");
			recording.stop();
		} else {
			finishing.cancel();
			fail("The import was cancelled; the trace is in " + trace() + ".");
		}
	}

	/** The window goes away: the program is asked to end, nothing is imported. */
	void abandon() {
		finishing.cancel();
		recording.stop();
		over = true;
	}
}
