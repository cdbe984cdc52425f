// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.dbms;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.StoreException;

/** Where the tables of one trace are: a file, or a schema of a server. Its text is what messages call it. Any thread. */
public abstract class Database {
	public final Dbms dbms;

	public Database(Dbms dbms) {
		this.dbms = dbms;
	}

	/** Opens what must exist, for small tables and single rows. May stay open for long, and keeps nobody from changing anything. */
	public abstract Connection read() throws MemtraceException;

	/** Opens what must exist, for reading many rows. */
	public Connection scan() throws MemtraceException {
		return read();
	}

	/** Opens what must exist, for changes. */
	public abstract Connection change() throws MemtraceException;

	/** False when it is known that nothing can be changed; true says nothing. */
	public abstract boolean isWritable();

	/** One sentence that names the database and the reason. */
	public abstract StoreException explain(SQLException e);

	/** The name that the catalogue has for it. */
	public abstract String name();

	/** A file. */
	public static Database of(Path file) {
		return of(file, Dbms.of(file));
	}

	/** A file of a kind that is known. */
	public static Database of(Path file, Dbms kind) {
		return new Database(kind) {
			@Override
			public Connection read() throws StoreException {
				return dbms.read(file);
			}

			@Override
			public Connection change() throws StoreException {
				return dbms.change(file);
			}

			@Override
			public boolean isWritable() {
				return Files.isWritable(file);
			}

			@Override
			public StoreException explain(SQLException e) {
				return dbms.explain(file, e);
			}

			@Override
			public String name() {
				return file.getFileName().toString();
			}

			@Override
			public String toString() {
				return file.toString();
			}
		};
	}
}
