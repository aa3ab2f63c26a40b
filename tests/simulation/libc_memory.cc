// The C library's heap, in whose place the program's own comes: lives allocate millions of small
// blocks on one thread, so that lists of free blocks are enough, without locks and merging.
//
// A block's size is one of: the multiples of 16 up to 1 KiB, then four sizes for each power of two.
// All blocks of a chunk have the same size, so that a block needs no header: a life's blocks lie
// close together in the processor's caches. A freed block waits for the next one of its class; and
// where a life leaves none behind, the next one begins with the class's first block again, instead
// of with those that a long life has left, in any order, all over the memory.
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "heap.h"

namespace simulation {
namespace {

constexpr size_t kAlign = 16;
constexpr size_t kSmall = 1024;
constexpr size_t kSmallClasses = kSmall / kAlign;
constexpr size_t kClasses = kSmallClasses + 4 * 30;
constexpr size_t kChunk = size_t{64} << 10;
constexpr size_t kArena = size_t{64} << 30;  // of which only what is used is memory
constexpr size_t kChunks = kArena / kChunk;
// More than that nobody asks for.
constexpr size_t kMostAligned = 4096;

struct Free {
  Free* next;
};

constexpr uint32_t kNone = 0;  // in place of a chunk's number

struct alignas(64) Class {
  Free* free;            // blocks that were freed
  char* unused;          // those of the last chunk that were never in use, or not since SettleHeap
  char* end;             // of them
  size_t size;           // of a block
  size_t in_use;         // blocks that are not kept
  uint32_t first, last;  // chunks
  char* kept_end;        // blocks before it are kept
};

std::array<Class, kClasses> classes{};
std::array<uint8_t, kChunks> class_of_chunk{};
std::array<uint32_t, kChunks> next_chunk{};  // of the same class
char* arena = nullptr;
size_t used_chunks = 1;

size_t ClassOf(size_t size) {
  if (size <= kSmall) return size == 0 ? 0 : (size - 1) / kAlign;
  const auto power = static_cast<size_t>(std::bit_width(size - 1)) - 1;  // 2^power < size
  const size_t quarter = (size - 1 - (size_t{1} << power)) >> (power - 2);
  return kSmallClasses + 4 * (power - 10) + quarter;
}

size_t SizeOf(size_t size_class) {
  if (size_class < kSmallClasses) return (size_class + 1) * kAlign;
  const size_t power = 10 + (size_class - kSmallClasses) / 4;
  return (size_t{1} << power) + ((size_class - kSmallClasses) % 4 + 1) * (size_t{1} << (power - 2));
}

size_t ClassOfBlock(const void* block) {
  return class_of_chunk[static_cast<size_t>(static_cast<const char*>(block) - arena) / kChunk];
}

bool MapArena() {
  // In huge pages: a life wanders through all of it.
  constexpr size_t kHuge = size_t{2} << 20;
  void* const memory = ::mmap(nullptr, kArena + kHuge, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  arena = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(memory) + kHuge - 1) & ~(kHuge - 1));
  ::madvise(arena, kArena, MADV_HUGEPAGE);
  return true;
}

void* Refuse() {
  errno = ENOMEM;
  return nullptr;
}

size_t ChunksFor(size_t size) { return (size + kChunk - 1) / kChunk; }

uint32_t NewChunk(size_t size_class) {
  if (arena == nullptr && !MapArena()) return kNone;
  const size_t count = ChunksFor(SizeOf(size_class));
  if (used_chunks + count > kChunks) return kNone;
  class_of_chunk[used_chunks] = static_cast<uint8_t>(size_class);
  return static_cast<uint32_t>(std::exchange(used_chunks, used_chunks + count));
}

void BeginWith(Class& one, uint32_t chunk) {
  one.last = chunk;
  one.unused = arena + chunk * kChunk;
  one.end = one.unused + ChunksFor(one.size) * kChunk / one.size * one.size;
}

// Whether the class has one more.
[[gnu::noinline]] bool TakeChunk(size_t size_class) {
  Class& one = classes[size_class];
  one.size = SizeOf(size_class);
  uint32_t next = next_chunk[one.last];  // kNone's is kNone
  if (next == kNone) {
    next = NewChunk(size_class);
    if (next == kNone) return false;
    if (one.first == kNone) {
      one.first = next;
    } else {
      next_chunk[one.last] = next;
    }
  }
  BeginWith(one, next);
  return true;
}

[[gnu::always_inline]] inline void* Allocate(size_t size) {
  if (size > kArena) return Refuse();
  const size_t size_class = ClassOf(size);
  Class& one = classes[size_class];
  if (Free* const block = one.free; block != nullptr) {
    one.free = block->next;
    __builtin_prefetch(block->next);  // has mostly left the cache when it is needed
    ++one.in_use;
    return block;
  }
  if (one.unused == one.end && !TakeChunk(size_class)) return Refuse();
  ++one.in_use;
  return std::exchange(one.unused, one.unused + one.size);
}

// A power of two is the size of a class, and its blocks are aligned to it.
void* AllocateAligned(size_t alignment, size_t size) {
  if (alignment <= kAlign) return Allocate(size);
  if (alignment > kMostAligned) return Refuse();
  return Allocate(std::bit_ceil(std::max(size, alignment)));
}

size_t UsableSize(const void* block) { return SizeOf(ClassOfBlock(block)); }

[[gnu::always_inline]] inline void ReleaseOf(void* block, size_t size_class) {
  Class& one = classes[size_class];
  if (block < one.kept_end) return;
  auto* const freed = static_cast<Free*>(block);
  freed->next = one.free;
  one.free = freed;
  --one.in_use;
}

void Release(void* block) {
  if (block != nullptr) ReleaseOf(block, ClassOfBlock(block));
}

}  // namespace

void KeepHeap() {
  for (Class& one : classes) {
    if (one.in_use == 0) continue;
    one = {};
    one.kept_end = arena + used_chunks * kChunk;
  }
}

void SettleHeap() {
  for (Class& one : classes) {
    if (one.in_use > 0 || one.first == kNone) continue;
    one.free = nullptr;
    BeginWith(one, one.first);
  }
}

}  // namespace simulation

using namespace simulation;

void* operator new(size_t size) {
  void* const block = Allocate(size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void operator delete(void* block) noexcept { Release(block); }
void operator delete(void* block, size_t size) noexcept {
  if (block != nullptr) ReleaseOf(block, ClassOf(size));
}

extern "C" {

void* malloc(size_t size) noexcept { return Allocate(size); }
void free(void* block) noexcept { Release(block); }
void* calloc(size_t count, size_t size) noexcept {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  void* const block = Allocate(bytes);
  if (block != nullptr) std::memset(block, 0, bytes);
  return block;
}
void* realloc(void* block, size_t size) noexcept {
  if (block == nullptr) return Allocate(size);
  const size_t had = UsableSize(block);
  if (size <= had) return block;
  void* const larger = Allocate(size);
  if (larger == nullptr) return nullptr;
  std::memcpy(larger, block, had);
  Release(block);
  return larger;
}
void* memalign(size_t alignment, size_t size) noexcept { return AllocateAligned(alignment, size); }
void* aligned_alloc(size_t alignment, size_t size) noexcept {
  return AllocateAligned(alignment, size);
}
int posix_memalign(void** block, size_t alignment, size_t size) noexcept {
  *block = AllocateAligned(alignment, size);
  return *block == nullptr ? ENOMEM : 0;
}
size_t malloc_usable_size(void* block) noexcept { return block == nullptr ? 0 : UsableSize(block); }

}  // extern "C"
