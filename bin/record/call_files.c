/* SPDX-License-Identifier: ISC */
/*
 * call_files.c - the parts of programs that read which files the descriptors of a call are
 *
 * The kernel has the file of a descriptor in the task. A walk from its dentry to the root directory
 * of the task, as d_path() in fs/d_path.c does it, makes a number of the device, the inode, its
 * mode, and the names and mounts on the way: the id of the file. So a file gets another id when it
 * is renamed, moved or removed, or a directory above it is.
 *
 * A CPU keeps the ids whose files it has recorded (struct file_record). If the id of a file is not
 * among them, a second walk copies the names. The record comes before that of the call, which has
 * only the id, as a piece of its memory. Arguments are read at the entry of the call: it may close
 * the descriptor. A result is read at the return.
 *
 * All is read by the offsets that BTF has. Since Linux 6.2 programs can load the kernel's memory
 * (emit_cast); before it, each load is a call. The code for each file is in two functions, which
 * the verifier checks once: in the loop over descriptors it would check them dozens of times, for
 * some tenths of a second.
 */
#include <sys/socket.h>
#include <sys/stat.h>

#include "host/host.h"
#include "call_programs.h"

/*
 * A CPU keeps SLOTS_OF_CPU ids. Before Linux 6.9, a walk has at most LEVELS directories and mounts,
 * and the loop over the descriptors has at most ROUNDS rounds. A file whose names are written takes
 * two rounds, and more if a name changes meanwhile.
 */
enum { SLOTS_OF_CPU = 4096, LEVELS = 64, ROUNDS = 12, NAME_MOST = 256,
       NAME_MASK = 0x1ff };

/* Slots on the stack, below those of SLOTS */
enum { ROUND = -80, LEVEL = -88, TOP = -96, ABOVE = -104, HERE = -112, MOUNT_ABOVE = -120 };

/* Slots of the buffer, in the room of the queue, which is empty by now */
#define FILE_SLOTS(X) \
	X(SOURCE) X(ARG) X(ROOT) X(ROOT_MOUNT) X(FILE_OF) X(DENTRY) X(MOUNT) X(INODE) X(ID) \
	X(FOUND) X(SOCK) X(PEER) X(TYPE) X(SCALAR) X(SIZE) X(WRITES) X(END_OF_WALK)
#define FILE_SLOT_NUMBER(NAME) NUMBER_OF_##NAME,
#define FILE_SLOT_AT(NAME) NAME = QUEUE + 8 * NUMBER_OF_##NAME,
enum { FILE_SLOTS(FILE_SLOT_NUMBER) FILE_SLOTS_ALL };
enum { FILE_SLOTS(FILE_SLOT_AT) };
_Static_assert(FILE_SLOTS_ALL <= 2 * QUEUE_MOST, "there is room for the slots");

/*
 * The record of a file is in the buffer, behind the pieces of memory: the number of bytes of its
 * names, then the record, then the names
 */
enum { USED = MEMORY + MEMORY_MASK + 8, FILE_AT = USED + 8,
       FILE_HEAD = FILE_AT + (int)sizeof(struct ring_head),
       NAMES = FILE_HEAD + (int)sizeof(struct file_record), NAMES_MASK = 0xfff,
       NAMES_FULL = NAMES_MASK - NAME_MASK, FILE_MASK = 0x1fff };
_Static_assert(NAMES + NAMES_MASK + NAME_MASK <= FILE_AT + FILE_MASK &&
	       FILE_AT + FILE_MASK < BUFFER, "there is room for all names");

/* Does a walk write names? */
enum { WRITES_NOTHING, WRITES_NAMES, WRITES_NO_MORE };

/* Where a walk ended */
enum { AT_ROOT, AT_TOP, AT_OWN, TOO_LONG };

#define AT(NAME) (m->files.at[NAME])

/* ---- loads of the kernel's memory ----------------------------------------------------------- */

/* to = the number of this size at from + at. Overwrites R0 to R5. */
static void get(struct bpf_code *c, const struct programs *m, enum bpf_size size, enum bpf_reg to,
		enum bpf_reg from, int at)
{
	if (m->files.cast) {
		emit_load(c, size, to, from, at);
		return;
	}
	emit_address(c, R3, from, at);
	read_kernel(c, size == SIZE_DW ? 8 : size == SIZE_W ? 4 : 2);
	emit_load(c, size, to, FP, SLOT);
}

/* Let the address in the register be that of a structure. Overwrites R0 to R5. */
static void cast(struct bpf_code *c, const struct programs *m, enum bpf_reg reg, uint32_t type)
{
	if (!m->files.cast)
		return;
	emit_mov(c, R1, reg);
	emit_cast(c, m->files.cast, type);
	emit_mov(c, reg, R0);
}

/* to = the address in the slot of the buffer, that of a structure */
static void load_as(struct bpf_code *c, const struct programs *m, enum bpf_reg to, int slot,
		    int type)
{
	load(c, to, slot);
	cast(c, m, to, m->files.types[type]);
}

/* Turn the address in the register into a number. */
static void to_number(struct bpf_code *c, enum bpf_reg reg)
{
	store(c, SCALAR, reg);
	load(c, reg, SCALAR);
}

/* R6 = R6 with R1 mixed into it */
static void mix(struct bpf_code *c)
{
	emit_alu(c, ALU_XOR, R6, R1);
	emit_alu_imm(c, ALU_MUL, R6, 0x2c1b3c6d);
	emit_mov(c, R1, R6);
	emit_alu_imm(c, ALU_RSH, R1, 31);
	emit_alu(c, ALU_XOR, R6, R1);
}

static void load_stack(struct bpf_code *c, enum bpf_reg to, int slot)
{
	emit_load(c, SIZE_DW, to, FP, slot);
}

static void store_stack(struct bpf_code *c, int slot, enum bpf_reg from)
{
	emit_store(c, SIZE_DW, FP, slot, from);
}

