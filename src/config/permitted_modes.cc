#include "config/permitted_modes.h"

#include "policy/laxity.h"
#include "schema/codec.h"

namespace agentrt::config {

std::vector<std::string> permitted_modes(const Config& config) {
  std::vector<std::string> out;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<schema::PermissionMode>>(
      [&](auto each) {
        if (!config.managed_mode || policy::at_most_as_lax(each.value, *config.managed_mode))
          out.emplace_back(schema::name_of(each.value));
      });
  return out;
}

}  // namespace agentrt::config
