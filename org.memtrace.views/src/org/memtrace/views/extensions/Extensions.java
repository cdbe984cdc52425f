// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.extensions;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;

import org.eclipse.core.runtime.CoreException;
import org.eclipse.core.runtime.IConfigurationElement;
import org.eclipse.core.runtime.IExtension;
import org.eclipse.core.runtime.IExtensionPoint;
import org.eclipse.core.runtime.IExtensionRegistry;
import org.eclipse.core.runtime.ILog;
import org.eclipse.core.runtime.IRegistryEventListener;
import org.memtrace.aggregation.AccessMetric;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.findings.rules.Rule;
import org.memtrace.analysis.findings.rules.Rules;
import org.memtrace.importer.InputReaders;
import org.memtrace.importer.reader.InputReader;

/**
 * Gives what other bundles declare at the extension points of this bundle to the registries of memtrace, as long as the bundles are
 * there. What cannot be used is told in the log in one sentence; everything else goes on. Events come in any thread.
 */
public final class Extensions implements IRegistryEventListener {
	/** The bundle whose plugin.xml has the points. */
	private static final String BUNDLE = "org.memtrace.views";

	/**
	 * An extension point: the name of the class goes into the attribute {@code class} of its elements.
	 *
	 * @param name after the name of the bundle
	 * @param named the name by which a user knows such an object
	 */
	private record Point<T>(String name, Class<T> type, Function<T, String> named, Consumer<T> add, Consumer<T> remove) {
		String id() {
			return BUNDLE + "." + name;
		}

		/** Makes the object of an element and adds it. */
		Use use(IConfigurationElement element) throws CoreException {
			Object made = element.createExecutableExtension("class");
			if (!type.isInstance(made)) {
				throw new IllegalArgumentException("it is no " + type.getSimpleName());
			}
			T object = type.cast(made);
			add.accept(object);
			return new Use(new Entry(element.getContributor().getName(), kind(), named.apply(object), ""), () -> remove.accept(object));
		}

		/** What it is a point for, in the singular. */
		String kind() {
			return name.substring(0, name.length() - 1);
		}
	}

	/**
	 * Something that a bundle declares at a point of memtrace.
	 *
	 * @param bundle symbolic name of the bundle
	 * @param kind {@code reader}, {@code rule}, {@code dimension}, {@code metric} or {@code view}
	 * @param name what a user types or reads, else the class
	 * @param problem why it cannot be used; empty when it is used
	 */
	public record Entry(String bundle, String kind, String name, String problem) {
	}

	/** @param undo takes it back again */
	private record Use(Entry entry, Runnable undo) {
	}

	/** Adding a kind of extension is its line here and its point in plugin.xml. */
	private static final List<Point<?>> POINTS = List.of(//
			new Point<>("readers", InputReader.class, InputReader::id, InputReaders::register, InputReaders::unregister), //
			new Point<>("rules", Rule.class, Rule::id, Rules::add, Rules::remove), //
			new Point<>("dimensions", Dimension.class, Dimension::id, Dimensions::add, Dimensions::remove), //
			new Point<>("metrics", AccessMetric.class, AccessMetric::id, Metric::add, Metric::remove));

	private static Extensions instance;

	private final Map<IExtension, List<Use>> used = new HashMap<>();

	private Extensions() {
	}

	/** Uses all extensions that are there, and follows bundles that come and go. Called once. */
	public static void follow(IExtensionRegistry registry) {
		Extensions extensions = new Extensions();
		instance = extensions;
		registry.addListener(extensions); // for all points: the registry knows a listener once only
		for (Point<?> point : POINTS) {
			IExtensionPoint declared = registry.getExtensionPoint(point.id());
			if (declared != null) {
				extensions.added(declared.getExtensions());
			}
		}
	}

	/** What is declared at the points of memtrace now, by bundle, kind and name. Views are declared at those of the platform. Any thread. */
	public static List<Entry> entries() {
		Extensions extensions = instance;
		if (extensions == null) {
			return List.of();
		}
		synchronized (extensions) {
			return extensions.used.values().stream().flatMap(List::stream).map(Use::entry)
					.sorted(Comparator.comparing(Entry::bundle).thenComparing(Entry::kind).thenComparing(Entry::name)).toList();
		}
	}

	@Override
	public synchronized void added(IExtension[] extensions) {
		for (IExtension extension : extensions) {
			Point<?> point = POINTS.stream().filter(p -> p.id().equals(extension.getExtensionPointUniqueIdentifier())).findFirst().orElse(null);
			if (point == null || used.containsKey(extension)) {
				continue; // it came while the listener was being added
			}
			List<Use> uses = new ArrayList<>();
			for (IConfigurationElement element : extension.getConfigurationElements()) {
				try {
					uses.add(point.use(element));
				} catch (CoreException | RuntimeException | LinkageError e) {
					ILog.of(Extensions.class).error(element.getAttribute("class") + " of " + extension.getContributor().getName()
							+ " cannot be used at " + point.id() + ": " + reason(e), e);
					uses.add(new Use(new Entry(element.getContributor().getName(), point.kind(), String.valueOf(element.getAttribute("class")),
							reason(e)), () -> {
							}));
				}
			}
			used.put(extension, uses);
		}
	}

	private static String reason(Throwable e) {
		Throwable cause = e;
		while (cause.getCause() != null) {
			cause = cause.getCause();
		}
		return cause.getMessage() == null ? cause.toString() : cause.getMessage();
	}

	@Override
	public synchronized void removed(IExtension[] extensions) {
		for (IExtension extension : extensions) {
			List<Use> uses = used.remove(extension);
			if (uses != null) {
				uses.forEach(u -> u.undo().run());
			}
		}
	}

	@Override
	public void added(IExtensionPoint[] points) {
		// ours are there as long as this bundle
	}

	@Override
	public void removed(IExtensionPoint[] points) {
		// likewise
	}
}
