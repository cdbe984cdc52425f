// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.text;

import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.model.Metric;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.aggregation.model.MicroscopicModel.Places;
import org.memtrace.model.CountUnit;
import org.memtrace.model.ThreadInfo;

/** Values and rows of a model, in words that fit what its trace holds: accesses of pages, or events of producers. */
public final class ModelText {
	private static final Pattern OWN_TYPE = Pattern.compile("(Private|Shared|NotKnown)_(Read|Write)(_T\\d+)?");

	private ModelText() {
	}

	/** Name of an event type: {@code Private Read}, {@code Not known Read}; those of other tools are as these write them. */
	public static String type(String name) {
		return OWN_TYPE.matcher(name).matches() ? name.replace("NotKnown", "Not known").replace('_', ' ') : name;
	}

	/** Name of a type for a person: {@code private read} for {@code Private_Read}. */
	public static String type(ModelType type) {
		return switch (type.role()) {
		case PRIVATE_READ, PRIVATE_WRITE, SHARED_READ, SHARED_WRITE, READ, WRITE, NOT_KNOWN_READ, NOT_KNOWN_WRITE ->
			type(type.name()).toLowerCase(Locale.ROOT);
		default -> type.name();
		};
	}

	/** A type of reads and one of writes, for a record with both, in words: {@code private read+write}. */
	public static String types(String names) {
		String[] both = names.replace("NotKnown", "Not known").toLowerCase(Locale.ROOT).replace('_', ' ').split("\\+");
		return both.length == 1 ? both[0] : both[0] + "+" + both[1].substring(both[1].lastIndexOf(' ') + 1);
	}

	/** Name of a thread: its own and its number, or {@code thread 7} when nothing is known of it. */
	public static String thread(List<ThreadInfo> threads, int index) {
		return index < 0 || index >= threads.size() ? "thread " + index
				: (threads.get(index).name().isEmpty() ? "thread" : threads.get(index).name()) + " #" + index;
	}

	private static boolean isOfEvents(MicroscopicModel model) {
		return model.viewpoint() == BasicDimensions.EVENT_TYPE;
	}

	/** A value without its noun, such as {@code 12.3 million}, or a time such as {@code 1.5 s}. */
	public static String value(MicroscopicModel model, double value, boolean ticks) {
		return switch (model.metric().kind()) {
		case STATE_DURATION, STATE_TIME, STATE_MEAN -> Units.duration(value, ticks);
		case VARIABLE_MEAN -> Units.number(value);
		default -> Units.count(value);
		};
	}

	/** A value and what it counts, such as {@code 1,234 accesses} or {@code 1 access}; a time or a mean says that itself. */
	public static String full(MicroscopicModel model, double value, boolean ticks, CountUnit unit) {
		String text = value(model, value, ticks);
		return switch (model.metric().kind()) {
		case STATE_DURATION, STATE_TIME, VARIABLE_MEAN -> text;
		case STATE_MEAN -> text + " each";
		default -> Units.counted(text, counted(model, unit));
		};
	}

	/** What is missing where there is nothing. */
	public static String nothing(MicroscopicModel model, CountUnit unit) {
		return switch (model.metric().kind()) {
		case STATE_DURATION, STATE_TIME, STATE_MEAN -> "no states";
		case VARIABLE_MEAN -> "no values";
		default -> "no " + counted(model, unit);
		};
	}

	/** What is counted, in the plural. */
	public static String counted(MicroscopicModel model, CountUnit unit) {
		return isOfEvents(model) ? model.metric().description() : model.metric() == Metric.EVENTS ? unit.row() + "s"
				: model.metric() == Metric.ACCESSES ? unit.plural() : model.metric().unit();
	}

	/** A metric in titles and menus. */
	public static String metric(Metric metric, boolean ofAccesses, CountUnit unit) {
		return !ofAccesses ? metric.description() : metric == Metric.EVENTS ? unit.row() + "s"
				: metric == Metric.ACCESSES ? unit.plural() : metric.description();
	}

	/** What a row is, a noun. */
	public static String row(MicroscopicModel model) {
		return isOfEvents(model) ? "producer" : model.places() == Places.ROWS ? "CPU" : "page";
	}

	/** Head of a column with numbers of rows. */
	public static String rows(MicroscopicModel model) {
		return isOfEvents(model) ? "Producers" : model.places() == Places.ROWS ? "CPUs" : "Pages";
	}
}
