// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.record;

import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.wizard.WizardPage;
import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.DirectoryDialog;
import org.eclipse.swt.widgets.Group;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Text;
import org.eclipse.swt.widgets.Tree;
import org.eclipse.swt.widgets.TreeColumn;
import org.eclipse.swt.widgets.TreeItem;
import org.memtrace.importer.record.CheckResult;
import org.memtrace.importer.record.CheckResult.Works;
import org.memtrace.importer.record.RecordOption;
import org.memtrace.importer.record.RecordSettings;
import org.memtrace.views.preferences.Settings;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.util.Buttons;
import org.memtrace.views.util.CommandBar;

/** How to record: the collectors with what `memtrace check` says about them, and the options of the recorder. */
final class CollectorPage extends WizardPage {
	private static final int[] WIDTHS = { 190, 80, 440 };
	private static final int TREE_ROWS = 8;

	private final RecordWizard wizard;
	private final Map<RecordOption, Text> texts = new EnumMap<>(RecordOption.class);
	private final Map<RecordOption, Button> checks = new EnumMap<>(RecordOption.class);
	private Tree tree;
	private Label why;
	private CommandBar fix;
	private Composite fixArea;
	private Text output;
	private CommandBar command;
	private String backend = Settings.recording(RecordOption.BACKEND);
	private Map<RecordOption, String> preset = Map.of();

	CollectorPage(RecordWizard wizard) {
		super("collector");
		this.wizard = wizard;
		setTitle("How to record");
		setDescription("The collector, the resolution in time, and where the trace goes.");
	}

