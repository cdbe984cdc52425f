// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Traces in the Pajé format. */
package org.memtrace.importer.paje;
