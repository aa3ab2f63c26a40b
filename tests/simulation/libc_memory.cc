// The C library's heap, in whose place the program's own comes: lives allocate millions of small
// blocks on one thread, so that lists of free blocks are enough, without locks and merging.
//
// A block has a header of 16 bytes, which says its class, and a size that is one of: the multiples
// of 16 up to 1 KiB, then four sizes for each power of two. A freed block waits for the next one of
// its class.
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>

namespace simulation {
namespace {

constexpr size_t kAlign = 16;
constexpr size_t kSmall = 1024;
constexpr size_t kSmallClasses = kSmall / kAlign;
constexpr size_t kClasses = kSmallClasses + 4 * 32;
constexpr size_t kSlab = size_t{64} << 20;  // in huge pages: a life wanders through all of it
constexpr size_t kLarge = size_t{4} << 20;  // has a mapping of its own

struct Header {
  uint32_t size_class;
  uint32_t shift;  // from the block's begin to the header, of what is aligned to more than 16 bytes
  uint64_t unused;
};
static_assert(sizeof(Header) == kAlign);

struct Free {
  Free* next;
};

std::array<Free*, kClasses> free_blocks{};
char* slab = nullptr;
size_t slab_left = 0;

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

void* Map(size_t size) {
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  return memory;
}

char* Carve(size_t size) {
  if (size > kLarge) return static_cast<char*>(Map(size));
  if (size > slab_left) {
    slab = static_cast<char*>(Map(kSlab));
    slab_left = slab == nullptr ? 0 : kSlab;
    if (slab == nullptr) return nullptr;
    ::madvise(slab, kSlab, MADV_HUGEPAGE);
  }
  char* const memory = slab;
  slab += size;
  slab_left -= size;
  return memory;
}

Header* HeaderOf(void* block) { return static_cast<Header*>(block) - 1; }

void* Allocate(size_t size) {
  if (size > size_t{1} << 40) {
    errno = ENOMEM;
    return nullptr;
  }
  const size_t size_class = ClassOf(size);
  if (Free* const block = free_blocks[size_class]; block != nullptr) {
    free_blocks[size_class] = block->next;
    __builtin_prefetch(block->next);  // has mostly left the cache when it is needed
    return block;
  }
  char* const memory = Carve(sizeof(Header) + SizeOf(size_class));
  if (memory == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  auto* const header = reinterpret_cast<Header*>(memory);
  header->size_class = static_cast<uint32_t>(size_class);
  header->shift = 0;
  return header + 1;
}

void* AllocateAligned(size_t alignment, size_t size) {
  if (alignment <= kAlign) return Allocate(size);
  auto* const block = static_cast<char*>(Allocate(size + alignment));
  if (block == nullptr) return nullptr;
  const auto at = (reinterpret_cast<uintptr_t>(block) + alignment - 1) & ~(alignment - 1);
  auto* const aligned = reinterpret_cast<char*>(at);
  if (aligned == block) return block;
  *HeaderOf(aligned) = {HeaderOf(block)->size_class, static_cast<uint32_t>(aligned - block), 0};
  return aligned;
}

size_t UsableSize(void* block) {
  const Header& header = *HeaderOf(block);
  return SizeOf(header.size_class) - header.shift;
}

void Release(void* block) {
  if (block == nullptr) return;
  const Header header = *HeaderOf(block);
  auto* const whole = reinterpret_cast<Free*>(static_cast<char*>(block) - header.shift);
  whole->next = free_blocks[header.size_class];
  free_blocks[header.size_class] = whole;
}

}  // namespace
}  // namespace simulation

using namespace simulation;

void* operator new(size_t size) {
  void* const block = Allocate(size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void operator delete(void* block) noexcept { Release(block); }
void operator delete(void* block, size_t) noexcept { Release(block); }

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
