// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli;

import java.io.IOException;
import java.io.PrintStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.function.Consumer;
import java.util.zip.ZipFile;

import org.memtrace.aggregation.AccessMetric;
import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.findings.rules.Rule;
import org.memtrace.analysis.findings.rules.Rules;
import org.memtrace.importer.InputReaders;
import org.memtrace.importer.reader.InputReader;
import org.memtrace.model.ExtensionFiles;
import org.memtrace.model.MemtraceException;

/**
 * Gives what others have written to the registries: each archive has a list {@code META-INF/services/TYPE} of its classes. What is
 * wrong with one of them is told in one sentence, and the command goes on without it.
 */
final class Extensions {
	/** A kind of thing that an archive may have: its type, and the registry that takes it. */
	private record Kind<T>(Class<T> type, Consumer<T> registry) {
		void load(Path archive, ClassLoader loader, PrintStream err) {
			Iterator<ServiceLoader.Provider<T>> all = ServiceLoader.load(type, loader).stream().iterator();
			for (int broken = 0; broken < MAX_BROKEN;) {
				try {
					if (!all.hasNext()) {
						return;
					}
					ServiceLoader.Provider<T> one = all.next();
					if (one.type().getClassLoader() == loader) {
						registry.accept(one.get());
					}
				} catch (ServiceConfigurationError | LinkageError | RuntimeException e) {
					broken++;
					Throwable reason = e.getCause() == null ? e : e.getCause();
					err.println("memtrace: " + archive + ": an extension of it cannot be used: "
							+ (reason instanceof ServiceConfigurationError ? reason.getMessage() : reason));
				}
			}
		}
	}

	/** An archive with more things that cannot be used is left. */
	private static final int MAX_BROKEN = 20;
	private static final List<Kind<?>> KINDS = List.of(//
			new Kind<>(InputReader.class, InputReaders::register), //
			new Kind<>(Rule.class, Rules::add), //
			new Kind<>(Dimension.class, Dimensions::add), //
			new Kind<>(AccessMetric.class, Metric::add));

	private Extensions() {
	}

	/**
	 * Loads all archives, once before the first command.
	 *
	 * @param home folder of the user's traces
	 * @param variable see {@link ExtensionFiles}
	 * @param err where a sentence about each thing that cannot be used goes
	 */
	static void load(Path home, String variable, PrintStream err) {
		List<Path> archives;
		try {
			archives = ExtensionFiles.find(home, variable);
		} catch (MemtraceException e) {
			err.println("memtrace: " + e.getMessage());
			return;
		}
		for (Path archive : archives) {
			try (ZipFile readable = new ZipFile(archive.toFile())) {
				ClassLoader loader = new URLClassLoader("extension " + archive.getFileName(), new URL[] { url(archive) },
						Extensions.class.getClassLoader());
				for (Kind<?> kind : KINDS) {
					kind.load(archive, loader, err);
				}
			} catch (IOException e) {
				err.println("memtrace: " + archive + ": the extension cannot be read: " + e.getMessage());
			}
		}
	}

	private static URL url(Path archive) throws MalformedURLException {
		return archive.toUri().toURL();
	}
}
