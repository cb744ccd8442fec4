#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# deploy/engines/waterfall.html: spans of an application and the kernel's side, as a picture in a browser

load ../helper

PAGE=$TREE/deploy/engines/waterfall.html
ROWS='[...document.querySelectorAll("main .row")].map(e => "  ".repeat(e.ariaLevel - 1) + e.firstChild.textContent + " | " + e.lastChild.textContent).join("\n")'
NOTES='[...document.querySelectorAll("p")].map(e => e.textContent).join("\n")'
WIDE='document.documentElement.scrollWidth > document.documentElement.clientWidth'

# page WORDS: Make trace.html of the spans that spans.py prints.
page() {
	need_tool chromium chromedriver python3
	/usr/bin/python3 -c 'import selenium' 2>/dev/null || skip "needs python3-selenium"
	python3 "$TREE/t/prog/spans.py" "$@" >spans.json
	cat "$PAGE" spans.json >trace.html
}

# browse [HASH]: Do what standard input says, and print what it prints.
browse() {
	HOME=$BATS_TEST_TMPDIR "$TREE/t/browser" "$PWD/trace.html${1-}"
}

# bats test_tags=quick
@test "waterfall: calls are below the application's spans, those of one name in a row, with sums and errors" {
	page shop 60
	browse >got <<-EOF
		size 1200 700
		print document.title
		print $NOTES
		print $ROWS
		click .row:nth-child(6) .name
		print document.querySelector('#detail').textContent
		print document.querySelectorAll('main .row').length
		click .row:nth-child(9) .name
		print document.querySelector('#detail').textContent
		keys ARROW_UP ARROW_UP ARROW_UP ARROW_LEFT
		print document.querySelectorAll('main .row').length
		size 400 700
		print $WIDE
	EOF
	diff got - <<-'EOF'
		shop: GET /cart
		Trace 4bf92f3577b34da6a3ce929d0e0e4736, 2026-11-27T14:37:26.910Z, 40.0 ms, 66 spans, 8 errors
		shopstockthe kernel's side
		GET /cart shop on web | 40.0 ms
		  openat | 40.0 us
		  openat, EACCES | 40.0 us
		  POST stock | 28.0 ms
		    POST /stock, timeout stock on db | 26.0 ms
		      fsync ×20, 1 error | 20.0 us in all
		      read ×40, 2 errors | 40.0 us in all
		  futex ×812, 3 errors | 90.0 us in all
		fsync - stock on db, the kernel's side
		20 calls, 1 error, 20.0 us in all, 1.00 us to 1.00 us
		28
		fsync - stock on db, the kernel's side
		from 5.40 ms to 5.40 ms, 1.00 us
		internal, span 000000000000006a, parent 0000000000000003
		service.name = stock
		host.name = db
		8
		False
	EOF
}

@test "waterfall: 5,000 spans have eight rows, and an open row has at most a thousand below it" {
	page shop 5000
	browse >got <<-EOF
		size 400 700
		print document.querySelectorAll('main .row').length
		print document.querySelectorAll('i').length < 2000
		click .row:nth-child(7) .name
		print document.querySelectorAll('main .row').length
		print document.querySelector('.more').textContent
		print $WIDE
	EOF
	diff got - <<-'EOF'
		8
		True
		1008
		2,334 rows more, 116 errors
		False
	EOF
}

@test "waterfall: names are text, and clocks, loops, and spans without end, parent or sense are told" {
	page broken
	browse >got <<-EOF
		print document.querySelectorAll('script').length
		print $NOTES
		print document.querySelectorAll('main .row').length
		print [...document.querySelectorAll('main .row')].filter(e => e.ariaLevel < 3).map(e => e.ariaLevel + e.title.slice(0, 36) + e.lastChild.textContent).join('\\n')
		print document.querySelectorAll('.open').length
		print document.querySelectorAll('option').length
		print (location.hash = '0'.repeat(31) + 'a', document.querySelector('select').value.length)
		print document.querySelector('h1').textContent
	EOF
	diff got - <<-'EOF'
		1
		Trace 4bf92f3577b34da6a3ce929d0e0e4736, 2026-11-27T14:37:26.907Z, 7.00 ms, 507 spans, 0 errors
		<script>document.title="owned"</script></plaintext>\u202egnpb
		Spans on b begin before their parents on a, by up to 3.00 ms: the clocks of the hosts differ.
		1 span without an end: the bar goes on to the end of the trace.
		2 loops of parents: the first span of it is shown without its parent.
		1 parent not in the files: not sampled, not exported, or not ended.
		2 of the lines and spans in the files could not be read.
		1 span came twice; the last one counts.
		508
		1<script>document.title="owned"</scri4.00 ms
		2skewed4.00 ms
		2level 03.00 ms
		2<script>document.title="owned"</scri3.00 ms
		1loop a100 ns
		2loop b100 ns
		1own parent100 ns
		1span 0000000000000009, not in the fi
		2orphan1 ns
		1
		2
		32
		b: another trace
	EOF
}

@test "waterfall: the hash of the address chooses a trace, and a file without spans says what to do" {
	page broken
	browse '#0000000000000000000000000000000a' >got <<-EOF
		print document.title
		print $ROWS
		print document.querySelector('select').value
	EOF
	diff got - <<-'EOF'
		b: another trace
		another trace b | 10 ns
		0000000000000000000000000000000a
	EOF
	cp "$PAGE" trace.html
	echo '{"resourceLogs":[]}' >>trace.html
	browse <<<"print document.body.innerText.trim()" >got
	lines_are got "No span

Put lines of OTLP's JSON after this page: cat waterfall.html spans.json >trace.html. 1 line of another kind."
}
