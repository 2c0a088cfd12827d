#include "cli/chat/courier.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

namespace agentrt::cli {

Courier::Courier(Attachment attachment, std::atomic<bool>& leaving)
    : attachment_(std::move(attachment)),
      leaving_(leaving),
      event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { work(); }) {}

Courier::~Courier() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Courier::add(Job job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  wake_.notify_one();
}

void Courier::call(std::string command, std::string params, Answer then) {
  add([command = std::move(command), params = std::move(params),
       then = std::move(then)](Attachment& attachment) -> Then {
    auto reply =
        persist(attachment, [&](const Client& client) { return client.call(command, params); });
    return [then, reply = std::move(reply)] { then(reply); };
  });
}

void Courier::read(std::string target, Answer then) {
  add([target = std::move(target), then = std::move(then)](Attachment& attachment) -> Then {
    auto reply =
        persist(attachment, [&](const Client& client) { return client.ask("GET", target, ""); });
    return [then, reply = std::move(reply)] { then(reply); };
  });
}

void Courier::follow(SessionId session, Sequence after, Opened then) {
  add([session = std::move(session), after,
       then = std::move(then)](Attachment& attachment) -> Then {
    std::shared_ptr<Stream> opened;
    const auto done = persist(attachment, [&](const Client& client) -> Result<std::string> {
      TRY_ASSIGN(Stream stream, client.follow(session, after));
      opened = std::make_shared<Stream>(std::move(stream));
      return std::string();
    });
    if (!done) return [then, error = done.error()] { then(std::unexpected(error)); };
    return [then, opened] { then(opened); };
  });
}

void Courier::deliver() {
  std::uint64_t count = 0;
  (void)!::read(event_.get(), &count, sizeof(count));
  std::deque<Then> done;
  {
    const std::lock_guard lock(mutex_);
    std::swap(done, done_);
  }
  for (const Then& then : done)
    if (then) then();
}

void Courier::work() {
  while (true) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return leaving_ || !jobs_.empty(); });
      if (leaving_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    Then then = job(attachment_);
    {
      const std::lock_guard lock(mutex_);
      done_.push_back(std::move(then));
    }
    const std::uint64_t one = 1;
    (void)!::write(event_.get(), &one, sizeof(one));
  }
}

}  // namespace agentrt::cli
