// Copyright memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** Application and perspective. */
package org.memtrace.rcp;
