#include <nlohmann/json.hpp>

#include "survey/survey.hpp"

namespace quadrille::survey {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Survey& survey, const std::vector<Domain>& domains) {
  Json all = Json::array();
  for (const Domain& domain : domains) {
    Json one{{"level", name(domain.level)}, {"name", domain.name}};
    one[survey.of_ranks ? "ranks" : "cores"] = domain.members;
    if (survey.of_ranks) one["leader"] = domain.leader;
    if (!domain.inside.empty()) one["inside"] = json_of(survey, domain.inside);
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

std::string to_json(const Survey& survey) {
  Json all{{survey.of_ranks ? "ranks" : "cores", survey.members}};
  all["nodes"] = survey.count(Level::node);
  if (survey.of_ranks) {
    all["racks"] = survey.count(Level::rack);
    all["shared_memory"] = survey.shared_memory ? Json(*survey.shared_memory) : Json();
    all["unbound"] = survey.unbound;
    for (const Layer& layer : survey.layers) {
      all["levels"].push_back({{"level", name(layer.level)}, {"leaders", layer.leaders}});
    }
  }
  all["parts_known"] = survey.parts_known;
  all["tree"] = json_of(survey, survey.domains);
  // A host name may contain invalid UTF-8.
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace quadrille::survey
