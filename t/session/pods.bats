#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016 # words for other shells
# pods: containers by the names of Kubernetes, Docker and podman, from the files of a node

load ../helper

undo() {
	[ -z "${ids-}" ] || pod rm -f -t 0 "${ids[@]}" >/dev/null
	[ -z "${CGROUP-}" ] || find "$CGROUP" -depth -type d -exec rmdir {} +
}

# node: Make a procfs of the test's own. Task 1 has the root of a node.
node() {
	export TRACER_PROCFS_PATH=$PWD/proc
	ROOT=$PWD/proc/1/root
	mkdir -p "$ROOT"
}

# task PID LINE...: Make a task with these lines of /proc/PID/cgroup.
task() {
	local dir=$TRACER_PROCFS_PATH/$1
	mkdir -p "$dir/task/$1"
	printf '%s (prog) S 1 1 1 0 -1 4194304 0 0 0 0 1 2 3 4 20 0 1 0 100 0 0\n' "$1" >"$dir/task/$1/stat"
	printf '%s\n' "${@:2}" >"$dir/cgroup"
}

# say FILE TEXT: Write a file of a runtime below the node's root.
say() {
	mkdir -p "$(dirname "$ROOT$1")"
	printf '%s' "$2" >"$ROOT$1"
}

# logs NAMESPACE POD UID [CONTAINER ID]: Make the directory and the link of the kubelet.
logs() {
	mkdir -p "$ROOT/var/log/pods/$1_$2_$3" "$ROOT/var/log/containers"
	[ $# = 3 ] || ln -sf "/var/log/pods/$1_$2_$3/$4/0.log" "$ROOT/var/log/containers/$2_$1_$4-$5.log"
}

# containerd ID NAMESPACE POD UID [CONTAINER]: A bundle of containerd; without CONTAINER, of the pod itself.
containerd() {
	local kind=sandbox name=
	[ $# = 4 ] || kind=container name=\"io.kubernetes.cri.container-name\":\"$5\",
	say "${RUN-/run}/containerd/io.containerd.runtime.v2.task/k8s.io/$1/config.json" \
		'{"ociVersion":"1.1.0","process":{"user":{"uid":0,"gid":0},"args":["/bin/sh","-c","echo \"}{\""],"env":["A=\\"],"cwd":"/"},"root":{"path":"rootfs"},"mounts":[{"destination":"/proc","type":"proc"}],"annotations":{'"$name"'"io.kubernetes.cri.container-type":"'$kind'","io.kubernetes.cri.image-name":"docker.io/library/nginx:1.27","io.kubernetes.cri.sandbox-id":"'"$(digits 9)"'","io.kubernetes.cri.sandbox-name":"'"$3"'","io.kubernetes.cri.sandbox-namespace":"'"$2"'","io.kubernetes.cri.sandbox-uid":"'"$4"'"},"linux":{"cgroupsPath":"x"}}'
}

# crio ID NAMESPACE POD UID CONTAINER: A bundle of CRI-O, with spaces and with labels as a string.
crio() {
	say "/run/containers/storage/overlay-containers/$1/userdata/config.json" "{
	\"ociVersion\": \"1.0.2-dev\",
	\"process\": {\"args\": [ \"a b\" ], \"env\": []},
	\"annotations\": {
		\"a key with \\\"quotes\\\"\": \"and \\\\ a \\\"value\\\"\",
		\"io.kubernetes.container.name\": \"$5\",
		\"io.kubernetes.cri-o.ContainerType\": \"container\",
		\"io.kubernetes.cri-o.Labels\": \"{\\\"io.kubernetes.pod.name\\\":\\\"other\\\"}\",
		\"io.kubernetes.pod.name\": \"$3\",
		\"io.kubernetes.pod.namespace\": \"$2\",
		\"io.kubernetes.pod.uid\": \"$4\"
	}
}
"
}

