// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.catalogue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.memtrace.model.MemtraceException;
import org.memtrace.model.StoreException;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.store.TraceGroup;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.storage.dbms.Database;
import org.memtrace.storage.dbms.Dbms;
import org.memtrace.storage.dbms.PendingDatabase;
import org.memtrace.storage.dbms.PendingFile;
import org.memtrace.storage.trace.SqlTraceStore;
import org.memtrace.storage.trace.SqlTraceWriter;

/** Files that are written under one lock and published together; what publishing is depends on where they go. */
final class PendingGroup implements TraceGroup {
	/** Makes complete files visible, all or none. */
	interface Publisher {
		List<TraceInfo> publish(PendingFile lock, List<Path> files, List<TraceInfo> infos) throws MemtraceException, IOException;
	}

	/** What the name of a database becomes; refuses one that cannot be used. */
	interface Naming {
		String name(String wanted) throws MemtraceException;
	}

	private final Dbms dbms;
	private final Path directory;
	private final Naming naming;
	private final Publisher publisher;
	private final PendingFile lock;
	private final List<PendingFile> members = new ArrayList<>();
	private final List<Path> files = new ArrayList<>();
	private final List<TraceInfo> infos = new ArrayList<>();

	PendingGroup(Dbms dbms, Path directory, Naming naming, Publisher publisher) throws MemtraceException {
		this.dbms = dbms;
		this.directory = directory;
		this.naming = naming;
		this.publisher = publisher;
		lock = PendingFile.begin(directory, dbms.suffix());
	}

	@Override
	public TraceWriter create(String databaseName) throws MemtraceException {
		String name = naming.name(databaseName);
		PendingFile file = lock.member(members.size() + 1);
		members.add(file);
		return new SqlTraceWriter(PendingDatabase.of(dbms, file, (complete, info) -> {
			complete.keep();
			files.add(complete.temporary);
			infos.add(info);
			return info;
		}), name);
	}

	@Override
	public TraceStore open(int index) throws MemtraceException {
		return new SqlTraceStore(Database.of(files.get(index)), infos.get(index), producers -> {
		});
	}

	@Override
	public List<TraceInfo> publish() throws MemtraceException {
		try {
			for (Path file : files) {
				PendingFile.force(file);
			}
			return publisher.publish(lock, files, infos);
		} catch (IOException e) {
			throw new StoreException(directory + " cannot be written: " + PendingFile.reason(e), e);
		}
	}

	@Override
	public void close() {
		for (PendingFile member : members) {
			member.release();
		}
		lock.end();
	}
}
