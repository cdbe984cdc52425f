// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.sql;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Driver;
import java.sql.Statement;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.RegularFile;
import org.memtrace.model.StoreException;

/**
 * Where DuckDB is. It is not shipped: a person installs it once into the folder of the user's traces, from a Maven repository or from a
 * file, and only a file with one of the checksums below is taken. Any thread.
 */
public final class DuckDbLibrary {
	/** The version that the statements of docs/reference/sql-queries.md are tested with. */
	public static final String VERSION = "1.4.4.0";
	/** Names a file of any version, which is used instead of the installed one. */
	public static final String VARIABLE = "MEMTRACE_DUCKDB";
	/** A system property that does the same. */
	public static final String PROPERTY = "memtrace.duckdb";

	private static final String EVERYWHERE = "duckdb_jdbc-" + VERSION + ".jar";
	private static final String LINUX = "duckdb_jdbc-" + VERSION + "-linux_amd64.jar";
	/** SHA-256 of the files of this version: the one with the native code of Linux on x86-64, and the one with all. */
	private static final Map<String, String> SHA256 = Map.of( //
			LINUX, "6bc6aaa68a6cecbdfc3e366d105fd83a98b9d541bace120951767befe4fd2e4a", //
			EVERYWHERE, "43f0cc93c892699162d46e8a45e2cbb92d92f74b933832f84c78ed551a2608df");
	/** What the names of files with native code begin with. */
	private static final String NATIVE = "libduckdb_java";
	private static final int TIMEOUT_MS = 30_000;

	/** Native code can be loaded once in a process. */
	private static final Map<Path, Driver> DRIVERS = new ConcurrentHashMap<>();

	private DuckDbLibrary() {
	}

	/** The file of this version for this machine. */
	public static String fileName() {
		return System.getProperty("os.name").equals("Linux") && System.getProperty("os.arch").equals("amd64") ? LINUX : EVERYWHERE;
	}

	/**
	 * The library that is there.
	 *
	 * @param home folder of the user's traces
	 * @throws StoreException when the variable names what is not there
	 */
	public static Optional<Path> find(Path home) throws StoreException {
		for (String named : new String[] { System.getProperty(PROPERTY), System.getenv(VARIABLE) }) {
			if (named != null && !named.isBlank()) {
				if (!Files.isRegularFile(Path.of(named))) {
					throw new StoreException(VARIABLE + " is " + named + ", where there is no file");
				}
				return Optional.of(Path.of(named));
			}
		}
		for (String name : new String[] { fileName(), EVERYWHERE }) {
			if (Files.isRegularFile(home.resolve("lib").resolve(name))) {
				return Optional.of(home.resolve("lib").resolve(name));
			}
		}
		return Optional.empty();
	}

	/**
	 * Installs the library: complete, with a checksum that is known, or not at all.
	 *
	 * @param from the file, or the address of a Maven repository (https://…)
	 * @param home folder of the user's traces
	 * @return the installed file
	 */
	public static Path install(String from, Path home, Progress progress) throws MemtraceException {
		boolean remote = from.matches("(?i)https?://.*");
		String name = fileName();
		Path folder = home.resolve("lib");
		Path temporary = folder.resolve("." + name + "." + ProcessHandle.current().pid() + ".tmp");
		String source = remote ? from.replaceFirst("/+$", "") + "/org/duckdb/duckdb_jdbc/" + VERSION + "/" + name : from;
		try {
			Files.createDirectories(folder);
			try {
				String sum = copy(source, remote, temporary, progress);
				String known = SHA256.entrySet().stream().filter(e -> e.getValue().equals(sum)).map(Map.Entry::getKey).findFirst()
						.orElseThrow(() -> new StoreException(source + " is not " + name + ", or damaged: its SHA-256 is " + sum + ", not "
								+ SHA256.get(name)));
				return Files.move(temporary, folder.resolve(known), StandardCopyOption.REPLACE_EXISTING);
			} finally {
				Files.deleteIfExists(temporary);
			}
		} catch (IOException | IllegalArgumentException e) {
			throw new StoreException(source + " cannot be installed into " + folder + ": " + reason(e), e);
		}
	}

	private static String reason(Exception e) {
		return e instanceof java.nio.file.NoSuchFileException || e instanceof java.io.FileNotFoundException ? "there is no such file"
				: e instanceof java.net.UnknownHostException ? "there is no host " + e.getMessage()
						: e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
	}

