// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.machine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.eclipse.jface.dialogs.Dialog;
import org.eclipse.jface.dialogs.IDialogConstants;
import org.eclipse.jface.dialogs.MessageDialog;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.FileDialog;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.swt.widgets.Text;
import org.eclipse.ui.IWorkbenchWindow;
import org.eclipse.ui.PlatformUI;
import org.memtrace.analysis.machine.MachineMonitors;
import org.memtrace.analysis.machine.MachineTopology;
import org.memtrace.analysis.text.Units;
import org.memtrace.importer.ImportOperation;
import org.memtrace.importer.live.LiveMonitors;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.importer.record.Installation;
import org.memtrace.importer.record.MonitorSettings;
import org.memtrace.importer.record.Recording;
import org.memtrace.importer.record.ShellWords;
import org.memtrace.model.CancelledException;
import org.memtrace.model.LiveValues;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.storage.Stores;
import org.memtrace.topology.Hwloc;
import org.memtrace.views.jobs.KeptWork;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.jobs.OnDisplay;
import org.memtrace.views.session.RecordHistory;
import org.memtrace.views.session.Session;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.util.Buttons;

/**
 * Starts {@code memtrace monitor}, draws its values on the machine as they come, and imports them at the end. One for a workbench window,
 * not modal.
 */
public final class MonitorDialog extends Dialog {
	private static final String KEY = MonitorDialog.class.getName();
	private static final String TITLE = "Monitor the machine";
	private static final int REFRESH_MS = 100;
	private static final String FOLDER = "recordings";

	/** A run, and who reads what it writes; both are used by jobs. */
	private record Run(Recording recording, LiveMonitors reader) {
	}

	private final Session session;
	private Text definition;
	private Text program;
	private Text period;
	private Button runningOnly;
	private MachineCanvas canvas;
	private ReplayBar bar;
	private Label status;
	/** Null while nothing runs. */
	private Run run;
	private boolean busy;
	/** Null until it was asked for. */
	private DefinitionDialog editor;
	/** Of the run; read once, by the job that follows. */
	private volatile MachineTopology topology;
	private LatestResult<MonitorSettings, ImportReport> running;
	private LatestResult<Run, MachineMonitors> following;

	private MonitorDialog(IWorkbenchWindow window) {
		super(window.getShell());
		session = window.getService(Session.class);
		setShellStyle(SWT.CLOSE | SWT.TITLE | SWT.BORDER | SWT.RESIZE | SWT.MODELESS | getDefaultOrientation());
		setBlockOnOpen(false);
	}

	/** Opens it, or brings the one in front that is open. */
	public static MonitorDialog open(IWorkbenchWindow window) {
		Shell parent = window.getShell();
		if (parent.getData(KEY) instanceof MonitorDialog open && open.getShell() != null && !open.getShell().isDisposed()) {
			open.getShell().setMinimized(false);
			open.getShell().forceActive();
			return open;
		}
		MonitorDialog dialog = new MonitorDialog(window);
		parent.setData(KEY, dialog);
		dialog.open();
		return dialog;
	}

	@Override
	protected void configureShell(Shell shell) {
		super.configureShell(shell);
		shell.setText(TITLE);
		PlatformUI.getWorkbench().getHelpSystem().setHelp(shell, "org.memtrace.views.machine");
	}

	@Override
	protected boolean isResizable() {
		return true;
	}

