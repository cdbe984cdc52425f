// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.definition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.importer.definition.DefinitionText.Kind;
import org.memtrace.importer.definition.DefinitionText.Token;
import org.memtrace.importer.definition.MonitorWords.Value;
import org.memtrace.model.Completion;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceFormatException;

/** Definition files as they are written: what is proposed at a place, which | marks; colours; checks; files. */
class DefinitionTest {
	private static final Path LAUNCHER = Path.of(System.getProperty("memtrace.root")).resolve("build/collector/memtrace");
	private static final MonitorWords WORDS = words();
	@TempDir
	private Path directory;

	private static MonitorWords words() {
		try {
			return MonitorWords.parse("""
					{"schema": "memtrace.monitor-list/1",
					"fields": [{"name": "OBJ", "text": "places", "value": "places", "generations": [2015, 2016, 2017]},
					{"name": "CTR", "text": "counters", "value": "counters", "generations": [2015]},
					{"name": "PERF_LIB", "text": "source", "value": "source", "generations": [2016, 2017]},
					{"name": "EVSET", "text": "events", "value": "events", "generations": [2016, 2017]},
					{"name": "EVSET_REDUCE", "text": "set", "value": "set-reduction", "generations": [2016]},
					{"name": "SAMPLES_REDUCE", "text": "samples", "value": "samples-reduction", "generations": [2016]},
					{"name": "REDUCTION", "text": "values", "value": "reductions", "generations": [2017]},
					{"name": "WINDOW", "text": "kept", "value": "number", "generations": [2017]},
					{"name": "OUTPUT", "text": "path", "value": "file", "generations": [2017]},
					{"name": "SILENT", "text": "none", "value": "flag", "generations": [2016, 2017]}],
					"sources": [{"name": "proc", "text": "kernel", "of_monitors": false, "notes": [], "events": [
					{"name": "cpuload", "text": "load", "places": "PU and above", "here": true, "pattern": false}]},
					{"name": "perf", "text": "counters", "of_monitors": false, "notes": ["x"], "events": [
					{"name": "cycles", "text": "cycles", "here": false, "pattern": false},
					{"name": "page-faults", "text": "faults", "here": true, "pattern": false},
					{"name": "rHEX", "text": "raw", "here": true, "pattern": true}]},
					{"name": "accumulate", "text": "sums", "of_monitors": true, "events": [], "notes": []}],
					"reductions": [{"name": "MONITOR_SAMPLES_LAST", "text": "newest", "window": false},
					{"name": "lsq_fit", "text": "fit", "window": true}],
					"types": [{"name": "Machine", "places": 1}, {"name": "L3", "places": 0}, {"name": "PU", "places": 2}],
					"built_in": "load { OBJ:=PU; PERF_LIB:=proc; EVSET:=cpuload; EVSET_REDUCE:=$0; }"}
					""");
		} catch (TraceFormatException e) {
			throw new AssertionError(e);
		}
	}

	private static Completion at(String text) {
		int caret = text.indexOf('|');
		return DefinitionCompletion.at(text.substring(0, caret) + text.substring(caret + 1), caret, WORDS);
	}

	private static List<String> texts(String text) {
		return at(text).proposals().stream().map(Completion.Proposal::text).toList();
	}

	@Test
	void fields() {
		assertEquals(List.of("OBJ:=", "CTR:=", "PERF_LIB:=", "EVSET:=", "EVSET_REDUCE:=", "SAMPLES_REDUCE:=", "REDUCTION:=", "WINDOW:=",
				"OUTPUT:=", "SILENT:="), texts("a { |"));
		assertEquals(List.of("EVSET_REDUCE:=", "SAMPLES_REDUCE:=", "SILENT:="),
				texts("a { OBJ:=PU; PERF_LIB:=perf; EVSET:=x; EVSET_REDUCE:=$0; } b { OBJ:=PU; PERF_LIB:=perf; EVSET:=x; |}"));
		assertEquals(List.of("EVSET:=", "EVSET_REDUCE:="), texts("a { OBJ:=PU; ev| }"));
		assertEquals(List.of("REDUCTION:=", "EVSET_REDUCE:=", "SAMPLES_REDUCE:="), texts("a { red| }"), "parts of names count, and are last");
		assertEquals(List.of("EVSET"), texts("a { EVS|:=x; REDUCTION:=$0; }"), "what follows is there");
		assertEquals(List.of("CTR="), texts("a { CTR=x; } b { C| }"));
		assertEquals("counters (2015)", at("a { C| }").proposals().get(0).note());
		assertEquals("counters", at("a{CTR=x;} b { C| }").proposals().get(0).note());
		assertEquals(new Completion(4, 7, List.of(new Completion.Proposal("OBJ:=", "places"))), at("a { OB|J "), "the whole word");
		assertEquals(List.of(), texts("na|"), "the name is the person's");
		assertEquals(List.of(), texts("|"));
		assertEquals(List.of(), texts("a { } |"));
		assertEquals(List.of(), texts("a { OBJ |"));
		assertEquals(List.of(), texts("a { OBJ:|"));
		assertEquals(List.of(), texts("a { % OB|\n }"));
		assertEquals(List.of("OBJ:="), texts("a { % O\nOB| }"));
		assertEquals(List.of("OBJ:="), texts("a { EVSET:=x, y;\n\tO| }").subList(0, 1));
	}

