// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.definition;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.RegularFile;

/** A definition file that is edited: its text, where it is kept, and whether that is the same. Mutable; one thread. */
public final class DefinitionDocument {
	private static final long MOST_BYTES = 1 << 20;
	private static final String UNNAMED = "New definitions";
	private static final String ENDING = ".mon";
	private static final List<String[]> TEMPLATES = List.of( //
			new String[] {"Page faults of a program", "faults"}, //
			new String[] {"Load, and its mean over one second", "load"}, //
			new String[] {"Misses of the last cache per cycle (publication of 2016)", "misses"}, //
			new String[] {"Counters in a formula (form of 2015)", "counters"});

	/**
	 * A text to begin with.
	 *
	 * @param title what it measures
	 */
	public record Template(String title, String text) {
	}

	private Path path;
	private String text = "";
	private String kept = "";

	/** The texts to begin with; the first is what is measured without a file, if the recorder has told it. */
	public static List<Template> templates(MonitorWords words) {
		List<Template> all = new ArrayList<>();
		if (!words.builtIn().isEmpty()) {
			all.add(new Template("Load of each PU, memory of each node", words.builtIn()));
		}
		TEMPLATES.forEach(t -> all.add(new Template(t[0], resource(t[1]))));
		return List.copyOf(all);
	}

	private static String resource(String name) {
		try (InputStream in = DefinitionDocument.class.getResourceAsStream(name + ENDING)) {
			return new String(in.readAllBytes(), StandardCharsets.UTF_8);
		} catch (IOException e) {
			throw new IllegalStateException("The template " + name + " cannot be read", e);
		}
	}

	/** Begins with a text that is in no file yet. */
	public void begin(String template) {
		path = null;
		text = template;
		kept = template;
	}

	/** Reads a file; with an error all stays as it is. */
	public void open(Path file) throws MemtraceException {
		try {
			if (Files.size(file) > MOST_BYTES) {
				throw new MemtraceException(file + " is no definition file: it has more than 1 MiB.");
			}
			text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(RegularFile.bytes(file))).toString();
		} catch (CharacterCodingException e) {
			throw new MemtraceException(file + " is no text in UTF-8.", e);
		} catch (IOException e) {
			throw new MemtraceException(file + " cannot be read: " + reason(e), e);
		}
		path = file;
		kept = text;
	}

	/** What stands in the editor now. */
	public void edit(String now) {
		text = now;
	}

	/** Writes the text; with an error the file may have a part of it, and the text counts as changed. */
	public void save(Path file) throws MemtraceException {
		try {
			Files.writeString(file, text, StandardCharsets.UTF_8);
		} catch (IOException e) {
			throw new MemtraceException(file + " cannot be written: " + reason(e), e);
		}
		path = file;
		kept = text;
	}

	private static String reason(IOException e) {
		return e instanceof NoSuchFileException ? "there is no such file or folder" : e instanceof AccessDeniedException ? "it is not allowed"
				: e.getMessage();
	}

	/** Null: it is in no file yet. */
	public Path path() {
		return path;
	}

	public String text() {
		return text;
	}

	/** Whether a person would lose something. */
	public boolean isChanged() {
		return !text.equals(kept);
	}

	/** Name of the file, with a star when it is not as the text. */
	public String title() {
		return (isChanged() ? "*" : "") + (path == null ? UNNAMED : path.getFileName());
	}
}