/*
 * Count a round of a loop at the slot of the stack, and jump after the last. Before Linux 6.9 the
 * verifier checks each round anew. Overwrites R1.
 */
static void count(struct bpf_code *c, const struct programs *m, int slot, int most, const char *to)
{
	if (m->may_goto) {
		emit_may_goto(c, to);
		return;
	}
	load_stack(c, R1, slot);
	emit_jump_if_imm(c, R1, JGT, most, to);
	emit_alu_imm(c, ALU_ADD, R1, 1);
	store_stack(c, slot, R1);
}

static void begin_count(struct bpf_code *c, const struct programs *m, int slot)
{
	if (m->may_goto)
		return;
	emit_mov_imm(c, R1, 0);
	store_stack(c, slot, R1);
}

/* Begin a function: R7 = the buffer. If it writes a record, set CONTROL, too. */
static void begin_function(struct bpf_code *c, const struct programs *m, const char *name,
			   int writes)
{
	emit_function(c, name);
	emit_scope(c);
	find_buffer(c, m);
	if (writes)
		emit_until_end(c, &m->p->channel, CONTROL);
	emit_jump(c, "begun");
	emit_label(c, "out");
	emit_exit(c, 0);
	emit_label(c, "begun");
	emit_scope_end(c);
}

/* ---- the walk from a file to the root directory ------------------------------------------ */

/* Append the name at R3, of less than SIZE bytes, to the record; jump to full without room. */
static void write_string(struct bpf_code *c, const char *full)
{
	load(c, R1, USED);
	emit_jump_if_imm(c, R1, JGT, NAMES_FULL, full);
	emit_alu_imm(c, ALU_AND, R1, NAMES_MASK);
	emit_alu(c, ALU_ADD, R1, R7);
	emit_alu_imm(c, ALU_ADD, R1, NAMES);
	load(c, R2, SIZE);
	emit_alu_imm(c, ALU_AND, R2, NAME_MASK);
	emit_call(c, FN_PROBE_READ_KERNEL_STR);
	emit_jump_if_imm(c, R0, JSLE, 0, full);
	load(c, R1, USED);
	emit_alu(c, ALU_ADD, R1, R0);
	store(c, USED, R1);
}

/* Append the name of the dentry R8 to the record; jump to full if there is no room. */
static void write_name(struct bpf_code *c, const struct programs *m, const char *full)
{
	set(c, SIZE, NAME_MOST);
	get(c, m, SIZE_DW, R3, R8, AT(D_NAME) + AT(NAME));
	write_string(c, full);
}

/* Append the name of the namespace that DENTRY stands for, as ns_dname() in fs/nsfs.c does. */
static void write_space(struct bpf_code *c, const struct programs *m, const char *full)
{
	const int inode = m->files.ns_of_inode;

	load_as(c, m, R8, inode ? INODE : DENTRY, inode ? TYPE_INODE : TYPE_DENTRY);
	get(c, m, SIZE_DW, R8, R8, inode ? AT(I_PRIVATE) : AT(FSDATA));
	if (inode) {
		cast(c, m, R8, m->files.types[TYPE_SPACE]);
		get(c, m, SIZE_DW, R8, R8, AT(NS_OPS));
	}
	cast(c, m, R8, m->files.types[TYPE_SPACE_OPS]);
	set(c, SIZE, NAME_MOST);
	get(c, m, SIZE_DW, R3, R8, AT(OPS_NAME));
	write_string(c, full);
}

/* R1 = hash and length of the name of the dentry R8 */
static void load_hash(struct bpf_code *c, const struct programs *m)
{
	get(c, m, SIZE_W, R1, R8, AT(D_NAME) + AT(LENGTH));
	if (!m->files.cast)
		emit_mov(c, R9, R1);
	get(c, m, SIZE_W, R2, R8, AT(D_NAME) + AT(HASH));
	if (!m->files.cast)
		emit_mov(c, R1, R9);
	emit_alu_imm(c, ALU_LSH, R1, 32);
	emit_alu(c, ALU_OR, R1, R2);
}

/*
 * Mix the names from DENTRY in MOUNT to the root into R6. If WRITES is WRITES_NAMES, append them to
 * the record, the last one first, until it is full.
 */
