# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Turns the command table (org.memtrace.cli/commands) into C.
#
#   awk -v version=0.1.0 -v commit=abc -v backends="a|b" -v name_list=names.list -f commands.awk index.txt common.txt NAME.txt...
#
# Plain POSIX awk: it also runs in mawk. Format: org.memtrace.cli/commands/README.txt

function fail(message) {
	printf "%s:%d: %s\n", FILENAME, FNR, message > "/dev/stderr"
	failed = 1
	exit 1
}

function quote(s) {
	gsub(/\\/, "\\\\", s)
	gsub(/"/, "\\\"", s)
	gsub(/\n/, "\\n\"\n\t\t\"", s)
	return "\"" s "\""
}

function or_null(s) {
	return s == "" ? "NULL" : quote(s)
}

# A line for each dimension, metric and format: id, uses, meaning
BEGIN {
	while (name_list != "" && (getline line < name_list) > 0) {
		if (line ~ /^#/)
			continue
		if (split(line, field, "\t") != 3) {
			printf "%s: '%s' is not id, uses and meaning\n", name_list, line > "/dev/stderr"
			failed = 1
			exit 1
		}
		names++
		name_id[names] = field[1]
		name_uses[names] = field[2]
		name_meaning[names] = field[3]
	}
}

function trim(s) {
	gsub(/^[ \t]+|[ \t]+$/, "", s)
	return s
}

# Blank lines at the end of a text belong to the layout of the file.
function body(s) {
	sub(/^\n+/, "", s)
	sub(/\n+$/, "", s)
	return s
}

function start_item(kind, label) {
	n = ++count[cmd, kind]
	item = cmd SUBSEP kind SUBSEP n
	labels[item] = label
	texts[item] = ""
}

FILENAME != last_file {
	last_file = FILENAME
	cmd = ""
	item = ""
	is_index = FILENAME ~ /index\.txt$/
	blank = 0
}

{
	sub(/\r$/, "")
	if ($0 ~ /[^\t -~]/)
		fail("only ASCII is allowed in the command table")
}

/^#/ { next }

is_index && /^section: / { section = substr($0, 10); next }
is_index && /^\t/ { order[++commands] = trim($0); sections[trim($0)] = section; next }
is_index && /^[ \t]*$/ { next }
is_index { fail("expected 'section: NAME' or a command behind a tab") }

/^[ \t]*$/ { blank = 1; next }

/^\t/ {
	if (item == "")
		fail("text belongs to no keyword")
	line = substr($0, 2)
	if (line ~ /^@/) {
		key = substr(line, 2)
		value = ""
		if ((i = index(key, " ")) > 0) {
			value = trim(substr(key, i + 1))
			key = substr(key, 1, i - 1)
		}
		if (key !~ /^(type|default|min|max|repeat)$/)
			fail("unknown attribute @" key)
		attr[item, key] = value == "" ? "1" : value
	} else {
		if (blank && texts[item] != "")
			texts[item] = texts[item] "\n"
		texts[item] = texts[item] (texts[item] == "" ? "" : "\n") line
	}
	blank = 0
	next
}

{
	blank = 0
	i = index($0, ":")
	if (i == 0)
		fail("expected 'keyword: value'")
	key = substr($0, 1, i - 1)
	value = trim(substr($0, i + 1))
	if (key == "command") {
		cmd = value
		defined[cmd] = 1
		item = ""
	} else if (cmd == "") {
		fail("the first keyword must be 'command'")
	} else if (key ~ /^(runs|jvm|summary|rest|args)$/) {
		single[cmd, key] = value
		item = ""
	} else if (key == "usage") {
		usage[cmd] = usage[cmd] (usage[cmd] == "" ? "" : "\n") value
		item = ""
	} else if (key == "description") {
		item = cmd SUBSEP "description"
		texts[item] = value
	} else if (key ~ /^(option|argument|example|exit|variable)$/) {
		start_item(key, value)
		if (key == "exit" && (i = index(value, " ")) > 0) {
			labels[item] = substr(value, 1, i - 1)
			texts[item] = trim(substr(value, i + 1))
		}
	} else {
		fail("unknown keyword '" key "'")
	}
}

# Puts the names of names.list that have the use at the place of "@USEs", with what they mean: in brackets, or in columns
function with_names(text, use, column,    d, all, name) {
	if (index(text, "@" use "s") == 0)
		return text
	for (d = 1; d <= names; d++)
		if (index(" " name_uses[d] " ", " " use " ")) {
			name = column ? sprintf("%-26s", name_id[d]) name_meaning[d] : name_id[d] " (" name_meaning[d] ")"
			all = all (all == "" ? "" : column ? "\n  " : "; ") name
		}
	gsub("@" use "s", all, text)
	return text
}

function all_names(text) {
	text = with_names(with_names(with_names(text, "colour"), "group"), "filter")
	return with_names(with_names(with_names(text, "event-metric"), "metric"), "format", 1)
}

function ident(name) {
	gsub(/[^a-zA-Z0-9]/, "_", name)
	return name
}

function items(name, kind,    i, id) {
	printf "static const struct mt_item %s_%ss[] = {\n", ident(name), kind
	for (i = 1; i <= count[name, kind]; i++) {
		id = name SUBSEP kind SUBSEP i
		printf "\t{ %s,\n\t\t%s },\n", quote(labels[id]), quote(body(texts[id]))
	}
	print "\t{ NULL, NULL },\n};\n"
}

# "-o, --output DIR" -> letter, long, arg
function options(name,    i, id, spec, letter, long, arg, p, type, optional) {
	printf "static const struct mt_option %s_options[] = {\n", ident(name)
	for (i = 1; i <= count[name, "option"]; i++) {
		id = name SUBSEP "option" SUBSEP i
		spec = labels[id]
		letter = "0"
		if (spec ~ /^-[a-zA-Z0-9], /) {
			letter = "'" substr(spec, 2, 1) "'"
			spec = substr(spec, 5)
		}
		if (spec !~ /^--[a-z][a-z0-9-]*( [^ ]+|\[=[^ ]+\])?$/) {
			FILENAME = name ".txt"
			fail("option '" labels[id] "' is not '[-x, ]--long[ VALUE]' or '--long[=VALUE]'")
		}
		spec = substr(spec, 3)
		arg = ""
		optional = "false"
		if ((p = index(spec, "[=")) > 0) {
			arg = substr(spec, p + 2, length(spec) - p - 2)
			spec = substr(spec, 1, p - 1)
			optional = "true"
		} else if ((p = index(spec, " ")) > 0) {
			arg = substr(spec, p + 1)
			spec = substr(spec, 1, p - 1)
		}
		sub(/@backends/, backends, arg)
		type = attr[id, "type"]
		if (type == "")
			type = arg == "" ? "flag" : index(arg, "|") ? "choice" : "text"
		if (type !~ /^(flag|text|path|int|number|duration|size|choice)$/) {
			FILENAME = name ".txt"
			fail("option --" spec ": unknown type " type)
		}
		printf "\t{ %s, %s, %s, MT_%s, %s, %s, %s, %s, %s,\n\t\t%s },\n", quote(spec), letter, or_null(arg), toupper(type),
			or_null(attr[id, "default"]), or_null(attr[id, "min"]), or_null(attr[id, "max"]),
			attr[id, "repeat"] == "" ? "false" : "true", optional, quote(body(all_names(texts[id])))
	}
	print "\t{ .name = NULL },\n};\n"
}

function arrays(name) {
	options(name)
	items(name, "argument")
	items(name, "example")
	items(name, "exit")
	items(name, "variable")
}

function body_of(name,    range, min, max, p, c) {
	range = single[name, "args"]
	min = 0
	max = 0
	if ((p = index(range, "..")) > 0) {
		min = substr(range, 1, p - 1)
		max = substr(range, p + 2)
		if (max == "")
			max = -1
	} else if (range != "") {
		min = max = range
	}
	c = ident(name)
	printf "\t{\n\t.name = %s, .section = %s,\n\t.runs = %s, .jvm_short = %s,\n", quote(name), quote(sections[name]),
		single[name, "runs"] == "java" ? "MT_JAVA" : "MT_NATIVE", single[name, "jvm"] == "short" ? "true" : "false"
	printf "\t.summary = %s,\n\t.usage = %s,\n\t.text = %s,\n", quote(single[name, "summary"]), quote(usage[name]),
		quote(body(all_names(texts[name SUBSEP "description"])))
	printf "\t.min_args = %d, .max_args = %d, .rest = %s,\n", min, max, single[name, "rest"] == "yes" ? "true" : "false"
	printf "\t.foreign = %s,\n", single[name, "rest"] == "all" ? "true" : "false"
	printf "\t.options = %s_options, .arguments = %s_arguments, .examples = %s_examples, .exits = %s_exits, .variables = %s_variables\n\t}", c, c, c, c, c
}

END {
	if (failed)
		exit 1
	print "/* Generated by commands.awk from org.memtrace.cli/commands; do not edit. */"
	print "#include \"cli/table/command.h\"\n\n#include <stddef.h>\n"
	printf "const char mt_version[] = %s;\nconst char mt_build_commit[] = %s;\n\n", quote(version), quote(commit)
	arrays("memtrace")
	for (k = 1; k <= commands; k++) {
		if (!(order[k] in defined)) {
			printf "index.txt names '%s', which has no file\n", order[k] > "/dev/stderr"
			exit 1
		}
		arrays(order[k])
	}
	for (name in defined)
		if (name != "memtrace" && !(name in sections)) {
			printf "%s.txt is not in index.txt\n", name > "/dev/stderr"
			exit 1
		}
	printf "const struct mt_command mt_common =\n"
	body_of("memtrace")
	print ";\n\nconst struct mt_command mt_commands[] = {"
	for (k = 1; k <= commands; k++) {
		body_of(order[k])
		print ","
	}
	print "\t{ .name = NULL },\n};"
}
