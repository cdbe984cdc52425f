// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.util;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;

import org.eclipse.core.runtime.ILog;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.List;
import org.eclipse.swt.widgets.ProgressBar;
import org.eclipse.swt.widgets.Scale;
import org.eclipse.swt.widgets.Slider;
import org.eclipse.swt.widgets.Spinner;
import org.eclipse.swt.widgets.Table;
import org.eclipse.swt.widgets.Text;
import org.eclipse.swt.widgets.Tree;

/**
 * The name of a control that GTK tells screen readers itself. SWT asks an accessible listener for the names of what it draws, and not for
 * those of GTK's own widgets: AT-SPI then has no name for a table, a text or a slider. So the name is given to GTK, by reflection, because
 * SWT has no public way and other systems have other classes. Where that does not work nothing happens. Display thread.
 */
final class NativeName {
	private static final String NAME = "accessible-name";
	private static boolean tried;
	private static Field handle;
	private static Method accessible;
	private static Method set;

	private NativeName() {
	}

	/** Tells GTK the name of a control, if it is one of its widgets. */
	static void set(Control control, String name) {
		boolean own = control instanceof Text || control instanceof Table || control instanceof Tree || control instanceof Combo
				|| control instanceof Spinner || control instanceof Scale || control instanceof Slider || control instanceof Button
				|| control instanceof List || control instanceof ProgressBar;
		if (!own || !isThere()) {
			return;
		}
		try {
			set.invoke(null, accessible.invoke(null, handle.get(control)), bytes(NAME), bytes(name), 0L);
		} catch (ReflectiveOperationException e) {
			ILog.of(NativeName.class).warn("A control has no name for screen readers: " + e.getMessage(), e);
			set = null;
		}
	}

	private static byte[] bytes(String text) {
		return (text + '\0').getBytes(StandardCharsets.UTF_8);
	}

	private static boolean isThere() {
		if (!tried) {
			tried = true;
			try {
				ClassLoader swt = Control.class.getClassLoader();
				handle = Control.class.getField("handle");
				accessible = swt.loadClass("org.eclipse.swt.internal.gtk3.GTK3").getMethod("gtk_widget_get_accessible", long.class);
				set = swt.loadClass("org.eclipse.swt.internal.gtk.OS").getMethod("g_object_set", long.class, byte[].class, byte[].class,
						long.class);
			} catch (ReflectiveOperationException | LinkageError e) {
				set = null; // another system, or another SWT
			}
		}
		return set != null;
	}
}
