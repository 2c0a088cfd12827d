#include "base/tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <ctime>

#include <fmt/format.h>

namespace agentrt {
namespace {

// OpenSSL's newest error, in its own words.
std::string last_problem() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  if (code == 0) return "unknown error";
  const char* const reason = ERR_reason_error_string(code);
  return reason ? reason : fmt::format("error {:x}", code);
}

Result<std::shared_ptr<SSL_CTX>> make(const SSL_METHOD* method) {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(method), SSL_CTX_free);
  if (!context) return fail(Code::internal, fmt::format("TLS cannot start: {}.", last_problem()));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                         SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  return context;
}

Timestamp timestamp_of(const ASN1_TIME* time) {
  std::tm parts{};
  ASN1_TIME_to_tm(time, &parts);
  return Timestamp{static_cast<std::int64_t>(::timegm(&parts)) * 1'000};
}

std::unexpected<Error> unusable(std::string_view what, const std::string& path) {
  return fail(Code::invalid_params,
              fmt::format("{} {} cannot be used: {}.", what, path, last_problem()));
}

bool is_address(const std::string& host) {
  std::array<unsigned char, 16> ignored{};
  return ::inet_pton(AF_INET, host.c_str(), ignored.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), ignored.data()) == 1;
}

std::shared_ptr<SSL> session_of(SSL_CTX* context, int socket) {
  std::shared_ptr<SSL> session(SSL_new(context), SSL_free);
  SSL_set_fd(session.get(), socket);
  return session;
}

}  // namespace

Result<TlsContext> TlsContext::server(const std::string& certificate, const std::string& key,
                                      Timestamp now) {
  ERR_clear_error();
  TRY_ASSIGN(std::shared_ptr<SSL_CTX> context, make(TLS_server_method()));
  if (SSL_CTX_use_certificate_chain_file(context.get(), certificate.c_str()) != 1)
    return unusable("The certificate file", certificate);
  if (SSL_CTX_use_PrivateKey_file(context.get(), key.c_str(), SSL_FILETYPE_PEM) != 1)
    return unusable("The key file", key);
  if (SSL_CTX_check_private_key(context.get()) != 1)
    return fail(
        Code::invalid_params,
        fmt::format("The key in {} does not belong to the certificate in {}.", key, certificate));
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  const X509* const own = SSL_CTX_get0_certificate(context.get());
  TlsContext out(std::move(context));
  out.expires_ = timestamp_of(X509_get0_notAfter(own));
  if (out.expires_ < now)
    return fail(Code::invalid_params, fmt::format("The certificate in {} expired on {}; renew it.",
                                                  certificate, format(out.expires_)));
  if (now < timestamp_of(X509_get0_notBefore(own)))
    return fail(Code::invalid_params,
                fmt::format("The certificate in {} is not valid yet.", certificate));
  return out;
}

Result<TlsContext> TlsContext::client(const std::optional<std::string>& ca_file) {
  ERR_clear_error();
  TRY_ASSIGN(std::shared_ptr<SSL_CTX> context, make(TLS_client_method()));
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  if (!ca_file) {
    SSL_CTX_set_default_verify_paths(context.get());
  } else if (SSL_CTX_load_verify_locations(context.get(), ca_file->c_str(), nullptr) != 1) {
    return unusable("The file of certificate authorities", *ca_file);
  }
  return TlsContext(std::move(context));
}

TlsSession TlsSession::accept(const TlsContext& context, int socket) {
  auto session = session_of(context.context_.get(), socket);
  SSL_set_accept_state(session.get());
  return TlsSession(std::move(session));
}

TlsSession TlsSession::connect(const TlsContext& context, int socket, const std::string& host) {
  auto session = session_of(context.context_.get(), socket);
  SSL_set_connect_state(session.get());
  if (is_address(host)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session.get()), host.c_str());
  } else {
    SSL_set_tlsext_host_name(session.get(), host.c_str());
    SSL_set1_host(session.get(), host.c_str());
  }
  return TlsSession(std::move(session));
}

TlsSession::Progress TlsSession::outcome(int result) {
  switch (SSL_get_error(session_.get(), result)) {
    case SSL_ERROR_NONE:
      return {.bytes = static_cast<std::size_t>(std::max(result, 0))};
    case SSL_ERROR_WANT_READ:
      return {.want = Want::read};
    case SSL_ERROR_WANT_WRITE:
      return {.want = Want::write};
    case SSL_ERROR_ZERO_RETURN:
      return {.ended = true};
    default:
      break;
  }
  const long verified = SSL_get_verify_result(session_.get());
  untrusted_ = !SSL_is_server(session_.get()) && verified != X509_V_OK;
  problem_ = untrusted_ ? X509_verify_cert_error_string(verified) : last_problem();
  ERR_clear_error();
  return {.ended = true};
}

TlsSession::Progress TlsSession::handshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(session_.get());
  return outcome(result);
}

TlsSession::Progress TlsSession::read(std::span<char> into) {
  ERR_clear_error();
  return outcome(SSL_read(session_.get(), into.data(), static_cast<int>(into.size())));
}

TlsSession::Progress TlsSession::write(std::string_view bytes) {
  ERR_clear_error();
  return outcome(SSL_write(session_.get(), bytes.data(), static_cast<int>(bytes.size())));
}

void TlsSession::end() {
  ERR_clear_error();
  if (SSL_is_init_finished(session_.get())) (void)SSL_shutdown(session_.get());
  ERR_clear_error();
}

}  // namespace agentrt
