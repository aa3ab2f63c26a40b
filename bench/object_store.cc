// Both ends of an upload, as bare as they can be: what muster's is measured against.
//
//   object_store sink
//       takes objects as Object Storage does, keeps none; prints its port
//   object_store put PORT AT_ONCE FILE...
//       puts each file with libcurl, AT_ONCE of them at once
//   object_store put-parts PORT AT_ONCE FILE
//       the same of one file in parts of 10 MiB
//
// `put` prints its seconds. Nothing is signed and no checksum is made.
#include <curl/curl.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr size_t kPartBytes = 10 << 20;
constexpr size_t kReadBytes = 1 << 20;

// One connection of the sink: a head, then as many bytes as it says, then an answer.
struct Peer {
  std::string head;
  uint64_t body_left = 0;
  bool has_head = false;
};

std::string HeaderOf(std::string_view head, std::string_view name) {
  for (size_t at = head.find("\r\n"); at != std::string_view::npos;
       at = head.find("\r\n", at + 2)) {
    const std::string_view line = head.substr(at + 2);
    if (line.size() > name.size() && line[name.size()] == ':' &&
        ::strncasecmp(line.data(), name.data(), name.size()) == 0) {
      return std::string(line.substr(name.size() + 1, line.find("\r\n") - name.size() - 1));
    }
  }
  return "";
}

std::string AnswerTo(std::string_view head) {
  std::string_view body;
  if (head.starts_with("GET /n/ ")) body = "\"namespace\"";
  if (head.starts_with("POST ") && head.find("/u ") < head.find('\n')) {
    body = R"({"uploadId":"1"})";
  }
  return "HTTP/1.1 200 OK\r\netag: e\r\nopc-content-md5: m\r\ncontent-type: application/json\r\n"
         "content-length: " +
         std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

// Whether the connection goes on.
bool Serve(int fd, Peer& peer, std::vector<char>& buffer) {
  const ssize_t count = ::recv(fd, buffer.data(), buffer.size(), 0);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  if (count == 0) return false;
  std::string_view bytes(buffer.data(), static_cast<size_t>(count));
  while (true) {
    if (!peer.has_head) {
      peer.head += bytes;
      const size_t end = peer.head.find("\r\n\r\n");
      if (end == std::string::npos) return true;
      bytes = bytes.substr(bytes.size() - (peer.head.size() - end - 4));
      peer.head.resize(end + 2);
      peer.has_head = true;
      const std::string length = HeaderOf(peer.head, "content-length");
      peer.body_left = length.empty() ? 0 : std::strtoull(length.c_str(), nullptr, 10);
    }
    const uint64_t taken = std::min<uint64_t>(peer.body_left, bytes.size());
    peer.body_left -= taken;
    bytes.remove_prefix(taken);
    if (peer.body_left > 0) return true;
    const std::string answer = AnswerTo(peer.head);
    if (::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) return false;
    peer = {};
    if (bytes.empty()) return true;
  }
}

int Sink() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const at = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener, at, size) != 0 || ::listen(listener, 256) != 0 ||
      ::getsockname(listener, at, &size) != 0) {
    throw std::runtime_error("no port to listen on");
  }
  std::printf("%d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  const auto watch = [poll](int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    ::epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
  };
  watch(listener);
  std::map<int, Peer> peers;
  std::vector<char> buffer(kReadBytes);
  while (true) {
    epoll_event events[64];
    const int ready = ::epoll_wait(poll, events, 64, -1);
    for (int i = 0; i < ready; ++i) {
      const int fd = events[i].data.fd;
      if (fd == listener) {
        const int peer = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        const int on = 1;
        ::setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        peers[peer];
        watch(peer);
      } else if (!Serve(fd, peers[fd], buffer)) {
        peers.erase(fd);
        ::close(fd);
      }
    }
  }
}

struct Piece {
  std::string path, target;
  uint64_t offset = 0, size = 0;
};

struct Upload {
  Piece piece;
  uint64_t sent = 0;
  int fd = -1;
};

