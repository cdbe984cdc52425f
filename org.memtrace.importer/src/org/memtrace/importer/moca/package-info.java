// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Files of Moca, and the collection of single files to one trace. */
package org.memtrace.importer.moca;
