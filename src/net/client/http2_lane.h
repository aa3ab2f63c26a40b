// Sends small requests to one server over a single HTTP/2 connection. libcurl can do the same, at
// twice the CPU: `muster operator` writes thousands of objects a second.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/guarded.h"
#include "base/result.h"
#include "net/client/client.h"
#include "net/client/http2_connection.h"
#include "net/http/types.h"
#include "net/socket/tls.h"

namespace net {

// Thread safe; one thread of its own moves the bytes. A request that the server surely did not
// process (RFC 9113 section 8.7) is sent once more, on a new connection where that is closing.
class Http2Lane {
 public:
  struct Options {
    std::string authority;
    std::string path;  // before the requests' targets
    // A socket to the server, which has agreed to HTTP/2; kCancelled once `cancel` is readable. On
    // the lane's thread.
    std::function<ConnectedSocket(int cancel)> connect;
    ExplainFailure explain;
    // A request fails when the server has sent nothing for this long.
    std::chrono::milliseconds idle_timeout{0};
  };
  // nullopt: the request was not sent, and the caller has to send it another way.
  using Answer = std::optional<base::Result<HttpResponse>>;

  static base::Result<std::unique_ptr<Http2Lane>> Start(Options options);
  ~Http2Lane();  // requests under way end as kCancelled
  Http2Lane(const Http2Lane&) = delete;
  Http2Lane& operator=(const Http2Lane&) = delete;

  // Sends all requests at the same time and blocks until each is answered. The answers are in the
  // order of the requests. An error is kUnavailable, kTimeout or kCancelled, or kUnauthenticated
  // where the server refuses the certificate. After any other error of `connect`, every request is
  // answered with nullopt for a minute.
  std::vector<Answer> SendAll(std::span<const HttpRequest* const> requests);
  // Later requests use a new connection.
  void Renew();

 private:
  using Time = Http2Session::Time;
  struct Call {
    const HttpRequest* request = nullptr;  // its sender waits, and keeps it
    Time since;
    bool is_second_try = false;
    Answer answer;
    std::shared_ptr<std::latch> ends;
  };
  using CallPtr = std::shared_ptr<Call>;
  struct Mail {
    std::vector<CallPtr> calls;
    bool must_renew = false;
    bool is_stopped = false;
    bool is_awaited = false;  // the thread sleeps until it is woken
  };
  struct Line {
    Line(std::unique_ptr<ClientSocket> socket, std::unique_ptr<Http2Session> session,
         const ExplainFailure& explain)
        : connection(std::move(socket), std::move(session), explain) {}
    Http2Connection connection;
    std::unordered_map<int32_t, CallPtr> calls;  // by stream
  };

  Http2Lane(Options options, base::Fd wake);
  void Wake(Mail& mail);

  // The thread's.
  void Run();
  bool TakeMail();
  void Await(bool must_wait);
  void Gather();
  bool CanSend() const;
  void SendWaiting();
  void Send(Line& line, CallPtr call);
  Line* OpenLine();
  base::Result<std::unique_ptr<Line>> Connect();
  void FailWaiting(const base::Error& error);
  void Settle(Line& line);
  void Settle(Http2End end, CallPtr call, const Http2Connection& connection);
  void Expire(Time now);
  int MillisToExpire(Time now) const;
  static void End(Call& call, Answer answer);

  const Options options_;
  const base::Fd wake_;  // eventfd
  base::Guarded<Mail> mail_;
  std::condition_variable stopped_;
  bool is_stopped_ = false;
  std::deque<CallPtr> waiting_;
  // The last is the one to send by, if it is open; those before it end what they have begun.
  std::vector<std::unique_ptr<Line>> lines_;
  Time last_end_{};      // of a request
  Time expires_at_{};    // not before then
  Time closed_until_{};  // no connection is tried
  std::thread thread_;
};

}  // namespace net
