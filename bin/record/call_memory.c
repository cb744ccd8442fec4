/* SPDX-License-Identifier: ISC */
/*
 * call_memory.c - the parts of programs that read user memory
 *
 * The memory goes behind the record, as pieces (struct memory_piece). A piece is at R7 + MEMORY +
 * AT. Its letter says what it is; a capital letter means the entry of a call.
 *
 * At the return, if a page is not in memory, the bytes before the page are read alone. Structures
 * may have pointers, whose memory is read after that of the structures (Linux 6.9).
 */

#include "call_programs.h"

enum { PIECE = sizeof(struct memory_piece) };

/* ---- pieces ---------------------------------------------------------------------------------- */

static char tag_of(const struct programs *m, char tag)
{
	return m->entering ? (char)(tag - 'a' + 'A') : tag;
}

/* R1 = the address of the next piece, less MEMORY */
static void load_place(struct bpf_code *c)
{
	load(c, R1, AT);
	emit_alu_imm(c, ALU_AND, R1, MEMORY_MASK);
	emit_alu(c, ALU_ADD, R1, R7);
}

/* Copy R2 bytes of user memory at R8 behind the head of the next piece, after bytes of it. */
static void read_user(struct bpf_code *c, enum bpf_helper how)
{
	load_place(c);
	emit_alu_imm(c, ALU_ADD, R1, MEMORY + PIECE);
	emit_mov(c, R3, R8);
	emit_call(c, how);
}

/* End the next piece, which has R2 bytes, for the argument of the item. R3 = its tag */
static void end_piece(struct bpf_code *c)
{
	load_place(c);
	emit_store_imm(c, SIZE_DW, R1, MEMORY, 0);
	emit_store(c, SIZE_B, R1, MEMORY, R3);
	emit_store(c, SIZE_H, R1, MEMORY + (int)offsetof(struct memory_piece, n), R2);
	load_item(c, arg, R3);
	emit_store(c, SIZE_B, R1, MEMORY + (int)offsetof(struct memory_piece, arg), R3);
	emit_alu_imm(c, ALU_ADD, R2, PIECE_ROUND);
	emit_alu_imm(c, ALU_AND, R2, CHUNK_MASK & -PIECE_ROUND);
	load(c, R3, AT);
	emit_alu(c, ALU_ADD, R3, R2);
	emit_alu_imm(c, ALU_ADD, R3, PIECE);
	store(c, AT, R3);
}

void append_empty(struct bpf_code *c, const struct programs *m, char tag)
{
	emit_mov_imm(c, R2, 0);
	emit_mov_imm(c, R3, tag_of(m, tag));
	end_piece(c);
}

/* ---- strings --------------------------------------------------------------------------------- */

/*
 * Read the string at R8, of which at most LEFT bytes are recorded; the words of an array share
 * them, but each word has WORD_LEAST.
 */
static void read_string(struct bpf_code *c, const struct programs *m)
{
	load(c, R2, LEFT);
	emit_jump_if_imm(c, R2, JSGE, WORD_LEAST, "enough");
	emit_mov_imm(c, R2, WORD_LEAST);
	emit_label(c, "enough");
	emit_jump_if_imm(c, R2, JLE, STRING_MOST, "bounded");
	emit_mov_imm(c, R2, STRING_MOST);
	emit_label(c, "bounded");
	store(c, CHUNK, R2);
	emit_alu_imm(c, ALU_ADD, R2, 2);
	read_user(c, FN_PROBE_READ_USER_STR);
	emit_jump_if_imm(c, R0, JSLT, 0, m->entering ? "fault" : "part_of_string");
	emit_mov_imm(c, R3, tag_of(m, 'a'));
	emit_mov(c, R2, R0);
	emit_jump_if_imm(c, R2, JEQ, 0, "ended"); /* Linux 5.10: an empty string */
	emit_alu_imm(c, ALU_SUB, R2, 1);
	load(c, R1, CHUNK);
	emit_jump_if(c, R2, JLE, R1, "ended");
	emit_mov_imm(c, R3, tag_of(m, 'c'));
	emit_mov(c, R2, R1);
	emit_label(c, "ended");
	load(c, R1, LEFT);
	emit_alu(c, ALU_SUB, R1, R2);
	store(c, LEFT, R1);
	end_piece(c);
}

