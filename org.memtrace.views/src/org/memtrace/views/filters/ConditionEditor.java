// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.filters;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

import org.memtrace.aggregation.Dimension;
import org.memtrace.aggregation.DimensionValues;
import org.memtrace.analysis.dimension.Dimensions;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.text.ModelText;
import org.memtrace.analysis.text.Parts;
import org.memtrace.analysis.text.Quantities;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.views.session.OpenTrace;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Spinner;
import org.eclipse.swt.widgets.Table;
import org.eclipse.swt.widgets.TableItem;
import org.eclipse.swt.widgets.Text;

/** The fields in which one kind of {@link Condition} is edited. */
abstract class ConditionEditor extends Composite {
	/** What can be filtered by and is no dimension, in the order of the choice. */
	private enum Form {
		NAME("Name", "Name", Condition.Name.class), SUBTREE("Structure or part", "Producer", Condition.Subtree.class),
		KIND("Kind of memory", null, Condition.Kind.class),
		/** The dimensions are offered before this one. */
		COUNT("Number of %s", "Number of events", Condition.Count.class),
		SHARE("Share of %s", "Share of events", Condition.Share.class), SIZE("Size", null, Condition.Size.class),
		LIFETIME("Lifetime", null, Condition.Lifetime.class), TIME("Window of time", null, Condition.Time.class),
		LEVEL("Level of the hierarchy", "Level of the hierarchy", Condition.Level.class);

		private final String ofAccesses;
		/** Null: says nothing about events. */
		private final String ofEvents;
		private final Class<? extends Condition> type;

		Form(String ofAccesses, String ofEvents, Class<? extends Condition> type) {
			this.ofAccesses = ofAccesses;
			this.ofEvents = ofEvents;
			this.type = type;
		}
	}

	/**
	 * What can be filtered by: a form of its own, or a dimension.
	 *
	 * @param form null for a dimension
	 * @param dimension null for a form
	 */
	record Kind(Form form, Dimension dimension) {
		/** What a person chooses in a trace. */
		String title(OpenTrace trace) {
			if (dimension != null) {
				return trace.hasAccesses() || dimension.ofEvents() == null ? dimension.title() : dimension.ofEvents().choice();
			}
			return trace.hasAccesses() || form.ofEvents == null ? form.ofAccesses.replace("%s", trace.info().counts().plural()) : form.ofEvents;
		}

		/** What filters something in a trace, in the order of the choice. */
		static List<Kind> of(OpenTrace trace) {
			List<Kind> kinds = new ArrayList<>();
			for (Form form : Form.values()) {
				if (form == Form.COUNT) {
					Dimensions.of(Dimension.Use.FILTER).stream().filter(d -> trace.hasAccesses() || d.ofEvents() != null)
							.forEach(d -> kinds.add(new Kind(null, d)));
				}
				if (trace.hasAccesses() || form.ofEvents != null) {
					kinds.add(new Kind(form, null));
				}
			}
			return kinds;
		}

		static Kind of(Condition c) {
			if (c instanceof Condition.Value v) {
				return of(Dimensions.find(v.dimension(), Dimension.Use.FILTER));
			}
			for (Form form : Form.values()) {
				if (form.type.isInstance(c)) {
					return new Kind(form, null);
				}
			}
			throw new IllegalArgumentException(c.toString());
		}

		/** That of a dimension. */
		static Kind of(Dimension dimension) {
			return new Kind(null, dimension);
		}
	}

	/** Rows of the table of parts: more would only be slow, and a name finds them all. */
	private static final int MAX_PARTS = 2_000;

	final Runnable changed;

	ConditionEditor(Composite parent, Runnable changed) {
		super(parent, SWT.NONE);
		this.changed = changed;
		GridLayoutFactory.fillDefaults().numColumns(2).spacing(8, 6).applyTo(this);
	}

