// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import java.nio.file.Path;
import java.util.Set;

import org.eclipse.jface.action.Action;
import org.eclipse.jface.action.IAction;
import org.eclipse.jface.action.IMenuManager;
import org.eclipse.jface.action.IToolBarManager;
import org.eclipse.jface.action.MenuManager;
import org.eclipse.jface.action.Separator;
import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.jface.preference.IPreferenceStore;
import org.eclipse.jface.resource.JFaceResources;
import org.eclipse.jface.util.IPropertyChangeListener;
import org.eclipse.swt.SWT;
import org.eclipse.swt.custom.SashForm;
import org.eclipse.swt.custom.StackLayout;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.FileDialog;
import org.eclipse.swt.widgets.Label;
import org.eclipse.ui.IMemento;
import org.eclipse.ui.IViewSite;
import org.eclipse.ui.IWorkbenchActionConstants;
import org.eclipse.ui.PartInitException;
import org.memtrace.aggregation.engine.Partition;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.analysis.overview.Picture;
import org.memtrace.analysis.overview.RowHeights;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.memory.AddressSpace;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.paint.AlignedPlot;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.preferences.Settings;
import org.memtrace.views.session.MachineChoice;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.session.Opening;
import org.memtrace.views.session.PictureStatus;
import org.memtrace.views.session.Session;
import org.memtrace.views.util.Appearance;
import org.memtrace.views.util.Icons;
import org.memtrace.views.view.NavigationActions;
import org.memtrace.views.view.Snapshot;
import org.memtrace.views.view.TraceView;

/**
 * The picture of a trace: follows the {@link TraceSelection}, has the microscopic model and the levels computed when
 * window, producer or viewpoint change, and the scene when only p or the size do. Layout and jobs only: painting and
 * gestures are in {@link PictureCanvas}, the level in {@link LevelPanel}, the bar above in {@link PictureBar}.
 */
public final class OcelotlView extends TraceView {
	private static final double FONT_PIXELS = 12;
	/** No picture is drawn in less. */
	private static final int MIN_PIXELS = 50;

	private Composite stack;
	private StackLayout layout;
	private Composite pictureArea;
	private Welcome welcome;
	private PictureBar bar;
	private PictureCanvas canvas;
	private AlignedPlot aligned;
	private LevelPanel level;
	private OverviewCanvas overview;
	private TypesTable types;
	private SideRoom room;
	private final Models models = new Models();
	private NavigationActions navigation;
	private LatestResult<Description.Input, Description> describing;
	private LatestResult<Refined, Refined> refining;
	private LatestResult<Description.Input, Boolean> preparing;
	private LatestResult<ShownPicture.Input, ShownPicture> drawing;
	private Description description;
	private Choice choice = Choice.ofSettings();
	/** Of {@link #describing}. */
	private String step = "";
	private double fraction = -1;

	/** A description and the list of levels that it shall have. */
	private record Refined(Description description, Choice choice) {
	}

	private final Session.Listener followSession = new Session.Listener() {
		@Override
		public void opening(Opening state) {
			welcome.opening(isOfGroup(state) ? state : null);
			showProgress();
		}

		@Override
		public void catalogueChanged() {
			welcome.refresh();
		}
	};

	/** What the user sets as a default is seen at once, too. */
	private final IPropertyChangeListener followSettings = e -> {
		Choice now = Choice.ofSettings();
		switch (e.getProperty()) {
		case Settings.SLICES -> choose(choice.withSlices(now.slices()));
		case Settings.INITIAL -> choose(choice.withInitial(now.initial()));
		case Settings.PRECISION -> choose(choice.withPrecision(now.precision()));
		default -> {
			// not of pictures
		}
		}
	};
	private final IPreferenceStore settings = Settings.store();

	private static final String KEY_SIDE = "side";
	private static final String KEY_HEIGHTS = "heights";
	private static final String KEY_SCALE = "rowScale";
	private SashForm sash;
	private boolean sideShown = true;
	private Action sideAction;

	@Override
	public void init(IViewSite site, IMemento memento) throws PartInitException {
		super.init(site, memento);
		sideShown = memento == null || !Boolean.FALSE.equals(memento.getBoolean(KEY_SIDE));
		choice = withKept(choice, memento);
	}

