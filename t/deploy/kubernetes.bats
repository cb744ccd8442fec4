#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031,SC2153,SC2154 # each test is a process; the helper sets CALLS, run stderr
# deploy/kubernetes: the manifests are rendered, checked, and run by crun as Kubernetes would.
# The runtime gives a container the mounts, variables, capabilities and namespaces of the
# manifest, on an overlay of the image, and directories of mode 0777 as emptyDir.
# parts: 12

load ../helper
load ../containers
load ../net
load ../manifests

# End the containers of the test with everything in them.
undo() {
	local dir status=0
	for dir in crun/*/; do
		[ -d "$dir" ] || continue
		kill_container "$(basename "$dir")"
		runtime delete -f "$(basename "$dir")" || status=1
	done
	net_down || status=1
	return "$status"
}

# render OVERLAY: Write the manifests of an overlay to OVERLAY.yaml. That of container-tracer is
# a component for manifests of others, and policy, logging and names are added to unprivileged.
render() {
	local up
	case $1 in policy | logging | names)
		with_components unprivileged "$1" >"$1.yaml"
		return
		;;
	esac
	if [ "$1" != container-tracer ]; then
		kubectl kustomize "$MANIFESTS/$1" >"$1.yaml"
		return
	fi
	mkdir -p with without
	cp "$TREE/t/kubernetes/container-tracer.yaml" with
	up=$(realpath --relative-to=with "$MANIFESTS/container-tracer")
	printf '%s\n' 'resources: [container-tracer.yaml]' >with/kustomization.yaml
	kubectl kustomize with >without.yaml
	printf '%s\n' "components: [$up]" >>with/kustomization.yaml
	kubectl kustomize with >container-tracer.yaml
}

# need_overlay: Skip unless this machine can run containers as nodes do.
need_overlay() {
	need_tracefs events/syscalls
	need_tool crun unshare
	need_kubectl
	grep -q overlay /proc/filesystems || modprobe overlay 2>/dev/null ||
		skip "needs CONFIG_OVERLAY_FS"
	unpack_image
}

runtime() {
	plain_mounts "${NODE[@]}" crun --root "$BATS_TEST_TMPDIR/crun" --cgroup-manager disabled "$@"
}

# NODE: a command that runs another on the network of a node; empty for this host
NODE=()

# container NAME MANIFEST CONTAINER [COMMAND...]: Run that container of the manifest in the
# background until it ends: its pid is CONTAINER_PID, its output NAME.out and NAME.err, its
# emptyDirs are below volumes/, or VOLUMES for another pod.
container() {
	mkdir -p "$1"/{merged,upper,work}
	node "$TREE/t/kubernetes/oci.mjs" "$PINNED" "$3" "$PWD/$1/merged" "${VOLUMES-$PWD/volumes}" "${@:4}" \
		<"$2" >"$1/config.json"
	# shellcheck disable=SC2016 # the inner shell's parameters
	background plain_mounts sh -c 'mount -t overlay \
		-o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" overlay "$2/merged" && shift 2 &&
		exec "$@"' - "${BASE-$ROOTFS}" "$PWD/$1" "${NODE[@]}" crun --root "$BATS_TEST_TMPDIR/crun" \
		--cgroup-manager disabled run --no-pivot -b "$1" --pid-file "$PWD/$1/pid" "$1" \
		</dev/null >"$1.out" 2>"$1.err"
	CONTAINER_PID=$PID
}

# waits NAME: Does the container's first process wait, as the manifests have it?
waits() {
	[ -s "$1/pid" ] && [ "$(cat "/proc/$(cat "$1/pid")/comm")" = sigwait-run ]
}

# within NAME COMMAND...: Run a command in the container, as kubectl exec does.
within() {
	runtime exec "$@"
}

# pids_of NAME: Print the pids of all processes in the container's mount namespace.
pids_of() {
	local space dir
	space=$(readlink "/proc/$(cat "$1/pid")/ns/mnt") || return 0
	for dir in /proc/[0-9]*; do
		[ "$(readlink "$dir/ns/mnt" 2>/dev/null)" != "$space" ] || echo "${dir#/proc/}"
	done
}

# kill_container NAME: Kill all processes of the container, as a kernel out of memory or a
# kubelet does.
kill_container() {
	local pids
	pids=$(pids_of "$1")
	# shellcheck disable=SC2086 # words
	[ -z "$pids" ] || kill_at_once $pids
}

# records NAME: Does the instance of the session record?
records() {
	[ "$(cat "$TRACEFS/instances/tfs.$1/tracing_on" 2>/dev/null)" = 1 ]
}

# exactly_all FILE: Fail unless the trace has all 5,000 calls of CALLS, and nothing else.
exactly_all() {
	[ "$(grep -c ': sys_getppid()$' "$1")" = 5000 ]
	file_has 5000 "$1"
	[ "$(pids_in "$1")" = "$CALLS" ]
}

# silent FILE: Fail if the managers said more than that this host has no debugfs, where the
# sessions of blktrace would be.
silent() {
	run -1 grep -v '^manager: fatal: no debugfs at /host/sys/kernel/debug: ' "$1"
	[ -z "$output" ]
}

# ---- the manifests -----------------------------------------------------------------------

@test "kubernetes: every overlay is rendered, and its objects have only known fields" {
	need_kubectl
	local overlay overlays=(standalone unprivileged requests logging names policy container-tracer)
	for overlay in "${overlays[@]}"; do
		render "$overlay"
	done
	own=$'Namespace/tfs-tools\nPriorityClass/tfs-tools\nDaemonSet/tfs-tools\nNetworkPolicy/tfs-tools'
	validate "${overlays[@]/%/.yaml}" | sed 's/tfs-policy-.*/tfs-policy/' >objects
	file_is objects "$own
$own
$own
$own
$own
Namespace/tfs-tools
Role/tfs-tools-trace
ConfigMap/tfs-policy
PriorityClass/tfs-tools
DaemonSet/tfs-tools
NetworkPolicy/tfs-tools
Namespace/contrace
DaemonSet/container-tracer-node"
	# each directory is one of these
	[ "$(cd "$MANIFESTS" && echo */)" = "base/ container-tracer/ logging/ names/ policy/ requests/ standalone/ templates/ unprivileged/" ]
}

