#include "page/assets.hpp"

namespace quadrille::page {

std::string_view stepper_style() {  // NOLINT(readability-function-size): it is one text
  return R"(
html { overflow-y: scroll; }
main, header, footer { max-width: 1560px; }
h3 { margin: 0 0 6px; font-size: 14px; font-weight: 650; }
.stepper { --k: var(--accent); --band: #e9eef6; --soft: 0.36; }
@media screen and (prefers-color-scheme: dark) { .stepper { --band: #232d3b; --soft: 0.5; } }
.controls { position: sticky; top: 0; z-index: 3; display: flex; flex-wrap: wrap; align-items: center; gap: 8px 16px; margin: 0 -20px;
  padding: 8px 20px; background: var(--card); font-size: 14px; }
.buttons { display: inline-flex; gap: 4px; }
.controls button { display: inline-flex; padding: 7px 9px; border: 1px solid var(--line); border-radius: 7px; background: var(--card);
  color: var(--ink); cursor: pointer; }
.controls button:hover { background: var(--track); }
.controls button svg { fill: currentColor; }
.controls button:disabled { color: var(--grey); cursor: default; }
.controls input[type=range] { flex: 1 1 160px; min-width: 120px; accent-color: var(--accent); }
.controls select { max-width: 10em; padding: 5px 6px; border: 1px solid var(--line); border-radius: 7px; background: var(--card);
  color: var(--ink); font: inherit; }
.controls label { white-space: nowrap; }
.controls input[type=checkbox] { accent-color: var(--accent); vertical-align: -1px; }
.where { min-width: 7.5em; font-variant-numeric: tabular-nums; font-weight: 650; }
.stepper :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.now { min-height: 1.5em; margin: 2px 0 0; max-width: none; }
.stage { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 28px; align-items: start; }
.stage figure { min-width: 0; margin: 10px 0 0; }
@media (min-width: 900px) { .stage.pair { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); } }
.pane { position: relative; overflow: auto; scrollbar-gutter: stable; scrollbar-width: thin; scrollbar-color: var(--grey) transparent; max-height: max(300px, calc(100vh - 280px)); }
.heads { position: sticky; top: 0; z-index: 2; background: var(--card); }
.heads span { position: absolute; top: 0; overflow: hidden; text-align: center; white-space: nowrap; font-size: 12px; color: var(--quiet); }
.heads button { position: absolute; bottom: 4px; }
.r { padding: 0; border: 1.5px solid var(--grey); border-radius: 6px; background: var(--card); color: var(--ink);
  font: 600 13px/1 system-ui, sans-serif; font-variant-numeric: tabular-nums; cursor: pointer; }
.r.done { border-color: var(--good); background: var(--good); color: var(--card); }
.heads .r:hover, .r.followed { box-shadow: 0 0 0 2px var(--card), 0 0 0 4px var(--accent); z-index: 1; }
b.r { display: inline-block; width: 22px; padding: 2px 0; text-align: center; font-size: 11px; cursor: default; }
.pane svg { display: block; max-width: none; }
.pane text { fill: var(--quiet); font-size: 12px; font-variant-numeric: tabular-nums; }
.pane text.name { font-size: 11px; }
.pane text.title { font-weight: 650; fill: var(--ink); }
.band { fill: var(--band); }
.life { stroke: var(--grey); stroke-width: 1; }
.life.done { stroke: var(--good); stroke-width: 2.5; }
.time { fill: transparent; cursor: pointer; }
.time:hover { fill: var(--ink); fill-opacity: 0.04; }
.step.now .time { fill: var(--accent); fill-opacity: 0.13; }
.step.now text { fill: var(--ink); font-weight: 650; }
.step .arrows { opacity: 0.3; transition: opacity 0.15s; }
.step.now .arrows { opacity: 1; }
.a .s { fill: none; stroke: var(--k); stroke-width: 2; }
.a .x { fill: none; stroke: transparent; stroke-width: 11; pointer-events: stroke; }
.a .h, .a .t { fill: var(--k); }
.a .q { fill: var(--card); stroke: var(--k); stroke-width: 1.6; }
.w1 .s { stroke-width: 1.3; } .w3 .s { stroke-width: 2.8; } .w4 .s { stroke-width: 3.6; }
.dashed .s { stroke-dasharray: 7 4; } .chained .s { stroke-dasharray: 9 3 2 3; } .dotted .s { stroke-dasharray: 1.5 4; stroke-width: 1.5; }
.dotted { --k: var(--quiet); }
.fine .a .s { stroke-width: 1.1; }
.hollow .h { fill: var(--card); stroke: var(--k); stroke-width: 1.4; stroke-linejoin: round; }
.follow .a { opacity: 0.1; }
.follow .a.mine { opacity: 1; }
.follow .step:not(.now) .a.mine { opacity: 1; }
.follow .step:not(.now) .arrows { opacity: 0.55; }
.lit .step.now .a { opacity: 0.12; }
.lit .step.now .a.here { opacity: 1; }
.nosignals .signal { display: none; }
.e { fill: var(--track); stroke: var(--line); stroke-width: 0.75; }
.f { fill: var(--k); }
.f.c { fill-opacity: 1; }
.soft .f.c { fill-opacity: var(--soft); }
.new { fill: none; stroke: var(--ink); stroke-width: 1.75; pointer-events: none; }
.pane text.m { fill: var(--ink); font-size: 11px; text-anchor: middle; pointer-events: none; }
.follow .col { opacity: 0.22; }
.follow .col.mine { opacity: 1; }
.signs { align-items: center; margin-top: 14px; }
.signs li { display: inline-flex; align-items: center; gap: 7px; }
.signs svg { display: block; }
.lists { display: grid; gap: 14px 28px; margin-top: 18px; }
@media (min-width: 900px) { .lists { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); } }
.lists ul { max-height: 320px; overflow: auto; margin: 0; padding: 2px; list-style: none; font-size: 13px; }
.lists li { border-bottom: 1px solid var(--line); }
.lists button { all: unset; display: block; width: 100%; padding: 3px 4px; box-sizing: border-box; border-radius: 4px; cursor: default; }
.lists button:hover, .lists button:focus { background: var(--track); }
.lists button:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
.lists b { display: inline-block; min-width: 5.2em; margin-right: 0.9em; font-variant-numeric: tabular-nums; }
.lists .k { display: inline-block; width: 10px; height: 10px; margin-right: 7px; border-radius: 2px; background: var(--k); }
.lists .plain { padding: 3px 4px; overflow-wrap: anywhere; }
.lists .group { padding: 5px 4px 2px; color: var(--quiet); }
@media (max-width: 560px) {
  .controls { margin: 0 -12px; padding: 6px 12px; gap: 6px 12px; }
  .controls button { padding: 6px 7px; }
  .pane { max-height: 70vh; }
}
@media (prefers-reduced-motion: reduce) { .step .arrows { transition: none; } }
@media print { .controls, .now { display: none; } .pane, .lists ul { max-height: none; overflow: visible; } }
)";
}

}  // namespace quadrille::page
