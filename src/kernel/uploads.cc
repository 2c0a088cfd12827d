// kernel/uploads.cc: binds uploaded bytes to a session as outputs.
#include <fmt/format.h>

#include "kernel/kernel.h"

namespace agentrt::kernel {
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

void Kernel::keep_upload(SessionId session, schema::KeptOutput output, ports::Caller caller,
                         ports::ReplyTo reply_to) {
  if (session.text() == kSystemSession)
    return reply_to(fail(Code::invalid_params, "sessionId: sess_runtime is reserved"));
  if (parts_.redactor && parts_.redactor->holds(caller.request.text())) caller.request = {};
  parts_.loop.post([this, session = std::move(session), output = std::move(output),
                    request = caller.request, reply_to = std::move(reply_to)]() mutable {
    if (request.empty()) request = lanes_.fresh_ids().next<RequestId>();
    std::vector<std::string> names{"output " + session.text() + ' ' + output.digest};
    auto released = [this, names, reply_to = std::move(reply_to)](ports::Reply reply) mutable {
      reply_to(std::move(reply));
      parts_.loop.post([this, names = std::move(names)] { claims_.release(names); });
    };
    claims_.claim(names, [this, session = std::move(session), output = std::move(output),
                          request = std::move(request),
                          reply_to = ports::ReplyTo(std::move(released))]() mutable {
      auto work = std::make_shared<ReportWork>();
      work->reply_to = std::move(reply_to);
      work->request = std::move(request);
      const bool taken = parts_.readers.run([this, work, session, output = std::move(output)] {
        auto report = find_ref(parts_.store, session, output);
        if (!report) return work->reply_to(std::unexpected(report.error()));
        work->report = *std::move(report);
        parts_.loop.post([this, work, session] { lanes_.put(session, std::move(*work)); });
      });
      if (!taken)
        work->reply_to(fail(Code::overloaded, "too many reads are in progress: try again"));
    });
  });
}

}  // namespace agentrt::kernel
