/* SPDX-License-Identifier: ISC */
/*
 * kernel.h - constants of the kernel that libc does not have
 *
 * musl has no headers of Linux, so their constants are typed here, with K_ before the kernel's
 * name; structures have k_. t/suite/kernel-constants.bats compares each with the machine's headers
 * that the comment of its section names. If a comment ends the line of a constant, it compares the
 * constant with that expression. The kernel does not export the constants of the last section.
 */
#ifndef KERNEL_H
#define KERNEL_H

#include <stdint.h>

/* linux/magic.h */
#define K_CGROUP2_SUPER_MAGIC 0x63677270
#define K_TRACEFS_MAGIC 0x74726163
#define K_DEBUGFS_MAGIC 0x64626720
#define K_BPF_FS_MAGIC 0xcafe4a11
#define K_PIPEFS_MAGIC 0x50495045
#define K_SOCKFS_MAGIC 0x534f434b
#define K_NSFS_MAGIC 0x6e736673
#define K_PIDFS_MAGIC 0x50494446 /* PID_FS_MAGIC */
#define K_ANON_INODE_FS_MAGIC 0x09041934

/* linux/fs.h */
enum { K_RENAME_NOREPLACE = 1 };

/* linux/blktrace_api.h linux/fs.h linux/nsfs.h */
struct k_blk_user_trace_setup {
	char name[32];          /* filled in by the kernel */
	uint16_t act_mask;
	uint32_t buf_size, buf_nr;
	uint64_t start_lba, end_lba;
	uint32_t pid;
};
#define K_NS_GET_PARENT _IO(0xb7, 2)
#define K_NS_GET_OWNER_UID _IO(0xb7, 4)

#define K_BLKTRACESETUP _IOWR(0x12, 115, struct k_blk_user_trace_setup)
#define K_BLKTRACESTART _IO(0x12, 116)
#define K_BLKTRACESTOP _IO(0x12, 117)
#define K_BLKTRACETEARDOWN _IO(0x12, 118)

/* linux/openat2.h asm/unistd.h; the call has the same number on all architectures */
enum {
	K_RESOLVE_NO_MAGICLINKS = 2, K_RESOLVE_NO_SYMLINKS = 4, K_RESOLVE_IN_ROOT = 16,
	K_RESOLVE_CACHED = 32, K_NR_openat2 = 437, /* __NR_openat2 */
};
struct k_open_how {
	uint64_t flags, mode, resolve;
};

/* linux/mount.h */
enum { K_FSOPEN_CLOEXEC = 1, K_FSCONFIG_CMD_CREATE = 6, K_FSMOUNT_CLOEXEC = 1 };

/* linux/close_range.h */
enum { K_CLOSE_RANGE_UNSHARE = 2, K_CLOSE_RANGE_CLOEXEC = 4 };

/* fcntl.h; the bit of O_TMPFILE that is not O_DIRECTORY */
enum { K_O_TMPFILE = 020000000 }; /* O_TMPFILE & ~O_DIRECTORY */

/* linux/fs.h */
enum { K_RENAME_EXCHANGE = 2 };

/* linux/stat.h sys/stat.h */
enum { K_UTIME_NOW = 0x3fffffff, K_UTIME_OMIT = 0x3ffffffe };

/* linux/stat.h linux/fcntl.h; struct statx */
enum { K_STATX_TYPE = 1, K_STATX_INO = 0x100, K_AT_STATX_DONT_SYNC = 0x4000 };
struct k_statx {
	uint64_t before[4], inode, between[12];
	uint32_t major, minor;  /* stx_dev_major, stx_dev_minor */
	uint64_t after[14];
};

/* linux/pidfd.h asm-generic/fcntl.h; since Linux 6.9 */
#define K_PIDFD_THREAD O_EXCL

/* linux/membarrier.h */
enum { K_MEMBARRIER_CMD_GLOBAL = 1 };

