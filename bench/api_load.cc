// A load generator for the embedded API server, on one thread:
//
//   api_load SOCKET create|get CLIENTS SECONDS    each client sends the next when it is answered
//   api_load SOCKET watch WATCHES WRITES          watches of one collection, and writes into it
//
// Prints one line of JSON: what was done each second, and how long the slowest percent took.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
constexpr const char* kCollection = "/api/v1/namespaces/default/configmaps";

struct Peer {
  int fd = -1;
  std::string input;
  Clock::time_point sent;
};

int Connect(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  while (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    if (errno != EAGAIN) throw std::runtime_error(std::string("connect: ") + std::strerror(errno));
  }
  return fd;
}

void Send(Peer& peer, const std::string& request) {
  peer.sent = Clock::now();
  if (::send(peer.fd, request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size())) {
    throw std::runtime_error("the server takes no request");
  }
}

bool Receive(Peer& peer) {
  char buffer[64 << 10];
  const ssize_t size = ::recv(peer.fd, buffer, sizeof buffer, MSG_DONTWAIT);
  if (size == 0) throw std::runtime_error("the server hung up");
  if (size < 0) return false;
  peer.input.append(buffer, static_cast<size_t>(size));
  return true;
}

// Takes one whole answer; false when it is not all here.
bool TakeAnswer(Peer& peer, int expected) {
  const size_t end = peer.input.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  const size_t at = peer.input.find("Content-Length: ");
  if (at > end) throw std::runtime_error("an answer without a length");
  const size_t length = std::strtoul(peer.input.c_str() + at + 16, nullptr, 10);
  if (peer.input.size() < end + 4 + length) return false;
  if (std::atoi(peer.input.c_str() + 9) != expected) {
    throw std::runtime_error("refused: " + peer.input.substr(0, 400));
  }
  peer.input.erase(0, end + 4 + length);
  return true;
}

std::string Get(const std::string& path) {
  return "GET " + path + " HTTP/1.1\r\nHost: x\r\nAccept: application/json\r\n\r\n";
}

std::string Create(const std::string& name) {
  const std::string body = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name +
                           R"(","labels":{"app":"load"}},"data":{"key":"value","more":"values"}})";
  return std::string("POST ") + kCollection +
         "?fieldManager=load HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
         "Content-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

double Percentile(std::vector<double>& values, double part) {
  if (values.empty()) return 0;
  const auto at = static_cast<size_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<long>(at), values.end());
  return values[at];
}

double Milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

void Report(size_t count, Clock::duration took, std::vector<double>& latencies) {
  std::printf("{\"rate\": %.0f, \"p50_ms\": %.3f, \"p99_ms\": %.3f, \"count\": %zu}\n",
              static_cast<double>(count) / (Milliseconds(took) / 1000), Percentile(latencies, 0.5),
              Percentile(latencies, 0.99), count);
}

class Loop {
 public:
  explicit Loop(const char* socket) : socket_(socket), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

  Peer& Add(std::vector<Peer>& peers, size_t index) {
    Peer& peer = peers[index];
    peer.fd = Connect(socket_);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = index;
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, peer.fd, &event);
    return peer;
  }
  template <typename Ready>
  void Once(Ready ready) {
    epoll_event events[256];
    const int count = ::epoll_wait(epoll_, events, 256, 30'000);
    if (count == 0) throw std::runtime_error("no answer within 30 s");
    for (int i = 0; i < count; ++i) ready(static_cast<size_t>(events[i].data.u64));
  }

 private:
  const char* const socket_;
  const int epoll_;
};

