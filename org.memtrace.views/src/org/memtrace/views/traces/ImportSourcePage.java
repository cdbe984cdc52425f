// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.traces;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.wizard.WizardPage;
import org.eclipse.swt.SWT;
import org.eclipse.swt.dnd.DND;
import org.eclipse.swt.dnd.DropTarget;
import org.eclipse.swt.dnd.DropTargetAdapter;
import org.eclipse.swt.dnd.DropTargetEvent;
import org.eclipse.swt.dnd.FileTransfer;
import org.eclipse.swt.dnd.Transfer;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.DirectoryDialog;
import org.eclipse.swt.widgets.FileDialog;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Table;
import org.eclipse.swt.widgets.TableColumn;
import org.eclipse.swt.widgets.TableItem;
import org.memtrace.analysis.text.Units;
import org.memtrace.importer.InputReaders;
import org.memtrace.importer.reader.ImportSource;
import org.memtrace.importer.reader.InputReader;
import org.memtrace.importer.reader.TraceFolders;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.util.Buttons;

/** What to import: a folder or files, and what was recognised in them. */
final class ImportSourcePage extends WizardPage {
	private static final String HINT = "A folder or files, also compressed (.gz, .zst). They are recognised by their content: "
			+ String.join("; ", InputReaders.all().stream().map(InputReader::description).toList()) + ".";
	private static final String[] TITLES = { "Name", "Recognised as", "Size" };
	private static final int[] WIDTHS = { 230, 280, 90 };

	/** @param error null when it is something that can be imported */
	private record Look(ImportSource source, String error) {
	}

	private final Runnable changed;
	private final List<Path> input = new ArrayList<>();
	/** Folders of processes that were chosen, whose trace directory is imported. */
	private final Set<Path> parts = new LinkedHashSet<>();
	private Table table;
	private Label what;
	private ImportSource source;
	private LatestResult<List<Path>, Look> looking;

	ImportSourcePage(List<Path> preset, Runnable changed) {
		super("source");
		this.changed = changed;
		include(preset);
		setTitle("Import a trace");
		setDescription("A trace directory, or files of another tool.");
		setPageComplete(false);
	}

	@Override
	public void createControl(Composite parent) {
		Composite c = new Composite(parent, SWT.NONE);
		GridLayoutFactory.swtDefaults().numColumns(2).margins(10, 10).spacing(8, 8).applyTo(c);
		table = new Table(c, SWT.BORDER | SWT.MULTI | SWT.FULL_SELECTION | SWT.V_SCROLL);
		Accessibility.name(table, "What is imported");
		table.setHeaderVisible(true);
		GridDataFactory.fillDefaults().grab(true, true).hint(600, 170).applyTo(table);
		for (int i = 0; i < TITLES.length; i++) {
			TableColumn column = new TableColumn(table, i == 2 ? SWT.RIGHT : SWT.LEFT);
			column.setText(TITLES[i]);
			column.setWidth(WIDTHS[i]);
		}
		Composite buttons = new Composite(c, SWT.NONE);
		GridLayoutFactory.fillDefaults().spacing(0, 6).applyTo(buttons);
		GridDataFactory.fillDefaults().applyTo(buttons);
		Button directory = button(buttons, "&Directory…", this::chooseDirectory);
		directory.setToolTipText("Choose a trace directory, or a folder with files of another tool");
		button(buttons, "Add &files…", this::chooseFiles).setToolTipText("Add files of another tool");
		Button remove = button(buttons, "&Remove", this::remove);
		remove.setToolTipText("Do not import the selected files");
		table.addListener(SWT.Selection, e -> remove.setEnabled(table.getSelectionCount() > 0));
		table.addListener(SWT.KeyDown, e -> {
			if (e.keyCode == SWT.DEL) {
				remove();
			}
		});
		remove.setEnabled(false);
		what = new Label(c, SWT.WRAP);
		GridDataFactory.fillDefaults().grab(true, false).span(2, 1).hint(640, 4 * table.getItemHeight()).applyTo(what);
		drop(c);
		looking = new LatestResult<>("Look what can be imported", table, LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected Look compute(List<Path> paths, Progress progress) {
				try {
					return new Look(InputReaders.detect(paths), null);
				} catch (MemtraceException e) {
					return new Look(null, e.getMessage());
				}
			}

			@Override
			protected void show(List<Path> paths, Look look) {
				ImportSourcePage.this.show(look);
			}
		};
		setControl(c);
		look();
	}

