// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/**
 * Which colour a type, a thread, a structure or a state has: defaults from names and numbers, and the choices of the
 * user over them.
 */
package org.memtrace.analysis.colour;
