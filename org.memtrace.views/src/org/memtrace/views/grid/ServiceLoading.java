// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.grid;

import org.eclipse.core.runtime.ILog;
import org.eclipse.core.runtime.Platform;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleException;

/**
 * Starts the mediator through which NatTable's collections and log are found by the service loader. It reads the manifests of all bundles,
 * so it is not started with the platform but before the first table is made, or in the background.
 */
public final class ServiceLoading {
	private static final String MEDIATOR = "org.apache.aries.spifly.dynamic.bundle";

	private ServiceLoading() {
	}

	/** Starts it unless it is there already; any thread. */
	public static synchronized void start() {
		Bundle mediator = Platform.getBundle(MEDIATOR);
		if (mediator != null && mediator.getState() != Bundle.ACTIVE) {
			try {
				mediator.start(Bundle.START_TRANSIENT);
			} catch (BundleException e) {
				ILog.of(ServiceLoading.class).error("Tables cannot be shown: " + e.getMessage(), e);
			}
		}
	}
}
