// The descriptors of a simulated machine. Their numbers are none that this program has in earnest.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>

#include "tree.h"

namespace simulation {

// What a descriptor and its copies stand for.
class Description {
 public:
  virtual ~Description() = default;
  // As the system calls do: -1 and errno.
  virtual ssize_t Read(void* into, size_t count);
  virtual ssize_t Write(const void* bytes, size_t count);
  virtual bool IsReadable() const { return false; }
  // Whether others find something taken while it is open.
  virtual bool Takes() const { return false; }

  int flags = 0;  // F_GETFL
  // How often it has become readable, for who waits for the edge.
  uint64_t news = 0;

 protected:
  Description() = default;
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;
  void HasNews();
};
using DescriptionRef = std::shared_ptr<Description>;

// A file or a folder that somebody has opened.
class OpenFile final : public Description {
 public:
  // `by` says where it was found, `as` how it was asked for.
  OpenFile(const Place& by, std::string as)
      : node(by.node), path(std::move(as)), folder_(by.folder), name_(by.name) {}
  ~OpenFile() override { Unlock(); }
  ssize_t Read(void* into, size_t count) override;
  ssize_t Write(const void* bytes, size_t count) override;
  bool Takes() const override { return node->locked_by == this; }

  ssize_t ReadAt(void* into, size_t count, int64_t offset) const;
  ssize_t WriteAt(const void* bytes, size_t count, int64_t offset);
  int Resize(int64_t size);
  int Sync();
  int Lock(int operation);
  void Unlock();

  const NodeRef node;
  const std::string path;
  int64_t offset = 0;

 private:
  void HasChanged() const;

  const NodeRef folder_;
  const std::string name_;
};

// An eventfd.
class Counter final : public Description {
 public:
  explicit Counter(uint64_t first) : count_(first) {}
  ssize_t Read(void* into, size_t count) override;
  ssize_t Write(const void* bytes, size_t count) override;
  bool IsReadable() const override { return count_ > 0; }

 private:
  uint64_t count_;
};

// One of each has a name at most: a file's, or an abstract one.
class Socket final : public Description {
 public:
  ~Socket() override;
  bool Takes() const override { return name_ || !abstract_.empty(); }
  int Bind(const std::string& path);
  int BindAbstract(const std::string& name);
  void Listen() { is_listening_ = true; }
  // Whether somebody listens at the path; nothing comes of a connection.
  static int Connect(const std::string& path);

 private:
  NodeRef name_;
  std::string abstract_;
  bool is_listening_ = false;
};

bool IsSimulated(int fd);
int Refused(int with);  // -1, and errno
int NewDescriptor(DescriptionRef description);
// nullptr: there is none.
DescriptionRef DescriptionOf(int fd);
// The kinds are final.
template <typename Kind>
std::shared_ptr<Kind> Described(int fd) {
  DescriptionRef one = DescriptionOf(fd);
  const Description* const description = one.get();
  if (description == nullptr || typeid(*description) != typeid(Kind)) return nullptr;
  return std::static_pointer_cast<Kind>(std::move(one));
}
int CloseDescriptor(int fd);
// Those that are open.
size_t OpenDescriptors();

// From a folder's descriptor, AT_FDCWD, or an absolute path.
Place Find(int folder, std::string_view path);

}  // namespace simulation
