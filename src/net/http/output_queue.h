// OutputQueue: bytes on their way to a socket, in pieces that are never copied.
#pragma once

#include <string>
#include <vector>

namespace net {

class OutputQueue {
 public:
  void Push(std::string bytes);
  bool is_empty() const { return first_ == pieces_.size(); }
  size_t bytes() const { return bytes_; }
  void Clear() { *this = {}; }

  enum class Outcome { kAllWritten, kWouldBlock, kBroken };
  // Writes what `socket` takes now, many pieces in one system call. Never blocks, raises no
  // SIGPIPE. When all is written no memory is kept.
  Outcome WriteTo(int socket);

 private:
  void Drop(size_t bytes);

  std::vector<std::string> pieces_;
  size_t first_ = 0;   // of the pieces that are not all written
  size_t offset_ = 0;  // in that one
  size_t bytes_ = 0;   // not yet written
};

}  // namespace net
