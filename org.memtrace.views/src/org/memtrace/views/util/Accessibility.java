// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.util;

import java.util.function.Supplier;

import org.eclipse.swt.accessibility.ACC;
import org.eclipse.swt.accessibility.AccessibleAdapter;
import org.eclipse.swt.accessibility.AccessibleControlAdapter;
import org.eclipse.swt.accessibility.AccessibleControlEvent;
import org.eclipse.swt.accessibility.AccessibleEvent;
import org.eclipse.swt.widgets.Control;

/** Names for screen readers. */
public final class Accessibility {
	private Accessibility() {
	}

	/** Names a control that has no label of its own before it. */
	public static void name(Control control, String name) {
		control.getAccessible().addAccessibleListener(new AccessibleAdapter() {
			@Override
			public void getName(AccessibleEvent e) {
				e.result = name;
			}
		});
		NativeName.set(control, name);
	}

	/**
	 * Names a control that draws a picture. The suppliers are asked on the display thread, each time.
	 *
	 * @param description what it shows, null for none
	 * @param value what in it is selected, null for none
	 */
	public static void graphic(Control control, Supplier<String> name, Supplier<String> description, Supplier<String> value) {
		control.getAccessible().addAccessibleListener(new AccessibleAdapter() {
			@Override
			public void getName(AccessibleEvent e) {
				e.result = name.get();
			}

			@Override
			public void getDescription(AccessibleEvent e) {
				if (description != null) {
					e.result = description.get();
				}
			}
		});
		control.getAccessible().addAccessibleControlListener(new AccessibleControlAdapter() {
			@Override
			public void getRole(AccessibleControlEvent e) {
				e.detail = ACC.ROLE_GRAPHIC;
			}

			@Override
			public void getValue(AccessibleControlEvent e) {
				if (value != null) {
					e.result = value.get();
				}
			}
		});
	}
}
