// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Numbers, names and sentences for a person, cells of CSV, and the Markdown of our documents. */
package org.memtrace.analysis.text;
