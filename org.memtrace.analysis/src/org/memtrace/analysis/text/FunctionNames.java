// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.text;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Demangled names of C++ as short as a person writes them in a sentence; other names stay as they are. */
public final class FunctionNames {
	private static final String ANONYMOUS = "(anonymous namespace)";
	/** The operators that have brackets or angles in their names. */
	private static final Pattern OPERATOR = Pattern.compile("\\boperator(\\(\\)|<=>|<<=|>>=|->\\*|->|<<|>>|<=|>=|<|>)");

	private FunctionNames() {
	}

	/**
	 * Without arguments of templates, parameters and the type of the result: {@code std::fill} for
	 * {@code void std::fill<int*, int>(int*, int*, int const&)}.
	 */
	public static String brief(String name) {
		if (name.indexOf('(') < 0 && name.indexOf('<') < 0 || name.contains("(*")) {
			return name;
		}
		StringBuilder kept = new StringBuilder();
		Matcher operator = OPERATOR.matcher(name);
		int angles = 0;
		int brackets = 0;
		for (int i = 0; i < name.length(); i++) {
			if (operator.region(i, name.length()).useTransparentBounds(true).lookingAt()) {
				kept.append(angles + brackets == 0 ? operator.group() : "");
				i = operator.end() - 1;
				continue;
			}
			char c = name.charAt(i);
			if (angles + brackets == 0 && name.startsWith(ANONYMOUS, i)) {
				kept.append(ANONYMOUS.replace(' ', '\0'));
				i += ANONYMOUS.length() - 1;
			} else if (c == '<' || c == '(') {
				angles += c == '<' ? 1 : 0;
				brackets += c == '(' ? 1 : 0;
			} else if (c == '>' && angles > 0 || c == ')' && brackets > 0) {
				angles -= c == '>' ? 1 : 0;
				brackets -= c == ')' ? 1 : 0;
			} else if (angles + brackets == 0) {
				kept.append(c);
			}
		}
		if (angles + brackets > 0) {
			return name; // not as expected: no name is better than the whole one
		}
		String s = kept.toString().replaceAll("( (const|volatile|\\[clone [^\\]]*\\])|\\s*&+)+$", "").strip();
		int own = s.indexOf("operator ");
		int result = s.lastIndexOf(' ', own < 0 ? s.length() : own);
		s = s.substring(result + 1).replace('\0', ' ');
		return s.isEmpty() ? name : s;
	}
}
