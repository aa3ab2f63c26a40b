// HTTP messages as values, and the interface that answers them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace boost::json {
class value;
}

namespace net {

inline constexpr size_t kMaxBodyBytes = 16 << 20;
inline constexpr size_t kMaxHeaderBytes = 64 << 10;
// The status of an answer that changes to another protocol.
inline constexpr int kSwitchingProtocols = 101;
// The most bytes that may be received ahead on a connection that has changed protocols.
inline constexpr size_t kMaxUnusedBytes = 256 << 10;

using Headers = std::vector<std::pair<std::string, std::string>>;
// Case-insensitive; "" when absent.
std::string_view FindHeader(const Headers& headers, std::string_view name);

// The value of a JSON text, for a peer in this process, which then need not parse it. Null: not
// known.
using Parsed = std::shared_ptr<const boost::json::value>;
struct ParsedLine {
  uint64_t begin = 0;  // the offset of the line in the body
  Parsed object;       // the line's `object`, as in a watch
  size_t bytes = 0;    // of the object's text, if the line has null in its place
};

struct HttpRequest {
  std::string method;  // "GET"
  std::string target;  // path and query, percent-encoded: "/api/v1/pods?watch=1"
  Headers headers;
  std::string body;
  // The value in place of a JSON body, for a server in this process.
  Parsed parsed = {};
  // How long the whole answer may take. 0: no limit for a stream, the client's limit otherwise.
  // Nothing else notices a server that hangs behind a live connection.
  std::chrono::milliseconds lifetime{0};
};

struct HttpResponse {
  int status = 200;
  Headers headers;
  std::string body;
  Parsed parsed = {};  // what the body says
};

// Answers one request. Every method may be called from any thread, and does nothing once the peer
// is gone. Answers 500 when it is destroyed without Send or Start.
class Responder {
 public:
  virtual ~Responder() = default;
  // The whole answer.
  virtual void Send(HttpResponse response) = 0;
  // Or a chunked answer, piece by piece.
  virtual void Start(int status, Headers headers) = 0;
  virtual void Write(std::string chunk) = 0;
  // Whether the peer takes the values of lines, which then need no text.
  virtual bool TakesParsed() const { return false; }
  // The same; `parsed` holds the values of some of its lines, each with its offset in the chunk.
  virtual void WriteLines(std::string chunk, std::vector<ParsedLine> parsed) {
    (void)parsed;
    Write(std::move(chunk));
  }
  virtual void Finish() = 0;
  // Finishes a stream whose peer does not read: `last` replaces the pieces that are not yet being
  // sent. A peer that does not take that soon is disconnected.
  virtual void CutShort(std::string last) = 0;
  // Or changes to another protocol: answers 101 with `headers` (which name it in Upgrade). From
  // then on Write sends bytes as they are, Finish closes the connection, and what the peer sends
  // goes to `receive`, in order, on the server's thread. Reading pauses while kMaxUnusedBytes of it
  // have not been reported by Used.
  virtual void Upgrade(Headers headers, std::function<void(std::string_view)> receive) = 0;
  // `bytes` of what `receive` was given have been processed.
  virtual void Used(size_t bytes) = 0;
  // Bytes written that the peer has not taken; producers limit themselves by it.
  virtual size_t PendingBytes() const = 0;
  // Runs `callback` once, on any thread, as soon as at most `limit` bytes are pending or the peer
  // is gone, which may be at once. Replaces an earlier callback.
  virtual void WhenTaken(size_t limit, std::function<void()> callback) = 0;
  virtual bool IsClosed() const = 0;
  // Runs `callback` once, on any thread, as soon as the peer is gone or the answer is complete,
  // which may be at once.
  virtual void OnClose(std::function<void()> callback) = 0;
};

// Runs on the server's loop, so it must not block.
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
