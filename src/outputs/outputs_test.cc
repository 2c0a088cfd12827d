// Tests outputs from upload to removal, with a log in memory and blobs in a real folder.
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <map>

#include <doctest/doctest.h>

#include "base/clock_steps.h"
#include "kernel/kernel.h"
#include "kernel/testing/fake_authorization.h"
#include "outputs/output_desk.h"
#include "outputs/retention.h"
#include "store/blobs/file_blob_store.h"
#include "store/memory/memory_store.h"

namespace agentrt::outputs {
namespace {

namespace fs = std::filesystem;

// A loop for one thread; time advances only when the test says so.
class StepLoop final : public ports::Loop {
 public:
  void post(ports::Step step) override { steps_.push_back(std::move(step)); }
  Timestamp now() const override { return now_; }
  std::int64_t since(Timestamp stamp) const override { return clock_.age_ms(stamp); }
  Timestamp older_than(std::int64_t ms) const override { return clock_.older_than(ms); }
  // Sets the wall clock.
  void set_clock(std::int64_t by_ms) {
    now_ = now_ + by_ms;
    ahead_ms_ += by_ms;
    clock_.observe(reading());
  }
  TimerId after(std::int64_t delay_ms, ports::Step step) override {
    timers_.emplace(now_.ms - ahead_ms_ + delay_ms, std::move(step));
    return timers_.size();
  }
  void cancel(TimerId) override {}
  void forget() {
    steps_.clear();
    timers_.clear();
  }
  void run() {
    while (!steps_.empty()) {
      ports::Step step = std::move(steps_.front());
      steps_.pop_front();
      step();
    }
  }
  void pass(std::int64_t ms) {
    now_ = now_ + ms;
    clock_.observe(reading());
    run();
    while (!timers_.empty() && timers_.begin()->first <= now_.ms - ahead_ms_) {
      ports::Step step = std::move(timers_.begin()->second);
      timers_.erase(timers_.begin());
      step();
      run();
    }
  }

 private:
  ClockReading reading() const { return {now_, now_.ms - ahead_ms_, "machine"}; }

  Timestamp now_{1'800'000'000'000};
  std::int64_t ahead_ms_ = 0;
  ClockSteps clock_{reading()};
  std::deque<ports::Step> steps_;
  std::multimap<std::int64_t, ports::Step> timers_;
};

class LoopWorker final : public ports::Worker {
 public:
  explicit LoopWorker(StepLoop& loop) : loop_(loop) {}
  bool run(ports::Step task) override {
    if (full) return false;
    loop_.post(std::move(task));
    return true;
  }
  bool full = false;

 private:
  StepLoop& loop_;
};

class CountingEntropy final : public ports::Entropy {
 public:
  std::uint64_t draw() override { return ++count_; }

 private:
  std::uint64_t count_ = 0;
};

constexpr std::int64_t kHour = 3'600'000;
constexpr std::int64_t kDay = 24 * kHour;
const std::string kSecret = "correct-horse-battery";

// One boot of a runtime on the shared disk.
struct Boot {
  StepLoop& loop;
  LoopWorker worker{loop};
  CountingEntropy entropy;
  ports::Metrics metrics;
  policy::Redactor redactor{{{"PASS", kSecret}}};
  store::MemoryStore store;
  std::unique_ptr<store::FileBlobStore> blobs;
  std::unique_ptr<kernel::Kernel> kernel;
  std::unique_ptr<OutputDesk> desk;
  std::unique_ptr<Retention> retention;

  Boot(StepLoop& steps, std::shared_ptr<store::MemoryDisk> disk, const std::string& folder,
       OutputLimits limits)
      : loop(steps), store(std::move(disk)) {
    blobs = *store::FileBlobStore::open_folder(folder + "/blobs");
    kernel = std::make_unique<kernel::Kernel>(kernel::Kernel::Parts{.store = store,
                                                                    .loop = loop,
                                                                    .readers = worker,
                                                                    .writer = worker,
                                                                    .entropy = entropy,
                                                                    .metrics = metrics,
                                                                    .settings = {},
                                                                    .limits = {},
                                                                    .boot = BootId{"boot_1"},
                                                                    .redactor = &redactor});
    desk = std::make_unique<OutputDesk>(OutputDesk::Parts{.store = store,
                                                          .blobs = *blobs,
                                                          .worker = worker,
                                                          .clock = loop,
                                                          .redactor = redactor,
                                                          .reports = *kernel,
                                                          .limits = limits,
                                                          .seed = 1});
    retention = std::make_unique<Retention>(Retention::Parts{.store = store,
                                                             .blobs = *blobs,
                                                             .loop = loop,
                                                             .worker = worker,
                                                             .reports = *kernel,
                                                             .metrics = metrics,
                                                             .limits = limits});
  }
};

struct World {
  StepLoop loop;
  std::shared_ptr<store::MemoryDisk> disk = store::MemoryStore{}.disk();
  std::string folder;
  OutputLimits limits;
  std::unique_ptr<Boot> boot;

