// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.StoreException;

/** Where the tables of one trace are: a file, or a schema of a server. Its text is what messages call it. Any thread. */
abstract class Database {
	final Dbms dbms;

	Database(Dbms dbms) {
		this.dbms = dbms;
	}

	/** Opens what must exist, for small tables and single rows. May stay open for long, and keeps nobody from changing anything. */
	abstract Connection read() throws MemtraceException;

	/** Opens what must exist, for reading many rows. */
	Connection scan() throws MemtraceException {
		return read();
	}

	/** Opens what must exist, for changes. */
	abstract Connection change() throws MemtraceException;

	/** False when it is known that nothing can be changed; true says nothing. */
	abstract boolean isWritable();

	/** One sentence that names the database and the reason. */
	abstract StoreException explain(SQLException e);

	/** The name that the catalogue has for it. */
	abstract String name();

	/** A file. */
	static Database of(Path file) {
		return of(file, Dbms.of(file));
	}

	/** A file of a kind that is known. */
	static Database of(Path file, Dbms kind) {
		return new Database(kind) {
			@Override
			Connection read() throws StoreException {
				return dbms.read(file);
			}

			@Override
			Connection change() throws StoreException {
				return dbms.change(file);
			}

			@Override
			boolean isWritable() {
				return Files.isWritable(file);
			}

			@Override
			StoreException explain(SQLException e) {
				return dbms.explain(file, e);
			}

			@Override
			String name() {
				return file.getFileName().toString();
			}

			@Override
			public String toString() {
				return file.toString();
			}
		};
	}
}
