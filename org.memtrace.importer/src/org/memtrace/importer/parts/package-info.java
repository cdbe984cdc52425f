// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Files of an import that is divided among processes: rows, and coded ranges of pages. docs/howto/scale.md */
package org.memtrace.importer.parts;