	@Test
	void values() {
		assertEquals(List.of("Machine", "L3", "PU"), texts("a { OBJ:=| }"));
		assertEquals(List.of("1 here", "not on this machine", "2 here"),
				at("a { OBJ:=|").proposals().stream().map(Completion.Proposal::note).toList());
		assertEquals(List.of(), texts("a { OBJ:=PU:|"));
		assertEquals(List.of("PU"), texts("a { OBJ := p| ; }"));
		assertEquals(List.of("proc", "perf", "accumulate"), texts("a { PERF_LIB:=|; }"));
		assertEquals(List.of("page-faults", "cycles"), texts("a { PERF_LIB:=perf; EVSET:=|"), "what works here is first, no patterns");
		assertEquals(List.of("page-faults"), texts("a { EVSET:=x, fau|; PERF_LIB:=perf;}"), "the source may stand behind");
		assertEquals(new Completion(26, 35, List.of(new Completion.Proposal("page-faults", "faults"))),
				at("a{PERF_LIB:=perf;\n EVSET:=page-|faul;}"), "a word with -");
		assertEquals(List.of("cpuload", "page-faults", "cycles"), texts("a { EVSET:=|; }"), "of all sources");
		assertEquals("proc: load; PU and above", at("a { EVSET:=cpu|").proposals().get(0).note());
		assertEquals("cycles; not on this machine", at("a { PERF_LIB:=PERF; EVSET:=cyc|").proposals().get(0).note());
		assertEquals(List.of(), texts("a { PERF_LIB:=nothing; EVSET:=|; }"));
		assertEquals(List.of("pu", "core"), texts("pu { EVSET:=x; } all { PERF_LIB:=accumulate; EVSET:=| } core { }"));
		assertEquals(List.of("page_faults"), texts("a { CTR=2*pa|"));
		assertEquals(List.of("0", "1"), texts("a { SILENT:=|"));
		assertEquals(List.of(), texts("a { WINDOW:=|"));
		assertEquals(List.of(), texts("a { OUTPUT:=/tmp/|"));
		assertEquals(List.of(), texts("a { NONSENSE:=|"));
	}

	@Test
	void reductions() {
		assertEquals(List.of("$0", "$1", "MONITOR_SAMPLES_LAST", "lsq_fit"), texts("a { EVSET:=x, y; EVSET_REDUCE:=|; }"));
		assertEquals("y", at("a { EVSET:=x, y; EVSET_REDUCE:=$1|; }").proposals().get(0).note());
		assertEquals(List.of("$0", "$1"), texts("a { EVSET:=x, y; EVSET_REDUCE:=$0/|; }"));
		assertEquals(List.of("MONITOR_SAMPLES_LAST"), texts("a { SAMPLES_REDUCE:=last|; }"));
		assertEquals(List.of("$0", "1#lsq_fit", "1#MONITOR_SAMPLES_LAST"), texts("a { EVSET:=x; REDUCTION:=| }"));
		assertEquals(List.of("lsq_fit", "MONITOR_SAMPLES_LAST"), texts("a { EVSET:=x; REDUCTION:=3#| }"));
		assertEquals(List.of("$0"), texts("a { EVSET:=x; REDUCTION:=r=| }"));
		assertEquals(List.of("$0", "$1", "$2"),
				texts("a{EVSET:=x,y;} b{EVSET:=z;} c{PERF_LIB:=accumulate; EVSET:=a,b; REDUCTION:=$|}"), "the events of the others");
		assertEquals("b: z", at("a{EVSET:=x,y;} b{EVSET:=z;} c{PERF_LIB:=accumulate; EVSET:=a,b; REDUCTION:=$2|}").proposals().get(0).note());
		assertEquals(List.of("$0"), texts("a{PERF_LIB:=accumulate; EVSET:=a; REDUCTION:=$|}"), "a circle ends");
		assertEquals(List.of(), texts("a { EVSET:=x; REDUCTION:=$0 #l|\n }"), "a comment");
	}

