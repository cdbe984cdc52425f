// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.help;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.TreeSet;

import org.eclipse.core.runtime.IConfigurationElement;
import org.eclipse.core.runtime.Platform;
import org.eclipse.jface.dialogs.Dialog;
import org.eclipse.jface.dialogs.IDialogConstants;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.resource.JFaceResources;
import org.eclipse.swt.SWT;
import org.eclipse.swt.dnd.Clipboard;
import org.eclipse.swt.dnd.TextTransfer;
import org.eclipse.swt.dnd.Transfer;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.swt.widgets.Text;
import org.eclipse.ui.PlatformUI;
import org.memtrace.model.MemtraceException;
import org.memtrace.topology.Hwloc;
import org.memtrace.views.extensions.Extensions;
import org.memtrace.views.extensions.Extensions.Entry;
import org.memtrace.views.preferences.Settings;
import org.memtrace.views.util.Accessibility;
import org.osgi.framework.Bundle;

/** Versions and licences, to be read and to be copied into a report. */
final class AboutDialog extends Dialog {
	/** The bundle whose plugin.xml has the points, and the category of views. */
	private static final String OWN = "org.memtrace.views";
	private static final int COPY = IDialogConstants.CLIENT_ID;

	/** A bundle, what a person calls it, its licence. */
	private record Part(String bundle, String name, String licence) {
	}

	private static final List<Part> PARTS = List.of( //
			new Part("org.memtrace.views", "memtrace", "EPL-2.0; kernel module GPL-2.0"),
			new Part("org.eclipse.ui", "Eclipse platform", "EPL-2.0"), new Part("org.eclipse.swt", "SWT", "EPL-2.0"),
			new Part("org.eclipse.nebula.widgets.nattable.core", "NatTable", "EPL-2.0"),
			new Part("org.xerial.sqlite-jdbc", "SQLite JDBC", "Apache-2.0; SQLite: public domain"),
			new Part("com.h2database", "H2", "MPL-2.0 or EPL-1.0"), new Part("com.sun.jna", "JNA", "Apache-2.0 or LGPL-2.1"),
			new Part("com.google.gson", "Gson", "Apache-2.0"), new Part("com.github.luben.zstd-jni", "zstd-jni", "BSD-2-Clause"),
			new Part("org.eclipse.collections.api", "Eclipse Collections", "EPL-1.0 or EDL-1.0"),
			new Part("slf4j.api", "SLF4J", "MIT"), new Part("com.github.weisj.jsvg", "JSVG", "MIT"));

	AboutDialog(Shell parent) {
		super(parent);
		setShellStyle(getShellStyle() | SWT.RESIZE);
	}

	@Override
	protected void configureShell(Shell shell) {
		super.configureShell(shell);
		shell.setText("About memtrace");
	}

	@Override
	protected Control createDialogArea(Composite parent) {
		Composite area = (Composite) super.createDialogArea(parent);
		Label title = new Label(area, SWT.NONE);
		title.setText("memtrace " + version("org.memtrace.views"));
		title.setFont(JFaceResources.getHeaderFont());
		Label what = new Label(area, SWT.WRAP);
		what.setText("Shows how the threads of a program use its memory pages.\n© memtrace contributors, EPL-2.0; the kernel module is GPL-2.0. "
				+ "The texts of all licences are in the folder LICENSES of the installation.");
		GridDataFactory.fillDefaults().hint(560, SWT.DEFAULT).applyTo(what);
		Text text = new Text(area, SWT.READ_ONLY | SWT.MULTI | SWT.BORDER | SWT.V_SCROLL | SWT.H_SCROLL);
		text.setFont(JFaceResources.getTextFont());
		text.setText(versions());
		Accessibility.name(text, "Versions, licences and extensions");
		PlatformUI.getWorkbench().getHelpSystem().setHelp(area, "org.memtrace.views.about");
		GridDataFactory.fillDefaults().grab(true, true).hint(560, 300).applyTo(text);
		return area;
	}

	/** A line for each part, with its licence. */
	static String versions() {
		StringBuilder b = new StringBuilder();
		for (Part p : PARTS) {
			String version = version(p.bundle());
			if (!version.isEmpty()) {
				line(b, p.name(), version, p.licence());
			}
		}
		b.append('\n');
		line(b, "Java", System.getProperty("java.version"), System.getProperty("java.vm.name"));
		line(b, "System", System.getProperty("os.name") + " " + System.getProperty("os.version"), System.getProperty("os.arch"));
		String gtk = System.getProperty("org.eclipse.swt.internal.gtk.version");
		if (gtk != null) {
			line(b, "GTK", gtk, "LGPL-2.1");
		}
		String hwloc;
		try {
			hwloc = Hwloc.load().version();
		} catch (MemtraceException e) {
			hwloc = "not installed";
		}
		line(b, "hwloc", hwloc, "BSD-3-Clause");
		b.append('\n');
		b.append(extensions()).append('\n');
		line(b, "Catalogue", Settings.catalogue().toString(), "");
		line(b, "Memory", Runtime.getRuntime().maxMemory() / (1 << 20) + " MiB at most", "");
		return b.toString();
	}

	/** The bundles that add something to memtrace, each with what it adds, or why that cannot be used. */
	static String extensions() {
		List<Entry> entries = new ArrayList<>(Extensions.entries());
		for (IConfigurationElement view : Platform.getExtensionRegistry().getConfigurationElementsFor("org.eclipse.ui.views")) {
			String bundle = view.getContributor().getName();
			if ((OWN + ".category").equals(view.getAttribute("category")) && !bundle.equals(OWN)) {
				entries.add(new Entry(bundle, "view", view.getAttribute("name"), ""));
			}
		}
		if (entries.isEmpty()) {
			return "Extensions           none; the help tells how to add some: Press F1\n";
		}
		StringBuilder b = new StringBuilder("Extensions\n");
		for (String id : new TreeSet<>(entries.stream().map(Entry::bundle).toList())) {
			Bundle bundle = Platform.getBundle(id);
			line(b, "  " + id, version(id), bundle == null ? "" : Objects.toString(bundle.getHeaders().get("Bundle-License"), ""));
			for (Entry e : entries) {
				if (e.bundle().equals(id)) {
					b.append("    ").append(e.kind()).append(' ').append(e.name())
							.append(e.problem().isEmpty() ? "" : " cannot be used: " + e.problem()).append('\n');
				}
			}
		}
		return b.toString();
	}

	private static void line(StringBuilder b, String name, String version, String licence) {
		b.append(String.format(Locale.ROOT, "%-20s %-28s %s", name, version, licence).stripTrailing()).append('\n');
	}

	private static String version(String bundle) {
		Bundle b = Platform.getBundle(bundle);
		return b == null ? "" : b.getVersion().toString().replace(".qualifier", "");
	}

	@Override
	protected void createButtonsForButtonBar(Composite parent) {
		createButton(parent, COPY, "&Copy", false);
		createButton(parent, IDialogConstants.OK_ID, IDialogConstants.CLOSE_LABEL, true);
	}

	@Override
	protected void buttonPressed(int id) {
		if (id == COPY) {
			Clipboard clipboard = new Clipboard(getShell().getDisplay());
			clipboard.setContents(new Object[] { versions() }, new Transfer[] { TextTransfer.getInstance() });
			clipboard.dispose();
		} else {
			super.buttonPressed(id);
		}
	}
}
