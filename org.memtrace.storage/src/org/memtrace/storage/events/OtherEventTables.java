// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.storage.events;

import org.memtrace.storage.dbms.RowsChecksum;
import org.memtrace.storage.dbms.Schema;

/**
 * The tables of events other than accesses, made for a trace that has some, and what FrameSoc's views select from them.
 * docs/reference/database-schema.md explains them; the rules of {@link Schema} hold.
 */
public final class OtherEventTables {
	public static final String EVENT = "MT_OTHER_EVENT";
	public static final String SPAN = "MT_OTHER_SPAN";
	public static final String CONTEXT = "MT_OTHER_CONTEXT";
	/** Checksum of the events of each span. */
	public static final String CHECK = "MT_OTHER_CHECK";
	/** Events in a span at most. */
	static final int SPAN_EVENTS = 512;

	public static final String[] TABLES = {
			"CREATE TABLE " + EVENT + "(ID INTEGER PRIMARY KEY, CONTEXT INTEGER, OFFSET_NS INTEGER, LENGTH_NS INTEGER, VALUE REAL)",
			"CREATE TABLE " + SPAN + "(ID INTEGER PRIMARY KEY, END_EVENT INTEGER, START_NS INTEGER, END_NS INTEGER, PAGE INTEGER,"
					+ " MIN_PRODUCER INTEGER, MAX_PRODUCER INTEGER)",
			"CREATE TABLE " + CONTEXT + "(ID INTEGER PRIMARY KEY, EVENT_TYPE_ID INTEGER, CATEGORY INTEGER, EVENT_PRODUCER_ID INTEGER,"
					+ " CPU INTEGER, VALUE INTEGER)",
			"CREATE TABLE " + CHECK + "(ID INTEGER PRIMARY KEY, CRC32C INTEGER)",
			"CREATE TABLE MT_OTHER_PARAM(ID INTEGER PRIMARY KEY, FIRST_VALUE INTEGER, END_VALUE INTEGER)",
			"CREATE TABLE MT_OTHER_VALUE(ID INTEGER PRIMARY KEY, PARAM_TYPE INTEGER, VALUE TEXT)" };
	public static final String PAGE_INDEX = "CREATE INDEX MT_OTHER_SPAN_PAGE ON MT_OTHER_SPAN(PAGE)";

	/** Rows of FrameSoc's EVENT. The order of the joins is given: an old planner would look for the span of each event. */
	public static final String SELECT_EVENTS = "SELECT e.ID AS ID, c.EVENT_TYPE_ID AS EVENT_TYPE_ID, c.EVENT_PRODUCER_ID AS EVENT_PRODUCER_ID,"
			+ " CAST(s.START_NS + e.OFFSET_NS AS BIGINT) AS TIMESTAMP, c.CPU AS CPU, s.PAGE AS PAGE, c.CATEGORY AS CATEGORY,"
			+ " CAST(s.START_NS + e.OFFSET_NS + e.LENGTH_NS AS BIGINT) AS LPAR, CAST(c.VALUE + e.VALUE AS REAL) AS DPAR"
			+ " FROM MT_OTHER_SPAN s CROSS JOIN " + EVENT + " e CROSS JOIN MT_OTHER_CONTEXT c"
			+ " WHERE e.ID >= s.ID AND e.ID < s.END_EVENT AND c.ID = e.CONTEXT";

	private OtherEventTables() {
	}

	/** Adds an event to the checksum of its span: its number, its context, its start from the start of the span, its length and its value. */
	static void add(RowsChecksum span, long id, long context, long offsetNs, long lengthNs, double value) {
		span.number(id);
		span.number(context);
		span.number(offsetNs);
		span.number(lengthNs);
		span.real(value);
	}

	/**
	 * Rows of FrameSoc's EVENT_PARAM.
	 *
	 * @param firstParameterType id of the first parameter type
	 * @param most parameters that an event has at most; with accesses in the same database at least as many as they have
	 */
	public static String selectParameters(int firstParameterType, int most) {
		return "SELECT CAST(p.ID * " + most + " + v.ID - p.FIRST_VALUE AS INTEGER) AS ID, p.ID AS EVENT_ID,"
				+ " CAST(v.PARAM_TYPE + " + firstParameterType + " AS INTEGER) AS EVENT_PARAM_TYPE_ID, v.VALUE AS VALUE"
				+ " FROM MT_OTHER_PARAM p CROSS JOIN MT_OTHER_VALUE v WHERE v.ID >= p.FIRST_VALUE AND v.ID < p.END_VALUE";
	}
}
