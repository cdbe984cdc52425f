// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.extensions;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import org.eclipse.core.runtime.CoreException;
import org.eclipse.core.runtime.IConfigurationElement;
import org.eclipse.core.runtime.IExtension;
import org.eclipse.core.runtime.IExtensionPoint;
import org.eclipse.core.runtime.IExtensionRegistry;
import org.eclipse.core.runtime.ILog;
import org.eclipse.core.runtime.IRegistryEventListener;
import org.memtrace.aggregation.AccessMetric;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.Metric;
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
	 */
	private record Point<T>(String name, Class<T> type, Consumer<T> add, Consumer<T> remove) {
		String id() {
			return BUNDLE + "." + name;
		}

		/** Makes the object of an element and adds it; what takes it back again. */
		Runnable use(IConfigurationElement element) throws CoreException {
			Object made = element.createExecutableExtension("class");
			if (!type.isInstance(made)) {
				throw new IllegalArgumentException("it is no " + type.getSimpleName());
			}
			T object = type.cast(made);
			add.accept(object);
			return () -> remove.accept(object);
		}
	}

	/** Adding a kind of extension is its line here and its point in plugin.xml. */
	private static final List<Point<?>> POINTS = List.of(//
			new Point<>("readers", InputReader.class, InputReaders::register, InputReaders::unregister), //
			new Point<>("rules", Rule.class, Rules::add, Rules::remove), //
			new Point<>("dimensions", Dimension.class, Dimensions::add, Dimensions::remove), //
			new Point<>("metrics", AccessMetric.class, Metric::add, Metric::remove));

	/** What takes back what an extension has given. */
	private final Map<IExtension, List<Runnable>> used = new HashMap<>();

	private Extensions() {
	}

	/** Uses all extensions that are there, and follows bundles that come and go. Called once. */
	public static void follow(IExtensionRegistry registry) {
		Extensions extensions = new Extensions();
		registry.addListener(extensions); // for all points: the registry knows a listener once only
		for (Point<?> point : POINTS) {
			IExtensionPoint declared = registry.getExtensionPoint(point.id());
			if (declared != null) {
				extensions.added(declared.getExtensions());
			}
		}
	}

	@Override
	public synchronized void added(IExtension[] extensions) {
		for (IExtension extension : extensions) {
			Point<?> point = POINTS.stream().filter(p -> p.id().equals(extension.getExtensionPointUniqueIdentifier())).findFirst().orElse(null);
			if (point == null || used.containsKey(extension)) {
				continue; // it came while the listener was being added
			}
			List<Runnable> undo = new ArrayList<>();
			for (IConfigurationElement element : extension.getConfigurationElements()) {
				try {
					undo.add(point.use(element));
				} catch (CoreException | RuntimeException | LinkageError e) {
					ILog.of(Extensions.class).error(element.getAttribute("class") + " of " + extension.getContributor().getName()
							+ " cannot be used at " + point.id() + ": " + reason(e), e);
				}
			}
			used.put(extension, undo);
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
			List<Runnable> undo = used.remove(extension);
			if (undo != null) {
				undo.forEach(Runnable::run);
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
