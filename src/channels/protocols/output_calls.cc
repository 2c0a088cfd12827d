#include "channels/protocols/output_calls.h"

namespace agentrt::channels {
namespace {

struct UploadReply {
  std::string output_ref;
};
BOOST_DESCRIBE_STRUCT(UploadReply, (), (output_ref))

void read_opened(const std::shared_ptr<Inbox>& inbox,
                 const std::shared_ptr<ports::OpenOutput>& output, std::size_t bytes_max,
                 OutputDone done) {
  OutputBytes out;
  out.media_type = output->record().media_type.value_or("application/octet-stream");
  out.size = output->record().size;
  output->read(0, bytes_max,
               [inbox, output, out = std::move(out),
                done = std::move(done)](Result<std::string> bytes) mutable {
                 inbox->post([out = std::move(out), done = std::move(done),
                              bytes = std::move(bytes)]() mutable {
                   if (!bytes) return done(std::unexpected(bytes.error()));
                   out.bytes = *std::move(bytes);
                   done(std::move(out));
                 });
               });
}

}  // namespace

void read_output(Services& services, const ActingAs& as, std::string ref, std::size_t bytes_max,
                 OutputDone done) {
  auto allowed = Authorization::output(as.identity.get(), {std::move(ref)});
  if (!allowed) return done(std::unexpected(allowed.error()));
  services.outputs.open(
      *std::move(allowed), [inbox = services.inbox, bytes_max, done = std::move(done)](
                               Result<std::shared_ptr<ports::OpenOutput>> opened) mutable {
        inbox->post(
            [inbox, bytes_max, done = std::move(done), opened = std::move(opened)]() mutable {
              if (!opened) return done(std::unexpected(opened.error()));
              read_opened(inbox, *opened, bytes_max, std::move(done));
            });
      });
}

void store_output(Services& services, const ActingAs& as, const SessionId& session,
                  std::string media_type, std::string bytes, TextDone done) {
  auto allowed = Authorization::upload(as.identity.get(),
                                       {session, std::move(media_type), bytes.size()}, as.origin);
  if (!allowed) return done(std::unexpected(allowed.error()));
  auto opened = services.outputs.upload(*std::move(allowed));
  if (!opened) return done(std::unexpected(opened.error()));
  const auto upload = *opened;
  upload->put(std::move(bytes), [inbox = services.inbox, upload,
                                 done = std::move(done)](Result<void> stored) mutable {
    if (!stored)
      return inbox->post([done = std::move(done), why = stored.error()]() mutable {
        done(std::unexpected(std::move(why)));
      });
    upload->finish([inbox, upload, done = std::move(done)](ports::Reply reply) mutable {
      inbox->post([done = std::move(done), reply = std::move(reply)]() mutable {
        const auto read = read_reply<UploadReply>(reply);
        if (!read) return done(std::unexpected(read.error()));
        done(read->output_ref);
      });
    });
  });
}

}  // namespace agentrt::channels
