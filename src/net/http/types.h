// HTTP messages as values, and where responses go.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace net {

inline constexpr size_t kMaxBodyBytes = 16 << 20;
inline constexpr size_t kMaxHeaderBytes = 64 << 10;
// The status of an answer after which another protocol is spoken.
inline constexpr int kSwitchingProtocols = 101;
// Of a connection that has changed protocols.
inline constexpr size_t kMaxUnusedBytes = 256 << 10;

using Headers = std::vector<std::pair<std::string, std::string>>;
// Case-insensitive; "" when absent.
std::string_view FindHeader(const Headers& headers, std::string_view name);

struct HttpRequest {
  std::string method;  // "GET"
  std::string target;  // path and query, percent-encoded: "/api/v1/pods?watch=1"
  Headers headers;
  std::string body;
  // The answer is broken off when the server has not ended it by then; 0 is never for a stream, and
  // as the client has it for a whole answer. A server that hangs behind a live connection is
  // noticed by this alone.
  std::chrono::milliseconds lifetime{0};
};

struct HttpResponse {
  int status = 200;
  Headers headers;
  std::string body;
};

// Where the answer to one request goes. Every method may be called from any thread; after the
// peer is gone they do nothing. Destroyed without Send or Start: answers 500.
class Responder {
 public:
  virtual ~Responder() = default;
  // The whole answer.
  virtual void Send(HttpResponse response) = 0;
  // Or a chunked one, piece by piece.
  virtual void Start(int status, Headers headers) = 0;
  virtual void Write(std::string chunk) = 0;
  virtual void Finish() = 0;
  // Finishes a stream that its peer does not read: whole pieces that are not on their way yet are
  // dropped, `last` takes their place. A peer that does not take that soon is cut off.
  virtual void CutShort(std::string last) = 0;
  // Or another protocol: answers 101 with `headers` (which name it in Upgrade). From then on what
  // is written goes out as it is, until Finish closes the connection, and what the peer sends goes
  // to `receive`, in order, on the server's thread. A peer that is kMaxUnusedBytes ahead of Used is
  // not read from.
  virtual void Upgrade(Headers headers, std::function<void(std::string_view)> receive) = 0;
  // `bytes` of what `receive` was given are dealt with.
  virtual void Used(size_t bytes) = 0;
  // Bytes written that the peer has not taken; a producer bounds itself by it.
  virtual size_t PendingBytes() const = 0;
  // Runs `callback` once, on any thread, when no more than `limit` bytes are pending or the peer is
  // gone; at once if that is so. Replaces an earlier one.
  virtual void WhenTaken(size_t limit, std::function<void()> callback) = 0;
  virtual bool IsClosed() const = 0;
  // Runs once, on any thread, when the peer goes away or the answer is complete; at once if it has.
  virtual void OnClose(std::function<void()> callback) = 0;
};

// Must not block: it runs on the server's loop.
using HttpHandler = std::function<void(HttpRequest request, std::shared_ptr<Responder> responder)>;

// A decoded target: path segments and query parameters in order.
struct Target {
  std::vector<std::string> segments;
  std::vector<std::pair<std::string, std::string>> query;

  // "" when absent.
  std::string_view Query(std::string_view name) const;
};
// Nullopt when an escape is malformed.
std::optional<Target> ParseTarget(std::string_view target);
std::string PercentEncode(std::string_view text);  // everything but unreserved characters

}  // namespace net