  explicit World(OutputLimits given = {}) : limits(given) {
    char name[] = "/tmp/agentrt_outputs_XXXXXX";
    folder = ::mkdtemp(name);
    restart();
    for (const char* id : {"one", "two"}) REQUIRE(ask(new_session(id)).has_value());
  }
  ~World() { fs::remove_all(folder); }

  static schema::Command new_session(const std::string& id) {
    return *schema::read_command("create_session", R"({"sessionId":")" + id + R"("})");
  }
  // Like a kill: work in progress is lost.
  void restart() {
    loop.forget();
    boot = std::make_unique<Boot>(loop, disk, folder, limits);
  }
  ports::Reply ask(schema::Command command) {
    std::optional<ports::Reply> out;
    boot->kernel->call(channels::Authorization::command(
                           std::move(command), {.principal = "p", .request = {}, .trace = {}}),
                       [&](ports::Reply reply) { out = std::move(reply); });
    loop.run();
    REQUIRE(out.has_value());
    return *out;
  }
  ports::Reply upload(const std::string& session, std::string bytes,
                      const std::string& media = "text/plain") {
    auto upload = boot->desk->upload(SessionId{session}, media, bytes.size());
    if (!upload) return std::unexpected(upload.error());
    std::optional<ports::Reply> out;
    (*upload)->put(std::move(bytes), [&](Result<void> stored) {
      if (!stored) out = std::unexpected(stored.error());
    });
    loop.run();
    if (out) return *out;
    (*upload)->finish({.principal = "p", .request = {}, .trace = {}},
                      [&](ports::Reply reply) { out = std::move(reply); });
    loop.run();
    REQUIRE(out.has_value());
    return *out;
  }
  std::string ref(const ports::Reply& reply) {
    REQUIRE_MESSAGE(reply.has_value(), (reply ? "" : reply.error().message));
    schema::UploadReply read;
    REQUIRE(schema::from_json(*reply, read, schema::Unknown::refuse).has_value());
    return read.output_ref;
  }
  Result<std::string> get(const std::string& ref, std::optional<SessionId> only = {}) {
    std::optional<Result<std::string>> out;
    boot->desk->open(ref, std::move(only), [&](Result<std::shared_ptr<ports::OpenOutput>> opened) {
      if (!opened) {
        out = std::unexpected(opened.error());
        return;
      }
      (*opened)->read(0, 1 << 20, [&out, keep = *opened](Result<std::string> bytes) {
        out = std::move(bytes);
      });
    });
    loop.run();
    REQUIRE(out.has_value());
    return *out;
  }
  std::vector<std::string> types(const std::string& session) {
    std::vector<std::string> out;
    auto page = boot->store.events(SessionId{session}, 1, 100, 1 << 20);
    REQUIRE(page.has_value());
    for (const store::Event& event : *page) out.push_back(event.event.type);
    return out;
  }
  std::string payload(const std::string& session, Sequence sequence) {
    return boot->store.events(SessionId{session}, sequence - 1, 1, 1 << 20)->front().event.payload;
  }
  std::vector<fs::path> blob_files() {
    std::vector<fs::path> out;
    for (const auto& entry : fs::recursive_directory_iterator(folder + "/blobs"))
      if (entry.is_regular_file()) out.push_back(entry.path());
    return out;
  }
  // Sets the file times to the test's clock.
  void stamp_files(Timestamp at) {
    for (const fs::path& file : blob_files()) {
      const timeval times[2] = {{at.ms / 1'000, 0}, {at.ms / 1'000, 0}};
      REQUIRE(::utimes(file.c_str(), times) == 0);
    }
  }
  void sweep() {
    boot->retention->start();
    loop.run();
  }
};

Code code_of(const Result<std::string>& result) {
  REQUIRE_FALSE(result.has_value());
  return result.error().code;
}

using Types = std::vector<std::string>;

}  // namespace

TEST_CASE("an upload is stored, named by a fact, and read by its ref, also after a restart") {
  World world;
  const ports::Reply reply = world.upload("one", "hello, output");
  const std::string ref = world.ref(reply);
  CHECK(ref.starts_with("out_"));
  CHECK(world.types("one") == Types{"output.spilled"});
  CHECK(world.payload("one", 2).contains(R"("preview":"hello, output")"));
  CHECK(world.payload("one", 2).contains(R"("encoding":"utf-8")"));
  CHECK(world.get(ref) == "hello, output");
  world.restart();
  CHECK(world.get(ref) == "hello, output");
}

TEST_CASE("a ref belongs to its session: callers that may not read the session get not_found") {
  World world;
  const std::string ref = world.ref(world.upload("one", "mine"));
  CHECK(world.get(ref, SessionId{"one"}) == "mine");
  CHECK(code_of(world.get(ref, SessionId{"two"})) == Code::not_found);
  CHECK(code_of(world.get("out_none")) == Code::not_found);
}

TEST_CASE("the same bytes again are the same output; in another session they are another") {
  World world;
  const ports::Reply first = world.upload("one", "same");
  CHECK(world.upload("one", "same") == first);
  CHECK(world.types("one").size() == 1);
  CHECK(world.ref(world.upload("one", "same", "text/csv")) != world.ref(first));
  CHECK(world.ref(world.upload("two", "same")) != world.ref(first));
  CHECK(world.blob_files().size() == 1);
}

TEST_CASE("two uploads of the same bytes at once make one output") {
  World world;
  std::vector<ports::Reply> replies;
  for (int i = 0; i < 3; ++i) {
    auto upload = world.boot->desk->upload(SessionId{"one"}, "text/plain", {});
    (*upload)->put("at once", [](Result<void>) {});
    (*upload)->finish({.principal = "p", .request = {}, .trace = {}},
                      [&](ports::Reply reply) { replies.push_back(std::move(reply)); });
  }
  world.loop.run();
  REQUIRE(replies.size() == 3);
  CHECK(replies[0] == replies[1]);
  CHECK(replies[1] == replies[2]);
  CHECK(world.types("one") == Types{"output.spilled"});
}

TEST_CASE("an upload into no session, or into the runtime's own, names nothing") {
  World world;
  CHECK(code_of(world.upload("nowhere", "x")) == Code::not_found);
  CHECK(code_of(world.upload("sess_runtime", "x")) == Code::invalid_params);
}

TEST_CASE("uploads are bounded in size and number") {
  OutputLimits limits;
  limits.upload_bytes_max = 10;
  limits.uploads_max = 2;
  World world(limits);
  CHECK(code_of(world.upload("one", "eleven byte")) == Code::too_large);
  auto one = world.boot->desk->upload(SessionId{"one"}, "text/plain", {});
  std::optional<Result<void>> stored;
  (*one)->put("eleven byte", [&](Result<void> result) { stored = std::move(result); });
  world.loop.run();
  REQUIRE(stored.has_value());
  CHECK(stored->error().code == Code::too_large);
  auto two = world.boot->desk->upload(SessionId{"one"}, "text/plain", {});
  CHECK(world.boot->desk->upload(SessionId{"one"}, "text/plain", {}).error().code ==
        Code::overloaded);
  one->reset();
  CHECK(world.boot->desk->upload(SessionId{"one"}, "text/plain", {}).has_value());
  CHECK(world.blob_files().empty());
  world.boot->worker.full = true;
  std::optional<Result<std::string>> opened;
  world.boot->desk->open("out_x", {},
                         [&](auto result) { opened = std::unexpected(result.error()); });
  CHECK(code_of(*opened) == Code::overloaded);
}

TEST_CASE("a full disk refuses an upload, which can be sent again") {
  World world;
  world.boot->store.fail_next({Code::storage_full, "full", {}});
  CHECK(code_of(world.upload("one", "later")) == Code::storage_full);
  world.loop.pass(1'000);
  CHECK(world.get(world.ref(world.upload("one", "later"))) == "later");
}

TEST_CASE("secrets are replaced in bytes, previews and facts, and that is said") {
  World world;
  const std::string text = "user: me\npass: " + kSecret + "\n";
  const std::string ref = world.ref(world.upload("one", text));
  CHECK(world.get(ref) == "user: me\npass: [redacted:PASS]\n");
  CHECK(world.types("one") == Types{"output.spilled", "output.redacted"});
  CHECK(world.payload("one", 3).contains("PASS"));
  CHECK_FALSE(world.payload("one", 2).contains(kSecret));
}

TEST_CASE("secrets in commands are not stored, and cannot be ids or keys") {
  World world;
  const auto command = [](const std::string& params) {
    return *schema::read_command("create_session", params);
  };
  const auto reply =
      world.ask(command(R"({"sessionId":"three","title":"t )" + kSecret + R"(","metadata":{"k":")" +
                        "corre\\u0063t-horse-battery" + R"("}})"));
  REQUIRE(reply.has_value());
  CHECK_FALSE(reply->contains(kSecret));
  CHECK(world.payload("three", 1).contains("t [redacted:PASS]"));
  CHECK_FALSE(world.payload("three", 1).contains("horse-battery"));
  const auto row = world.boot->store.find("session", "three");
  CHECK_FALSE((*row)->row.record.contains(kSecret));
  CHECK(code_of(world.ask(command(R"({"sessionId":"a-)" + kSecret + R"("})"))) ==
        Code::invalid_params);
  CHECK(code_of(world.ask(command(R"({"idempotencyKey":")" + kSecret + R"("})"))) ==
        Code::invalid_params);
}

