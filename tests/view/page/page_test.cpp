#include "page/page.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "draw/xml.hpp"
#include "page/assets.hpp"

namespace quadrille::page {
namespace {

const std::string hostile = "</td></script><script>alert(1)</script>\" onload=\"x' & \x1b[31m\xff";

// Behind the DOCTYPE, which the checker does not know.
std::string fault_in(const std::string& html) {
  const std::string start = "<!DOCTYPE html>\n";
  EXPECT_TRUE(html.starts_with(start));
  return draw::XmlCheck::fault(std::string_view(html).substr(start.size()));
}

std::size_t occurrences(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

Page with_everything(const std::string& name) {
  Page page(name, {name, "4 ranks"});
  page.tiles({{name, "3.2 s", name, true}, {"Run", "20 s"}});
  page.section(name)
      .text(name)
      .bars({.caption = name, .bars = {{"", {{name, 1, name, {0}}}}}, .legend = {{name, {0}}}, .full = 2})
      .bars(std::vector<Bars>{{.caption = "a", .bars = {{name, {{name, 1, "1"}, {name, 2, "2", {1, true}}}, name}}}})
      .table({.caption = name,
              .columns = {{name, Column::Kind::name, name}, {"Time", Column::Kind::number}, {"Bars"}},
              .rows = {{{.text = name, .detail = name}, {"1 s", 1}, {.bars = {{name, {{name, 1, name}}, name, true}}}}},
              .sorted = 1})
      .drawing("<svg viewBox=\"0 0 1 1\"></svg>", name);
  page.footer(name);
  return page;
}

TEST(Page, IsWellFormed) {
  EXPECT_EQ(fault_in(with_everything("row").html()), "");
  EXPECT_EQ(fault_in(Page("empty").html()), "");
}

TEST(Page, EscapesWhateverItIsGiven) {
  const std::string html = with_everything(hostile).html();
  EXPECT_EQ(fault_in(html), "");
  EXPECT_EQ(occurrences(html, "<script"), 1U);
  EXPECT_EQ(occurrences(html, "alert(1)"),
            occurrences(html, "&lt;script&gt;alert(1)&lt;/script&gt;&quot; onload=&quot;x"));
  EXPECT_EQ(html.find('\x1b'), std::string::npos);
  EXPECT_EQ(html.find('\xff'), std::string::npos);
}

Stepper with_text(const std::string& text) {
  return {.noun = text,
          .arrows_heading = text,
          .cells_heading = text,
          .columns = 2,
          .steps = 1,
          .bands = {0, 1},
          .band_noun = text,
          .done_from = {0, 1},
          .colours = {{"#123456", "#abcdef"}},
          .kinds = {{text, text, Stepper::Line::dashed, Stepper::Square::head}},
          .things = {{text, text, 3}},
          .arrows = {{.step = 1, .from = 0, .to = 1, .thing = 0, .amount = text}},
          .rows = {{text, text, 3}},
          .changes = {{0, 0, 0, 0}, {1, 1, 0, 0}},
          .legend = {{Stepper::Sign::Look::line, text}},
          .without_scripts = text};
}

TEST(Page, EscapesWhatAStepperIsGiven) {
  Page page("steps");
  page.section("s").stepper(with_text(hostile));
  const std::string html = page.html();
  EXPECT_EQ(fault_in(html), "");
  EXPECT_EQ(occurrences(html, "<script"), 2U);  // with the data
  EXPECT_EQ(html.find('\x1b'), std::string::npos);
  EXPECT_EQ(html.find('\xff'), std::string::npos);
  EXPECT_NE(html.find(R"(\u003cscript\u003ealert(1))"), std::string::npos);
}

TEST(Page, HasAStepperAsDigitsOfBase64) {
  Page page("steps");
  page.section("s").stepper(with_text("word"));
  const std::string html = page.html();
  EXPECT_NE(html.find(R"("arrows":[[1,1,1,1],["","0101"]])"), std::string::npos)
      << html.substr(html.find(R"("arrows")"), 60);
  EXPECT_NE(html.find(R"("changes":[[1,1,1],["000","100"]])"), std::string::npos);
  EXPECT_NE(html.find(".k0{--k:#123456}"), std::string::npos);
  EXPECT_NE(html.find(R"(<option value="1">word 1</option>)"), std::string::npos);
  Stepper wide = with_text("word");
  wide.columns = 65;
  EXPECT_THROW(Page("p").section("s").stepper(wide), std::length_error);
}

TEST(Page, LoadsNothing) {
  const std::string html = with_everything("row").html();
  for (const char* what : {"http://", "https://", "//cdn", " src=", "@import", "url("}) {
    EXPECT_EQ(html.find(what), std::string::npos) << what;
  }
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
}

TEST(Page, HasStylesAndScriptsThatNeedNoEscape) {
  for (const std::string_view text : {style(), script(), stepper_style(), stepper_drawing(), stepper_controls()}) {
    EXPECT_EQ(text.find_first_of("<&"), std::string_view::npos);
    EXPECT_EQ(text.find("]]"), std::string_view::npos);
  }
}

TEST(Page, OfManyRowsSaysHowManyAreLeftOut) {
  Table table{.columns = {{"Name"}, {"Time", Column::Kind::number}}, .where_rest = "See the file."};
  for (int i = 0; i < 100000; ++i) table.rows.push_back({{fmt::format("row {}", i)}, {"1 s", 1}});
  Page page("many");
  page.section("all").table(table);
  const std::string html = page.html();
  EXPECT_LT(html.size(), 300'000U);
  const std::size_t shown = occurrences(html, ">row ");
  EXPECT_GT(shown, 500U);
  EXPECT_NE(html.find(fmt::format("<p class=\"more\">{},{} more rows are not shown. See the file.</p>",
                                  (100000 - shown) / 1000, fmt::format("{:03}", (100000 - shown) % 1000))),
            std::string::npos);
  EXPECT_EQ(fault_in(html), "");
}

TEST(Page, HasBarsOnACommonScale) {
  Page page("bars");
  page.section("s").bars(
      {.bars = {{"long", {{"a", 3, ""}, {"b", 1, ""}}}, {"short", {{"a", 2, ""}, {"none", 0, ""}}}}});
  const std::string html = page.html();
  for (const char* width : {"width:75%", "width:25%", "width:50%"}) EXPECT_EQ(occurrences(html, width), 1U) << width;
  EXPECT_EQ(occurrences(html, "width:0%"), 0U);
}

TEST(Page, TellsBarsInWordsToo) {
  Page page("bars");
  page.section("s").bars({.bars = {{"x", {{"bcast", 3, "3 s"}, {"reduce", 1, "1 s"}}}, {"y", {}}}});
  EXPECT_NE(page.html().find("aria-label=\"bcast 3 s, reduce 1 s\""), std::string::npos);
}

}  // namespace
}  // namespace quadrille::page
