// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.machine;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

import org.eclipse.jface.dialogs.Dialog;
import org.eclipse.jface.dialogs.IDialogConstants;
import org.eclipse.jface.dialogs.MessageDialog;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.FileDialog;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Menu;
import org.eclipse.swt.widgets.MenuItem;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.ui.PlatformUI;
import org.memtrace.importer.definition.DefinitionCheck;
import org.memtrace.importer.definition.DefinitionCompletion;
import org.memtrace.importer.definition.DefinitionDocument;
import org.memtrace.importer.definition.DefinitionText;
import org.memtrace.importer.definition.MonitorWords;
import org.memtrace.importer.record.Installation;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.views.editor.CodeEditor;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.jobs.OnDisplay;
import org.memtrace.views.session.RecordHistory;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.util.Buttons;

/**
 * The editor of a definition file of monitors. What can be written, and what is wrong, is what {@code memtrace monitor} says on this
 * machine. Not modal; display thread.
 */
final class DefinitionDialog extends Dialog {
	private static final int CHECK_MS = 250;
	private static final int SAVE_ID = IDialogConstants.CLIENT_ID;
	private static final int SAVE_AS_ID = IDialogConstants.CLIENT_ID + 1;
	private static final String[] ENDINGS = {"*.mon", "*"};
	private static final String[] ENDING_NAMES = {"Definitions of monitors (*.mon)", "All files"};

	private final DefinitionDocument document = new DefinitionDocument();
	/** Measures what a file defines. */
	private final Consumer<Path> measure;
	private MonitorWords words = MonitorWords.NONE;
	/** What is edited first: a path, or empty for a new file. */
	private final String wanted;
	private CodeEditor editor;
	private Label status;
	private Button show;
	private Button fresh;
	private LatestResult<String, MonitorWords> asking;
	private LatestResult<String, DefinitionCheck> checking;
	private int edits;
	/** Mistake of the text that is shown, null: none is known. */
	private DefinitionCheck.Mistake mistake;
	private boolean checked;

	/**
	 * @param file what to edit, empty: a new file
	 * @param measure gets the file that is to be measured
	 */
	DefinitionDialog(Shell parent, String file, Consumer<Path> measure) {
		super(parent);
		this.wanted = file;
		this.measure = measure;
		setShellStyle(SWT.CLOSE | SWT.TITLE | SWT.BORDER | SWT.RESIZE | SWT.MAX | SWT.MODELESS | getDefaultOrientation());
		setBlockOnOpen(false);
	}

	@Override
	protected void configureShell(Shell shell) {
		super.configureShell(shell);
		PlatformUI.getWorkbench().getHelpSystem().setHelp(shell, "org.memtrace.views.machine");
	}

	@Override
	protected boolean isResizable() {
		return true;
	}