TEST_CASE("tools keep files and bytes; capped ones say so when their facts are made") {
  World world;
  const std::string path = world.folder + "/spool";
  std::string bytes;
  while (bytes.size() < 600'000) bytes += "line " + kSecret + "\n";
  std::ofstream(path) << bytes;
  const auto kept = world.boot->desk->keep_file(path, {"text/plain", 900'000});
  REQUIRE(kept.has_value());
  CHECK(kept->whole_size == 900'000);
  CHECK(kept->redacted == std::vector<std::string>{"PASS"});
  CHECK(kept->preview.size() <= schema::kPreviewBytes);
  CHECK(kept->preview.starts_with("line [redacted:PASS]\nline"));
  const auto binary =
      world.boot->desk->keep_bytes(std::string_view("\0\xff", 2), {"image/png", {}});
  REQUIRE(binary.has_value());
  CHECK(binary->encoding == "binary");
  CHECK(binary->preview.empty());
  CHECK(binary->ref != kept->ref);
  CHECK_FALSE(world.boot->desk->keep_file(world.folder, {}));
  CHECK_FALSE(world.boot->desk->keep_file(world.folder + "/none", {}));
}

TEST_CASE("what is past its time expires, its bytes go, and the ref says so") {
  World world;
  const std::string old = world.ref(world.upload("one", "old"));
  const std::string shared = world.ref(world.upload("one", "shared"));
  world.loop.pass(29 * kDay);
  const std::string young = world.ref(world.upload("two", "shared"));
  world.stamp_files(world.loop.now());
  world.loop.pass(kDay);
  CHECK(code_of(world.get(old)) == Code::expired);  // even before a sweep
  world.sweep();
  CHECK(world.types("one") ==
        Types{"output.spilled", "output.spilled", "output.expired", "output.expired"});
  CHECK(world.payload("one", 4).contains(R"("reason":"age")"));
  CHECK(code_of(world.get(old)) == Code::expired);
  CHECK(code_of(world.get(shared)) == Code::expired);
  CHECK(world.get(young) == "shared");
  CHECK(world.blob_files().size() == 1);
  // Uploading the same bytes again creates a new output.
  const std::string again = world.ref(world.upload("one", "old"));
  CHECK(again != old);
  CHECK(world.get(again) == "old");
  CHECK(code_of(world.get(old)) == Code::expired);
}

TEST_CASE("a clock that is set expires nothing, and time that passes still does") {
  for (const std::int64_t step : {365 * kDay, -365 * kDay}) {
    CAPTURE(step);
    World world;
    const auto keyed = *schema::read_command(
        "update_session", R"({"sessionId":"one","title":"a","idempotencyKey":"k"})");
    const auto answer = world.ask(keyed);
    REQUIRE(answer.has_value());
    const std::string before = world.ref(world.upload("one", "before"));
    world.loop.set_clock(step);
    const std::string after = world.ref(world.upload("one", "after"));
    world.stamp_files(world.loop.now());
    world.loop.pass(kHour);
    world.sweep();
    CHECK(world.get(before) == "before");
    CHECK(world.get(after) == "after");
    world.restart();
    world.loop.pass(6 * kDay);
    CHECK(world.ask(keyed) == answer);
    world.loop.pass(25 * kDay);
    CHECK(code_of(world.get(after)) == Code::expired);
    if (step > 0) CHECK(code_of(world.get(before)) == Code::expired);
  }
}

TEST_CASE("beyond the bound the oldest go first, and only as many as must") {
  OutputLimits limits;
  limits.bytes_max = 25;
  World world(limits);
  std::vector<std::string> refs;
  for (int i = 0; i < 4; ++i) {
    refs.push_back(world.ref(world.upload("one", std::string(10, static_cast<char>('a' + i)))));
    world.loop.pass(1'000);
  }
  world.sweep();
  CHECK(code_of(world.get(refs[0])) == Code::expired);
  CHECK(code_of(world.get(refs[1])) == Code::expired);
  CHECK(world.get(refs[2]).has_value());
  CHECK(world.get(refs[3]).has_value());
  CHECK(world.blob_files().size() == 2);
  CHECK(world.boot->metrics.output_bytes == 20);
  CHECK(world.payload("one", 6).contains(R"("reason":"room")"));
  world.loop.pass(kHour);  // the next sweep runs by its timer and finds nothing
  CHECK(world.types("one").size() == 6);
}

TEST_CASE("a sweep goes through many outputs a few at a time") {
  OutputLimits limits;
  limits.page_rows = 2;
  limits.expiries_at_once_max = 2;
  World world(limits);
  for (int i = 0; i < 7; ++i)
    world.ref(world.upload(i % 2 == 0 ? "one" : "two", "number " + std::to_string(i)));
  world.loop.pass(31 * kDay);
  const std::string young = world.ref(world.upload("one", "young"));
  world.sweep();
  CHECK(world.boot->metrics.outputs_expired == 7);
  CHECK(world.boot->metrics.blobs_removed == 7);
  CHECK(world.blob_files().size() == 1);
  CHECK(world.get(young) == "young");
}

TEST_CASE("a crash between blob and fact leaves bytes that are collected after a day") {
  World world;
  auto upload = world.boot->desk->upload(SessionId{"one"}, "text/plain", {});
  (*upload)->put("never named", [](Result<void>) {});
  world.loop.run();
  REQUIRE(world.boot->desk->keep_bytes("sealed, never named", {}).has_value());
  upload->reset();
  world.restart();
  CHECK(world.blob_files().size() == 1);
  world.stamp_files(world.loop.now());
  world.sweep();
  CHECK(world.blob_files().size() == 1);
  world.loop.pass(kDay + kHour);
  world.sweep();
  CHECK(world.blob_files().empty());
}

TEST_CASE("a crash between fact and removal leaves bytes that are collected after a day") {
  World world;
  const std::string ref = world.ref(world.upload("one", "gone soon"));
  world.stamp_files(world.loop.now());
  world.loop.pass(30 * kDay);
  const auto files = world.blob_files();
  const std::string copy = world.folder + "/copy";
  fs::copy_file(files[0], copy);
  world.sweep();
  CHECK(world.blob_files().empty());
  fs::copy_file(copy, files[0]);  // as if the removal had not happened
  world.restart();
  world.stamp_files(world.loop.now() + -2 * kDay);
  world.sweep();
  CHECK(world.blob_files().empty());
  CHECK(code_of(world.get(ref)) == Code::expired);
  CHECK(world.types("one").size() == 2);  // it expired once
}

TEST_CASE("a sweep takes nothing that is being named while it runs") {
  World world;
  const auto kept = world.boot->desk->keep_bytes("on its way", {});
  world.stamp_files(Timestamp{0});  // old enough to be collected
  world.sweep();
  CHECK(world.blob_files().size() == 1);
}

TEST_CASE("damaged bytes are reported, not served") {
  World world;
  const std::string ref = world.ref(world.upload("one", "whole bytes"));
  std::ofstream(world.blob_files()[0]) << "whole bytez";
  CHECK(code_of(world.get(ref)) == Code::internal);
  CHECK(world.ref(world.upload("one", "whole bytes")) == ref);
  CHECK(world.get(ref) == "whole bytes");
}

TEST_CASE("text is distinguished from other bytes, however they are split") {
  const auto is_text = [](std::string_view bytes, std::size_t piece) {
    TextCheck check;
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size())))
      check.add(bytes.substr(0, piece));
    return check.is_text();
  };
  for (const std::size_t piece : {1, 2, 3, 100}) {
    CHECK(is_text("plain ascii, long enough for a word", piece));
    CHECK(is_text("h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", piece));
    CHECK_FALSE(is_text("\xc3", piece));
    CHECK_FALSE(is_text("\xc0\xaf", piece));
    CHECK_FALSE(is_text("\xed\xa0\x80", piece));
    CHECK_FALSE(is_text("\xf4\x90\x80\x80", piece));
    CHECK_FALSE(is_text(std::string_view("long enough\0 for it", 19), piece));
    CHECK_FALSE(is_text("\x80", piece));
  }
}

}  // namespace agentrt::outputs