static void walk(struct bpf_code *c, const struct programs *m)
{
	emit_scope(c);
	load_as(c, m, R8, DENTRY, TYPE_DENTRY);
	load_as(c, m, R9, MOUNT, TYPE_MOUNT);
	get(c, m, SIZE_DW, R1, R9, AT(MNT) + AT(MNT_ROOT));
	store_stack(c, TOP, R1);
	begin_count(c, m, LEVEL);
	loop_label(c, "level");
	count(c, m, LEVEL, LEVELS, "long");
	load(c, R1, ROOT);
	emit_jump_if(c, R8, JNE, R1, "below_root");
	load(c, R1, ROOT_MOUNT);
	emit_jump_if(c, R9, JEQ, R1, "root");
	emit_label(c, "below_root");
	load_stack(c, R1, TOP);
	emit_jump_if(c, R8, JNE, R1, "in_mount");
	get(c, m, SIZE_DW, R1, R9, AT(MNT_PARENT));
	emit_jump_if(c, R1, JEQ, R9, "top");
	store_stack(c, MOUNT_ABOVE, R1);
	get(c, m, SIZE_DW, R8, R9, AT(MNT_MOUNTPOINT));
	get(c, m, SIZE_W, R1, R9, AT(MNT_ID));
	mix(c);
	load_stack(c, R9, MOUNT_ABOVE);
	get(c, m, SIZE_DW, R1, R9, AT(MNT) + AT(MNT_ROOT));
	store_stack(c, TOP, R1);
	emit_jump(c, "level");
	emit_label(c, "in_mount");
	get(c, m, SIZE_DW, R1, R8, AT(D_PARENT));
	emit_jump_if(c, R1, JEQ, R8, "own");
	store_stack(c, ABOVE, R1);
	store_stack(c, HERE, R9);
	jump_if_slot(c, WRITES, JNE, WRITES_NAMES, "unwritten");
	write_name(c, m, "full");
	emit_jump(c, "unwritten");
	emit_label(c, "full"); /* but the id is made of all names */
	set(c, WRITES, WRITES_NO_MORE);
	emit_label(c, "unwritten");
	load_hash(c, m);
	mix(c);
	load_stack(c, R8, ABOVE);
	load_stack(c, R9, HERE);
	emit_jump(c, "level");
	emit_label(c, "root");
	emit_mov_imm(c, R1, AT_ROOT);
	emit_jump(c, "ended");
	emit_label(c, "top");
	emit_mov_imm(c, R1, AT_TOP);
	emit_jump(c, "ended");
	emit_label(c, "long");
	emit_mov_imm(c, R1, TOO_LONG);
	emit_jump(c, "ended");
	emit_label(c, "own");
	/* inodes of anonymous files are shared, and their names have no hash */
	get(c, m, SIZE_DW, R3, R8, AT(D_NAME) + AT(NAME));
	for (int i = 0; i < 2; i++) {
		if (i)
			emit_alu_imm(c, ALU_ADD, R3, 8);
		read_kernel(c, 8);
		emit_load(c, SIZE_DW, R1, FP, SLOT);
		mix(c);
		if (!i)
			get(c, m, SIZE_DW, R3, R8, AT(D_NAME) + AT(NAME));
	}
	emit_mov_imm(c, R1, AT_OWN);
	emit_label(c, "ended");
	store(c, END_OF_WALK, R1);
	load(c, R1, END_OF_WALK);
	mix(c);
	emit_scope_end(c);
}

#define set_file(c, member, from) \
	emit_store(c, BPF_SIZE_OF(file_record, member), R7, \
		   FILE_HEAD + (int)offsetof(struct file_record, member), from)

/*
 * Walk from the file to the root of its file system: mix the names into R6, or append them to the
 * record, after those of its path.
 */
static void walk_inside(struct bpf_code *c, const struct programs *m, int writes)
{
	emit_scope(c);
	load_as(c, m, R8, DENTRY, TYPE_DENTRY);
	begin_count(c, m, LEVEL);
	loop_label(c, "level");
	count(c, m, LEVEL, LEVELS, "cut");
	get(c, m, SIZE_DW, R1, R8, AT(D_PARENT));
	emit_jump_if(c, R1, JEQ, R8, "own");
	store_stack(c, ABOVE, R1);
	if (writes) {
		write_name(c, m, "cut");
	} else {
		load_hash(c, m);
		mix(c);
	}
	load_stack(c, R8, ABOVE);
	emit_jump(c, "level");
	emit_label(c, "own");
	if (writes) {
		emit_load(c, SIZE_H, R1, R7, FILE_HEAD + (int)offsetof(struct file_record, flags));
		emit_alu_imm(c, ALU_OR, R1, FILE_INSIDE);
		set_file(c, flags, R1);
	}
	emit_label(c, "cut");
	emit_scope_end(c);
}

/* ---- the addresses of a socket -------------------------------------------------------------- */

#define SOCKET_AT(NAME) (m->files.socket[NAME])

static int knows_sockets(const struct programs *m)
{
	for (int i = 0; i < SOCKET_MEMBERS_ALL; i++)
		if (SOCKET_AT(i) < 0)
			return 0;
	return 1;
}

/* to = 8 bytes of an address of IPv6 of the sock R8. Overwrites R0 to R5. */
static void load_address6(struct bpf_code *c, enum bpf_reg to, int at)
{
	emit_address(c, R3, R8, at);
	read_kernel(c, 8);
	emit_load(c, SIZE_DW, to, FP, SLOT);
}

/* R1 = the own port of the sock R8, also after its connection has ended. Overwrites R0 to R5. */
static void load_port(struct bpf_code *c, const struct programs *m)
{
	emit_address(c, R3, R8, SOCKET_AT(PORT_HERE));
	read_kernel(c, 2);
	emit_load(c, SIZE_H, R1, FP, SLOT);
	emit_from_be(c, R1, 16);
}

/*
 * Set SOCK to the sock of the file FILE_OF with the inode in R9, or to 0, and PEER to that of a
 * Unix socket's peer. Mix its addresses into R6.
 */
