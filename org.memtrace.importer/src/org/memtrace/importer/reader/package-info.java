// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** What a reader of an input format implements, and what it gets for that. docs/extend/input-format.md is the guide. */
package org.memtrace.importer.reader;
