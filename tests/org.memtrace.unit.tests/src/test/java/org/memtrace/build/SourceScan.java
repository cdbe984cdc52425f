// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.build;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;

/** How long the methods and files below a folder are and how many types its packages have; the sources are parsed only. */
final class SourceScan {
	/** Lines of the longest method of each name, by {@code Class.method}; the class is that of the file. */
	final Map<String, Integer> methods = new TreeMap<>();
	/** Lines of each file, by its name without {@code .java}. */
	final Map<String, Integer> files = new TreeMap<>();
	/** Types of each package that are in no other type. */
	final Map<String, Integer> types = new TreeMap<>();

	SourceScan(Path folder) throws IOException {
		List<Path> sources;
		try (Stream<Path> walk = Files.walk(folder)) {
			sources = walk.filter(p -> p.toString().endsWith(".java")).sorted().toList();
		}
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
			JavacTask task = (JavacTask) compiler.getTask(null, manager, null, List.of("-proc:none"), null,
					manager.getJavaFileObjectsFromPaths(sources));
			SourcePositions positions = Trees.instance(task).getSourcePositions();
			task.parse().forEach(unit -> add(unit, positions));
		}
	}

	private void add(CompilationUnitTree unit, SourcePositions positions) {
		Path path = Path.of(unit.getSourceFile().toUri());
		String file = path.getFileName().toString().replace(".java", "");
		try {
			files.merge(file, Files.readAllLines(path).size(), Math::max);
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
		if (!unit.getTypeDecls().isEmpty()) {
			types.merge(unit.getPackageName().toString(), unit.getTypeDecls().size(), Integer::sum);
		}
		new TreePathScanner<Void, Void>() {
			@Override
			public Void visitMethod(MethodTree method, Void none) {
				long lines = line(positions.getEndPosition(unit, method)) - line(positions.getStartPosition(unit, method)) + 1;
				methods.merge(file + "." + method.getName(), (int) lines, Math::max);
				return super.visitMethod(method, none);
			}

			private long line(long position) {
				return position < 0 ? 0 : unit.getLineMap().getLineNumber(position);
			}
		}.scan(unit, null);
	}
}
