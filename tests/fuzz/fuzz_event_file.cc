#include <cstdint>

#include "runs/progress/event.h"
#include "runs/progress/tfrecord.h"

// The first byte says in how large pieces the file grows; what follows is the file, and an event.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t piece = data[0] + size_t{1};
  const std::string_view file(reinterpret_cast<const char*>(data + 1), size - 1);
  runs::RecordReader reader;
  size_t records = 0;
  for (size_t at = 0; at < file.size(); at += piece) {
    reader.Feed(file.substr(at, piece), [&records](std::string_view record) {
      ++records;
      static_cast<void>(runs::ReadEvent(record));
    });
  }
  if (records > file.size() || reader.pending() > file.size()) __builtin_trap();
  const auto event = runs::ReadEvent(file);
  if (event && (event->step < 0 || event->scalars.empty())) __builtin_trap();
  return 0;
}
