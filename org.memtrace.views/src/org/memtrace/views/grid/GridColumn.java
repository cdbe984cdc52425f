// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.grid;

/**
 * A column of a {@link Grid}.
 *
 * @param title head
 * @param tip what the head means
 * @param width pixels at first
 * @param number aligned right, and sorted descending first
 * @param sortable whether a click on the head sorts
 */
public record GridColumn(String title, String tip, int width, boolean number, boolean sortable) {
}
