// control/outputs.cc: decides how outputs are created and expire.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/output_facts.h"

namespace agentrt::control {

using namespace schema;

void add_output(Facts& facts, const SessionScope& scope, const KeptOutput& output,
                const Inputs& inputs, KeptFor how_long) {
  OutputSpilled spilled{.output_ref = output.ref.text(),
                        .size = output.size,
                        .media_type = output.media_type,
                        .encoding = output.encoding,
                        .preview = {},
                        .digest = output.digest,
                        .truncated = output.whole_size.has_value(),
                        .redacted = !output.redacted.empty(),
                        .expires_at = {}};
  if (how_long == KeptFor::days) spilled.expires_at = inputs.now + inputs.settings->output_keep_ms;
  if (!output.preview.empty()) spilled.preview = output.preview;
  facts.add(scope, std::move(spilled));
  if (output.whole_size)
    facts.add(scope, OutputTruncated{output.ref.text(), *output.whole_size, output.size});
  if (!output.redacted.empty())
    facts.add(scope, OutputRedacted{output.ref.text(),
                                    fmt::format("secrets: {}", fmt::join(output.redacted, ", "))});
}

Decided uploaded(const Session& view, const ReportUploaded& report, Inputs inputs) {
  if (!view.exists())
    return refuse(Code::not_found, fmt::format("there is no session {}", inputs.session.text()));
  const KeptOutput& output = report.output;
  UploadReply reply{.session_id = view.id,
                    .output_ref = output.ref.text(),
                    .size = output.size,
                    .digest = output.digest,
                    .media_type = output.media_type,
                    .sequence = report.spilled.value_or(0)};
  if (report.spilled) return Unchanged{to_json(reply)};
  Facts facts{view, inputs};
  add_output(facts, facts.of_session(), output, inputs);
  reply.sequence = view.sequence + 1;  // of output.spilled; the same for a repeated upload
  return Accepted{facts.take(), to_json(reply)};
}

Decided output_due(const Session& view, const ReportOutputDue& report, Inputs inputs) {
  if (!view.exists()) return Unchanged{};
  for (const auto& [_, job] : view.jobs)
    if (job.record.input_ref == report.output_ref) return Unchanged{};  // it is still needed
  Facts facts{view, inputs};
  facts.add(facts.of_session(), OutputExpired{.output_ref = report.output_ref,
                                              .reason = report.reason,
                                              .size = report.size,
                                              .digest = report.digest,
                                              .spilled_sequence = report.spilled});
  return accept(facts);
}

}  // namespace agentrt::control
