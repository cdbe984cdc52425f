// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.commands;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;

/** The example of record --io, with its pages as bytes. */
final class IoFolder {
	private IoFolder() {
	}

	/** Makes a folder io of a trace directory. */
	static Path copy(Path root, Path to) throws IOException {
		Files.createDirectories(to);
		List<Path> files;
		try (var list = Files.list(root.resolve("testdata/io/dd"))) {
			files = list.toList();
		}
		for (Path file : files) {
			String name = file.getFileName().toString();
			if (name.endsWith(".hex")) {
				Files.write(to.resolve(name.substring(0, name.length() - 4)), HexFormat.of().parseHex(Files.readString(file).replace("\n", "")));
			} else {
				Files.copy(file, to.resolve(name));
			}
		}
		return to;
	}
}
