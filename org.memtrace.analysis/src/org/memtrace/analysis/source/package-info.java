// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Where in the source of the traced program memory is made and used, and which file of this machine that is. */
package org.memtrace.analysis.source;