@test "kubernetes: the check refuses an unknown field, a wrong type, a missing field and an unknown kind" {
	local n=0 change message
	need_kubectl
	render unprivileged
	while IFS='|' read -r change message; do
		n=$((n + 1))
		sed "$change" unprivileged.yaml >$n.yaml
		run ! cmp -s unprivileged.yaml $n.yaml
		echo "^$n.yaml: .*$message" >>wanted
	done <<-'END'
		s/readOnlyRootFilesystem/readOnlyRootFileSystem/|'readOnlyRootFileSystem' does not exist in type 'ISecurityContext'
		s/preStop/prestop/|'prestop' does not exist in type 'ILifecycle'
		s/hostPID: true/hostPID: "true"/|Type 'string' is not assignable to type 'boolean | undefined'
		s/memory: 256Mi/memory: 256 megabytes/|resources/limits/memory
		/^        name: tfs-tools$/d|Property 'name' is missing
		s/kind: DaemonSet/kind: DemonSet/|DemonSet/tfs-tools: Cannot find module
	END
	run -1 --separate-stderr validate {1..6}.yaml unprivileged.yaml
	[ -z "$output" ]
	while read -r message; do
		grep -q -- "$message" <<<"$stderr"
	done <wanted
	[ "$(cut -d : -f 1 <<<"$stderr" | sort -u | wc -l)" = 6 ]
}

@test "kubernetes: the component only adds to container-tracer's DaemonSet" {
	need_kubectl
	render container-tracer
	diff without.yaml container-tracer.yaml >difference || [ $? = 1 ]
	run -1 grep '^<' difference
	grep -q '^>.*TRACER_HOOKS' difference
}

