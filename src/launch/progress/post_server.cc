#include "launch/progress/post_server.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/fd.h"
#include "launch/progress/post_answer.h"
#include "net/http/parser.h"

namespace launch {
namespace {

constexpr std::string_view kHost = "127.0.0.1";
constexpr size_t kMostConnections = 32;
// For a request and its answer. The programs give up after 5 s.
constexpr base::Duration kLongest = std::chrono::seconds(10);
constexpr base::Duration kPause = std::chrono::seconds(1);
constexpr api::PostRefusal kMalformed{400, "BadRequest", "Bad request"};

}  // namespace

struct PostServer::Connection {
  base::Fd fd;
  net::MessageParser parser{net::MessageParser::Kind::kRequest, runs::kMostPostBytes};
  std::string input;   // that the parser has not used
  std::string output;  // that the peer has not taken
  bool is_answered = false;
  process::EventLoop::TimerId deadline = 0;
};

base::Result<std::unique_ptr<PostServer>> PostServer::Listen(process::EventLoop& loop,
                                                             std::string token, OnPost on_post) {
  TRY_ASSIGN(rendezvous::Listener listener,
             rendezvous::Listener::Bind(kHost, 0, rendezvous::Listener::Reach::kThisMachine));
  std::unique_ptr<PostServer> made(
      new PostServer(loop, std::move(listener), std::move(token), std::move(on_post)));
  TRY(made->Watch());
  return made;
}

PostServer::PostServer(process::EventLoop& loop, rendezvous::Listener listener, std::string token,
                       OnPost on_post)
    : loop_(loop),
      listener_(std::move(listener)),
      token_(std::move(token)),
      on_post_(std::move(on_post)) {}

PostServer::~PostServer() {
  loop_.Cancel(pause_);
  loop_.Unwatch(listener_.fd());
  while (!connections_.empty()) Close(connections_.begin()->first);
}

std::string PostServer::Url() const {
  return api::StatusUrl(fmt::format("http://{}:{}", kHost, listener_.port()), kPostedNamespace,
                        kPostedJob);
}

base::Status PostServer::Watch() {
  return loop_.Watch(listener_.fd(), EPOLLIN, [this](uint32_t) { Accept(); });
}

void PostServer::Accept() {
  rendezvous::Endpoint peer;
  auto accepted = listener_.Accept(peer);
  if (!accepted && accepted.error().code == base::Code::kExhausted) {
    // Otherwise it would be called again at once, as long as no descriptor is free.
    loop_.Unwatch(listener_.fd());
    pause_ = loop_.After(kPause, [this] {
      pause_ = 0;
      (void)Watch();
    });
  }
  if (!accepted || connections_.size() >= kMostConnections) return;
  auto connection = std::make_unique<Connection>();
  connection->fd = std::move(*accepted);
  const int fd = connection->fd.get();
  Connection& kept = *connection;
  if (!loop_.Watch(fd, EPOLLIN, [this, &kept](uint32_t) { OnReadable(kept); })) return;
  connection->deadline = loop_.After(kLongest, [this, fd] { Close(fd); });
  connections_[fd] = std::move(connection);
}

void PostServer::OnReadable(Connection& connection) {
  std::array<char, 16 << 10> buffer;
  const ssize_t count = ::recv(connection.fd.get(), buffer.data(), buffer.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return Close(connection.fd.get());
  // Bytes after the answer are read and dropped: a connection that is closed with unread bytes is
  // reset, and its peer would not see the answer.
  if (!connection.is_answered) Read(connection, {buffer.data(), static_cast<size_t>(count)});
}

void PostServer::Read(Connection& connection, std::string_view bytes) {
  connection.input += bytes;
  net::MessageParser& parser = connection.parser;
  const auto used = parser.Feed(connection.input);
  if (used) connection.input.erase(0, *used);
  if (used && !parser.is_done()) return;
  connection.is_answered = true;
  connection.input.clear();
  if (used) {
    PostAnswer answer = AnswerPost(parser.message(), token_);
    connection.output = std::move(answer.bytes);
    if (answer.post) on_post_(*answer.post);
  } else {
    const bool is_too_large = used.error().code == base::Code::kExhausted;
    connection.output = RefusePost(is_too_large ? api::kPostTooLarge : kMalformed);
  }
  Send(connection);
}

void PostServer::Send(Connection& connection) {
  const int fd = connection.fd.get();
  while (!connection.output.empty()) {
    const ssize_t sent =
        ::send(fd, connection.output.data(), connection.output.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) {
      const auto watched =
          loop_.Watch(fd, EPOLLOUT, [this, &connection](uint32_t) { Send(connection); });
      if (!watched) Close(fd);
      return;
    }
    if (sent < 0) return Close(fd);
    connection.output.erase(0, static_cast<size_t>(sent));
  }
  ::shutdown(fd, SHUT_WR);
  const auto watched =
      loop_.Watch(fd, EPOLLIN, [this, &connection](uint32_t) { OnReadable(connection); });
  if (!watched) Close(fd);
}

void PostServer::Close(int fd) {
  const auto found = connections_.find(fd);
  if (found == connections_.end()) return;
  loop_.Unwatch(fd);
  loop_.Cancel(found->second->deadline);
  connections_.erase(found);
}

}  // namespace launch
