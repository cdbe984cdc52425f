// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.record;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.wizard.WizardPage;
import org.eclipse.swt.SWT;
import org.eclipse.swt.custom.StackLayout;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.DirectoryDialog;
import org.eclipse.swt.widgets.FileDialog;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Table;
import org.eclipse.swt.widgets.TableColumn;
import org.eclipse.swt.widgets.TableItem;
import org.eclipse.swt.widgets.Text;
import org.memtrace.importer.record.CheckResult;
import org.memtrace.importer.record.Example;
import org.memtrace.importer.record.RecordOption;
import org.memtrace.importer.record.RecordSettings;
import org.memtrace.importer.record.ShellWords;
import org.memtrace.views.session.RecordHistory;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.util.Buttons;
import org.memtrace.views.util.CommandBar;

/** What to record: a program, a bundled example, or a process that runs already. */
final class ProgramPage extends WizardPage {
	/** The three kinds of things that one can record. */
	enum Kind {
		PROGRAM("A &program"), EXAMPLE("A bundled &example"), PROCESS("A running proce&ss");

		private final String label;

		Kind(String label) {
			this.label = label;
		}
	}

	private static final int TABLE_HEIGHT = 190;

	private final RecordWizard wizard;
	private final Map<Kind, Button> kinds = new LinkedHashMap<>();
	private final Map<Kind, Control> sections = new LinkedHashMap<>();
	private final List<RecordSettings> recent = RecordHistory.recent();
	private Combo recentCombo;
	private Composite stack;
	private StackLayout stackLayout;
	private Text program;
	private Text arguments;
	private Text directory;
	private Text environment;
	private Table examples;
	private Label lesson;
	private ProcessTable processes;
	private CommandBar command;
	private Composite locate;
	private Label locateText;

	ProgramPage(RecordWizard wizard) {
		super("program");
		this.wizard = wizard;
		setTitle("Record a program");
		setDescription("What shall be recorded? The program runs unchanged.");
	}

