// SPDX-License-Identifier: ISC
// same.mjs DIRECTORY [KUSTOMIZED CHART]... - compare the objects of kustomize and of the Helm chart
//
// DIRECTORY has the packages of package.json. Helm's labels, the checksum of the policy and the
// Namespace, which helm does not make, are left out. So are the ends of the ConfigMap's name: a hash
// in one, "-policy" after the release's name in the other. Exit: 0, or 1 and the differences on
// standard error.
import assert from "node:assert";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [dir, ...files] = process.argv.slice(2);
const { parseAllDocuments } = createRequire(join(dir, "package.json"))("yaml");

const left_out = ["app.kubernetes.io/instance", "app.kubernetes.io/managed-by", "helm.sh/chart",
	"checksum/policy"];
const without = (key, value) => {
	if (value === null || typeof value !== "object" || Array.isArray(value))
		return typeof value === "string" ? value.replace(/^tfs-(tools-policy|policy-\w+)$/, "policy") : value;
	const kept = Object.entries(value).filter(([k]) => !left_out.includes(k));
	return kept.length || !Object.keys(value).length ? Object.fromEntries(kept.sort()) : undefined;
};
const objects = (file) => parseAllDocuments(readFileSync(file, "utf8")).map((d) => d.toJS())
	.filter((o) => o && o.kind !== "Namespace" && o.kind !== "Pod") // that of helm test
	.map((o) => JSON.parse(JSON.stringify(o, without)))
	.sort((a, b) => a.kind < b.kind ? -1 : 1);

for (let i = 0; i < files.length; i += 2) {
	const [kustomized, chart] = files.slice(i, i + 2).map(objects);
	assert(kustomized.length > 1);
	assert.deepStrictEqual(chart, kustomized);
}
