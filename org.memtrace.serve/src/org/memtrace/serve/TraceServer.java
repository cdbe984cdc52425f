// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.serve;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.zip.GZIPOutputStream;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import org.memtrace.model.CancelledException;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.UnavailableException;
import org.memtrace.serve.http.Guard;
import org.memtrace.serve.http.Refused;

/**
 * Serves a page about traces, on the loopback addresses of this machine only, to whoever has its {@link #address}. It changes nothing on
 * this machine. Safe for all threads.
 */
public final class TraceServer implements AutoCloseable {
	/**
	 * How it serves.
	 *
	 * @param port 0: any free one
	 * @param otherPort whether another port may be taken where that one is in use
	 * @param mostMs time of one answer
	 */
	public record Settings(int port, boolean otherPort, long mostMs) {
	}

	private static final int BACKLOG = 64;
	private static final int TRIES = 20;
	/** Smaller answers are not compressed. */
	private static final int COMPRESS_FROM = 1000;
	private static final long LOOK_EVERY_MS = 200;

	static {
		// read once, when the first server is made: somebody who sends slowly, or many connections, must not stop it
		setDefault("sun.net.httpserver.maxReqTime", "20");
		setDefault("sun.net.httpserver.maxRspTime", "600");
		setDefault("sun.net.httpserver.idleInterval", "60");
		setDefault("sun.net.httpserver.maxReqHeaders", "60");
		setDefault("sun.net.httpserver.maxReqHeaderSize", "65536");
		setDefault("jdk.httpserver.maxConnections", "128");
	}

	private static void setDefault(String name, String value) {
		if (System.getProperty(name) == null) {
			System.setProperty(name, value);
		}
	}

	private final String token = Guard.makeToken();
	private final Guard guard = new Guard(token);
	private final Responder responder;
	private final List<HttpServer> servers;
	private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
	private final int port;
	private volatile long askedNanos = System.nanoTime();

	private TraceServer(List<HttpServer> servers, Responder responder) {
		this.servers = servers;
		this.responder = responder;
		port = servers.get(0).getAddress().getPort();
		for (HttpServer server : servers) {
			server.createContext("/", this::handle);
			server.setExecutor(threads);
			server.start();
		}
	}

	/**
	 * Starts to serve.
	 *
	 * @throws UnavailableException the port is in use, or no address of this machine can be bound
	 */
	public static TraceServer start(List<Source> traces, Settings settings) throws MemtraceException {
		int port = settings.port();
		for (int i = 0; i < TRIES; i++) {
			try {
				return new TraceServer(bind(port), new Responder(traces, settings.mostMs()));
			} catch (BindException e) {
				if (port != 0 && !settings.otherPort()) {
					throw new UnavailableException("the port " + port + " is in use; --port 0 takes a free one");
				}
				port = 0;
			} catch (IOException e) {
				throw new UnavailableException("no port can be opened: " + e.getMessage());
			}
		}
		throw new UnavailableException("no free port was found");
	}

	/** The same port of both loopback addresses: a tunnel to "localhost" may take either, and nobody else shall be at the other one. */
	private static List<HttpServer> bind(int wanted) throws IOException {
		List<HttpServer> bound = new ArrayList<>();
		HttpServer four = HttpServer.create(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), wanted), BACKLOG);
		bound.add(four);
		byte[] six = new byte[16];
		six[15] = 1;
		try {
			bound.add(HttpServer.create(new InetSocketAddress(InetAddress.getByAddress(six), four.getAddress().getPort()), BACKLOG));
		} catch (BindException e) {
			if (String.valueOf(e.getMessage()).contains("in use")) {
				four.stop(0);
				throw e;
			}
		} catch (IOException e) {
			// this machine has no such address
		}
		return bound;
	}

	public int port() {
		return port;
	}

	/** What to open in a browser; who knows it may look. */
	public String address() {
		return "http://127.0.0.1:" + port + "/#t=" + token;
	}

	/**
	 * Returns when nobody has asked for long, or the condition holds.
	 *
	 * @param idleMs time without a question that was answered; 0: never
	 */
	public void await(long idleMs, BooleanSupplier stop) throws InterruptedException {
		while (!stop.getAsBoolean()) {
			if (idleMs > 0 && !responder.isBusy() && System.nanoTime() - askedNanos > TimeUnit.MILLISECONDS.toNanos(idleMs)) {
				return;
			}
			Thread.sleep(LOOK_EVERY_MS);
		}
	}

	private void handle(HttpExchange e) throws IOException {
		Responder.Response response;
		try (e) {
			try {
				Guard.checkAll(e.getRequestMethod(), e.getRequestURI().toString(), e.getRequestHeaders());
				String path = e.getRequestURI().getRawPath();
				if (path.startsWith(Responder.DATA)) {
					guard.checkToken(e.getRequestHeaders());
					askedNanos = System.nanoTime();
				}
				response = responder.answer(path, e.getRequestURI().getRawQuery(), e.getRequestHeaders().getFirst("X-Memtrace-Asker"));
			} catch (Refused no) {
				response = Responder.Response.error(no.status(), no.getMessage());
			} catch (CancelledException dropped) {
				response = Responder.Response.error(409, "another question took the place of this one");
			} catch (MemtraceException no) {
				response = Responder.Response.error(422, String.valueOf(no.getMessage()));
			} catch (Exception | OutOfMemoryError | StackOverflowError bug) {
				// the message of an error may have what nobody should see
				response = Responder.Response.error(500, "unexpected error: " + bug.getClass().getSimpleName());
			}
			send(e, response);
		}
	}

	private static void send(HttpExchange e, Responder.Response response) throws IOException {
		Headers headers = e.getResponseHeaders();
		Guard.ALWAYS.forEach(headers::set);
		headers.set("Content-Type", response.type());
		if (response.status() == 405) {
			headers.set("Allow", "GET, HEAD");
		}
		if (!response.file().isEmpty()) {
			headers.set("Content-Disposition", "attachment; filename=\"" + response.file() + "\"");
		}
		byte[] body = response.body();
		headers.set("Vary", "Accept-Encoding");
		if (body.length >= COMPRESS_FROM && String.valueOf(e.getRequestHeaders().getFirst("Accept-Encoding")).contains("gzip")) {
			ByteArrayOutputStream packed = new ByteArrayOutputStream(body.length / 4);
			try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
				out.write(body);
			}
			body = packed.toByteArray();
			headers.set("Content-Encoding", "gzip");
		}
		if (e.getRequestMethod().equals("HEAD") || body.length == 0) {
			e.sendResponseHeaders(response.status(), -1);
		} else {
			e.sendResponseHeaders(response.status(), body.length);
			e.getResponseBody().write(body);
		}
	}

	/** Stops to serve and closes the traces. */
	@Override
	public void close() {
		servers.forEach(s -> s.stop(0));
		threads.shutdownNow();
		responder.close();
	}
}