size_t ReadPiece(char* to, size_t, size_t room, void* user) {
  auto* const upload = static_cast<Upload*>(user);
  const uint64_t left = upload->piece.size - upload->sent;
  const ssize_t count = ::pread(upload->fd, to, std::min<uint64_t>(left, room),
                                static_cast<off_t>(upload->piece.offset + upload->sent));
  if (count < 0) return CURL_READFUNC_ABORT;
  upload->sent += static_cast<uint64_t>(count);
  return static_cast<size_t>(count);
}

size_t Ignore(char*, size_t, size_t size, void*) { return size; }

void Begin(CURLM* multi, CURL* handle, Upload& upload, const std::string& port, const Piece& piece,
           curl_slist* headers) {
  upload = {piece, 0, ::open(piece.path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (upload.fd < 0) throw std::runtime_error("open " + piece.path);
  const std::string url = "http://127.0.0.1:" + port + piece.target;
  curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
  curl_easy_setopt(handle, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(handle, CURLOPT_UPLOAD_BUFFERSIZE, 2L << 20);
  curl_easy_setopt(handle, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(piece.size));
  curl_easy_setopt(handle, CURLOPT_READFUNCTION, &ReadPiece);
  curl_easy_setopt(handle, CURLOPT_READDATA, static_cast<void*>(&upload));
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &Ignore);
  curl_easy_setopt(handle, CURLOPT_PRIVATE, static_cast<void*>(&upload));
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(handle, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(handle, CURLOPT_PROXY, "");
  curl_multi_add_handle(multi, handle);
}

void PutAll(const std::string& port, size_t at_once, const std::vector<Piece>& pieces) {
  CURLM* const multi = curl_multi_init();
  curl_slist* const headers = curl_slist_append(nullptr, "Expect:");
  std::vector<Upload> uploads(std::min(at_once, pieces.size()));
  size_t next = 0;
  for (Upload& upload : uploads) {
    Begin(multi, curl_easy_init(), upload, port, pieces[next++], headers);
  }
  size_t left = pieces.size();
  while (left > 0) {
    int running = 0;
    curl_multi_perform(multi, &running);
    int queued = 0;
    while (const CURLMsg* const message = curl_multi_info_read(multi, &queued)) {
      if (message->data.result != CURLE_OK) {
        throw std::runtime_error(curl_easy_strerror(message->data.result));
      }
      CURL* const handle = message->easy_handle;
      Upload* upload = nullptr;
      curl_easy_getinfo(handle, CURLINFO_PRIVATE, &upload);
      ::close(upload->fd);
      curl_multi_remove_handle(multi, handle);
      --left;
      if (next < pieces.size()) {
        Begin(multi, handle, *upload, port, pieces[next++], headers);
      } else {
        curl_easy_cleanup(handle);
      }
    }
    if (left > 0) curl_multi_poll(multi, nullptr, 0, 1000, nullptr);
  }
  curl_slist_free_all(headers);
  curl_multi_cleanup(multi);
}

uint64_t SizeOf(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) throw std::runtime_error("no file " + path);
  return static_cast<uint64_t>(info.st_size);
}

int Put(const std::vector<std::string>& args, bool is_in_parts) {
  std::vector<Piece> pieces;
  for (size_t i = 2; i < args.size(); ++i) {
    const std::string target = "/n/namespace/b/bucket/o/plain" + std::to_string(i);
    const uint64_t size = SizeOf(args[i]);
    const uint64_t step = is_in_parts ? kPartBytes : std::max<uint64_t>(size, 1);
    for (uint64_t offset = 0; offset == 0 || offset < size; offset += step) {
      pieces.push_back({args[i], target + "?uploadPartNum=" + std::to_string(offset / step + 1),
                        offset, std::min(step, size - offset)});
    }
  }
  const auto begin = std::chrono::steady_clock::now();
  PutAll(args[0], std::stoul(args[1]), pieces);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  std::printf("%.6f\n", taken.count());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  try {
    if (args == std::vector<std::string>{"sink"}) return Sink();
    if (args.size() >= 4 && args[0] == "put") return Put({args.begin() + 1, args.end()}, false);
    if (args.size() == 4 && args[0] == "put-parts")
      return Put({args.begin() + 1, args.end()}, true);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "object_store: %s\n", error.what());
    return 1;
  }
  std::fprintf(stderr,
               "usage: object_store sink | put PORT AT_ONCE FILE... | "
               "put-parts PORT AT_ONCE FILE\n");
  return 2;
}