	/** What is kept from start to start. */
	static Choice withKept(Choice choice, IMemento memento) {
		RowHeights heights = memento == null ? null : RowHeights.byId(memento.getString(KEY_HEIGHTS));
		Float scale = memento == null ? null : memento.getFloat(KEY_SCALE);
		return choice.withHeights(heights == null ? choice.heights() : heights).withScale(scale == null ? choice.scale() : scale);
	}

	@Override
	public void saveState(IMemento memento) {
		super.saveState(memento);
		memento.putBoolean(KEY_SIDE, sideShown);
		memento.putString(KEY_HEIGHTS, choice.heights().id());
		memento.putFloat(KEY_SCALE, (float) choice.scale());
	}

	@Override
	protected void createContents(Composite parent) {
		stack = new Composite(parent, SWT.NONE);
		layout = new StackLayout();
		stack.setLayout(layout);
		welcome = new Welcome(stack, session(), getSite().getWorkbenchWindow());
		if (isOfGroup(session().opening())) {
			welcome.opening(session().opening());
		}

		pictureArea = new Composite(stack, SWT.NONE);
		GridLayoutFactory.fillDefaults().spacing(0, 0).applyTo(pictureArea);
		bar = new PictureBar(pictureArea, choices());
		GridDataFactory.fillDefaults().grab(true, false).applyTo(bar);
		sash = new SashForm(pictureArea, SWT.HORIZONTAL | SWT.SMOOTH);
		sash.setSashWidth(5);
		GridDataFactory.fillDefaults().grab(true, true).applyTo(sash);
		canvas = new PictureCanvas(sash, host(), models);
		aligned = new AlignedPlot(canvas, parent, this::draw);
		makeSide();
		sash.setWeights(80, 20);
		sash.addListener(SWT.Resize, e -> room.divide());
		showSide(sideShown);
		pictureArea.addListener(SWT.Resize, e -> bar.fit(false));
		canvas.addListener(SWT.Resize, e -> draw());

		makeJobs();
		makeActions();
		session().addListener(followSession);
		settings.addPropertyChangeListener(followSettings);
	}

	/** What stands at the right of the picture. */
	private void makeSide() {
		Composite side = new Composite(sash, SWT.NONE);
		GridLayoutFactory.fillDefaults().spacing(0, 0).applyTo(side);
		Label title = new Label(side, SWT.NONE);
		title.setText("Overview");
		title.setFont(JFaceResources.getFontRegistry().getBold(JFaceResources.DEFAULT_FONT));
		GridDataFactory.fillDefaults().indent(8, 6).applyTo(title);
		overview = new OverviewCanvas(side, models, new OverviewCanvas.Rows() {
			@Override
			public int[] seen() {
				ShownPicture shown = canvas.picture();
				return shown == null || !shown.isPart() ? null : shown.seenLeaves(canvas.rowsTop());
			}

			@Override
			public void center(int leaf) {
				canvas.center(leaf);
			}
		});
		GridDataFactory.fillDefaults().grab(true, false).hint(200, 70).indent(4, 2).applyTo(overview);
		level = new LevelPanel(side);
		GridDataFactory.fillDefaults().grab(true, true).applyTo(level);
		types = new TypesTable(side, type -> choose(choice.toggled(type)));
		GridDataFactory.fillDefaults().grab(true, false).applyTo(types);
		room = new SideRoom(sash, overview, level, types);
	}

	private PictureBar.Listener choices() {
		return new PictureBar.Listener() {
			@Override
			public Choice choice() {
				return choice;
			}

			@Override
			public void chosen(Choice now) {
				choose(now);
			}

			@Override
			public void spaceChosen(AddressSpace space) {
				if (trace() != null && space != trace().space()) {
					session().opener().openSpace(group(), trace(), space);
				}
			}

			@Override
			public void cancelled() {
				// what the bar names
				if (describing.isBusy()) {
					describing.cancel();
				} else {
					session().opener().cancel();
				}
			}
		};
	}

