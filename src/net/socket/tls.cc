#include "net/socket/tls.h"

#include <curl/curl.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>

#include <array>
#include <climits>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "base/environment.h"
#include "net/socket/system_authorities.h"
#include "net/socket/url.h"

namespace net {
namespace {

// HTTP/2's frames are small, and so are its records: many are read at once.
constexpr size_t kManyRecords = 64 << 10;

template <auto free>
struct Freed {
  template <typename T>
  void operator()(T* value) const {
    free(value);
  }
};
using OwnedSsl = std::unique_ptr<SSL, Freed<SSL_free>>;
using OwnedContext = std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>>;
using OwnedBio = std::unique_ptr<BIO, Freed<BIO_free>>;
using OwnedX509 = std::unique_ptr<X509, Freed<X509_free>>;
using OwnedKey = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;

// What OpenSSL complained of last; its queue is empty then.
std::string TakeSslError() {
  std::array<char, 256> text{};
  const unsigned long code = ::ERR_peek_last_error();
  ::ERR_clear_error();
  if (code == 0) return "";
  ::ERR_error_string_n(code, text.data(), text.size());
  return text.data();
}

// The way of OpenSSL's bytes to a ClientSocket: a BIO whose data is one of these.
struct SocketBio {
  ClientSocket* socket = nullptr;
  std::optional<base::Error> error;  // of the socket

  template <typename Move>
  int Try(BIO* bio, Move move) {
    ::BIO_clear_retry_flags(bio);
    const auto step = move(*socket);
    if (!step) {
      error = step.error();
      return -1;
    }
    if (step->wait_for == POLLIN) ::BIO_set_retry_read(bio);
    if (step->wait_for == POLLOUT) ::BIO_set_retry_write(bio);
    return step->wait_for != 0 ? -1 : static_cast<int>(step->bytes);
  }

  static int Write(BIO* bio, const char* data, int size) {
    return static_cast<SocketBio*>(::BIO_get_data(bio))->Try(bio, [&](ClientSocket& socket) {
      return socket.Send({data, static_cast<size_t>(size)}, {});
    });
  }
  static int Read(BIO* bio, char* data, int size) {
    return static_cast<SocketBio*>(::BIO_get_data(bio))->Try(bio, [&](ClientSocket& socket) {
      return socket.Receive(data, static_cast<size_t>(size));
    });
  }
  static long Control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

  static const BIO_METHOD* Method() {
    static BIO_METHOD* const method = [] {
      BIO_METHOD* made = ::BIO_meth_new(::BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
      ::BIO_meth_set_write(made, &Write);
      ::BIO_meth_set_read(made, &Read);
      ::BIO_meth_set_ctrl(made, &Control);
      return made;
    }();
    return method;
  }
};

class TlsSocket final : public ClientSocket {
 public:
  TlsSocket(std::unique_ptr<ClientSocket> below, OwnedSsl ssl, ExplainFailure explain)
      : below_(std::move(below)), explain_(std::move(explain)), ssl_(std::move(ssl)) {
    wire_.socket = below_.get();
    BIO* const bio = ::BIO_new(SocketBio::Method());
    ::BIO_set_data(bio, &wire_);
    ::BIO_set_init(bio, 1);
    ::SSL_set_bio(ssl_.get(), bio, bio);  // takes it over
  }

  base::Status Greet(SocketDeadline deadline, int cancel) {
    while (true) {
      TRY_ASSIGN(const SocketStep step, Try([this] { return ::SSL_connect(ssl_.get()); }));
      if (step.bytes > 0) break;
      if (step.wait_for == 0) {
        return base::Fail(
            explain_({CURLE_SSL_CONNECT_ERROR, 0, 0, false, "it closed the connection"}));
      }
      const base::Status ready = AwaitSocket(fd(), step.wait_for, deadline, cancel);
      if (!ready && ready.error().code == base::Code::kCancelled) return ready;
      if (!ready) return base::Fail(explain_({CURLE_OPERATION_TIMEDOUT, 0, 0, false, ""}));
    }
    is_connected_ = true;
    return {};
  }

