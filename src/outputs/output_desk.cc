#include "outputs/output_desk.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "outputs/inherited.h"
#include "outputs/log_texts.h"
#include "outputs/retention.h"
#include "outputs/uploads.h"

namespace agentrt::outputs {
namespace {

constexpr std::size_t kPieceBytes = 256 << 10;

std::unexpected<Error> busy() {
  return fail(Code::overloaded, "too many outputs are being read or written: try again");
}

std::unexpected<Error> cannot_read(const std::string& path) {
  return fail(Code::unavailable,
              fmt::format("cannot read {}: {}", path, std::generic_category().message(errno)));
}

std::optional<Digest> digest_of(std::string_view text) {
  if (!text.starts_with(schema::kDigestPrefix)) return std::nullopt;
  return digest_of_hex(text.substr(schema::kDigestPrefix.size()));
}

}  // namespace

// --- storing ---

OutputRef OutputDesk::fresh_ref() {
  const std::uint64_t number = ++refs_;
  const Digest mixed = sha256(fmt::format("{} {}", parts_.seed, number));
  std::uint64_t seed = 0;
  std::memcpy(&seed, mixed.data(), sizeof seed);
  return FreshIds{parts_.clock.now(), seed}.next<OutputRef>();
}

Result<schema::KeptOutput> OutputDesk::keep_bytes(std::string_view bytes,
                                                  const ports::OutputMeta& meta) {
  TRY_ASSIGN(const auto writer, OutputWriter::begin(parts_.blobs, parts_.redactor));
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kPieceBytes, bytes.size())))
    TRY(writer->write(bytes.substr(0, kPieceBytes)));
  TRY_ASSIGN(schema::KeptOutput output, writer->finish(meta));
  output.ref = fresh_ref();
  return output;
}

Result<schema::KeptOutput> OutputDesk::keep_file(const std::string& path,
                                                 const ports::OutputMeta& meta) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
  struct stat about{};
  if (!file || ::fstat(file.get(), &about) != 0) return cannot_read(path);
  if (!S_ISREG(about.st_mode))
    return fail(Code::unavailable, fmt::format("cannot read {}: it is not a regular file", path));
  TRY_ASSIGN(const auto writer, OutputWriter::begin(parts_.blobs, parts_.redactor));
  std::string piece(kPieceBytes, '\0');
  for (;;) {
    const ssize_t got = ::read(file.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot_read(path);
    if (got == 0) break;
    TRY(writer->write(std::string_view(piece).substr(0, static_cast<std::size_t>(got))));
  }
  TRY_ASSIGN(schema::KeptOutput output, writer->finish(meta));
  output.ref = fresh_ref();
  return output;
}

// --- reading ---

class OutputDesk::Opened final : public ports::OpenOutput,
                                 public std::enable_shared_from_this<Opened> {
 public:
  Opened(ports::Worker& worker, schema::OutputRecord record,
         std::unique_ptr<store::BlobReader> bytes)
      : worker_(worker), record_(std::move(record)), bytes_(std::move(bytes)) {}

  const schema::OutputRecord& record() const override { return record_; }
  void read(std::uint64_t offset, std::size_t bytes_max, DataTo data_to) override {
    auto shared = std::make_shared<DataTo>(std::move(data_to));
    const bool taken = worker_.run([self = shared_from_this(), offset, bytes_max, shared] {
      (*shared)(self->bytes_->read(offset, bytes_max));
    });
    if (!taken) (*shared)(busy());
  }

 private:
  ports::Worker& worker_;
  schema::OutputRecord record_;
  std::unique_ptr<store::BlobReader> bytes_;
};

// A text that was read whole.
class OpenText final : public ports::OpenOutput {
 public:
  OpenText(schema::OutputRecord record, std::string text)
      : record_(std::move(record)), text_(std::move(text)) {}

  const schema::OutputRecord& record() const override { return record_; }
  void read(std::uint64_t offset, std::size_t bytes_max, DataTo data_to) override {
    data_to(text_.substr(std::min<std::size_t>(offset, text_.size()), bytes_max));
  }

 private:
  schema::OutputRecord record_;
  std::string text_;
};

Result<std::shared_ptr<ports::OpenOutput>> OutputDesk::find_in_log(
    const std::string& ref, const std::optional<SessionId>& session) {
  if (!session)
    return fail(Code::not_found, fmt::format("{} names no output without its session", ref));
  TRY_ASSIGN(std::string text, log_text(parts_.store, *session, ref));
  schema::OutputRecord record;
  record.output_ref = ref;
  record.size = text.size();
  record.digest = std::string(schema::kDigestPrefix) + hex(bytes_of(sha256(text)));
  record.media_type = "text/plain";
  record.encoding = "utf-8";
  return std::make_shared<OpenText>(std::move(record), std::move(text));
}

