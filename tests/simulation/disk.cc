#include "disk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <utility>

#include "threads.h"

namespace simulation {
namespace {

Disk* the_disk = nullptr;

// How often, of so many operations on files, others may run.
constexpr unsigned kFileOdds = 4;
// What a disk writes as one.
constexpr size_t kSector = 512;
// Few of the store's files become longer; of memory only what is used costs anything.
constexpr size_t kUsualBytes = 4 << 20;

bool IsOfStore(std::string_view name) {
  return name.ends_with("cluster.db") || name.ends_with("cluster.db-wal");
}

}  // namespace

Disk* TheDisk() { return the_disk; }

bool IsBroken(std::string_view what) {
  static const char* const broken = std::getenv("MUSTER_BREAK");
  return broken != nullptr && broken == what;
}

Disk::Disk(bool may_lose_power) : may_lose_power_(may_lose_power) {
  tree_.Add(tree_.root(), std::string(kRoot.substr(1)), tree_.Make(S_IFDIR | 0700));
  the_disk = this;
}

Disk::~Disk() { the_disk = nullptr; }

void Disk::Fill(int64_t left) {
  Trace(fmt::format("the disk is full but for {} bytes", left));
  const int64_t taken = std::max<int64_t>(0, free_ - left);
  others_ += taken;
  free_ -= taken;
}

void Disk::Empty() { free_ += std::exchange(others_, 0); }

void Disk::Have(const std::string& path, std::string content) {
  free_ -= static_cast<int64_t>(content.size());
  tree_.Have(path, std::move(content));
  if (IsOfStore(path)) tree_.Find(path)->content.reserve(kUsualBytes);
}

int Disk::BeforeChange() {
  Step(kFileOdds);
  return ThisProcess().is_dead ? EIO : 0;
}

int Disk::BeforeData() {
  if (const int failed = BeforeChange(); failed != 0) return failed;
  if (failing_ == 0 || !Chance(failing_)) return 0;
  Trace("the disk fails");
  return EIO;
}

int Disk::BeforeWrite(const Node& file, int64_t end) {
  if (file.is_memory) return 0;
  if (const int failed = BeforeData(); failed != 0) return failed;
  return end - file.size() > free_ ? ENOSPC : 0;
}

void Disk::Keep(const NodeRef& file, Change change) {
  free_ -= change.size_after - change.size_before;
  if (!may_lose_power_) return;
  file->changes.push_back(std::move(change));
  if (!std::exchange(file->is_changed, true)) changed_.push_back(file);
}

void Disk::Write(const NodeRef& file, int64_t offset, std::string_view bytes) {
  if (file->is_memory) return file->Put(offset, bytes);
  Change change{offset, "", "", file->size(), 0};
  if (may_lose_power_) {
    change.after = bytes;
    change.before.resize(bytes.size());
    change.before.resize(file->Get(offset, change.before.data(), bytes.size()));
  }
  file->Put(offset, bytes);
  change.size_after = file->size();
  Keep(file, std::move(change));
}

void Disk::Resize(const NodeRef& file, int64_t size) {
  if (file->is_memory) return file->Resize(size);
  Change change{size, "", "", file->size(), size};
  const auto wanted = static_cast<size_t>(size);
  if (may_lose_power_ && wanted < file->content.size()) {
    change.before = file->content.substr(wanted);
  }
  file->Resize(size);
  Keep(file, std::move(change));
}

void Disk::Synced(const NodeRef& file, std::string_view path) {
  ++syncs_;
  if (IsBroken("sync-store") && path.find("cluster.db") != path.npos) return;
  if (IsBroken("sync-reports") && path.find("status.json") != path.npos) return;
  file->changes.clear();
  if (std::exchange(file->is_changed, false)) std::erase(changed_, file);
}

void Disk::SyncedFolder(const NodeRef& folder) {
  ++syncs_;
  if (IsBroken("sync-folders")) return;
  size_t durable = 0;
  for (size_t i = 0; i < names_.size(); ++i) {
    if (names_[i].folder == folder) durable = i + 1;
  }
  names_.erase(names_.begin(), names_.begin() + static_cast<long>(durable));
}

NodeRef Disk::Make(const Place& place, mode_t mode) {
  NodeRef node = tree_.Make(mode);
  node->is_memory = place.name.ends_with("-shm");
  if (IsOfStore(place.name)) node->content.reserve(kUsualBytes);
  Link(node, place);
  return node;
}

void Disk::Link(const NodeRef& node, const Place& place) {
  tree_.Add(place.folder, place.name, node);
  if (!may_lose_power_) return;
  names_.push_back({place.folder, [this, place] { tree_.Remove(place.folder, place.name); }});
}

void Disk::GiveBackSpaceOf(const Node& node) {
  if (node.IsFile() && node.links == 1) free_ += node.size();
}

void Disk::Remove(const Place& place) {
  GiveBackSpaceOf(*place.node);
  tree_.Remove(place.folder, place.name);
  if (!may_lose_power_) return;
  names_.push_back(
      {place.folder, [this, place] { tree_.Add(place.folder, place.name, place.node); }});
}

void Disk::Rename(const Place& from, const Place& to) {
  if (to.node) GiveBackSpaceOf(*to.node);
  tree_.Move(from.folder, from.name, to.folder, to.name);
  if (!may_lose_power_) return;
  names_.push_back({to.folder, [this, from, to] {
                      tree_.Move(to.folder, to.name, from.folder, from.name);
                      if (to.node) tree_.Add(to.folder, to.name, to.node);
                    }});
}

void Disk::PowerCut() {
  Trace("power cut");
  // In every third all that could be lost is, in every third nothing.
  const uint64_t mood = Below(3);
  const auto survives = [mood] { return mood == 0 ? false : mood == 1 || Below(2) == 0; };
  size_t names = mood == 0 ? 0 : mood == 1 ? names_.size() : Below(names_.size() + 1);
  for (const NodeRef& file : changed_) {
    for (auto change = file->changes.rbegin(); change != file->changes.rend(); ++change) {
      file->Put(change->offset, change->before);
      file->Resize(change->size_before);
    }
    for (const Change& change : file->changes) {
      if (!survives()) continue;
      size_t count = change.after.size();
      if (count > kSector && Below(4) == 0) count = Below(count / kSector + 1) * kSector;
      if (change.after.empty()) {
        file->Resize(change.size_after);
      } else {
        file->Put(change.offset, std::string_view(change.after).substr(0, count));
      }
    }
    file->changes.clear();
    file->is_changed = false;
  }
  changed_.clear();
  while (names_.size() > names) {
    names_.back().undo();
    names_.pop_back();
  }
  names_.clear();
}

}  // namespace simulation