static void find_socket(struct bpf_code *c, const struct programs *m)
{
	emit_scope(c);
	set(c, SOCK, 0);
	set(c, PEER, 0);
	get(c, m, SIZE_H, R1, R9, AT(I_MODE));
	emit_alu_imm(c, ALU_AND, R1, S_IFMT);
	emit_jump_if_imm(c, R1, JNE, S_IFSOCK, "none");
	load(c, R8, FILE_OF);
	emit_jump_if_imm(c, R8, JEQ, 0, "none");
	cast(c, m, R8, m->files.types[TYPE_FILE]);
	get(c, m, SIZE_DW, R8, R8, m->steps[PRIVATE]);
	emit_jump_if_imm(c, R8, JEQ, 0, "none"); /* as with O_PATH */
	cast(c, m, R8, m->files.types[TYPE_SOCKET]);
	get(c, m, SIZE_DW, R1, R8, m->steps[BACK]);
	load(c, R2, FILE_OF);
	emit_jump_if(c, R1, JNE, R2, "none");
	get(c, m, SIZE_H, R9, R8, SOCKET_AT(SOCKET_TYPE));
	get(c, m, SIZE_DW, R8, R8, m->steps[SK]);
	emit_jump_if_imm(c, R8, JEQ, 0, "none");
	store(c, SOCK, R8);
	store(c, TYPE, R9);
	cast(c, m, R8, m->files.types[TYPE_UNIX]);
	get(c, m, SIZE_H, R9, R8, m->steps[FAMILY]);
	emit_jump_if_imm(c, R9, JEQ, AF_UNIX, "unix");
	emit_jump_if_imm(c, R9, JEQ, AF_INET6, "inet6");
	emit_jump_if_imm(c, R9, JNE, AF_INET, "none");
	get(c, m, SIZE_W, R1, R8, SOCKET_AT(ADDRESS_HERE));
	mix(c);
	get(c, m, SIZE_W, R1, R8, SOCKET_AT(ADDRESS_THERE));
	mix(c);
	emit_jump(c, "ports");
	emit_label(c, "inet6");
	for (int i = 0; i < 4; i++) {
		load_address6(c, R1, SOCKET_AT(i < 2 ? ADDRESS6_HERE : ADDRESS6_THERE) +
			      i % 2 * 8);
		mix(c);
	}
	emit_label(c, "ports");
	load_port(c, m);
	mix(c);
	get(c, m, SIZE_H, R1, R8, SOCKET_AT(PORT_THERE));
	mix(c);
	emit_jump(c, "none");
	emit_label(c, "unix");
	get(c, m, SIZE_DW, R1, R8, SOCKET_AT(UNIX_ADDRESS));
	to_number(c, R1);
	mix(c);
	get(c, m, SIZE_DW, R1, R8, SOCKET_AT(UNIX_PEER));
	to_number(c, R1);
	store(c, PEER, R1);
	mix(c);
	emit_label(c, "none");
	emit_scope_end(c);
}

/* Append a byte, which is n, to the names. */
static void write_byte(struct bpf_code *c, int n)
{
	load(c, R1, USED);
	emit_address(c, R2, R1, 1);
	store(c, USED, R2);
	emit_alu_imm(c, ALU_AND, R1, NAMES_MASK);
	emit_alu(c, ALU_ADD, R1, R7);
	emit_store_imm(c, SIZE_B, R1, NAMES, n);
}

/* Append the name of the Unix socket at the slot, @NAME for an abstract one. */
static void write_unix(struct bpf_code *c, const struct programs *m, int slot)
{
	emit_scope(c);
	load(c, R8, slot);
	emit_jump_if_imm(c, R8, JEQ, 0, "no_name");
	cast(c, m, R8, m->files.types[TYPE_UNIX]);
	get(c, m, SIZE_DW, R8, R8, SOCKET_AT(UNIX_ADDRESS));
	emit_jump_if_imm(c, R8, JEQ, 0, "no_name");
	to_number(c, R8);
	emit_address(c, R3, R8, SOCKET_AT(UNIX_LENGTH));
	read_kernel(c, 4);
	emit_load(c, SIZE_W, R9, FP, SLOT);
	emit_jump_if_imm(c, R9, JLE, 2, "no_name");
	emit_alu_imm(c, ALU_SUB, R9, 2); /* the family */
	emit_alu_imm(c, ALU_ADD, R8, SOCKET_AT(UNIX_NAME) + 2);
	emit_mov(c, R3, R8);
	read_kernel(c, 1);
	emit_load(c, SIZE_B, R1, FP, SLOT);
	set(c, SIZE, NAME_MOST);
	emit_jump_if_imm(c, R1, JNE, 0, "in_directory");
	store(c, SIZE, R9); /* with a NUL in front in place of behind */
	write_byte(c, '@');
	emit_alu_imm(c, ALU_ADD, R8, 1);
	emit_label(c, "in_directory");
	emit_mov(c, R3, R8);
	write_string(c, "no_name");
	emit_jump(c, "named");
	emit_label(c, "no_name");
	write_byte(c, 0);
	emit_label(c, "named");
	emit_scope_end(c);
}

#define set_socket(c, size, member, from) \
	emit_store(c, size, R7, NAMES + (int)offsetof(struct file_socket, member), from)

/* Write the family, and the addresses as names, of the sock in SOCK to the record. */
static void write_socket(struct bpf_code *c, const struct programs *m)
{
	emit_scope(c);
	load(c, R8, SOCK);
	emit_jump_if_imm(c, R8, JEQ, 0, "none");
	cast(c, m, R8, m->files.types[TYPE_UNIX]);
	load(c, R1, TYPE);
	set_file(c, type, R1);
	get(c, m, SIZE_H, R1, R8, m->steps[PROTOCOL]);
	set_file(c, protocol, R1);
	get(c, m, SIZE_H, R1, R8, m->steps[FAMILY]);
	set_file(c, family, R1);
	emit_jump_if_imm(c, R1, JEQ, AF_UNIX, "unix");
	set(c, USED, sizeof(struct file_socket));
	emit_jump_if_imm(c, R1, JEQ, AF_INET6, "inet6");
	emit_jump_if_imm(c, R1, JEQ, AF_INET, "inet");
	set(c, USED, 0);
	emit_jump(c, "none");
	emit_label(c, "inet");
	get(c, m, SIZE_W, R1, R8, SOCKET_AT(ADDRESS_HERE));
	set_socket(c, SIZE_W, here, R1);
	get(c, m, SIZE_W, R1, R8, SOCKET_AT(ADDRESS_THERE));
	set_socket(c, SIZE_W, there, R1);
	emit_jump(c, "ports");
	emit_label(c, "inet6");
	for (int i = 0; i < 4; i++) {
		load_address6(c, R1, SOCKET_AT(i < 2 ? ADDRESS6_HERE : ADDRESS6_THERE) +
			      i % 2 * 8);
		set_socket(c, SIZE_DW, here[8 * i], R1);
	}
	emit_label(c, "ports");
	load_port(c, m);
	set_socket(c, SIZE_H, port_here, R1);
	get(c, m, SIZE_H, R1, R8, SOCKET_AT(PORT_THERE));
	set_socket(c, SIZE_H, port_there, R1);
	emit_jump(c, "none");
	emit_label(c, "unix");
	write_unix(c, m, SOCK);
	write_unix(c, m, PEER);
	emit_label(c, "none");
	emit_scope_end(c);
}