	/** What the fields say. {@link IllegalArgumentException} tells in a sentence what is wrong. */
	abstract Condition condition();

	/** The editor for a kind; {@code before} is of that kind or null. */
	static ConditionEditor create(Composite parent, Kind kind, OpenTrace trace, Condition before, Runnable changed) {
		if (kind.dimension != null) {
			Condition.Value value = (Condition.Value) before;
			return switch (kind.dimension.picking()) {
			case LISTED_NAMES, LISTED_NUMBERS -> new ListedEditor(parent, trace, kind.dimension, value, changed);
			case NUMBERS -> new NumbersEditor(parent, kind.dimension, value, changed);
			case NAMES -> new NamesEditor(parent, kind.dimension, value, changed);
			};
		}
		return switch (kind.form) {
		case NAME -> new NameEditor(parent, trace, (Condition.Name) before, changed);
		case SUBTREE -> new PartsEditor(parent, trace, (Condition.Subtree) before, changed);
		case KIND -> new KindsEditor(parent, (Condition.Kind) before, changed);
		case COUNT -> new CountEditor(parent, trace, (Condition.Count) before, changed);
		case SHARE -> new ShareEditor(parent, trace, (Condition.Share) before, changed);
		case SIZE -> new SizeEditor(parent, (Condition.Size) before, changed);
		case LIFETIME -> {
			Condition.Lifetime l = (Condition.Lifetime) before;
			yield new TimesEditor(parent, trace.info().isInTicks(), l == null ? 0 : l.minNs(), l == null ? Long.MAX_VALUE : l.maxNs(),
					"From the allocation of a structure to its end, or to the end of the trace.", Condition.Lifetime::new, changed);
		}
		case TIME -> {
			Condition.Time t = (Condition.Time) before;
			yield new TimesEditor(parent, trace.info().isInTicks(), t == null ? 0 : t.minNs(), t == null ? Long.MAX_VALUE : t.maxNs(),
					"Seen in an interval that overlaps the window; from the start of the trace.", Condition.Time::new, changed);
		}
		case LEVEL -> new LevelEditor(parent, (Condition.Level) before, changed);
		};
	}

	Text field(String label, String value, String hint) {
		new Label(this, SWT.NONE).setText(label);
		Text text = new Text(this, SWT.BORDER);
		text.setText(value);
		text.setMessage(hint);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(text);
		text.addModifyListener(e -> changed.run());
		return text;
	}

	void hint(String text) {
		Label label = new Label(this, SWT.WRAP);
		label.setText(text);
		GridDataFactory.fillDefaults().span(2, 1).hint(360, SWT.DEFAULT).grab(true, false).applyTo(label);
	}

	private static final class NameEditor extends ConditionEditor {
		private static final String ANY_CASE = "(?i)";

		private final Text regex;
		private final Button anyCase;

		NameEditor(Composite parent, OpenTrace trace, Condition.Name before, Runnable changed) {
			super(parent, changed);
			String text = before == null ? "" : before.regex();
			regex = field("Name matches", text.startsWith(ANY_CASE) ? text.substring(ANY_CASE.length()) : text,
					"matrix|^buffer [0-9]+$");
			new Label(this, SWT.NONE);
			anyCase = new Button(this, SWT.CHECK);
			anyCase.setText("&Ignore case");
			anyCase.setSelection(before == null || text.startsWith(ANY_CASE));
			anyCase.addListener(SWT.Selection, e -> changed.run());
			hint("A regular expression that is found in the name of a "
					+ (trace.hasAccesses() ? "structure, stack, range, part or page" : "producer of events")
					+ ". All that is below it belongs to it.");
		}

		@Override
		Condition condition() {
			if (regex.getText().isEmpty()) {
				throw new IllegalArgumentException("Give a name, or a part of one.");
			}
			try {
				return new Condition.Name((anyCase.getSelection() ? ANY_CASE : "") + regex.getText());
			} catch (PatternSyntaxException e) {
				throw new IllegalArgumentException("This is no regular expression: " + e.getDescription() + ".", e);
			}
		}
	}

