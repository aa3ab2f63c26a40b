// The files and folders of a simulated machine, in this program's memory.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace simulation {

class Inotify;
class Socket;
struct Node;
using NodeRef = std::shared_ptr<Node>;

// Of a file's content, since it was durable last (disk.h).
struct Change {
  int64_t offset = 0;
  std::string after;
  std::string before;
  int64_t size_before = 0;
  int64_t size_after = 0;
};

struct Node : std::enable_shared_from_this<Node> {
  mode_t mode = 0;  // S_IFREG, S_IFDIR or S_IFSOCK, and the permissions
  ino_t number = 0;
  nlink_t links = 0;
  timespec changed_at{};

  std::string content;  // of a file
  int64_t zeros = 0;    // behind its content, which take no memory: the reserves of space
  // A store's memory that its connections share. It is mapped where `content` is, which therefore
  // keeps its place, and nothing of it is left after a power cut.
  bool is_memory = false;
  const void* locked_by = nullptr;   // the description that has its flock
  const Socket* listener = nullptr;  // of a socket's name
  std::vector<Change> changes;       // that are not durable
  bool is_changed = false;           // is in the disk's list of those

  std::map<std::string, NodeRef, std::less<>> entries;  // of a folder
  Node* above = nullptr;                                // of a folder that has a name

  struct Watch {
    Inotify* by;
    int number;
    uint32_t mask;
  };
  std::vector<Watch> watches;

  bool IsFile() const { return S_ISREG(mode); }
  bool IsFolder() const { return S_ISDIR(mode); }
  int64_t size() const { return static_cast<int64_t>(content.size()) + zeros; }
  // As pread, pwrite and ftruncate do.
  size_t Get(int64_t offset, char* into, size_t count) const;
  void Put(int64_t offset, std::string_view bytes);
  void Resize(int64_t to);
  struct stat Info() const;
};

// Where a path leads.
struct Place {
  NodeRef folder;    // that has the last name, or would have it
  std::string name;  // "" where the path ends in a folder's own name
  NodeRef node;      // nullptr: there is none
  int failed = 0;    // errno of a path whose folder is not there
};

class Tree {
 public:
  Tree();
  const NodeRef& root() const { return root_; }

  Place Find(const NodeRef& from, std::string_view path) const;
  NodeRef Find(std::string_view path) const { return Find(root_, path).node; }

  NodeRef Make(mode_t mode);  // without a name
  // The names in a folder. Whoever watches it hears of it.
  void Add(const NodeRef& folder, const std::string& name, const NodeRef& node);
  void Remove(const NodeRef& folder, const std::string& name);
  // Takes the place of what has the other name.
  void Move(const NodeRef& from, const std::string& name, const NodeRef& to,
            const std::string& other);

  // With the folders above it, at once and for good.
  void Have(std::string_view path, std::string content);
  void Forget(std::string_view path);  // and all in it

 private:
  NodeRef MakeFolders(std::string_view path);

  ino_t last_ = 1;
  NodeRef root_;
};

// Tells those who watch the node (libc_events.cc).
void Notify(const Node& node, uint32_t event, std::string_view name);
// It is gone: nobody watches it any more.
void NotifyOfEnd(Node& node);

}  // namespace simulation