/* ---- the id of a file ---------------------------------------------------------------------- */

/* R9 = FILE_DELETED if the dentry is neither in a directory nor a root; else 0. Overwrites R8. */
static void load_deleted(struct bpf_code *c, const struct programs *m)
{
	emit_scope(c);
	load_as(c, m, R8, DENTRY, TYPE_DENTRY);
	emit_mov_imm(c, R9, 0);
	get(c, m, SIZE_DW, R1, R8, AT(D_HASH) + AT(PPREV));
	emit_jump_if_imm(c, R1, JNE, 0, "hashed");
	get(c, m, SIZE_DW, R1, R8, AT(D_PARENT));
	emit_jump_if(c, R1, JEQ, R8, "hashed");
	emit_mov_imm(c, R9, FILE_DELETED);
	emit_label(c, "hashed");
	emit_scope_end(c);
}

/*
 * The function that sets FOUND to the id of the file with the inode INODE, which is at DENTRY in
 * MOUNT, and whose struct file is FILE_OF, or 0.
 */
static void function_find_id(struct bpf_code *c, const struct programs *m)
{
	begin_function(c, m, "find_id", 0);
	load_deleted(c, m);
	emit_load_imm64(c, R6, 0x9e3779b97f4a7c15);
	emit_mov(c, R1, R9);
	mix(c);
	load_as(c, m, R9, INODE, TYPE_INODE);
	get(c, m, SIZE_DW, R1, R9, AT(I_INO));
	mix(c);
	get(c, m, SIZE_H, R1, R9, AT(I_MODE));
	mix(c);
	get(c, m, SIZE_W, R1, R9, AT(I_GENERATION));
	mix(c);
	load_as(c, m, R8, ROOT_MOUNT, TYPE_MOUNT);
	get(c, m, SIZE_W, R1, R8, AT(MNT_ID));
	mix(c);
	get(c, m, SIZE_DW, R8, R9, AT(I_SB));
	get(c, m, SIZE_W, R1, R8, AT(S_DEV));
	mix(c);
	if (knows_sockets(m))
		find_socket(c, m);
	walk(c, m);
	if (m->p->roots) /* a mounted directory may get another name in its file system */
		walk_inside(c, m, 0);
	store(c, FOUND, R6);
	emit_exit(c, 0);
}

/* ---- the record of a file ---------------------------------------------------------------- */

/* Fill the head of the record from INODE. Overwrites R8. */
static void begin_file(struct bpf_code *c, const struct programs *m)
{
	emit_head(c, R7, FILE_AT, RECORD_FILE);
	if (m->entering) { /* its time must not be after that of the call */
		load(c, R1, CALL);
		store(c, FILE_AT, R1);
	}
	emit_store_imm(c, SIZE_H, R7, FILE_HEAD + (int)offsetof(struct file_record, family), 0);
	load(c, R1, ID);
	set_file(c, id, R1);
	load_as(c, m, R8, INODE, TYPE_INODE);
	get(c, m, SIZE_H, R1, R8, AT(I_MODE));
	set_file(c, mode, R1);
	get(c, m, SIZE_DW, R1, R8, AT(I_INO));
	set_file(c, inode, R1);
	get(c, m, SIZE_W, R1, R8, AT(I_GENERATION));
	set_file(c, generation, R1);
	get(c, m, SIZE_DW, R8, R8, AT(I_SB));
	get(c, m, SIZE_W, R1, R8, AT(S_DEV));
	set_file(c, device, R1);
	get(c, m, SIZE_DW, R1, R8, AT(S_MAGIC));
	set_file(c, magic, R1);
	load_as(c, m, R8, MOUNT, TYPE_MOUNT);
	get(c, m, SIZE_DW, R8, R8, AT(MNT_NS));
	get(c, m, SIZE_W, R1, R8, AT(NS_OF_MOUNTS) + AT(NS_INUM));
	set_file(c, space, R1);
}

/* Note the root directory of the task in the record: R9 has its flags. Overwrites R8. */
static void write_root(struct bpf_code *c, const struct programs *m)
{
	emit_scope(c);
	load_as(c, m, R8, ROOT_MOUNT, TYPE_MOUNT);
	get(c, m, SIZE_W, R1, R8, AT(MNT_ID));
	set_file(c, root, R1);
	get(c, m, SIZE_DW, R1, R8, AT(MNT) + AT(MNT_ROOT));
	load(c, R2, ROOT);
	emit_jump_if(c, R1, JEQ, R2, "mounted");
	emit_alu_imm(c, ALU_OR, R9, FILE_CHROOT);
	emit_label(c, "mounted");
	load(c, R1, END_OF_WALK);
	emit_jump_if_imm(c, R1, JNE, AT_TOP, "below");
	emit_alu_imm(c, ALU_OR, R9, FILE_OUTSIDE);
	emit_label(c, "below");
	emit_mov(c, R1, R9);
	set_file(c, flags, R1);
	emit_scope_end(c);
}

/* R0 = the slot of the id R6. Jump to none if there is none. */
static void find_slot(struct bpf_code *c, const struct programs *m, const char *none)
{
	emit_call(c, FN_GET_SMP_PROCESSOR_ID);
	emit_alu_imm(c, ALU_MUL, R0, SLOTS_OF_CPU);
	emit_mov(c, R1, R6);
	emit_alu_imm(c, ALU_AND, R1, SLOTS_OF_CPU - 1);
	emit_alu(c, ALU_ADD, R0, R1);
	emit_store(c, SIZE_W, FP, KEY, R0);
	emit_find(c, m->files.sent, KEY, R0, none);
}

