// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.experiment;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.RegularFile;

/**
 * A folder (an experiment, a trace directory, a job) as one zip file with the SHA-256 of each file, in the form of {@code sha256sum}: so
 * {@code unzip} and {@code sha256sum -c SHA256SUMS} do as well. Whatever happens before the end, nothing is left of it.
 */
public final class Archive {
	static final String SUMS = "SHA256SUMS";
	private static final int BUFFER = 1 << 16;

	/** What of an experiment is packed; of other folders only {@link #ANALYSIS} makes sense. */
	public enum Part {
		/** What is needed to do all of it again: plan, files, sources, machine; no results. */
		COMPLETE("plan\\.toml|README\\.md|experiment\\.json|schedule\\.csv|sources\\.diff|cpuinfo\\.txt|topology\\.txt|files/.*"),
		/** Everything: the raw results and traces, and the scripts. */
		ANALYSIS(".*"),
		/** The table of the runs that count and the scripts that make the report of it. */
		FILTERED("plan\\.toml|README\\.md|experiment\\.json|filtered\\.csv|summary\\.csv|report\\.html|analyse\\.(py|R)");

		private final Predicate<String> files;

		Part(String pattern) {
			files = java.util.regex.Pattern.compile(pattern, java.util.regex.Pattern.DOTALL).asMatchPredicate();
		}
	}

	private Archive() {
	}