	/** A table of things to check. */
	private abstract static class ChoiceEditor<T> extends ConditionEditor {
		private final Map<T, String> choices = new LinkedHashMap<>();
		private Table table;
		private final String none;

		ChoiceEditor(Composite parent, String none, Runnable changed) {
			super(parent, changed);
			this.none = none;
		}

		void choice(T value, String text) {
			choices.put(value, text);
		}

		void choiceIfNew(T value, String text) {
			choices.putIfAbsent(value, text);
		}

		void makeTable(java.util.Collection<T> before) {
			table = new Table(this, SWT.CHECK | SWT.BORDER | SWT.V_SCROLL | SWT.FULL_SELECTION);
			GridDataFactory.fillDefaults().span(2, 1).grab(true, true).hint(360, 170).applyTo(table);
			choices.forEach((value, text) -> {
				TableItem item = new TableItem(table, SWT.NONE);
				item.setText(text);
				item.setData(value);
				item.setChecked(before != null && before.contains(value));
			});
			table.addListener(SWT.Selection, e -> {
				if (e.detail == SWT.CHECK) {
					changed.run();
				}
			});
		}

		List<T> checked() {
			List<T> values = new ArrayList<>();
			for (TableItem item : table.getItems()) {
				if (item.getChecked()) {
					@SuppressWarnings("unchecked")
					T value = (T) item.getData();
					values.add(value);
				}
			}
			if (values.isEmpty()) {
				throw new IllegalArgumentException(none);
			}
			return values;
		}
	}

	private static final class PartsEditor extends ChoiceEditor<Condition.Part> {
		PartsEditor(Composite parent, OpenTrace trace, Condition.Subtree before, Runnable changed) {
			super(parent, "Choose at least one.", changed);
			if (before != null) {
				before.parts().forEach(p -> choice(p, p.name()));
			}
			ProducerTree tree = trace.producers();
			int shown = 0;
			for (int id = 0; id < tree.size() && shown < MAX_PARTS;) {
				ProducerKind kind = tree.kind(id);
				boolean above = kind == ProducerKind.ROOT || kind == ProducerKind.IMAGE || kind == ProducerKind.GROUP && Parts.isOpen(tree, id)
						|| kind == ProducerKind.OTHER;
				if (kind != ProducerKind.ROOT) {
					choice(new Condition.Part(id, tree.name(id)), tree.name(id));
					shown++;
				}
				id = above ? id + 1 : tree.subtreeEnd(id);
			}
			makeTable(before == null ? null : before.parts());
			if (shown == MAX_PARTS) {
				hint("The first 2,000 are listed; filter by name to find others.");
			}
		}

		@Override
		Condition condition() {
			return new Condition.Subtree(checked());
		}
	}

	private static final class KindsEditor extends ChoiceEditor<String> {
		KindsEditor(Composite parent, Condition.Kind before, Runnable changed) {
			super(parent, "Choose at least one.", changed);
			choice("heap", "heap");
			choice("static", "static: variables of the program");
			choice("stack", "stack");
			choice("mmap", "mmap: anonymous mappings");
			choice("file", "file: mapped files");
			choice("brk", "brk: heap that no allocation is known for");
			choice("range", "outside of all structures");
			makeTable(before == null ? null : before.kinds());
		}

		@Override
		Condition condition() {
			return new Condition.Kind(new TreeSet<>(checked()));
		}
	}

	/** Values of a dimension that has few of them. */
	private static final class ListedEditor extends ChoiceEditor<Object> {
		private final Dimension dimension;