  // Both sides' choice.
  bool SpeaksHttp2() const {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    ::SSL_get0_alpn_selected(ssl_.get(), &name, &size);
    return size == 2 && std::memcmp(name, "h2", 2) == 0;
  }

  int fd() const override { return below_->fd(); }
  base::Result<SocketStep> Receive(char* buffer, size_t size) override {
    const int most = static_cast<int>(std::min<size_t>(size, INT_MAX));
    return Try([&] { return ::SSL_read(ssl_.get(), buffer, most); });
  }
  base::Result<SocketStep> Send(std::string_view head, std::string_view body) override {
    const std::string_view bytes = head.empty() ? body : head;
    const int most = static_cast<int>(std::min<size_t>(bytes.size(), INT_MAX));
    return Try([&] { return ::SSL_write(ssl_.get(), bytes.data(), most); });
  }
  // There may be messages of TLS itself: such a connection carries one exchange.
  bool IsIdle() const override { return false; }

 private:
  template <typename Move>
  base::Result<SocketStep> Try(Move move) {
    const std::lock_guard lock(mutex_);
    ::ERR_clear_error();
    const int count = move();
    if (count > 0) return SocketStep{static_cast<size_t>(count), 0};
    switch (::SSL_get_error(ssl_.get(), count)) {
      case SSL_ERROR_WANT_READ:
        return SocketStep{0, POLLIN};
      case SSL_ERROR_WANT_WRITE:
        return SocketStep{0, POLLOUT};
      case SSL_ERROR_ZERO_RETURN:
        return SocketStep{};
      case SSL_ERROR_SYSCALL:
        if (wire_.error) return base::Fail(*wire_.error);
        return SocketStep{};
      default:
        return Refused();
    }
  }