	private PictureCanvas.Host host() {
		return new PictureCanvas.Host() {
			@Override
			public void step(boolean finer) {
				level.step(finer);
			}

			@Override
			public void automatic() {
				level.automatic();
			}

			@Override
			public void toggle(String type) {
				choose(choice.toggled(type));
			}

			@Override
			public void showAll() {
				choose(choice.withHidden(Set.of()));
			}

			@Override
			public void looked(ShownPicture.Hit hit) {
				showTypes();
			}

			@Override
			public void scrolled() {
				draw();
				overview.redraw();
			}

			@Override
			public void stretch(double factor) {
				choose(choice.withScale(choice.scale() * factor));
			}
		};
	}

	/** Shows overview, level of detail and types beside the picture, or the picture alone. */
	void showSide(boolean on) {
		sideShown = on;
		overview.getParent().setVisible(on); // so that keys do not reach it either
		sash.layout();
		if (sideAction != null) {
			sideAction.setChecked(on);
		}
	}

	/** The bar tells of the picture that comes; else of another trace that is being opened, with its name. */
	private void showProgress() {
		Opening opening = session().opening();
		if (describing.isBusy()) {
			bar.busy(true, step, fraction);
		} else if (trace() != null && isOfGroup(opening)) {
			bar.busy(true, opening.text(), opening.fraction());
		} else {
			bar.busy(false, "", -1);
		}
	}

	private void makeJobs() {
		describing = describing();
		refining = new LatestResult<>("Find all levels", canvas, LatestResult.Policy.ONLY_NEWEST, LatestResult.Priority.CAN_WAIT) {
			@Override
			protected Refined compute(Refined input, Progress progress) throws CancelledException {
				input.description().refine(input.choice(), progress);
				return input;
			}

			@Override
			protected void progress(String step, double fraction) {
				level.curves().found(fraction);
			}

			@Override
			protected void show(Refined input, Refined result) {
				if (description == result.description()) {
					level.refresh();
					draw(); // the automatic level may be another one
					preparing.submit(description.input());
				}
			}
		};
		preparing = new LatestResult<>("Prepare other viewpoints", canvas, LatestResult.Policy.ONLY_NEWEST, LatestResult.Priority.CAN_WAIT) {
			@Override
			protected Boolean compute(Description.Input input, Progress progress) throws MemtraceException {
				OtherViewpoints.prepare(input, progress);
				return true;
			}

			@Override
			protected void show(Description.Input input, Boolean done) {
				// there is nothing to be seen
			}
		};
		drawing = drawing();
	}

	private LatestResult<ShownPicture.Input, ShownPicture> drawing() {
		return new LatestResult<>("Draw", canvas, LatestResult.Policy.KEEP_UP, LatestResult.Priority.URGENT) {
			@Override
			protected ShownPicture compute(ShownPicture.Input input, Progress progress) throws CancelledException {
				return ShownPicture.compute(input);
			}

			@Override
			protected void show(ShownPicture.Input input, ShownPicture result) {
				if (trace() == null || input.description().input().trace() != trace()) {
					return;
				}
				canvas.setPicture(result);
				overview.redraw();
				aligned.needs(result.margins());
				level.setPicture(result);
				showTypes();
				Partition partition = result.partition();
				status(new PictureStatus(true, input.p(), partition.blockCount(), partition.lossPercent(),
						partition.reductionPercent()));
			}

			@Override
			protected void failed(ShownPicture.Input input, String message) {
				bar.error(message);
			}
		};
	}

	private LatestResult<Description.Input, Description> describing() {
		return new LatestResult<>("Aggregate", canvas, LatestResult.Policy.ONLY_NEWEST, LatestResult.Priority.URGENT) {
			@Override
			protected Description compute(Description.Input input, Progress progress) throws MemtraceException {
				return Description.compute(input, progress);
			}

			@Override
			protected void show(Description.Input input, Description result) {
				description = result;
				bar.error(null);
				bar.machine(result.machine());
				level.setDescription(result);
				draw();
				refining.submit(new Refined(result, choice));
				overview.update(choice, result);
			}

			@Override
			protected void failed(Description.Input input, String message) {
				if (description == null && input.sides().hasMachine() && choice.equals(input.choice())) {
					choose(choice.withKind(PictureKind.BLOCKS)); // another trace, which does not tell its machine
				} else {
					bar.error(message);
				}
			}

			@Override
			protected void progress(String what, double share) {
				step = what;
				fraction = share;
				showProgress();
			}

			@Override
			protected void busy(boolean busy) {
				step = "";
				fraction = -1;
				showProgress();
			}
		};
	}

