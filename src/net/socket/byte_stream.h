// A connection as bytes in both directions, whatever lies beneath.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace net {

// Read from one thread, Write from one thread, which may be another; Cancel from any. All blocking.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // The next bytes, at least one; nullopt when the peer has closed. kCancelled after Cancel.
  virtual base::Result<std::optional<std::string>> Read() = 0;
  // All of them. kUnavailable when the peer is gone, kCancelled after Cancel.
  virtual base::Status Write(std::string_view bytes) = 0;
  // Every wait, from now on, fails with kCancelled.
  virtual void Cancel() = 0;
};

}  // namespace net
