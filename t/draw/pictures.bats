#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# The pictures of tfs-flame and tfs-timeline in a browser: layout, zoom, search, keys
# parts: 2

load ../helper

need_browser() {
	need_tool chromium chromedriver
	/usr/bin/python3 -c 'import selenium' 2>/dev/null || skip "needs python3-selenium"
}

# browse FILE: Do what standard input says, and print what it prints.
browse() {
	HOME=$BATS_TEST_TMPDIR "$TREE/t/browser" "$PWD/$1"
}

# stack COMM FRAME...: Print an event and its stack, the innermost frame first.
stack() {
	printf '%16s-7       [000] ..... 1.000001: e: x=1\n' "$1"
	printf '%16s-7       [000] ..... 1.000002: <stack trace>\n' "$1"
	printf ' => %s\n' "${@:2}"
}

# flame [OPTION...]: Draw 10 stacks: 6 of sh, 4 of ls.
flame() {
	{ stack sh vfs_read ksys_read do_syscall; stack sh vfs_read ksys_read do_syscall
		stack sh vfs_write ksys_write do_syscall; stack sh new_page alloc_page fault
		stack sh alloc_page fault; stack sh fault
		for _ in 1 2 3 4; do stack ls vfs_read ksys_read do_syscall; done; } | tfs-flame "$@"
}

# timeline N [OPTION...]: Draw N threads of processes of four threads, 10 ms in all.
timeline() {
	awk -v n="$1" 'BEGIN {
		print_switch(0, 0, "<idle>", 0, "-------", "R", "task", 1000)
		for (i = 0; i < 4 * n; i++)
			print_switch((i + 1) / (4 * n) * 10000, 0, "task", 1000 + i % n,
				1000 + i % n - i % 4, substr("SRD", i % 3 + 1, 1), "task", 1000 + (i + 1) % n)
	}
	function print_switch(us, cpu, comm, pid, tgid, state, next_comm, next_pid) {
		printf "%16s-%-7d (%7s) [%03d] d..2. 5.%06d: sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=%s next_pid=%d next_prio=120\n", comm, pid, tgid, cpu, us, comm, pid, state, next_comm, next_pid
	}' | tfs-timeline -n "$1" "${@:2}"
}

@test "pictures: a flame graph shows title, legend and labels that nothing covers in windows of three sizes" {
	need_browser
	flame -T 'Reads & writes' >x.svg
	browse x.svg >got <<-'EOF'
		print document.title
		size 480 800
		faults
		print document.querySelector('.t').textContent
		size 800 600
		faults
		print [...document.querySelectorAll('.key')].map(k => k.textContent).join()
		size 1920 1080
		faults
		print document.querySelector('g[data-f] rect').getBoundingClientRect().right < 1920
		print innerWidth - document.querySelector('svg').getBoundingClientRect().width
	EOF
	diff got - <<-'EOF'
		Reads & writes
		none
		Reads & writes
		none
		kernel,comm
		none
		True
		0
	EOF
}

@test "pictures: a click on a frame of a flame graph zooms to it, and Reset zoom shows all again" {
	need_browser
	flame >x.svg
	browse x.svg >got <<-'EOF'
		size 1000 600
		item sh
		print document.querySelector('.detail').textContent
		print [...document.querySelectorAll('g[data-f]')].filter(g => g.style.display !== 'none').map(g => g.querySelector('title').textContent.split(' ')[0] + ' ' + Math.round(g.querySelector('rect').getBoundingClientRect().width)).join()
		print document.querySelectorAll('.up').length
		faults
		hover do_syscall
		print document.querySelector('.detail').textContent
		click .button
		print document.querySelector('.detail').textContent
		print [...document.querySelectorAll('g[data-f]')].filter(g => g.style.display !== 'none').length
		print document.querySelector('.button').style.display
	EOF
	diff got - <<-'EOF'
		Zoom: sh (6 stacks, 60.0%)
		vfs_read 327,ksys_read 327,vfs_write 163,ksys_write 163,do_syscall 490,new_page 163,alloc_page 327,fault 490,sh 980,all 980
		1
		none
		do_syscall (3 stacks, 30.0%)
		10 stacks
		14
		none
	EOF
}

