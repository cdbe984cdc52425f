// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.ctf;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.memtrace.model.RegularFile;

/**
 * The CTF traces in a folder, each with its metadata and files of streams. LTTng makes one for the kernel and one for each user or process.
 * Source: The Common Trace Format v1.8.3, sections 3 and 7.
 *
 * @param root the folder that was given
 */
public record CtfFolder(Path root, List<Trace> traces) {
	/** LTTng's traces of processes are as far below that of the session, with dates of rotations. */
	private static final int DEEPEST = 7;
	private static final int MOST_FOLDERS = 500;
	private static final int PACKETS = 0x75D11D57;
	private static final int PACKET_HEADER_BYTES = 37;
	private static final int CONTENT_SIZE_AT = 24;
	private static final int PACKET_SIZE_AT = 28;
	private static final int LONGEST_METADATA = 1 << 26;
	private static final Pattern EVENT = Pattern.compile("\\bevent\\s*\\{\\s*(?:id\\s*=\\s*\\w+\\s*;\\s*)?name\\s*=\\s*\"?([^\";]+)\"?\\s*;");
	private static final Pattern MONOTONIC = Pattern.compile("\\bclock\\s*\\{[^}]*?\\bname\\s*=\\s*\"?monotonic\\b");
	private static final Pattern OTHER_UNIT = Pattern.compile("\\bfreq\\s*=\\s*+(?!1000000000\\s*;)");
	private static final Pattern HOST = Pattern.compile("\\bhostname\\s*=\\s*\"([^\"]*)\"");

	/**
	 * One trace.
	 *
	 * @param events names of the events that its metadata has
	 * @param hosts at most one, by its environment
	 * @param monotonic whether its clock counts nanoseconds of the monotonic clock
	 */
	public record Trace(Path folder, List<Path> streams, Set<String> events, Set<String> hosts, boolean monotonic) {
	}

	/** The traces in a folder and below it; none when there is none. */
	public static CtfFolder of(Path root) throws IOException {
		List<Trace> found = new ArrayList<>();
		look(root, 0, new int[1], found);
		return new CtfFolder(root, found);
	}

	private static void look(Path folder, int depth, int[] folders, List<Trace> found) throws IOException {
		List<Path> below = new ArrayList<>();
		List<Path> files = new ArrayList<>();
		try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
			for (Path entry : entries) {
				if (Files.isDirectory(entry)) {
					below.add(entry);
				} else if (Files.isRegularFile(entry)) {
					files.add(entry);
				}
			}
		} catch (IOException | java.nio.file.DirectoryIteratorException e) {
			if (depth == 0) {
				throw new IOException(e.getMessage(), e);
			}
			return; // a folder that nobody may read is not the one
		}
		below.sort(null);
		files.sort(null);
		Path metadata = folder.resolve("metadata");
		if (files.contains(metadata) && isMetadata(metadata)) {
			String text = text(metadata);
			found.add(new Trace(folder, files.stream().filter(f -> !f.equals(metadata) && !f.getFileName().toString().startsWith(".")).toList(),
					all(EVENT, text), all(HOST, text), MONOTONIC.matcher(text).find() && !OTHER_UNIT.matcher(text).find()));
			return;
		}
		for (Path inside : below) {
			if (depth < DEEPEST && ++folders[0] <= MOST_FOLDERS) {
				look(inside, depth + 1, folders, found);
			}
		}
	}

	private static Set<String> all(Pattern pattern, String text) {
		Set<String> all = new TreeSet<>();
		Matcher m = pattern.matcher(text);
		while (m.find()) {
			all.add(m.group(1).strip());
		}
		return all;
	}

	/** Text begins with its version, packets with their number. */
	private static boolean isMetadata(Path file) throws IOException {
		byte[] head;
		try (InputStream in = RegularFile.open(file)) {
			head = in.readNBytes(16);
		} catch (java.nio.file.AccessDeniedException e) {
			return false;
		}
		return new String(head, StandardCharsets.ISO_8859_1).startsWith("/* CTF ") || head.length >= 4 && order(head) != null;
	}

	private static ByteOrder order(byte[] bytes) {
		int number = ByteBuffer.wrap(bytes).getInt();
		return number == PACKETS ? ByteOrder.BIG_ENDIAN : Integer.reverseBytes(number) == PACKETS ? ByteOrder.LITTLE_ENDIAN : null;
	}

	/** The text of metadata, without the headers of packets; of damaged packets what comes before. */
	static String text(Path file) throws IOException {
		byte[] bytes;
		try (InputStream in = RegularFile.open(file)) {
			bytes = in.readNBytes(LONGEST_METADATA);
		}
		ByteOrder order = bytes.length >= 4 ? order(bytes) : null;
		if (order == null) {
			return new String(bytes, StandardCharsets.UTF_8);
		}
		ByteBuffer packets = ByteBuffer.wrap(bytes).order(order);
		StringBuilder text = new StringBuilder();
		int at = 0;
		while (at + PACKET_HEADER_BYTES <= bytes.length && packets.getInt(at) == PACKETS) {
			int content = packets.getInt(at + CONTENT_SIZE_AT) >>> 3;
			int whole = packets.getInt(at + PACKET_SIZE_AT) >>> 3;
			if (content < PACKET_HEADER_BYTES || whole < content || content > bytes.length - at) {
				break;
			}
			text.append(new String(bytes, at + PACKET_HEADER_BYTES, content - PACKET_HEADER_BYTES, StandardCharsets.UTF_8));
			at = whole > bytes.length - at ? bytes.length : at + whole;
		}
		return text.toString();
	}

	/** Bytes of all streams. */
	public long bytes() throws IOException {
		long bytes = 0;
		for (Trace trace : traces) {
			for (Path stream : trace.streams) {
				bytes += Files.size(stream);
			}
		}
		return bytes;
	}

	/** Names of all events. */
	public Set<String> events() {
		Set<String> all = new TreeSet<>();
		traces.forEach(t -> all.addAll(t.events));
		return all;
	}

	/** Whether its threads are those of more than one host. */
	public boolean hasSeveralHosts() {
		Set<String> all = new TreeSet<>();
		traces.forEach(t -> all.addAll(t.hosts));
		return all.size() > 1;
	}
}