	private static String kinds(String text) {
		StringBuilder s = new StringBuilder();
		DefinitionText t = new DefinitionText(text, WORDS);
		for (Token k : t.tokens()) {
			s.append(k.kind() == Kind.SYMBOL ? t.text(k) : k.kind().name().charAt(0) + "(" + t.text(k) + ")");
		}
		return s.toString();
	}

	@Test
	void colours() {
		assertEquals("C(% c {)M(a){F(OBJ):=N(PU):N(0..3);F(EVSET):=N(L1-x),N(r1F);F(REDUCTION):=N(s)=E($0)/N(1e6);}C(# end)",
				kinds("% c {\na { OBJ:=PU:0..3; EVSET:=L1-x, r1F; REDUCTION:=s=$0/1e6; } # end"));
		assertEquals("M(a){F(REDUCTION):=N(3)#N(lsq_fit);}", kinds("a{REDUCTION:=3#lsq_fit;}"));
		assertEquals("M(a){F(REDUCTION):=E($0)*N(3)C(#lsq_fit;})", kinds("a{REDUCTION:=$0*3#lsq_fit;}"));
		assertEquals("M(a){F(CTR)=N(A)*N(2)C(#B;})", kinds("a{CTR=A*2#B;}"));
		assertEquals("M(a){F(OUTPUT):=N(my file);", kinds("a{OUTPUT:=my file;"));
		assertEquals(Value.SET_REDUCTION, WORDS.field("EVSET_REDUCE").value());
		assertEquals("M(a){F(OBJ):=N(PU);}", kinds("a{OBJ:=PU;}"));
	}

	/** Whatever stands there: tokens are in order, do not overlap and leave out blanks only; proposals replace what is written. */
	@Test
	void anyText() {
		long seed = 20261126;
		Random random = new Random(seed);
		String[] parts = {"a", "{", "}", ":=", "=", ";", "OBJ", "EVSET", "REDUCTION", "CTR", "$0", "#", "%", "\n", " ", "3", "ü", "PU", ":", ",",
				"page-faults", "\0"};
		for (int i = 0; i < 3000; i++) {
			StringBuilder s = new StringBuilder();
			for (int k = random.nextInt(20); k > 0; k--) {
				s.append(parts[random.nextInt(parts.length)]);
			}
			String text = s.toString();
			List<Token> tokens = new DefinitionText(text, WORDS).tokens();
			int at = 0;
			for (Token t : tokens) {
				assertTrue(t.from() >= at && t.to() > t.from() && text.substring(at, t.from()).isBlank(), seed + ": " + text);
				at = t.to();
			}
			assertTrue(text.substring(at).isBlank(), seed + ": " + text);
			int caret = random.nextInt(text.length() + 1);
			Completion c = DefinitionCompletion.at(text, caret, WORDS);
			assertTrue(c.from() <= caret && caret <= c.to() && c.to() <= text.length(), seed + ": " + text);
		}
	}

	@Test
	void mistakes() throws Exception {
		DefinitionCheck check = DefinitionCheck.parse("{\"generation\": 2016, \"monitors\": 1, \"mistake\": null}");
		assertEquals("1 monitor in the form of 2016", check.summary());
		assertNull(check.mistake());
		String text = "# für\na { x }\n# ü€𝄞x";
		assertEquals(text.indexOf("x }"), new DefinitionCheck.Mistake(2, 5, "").offset(text));
		assertEquals(text.lastIndexOf('x'), new DefinitionCheck.Mistake(3, 12, "").offset(text));
		assertEquals(text.indexOf('\n'), new DefinitionCheck.Mistake(1, 99, "").offset(text), "not behind the line");
		assertEquals(text.length(), new DefinitionCheck.Mistake(3, 99, "").offset(text));
		assertEquals(text.indexOf("# ü"), new DefinitionCheck.Mistake(9, 1, "").offset(text), "there are three lines");
		assertThrows(TraceFormatException.class, () -> DefinitionCheck.parse("{}"));
		assertThrows(TraceFormatException.class, () -> DefinitionCheck.parse("oops"));
		assertThrows(TraceFormatException.class, () -> MonitorWords.parse("{\"types\": [{\"name\": \"PU\"}]}"));
	}

