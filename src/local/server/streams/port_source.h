// Where the server has connections to the ports of pods opened.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace local::server {

// Who asked for a connection. Called from the source's thread.
class PortSink {
 public:
  virtual ~PortSink() = default;
  virtual void Write(std::string bytes) = 0;
  virtual size_t PendingBytes() const = 0;
  // `callback` is called once no more than `limit` bytes are pending, or the client is gone.
  virtual void WhenTaken(size_t limit, std::function<void()> callback) = 0;
  // `bytes` of what was written to the port have been taken, or dropped.
  virtual void Used(size_t bytes) = 0;
  // Once, the last call: the port has closed, or why it was not reached ("" is not an error).
  virtual void Finish(const std::string& error) = 0;
};

// A connection under way; thread safe, nothing blocks.
class OpenPort {
 public:
  virtual ~OpenPort() = default;
  virtual void Write(std::string bytes) = 0;
  // The port is told, after what was written, that no more will be.
  virtual void EndWrites() = 0;
  // Nobody listens any more: the connection is closed.
  virtual void HangUp() = 0;
};

// Thread safe; Open returns at once.
class PortSource {
 public:
  virtual ~PortSource() = default;
  // Pods share this machine's network: their ports are its own.
  virtual std::shared_ptr<OpenPort> Open(uint16_t port, std::shared_ptr<PortSink> sink) = 0;
};

}  // namespace local::server
