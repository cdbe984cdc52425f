// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.view;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.eclipse.jface.dialogs.Dialog;
import org.eclipse.jface.dialogs.IDialogConstants;
import org.eclipse.jface.dialogs.IDialogSettings;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.DirectoryDialog;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.swt.widgets.Spinner;
import org.eclipse.swt.widgets.Text;
import org.eclipse.ui.PlatformUI;
import org.memtrace.analysis.text.Units;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.util.Buttons;
import org.memtrace.views.view.SaveSnapshot.Format;
import org.memtrace.views.view.SaveSnapshot.Item;
import org.memtrace.views.view.SaveSnapshot.Job;
import org.osgi.framework.FrameworkUtil;

/** Asks where, under which name, as what and how large snapshots are to be saved. Remembers place and formats. */
final class SnapshotDialog extends Dialog {
	private static final String SECTION = "snapshot";
	private static final String KEY_DIRECTORY = "directory";
	private static final String KEY_FORMAT = "format.";
	private static final String KEY_PNG_SCALE = "pngScale";
	private static final int MAX_PNG_SCALE = 3;
	private static final int MIN_PIXELS = 100;
	private static final int MAX_PIXELS = 10_000;

	private final List<Item> items;
	private final IDialogSettings settings;
	private final Map<Format, Button> formats = new EnumMap<>(Format.class);
	private Text directory;
	private Text name;
	private Spinner width;
	private Spinner height;
	/** Pixels of a PNG, by scale from 1; null when there is no picture. */
	private Combo png;
	private Label message;
	private Job job;

	SnapshotDialog(Shell shell, List<Item> items) {
		super(shell);
		this.items = items;
		IDialogSettings all = PlatformUI.getDialogSettingsProvider(FrameworkUtil.getBundle(SnapshotDialog.class))
				.getDialogSettings();
		IDialogSettings section = all.getSection(SECTION);
		settings = section != null ? section : all.addNewSection(SECTION);
		setShellStyle(getShellStyle() | SWT.RESIZE);
	}

	/** What the user chose. */
	Job job() {
		return job;
	}

	@Override
	protected void configureShell(Shell shell) {
		super.configureShell(shell);
		shell.setText(items.size() == 1 ? "Save view" : "Save " + Units.plural(items.size(), "view"));
	}

