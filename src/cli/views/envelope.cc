#include "cli/views/envelope.h"

namespace agentrt::cli {

Result<Envelope> read_envelope(std::string_view text) {
  Envelope envelope;
  TRY(schema::check_json(text));
  TRY(schema::from_json(text, envelope, schema::Unknown::ignore));
  if (envelope.type.empty() || envelope.sequence == 0)
    return fail(Code::invalid_params, "The runtime sent an event without a type or a sequence.");
  return envelope;
}

}  // namespace agentrt::cli
