# SPDX-License-Identifier: ISC
# scale.gp - the tables of the part scale as one picture
#	gnuplot -e "dir='build/bench/scale'; kernel='6.1'" scale.gp >scale.svg
# If events were lost, a label at the point gives their percentage.
set terminal svg size 960,720 dynamic enhanced font "sans-serif,13"
set multiplot layout 2,2 title sprintf("Processor time of the reader an event (Linux %s)", kernel) \
	font ",15"
set logscale xy
set grid ytics lw 0.5 lc rgb "#808080"
set border 3
set tics nomirror
set format y "%g"
set ylabel "µs an event"
set yrange [0.02:200]
set key top right samplen 2
set offsets graph 0.12, graph 0.12, 0, 0
set style line 1 lc rgb "#1f83d6" lw 2 pt 7 ps 0.6
set style line 2 lc rgb "#e0701a" lw 2 pt 5 ps 0.6
lost(p) = p > 0 ? sprintf("%.0f%% lost", p) : ""

do for [i = 1:4] {
	file = dir . "/" . word("rate sessions types cpus", i) . ".dat"
	xcolumn = i == 1 ? 2 : 1
	if (i == 1) {
		set xlabel "events a second, made"
		set format x "10^{%T}"
		set xtics auto
	}
	if (i == 2) {
		set xlabel "sessions at once, of 1000 events a second each"
		set format x "%g"
	}
	if (i == 3) {
		set xlabel "kinds of events enabled, the last is all of syscalls"
	}
	if (i == 4) {
		set xlabel "processors that make events at full speed"
		set xtics (1, 2, 4, 8, 16, 32, 64)
	}
	plot file using xcolumn:6 with linespoints ls 2 title "cat trace\\_pipe", \
		"" using xcolumn:6:(lost($7)) with labels offset 0,0.8 font ",10" notitle, \
		"" using xcolumn:4 with linespoints ls 1 title "tfs-catpipe", \
		"" using xcolumn:4:(lost($5)) with labels offset 0,-0.9 font ",10" notitle
}
unset multiplot
