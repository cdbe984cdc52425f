// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model.store;

import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.memtrace.model.StoreException;

/**
 * Where a catalogue is: a directory of this machine, or a database of a PostgreSQL server,
 * {@code postgresql://[user@][host][:port]/database[?sslmode=…]}, in the form of libpq. What is left out comes from the variables of
 * PostgreSQL (PGHOST, PGPORT, PGUSER, …), and so does the password: a place never has one, so it can be shown, saved and given to
 * another process. Immutable.
 */
public final class CataloguePlace {
	/** Parameters of an address. No others: those of the driver can name classes that it loads. */
	public static final List<String> PARAMETERS = List.of("application_name", "connect_timeout", "service", "sslcert", "sslkey", "sslmode",
			"sslrootcert");
	private static final String PASSWORD = "an address must not have a password: others would see it. Put it into ~/.pgpass or PGPASSWORD";
	/** A host, perhaps one in brackets, and a port. */
	private static final Pattern SERVER = Pattern.compile("(\\[[0-9A-Fa-f:.%]+\\]|[^:\\[\\]]*)(?::(\\d{1,5})?)?");
	private static final List<String> SCHEMES = List.of("postgresql://", "postgres://");

	private final Path directory;
	private final String user;
	private final String host;
	private final int port;
	private final String database;
	private final Map<String, String> parameters;

	private CataloguePlace(Path directory, String user, String host, int port, String database, Map<String, String> parameters) {
		this.directory = directory;
		this.user = user;
		this.host = host;
		this.port = port;
		this.database = database;
		this.parameters = Map.copyOf(parameters);
	}

	/** A trace of a server: where its catalogue is, and the name or number that the trace has there. */
	public record Trace(CataloguePlace place, String name) {
	}

	/** A directory. */
	public static CataloguePlace of(Path directory) {
		return new CataloguePlace(Objects.requireNonNull(directory), "", "", -1, "", Map.of());
	}

	/**
	 * What a person wrote.
	 *
	 * @throws StoreException for an address that has a password, names a trace, or cannot be one
	 */
	public static CataloguePlace parse(String text) throws StoreException {
		if (!isServer(text)) {
			try {
				return of(Path.of(text));
			} catch (InvalidPathException e) {
				throw new StoreException("\"" + text + "\" cannot be the name of a directory", e);
			}
		}
		Trace trace = parseTrace(text);
		if (!trace.name.isEmpty()) {
			throw new StoreException(trace.place + " is a catalogue, and " + text + " a trace of one: leave out /" + trace.name);
		}
		return trace.place;
	}

	/** Whether a text is the address of a server, or of a trace there, and not a path. */
	public static boolean isServer(String text) {
		return SCHEMES.stream().anyMatch(text::startsWith);
	}

	/**
	 * A trace of a server: its address is that of the catalogue, a slash, and its name or number.
	 *
	 * @return with an empty name when only a catalogue is named
	 */
	public static Trace parseTrace(String text) throws StoreException {
		URI uri;
		try {
			uri = new URI(text.replaceFirst("^postgres(ql)?://", "postgresql://").replaceFirst("^(postgresql://)(?=[?]|$)", "$1/"));
		} catch (URISyntaxException e) { // without the text, which may have a password
			throw new StoreException("the address of a server cannot be understood: " + e.getReason() + " at character " + e.getIndex());
		}
		// not by java.net.URI, which knows no names with an underscore
		String authority = Objects.requireNonNullElse(uri.getRawAuthority(), "");
		int of = authority.lastIndexOf('@');
		String user = of < 0 ? "" : authority.substring(0, of);
		if (user.indexOf(':') >= 0) { // all users of the machine see command lines
			throw new StoreException(PASSWORD);
		}
		Matcher server = SERVER.matcher(authority.substring(of + 1));
		if (!server.matches()) {
			throw new StoreException("the address of a server cannot be understood: it is postgresql://host:port/database");
		}
		Map<String, String> parameters = new TreeMap<>();
		if (uri.getRawQuery() != null) {
			for (String parameter : uri.getRawQuery().split("&")) {
				int at = parameter.indexOf('=');
				String name = at < 0 ? parameter : parameter.substring(0, at);
				if (name.equals("password")) {
					throw new StoreException(PASSWORD);
				}
				if (at < 0 || !PARAMETERS.contains(name)) {
					throw new StoreException("the address of a server cannot have the parameter " + name + "; it can have "
							+ String.join(", ", PARAMETERS));
				}
				parameters.put(name, decode(parameter.substring(at + 1)));
			}
		}
		String path = Objects.requireNonNullElse(uri.getPath(), "").replaceFirst("^/", "");
		int slash = path.indexOf('/');
		String database = slash < 0 ? path : path.substring(0, slash);
		String host = decode(server.group(1)).replaceFirst("^\\[(.*)\\]$", "$1");
		int port = server.group(2) == null ? -1 : Integer.parseInt(server.group(2));
		return new Trace(new CataloguePlace(null, decode(user), host, port, database, parameters), slash < 0 ? "" : path.substring(slash + 1));
	}

	private static String decode(String text) {
		return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
	}

	/** Null for a server. */
	public Path directory() {
		return directory;
	}

	/** Of a server. */
	public boolean isServer() {
		return directory == null;
	}

	/** Empty: as the variables of PostgreSQL say, and so on. */
	public String user() {
		return user;
	}

	/** Empty when the variables of PostgreSQL say it. */
	public String host() {
		return host;
	}

	/** -1 when the variables of PostgreSQL say it. */
	public int port() {
		return port;
	}

	/** Empty when the variables of PostgreSQL say it. */
	public String database() {
		return database;
	}

	/** Values of {@link #PARAMETERS}. */
	public Map<String, String> parameters() {
		return parameters;
	}

	/** What names a trace wherever one is asked for: its file, or its address. */
	public String trace(String databaseName) {
		return directory != null ? directory.resolve(databaseName).toString() : address("/" + encode(databaseName));
	}

	private String address(String trace) {
		StringBuilder text = new StringBuilder("postgresql://");
		text.append(user.isEmpty() ? "" : encode(user) + "@").append(host.indexOf(':') >= 0 ? "[" + host + "]" : host)
				.append(port < 0 ? "" : ":" + port).append('/').append(encode(database)).append(trace);
		char before = '?';
		for (Map.Entry<String, String> parameter : new TreeMap<>(parameters).entrySet()) {
			text.append(before).append(parameter.getKey()).append('=').append(encode(parameter.getValue()));
			before = '&';
		}
		return text.toString();
	}

	private static String encode(String text) {
		return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
	}

	@Override
	public boolean equals(Object other) {
		return other instanceof CataloguePlace o && toString().equals(o.toString()) && isServer() == o.isServer();
	}

	@Override
	public int hashCode() {
		return toString().hashCode();
	}

	/** The directory, or the address; {@link #parse} understands it. */
	@Override
	public String toString() {
		return directory != null ? directory.toString() : address("");
	}
}
