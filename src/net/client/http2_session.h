// HTTP/2 (RFC 9113) from the client's side: requests and the server's bytes go in, bytes for the
// server and the ends of requests come out. No socket, no thread, no clock. nghttp2 inside.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http/types.h"

namespace net {

// How a request ended.
struct Http2End {
  enum class Kind {
    kAnswered,     // `response` is whole; of an error (4xx, 5xx) perhaps only its beginning came
    kUnprocessed,  // the server surely did nothing with it: it may be sent again
    kBroken,       // the stream, as `detail` says, or with Break the connection
    kTooLarge,     // the answer is beyond our limits; `detail` says which
    kSilent,       // Expire gave it up
  };
  int32_t stream = 0;
  Kind kind = Kind::kBroken;
  HttpResponse response;
  std::string detail;
};

// Whether HTTP/2 can say it: no header that belongs to a connection, none that is malformed.
bool IsForHttp2(const HttpRequest& request);

// One connection's. One thread at a time.
class Http2Session {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // Under way at once, whatever the server permits: as many as a kube-apiserver does.
  static constexpr size_t kMaxStreams = 250;

  // `authority` and `path`: the server's, before the requests' targets.
  static base::Result<std::unique_ptr<Http2Session>> Open(std::string authority, std::string path);
  virtual ~Http2Session() = default;

  // Whether the server takes another request now; and whether it never will again.
  virtual bool HasRoom() const = 0;
  virtual bool IsClosing() const = 0;
  // Requests that have not ended.
  virtual size_t under_way() const = 0;
  // The number of its stream; `request` is borrowed until it ends. After HasRoom, unless IsClosing.
  virtual base::Result<int32_t> Send(const HttpRequest& request, Time now) = 0;

  // An error where nothing more can come of the connection.
  virtual base::Status Receive(std::string_view bytes, Time now) = 0;
  // Adds what is to be sent to `output`, until that holds `enough` or a frame more.
  virtual base::Status TakeOutput(std::string& output, size_t enough) = 0;
  // Neither has anything to send nor awaits anything: the connection may go.
  virtual bool IsOver() const = 0;

  // Ends the requests that have not been heard of since then.
  virtual void Expire(Time then) = 0;
  // When the one was last heard of that was silent longest; `now` when there is none.
  virtual Time SilentSince(Time now) const = 0;
  // The connection is gone: ends all. `sent`: how many bytes of the output had been.
  virtual void Break(uint64_t sent) = 0;
  // Those that ended since the last call.
  virtual std::vector<Http2End> TakeEnds() = 0;
};

}  // namespace net
