// The C library's eventfds, epoll, inotify and sockets, in whose place the program's own come. In a
// life nothing of them is the kernel's.
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "descriptors.h"
#include "machine.h"
#include "thread_table.h"

namespace simulation {

class Inotify final : public Description {
 public:
  ~Inotify() override {
    while (!watched_.empty()) Unwatch(watched_.begin()->first);
  }
  int Watch(const NodeRef& node, uint32_t mask);
  int Unwatch(int number);
  void Happened(int number, uint32_t event, std::string_view name);
  // The node that it watched is gone.
  void Lost(int number);
  ssize_t Read(void* into, size_t count) override;
  bool IsReadable() const override { return !events_.empty(); }

 private:
  struct Event {
    int number;
    uint32_t mask;
    std::string name;
    bool operator==(const Event&) const = default;
  };
  std::map<int, NodeRef> watched_;
  std::deque<Event> events_;
  int last_ = 0;
};

int Inotify::Watch(const NodeRef& node, uint32_t mask) {
  for (Node::Watch& watch : node->watches) {
    if (watch.by != this) continue;
    watch.mask = mask;
    return watch.number;
  }
  node->watches.push_back({this, ++last_, mask});
  watched_[last_] = node;
  return last_;
}

int Inotify::Unwatch(int number) {
  const auto found = watched_.find(number);
  if (found == watched_.end()) return Refused(EINVAL);
  const NodeRef node = std::move(found->second);
  watched_.erase(found);
  std::erase_if(node->watches, [this](const Node::Watch& watch) { return watch.by == this; });
  Happened(number, IN_IGNORED, "");
  return 0;
}

void Inotify::Happened(int number, uint32_t event, std::string_view name) {
  Event one{number, event, std::string(name)};
  if (!events_.empty() && events_.back() == one) return;
  events_.push_back(std::move(one));
  HasNews();
}

void Inotify::Lost(int number) {
  watched_.erase(number);
  Happened(number, IN_IGNORED, "");
}

ssize_t Inotify::Read(void* into, size_t count) {
  auto* const begin = static_cast<char*>(into);
  char* at = begin;
  while (!events_.empty()) {
    const Event& event = events_.front();
    const size_t room = event.name.empty() ? 0 : event.name.size() / 16 * 16 + 16;
    if (at + sizeof(inotify_event) + room > begin + count) break;
    const inotify_event head{event.number, event.mask, 0, static_cast<uint32_t>(room)};
    std::memcpy(at, &head, sizeof head);
    std::memset(at + sizeof head, 0, room);
    event.name.copy(at + sizeof head, room);
    at += sizeof head + room;
    events_.pop_front();
  }
  return at == begin ? Refused(EAGAIN) : at - begin;
}

void Notify(const Node& node, uint32_t event, std::string_view name) {
  for (const Node::Watch& watch : node.watches) {
    if ((watch.mask & event & IN_ALL_EVENTS) != 0) watch.by->Happened(watch.number, event, name);
  }
}

void NotifyOfEnd(Node& node) {
  Notify(node, IN_DELETE_SELF, "");
  for (const Node::Watch& watch : std::exchange(node.watches, {})) watch.by->Lost(watch.number);
}

namespace {

class Epoll final : public Description {
 public:
  int Control(int operation, int fd, const epoll_event* event);
  int Take(epoll_event* into, int size);
  bool IsReadable() const override {
    return std::any_of(watched_.begin(), watched_.end(),
                       [](const auto& entry) { return entry.second.Happened() != 0; });
  }

