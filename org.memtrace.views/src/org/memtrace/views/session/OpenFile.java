// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.session;

import java.nio.file.Path;

import org.memtrace.model.TraceInfo;

/**
 * A trace database that was opened as a file, or a Parquet folder: no catalogue knows it.
 *
 * @param path absolute, normalized
 * @param info what the database says about its trace
 */
public record OpenFile(Path path, TraceInfo info) {
}