	private void makeActions() {
		navigation = new NavigationActions();
		IToolBarManager tools = getViewSite().getActionBars().getToolBarManager();
		navigation.fill(tools);
		IMenuManager menu = getViewSite().getActionBars().getMenuManager();
		menu.add(MachineChoice.menu(getSite().getShell(), this::trace));
		sideAction = new Action("Side panel", IAction.AS_CHECK_BOX) {
			@Override
			public void run() {
				showSide(isChecked());
			}
		};
		sideAction.setImageDescriptor(Icons.get("side"));
		sideAction.setToolTipText("Show overview, level of detail and types beside the picture");
		sideAction.setChecked(sideShown);
		tools.appendToGroup(IWorkbenchActionConstants.MB_ADDITIONS, sideAction);
		menu.add(sideAction);
		MenuManager options = new MenuManager("Picture and levels");
		options.setRemoveAllWhenShown(true);
		options.addMenuListener(new PictureOptionsMenu(this::choice, this::choose, room::isOverviewShown, room::showOverview)::fill);
		options.add(new Separator());
		menu.add(options);
		menu.add(new Action("Hierarchy…") {
			@Override
			public void run() {
				ShownPicture shown = canvas.picture();
				if (trace() != null && shown != null) {
					ProducerPopup.open(canvas, shown, trace().selection(), shown.state().producer());
				}
			}
		});
		menu.add(new Action("Load parameters…") {
			@Override
			public void run() {
				askParameters();
			}
		});
		menu.add(new Separator());
	}

	/** The table beside the picture: of the block that is looked at, else of everything. */
	private void showTypes() {
		ShownPicture shown = canvas.picture();
		if (shown == null) {
			types.clear();
			return;
		}
		ShownPicture.Hit hit = canvas.looked();
		MicroscopicModel m = shown.model();
		boolean ticks = shown.trace().info().isInTicks();
		if (hit == null) {
			types.show(m, m.values(0, m.hierarchy().leafCount(), 0, m.sliceCount()), "all that is shown", ticks, choice);
		} else {
			Picture.Hit h = hit.what();
			types.show(m, m.values(h.leafFrom(), h.leafTo(), h.firstSlice(), h.endSlice()), "the chosen block", ticks, choice);
		}
	}

	/** What is drawn, or how, is another; window, producer and level stay. */
	void choose(Choice now) {
		Choice old = choice;
		choice = now;
		bar.update(trace());
		if (description == null || !now.sameDescription(old)) {
			describe();
			return;
		}
		if (!now.sameLevels(old) || now.initial() != old.initial()) {
			refining.submit(new Refined(description, now));
		}
		draw();
		overview.update(choice, description);
		showTypes();
	}

	Choice choice() {
		return choice;
	}

	private void askParameters() {
		if (trace() == null) {
			return;
		}
		FileDialog dialog = new FileDialog(getSite().getShell(), SWT.OPEN);
		dialog.setText("Load the parameters of a picture");
		dialog.setFilterExtensions(new String[] {"*.json", "*"});
		String file = dialog.open();
		if (file != null) {
			load(Path.of(file));
		}
	}

	/** Shows what a file of parameters says. */
	void load(Path file) {
		try {
			Parameters p = Parameters.read(file, trace(), trace().selection().state(), choice);
			choose(p.choice());
			trace().selection().go(p.state());
		} catch (MemtraceException e) {
			bar.error(e.getMessage());
		}
	}

	@Override
	protected void stateChanged(ViewState old, ViewState now) {
		if (now.sameModel(old)) {
			draw();
		} else {
			describe();
			canvas.redraw();
		}
		overview.update(choice, description);
		bar.update(trace());
	}

	@Override
	protected void markChanged(int producer) {
		canvas.redraw();
		canvas.revealMarks();
	}

