# SPDX-License-Identifier: MIT
# layers.awk - who includes whom: reads the declaration of mk/layers.mk (see layers.sh), then the
# sources named as arguments. Prints what breaks it; exit status 1 if anything does.

function complain(text) {
	print text
	bad = 1
}

function exists(path,    line, there) {
	if (!(path in known)) {
		there = (getline line <path) >= 0
		if (there)
			close(path)
		known[path] = there
	}
	return known[path]
}

function directory_of(path) {
	sub(/\/[^\/]*$/, "", path)
	return path
}

# a/b/../c is a/c
function normal(path) {
	while (sub(/[^\/]+\/\.\.\//, "", path))
		;
	return path
}

function layer_of(path) {
	do
		path = directory_of(path)
	while (!(path in allowed) && path ~ /\//)
	return path in allowed ? path : ""
}

# Does @path lie in @directory, as far as a layer that may know the directory may see it? Of
# faults/ that is the table of points itself, and not what lies below.
function seen_in(path, directory,    rest) {
	if (index(path, directory "/") != 1)
		return 0
	rest = substr(path, length(directory) + 2)
	return rest !~ /\// || directory != "faults"
}

# A quoted include is searched beside its file and in the directories that its layer may know; where
# it is found must be one of them, however it is spelt.
function check_quoted(file, layer, name,    count, places, i, found) {
	count = split(layer " " allowed[layer], places, " ")
	if (exists(directory_of(file) "/" name))
		found = directory_of(file) "/" name
	for (i = 1; found == "" && i <= count; i++)
		if (exists(places[i] "/" name))
			found = places[i] "/" name
	if (found == "") {
		complain(file ": \"" name "\" is nothing that " layer " may know")
		return
	}
	found = normal(found)
	for (i = 1; i <= count; i++)
		if (seen_in(found, places[i]))
			return
	complain(file ": \"" name "\" is " found ", which " layer " may not know")
}

function check_system(file, name,    i) {
	for (i in allowed)
		if (exists(i "/" name))
			complain(file ": <" name "> is a header of ours: include it in quotes")
	for (i in one)
		if (one[i] == name && index(file, i "/") == 1)
			users[i] = users[i] " " file
}

function check_denied(file, name,    i, rule) {
	sub(/.*\//, "", name)
	for (i = 1; i <= denials; i++) {
		split(denied[i], rule, ":")
		if (index(file, rule[1]) == 1 && name == rule[2])
			complain(file ": may not include " name)
	}
}

FILENAME != last {
	last = FILENAME
	layer = layer_of(FILENAME)
	if (FILENAME != "-" && layer == "")
		complain(FILENAME ": lies in no layer that mk/layers.mk declares")
}

FILENAME == "-" {
	split($0, part, /[ :]+/)
	rest = $0
	sub(/^[^:]*: */, "", rest)
	if (part[1] == "layer")
		allowed[part[2]] = rest
	else if (part[1] == "one")
		one[part[2]] = part[3]
	else if (part[1] == "deny")
		denied[++denials] = part[2] ":" part[3]
	next
}

layer != "" && /^[ \t]*#[ \t]*include[ \t]*["<]/ {
	name = $0
	sub(/^[^"<]*["<]/, "", name)
	sub(/[">].*/, "", name)
	if ($0 ~ /include[ \t]*</)
		check_system(FILENAME, name)
	else
		check_quoted(FILENAME, layer, name)
	check_denied(FILENAME, name)
}

END {
	for (directory in one) {
		count = split(users[directory], files, " ")
		if (count != 1)
			complain(directory ": " count " files include <" one[directory] ">, not one:" \
				users[directory])
	}
	exit bad
}