@test "kubernetes: every container has requests, limits, and a preStop unless it is an init container" {
	need_kubectl
	for overlay in standalone unprivileged requests; do
		render "$overlay"
		[ "$(grep -c '^ *\(requests\|limits\):$' "$overlay.yaml")" = 2 ]
		[ "$(grep -c '^ *preStop:$' "$overlay.yaml")" = 1 ]
		[ "$(grep -c '^ *ephemeral-storage: ' "$overlay.yaml")" = 2 ]
		run ! grep -qE '^ *cpu: "?[0-9]+"?$' "$overlay.yaml" # a throttled reader loses events
	done
	render container-tracer
	diff without.yaml container-tracer.yaml >difference || [ $? = 1 ]
	[ "$(grep -c '^> *\(requests\|limits\):$' difference)" = 2 ]
	[ "$(grep -c '^> *preStop:$' difference)" = 1 ]
}

# ---- the containers ----------------------------------------------------------------------

# bats test_tags=long
@test "kubernetes: container-tracer's container gets tools and hooks, and all of 5,000 events" {
	need_overlay
	render container-tracer
	# the init container, which runs again if the node restarts
	for i in 1 2; do
		container "init$i" container-tracer.yaml tfs-tools
		finishes "$CONTAINER_PID" 0
		[ ! -s "init$i.err" ]
	done
	# container-tracer's own image has a shell, and nothing of tfs-tools
	mkdir base
	cp -a "$ROOTFS/." base
	rm -r base/usr
	BASE=$PWD/base
	calls 5000
	# what container-tracer does: --get-all and --clear when it starts, then --run
	# shellcheck disable=SC2016 # the inner shell's parameters
	container tracer container-tracer.yaml container-tracer sh -c 'cd "$TRACER_HOOKS/ftrace" &&
		./manager.tfs --get-all >&2 && ./manager.tfs --clear &&
		exec ./manager.tfs --run trace_syscalls --args "$1"' - \
		"--pid $CALLS --instance $MARK --syscall getppid"
	eventually grep -q . tracer.out
	file_is tracer.out "/var/lib/tfs/run/ftrace/$MARK/trace"
	[ "$(stat -c %a volumes/tfs-run volumes/tfs-run/run/ftrace)" = "777
700" ]
	background "$PROG/caller" "volumes/tfs-run/run/ftrace/$MARK/trace" >got
	reader=$PID
	release
	all_end "$CALLS" "$CONTAINER_PID" "$reader"
	(cd "$TREE/trace-hooks/ftrace/hooks.d" && printf '%s\n' *) | diff - tracer.err
	exactly_all got
}

# bats test_tags=long
@test "kubernetes: the unprivileged container has its four capabilities, and gets all of 5,000 events" {
	need_overlay
	render unprivileged
	container pod unprivileged.yaml tfs-tools
	eventually waits pod
	# PERFMON 38, BPF 39, SYSLOG 34, SYS_PTRACE 19
	grep -qx 'CapEff:	000000c400080000' "/proc/$(cat pod/pid)/status"
	grep -qx 'CapBnd:	000000c400080000' "/proc/$(cat pod/pid)/status"
	grep -qx 'NoNewPrivs:	1' "/proc/$(cat pod/pid)/status"
	[ ! -e /usr/share/containers/seccomp.json ] ||
		grep -qx 'Seccomp:	2' "/proc/$(cat pod/pid)/status"
	# the readiness probe
	[ "$(within pod tfs-run --check trace_event)" = "trace_event: yes" ]
	run -1 within pod touch /file
	[[ $output == *"Read-only file system" ]]
	[ "$(stat -c %a volumes/run)" = 777 ]
	calls 5000
	background within pod tfs-run trace_syscalls --instance "$MARK" -s getppid --pid "$CALLS" \
		>got 2>err
	session=$PID
	eventually records "$MARK"
	release
	all_end "$CALLS" "$session"
	exactly_all got
}

# bats test_tags=long
@test "kubernetes: the capabilities of the unprivileged container give paths, symbols and pid namespaces" {
	need_overlay
	render unprivileged
	container pod unprivileged.yaml tfs-tools
	eventually waits pod
	# BPF and PERFMON
	within pod tfs-run trace_open -- cat /etc/passwd >got 2>err
	[ "$(grep -c '(AT_FDCWD, "/etc/passwd", ' got)" = 1 ]
	# SYSLOG
	within pod tfs-run trace_event -e sched_process_exit --stack -- true >got 2>err
	grep -q '^ => do_syscall_64$' got || [ "$(uname -m)" != x86_64 ]
	run -1 grep '^ => 0x' got
	# SYS_PTRACE: the pid namespace and the open files of any process
	within pod pids-of -n $$ >got 2>err
	grep -qx $$ got
}

# bats test_tags=long
@test "kubernetes: a standalone container that traces all the time writes JSON to its log" {
	need_overlay
	render standalone
	container pod standalone.yaml tfs-tools \
		tfs-run trace_exec --all --json --source syscalls --instance "$MARK"
	eventually records "$MARK"
	cp "$(command -v env)" "$MARK-prog"
	for i in 1 2 3; do
		"./$MARK-prog" >environment
	done
	eventually three_programs
	runtime kill pod TERM
	finishes "$CONTAINER_PID" 0
	three_programs
}

three_programs() {
	grep -F "$MARK-prog" pod.out | grep -F sys_exit_execve >lines || :
	file_has 3 lines
	run -1 grep -v '^{.*}$' lines
}

# bats test_tags=long
@test "kubernetes: the policy of the component limits the sessions in the pod, and the node's journal has them" {
	need_overlay
	need_tool python3
	render policy
	sed -i "s,path: /run/systemd/journal,path: $PWD/journal," policy.yaml
	mkdir journal
	hold python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("journal/dev-log")
print("ready", flush=True)
while True: print(s.recv(4096).decode(), flush=True)'
	container pod policy.yaml tfs-tools
	eventually waits pod
	within pod tfs-run trace_event -e sched_process_exit --instance "$MARK" -- true >got 2>err
	run -1 grep audit err
	eventually file_has 3 ready
	[ "$(grep -c "session=$MARK \(begin\|end\) .*hook=trace_event" ready)" = 2 ]
	run -111 within pod tfs-run trace_event -e sched_process_exit --instance "$MARK" --buffer 300M -- true
	echo "$output"
	[[ $output == *"the policy /etc/tfs/policy allows 256 MiB"* ]]
}

# bats test_tags=long
@test "kubernetes: a logging container writes OTLP to its log, with the name of its node" {
	need_overlay
	render logging
	sed -i "s/value: trace_exec --all/& --source syscalls --instance $MARK/" logging.yaml
	container pod logging.yaml tfs-tools
	eventually records "$MARK"
	cp "$(command -v env)" "$MARK-prog"
	for i in 1 2 3; do
		"./$MARK-prog" >environment
	done
	mapfile -t words < <(pre_stop logging.yaml tfs-tools)
	within pod "${words[@]}" >out 2>&1
	finishes "$CONTAINER_PID" 0
	run -1 grep -v '^{"resourceLogs":\[{"resource":{.*}$' pod.out
	[ "$(LC_ALL=C awk 'length > 16384' pod.out | wc -l)" = 0 ]
	grep -q 'tfs-export -f logs -m 16384$' logging.yaml
	[ "$(grep -o "\"[^\"]*$MARK-prog\"" pod.out | wc -l)" -ge 3 ]
	grep -q '"key":"k8s.node.name","value":{"stringValue":"from-the-cluster"}' pod.out
}

# session_in_pod: Run a session in the unprivileged pod; set $session to its pid.
session_in_pod() {
	need_overlay
	render unprivileged
	container pod unprivileged.yaml tfs-tools
	eventually waits pod
	calls 5000
	background within pod tfs-run trace_syscalls --instance "$MARK" -s getppid --pid "$CALLS" \
		>got 2>err
	session=$PID
	eventually records "$MARK"
}

# Any other session would remove the instance first.
# bats test_tags=long,alone
@test "kubernetes: after SIGKILL of everything in the container, its restart leaves nothing" {
	session_in_pod
	kill_container pod
	finishes "$session" 137
	finishes "$CONTAINER_PID" 137
	# the kernel still records, and the emptyDir has the directory of the session
	records "$MARK"
	[ "$(ls volumes/run/tfs/ftrace)" = "$MARK" ]
	tfs-instance list -s | grep -qx "tfs.$MARK"
	container again unprivileged.yaml tfs-tools
	eventually waits again
	[ ! -e "$TRACEFS/instances/tfs.$MARK" ]
	[ -z "$(ls volumes/run/tfs/ftrace)" ]
	silent again.err
	release "$CALLS"
}

# pre_stop MANIFEST CONTAINER: Print the words of the container's preStop command, one per line.
pre_stop() {
	node -e 'const { createRequire } = require("module");
		const { parseAllDocuments } = createRequire(process.argv[1] + "/package.json")("yaml");
		const set = parseAllDocuments(require("fs").readFileSync(0, "utf8"))
			.map((d) => d.toJS()).find((o) => o.kind === "DaemonSet");
		const [c] = set.spec.template.spec.containers.filter((c) => c.name === process.argv[2]);
		console.log(c.lifecycle.preStop.exec.command.join("\n"));' "$PINNED" "$2" <"$1"
}

# bats test_tags=long
@test "kubernetes: preStop ends a session that runs, and nothing is left" {
	session_in_pod
	mapfile -t words < <(pre_stop unprivileged.yaml tfs-tools)
	[ "${#words[@]}" = 3 ]
	within pod "${words[@]}" >out 2>&1
	silent out
	[ ! -e "$TRACEFS/instances/tfs.$MARK" ]
	[ -z "$(ls volumes/run/tfs/ftrace)" ]
	finishes "$session" 0
	runtime kill pod TERM
	finishes "$CONTAINER_PID" 143
	release "$CALLS"
}

# bats test_tags=long
@test "kubernetes: two pods of requests follow a client's requests to another node, to the call" {
	local calls=syscalls:sys_enter_getpgid
	need_net
	need_bpf
	need_cgroup2
	[ "$(stat -f -c %t /sys/fs/bpf)" = cafe4a11 ] || skip "needs bpffs at /sys/fs/bpf"
	need_overlay
	own_net
	render requests
	net_up
	serve '-m thread' '-m thread'
	client one -i
	NODE=("$PROG/netns" exec "$MARK-dtm")
	container server requests.yaml tfs-tools
	eventually waits server
	# BPF 39, PERFMON 38, NET_ADMIN 12
	grep -qx 'CapEff:	000000c000001000' "/proc/$(cat server/pid)/status"
	background within server tfs-run -m distributed trace_request --instance "$MARK-server" \
		--from "10.$NET.0.0/16" --events "$calls" >got.server 2>err.server
	SERVING=$PID
	NODE=("$PROG/netns" exec "$MARK-dtc")
	VOLUMES=$PWD/others
	container client requests.yaml tfs-tools
	eventually waits client
	background within client tfs-run -m distributed trace_request --instance "$MARK-client" \
		--from "10.$NET.0.0/16" --events "$calls" --pid "${CLIENTS[one]}" >got.client 2>err.client
	asking=$PID
	eventually follows "$MARK-server" "$SERVING"
	eventually follows "$MARK-client" "$asking"
	go one 10
	eventually windows_end 20
	go one 0
	client_ends one
	finishes "$asking" 0
	NODE=("$PROG/netns" exec "$MARK-dtm")
	# shellcheck disable=SC2016 # the inner shell's variable
	within server sh -c 'for manager in /usr/lib/trace-hooks/*/manager; do "$manager" --clear; done' \
		>out 2>&1
	finishes "$SERVING" 0
	silent out
	# Each request has a window in the middle and another in the server after it. All nodes of
	# the test have one kernel, so one session sees both.
	[ "$(grep -c 'mark: dtB ' got.server)" = 20 ]
	[ "$(truths T got.server) $(truths U got.server) $(truths A got.server)" = "40 0 0" ]
	[ -z "$(find "$TRACEFS/instances" /sys/fs/bpf/tfs -maxdepth 1 -name "*$MARK*" 2>/dev/null)" ]
}

# follows SESSION PID: Does the session record? Stop waiting if its process has ended.
follows() {
	[ "$(cat "$TRACEFS/instances/tfs-dt.$1/tracing_on" 2>/dev/null)" = 1 ] || gone "$2"
}

# windows_end N: Has the trace of the server so many ends of windows?
windows_end() {
	[ "$(grep -c 'mark: dtE ' got.server)" = "$1" ] || gone "$SERVING"
}
