#include "page/assets.hpp"

namespace quadrille::page {

std::string_view stepper_drawing() {  // NOLINT(readability-function-size): it is one text
  return R"(
(function () {
  'use strict';
  const root = document.querySelector('.stepper');
  const data = JSON.parse(root.querySelector('script').textContent);
  const columns = data.columns;
  const digits = new Map(Array.from('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_').map((c, i) => [c, i]));
  function each(text, widths, visit) {
    let at = 0;
    while (text.length > at) {
      visit(...widths.map((width) => {
        let number = 0;
        for (const end = at + width; end > at; at++) { number = 64 * number + digits.get(text.charAt(at)); }
        return number;
      }));
    }
  }
  const sets = [];
  // Eleven digits of six bits each.
  each(data.sets, Array(11).fill(1), (...digits_of_set) => {
    const set = [];
    digits_of_set.reverse().forEach((digit, i) => {
      for (let bit = 0; 6 > bit; bit++) { if (Math.floor(digit / 2 ** bit) % 2 === 1) { set.push(6 * i + bit); } }
    });
    sets.push(set);
  });
  function name_set(set) {
    const runs = [];
    set.forEach((one) => {
      const last = runs.at(-1);
      if (last ? last.end + 1 === one : false) { last.end = one; } else { runs.push({ begin: one, end: one }); }
    });
    return data.noun + (set.length === 1 ? ' ' : 's ') + runs.map((run) => run.begin === run.end ? run.begin : run.begin + '\u2013' + run.end).join(', ');
  }
  const things = [];
  each(data.things[1], data.things[0], (what, whose, colour) => {
    const set = sets.at(whose);
    things.push({ what: data.whats.at(what), set: set, colour: colour, share: data.combined ? set.length / columns : 1,
      mark: data.combined ? set.length : data.sourced ? set.at(0) : data.marks.at(what) });
  });
  function text_of_thing(thing) {
    if (thing.set.length === 0) { return thing.what; }
    const combined = data.combined ? thing.set.length > 1 : false;
    const all = thing.set.length === columns ? 'all ' + columns + ' ' + data.noun + 's' : name_set(thing.set);
    return thing.what + (combined ? ' combined from ' : ' of ') + all + (combined ? columns > thing.set.length ? ' (' + thing.set.length + ' of ' + columns + ')' : '' : '');
  }
  const kinds = data.kinds.map((kind) => ({ name: kind[0], line: kind[1], square: kind[2], signal: kind[3] === 1, several: kind[4] }));
  const looks = data.looks.map((look) => ({ kind: kinds.at(look[0]), width: look[1], hollow: look[2] === 1, around: look[3] === 1, amount: look[4] }));
  const arrows = data.arrows[1].map((text) => {
    const all = [];
    each(text, data.arrows[0], (from, to, look, thing) => {
      all.push(Object.assign({ from: from, to: to, thing: thing === 0 ? null : things.at(thing - 1) }, looks.at(look)));
    });
    return all;
  });
  const changes = data.changes[1].map((text) => {
    const all = [];
    each(text, data.changes[0], (column, row, thing) => { all.push({ column: column, row: row, thing: thing }); });
    return all;
  });
  const rows = [];
  data.groups.forEach((group) => {
    group.rows.forEach((name, i) => { rows.push({ group: group.name, name: name, has: group.has[i] || '1'.repeat(columns), first: i === 0 }); });
  });

  const find = (what) => root.querySelector(what);
  const slider = find('input[type=range]');
  const select = find('select');
  const checkbox = find('.signals');
  const stage = find('.stage');
  const flow = find('.flow .pane');
  const held = find('.held .pane');
  let step = 0;
  let followed = -1;
  let timer = 0;
  let ready = false;
  // What is in each cell now: by column and row.
  let cells = [];
  let drawn = new Map();

  function text_of(arrow) {
    return [arrow.amount, arrow.thing ? text_of_thing(arrow.thing) : '', arrow.kind.name].filter(Boolean);
  }
  function svg(tag, attributes, parent) {
    const element = document.createElementNS(root.querySelector('svg').namespaceURI, tag);
    Object.entries(attributes).forEach((pair) => element.setAttribute(pair[0], pair[1]));
    if (parent) { parent.appendChild(element); }
    return element;
  }
  function html(tag, name, parent, text) {
    const element = document.createElement(tag);
    if (name) { element.className = name; }
    if (text !== undefined) { element.textContent = text; }
    parent.appendChild(element);
    return element;
  }
  const round = (x) => Math.round(10 * x) / 10;
  const points = (...all) => all.map((p) => round(p.x) + ' ' + round(p.y)).join('L');

  function bands() {
    const all = [];
    data.bands.forEach((band, column) => {
      const last = all.at(-1);
      if (last ? last.band === band : false) { last.end = column + 1; } else { all.push({ band: band, begin: column, end: column + 1 }); }
    });
    return all;
  }

  // Columns as wide as there is room for, their heads, and the bands behind them.
  function layout(pane, left, most) {
    const wide = Math.max(15, Math.min(most, (pane.clientWidth - left - 4) / columns));
    const at = { left: left, wide: wide, width: Math.ceil(left + wide * columns + 2), x: (column) => left + wide * (column + 0.5) };
    pane.textContent = '';
    const heads = html('div', 'heads', pane);
    const named = data.bands.length > 0;
    heads.style.width = at.width + 'px';
    heads.style.height = (named ? 50 : 32) + 'px';
    if (named) {
      bands().forEach((band) => {
        const room = wide * (band.end - band.begin);
        const label = html('span', '', heads, room > 52 ? data.band + ' ' + band.band : String(band.band));
        label.style.left = at.left + wide * band.begin + 'px';
        label.style.width = room + 'px';
      });
    }
    for (let column = 0; columns > column; column++) {
      const button = html('button', 'r', heads, String(column));
      const size = Math.min(34, wide - 2);
      button.type = 'button';
      button.tabIndex = -1;
      button.setAttribute('aria-label', 'follow ' + data.noun + ' ' + column);
      button.style.left = at.x(column) - size / 2 + 'px';
      button.style.width = size + 'px';
      button.style.height = '24px';
      button.style.fontSize = Math.min(13, wide * 0.6) + 'px';
      button.addEventListener('click', () => follow(followed === column ? -1 : column));
    }
    return at;
  }
  function draw_bands(picture, at, height) {
    bands().forEach((band) => {
      svg('rect', { class: 'band', x: round(at.left + at.wide * band.begin + 1.5), y: 0, width: round(at.wide * (band.end - band.begin) - 3),
        height: height, rx: 6 }, picture);
    });
  }

  const line_names = ['', ' dashed', ' chained', ' dotted'];
  function draw_arrow(parent, arrow, at, top, tall) {
    const colour = arrow.thing ? ' k' + arrow.thing.colour : '';
    const g = svg('g', { class: 'a w' + arrow.width + line_names[arrow.kind.line] + (arrow.hollow ? ' hollow' : '') +
      (arrow.kind.signal ? ' signal' : '') + colour }, parent);
    const turn = arrow.around ? (arrow.from > arrow.to ? 1 : -1) * at.wide * columns : 0;
    const squared = arrow.kind.square === 2 ? 5 : 1;
    (turn === 0 ? [0] : [0, -turn]).forEach((shift) => {
      const from = { x: at.x(arrow.from) + shift, y: top + 8 };
      const to = { x: at.x(arrow.to) + turn + shift, y: top + tall - 9 };
      const length = Math.hypot(to.x - from.x, to.y - from.y);
      const along = { x: (to.x - from.x) / length, y: (to.y - from.y) / length };
      const tip = { x: to.x - along.x * squared, y: to.y - along.y * squared };
      const head = Math.min((columns > 24 ? 5 : 7) + arrow.width, length / 2);
      const base = { x: tip.x - along.x * head, y: tip.y - along.y * head };
      const half = 0.42 * head;
      const d = 'M' + points(from, base);
      svg('path', { class: 's', d: d }, g);
      svg('path', { class: 'h', d: 'M' + points(tip, { x: base.x - along.y * half, y: base.y + along.x * half },
        { x: base.x + along.y * half, y: base.y - along.x * half }) + 'Z' }, g);
      svg('path', { class: 'x', d: 'M' + points(from, tip) }, g);
      const square = (p) => svg('rect', { class: 'q', x: round(p.x - 4), y: round(p.y - 4), width: 8, height: 8 }, g);
      if (arrow.kind.square === 1) { square(from); } else { svg('circle', { class: 't', cx: round(from.x), cy: round(from.y), r: 1.6 + arrow.width / 2 }, g); }
      if (arrow.kind.square === 2) { square(to); }
    });
    arrow.element = g;
    g.__arrow = arrow;
  }
  function draw_flow() {
    const at = layout(flow, 44, 84);
    const farthest = Math.max(0, ...arrows.flat().filter((arrow) => !arrow.around).map((arrow) => Math.abs(arrow.to - arrow.from)));
    const tall = Math.round(Math.min(84, 44 + 1.2 * farthest));
    flow.classList.toggle('fine', columns > 24);
    const height = Math.max(1, data.steps) * tall + 8;
    const picture = svg('svg', { width: at.width, height: height, role: 'img', 'aria-label': find('.flow figcaption').textContent +
      ', all steps from top to bottom; they are listed below for each step' }, flow);
    svg('path', { d: 'M' + at.left + ' 0H' + at.width + 'V' + height + 'H' + at.left + 'Z' }, svg('clipPath', { id: 'lanes' }, picture));
    draw_bands(picture, at, height);
    for (let column = 0; columns > column; column++) {
      const x = round(at.x(column));
      svg('path', { class: 'life', d: 'M' + x + ' 0V' + height }, picture);
      const from = data.done[column];
      if (from > -1) { svg('path', { class: 'life done', d: 'M' + x + ' ' + (from === 0 ? 0 : from * tall - 9) + 'V' + height }, picture); }
    }
    arrows.forEach((all, number) => {
      if (number === 0) { return; }
      const top = (number - 1) * tall;
      const g = svg('g', { class: 'step' }, picture);
      const label = svg('text', { x: 36, y: top + tall / 2 + 4, 'text-anchor': 'end' }, g);
      label.textContent = number;
      svg('rect', { class: 'time', x: 2, y: top + 1, width: at.width - 4, height: tall - 2, rx: 5 }, g).addEventListener('click', () => go(number));
      const inside = svg('g', { class: 'arrows', 'clip-path': 'url(#lanes)' }, g);
      all.forEach((arrow) => draw_arrow(inside, arrow, at, top, tall));
    });
    flow.tall = tall;
  }

  let place = null;
  function draw_held() {
    if (!held) { return; }
    const names = Math.max(...rows.map((row) => row.name.length));
    const at = layout(held, Math.min(130, Math.max(44, 6.4 * names + 12)), 84);
    const high = rows.length > 96 ? 6 : rows.length > 40 ? 10 : rows.length > 26 ? 15 : 20;
    let y = 0;
    rows.forEach((row) => {
      if (row.first) { y += 24; }
      row.y = y;
      y += high;
    });
    const height = y + 6;
    const picture = svg('svg', { width: at.width, height: height, role: 'img', 'aria-label': find('.held figcaption').textContent +
      ', a column each; follow one to have it listed below' }, held);
    draw_bands(picture, at, height);
    let labelled = -100;
    rows.forEach((row) => {
      if (row.first) { svg('text', { class: 'title', x: 2, y: row.y - 6 }, picture).textContent = row.group; }
      if (row.first) { labelled = -100; }
      if (row.y - labelled >= 14) {
        labelled = row.y;
        svg('text', { class: 'name', x: at.left - 6, y: row.y + Math.min(high, 14) / 2 + 4, 'text-anchor': 'end' }, picture).textContent = row.name;
      }
      let d = '';
      Array.from(row.has).forEach((bit, column) => {
        if (bit === '1') { d += 'M' + round(at.x(column) - at.wide / 2 + 1) + ' ' + row.y + 'h' + round(at.wide - 2) + 'v' + (high - 1) + 'h' + round(2 - at.wide) + 'z'; }
      });
      svg('path', { class: 'e', d: d }, picture);
    });
    const lanes = [];
    for (let column = 0; columns > column; column++) { lanes.push(svg('g', { class: 'col' }, picture)); }
    const marked = high > 12 ? at.wide > 19 : false;
    picture.classList.toggle('soft', marked);
    place = { at: at, high: high, lanes: lanes, marked: marked };
    drawn = new Map();
    cells.forEach((lane, column) => lane.forEach((thing, row) => { if (thing > -1) { draw_cell(column, row); } }));
  }
  function draw_cell(column, row) {
    const key = column + 64 * row;
    const thing = cells[column][row];
    let cell = drawn.get(key);
    if (thing === -1) {
      if (cell) { cell.group.remove(); }
      drawn.delete(key);
      return;
    }
    const of = things[thing];
    const left = place.at.x(column) - place.at.wide / 2 + 1;
    const wide = place.at.wide - 2;
    if (!cell) {
      cell = { group: svg('g', {}, place.lanes[column]) };
      cell.fill = svg('rect', { x: round(left), y: rows[row].y, height: place.high - 1 }, cell.group);
      cell.fill.__cell = { column: column, row: row };
      if (place.marked) { cell.mark = svg('text', { class: 'm', x: round(left + wide / 2), y: rows[row].y + place.high / 2 + 3.5 }, cell.group); }
      drawn.set(key, cell);
    }
    cell.fill.setAttribute('class', 'f c k' + of.colour);
    cell.fill.setAttribute('width', round(Math.max(2, wide * of.share)));
    if (cell.mark) { cell.mark.textContent = of.mark === undefined ? '' : of.mark; }
  }

  function apply(change, touched) {
    cells[change.column][change.row] = change.thing;
    touched.add(change.column + 64 * change.row);
  }
  // The state after a step is that of the step before with its changes.
  function set_cells(to) {
    const touched = new Set();
    if (step > to) {
      cells.forEach((lane, column) => lane.forEach((thing, row) => { if (thing > -1) { touched.add(column + 64 * row); } }));
      cells = cells.map((lane) => lane.map(() => -1));
      step = -1;
    }
    while (to > step) {
      step++;
      changes[step].forEach((change) => apply(change, touched));
    }
    if (!place) { return; }
    touched.forEach((key) => draw_cell(key % 64, Math.floor(key / 64)));
  }
  function mark_new() {
    if (!place) { return; }
    root.querySelectorAll('.held .new').forEach((one) => one.remove());
    if (step === 0) { return; }
    changes[step].forEach((change) => {
      svg('rect', { class: 'new', x: round(place.at.x(change.column) - place.at.wide / 2 + 1.5), y: rows[change.row].y + 0.5,
        width: round(place.at.wide - 3), height: place.high - 2 }, place.lanes[change.column]);
    });
  }
)";
}

}  // namespace quadrille::page
