// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.memtrace;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeMap;

import org.memtrace.importer.input.InputFile;
import org.memtrace.importer.input.InputFormat;
import org.memtrace.importer.input.Json;
import org.memtrace.importer.reader.TraceFolders;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.RegularFile;
import org.memtrace.model.TraceFormatException;
import org.memtrace.model.UnsupportedVersionException;

/** The files of a trace directory and its manifest. */
public final class TraceDirectory {
	static final int VERSION = 1;
	private static final int USUAL_PAGE_SIZE = 4096;
	/** What {@code memtrace finish} makes of {@code context.log}. */
	private static final List<String> FINISHED = List.of("structures.csv", "stacks.csv", "threads.csv");

	/** A file with accesses. */
	public record AccessFile(InputFile input, InputFormat format) {
	}

	/** A file about structures or stacks in a historical format. */
	public record ContextFile(InputFile input, InputFormat format) {
	}

	/**
	 * The rank of a parallel job.
	 *
	 * @param host name of its machine, unique in the job
	 * @param machine what has one clock and one memory
	 * @param clockShiftNs to be added to all its times, so that they are those of the whole trace
	 */
	public record Rank(int number, String host, String machine, long clockShiftNs) {
	}

	/**
	 * A process image.
	 *
	 * @param directory its folder; null when the trace is made of historical files, and of the memory that ranks share
	 * @param context historical files only
	 * @param rank null when it is of no parallel job
	 */
	public record Image(int index, Path directory, Json json, List<AccessFile> chunks, List<ContextFile> context, Rank rank) {
		public Image(int index, Path directory, Json json, List<AccessFile> chunks, List<ContextFile> context) {
			this(index, directory, json, chunks, context, null);
		}

		/** To be added to the times in its files. */
		public long clockShiftNs() {
			return rank == null ? 0 : rank.clockShiftNs;
		}

		/** The name of one of its files as the user knows it. */
		String fileName(String name) {
			return directory.getParent().getFileName() + "/" + directory.getFileName() + "/" + name;
		}

		/** Whether structures and threads are there, complete or as they were while the program ran. */
		public boolean hasStructures() {
			return directory != null && Files.exists(directory.resolve("structures.csv")) && Files.exists(directory.resolve("threads.csv"));
		}

		/** Whether {@code memtrace finish} still has to be run. */
		public boolean unfinished() {
			return directory != null && Files.exists(directory.resolve("context.log"))
					&& !FINISHED.stream().allMatch(name -> Files.exists(directory.resolve(name)));
		}
	}

	/** One of 10,000 CPUs has 5 MB. */
	private static final long MAX_TOPOLOGY_BYTES = 64 << 20;

	private final Path path;
	private final Json manifest;
	private final List<Image> images;
	private final int pageSizeBytes;

	private final List<String> notes;
	/** Folders with a manifest: one, or those of the ranks. */
	private final List<Path> parts;
	private final boolean oneMachine;

	public TraceDirectory(Path path, Json manifest, List<Image> images, int pageSizeBytes, List<String> notes) {
		this(path, manifest, images, pageSizeBytes, notes, List.of(path), true);
	}

	TraceDirectory(Path path, Json manifest, List<Image> images, int pageSizeBytes, List<String> notes, List<Path> parts,
			boolean oneMachine) {
		this.parts = List.copyOf(parts);
		this.oneMachine = oneMachine;
		this.path = path;
		this.notes = notes;
		this.manifest = manifest;
		this.images = images;
		this.pageSizeBytes = pageSizeBytes;
	}

	public Path path() {
		return path;
	}

	/** The same with other images. */
	public TraceDirectory with(List<Image> others) {
		return new TraceDirectory(path, manifest, others, pageSizeBytes, notes, parts, oneMachine);
	}

	/** What a user should know about the input as a whole. */
	public List<String> notes() {
		return notes;
	}

	public Json manifest() {
		return manifest;
	}

	public List<Image> images() {
		return images;
	}

