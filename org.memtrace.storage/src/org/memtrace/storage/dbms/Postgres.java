// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.dbms;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.function.UnaryOperator;
import java.util.logging.Level;
import java.util.logging.Logger;

import org.memtrace.model.StoreException;
import org.memtrace.model.store.CataloguePlace;

/**
 * Connects to a database of a PostgreSQL server, explains its errors, and translates the schema. Names of users, passwords and so on come
 * from where all programs of PostgreSQL take them: the variables PGHOST, PGPORT, PGDATABASE, PGUSER, PGPASSWORD, PGPASSFILE, PGSERVICE,
 * PGSSLMODE, PGSSLCERT, PGSSLKEY and PGSSLROOTCERT, ~/.pgpass and pg_service.conf. The driver talks TCP only.
 */
public final class Postgres {
	/** Rows that are fetched at a time where many are read. */
	private static final String FETCH_ROWS = "10000";
	private static final String CONNECT_SECONDS = "10";
	/** Whoever waits longer for a table that another one uses is told. */
	private static final String LOCK_TIMEOUT = "10s";
	private static final Map<String, String> PARAMETERS = Map.of("sslmode", "sslmode", "sslrootcert", "sslrootcert", "sslcert", "sslcert",
			"sslkey", "sslkey", "service", "service", "application_name", "ApplicationName", "connect_timeout", "connectTimeout");
	private static final Map<String, String> VARIABLES = Map.of("PGSSLMODE", "sslmode", "PGSSLROOTCERT", "sslrootcert", "PGSSLCERT", "sslcert",
			"PGSSLKEY", "sslkey", "PGSERVICE", "service", "PGHOST", "PGHOST", "PGPORT", "PGPORT", "PGDATABASE", "PGDBNAME", "PGUSER", "user",
			"PGPASSWORD", "password");

	/** Kept: a logger that nobody holds forgets its level. What goes wrong is an exception, too. */
	private static final Logger DRIVER_LOG = Logger.getLogger("org.postgresql");

	static {
		DRIVER_LOG.setLevel(Level.OFF);
	}

	private Postgres() {
	}

	/** Connects; unqualified names are those of a schema. Each statement is a transaction of its own. */
	public static Connection connect(CataloguePlace place, String schema) throws StoreException {
		return connect(place, schema, System::getenv);
	}

	/** @param variables of the environment */
	public static Connection connect(CataloguePlace place, String schema, UnaryOperator<String> variables) throws StoreException {
		try {
			return new org.postgresql.Driver().connect("jdbc:postgresql:///", properties(place, schema, variables));
		} catch (NoClassDefFoundError e) {
			throw new StoreException(place + " cannot be used: the JDBC driver of PostgreSQL is not installed", e);
		} catch (SQLException e) {
			throw explain(place, e);
		}
	}

	/** What the driver is told. */
	public static Properties properties(CataloguePlace place, String schema, UnaryOperator<String> variables) {
		Properties properties = new Properties();
		VARIABLES.forEach((variable, name) -> {
			String value = variables.apply(variable);
			if (value != null && !value.isEmpty()) {
				properties.setProperty(name, value);
			}
		});
		place.parameters().forEach((name, value) -> properties.setProperty(PARAMETERS.get(name), value));
		set(properties, "PGHOST", place.host());
		set(properties, "PGPORT", place.port() < 0 ? "" : Integer.toString(place.port()));
		set(properties, "PGDBNAME", place.database());
		set(properties, "user", place.user());
		if (!properties.containsKey("service")) {
			properties.putIfAbsent("user", System.getProperty("user.name"));
		}
		if (properties.getProperty("PGHOST", "").startsWith("/")) {
			properties.remove("PGHOST"); // the folder of a socket: the driver has none
		}
		properties.putIfAbsent("ApplicationName", "memtrace");
		properties.putIfAbsent("connectTimeout", CONNECT_SECONDS);
		properties.setProperty("tcpKeepAlive", "true");
		properties.setProperty("currentSchema", quoted(schema));
		properties.setProperty("stringtype", "unspecified"); // as in the other kinds: a text can be a date
		properties.setProperty("reWriteBatchedInserts", "true");
		properties.setProperty("defaultRowFetchSize", FETCH_ROWS); // where a transaction is open
		properties.setProperty("prepareThreshold", "1"); // numbers and bytes come as they are, not as text
		return properties;
	}

	private static void set(Properties properties, String name, String value) {
		if (!value.isEmpty()) {
			properties.setProperty(name, value);
		}
	}

	/** An identifier. */
	public static String quoted(String name) {
		return '"' + name.replace("\"", "\"\"") + '"';
	}

	/** Does not wait for ever for what another one locks. */
	public static void limitWaiting(Connection db) throws SQLException {
		Sqlite.execute(db, "SET lock_timeout = '" + LOCK_TIMEOUT + "'");
	}

	/** @param about a place, a trace or a part of them */
	public static StoreException explain(Object about, SQLException e) {
		SQLException first = e;
		for (SQLException next = e; next != null; next = next.getNextException()) { // of a batch
			first = next;
		}
		String state = first.getSQLState() == null ? "" : first.getSQLState();
		String message = String.valueOf(first.getMessage()).lines().findFirst().orElse("").replaceFirst("^[A-Z]+: ", "");
		if (state.startsWith("53") && !state.startsWith("533")) {
			return StoreException.deviceFull(about + " cannot be written: the server has no space left (" + message + ")", e);
		}
		return new StoreException(about + " " + switch (state) {
		case "42501" -> "cannot be used so: the user has no right to do this (" + message + ")";
		case "28P01", "28000" -> "refuses the user: " + message;
		case "3D000" -> "does not exist: " + message;
		case "42P01", "3F000", "42703" -> "is not complete, or was deleted meanwhile: " + message;
		case "55P03" -> "is in use by others";
		case "25006" -> "cannot be written: the server only reads (" + message + ")";
		case "53300" -> "has too many connections: " + message;
		case "57P01", "57P02", "57P03" -> "cannot be used: the server stops, or only starts";
		case "08001", "08003", "08004", "08006", "08007" -> "cannot be reached: " + message;
		case "XX001", "XX002" -> "is damaged: " + message;
		default -> "cannot be used: " + message;
		}, e);
	}

	/**
	 * The same tables. As in H2, INTEGER has 32 bits, which is enough for FrameSoc's own tables only, and constraint names go. Notes have a
	 * table from the start, as only its owner could make one later. Columns of chunks are compressed already.
	 */
	public static String[] schema(String... statements) {
		List<String> translated = new ArrayList<>();
		for (String sql : statements) {
			if (sql.startsWith("CREATE TRIGGER")) {
				continue; // views cannot be changed at all
			}
			String own = sql.startsWith("CREATE TABLE MT_") ? sql.replaceAll("\\bINTEGER\\b", "BIGINT") : sql;
			translated.add(own.replace("CONSTRAINT uc_type ", "").replaceAll("\\bREAL\\b", "DOUBLE PRECISION").replaceAll("\\bBLOB\\b", "BYTEA")
					.replaceAll("\\bBOOLEAN\\b", "SMALLINT"));
			if (sql.startsWith("CREATE TABLE MT_COLUMN(")) {
				translated.add("ALTER TABLE MT_COLUMN ALTER COLUMN DATA SET STORAGE EXTERNAL");
			}
		}
		return translated.toArray(String[]::new);
	}
}
