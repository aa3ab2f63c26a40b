#include "tree.h"

#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "threads.h"

namespace simulation {
namespace {

// The next name of a path, which is taken from its begin; "" at its end.
std::string_view TakeName(std::string_view& path) {
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  const std::string_view name = path.substr(0, path.find('/'));
  path.remove_prefix(name.size());
  return name;
}

uint32_t FolderFlag(const Node& node) { return node.IsFolder() ? IN_ISDIR : 0; }

}  // namespace

size_t Node::Get(int64_t offset, char* into, size_t count) const {
  if (offset >= size()) return 0;
  count = std::min(count, static_cast<size_t>(size() - offset));
  const auto at = static_cast<size_t>(offset);
  const size_t held = at < content.size() ? content.copy(into, count, at) : 0;
  std::memset(into + held, 0, count - held);
  return count;
}

void Node::Put(int64_t offset, std::string_view bytes) {
  if (bytes.empty()) return;
  const int64_t size_before = size();
  const auto at = static_cast<size_t>(offset);
  if (content.size() < at) content.resize(at);
  const size_t known = std::min(bytes.size(), content.size() - at);
  bytes.copy(content.data() + at, known);
  content.append(bytes.substr(known));
  zeros = std::max<int64_t>(0, size_before - static_cast<int64_t>(content.size()));
}

void Node::Resize(int64_t to) {
  const auto wanted = static_cast<size_t>(to);
  if (wanted < content.size() || is_memory) content.resize(wanted);
  zeros = to - static_cast<int64_t>(content.size());
}

struct stat Node::Info() const {
  static const uid_t user = ::geteuid();
  static const gid_t group = ::getegid();
  struct stat info{};
  info.st_dev = 1;
  info.st_ino = number;
  info.st_mode = mode;
  info.st_nlink = IsFolder() ? 2 : links;
  info.st_uid = user;
  info.st_gid = group;
  info.st_size = size();
  info.st_blksize = 4096;
  info.st_blocks = (size() + 511) / 512;
  info.st_atim = info.st_mtim = info.st_ctim = changed_at;
  return info;
}

Tree::Tree() : root_(Make(S_IFDIR | 0755)) { root_->links = 1; }

NodeRef Tree::Make(mode_t mode) {
  auto node = std::make_shared<Node>();
  node->mode = mode;
  node->number = ++last_;
  ::clock_gettime(CLOCK_REALTIME, &node->changed_at);
  return node;
}

Place Tree::Find(const NodeRef& from, std::string_view path) const {
  const NodeRef none;
  const NodeRef* folder = &none;
  const NodeRef* node = &from;
  NodeRef above;  // after ".."
  std::string_view last;
  std::string_view name = TakeName(path);
  while (!name.empty()) {
    const std::string_view next = TakeName(path);
    if (*node == nullptr) return {nullptr, "", nullptr, ENOENT};
    if (!(*node)->IsFolder()) return {nullptr, "", nullptr, ENOTDIR};
    if (name == "..") {
      if ((*node)->above == nullptr) return {nullptr, "", nullptr, ENOENT};
      above = (*node)->above->shared_from_this();
      folder = &none;
      node = &above;
    } else if (name != ".") {
      const auto found = (*node)->entries.find(name);
      folder = std::exchange(node, found == (*node)->entries.end() ? &none : &found->second);
      if (next.empty()) last = name;
    }
    name = next;
  }
  return {*folder, std::string(last), *node, 0};
}

void Tree::Add(const NodeRef& folder, const std::string& name, const NodeRef& node) {
  folder->entries[name] = node;
  ++node->links;
  if (node->IsFolder()) node->above = folder.get();
  Notify(*folder, IN_CREATE | FolderFlag(*node), name);
}

void Tree::Remove(const NodeRef& folder, const std::string& name) {
  const auto found = folder->entries.find(name);
  if (found == folder->entries.end()) return;
  const NodeRef node = std::move(found->second);
  folder->entries.erase(found);
  --node->links;
  if (node->IsFolder()) node->above = nullptr;
  if (node->links == 0) NotifyOfEnd(*node);
  Notify(*folder, IN_DELETE | FolderFlag(*node), name);
}

void Tree::Move(const NodeRef& from, const std::string& name, const NodeRef& to,
                const std::string& other) {
  const auto found = from->entries.find(name);
  if (found == from->entries.end()) return;
  const NodeRef node = std::move(found->second);
  from->entries.erase(found);
  NodeRef& place = to->entries[other];
  const NodeRef before = std::exchange(place, node);
  if (node->IsFolder()) node->above = to.get();
  Notify(*from, IN_MOVED_FROM | FolderFlag(*node), name);
  Notify(*to, IN_MOVED_TO | FolderFlag(*node), other);
  if (before && --before->links == 0) NotifyOfEnd(*before);
}

NodeRef Tree::MakeFolders(std::string_view path) {
  NodeRef folder = root_;
  for (std::string_view name = TakeName(path); !name.empty(); name = TakeName(path)) {
    const auto found = folder->entries.find(name);
    NodeRef next = found == folder->entries.end() ? nullptr : found->second;
    if (!next) Add(folder, std::string(name), next = Make(S_IFDIR | 0700));
    folder = std::move(next);
  }
  return folder;
}

void Tree::Have(std::string_view path, std::string content) {
  const size_t slash = path.rfind('/');
  const NodeRef folder = MakeFolders(path.substr(0, slash));
  const std::string name(path.substr(slash + 1));
  const auto found = folder->entries.find(name);
  NodeRef file = found == folder->entries.end() ? nullptr : found->second;
  if (!file) Add(folder, name, file = Make(S_IFREG | 0600));
  file->content = std::move(content);
}

void Tree::Forget(std::string_view path) {
  const Place place = Find(root_, path);
  if (place.node && !place.name.empty()) Remove(place.folder, place.name);
}

}  // namespace simulation