/* linux/perf_event.h */
enum {
	K_PERF_FLAG_FD_CLOEXEC = 8, K_PERF_RECORD_LOST = 2, K_PERF_RECORD_COMM = 3,
	K_PERF_RECORD_EXIT = 4, K_PERF_RECORD_FORK = 7, K_PERF_RECORD_MMAP2 = 10,
	K_PERF_RECORD_MISC_COMM_EXEC = 1 << 13,
};

/* linux/capability.h */
#define K_LINUX_CAPABILITY_VERSION_3 0x20080522 /* _LINUX_CAPABILITY_VERSION_3 */
enum {
	K_CAP_DAC_OVERRIDE = 1, K_CAP_DAC_READ_SEARCH = 2, K_CAP_FOWNER = 3, K_CAP_NET_ADMIN = 12,
	K_CAP_SYS_PTRACE = 19, K_CAP_SYS_ADMIN = 21, K_CAP_SYS_NICE = 23, K_CAP_SYS_RESOURCE = 24,
	K_CAP_LEASE = 28, K_CAP_SYSLOG = 34, K_CAP_PERFMON = 38, K_CAP_BPF = 39,
	K_CAP_CHECKPOINT_RESTORE = 40,
};

/* linux/audit.h */
#define K_AUDIT_ARCH_X86_64 0xc000003eu
#define K_AUDIT_ARCH_AARCH64 0xc00000b7u
#define K_AUDIT_ARCH_ARM 0x40000028u
#define K_AUDIT_ARCH_S390X 0x80000016u
#define K_AUDIT_ARCH_PPC64LE 0xc0000015u
#define K_AUDIT_ARCH_RISCV64 0xc00000f3u
#define K_AUDIT_ARCH_MIPS 0x00000008u
#define K_AUDIT_ARCH_MIPSEL 0x40000008u
#define K_AUDIT_ARCH_MIPS64 0x80000008u
#define K_AUDIT_ARCH_MIPSEL64 0xc0000008u

/* linux/filter.h linux/seccomp.h */
enum {
	K_BPF_LD_W_ABS = 0x20, /* BPF_LD | BPF_W | BPF_ABS */
	K_BPF_JMP_JEQ_K = 0x15, /* BPF_JMP | BPF_JEQ | BPF_K */
	K_BPF_JMP_JSET_K = 0x45, /* BPF_JMP | BPF_JSET | BPF_K */
	K_BPF_RET_K = 0x06, /* BPF_RET | BPF_K */
};
#define K_SECCOMP_RET_ALLOW 0x7fff0000u
#define K_SECCOMP_RET_ERRNO 0x00050000u

/* linux/netlink.h */
enum {
	K_NETLINK_ROUTE = 0, K_NETLINK_GENERIC = 16, K_NLMSG_ERROR = 2, K_NLMSG_DONE = 3,
	K_NLM_F_REQUEST = 1, K_NLM_F_ACK = 4, K_NLM_F_EXCL = 0x200, K_NLM_F_CREATE = 0x400,
	K_NLM_F_DUMP = 0x300,
	K_NLA_TYPE_MASK = 0x3fff, /* NLA_TYPE_MASK & 0xffff */
};

/* linux/netlink.h linux/sock_diag.h linux/unix_diag.h */
enum {
	K_NETLINK_SOCK_DIAG = 4, K_SOCK_DIAG_BY_FAMILY = 20, K_UNIX_DIAG_NAME = 0,
	K_UNIX_DIAG_PEER = 2, K_UNIX_DIAG_ICONS = 3, K_UNIX_DIAG_RQLEN = 4,
	K_UDIAG_SHOW_NAME = 1, K_UDIAG_SHOW_PEER = 4, K_UDIAG_SHOW_ICONS = 8,
	K_UDIAG_SHOW_RQLEN = 16,
};

