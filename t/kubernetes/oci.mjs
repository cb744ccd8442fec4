// SPDX-License-Identifier: ISC
// oci.mjs DIRECTORY CONTAINER ROOTFS VOLUMES [COMMAND...] <MANIFESTS - make a config.json
//
// Print the configuration for crun of one container of the only DaemonSet: with the mounts,
// variables, capabilities and namespaces that Kubernetes gives it. An emptyDir is a directory
// below VOLUMES with mode 0777, as Kubernetes makes it. COMMAND replaces that of the manifest.
// DIRECTORY has the packages of package.json.
import { chmodSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [dir, wanted, rootfs, volumes, ...command] = process.argv.slice(2);
const require = createRequire(join(dir, "package.json"));
const { parseAllDocuments } = require("yaml");

const sets = parseAllDocuments(readFileSync(0, "utf8")).map((d) => d.toJS())
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

const source = (name) => {
	const volume = pod.volumes.find((v) => v.name === name);
	if (volume.hostPath)
		return volume.hostPath.path;
	if (!volume.emptyDir)
		throw new Error(`${name}: a volume of another kind`);
	const path = join(volumes, name);
	mkdirSync(path, { recursive: true });
	chmodSync(path, 0o777);
	return path;
};

const namespaces = ["mount", "ipc", "uts", ...(pod.hostPID ? [] : ["pid"]),
	...(pod.hostNetwork ? [] : ["network"])];
console.log(JSON.stringify({
	ociVersion: "1.0.2",
	process: {
		cwd: "/",
		args: command.length > 0 ? command : [...container.command, ...(container.args ?? [])],
		env: ["PATH=/usr/bin:/bin", ...(container.env ?? [])
			.map((e) => `${e.name}=${e.value ?? "from-the-cluster"}`)],
		noNewPrivileges: security.allowPrivilegeEscalation === false,
		capabilities: { bounding: caps, effective: caps, permitted: caps, inheritable: [], ambient: [] },
	},
	root: { path: rootfs, readonly: security.readOnlyRootFilesystem === true },
	mounts: [
		{ destination: "/proc", type: "proc", source: "proc" },
		{ destination: "/dev", type: "tmpfs", source: "tmpfs", options: ["nosuid", "mode=755"] },
		...container.volumeMounts.map((m) => ({
			destination: m.mountPath, type: "bind", source: source(m.name),
			options: ["rbind", m.mountPropagation === "HostToContainer" ? "rslave" : "rprivate",
				m.readOnly ? "ro" : "rw"],
		})),
	],
	linux: { namespaces: namespaces.map((type) => ({ type })) },
}, null, "\t"));
