// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

import org.junit.jupiter.api.Test;
import org.memtrace.analysis.findings.facts.GroupFacts;
import org.memtrace.analysis.findings.rules.Check;
import org.memtrace.analysis.findings.rules.Rule;
import org.memtrace.analysis.findings.rules.Rules;
import org.memtrace.analysis.pattern.Patterns;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.memory.StructureKind;

/** What is said about one structure in one output does not contradict itself. */
class AgreementTest {
	private static final int TRACES = 400;
	private static final int INTERVALS = 12;
	/** Share of the accesses with a label, from which on it is what a structure is called. */
	private static final double MOSTLY = 0.75;

	/** Rules whose sentences cannot both be true of a structure: only read and written; of one thread and of nobody; dense and hardly used. */
	private static final List<Set<String>> NEVER_TOGETHER = List.of(
			Set.of("replicate", "all-to-all"), Set.of("replicate", "ping-pong"), Set.of("replicate", "page-shared"),
			Set.of("replicate", "hot-page"),
			Set.of("replicate", "false-sharing"), Set.of("imbalance", "all-to-all"), Set.of("remote-mapping", "all-to-all"),
			Set.of("remote-mapping", "first-touch"), Set.of("remote-mapping", "page-shared"), Set.of("remote-mapping", "ping-pong"),
			Set.of("first-touch", "all-to-all"), Set.of("hot-page", "all-to-all"), Set.of("page-shared", "all-to-all"),
			Set.of("recycled-heap", "short-lived"), Set.of("column-sweep", "strided"), Set.of("padding", "false-sharing"));

	/** Labels of patterns that say the contrary of a rule: each page has one user, or all use all. */
	private static final Map<String, List<String>> CONTRARY = Map.of(
			"all-to-all", List.of("blocks"), "page-shared", List.of("blocks"), "ping-pong", List.of("blocks"), "replicate", List.of("blocks"),
			"column-sweep", List.of("blocks", "linear sweep"), "strided", List.of("random", "linear sweep"),
			"remote-mapping", List.of("all-to-all", "ping-pong"),
			"imbalance", List.of("all-to-all", "ping-pong"), "first-touch", List.of("all-to-all"));

	/** A structure that is used in one of many ways, more or less so. */
	private static void use(PlantedTrace t, Random r, String name) {
		int pages = 4 + r.nextInt(r.nextBoolean() ? 40 : 200);
		int s = t.structure(name, r.nextInt(4) == 0 ? StructureKind.STATIC : StructureKind.HEAP, pages);
		int threads = t.threads();
		int shift = r.nextInt(threads);
		int team = 1 + r.nextInt(threads);
		int way = r.nextInt(7);
		int init = r.nextInt(3);
		double purity = r.nextBoolean() ? 1 : 0.5 + 0.5 * r.nextDouble();
		double writes = r.nextInt(3) * 0.5;
		double seen = r.nextBoolean() ? 1 : 0.1 + 0.9 * r.nextDouble();
		int stride = 64 << r.nextInt(7);
		for (int p = 0; p < pages; p++) {
			t.write(s, p, 0, init == 0 ? 0 : init == 1 ? t.owner(p, pages) : r.nextInt(threads));
			for (int i = 1; i < INTERVALS; i++) {
				if (r.nextDouble() > seen) {
					continue;
				}
				int users = way == 0 || way == 6 && p % 40 != 7 ? 1 : way == 1 ? 2 : way == 2 || way == 6 ? team : 1;
				for (int u = 0; u < users; u++) {
					int k = way == 0 || way == 6 && users == 1 ? (t.owner(p, pages) + shift) % threads
							: way == 3 ? r.nextInt(team) : way == 5 ? p % threads : u;
					if (r.nextDouble() > purity) {
						k = r.nextInt(threads);
					}
					boolean write = r.nextDouble() < writes;
					int offset = way == 4 ? (int) ((long) p * stride + i * 192L) % PlantedTrace.PAGE
							: r.nextInt(4) == 0 ? 8 * r.nextInt(512) : way == 2 ? 64 * k % 4096 : 0;
					t.access(s, p, i, k, 1 + r.nextInt(3), write ? 1 : 0, offset, write ? offset : -1);
				}
			}
		}
	}

