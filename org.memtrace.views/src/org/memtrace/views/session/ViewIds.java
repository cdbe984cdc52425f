// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.session;

/** Ids of plugin.xml. */
public final class ViewIds {
	/** Begin of all of them. */
	public static final String PREFIX = "org.memtrace.views.";
	public static final String PERSPECTIVE = "org.memtrace.views.perspective";
	public static final String TRACES = "org.memtrace.views.traces";
	public static final String DETAILS = "org.memtrace.views.details";
	public static final String OCELOTL = "org.memtrace.views.ocelotl";
	public static final String FINDINGS = "org.memtrace.views.findings";
	public static final String DIFFERENCE = "org.memtrace.views.difference";
	public static final String STRUCTURES = "org.memtrace.views.structures";
	public static final String GANTT = "org.memtrace.views.gantt";
	public static final String EVENTS = "org.memtrace.views.events";
	public static final String STATISTICS = "org.memtrace.views.statistics";
	public static final String PROFILE = "org.memtrace.views.profile";
	public static final String DENSITY = "org.memtrace.views.density";
	public static final String MACHINE = "org.memtrace.views.machine";
	public static final String BINDING = "org.memtrace.views.binding";
	public static final String SOURCE = "org.memtrace.views.source";
	public static final String SQL = "org.memtrace.views.sql";
	public static final String HELP = "org.memtrace.views.help";
	public static final String TUTORIAL = "org.memtrace.views.tutorial";

	public static final String RECORD = "org.memtrace.views.record";
	public static final String MONITOR = "org.memtrace.views.monitor";
	public static final String IMPORT = "org.memtrace.views.import";
	public static final String COLOURS = "org.memtrace.views.colours";
	/** Of the platform. */
	public static final String CLOSE = "org.eclipse.ui.file.close";
	public static final String OPEN_DATABASE = "org.memtrace.views.openDatabase";

	private ViewIds() {
	}
}
