/* SPDX-License-Identifier: ISC */
/* field.c - read the fields of a record */

#include "event/event.h"
#include "event/vm.h"

uint64_t vm_locate(const struct event_set *evs, const struct record *r, uint32_t at, int place)
{
	uint32_t word, from, len;

	if (at > r->len)
		return 0;
	if (place == PLACE_REST)
		return vm_region(at, r->len - at);
	if (r->len - at < 4)
		return 0;
	word = (uint32_t)raw_number(r->data + at, 4, 0, evs->big);
	from = (word & 0xffff) + (place == PLACE_REL_LOC ? at + 4 : 0);
	len = word >> 16;
	if (from > r->len)
		return 0;
	return vm_region(from, len < r->len - from ? len : r->len - from);
}

int field_value(const struct event_set *evs, const struct field *f, const struct record *r,
		struct field_data *v)
{
	uint64_t where;

	v->kind = f->kind;
	v->n = 0;
	v->u = 0;
	v->data = NULL;
	if (f->place == PLACE_HERE && (f->offset > r->len || f->size > r->len - f->offset))
		return -1;
	if (f->kind == FIELD_NUMBER || f->kind == FIELD_POINTER) {
		v->data = r->data + f->offset;
		v->u = raw_number(v->data, f->size, f->is_signed, evs->big);
		return 0;
	}
	where = f->place == PLACE_HERE ? vm_region(f->offset, f->size)
				       : vm_locate(evs, r, f->offset, f->place);
	if (!where)
		return -1;
	v->data = r->data + (uint32_t)where;
	v->n = (size_t)(where >> 32);
	v->size = v->n;
	if (f->kind == FIELD_STRING)
		v->n = strnlen((const char *)v->data, v->n);
	else if (f->kind == FIELD_ARRAY)
		v->n /= f->elem;
	return 0;
}

int64_t field_integer(const struct event_set *evs, const struct field *f, const struct record *r)
{
	struct field_data v;

	return f && !field_value(evs, f, r, &v) && v.kind <= FIELD_POINTER ? v.i : 0;
}

const char *field_string(const struct event_set *evs, const struct field *f,
			 const struct record *r)
{
	struct field_data v;

	return f && !field_value(evs, f, r, &v) && v.kind == FIELD_STRING && v.size > v.n ?
	       (const char *)v.data : "";
}

uint64_t field_element(const struct event_set *evs, const struct field *f,
		       const struct field_data *v, size_t i)
{
	return raw_number(v->data + i * f->elem, f->elem, f->is_signed, evs->big);
}

int record_pid(const struct event_set *evs, const struct record *r)
{
	if (!evs->pid_size || r->len < evs->pid_at + (uint32_t)evs->pid_size)
		return 0;
	return (int)raw_number(r->data + evs->pid_at, evs->pid_size, 1, evs->big);
}
