// SPDX-License-Identifier: ISC
// names.mjs PACKAGES <LINES - check the names in lines of OTLP's JSON against the registry of
// OpenTelemetry's semantic conventions
//
// Print each attribute whose namespace, up to its first dot, is one of the registry's but whose name
// the registry lacks, and each that it deprecates; then the version of the registry, which is that of
// the package, and how many names the registry knows and the lines have.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const name = "@opentelemetry/semantic-conventions";
const require = createRequire(process.argv[2] + "/");
const conventions = require(name + "/incubating");
const registry = new Set(Object.keys(conventions).filter((k) => k.startsWith("ATTR_"))
	.map((k) => conventions[k]).filter((v) => typeof v === "string"));
const spaces = new Set([...registry].map((n) => n.split(".")[0]));
const used = new Set();

// the namespaces of attributes whose last part is the reader's, such as k8s.pod.label.X, are
// functions in the package
function walk(of) {
	if (Array.isArray(of))
		of.forEach(walk);
	else if (of && typeof of === "object") {
		for (const a of Array.isArray(of.attributes) ? of.attributes : [])
			used.add(a.key);
		Object.values(of).forEach(walk);
	}
}

for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean))
	walk(JSON.parse(line));
const types = readFileSync(require.resolve(name + "/incubating")
	.replace(/index-incubating.*/, "experimental_attributes.d.cts"), "utf8");
const deprecated = new Set([...types.matchAll(
	/@deprecated(?:(?!\*\/)[^])*\*\/\s*declare const (ATTR_\w+)/g)].map((m) => conventions[m[1]]));

for (const key of [...used].sort())
	if (spaces.has(key.split(".")[0]) && !registry.has(key))
		console.log("unknown", key);
	else if (deprecated.has(key))
		console.log("deprecated", key);
console.log("version", JSON.parse(readFileSync(require.resolve(name + "/incubating")
	.replace(/dist.*/, "package.json"), "utf8")).version);
console.log("names", [...used].filter((k) => registry.has(k)).length, "of", used.size);
