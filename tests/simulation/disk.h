// The disk of a simulated machine: a tree of files in memory (tree.h), behind the program's own
// open, write, fsync, rename ... (libc_files.cc). It knows what was synchronised, so that a power
// cut can take away the rest; it can be full, or fail; and a process that is dead changes nothing
// on it any more.
//
// After a power cut:
//   of a file    what fsync or fdatasync of it covered is there; each later write is there, or not,
//                or a part of it, in any combination
//   of names     (made, renamed, removed) those before the last fsync of their folder, or of a
//   later
//                name's folder, are as they were made; of the later ones a part, in their order
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tree.h"

namespace simulation {

class Disk {
 public:
  // Without `may_lose_power` nothing is kept for PowerCut, which costs time.
  explicit Disk(bool may_lose_power);
  ~Disk();
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  // What else the machine's kernel shows of it, as /proc, is in the same tree, and never changed by
  // a call.
  static constexpr std::string_view kRoot = "/disk";
  std::string root() const { return std::string(kRoot); }
  Tree& tree() { return tree_; }

  // In bytes; kept by every change of a file's size.
  int64_t free() const { return free_; }
  // Somebody else takes all but `left`, or gives it back.
  void Fill(int64_t left);
  void Empty();
  static constexpr int64_t kTotal = 64 << 20;
  // How many of a thousand writes and fsyncs fail with EIO.
  void SetFailing(unsigned per_thousand) { failing_ = per_thousand; }
  bool IsInTrouble() const { return failing_ > 0 || others_ > 0; }

  // A file of the store that was there before the life began, and is on the disk for good.
  void Have(const std::string& path, std::string content);

  void PowerCut();
  // Since the life began.
  uint64_t syncs() const { return syncs_; }

  // Of calls that are about to be made. Each is a point at which the process may be killed; it
  // returns the errno that the call fails with, or 0.
  int BeforeChange();
  int BeforeData();
  int BeforeWrite(const Node& file, int64_t end);
  // The calls themselves.
  void Write(const NodeRef& file, int64_t offset, std::string_view bytes);
  void Resize(const NodeRef& file, int64_t size);
  void Synced(const NodeRef& file, std::string_view path);
  void SyncedFolder(const NodeRef& folder);
  NodeRef Make(const Place& place, mode_t mode);
  void Link(const NodeRef& node, const Place& place);
  void Remove(const Place& place);
  void Rename(const Place& from, const Place& to);

 private:
  // Made, renamed or removed.
  struct Name {
    NodeRef folder;
    std::function<void()> undo;
  };

  void Keep(const NodeRef& file, Change change);
  // Its last name is about to go.
  void GiveBackSpaceOf(const Node& node);

  const bool may_lose_power_;
  Tree tree_;
  int64_t free_ = kTotal;
  int64_t others_ = 0;  // have taken so much
  unsigned failing_ = 0;
  uint64_t syncs_ = 0;
  std::vector<NodeRef> changed_;  // hold changes that are not durable
  std::vector<Name> names_;       // that are not durable
};

// Of the life that is under way; nullptr before there is one.
Disk* TheDisk();

// A fault of the product that is put in its place here, $MUSTER_BREAK: the same life as if a call
// were missing in it. "sync-store", "sync-folders", "sync-reports", "write-ids", "submit-at-once".
bool IsBroken(std::string_view what);

}  // namespace simulation