/* The function that writes the record of the file whose names are there, if the ring has room. */
static void function_write_file(struct bpf_code *c, const struct programs *m)
{
	begin_function(c, m, "write_file", 1);
	begin_file(c, m);
	load_deleted(c, m);
	write_root(c, m);
	load(c, R1, END_OF_WALK);
	emit_jump_if_imm(c, R1, JEQ, TOO_LONG, "long_path");
	jump_if_slot(c, WRITES, JNE, WRITES_NO_MORE, "whole_path");
	emit_label(c, "long_path");
	emit_load(c, SIZE_H, R1, R7, FILE_HEAD + (int)offsetof(struct file_record, flags));
	emit_alu_imm(c, ALU_OR, R1, FILE_CUT);
	set_file(c, flags, R1);
	emit_label(c, "whole_path");
	load(c, R1, END_OF_WALK);
	emit_jump_if_imm(c, R1, JNE, AT_OWN, "has_path");
	load(c, R1, USED);
	set(c, USED, 0);
	/* the file was moved out of the mounted tree: the kernel gives no name, either */
	emit_jump_if_imm(c, R1, JNE, 0, "has_path");
	emit_load(c, SIZE_H, R1, R7, FILE_HEAD + (int)offsetof(struct file_record, flags));
	emit_alu_imm(c, ALU_OR, R1, FILE_PSEUDO);
	set_file(c, flags, R1);
	emit_load(c, SIZE_W, R1, R7, FILE_HEAD + (int)offsetof(struct file_record, magic));
	emit_jump_if_imm(c, R1, JEQ, K_NSFS_MAGIC, "space");
	emit_jump_if_imm(c, R1, JEQ, K_SOCKFS_MAGIC, "socket");
	load_as(c, m, R8, DENTRY, TYPE_DENTRY);
	write_name(c, m, "has_path");
	emit_jump(c, "has_path");
	emit_label(c, "socket");
	if (knows_sockets(m))
		write_socket(c, m);
	emit_jump(c, "has_path");
	emit_label(c, "space");
	write_space(c, m, "has_path");
	emit_label(c, "has_path");
	if (m->p->roots) {
		load(c, R1, USED);
		set_file(c, inside, R1);
		walk_inside(c, m, 1);
	}
	load(c, R8, USED);
	emit_alu_imm(c, ALU_ADD, R8, NAMES - FILE_AT);
	emit_alu_imm(c, ALU_AND, R8, FILE_MASK);
	emit_record(c, &m->p->channel, R7, FILE_AT, 0, CONTROL, 1);
	emit_jump_if_imm(c, R0, JNE, 0, "not_written"); /* no room, or not yet */
	load(c, R6, ID);
	find_slot(c, m, "not_written");
	emit_store(c, SIZE_DW, R0, 0, R6);
	emit_label(c, "not_written");
	emit_exit(c, 0);
}

/* ---- the descriptors of a call -------------------------------------------------------------- */

/* R8 = the running task */
static void load_task(struct bpf_code *c, const struct programs *m)
{
	if (m->types[m->entering] && m->files.cast) {
		load_stack(c, R8, CURRENT);
		return;
	}
	emit_call(c, FN_GET_CURRENT_TASK);
	emit_mov(c, R8, R0);
	cast(c, m, R8, m->files.types[TYPE_TASK]);
}

/* DENTRY and MOUNT, or other slots, are those of the struct path at R8 + at. */
static void load_path(struct bpf_code *c, const struct programs *m, int at, int dentry, int mount)
{
	get(c, m, SIZE_DW, R1, R8, at + AT(PATH_DENTRY));
	store(c, dentry, R1);
	get(c, m, SIZE_DW, R1, R8, at + AT(PATH_MNT));
	to_number(c, R1);
	emit_alu_imm(c, ALU_SUB, R1, AT(MNT));
	store(c, mount, R1);
}

/* R8 = the file of the descriptor fd of the task R8, or 0; or jump to other. Overwrites fd. */
static void load_file(struct bpf_code *c, const struct programs *m, enum bpf_reg fd,
		      const char *other)
{
	get(c, m, SIZE_DW, R8, R8, m->steps[FILES]);
	get(c, m, SIZE_DW, R8, R8, m->steps[TABLE]);
	get(c, m, SIZE_W, R1, R8, m->steps[MOST]);
	emit_jump_if(c, R1, JLE, fd, other);
	get(c, m, SIZE_DW, R8, R8, m->steps[FDS]);
	emit_alu_imm(c, ALU_LSH, fd, 3);
	emit_alu(c, ALU_ADD, R8, fd);
	cast(c, m, R8, m->files.types[TYPE_POINTER]);
	get(c, m, SIZE_DW, R8, R8, 0);
}

void skip_no_socket(struct bpf_code *c, const struct programs *m)
{
	store_stack(c, ABOVE, R8);
	load_task(c, m);
	load_file(c, m, R9, "out");
	emit_jump_if_imm(c, R8, JEQ, 0, "out");
	cast(c, m, R8, m->files.types[TYPE_FILE]);
	get(c, m, SIZE_DW, R8, R8, AT(FILE_INODE));
	cast(c, m, R8, m->files.types[TYPE_INODE]);
	get(c, m, SIZE_H, R1, R8, AT(I_MODE));
	emit_alu_imm(c, ALU_AND, R1, S_IFMT);
	emit_jump_if_imm(c, R1, JNE, S_IFSOCK, "out");
	load_stack(c, R8, ABOVE);
}

