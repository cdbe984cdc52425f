// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Where what a person types is: a structure, an address, a line of the source, a function, a thread, or anything else that has a name. */
package org.memtrace.analysis.find;
