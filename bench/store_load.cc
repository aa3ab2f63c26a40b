// Loads a TCPStore server (docs/formats/tcpstore.md, from 2.2) as its C++ clients do, and prints
// operations per second, or for `join` seconds.
//
//   store_load PORT add|get|set CONNECTIONS DEPTH SECONDS    DEPTH requests under way on each
//   store_load PORT wait CONNECTIONS 1 SECONDS               WAIT and GET of a key, as torch reads
//   store_load PORT join CONNECTIONS                         all connect, wait for a key, and are
//                                                            released
//   store_load serve                                         the least that any server has to do:
//                                                            a fixed answer to whatever comes
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void Die(const char* what) {
  std::perror(what);
  std::exit(1);
}

template <typename T>
std::string Number(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}
std::string Text(std::string_view text) {
  return Number(static_cast<uint64_t>(text.size())) + std::string(text);
}
std::string Wait(std::string_view key) { return "\x06" + Number(uint64_t{1}) + Text(key); }

int Connect(uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) Die("socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) Die("connect");
  const int yes = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return fd;
}

void SendAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) Die("send");
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

void ReceiveAll(int fd, size_t count) {
  char buffer[4096];
  while (count > 0) {
    const ssize_t got = ::recv(fd, buffer, std::min(count, sizeof buffer), 0);
    if (got <= 0) Die("recv");
    count -= static_cast<size_t>(got);
  }
}

std::string Hello(uint32_t nonce) {
  return std::string("\0\xce\xf7\x85\x3c\x0d", 6) + Number(nonce);
}

// Connections that are answered `answer` bytes for each `request`.
void Load(uint16_t port, const std::string& request, size_t answer, int connections, int depth,
          double seconds) {
  const int epoll = ::epoll_create1(0);
  std::vector<size_t> received(static_cast<size_t>(connections) + 4096);
  std::string batch;
  for (int i = 0; i < depth; ++i) batch += request;
  for (int i = 0; i < connections; ++i) {
    const int fd = Connect(port);
    SendAll(fd, Hello(static_cast<uint32_t>(i)));
    ReceiveAll(fd, sizeof(uint32_t));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    SendAll(fd, batch);
  }
  const auto start = Clock::now();
  const auto end = start + std::chrono::duration<double>(seconds);
  uint64_t done = 0;
  std::vector<char> buffer(256 << 10);
  while (Clock::now() < end) {
    epoll_event events[256];
    const int count = ::epoll_wait(epoll, events, 256, 1000);
    for (int i = 0; i < count; ++i) {
      const int fd = events[i].data.fd;
      const ssize_t got = ::recv(fd, buffer.data(), buffer.size(), 0);
      if (got <= 0) Die("recv");
      size_t& bytes = received[static_cast<size_t>(fd)];
      bytes += static_cast<size_t>(got);
      const size_t answers = bytes / answer;
      bytes %= answer;
      done += answers;
      if (answers > 0) SendAll(fd, std::string_view(batch).substr(0, answers * request.size()));
    }
  }
  const double took = std::chrono::duration<double>(Clock::now() - start).count();
  std::printf("%.0f\n", static_cast<double>(done) / took);
}

void Join(uint16_t port, int connections) {
  const auto start = Clock::now();
  std::vector<int> fds;
  for (int i = 0; i < connections; ++i) {
    fds.push_back(Connect(port));
    SendAll(fds.back(), Hello(static_cast<uint32_t>(i)));
    ReceiveAll(fds.back(), sizeof(uint32_t));
  }
  for (const int fd : fds) SendAll(fd, "\x04" + Text("init/") + Number(int64_t{1}));
  for (const int fd : fds) ReceiveAll(fd, sizeof(int64_t));
  for (const int fd : fds) SendAll(fd, Wait("/go"));
  SendAll(fds.back(), "\x01" + Text("/go") + Text("now"));
  for (const int fd : fds) ReceiveAll(fd, 1);
  std::printf("%.3f\n", std::chrono::duration<double>(Clock::now() - start).count());
}

int Listen() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (fd < 0 || ::bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(fd, 4096) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    Die("listen");
  }
  std::printf("%d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  return fd;
}

// Until standard input ends. As long an answer as ADD has, and to the first message, a hello's.
void Serve() {
  const int listener = Listen();
  const int epoll = ::epoll_create1(0);
  const auto watch = [&](int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
  };
  watch(listener);
  watch(STDIN_FILENO);
  std::vector<char> buffer(4096);
  while (true) {
    epoll_event events[64];
    const int count = ::epoll_wait(epoll, events, 64, -1);
    for (int i = 0; i < count; ++i) {
      const int fd = events[i].data.fd;
      if (fd == STDIN_FILENO) return;
      if (fd == listener) {
        const int client = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        const int yes = 1;
        ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        ReceiveAll(client, Hello(0).size());
        SendAll(client, Number(uint32_t{}));
        watch(client);
      } else if (::recv(fd, buffer.data(), buffer.size(), 0) > 0) {
        SendAll(fd, Number(int64_t{}));
      } else {
        ::close(fd);
      }
    }
  }
}

void SetKey(uint16_t port) {
  const int setter = Connect(port);
  SendAll(setter,
          Hello(0) + "\x01" + Text("/key") + Text(std::string(100, 'v')) + "\x03" + Text("/key"));
  ReceiveAll(setter, sizeof(uint32_t) + sizeof(uint64_t) + 100);
  ::close(setter);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "serve") == 0) {
    Serve();
    return 0;
  }
  if (argc < 4) return 2;
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  const auto port = static_cast<uint16_t>(std::atoi(argv[1]));
  const std::string what = argv[2];
  const int connections = std::atoi(argv[3]);
  if (what == "join") {
    Join(port, connections);
    return 0;
  }
  if (argc < 6) return 2;
  if (what != "add") SetKey(port);
  const std::string get = "\x03" + Text("/key");
  const int depth = std::atoi(argv[4]);
  const double seconds = std::atof(argv[5]);
  if (what == "add")
    Load(port, "\x04" + Text("/n") + Number(int64_t{1}), 8, connections, depth, seconds);
  if (what == "get") Load(port, get, 108, connections, depth, seconds);
  if (what == "wait") Load(port, Wait("/key") + get, 109, connections, depth, seconds);
  // Sets are not answered: each is followed by an addition, and counts with it as two.
  if (what == "set") {
    Load(port,
         "\x01" + Text("/other") + Text(std::string(100, 'v')) + "\x04" + Text("/n") +
             Number(int64_t{1}),
         8, connections, depth, seconds);
  }
  return 0;
}
