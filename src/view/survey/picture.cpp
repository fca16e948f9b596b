#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "draw/boxes.hpp"
#include "survey/survey.hpp"

namespace quadrille::survey {

namespace {

using Marks = std::map<Rank, int>;  // the outermost level on which a rank is a leader

// Inside a node only domains with several ranks have a leader.
void mark_leaders(const Survey& survey, const std::vector<Domain>& domains, Marks& marks) {
  for (const Domain& domain : domains) {
    const auto led = std::find_if(survey.layers.begin(), survey.layers.end(),
                                  [&](const Layer& layer) { return layer.level == domain.level; });
    const bool leads = domain.level <= Level::node || domain.members.size() > 1;
    if (leads && led != survey.layers.end()) {
      marks.try_emplace(domain.leader, static_cast<int>(led - survey.layers.begin()));
    }
    mark_leaders(survey, domain.inside, marks);
  }
}

std::vector<draw::Box> boxes_of(const std::vector<Domain>& domains, const Marks& marks) {
  std::vector<draw::Box> boxes;
  for (const Domain& domain : domains) {
    draw::Box box{domain.title(), boxes_of(domain.inside, marks)};
    for (const Rank rank : domain.inside.empty() ? domain.members : std::vector<Rank>{}) {
      const auto mark = marks.find(rank);
      box.tiles.push_back({std::to_string(rank), mark == marks.end() ? -1 : mark->second});
    }
    boxes.push_back(std::move(box));
  }
  return boxes;
}

}  // namespace

std::string to_svg(const Survey& survey) {
  draw::Boxes picture;
  picture.title = {heading(survey), fmt::format("{}", fmt::join(remarks(survey), "; "))};
  Marks marks;
  mark_leaders(survey, survey.domains, marks);
  picture.outermost = boxes_of(survey.domains, marks);
  // The last colours may be unused.
  int used = 0;
  for (const auto& [rank, mark] : marks) used = std::max(used, mark + 1);
  for (int mark = 0; mark < used; ++mark) {
    picture.marks.push_back(fmt::format("leads its {}", name(survey.layers[static_cast<std::size_t>(mark)].level)));
  }
  return draw::boxes(picture);
}

}  // namespace quadrille::survey