/* At the return, read the string at R8 to the end of its page; the next page is not in memory. */
static void read_to_page_end(struct bpf_code *c)
{
	emit_label(c, "part_of_string");
	emit_mov(c, R1, R8);
	emit_alu_imm(c, ALU_AND, R1, PAGE - 1);
	emit_mov_imm(c, R2, PAGE);
	emit_alu(c, ALU_SUB, R2, R1);
	store(c, CHUNK, R2);
	read_user(c, FN_PROBE_READ_USER);
	emit_jump_if_imm(c, R0, JNE, 0, "fault");
	load(c, R2, CHUNK);
	emit_mov_imm(c, R3, 'b');
	end_piece(c);
	emit_jump(c, "fault");
}

/* R8 = the string of the pointer at R8, the next of an array; or append why there is none. */
static void take_word(struct bpf_code *c, const struct programs *m)
{
	count_round(c, m);
	jump_if_slot(c, AT, JGT, MEMORY_FULL, "full");
	read_word(c);
	store(c, ARRAY, R8);
	emit_load(c, WORD_SIZE, R8, FP, SLOT);
	emit_jump_if_imm(c, R0, JNE, 0, "fault");
	load(c, R1, COUNT);
	emit_jump_if_imm(c, R8, JEQ, 0, "last_word");
	emit_jump_if_imm(c, R1, JEQ, 0, "many");
	emit_alu_imm(c, ALU_SUB, R1, 1);
	store(c, COUNT, R1);
	append_empty(c, m, 's');
	emit_jump(c, "string");
	emit_label(c, "many");
	append_empty(c, m, 'e');
	emit_jump(c, "next");
	emit_label(c, "last_word");
	load_item(c, most, R2);
	emit_jump_if(c, R1, JNE, R2, "next");
	append_empty(c, m, 'z'); /* there was no word */
	emit_jump(c, "next");
}

/* Read a string, or the strings of an array. */
static void emit_strings(struct bpf_code *c, const struct programs *m)
{
	emit_label(c, "string_begins");
	set(c, ARRAY, 0);
	set(c, LEFT, STRING_MOST);
	loop_label(c, "string");
	read_string(c, m);
	if (m->kinds & 1 << STRINGS) {
		load(c, R8, ARRAY);
		emit_jump_if_imm(c, R8, JEQ, 0, "next");
		loop_label(c, "word");
		take_word(c, m);
		emit_label(c, "array_begins");
		set(c, LEFT, WORDS_MOST);
		load_item(c, most, R1);
		store(c, COUNT, R1);
		emit_jump(c, "word");
	} else {
		emit_jump(c, "next");
	}
	if (!m->entering)
		read_to_page_end(c);
}

/* ---- data ------------------------------------------------------------------------------------ */

/* LEFT = LEFT * the count that an argument says, at its address or as the result */
static void multiply_by_count(struct bpf_code *c)
{
	load_item(c, count, R1);
	load_argument(c, R3);
	jump_unless_item(c, COUNT_IS_ADDRESS, "no_address");
	emit_mov_imm(c, R2, 4);
	read_slot(c);
	emit_load(c, SIZE_W, R3, FP, SLOT);
	emit_label(c, "no_address");
	emit_alu32(c, ALU_MOV, R3, R3);
	load_item(c, has_count, R1);
	emit_alu_imm(c, ALU_SUB, R1, 1);
	emit_alu_imm(c, ALU_AND, R1, 31);
	emit_mov_imm(c, R2, 1);
	emit_alu(c, ALU_LSH, R2, R1);
	emit_alu_imm(c, ALU_SUB, R2, 1);
	emit_alu(c, ALU_ADD, R3, R2);
	emit_alu(c, ALU_RSH, R3, R1);
	jump_unless_item(c, COUNT_IS_RESULT, "no_result");
	load(c, R1, RETURNED);
	emit_jump_if(c, R3, JSLE, R1, "no_result");
	emit_mov(c, R3, R1);
	emit_label(c, "no_result");
	load(c, R1, LEFT);
	emit_alu(c, ALU_MUL, R1, R3);
	store(c, LEFT, R1);
}

/*
 * Jump unless a netlink message begins at the address in R3: a length from that of its header to
 * LEFT, a type, and flags, of which linux/netlink.h has twelve. R3 = LEFT in any case.
 */
