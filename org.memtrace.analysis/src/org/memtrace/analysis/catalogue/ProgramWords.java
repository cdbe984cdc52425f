// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.catalogue;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

import org.memtrace.model.TraceInfo;

/**
 * What a person calls the program of a trace: of {@code python -u prog.py 3} and {@code mpirun -np 8 ./lulesh -s 30} that is
 * {@code prog.py} and {@code lulesh}, not the interpreter or the launcher.
 *
 * @param program name of the script or program, without folders; empty when not known
 * @param arguments what follows it in the command, as it was typed; empty when nothing does
 */
public record ProgramWords(String program, String arguments) {
	private static final Pattern INTERPRETER = Pattern.compile(
			"(python|pypy|perl|ruby|lua|php)[0-9.]*|node|nodejs|Rscript|julia|guile|octave|octave-cli|java|(ba|da|z|k)?sh");
	private static final Pattern LAUNCHER = Pattern.compile(
			"mpirun|mpiexec|mpiexec\\.[a-z]+|mpirun\\.[a-z]+|orterun|prterun|prun|srun|aprun|jsrun|numactl|nice|nohup|env|time|timeout"
			+ "|stdbuf|taskset|chrt|ionice|setsid");
	/** Launchers with a word between their options and the program. */
	private static final Pattern WITH_WORD = Pattern.compile("timeout|taskset|chrt");
	/** Options of launchers that have their value in the next word; those with two. */
	private static final Set<String> LAUNCHER_VALUES = Set.of("-n", "-np", "-c", "-N", "-p", "-w", "-f", "-H", "-host", "--host", "-hosts",
			"-hostfile", "--hostfile", "-machinefile", "--machinefile", "-ppn", "-perhost", "-map-by", "--map-by", "-bind-to", "--bind-to",
			"-rank-by", "--rank-by", "-x", "-wdir", "--wdir", "-m", "-i", "-o", "-e", "-u", "-s", "-k", "--signal", "--kill-after");
	private static final Set<String> LAUNCHER_PAIRS = Set.of("-mca", "--mca", "-genv", "-env", "--prtemca");
	/** Options of interpreters that have their value in the next word. */
	private static final Set<String> VALUES = Set.of("-X", "-W", "-cp", "-classpath", "--class-path", "-p", "--module-path", "-I", "-r",
			"--require");
	/** After these comes code instead of a file. */
	private static final Set<String> CODE = Set.of("-c", "-e", "-E", "--eval");

	/** Of what is known of a trace. */
	public static ProgramWords of(TraceInfo trace) {
		return of(trace.application(), trace.properties().getOrDefault("command", ""));
	}

	/**
	 * Of a command.
	 *
	 * @param application file of the program that was started; may be empty
	 * @param command words as for a shell; may be empty
	 */
	public static ProgramWords of(String application, String command) {
		List<Integer> starts = new ArrayList<>();
		List<String> words = words(command, starts);
		int at = 0;
		while (at < words.size() && LAUNCHER.matcher(base(words.get(at))).matches()) {
			int next = afterOptions(words, at + 1);
			next += WITH_WORD.matcher(base(words.get(at))).matches() && next + 1 < words.size() && words.get(next).matches("[0-9].*") ? 1 : 0;
			if (next >= words.size()) {
				break;
			}
			at = next;
		}
		String name = at > 0 && at < words.size() ? base(words.get(at)) : base(application);
		if (at < words.size() && INTERPRETER.matcher(base(words.get(at))).matches()) {
			int script = script(words, at + 1);
			if (script > 0) {
				at = script;
				name = base(words.get(at));
			}
		}
		int rest = at + 1;
		return new ProgramWords(name, rest < words.size() ? command.substring(starts.get(rest)).strip() : "");
	}

	private static int afterOptions(List<String> words, int from) {
		int i = from;
		while (i < words.size() && (words.get(i).startsWith("-") || words.get(i).matches("[A-Za-z_][A-Za-z_0-9]*=.*"))) {
			i += LAUNCHER_PAIRS.contains(words.get(i)) ? 3 : LAUNCHER_VALUES.contains(words.get(i)) ? 2 : 1;
		}
		return i;
	}

	/** Which word is the script, module, class or archive; -1 when there is none. */
	private static int script(List<String> words, int from) {
		int i = from;
		while (i < words.size() && words.get(i).startsWith("-")) {
			String option = words.get(i);
			if (CODE.contains(option)) {
				return -1;
			}
			if (option.equals("-m") || option.equals("-jar") || option.equals("--module")) {
				return i + 1 < words.size() ? i + 1 : -1;
			}
			i += VALUES.contains(option) ? 2 : 1;
		}
		return i < words.size() ? i : -1;
	}

	private static String base(String file) {
		return file.substring(file.lastIndexOf('/') + 1);
	}

	/** Words of a command, without their quotes, and where each begins. */
	private static List<String> words(String command, List<Integer> starts) {
		List<String> words = new ArrayList<>();
		StringBuilder word = null;
		char quote = 0;
		for (int i = 0; i < command.length(); i++) {
			char c = command.charAt(i);
			if (quote == 0 && Character.isWhitespace(c)) {
				if (word != null) {
					words.add(word.toString());
					word = null;
				}
				continue;
			}
			if (word == null) {
				word = new StringBuilder();
				starts.add(i);
			}
			if (quote == 0 && (c == '\'' || c == '"')) {
				quote = c;
			} else if (c == quote) {
				quote = 0;
			} else if (quote == 0 && c == '\\' && i + 1 < command.length()) {
				word.append(command.charAt(++i));
			} else {
				word.append(c);
			}
		}
		if (word != null) {
			words.add(word.toString());
		}
		return words;
	}
}
