#include "page/assets.hpp"

namespace quadrille::page {

std::string_view style() {  // NOLINT(readability-function-size): it is one text
  return R"(
:root {
  color-scheme: light dark;
  --paper: #f6f7f9; --card: #ffffff; --line: #dde2ea; --ink: #1e293b; --quiet: #56637a; --accent: #2563a8;
  --good: #0f766e; --track: #edf0f4; --grey: #b4bdca;
  --c0: #2563a8; --c1: #de7424; --c2: #189480; --c3: #9e46ac; --c4: #be8e08; --c5: #c8394f; --c6: #609630; --c7: #5c54cc;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #12161c; --card: #1a2029; --line: #2f3947; --ink: #e5e9f0; --quiet: #a3aec0; --accent: #7fb3ee;
    --good: #4fd1b5; --track: #242c38; --grey: #566376;
    --c0: #5a9be3; --c1: #f0954f; --c2: #3dbda6; --c3: #c77dd4; --c4: #d9ae38; --c5: #ea6c80; --c6: #8bc158; --c7: #938cf2;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main, header, footer { max-width: 1120px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 32px; }
h1 { margin: 0; font-size: 26px; line-height: 1.25; font-weight: 650; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h2 { margin: 0 0 4px; font-size: 18px; font-weight: 650; }
p { margin: 0 0 12px; max-width: 90ch; color: var(--quiet); }
.facts { display: flex; flex-wrap: wrap; gap: 2px 18px; margin: 6px 0 0; padding: 0; list-style: none; color: var(--quiet); }
.facts li { overflow-wrap: anywhere; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(190px, 1fr)); gap: 12px; margin: 22px 0 0; }
.tiles div, section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
.tiles div { display: flex; flex-direction: column; padding: 14px 16px 12px; }
.tiles dt { color: var(--quiet); font-size: 13px; }
.tiles dd { margin: 0; }
.tiles dd.v { font-size: 25px; line-height: 1.3; font-weight: 650; letter-spacing: -0.01em; font-variant-numeric: tabular-nums; }
.tiles .good dd.v { color: var(--good); }
.tiles dd.d { color: var(--quiet); font-size: 13px; line-height: 1.4; }
section { margin: 16px 0; padding: 18px 20px 20px; }
figure { margin: 18px 0 0; }
figcaption, caption { padding: 0 0 6px; text-align: left; font-weight: 600; font-size: 14px; }
.bars { display: grid; grid-template-columns: fit-content(14em) minmax(60px, 1fr) max-content; gap: 7px 12px; align-items: center;
  margin: 0; padding: 0; list-style: none; font-size: 14px; }
.bars li { display: contents; }
.l { overflow-wrap: anywhere; line-height: 1.3; }
.t { color: var(--quiet); text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.strong .l, .strong .t { font-weight: 650; color: var(--ink); }
.b { display: flex; height: 18px; background: var(--track); border-radius: 4px; overflow: hidden; }
.b i, .key i { --c: var(--grey); background: var(--c); }
.b i { min-width: 1px; }
.b i + i { border-left: 1px solid var(--card); }
.b i:hover { filter: brightness(1.12); }
i.e { --c: var(--track); } i.c0 { --c: var(--c0); } i.c1 { --c: var(--c1); } i.c2 { --c: var(--c2); } i.c3 { --c: var(--c3); }
i.c4 { --c: var(--c4); } i.c5 { --c: var(--c5); } i.c6 { --c: var(--c6); } i.c7 { --c: var(--c7); }
.b i.h, .key i.h { background: repeating-linear-gradient(-45deg, var(--c) 0 2px, transparent 2px 6px); box-shadow: inset 0 0 0 1px var(--c); }
.key { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 10px 0 0; padding: 0; list-style: none; font-size: 13px; color: var(--quiet); }
.key i.e { box-shadow: inset 0 0 0 1px var(--line); }
.key i { display: inline-block; width: 11px; height: 11px; margin-right: 6px; border-radius: 2px; vertical-align: -1px; }
.alone .b { height: 30px; }
.alone .bars { grid-template-columns: minmax(60px, 1fr); }
.scroll { overflow-x: auto; margin: 18px 0 0; }
table { width: 100%; border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { padding: 5px 10px; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; font-weight: 400; white-space: nowrap; }
th:first-child, td:first-child { padding-left: 0; }
th:last-child, td:last-child { padding-right: 0; }
.w { white-space: normal; overflow-wrap: anywhere; min-width: 12em; }
.n { text-align: right; }
thead th { color: var(--quiet); font-size: 13px; vertical-align: bottom; }
thead button { all: unset; cursor: pointer; border-radius: 3px; }
thead button:hover, th[aria-sort] button { color: var(--ink); }
thead button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
th[aria-sort] button::after { content: " \2191"; }
th[aria-sort=descending] button::after { content: " \2193"; }
tbody tr:hover { background: var(--track); }
small { display: block; color: var(--quiet); font-size: 13px; }
td .bars { grid-template-columns: 12em minmax(80px, 1fr) 8.6em; gap: 2px 8px; font-size: 13px; min-width: 29em; }
td .b { height: 11px; border-radius: 3px; }
tbody tr:hover .b { background: var(--line); }
.more { margin: 8px 0 0; font-size: 13px; }
svg { max-width: 100%; height: auto; }
.tip { position: fixed; z-index: 1; max-width: 24em; padding: 5px 9px; border-radius: 6px; background: var(--ink); color: var(--card);
  font-size: 13px; line-height: 1.4; white-space: pre-line; pointer-events: none; }
footer { padding-bottom: 32px; font-size: 13px; color: var(--quiet); }
@media (min-width: 860px) {
  .pair { display: grid; grid-template-columns: 1fr 1fr; gap: 0 36px; }
}
@media (max-width: 560px) {
  main, header, footer { padding: 0 12px; }
  header { padding-top: 18px; }
  .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 8px; }
  .tiles div { padding: 10px 12px; }
  .tiles dd.v { font-size: 20px; }
  section { padding: 14px 12px; }
  .bars { grid-template-columns: fit-content(11em) minmax(50px, 1fr) max-content; gap: 7px 8px; }
}
@media print {
  body, p, table, .bars { font-size: 12px; }
  body { background: none; }
  main, header, footer { max-width: none; padding: 0; }
  p { max-width: none; }
  h1 { font-size: 22px; }
  .tiles { grid-template-columns: repeat(auto-fit, minmax(120px, 1fr)); gap: 8px; }
  .tiles div { padding: 8px 10px; }
  .tiles dd.v { font-size: 18px; }
  section { border: 0; padding: 0; }
  h2, section p, thead { break-after: avoid; }
  figure, .tiles div, tr { break-inside: avoid; }
  .scroll { overflow: visible; }
  .b, .b i, .key i { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
)";
}

std::string_view script() {
  return R"(
(function () {
  'use strict';
  function key(row, column) {
    var cell = row.cells[column];
    return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
  }
  function order(a, b) {
    if (typeof a === 'number') { if (typeof b === 'number') { return a - b; } }
    return String(a).localeCompare(String(b), undefined, { numeric: true });
  }
  document.querySelectorAll('table').forEach(function (table) {
    var heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach(function (head, column) {
      var button = document.createElement('button');
      button.type = 'button';
      button.textContent = head.textContent;
      head.textContent = '';
      head.appendChild(button);
      button.addEventListener('click', function () {
        var was = head.getAttribute('aria-sort');
        var down = was ? was === 'ascending' : head.classList.contains('n');
        heads.forEach(function (other) { other.removeAttribute('aria-sort'); });
        head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        var body = table.tBodies[0];
        var rows = Array.from(body.rows);
        rows.sort(function (a, b) { return (down ? -1 : 1) * order(key(a, column), key(b, column)); });
        rows.forEach(function (row) { body.appendChild(row); });
      });
    });
  });
  var tip = document.createElement('div');
  tip.className = 'tip';
  tip.hidden = true;
  document.body.appendChild(tip);
  document.querySelectorAll('.b [title]').forEach(function (part) {
    part.dataset.tip = part.title;
    part.removeAttribute('title');
  });
  document.addEventListener('pointermove', function (event) {
    var part = event.target.closest ? event.target.closest('[data-tip]') : null;
    tip.hidden = part === null;
    if (part === null) { return; }
    tip.textContent = part.dataset.tip;
    tip.style.left = Math.max(4, Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8)) + 'px';
    tip.style.top = Math.max(4, event.clientY - tip.offsetHeight - 10) + 'px';
  });
  document.addEventListener('pointerleave', function () { tip.hidden = true; });
  addEventListener('scroll', function () { tip.hidden = true; }, { passive: true });
})();
)";
}

}  // namespace quadrille::page
