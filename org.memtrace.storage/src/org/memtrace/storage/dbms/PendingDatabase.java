// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.dbms;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.TraceInfo;

/** A trace database that one writer fills, and that nobody sees before it is complete. Used by one thread. */
public interface PendingDatabase {
	/** What it is until it is published. */
	Database database();

	/** A folder on this machine for temporary files of the writer. */
	Path scratch();

	/** Makes the empty database, and opens it for the only writer. */
	Connection begin() throws MemtraceException, SQLException;

	/**
	 * Makes the database permanent, and visible unless it belongs to a group.
	 *
	 * @param db what {@link #begin} gave, with everything written; it is closed afterwards
	 * @return the trace as the catalogue now knows it
	 */
	TraceInfo publish(Connection db, TraceInfo complete) throws MemtraceException, SQLException, IOException;

	/** Ends the attempt: what was not published goes. */
	void end();

	/** Makes the complete temporary file visible. */
	interface Publisher {
		TraceInfo publish(PendingFile file, TraceInfo complete) throws MemtraceException, IOException;
	}

	/** A file under a temporary name. There is no journal while it is written: one that is not completed is thrown away, never repaired. */
	static PendingDatabase of(Dbms dbms, PendingFile file, Publisher publisher) {
		Database database = Database.of(file.temporary, dbms);
		return new PendingDatabase() {
			@Override
			public Database database() {
				return database;
			}

			@Override
			public Path scratch() {
				return file.temporary.toAbsolutePath().getParent();
			}

			@Override
			public Connection begin() throws MemtraceException {
				return dbms.make(file.temporary);
			}

			@Override
			public TraceInfo publish(Connection db, TraceInfo complete) throws MemtraceException, SQLException, IOException {
				if (!db.getAutoCommit()) {
					db.commit();
				}
				db.close();
				PendingFile.force(file.temporary);
				return publisher.publish(file, complete);
			}

			@Override
			public void end() {
				file.end();
			}
		};
	}
}
