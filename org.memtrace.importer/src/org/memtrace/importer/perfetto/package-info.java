// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Traces in Perfetto's own form, which is protobuf. */
package org.memtrace.importer.perfetto;
