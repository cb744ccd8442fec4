// SPDX-License-Identifier: ISC
// validate.mjs DIRECTORY <MANIFESTS - check manifests without a cluster
//
// DIRECTORY has the packages of package.json. The compiler of TypeScript compares each object
// with the types of kubernetes-models, and so refuses unknown fields and values of a wrong type.
// The validators of kubernetes-models check required fields and patterns. Exit: 0 and one line
// "KIND/NAME" for each object, or 1 and one line for each error on standard error.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const dir = process.argv[2];
const require = createRequire(join(dir, "package.json"));
const ts = require("typescript");
const { parseAllDocuments } = require("yaml");

const errors = [];
const objects = [];
for (const doc of parseAllDocuments(readFileSync(0, "utf8"))) {
	errors.push(...doc.errors.map((e) => e.message));
	const object = doc.toJS();
	if (object)
		objects.push(object);
}

const name = (o) => `${o.kind}/${o.metadata?.name}`;
const module_of = (o) => `kubernetes-models/${o.apiVersion}/${o.kind}`;

// A source file with one constant for each object; a line of it belongs to one object.
const lines = [];
objects.forEach((o, i) => {
	try {
		const model = require(module_of(o))[o.kind];
		new model(o).validate();
	} catch (e) {
		errors.push(`${name(o)}: ${e.message}`);
	}
	lines.push(`import type { I${o.kind} as T${i} } from "${module_of(o)}"; ` +
		`export const v${i}: T${i} = ${JSON.stringify(o)};`);
});

const file = join(dir, "manifests.ts");
const options = {
	strict: true, noEmit: true, skipLibCheck: true, types: [],
	module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext,
};
const host = ts.createCompilerHost(options);
const { getSourceFile, fileExists } = host;
host.getSourceFile = (path, ...rest) => path === file
	? ts.createSourceFile(path, lines.join("\n"), ts.ScriptTarget.Latest)
	: getSourceFile.call(host, path, ...rest);
host.fileExists = (path) => path === file || fileExists.call(host, path);
const program = ts.createProgram([file], options, host);
for (const d of ts.getPreEmitDiagnostics(program)) {
	const at = d.file?.getLineAndCharacterOfPosition(d.start).line;
	const of = d.file?.fileName === file ? name(objects[at]) : "types";
	// JSON has quotes around keys, which the message repeats
	const text = ts.flattenDiagnosticMessageText(d.messageText, " ").replace(/'"(\w+)"'/g, "'$1'");
	errors.push(`${of}: ${text}`);
}

if (objects.length === 0)
	errors.push("no objects");
for (const e of errors)
	console.error(e);
if (errors.length > 0)
	process.exit(1);
for (const o of objects)
	console.log(name(o));
