// OutputQueue: bytes that wait to be written to a socket, in pieces that are never copied.
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
  // Writes what `socket` takes now, many pieces in one system call. Never blocks, never raises
  // SIGPIPE. Frees its memory once everything is written.
  Outcome WriteTo(int socket);

 private:
  void Drop(size_t bytes);

  std::vector<std::string> pieces_;
  size_t first_ = 0;   // the first piece that is not written whole
  size_t offset_ = 0;  // within that piece
  size_t bytes_ = 0;   // not yet written
};

}  // namespace net
