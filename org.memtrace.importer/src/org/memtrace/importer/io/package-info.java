// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** What did a program read and write, level by level, as record --io has written it? */
package org.memtrace.importer.io;
