// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

import org.memtrace.cli.Main;
import org.memtrace.cli.output.Console;

/**
 * The help of many commands in one JVM, for releng/check-cli.sh: java -cp 'build/lib/*' releng/AllHelp.java FOLDER COMMAND...
 * What each says goes to FOLDER/COMMAND, what all of them say to FOLDER/overview.
 */
final class AllHelp {
	public static void main(String[] args) throws Exception {
		Path folder = Path.of(args[0]);
		for (int i = 0; i < args.length; i++) {
			String[] words = i == 0 ? new String[] { "--help" } : new String[] { args[i], "--help" };
			try (PrintStream out = new PrintStream(Files.newOutputStream(folder.resolve(i == 0 ? "overview" : args[i])), false,
					StandardCharsets.UTF_8)) {
				int code = Main.run(words, new Console(out, System.err, false, false, true));
				if (code != 0) {
					throw new IllegalStateException(String.join(" ", words) + ": exit code " + code);
				}
			}
		}
	}
}