	@Override
	public void createControl(Composite parent) {
		Composite c = new Composite(parent, SWT.NONE);
		GridLayoutFactory.swtDefaults().margins(10, 8).spacing(6, 9).applyTo(c);

		makeTree(c);
		why = new Label(c, SWT.WRAP);
		GridDataFactory.fillDefaults().grab(true, false).hint(720, 2 * tree.getItemHeight()).applyTo(why);
		fixArea = new Composite(c, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(2).spacing(6, 0).applyTo(fixArea);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(fixArea);
		fix = new CommandBar(fixArea, "To make it work, run this in a terminal, and check again:", 1);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(fix);
		Button again = Buttons.push(fixArea, "Chec&k again", null, () -> wizard.look());
		GridDataFactory.fillDefaults().align(SWT.FILL, SWT.END).applyTo(again);

		Group time = group(c, "Resolution and cost", 6);
		field(time, RecordOption.INTERVAL, "&Interval:", "Length of a monitoring interval, the resolution in time");
		field(time, RecordOption.SUBPHASES, "S&ubphases:",
				"Parts of an interval in which a page may be seen again: more find more of the threads that share a page");
		field(time, RecordOption.MAX_OVERHEAD, "O&verhead limit:",
				"Budget of recording, as a share of the program's CPU time; above it intervals become longer. 0: no limit");
		field(time, RecordOption.MIN_ALLOC, "Smallest &allocation:", "Smaller allocations do not become structures");
		field(time, RecordOption.MIN_STATIC, "Smallest stat&ic:", "Smaller variables do not become structures");
		field(time, RecordOption.STACK_DEPTH, "Stack &depth:", "Frames kept of the call stack of an allocation");
		Composite flags = new Composite(time, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(5).spacing(16, 0).applyTo(flags);
		GridDataFactory.fillDefaults().span(6, 1).grab(true, false).applyTo(flags);
		check(flags, RecordOption.WRITE_TRACKING, "First &writes", "Also see the first write after a read of the same page, where the collector can tell");
		check(flags, RecordOption.PHYSICAL, "&Physical addresses (root)", "Record the physical address of each page as well");
		check(flags, RecordOption.COMPRESS, "Co&mpress", "Compress the accesses with zstd at the end");
		field(flags, RecordOption.DURATION, "&End after:", "For a running process: how long to record; empty until it ends");

		Composite names = new Composite(c, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(3).spacing(8, 6).applyTo(names);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(names);
		wide(names, RecordOption.NAME, "Name o&f the trace:", "name of the program");
		wide(names, RecordOption.PURPOSE, "Purpo&se:", "why it is recorded: a hypothesis, an expectation");
		new Label(names, SWT.NONE).setText("&Trace directory:");
		output = new Text(names, SWT.BORDER);
		GridDataFactory.fillDefaults().grab(true, false).align(SWT.FILL, SWT.CENTER).applyTo(output);
		output.addModifyListener(e -> wizard.changed());
		Buttons.push(names, "Br&owse…", null, () -> browse());

		command = new CommandBar(c, "The same in a terminal:", 3);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(command);
		setControl(c);
		machine(wizard.machine());
	}

	private void makeTree(Composite c) {
		tree = new Tree(c, SWT.BORDER | SWT.SINGLE | SWT.FULL_SELECTION);
		Accessibility.name(tree, "Collectors");
		tree.setHeaderVisible(true);
		String[] titles = { "Collector", "Works", "What it records, or why it does not work" };
		for (int i = 0; i < titles.length; i++) {
			TreeColumn column = new TreeColumn(tree, SWT.NONE);
			column.setText(titles[i]);
			column.setWidth(WIDTHS[i]);
		}
		GridDataFactory.fillDefaults().grab(true, true).hint(720, TREE_ROWS * tree.getItemHeight()).applyTo(tree);
		tree.addListener(SWT.Selection, e -> {
			if (!(e.item instanceof TreeItem item)) {
				return;
			}
			TreeItem top = item.getParentItem() == null ? item : item.getParentItem();
			backend = (String) top.getData();
			why.setText(item.getText(2));
			wizard.changed();
		});
	}

	private void browse() {
		DirectoryDialog dialog = new DirectoryDialog(getShell());
		dialog.setText("Folder in which the trace directory is made");
		String chosen = dialog.open();
		if (chosen != null) {
			RecordSettings now = wizard.settings();
			output.setText(RecordSettings.freeDirectory(Path.of(chosen), now == null ? "" : now.baseName()).toString());
		}
	}

	private static Group group(Composite parent, String title, int columns) {
		Group group = new Group(parent, SWT.NONE);
		group.setText(title);
		GridLayoutFactory.swtDefaults().numColumns(columns).margins(8, 6).spacing(8, 6).applyTo(group);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(group);
		return group;
	}

	private void field(Composite parent, RecordOption option, String label, String help) {
		Label l = new Label(parent, SWT.NONE);
		l.setText(label);
		l.setToolTipText(help);
		Text text = new Text(parent, SWT.BORDER);
		text.setText(Settings.recording(option));
		text.setToolTipText(help + "  (--" + option.optionName() + ")");
		GridDataFactory.fillDefaults().hint(70, SWT.DEFAULT).align(SWT.BEGINNING, SWT.CENTER).applyTo(text);
		text.addModifyListener(e -> wizard.changed());
		texts.put(option, text);
	}

	private void wide(Composite parent, RecordOption option, String label, String message) {
		new Label(parent, SWT.NONE).setText(label);
		Text text = new Text(parent, SWT.BORDER);
		text.setMessage(message);
		GridDataFactory.fillDefaults().grab(true, false).span(2, 1).applyTo(text);
		text.addModifyListener(e -> wizard.changed());
		texts.put(option, text);
	}

	private void check(Composite parent, RecordOption option, String label, String help) {
		Button button = new Button(parent, SWT.CHECK);
		button.setText(label);
		button.setToolTipText(help + "  (--" + option.optionName() + ")");
		button.setSelection(option.defaultText().equals("on"));
		button.addListener(SWT.Selection, e -> wizard.changed());
		checks.put(option, button);
	}

	/** Shows what was found out about this machine; null: it is being found out. */
	void machine(Machine machine) {
		if (tree == null || tree.isDisposed()) {
			return;
		}
		CheckResult result = machine == null ? null : machine.check();
		tree.setRedraw(false);
		tree.removeAll();
		TreeItem automatic = new TreeItem(tree, SWT.NONE);
		CheckResult.Backend best = result == null ? null : result.backend(CheckResult.AUTOMATIC);
		automatic.setText(new String[] { "Automatic", machine == null ? "…" : best == null ? "?" : word(best.works()),
				machine == null ? "is being checked" : best != null ? "takes " + result.automatic() + ": " + result.reason()
						: machine.problem() != null ? machine.problem() : "" });
		offer(automatic, CheckResult.AUTOMATIC);
		for (CheckResult.Backend b : result == null ? List.<CheckResult.Backend>of() : result.backends()) {
			TreeItem item = new TreeItem(tree, SWT.NONE);
			item.setText(new String[] { b.label(), word(b.works()), b.why() });
			for (CheckResult.Facility f : b.facilities()) {
				new TreeItem(item, SWT.NONE).setText(new String[] { f.name(), word(f.works()), f.why() });
			}
			item.setExpanded(b.works() != Works.YES);
			offer(item, b.name());
		}
		tree.setRedraw(true);
	}

	private void offer(TreeItem item, String name) {
		item.setData(name);
		if (name.equals(backend)) {
			tree.setSelection(item);
			why.setText(item.getText(2));
		}
	}

	private static String word(Works works) {
		return switch (works) {
			case YES -> "✓ yes";
			case PARTLY -> "◐ partly";
			case NO -> "✗ no";
		};
	}

	/** The chosen things that need no program: options and output. */
	RecordSettings complete(RecordSettings program) {
		Map<RecordOption, String> options = new EnumMap<>(RecordOption.class);
		options.put(RecordOption.BACKEND, backend);
		texts.forEach((option, text) -> options.put(option, text.getText().strip()));
		checks.forEach((option, button) -> options.put(option, option.kind() == RecordOption.Kind.FLAG
				? button.getSelection() ? RecordOption.SET : "" : button.getSelection() ? "on" : "off"));
		return new RecordSettings(program.pid(), program.program(), program.arguments(), program.directory(), program.environment(),
				output.getText().strip(), options);
	}

	/** What an example, or nothing (an empty map), wishes; what the user has typed stays. */
	void preset(Map<RecordOption, String> wishes) {
		if (!wishes.equals(preset)) {
			Map<RecordOption, String> before = preset;
			preset = wishes;
			texts.forEach((option, text) -> {
				String untouched = before.getOrDefault(option, Settings.recording(option));
				if (text.getText().strip().equals(untouched)) {
					text.setText(wishes.getOrDefault(option, Settings.recording(option)));
				}
			});
		}
	}

	/** Shows the options of an earlier recording. */
	void fill(RecordSettings s) {
		backend = s.option(RecordOption.BACKEND);
		texts.forEach((option, text) -> text.setText(s.option(option)));
		checks.forEach((option, button) -> button.setSelection(option.kind() == RecordOption.Kind.FLAG
				? !s.option(option).isEmpty() : s.option(option).equals("on")));
		output.setText("");
		machine(wizard.machine());
	}

	/** What is wrong on this page, one sentence; null when nothing is. */
	String problem() {
		for (Map.Entry<RecordOption, Text> e : texts.entrySet()) {
			String text = e.getValue().getText().strip();
			String wrong = text.isEmpty() && !e.getKey().defaultText().isEmpty() ? null : e.getKey().problem(text);
			if (wrong != null) {
				return "--" + e.getKey().optionName() + " " + wrong + ".";
			}
		}
		CheckResult check = wizard.machine() == null ? null : wizard.machine().check();
		CheckResult.Backend chosen = check == null ? null : check.backend(backend);
		if (check != null && chosen == null) {
			return "This recorder has no collector " + backend + ".";
		}
		if (chosen != null && chosen.works() == Works.NO) {
			return chosen.name() + " does not work here: " + chosen.why() + ".";
		}
		return null;
	}

	/** Follows what was changed on any page. @param defaultOutput where the trace goes when no directory is given */
	void update(RecordSettings now, String problem, String before, String defaultOutput) {
		command.command(now == null ? "" : now.shellText());
		output.setMessage(defaultOutput);
		CheckResult check = wizard.machine() == null ? null : wizard.machine().check();
		CheckResult.Backend chosen = check == null ? null : check.backend(backend);
		boolean fixable = chosen != null && chosen.works() != Works.YES && !chosen.fix().isEmpty();
		fix.command(fixable ? (needsRoot(chosen.fix()) ? "sudo " : "") + chosen.fix() : "");
		if (fixArea.getVisible() != fixable) {
			fixArea.setVisible(fixable);
			((org.eclipse.swt.layout.GridData) fixArea.getLayoutData()).exclude = !fixable;
			fixArea.getParent().layout();
		}
		checks.get(RecordOption.WRITE_TRACKING).setEnabled(chosen != null && chosen.abilities().contains(CheckResult.WRITE_TRACKING));
		boolean process = now != null && now.pid() > 0;
		texts.get(RecordOption.DURATION).setEnabled(process);
		setErrorMessage(problem);
		setMessage(before != null ? before : wizard.machine() == null ? ProgramPage.LOOKING : null, INFORMATION);
		setPageComplete(problem == null);
	}

	private static boolean needsRoot(String fix) {
		return !"root".equals(System.getProperty("user.name")) && fix.matches("(sysctl|apt|apt-get|modprobe|insmod|make|dkms) .*");
	}
}
