#include <cstdint>

#include "answers/files/read_log.h"
#include "answers/verdict.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const answers::Evidence evidence =
      answers::ReadLogs({{"rank_0.log", text.substr(0, size / 2)}, {"all", text}});
  const answers::Verdict verdict = answers::Explain(evidence);
  if (verdict.rank && *verdict.rank >= evidence.ranks.size()) __builtin_trap();
  if (verdict.kind.empty() || verdict.title.empty()) __builtin_trap();
  for (const char c : answers::Render(verdict, evidence, true)) {
    if (static_cast<unsigned char>(c) < ' ' && c != '\n') __builtin_trap();
  }
  return 0;
}