		ListedEditor(Composite parent, OpenTrace trace, Dimension dimension, Condition.Value before, Runnable changed) {
			super(parent, "Choose at least one.", changed);
			this.dimension = dimension;
			boolean byNumber = dimension.picking() == Dimension.Picking.LISTED_NUMBERS;
			if (!trace.hasAccesses()) {
				trace.eventTypes().forEach(t -> choice(t.name(), ModelText.type(t.name())));
			} else {
				try {
					DimensionValues values = dimension.values(trace.accesses(), Progress.NONE);
					for (long v = 0; v < values.size(); v++) {
						choice(byNumber ? (Object) v : values.name(v), byNumber ? values.choice(v) : told(values.name(v)));
					}
					if (values.kind() != DimensionValues.Kind.BY_DIRECTION) {
						choice(byNumber ? (Object) DimensionValues.UNKNOWN : "", byNumber ? values.choice(DimensionValues.UNKNOWN) : "unknown");
					}
				} catch (MemtraceException e) {
					hint(e.getMessage());
				}
			}
			List<Object> chosen = new ArrayList<>();
			if (before != null) {
				chosen.addAll(before.numbers());
				chosen.addAll(before.values());
				before.numbers().forEach(n -> choiceIfNew(n, dimension.title() + " " + n));
				before.values().forEach(n -> choiceIfNew(n, told(n)));
			}
			makeTable(chosen);
		}

		private String told(String name) {
			String told = dimension.told(name);
			return told == null ? name : told;
		}

		@Override
		Condition condition() {
			List<Object> checked = checked();
			TreeSet<Long> numbers = new TreeSet<>();
			TreeSet<String> names = new TreeSet<>();
			for (Object value : checked) {
				if (value instanceof Long number) {
					numbers.add(number);
				} else {
					names.add((String) value);
				}
			}
			return new Condition.Value(dimension.id(), names, numbers, Long.MIN_VALUE, Long.MAX_VALUE);
		}
	}

	/** Numbers and ranges of a dimension. */
	private static final class NumbersEditor extends ConditionEditor {
		private static final Pattern RANGE = Pattern.compile("(-?\\d{1,18})?\\s*\\.\\.\\s*(-?\\d{1,18})?");

		private final Dimension dimension;
		private final Text numbers;

		NumbersEditor(Composite parent, Dimension dimension, Condition.Value before, Runnable changed) {
			super(parent, changed);
			this.dimension = dimension;
			numbers = field(dimension.title(), before == null ? "" : text(before), "0-3, 8");
			hint(dimension.meaning() + ". Numbers and ranges, such as 0-3, 8"
					+ (dimension.type() == Dimension.Type.TEXT ? "" : " or 4096..8191 or 2..") + "; 'unknown' where it is not known.");
		}

		private static String text(Condition.Value v) {
			if (v.isRange()) {
				return (v.min() == Long.MIN_VALUE ? "" : Long.toString(v.min())) + ".." + (v.max() == Long.MAX_VALUE ? "" : Long.toString(v.max()));
			}
			List<String> all = new ArrayList<>();
			TreeSet<Integer> small = new TreeSet<>();
			v.numbers().forEach(n -> {
				if (n == n.intValue()) {
					small.add(n.intValue());
				} else {
					all.add(n.toString());
				}
			});
			all.add(0, Quantities.numbers(small));
			v.values().forEach(name -> all.add(name.isEmpty() ? "unknown" : name));
			return String.join(", ", all.stream().filter(t -> !t.isEmpty()).toList());
		}

		@Override
		Condition condition() {
			String text = numbers.getText().strip();
			Matcher range = RANGE.matcher(text);
			if (dimension.type() != Dimension.Type.TEXT && range.matches() && text.length() > 2) {
				return Condition.Value.range(dimension.id(), range.group(1) == null ? Long.MIN_VALUE : Long.parseLong(range.group(1)),
						range.group(2) == null ? Long.MAX_VALUE : Long.parseLong(range.group(2)));
			}
			SortedSet<Integer> set = Quantities.numbers(text);
			if (set.isEmpty()) {
				throw new IllegalArgumentException("Give at least one number.");
			}
			return Condition.Value.numbers(dimension.id(), set);
		}
	}