	@Override
	protected Control createDialogArea(Composite parent) {
		Composite area = (Composite) super.createDialogArea(parent);
		Composite bar = new Composite(area, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(3).spacing(6, 0).applyTo(bar);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(bar);
		fresh = Buttons.push(bar, "&New ▾", "Begin with one of some definitions", () -> {
		});
		fresh.addListener(SWT.Selection, e -> popUp());
		Buttons.push(bar, "&Open…", "Edit another file", this::askForFile);
		Label keys = new Label(bar, SWT.NONE);
		keys.setText("Ctrl+Space proposes, Ctrl+Enter measures");
		GridDataFactory.fillDefaults().grab(true, false).align(SWT.END, SWT.CENTER).applyTo(keys);
		editor = new CodeEditor(area, "Definitions of monitors", "name { OBJ:=PU; … } — Ctrl+Space proposes",
				(text, caret) -> DefinitionCompletion.at(text, caret, words), this::measure);
		editor.numbered();
		editor.colours(this::parts);
		editor.onChange(this::changed);
		GridDataFactory.fillDefaults().grab(true, true).hint(720, 400).applyTo(editor.control());
		Composite line = new Composite(area, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(2).applyTo(line);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(line);
		status = new Label(line, SWT.WRAP);
		Accessibility.name(status, "State of the definitions");
		GridDataFactory.fillDefaults().grab(true, false).hint(600, 3 * status.computeSize(SWT.DEFAULT, SWT.DEFAULT).y).applyTo(status);
		show = Buttons.push(line, "S&how", "Go to what is wrong", this::goToMistake);
		GridDataFactory.fillDefaults().align(SWT.END, SWT.BEGINNING).applyTo(show);
		show.setVisible(false);
		makeJobs();
		return area;
	}

	@Override
	protected void createButtonsForButtonBar(Composite parent) {
		createButton(parent, SAVE_ID, "&Save", false);
		createButton(parent, SAVE_AS_ID, "Save &As…", false);
		createButton(parent, IDialogConstants.OK_ID, "&Measure", false).setToolTipText("Save, and measure what is defined");
		createButton(parent, IDialogConstants.CANCEL_ID, IDialogConstants.CLOSE_LABEL, false);
	}

	@Override
	public int open() {
		int result = super.open();
		if (!wanted.isEmpty()) {
			open(path(wanted));
		}
		String launcher = launcher();
		if (launcher != null) {
			say("Asking what can be counted here…");
			asking.submit(launcher);
		} else if (wanted.isEmpty()) {
			begin(DefinitionDocument.templates(words).getFirst().text());
		}
		update();
		editor.control().setFocus();
		return result;
	}

	private static Path path(String text) {
		try {
			return Path.of(text);
		} catch (InvalidPathException e) {
			return null;
		}
	}

	/** Null after a message: nothing can be checked here. */
	private String launcher() {
		Installation installation = Installation.find(RecordHistory.launcher());
		if (installation.problem() != null) {
			say(installation.problem());
			return null;
		}
		return installation.launcher().toString();
	}

	private void makeJobs() {
		asking = new LatestResult<>("Events of monitors", editor.control(), LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected MonitorWords compute(String launcher, Progress progress) throws MemtraceException {
				return MonitorWords.run(launcher, progress);
			}

			@Override
			protected void show(String launcher, MonitorWords result) {
				words = result;
				if (document.path() == null && editor.text().isEmpty() && wanted.isEmpty()) {
					begin(DefinitionDocument.templates(words).getFirst().text());
				} else {
					editor.colours(DefinitionDialog.this::parts);
					check();
				}
			}

			@Override
			protected void failed(String launcher, String message) {
				say(message);
			}
		};
		checking = new LatestResult<>("Check of definitions", editor.control(), LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected DefinitionCheck compute(String text, Progress progress) throws MemtraceException {
				return DefinitionCheck.run(Objects.requireNonNull(Installation.find(RecordHistory.launcher()).launcher(), "recorder").toString(),
						text, progress);
			}

			@Override
			protected void show(String text, DefinitionCheck result) {
				if (text.equals(editor.text())) {
					checked(result);
				}
			}

			@Override
			protected void failed(String text, String message) {
				say(message);
			}
		};
	}

	private List<CodeEditor.Part> parts(String text) {
		List<CodeEditor.Part> parts = new ArrayList<>();
		for (DefinitionText.Token t : new DefinitionText(text, words).tokens()) {
			CodeEditor.Look look = switch (t.kind()) {
				case FIELD -> CodeEditor.Look.KEYWORD;
				case MONITOR, EVENT -> CodeEditor.Look.NAME;
				case NUMBER -> CodeEditor.Look.NUMBER;
				case COMMENT -> CodeEditor.Look.COMMENT;
				case NAME, SYMBOL -> null;
			};
			if (look != null) {
				parts.add(new CodeEditor.Part(t.from(), t.to(), look));
			}
		}
		return parts;
	}

	private void changed() {
		document.edit(editor.text());
		mistake = null;
		checked = false;
		show.setVisible(false);
		update();
		int now = ++edits;
		editor.control().getDisplay().timerExec(CHECK_MS, () -> {
			if (now == edits && !editor.control().isDisposed()) {
				check();
			}
		});
	}

	private void check() {
		if (Installation.find(RecordHistory.launcher()).problem() == null) {
			checking.submit(editor.text());
		}
	}

	private void checked(DefinitionCheck result) {
		mistake = result.mistake();
		checked = true;
		if (mistake == null) {
			editor.unmark();
			say(result.summary() + ": nothing is wrong.");
		} else {
			editor.mark(mistake.offset(editor.text()));
			say("Line " + mistake.line() + ": " + mistake.text() + ".");
		}
		show.setVisible(mistake != null);
	}

	private void goToMistake() {
		if (editor.marked() >= 0) {
			editor.control().setSelection(editor.marked());
			editor.control().showSelection();
			editor.control().setFocus();
		}
	}

	private void say(String text) {
		status.setText(text.replace("&", "&&"));
	}

	private void update() {
		getShell().setText(document.title() + " – definitions of monitors");
		Button save = getButton(SAVE_ID);
		if (save != null) {
			save.setEnabled(document.isChanged() || document.path() == null);
		}
	}

	private void popUp() {
		Menu menu = new Menu(fresh);
		for (DefinitionDocument.Template t : DefinitionDocument.templates(words)) {
			MenuItem item = new MenuItem(menu, SWT.NONE);
			item.setText(t.title());
			item.addListener(SWT.Selection, e -> {
				if (mayLeave()) {
					begin(t.text());
				}
			});
		}
		Rectangle b = fresh.getBounds();
		menu.setLocation(fresh.getParent().toDisplay(b.x, b.y + b.height));
		menu.addListener(SWT.Hide, e -> OnDisplay.later(menu, menu::dispose)); // the entry is told after that
		menu.setVisible(true);
	}

	/** A text that is in no file yet. */
	void begin(String text) {
		document.begin(text);
		shown();
	}

	/** Shows a file, or says why that cannot be. */
	void open(Path file) {
		try {
			if (file == null || wanted.equals(file.toString()) && !Files.exists(file)) {
				throw new MemtraceException(wanted + " is not there. Save makes it anew.");
			}
			document.open(file);
			shown();
		} catch (MemtraceException e) {
			say(e.getMessage());
		}
	}

	private void shown() {
		editor.text(document.text());
		editor.control().setSelection(0);
		update();
	}

	/** Whether what was written may be dropped, or is saved now. */
	private boolean mayLeave() {
		if (!document.isChanged()) {
			return true;
		}
		int answer = MessageDialog.open(MessageDialog.QUESTION, getShell(), "Save the definitions?",
				document.title().substring(1) + " was changed.", SWT.SHEET, "Save", "Drop the changes", "Cancel");
		return answer == 1 || answer == 0 && save(document.path());
	}

	private void askForFile() {
		FileDialog dialog = new FileDialog(getShell(), SWT.OPEN);
		dialog.setText("Definitions of monitors");
		dialog.setFilterExtensions(ENDINGS);
		dialog.setFilterNames(ENDING_NAMES);
		String chosen = dialog.open();
		if (chosen != null && mayLeave()) {
			open(Path.of(chosen));
		}
	}

	/** @param file null: the person is asked */
	boolean save(Path file) {
		Path to = file;
		if (to == null) {
			FileDialog dialog = new FileDialog(getShell(), SWT.SAVE);
			dialog.setText("Save the definitions");
			dialog.setFilterExtensions(ENDINGS);
			dialog.setFilterNames(ENDING_NAMES);
			dialog.setFileName(document.path() == null ? "monitors.mon" : document.path().getFileName().toString());
			dialog.setOverwrite(true);
			String chosen = dialog.open();
			if (chosen == null) {
				return false;
			}
			to = Path.of(chosen);
		}
		try {
			document.save(to);
		} catch (MemtraceException e) {
			MessageDialog.openError(getShell(), "Save", e.getMessage());
			return false;
		}
		update();
		return true;
	}

	/** Saves what was changed, and measures it. */
	void measure() {
		if (mistake != null) {
			goToMistake();
			return;
		}
		if (document.path() != null && !document.isChanged() || save(document.path())) {
			measure.accept(document.path());
		}
	}

	@Override
	protected void buttonPressed(int id) {
		switch (id) {
			case SAVE_ID -> save(document.path());
			case SAVE_AS_ID -> save(null);
			case IDialogConstants.OK_ID -> measure();
			default -> handleShellCloseEvent();
		}
	}

	@Override
	protected void handleShellCloseEvent() {
		if (mayLeave()) {
			asking.cancel();
			checking.cancel();
			setReturnCode(CANCEL);
			close();
		}
	}

	/** For tests. */
	CodeEditor editor() {
		return editor;
	}

	/** For tests: the text that is shown was checked. */
	boolean isChecked() {
		return checked;
	}

	/** For tests. */
	String status() {
		return status.getText().replace("&&", "&");
	}

	/** For tests. */
	DefinitionDocument document() {
		return document;
	}
}
