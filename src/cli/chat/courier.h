// cli/chat/courier.h: talks to the runtime on a thread of its own, so that the prompt never waits.
//
// Jobs run one after another, in order, with the attachment, which only this thread uses. A job
// returns what is to be done with its result; deliver() does that on the caller's thread. If the
// owner of the data folder leaves, the attachment finds or starts the next one, so every request
// must be repeatable: commands that change something carry an idempotency key. The destructor
// abandons the job that is running and drops the others.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/descriptor.h"
#include "cli/attach.h"

namespace agentrt::cli {

class Courier {
 public:
  using Then = std::function<void()>;
  using Job = std::function<Then(Attachment&)>;
  using Answer = std::function<void(Result<std::string>)>;
  using Opened = std::function<void(Result<std::shared_ptr<Stream>>)>;

  static constexpr int kRepeatsMax = 5;  // of one request, with a new owner each time

  // `leaving` also ends the waits of the attachment; the destructor sets it.
  Courier(Attachment attachment, std::atomic<bool>& leaving);
  ~Courier();
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;

  void add(Job job);
  void call(std::string command, std::string params, Answer then);
  // Reads a resource of the runtime, such as /v1/outputs/REF.
  void read(std::string target, Answer then);
  void follow(SessionId session, Sequence after, Opened then);

  // Readable when deliver() has something to do.
  int descriptor() const { return event_.get(); }
  void deliver();

  // Runs `ask` until it does not fail because the owner has gone, at most kRepeatsMax times.
  template <class Ask>
  static auto persist(Attachment& attachment, Ask ask) {
    auto reply = ask(attachment.client());
    for (int i = 0; i < kRepeatsMax && !reply && reply.error().code == Code::unavailable; ++i) {
      if (const auto renewed = attachment.renew(); !renewed) {
        reply = std::unexpected(renewed.error());
        break;
      }
      reply = ask(attachment.client());
    }
    return reply;
  }

 private:
  void work();

  Attachment attachment_;
  std::atomic<bool>& leaving_;
  Descriptor event_;
  std::mutex mutex_;  // guards the two queues
  std::condition_variable wake_;
  std::deque<Job> jobs_;
  std::deque<Then> done_;
  std::thread thread_;  // last: it uses the others
};

}  // namespace agentrt::cli
