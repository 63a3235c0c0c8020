# SPDX-License-Identifier: MIT
# banned.awk - over C sources (.c .h .def) and scripts: "FILE CALL" for every banned call, and
# "! COMPLAINT" for lines that are too long and files without an SPDX line. See banned.sh.

BEGIN {
	split("strcpy strcat sprintf vsprintf atoi atol rand srand gets system tmpnam mktemp " \
	      "sleep usleep nanosleep clock_nanosleep", words, " ")
	for (i in words)
		banned[words[i]] = 1
}

# Columns; tabs at the beginning are eight wide.
function width(line) {
	match(line, /^\t*/)
	return 8 * RLENGTH + length(line) - RLENGTH
}

# Without strings and comments, which are no calls.
function code_of(line,    begin, end) {
	gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
	if (comment) {
		end = index(line, "*/")
		if (!end)
			return ""
		comment = 0
		line = substr(line, end + 2)
	}
	while ((begin = index(line, "/*")) > 0) {
		end = index(substr(line, begin + 2), "*/")
		if (!end) {
			comment = 1
			return substr(line, 1, begin - 1)
		}
		line = substr(line, 1, begin - 1) " " substr(line, begin + end + 3)
	}
	sub(/\/\/.*/, "", line)
	return line
}

function c_calls(line,    call, whole) {
	line = whole = code_of(line)
	while (match(line, /[A-Za-z_][A-Za-z_0-9]*[ \t]*\(/)) {
		call = substr(line, RSTART, RLENGTH)
		line = substr(line, RSTART + RLENGTH)
		sub(/[ \t]*\(/, "", call)
		if (call in banned)
			print FILENAME, call
		else if (call == "time" && line ~ /^(NULL|0)\)/ && whole ~ /rand|seed/)
			print FILENAME, "time(NULL)"
	}
}

FNR == 1 {
	if (FILENAME != ".clang-format" && last != "" && !spdx)
		print "! " last ": no SPDX line"
	last = FILENAME
	spdx = comment = 0
}

FNR <= 3 && /SPDX-License-Identifier: MIT/ { spdx = 1 }

FILENAME ~ /(\.[ch]|^configure|^mk\/.*)$/ && width($0) > 100 {
	print "! " FILENAME ":" FNR ": longer than 100 columns"
}

FILENAME ~ /\.[ch]$/ { c_calls($0); next }

# A script may nap between two looks at what it waits for, but not hope that a second is enough.
FILENAME !~ /\.def$/ && /^([^#]*(;|&&|\|\||do|then))?[ \t]*sleep +[1-9]/ { print FILENAME, "sleep" }

END {
	if (!spdx)
		print "! " last ": no SPDX line"
}
