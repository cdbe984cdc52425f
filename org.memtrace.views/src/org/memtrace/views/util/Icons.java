// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.util;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.eclipse.jface.resource.ImageDescriptor;
import org.eclipse.jface.resource.ResourceLocator;

/** The icons of this bundle; all are SVG and therefore sharp at every zoom. */
public final class Icons {
	/** Finding one goes through all of the platform, and a tree asks for each row each time. */
	private static final Map<String, ImageDescriptor> FOUND = new ConcurrentHashMap<>();

	private Icons() {
	}

	/** @param name file name without folder and ending */
	public static ImageDescriptor get(String name) {
		return FOUND.computeIfAbsent(name, n -> ResourceLocator.imageDescriptorFromBundle("org.memtrace.views", "icons/" + n + ".svg")
				.orElseGet(ImageDescriptor::getMissingImageDescriptor));
	}
}
