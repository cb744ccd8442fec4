// SPDX-License-Identifier: ISC
// oci.mjs DIRECTORY CONTAINER ROOTFS VOLUMES [COMMAND...] <MANIFESTS - make a config.json
//
// Print the configuration for crun of one container of the only DaemonSet: with the mounts,
// variables, capabilities and namespaces that Kubernetes gives it. An emptyDir is a directory
// below VOLUMES with mode 0777, as Kubernetes makes it. COMMAND replaces that of the manifest.
// DIRECTORY has the packages of package.json.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [dir, wanted, rootfs, volumes, ...command] = process.argv.slice(2);
const require = createRequire(join(dir, "package.json"));
const { parseAllDocuments } = require("yaml");

const text = readFileSync(0, "utf8");
const sets = parseAllDocuments(text).map((d) => d.toJS())
	.filter((o) => o?.kind === "DaemonSet");
if (sets.length !== 1)
	throw new Error(`${sets.length} DaemonSets`);
const pod = sets[0].spec.template.spec;
const container = [...(pod.initContainers ?? []), ...pod.containers].find((c) => c.name === wanted);
const security = container.securityContext ?? {};

// all capabilities in the order of their numbers: linux/capability.h
const all = ["CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID",
	"SETUID", "SETPCAP", "LINUX_IMMUTABLE", "NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN",
	"NET_RAW", "IPC_LOCK", "IPC_OWNER", "SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE",
	"SYS_PACCT", "SYS_ADMIN", "SYS_BOOT", "SYS_NICE", "SYS_RESOURCE", "SYS_TIME",
	"SYS_TTY_CONFIG", "MKNOD", "LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP",
	"MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG", "WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ",
	"PERFMON", "BPF", "CHECKPOINT_RESTORE"];
// those that containerd and CRI-O give a container by default
const usual = ["CHOWN", "DAC_OVERRIDE", "FSETID", "FOWNER", "SETGID", "SETUID", "SETPCAP",
	"NET_BIND_SERVICE", "KILL"];
const mine = BigInt("0x" + /CapBnd:\s*(\w+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]);
const { drop = [], add = [] } = security.capabilities ?? {};
const caps = (security.privileged
	? all.filter((c, i) => mine >> BigInt(i) & 1n)
	: [...usual.filter((c) => !drop.includes("ALL") && !drop.includes(c)), ...add])
	.map((c) => `CAP_${c}`);

const objects = parseAllDocuments(text).map((d) => d.toJS());

const source = (name, file) => {
	const volume = pod.volumes.find((v) => v.name === name);
	if (volume.hostPath?.type === "DirectoryOrCreate")
		mkdirSync(volume.hostPath.path, { recursive: true });
	if (volume.hostPath)
		return volume.hostPath.path;
	if (volume.configMap) {
		const map = objects.find((o) => o.kind === "ConfigMap" && o.metadata.name === volume.configMap.name);
		const path = join(volumes, `${name}.${file}`);
		mkdirSync(volumes, { recursive: true });
		writeFileSync(path, map.data[file], { mode: volume.configMap.defaultMode });
		return path;
	}
	if (!volume.emptyDir)
		throw new Error(`${name}: a volume of another kind`);
	const path = join(volumes, name);
	mkdirSync(path, { recursive: true });
	chmodSync(path, 0o777);
	return path;
};

// $(NAME) in commands and values
const value_of = (name) => expand((container.env ?? []).find((e) => e.name === name).value ?? "from-the-cluster");
const expand = (s) => s.replace(/\$\((\w+)\)/g, (_, name) => value_of(name));

// RuntimeDefault: the profile of containers-common, with the two calls that newer runtimes allow
const profile = "/usr/share/containers/seccomp.json";
const arch = { x64: "amd64" }[process.arch] ?? process.arch;
const seccomp = () => {
	const { defaultAction, defaultErrnoRet, syscalls } = JSON.parse(readFileSync(profile, "utf8"));
	const newer = [["bpf", "CAP_BPF"], ["perf_event_open", "CAP_PERFMON"]]
		.map(([name, cap]) => ({ names: [name], action: "SCMP_ACT_ALLOW", includes: { caps: [cap] } }));
	const allowed = new Set(newer.filter((s) => caps.includes(s.includes.caps[0])).map((s) => s.names[0]));
	return { defaultAction, defaultErrnoRet, syscalls: [...newer, ...syscalls]
		.filter(({ includes: i = {}, excludes: e = {} }) =>
			(i.arches ?? [arch]).includes(arch) && !(e.arches ?? []).includes(arch) &&
			(i.caps ?? []).every((c) => caps.includes(c)) &&
			!(e.caps ?? []).some((c) => caps.includes(c)))
		.map(({ names, action, args, errnoRet }) => ({ action, args: args ?? [], errnoRet,
			names: action === "SCMP_ACT_ALLOW" ? names : names.filter((n) => !allowed.has(n)) })) };
};

const namespaces = ["mount", "ipc", "uts", ...(pod.hostPID ? [] : ["pid"]),
	...(pod.hostNetwork ? [] : ["network"])];
console.log(JSON.stringify({
	ociVersion: "1.0.2",
	process: {
		cwd: "/",
		args: command.length > 0 ? command
			: [...container.command, ...(container.args ?? [])].map(expand),
		env: ["PATH=/usr/bin:/bin", ...(container.env ?? [])
			.map((e) => `${e.name}=${expand(e.value ?? "from-the-cluster")}`)],
		noNewPrivileges: security.allowPrivilegeEscalation === false,
		capabilities: { bounding: caps, effective: caps, permitted: caps, inheritable: [], ambient: [] },
	},
	root: { path: rootfs, readonly: security.readOnlyRootFilesystem === true },
	mounts: [
		{ destination: "/proc", type: "proc", source: "proc" },
		{ destination: "/dev", type: "tmpfs", source: "tmpfs", options: ["nosuid", "mode=755"] },
		...container.volumeMounts.map((m) => ({
			destination: m.mountPath, type: "bind", source: source(m.name, m.subPath),
			options: ["rbind", m.mountPropagation === "HostToContainer" ? "rslave" : "rprivate",
				m.readOnly ? "ro" : "rw"],
		})),
	],
	linux: {
		namespaces: namespaces.map((type) => ({ type })),
		...(security.seccompProfile?.type === "RuntimeDefault" && existsSync(profile)
			? { seccomp: seccomp() } : {}),
	},
}, null, "\t"));
