// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.sql;

import java.net.URI;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;

/**
 * Folders in object storage with the interface of S3, {@code s3://BUCKET/KEY}, which DuckDB reads with its extension httpfs. The
 * extension is not fetched: it has to be where DuckDB looks for it, or the variable names its file. Keys, region and address of the
 * server come from the variables of the AWS tools.
 */
public final class ObjectStorage {
	/** Names the file {@code httpfs.duckdb_extension}. */
	public static final String VARIABLE = "MEMTRACE_DUCKDB_HTTPFS";
	private static final String SCHEME = "s3://";

	private ObjectStorage() {
	}

	/** Whether an address is one of object storage. */
	public static boolean isAddress(String text) {
		return text.startsWith(SCHEME);
	}

	/** Lets a connection read there. */
	static void prepare(Statement s, Map<String, String> environment) throws SQLException {
		String file = environment.get(VARIABLE);
		try {
			s.execute("LOAD " + (file == null || file.isBlank() ? "httpfs" : SqlText.text(file)));
		} catch (SQLException e) {
			throw new SQLException("DuckDB's extension httpfs is needed for " + SCHEME + ", and " + VARIABLE + " names its file"
					+ " (docs/howto/parquet-folder.md): " + SqlText.sentence(e), e);
		}
		s.execute(secret(environment));
	}

	/** How the server is reached. */
	static String secret(Map<String, String> environment) {
		StringBuilder sql = new StringBuilder("CREATE OR REPLACE SECRET memtrace (TYPE s3, PROVIDER config");
		Map<String, String> keys = Map.of("KEY_ID", "AWS_ACCESS_KEY_ID", "SECRET", "AWS_SECRET_ACCESS_KEY", "SESSION_TOKEN", "AWS_SESSION_TOKEN");
		keys.forEach((name, variable) -> {
			String value = environment.getOrDefault(variable, "");
			if (!value.isEmpty()) {
				sql.append(", ").append(name).append(' ').append(SqlText.text(value));
			}
		});
		String region = environment.getOrDefault("AWS_REGION", environment.getOrDefault("AWS_DEFAULT_REGION", ""));
		if (!region.isEmpty()) {
			sql.append(", REGION ").append(SqlText.text(region));
		}
		String server = environment.getOrDefault("AWS_ENDPOINT_URL_S3", environment.getOrDefault("AWS_ENDPOINT_URL", ""));
		if (!server.isEmpty()) {
			URI uri = URI.create(server);
			sql.append(", ENDPOINT ").append(SqlText.text(uri.getAuthority() == null ? server : uri.getAuthority())).append(", URL_STYLE 'path'");
			if ("http".equals(uri.getScheme())) {
				sql.append(", USE_SSL false");
			}
		}
		return sql.append(')').toString();
	}
}
