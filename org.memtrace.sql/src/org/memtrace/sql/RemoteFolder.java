// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.sql;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import java.util.Optional;
import java.util.zip.CRC32;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.StoreException;

/**
 * A folder on this machine that stands for a Parquet folder in {@link ObjectStorage}: its description and its small tables, which are
 * fetched once, and its address. What a person saves with the trace is saved here. Any thread.
 */
public final class RemoteFolder {
	private RemoteFolder() {
	}

	/**
	 * The folder for an address; what is there is fetched when it is not known yet, or has become another trace.
	 *
	 * @param driver the library, see {@link DuckDbLibrary}
	 * @param cache folder for what DuckDB needs
	 * @param parent where such folders are kept
	 * @param meta name of the description
	 * @param rest name of the file with the small tables
	 * @param address name of the file for the address
	 * @return empty if there are no small tables
	 */
	public static Optional<Path> local(Path driver, Path cache, Path parent, String folder, String meta, String rest, String address,
			Progress progress) throws MemtraceException {
		String remote = folder.replaceFirst("/+$", "");
		String text = SqlSession.readText(driver, remote + "/" + meta, cache, progress);
		String name = remote.substring(remote.lastIndexOf('/') + 1).replaceAll("[^A-Za-z0-9._-]", "_").replaceFirst("^[.-]", "_");
		Path local = parent.resolve(name + "-" + crc(remote) + "-" + crc(text));
		if (Files.isRegularFile(local.resolve(rest))) {
			return Optional.of(local);
		}
		try {
			Files.createDirectories(parent);
			Path temporary = Files.createTempDirectory(parent, ".folder");
			boolean ok = false;
			try {
				if (fetch(driver, cache, remote + "/" + rest, temporary.resolve(rest), progress)) {
					Files.writeString(temporary.resolve(meta), text);
					Files.writeString(temporary.resolve(address), remote + "\n");
					Files.move(temporary, local);
					ok = true;
				}
			} finally {
				if (!ok) {
					for (String file : new String[] {rest, meta, address}) {
						Files.deleteIfExists(temporary.resolve(file));
					}
					Files.deleteIfExists(temporary);
				}
			}
			return ok ? Optional.of(local) : Optional.empty();
		} catch (IOException e) {
			if (Files.isRegularFile(local.resolve(rest))) {
				return Optional.of(local); // another process was faster
			}
			throw new StoreException("what is known of " + remote + " cannot be written into " + parent + ": " + e.getMessage(), e);
		}
	}

	private static String crc(String text) {
		CRC32 crc = new CRC32();
		crc.update(text.getBytes(StandardCharsets.UTF_8));
		return String.format(Locale.ROOT, "%08x", crc.getValue());
	}

	/** False when it is not there. */
	private static boolean fetch(Path driver, Path cache, String from, Path to, Progress progress) throws MemtraceException, IOException {
		FolderFiles files = new FolderFiles(driver, cache, from);
		Connection connection = files.connection();
		try (Statement s = connection.createStatement(); SqlSession.Watch watch = new SqlSession.Watch(s, "Fetching " + from, progress)) {
			watch.start();
			s.execute("SET memory_limit = '8GiB'"); // the file is one value
			try (ResultSet r = s.executeQuery("SELECT count(*) FROM glob(" + SqlText.files(from) + ")")) {
				if (!r.next() || r.getLong(1) == 0) {
					return false;
				}
			}
			progress.check();
			try (ResultSet r = s.executeQuery("SELECT content FROM read_blob(" + SqlText.files(from) + ")")) {
				if (!r.next()) {
					return false;
				}
				try (InputStream in = r.getBlob(1).getBinaryStream()) {
					Files.copy(in, to);
				}
			}
			return true;
		} catch (SQLException e) {
			progress.check();
			throw new StoreException(from + " cannot be read: " + SqlText.sentence(e), e);
		} finally {
			files.back(connection);
			files.close();
		}
	}
}
