// Reads one HTTP/1.x message from bytes as they come, by Boost.Beast's parser. Pure.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http/types.h"

namespace net {

class MessageParser {
 public:
  enum class Kind { kRequest, kResponse };
  static constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

  // The part of the message that has been read so far.
  struct Message {
    std::string method;  // of a request
    std::string target;
    int status = 0;  // of a response
    bool is_http_1_0 = false;
    Headers headers;
    std::string body;  // a caller that streams takes from it between calls of Feed
  };

  MessageParser(Kind kind, size_t body_limit);
  ~MessageParser();
  MessageParser(MessageParser&&) noexcept;
  MessageParser& operator=(MessageParser&&) noexcept;

  // Before the first Feed of a response: it answers HEAD, so it has no body, whatever its headers
  // say.
  void ExpectNoBody();

  // `input` begins with what the last call left. Returns how many bytes were used. What is left
  // belongs to the next message if is_done(); otherwise pass it again with more (it is never longer
  // than kMaxHeaderBytes). kInvalidArgument when malformed, kExhausted over a limit; the parser
  // must not be used afterwards.
  base::Result<size_t> Feed(std::string_view input);
  // The peer will send no more. kUnavailable if the message is incomplete.
  base::Status End();

  bool has_begun() const;
  bool has_header() const;
  bool is_done() const;
  // Whether another message may follow on the connection.
  bool keeps_alive() const;
  // After kExhausted: whether the header was too large; otherwise the body was.
  bool is_header_too_large() const;
  Message& message();

 private:
  class Impl;
  template <bool is_request>
  class BeastImpl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace net