void Requests(const char* socket, bool creates, size_t clients, int seconds) {
  Loop loop(socket);
  std::vector<Peer> peers(clients);
  std::vector<double> latencies;
  const std::string prefix = "load-" + std::to_string(::getpid()) + "-";
  size_t next = 0;
  const auto request = [&] {
    return creates ? Create(prefix + std::to_string(next++))
                   : Get(std::string(kCollection) + "/" + prefix + "0");
  };
  for (size_t i = 0; i < clients; ++i) loop.Add(peers, i);
  if (!creates) {
    Send(peers[0], Create(prefix + "0"));
    while (!TakeAnswer(peers[0], 201)) loop.Once([&](size_t i) { Receive(peers[i]); });
  }
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::seconds(seconds);
  for (Peer& peer : peers) Send(peer, request());
  while (Clock::now() < end) {
    loop.Once([&](size_t i) {
      Peer& peer = peers[i];
      if (!Receive(peer) || !TakeAnswer(peer, creates ? 201 : 200)) return;
      latencies.push_back(Milliseconds(Clock::now() - peer.sent));
      Send(peer, request());
    });
  }
  Report(latencies.size(), Clock::now() - begin, latencies);
}

// As a client does, who lists before it watches.
std::string NewestVersion(const char* socket) {
  Loop loop(socket);
  std::vector<Peer> peers(1);
  Send(loop.Add(peers, 0), Get(std::string(kCollection) + "?limit=1"));
  std::string answer;
  while (answer.empty()) {
    loop.Once([&](size_t i) { Receive(peers[i]); });
    const std::string copy = peers[0].input;
    if (TakeAnswer(peers[0], 200)) answer = copy;
  }
  const size_t at = answer.find("\"resourceVersion\":\"") + 19;
  return answer.substr(at, answer.find('"', at) - at);
}

void Watches(const char* socket, size_t watches, size_t writes) {
  Loop loop(socket);
  std::vector<Peer> peers(watches + 1);
  std::vector<size_t> seen(watches, 0);
  size_t started = 0;
  const std::string version = NewestVersion(socket);
  for (size_t i = 0; i < watches; ++i) {
    Send(loop.Add(peers, i),
         Get(std::string(kCollection) +
             "?watch=1&labelSelector=app%3Dwatched&resourceVersion=" + version));
  }
  while (started < watches) {
    loop.Once([&](size_t i) {
      Peer& peer = peers[i];
      Receive(peer);
      const size_t end = peer.input.find("\r\n\r\n");
      if (end == std::string::npos) return;
      peer.input.erase(0, end + 4);
      ++started;
    });
  }
  Peer& writer = loop.Add(peers, watches);
  std::vector<double> latencies;
  const auto begin = Clock::now();
  for (size_t write = 0; write < writes; ++write) {
    std::string request =
        Create("watched-" + std::to_string(::getpid()) + "-" + std::to_string(write));
    request.replace(request.find("\"app\":\"load\""), 12, "\"app\":\"watched\"");
    const size_t length = request.find("Content-Length: ") + 16;
    const size_t body = request.size() - request.find("\r\n\r\n") - 4;
    request.replace(length, request.find("\r\n", length) - length, std::to_string(body));
    Send(writer, request);
    bool is_answered = false;
    size_t told = 0;
    while (told < watches || !is_answered) {
      loop.Once([&](size_t i) {
        Peer& peer = peers[i];
        Receive(peer);
        if (i == watches) {
          is_answered = is_answered || TakeAnswer(peer, 201);
          return;
        }
        const size_t at = peer.input.find("{\"type\":\"ADDED\"");
        if (at == std::string::npos || peer.input.find('\n', at) == std::string::npos) return;
        peer.input.clear();
        ++seen[i];
        ++told;
        latencies.push_back(Milliseconds(Clock::now() - writer.sent));
      });
    }
  }
  Report(latencies.size(), Clock::now() - begin, latencies);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string_view what = argc > 2 ? argv[2] : "";
    if (argc == 5 && (what == "create" || what == "get")) {
      Requests(argv[1], what == "create", std::strtoul(argv[3], nullptr, 10), std::atoi(argv[4]));
      return 0;
    }
    if (argc == 5 && what == "watch") {
      Watches(argv[1], std::strtoul(argv[3], nullptr, 10), std::strtoul(argv[4], nullptr, 10));
      return 0;
    }
    std::fprintf(stderr,
                 "usage: api_load SOCKET create|get CLIENTS SECONDS\n"
                 "       api_load SOCKET watch WATCHES WRITES\n");
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "api_load: %s\n", error.what());
    return 1;
  }
}