	@Override
	protected Control createDialogArea(Composite parent) {
		Composite area = (Composite) super.createDialogArea(parent);
		Composite form = new Composite(area, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(4).spacing(6, 4).applyTo(form);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(form);
		definition = field(form, "&Definitions:", "a file; empty: load of each CPU, memory of each node");
		Buttons.push(form, "&Browse…", null, () -> {
			FileDialog dialog = new FileDialog(getShell(), SWT.OPEN);
			dialog.setText("Definitions of monitors");
			String file = dialog.open();
			if (file != null) {
				definition.setText(file);
			}
		});
		Buttons.push(form, "&Edit…", "Write definitions of monitors, with proposals and checks", this::edit);
		program = field(form, "&Program:", "and its arguments, as in a shell; empty: the machine until Stop");
		runningOnly = new Button(form, SWT.CHECK);
		runningOnly.setText("&only where it runs");
		runningOnly.setToolTipText("Places where the program does not run have no values; perf counts it alone, which needs no privileges");
		GridDataFactory.fillDefaults().span(2, 1).applyTo(runningOnly);
		period = field(form, "P&eriod:", "100ms");
		period.setText("100ms");

		Composite picture = new Composite(area, SWT.NONE);
		GridLayoutFactory.fillDefaults().spacing(0, 0).applyTo(picture);
		GridDataFactory.fillDefaults().grab(true, true).hint(1000, 420).applyTo(picture);
		canvas = new MachineCanvas(picture, (object, add) -> {
			// values of monitors are not filtered by places
		});
		GridDataFactory.fillDefaults().grab(true, true).applyTo(canvas);
		bar = new ReplayBar(picture, canvas::show);
		canvas.message("The values of the monitors will be here, on the parts of this machine.");
		status = new Label(area, SWT.WRAP);
		Accessibility.name(status, "State of the monitors");
		GridDataFactory.fillDefaults().grab(true, false).hint(600, 2 * status.computeSize(SWT.DEFAULT, SWT.DEFAULT).y).applyTo(status);
		makeJobs();
		area.addDisposeListener(e -> {
			if (run != null && run.recording().isRunning()) {
				run.recording().stop();
			}
		});
		return area;
	}

	private static Text field(Composite form, String name, String hint) {
		new Label(form, SWT.NONE).setText(name);
		Text text = new Text(form, SWT.BORDER);
		text.setMessage(hint);
		Accessibility.name(text, name.replace("&", ""));
		GridDataFactory.fillDefaults().grab(true, false).align(SWT.FILL, SWT.CENTER).applyTo(text);
		return text;
	}

	@Override
	protected void createButtonsForButtonBar(Composite parent) {
		createButton(parent, IDialogConstants.OK_ID, "&Start", true);
		createButton(parent, IDialogConstants.CANCEL_ID, IDialogConstants.CLOSE_LABEL, false);
	}

	private void makeJobs() {
		running = new LatestResult<>("Monitor", canvas, LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected ImportReport compute(MonitorSettings settings, Progress progress) throws MemtraceException {
				return measure(settings, progress);
			}

			@Override
			protected void show(MonitorSettings settings, ImportReport report) {
				ended("The values are in the list of traces as " + report.trace().alias() + ".");
				session.catalogueChanged();
				session.opener().open(report.trace());
			}

			@Override
			protected void failed(MonitorSettings settings, String message) {
				ended(message);
			}
		};
		following = new LatestResult<>("Values of monitors", canvas, LatestResult.Policy.KEEP_UP) {
			@Override
			protected MachineMonitors compute(Run of, Progress progress) throws MemtraceException {
				LiveValues values = of.reader().read();
				if (values.samples() == 0) {
					return null;
				}
				if (topology == null) {
					topology = values.topology() == null ? Hwloc.load().live() : Hwloc.load().read(values.topology(), "topology of the monitors");
				}
				return MachineMonitors.of(topology, values, "monitors");
			}

			@Override
			protected void show(Run of, MachineMonitors monitors) {
				if (of == run && monitors != null) {
					bar.show(monitors, 0, monitors.info().endNs());
					status.setText(Units.plural(monitors.samples().length, "sample") + " to look at.");
				}
			}

			@Override
			protected void failed(Run of, String message) {
				canvas.message(message);
			}
		};
	}

	/** Runs the monitors to their end, then imports what they wrote; on a job thread. */
	private ImportReport measure(MonitorSettings settings, Progress progress) throws MemtraceException {
		Installation installation = Installation.find(RecordHistory.launcher());
		if (installation.problem() != null) {
			throw new MemtraceException(installation.problem());
		}
		Path folder = folder();
		Path output = folder.resolve("monitors.txt");
		for (int i = 2; !LiveMonitors.files(output).isEmpty(); i++) {
			output = folder.resolve("monitors-" + i + ".txt");
		}
		Recording recording = Recording.start(installation.launcher().toString(), settings.withOutput(output.toString()),
				(text, error) -> {
					// what is wrong is kept by the recording
				});
		try (LiveMonitors reader = new LiveMonitors(output, LiveMonitors.USUAL_SAMPLES)) {
			Run now = new Run(recording, reader);
			OnDisplay.later(canvas, () -> begun(now));
			while (!recording.waitFor(50)) {
				progress.check();
			}
			Recording.Result result = recording.result();
			List<Path> files = LiveMonitors.files(output);
			if (files.isEmpty()) {
				throw new MemtraceException(result.message());
			}
			return KeptWork.run("Import of " + output.getFileName(),
					() -> new ImportOperation(files, System.in, session.catalogue()::create).call(progress));
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
			throw new CancelledException();
		}
	}

	private Path folder() throws MemtraceException {
		Path catalogue = session.catalogue().directory();
		Path folder = (catalogue == null ? Stores.defaultCatalogueDirectory() : catalogue).toAbsolutePath().resolve(FOLDER);
		try {
			return Files.createDirectories(folder);
		} catch (IOException e) {
			throw new MemtraceException(folder + ", in which the values were to be, cannot be made: " + e.getMessage(), e);
		}
	}

	/** The process runs. */
	private void begun(Run now) {
		if (canvas.isDisposed()) {
			now.recording().stop();
			return;
		}
		run = now;
		update();
		tick(now);
	}

	private void tick(Run of) {
		if (!canvas.isDisposed() && run == of) {
			following.submit(of);
			canvas.getDisplay().timerExec(REFRESH_MS, () -> tick(of));
		}
	}

	private void ended(String message) {
		run = null;
		busy = false;
		status.setText(message);
		update();
	}

	private void update() {
		Button start = getButton(IDialogConstants.OK_ID);
		start.setText(busy ? "&Stop" : "&Start");
		start.setEnabled(!busy || run != null);
		for (Control c : List.of(definition, program, period, runningOnly)) {
			c.setEnabled(!busy);
		}
	}

	@Override
	protected void okPressed() {
		if (busy) {
			status.setText("The monitors are asked to end.");
			run.recording().stop();
			return;
		}
		MonitorSettings settings;
		try {
			settings = new MonitorSettings(definition.getText().strip(), period.getText().strip(), ShellWords.split(program.getText()),
					runningOnly.getSelection(), "");
		} catch (IllegalArgumentException e) {
			status.setText(e.getMessage());
			return;
		}
		String problem = settings.problem();
		if (problem != null) {
			status.setText(problem);
			return;
		}
		busy = true;
		topology = null;
		bar.hide();
		canvas.message("The monitors begin…");
		status.setText("");
		update();
		running.submit(settings);
	}

	/** Opens the editor with the definitions, or brings it in front. */
	DefinitionDialog edit() {
		if (editor == null || editor.getShell() == null || editor.getShell().isDisposed()) {
			editor = new DefinitionDialog(getShell(), definition.getText().strip(), this::measure);
			editor.open();
		}
		editor.getShell().setActive();
		return editor;
	}

	/** What the editor has saved. */
	private void measure(Path file) {
		if (busy) {
			MessageDialog.openInformation(editor.getShell(), "Measure", "Monitors are measuring already. Stop them first.");
			return;
		}
		definition.setText(file.toString());
		getShell().setActive();
		okPressed();
	}

	@Override
	protected void cancelPressed() {
		handleShellCloseEvent();
	}

	@Override
	protected void handleShellCloseEvent() {
		if (run != null && run.recording().isRunning() && MessageDialog.open(MessageDialog.QUESTION, getShell(), "Stop the monitors?",
				"They are still measuring. What they wrote until now is kept as a file, and can be imported.", SWT.SHEET, "Stop monitors",
				"Go on") != 0) {
			return;
		}
		if (editor != null && editor.getShell() != null && !editor.getShell().isDisposed()) {
			editor.handleShellCloseEvent();
			if (editor.getShell() != null) {
				return; // somebody wants to save first
			}
		}
		running.cancel();
		setReturnCode(CANCEL);
		close();
	}

	/** For tests. */
	MachineCanvas canvas() {
		return canvas;
	}

	/** For tests. */
	ReplayBar bar() {
		return bar;
	}

	/** For tests: nothing is measured or imported. */
	boolean isIdle() {
		return !busy;
	}

	/** For tests. */
	String status() {
		return status.getText();
	}

	/** For tests: what would be typed. */
	void fill(String definitions, String command, String every) {
		definition.setText(definitions);
		program.setText(command);
		period.setText(every);
	}

	/** For tests: as a click on Start or Stop. */
	void press() {
		okPressed();
	}
}