	/**
	 * Packs a folder.
	 *
	 * @param file must not exist
	 * @return how many files are in it
	 */
	public static int pack(Path folder, Part part, Path file, Progress progress) throws MemtraceException {
		Path root = folder.toAbsolutePath().normalize();
		Path target = file.toAbsolutePath().normalize();
		boolean made = false;
		try {
			Map<String, Path> files = new TreeMap<>();
			try (var all = Files.walk(root)) {
				for (Path p : all.filter(p -> Files.isRegularFile(p, LinkOption.NOFOLLOW_LINKS)).toList()) {
					String name = root.relativize(p).toString().replace('\\', '/');
					if (!p.equals(target) && !name.equals(SUMS) && part.files.test(name) && !name.endsWith(".tmp")) {
						files.put(name, p);
					}
				}
			}
			if (files.isEmpty()) {
				throw new MemtraceException(folder + " has nothing to pack" + (part == Part.ANALYSIS ? "" : "; is it the folder of an experiment?"));
			}
			long bytes = 0;
			for (Path p : files.values()) {
				bytes += Files.size(p);
			}
			progress.beginBytes("Packing", bytes);
			try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(target, StandardOpenOption.CREATE_NEW))) {
				made = true;
				StringBuilder sums = new StringBuilder();
				for (Map.Entry<String, Path> entry : files.entrySet()) {
					zip.putNextEntry(new ZipEntry(root.getFileName() + "/" + entry.getKey()));
					try (InputStream in = RegularFile.open(entry.getValue())) {
						sums.append(copy(in, zip, progress)).append("  ").append(entry.getKey()).append('\n');
					}
					zip.closeEntry();
				}
				zip.putNextEntry(new ZipEntry(root.getFileName() + "/" + SUMS));
				zip.write(sums.toString().getBytes(StandardCharsets.UTF_8));
				zip.closeEntry();
			}
			made = false;
			return files.size();
		} catch (FileAlreadyExistsException e) {
			throw new MemtraceException(file + " exists; an archive is never overwritten");
		} catch (IOException e) {
			throw new MemtraceException(folder + " cannot be packed into " + file + ": " + e.getMessage());
		} finally {
			if (made) {
				delete(target);
			}
		}
	}

	/** Copies and returns the SHA-256, hexadecimal. */
	private static String copy(InputStream in, OutputStream out, Progress progress) throws IOException, MemtraceException {
		MessageDigest digest;
		try {
			digest = MessageDigest.getInstance("SHA-256");
		} catch (NoSuchAlgorithmException e) {
			throw new IllegalStateException(e); // every JDK has it
		}
		byte[] buffer = new byte[BUFFER];
		for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
			digest.update(buffer, 0, n);
			out.write(buffer, 0, n);
			progress.worked(n);
			progress.check();
		}
		return HexFormat.of().formatHex(digest.digest());
	}

	/**
	 * Unpacks an archive and compares each file with its checksum.
	 *
	 * @param parent where the folder in the archive is made; must not have it
	 * @return the folder
	 * @throws MemtraceException when a file is missing, added or not what was packed; nothing is left then
	 */
	public static Path unpack(Path file, Path parent, Progress progress) throws MemtraceException {
		Path into = null;
		try {
			Files.createDirectories(parent);
			into = Files.createTempDirectory(parent, ".unpacking");
			Map<String, String> found = new TreeMap<>();
			String top = null;
			progress.beginBytes("Unpacking", -1);
			try (ZipInputStream zip = new ZipInputStream(RegularFile.open(file))) {
				for (ZipEntry e = zip.getNextEntry(); e != null; e = zip.getNextEntry()) {
					String name = e.getName();
					int slash = name.indexOf('/');
					String folder = slash > 0 ? name.substring(0, slash) : "";
					if (slash <= 0 || name.endsWith("/") || top != null && !top.equals(folder) || unsafe(name)) {
						throw new MemtraceException(file + " is no archive of memtrace pack: it has " + name);
					}
					top = folder;
					Path to = into.resolve(name);
					Files.createDirectories(to.getParent());
					try (OutputStream out = Files.newOutputStream(to, StandardOpenOption.CREATE_NEW)) {
						found.put(name.substring(slash + 1), copy(zip, out, progress));
					}
				}
			}
			if (top == null || found.remove(SUMS) == null) {
				throw new MemtraceException(file + " is no archive of memtrace pack: it has no " + SUMS);
			}
			compare(file, RegularFile.text(into.resolve(top).resolve(SUMS)), found);
			Path target = parent.resolve(top);
			if (Files.exists(target)) {
				throw new MemtraceException(target + " exists; nothing is overwritten");
			}
			Files.move(into.resolve(top), target);
			return target;
		} catch (ZipException | FileAlreadyExistsException e) {
			throw new MemtraceException(file + " is damaged: " + e.getMessage());
		} catch (IOException | IllegalArgumentException e) {
			throw new MemtraceException(file + " cannot be unpacked into " + parent + ": " + e.getMessage());
		} finally {
			if (into != null) {
				delete(into);
			}
		}
	}

	private static boolean unsafe(String name) {
		return name.startsWith("/") || name.indexOf('\\') >= 0 || name.indexOf('\0') >= 0
				|| List.of(name.split("/", -1)).stream().anyMatch(part -> part.isEmpty() || part.equals(".") || part.equals(".."));
	}

	private static void compare(Path file, String sums, Map<String, String> found) throws IOException, MemtraceException {
		Map<String, String> left = new TreeMap<>(found);
		BufferedReader lines = new BufferedReader(new StringReader(sums));
		for (String line = lines.readLine(); line != null; line = lines.readLine()) {
			if (!line.matches("[0-9a-f]{64}  .+")) {
				throw new MemtraceException(file + " is damaged: its " + SUMS + " has a line that is none");
			}
			String name = line.substring(66);
			String is = left.remove(name);
			if (is == null) {
				throw new MemtraceException(file + " is not what was packed: " + name + " is missing");
			} else if (!is.equals(line.substring(0, 64))) {
				throw new MemtraceException(file + " is not what was packed: " + name + " has another checksum");
			}
		}
		if (!left.isEmpty()) {
			throw new MemtraceException(file + " is not what was packed: " + left.keySet().iterator().next() + " was added");
		}
	}

	private static void delete(Path path) {
		try (var all = Files.walk(path)) {
			for (Path p : all.sorted(Comparator.reverseOrder()).toList()) {
				Files.delete(p);
			}
		} catch (IOException e) {
			// a temporary folder stays: the error before is the one to tell
		}
	}
}