static void read_length(struct bpf_code *c, const char *to)
{
	emit_mov_imm(c, R2, 8);
	read_slot(c);
	emit_load(c, SIZE_W, R1, FP, SLOT);
	emit_load(c, SIZE_H, R2, FP, SLOT + 6);
	load(c, R3, LEFT);
	emit_jump_if_imm(c, R1, JLE, 15, to);
	emit_jump_if(c, R1, JGT, R3, to);
	emit_jump_if_imm(c, R2, JGT, 0xfff, to);
}

/* LEFT = the bytes of the item to read, CUT = there are more; jump to "next" if there are none. */
static void count_bytes(struct bpf_code *c)
{
	load_item(c, size, R1);
	store(c, LEFT, R1);
	jump_if_item(c, has_count, JEQ, 0, "counted");
	multiply_by_count(c);
	emit_label(c, "counted");
	set(c, CUT, 0);
	jump_if_slot(c, LEFT, JEQ, 0, "next");
	load_item(c, most, R2);
	emit_jump_if(c, R1, JSLE, R2, "fits");
	jump_if_item(c, message, JEQ, 0, "narrow");
	emit_mov(c, R3, R8);
	read_length(c, "narrow");
	emit_jump_if_imm(c, R3, JSLE, MESSAGE_MOST, "fits");
	emit_mov_imm(c, R2, MESSAGE_MOST);
	emit_jump(c, "wide_message");
	emit_label(c, "narrow");
	load_item(c, most, R2);
	emit_label(c, "wide_message");
	store(c, LEFT, R2);
	set(c, CUT, 1);
	emit_label(c, "fits");
}

/* The pointers of the structures at R8 follow, if the item has any. */
static void begin_points(struct bpf_code *c)
{
	load_item(c, points, R1);
	store(c, POINTS, R1);
	load_item(c, npoints, R1);
	store(c, NPOINTS, R1);
	load_item(c, size, R1);
	load(c, R2, LEFT);
	emit_jump_if_imm(c, R1, JNE, 1, "has_stride"); /* the size is an argument */
	emit_mov(c, R1, R2);
	emit_label(c, "has_stride");
	store(c, STRIDE, R1);
	store(c, PARENT, R8);
	emit_alu(c, ALU_ADD, R2, R8);
	store(c, PARENT_END, R2);
}

/* LEFT bytes at R8 cannot be read: read those before the end of the page, if they count alone. */
static void shorten(struct bpf_code *c, const struct programs *m)
{
	if (m->entering) {
		emit_jump(c, "fault");
		return;
	}
	emit_mov(c, R1, R8);
	emit_alu_imm(c, ALU_AND, R1, PAGE - 1);
	emit_mov_imm(c, R3, PAGE);
	emit_alu(c, ALU_SUB, R3, R1);
	load(c, R2, LEFT);
	emit_jump_if(c, R2, JSLE, R3, "fault");
	jump_if_slot(c, NEST, JNE, 0, "may_be_part");
	jump_unless_item(c, MAY_BE_PART, "fault");
	emit_label(c, "may_be_part");
	store(c, LEFT, R3);
	set(c, CUT, 1);
	if (m->may_goto) { /* a part of a structure has pointers, too */
		load(c, R1, PARENT);
		emit_alu(c, ALU_ADD, R1, R3);
		store(c, PARENT_END, R1);
		load(c, R1, STRIDE);
		emit_jump_if(c, R1, JLE, R3, "whole_stride");
		store(c, STRIDE, R3);
		emit_label(c, "whole_stride");
	}
	emit_jump(c, "data");
}

/* Read LEFT bytes at R8; those to which a pointer points follow their address. */
static void read_data(struct bpf_code *c, const struct programs *m)
{
	loop_label(c, "data");
	count_round(c, m);
	jump_if_slot(c, AT, JGT, MEMORY_FULL, "full");
	load(c, R2, LEFT);
	emit_alu_imm(c, ALU_AND, R2, CHUNK_MASK);
	load_place(c);
	if (m->may_goto) {
		emit_store(c, SIZE_DW, R1, MEMORY + PIECE, R8);
		load(c, R3, NEST);
		emit_alu_imm(c, ALU_AND, R3, 8);
		emit_alu(c, ALU_ADD, R1, R3);
	}
	emit_alu_imm(c, ALU_ADD, R1, MEMORY + PIECE);
	emit_mov(c, R3, R8);
	emit_call(c, FN_PROBE_READ_USER);
	emit_jump_if_imm(c, R0, JEQ, 0, "is_read");
	shorten(c, m);
	emit_label(c, "is_read");
	load(c, R2, LEFT);
	emit_mov_imm(c, R3, tag_of(m, 'd'));
	jump_if_slot(c, CUT, JEQ, 0, "all_read");
	emit_mov_imm(c, R3, tag_of(m, 'e'));
	emit_label(c, "all_read");
	if (m->may_goto) {
		load(c, R1, NEST);
		emit_alu(c, ALU_ADD, R2, R1);
	}
	end_piece(c);
}

