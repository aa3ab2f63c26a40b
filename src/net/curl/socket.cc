#include "net/curl/socket.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include <mutex>
#include <string_view>
#include <utility>

#include "net/socket/tcp.h"

namespace net {
namespace {

// Before version 7.87, libcurl's TLS writes with write(2), which raises SIGPIPE when the server is
// gone.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutSigpipe() {
    const timespec now{};
    while (::sigtimedwait(&pipe_, nullptr, &now) == SIGPIPE) continue;
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t pipe_;
  sigset_t before_;
};

// Whether the server has closed the connection without TLS's close notification. libcurl says so
// only in its message.
bool IsGone(const CurlFailure& failure) {
  const auto says = [&](std::string_view words) {
    return failure.detail.find(words) != std::string::npos;
  };
  return says("Connection reset by peer") || says("Broken pipe") || says("unexpected eof");
}

class CurlSocket final : public ClientSocket {
 public:
  CurlSocket(const CurlLibrary& curl, std::unique_ptr<CurlHandle> handle, ExplainFailure explain)
      : curl_(curl), explain_(std::move(explain)), handle_(std::move(handle)) {}
  ~CurlSocket() override {
    const WithoutSigpipe in_the_farewell;
    handle_.reset();
  }

  base::Status Connect() {
    Set(CURLOPT_CONNECT_ONLY, 1L);
    Set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    Set(CURLOPT_HTTPPROXYTUNNEL, 1L);
    Set(CURLOPT_SOCKOPTFUNCTION, &OnOpen);
    const WithoutSigpipe in_the_handshake;
    const CURLcode code = curl_.easy_perform(handle_->get());
    if (code != CURLE_OK) return base::Fail(explain_(handle_->FailureOf(code)));
    curl_socket_t fd = CURL_SOCKET_BAD;
    curl_.easy_getinfo(handle_->get(), CURLINFO_ACTIVESOCKET, &fd);
    if (fd == CURL_SOCKET_BAD) return base::Fail(explain_(handle_->FailureOf(CURLE_RECV_ERROR)));
    fd_ = fd;
    return {};
  }

  int fd() const override { return fd_; }
  base::Result<SocketStep> Receive(char* buffer, size_t size) override {
    return Try(POLLIN, [&](size_t& count) {
      return curl_.easy_recv(handle_->get(), buffer, size, &count);
    });
  }
  base::Result<SocketStep> Send(std::string_view head, std::string_view body) override {
    const std::string_view bytes = head.empty() ? body : head;
    return Try(POLLOUT, [&](size_t& count) {
      return curl_.easy_send(handle_->get(), bytes.data(), bytes.size(), &count);
    });
  }
  // Pending bytes may be TLS's own messages, so the connection carries one request only.
  bool IsIdle() const override { return false; }

 private:
  static int OnOpen(void*, curl_socket_t fd, curlsocktype) {
    SetKeepAlive(fd);
    return CURL_SOCKOPT_OK;
  }
  template <typename T>
  void Set(CURLoption option, T value) {
    curl_.easy_setopt(handle_->get(), option, value);
  }
  template <typename Move>
  base::Result<SocketStep> Try(short wait_for, Move move) {
    const std::lock_guard lock(mutex_);
    const WithoutSigpipe in_the_move;
    size_t count = 0;
    const CURLcode code = move(count);
    if (code == CURLE_OK) return SocketStep{count, 0};
    if (code == CURLE_AGAIN) return SocketStep{0, wait_for};
    const CurlFailure failure = handle_->FailureOf(code);
    if (IsGone(failure)) return SocketStep{};
    return base::Fail(explain_(failure));
  }

  const CurlLibrary& curl_;
  const ExplainFailure explain_;
  std::mutex mutex_;  // libcurl's handles are for one thread at a time
  std::unique_ptr<CurlHandle> handle_;
  int fd_ = -1;
};

}  // namespace

base::Result<std::unique_ptr<ClientSocket>> ConnectByCurl(const CurlLibrary& curl,
                                                          std::unique_ptr<CurlHandle> handle,
                                                          ExplainFailure explain) {
  auto socket = std::make_unique<CurlSocket>(curl, std::move(handle), std::move(explain));
  TRY(socket->Connect());
  return std::unique_ptr<ClientSocket>(std::move(socket));
}

}  // namespace net