	public int pageSizeBytes() {
		return pageSizeBytes;
	}

	/** Whether it is made of the ranks of a parallel job. */
	public boolean isJob() {
		return images.stream().anyMatch(image -> image.rank != null);
	}

	/**
	 * The machine, as XML of hwloc; null when the recorder did not know it, it cannot be read, or there were several: a trace does
	 * without.
	 */
	public byte[] topology() {
		if (!oneMachine) {
			return null;
		}
		Path file = parts.get(0).resolve("topology.xml");
		try {
			return Files.isRegularFile(file) && Files.size(file) <= MAX_TOPOLOGY_BYTES ? RegularFile.bytes(file) : null;
		} catch (IOException e) {
			return null;
		}
	}

	/**
	 * Opens a directory that was made of something else.
	 *
	 * @param shown what the user gave: the path of the trace
	 * @param notes what the user should know about it
	 */
	public static TraceDirectory openCopy(Path copy, Path shown, List<String> notes) throws MemtraceException {
		TraceDirectory made = open(copy);
		return new TraceDirectory(shown, made.manifest, made.images, made.pageSizeBytes, notes, List.of(copy), true);
	}

	public static TraceDirectory open(Path directory) throws MemtraceException {
		Path path = directory.toAbsolutePath().normalize();
		if (!Files.isDirectory(path)) {
			throw new TraceFormatException(directory.toString(), 0, "is not a directory");
		}
		Path manifestFile = path.resolve("manifest.json");
		if (!Files.isRegularFile(manifestFile)) {
			throw new TraceFormatException(directory.toString(), 0, "is not a trace directory, it has no manifest.json");
		}
		Json manifest = Json.read(manifestFile, directory + "/manifest.json");
		if (!manifest.text("format").equals("memtrace")) {
			throw new TraceFormatException(directory + "/manifest.json", 0, "is not the manifest of a trace");
		}
		int version = (int) manifest.number("format_version", 0);
		if (version > VERSION) {
			throw new UnsupportedVersionException(directory.toString(), version, VERSION);
		}
		if (version < 1) {
			throw new TraceFormatException(directory + "/manifest.json", 0, "has no format_version");
		}
		try {
			List<Image> images = images(path, directory.toString());
			long pageSize = manifest.object("host").number("page_size_bytes", 0);
			for (Image image : images) {
				long size = image.json.number("page_size_bytes", 0);
				if (size > 0 && pageSize > 0 && size != pageSize) {
					throw new TraceFormatException(image.fileName("image.json"), 0,
							"has pages of " + size + " bytes, others in this trace have " + pageSize);
				}
				pageSize = size > 0 ? size : pageSize;
			}
			List<String> notes = pageSize > 0 ? List.of() : List.of(directory + "/manifest.json: does not tell the size of pages; "
					+ USUAL_PAGE_SIZE + " bytes are taken");
			pageSize = pageSize > 0 ? pageSize : USUAL_PAGE_SIZE;
			if (Long.bitCount(pageSize) != 1 || pageSize < 512 || pageSize > 1 << 30) {
				throw new TraceFormatException(directory + "/manifest.json", 0,
						"has the page size " + pageSize + ", which no machine has");
			}
			return new TraceDirectory(path, manifest, images, (int) pageSize, notes);
		} catch (IOException e) {
			throw new TraceFormatException(directory.toString(), 0, "cannot be read: " + e.getMessage());
		}
	}

