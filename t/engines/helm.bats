#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# deploy/kubernetes: the Helm chart, as Helm itself renders it
# parts: 1

load ../helper
load ../manifests

@test "kubernetes: the Helm chart has the version in the Makefile, and helm finds nothing in it" {
	need_helm
	version=$(sed -n 's/^VERSION = //p' "$TREE/Makefile")
	[ "$(grep -cx "\(appV\|v\)ersion: $version" "$MANIFESTS/Chart.yaml")" = 2 ]
	helm lint --strict "$MANIFESTS" >said 2>&1
	run ! grep -E 'WARNING|ERROR' said
	helm package "$MANIFESTS" >said 2>&1
	tar -tf "tfs-tools-$version.tgz" >names
	[ "$(grep -c '/templates/' names)" = 4 ]
	run ! grep container-tracer names
}

@test "kubernetes: the Helm chart makes the same objects as kustomize, with and without components" {
	local n=0 pairs=()
	need_kubectl
	need_helm
	for profile in standalone unprivileged requests; do
		for components in '' policy logging 'logging names' 'policy logging'; do
			set --
			for component in $components; do
				set -- "$@" --set "$component.enabled=true"
			done
			# shellcheck disable=SC2086 # words
			with_components "$profile" $components >kustomized.yaml
			helm template tfs-tools "$MANIFESTS" -n tfs-tools --set "profile=$profile" "$@" >chart.yaml
			cp kustomized.yaml "kustomized$((++n)).yaml"
			cp chart.yaml "chart$n.yaml"
			pairs+=("kustomized$n.yaml" "chart$n.yaml")
		done
	done
	[ "$n" = 15 ]
	node "$TREE/t/kubernetes/same.mjs" "$PINNED" "${pairs[@]}"
	validate chart{1..15}.yaml >all
	tail -n 6 all >objects
	file_is objects "PriorityClass/tfs-tools
NetworkPolicy/tfs-tools
ConfigMap/tfs-tools-policy
Role/tfs-tools-trace
DaemonSet/tfs-tools
Pod/tfs-tools-test"
	# a difference is seen
	sed -i 's/memory: 256Mi/memory: 129Mi/' chart.yaml
	run -1 node "$TREE/t/kubernetes/same.mjs" "$PINNED" kustomized.yaml chart.yaml
	grep -qF "129Mi" <<<"$output"
}

# rendered TEXT N: Fail unless so many lines of the chart's objects are TEXT.
rendered() {
	[ "$(grep -cx " *-\{0,1\} *$1" chart.yaml)" = "$2" ]
}

@test "kubernetes: the Helm chart's values change the image, the policy, the hook and any field" {
	need_kubectl
	need_helm
	cat >values.yaml <<-'END'
		image: {repository: registry.invalid/tools, tag: "9"}
		arch: arm64
		imagePullSecrets: [{name: key}]
		policy: {enabled: true, text: "sessions 3"}
		logging: {enabled: true, trace: trace_open --all -e 'a b'}
		patch:
		  spec:
		    template:
		      spec:
		        tolerations: [{key: own, operator: Exists}]
		        containers:
		        - name: tfs-tools
		          resources: {limits: {memory: 1Gi}}
		        volumes:
		        - name: run
		          emptyDir: {sizeLimit: 9Gi}
	END
	helm template mine "$MANIFESTS" -n here -f values.yaml >chart.yaml
	validate chart.yaml >objects
	file_is objects "PriorityClass/here-mine
NetworkPolicy/mine
ConfigMap/mine-policy
Role/mine-trace
DaemonSet/mine
Pod/mine-test"
	# what follows is in the DaemonSet; the pod of helm test is made of it
	sed -i '/^kind: Pod$/,$d' chart.yaml
	rendered 'namespace: here' 4
	rendered 'priorityClassName: here-mine' 1
	rendered 'kubernetes.io/arch: arm64' 1
	rendered 'name: mine-policy' 2
	rendered 'app.kubernetes.io/instance: mine' 8
	rendered 'image: registry.invalid/tools:9' 1
	rendered 'name: key' 1
	rendered 'sessions 3' 1
	rendered "value: trace_open --all -e 'a b'" 1
	rendered 'key: own' 1
	rendered 'operator: Exists' 1
	rendered 'memory: 1Gi' 1
	rendered 'memory: 16Mi' 1
	rendered 'ephemeral-storage: 2Gi' 1
	rendered 'sizeLimit: 9Gi' 1
	rendered 'mountPath: /run' 1
}

@test "kubernetes: the Helm chart: two releases of one name make no object of the cluster twice" {
	need_kubectl
	need_helm
	for namespace in one two; do
		helm template mine "$MANIFESTS" -n $namespace >$namespace.yaml
		validate $namespace.yaml | grep '^\(PriorityClass\|Namespace\|Cluster\)' >>objects
	done
	file_is objects "PriorityClass/one-mine
PriorityClass/two-mine"
}

@test "kubernetes: the Helm chart: digest, every architecture, a class that exists, no policy of the network; helm test" {
	local digest
	need_kubectl
	need_helm
	digest=sha256:$(printf 1 | sha256sum | cut -d ' ' -f 1)
	helm template mine "$MANIFESTS" -n here --set image.repository=r.invalid/t --set image.digest="$digest" \
		--set arch= --set priorityClassName=system-node-critical --set networkPolicy.enabled=false \
		--set profile=requests >chart.yaml
	validate chart.yaml >objects
	file_is objects "DaemonSet/mine
Pod/mine-test"
	rendered "image: r.invalid/t@$digest" 2
	rendered 'priorityClassName: system-node-critical' 2
	rendered 'kubernetes.io/os: linux' 2
	run -1 grep kubernetes.io/arch chart.yaml
	# the pod asks once, and has the rights of the others
	helm template mine "$MANIFESTS" -n here -s templates/test.yaml --set profile=requests >pod.yaml
	grep -qx '    helm.sh/hook: test' pod.yaml
	sed -n '/^  - command:/,/^    [^-]/p' pod.yaml | sed -n 's/^    - //p' | paste -sd ' ' >asked
	file_is asked "tfs-run -m distributed --check trace_request"
	run -1 grep -E 'lifecycle|readinessProbe|app.kubernetes.io/name' pod.yaml
	grep -A 5 -x '        add:' pod.yaml | grep -c '^ *- \(BPF\|PERFMON\|NET_ADMIN\)$' >n
	file_is n 3
	grep -qx '  restartPolicy: Never' pod.yaml
	run -1 helm template mine "$MANIFESTS" --set image.digest=latest
	grep -qF 'digest' <<<"$output"
}

@test "kubernetes: the Helm chart refuses a profile that does not exist, and an unknown value" {
	need_helm
	run -1 helm template tfs-tools "$MANIFESTS" --set profile=all
	grep -qF 'profile must be one of the following: "standalone", "unprivileged", "requests"' <<<"$output"
	run -1 helm template tfs-tools "$MANIFESTS" --set policy.enable=true
	grep -qF 'policy: Additional property enable is not allowed' <<<"$output"
}
