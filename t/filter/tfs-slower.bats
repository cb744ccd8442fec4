#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# tfs-slower: passes the calls of function_graph that took at least so long

load ../helper

# Print output of function_graph, with options and without.
text() {
	cat <<-'END'
	# CPU  DURATION                  FUNCTION CALLS
	# |     |   |                     |   |   |   |
	 0)   0.512 us    |  vfs_read();
	 0)               |  vfs_open() {
	 0) + 12.345 us   |    do_dentry_open();
	 0)               |    security_file_open() {
	 0)   0.7 us      |      apparmor_file_open();
	 0) ! 101.5 us    |    }
	 0) ! 156.310 us  |  }
	 1) # 2222.001 us |  vfs_fsync();
	 1)  bash-4711    |  99.999 us   |  vfs_write();
	 1) * 99999.99 us |  } /* vfs_write */
	 0)               |  vfs_rename() {
	 ------------------------------------------
	 0)   bash-4711    =>    ls-4712
	 ------------------------------------------

	 0) ! 777.0 us    |  }
	 ------------------------------------------
	END
}

# bats test_tags=quick
@test "tfs-slower: passes lines of at least so many microseconds, and comment lines" {
	text | tfs-slower 100 >out
	lines_are out "# CPU  DURATION                  FUNCTION CALLS
# |     |   |                     |   |   |   |
 0) ! 101.5 us    |    } /* security_file_open */
 0) ! 156.310 us  |  } /* vfs_open */
 1) # 2222.001 us |  vfs_fsync();
 1) * 99999.99 us |  } /* vfs_write */
 0) ! 777.0 us    |  }"
	[ "$(text | tfs-slower 99 | grep -c vfs_write)" = 2 ]
	[ "$(text | tfs-slower 0 | grep -vc '^#')" = 9 ]
}

@test "tfs-slower: exits 1 if nothing was so slow" {
	text >in
	status=0
	tfs-slower 100000 <in >out || status=$?
	[ "$status" = 1 ]
	file_has 2 out
	status=0
	tfs-slower 0 </dev/null >out 2>&1 || status=$?
	[ "$status" = 1 ]
	file_is out 'tfs-slower: no call of function_graph took that long'
}

@test "tfs-slower: leaves out lines without a duration, of any length and bytes" {
	printf ' us |\n us |\n|||||\n 9 us\nus |\n 5 us|\n 1.2.3 us |\n 99999999999999999999999 us |\n' >in
	{
		printf x
		head -c 300000 /dev/urandom | tr -d '\n|'
		printf '\0 7 us |\n'
	} >>in
	tfs-slower 5 <in >out
	lines_are out " 5 us|
 99999999999999999999999 us |
# not understood 2 lines: 2 without task, CPU and time in front; the first is line 4"
}

@test "tfs-slower: names no function after lost events, and reports the loss" {
	printf '%s\n' ' 0)               |  foo() {' 'CPU:0 [LOST 3 EVENTS]' \
		' 0) ! 200.000 us  |  }' >in
	tfs-slower 100 <in >out
	lines_are out "CPU:0 [LOST 3 EVENTS]
 0) ! 200.000 us  |  }"
}

@test "tfs-slower: reads the graph of trace-cmd report, and counts the lines that are no calls" {
	cat >trace <<-'EOF'
		cpus=2
		            init-1     [001]     1.000002: funcgraph_entry:                   |  f1() {
		            init-1     [000]     1.000002: funcgraph_entry:                   |  f2() {
		            init-1     [001]     1.000003: funcgraph_exit:       ! 1000.000 us |  }
		            init-1     [000]     1.000003: funcgraph_entry:        1.500 us   |    f3();
		            init-1     [000]     1.000004: other:                n=3
		            init-1     [000]     1.000008: funcgraph_exit:       # 1000.001 us |  }
		what is this
	EOF
	run -0 --separate-stderr from trace tfs-slower 1000
	[ "$output" = '            init-1     [001]     1.000003: funcgraph_exit:       ! 1000.000 us |  } /* f1 */
            init-1     [000]     1.000008: funcgraph_exit:       # 1000.001 us |  } /* f2 */
# not understood 1 line: 1 without task, CPU and time in front; the first is line 8' ]
	[ -z "$stderr" ]
}