	/** A device or a pipe among the files would be read for ever, and a link to nothing is a file that is missing. */
	private static void onlyFiles(Path folder, String name) throws IOException, TraceFormatException {
		try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
			for (Path entry : entries) {
				String kind = RegularFile.otherKind(entry);
				if (kind != null) {
					throw new TraceFormatException(name + "/" + entry.getFileName(), 0, kind + ", and a trace directory has only files");
				}
			}
		}
	}

	private static List<Image> images(Path path, String name) throws IOException, MemtraceException {
		onlyFiles(path, name);
		List<Image> images = new ArrayList<>();
		try (DirectoryStream<Path> entries = Files.newDirectoryStream(path, "p[0-9]*")) {
			for (Path entry : entries) {
				String digits = entry.getFileName().toString().substring(1);
				if (TraceFolders.isImageName(entry.getFileName().toString()) && Files.isDirectory(entry)) {
					onlyFiles(entry, name + "/" + entry.getFileName());
					Path imageFile = entry.resolve("image.json");
					Json json = Files.exists(imageFile)
							? Json.read(imageFile, name + "/" + entry.getFileName() + "/image.json")
							: Json.EMPTY;
					String folder = name + "/" + entry.getFileName() + "/";
					List<AccessFile> chunks = chunks(entry).stream().map(chunk -> new AccessFile(
							InputFile.of(chunk, folder + chunk.getFileName()), InputFormat.ACCESSES)).toList();
					images.add(new Image(Integer.parseInt(digits), entry, json, chunks, List.of()));
				}
			}
		}
		images.sort(Comparator.comparingInt(Image::index));
		return images;
	}

	/** Chunks in the order of their numbers; the plain file wins, for then the compressed one is not complete. */
	private static List<Path> chunks(Path image) throws IOException {
		TreeMap<Long, Path> byNumber = new TreeMap<>();
		try (DirectoryStream<Path> entries = Files.newDirectoryStream(image, "accesses-*")) {
			for (Path entry : entries) {
				String file = entry.getFileName().toString();
				if (file.matches("accesses-[0-9]{1,18}\\.(mtr|csv(\\.(zst|gz))?)")) {
					long number = Long.parseLong(file.substring(9, file.indexOf('.')));
					byNumber.merge(number, entry, (a, b) -> a.toString().endsWith(".csv") ? a : b);
				}
			}
		}
		return List.copyOf(byNumber.values());
	}

	/** Changes when the manifest or any file of the images changes its size. */
	public String identity() throws MemtraceException {
		try {
			MessageDigest digest = MessageDigest.getInstance("SHA-256");
			if (images.stream().anyMatch(image -> image.directory == null)) {
				return historicalIdentity(digest);
			}
			for (Path part : parts) {
				digest.update(RegularFile.bytes(part.resolve("manifest.json")));
			}
			for (Image image : images) {
				List<String> entries = new ArrayList<>();
				try (DirectoryStream<Path> files = Files.newDirectoryStream(image.directory)) {
					for (Path file : files) {
						String name = file.getFileName().toString();
						// the raw files do not matter once the finished ones are there
						if (name.startsWith("accesses-") || name.endsWith(".csv")) {
							entries.add(image.index + " " + name + " " + Files.size(file) + "\n");
						}
					}
				}
				entries.sort(null);
				for (String entry : entries) {
					digest.update(entry.getBytes(StandardCharsets.UTF_8));
				}
			}
			return HexFormat.of().formatHex(digest.digest()).substring(0, 32);
		} catch (IOException e) {
			throw new TraceFormatException(path.toString(), 0, "cannot be read: " + e.getMessage());
		} catch (NoSuchAlgorithmException e) {
			throw new IllegalStateException(e); // every JDK has it
		}
	}

	/** Of historical files; what comes from a stream is never the same. */
	private String historicalIdentity(MessageDigest digest) throws IOException {
		for (Image image : images) {
			List<InputFile> files = new ArrayList<>();
			image.chunks.forEach(f -> files.add(f.input()));
			image.context.forEach(f -> files.add(f.input()));
			for (InputFile file : files) {
				String entry = file.path() == null ? "stream " + java.util.UUID.randomUUID()
						: file.path().toAbsolutePath() + " " + Files.size(file.path()) + " "
								+ Files.getLastModifiedTime(file.path()).toMillis();
				digest.update((entry + "\n").getBytes(StandardCharsets.UTF_8));
			}
		}
		return HexFormat.of().formatHex(digest.digest()).substring(0, 32);
	}
}
