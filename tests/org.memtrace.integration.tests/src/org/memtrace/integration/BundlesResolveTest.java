// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.integration;

import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.osgi.framework.Bundle;
import org.osgi.framework.FrameworkUtil;

/** The headless bundles and the libraries that they import resolve in OSGi. */
class BundlesResolveTest {
	private final List<Bundle> bundles = Arrays
			.asList(FrameworkUtil.getBundle(getClass()).getBundleContext().getBundles());

	@Test
	void headlessBundlesResolve() {
		for (String name : List.of("model", "storage", "importer", "aggregation", "analysis", "topology", "sql", "cli")) {
			Bundle bundle = find("org.memtrace." + name);
			assertNotEquals(Bundle.INSTALLED, bundle.getState(), bundle.getSymbolicName() + " is not resolved");
		}
	}

	@Test
	void importedLibrariesLoad() throws ClassNotFoundException {
		assertNotNull(find("org.memtrace.storage").loadClass("org.sqlite.JDBC"));
		assertNotNull(find("org.memtrace.importer").loadClass("com.github.luben.zstd.ZstdInputStream"));
		assertNotNull(find("org.memtrace.importer").loadClass("com.google.gson.Gson"));
		assertNotNull(find("org.memtrace.topology").loadClass("com.sun.jna.Native"));
		assertNotNull(find("org.memtrace.topology").loadClass("javax.xml.stream.XMLInputFactory"));
	}

	private Bundle find(String symbolicName) {
		List<Bundle> found = bundles.stream().filter(b -> symbolicName.equals(b.getSymbolicName())).toList();
		assertTrue(found.size() == 1, symbolicName + ": " + found.size() + " bundles, expected 1");
		return found.get(0);
	}
}
