#pragma once

#include "draw/arrow.hpp"
#include "draw/canvas.hpp"
#include "draw/page.hpp"
#include "draw/palette.hpp"
#include "draw/timeline.hpp"

namespace quadrille::draw {

void draw_fold(Canvas& canvas, Point centre, double radius);

// Lifelines: before a rank holds its result, and from then on.
std::string lifeline_stroke(bool holds, double scale);

// Explains what occurs in this picture and nothing else; returns the height it takes.
double draw_legend(Canvas& canvas, const Timeline& timeline, const Palette& palette, const Arrows& arrows,
                   const Page& page);

}  // namespace quadrille::draw
