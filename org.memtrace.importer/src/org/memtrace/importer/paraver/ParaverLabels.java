// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.paraver;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.memtrace.model.RegularFile;

/** The names of a trace of Paraver: of states, event types and their values (.pcf), and of threads (.row). Either file may be missing. */
final class ParaverLabels {
	private static final Pattern NUMBERED = Pattern.compile("\\s*(\\d{1,18})\\s+(\\S.*)");
	private static final Pattern TYPE = Pattern.compile("\\s*\\d{1,9}\\s+(\\d{1,18})\\s+(\\S.*)");
	private static final Pattern LEVEL = Pattern.compile("LEVEL\\s+(\\w+)\\s+SIZE\\s+\\d+\\s*");

	private final Map<Long, String> states = new HashMap<>();
	private final Map<Long, String> types = new HashMap<>();
	private final Map<Long, Map<Long, String>> values = new HashMap<>();
	private final List<String> threads = new ArrayList<>();

	/** What a line of the file with labels belongs to. */
	private enum Section {
		NONE, STATES, TYPES, VALUES
	}

	/** Reads the labels. @throws IOException when the file is there and cannot be read */
	void readLabels(Path pcf) throws IOException {
		Section[] section = { Section.NONE };
		List<Long> block = new ArrayList<>();
		lines(pcf, line -> {
			if (line.isBlank()) {
				section[0] = section[0] == Section.STATES ? Section.STATES : Section.NONE;
			} else if (line.startsWith("STATES") && !line.startsWith("STATES_COLOR")) {
				section[0] = Section.STATES;
			} else if (line.startsWith("EVENT_TYPE")) {
				section[0] = Section.TYPES;
				block.clear();
			} else if (line.startsWith("VALUES")) {
				section[0] = Section.VALUES;
				block.forEach(type -> values.put(type, new HashMap<>()));
			} else if (Character.isLetter(line.charAt(0))) {
				section[0] = Section.NONE; // options, colours
			} else {
				label(section[0], line, block);
			}
		});
	}

	private void label(Section section, String line, List<Long> block) {
		Matcher type = TYPE.matcher(line);
		Matcher numbered = NUMBERED.matcher(line);
		if (section == Section.TYPES && type.matches()) {
			block.add(Long.parseLong(type.group(1)));
			types.put(Long.parseLong(type.group(1)), type.group(2).strip());
		} else if (section == Section.STATES && numbered.matches()) {
			states.put(Long.parseLong(numbered.group(1)), numbered.group(2).strip());
		} else if (section == Section.VALUES && numbered.matches()) {
			for (long one : block) {
				values.get(one).put(Long.parseLong(numbered.group(1)), numbered.group(2).strip());
			}
		}
	}

	/** Reads the names of threads. @throws IOException when the file is there and cannot be read */
	void readNames(Path row) throws IOException {
		boolean[] inside = { false };
		lines(row, line -> {
			Matcher level = LEVEL.matcher(line);
			if (level.matches()) {
				inside[0] = level.group(1).equals("THREAD");
			} else if (inside[0] && !line.isBlank()) {
				threads.add(line.strip());
			}
		});
	}

	private static void lines(Path file, java.util.function.Consumer<String> visitor) throws IOException {
		if (Files.isRegularFile(file)) {
			try (Stream<String> lines = Files.lines(RegularFile.check(file), StandardCharsets.ISO_8859_1)) {
				lines.forEach(visitor);
			} catch (UncheckedIOException e) {
				throw e.getCause();
			}
		}
	}

	String state(long number) {
		return states.getOrDefault(number, "state " + number);
	}

	String type(long number) {
		return types.getOrDefault(number, "event " + number);
	}

	/** The name of a value of an event type, null when it has none. */
	String value(long type, long value) {
		Map<Long, String> names = values.get(type);
		return names == null ? null : names.get(value);
	}

	/** Whether the values of an event type have names, and 0 is one of them: 0 ends what another value begins. */
	boolean isState(long type) {
		Map<Long, String> names = values.get(type);
		return names != null && names.size() > 1 && names.containsKey(0L);
	}

	/** Whether an event type is described, and its values have no names. */
	boolean isNumber(long type) {
		return types.containsKey(type) && !values.containsKey(type);
	}

	/** The name of the state that a value begins: that of the value, or of the type when it has no other than "begin". */
	String stateOf(long type, long value) {
		String name = value(type, value);
		return name == null ? type(type) + " " + value : values.get(type).size() == 2 ? type(type) : name;
	}

	/** Name of the thread with this place in the list of all, null when it has none. */
	String thread(int place) {
		return place < threads.size() ? threads.get(place) : null;
	}
}