	@Override
	public void createControl(Composite parent) {
		Composite c = new Composite(parent, SWT.NONE);
		GridLayoutFactory.swtDefaults().numColumns(1).margins(10, 8).spacing(6, 10).applyTo(c);

		Composite top = new Composite(c, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(2 + Kind.values().length).spacing(14, 6).applyTo(top);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(top);
		for (Kind kind : Kind.values()) {
			Button button = new Button(top, SWT.RADIO);
			button.setText(kind.label);
			button.addListener(SWT.Selection, e -> {
				if (button.getSelection()) {
					showSection(kind);
				}
			});
			kinds.put(kind, button);
		}
		Label recentLabel = new Label(top, SWT.NONE);
		recentLabel.setText("Recen&t:");
		GridDataFactory.fillDefaults().grab(true, false).align(SWT.END, SWT.CENTER).applyTo(recentLabel);
		recentCombo = new Combo(top, SWT.READ_ONLY);
		GridDataFactory.fillDefaults().hint(230, SWT.DEFAULT).applyTo(recentCombo);
		for (RecordSettings r : recent) {
			recentCombo.add(RecordWizard.describe(r));
		}
		recentCombo.setEnabled(!recent.isEmpty());
		recentCombo.setToolTipText("Fill both pages as in an earlier recording");
		recentCombo.addListener(SWT.Selection, e -> {
			if (recentCombo.getSelectionIndex() >= 0) {
				wizard.fill(recent.get(recentCombo.getSelectionIndex()));
			}
		});

		stack = new Composite(c, SWT.NONE);
		stackLayout = new StackLayout();
		stack.setLayout(stackLayout);
		GridDataFactory.fillDefaults().grab(true, true).applyTo(stack);
		sections.put(Kind.PROGRAM, programSection());
		sections.put(Kind.EXAMPLE, exampleSection());
		processes = new ProcessTable(stack, this::changed);
		sections.put(Kind.PROCESS, processes);

		makeLocate(c);

		command = new CommandBar(c, "The same in a terminal:", 3);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(command);
		setControl(c);
		select(Kind.PROGRAM);
		setPageComplete(false);
	}

	/** Asks for the recorder, where it is not found. */
	private void makeLocate(Composite c) {
		locate = new Composite(c, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(2).applyTo(locate);
		GridDataFactory.fillDefaults().grab(true, false).exclude(true).applyTo(locate);
		locate.setVisible(false);
		locateText = new Label(locate, SWT.WRAP);
		locateText.setText("Where is the program memtrace?");
		GridDataFactory.fillDefaults().grab(true, false).align(SWT.FILL, SWT.CENTER).applyTo(locateText);
		Buttons.push(locate, "&Locate memtrace…", null, () -> {
			FileDialog dialog = new FileDialog(getShell(), SWT.OPEN);
			dialog.setText("The program memtrace");
			String file = dialog.open();
			if (file != null) {
				RecordHistory.launcher(file);
				wizard.look();
			}
		});
	}

	private Control programSection() {
		Composite c = new Composite(stack, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(3).spacing(8, 8).applyTo(c);
		program = field(c, "&Program:", "./app, or the name of a program in PATH");
		Buttons.push(c, "&Browse…", null, () -> {
			FileDialog dialog = new FileDialog(getShell(), SWT.OPEN);
			dialog.setText("Program to record");
			String chosen = dialog.open();
			if (chosen != null) {
				program.setText(chosen);
			}
		});
		arguments = field(c, "&Arguments:", "as in a shell: -n 4 'two words'");
		span(arguments);
		directory = field(c, "&Working directory:", "the folder of the program");
		Buttons.push(c, "Br&owse…", null, () -> {
			DirectoryDialog dialog = new DirectoryDialog(getShell());
			dialog.setText("Working directory of the program");
			String chosen = dialog.open();
			if (chosen != null) {
				directory.setText(chosen);
			}
		});
		Label label = new Label(c, SWT.NONE);
		label.setText("En&vironment:");
		GridDataFactory.fillDefaults().align(SWT.BEGINNING, SWT.BEGINNING).indent(0, 4).applyTo(label);
		environment = new Text(c, SWT.BORDER | SWT.MULTI | SWT.V_SCROLL | SWT.H_SCROLL);
		environment.setToolTipText("Variables that the program gets besides those of the workbench, one per line: NAME=value");
		GridDataFactory.fillDefaults().grab(true, true).span(2, 1).hint(300, 5 * environment.getLineHeight()).applyTo(environment);
		environment.addModifyListener(e -> changed());
		new Label(c, SWT.NONE);
		Label hint = new Label(c, SWT.WRAP);
		hint.setText("One variable per line, such as OMP_NUM_THREADS=4. Programs that are compiled with -g get the names of their data.");
		hint.setForeground(getShell().getDisplay().getSystemColor(SWT.COLOR_WIDGET_DISABLED_FOREGROUND));
		GridDataFactory.fillDefaults().grab(true, false).span(2, 1).hint(300, SWT.DEFAULT).applyTo(hint);
		return c;
	}

	private Text field(Composite c, String label, String message) {
		new Label(c, SWT.NONE).setText(label);
		Text text = new Text(c, SWT.BORDER);
		text.setMessage(message);
		GridDataFactory.fillDefaults().grab(true, false).align(SWT.FILL, SWT.CENTER).applyTo(text);
		text.addModifyListener(e -> changed());
		return text;
	}

	private static void span(Text text) {
		GridDataFactory.fillDefaults().grab(true, false).span(2, 1).applyTo(text);
	}

	private Control exampleSection() {
		Composite c = new Composite(stack, SWT.NONE);
		GridLayoutFactory.fillDefaults().spacing(6, 8).applyTo(c);
		examples = new Table(c, SWT.BORDER | SWT.SINGLE | SWT.FULL_SELECTION | SWT.V_SCROLL);
		Accessibility.name(examples, "Bundled examples");
		examples.setHeaderVisible(true);
		GridDataFactory.fillDefaults().grab(true, true).hint(500, TABLE_HEIGHT).applyTo(examples);
		String[] titles = { "Example", "Program" };
		int[] widths = { 380, 220 };
		for (int i = 0; i < titles.length; i++) {
			TableColumn column = new TableColumn(examples, SWT.NONE);
			column.setText(titles[i]);
			column.setWidth(widths[i]);
		}
		for (Example e : Example.ALL) {
			new TableItem(examples, SWT.NONE).setText(new String[] { e.title(), e.traceName() });
		}
		examples.select(0);
		examples.addListener(SWT.Selection, e -> changed());
		lesson = new Label(c, SWT.WRAP);
		GridDataFactory.fillDefaults().grab(true, false).hint(500, 3 * environment.getLineHeight()).applyTo(lesson);
		return c;
	}

	private void select(Kind kind) {
		kinds.forEach((k, button) -> button.setSelection(k == kind));
		showSection(kind);
	}

	private void showSection(Kind kind) {
		stackLayout.topControl = sections.get(kind);
		stack.layout();
		if (kind == Kind.PROCESS) {
			processes.refresh();
		}
		changed();
	}

	private Kind kind() {
		return kinds.entrySet().stream().filter(e -> e.getValue().getSelection()).map(Map.Entry::getKey).findFirst()
				.orElse(Kind.PROGRAM);
	}

	private Example example() {
		return Example.ALL.get(Math.max(0, examples.getSelectionIndex()));
	}

	/** Shows what an earlier recording had. */
	void fill(RecordSettings s) {
		if (s.pid() > 0) {
			select(Kind.PROCESS);
			processes.select(s.pid());
			return;
		}
		for (int i = 0; i < Example.ALL.size(); i++) {
			Example e = Example.ALL.get(i);
			Path file = wizard.example(e);
			if (file != null && s.program().equals(file.toString()) && s.arguments().equals(e.words())) {
				examples.select(i);
				select(Kind.EXAMPLE);
				return;
			}
		}
		program.setText(s.program());
		arguments.setText(ShellWords.join(s.arguments()));
		directory.setText(s.directory());
		environment.setText(String.join("\n", s.environment().entrySet().stream().map(e -> e.getKey() + "=" + e.getValue()).toList()));
		select(Kind.PROGRAM);
	}

	private void changed() {
		if (command != null) {
			wizard.changed();
		}
	}

	/** Options that suit what is chosen. */
	Map<RecordOption, String> wishes() {
		return kind() == Kind.EXAMPLE ? example().settings(Path.of("example"), Path.of("")).options() : Map.of();
	}

	/** What is chosen here, without output and options; null when it is not complete, {@link #problem} says why. */
	RecordSettings settings() {
		if (kind() == Kind.EXAMPLE) {
			Path file = wizard.example(example());
			return file == null || wizard.machine() == null ? null : example().settings(file, wizard.machine().recordings());
		}
		if (kind() == Kind.PROCESS) {
			long pid = processes.selected();
			return pid == 0 ? null : new RecordSettings(pid, "", List.of(), "", Map.of(), "", Map.of());
		}
		try {
			String name = program.getText().strip();
			if (name.isEmpty()) {
				return null;
			}
			String folder = directory.getText().strip();
			if (folder.isEmpty() && name.indexOf('/') >= 0) {
				Path parent = Path.of(name).toAbsolutePath().getParent();
				folder = parent == null ? "" : parent.toString();
				name = Path.of(name).toAbsolutePath().toString();
			}
			return new RecordSettings(0, home(name), ShellWords.split(arguments.getText()), home(folder), variables(), "", Map.of());
		} catch (IllegalArgumentException e) { // also of paths
			return null;
		}
	}

	private static String home(String path) {
		return path.startsWith("~/") ? System.getProperty("user.home") + path.substring(1) : path;
	}

	/** Why nothing can be recorded yet. */
	static final String LOOKING = "Record is grey until it is known what works on this machine, in a moment.";

	/** What the user must do, one sentence; null when nothing is missing. Empty: not begun, so say nothing. */
	String problem() {
		if (kind() == Kind.EXAMPLE) {
			return wizard.machine() == null || wizard.example(example()) != null ? null
					: "The example programs are not here; in a checkout 'make -C examples' builds them.";
		}
		if (kind() == Kind.PROCESS) {
			CheckResult check = wizard.machine() == null ? null : wizard.machine().check();
			List<CheckResult.Backend> able = check == null ? List.of() : check.with(CheckResult.RUNNING_PROCESS);
			if (check != null && able.stream().allMatch(b -> b.works() == CheckResult.Works.NO)) {
				return able.isEmpty() ? "This recorder cannot record a running process."
						: "A running process can be recorded with the collector " + able.get(0).label() + " only: "
								+ able.get(0).why() + ".";
			}
			return processes.selected() == 0 ? "" : null;
		}
		try {
			ShellWords.split(arguments.getText());
			variables();
			Path.of(directory.getText().strip());
		} catch (InvalidPathException e) {
			return "The working directory is not a path.";
		} catch (IllegalArgumentException e) {
			return e.getMessage();
		}
		return program.getText().isBlank() ? "" : null;
	}

	private Map<String, String> variables() {
		Map<String, String> map = new LinkedHashMap<>();
		List<String> lines = new ArrayList<>(environment.getText().lines().map(String::strip).filter(l -> !l.isEmpty()).toList());
		for (String line : lines) {
			int equals = line.indexOf('=');
			if (equals <= 0 || !line.substring(0, equals).matches("[A-Za-z_][A-Za-z0-9_]*")) {
				throw new IllegalArgumentException("'" + line + "' in the environment is not of the form NAME=value.");
			}
			map.put(line.substring(0, equals), line.substring(equals + 1));
		}
		return map;
	}

	/** Follows what was changed on any page. */
	void update(RecordSettings now, String problem) {
		Example e = example();
		lesson.setText(e.lesson());
		command.command(now == null ? "" : now.shellText());
		Machine machine = wizard.machine();
		boolean missing = machine != null && machine.problem() != null && File.separatorChar == '/'
				&& Files.isDirectory(Path.of("/proc/self"));
		if (locate.getVisible() != missing) {
			locate.setVisible(missing);
			((org.eclipse.swt.layout.GridData) locate.getLayoutData()).exclude = !missing;
			locate.getParent().layout();
		}
		setErrorMessage(problem == null || problem.isEmpty() ? null : problem);
		// what is not begun is no error, but a button that is grey says why
		setMessage(problem != null && problem.isEmpty() ? toDo() : machine == null ? LOOKING : null, INFORMATION);
		setPageComplete(problem == null);
	}

	/** What is to be done before anything can be recorded, one sentence. */
	String toDo() {
		return kind() == Kind.PROCESS ? "Record is grey until a process is chosen in the list." : "Record is grey until a program is named.";
	}

	/** What works on this machine is on the next page, and may be asked for before a program is chosen. */
	@Override
	public boolean canFlipToNextPage() {
		return true;
	}

	@Override
	public void setVisible(boolean visible) {
		super.setVisible(visible);
		if (visible && kind() == Kind.PROGRAM) {
			program.setFocus();
		}
	}
}
