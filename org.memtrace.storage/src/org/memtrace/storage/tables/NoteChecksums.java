// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.storage.tables;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Map;
import java.util.zip.CRC32C;

import org.memtrace.model.StoreException;
import org.memtrace.storage.dbms.Database;
import org.memtrace.storage.dbms.Dbms;
import org.memtrace.storage.dbms.Schema;
import org.memtrace.storage.dbms.Sqlite;

/**
 * Checksums of notes. Each note has another one beside it with its CRC32C as text. Notes that were written before there were any have none.
 */
public final class NoteChecksums {
	private static final String PREFIX = "crc32c.";

	private NoteChecksums() {
	}

	/** Name of the note with the checksum of another one. */
	public static String name(String key) {
		return PREFIX + key;
	}

	/** The checksum of a note, as it is kept. */
	static byte[] of(byte[] value) {
		CRC32C crc = new CRC32C();
		crc.update(value);
		return Long.toString(crc.getValue()).getBytes(StandardCharsets.US_ASCII);
	}

	/**
	 * Compares a note with its checksum.
	 *
	 * @param notes notes by name; null for a value that cannot be read
	 * @throws StoreException if it is not what was written, or is missing and its checksum is not
	 */
	public static void check(Database file, Map<String, byte[]> notes, String key) throws StoreException {
		if (!notes.containsKey(name(key))) {
			return; // no such note
		}
		byte[] value = notes.get(key);
		if (value == null || !Arrays.equals(of(value), notes.get(name(key)))) {
			throw new StoreException(file + " is damaged: its note " + key + " is not what was written");
		}
	}

	/** Saves a note, or deletes it when the value is null; makes the table when this is the first one. */
	public static void replace(Dbms dbms, Connection db, String key, byte[] value) throws SQLException {
		dbms.waitLong(db);
		if (!dbms.hasTable(db, Schema.NOTE_TABLE)) {
			if (value == null) {
				return;
			}
			Sqlite.execute(db, dbms.schema(Schema.NOTES)[0]);
		}
		for (String name : new String[] {key, name(key)}) {
			Sqlite.update(db, "DELETE FROM MT_NOTE WHERE NAME = ?", name);
		}
		if (value != null) {
			Sqlite.update(db, "INSERT INTO MT_NOTE(NAME, VALUE) VALUES(?, ?)", key, value);
			Sqlite.update(db, "INSERT INTO MT_NOTE(NAME, VALUE) VALUES(?, ?)", name(key), of(value));
		}
	}

	/** Compares all notes. */
	public static void checkAll(Database file, Map<String, byte[]> notes) throws StoreException {
		for (String name : notes.keySet()) {
			if (name.startsWith(PREFIX)) {
				check(file, notes, name.substring(PREFIX.length()));
			}
		}
	}
}