	private static Button button(Composite parent, String text, Runnable action) {
		Button button = Buttons.push(parent, text, null, () -> action.run());
		GridDataFactory.fillDefaults().grab(true, false).applyTo(button);
		return button;
	}

	private void drop(Composite c) {
		DropTarget target = new DropTarget(c, DND.DROP_COPY | DND.DROP_LINK | DND.DROP_DEFAULT);
		target.setTransfer(new Transfer[] { FileTransfer.getInstance() });
		target.addDropListener(new DropTargetAdapter() {
			@Override
			public void dragEnter(DropTargetEvent e) {
				e.detail = (e.operations & DND.DROP_COPY) != 0 ? DND.DROP_COPY : DND.DROP_LINK;
			}

			@Override
			public void drop(DropTargetEvent e) {
				if (e.data instanceof String[] files) {
					add(List.of(files).stream().map(Path::of).toList());
				}
			}
		});
	}

	private void chooseDirectory() {
		DirectoryDialog dialog = new DirectoryDialog(getShell());
		dialog.setText("Trace directory");
		String chosen = dialog.open();
		if (chosen != null) {
			input.clear();
			add(List.of(Path.of(chosen)));
		}
	}

	private void chooseFiles() {
		FileDialog dialog = new FileDialog(getShell(), SWT.OPEN | SWT.MULTI);
		dialog.setText("Files to import");
		if (dialog.open() != null) {
			Path folder = Path.of(dialog.getFilterPath());
			add(List.of(dialog.getFileNames()).stream().map(folder::resolve).toList());
		}
	}

	private void add(List<Path> more) {
		include(more);
		look();
	}

	/** The folder of a process stands for the trace directory that it is a part of: alone it has no names, threads and dates. */
	private void include(List<Path> more) {
		Set<Path> all = new LinkedHashSet<>(input);
		for (Path path : more) {
			Path whole = TraceFolders.traceDirectoryOf(path);
			all.add(whole == null ? path : whole);
			if (whole != null) {
				parts.add(path.toAbsolutePath().normalize());
			}
		}
		input.clear();
		input.addAll(all);
	}

	private void remove() {
		for (TableItem item : table.getSelection()) {
			input.remove(item.getData());
		}
		look();
	}

	private void look() {
		source = null;
		setPageComplete(false);
		parts.removeIf(part -> !input.contains(part.getParent()));
		setMessage(parts.isEmpty() ? null
				: String.join(", ", parts.stream().map(p -> p.getFileName().toString()).toList())
						+ (parts.size() == 1 ? " is a process" : " are processes") + " of " + parts.iterator().next().getParent().getFileName()
						+ ", which is imported as a whole.",
				INFORMATION);
		if (input.isEmpty()) {
			table.removeAll();
			what.setText(HINT);
			setErrorMessage(null);
			changed.run();
		} else {
			looking.submit(List.copyOf(input));
		}
	}

	private void show(Look look) {
		source = look.source();
		table.removeAll();
		if (source == null) {
			for (Path path : input) {
				row(path, String.valueOf(path.getFileName()), "", -1);
			}
			what.setText("");
		} else {
			boolean folder = input.size() == 1 && source.files().stream().noneMatch(f -> input.get(0).equals(f.path()));
			if (folder) {
				row(input.get(0), input.get(0).toString(), source.description(), source.dataBytes());
			}
			source.files().forEach(f -> row(folder ? null : f.path(), (folder ? "    " : "") + f.name(), f.what(), f.bytes()));
			what.setText(source.kind() + (source.name().isEmpty() ? "" : ": " + source.name()) + ", "
					+ Units.bytes(source.dataBytes())
					+ (source.timeUnit().equals("ns") ? "." : source.timeUnit().equals("tick") ? "; its times are ticks of a logical clock."
							: "; it has no times.")
					+ (source.notes().isEmpty() ? "" : "\n" + String.join("\n", source.notes())));
		}
		setErrorMessage(look.error());
		setPageComplete(source != null);
		changed.run();
	}

	private void row(Path path, String name, String format, long bytes) {
		TableItem item = new TableItem(table, SWT.NONE);
		item.setText(new String[] { name, format, bytes < 0 ? "" : Units.bytes(bytes) });
		item.setData(path);
	}

	List<Path> input() {
		return List.copyOf(input);
	}

	/** What was recognised, null when nothing was. */
	ImportSource source() {
		return source;
	}
}
