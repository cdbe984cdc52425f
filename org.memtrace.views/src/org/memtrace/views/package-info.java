// Copyright memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** SWT views over the analysis. */
package org.memtrace.views;
