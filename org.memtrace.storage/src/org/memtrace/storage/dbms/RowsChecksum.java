// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.dbms;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.sql.Blob;
import java.sql.Clob;
import java.sql.SQLException;
import java.util.zip.CRC32C;

/**
 * CRC32C of values of a database, one after the other. The format is in docs/reference/database-chunks.md, "Damage". Used by one
 * thread.
 */
public final class RowsChecksum {
	private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

	private final CRC32C crc = new CRC32C();
	private final byte[] pending = new byte[4096];
	private int used;

	/** A value as JDBC gives it. */
	public void value(Object value) throws SQLException {
		switch (value) {
		case null -> tag('-');
		case Double d -> real(d);
		case Number n -> number(n.longValue());
		case byte[] b -> bytes(b);
		case Blob b -> bytes(b.getBytes(1, (int) b.length()));
		case Clob t -> text(t.getSubString(1, (int) t.length()));
		case Object o -> text(o.toString());
		}
	}

	public void number(long value) {
		tag('n');
		LONG.set(pending, used, value);
		used += Long.BYTES;
	}

	public void real(double value) {
		number(Double.doubleToLongBits(value));
	}

	public void text(String text) {
		tag('t');
		bytes(text.getBytes(StandardCharsets.UTF_8));
	}

	private void bytes(byte[] bytes) {
		number(bytes.length);
		flush();
		crc.update(bytes);
	}

	private void tag(char tag) {
		if (used + 1 + Long.BYTES > pending.length) {
			flush();
		}
		pending[used++] = (byte) tag;
	}

	private void flush() {
		crc.update(pending, 0, used);
		used = 0;
	}

	public long get() {
		flush();
		return crc.getValue();
	}

	/** Begins anew. */
	public void reset() {
		crc.reset();
		used = 0;
	}
}
