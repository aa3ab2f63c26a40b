// The endpoint of a launch, to which its ranks post their progress (api/status_posts.h): a port of
// the loopback interface. Within a muster job the cluster has one.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "process/event_loop.h"
#include "rendezvous/sockets/listener.h"
#include "runs/progress/status_post.h"

namespace launch {

// Used by the loop's thread. Borrows the loop.
class PostServer {
 public:
  using OnPost = std::function<void(const runs::StatusPost& post)>;

  // On a free port. `token`: only clients that send it may post.
  static base::Result<std::unique_ptr<PostServer>> Listen(process::EventLoop& loop,
                                                          std::string token, OnPost on_post);
  ~PostServer();

  std::string Url() const;

 private:
  struct Connection;

  PostServer(process::EventLoop& loop, rendezvous::Listener listener, std::string token,
             OnPost on_post);
  base::Status Watch();
  void Accept();
  void OnReadable(Connection& connection);
  void Read(Connection& connection, std::string_view bytes);
  void Send(Connection& connection);
  void Close(int fd);

  process::EventLoop& loop_;
  const rendezvous::Listener listener_;
  const std::string token_;
  const OnPost on_post_;
  process::EventLoop::TimerId pause_ = 0;
  std::map<int, std::unique_ptr<Connection>> connections_;  // by descriptor
};

}  // namespace launch
