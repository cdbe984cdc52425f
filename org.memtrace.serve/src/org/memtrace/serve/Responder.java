// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.serve;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

import org.memtrace.analysis.text.JsonText;
import org.memtrace.model.MemtraceException;
import org.memtrace.serve.answer.Answers;
import org.memtrace.serve.answer.AskedTrace;
import org.memtrace.serve.http.Query;
import org.memtrace.serve.http.Refused;
import org.memtrace.serve.http.Work;

/** Answers a path that may be answered: the files of the page, and questions about traces by their numbers. Safe for all threads. */
final class Responder implements AutoCloseable {
	/**
	 * What is sent.
	 *
	 * @param file name under which a browser saves it; empty for what it shows
	 */
	record Response(int status, String type, byte[] body, String file) {
		static Response error(int status, String sentence) {
			JsonObject o = new JsonObject();
			o.addProperty("error", sentence);
			return new Response(status, "application/json; charset=utf-8", JsonText.LINE.toJson(o).getBytes(StandardCharsets.UTF_8), "");
		}
	}

	/** Begin of the paths of data. */
	static final String DATA = "/api/";
	/** The whole page: a path names one of these or nothing. */
	private static final Map<String, String[]> PAGE = Map.of("/", new String[] {"index.html", "text/html; charset=utf-8"}, //
			"/app.js", new String[] {"app.js", "text/javascript; charset=utf-8"}, //
			"/scene.js", new String[] {"scene.js", "text/javascript; charset=utf-8"}, //
			"/ask.js", new String[] {"ask.js", "text/javascript; charset=utf-8"}, //
			"/tabs.js", new String[] {"tabs.js", "text/javascript; charset=utf-8"}, //
			"/app.css", new String[] {"app.css", "text/css; charset=utf-8"}, //
			"/icon.svg", new String[] {"icon.svg", "image/svg+xml"});
	private static final int MOST_WAITING = 64;

	/** A trace that is opened when it is asked for. */
	private static final class Place {
		final Source source;
		AskedTrace open;

		Place(Source source) {
			this.source = source;
		}

		synchronized AskedTrace get() throws MemtraceException {
			if (open == null) {
				open = new AskedTrace(source.opener().open());
			}
			return open;
		}

		synchronized void close() {
			if (open != null) {
				open.close();
			}
		}
	}

	private final List<Place> places = new ArrayList<>();
	private final Work work;

	Responder(List<Source> traces, long mostMs) {
		traces.forEach(t -> places.add(new Place(t)));
		work = new Work(Math.max(2, Runtime.getRuntime().availableProcessors() / 2), MOST_WAITING, mostMs);
	}

	/**
	 * Answers.
	 *
	 * @param path as it came; nothing in it is decoded, so that one path has one meaning
	 * @param query behind the question mark; null without
	 * @param asker who asks, see {@link Work#answer}; null without
	 */
	Response answer(String path, String query, String asker) throws Exception {
		String[] file = PAGE.get(path);
		if (file != null) {
			try (InputStream in = Responder.class.getResourceAsStream("page/" + file[0])) {
				return new Response(200, file[1], in.readAllBytes(), "");
			} catch (IOException e) {
				throw new Refused(500, "the page cannot be read");
			}
		}
		String name = path.startsWith(DATA) ? path.substring(DATA.length()) : "";
		if (name.equals("traces")) {
			return traces();
		}
		if (!Answers.has(name)) {
			throw Refused.missing("there is nothing at this address");
		}
		Query q = Query.parse(query);
		int number = q.number("trace", 0, 0, Integer.MAX_VALUE);
		if (number >= places.size()) {
			throw Refused.missing("there is no trace " + number);
		}
		Place place = places.get(number);
		String who = asker == null || !asker.matches("[\\w-]{1,40}") ? "" : asker + " " + name;
		Answers.Answer answer = work.answer(who, progress -> Answers.of(name, place.get(), q, progress));
		return new Response(200, answer.type(), answer.text().getBytes(StandardCharsets.UTF_8), answer.file());
	}

	private Response traces() {
		JsonArray all = new JsonArray();
		places.forEach(p -> all.add(p.source.name()));
		JsonObject o = new JsonObject();
		o.add("traces", all);
		return new Response(200, "application/json; charset=utf-8", JsonText.LINE.toJson(o).getBytes(StandardCharsets.UTF_8), "");
	}

	/** Whether somebody waits for an answer. */
	boolean isBusy() {
		return work.isBusy();
	}

	@Override
	public void close() {
		work.close();
		places.forEach(Place::close);
	}
}
