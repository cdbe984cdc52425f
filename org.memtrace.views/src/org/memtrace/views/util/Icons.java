// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.util;

import org.eclipse.jface.resource.ImageDescriptor;
import org.eclipse.jface.resource.ResourceLocator;

/** The icons of this bundle; all are SVG and therefore sharp at every zoom. */
public final class Icons {
	private Icons() {
	}

	/** @param name file name without folder and ending */
	public static ImageDescriptor get(String name) {
		return ResourceLocator.imageDescriptorFromBundle("org.memtrace.views", "icons/" + name + ".svg")
				.orElseGet(ImageDescriptor::getMissingImageDescriptor);
	}
}
