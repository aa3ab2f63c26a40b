// For tests: a server that speaks HTTP/2 on a port of its own, over TLS or bare.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <array>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/block_signals.h"
#include "base/fd.h"
#include "net/socket/tcp.h"
#include "net/testing/http2_peer.h"
#include "net/tls/certificate.h"

namespace net {

class Http2TestServer {
 public:
  // What it does about a whole request: tells `peer` what to say. `connection` counts from 0.
  // False closes the connection, once all is said. On the connection's thread.
  using Handle =
      std::function<bool(Http2Peer& peer, const Http2Peer::Request& request, int connection)>;
  struct Options {
    std::vector<nghttp2_settings_entry> settings;
    std::optional<KeyedCertificate> identity;  // none: no TLS
    bool offers_http2 = true;
  };

  explicit Http2TestServer(Handle handle) : Http2TestServer(Options(), std::move(handle)) {}
  Http2TestServer(Options options, Handle handle)
      : options_(std::move(options)), handle_(std::move(handle)) {
    auto listener = ListenOnTcp("127.0.0.1", 0);
    EXPECT_TRUE(listener);
    listener_ = std::move(*listener);
    const int flags = ::fcntl(listener_.get(), F_GETFL);
    EXPECT_EQ(::fcntl(listener_.get(), F_SETFL, flags & ~O_NONBLOCK), 0);
    if (options_.identity) MakeContext();
    const base::BlockSignals in_the_thread;
    thread_ = std::thread([this] { Accept(); });
  }
  ~Http2TestServer() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
    {
      const std::lock_guard lock(mutex_);
      for (const base::Fd& fd : sockets_) ::shutdown(fd.get(), SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
    ::SSL_CTX_free(context_);
  }
  Http2TestServer(const Http2TestServer&) = delete;
  Http2TestServer& operator=(const Http2TestServer&) = delete;

  uint16_t port() const { return LocalPort(listener_.get()); }
  int connections() {
    const std::lock_guard lock(mutex_);
    return static_cast<int>(sockets_.size());
  }
  // Until so many requests were seen whole, and so many connections closed by both sides.
  void AwaitRequests(int count) { Await(requests_, count); }
  void AwaitClosed(int count) { Await(closed_, count); }

 private:
  // A connection's bytes.
  struct Wire {
    int fd = -1;
    SSL* ssl = nullptr;

    ssize_t Read(char* to, size_t room) const {
      if (ssl != nullptr) return ::SSL_read(ssl, to, static_cast<int>(room));
      return ::recv(fd, to, room, 0);
    }
    bool Write(std::string_view bytes) const {
      while (!bytes.empty()) {
        const ssize_t count = ssl != nullptr
                                  ? ::SSL_write(ssl, bytes.data(), static_cast<int>(bytes.size()))
                                  : ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count <= 0) return false;
        bytes.remove_prefix(static_cast<size_t>(count));
      }
      return true;
    }
  };

  void Await(const int& counter, int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return counter >= count; });
  }
  void Count(int& counter) {
    const std::lock_guard lock(mutex_);
    ++counter;
    changed_.notify_all();
  }

  void MakeContext() {
    context_ = ::SSL_CTX_new(::TLS_server_method());
    const auto memory = [](const std::string& text) {
      return ::BIO_new_mem_buf(text.data(), static_cast<int>(text.size()));
    };
    BIO* const certificates = memory(options_.identity->certificate);
    X509* const leaf = ::PEM_read_bio_X509(certificates, nullptr, nullptr, nullptr);
    EXPECT_EQ(::SSL_CTX_use_certificate(context_, leaf), 1);
    ::X509_free(leaf);
    ::BIO_free(certificates);
    BIO* const pem = memory(options_.identity->key);
    EVP_PKEY* const key = ::PEM_read_bio_PrivateKey(pem, nullptr, nullptr, nullptr);
    EXPECT_EQ(::SSL_CTX_use_PrivateKey(context_, key), 1);
    ::EVP_PKEY_free(key);
    ::BIO_free(pem);
    if (!options_.offers_http2) return;
    ::SSL_CTX_set_alpn_select_cb(
        context_,
        [](SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
           unsigned offered_size, void*) {
          const unsigned char h2[] = {2, 'h', '2'};
          const int found = ::SSL_select_next_proto(const_cast<unsigned char**>(chosen), size, h2,
                                                    sizeof h2, offered, offered_size);
          return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
        },
        nullptr);
  }

  void Accept() {
    while (true) {
      base::Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!socket) return;
      const std::lock_guard lock(mutex_);
      const int index = static_cast<int>(sockets_.size());
      const int fd = socket.get();
      sockets_.push_back(std::move(socket));
      threads_.emplace_back([this, fd, index] { Carry(fd, index); });
    }
  }

  void Carry(int fd, int index) {
    Wire wire{fd, nullptr};
    if (context_ != nullptr) {
      wire.ssl = ::SSL_new(context_);
      ::SSL_set_fd(wire.ssl, fd);
      if (::SSL_accept(wire.ssl) == 1) Talk(wire, index);
      ::SSL_free(wire.ssl);
    } else {
      Talk(wire, index);
    }
    ::shutdown(fd, SHUT_WR);
    std::array<char, 4096> rest;
    while (::recv(fd, rest.data(), rest.size(), 0) > 0) continue;
    Count(closed_);
  }

  void Talk(const Wire& wire, int index) {
    Http2Peer peer(options_.settings);
    std::array<char, 16 << 10> buffer;
    bool goes_on = true;
    while (wire.Write(peer.TakeOutput()) && goes_on) {
      const ssize_t count = wire.Read(buffer.data(), buffer.size());
      if (count <= 0) return;
      peer.Feed({buffer.data(), static_cast<size_t>(count)});
      for (const auto& request : peer.TakeWhole()) {
        goes_on = handle_(peer, request, index) && goes_on;
        Count(requests_);
      }
    }
  }

  const Options options_;
  const Handle handle_;
  base::Fd listener_;
  SSL_CTX* context_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<base::Fd> sockets_;
  std::vector<std::thread> threads_;
  int requests_ = 0;
  int closed_ = 0;
  std::thread thread_;
};

}  // namespace net