	@Override
	protected void coloursChanged() {
		draw();
		overview.draw();
		showTypes();
	}

	@Override
	protected void traceShown(OpenTrace now) {
		navigation.follow(now);
		description = null;
		describing.cancel();
		refining.cancel();
		preparing.cancel();
		drawing.cancel();
		models.clear();
		overview.setTrace(now);
		types.clear();
		choice = choice.withMetric(null).withHidden(Set.of());
		if (now != null && !PictureKind.of(now.hasAccesses()).contains(choice.kind())) {
			choice = choice.withKind(PictureKind.BLOCKS);
		}
		bar.machine(null);
		canvas.setSelection(now == null ? null : now.selection());
		if (now == null) {
			aligned.needs(null);
		}
		level.setSelection(now == null ? null : now.selection());
		bar.update(now);
		bar.error(null);
		layout.topControl = now == null ? welcome : pictureArea;
		stack.layout();
		if (now != null) {
			describe();
			if (canvas.getDisplay().getActiveShell() == canvas.getShell()) {
				canvas.setFocus(); // but never away from a dialog
			}
		} else {
			welcome.refresh();
		}
	}

	@Override
	protected Snapshot snapshot() {
		ShownPicture shown = canvas.picture();
		return trace() == null || shown == null ? null : shown.snapshot();
	}

	/** The model is no longer that of the state. */
	private void describe() {
		if (trace() != null) {
			refining.cancel();
			preparing.cancel();
			describing.submit(new Description.Input(trace(), trace().selection().state(), choice, models));
		}
	}

	/** Only p or the size changed. */
	private void draw() {
		if (trace() == null || description == null) {
			return;
		}
		ViewState state = trace().selection().state();
		level.refresh();
		if (!state.sameModel(description.input().state()) || !choice.sameDescription(description.input().choice())) {
			return; // a new description is under way and will draw
		}
		Point size = room();
		if (!isTooSmall(size)) {
			double font = FONT_PIXELS * Appearance.textScale(canvas.getDisplay());
			drawing.submit(new ShownPicture.Input(description, state, choice, size.x, size.y, font,
					ScenePainter.palette(canvas), aligned.margins(), canvas.rowsTop()));
		}
	}

	/** Pixels that a picture has, without the scroll bar. */
	private Point room() {
		return new Point(canvas.getClientArea().width, canvas.getClientArea().height);
	}

	/** Whether there is no room for a picture. */
	private static boolean isTooSmall(Point size) {
		return size.x <= MIN_PIXELS || size.y <= MIN_PIXELS;
	}

	@Override
	public void setFocus() {
		if (layout.topControl == pictureArea) {
			if (canvas.getDisplay().getActiveShell() == canvas.getShell()) {
				canvas.setFocus(); // but never away from a dialog
			}
		} else {
			welcome.setFocus();
		}
	}

	@Override
	public void dispose() {
		if (canvas != null) {
			session().removeListener(followSession);
			settings.removePropertyChangeListener(followSettings);
			navigation.dispose();
			describing.cancel();
			refining.cancel();
			preparing.cancel();
			drawing.cancel();
			overview.cancel();
		}
		super.dispose();
	}

	PictureCanvas canvas() {
		return canvas;
	}

	LevelPanel level() {
		return level;
	}

	/** Whether all levels and the models of the other viewpoints are there. */
	boolean hasAllLevels() {
		return description != null && description.isComplete() && !refining.isBusy() && !preparing.isBusy();
	}

	OverviewCanvas overview() {
		return overview;
	}

	TypesTable types() {
		return types;
	}

	PictureBar bar() {
		return bar;
	}

	/** Whether the picture is that of the current state. */
	@Override
	protected boolean isSettled() {
		return !describing.isBusy() && !drawing.isBusy() && (trace() == null || isTooSmall(room()) || canvas.picture() != null
				&& canvas.picture().state().equals(trace().selection().state()) && canvas.picture().choice().equals(choice)
				&& canvas.picture().hasRowsTop(canvas.rowsTop()) && !aligned.isPending() && canvas.picture().hasMargins(aligned.margins())
				&& overview.isSettled());
	}
}