	/** Names of values of a dimension. */
	private static final class NamesEditor extends ConditionEditor {
		private final Dimension dimension;
		private final Text values;

		NamesEditor(Composite parent, Dimension dimension, Condition.Value before, Runnable changed) {
			super(parent, changed);
			this.dimension = dimension;
			new Label(this, SWT.NONE).setText("Values");
			values = new Text(this, SWT.BORDER | SWT.MULTI | SWT.V_SCROLL);
			GridDataFactory.fillDefaults().grab(true, true).hint(SWT.DEFAULT, 80).applyTo(values);
			if (before != null) {
				values.setText(String.join("\n", before.values().stream().map(v -> v.isEmpty() ? "unknown" : v).toList()));
			}
			values.addModifyListener(e -> changed.run());
			hint(dimension.meaning() + ".\nOne value in each line, as tables name it; 'unknown' where it is not known.");
		}

		@Override
		Condition condition() {
			List<String> names = values.getText().lines().map(String::strip).filter(l -> !l.isEmpty())
					.map(l -> l.equals("unknown") ? "" : l).toList();
			if (names.isEmpty()) {
				throw new IllegalArgumentException("Give at least one value.");
			}
			return Condition.Value.of(dimension.id(), names);
		}
	}

	/** At least, at most: an empty field is an open end. */
	private abstract static class RangeEditor extends ConditionEditor {
		private Text min;
		private Text max;
		private Combo per;

		RangeEditor(Composite parent, Runnable changed) {
			super(parent, changed);
		}

		/** @param events whether it is of the events of each producer, which leaves no choice */
		void makePer(Condition.Per before, boolean events) {
			if (events) {
				return;
			}
			new Label(this, SWT.NONE).setText("Of each");
			per = new Combo(this, SWT.READ_ONLY);
			per.setItems("structure, stack or range", "page");
			per.select(before == Condition.Per.PAGE ? 1 : 0);
			per.addListener(SWT.Selection, e -> changed.run());
		}

		Condition.Per per() {
			return per == null || per.getSelectionIndex() == 1 ? Condition.Per.PAGE : Condition.Per.STRUCTURE;
		}

		void makeRange(String unit, String least, String most, String hint) {
			min = field("At least" + unit, least, hint);
			max = field("At most" + unit, most, "no limit");
		}

		String min() {
			return min.getText().strip();
		}

		String max() {
			return max.getText().strip();
		}

		static double number(String text, double otherwise) {
			if (text.isEmpty()) {
				return otherwise;
			}
			try {
				double v = Double.parseDouble(text.replace(" ", "").replaceAll(",(?=\\d{3}\\b)", "").replace(',', '.'));
				if (v >= 0) {
					return v;
				}
			} catch (NumberFormatException e) {
				// below
			}
			throw new IllegalArgumentException("'" + text + "' is no number.");
		}

		static String text(double v, double open) {
			return v == open ? "" : v == Math.rint(v) && v < 1e15 ? Long.toString((long) v) : Double.toString(v);
		}

		void checkNotEmpty() {
			if (min().isEmpty() && max().isEmpty()) {
				throw new IllegalArgumentException("Give at least one limit.");
			}
		}
	}

	private static final class CountEditor extends RangeEditor {
		CountEditor(Composite parent, OpenTrace trace, Condition.Count before, Runnable changed) {
			super(parent, changed);
			makePer(before == null ? null : before.per(), !trace.hasAccesses());
			makeRange("", before == null ? "" : text(before.min(), 0),
					before == null ? "" : text(before.max(), Double.POSITIVE_INFINITY), "1000");
			hint((trace.hasAccesses() ? "Reads and writes" : "Events of a producer") + " that the other filters let pass, in the whole time.");
		}

