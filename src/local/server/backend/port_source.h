// Interface by which the server connects to the ports of pods.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace local::server {

// The requester of a connection. Called from the source's thread.
class PortSink {
 public:
  virtual ~PortSink() = default;
  virtual void Write(std::string bytes) = 0;
  virtual size_t PendingBytes() const = 0;
  // Calls `callback` once at most `limit` bytes are pending, or the client is gone.
  virtual void WhenTaken(size_t limit, std::function<void()> callback) = 0;
  // `bytes` of those written to the port have been sent or dropped.
  virtual void Used(size_t bytes) = 0;
  // The last call, once: the port has closed (""), or the error.
  virtual void Finish(const std::string& error) = 0;
};

// An open connection; thread safe, never blocks.
class OpenPort {
 public:
  virtual ~OpenPort() = default;
  virtual void Write(std::string bytes) = 0;
  // Signals the end of the data to the port, after everything written before.
  virtual void EndWrites() = 0;
  // The client has gone: closes the connection.
  virtual void HangUp() = 0;
};

// Thread safe; Open returns at once.
class PortSource {
 public:
  virtual ~PortSource() = default;
  // Pods share this machine's network, so their ports are the machine's.
  virtual std::shared_ptr<OpenPort> Open(uint16_t port, std::shared_ptr<PortSink> sink) = 0;
};

}  // namespace local::server
