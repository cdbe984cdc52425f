// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.args;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A command line, checked against the command table: known options, values of the right type within their limits, the
 * right number of positional arguments. Options are named by their long name without dashes; without the option on the
 * command line its default in the table is returned. A name that is not in the table is a bug and throws
 * {@link IllegalArgumentException}.
 */
public final class CommandLine {
	private final CommandSpec spec;
	private final Map<String, OptionSpec> options = new LinkedHashMap<>();
	private final Map<String, List<String>> given = new LinkedHashMap<>();
	private final List<String> arguments = new ArrayList<>();
	private boolean help;

	private CommandLine(CommandSpec spec) {
		this.spec = spec;
		spec.options().forEach(o -> options.put(o.name(), o));
		CommandTable.common().options().forEach(o -> options.putIfAbsent(o.name(), o));
	}

	/**
	 * @param command a name in the table
	 * @param args what stands behind it
	 */
	public static CommandLine parse(String command, String... args) throws UsageException {
		CommandSpec spec = CommandTable.find(command);
		if (spec == null) {
			throw new IllegalArgumentException("no command " + command + " in the table");
		}
		CommandLine line = new CommandLine(spec);
		line.parse(args);
		return line;
	}

	/** Whether --help was given; nothing behind it was checked. */
	public boolean isHelp() {
		return help;
	}

	CommandSpec spec() {
		return spec;
	}

	/** Whether the option is on the command line. */
	public boolean has(String option) {
		known(option);
		return given.containsKey(option);
	}

	/** Last value given, else the default, else null. */
	public String get(String option) {
		OptionSpec o = known(option);
		List<String> values = given.get(option);
		return values == null ? o.defaultValue() : values.get(values.size() - 1);
	}

	/** All values given, in their order; the default alone when there are none. */
	public List<String> getAll(String option) {
		OptionSpec o = known(option);
		List<String> values = given.get(option);
		if (values != null) {
			return List.copyOf(values);
		}
		return o.defaultValue() == null ? List.of() : List.of(o.defaultValue());
	}

	/** Whether the result is wanted as JSON, by {@code --format json} or its short form {@code --json}. */
	public boolean isJson() {
		return options.containsKey("format") && "json".equals(get("format")) || options.containsKey("json") && has("json");
	}

	/** Null when not given and without default. */
	public Path getPath(String option) {
		String s = typed(option, OptionSpec.Type.PATH);
		return s == null ? null : Path.of(s);
	}

	public long getInt(String option) {
		return Values.parseInt(needed(option, OptionSpec.Type.INT));
	}

	public double getNumber(String option) {
		return Values.parseNumber(needed(option, OptionSpec.Type.NUMBER));
	}

	public long getDurationNs(String option) {
		return Values.parseDurationNs(needed(option, OptionSpec.Type.DURATION));
	}

	public long getSizeBytes(String option) {
		return Values.parseSizeBytes(needed(option, OptionSpec.Type.SIZE));
	}

	/** Positional arguments. */
	public List<String> arguments() {
		return List.copyOf(arguments);
	}

	/** The positional argument at {@code index}, or null. */
	public String argument(int index) {
		return index < arguments.size() ? arguments.get(index) : null;
	}

	/**
	 * This line of a command whose first argument ends the options, where it takes no arguments of another program: options are known between
	 * and behind the arguments, too. The argument {@code --} stays.
	 */
	public CommandLine withOptionsAnywhere() throws UsageException {
		CommandLine line = new CommandLine(spec);
		line.given.putAll(given);
		for (int i = 0; i < arguments.size(); i++) {
			String s = arguments.get(i);
			if (s.length() < 2 || s.charAt(0) != '-' || s.equals("--")) {
				line.arguments.add(s);
				continue;
			}
			OptionSpec o = spec.options().stream().filter(c -> s.equals("--" + c.name()) || s.equals("-" + c.letter())).findFirst().orElse(null);
			boolean two = o != null && o.type() != OptionSpec.Type.FLAG && !o.optional() && i + 1 < arguments.size();
			line.parse(two ? new String[] {s, arguments.get(++i)} : new String[] {s});
		}
		return line;
	}

	/** The options on the command line, as {@code --name=value} and {@code --flag}. */
	public List<String> given() {
		List<String> all = new ArrayList<>();
		given.forEach((name, values) -> values
				.forEach(value -> all.add("--" + name + (known(name).type() == OptionSpec.Type.FLAG ? "" : "=" + value))));
		return all;
	}

	/** The options that this command has, of some. */
	public List<String> known(List<String> names) {
		return names.stream().filter(options::containsKey).toList();
	}

