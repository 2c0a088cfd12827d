// base/tls.h: TLS on a connected, non-blocking socket, for servers and clients.
//
// A context holds certificate and key of a server, or the authorities that a client trusts. A
// session encrypts one connection. Both sides need TLS 1.2 or later. A context may be shared by
// threads; a session belongs to one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

struct ssl_st;
struct ssl_ctx_st;

namespace agentrt {

class TlsContext {
 public:
  // Reads a chain of certificates and the private key of the first, both in PEM. Fails with
  // invalid_params if a file cannot be read, if the two do not match, or if the certificate is not
  // valid at `now`.
  static Result<TlsContext> server(const std::string& certificate, const std::string& key,
                                   Timestamp now);
  // Trusts the authorities of the system, or only those in `ca_file`. Fails with invalid_params if
  // the file cannot be read.
  static Result<TlsContext> client(const std::optional<std::string>& ca_file);

  // When a server's certificate expires.
  Timestamp expires() const { return expires_; }

 private:
  friend class TlsSession;
  explicit TlsContext(std::shared_ptr<ssl_ctx_st> context) : context_(std::move(context)) {}

  std::shared_ptr<ssl_ctx_st> context_;
  Timestamp expires_{};
};

class TlsSession {
 public:
  enum class Want { nothing, read, write };  // what the socket must be ready for
  struct Progress {
    std::size_t bytes = 0;
    Want want = Want::nothing;
    bool ended = false;  // closed by the peer, or broken: see problem()
  };

  // `socket` stays the caller's and must outlive the session.
  static TlsSession accept(const TlsContext& context, int socket);
  // `host`: the name or the numeric address that the server's certificate must have.
  static TlsSession connect(const TlsContext& context, int socket, const std::string& host);

  // Continues the handshake; read() and write() do so too.
  Progress handshake();
  Progress read(std::span<char> into);
  // Writes all of `bytes` (at most kTlsRecordBytes) or nothing. After a `want`, the next call must
  // have the same bytes, possibly at another address.
  Progress write(std::string_view bytes);
  // Tells the peer that nothing follows, if the socket takes it at once.
  void end();
  // Why the session failed; of a client also why the certificate is not trusted.
  const std::string& problem() const { return problem_; }
  bool untrusted() const { return untrusted_; }

 private:
  explicit TlsSession(std::shared_ptr<ssl_st> session) : session_(std::move(session)) {}
  Progress outcome(int result);

  std::shared_ptr<ssl_st> session_;
  std::string problem_;
  bool untrusted_ = false;
};

inline constexpr std::size_t kTlsRecordBytes = 16 << 10;

}  // namespace agentrt