Result<std::shared_ptr<ports::OpenOutput>> OutputDesk::find(const std::string& ref,
                                                            const std::optional<SessionId>& only) {
  if (is_log_ref(ref)) return find_in_log(ref, only);
  TRY_ASSIGN(const auto entry, parts_.store.find(std::string(schema::kOutputKind), ref));
  bool allowed = entry && (!only || entry->session == *only);
  if (entry && !allowed) {
    TRY_ASSIGN(allowed, is_inherited(parts_.store, *only, *entry));
  }
  if (!allowed) return fail(Code::not_found, "there is no such output");
  schema::OutputRecord record;
  TRY(schema::from_json(entry->row.record, record, schema::Unknown::ignore));
  const bool past = has_expired(record.spilled_at, record.expires_at, parts_.clock);
  if (entry->row.status == schema::kOutputExpired || past)
    return fail(Code::expired, fmt::format("output {} has expired and was deleted", ref));
  const auto digest = digest_of(record.digest);
  if (!digest) return fail(Code::internal, fmt::format("the row of output {} is damaged", ref));
  TRY_ASSIGN(auto bytes, parts_.blobs.open(*digest, record.size));
  return std::make_shared<Opened>(parts_.worker, std::move(record), std::move(bytes));
}

void OutputDesk::open(std::string ref, std::optional<SessionId> only, OpenTo open_to) {
  auto shared = std::make_shared<OpenTo>(std::move(open_to));
  const bool taken = parts_.worker.run(
      [this, shared, ref = std::move(ref), only = std::move(only)] { (*shared)(find(ref, only)); });
  if (!taken) (*shared)(busy());
}

// --- uploads ---

class OutputDesk::Upload final : public ports::OutputUpload,
                                 public std::enable_shared_from_this<Upload> {
 public:
  Upload(OutputDesk& desk, SessionId session, std::string media_type)
      : desk_(desk), count_(desk.uploads_), session_(std::move(session)) {
    meta_.media_type = std::move(media_type);
  }
  ~Upload() override { --*count_; }

  void put(std::string bytes, Done done) override {
    auto shared = std::make_shared<Done>(std::move(done));
    const bool taken =
        desk_.parts_.worker.run([self = shared_from_this(), shared, bytes = std::move(bytes)] {
          (*shared)(self->write(bytes));
        });
    if (!taken) (*shared)(busy());
  }

  void finish(ports::Caller caller, ports::ReplyTo reply_to) override {
    auto shared = std::make_shared<ports::ReplyTo>(std::move(reply_to));
    const bool taken =
        desk_.parts_.worker.run([self = shared_from_this(), shared, caller = std::move(caller)] {
          auto output = self->seal();
          if (!output) return (*shared)(std::unexpected(output.error()));
          bind_upload(self->desk_.parts_.store, self->desk_.parts_.reports, self->session_,
                      *std::move(output), caller, std::move(*shared));
        });
    if (!taken) (*shared)(busy());
  }

 private:
  // Created with the first bytes, so that an empty upload costs no file.
  Result<void> begin() {
    if (writer_) return {};
    TRY_ASSIGN(writer_, OutputWriter::begin(desk_.parts_.blobs, desk_.parts_.redactor));
    return {};
  }
  Result<void> write(std::string_view bytes) {
    received_ += bytes.size();
    if (received_ > desk_.parts_.limits.upload_bytes_max) return desk_.too_large();
    TRY(begin());
    return writer_->write(bytes);
  }
  Result<schema::KeptOutput> seal() {
    TRY(begin());
    return writer_->finish(meta_);
  }

  OutputDesk& desk_;
  const std::shared_ptr<std::atomic<std::size_t>> count_;  // may outlive the desk
  SessionId session_;
  ports::OutputMeta meta_;
  std::unique_ptr<OutputWriter> writer_;
  std::uint64_t received_ = 0;
};

std::unexpected<Error> OutputDesk::too_large() const {
  return fail(Code::too_large, fmt::format("the upload is larger than the limit of {} bytes",
                                           parts_.limits.upload_bytes_max));
}

Result<std::shared_ptr<ports::OutputUpload>> OutputDesk::upload(SessionId session,
                                                                std::string media_type,
                                                                std::optional<std::uint64_t> size) {
  if (size && *size > parts_.limits.upload_bytes_max) return too_large();
  if (parts_.redactor.holds(media_type) || parts_.redactor.holds(session.text()))
    return fail(Code::invalid_params, "sessionId and mediaType must not contain a secret");
  if (uploads_->fetch_add(1) >= parts_.limits.uploads_max) {
    --*uploads_;
    return fail(Code::overloaded, "too many uploads are in progress: try again");
  }
  return std::make_shared<Upload>(*this, std::move(session), std::move(media_type));
}

}  // namespace agentrt::outputs