 private:
  struct Watched {
    std::weak_ptr<Description> description;  // which may be closed
    epoll_event event{};
    uint64_t seen = 0;  // of its news
    bool is_new = true;
    uint32_t Happened() const;
  };
  std::map<int, Watched> watched_;
};

uint32_t Epoll::Watched::Happened() const {
  if ((event.events & EPOLLIN) == 0) return 0;
  const DescriptionRef one = description.lock();
  if (!one || !one->IsReadable()) return 0;
  const bool is_edge = (event.events & EPOLLET) != 0;
  return is_edge && !is_new && seen == one->news ? 0U : static_cast<uint32_t>(EPOLLIN);
}

int Epoll::Control(int operation, int fd, const epoll_event* event) {
  const DescriptionRef description = DescriptionOf(fd);
  const auto found = watched_.find(fd);
  const bool is_watched = found != watched_.end() && !found->second.description.expired();
  if (!description) return Refused(EBADF);
  if (operation == EPOLL_CTL_ADD && is_watched) return Refused(EEXIST);
  if (operation != EPOLL_CTL_ADD && !is_watched) return Refused(ENOENT);
  if (operation == EPOLL_CTL_DEL) {
    watched_.erase(found);
    return 0;
  }
  watched_[fd] = {description, *event};
  DescriptorsChanged();
  return 0;
}

int Epoll::Take(epoll_event* into, int size) {
  int count = 0;
  for (auto& [fd, one] : watched_) {
    if (count == size) break;
    const uint32_t happened = one.Happened();
    if (happened == 0) continue;
    one.is_new = false;
    one.seen = one.description.lock()->news;
    into[count] = one.event;
    into[count++].events = happened;
  }
  return count;
}

// Of a loop that asks again and again without ever having to wait: whoever has so much to do is
// turning in circles.
constexpr uint64_t kMostAtOnce = 3'000;

void CountWait(bool is_at_once) {
  uint64_t& count = WaitsAtOnce();
  count = is_at_once && !ThisProcess().is_dead ? count + 1 : 0;
  if (count > kMostAtOnce) GoneWrong("a loop spins\n" + DescribeThreads());
}

// How often, of so many, others may run where a loop looks for events.
constexpr unsigned kWaitOdds = 6;

Nanos AfterMillis(int millis) { return millis < 0 ? kNever : Now() + Nanos{millis} * 1'000'000; }

// A socket's name, and whether it is an abstract one.
std::pair<std::string, bool> NameOf(const sockaddr* address, socklen_t length) {
  const auto& local = *reinterpret_cast<const sockaddr_un*>(address);
  const size_t size = length - offsetof(sockaddr_un, sun_path);
  if (local.sun_path[0] == 0) return {std::string(local.sun_path + 1, size - 1), true};
  return {std::string(local.sun_path, ::strnlen(local.sun_path, size)), false};
}

}  // namespace
}  // namespace simulation

using namespace simulation;

extern "C" {

int eventfd(unsigned first, int flags) noexcept {
  if (!IsLive()) return static_cast<int>(::syscall(SYS_eventfd2, first, flags));
  return NewDescriptor(std::make_shared<Counter>(first));
}
int eventfd_write(int fd, eventfd_t value) {
  return ::write(fd, &value, sizeof value) == sizeof value ? 0 : -1;
}
int eventfd_read(int fd, eventfd_t* value) {
  return ::read(fd, value, sizeof *value) == sizeof *value ? 0 : -1;
}

// Boost.Asio makes one for a server, which here never runs.
int timerfd_create(clockid_t clock, int flags) noexcept {
  if (!IsLive()) return static_cast<int>(::syscall(SYS_timerfd_create, clock, flags));
  return NewDescriptor(std::make_shared<Counter>(0));
}

int inotify_init1(int flags) noexcept {
  if (!IsLive()) return static_cast<int>(::syscall(SYS_inotify_init1, flags));
  return NewDescriptor(std::make_shared<Inotify>());
}
int inotify_add_watch(int fd, const char* path, uint32_t mask) noexcept {
  if (!IsSimulated(fd)) return static_cast<int>(::syscall(SYS_inotify_add_watch, fd, path, mask));
  const auto inotify = Described<Inotify>(fd);
  if (!inotify) return Refused(EBADF);
  const Place place = Find(AT_FDCWD, path);
  if (!place.node) return Refused(place.failed != 0 ? place.failed : ENOENT);
  if ((mask & IN_ONLYDIR) != 0 && !place.node->IsFolder()) return Refused(ENOTDIR);
  return inotify->Watch(place.node, mask);
}
int inotify_rm_watch(int fd, int watch) noexcept {
  if (!IsSimulated(fd)) return static_cast<int>(::syscall(SYS_inotify_rm_watch, fd, watch));
  const auto inotify = Described<Inotify>(fd);
  return inotify ? inotify->Unwatch(watch) : Refused(EBADF);
}

int epoll_create1(int flags) noexcept {
  if (!IsLive()) return static_cast<int>(::syscall(SYS_epoll_create1, flags));
  return NewDescriptor(std::make_shared<Epoll>());
}
int epoll_create(int) noexcept { return epoll_create1(0); }
int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
  if (!IsSimulated(epoll)) {
    return static_cast<int>(::syscall(SYS_epoll_ctl, epoll, operation, fd, event));
  }
  const auto one = Described<Epoll>(epoll);
  return one ? one->Control(operation, fd, event) : Refused(EBADF);
}
int epoll_wait(int epoll, epoll_event* events, int size, int millis) {
  if (!IsSimulated(epoll)) {
    return static_cast<int>(::syscall(SYS_epoll_wait, epoll, events, size, millis));
  }
  const auto one = Described<Epoll>(epoll);
  if (!one) return Refused(EBADF);
  Step(kWaitOdds);
  const std::function<bool()> is_ready = [&one] { return one->IsReadable(); };
  CountWait(one->IsReadable());
  BlockOnDescriptor(is_ready, AfterMillis(millis));
  return one->Take(events, size);
}

