// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.traces;

import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.resource.JFaceResources;
import org.eclipse.jface.wizard.IWizardPage;
import org.eclipse.jface.wizard.WizardPage;
import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Text;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.views.util.Accessibility;

/** What an import did: counts, and what is not in the trace, and why. */
final class ImportReportPage extends WizardPage {
	private Text text;

	ImportReportPage() {
		super("report");
		setTitle("Imported");
		setPageComplete(false);
	}

	@Override
	public void createControl(Composite parent) {
		Composite c = new Composite(parent, SWT.NONE);
		GridLayoutFactory.swtDefaults().margins(10, 10).applyTo(c);
		text = new Text(c, SWT.BORDER | SWT.MULTI | SWT.READ_ONLY | SWT.WRAP | SWT.V_SCROLL);
		text.setFont(JFaceResources.getTextFont());
		Accessibility.name(text, "Report of the import");
		GridDataFactory.fillDefaults().grab(true, true).hint(600, 220).applyTo(text);
		setControl(c);
	}

	void show(ImportReport report) {
		text.setText(report.toText());
		setTitle("Imported " + report.trace().alias());
		setDescription("This report is kept with the trace; the view Details shows it.");
		int n = report.warnings().size();
		setMessage(n == 0 ? null : n == 1 ? report.warnings().get(0) : n + " warnings, at the end of the report.", WARNING);
		setPageComplete(true);
	}

	@Override
	public IWizardPage getPreviousPage() {
		return null;
	}
}
