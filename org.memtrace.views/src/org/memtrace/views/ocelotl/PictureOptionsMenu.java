// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

import org.eclipse.jface.action.Action;
import org.eclipse.jface.action.IAction;
import org.eclipse.jface.action.IMenuManager;
import org.eclipse.jface.action.MenuManager;
import org.eclipse.jface.action.Separator;
import org.memtrace.aggregation.engine.InitialLevel;
import org.memtrace.aggregation.time.Slicing;
import org.memtrace.analysis.overview.FirstTouchLayer;
import org.memtrace.analysis.overview.RowHeights;
import org.memtrace.analysis.text.Units;

/** The menu <i>Picture and levels</i>: how levels are found and the picture is drawn. */
final class PictureOptionsMenu {
	private static final double[] PRECISIONS = {0.1, 0.01, 0.001, 0.0001};
	private static final Map<InitialLevel, String> INITIAL = Map.of(InitialLevel.BALANCED, "Nearest to full reduction without loss",
			InitialLevel.LARGEST_GAP_AFTER, "After the largest gap between loss and reduction",
			InitialLevel.LARGEST_GAP_BEFORE, "Before the largest gap between loss and reduction", InitialLevel.LARGEST_CHANGE,
			"After the largest change of either", InitialLevel.ONE, "One block", InitialLevel.ZERO, "All information");

	private final Supplier<Choice> choices;
	private final Consumer<Choice> choose;
	private final BooleanSupplier overviewShown;
	private final Consumer<Boolean> showOverview;

	PictureOptionsMenu(Supplier<Choice> choices, Consumer<Choice> choose, BooleanSupplier overviewShown, Consumer<Boolean> showOverview) {
		this.choices = choices;
		this.choose = choose;
		this.overviewShown = overviewShown;
		this.showOverview = showOverview;
	}

	void fill(IMenuManager menu) {
		Choice choice = choices.get();
		menu.add(check("Normalised curves", choice.normalised(), on -> choices.get().withNormalised(on)));
		MenuManager precision = new MenuManager("Precision of the levels");
		for (double step : PRECISIONS) {
			precision.add(radio("Steps of " + Units.p(step), choice.precision() == step, () -> choices.get().withPrecision(step)));
		}
		menu.add(precision);
		MenuManager first = new MenuManager("Automatic level");
		for (InitialLevel l : InitialLevel.values()) {
			first.add(radio(INITIAL.get(l), choice.initial() == l, () -> choices.get().withInitial(l)));
		}
		menu.add(first);
		menu.add(new Separator());
		menu.add(check("Slices are short where much happens", choice.slicing() == Slicing.ADAPTIVE,
				on -> choices.get().withSlicing(on ? Slicing.ADAPTIVE : Slicing.UNIFORM)));
		MenuManager touches = new MenuManager("First touch of pages");
		touches.add(radio("In the picture by thread", choice.firstTouch() == FirstTouchLayer.Shown.AUTO,
				() -> choices.get().withFirstTouch(FirstTouchLayer.Shown.AUTO)));
		touches.add(radio("In every picture of memory", choice.firstTouch() == FirstTouchLayer.Shown.YES,
				() -> choices.get().withFirstTouch(FirstTouchLayer.Shown.YES)));
		touches.add(radio("Not shown", choice.firstTouch() == FirstTouchLayer.Shown.NO,
				() -> choices.get().withFirstTouch(FirstTouchLayer.Shown.NO)));
		menu.add(touches);
		MenuManager heights = new MenuManager("Heights of rows");
		heights.add(radio("Readable, all in the window", choice.heights() == RowHeights.READABLE,
				() -> choices.get().withHeights(RowHeights.READABLE)));
		heights.add(radio("All pages equally high, all in the window", choice.heights() == RowHeights.PROPORTIONAL,
				() -> choices.get().withHeights(RowHeights.PROPORTIONAL)));
		heights.add(radio("A line at least for each name, scrolled", choice.heights() == RowHeights.LINES,
				() -> choices.get().withHeights(RowHeights.LINES)));
		menu.add(heights);
		menu.add(check("All types weigh the same", choice.equalTypes(), on -> choices.get().withEqualTypes(on)));
		menu.add(check("Draw small blocks together", choice.merged(), on -> choices.get().withMerged(on)));
		menu.add(check("Overview", overviewShown.getAsBoolean(), on -> {
			showOverview.accept(on);
			return choices.get();
		}));
	}

	private Action check(String text, boolean on, Function<Boolean, Choice> change) {
		Action a = new Action(text, IAction.AS_CHECK_BOX) {
			@Override
			public void run() {
				choose.accept(change.apply(isChecked()));
			}
		};
		a.setChecked(on);
		return a;
	}

	private Action radio(String text, boolean on, Supplier<Choice> change) {
		Action a = new Action(text, IAction.AS_RADIO_BUTTON) {
			@Override
			public void run() {
				if (isChecked()) {
					choose.accept(change.get());
				}
			}
		};
		a.setChecked(on);
		return a;
	}
}
