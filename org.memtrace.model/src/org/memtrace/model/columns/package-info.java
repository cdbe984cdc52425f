// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/**
 * Accesses as columns: chunks of a range of event producers, which are read one by one and in parallel. Everything that
 * looks at many accesses reads them here.
 */
package org.memtrace.model.columns;