@test "pictures: Ctrl-F searches a flame graph for text and regular expressions, and counts each stack once" {
	need_browser
	flame >x.svg
	browse x.svg >got <<-'EOF'
		keys CONTROL+f
		keys r e a d
		print document.querySelector('.detail').textContent
		print document.querySelectorAll('.hit').length
		shot search.png
		keys ESCAPE
		print document.querySelectorAll('.hit').length
		keys / ^ v f s _ ( r | w )
		print document.querySelector('.detail').textContent
		keys CONTROL+a ^ v f s _ (
		print document.querySelector('.detail').textContent
		keys CONTROL+a V F S
		print document.querySelector('.detail').textContent
		keys ESCAPE
		print document.querySelector('.detail').textContent
	EOF
	diff got - <<-'EOF'
		Matched: 60.0% (4 frames, 6 of 10 stacks)
		4
		0
		Matched: 70.0% (3 frames, 7 of 10 stacks)
		Matched: 0.0% (0 frames, 0 of 10 stacks)
		Matched: 0.0% (0 frames, 0 of 10 stacks)
		10 stacks
	EOF
}

@test "pictures: the keys move from frame to frame, zoom and reset" {
	need_browser
	flame >x.svg
	browse x.svg >got <<-'EOF'
		print (document.querySelector('g[data-f]').focus(), document.querySelector('.detail').textContent)
		keys ARROW_DOWN
		print document.querySelector('.detail').textContent
		keys ARROW_DOWN ARROW_DOWN ARROW_RIGHT
		print document.querySelector('.detail').textContent
		keys ENTER
		print document.activeElement.querySelector('rect').getBoundingClientRect().width === innerWidth - 20
		keys ARROW_UP
		print document.querySelector('.detail').textContent
		keys ESCAPE
		print document.querySelector('.detail').textContent
	EOF
	diff got - <<-'EOF'
		vfs_read (4 stacks, 40.0%)
		ksys_read (4 stacks, 40.0%)
		sh (6 stacks, 60.0%)
		True
		do_syscall (3 stacks, 30.0%)
		10 stacks
	EOF
}

@test "pictures: hostile names stay text in a browser, also in the line that the script writes" {
	need_browser
	# shellcheck disable=SC2016 # an expression of JavaScript
	{ stack '<script>x=1' "</title><script>document.title='bad'</script>" ']]></script><b onclick="x">' "<img src=x onerror=alert(1)>" \
		'&lt;i&gt;' $'\x01\xff' '${1+1}`'; } | tfs-flame -T '<script>document.title="bad"</script>' >x.svg
	browse x.svg >got <<-'EOF'
		print document.title
		print document.querySelectorAll('script').length
		print [...new Set([...document.querySelectorAll('*')].map(e => e.tagName))].sort().join()
		hover <img
		print document.querySelector('.detail').textContent
		print [...document.querySelectorAll('g[data-f] title')].map(t => t.textContent.replace(/ \(1 .*/, '')).join('|')
	EOF
	diff got - <<-'EOF'
		<script>document.title="bad"</script>
		1
		foreignObject,g,input,rect,script,style,svg,text,title
		<img src=x onerror=alert(1)> (1 stack, 100.0%)
		</title><script>document.title='bad'</script>|]]></script><b onclick="x">|<img src=x onerror=alert(1)>|&lt:i&gt:|??|${1+1}`|<script>x=1|all
	EOF
}

@test "pictures: a time line shows legend, ticks and labels that nothing covers in windows of three sizes" {
	need_browser
	timeline 8 -T 'Eight threads' >x.svg
	for size in '480 800' '800 600' '1920 1080'; do
		printf '%s\n' "size $size" faults "print document.querySelectorAll('.key').length" \
			"print [...document.querySelectorAll('.head .axis text')].map(t => t.textContent).join()" \
			"print document.querySelectorAll('.grid path').length === document.querySelectorAll('.head .axis text').length"
	done | browse x.svg >got
	diff got - <<-'EOF'
		none
		4
		0 ms,5 ms,10 ms
		True
		none
		4
		0 ms,2 ms,4 ms,6 ms,8 ms,10 ms
		True
		none
		4
		0.0 ms,0.5 ms,1.0 ms,1.5 ms,2.0 ms,2.5 ms,3.0 ms,3.5 ms,4.0 ms,4.5 ms,5.0 ms,5.5 ms,6.0 ms,6.5 ms,7.0 ms,7.5 ms,8.0 ms,8.5 ms,9.0 ms,9.5 ms,10.0 ms
		True
	EOF
}

@test "pictures: a click or drag on a time line zooms, the axis keeps round times, and Escape shows all again" {
	need_browser
	timeline 8 >x.svg
	browse x.svg >got <<-'EOF'
		size 1036 600
		item cpu 000 at 5 ms
		print [...document.querySelectorAll('.head .axis text')].map(t => t.textContent).join()
		faults
		keys ESCAPE
		print [...document.querySelectorAll('.head .axis text')].map(t => t.textContent).join()
		drag .grid 81
		print [...document.querySelectorAll('.head .axis text')].map(t => t.textContent).pop()
		print document.querySelector('.button').style.display === ''
		keys s s s s s s
		print [...document.querySelectorAll('.head .axis text')].map(t => t.textContent).pop()
		print document.querySelector('.button').style.display
	EOF
	diff got - <<-'EOF'
		4.9 ms,5.0 ms,5.1 ms,5.2 ms,5.3 ms,5.4 ms
		none
		0 ms,1 ms,2 ms,3 ms,4 ms,5 ms,6 ms,7 ms,8 ms,9 ms,10 ms
		6.0 ms
		True
		10 ms
		none
	EOF
}

@test "pictures: arrows of a time line show the longest waits, more of them in a zoom, and name both tasks" {
	need_browser
	# b wakes a 1000 times, after waits of 1 ms, but once after 100 ms
	awk 'BEGIN { for (t = 1; i++ < 1000; t += (i == 100 ? 0.1 : 0.001) + 0.001) {
			printf "%16s-7 [000] d..2. %.6f: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=b next_pid=8 next_prio=120\n", "a", t
			w = t + (i == 99 ? 0.1 : 0.001)
			printf "%16s-8 [000] d..4. %.6f: sched_waking: comm=a pid=7 prio=120 target_cpu=000\n", "b", w
			printf "%16s-8 [000] d..2. %.6f: sched_switch: prev_comm=b prev_pid=8 prev_prio=120 prev_state=R ==> next_comm=a next_pid=7 next_prio=120\n", "b", w + 0.0001
		} }' | tfs-timeline -a >x.svg
	browse x.svg >got <<-'EOF'
		size 1226 600
		print document.querySelectorAll('path.a').length
		print [...document.querySelectorAll('path.a')].filter(a => a.getClientRects().length).map(a => a.textContent).join()
		drag .grid 40
		print [...document.querySelectorAll('path.a')].filter(a => a.getClientRects().length).length
		faults
		keys ESCAPE
		print (document.querySelector('path.a').dispatchEvent(new MouseEvent('mouseover')), document.querySelector('.detail').textContent)
		size 400 600
		faults
	EOF
	diff got - <<-'EOF'
		1000
		b-8 wakes a-7 at 296 ms, after 100 ms
		42
		none
		b-8 wakes a-7 at 296 ms, after 100 ms
		none
	EOF
}

@test "pictures: a time line of a thousand lanes is readable, and its axis and legend stay in the window" {
	need_browser
	timeline 1000 >x.svg
	browse x.svg >got <<-'EOF'
		size 1280 800
		print document.querySelectorAll('.label').length
		faults
		print (scrollTo(0, 12000), 1)
		faults
		print document.querySelector('.t').getBoundingClientRect().top < 30 && document.querySelector('.head .axis text').getBoundingClientRect().top < 100
		keys / t a s k - 1 7 7 7
		print document.querySelector('.detail').textContent
		print (r => r.top > 0 && r.bottom < innerHeight)(document.querySelector('.label.hit').getBoundingClientRect())
		print getComputedStyle(document.querySelector('.label text')).fontSize
	EOF
	diff got - <<-'EOF'
		1250
		none
		1
		none
		True
		Matched: 1 lane, 0 marks
		True
		12px
	EOF
}

@test "pictures: legend, comments and labels fit into a window of 400 pixels, and the whole comment is a tooltip" {
	need_browser
	timeline 70 >x.svg
	{ stack sh vfs_read; echo '# lost 12 events: 12 overwritten, 0 not written because the reader was too slow'; } |
		tfs-flame >y.svg
	for file in x.svg y.svg; do
		browse $file <<-'EOF'
			size 400 700
			faults
			print document.querySelectorAll('svg > text > title').length
		EOF
	done | diff - <(printf '%s\n' none 0 none 1)
}

@test "pictures: dt-join's diagram overlaps nothing, and is dark if the browser prefers that" {
	need_browser
	mark() { # COMM-TID TIME LETTER KEY
		printf '%16s-%-7d [000] ..... %12s: bpf_trace_printk: dt%s 2a %d %s\n' "${1%-*}" "${1##*-}" "$2" "$3" "${1##*-}" "$4"
	}
	{ mark cl-7 5.000000 M 1; mark cl-7 5.000450 R 2; } >a
	{ mark sv-9 15.000100 B 1; mark sv-9 15.000150 M 2; mark sv-9 15.000155 E 1; } >b
	dt-join -s x.svg "a-host-with-a-long-name.example.org=$PWD/a" b=b >/dev/null
	browse x.svg <<-'EOF' >got
		size 900 700
		faults
		print getComputedStyle(document.querySelector('.bg')).fill
		dark
		print getComputedStyle(document.querySelector('.bg')).fill
		print getComputedStyle(document.querySelector('.m path')).stroke
		print getComputedStyle(document.querySelector('.h')).fill
	EOF
	diff got - <<-'EOF'
		none
		rgb(248, 248, 248)
		rgb(22, 24, 28)
		rgb(153, 187, 204)
		rgb(221, 221, 221)
	EOF
}

@test "pictures: are dark if the browser prefers that" {
	need_browser
	flame >f.svg
	timeline 1 >t.svg
	for file in f.svg t.svg; do
		browse $file <<-'EOF'
			print getComputedStyle(document.querySelector('.bg')).fill
			dark
			print getComputedStyle(document.querySelector('.bg')).fill
			print getComputedStyle(document.querySelector('.t')).fill
			print getComputedStyle(document.querySelector('g[data-f] text')).fill
			faults
		EOF
	done >got
	diff got - <<-'EOF'
		rgb(255, 255, 255)
		rgb(22, 24, 28)
		rgb(221, 221, 221)
		rgb(17, 17, 17)
		none
		rgb(255, 255, 255)
		rgb(22, 24, 28)
		rgb(221, 221, 221)
		rgb(17, 17, 17)
		none
	EOF
}
