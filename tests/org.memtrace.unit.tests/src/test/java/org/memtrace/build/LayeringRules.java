// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.build;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.Attributes;
import java.util.jar.Manifest;

/** Who may use whom, as drawn in ARCHITECTURE.md; nothing else is allowed. */
final class LayeringRules {
	private static final String OURS = "org.memtrace.";
	/** The arrows, with what they lead to. */
	static final Map<String, Set<String>> MAY_USE = Map.ofEntries( //
			Map.entry("model", Set.of()), //
			Map.entry("storage", Set.of("model")), //
			Map.entry("importer", Set.of("model")), //
			Map.entry("aggregation", Set.of("model")), //
			Map.entry("analysis", Set.of("aggregation", "model")), //
			Map.entry("topology", Set.of("analysis", "model")), //
			Map.entry("sql", Set.of("model")), //
			Map.entry("serve", Set.of("analysis", "aggregation", "model")), //
			Map.entry("cli", Set.of("serve", "sql", "topology", "analysis", "aggregation", "importer", "storage", "model")), //
			Map.entry("views", Set.of("sql", "topology", "analysis", "aggregation", "importer", "storage", "model")), //
			Map.entry("rcp", Set.of("views", "analysis", "aggregation", "importer", "storage", "model")));

	/** Packages that only these bundles may use; the longest prefix that fits decides. Everything else is forbidden. */
	private static final Map<String, Set<String>> ONLY = Map.ofEntries( //
			Map.entry("java.", MAY_USE.keySet()), //
			Map.entry("javax.imageio.", Set.of("analysis", "cli")), //
			Map.entry("java.awt.", Set.of("analysis", "cli")), //
			Map.entry("java.sql.", Set.of("storage", "sql")), //
			Map.entry("javax.sql.", Set.of("storage")), //
			Map.entry("org.sqlite.", Set.of("storage")), //
			Map.entry("org.h2.", Set.of("storage")), //
			Map.entry("org.postgresql.", Set.of("storage")), //
			Map.entry("java.nio.file.", Set.of("model", "storage", "importer", "analysis", "sql", "serve", "cli", "views", "rcp")), //
			Map.entry("com.google.gson.", Set.of("importer", "analysis", "serve", "cli", "views")), //
			Map.entry("com.sun.net.httpserver.", Set.of("serve")), //
			Map.entry("org.tomlj.", Set.of("analysis")), //
			Map.entry("org.apache.pdfbox.", Set.of("analysis")), //
			Map.entry("org.apache.fontbox.", Set.of("analysis")), //
			Map.entry("com.github.luben.zstd.", Set.of("storage", "importer", "analysis")), //
			Map.entry("org.apache.parquet.", Set.of("analysis")), //
			Map.entry("shaded.parquet.", Set.of("analysis")), //
			Map.entry("com.sun.jna.", Set.of("topology")), //
			Map.entry("javax.xml.stream.", Set.of("analysis", "topology")), //
			Map.entry("org.eclipse.", Set.of("views", "rcp")), //
			Map.entry("jakarta.", Set.of("views", "rcp")), //
			Map.entry("org.osgi.", Set.of("views", "rcp")));

	/** The only class of storage that others may name: everything else goes through the interfaces of model. */
	private static final String FACTORY = OURS + "storage.Stores";

	/** Only these may end the process. */
	private static final Set<String> MAY_EXIT = Set.of(OURS + "cli.Main");

	private LayeringRules() {
	}

	/** One line for each thing that is not allowed; @param bundle the last part of its name. */
	static List<String> checkClass(String bundle, String className, Set<String> references) {
		List<String> wrong = new ArrayList<>();
		for (String reference : references) {
			int method = reference.indexOf('#');
			String target = method < 0 ? reference : reference.substring(0, method);
			if (method >= 0) {
				boolean exit = reference.equals("java.lang.System#exit") || reference.equals("java.lang.Runtime#halt")
						|| reference.equals("java.lang.Runtime#exit");
				if (exit && !MAY_EXIT.contains(className.replaceFirst("\\$.*", ""))) {
					wrong.add(className + " calls " + reference.replace('#', '.') + "()");
				}
			} else if (!mayUse(bundle, target)) {
				wrong.add(className + " uses " + target);
			}
		}
		return wrong;
	}

	private static boolean mayUse(String bundle, String target) {
		if (target.startsWith(OURS)) {
			String other = target.substring(OURS.length()).replaceFirst("\\..*", "");
			if (other.equals(bundle)) {
				return true;
			}
			if (other.equals("storage") && !target.replaceFirst("\\$.*", "").equals(FACTORY)) {
				return false;
			}
			return MAY_USE.get(bundle).contains(other);
		}
		String best = "";
		for (String prefix : ONLY.keySet()) {
			if (target.startsWith(prefix) && prefix.length() > best.length()) {
				best = prefix;
			}
		}
		return !best.isEmpty() && ONLY.get(best).contains(bundle);
	}

	/** The same for a manifest: required bundles and imported packages. */
	static List<String> checkManifest(String bundle, Manifest manifest) {
		List<String> wrong = new ArrayList<>();
		Attributes a = manifest.getMainAttributes();
		for (String required : names(a.getValue("Require-Bundle"))) {
			boolean allowed = required.startsWith(OURS)
					? MAY_USE.get(bundle).contains(required.substring(OURS.length()))
					: required.startsWith("org.eclipse.") && mayUse(bundle, required + ".");
			if (!allowed) {
				wrong.add(OURS + bundle + " requires the bundle " + required);
			}
		}
		for (String imported : names(a.getValue("Import-Package"))) {
			if (!mayUse(bundle, imported + ".")) {
				wrong.add(OURS + bundle + " imports the package " + imported);
			}
		}
		if (!(OURS + bundle).equals(names(a.getValue("Bundle-SymbolicName")).iterator().next())) {
			wrong.add(OURS + bundle + " is not its Bundle-SymbolicName");
		}
		return wrong;
	}

	/** The names of an OSGi header without attributes and quoted texts. */
	private static Set<String> names(String header) {
		Set<String> names = new TreeSet<>();
		if (header != null) {
			for (String clause : header.replaceAll("\"[^\"]*\"", "").split(",")) {
				names.add(clause.replaceFirst(";.*", "").trim());
			}
		}
		return names;
	}
}