/* Find the file of the descriptor R6, or the program of the task; jump to skip if there is none. */
static void find_file(struct bpf_code *c, const struct programs *m)
{
	if (!m->entering) {
		emit_jump(c, "descriptor");
		emit_label(c, "program");
		load_task(c, m);
		get(c, m, SIZE_DW, R8, R8, AT(TASK_MM));
		get(c, m, SIZE_DW, R8, R8, AT(MM_PROGRAM));
		emit_jump(c, "has_file");
		emit_label(c, "descriptor");
	}
	load_task(c, m);
	load_file(c, m, R6, "skip");
	if (!m->entering)
		emit_label(c, "has_file");
	emit_jump_if_imm(c, R8, JEQ, 0, "skip");
	store(c, FILE_OF, R8);
	load_as(c, m, R8, FILE_OF, TYPE_FILE);
	get(c, m, SIZE_DW, R1, R8, AT(FILE_INODE));
	store(c, INODE, R1);
	load_path(c, m, AT(FILE_PATH), DENTRY, MOUNT);
	emit_jump(c, "file_found");
}

/* Find the directory of the task, or its root directory. */
static void find_directory(struct bpf_code *c, const struct programs *m)
{
	if (m->p->roots) {
		emit_label(c, "root_directory");
		load(c, R1, ROOT);
		store(c, DENTRY, R1);
		load(c, R1, ROOT_MOUNT);
		store(c, MOUNT, R1);
		emit_jump(c, "directory_found");
	}
	emit_label(c, "directory");
	load_task(c, m);
	get(c, m, SIZE_DW, R8, R8, AT(TASK_FS));
	load_path(c, m, AT(FS_PWD), DENTRY, MOUNT);
	if (m->p->roots)
		emit_label(c, "directory_found");
	set(c, FILE_OF, 0);
	load_as(c, m, R8, DENTRY, TYPE_DENTRY);
	get(c, m, SIZE_DW, R1, R8, AT(D_INODE));
	store(c, INODE, R1);
}

/* Append a piece with the id in R6, for the argument ARG. */
static void append_id(struct bpf_code *c, const struct programs *m)
{
	load(c, R1, AT);
	emit_address(c, R2, R1, sizeof(struct memory_piece) + PIECE_ROUND);
	store(c, AT, R2);
	emit_alu_imm(c, ALU_AND, R1, MEMORY_MASK);
	emit_alu(c, ALU_ADD, R1, R7);
	emit_store_imm(c, SIZE_DW, R1, MEMORY, 0);
	emit_store_imm(c, SIZE_B, R1, MEMORY, m->entering ? 'F' : 'f');
	load(c, R2, ARG);
	emit_store(c, SIZE_B, R1, MEMORY + (int)offsetof(struct memory_piece, arg), R2);
	emit_store_imm(c, SIZE_H, R1, MEMORY + (int)offsetof(struct memory_piece, n), 4);
	emit_store(c, SIZE_W, R1, MEMORY + (int)offsetof(struct memory_piece, value), R6);
	emit_alu_imm(c, ALU_RSH, R6, 32);
	emit_store_imm(c, SIZE_DW, R1, MEMORY + (int)sizeof(struct memory_piece), 0);
	emit_store(c, SIZE_W, R1, MEMORY + (int)sizeof(struct memory_piece), R6);
}

/* R6 = the next descriptor of the entry; or jump to directory, or after the last to files_done */
static void choose_argument(struct bpf_code *c, const struct programs *m)
{
	load(c, R2, SOURCE);
	emit_alu_imm(c, ALU_AND, R2, CALL_FILES - 1);
	load_stack(c, R1, ENTRY);
	emit_alu(c, ALU_ADD, R1, R2);
	emit_load(c, SIZE_B, R2, R1, (int)offsetof(struct entry, files));
	emit_jump_if_imm(c, R2, JEQ, 0, "files_done");
	emit_mov(c, R1, R2);
	emit_alu_imm(c, ALU_AND, R1, 15);
	store(c, ARG, R1);
	emit_alu_imm(c, ALU_RSH, R2, 4);
	emit_jump_if_imm(c, R2, JEQ, FILE_CWD, "directory");
	if (m->p->roots)
		emit_jump_if_imm(c, R2, JEQ, FILE_ROOT, "root_directory");
	emit_mov(c, R8, R2);
	load_argument(c, R6);
	emit_alu32(c, ALU_MOV, R6, R6);
	emit_jump_if_imm(c, R8, JNE, FILE_DIRFD, "descriptor");
	emit_jump32_if_imm(c, R6, JEQ, AT_FDCWD, "directory");
	emit_label(c, "descriptor");
}

/*
 * R6 = the next descriptor that the call has made, or changed; or jump to program, or after the
 * last to files_done
 */
static void choose_result(struct bpf_code *c)
{
	load(c, R8, SOURCE);
	emit_address(c, R1, R8, CALL_ARGS);
	store(c, ARG, R1);
	load_stack(c, R1, ENTRY);
	emit_get(c, R1, R1, entry, returns);
	load_stack(c, R6, RESULT);
	emit_jump_if_imm(c, R1, JGT, FILE_PAIR - 1, "pair");
	emit_jump_if_imm(c, R8, JNE, 0, "files_done");
	emit_jump_if_imm(c, R1, JEQ, FILE_PROGRAM, "program");
	emit_jump_if_imm(c, R1, JEQ, FILE_RESULT, "one");
	load(c, R6, CALL + (int)offsetof(struct call_begun, args));
	emit_jump(c, "one");
	emit_label(c, "pair");
	emit_jump_if_imm(c, R6, JNE, 0, "files_done");
	emit_jump_if_imm(c, R8, JGT, 1, "files_done");
	emit_alu_imm(c, ALU_SUB, R1, FILE_PAIR);
	load_argument(c, R3);
	emit_alu_imm(c, ALU_LSH, R8, 2);
	emit_alu(c, ALU_ADD, R3, R8);
	emit_mov_imm(c, R2, 4);
	read_slot(c);
	emit_load(c, SIZE_W, R6, FP, SLOT);
	emit_label(c, "one");
	emit_alu32(c, ALU_MOV, R6, R6);
}