	@Test
	void files() throws Exception {
		DefinitionDocument d = new DefinitionDocument();
		d.begin("a");
		assertEquals("New definitions", d.title());
		d.edit("b");
		assertTrue(d.isChanged());
		assertEquals("*New definitions", d.title());
		Path file = directory.resolve("x.mon");
		d.save(file);
		assertEquals("x.mon", d.title());
		assertEquals("b", Files.readString(file));
		d.edit("ü");
		assertEquals("*x.mon", d.title());
		String missing = assertThrows(MemtraceException.class, () -> d.save(directory.resolve("no/x.mon"))).getMessage();
		assertTrue(missing.endsWith("no/x.mon cannot be written: there is no such file or folder"), missing);
		assertEquals(file, d.path());
		assertTrue(d.isChanged());
		Path binary = Files.write(directory.resolve("binary"), new byte[] {(byte) 0xc3, 0x28});
		assertTrue(assertThrows(MemtraceException.class, () -> d.open(binary)).getMessage().endsWith("is no text in UTF-8."));
		Path large = Files.write(directory.resolve("large"), new byte[(1 << 20) + 1]);
		assertTrue(assertThrows(MemtraceException.class, () -> d.open(large)).getMessage().contains("more than 1 MiB"));
		assertThrows(MemtraceException.class, () -> d.open(directory.resolve("none")));
		assertEquals("ü", d.text(), "an error changes nothing");
		Files.write(file, "für".getBytes(StandardCharsets.UTF_8));
		d.open(file);
		assertEquals("für", d.text());
		assertFalse(d.isChanged());
	}

	/** What the recorder says, and that the texts to begin with have no mistake. */
	@Test
	void theRecorder() throws Exception {
		assumeTrue(Files.isExecutable(LAUNCHER), "the collector is not built");
		MonitorWords real = MonitorWords.run(LAUNCHER.toString(), Progress.NONE);
		assertTrue(real.field("EVSET").generations().equals(List.of(2016, 2017)), real.fields().toString());
		assertTrue(real.fields().stream().noneMatch(f -> f.value() == Value.UNKNOWN), "each field has a kind of value that is known");
		assertTrue(real.types().stream().anyMatch(t -> t.name().equals("PU") && t.places() > 0), real.types().toString());
		assertTrue(real.source("perf").events().stream().anyMatch(e -> e.name().equals("page-faults") && !e.pattern()));
		assertTrue(real.source("accumulate").ofMonitors());
		List<DefinitionDocument.Template> templates = DefinitionDocument.templates(real);
		assertEquals(DefinitionDocument.templates(MonitorWords.NONE).size() + 1, templates.size());
		for (DefinitionDocument.Template t : templates) {
			DefinitionCheck check = DefinitionCheck.run(LAUNCHER.toString(), t.text(), Progress.NONE);
			assertNull(check.mistake(), t.title() + ": " + check.mistake());
		}
		String wrong = "# für\npu { OBJ:=PU; PERF_LIB:=perf; EVSET:=page-faults, nonsense; REDUCTION:=$0; }\n";
		DefinitionCheck.Mistake mistake = DefinitionCheck.run(LAUNCHER.toString(), wrong, Progress.NONE).mistake();
		assertTrue(mistake.text().startsWith("perf has no event 'nonsense'"), mistake.text());
		assertTrue(wrong.startsWith("nonsense", mistake.offset(wrong)), mistake.toString());
		everyProposalIsRight(real, templates);
	}

	/** At each place of the templates where a word is proposed for the one that stands there, that word is among the proposals. */
	private static void everyProposalIsRight(MonitorWords real, List<DefinitionDocument.Template> templates) {
		List<String> missing = new ArrayList<>();
		for (DefinitionDocument.Template t : templates) {
			DefinitionText text = new DefinitionText(t.text(), real);
			for (Token word : text.tokens()) {
				boolean output = word.kind() == Kind.NAME && t.text().startsWith("=", word.to());
				if (word.kind() == Kind.FIELD || word.kind() == Kind.EVENT || word.kind() == Kind.NAME && !output) {
					Completion c = DefinitionCompletion.at(t.text(), word.from() + 1, real);
					boolean there = c.proposals().stream().anyMatch(p -> p.text().replace("1#", "").equals(text.text(word)));
					if (!there || c.from() != word.from() || c.to() != word.to()) {
						missing.add(t.title() + ": " + text.text(word) + " " + c);
					}
				}
			}
		}
		assertEquals(List.of(), missing);
	}
}
