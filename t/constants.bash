# SPDX-License-Identifier: ISC
# constants.bash - compare constants with the headers of this machine

# compare FILE.c...: Compile the assertions. Write the lines that do not hold to differs, and the
# constants that the compiler knows to known, after the name of their file.
compare() {
	LC_ALL=C cc -D_GNU_SOURCE -fmax-errors=0 -ftrack-macro-expansion=0 \
		-fno-diagnostics-show-caret -fsyntax-only "$@" >said 2>&1 || :
	: >differs
	: >known
	awk 'FILENAME == "said" {
			split($0, part, ":")
			if (/fatal error/)
				fatal[part[1]] = 1 # the rest was not compiled
			if (/static assertion failed/)
				failed[part[1], part[2]] = 1
			else if (/error:/)
				bad[part[1], part[2]] = 1
			next
		}
		!/^_Static_assert/ { next }
		(FILENAME, FNR) in failed { print >"differs"; next }
		!(FILENAME in fatal) && !((FILENAME, FNR) in bad) {
			split($1, part, /[()]+/)
			print FILENAME, part[3] >"known"
		}' said "$@"
}
