// kernel/models/channel_summary.cc: the peers that are connected to a session.
#include "kernel/models/models.h"

namespace agentrt::kernel::models {

using namespace schema;

namespace {

struct Model {
  SessionId session_id;
  Json peers;
  Json cursors;
  Json permission_bridge;
};
BOOST_DESCRIBE_STRUCT(Model, (), (session_id, peers, cursors, permission_bridge))

}  // namespace

Result<std::string> channel_summary(const Source& source) {
  const auto none = [] {
    return absent(Honesty::not_applicable, "this version has no remote channels");
  };
  return finished(Model{source.view.id, none(), none(), none()}, source);
}

}  // namespace agentrt::kernel::models
