// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.build;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Paths of this repository in texts for people: {@code releng/x.sh}, {@code org.memtrace.views/…/{A,B}.java}. */
final class NamedPaths {
	/** What is made by a build, and is no part of the repository. */
	private static final Set<String> MADE = Set.of("build", "target", ".git", "site", "__pycache__");
	private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
	private static final Pattern BRACES = Pattern.compile("\\{[^{}]*\\}");
	/** A part that stands for a name: {@code backend_NAME.c}, {@code DIR/x}. */
	private static final Pattern PLACEHOLDER = Pattern.compile("(^|[/_.])(NAME|DIR|FILE|BUNDLE|PART|X)([/_.]|Format|$)");

	private final Path root;
	private final Set<Path> all = new TreeSet<>();
	private final Pattern named;

	NamedPaths(Path root) throws IOException {
		this.root = root;
		Files.walkFileTree(root, new SimpleFileVisitor<>() {
			@Override
			public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
				if (MADE.contains(folder.getFileName().toString()) && !folder.equals(root) && !folder.toString().contains("/src/")) {
					return FileVisitResult.SKIP_SUBTREE;
				}
				all.add(root.relativize(folder));
				return FileVisitResult.CONTINUE;
			}

			@Override
			public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
				all.add(root.relativize(file));
				return FileVisitResult.CONTINUE;
			}
		});
		String folders = all.stream().filter(p -> p.getNameCount() == 1 && !p.toString().isEmpty() && Files.isDirectory(root.resolve(p)))
				.map(p -> Pattern.quote(p.toString())).collect(Collectors.joining("|"));
		named = Pattern.compile("(?<![\\w/.…\\-~$}])(?:\\./)?((?:" + folders + ")/[\\w./{},*…\\-+]*(?:\\[[a-z]+])?)");
	}

	/** The texts that are looked at. */
	List<Path> texts() throws IOException {
		List<Path> texts = new ArrayList<>(List.of(root.resolve("README.md"), root.resolve("ARCHITECTURE.md"),
				root.resolve("CONTRIBUTING.md")));
		try (Stream<Path> walk = Files.walk(root.resolve("docs"))) {
			walk.filter(p -> p.toString().endsWith(".md")).sorted().forEach(texts::add);
		}
		return texts;
	}

	/** The paths that a text names and that are not there. */
	List<String> missing(String text) {
		List<String> missing = new ArrayList<>();
		String joined = BRACES.matcher(text).replaceAll(m -> Matcher.quoteReplacement(m.group().replaceAll("\\s+", "")));
		Matcher names = named.matcher(LINK.matcher(joined).replaceAll("]"));
		while (names.find()) {
			String path = names.group(1).replaceFirst("[.,/]+$", "");
			if (!path.contains("/target/") && !PLACEHOLDER.matcher(path).find()) {
				alternatives(path).stream().filter(p -> !exists(p)).forEach(missing::add);
			}
		}
		return missing;
	}

	/** A path for each word in braces. */
	private static List<String> alternatives(String path) {
		Matcher braces = BRACES.matcher(path);
		if (!braces.find()) {
			return List.of(path);
		}
		List<String> all = new ArrayList<>();
		for (String word : path.substring(braces.start() + 1, braces.end() - 1).split(",", -1)) {
			all.addAll(alternatives(path.substring(0, braces.start()) + word + path.substring(braces.end())));
		}
		return all;
	}

	private boolean exists(String path) {
		if (!path.contains("…") && !path.contains("*") && !path.contains("[")) {
			return all.contains(Path.of(path));
		}
		PathMatcher matcher = root.getFileSystem().getPathMatcher("glob:" + path.replace("…", "**"));
		return all.stream().anyMatch(matcher::matches);
	}
}