	@Test
	void rulesAndPatternsAgree() throws MemtraceException {
		int several = 0;
		Set<String> seen = new TreeSet<>();
		long first = Long.getLong("memtrace.seed", 20261128);
		for (int n = 0; n < TRACES; n++) {
			long seed = first + n;
			Random r = new Random(seed);
			PlantedTrace t = new PlantedTrace(2 + r.nextInt(5), INTERVALS);
			int structures = 1 + r.nextInt(3);
			for (int k = 0; k < structures; k++) {
				use(t, r, "s" + k);
			}
			Advisor advisor = t.advise();
			Patterns patterns = t.patterns();
			for (GroupFacts g : advisor.facts().groups()) {
				List<Finding> its = advisor.findings().stream().filter(f -> f.structures().contains(g.structures.get(0))).toList();
				several += its.size() > 1 ? 1 : 0;
				Set<String> rules = new HashSet<>();
				for (Finding f : its) {
					assertTrue(rules.add(f.rule()), () -> "twice: seed " + seed + " " + f.rule());
					seen.add(f.rule());
				}
				for (Set<String> pair : NEVER_TOGETHER) {
					assertFalse(rules.containsAll(pair), () -> "seed " + seed + ": " + pair + "\n" + AdviceText.text(advisor));
				}
				Map<String, Double> labels = patterns.shares(g.structures);
				for (Finding f : its) {
					for (String label : CONTRARY.getOrDefault(f.rule(), List.of())) {
						double share = labels.entrySet().stream().filter(e -> e.getKey().startsWith(label)).mapToDouble(Map.Entry::getValue).sum();
						assertTrue(share < MOSTLY, () -> "seed " + seed + ": " + f.rule() + " and " + labels + "\n" + AdviceText.text(advisor));
					}
				}
			}
			holdsOrIsCovered(advisor, seed);
		}
		System.out.println("agreement: seeds " + first + " to " + (first + TRACES - 1) + ", rules " + seen + ", " + several
				+ " structures with several findings");
		assertTrue(seen.size() >= 6 && several > 0, seen + " " + several);
	}

	/** A rule that holds is told, or another one that is told or covered covers it. */
	private static void holdsOrIsCovered(Advisor advisor, long seed) {
		for (Rule rule : advisor.rules()) {
			for (Advisor.Verdict v : advisor.explain(rule)) {
				if (!v.checks().stream().allMatch(Check::holds)) {
					continue;
				}
				List<Rule> holding = advisor.rules().stream()
						.filter(x -> advisor.explain(x).stream().anyMatch(o -> o.group() == v.group() && o.holds())).toList();
				boolean covered = holding.stream().anyMatch(x -> Rules.covered(x, holding).contains(rule.id()));
				boolean told = advisor.findings().stream()
						.anyMatch(f -> f.rule().equals(rule.id()) && f.structures().contains(v.group().structures.get(0)));
				assertEquals(!covered, told, () -> "seed " + seed + ": " + rule.id() + " of " + v.group().label + "\n" + AdviceText.text(advisor));
			}
		}
	}

	/** The relation names rules that exist, and no rule covers itself by way of others: else none of them would be told. */
	@Test
	void whatCoversWhatIsAnOrder() {
		List<String> ids = Rules.all().stream().map(Rule::id).toList();
		for (Rule rule : Rules.all()) {
			assertTrue(ids.containsAll(rule.covers()), rule.id() + " covers " + rule.covers());
			for (Rule other : Rules.all()) {
				assertFalse(Rules.covered(rule, Rules.all()).contains(other.id()) && Rules.covered(other, Rules.all()).contains(rule.id()),
						rule.id() + " and " + other.id());
			}
		}
	}

	/** A column sweep is the cause of what is strided and shared; uneven work is another cause, and is told as well. */
	@Test
	void anotherCauseIsToldAsWell() throws MemtraceException {
		PlantedTrace t = new PlantedTrace(4, 20);
		int s = t.structure("triangle", StructureKind.HEAP, 128);
		for (int i = 0; i < 20; i++) {
			for (int p = 0; p < 128; p++) {
				int k = i == 0 ? 0 : t.owner(p, 128);
				t.access(s, p, i, k, k == 2 ? 20 : 1, 1, 0, 0);
			}
		}
		Advisor advisor = t.advise();
		assertEquals(List.of("first-touch", "imbalance"), advisor.findings().stream().map(Finding::rule).toList());
		assertEquals(null, advisor.mainOf(advisor.findings().get(0)));
		assertEquals(advisor.findings().get(0), advisor.mainOf(advisor.findings().get(1)));
		assertTrue(AdviceText.text(advisor).contains("2. triangle: also imbalance"), AdviceText.text(advisor));
		String json = AdviceJson.json(advisor, List.of()).replaceAll("\\s+", " ");
		assertTrue(json.contains("\"also_of\": 0") && json.indexOf("also_of") == json.lastIndexOf("also_of"), json);
	}
}