		@Override
		Condition condition() {
			checkNotEmpty();
			return new Condition.Count(per(), number(min(), 0), number(max(), Double.POSITIVE_INFINITY));
		}
	}

	private static final class ShareEditor extends RangeEditor {
		ShareEditor(Composite parent, OpenTrace trace, Condition.Share before, Runnable changed) {
			super(parent, changed);
			makePer(before == null ? null : before.per(), !trace.hasAccesses());
			makeRange(" (%)", before == null ? "1" : text(before.minPercent(), 0),
					before == null ? "" : text(before.maxPercent(), Double.POSITIVE_INFINITY), "1");
			hint("Of the " + (trace.hasAccesses() ? "reads and writes" : "events") + " that the other filters let pass, in the whole time.");
		}

		@Override
		Condition condition() {
			checkNotEmpty();
			return new Condition.Share(per(), number(min(), 0), number(max(), Double.POSITIVE_INFINITY));
		}
	}

	private static final class SizeEditor extends RangeEditor {
		SizeEditor(Composite parent, Condition.Size before, Runnable changed) {
			super(parent, changed);
			makeRange("", before == null || before.minBytes() == 0 ? "" : Quantities.size(before.minBytes()),
					before == null || before.maxBytes() == Long.MAX_VALUE ? "" : Quantities.size(before.maxBytes()), "64 KiB");
			hint("Of a structure, stack or range.");
		}

		@Override
		Condition condition() {
			checkNotEmpty();
			return new Condition.Size(min().isEmpty() ? 0 : Quantities.sizeBytes(min()),
					max().isEmpty() ? Long.MAX_VALUE : Quantities.sizeBytes(max()));
		}
	}

	/** Two limits of time make a condition. */
	private static final class TimesEditor extends RangeEditor {
		/** Makes it of {@code [minNs, maxNs)}. */
		interface Limits {
			Condition of(long minNs, long maxNs);
		}

		private final boolean ticks;
		private final Limits limits;

		TimesEditor(Composite parent, boolean ticks, long minNs, long maxNs, String hint, Limits limits, Runnable changed) {
			super(parent, changed);
			this.ticks = ticks;
			this.limits = limits;
			makeRange(ticks ? " (ticks)" : "", minNs == 0 ? "" : text(minNs), maxNs == Long.MAX_VALUE ? "" : text(maxNs),
					ticks ? "1000" : "10 ms");
			hint(hint);
		}

		@Override
		Condition condition() {
			checkNotEmpty();
			return limits.of(min().isEmpty() ? 0 : Quantities.duration(min(), ticks),
					max().isEmpty() ? Long.MAX_VALUE : Quantities.duration(max(), ticks));
		}

		private String text(long time) {
			return ticks ? Long.toString(time) : Quantities.duration(time);
		}
	}

	private static final class LevelEditor extends ConditionEditor {
		private static final int DEEPEST = 99;

		private final Spinner min;
		private final Spinner max;

		LevelEditor(Composite parent, Condition.Level before, Runnable changed) {
			super(parent, changed);
			min = spinner("From level", before == null ? 0 : before.min());
			max = spinner("To level", before == null ? DEEPEST : Math.min(DEEPEST, before.max()));
			hint("Producers of events at these levels; level 0 is the root. In a memory trace accesses are at the pages.");
		}

		private Spinner spinner(String label, int value) {
			new Label(this, SWT.NONE).setText(label);
			Spinner s = new Spinner(this, SWT.BORDER);
			s.setValues(value, 0, DEEPEST, 0, 1, 5);
			s.addListener(SWT.Selection, e -> changed.run());
			return s;
		}

		@Override
		Condition condition() {
			if (max.getSelection() < min.getSelection()) {
				throw new IllegalArgumentException("The first level is below the last one.");
			}
			return new Condition.Level(min.getSelection(), max.getSelection() == DEEPEST ? Integer.MAX_VALUE : max.getSelection());
		}
	}
}