	@Override
	protected Control createDialogArea(Composite parent) {
		Composite area = (Composite) super.createDialogArea(parent);
		Composite c = new Composite(area, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(3).spacing(8, 8).applyTo(c);
		GridDataFactory.fillDefaults().grab(true, true).applyTo(c);
		new Label(c, SWT.NONE).setText("&Directory:");
		directory = new Text(c, SWT.BORDER);
		String kept = settings.get(KEY_DIRECTORY);
		directory.setText(kept == null || !Files.isDirectory(Path.of(kept)) ? System.getProperty("user.home") : kept);
		GridDataFactory.fillDefaults().grab(true, false).align(SWT.FILL, SWT.CENTER).hint(330, SWT.DEFAULT).applyTo(directory);
		directory.addModifyListener(e -> check());
		Buttons.push(c, "&Browse…", null, () -> {
			DirectoryDialog dialog = new DirectoryDialog(getShell());
			dialog.setText("Save to");
			dialog.setFilterPath(directory.getText());
			String chosen = dialog.open();
			if (chosen != null) {
				directory.setText(chosen);
			}
		});
		new Label(c, SWT.NONE).setText(items.size() == 1 ? "&Name:" : "&Names begin with:");
		name = new Text(c, SWT.BORDER);
		name.setText(items.size() == 1 ? Snapshot.fileName(items.get(0).snapshot().name()) : "");
		GridDataFactory.fillDefaults().grab(true, false).span(2, 1).applyTo(name);
		name.addModifyListener(e -> check());
		Label as = new Label(c, SWT.NONE);
		as.setText("As:");
		GridDataFactory.fillDefaults().align(SWT.BEGINNING, SWT.BEGINNING).indent(0, 4).applyTo(as);
		Composite choices = new Composite(c, SWT.NONE);
		GridLayoutFactory.fillDefaults().spacing(0, 2).applyTo(choices);
		GridDataFactory.fillDefaults().span(2, 1).applyTo(choices);
		for (Format f : Format.values()) {
			if (items.stream().noneMatch(i -> Format.of(i.snapshot()).contains(f))) {
				continue;
			}
			Button b = new Button(choices, SWT.CHECK);
			b.setText(f.title());
			String before = settings.get(KEY_FORMAT + f.name());
			b.setSelection(before == null ? f != Format.PDF : Boolean.parseBoolean(before));
			b.addListener(SWT.Selection, e -> check());
			formats.put(f, b);
		}
		if (formats.keySet().stream().anyMatch(Format::isPicture)) {
			askForSize(c);
		}
		message = new Label(c, SWT.WRAP);
		GridDataFactory.fillDefaults().span(3, 1).grab(true, false).hint(500, 2 * convertHeightInCharsToPixels(1)).applyTo(message);
		return area;
	}

	private void askForSize(Composite c) {
		new Label(c, SWT.NONE).setText("Pictures:");
		Composite size = new Composite(c, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(4).spacing(6, 0).applyTo(size);
		GridDataFactory.fillDefaults().span(2, 1).applyTo(size);
		Item seen = SnapshotDialog.largest(items);
		width = spinner(size, seen.width(), "Width of the picture in pixels");
		new Label(size, SWT.NONE).setText("×");
		height = spinner(size, seen.height(), "Height of the picture in pixels");
		new Label(size, SWT.NONE).setText(items.size() == 1 ? "pixels" : "pixels for each of them");
		new Label(c, SWT.NONE).setText("PNG:");
		png = new Combo(c, SWT.READ_ONLY);
		png.setToolTipText("Pixels of a PNG. Texts and lines keep their share of the picture; more pixels are for print and sharp displays");
		Accessibility.name(png, "Pixels of a PNG");
		GridDataFactory.fillDefaults().span(2, 1).align(SWT.BEGINNING, SWT.CENTER).applyTo(png);
		showPngSizes();
		png.select(pngScaleBefore() - 1);
		width.addListener(SWT.Modify, e -> showPngSizes());
		height.addListener(SWT.Modify, e -> showPngSizes());
	}

	private int pngScaleBefore() {
		try {
			return Math.clamp(settings.getInt(KEY_PNG_SCALE), 1, MAX_PNG_SCALE);
		} catch (NumberFormatException e) {
			return 1;
		}
	}

	/** How many pixels a PNG has is said in full; the choice stays. */
	private void showPngSizes() {
		int chosen = png.getSelectionIndex();
		String[] sizes = new String[MAX_PNG_SCALE];
		for (int scale = 1; scale <= MAX_PNG_SCALE; scale++) {
			sizes[scale - 1] = width.getSelection() * scale + " × " + height.getSelection() * scale + " pixels" + switch (scale) {
			case 1 -> "";
			case 2 -> ", twice as fine";
			default -> ", " + scale + " times as fine";
			};
		}
		png.setItems(sizes);
		png.select(chosen);
	}

	private static Spinner spinner(Composite parent, int value, String tip) {
		Spinner s = new Spinner(parent, SWT.BORDER);
		s.setValues(Math.clamp(value, MIN_PIXELS, MAX_PIXELS), MIN_PIXELS, MAX_PIXELS, 0, 10, 100);
		s.setToolTipText(tip);
		Accessibility.name(s, tip);
		return s;
	}

	@Override
	protected void createButtonsForButtonBar(Composite parent) {
		createButton(parent, IDialogConstants.OK_ID, "Save", true);
		createButton(parent, IDialogConstants.CANCEL_ID, IDialogConstants.CANCEL_LABEL, false);
		check();
	}

	private Job read() {
		Set<Format> chosen = EnumSet.noneOf(Format.class);
		formats.forEach((f, b) -> {
			if (b.getSelection()) {
				chosen.add(f);
			}
		});
		if (chosen.isEmpty()) {
			throw new IllegalArgumentException("Choose at least one kind of file.");
		}
		String prefix = name.getText().strip();
		if (prefix.contains("/") || items.size() == 1 && prefix.isEmpty()) {
			throw new IllegalArgumentException("Give a name without a directory.");
		}
		Path path;
		try {
			path = Path.of(directory.getText().strip());
		} catch (InvalidPathException e) {
			throw new IllegalArgumentException("This is no directory.", e);
		}
		if (!Files.isDirectory(path)) {
			throw new IllegalArgumentException("There is no such directory.");
		}
		if (!Files.isWritable(path)) {
			throw new IllegalArgumentException("Nothing can be written to this directory: no permission.");
		}
		return new Job(items, path, prefix, chosen, width == null ? MIN_PIXELS : width.getSelection(),
				height == null ? MIN_PIXELS : height.getSelection(), png == null ? 1 : png.getSelectionIndex() + 1);
	}

	private void check() {
		boolean ok = false;
		try {
			List<Path> files = read().files();
			long there = files.stream().filter(Files::exists).count();
			message.setForeground(there > 0 ? ScenePainter.warning(message) : null);
			message.setText("Writes " + Units.plural(files.size(), "file") + "." + (there == 0 ? ""
					: there == 1 ? " One of them exists already and will be replaced."
							: " " + there + " of them exist already and will be replaced."));
			ok = true;
		} catch (IllegalArgumentException e) {
			message.setForeground(ScenePainter.warning(message));
			message.setText(e.getMessage());
		}
		getButton(IDialogConstants.OK_ID).setEnabled(ok);
	}

	@Override
	protected void okPressed() {
		job = read();
		settings.put(KEY_DIRECTORY, job.directory().toString());
		settings.put(KEY_PNG_SCALE, job.pngScale());
		formats.forEach((f, b) -> settings.put(KEY_FORMAT + f.name(), Boolean.toString(b.getSelection())));
		super.okPressed();
	}

	/** The largest view, whose size is proposed for all: one that was never in front has hardly any. */
	static Item largest(List<Item> items) {
		return Collections.max(items, Comparator.comparingLong(i -> (long) i.width() * i.height()));
	}
}