	/**
	 * This line with other arguments, and with values of options that something else has decided. An option that is given, too, must have
	 * this value.
	 *
	 * @param decided as {@code --name=value}
	 * @param why what has decided them, for the sentence of a contradiction
	 */
	public CommandLine with(List<String> others, List<String> decided, String why) throws UsageException {
		CommandLine line = new CommandLine(spec);
		line.given.putAll(given);
		line.arguments.addAll(others);
		for (String option : decided) {
			int equals = option.indexOf('=');
			String name = option.substring(2, equals);
			String value = option.substring(equals + 1);
			if (has(name) && !get(name).equals(value)) {
				throw new UsageException("--" + name + " is '" + get(name) + "', but " + why + " " + option);
			}
			if (!has(name)) {
				line.add(known(name), value);
			}
		}
		return line;
	}

	private OptionSpec known(String option) {
		OptionSpec o = options.get(option);
		if (o == null) {
			throw new IllegalArgumentException("the command table has no option --" + option + " for " + spec.name());
		}
		return o;
	}

	private String typed(String option, OptionSpec.Type type) {
		if (known(option).type() != type) {
			throw new IllegalArgumentException("--" + option + " is not of type " + type);
		}
		return get(option);
	}

	private String needed(String option, OptionSpec.Type type) {
		String s = typed(option, type);
		if (s == null) {
			throw new IllegalStateException("--" + option + " has no default: ask has() first");
		}
		return s;
	}

	private void parse(String[] args) throws UsageException {
		boolean options = true;
		for (int i = 0; i < args.length && !help; i++) {
			String s = args[i];
			if (!options || s.length() < 2 || s.charAt(0) != '-') {
				arguments.add(s);
				options &= !spec.rest();
			} else if (s.equals("--")) {
				options = false;
			} else if (s.startsWith("--")) {
				int equals = s.indexOf('=');
				OptionSpec o = this.options.get(equals < 0 ? s.substring(2) : s.substring(2, equals));
				if (o == null) {
					throw unknown(s);
				}
				if (o.type() == OptionSpec.Type.FLAG) {
					if (equals >= 0) {
						throw new UsageException("--" + o.name() + " takes no value");
					}
					add(o, "");
				} else if (equals >= 0) {
					add(o, s.substring(equals + 1));
				} else if (o.optional()) {
					add(o, o.defaultValue());
				} else if (i + 1 < args.length) {
					add(o, args[++i]);
				} else {
					throw new UsageException("--" + o.name() + " needs a value (" + o.value() + ")");
				}
			} else {
				i = letters(args, i);
			}
		}
		if (!help) {
			checkCount();
		}
	}

	/** A group of short options such as -qp0.5; returns the index of the last argument used. */
	private int letters(String[] args, int i) throws UsageException {
		String s = args[i];
		for (int k = 1; k < s.length() && !help; k++) {
			char letter = s.charAt(k);
			OptionSpec o = options.values().stream().filter(c -> c.letter() == letter).findFirst().orElse(null);
			if (o == null) {
				throw unknown(s);
			}
			if (o.type() == OptionSpec.Type.FLAG) {
				add(o, "");
			} else if (k + 1 < s.length()) {
				add(o, s.substring(k + 1));
				return i;
			} else if (i + 1 < args.length) {
				add(o, args[i + 1]);
				return i + 1;
			} else {
				throw new UsageException("-" + letter + " needs a value (" + o.value() + ")");
			}
		}
		return i;
	}

	private void add(OptionSpec o, String value) throws UsageException {
		if (o.type() != OptionSpec.Type.FLAG) {
			o.check(value);
		}
		help |= o.name().equals("help");
		List<String> values = given.computeIfAbsent(o.name(), k -> new ArrayList<>());
		if (!o.repeat()) {
			values.clear();
		}
		values.add(value);
	}

	private UsageException unknown(String s) {
		if (s.startsWith("--")) {
			String near = Nearest.of(s.substring(2).replaceFirst("=.*", ""), options.keySet());
			if (near != null) {
				return new UsageException("unknown option " + s + "; did you mean --" + near + "?");
			}
		}
		return new UsageException("unknown option " + s + "; see 'memtrace " + spec.name() + " --help'");
	}

	private void checkCount() throws UsageException {
		String usage = "; usage: memtrace " + spec.name() + " " + spec.usage().get(0);
		if (arguments.size() < spec.minArguments()) {
			List<CommandSpec.Item> names = spec.arguments();
			String missing = names.isEmpty() ? "an argument"
					: names.get(!arguments.isEmpty() && names.size() > 1 ? 1 : 0).label();
			throw new UsageException(missing + " is missing" + usage);
		}
		if (spec.maxArguments() >= 0 && arguments.size() > spec.maxArguments()) {
			throw new UsageException("unexpected argument '" + arguments.get(spec.maxArguments()) + "'" + usage);
		}
	}
}
