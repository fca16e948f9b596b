#include "page/assets.hpp"

namespace quadrille::page {

std::string_view stepper_controls() {  // NOLINT(readability-function-size): it is one text
  return R"(
  const touches = (arrow) => followed === -1 ? true : arrow.from === followed ? true : arrow.to === followed;
  const shown = (arrow) => arrow.kind.signal ? !checkbox || checkbox.checked : true;
  function name_all(all) { return Array.from(new Set(all)).slice(0, 8).join(', ') + (all.length > 8 ? ', ...' : ''); }

  function say() {
    const all = arrows[step].filter(shown);
    const done = data.done.filter((from) => from > -1).length;
    const ready = data.done.filter((from) => from > -1 ? step >= from : false).length;
    const parts = [step === 0 ? 'Before the first step.' : 'Step ' + step + ' of ' + data.steps + ': ' + (all.length === 0 ? 'nothing is sent.' :
      kinds.map((kind) => ({ kind: kind, count: all.filter((arrow) => arrow.kind === kind).length })).filter((one) => one.count > 0)
        .map((one) => one.count + ' ' + (one.count === 1 ? one.kind.name : one.kind.several)).join(', ') + '.')];
    if (followed > -1) {
      const named = all.some((arrow) => !arrow.kind.signal) ? all.filter((arrow) => !arrow.kind.signal) : all;
      const to = named.filter((arrow) => arrow.from === followed).map((arrow) => arrow.to);
      const from = named.filter((arrow) => arrow.to === followed).map((arrow) => arrow.from);
      parts.push('From ' + data.noun + ' ' + followed + (to.length > 0 ? ' to ' + name_all(to) : ' nothing') + ', to it ' +
        (from.length > 0 ? 'from ' + name_all(from) : 'nothing') + '.');
    }
    if (done > 0) { parts.push(ready + ' of ' + done + ' ' + data.noun + 's ' + (ready === 1 ? 'has its result.' : 'have their result.')); }
    find('.now').textContent = parts.join(' ');
    find('.where').textContent = 'step ' + step + ' of ' + data.steps;
    slider.value = step;
    slider.setAttribute('aria-valuetext', 'step ' + step + ' of ' + data.steps);
  }
  function light(arrow) {
    root.querySelectorAll('.here').forEach((one) => one.classList.remove('here'));
    flow.classList.toggle('lit', arrow !== null);
    if (arrow) { arrow.element.classList.add('here'); }
  }
  function list_moves() {
    const list = find('.moves ul');
    list.textContent = '';
    find('.moves h3').textContent = step === 0 ? 'Nothing is sent yet' : 'What is sent in step ' + step + (followed > -1 ? ' from or to ' + data.noun + ' ' + followed : '');
    arrows[step].filter(shown).filter(touches).forEach((arrow) => {
      const button = html('button', '', html('li', '', list));
      button.type = 'button';
      if (arrow.thing) { html('span', 'k k' + arrow.thing.colour, button); } else { html('span', 'k', button).style.visibility = 'hidden'; }
      html('b', '', button, arrow.from + ' \u2192 ' + arrow.to);
      button.append(text_of(arrow).join(' \u00b7 '));
      button.addEventListener('focus', () => light(arrow));
      button.addEventListener('blur', () => light(null));
      button.addEventListener('pointerenter', () => light(arrow));
      button.addEventListener('pointerleave', () => light(null));
    });
    light(null);
  }
  function list_cells() {
    const list = find('.holds ul');
    list.textContent = '';
    find('.holds').hidden = rows.length === 0;
    if (followed === -1) {
      find('.holds h3').textContent = 'What a ' + data.noun + ' holds';
      html('li', 'plain', list, 'Follow a ' + data.noun + ', by a click on its number or by the list above, and what it holds is listed here.');
      return;
    }
    find('.holds h3').textContent = 'What ' + data.noun + ' ' + followed + (step === 0 ? ' holds at the start' : ' holds after step ' + step);
    let group = '';
    rows.forEach((row, number) => {
      if (row.has.charAt(followed) !== '1') { return; }
      if (row.group !== group) { group = row.group; html('li', 'group', list, group); }
      const thing = cells[followed][number];
      const line = html('li', 'plain', list);
      html('span', thing === -1 ? 'k' : 'k k' + things[thing].colour, line).style.visibility = thing === -1 ? 'hidden' : 'visible';
      html('b', '', line, row.name);
      line.append(thing === -1 ? 'nothing yet' : text_of_thing(things[thing]));
    });
  }
  function show_heads() {
    root.querySelectorAll('.heads').forEach((heads) => {
      heads.querySelectorAll('button').forEach((button, column) => {
        const from = data.done[column];
        button.classList.toggle('done', from > -1 ? step >= from : false);
        button.classList.toggle('followed', column === followed);
        button.setAttribute('aria-pressed', column === followed);
      });
    });
  }
  function remember() {
    if (!ready) { return; }
    const words = [];
    if (step > 0) { words.push('step=' + step); }
    if (followed > -1) { words.push(data.noun + '=' + followed); }
    try { history.replaceState(null, '', '#' + words.join(',')); } catch (error) { /* A frame may forbid it. */ }
  }
  function refresh() {
    say();
    show_heads();
    mark_new();
    list_moves();
    list_cells();
    find('.first').disabled = step === 0;
    find('.back').disabled = step === 0;
    find('.next').disabled = step === data.steps;
    find('.last').disabled = step === data.steps;
  }
  function scroll_to_step() {
    const top = Math.max(0, (step - 1) * flow.tall);
    const head = flow.querySelector('.heads').offsetHeight;
    const room = flow.clientHeight - head;
    if (flow.scrollTop > top) { flow.scrollTop = top; }
    if (top + 2 * flow.tall > flow.scrollTop + room) { flow.scrollTop = top + 2 * flow.tall - room; }
  }
  function go(to) {
    const next = Math.max(0, Math.min(data.steps, to));
    root.querySelectorAll('.step.now').forEach((one) => one.classList.remove('now'));
    set_cells(next);
    if (step > 0) { flow.querySelectorAll('.step')[step - 1].classList.add('now'); }
    refresh();
    scroll_to_step();
    remember();
  }
  function follow(column) {
    followed = column;
    select.value = String(column);
    [flow, held].filter(Boolean).forEach((pane) => pane.classList.toggle('follow', column > -1));
    arrows.forEach((all) => all.forEach((arrow) => arrow.element.classList.toggle('mine', touches(arrow))));
    if (place) { place.lanes.forEach((lane, number) => lane.classList.toggle('mine', number === column)); }
    refresh();
    remember();
  }
  function play(on) {
    clearInterval(timer);
    timer = on ? setInterval(() => { if (step === data.steps) { play(false); } else { go(step + 1); } }, data.steps > 40 ? 350 : 1000) : 0;
    const button = find('.play');
    button.setAttribute('aria-label', on ? 'Pause' : 'Play');
    button.title = (on ? 'Pause' : 'Play') + ' (space)';
    button.querySelector('path').setAttribute('d', on ? 'M3 2H7V14H3ZM9 2H13V14H9Z' : 'M4 2L14 8L4 14Z');
    if (on) { go(step === data.steps ? 0 : step + 1); }
  }
  function by_hand(to) {
    play(false);
    go(to);
  }

  find('.first').addEventListener('click', () => by_hand(0));
  find('.back').addEventListener('click', () => by_hand(step - 1));
  find('.play').addEventListener('click', () => play(timer === 0));
  find('.next').addEventListener('click', () => by_hand(step + 1));
  find('.last').addEventListener('click', () => by_hand(data.steps));
  slider.addEventListener('input', () => by_hand(Number(slider.value)));
  select.addEventListener('change', () => follow(Number(select.value)));
  if (checkbox) {
    checkbox.addEventListener('change', () => {
      flow.classList.toggle('nosignals', !checkbox.checked);
      refresh();
    });
  }
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) { return; }
    const on = event.target.closest ? event.target : document.body;
    if (on.closest('select, input')) { return; }
    const inside = on.closest('.stepper') || on === document.body;
    const keys = { ArrowLeft: () => by_hand(step - 1), ArrowRight: () => by_hand(step + 1), Escape: () => follow(-1) };
    if (inside) {
      keys.Home = () => by_hand(0);
      keys.End = () => by_hand(data.steps);
      if (!on.closest('button')) { keys[' '] = () => play(timer === 0); }
    }
    if (!keys[event.key]) { return; }
    event.preventDefault();
    keys[event.key]();
  });
  // The page's tip shows what is set here.
  root.addEventListener('pointerover', (event) => {
    const part = event.target.closest ? event.target.closest('.a, .c') : null;
    if (!part) { return; }
    if (part.__arrow) {
      part.dataset.tip = [data.noun + ' ' + part.__arrow.from + ' to ' + part.__arrow.to].concat(text_of(part.__arrow)).join('\n');
    } else if (part.__cell) {
      const cell = part.__cell;
      part.dataset.tip = [data.noun + ' ' + cell.column + ', ' + rows[cell.row].group + ', ' + rows[cell.row].name, text_of_thing(things.at(cells[cell.column].at(cell.row)))].join('\n');
    }
  });

  function draw() {
    const wide = stage.clientWidth > 840;
    stage.classList.toggle('pair', wide ? Boolean(held) ? 20 >= columns : false : false);
    draw_flow();
    draw_held();
    if (step > 0) { flow.querySelectorAll('.step')[step - 1].classList.add('now'); }
    follow(followed);
    scroll_to_step();
  }
  function from_address() {
    const asked = new Map(location.hash.slice(1).split(',').map((word) => word.split('=')));
    const column = Number(asked.get(data.noun) || -1);
    if (column > -1 ? columns > column : false) { follow(column); }
    go(Number(asked.get('step') || 0) || 0);
  }
  for (let column = 0; columns > column; column++) { cells.push(rows.map(() => -1)); }
  changes[0].forEach((change) => { cells[change.column][change.row] = change.thing; });
  let width = innerWidth;
  addEventListener('resize', () => {
    if (width === innerWidth) { return; }
    width = innerWidth;
    draw();
  });
  addEventListener('hashchange', from_address);
  draw();
  from_address();
  ready = true;
})();
)";
}

}  // namespace quadrille::page
