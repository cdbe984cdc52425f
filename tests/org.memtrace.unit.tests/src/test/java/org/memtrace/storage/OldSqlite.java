// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.SQLException;
import java.util.Properties;

import org.junit.jupiter.api.Assumptions;

/**
 * The SQLite that FrameSoc ships (3.7.2 of 2010), loaded beside our own. The build puts the driver into build/test-lib; without it
 * tests are skipped. One class loader for all tests: a second one in a process falls back to a driver in Java, of another version.
 */
final class OldSqlite {
	private static final Path DRIVER = Path.of(System.getProperty("memtrace.root", "../.."), "build", "test-lib",
			"sqlite-jdbc-3.7.2.jar");
	private static Driver driver;

	private OldSqlite() {
	}

	static void assume() {
		Assumptions.assumeTrue(Files.exists(DRIVER), "no " + DRIVER + ": FrameSoc's driver is not there");
	}

	static synchronized Connection open(Path file) throws Exception {
		if (driver == null) {
			@SuppressWarnings("resource") // as long as the process
			URLClassLoader loader = new URLClassLoader(new URL[] { DRIVER.toUri().toURL() }, ClassLoader.getPlatformClassLoader());
			driver = (Driver) loader.loadClass("org.sqlite.JDBC").getConstructor().newInstance();
		}
		Connection db = driver.connect("jdbc:sqlite:" + file, new Properties());
		try (var statement = db.createStatement(); var version = statement.executeQuery("SELECT sqlite_version()")) {
			version.next();
			if (!version.getString(1).equals("3.7.2")) {
				throw new SQLException("this is " + version.getString(1));
			}
		}
		return db;
	}
}
