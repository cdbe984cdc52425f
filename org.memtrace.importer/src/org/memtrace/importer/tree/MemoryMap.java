// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.tree;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;

import org.memtrace.model.RegularFile;
import org.memtrace.model.memory.MemoryArea;

/** Which file or area an address lies in, from {@code maps-start.txt} and {@code maps-end.txt}; used for names only. */
public final class MemoryMap {
	/** The file in which the backend zap keeps the memory of the program. */
	private static final String RECORDER = "/memfd:memtrace";

	/** By biased start address, so that the order is unsigned. */
	private final TreeMap<Long, MemoryArea> areas = new TreeMap<>();

	/** Reads what is there; a line that is not understood is ignored, for only names come from here. */
	public static MemoryMap read(Path imageDirectory) {
		MemoryMap map = new MemoryMap();
		for (String name : new String[] { "maps-end.txt", "maps-start.txt" }) { // the start wins
			Path file = imageDirectory.resolve(name);
			if (Files.isRegularFile(file)) {
				try {
					for (String line : new String(RegularFile.bytes(file), StandardCharsets.ISO_8859_1).split("\n")) {
						map.add(line);
					}
				} catch (IOException e) {
					// no names then
				}
			}
		}
		return map;
	}

	void add(String line) {
		String[] fields = line.strip().split("\\s+", 6);
		String[] range = fields[0].split("-");
		if (fields.length < 5 || range.length != 2) {
			return;
		}
		try {
			long start = Long.parseUnsignedLong(range[0], 16);
			long end = Long.parseUnsignedLong(range[1], 16);
			String path = fields.length == 6 ? fields[5] : "";
			if (path.startsWith(RECORDER)) {
				return; // any memory of the program, as the recorder keeps it: the name says nothing
			}
			String name = path.substring(path.lastIndexOf('/') + 1);
			if (path.startsWith("/")) {
				name += fields[1].contains("x") ? " (code)" : fields[1].contains("w") ? " (data)" : " (constants)";
			}
			areas.put(start ^ Long.MIN_VALUE, new MemoryArea(-1, start, end, name));
		} catch (NumberFormatException e) {
			// not a line of a memory map
		}
	}

	/** The map of one image. */
	static MemoryMap of(List<MemoryArea> areas, int image) {
		MemoryMap map = new MemoryMap();
		areas.stream().filter(a -> a.image() == image).forEach(a -> map.areas.put(a.start() ^ Long.MIN_VALUE, a));
		return map;
	}

	/** All areas, as those of an image. */
	public List<MemoryArea> areas(int image) {
		return areas.values().stream().map(a -> new MemoryArea(image, a.start(), a.end(), a.name())).toList();
	}

	/** The area that an address lies in, or null. */
	MemoryArea at(long address) {
		var entry = areas.floorEntry(address ^ Long.MIN_VALUE);
		return entry != null && Long.compareUnsigned(address, entry.getValue().end()) < 0 ? entry.getValue() : null;
	}
}
