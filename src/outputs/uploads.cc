#include "outputs/uploads.h"

#include <fmt/format.h>

#include "base/digest.h"

namespace agentrt::outputs {
namespace {

constexpr std::size_t kRefDigits = 26;
constexpr std::size_t kRefsPerContentMax = 1'000;  // one per expiry and re-upload

OutputRef upload_ref(const SessionId& session, const schema::KeptOutput& output, Sequence after) {
  const Digest digest = sha256(fmt::format("{}\n{}\n", session.text(), after),
                               output.media_type + '\n', output.digest);
  return OutputRef{
      fmt::format("{}_{}", OutputRef::kPrefix, hex(bytes_of(digest)).substr(0, kRefDigits))};
}

// Fills in the ref: the existing one, or the first that was never used.
Result<schema::ReportUploaded> find_ref(store::Store& store, const SessionId& session,
                                        schema::KeptOutput output) {
  Sequence after = 0;
  for (std::size_t i = 0; i < kRefsPerContentMax; ++i) {
    output.ref = upload_ref(session, output, after);
    TRY_ASSIGN(const auto entry, store.find(std::string(schema::kOutputKind), output.ref.text()));
    if (!entry) return schema::ReportUploaded{std::move(output), std::nullopt};
    if (entry->row.status == schema::kOutputKept)
      return schema::ReportUploaded{std::move(output), entry->row.first};
    after = entry->row.first;
  }
  return fail(Code::limit_exceeded, "these bytes have expired in this session too often");
}

}  // namespace

void bind_upload(store::Store& store, ports::ClaimedReports& reports, SessionId session,
                 schema::KeptOutput output, ports::Caller caller, ports::ReplyTo reply_to) {
  if (session.text() == kSystemSession)
    return reply_to(fail(Code::invalid_params, "sessionId: sess_runtime is reserved"));
  std::string claim = "output " + session.text() + ' ' + output.digest;
  auto make = [&store, session, output = std::move(output)]() -> Result<schema::Report> {
    TRY_ASSIGN(schema::ReportUploaded report, find_ref(store, session, output));
    return report;
  };
  reports.report_claimed(std::move(session), std::move(claim), std::move(make), std::move(caller),
                         std::move(reply_to));
}

}  // namespace agentrt::outputs