	/** Copies and returns the SHA-256. */
	private static String copy(String source, boolean remote, Path to, Progress progress) throws IOException, MemtraceException {
		MessageDigest digest;
		try {
			digest = MessageDigest.getInstance("SHA-256");
		} catch (NoSuchAlgorithmException e) {
			throw new IllegalStateException(e);
		}
		URLConnection connection = remote ? URI.create(source).toURL().openConnection() : null;
		if (connection != null) {
			connection.setConnectTimeout(TIMEOUT_MS);
			connection.setReadTimeout(TIMEOUT_MS);
		}
		progress.beginBytes("Fetching DuckDB " + VERSION, connection != null ? connection.getContentLengthLong() : Files.size(Path.of(source)));
		try (InputStream in = connection != null ? connection.getInputStream() : RegularFile.open(Path.of(source));
				DigestInputStream sum = new DigestInputStream(in, digest);
				OutputStream out = Files.newOutputStream(to)) {
			byte[] buffer = new byte[1 << 16];
			for (int n = sum.read(buffer); n >= 0; n = sum.read(buffer)) {
				progress.check();
				out.write(buffer, 0, n);
				progress.worked(n);
			}
		}
		return HexFormat.of().formatHex(digest.digest());
	}

	/**
	 * The JDBC driver in a file. Its own way to load its native code copies 57 MB into the folder for temporary files with each start, and
	 * leaves them there when the process is stopped: so they are unpacked once.
	 *
	 * @param cache folder that keeps what was unpacked
	 */
	@SuppressWarnings("resource") // the classes of a driver are needed until the end of the process
	static Driver driver(Path file, Path cache) throws MemtraceException {
		Path real = file.toAbsolutePath().normalize();
		Driver known = DRIVERS.get(real);
		if (known != null) {
			return known;
		}
		try {
			Path unpacked = unpacked(real, cache);
			URLClassLoader loader = new URLClassLoader("duckdb", new URL[] { unpacked.toUri().toURL() }, ClassLoader.getPlatformClassLoader());
			Driver made = (Driver) Class.forName("org.duckdb.DuckDBDriver", true, loader).getConstructor().newInstance();
			Driver earlier = DRIVERS.putIfAbsent(real, made);
			return earlier == null ? made : earlier;
		} catch (IOException | ReflectiveOperationException | LinkageError e) {
			throw new StoreException(file + " is no DuckDB that runs here: " + e, e);
		}
	}

	/** The classes, with the native code beside them, complete or not at all. */
	private static Path unpacked(Path file, Path cache) throws IOException {
		String state = Files.size(file) + "-" + Files.getLastModifiedTime(file).toMillis();
		Path folder = cache.resolve(file.getFileName().toString().replaceFirst("\\.jar$", "") + "-" + state);
		Path classes = folder.resolve("duckdb.jar");
		if (Files.exists(classes)) {
			return classes;
		}
		Files.createDirectories(cache);
		Path temporary = Files.createTempDirectory(cache, ".duckdb");
		try (ZipFile zip = new ZipFile(file.toFile()); ZipOutputStream out =
				new ZipOutputStream(Files.newOutputStream(temporary.resolve("duckdb.jar")))) {
			for (ZipEntry e : zip.stream().filter(z -> !z.isDirectory()).toList()) {
				try (InputStream in = zip.getInputStream(e)) {
					if (e.getName().startsWith(NATIVE)) {
						if (e.getName().indexOf('/') < 0) {
							Files.copy(in, temporary.resolve(e.getName()));
						}
					} else {
						out.putNextEntry(new ZipEntry(e.getName()));
						in.transferTo(out);
					}
				}
			}
		} catch (IOException e) {
			delete(temporary);
			throw e;
		}
		try {
			Files.move(temporary, folder);
		} catch (IOException e) {
			delete(temporary);
			if (!Files.exists(classes)) { // another process was faster
				throw e;
			}
		}
		return classes;
	}

	private static void delete(Path folder) throws IOException {
		try (Stream<Path> files = Files.list(folder)) {
			for (Path f : files.toList()) {
				Files.delete(f);
			}
		}
		Files.delete(folder);
	}

	/** How much of a statement is done, in percent; -1 when that is not known. */
	static int percent(Statement statement) {
		try {
			Object progress = statement.getClass().getMethod("getQueryProgress").invoke(statement);
			return (int) Math.floor((double) progress.getClass().getMethod("getPercentage").invoke(progress));
		} catch (ReflectiveOperationException | RuntimeException e) {
			return -1;
		}
	}

	/** What a person has to do when it is not there. */
	public static String advice() {
		return String.format(Locale.ROOT, "SQL needs DuckDB, which is not installed; 'memtrace sql --install FROM' does it once, from a Maven repository"
				+ " (https://...) or from the file %s (org.duckdb:duckdb_jdbc); docs/reference/sql.md", fileName());
	}
}