  base::Result<SocketStep> Refused() {
    const bool is_cut =
        ERR_GET_REASON(::ERR_peek_last_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
    CurlFailure failure{CURLE_SSL_CONNECT_ERROR, 0, 0, is_connected_, TakeSslError()};
    if (is_cut) return SocketStep{};
    failure.verify_result = ::SSL_get_verify_result(ssl_.get());
    if (!is_connected_ && failure.verify_result != X509_V_OK) {
      failure.curl_code = CURLE_PEER_FAILED_VERIFICATION;
    } else if (is_connected_) {
      failure.curl_code = CURLE_RECV_ERROR;
    }
    return base::Fail(explain_(failure));
  }

  const std::unique_ptr<ClientSocket> below_;
  const ExplainFailure explain_;
  SocketBio wire_;
  bool is_connected_ = false;
  std::mutex mutex_;  // OpenSSL's connections are for one thread at a time
  const OwnedSsl ssl_;
};

OwnedBio Memory(const std::string& text) {
  return OwnedBio(::BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

bool Trust(SSL_CTX* context, const std::string& ca_pem) {
  X509_STORE* const store = ::SSL_CTX_get_cert_store(context);
  const OwnedBio pem = Memory(ca_pem);
  int count = 0;
  while (const OwnedX509 one{::PEM_read_bio_X509(pem.get(), nullptr, nullptr, nullptr)}) {
    ::X509_STORE_add_cert(store, one.get());  // one that is there already is not an error
    ++count;
  }
  ::ERR_clear_error();
  return count > 0;
}

// A key that is encrypted is an error, not a question on the terminal.
int RefusePassword(char*, int, int, void*) { return 0; }

bool Show(SSL_CTX* context, const ClientIdentity& identity) {
  const OwnedBio certificates = Memory(identity.cert_pem);
  const OwnedX509 leaf{::PEM_read_bio_X509(certificates.get(), nullptr, &RefusePassword, nullptr)};
  if (!leaf || ::SSL_CTX_use_certificate(context, leaf.get()) != 1) return false;
  while (const OwnedX509 next{
      ::PEM_read_bio_X509(certificates.get(), nullptr, &RefusePassword, nullptr)}) {
    if (::SSL_CTX_add1_chain_cert(context, next.get()) != 1) return false;
  }
  ::ERR_clear_error();
  const OwnedBio pem = Memory(identity.key_pem);
  const OwnedKey key{::PEM_read_bio_PrivateKey(pem.get(), nullptr, &RefusePassword, nullptr)};
  return key && ::SSL_CTX_use_PrivateKey(context, key.get()) == 1;
}

void TrustSystem(SSL_CTX* context) {
  ::SSL_CTX_set_default_verify_paths(context);
  const auto environment = base::Environment::OfProcess();
  const bool is_named = environment.Get(::X509_get_default_cert_file_env()) ||
                        environment.Get(::X509_get_default_cert_dir_env());
  const Authorities found = FindAuthorities(AuthorityPlaces::OfSystem(), is_named);
  if (!found.file.empty()) ::SSL_CTX_load_verify_file(context, found.file.c_str());
  if (!found.folder.empty()) ::SSL_CTX_load_verify_dir(context, found.folder.c_str());
  ::ERR_clear_error();
}

base::Result<OwnedContext> MakeContext(const TlsOptions& options, const ExplainFailure& explain) {
  OwnedContext context(::SSL_CTX_new(::TLS_client_method()));
  if (!context) return base::Fail(base::Code::kExhausted, "OpenSSL: " + TakeSslError());
  ::SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  ::SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION);
  ::SSL_CTX_set_mode(context.get(),
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  ::SSL_CTX_set_verify(context.get(), options.is_insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER,
                       nullptr);
  if (options.ca_pem.empty()) {
    TrustSystem(context.get());
  } else if (!options.is_insecure && !Trust(context.get(), options.ca_pem)) {
    return base::Fail(explain({CURLE_SSL_CACERT_BADFILE, 0, 0, false, ""}));
  }
  if (!options.identity.cert_pem.empty() && !Show(context.get(), options.identity)) {
    return base::Fail(explain({CURLE_SSL_CERTPROBLEM, 0, 0, false, TakeSslError()}));
  }
  return context;
}

// Whose certificate it has to be, and whom to ask for.
bool Expect(SSL* ssl, const std::string& name) {
  X509_VERIFY_PARAM* const wanted = ::SSL_get0_param(ssl);
  // An authority below a root may be the one that is trusted, as with libcurl and with Go.
  ::X509_VERIFY_PARAM_set_flags(wanted, X509_V_FLAG_PARTIAL_CHAIN);
  if (IsIpAddress(name)) return ::X509_VERIFY_PARAM_set1_ip_asc(wanted, name.c_str()) == 1;
  ::X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return ::X509_VERIFY_PARAM_set1_host(wanted, name.data(), name.size()) == 1 &&
         SSL_set_tlsext_host_name(ssl, name.c_str()) == 1;
}

}  // namespace

base::Result<std::unique_ptr<ClientSocket>> StartTls(std::unique_ptr<ClientSocket> socket,
                                                     const TlsOptions& options,
                                                     SocketDeadline deadline,
                                                     ExplainFailure explain, int cancel) {
  constexpr unsigned char kHttp11[] = "\x08http/1.1";
  constexpr unsigned char kHttp2[] = "\x02h2\x08http/1.1";
  TRY_ASSIGN(const OwnedContext context, MakeContext(options, explain));
  OwnedSsl ssl(::SSL_new(context.get()));
  if (!ssl || !Expect(ssl.get(), options.server_name)) {
    return base::Fail(base::Code::kInvalidArgument, "OpenSSL: " + TakeSslError());
  }
  if (options.is_http2) {
    ::SSL_set_alpn_protos(ssl.get(), kHttp2, sizeof kHttp2 - 1);
    ::SSL_set_read_ahead(ssl.get(), 1);
    ::SSL_set_default_read_buffer_len(ssl.get(), kManyRecords);
  } else {
    ::SSL_set_alpn_protos(ssl.get(), kHttp11, sizeof kHttp11 - 1);
  }
  auto tls = std::make_unique<TlsSocket>(std::move(socket), std::move(ssl), std::move(explain));
  TRY(tls->Greet(deadline, cancel));
  if (options.is_http2 && !tls->SpeaksHttp2()) {
    return base::Fail(base::Code::kNotFound, "the server does not speak HTTP/2");
  }
  return std::unique_ptr<ClientSocket>(std::move(tls));
}

}  // namespace net
