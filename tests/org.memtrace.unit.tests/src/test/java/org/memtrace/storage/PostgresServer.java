// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.memtrace.model.StoreException;
import org.memtrace.model.store.CataloguePlace;
import org.memtrace.storage.dbms.Sqlite;

/**
 * A PostgreSQL server of the tests of this process: Debian's programs, with a folder and a port of its own. It ends with this process,
 * however that ends. Where it is not installed, tests fail and say so: they are never skipped.
 */
public final class PostgresServer {
	/** The superuser. */
	public static final String OWNER = "owner";
	private static final Path PROGRAMS = Path.of("/usr/lib/postgresql");
	/** Of another program that took the port between looking and using it. */
	private static final int ATTEMPTS = 5;
	private static final AtomicInteger DATABASES = new AtomicInteger();
	private static PostgresServer server;

	private final int port;

	private PostgresServer(int port) {
		this.port = port;
	}

	/** The server; started when it is first asked for. */
	public static synchronized PostgresServer get() {
		if (server == null) {
			try {
				server = start();
			} catch (IOException e) {
				throw new UncheckedIOException(e);
			}
		}
		return server;
	}

	private static Path programs() throws IOException {
		if (Files.isDirectory(PROGRAMS)) {
			try (Stream<Path> versions = Files.list(PROGRAMS)) {
				List<Path> found = versions.map(v -> v.resolve("bin")).filter(b -> Files.isExecutable(b.resolve("initdb")))
						.sorted(Comparator.comparing(b -> Integer.parseInt("0" + b.getParent().getFileName().toString().replaceAll("\\D", ""))))
						.toList();
				if (!found.isEmpty()) {
					return found.getLast();
				}
			}
		}
		throw new AssertionError("PostgreSQL is not installed (no " + PROGRAMS + "/*/bin/initdb), so its store cannot be tested;"
				+ " ./test.sh installs the package postgresql");
	}

	private static PostgresServer start() throws IOException {
		Path programs = programs();
		Path folder = Files.createTempDirectory("memtrace-postgres-");
		boolean root = System.getProperty("user.name").equals("root");
		List<String> as = List.of();
		if (root) { // the server refuses to be root
			Files.getFileAttributeView(folder, PosixFileAttributeView.class)
					.setOwner(folder.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody"));
			as = List.of("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--");
		}
		Path data = folder.resolve("data");
		run(folder, as, programs.resolve("initdb").toString(), "-D", data.toString(), "-U", OWNER, "-A", "trust", "-E", "UTF8", "--locale=C",
				"--no-sync");
		for (int attempt = 1;; attempt++) {
			int port;
			try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
				port = free.getLocalPort();
			}
			// when this process ends, the input of the shell does, too
			List<String> command = new ArrayList<>(as);
			command.addAll(List.of("sh", "-c", "\"$@\" </dev/null & read -r end; kill -INT $!; wait; rm -rf " + data, "sh",
					programs.resolve("postgres").toString(), "-D", data.toString(), "-h", "127.0.0.1", "-p", Integer.toString(port), "-k",
					folder.toString(), "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "synchronous_commit=off", "-c",
					"lc_messages=C", "-c", "max_connections=50"));
			Process process = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
			StringBuilder said = new StringBuilder();
			BufferedReader out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
			String line = out.readLine();
			while (line != null && !line.contains("ready to accept connections") && !line.contains("FATAL")) {
				said.append(line).append('\n');
				line = out.readLine();
			}
			if (line != null && !line.contains("FATAL")) {
				Thread.ofPlatform().daemon().start(() -> out.lines().forEach(more -> { // or the server would wait for a reader
				}));
				Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(process, folder)));
				return new PostgresServer(port);
			}
			said.append(line);
			process.destroy();
			if (attempt == ATTEMPTS) {
				throw new AssertionError("the server of PostgreSQL does not start: " + said);
			}
		}
	}

	private static void stop(Process process, Path folder) {
		try {
			process.getOutputStream().close();
			process.waitFor();
			Files.deleteIfExists(folder);
		} catch (IOException | InterruptedException e) {
			// a folder without data remains
		}
	}

	private static void run(Path folder, List<String> as, String... command) throws IOException {
		List<String> all = new ArrayList<>(as);
		all.addAll(List.of(command));
		Process process = new ProcessBuilder(all).directory(folder.toFile()).redirectErrorStream(true).start();
		process.getOutputStream().close();
		String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		try {
			if (process.waitFor() != 0) {
				throw new AssertionError(command[0] + " failed: " + said);
			}
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
			throw new IOException(e);
		}
	}

	/** Makes a database for one test. */
	public CataloguePlace newDatabase() throws SQLException, StoreException {
		String name = "test_" + DATABASES.incrementAndGet();
		execute("postgres", "CREATE DATABASE " + name);
		return place(OWNER, name);
	}

	public CataloguePlace place(String user, String database) throws StoreException {
		return CataloguePlace.parse("postgresql://" + user + "@127.0.0.1:" + port + "/" + database);
	}

	/** Connects as the superuser. */
	public Connection connect(String database) throws SQLException {
		Properties properties = new Properties();
		properties.setProperty("user", OWNER);
		return new org.postgresql.Driver().connect("jdbc:postgresql://127.0.0.1:" + port + "/" + database, properties);
	}

	public void execute(String database, String... statements) throws SQLException {
		try (Connection db = connect(database)) {
			Sqlite.execute(db, statements);
		}
	}
}
