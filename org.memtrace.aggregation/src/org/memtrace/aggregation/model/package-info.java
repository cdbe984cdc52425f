// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/** The microscopic model, leaves x slices x types, and what is asked of one. docs/how/microscopic-model.md */
package org.memtrace.aggregation.model;
