// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.traces;

import java.lang.reflect.InvocationTargetException;
import java.nio.file.Path;
import java.util.List;

import org.eclipse.core.runtime.ILog;
import org.eclipse.jface.wizard.IWizardPage;
import org.eclipse.jface.wizard.Wizard;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.ui.PlatformUI;
import org.memtrace.importer.ImportSettings;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.views.jobs.MonitorProgress;
import org.memtrace.views.session.Session;

/**
 * Asks what to import and how, imports with progress and cancellation, and shows the report; the trace is open behind it.
 */
public final class ImportWizard extends Wizard {
	private final Session session;
	private final ImportSourcePage source;
	private final ImportOptionsPage options;
	private final ImportReportPage report;

	/** @param preset directory or files, may be empty */
	public ImportWizard(Session session, List<Path> preset) {
		this.session = session;
		source = new ImportSourcePage(preset, this::changed);
		options = new ImportOptionsPage(this::changed);
		report = new ImportReportPage();
		setWindowTitle("Import");
		setNeedsProgressMonitor(true);
		addPage(source);
		addPage(options);
		addPage(report);
	}

	@Override
	public void createPageControls(Composite pages) {
		super.createPageControls(pages);
		PlatformUI.getWorkbench().getHelpSystem().setHelp(pages.getShell(), "org.memtrace.views.import");
	}

	private void changed() {
		if (options.getControl() == null) {
			return;
		}
		options.offer(source.source());
		options.update(settings(), source.source());
		if (getContainer() != null && getContainer().getCurrentPage() != null) {
			getContainer().updateButtons();
		}
	}

	private ImportSettings settings() {
		return options.complete(source.input());
	}

	@Override
	public IWizardPage getNextPage(IWizardPage page) {
		return page == source ? options : null;
	}

	@Override
	public boolean canFinish() {
		return isReport() || source.isPageComplete() && options.isPageComplete();
	}

	/** Whether the import is done and only the report is to be read. */
	boolean isReport() {
		return getContainer().getCurrentPage() == report;
	}

	@Override
	public boolean performFinish() {
		if (isReport()) {
			return true;
		}
		ImportSettings settings = settings();
		ImportReport[] done = new ImportReport[1];
		IWizardPage page = getContainer().getCurrentPage();
		try {
			getContainer().run(true, true, monitor -> {
				try {
					done[0] = ImportTask.run(session.catalogue(), settings, new MonitorProgress(monitor));
				} catch (CancelledException e) {
					throw new InterruptedException();
				} catch (MemtraceException e) {
					throw new InvocationTargetException(e);
				}
			});
		} catch (InterruptedException e) {
			error(page, "The import was cancelled; nothing was kept.");
			return false;
		} catch (InvocationTargetException e) {
			Throwable cause = e.getCause();
			ILog.of(ImportWizard.class).warn("Import of " + settings.input() + " failed.", cause);
			error(page, cause instanceof MemtraceException ? cause.getMessage() : "The import failed: " + cause);
			return false;
		}
		session.catalogueChanged();
		if (settings.output() == null) {
			session.opener().open(done[0].trace());
		} else {
			session.opener().openDatabase(settings.output());
		}
		report.show(done[0]);
		getContainer().showPage(report);
		return false; // the report is read first
	}

	private static void error(IWizardPage page, String message) {
		((org.eclipse.jface.wizard.WizardPage) page).setErrorMessage(message);
	}
}
