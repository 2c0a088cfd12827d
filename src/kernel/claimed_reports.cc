// kernel/claimed_reports.cc: Kernel::report_claimed(), for reports whose sender waits for the
// reply, such as uploads.
#include "kernel/kernel.h"

namespace agentrt::kernel {

void Kernel::report_claimed(SessionId session, std::string claim, Make make, ports::Caller caller,
                            ports::ReplyTo reply_to) {
  if (parts_.redactor && parts_.redactor->holds(caller.request.text())) caller.request = {};
  parts_.loop.post([this, session = std::move(session), claim = std::move(claim),
                    make = std::move(make), request = caller.request,
                    reply_to = std::move(reply_to)]() mutable {
    if (request.empty()) request = lanes_.fresh_ids().next<RequestId>();
    std::vector<std::string> names{std::move(claim)};
    auto released = [this, names, reply_to = std::move(reply_to)](ports::Reply reply) mutable {
      reply_to(std::move(reply));
      parts_.loop.post([this, names = std::move(names)] { claims_.release(names); });
    };
    claims_.claim(names, [this, session = std::move(session), make = std::move(make),
                          request = std::move(request),
                          reply_to = ports::ReplyTo(std::move(released))]() mutable {
      auto work = std::make_shared<ReportWork>();
      work->reply_to = std::move(reply_to);
      work->request = std::move(request);
      const bool taken =
          parts_.readers.run([this, work, session, make = std::move(make)]() mutable {
            auto report = make();
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