int poll(pollfd* fds, nfds_t size, int millis) {
  if (!IsLive()) return static_cast<int>(::syscall(SYS_poll, fds, size, millis));
  int count = 0;
  const std::function<bool()> is_ready = [&] {
    count = 0;
    for (pollfd& one : std::span(fds, size)) {
      const DescriptionRef description = DescriptionOf(one.fd);
      const bool is_readable = description && description->IsReadable();
      one.revents = is_readable ? static_cast<short>(one.events & POLLIN) : short{0};
      count += one.revents != 0 ? 1 : 0;
    }
    return count != 0;
  };
  BlockOnDescriptor(is_ready, AfterMillis(millis));
  return count;
}

// Ports of this machine are nobody's: whether one is free here must not depend on who runs beside.
int socket(int family, int type, int protocol) noexcept {
  if (!IsLive()) return static_cast<int>(::syscall(SYS_socket, family, type, protocol));
  return NewDescriptor(std::make_shared<Socket>());
}
int bind(int fd, const sockaddr* address, socklen_t length) noexcept {
  if (!IsSimulated(fd)) return static_cast<int>(::syscall(SYS_bind, fd, address, length));
  if (address->sa_family != AF_UNIX) return 0;
  CloseWhatIsDue();
  const auto one = Described<Socket>(fd);
  if (!one) return Refused(ENOTSOCK);
  const auto [name, is_abstract] = NameOf(address, length);
  return is_abstract ? one->BindAbstract(name) : one->Bind(name);
}
int listen(int fd, int most) noexcept {
  if (!IsSimulated(fd)) return static_cast<int>(::syscall(SYS_listen, fd, most));
  const auto one = Described<Socket>(fd);
  if (!one) return Refused(ENOTSOCK);
  one->Listen();
  return 0;
}
int connect(int fd, const sockaddr* address, socklen_t length) {
  if (!IsSimulated(fd)) return static_cast<int>(::syscall(SYS_connect, fd, address, length));
  CloseWhatIsDue();
  const auto [name, is_abstract] = NameOf(address, length);
  return is_abstract ? Refused(ECONNREFUSED) : Socket::Connect(name);
}
int setsockopt(int fd, int level, int name, const void* value, socklen_t size) noexcept {
  if (IsSimulated(fd)) return 0;
  return static_cast<int>(::syscall(SYS_setsockopt, fd, level, name, value, size));
}
int getsockopt(int fd, int level, int name, void* value, socklen_t* size) noexcept {
  if (!IsSimulated(fd)) {
    return static_cast<int>(::syscall(SYS_getsockopt, fd, level, name, value, size));
  }
  std::memset(value, 0, *size);
  if (level == SOL_SOCKET && name == SO_PEERCRED) {
    const ucred peer{1, ::geteuid(), ::getegid()};
    std::memcpy(value, &peer, std::min<size_t>(*size, sizeof peer));
  }
  return 0;
}
int getsockname(int fd, sockaddr* address, socklen_t* length) noexcept {
  if (!IsSimulated(fd)) return static_cast<int>(::syscall(SYS_getsockname, fd, address, length));
  std::memset(address, 0, *length);
  address->sa_family = AF_UNIX;
  *length = sizeof address->sa_family;
  return 0;
}

}  // extern "C"
