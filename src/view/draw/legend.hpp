#pragma once

#include "draw/arrow.hpp"
#include "draw/canvas.hpp"
#include "draw/palette.hpp"
#include "draw/sheet.hpp"
#include "draw/timeline.hpp"

namespace quadrille::draw {

void draw_fold(Canvas& canvas, Point centre, double radius);

// The lifeline of a rank, before and after it holds its result.
std::string lifeline_stroke(bool holds, double scale);

// Explains only what occurs in this drawing; returns the height.
double draw_legend(Canvas& canvas, const Timeline& timeline, const Palette& palette, const Arrows& arrows,
                   const Sheet& sheet);

}  // namespace quadrille::draw
