// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.sql;

import java.util.Map;

/**
 * A table that statements can name.
 *
 * @param name in SQL
 * @param files Parquet files: a path; at its end {@code accesses/}{@code *}{@code /}{@code *.parquet} stands for all of the accesses
 * @param meaning for a person who lists the tables; without a full stop
 * @param columns meaning of each column
 */
public record SqlView(String name, String files, String meaning, Map<String, String> columns) {
}
