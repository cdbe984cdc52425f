// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.traces;

import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.eclipse.core.runtime.ILog;
import org.eclipse.jface.dialogs.MessageDialog;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.wizard.Wizard;
import org.eclipse.jface.wizard.WizardPage;
import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.DirectoryDialog;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.swt.widgets.Text;
import org.memtrace.importer.ImportReport;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.views.Session;
import org.memtrace.views.jobs.MonitorProgress;

/** Asks for a trace directory and imports it, with progress, cancellation and the reason when it does not work. */
public final class ImportWizard extends Wizard {
	private final Session session;
	private final Page page;

	/** @param directory preset directory, or null */
	public ImportWizard(Session session, Path directory) {
		this.session = session;
		page = new Page(directory);
		setWindowTitle("Import trace");
		setNeedsProgressMonitor(true);
		addPage(page);
	}

	@Override
	public boolean performFinish() {
		Path directory = Path.of(page.directory.getText().strip());
		String name = page.name.getText().strip();
		boolean strict = page.strict.getSelection();
		ImportReport[] report = new ImportReport[1];
		try {
			getContainer().run(true, true, monitor -> {
				try {
					report[0] = TraceImport.run(session.catalogue(), directory, name, strict,
							new MonitorProgress(monitor));
				} catch (CancelledException e) {
					throw new InterruptedException();
				} catch (MemtraceException e) {
					throw new InvocationTargetException(e);
				}
			});
		} catch (InterruptedException e) {
			page.setErrorMessage("The import was cancelled; nothing was kept.");
			return false;
		} catch (InvocationTargetException e) {
			Throwable cause = e.getCause();
			ILog.of(ImportWizard.class).warn("Import of " + directory + " failed.", cause);
			page.setErrorMessage(cause instanceof MemtraceException ? cause.getMessage()
					: "The import failed: " + cause);
			return false;
		}
		session.catalogueChanged();
		session.opener().open(report[0].trace());
		List<String> warnings = report[0].warnings();
		if (!warnings.isEmpty()) {
			// after the wizard is closed
			Shell window = (Shell) getShell().getParent();
			window.getDisplay().asyncExec(() -> MessageDialog.openWarning(window, "Imported with warnings",
					String.join("\n\n", warnings)));
		}
		return true;
	}

	private static final class Page extends WizardPage {
		private final Path preset;
		private Text directory;
		private Text name;
		private Button strict;

		Page(Path preset) {
			super("import");
			this.preset = preset;
			setTitle("Import a recorded trace");
			setDescription("Choose the directory that 'memtrace record' has written.");
		}

		@Override
		public void createControl(Composite parent) {
			Composite c = new Composite(parent, SWT.NONE);
			GridLayoutFactory.swtDefaults().numColumns(3).margins(10, 12).spacing(8, 8).applyTo(c);
			new Label(c, SWT.NONE).setText("&Directory:");
			directory = new Text(c, SWT.BORDER);
			directory.setMessage("app.memtrace");
			GridDataFactory.fillDefaults().grab(true, false).align(SWT.FILL, SWT.CENTER).applyTo(directory);
			Button browse = new Button(c, SWT.PUSH);
			browse.setText("&Browse…");
			browse.addListener(SWT.Selection, e -> {
				DirectoryDialog dialog = new DirectoryDialog(getShell());
				dialog.setText("Trace directory");
				String chosen = dialog.open();
				if (chosen != null) {
					directory.setText(chosen);
				}
			});
			new Label(c, SWT.NONE).setText("&Name:");
			name = new Text(c, SWT.BORDER);
			name.setMessage("as recorded");
			GridDataFactory.fillDefaults().grab(true, false).span(2, 1).applyTo(name);
			new Label(c, SWT.NONE);
			strict = new Button(c, SWT.CHECK);
			strict.setText("&Strict: stop at the first damaged line instead of counting it");
			GridDataFactory.fillDefaults().span(2, 1).applyTo(strict);
			directory.addModifyListener(e -> check());
			if (preset != null) {
				directory.setText(preset.toString());
			}
			setControl(c);
			setPageComplete(false);
			check();
			setErrorMessage(null);
		}

		private void check() {
			String text = directory.getText().strip();
			String error = null;
			if (!text.isEmpty()) {
				Path path = Path.of(text);
				if (!Files.isDirectory(path)) {
					error = "There is no such directory.";
				} else if (!Files.exists(path.resolve("manifest.json")) && !Files.isDirectory(path.resolve("p0000"))) {
					error = "This is not a trace directory: it has neither manifest.json nor p0000.";
				}
			}
			setErrorMessage(error);
			setPageComplete(error == null && !text.isEmpty());
		}
	}
}
