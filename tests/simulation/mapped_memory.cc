// The memory that the store's connections share, which SQLite maps from a file (cluster.db-shm).
#include <sqlite3.h>
#include <sys/mman.h>

#include <map>

#include "descriptors.h"
#include "life.h"
#include "threads.h"

namespace simulation {
namespace {

// A file that is mapped keeps its place in memory, so it is as long as this at most.
constexpr size_t kMostMapped = 1 << 20;

std::map<void*, NodeRef>& Mapped() {
  static std::map<void*, NodeRef> mapped;
  return mapped;
}

void* Map(void*, size_t size, int, int, int fd, off_t offset) {
  const auto file = Described<OpenFile>(fd);
  const size_t end = static_cast<size_t>(offset) + size;
  if (!file || end > kMostMapped || end > file->node->content.size()) GoneWrong("mmap");
  file->node->content.reserve(kMostMapped);
  void* const at = file->node->content.data() + offset;
  Mapped()[at] = file->node;
  return at;
}

int Unmap(void* at, size_t) {
  Mapped().erase(at);
  return 0;
}

template <typename Function>
sqlite3_syscall_ptr AsCall(Function* function) {
  return reinterpret_cast<sqlite3_syscall_ptr>(function);
}

}  // namespace

void MapStoresMemory() {
  sqlite3_vfs* const files = sqlite3_vfs_find(nullptr);
  files->xSetSystemCall(files, "mmap", AsCall(Map));
  files->xSetSystemCall(files, "munmap", AsCall(Unmap));
}

}  // namespace simulation