# docker ID NAME [NAMESPACE POD UID CONTAINER]: A container of Docker, by cri-dockerd if it has a pod.
docker() {
	local labels=
	[ $# = 2 ] || labels='"io.kubernetes.container.name":"'$6'","io.kubernetes.pod.name":"'$4'","io.kubernetes.pod.namespace":"'$3'","io.kubernetes.pod.uid":"'$5'",'
	say "/var/lib/docker/containers/$1/config.v2.json" \
		'{"StreamConfig":{},"State":{"Running":true,"Pid":17},"ID":"'"$1"'","Args":["-g","daemon off;"],"Config":{"Hostname":"h","Labels":{'"$labels"'"maintainer":"a \"b\" <c@d>"}},"Image":"sha256:1","NetworkSettings":{"Networks":{"bridge":{"Name":"bridge"}}},"Name":"/'"$2"'","Driver":"overlay2"}'"$(printf '\nx')"
}

# digits N: Print the id of container N. uid N: Print the uid of pod N.
digits() {
	printf 'c0ffee%02d%056d' "$1" "$1"
}
uid() {
	printf '0a1b2c%02d-1111-2222-3333-444455556666' "$1"
}

# exported PID ARGUMENT...: Export an event of a task.
exported() {
	printf '{"ts":1.0,"timeUnixNano":"1795559358000000000","cpu":1,"pid":%d,"comm":"t","system":"s","event":"e","fields":{}}\n' "$1" |
		tfs-export -H h -s s "${@:2}"
}

# who PID: Print NAMESPACE/POD/CONTAINER of a task, as tfs-export names them.
who() {
	exported "$1" | jq -r '"\(.namespace // "")/\(.pod_name // "")/\(.container_name // "")"'
}

# attributes PID: Print the attributes of OTLP that name the container of a task.
attributes() {
	exported "$1" -f logs | jq -r '.resourceLogs[0].resource.attributes[] | "\(.key)=\(.value.stringValue)"' |
		grep -E '^(container|k8s)\.' | tr '\n' ' '
}

# all_nodes: Make the nodes' situations; a line of the file table has the pid, the names and what it is.
# $MAKE, or task, makes a task of a pid and the lines of its cgroups.
all_nodes() {
	local pid=100 u v1 n
	: >table
	# at PATH NAMES WHAT: A task of the next pid in a cgroup of version 2 whose id is $N
	at() {
		"${MAKE:-task}" "$((pid + N))" "0::$1"
		printf '%s\t%s\t%s\n' "$((pid + N))" "$2" "$3" >>table
	}
	# at_one PATH NAMES WHAT: The same in hierarchies of version 1
	at_one() {
		"${MAKE:-task}" "$((pid + N))" "12:pids:$1" "11:cpu,cpuacct:$1" "4:memory:$1" "1:name=systemd:$1" 0::/
		printf '%s\t%s\t%s\n' "$((pid + N))" "$2" "$3" >>table
	}
	for N in {1..23}; do
		n=$(digits "$N") u=$(uid "$N")
		v1=${u//-/_}
		case $N in
		1) containerd "$n" shop web-0 "$u" nginx
			at "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod$v1.slice/cri-containerd-$n.scope" shop/web-0/nginx 'containerd, systemd' ;;
		2) containerd "$n" test web-0 "$u" nginx
			at "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod$v1.slice/cri-containerd-$n.scope" test/web-0/nginx 'the same names in another namespace' ;;
		3) containerd "$n" shop db.main-0 "$u" db
			at "/kubepods.slice/kubepods-pod$v1.slice/cri-containerd-$n.scope" shop/db.main-0/db 'guaranteed' ;;
		4) containerd "$n" test db-1 "$u" db
			at "/kubepods/burstable/pod$u/$n" test/db-1/db 'containerd, cgroupfs' ;;
		5) containerd "$n" test db-2 "$u" db
			at_one "/kubepods/besteffort/pod$u/$n" test/db-2/db 'containerd, cgroupfs, version 1' ;;
		6) containerd "$n" test db-3 "$u" db
			at_one "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod$v1.slice/cri-containerd-$n.scope" test/db-3/db 'containerd, systemd, version 1' ;;
		7) containerd "$n" test db-4 "$u" db
			at "/kubepods-burstable-pod$v1.slice:cri-containerd:$n" test/db-4/db 'a kubelet for systemd, containerd for cgroupfs' ;;
		8) containerd "$n" test db-5 "$u" db
			at_one "/system.slice/containerd.service/kubepods-burstable-pod$v1.slice:cri-containerd:$n" test/db-5/db 'the same below the service' ;;
		9) RUN=/run/k3s containerd "$n" kube-system coredns-5d-x2 "$u" coredns
			at "/kubepods/burstable/pod$u/$n" kube-system/coredns-5d-x2/coredns k3s ;;
		10) containerd "$n" shop cart-1 "$u" cart
			at "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod$v1.slice/cri-containerd-$n.scope" shop/cart-1/cart 'a kubelet below kubelet.slice' ;;
		11) containerd "$n" shop cart-1 "$u"
			at "/kubepods/pod$u/$n" shop/cart-1/ 'the container that keeps the namespaces' ;;
		12) u=8b4a5a4c0f2f1e1eb1c2d3e4f5061728
			containerd "$n" kube-system etcd-node1 "$u" etcd
			at "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod$u.slice/cri-containerd-$n.scope" kube-system/etcd-node1/etcd 'a static pod' ;;
		13) crio "$n" shop front-1 "$u" front
			at "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod$v1.slice/crio-$n.scope" shop/front-1/front 'CRI-O, systemd' ;;
		14) crio "$n" shop front-2 "$u" front
			at "/kubepods.slice/kubepods-pod$v1.slice/crio-$n.scope/container" shop/front-2/front 'CRI-O with crun' ;;
		15) crio "$n" shop front-3 "$u" front
			at_one "/kubepods/burstable/pod$u/crio-$n" shop/front-3/front 'CRI-O, cgroupfs, version 1' ;;
		16) crio "$n" shop front-4 "$u" POD
			at_one "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod$v1.slice/crio-$n.scope" shop/front-4/ 'the first container of CRI-O' ;;
		17) docker "$n" "k8s_app_back-1_shop_${u}_0" shop back-1 "$u" app
			at "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod$v1.slice/docker-$n.scope" shop/back-1/app 'Docker by cri-dockerd, systemd' ;;
		18) docker "$n" "k8s_app_back-2_shop_${u}_0" shop back-2 "$u" app
			at_one "/kubepods/burstable/pod$u/$n" shop/back-2/app 'Docker by cri-dockerd, cgroupfs, version 1' ;;
		19) docker "$n" my_db.1
			at "/system.slice/docker-$n.scope" //my_db.1 Docker ;;
		20) docker "$n" other_db
			at_one "/docker/$n" //other_db 'Docker, version 1' ;;
		21) say /var/lib/containers/storage/overlay-containers/containers.json \
			'[{"id":"'"$(digits 90)"'","names":["first"],"metadata":"{\"name\":\"x\"}"},{"id":"'"$n"'","names":["pod_man","second"],"flags":{}}]'
			at "/machine.slice/libpod-$n.scope/container" //pod_man podman ;;
		22) logs shop late-1 "$u" late "$n"
			at "/kubepods/burstable/pod$u/$n" shop/late-1/late 'only the links of the kubelet' ;;
		23) logs shop early-1 "$u"
			at "/kubepods/burstable/pod$u/$n" shop/early-1/ 'only the directory of the kubelet' ;;
		esac
	done
}

