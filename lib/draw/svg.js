// SPDX-License-Identifier: ISC
// svg.js - the script of the pictures: zoom, search, keys, and a layout as wide as the window
//
// The Makefile makes svg_script.h of this file, without comments, indentation and most
// spaces, also of texts: a space after a comma or colon or before a parenthesis is
// written as \x20.
// An item is a g with data-f and data-n: where it begins and how long it is, in stacks or in
// units of the clock. All names come from the text of the picture, and are set as text only.
'use strict';
{
const svg = document.currentScript.ownerSVGElement, make = (parent, name, attrs, text) => {
	const e = document.createElementNS(svg.namespaceURI, name);
	for (const a in attrs)
		e.setAttribute(a, attrs[a]);
	if (text !== undefined)
		e.textContent = text;
	return parent.appendChild(e);
};
const on = (e, type, f) => e.addEventListener(type, f), rect_of = e => e.getBoundingClientRect();
const all = s => [...svg.querySelectorAll(s)], one = s => svg.querySelector(s);
const set = (e, attrs) => { for (const a in attrs) e.setAttribute(a, attrs[a]); };
const flame = svg.classList.contains('flame');
const total = +svg.dataset.n || 1, left = +svg.dataset.left;
const digits = +svg.dataset.digits, head = one('.head'), detail = one('.detail'), title = one('.t');
const LETTER = 7.2, GAP = 10, right = flame ? GAP : 36;
const subtitle = detail.textContent, heading = title.textContent;
let from = 0, length = total, width = 0, zoomed = null, matched = '', from_x = -1;

const items = all('g[data-f]').map((g, i) => {
	const rect = g.querySelector('rect'), text = g.querySelector('text');
	const tip = g.querySelector('title').textContent;
	const name = tip.replace(flame ? /\x20\([^(]*$/s : / at [\d.]+(\x20[mun]?s)?(,.*)?$/s, '');
	g.setAttribute('tabindex', i ? -1 : 0);
	return { g, rect, text, tip, name, f: +g.dataset.f, n: +g.dataset.n,
		y: +rect.getAttribute('y'),
		// the label of a program's file is without its folder
		label: g.classList[0][0] === 'u' ? name.replace(/^.*\//s, '') : name };
});
// the arrows of wake-ups, those of the longest waits first
const arrows = all('.a[d]').map(e => ({ e, f: +e.dataset.f, t: +e.dataset.t, n: +e.dataset.n,
	y: e.dataset.y.split(' '), tip: e.textContent, head: e.getAttribute('d').replace(/.*?m/, 'm') }));
const item_of = new Map(items.map(i => [i.g, i]));
const labels = all('.label');
// the lines below the picture, and where the legend ends
const notes = [...svg.children].filter(e => e.tagName === 'text').map(e => [e, e.textContent]);
const keys = all('.key'), keys_end = keys.reduce((n, k) => Math.max(n,
	+k.lastChild.getAttribute('x') + k.textContent.length * 7.3), 1);

// as svg_text cuts
const cut = (s, most) => {
	const c = [...s];
	return c.length <= most ? s : most < 5 ? '' : c.slice(0, most - 2).join('') + '..';
};
const put = (e, s) => { if (e.textContent !== s) e.textContent = s; };
const say = s => put(detail, cut(s, (width - 2 * GAP - 100) / LETTER | 0));

const controls = make(head, 'g', {});
const box = make(controls, 'foreignObject', { y: 8, width: 160, height: 24 });
const input = box.appendChild(document.createElementNS('http://www.w3.org/1999/xhtml', 'input'));
input.placeholder = 'Search\x20(Ctrl-F)';
input.setAttribute('aria-label', 'Search:\x20text or regular expression');
const reset = make(controls, 'text',
	{ class: 'button', y: 44, tabindex: 0, role: 'button' }, 'Reset zoom');

// Write the time t of the clock, or its count, with as many digits as the step needs.
const time_text = (t, step, end) => {
	const u = digits < 0 ? 0 : end >= 1e9 ? 3 : end >= 1e6 ? 2 : end >= 1e3 ? 1 : 0;
	const unit = 10 ** (3 * u);
	return (t / unit).toFixed(Math.max(0, Math.ceil(Math.log10(unit / step) - 1e-9))) +
		(digits < 0 ? '' : ' ' + ['ns', 'us', 'ms', 's'][u]);
};

// Draw a line and labels for each round time: 1, 2 or 5 times a power of ten.
const axis = () => {
	const grid = one('.grid'), ends = all('.axis'), bottom = grid.dataset.bottom;
	const span = width - left - right, end = from + length;
	let step = 10 ** Math.floor(Math.log10(length / 1000)), i = 0;
	const room = () => (time_text(end, step, end).length + 3) * LETTER;
	while (step * span / length < room() || step < 1)
		step *= i++ % 3 === 1 ? 2.5 : 2;
	for (const e of [grid, ...ends])
		e.textContent = '';
	for (let k = Math.ceil(from / step - 1e-9); k * step <= end * (1 + 1e-9); k++) {
		const x = left + (k * step - from) / length * span;
		const text = time_text(k * step, step, end);
		make(grid, 'path', { d: `M${x} ${grid.dataset.top}V${bottom}` });
		for (const e of ends)
			make(e, 'text', { x: Math.min(x, width - 1 - text.length * LETTER / 2),
				y: e.dataset.y }, text);
	}
};

const layout = () => {
	const span = width - left - right;
	for (const i of items) {
		const a = (i.f - from) / length * span, b = (i.f + i.n - from) / length * span;
		const x = Math.max(a, 0), end = Math.min(b, span), w = Math.max(end - x, flame ? 0 : .5);
		const seen = flame ? end - x >= .1 : b >= 0 && a <= span;
		i.seen = seen;
		i.g.style.display = seen ? '' : 'none';
		if (!seen)
			continue;
		set(i.rect, { x: left + x, width: w });
		if (flame)
			i.g.classList.toggle('up', !!zoomed && i.y > zoomed.y);
		if (!i.text && w > 30 && +i.rect.getAttribute('height') > 15)
			i.text = make(i.g, 'text', { y: i.y + 12 });
		if (i.text) {
			i.text.setAttribute('x', left + x + 3);
			// a lane is read as a whole: its bars have whole names, or none
			put(i.text, flame || i.label.length < (w - 6) / LETTER ?
				cut(i.label, (w - 6) / LETTER | 0) : '');
		}
	}
	let drawn = 0;
	for (const a of arrows) {
		const x = t => left + Math.min(t - from, length) / length * span;
		const seen = a.f >= from && a.f <= from + length && a.n / length * span >= 10 &&
			drawn++ < 50;
		set(a.e, { display: seen ? '' : 'none', d: `M${x(a.f)} ${a.y[0]}L${x(a.t)} ${a.y[1]}${a.head}` });
	}
	reset.style.display = from > 0 || length < total ? '' : 'none';
	if (!flame)
		axis();
};

const resize = () => {
	const w = Math.max(rect_of(svg).width, 360);
	if (w === width)
		return;
	width = w;
	box.setAttribute('x', width - 170);
	reset.setAttribute('x', width - 10);
	put(title, cut(heading, (width - 200) / 9.8 | 0));
	for (const k of keys)
		k.setAttribute('transform', `scale(${Math.min(1, (width - GAP) / keys_end)}\x201)`);
	for (const [e, s] of notes) {
		e.textContent = cut(s, (width - 2 * GAP) / LETTER | 0);
		make(e, 'title', {}, s);
	}
	layout();
	rest();
};

const zoom = (f, n, item) => {
	zoomed = item || null;
	length = Math.min(Math.max(n, flame ? 1 : total / 1e9), total);
	from = Math.min(Math.max(f, 0), total - length);
	layout();
	rest();
};

const zoom_item = i => flame ? zoom(i.f, i.n, i) :
	i.n ? zoom(i.f - i.n / 2, i.n * 2) : zoom(i.f - length / 8, length / 4);

// Say what is shown when the pointer is on no item.
const rest = () => say(matched || (zoomed && length < total ? 'Zoom:\x20' + zoomed.tip : subtitle));

// The head stays at the top of the window.
const follow = () => head.setAttribute('transform',
	`translate(0 ${Math.max(0, -rect_of(svg).top)})`);

const search = term => {
	let test = s => s.includes(term), n = 0, sum = 0, end = -1;
	try {
		// a term in lower case matches both cases
		const r = new RegExp(term, term === term.toLowerCase() ? 'i' : '');
		test = s => s.includes(term) || r.test(s);
	} catch (e) { /* the term is plain text */ }
	const hits = items.filter(i => {
		const hit = !!term && test(i.name);
		i.g.classList.toggle('hit', hit);
		return hit;
	});
	n = hits.length;
	// count the stacks of a frame once, also if frames above it match
	for (const i of hits.sort((a, b) => a.f - b.f || b.n - a.n))
		if (i.f >= end) {
			sum += i.n;
			end = i.f + i.n;
		}
	const lanes = labels.filter(l => {
		const hit = !!term && test(l.querySelector('title').textContent);
		l.classList.toggle('hit', hit);
		return hit;
	});
	svg.classList.toggle('searching', !!term);
	matched = !term ? '' : flame ?
		`Matched:\x20${(sum * 100 / total).toFixed(1)}%\x20(${n} frame${n === 1 ? '' : 's'},\x20` +
		`${sum} of ${total} ${svg.dataset.unit || 'stacks'})` :
		`Matched:\x20${lanes.length} lane${lanes.length === 1 ? '' : 's'},\x20` +
		`${n} mark${n === 1 ? '' : 's'}`;
	if (lanes.length) {
		scrollTo(0, rect_of(lanes[0]).top + scrollY - innerHeight / 2);
		follow();
	}
	rest();
};

// Return the nearest item in a direction, before the others the one that overlaps.
const beside = (i, dx, dy) => {
	const mid = j => j.f + j.n / 2;
	let best = null, least = Infinity;
	for (const j of items) {
		if (!j.seen || j === i || (dx ? j.y !== i.y || (mid(j) - mid(i)) * dx <= 0 :
		    (j.y - i.y) * dy <= 0))
			continue;
		const over = Math.max(j.f - i.f - i.n, i.f - j.f - j.n, 0) / total;
		const far = dx ? Math.abs(mid(j) - mid(i)) : Math.abs(j.y - i.y) + over - j.n / total / 2;
		if (far < least) {
			least = far;
			best = j;
		}
	}
	return best;
};

const at = e => item_of.get(e.target.closest('g[data-f]'));
on(svg, 'mouseover', e => { const i = at(e); if (i) say(i.tip); });
for (const a of arrows) {
	on(a.e, 'mouseover', () => say(a.tip));
	on(a.e, 'mouseout', () => rest());
}
on(svg, 'mouseout', e => { if (at(e)) rest(); });
on(svg, 'focusin', e => { const i = at(e); if (i) say(i.tip); });
on(reset, 'click', () => zoom(0, total));
on(input, 'input', () => search(input.value));

// A click zooms to the item, and on the time line a drag to what it covers.
const time_at = x => from + (x - left) / (width - left - right) * length;
const x_of = e => e.clientX - rect_of(svg).left;
const area = flame ? null : make(svg, 'rect', { class: 'area', y: head.dataset.height, height: 0 });
on(svg, 'mousedown', e => {
	from_x = e.button || head.contains(e.target) ? -1 : x_of(e);
	if (!flame && from_x >= 0)
		e.preventDefault();
});
on(svg, 'mousemove', e => {
	if (!area || from_x < left || !e.buttons)
		return;
	const x = Math.max(x_of(e), left);
	set(area, { x: Math.min(x, from_x), width: Math.abs(x - from_x), height: '100%' });
});
on(svg, 'mouseup', e => {
	const x = Math.max(x_of(e), left), i = at(e);
	if (area)
		area.setAttribute('height', 0);
	if (area && from_x >= left && Math.abs(x - from_x) > 4)
		zoom(time_at(Math.min(x, from_x)),
			Math.abs(x - from_x) / (width - left - right) * length);
	else if (from_x >= 0 && i)
		zoom_item(i);
	from_x = -1;
});

on(window, 'keydown', e => {
	const i = item_of.get(document.activeElement), key = e.key;
	const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0],
		ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
	const move = { w: [.25, .5], s: [-.5, 2], a: [-.25, 1], d: [.25, 1] }[key];
	if (((e.ctrlKey || e.metaKey) && key === 'f' || key === 'F3' || key === '/') &&
	    document.activeElement !== input) {
		input.focus({ preventScroll: true });
		input.select();
	} else if (key === 'Escape') {
		if (matched) {
			input.value = '';
			search('');
		} else {
			zoom(0, total);
		}
		input.blur();
	} else if (document.activeElement === input || e.ctrlKey || e.metaKey || e.altKey) {
		return;
	} else if ((key === 'Enter' || key === ' ') && (i || document.activeElement === reset)) {
		if (i)
			zoom_item(i);
		else
			zoom(0, total);
	} else if (arrow && i) {
		const next = beside(i, ...arrow);
		if (next)
			next.g.focus();
	} else if (!flame && move) {
		zoom(from + length * move[0], length * move[1]);
	} else {
		return;
	}
	e.preventDefault();
});

svg.removeAttribute('viewBox');
svg.setAttribute('width', '100%');
svg.style.minWidth = '360px';
on(window, 'scroll', follow);
on(window, 'resize', resize);
resize();
}
