// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.extensions;

import java.nio.file.Path;
import java.util.List;

import org.eclipse.core.runtime.ILog;
import org.memtrace.model.ExtensionFiles;
import org.memtrace.model.MemtraceException;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;
import org.osgi.framework.FrameworkUtil;

/** Installs the archives of the user as bundles. */
public final class ExtensionBundles {
	private ExtensionBundles() {
	}

	/**
	 * Installs and starts them, before the first window opens; an archive that was installed before is read again. What cannot be
	 * used is told in the log in one sentence, and the workbench starts without it.
	 *
	 * @param home folder of the user's traces
	 * @param variable see {@link ExtensionFiles}
	 */
	public static void install(Path home, String variable) {
		List<Path> archives;
		try {
			archives = ExtensionFiles.find(home, variable);
		} catch (MemtraceException e) {
			ILog.of(ExtensionBundles.class).error(e.getMessage(), e);
			return;
		}
		for (Path archive : archives) {
			try {
				install(archive);
			} catch (BundleException | RuntimeException e) {
				ILog.of(ExtensionBundles.class).error(archive + ": the extension cannot be used: " + e.getMessage(), e);
			}
		}
	}

	/** Installs and starts one archive, which has a class only when somebody asks for it. */
	public static Bundle install(Path archive) throws BundleException {
		BundleContext context = FrameworkUtil.getBundle(ExtensionBundles.class).getBundleContext();
		String location = "reference:" + archive.toUri();
		Bundle bundle = context.getBundle(location);
		if (bundle == null) {
			bundle = context.installBundle(location);
		} else {
			bundle.update();
		}
		bundle.start(Bundle.START_ACTIVATION_POLICY);
		return bundle;
	}
}