@test "pods: the names of 23 containers, as runtimes and the kubelet keep them, are right, and select the right tasks" {
	need_tool jq
	node
	all_nodes
	task 50 0::/init.scope
	task 51 0::/system.slice/ssh.service
	[ "$(wc -l <table)" = 23 ]
	while IFS=$'\t' read -r pid names what; do
		echo "$what: $names"
		[ "$(who "$pid")" = "$names" ]
		run -0 pids-of -k "$names"
		# without a container's name, all of the pod
		[ "$names" != shop/cart-1/ ] && [ "$output" = "$pid" ] || [ "$output" = $'110\n111' ]
		run -0 pids-of -k "$(digits $((pid - 100)) | head -c 12)"
		[ "$output" = "$pid" ]
	done <table
	outputs 0 $'101\n102' pids-of -k /web-0/
	outputs 0 $'101\n102' pids-of -k nginx
	outputs 0 $'104\n105\n106\n107\n108' pids-of -k 'test/db-?/'
	outputs 0 $'101\n104' pids-of -k 'shop/web-?/c0ffee01' -k '/db-1/db'
	run -1 pids-of -k 'shop?web-0/'
	run -1 pids-of -k '0?nginx'
	outputs 0 119 pids-of -k 'my_*'
	[ "$(attributes 101)" = "container.id=$(digits 1) k8s.container.name=nginx k8s.pod.uid=$(uid 1) k8s.pod.name=web-0 k8s.namespace.name=shop " ]
	[ "$(attributes 119)" = "container.id=$(digits 19) container.name=my_db.1 " ]
	run -1 pids-of -k 'shop/db-1/'
	run -1 pids-of -k 'web-'
}

