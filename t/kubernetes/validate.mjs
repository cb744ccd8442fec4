// SPDX-License-Identifier: ISC
// validate.mjs DIRECTORY MANIFESTS... - check files of manifests without a cluster
//
// DIRECTORY has the packages of package.json. The compiler of TypeScript compares each object
// with the types of kubernetes-models, and so refuses unknown fields and values of a wrong type.
// It takes long to read the types, so give it many files at once.
// The validators of kubernetes-models check required fields and patterns. Exit: 0 and one line
// "KIND/NAME" for each object, or 1 and one line "FILE: ERROR" for each error on standard error.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [dir, ...files] = process.argv.slice(2);
const require = createRequire(join(dir, "package.json"));
const ts = require("typescript");
const { parseAllDocuments } = require("yaml");

const errors = [];
const objects = [];
for (const file of files) {
	const before = objects.length;
	for (const doc of parseAllDocuments(readFileSync(file, "utf8"))) {
		errors.push(...doc.errors.map((e) => `${file}: ${e.message}`));
		const object = doc.toJS();
		if (object)
			objects.push({ file, object });
	}
	if (objects.length === before)
		errors.push(`${file}: no objects`);
}

const name = (o) => `${o.kind}/${o.metadata?.name}`;
const module_of = (o) => `kubernetes-models/${o.apiVersion}/${o.kind}`;

// A source file with one constant for each object; a line of it belongs to one object.
const lines = [];
objects.forEach(({ file, object: o }, i) => {
	try {
		const model = require(module_of(o))[o.kind];
		new model(o).validate();
	} catch (e) {
		errors.push(`${file}: ${name(o)}: ${e.message}`);
	}
	lines.push(`import type { I${o.kind} as T${i} } from "${module_of(o)}"; ` +
		`export const v${i}: T${i} = ${JSON.stringify(o)};`);
});

const source = join(dir, "manifests.ts");
const options = {
	strict: true, noEmit: true, skipLibCheck: true, types: [],
	module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext,
};
const host = ts.createCompilerHost(options);
const { getSourceFile, fileExists } = host;
host.getSourceFile = (path, ...rest) => path === source
	? ts.createSourceFile(path, lines.join("\n"), ts.ScriptTarget.Latest)
	: getSourceFile.call(host, path, ...rest);
host.fileExists = (path) => path === source || fileExists.call(host, path);
const program = ts.createProgram([source], options, host);
for (const d of ts.getPreEmitDiagnostics(program)) {
	const at = d.file?.getLineAndCharacterOfPosition(d.start).line;
	const of = d.file?.fileName === source ? `${objects[at].file}: ${name(objects[at].object)}` : "types";
	// JSON has quotes around keys, which the message repeats
	const text = ts.flattenDiagnosticMessageText(d.messageText, " ").replace(/'"(\w+)"'/g, "'$1'");
	errors.push(`${of}: ${text}`);
}

for (const e of errors)
	console.error(e);
if (errors.length > 0)
	process.exit(1);
for (const { object } of objects)
	console.log(name(object));