/* ---- the memory that pointers in structures point to ----------------------------------------- */

/* R3 = the count of the point at R9 of the structure at R8 */
static void read_count(struct bpf_code *c)
{
	emit_mov_imm(c, R3, 1);
	emit_get(c, R1, R9, point, count_width);
	emit_jump_if_imm(c, R1, JEQ, 0, "count_known");
	emit_get(c, R3, R9, point, count);
	emit_alu(c, ALU_ADD, R3, R8);
	emit_mov_imm(c, R2, 4);
	emit_jump_if_imm(c, R1, JEQ, 8, "long_count");
	read_slot(c);
	emit_load(c, SIZE_W, R3, FP, SLOT);
	emit_jump(c, "count_known");
	emit_label(c, "long_count");
	emit_mov_imm(c, R2, 8);
	read_slot(c);
	emit_load(c, SIZE_DW, R3, FP, SLOT);
	emit_label(c, "count_known");
	emit_jump_if_imm(c, R3, JLE, UINT16_MAX, "count_fits");
	emit_mov_imm(c, R3, UINT16_MAX);
	emit_label(c, "count_fits");
}

/* Jump to "point" unless the memory of the point at R9 is read at this side of the call. */
static void choose_point(struct bpf_code *c, const struct programs *m)
{
	emit_get(c, R1, R9, point, flags);
	if (!m->entering) {
		emit_mov(c, R2, R1);
		emit_alu_imm(c, ALU_AND, R2, AT_RETURN);
		emit_jump_if_imm(c, R2, JEQ, 0, "point_of_entry");
		load(c, R2, RETURNED);
		emit_jump_if_imm(c, R2, JSGE, 0, "point_chosen");
		emit_label(c, "point_of_entry");
		load(c, R2, ABSENT);
		load(c, R3, ARGUMENT);
		emit_alu_imm(c, ALU_AND, R3, 7);
		emit_alu(c, ALU_RSH, R2, R3);
		emit_alu(c, ALU_AND, R1, R2);
	}
	emit_alu_imm(c, ALU_AND, R1, AT_ENTRY);
	emit_jump_if_imm(c, R1, JEQ, 0, "point");
	emit_label(c, "point_chosen");
}

/* The memory of the item is read: put the next of the pointers that it has in the queue. */
static void put_points(struct bpf_code *c, const struct programs *m)
{
	set(c, POINT, 0);
	loop_label(c, "point");
	count_round(c, m);
	load(c, R1, POINT);
	load(c, R2, NPOINTS);
	load(c, R8, PARENT);
	load(c, R3, STRIDE);
	emit_alu(c, ALU_ADD, R3, R8);
	load(c, R4, PARENT_END);
	emit_jump_if_imm(c, R2, JEQ, 0, "pop");
	emit_jump_if(c, R3, JGT, R4, "pop");
	emit_jump_if(c, R1, JSLT, R2, "of_parent");
	set(c, POINT, 0);
	store(c, PARENT, R3);
	emit_jump(c, "point");
	emit_label(c, "of_parent");
	emit_address(c, R2, R1, 1);
	store(c, POINT, R2);
	load(c, R2, POINTS);
	emit_alu(c, ALU_ADD, R1, R2);
	emit_store(c, SIZE_W, FP, KEY, R1);
	emit_find(c, m->points, KEY, R9, "pop");
	choose_point(c, m);
	emit_get(c, R3, R9, point, offset);
	emit_alu(c, ALU_ADD, R3, R8);
	load_word(c, R2);
	read_slot(c);
	emit_load(c, WORD_SIZE, R1, FP, SLOT);
	emit_jump_if_imm(c, R0, JNE, 0, "point");
	emit_jump_if_imm(c, R1, JEQ, 0, "point");
	store(c, TARGET, R1);
	read_count(c);
	emit_get(c, R1, R9, point, size);
	emit_alu(c, ALU_MUL, R3, R1);
	emit_get(c, R1, R9, point, most);
	emit_jump_if(c, R3, JLE, R1, "target_fits");
	store(c, LEFT, R3);
	emit_get(c, R1, R9, point, message);
	emit_jump_if_imm(c, R1, JEQ, 0, "target_narrow");
	load(c, R3, TARGET);
	read_length(c, "target_narrow");
	emit_mov_imm(c, R1, MESSAGE_MOST);
	emit_jump(c, "target_wide");
	emit_label(c, "target_narrow");
	load(c, R3, LEFT);
	emit_get(c, R1, R9, point, most);
	emit_label(c, "target_wide");
	emit_jump_if(c, R3, JLE, R1, "target_fits");
	emit_mov(c, R3, R1);
	emit_label(c, "target_fits");
	emit_jump_if_imm(c, R3, JEQ, 0, "point");
	load(c, R1, QUEUE_TAIL);
	emit_jump_if_imm(c, R1, JGT, QUEUE_MOST - 1, "pop");
	emit_address(c, R2, R1, 1);
	store(c, QUEUE_TAIL, R2);
	emit_alu_imm(c, ALU_LSH, R1, 4);
	emit_alu(c, ALU_ADD, R1, R7);
	load(c, R2, TARGET);
	emit_store(c, SIZE_DW, R1, QUEUE, R2);
	emit_store(c, SIZE_W, R1, QUEUE + 8, R3);
	emit_load(c, SIZE_W, R2, FP, KEY);
	emit_store(c, SIZE_W, R1, QUEUE + 12, R2);
	emit_jump(c, "point");
}

