#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# trace_files: beside the kernel's audit, which knows a file by its inode, too (auditctl of t/vm/run)
# shellcheck disable=SC2016 # the scripts are of other shells

load ../helper
load ../hooks

# audited PATH SCRIPT: Run SCRIPT while trace_files and audit watch PATH. Fail if audit reports a call
# that trace_files does not.
audited() {
	[ "${TFS_VARIANT-}" = vm ] || skip "needs a guest (make check-vm)"
	need_types
	need_tool auditctl
	auditctl -e 1 >rules
	auditctl -w "$PWD/$1" -p wa -k "$MARK" >>rules
	echo 0 >/proc/sys/kernel/printk_ratelimit
	watch trace_files "--all --json --path $PWD/$1"
	dmesg -c >before
	sh -ec "$2"
	watch_stop
	dmesg >audit
	auditctl -D >>rules
	auditctl -e 0 >>rules
	sed -n "s/.*audit: type=1300.* exit=\(-*[0-9]*\) .* pid=\([0-9]*\) .*key=\"$MARK\".*/\2 \1/p" audit |
		sort >theirs
	sed -n 's/.*"pid":\([0-9]*\),.*"ret":\(-*[0-9]*\).*/\1 \2/p' got | sort >ours
	wc -l theirs
	comm -23 theirs ours | diff /dev/null -
}

@test "trace_files: --path of a file has what auditctl -w has of it" {
	mkdir -p w jail/bin jail/w
	cp "$(command -v busybox)" jail/bin
	echo a >w/f
	audited w/f 'cd w
		echo c >f; echo d >>f; cp f g; cp g f; sed -i s/b/c/ f; chmod 600 f; chown 1:1 f; touch f
		truncate -s 3 f; ln f h; echo e >>h; mv f f2; echo f >>f2; cp g f; mv g f; rm f; echo i >f
		ln -s f s; echo h >>s; ln f h2; unlink h2; tar cf t.tar f; rm f; tar xf t.tar
		cd ..
		unshare -m sh -c "mount --bind w jail/w; : >w/f2; mount --bind w/f w/f2; echo j >w/f2
			chroot jail /bin/busybox sh -c \"echo k >/w/f; chmod 644 /w/f\""
		echo z >/proc/self/root$PWD/w/f'
	[ "$(wc -l <theirs)" -ge 25 ]
}

# Calls that have only a path through a bind mount of the directory are left out of it, see the page.
@test "trace_files: --path of a directory has what auditctl -w has of it" {
	mkdir -p w/d/sub w/e jail/bin jail/w
	cp "$(command -v busybox)" jail/bin
	audited w/d 'cd w
		echo 1 >d/a; mkdir d/m; echo 2 >d/m/b; mv d/m/b d/c; ln d/c d/l; ln d/c out; chmod 600 d/c
		rm d/c; echo 4 >>d/l; mv d/l .; mv l d; rmdir d/m; ln -s x d/s; echo 5 >d/sub/x
		(cd d; echo 6 >y; rm y; chmod 700 .); mv d d2; echo 7 >d2/z; mv d2 d; echo 8 >d/z
		mount --bind d e; echo 9 >e/n; umount e; cd ..
		unshare -m sh -c "mount --bind w jail/w; chroot jail /bin/busybox sh -c \"echo k >/w/d/k\""
		echo z >/proc/self/root$PWD/w/d/zz'
	[ "$(wc -l <theirs)" -ge 20 ]
}
