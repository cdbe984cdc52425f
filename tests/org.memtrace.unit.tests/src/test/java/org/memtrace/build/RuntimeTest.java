// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.build;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The headless bundles run without OSGi and without the Eclipse platform. */
class RuntimeTest {
	@Test
	void noEclipseOnClassPath() {
		assertTrue(Runtime.version().feature() >= 21);
		assertThrows(ClassNotFoundException.class, () -> Class.forName("org.eclipse.swt.SWT"));
		assertThrows(ClassNotFoundException.class, () -> Class.forName("org.osgi.framework.Bundle"));
	}
}
