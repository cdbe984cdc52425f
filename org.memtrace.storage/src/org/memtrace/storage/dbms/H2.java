// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.dbms;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Properties;

import org.memtrace.model.RegularFile;
import org.memtrace.model.StoreException;

/** Opens H2 files, explains their errors, and translates the schema. */
public final class H2 {
	/** H2 insists on it. */
	static final String SUFFIX = ".mv.db";
	private static final byte[] MAGIC = "H:2,block".getBytes(StandardCharsets.US_ASCII);
	private static final int BUSY_MS = 10_000;
	private static final int BUSY_WAIT_MS = 50;

	private static final int ALREADY_OPEN = 90020;
	private static final int CORRUPTED = 90030;
	private static final int READ_ONLY = 90097;
	private static final int IO = 90028;
	private static final int IO_WITH_NAME = 90031;
	private static final int OUT_OF_MEMORY = 90108;
	private static final int NOT_FOUND = 90146;

	private H2() {
	}

	public static boolean isH2(Path file) {
		try (var in = RegularFile.open(file)) {
			return Arrays.equals(MAGIC, in.readNBytes(MAGIC.length));
		} catch (IOException e) {
			return false;
		}
	}

	/**
	 * Opens a database. All connections of this process to one file share it; another process has to wait until they are
	 * closed. A file that cannot be written is opened for reading.
	 */
	static Connection open(Path file, boolean create) throws StoreException {
		String path = file.toAbsolutePath().toString();
		if (!path.endsWith(SUFFIX)) {
			throw new StoreException(file + ": the name of an H2 database must end in " + SUFFIX);
		}
		if (path.indexOf(';') >= 0) {
			throw new StoreException(file + " cannot be used: H2 allows no semicolon in a path");
		}
		if (!create && !Files.isRegularFile(file)) {
			String kind = RegularFile.otherKind(file);
			throw new StoreException(file + (kind == null ? " does not exist" : " " + kind + ", no database"));
		}
		String url = "jdbc:h2:file:" + path.substring(0, path.length() - SUFFIX.length())
				// VALUE is a column of FrameSoc's; no files beside the database
				+ ";NON_KEYWORDS=VALUE;TRACE_LEVEL_FILE=0;DB_CLOSE_ON_EXIT=FALSE" + (create ? "" : ";IFEXISTS=TRUE")
				+ (create || Files.isWritable(file) ? "" : ";ACCESS_MODE_DATA=r");
		long deadline = System.nanoTime() + BUSY_MS * 1_000_000L;
		while (true) {
			try {
				return new org.h2.Driver().connect(url, new Properties());
			} catch (NoClassDefFoundError e) {
				throw new StoreException(file + " cannot be used: H2 is not installed", e);
			} catch (SQLException e) {
				if (e.getErrorCode() != ALREADY_OPEN || System.nanoTime() >= deadline) {
					throw explain(file, e);
				}
				try {
					Thread.sleep(BUSY_WAIT_MS);
				} catch (InterruptedException interrupted) {
					Thread.currentThread().interrupt();
					throw explain(file, e);
				}
			}
		}
	}

	static StoreException explain(Path file, SQLException e) {
		for (SQLException next = e; next != null; next = next.getNextException()) { // of a batch
			for (Throwable t = next; t != null; t = t.getCause()) {
				if (t instanceof IOException && String.valueOf(t.getMessage()).contains("No space left on device")) {
					return StoreException.deviceFull(file + " cannot be written: no space left on the device", e);
				}
			}
		}
		return new StoreException(file + " " + switch (e.getErrorCode()) {
		case ALREADY_OPEN -> "is locked by another process";
		case CORRUPTED -> "is damaged";
		case READ_ONLY -> "cannot be written: no permission";
		case IO, IO_WITH_NAME -> "cannot be read or written: input/output error (is the device full?)";
		case OUT_OF_MEMORY -> "cannot be used: not enough memory";
		case NOT_FOUND -> "does not exist";
		default -> "cannot be used: " + String.valueOf(e.getMessage()).lines().findFirst().orElse("");
		}, e);
	}

	/**
	 * The same tables. INTEGER has 32 bits in H2, which is enough for FrameSoc's own tables only; constraint names are unique in a
	 * schema, so they go; REAL has 32 bits; views cannot be changed at all, so they need no triggers that refuse it.
	 */
	static String[] schema(String... statements) {
		return Arrays.stream(statements).filter(sql -> !sql.startsWith("CREATE TRIGGER")).map(H2::translate)
				.toArray(String[]::new);
	}

	private static String translate(String sql) {
		String own = sql.startsWith("CREATE TABLE MT_") ? sql.replaceAll("\\bINTEGER\\b", "BIGINT") : sql;
		return own.replace("CONSTRAINT uc_type ", "").replaceAll("\\bTEXT\\b", "VARCHAR").replaceAll("\\bREAL\\b",
				"DOUBLE PRECISION");
	}
}
