// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.traces;

import java.nio.file.Path;
import java.util.List;

import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.wizard.WizardPage;
import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.FileDialog;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Spinner;
import org.eclipse.swt.widgets.Text;
import org.memtrace.importer.ImportSettings;
import org.memtrace.importer.reader.ImportOption;
import org.memtrace.importer.reader.ImportRequest;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.model.store.DatabaseKind;
import org.memtrace.views.preferences.Settings;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.util.Buttons;
import org.memtrace.views.util.CommandBar;

/** How to import. */
final class ImportOptionsPage extends WizardPage {
	private final Runnable changed;
	private Text name;
	private Text output;
	private Combo kind;
	private Spinner fanout;
	private Button strict;
	private Text rules;
	private Button projections;
	private Text moca;
	private CommandBar command;

	ImportOptionsPage(Runnable changed) {
		super("options");
		this.changed = changed;
		setTitle("How to import");
		setDescription("The defaults suit most traces. Merging rules can be changed later.");
	}

	@Override
	public void createControl(Composite parent) {
		Composite c = new Composite(parent, SWT.NONE);
		GridLayoutFactory.swtDefaults().numColumns(3).margins(10, 10).spacing(8, 8).applyTo(c);
		name = text(c, "N&ame:", "its own name", 2);
		output = text(c, "In&to:", "the catalogue", 1);
		output.setToolTipText("Database file to make, in no catalogue; empty: the trace goes into the catalogue");
		browse(c, output, "Database to make", "*.db");
		new Label(c, SWT.NONE).setText("Data&base:");
		kind = new Combo(c, SWT.READ_ONLY);
		kind.setItems("SQLite", "H2");
		kind.select(Settings.database().ordinal());
		kind.setToolTipText("SQLite: the original FrameSoc opens it, and many programs read it at once. H2: needs no native library");
		kind.addListener(SWT.Selection, e -> changed.run());
		GridDataFactory.fillDefaults().span(2, 1).align(SWT.BEGINNING, SWT.CENTER).applyTo(kind);
		new Label(c, SWT.NONE).setText("&Parts of a range:");
		fanout = new Spinner(c, SWT.BORDER);
		fanout.setValues(ImportRequest.DEFAULT_FANOUT, 2, ImportRequest.MAX_FANOUT, 0, 1, 2);
		fanout.setToolTipText("Number of parts into which a range of pages is divided, again and again, down to single pages");
		fanout.addListener(SWT.Modify, e -> changed.run());
		GridDataFactory.fillDefaults().span(2, 1).align(SWT.BEGINNING, SWT.CENTER).applyTo(fanout);
		Label label = new Label(c, SWT.NONE);
		label.setText("&Merging rules:");
		GridDataFactory.fillDefaults().align(SWT.BEGINNING, SWT.BEGINNING).indent(0, 4).applyTo(label);
		rules = new Text(c, SWT.BORDER | SWT.MULTI | SWT.V_SCROLL);
		rules.setToolTipText("Structures that a rule matches are shown as one. A rule in each line: stack, site, size, consecutive, library, "
				+ "kind, name, joined by +, such as stack+size or name:node_(.)");
		rules.addModifyListener(e -> changed.run());
		GridDataFactory.fillDefaults().grab(true, false).span(2, 1).hint(300, 3 * rules.getLineHeight()).applyTo(rules);
		strict = check(c, "&Strict: stop at the first row that cannot be used, instead of counting it");
		projections = check(c, "Also write the &four traces that the original FrameSoc expects");
		moca = text(c, "Also as M&oca:", "no file", 1);
		moca.setToolTipText("Also write the accesses to a new file as Moca's sharing detection does");
		browse(c, moca, "File to write", "*.csv");
		command = new CommandBar(c, "The same in a terminal:", 3);
		GridDataFactory.fillDefaults().grab(true, true).span(3, 1).align(SWT.FILL, SWT.END).applyTo(command);
		Accessibility.name(rules, "Merging rules");
		setControl(c);
	}

	private Text text(Composite c, String label, String message, int span) {
		new Label(c, SWT.NONE).setText(label);
		Text text = new Text(c, SWT.BORDER);
		text.setMessage(message);
		text.addModifyListener(e -> changed.run());
		GridDataFactory.fillDefaults().grab(true, false).span(span, 1).align(SWT.FILL, SWT.CENTER).applyTo(text);
		return text;
	}

	private void browse(Composite c, Text field, String title, String pattern) {
		Buttons.push(c, "Browse…", null, () -> {
			FileDialog dialog = new FileDialog(getShell(), SWT.SAVE);
			dialog.setText(title);
			dialog.setFilterExtensions(new String[] { pattern, "*" });
			String chosen = dialog.open();
			if (chosen != null) {
				field.setText(chosen);
			}
		});
	}

	private Button check(Composite c, String text) {
		new Label(c, SWT.NONE);
		Button button = new Button(c, SWT.CHECK);
		button.setText(text);
		button.addListener(SWT.Selection, e -> changed.run());
		GridDataFactory.fillDefaults().span(2, 1).applyTo(button);
		return button;
	}

	/** What does not apply to the format cannot be asked for. */
	void offer(ImportSource source) {
		offer(source, ImportOption.MERGE, rules);
		offer(source, ImportOption.FANOUT, fanout);
		offer(source, ImportOption.PROJECTIONS, projections);
		offer(source, ImportOption.MOCA_FRAMESOC, moca);
	}

	private static void offer(ImportSource source, ImportOption option, Control control) {
		control.setEnabled(source == null || source.options().contains(option));
	}

	/** The settings for what is to be imported. */
	ImportSettings complete(List<Path> input) {
		return new ImportSettings(input, name.getText().strip(), strict.getSelection(), fanout.isEnabled() ? fanout.getSelection()
				: ImportRequest.DEFAULT_FANOUT, DatabaseKind.values()[kind.getSelectionIndex()],
				rules.isEnabled() ? rules.getText().lines().map(String::strip).filter(l -> !l.isEmpty()).toList() : List.of(),
				projections.isEnabled() && projections.getSelection(), moca.isEnabled() ? path(moca) : null,
				path(output));
	}

	private static Path path(Text text) {
		String typed = text.getText().strip();
		return typed.isEmpty() ? null : Path.of(typed).toAbsolutePath();
	}

	/** Follows what was changed on any page. */
	void update(ImportSettings now, ImportSource source) {
		name.setMessage(source == null || source.name().isEmpty() ? "its own name" : source.name());
		command.command(now.input().isEmpty() ? "" : now.shellText());
		String problem = now.input().isEmpty() ? null : now.problem();
		setErrorMessage(problem);
		setPageComplete(problem == null);
	}
}