# stays CGROUP WHAT: Fail unless a task in this cgroup has no name.
stays() {
	task 200 "0::$1"
	echo "$2: $(who 200)"
	[ "$(who 200)" = // ]
}

@test "pods: labels that an image chose, wrong files, links and large files name nothing" {
	need_tool jq
	node
	n=$(digits 1) u=$(uid 1)
	of_pod=/kubepods/burstable/pod$u/$n
	file=/run/containers/storage/overlay-containers/$n/userdata/config.json
	docker "$n" '' bank vault-0 "$u" app
	stays "/system.slice/docker-$n.scope" 'labels of a pod outside of a pod'
	stays "/user.slice/kubepods/pod$u/$n" 'a cgroup elsewhere that is called like one of a pod'
	rm -r "$ROOT/var/lib/docker"
	crio "$n" bank vault-0 "$(uid 2)" app
	stays "$of_pod" 'the uid of another pod'
	for text in '{"annotations":{"io.kubernetes.pod.uid":"U","io.kubernetes.pod.name":"a","io.kubernetes.pod.namespace":"b","io.kubernetes.container.name":"c","io.kubernetes.pod.name":"x"}}' \
		'{"annotations":{"io.kubernetes.pod.uid":"U","io.kubernetes.container.name":"c"},"annotations":{"io.kubernetes.container.name":"d"}}' \
		'{"annotations":{"io.kubernetes.pod.uid":"U","io.kubernetes.container.name":"c\u001b[2J"}}' \
		'{"annotations":{"io.kubernetes.pod.uid":"U","io.kubernetes.container.name":"a/b"}}' \
		'{"annotations":{"io.kubernetes.pod.uid":"U","io.kubernetes.container.name":["c"]}}' \
		'{"x":{"annotations":{"io.kubernetes.pod.uid":"U","io.kubernetes.container.name":"c"}}}' \
		'{"x":"\"annotations\":{\"io.kubernetes.pod.uid\":\"U\",\"io.kubernetes.container.name\":\"c\"}' \
		"$(printf '[%.0s' {1..5000})" '{' '' '"' '{"annotations":{"io.kubernetes.pod.uid":"U'; do
		say "$file" "${text//U/$u}"
		stays "$of_pod" "$text"
	done
	good='{"annotations":{"io.kubernetes.pod.uid":"'$u'","io.kubernetes.container.name":"c"},"x":"'
	{ printf '%s' "$good"; head -c 4194304 /dev/zero | tr '\0' y; printf '"}'; } >"$ROOT$file"
	stays "$of_pod" 'more than 4 MiB'
	printf '%s"}' "$good" >"$ROOT/secret"
	ln -sf "$ROOT/secret" "$ROOT$file"
	stays "$of_pod" 'a link'
	rm "$ROOT$file"
	mkfifo "$ROOT$file"
	stays "$of_pod" 'a FIFO'
	rm "$ROOT$file"
	if [ "$(id -u)" = 0 ]; then
		printf '%s"}' "$good" >"$ROOT$file"
		chown 65534 "$ROOT$file"
		stays "$of_pod" "another user's file"
	fi
	# the same file, as it should be
	rm -f "$ROOT$file"
	say "$file" "$good\"}"
	[ "$(who 200)" = //c ]
	# two hierarchies that disagree
	task 200 "4:memory:$of_pod" "0::/kubepods/pod$(uid 2)/$(digits 2)"
	[ "$(who 200)" = // ]
}

# opened FILE: Print how often the program of the trace by strace has opened a file below the root.
opened() {
	grep -c "\"$ROOT$1\"" strace
}

@test "pods: the names of a container are read once for all of its tasks, and 100 ms after no name was found" {
	need_tool jq
	need_tool strace
	node
	n=$(digits 1) u=$(uid 1)
	file=/run/containerd/io.containerd.runtime.v2.task/k8s.io/$n/config.json
	for pid in {100..299}; do
		task "$pid" "0::/kubepods/pod$u/$n/$pid"
	done
	second=1795559358
	events() {
		for pid in {100..299}; do
			printf '{"ts":1.0,"timeUnixNano":"%d000000000","cpu":1,"pid":%d,"comm":"t","system":"s","event":"e","fields":{}}\n' "$second" "$pid"
		done
	}
	containerd "$n" shop web-0 "$u" nginx
	events | strace -f -o strace -e trace=openat tfs-export -H h -s s >out
	[ "$(jq -r '"\(.namespace)/\(.pod_name)/\(.container_name)"' out | sort | uniq -c)" = "    200 shop/web-0/nginx" ]
	[ "$(opened "$file")" = 1 ]
	# the kubelet writes its link after the first event
	rm "$ROOT$file"
	mkfifo in
	strace -f -o strace -e trace=openat tfs-export -H h -s s <in >out &
	PID=$!
	exec 7>in
	events >&7
	eventually grep -q '"pid":299' out
	first=$(opened "$file")
	logs shop web-0 "$u" nginx "$n"
	named() {
		((++second))
		events >&7
		grep -q '"container_name":"nginx"' out
	}
	eventually named
	exec 7>&-
	wait "$PID"
	[ "$first" -lt 200 ]
}

@test "pods: ever more cgroups with ids take a quarter of the time, and what has no name for that is counted" {
	need_tool jq
	node
	say /var/lib/containers/storage/overlay-containers/containers.json \
		"[$(printf '{"id":"%064d","names":["x"],"metadata":"%01000d"},' {1..2000})]"
	for N in {1..4000}; do
		task "$((N + 1000))" "0::/system.slice/some.service/$(printf '%064x' "$N")"
	done
	for N in {1..4000}; do
		printf '{"ts":1.0,"timeUnixNano":"1795559358000000000","cpu":1,"pid":%d,"comm":"t","system":"s","event":"e","fields":{}}\n' $((N + 1000))
	done >events
	run -0 --separate-stderr tfs-export -H h -s s <events
	[[ $stderr =~ ^'tfs-export: '[0-9]+' names of containers were not looked up, because so many containers came'$ ]]
	[ "$(jq -r .container_id <<<"$output" | sort -u | wc -l)" = 4000 ]
}

# ---- sessions --------------------------------------------------------------------------

# live: Make a cgroup of pods, and a manager for which /var/log is a directory of the test.
live() {
	need_root
	need_tool unshare
	need_tracefs events/cgroup/cgroup_attach_task
	need_cgroup
	rmdir "$CGROUP"
	CGROUP=${CGROUP%/*}/kubepods-$MARK
	mkdir "$CGROUP"
	ROOT=$PWD/root
	mkdir -p "$ROOT"/var/log/{pods,containers}
	printf '#!/bin/sh\nexec unshare -m sh -c '\''mount --bind "$0" /var/log && exec "$@"'\'' %s %s "$@"\n' \
		"$ROOT/var/log" "$MANAGER" >manager
	chmod +x manager
	MANAGER=$PWD/manager
	ln -s "$PROG/calls" "$MARK"
}

# pod N NAMESPACE POD CONTAINER: Make the cgroup BELOW of container N, and the files of the kubelet.
pod() {
	BELOW=$CGROUP/pod$(uid "$1")/$(digits "$1")
	mkdir -p "$BELOW"
	logs "$2" "$3" "$(uid "$1")" "$4" "$(digits "$1")"
}

# inside N: A shell enters the cgroup BELOW, and executes a program that makes N calls.
inside() {
	echo | sh -c 'echo $$ >"$1/cgroup.procs"; exec "./$2" "$3" 1 1' sh "$BELOW" "$MARK" "$1" >/dev/null
}

# getppids N: Fail unless the trace has N calls of getppid.
getppids() {
	[ "$(grep -c ': sys_getppid()$' got)" = "$1" ] || { tail got; return 1; }
}

@test "pods: --pod, --namespace and --container take pods that come later, from their first call" {
	live
	local n=0 words count
	while IFS='|' read -r words count; do
		# shellcheck disable=SC2086 # words
		watch trace_syscalls --syscall getppid $words
		for names in 'shop web-0 nginx' 'test web-0 nginx' 'shop web-1 sidecar' 'shop db-0 db'; do
			# shellcheck disable=SC2086 # words
			pod $((++n)) $names
			inside "1$n"
		done
		watch_stop
		echo "$words"
		getppids "$count"
	done <<-END
		--pod web-0 --namespace shop|11
		--pod web-0|$((15 + 16))
		--pod web-* db-0 --namespace shop|$((19 + 111 + 112))
		--namespace shop --container nginx db|$((113 + 116))
		--container sidecar|119
	END
}

@test "pods: a session of a pod takes the tasks of its later containers, and ends with the last one" {
	live
	pod 1 shop web-0 nginx
	calls 10
	first=$CALLS first_go=$GO
	echo "$first" >"$BELOW/cgroup.procs"
	watch trace_syscalls --syscall getppid --pod web-0
	calls 1000
	second=$CALLS second_go=$GO
	pod 2 other web-1 nginx
	echo "$second" >"$BELOW/cgroup.procs"
	calls 100
	pod 3 test web-0 late
	echo "$CALLS" >"$BELOW/cgroup.procs"
	eventually grep -qsx "$CALLS" "$TRACEFS/instances/tfs.$MARK"{,+tasks}/set_event_pid
	for go in "$GO" "$first_go"; do
		echo >"$go"
	done
	watch_end
	getppids 110
	echo >"$second_go"
}

# live_node: Make a manager whose task 1 has $ROOT as the root of a node.
live_node() {
	live
	mkdir -p one proc
	ROOT=$PWD/one/root
	mkdir -p "$ROOT"
	printf '#!/bin/sh\nexport TRACER_PROCFS_PATH=%s/proc\nexec unshare -m sh -c '\''mount --rbind /proc "$0/proc" && mount --bind "$0/one" "$0/proc/1" && exec "$@"'\'' %s %s "$@"\n' \
		"$PWD" "$PWD" "$TREE/trace-hooks/ftrace/manager" >manager
}

# live_task PID LINE...: Make the cgroup of the last line but that of the root, below $CGROUP.
live_task() {
	local path=${2#*:*:}
	mkdir -p "$CGROUP$path"
	printf '%s\n' "$CGROUP$path" >"cgroup$1"
}

# enter_all: Run a program in the cgroup of each row of the table; name it by its true pid there.
# First it leaves cgroups of version 1 that may have an id of their own.
enter_all() {
	awk '$3 == "cgroup" { print $2 "/cgroup.procs" }' /proc/mounts >roots
	while IFS=$'\t' read -r row names _; do
		BELOW=$(cat "cgroup$row")
		echo | sh -c 'echo $$ >pid; while read -r root; do echo $$ >"$root"; done <roots; echo $$ >"$1/cgroup.procs"; exec "./$2" 3 1 1' sh "$BELOW" "$MARK" >/dev/null
		printf '%s %s:%s\n' "$(cat pid)" "$names" "$(digits $((row - 100)))"
	done <table >entered
}

@test "pods: --container-names: a line of text names each of 23 containers before its task's first event" {
	live_node
	MAKE=live_task all_nodes
	watch trace_syscalls --syscall getppid --cgroup "$CGROUP" --container-names
	enter_all
	watch_stop
	sed -n 's/^# container: //p' got >named
	[ "$(wc -l <entered)" = 23 ]
	# the program makes its calls in a child
	diff <(cut -d' ' -f2 named | sort) <(cut -d' ' -f2 entered | sort)
	awk '/^# container: / { named[$3] = 1 }
		/: sys_getppid\(\)$/ { sub(/^.*-/, "", $1); n++; if (!named[$1]) bad++ }
		END { exit bad || n != 69 }' got
}

@test "pods: --container-names: each line of JSON has the names of 23 containers, and so have exports when the tasks have ended" {
	need_tool jq
	live_node
	MAKE=live_task all_nodes
	watch trace_syscalls --syscall getppid --cgroup "$CGROUP" --container-names --json --date
	enter_all
	watch_stop
	cut -d' ' -f2 entered | sort >want
	[ "$(wc -l <want)" = 23 ]
	jq -r 'select(.event == "sys_enter_getppid") | "\(.namespace // "")/\(.pod_name // "")/\(.container_name // ""):\(.container_id)"' got >names
	[ "$(wc -l <names)" = 69 ]
	diff <(sort -u names) want
	grep -v '"lost"' got | "$TREE/t/schema" trace
	# tfs-export has the names from the line: once each, and with -n as well
	tfs-export -n -H h -s s <got >exported
	"$TREE/t/schema" export <exported
	run -1 grep -E '"(container_id|namespace)".*"\1"' exported
	jq -r 'select(.event == "sys_enter_getppid") | "\(.namespace // "")/\(.pod_name // "")/\(.container_name // ""):\(.container_id)"' exported >names
	diff <(sort -u names) want
	# Prometheus: a series for each container; what has no name is known by its id
	tfs-count -M -k namespace -k pod -k container <got | sed -n 's/^tfs_events_total//p' | sort >series
	jq -r 'select(.event) | "{namespace=\"\(.namespace // "-")\",pod=\"\(.pod_name // "-")\",container=\"\(.container_name // .container_id)\"} 3"' got | sort -u | diff series -
	[ "$(wc -l <series)" = 23 ]
	for format in logs spans; do
		tfs-export -n -H h -s s -f "$format" <got |
			jq -r '(.resourceLogs // .resourceSpans)[].resource.attributes | map({(.key): .value.stringValue}) | add | select(."container.id") | "\(."k8s.namespace.name" // "")/\(."k8s.pod.name" // "")/\(."k8s.container.name" // ."container.name" // ""):\(."container.id")"' >names
		[ "$format" = spans ] || diff <(sort -u names) want
	done
}

@test "pods: a hook that cannot wait says that no task is in such a container" {
	live
	pod 1 shop web-0 nginx
	refused 111 "no container that --container, --pod or --namespace names has a task now; give its name or id, or the cgroup with --cgroup" \
		--run trace_syscalls --args '--pod web-0 --namespace shop --output dat'
	refused 111 "no container that --container, --pod or --namespace names has a task now; give its name or id, or the cgroup with --cgroup" \
		--run trace_syscalls --args '--container c0ffee99 --output dat'
}

@test "pods: --container-names is refused where no line names a task" {
	live
	refused 100 "trace_flight: --container-names is not possible; only the stream of a session can look for them" \
		--run trace_flight --args '--all --container-names'
	refused 100 "trace_syscalls: --container-names is not possible with --output dat" \
		--run trace_syscalls --args '--all --container-names --output dat'
}

@test "pods: tfs-run says that no task is in the cgroup, pod or container yet, and waits" {
	live
	local words what
	while IFS='|' read -r words what; do
		# shellcheck disable=SC2086 # words
		run -0 --separate-stderr tfs-run trace_syscalls --syscall getppid $words --time 200ms
		[ "$stderr" = "tfs-run: $what now; the session waits for one" ]
	done <<-END
		--cgroup nosuch|no task is in the cgroup 'nosuch'
		--pod nosuch|no container that --container, --pod or --namespace names has a task
		--container nosuch|no container that --container, --pod or --namespace names has a task
	END
	pod 1 shop web-0 nginx
	calls 1
	echo "$CALLS" >"$BELOW/cgroup.procs"
	run -0 --separate-stderr tfs-run trace_syscalls --syscall getppid --cgroup "$BELOW" --time 200ms
	[ -z "$stderr" ]
}

@test "pods: podman's containers have the names that podman was given" {
	load ../containers
	need_root
	need_tool podman crun gcc jq unshare
	need_cgroup
	node
	mkdir -p rootfs "$ROOT/var/lib/containers/storage/overlay-containers"
	echo 'int pause(void); int main(void) { return pause(); }' |
		gcc -static -o rootfs/wait -x c - || skip "needs a static libc"
	names=(web-1 my_db.2) ids=()
	for name in "${names[@]}"; do
		pod_run -d --name "$name" --rootfs "$PWD/rootfs" /wait >id
		ids+=("$(cat id)")
	done
	# podman makes no cgroup here, because not each host allows that; copy the list to where it is
	cp "$BATS_FILE_TMPDIR"/podman/*/*-containers/containers.json \
		"$ROOT/var/lib/containers/storage/overlay-containers"
	for k in 0 1; do
		pid=$(pod inspect -f '{{.State.Pid}}' "${ids[k]}")
		mkdir "$CGROUP/libpod-${ids[k]}.scope"
		echo "$pid" >"$CGROUP/libpod-${ids[k]}.scope/cgroup.procs"
		task "$pid" "$(grep libpod "/proc/$pid/cgroup")"
		outputs 0 "$pid" pids-of -k "${names[k]}"
		[ "$(who "$pid")" = "//${names[k]}" ]
	done
}