void append_files(struct bpf_code *c, const struct programs *m)
{
	if (!m->files.known)
		return;
	load_stack(c, R1, ENTRY);
	if (m->entering) {
		emit_load(c, SIZE_B, R1, R1, (int)offsetof(struct entry, files));
		emit_jump_if_imm(c, R1, JEQ, 0, "files_done");
	} else {
		emit_get(c, R1, R1, entry, returns);
		emit_jump_if_imm(c, R1, JEQ, 0, "files_done");
		load_stack(c, R2, RESULT);
		emit_jump_if_imm(c, R1, JEQ, FILE_AGAIN, "returns_file");
		emit_jump_if_imm(c, R2, JSLT, 0, "files_done");
		emit_label(c, "returns_file");
	}
	load_task(c, m);
	get(c, m, SIZE_DW, R8, R8, AT(TASK_FS));
	load_path(c, m, AT(FS_ROOT), ROOT, ROOT_MOUNT);
	set(c, SOURCE, 0);
	set(c, WRITES, WRITES_NOTHING);
	begin_count(c, m, ROUND);
	loop_label(c, "round");
	count(c, m, ROUND, ROUNDS, "files_done");
	if (m->entering)
		choose_argument(c, m);
	else
		choose_result(c);
	find_file(c, m);
	if (m->entering)
		find_directory(c, m);
	emit_label(c, "file_found");
	emit_call_function(c, "find_id");
	load(c, R6, FOUND);
	jump_if_slot(c, WRITES, JNE, WRITES_NOTHING, "written_names");
	store(c, ID, R6);
	find_slot(c, m, "known");
	emit_load(c, SIZE_DW, R1, R0, 0);
	emit_jump_if(c, R1, JEQ, R6, "known");
	set(c, WRITES, WRITES_NAMES); /* find it again */
	set(c, USED, 0);
	emit_jump(c, "round");
	emit_label(c, "written_names");
	load(c, R1, ID);
	emit_jump_if(c, R6, JEQ, R1, "unchanged");
	set(c, WRITES, WRITES_NOTHING); /* a rename came in between: begin again */
	emit_jump(c, "round");
	emit_label(c, "unchanged");
	emit_call_function(c, "write_file");
	emit_label(c, "known");
	load(c, R6, ID);
	append_id(c, m);
	emit_label(c, "skip");
	set(c, WRITES, WRITES_NOTHING);
	load(c, R1, SOURCE);
	emit_alu_imm(c, ALU_ADD, R1, 1);
	store(c, SOURCE, R1);
	emit_jump(c, "round");
	emit_label(c, "files_done");
}

void append_file_functions(struct bpf_code *c, const struct programs *m)
{
	if (!m->files.known)
		return;
	function_find_id(c, m);
	function_write_file(c, m);
}

/* ---- what the calls do --------------------------------------------------------------------- */

void describe_files(struct entry *e, const struct calls *calls, const struct call *call, int roots)
{
	unsigned n = 0, paths = 0;

	for (unsigned i = 0; i < call->nargs && n < CALL_FILES - 1; i++) {
		const int kind = call->args[i].kind;

		if (kind == CALL_FD || kind == CALL_DIRFD)
			e->files[n++] = (uint8_t)(i | (kind == CALL_FD ? FILE_FD : FILE_DIRFD) *
						  16u);
		else if (kind == CALL_PATH && (!i || call->args[i - 1].kind != CALL_DIRFD))
			e->files[n++] = (uint8_t)(i | FILE_CWD * 16u);
	}
	for (unsigned i = 0; i < call->nargs; i++)
		paths += call->args[i].kind == CALL_PATH;
	if (paths && roots && n < CALL_FILES - 1)
		e->files[n] = CALL_ROOT | FILE_ROOT * 16u;
	if (call->role->is & IS_EXEC)
		e->returns = FILE_PROGRAM;
	else if (call->result.kind == CALL_FD)
		e->returns = FILE_RESULT;
	else if (call_addresses(call))
		e->returns = FILE_AGAIN;
	for (unsigned i = 0; i < call->nargs; i++)
		if (call_makes_pair(calls, &call->args[i]))
			e->returns = (uint8_t)(FILE_PAIR + i);
}

int files_prepare(struct programs *m, const struct btf *btf, unsigned version)
{
	static const char *const types[] = { "task_struct", "mount", "file", "list_head",
					     "ns_common", "proc_ns_operations", "socket",
					     "unix_sock", "dentry", "inode" };
	static uint64_t *slots;

	if (!m->p->files || WORD != 8)
		return 0;
#define FIND_MEMBER(NAME, structure, member) \
	if ((m->files.at[NAME] = btf_member(btf, #structure, #member)) < 0) \
		return 0;
	FILE_MEMBERS(FIND_MEMBER)
#define FIND_SOCKET_MEMBER(NAME, structure, member) \
	m->files.socket[NAME] = btf_member(btf, #structure, #member);
	SOCKET_MEMBERS(FIND_SOCKET_MEMBER)
	for (int i = 0; i < STEPS; i++)
		if (m->steps[i] < 0)
			return 0;
	m->files.ns_of_inode = version >= KERNEL(6, 9);
	if (version >= KERNEL(6, 2))
		m->files.cast = btf_function(btf, "bpf_rdonly_cast");
	for (unsigned i = 0; i < FILE_TYPES; i++)
		if (!(m->files.types[i] = btf_structure(btf, types[i])))
			m->files.cast = 0;
	slots = plan_array(m->p, "files", &m->files.sent, 8,
			   SLOTS_OF_CPU * m->p->channel.cpus);
	if (slots && rings_set(m->p->channel.control, RINGS_FILES) < 0)
		return err_capability(CAPS_BPF, "unable to use a BPF map");
	m->files.known = slots != NULL;
	return m->files.known ? 0 : -1;
}