/* Take the next pointer of the queue, and read the memory that it points to. */
static void take_point(struct bpf_code *c, const struct programs *m)
{
	emit_label(c, "pop");
	load(c, R1, QUEUE_HEAD);
	load(c, R2, QUEUE_TAIL);
	emit_jump_if(c, R1, JSGE, R2, "next");
	emit_jump_if_imm(c, R1, JGT, QUEUE_MOST - 1, "next");
	emit_address(c, R2, R1, 1);
	store(c, QUEUE_HEAD, R2);
	emit_alu_imm(c, ALU_LSH, R1, 4);
	emit_alu(c, ALU_ADD, R1, R7);
	emit_load(c, SIZE_DW, R8, R1, QUEUE);
	store(c, PARENT, R8);
	emit_load(c, SIZE_W, R2, R1, QUEUE + 8);
	store(c, LEFT, R2);
	emit_alu(c, ALU_ADD, R2, R8);
	store(c, PARENT_END, R2);
	emit_load(c, SIZE_W, R2, R1, QUEUE + 12);
	emit_store(c, SIZE_W, FP, KEY, R2);
	emit_find(c, m->points, KEY, R9, "next");
	emit_get(c, R1, R9, point, points);
	store(c, POINTS, R1);
	emit_get(c, R1, R9, point, npoints);
	store(c, NPOINTS, R1);
	emit_get(c, R1, R9, point, size);
	store(c, STRIDE, R1);
	set(c, NEST, 8);
	set(c, CUT, 0);
	/* this memory is that of no argument */
	emit_store_imm(c, SIZE_B, R7, ITEM + (int)offsetof(struct item, arg), CALL_ARGS);
	emit_jump(c, "data");
}

static void emit_data(struct bpf_code *c, const struct programs *m)
{
	emit_label(c, "data_begins");
	if (m->may_goto) {
		set(c, QUEUE_HEAD, 0);
		set(c, QUEUE_TAIL, 0);
		load_item(c, arg, R1);
		store(c, ARGUMENT, R1);
	}
	count_bytes(c);
	begin_points(c);
	read_data(c, m);
	if (m->may_goto) {
		put_points(c, m);
		take_point(c, m);
	} else {
		emit_jump(c, "next");
	}
}

void emit_memory(struct bpf_code *c, const struct programs *m)
{
	if (m->kinds & 1 << DATA) /* other items, and other calls, may have left it */
		set(c, NEST, 0);
	load_item(c, kind, R1);
	if (m->kinds & 1 << STRINGS)
		emit_jump_if_imm(c, R1, JEQ, STRINGS, "array_begins");
	if (m->kinds & 1 << DATA)
		emit_jump_if_imm(c, R1, JEQ, DATA, "data_begins");
	if (m->kinds & (1 << STRING | 1 << STRINGS))
		emit_strings(c, m);
	else
		emit_jump(c, "next");
	if (m->kinds & 1 << DATA)
		emit_data(c, m);
}