/* linux/genetlink.h linux/taskstats.h linux/acct.h; AGROUP since Linux 5.17 */
enum {
	K_GENL_ID_CTRL = 16, K_CTRL_CMD_GETFAMILY = 3, K_CTRL_ATTR_FAMILY_ID = 1,
	K_CTRL_ATTR_FAMILY_NAME = 2, K_TASKSTATS_CMD_GET = 1,
	K_TASKSTATS_CMD_ATTR_REGISTER_CPUMASK = 3, K_TASKSTATS_TYPE_PID = 1,
	K_TASKSTATS_TYPE_STATS = 3, K_TASKSTATS_TYPE_AGGR_PID = 4,
	K_TASKSTATS_AGGR_TGID = 5, /* TASKSTATS_TYPE_AGGR_TGID */
	K_TASKSTATS_EXITCODE = 4, /* offsetof(struct taskstats, ac_exitcode) */
	K_TASKSTATS_FLAG = 8,     /* offsetof(struct taskstats, ac_flag) */
	K_TASKSTATS_RUNS = 16,    /* offsetof(struct taskstats, cpu_count) */
	K_TASKSTATS_CPU = 72,     /* offsetof(struct taskstats, cpu_run_virtual_total) */
	K_TASKSTATS_UID = 120,    /* offsetof(struct taskstats, ac_uid) */
	K_TASKSTATS_ETIME = 144,  /* offsetof(struct taskstats, ac_etime) */
	K_AGROUP = 0x20,
};

/* linux/rtnetlink.h linux/pkt_sched.h linux/pkt_cls.h linux/if_ether.h */
enum {
	K_RTM_NEWQDISC = 36, K_RTM_DELQDISC = 37, K_RTM_GETQDISC = 38, K_RTM_NEWTFILTER = 44,
	K_RTM_DELTFILTER = 45, K_RTM_GETTFILTER = 46, K_TCA_KIND = 1, K_TCA_OPTIONS = 2,
	K_TCA_BPF_FD = 6, K_TCA_BPF_NAME = 7, K_TCA_BPF_FLAGS = 8, K_TCA_BPF_FLAG_ACT_DIRECT = 1,
	K_ETH_P_ALL = 3,
};
#define K_TC_H_MAJ_MASK 0xffff0000u
#define K_TC_H_CLSACT 0xfffffff1u
#define K_TC_CLSACT_INGRESS 0xfffffff2u /* TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS) */
#define K_TC_CLSACT_EGRESS 0xfffffff3u /* TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS) */

/* linux/bpf.h */
enum {
	K_SKB_LEN = 0, /* offsetof(struct __sk_buff, len) */
	K_SKB_SK = 168, /* offsetof(struct __sk_buff, sk) */
	K_SOCK_STATE = 72, /* offsetof(struct bpf_sock, state) */
	K_TCP_SOCK_RCV_NXT = 16, /* offsetof(struct bpf_tcp_sock, rcv_nxt) */
};

/* linux/sched.h */
#define K_CLONE_INTO_CGROUP 0x200000000 /* of clone3: the caller chooses the new task's cgroup */

/* linux/in.h linux/io_uring.h */
enum { K_IPPROTO_MPTCP = 262, K_IORING_OP_ACCEPT = 13, K_IORING_OP_CONNECT = 16,
       K_IORING_SETUP_SQPOLL = 2, K_IOSQE_FIXED_FILE = 1 };

/* not exported: include/linux/ proc_ns.h, threads.h, fs.h, errno.h, err.h, trace_events.h, net.h */
#define K_PROC_PID_INIT_INO 0xeffffffcu
#define K_PID_MAX_LIMIT (4 * 1024 * 1024)       /* of 64-bit kernels */
enum {
	K_MAX_ERRNO = 4095, K_ERESTARTSYS = 512, K_ERESTART_RESTARTBLOCK = 516,
	K_SOCK_TYPE_MASK = 15,
};

#endif
