// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Archives of OTF2, read by {@code memtrace otf2-stream}. */
package org.memtrace.importer.otf2;
