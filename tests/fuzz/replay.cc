// The fuzz targets without libFuzzer, for every build: the kept corpus of one, and a few spoilt
// copies of each of its inputs, always the same ones.
//   fuzz_replay <target> <corpus folder>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "fuzz_targets.h"  // generated

// X(json) X(yaml)...: one function for each target.
#define X(name) extern "C" int Fuzz_##name(const uint8_t* data, size_t size);
MUSTER_FUZZ_TARGETS
#undef X

namespace {

using Target = int (*)(const uint8_t*, size_t);

constexpr int kCopiesOfAnInput = 100;
constexpr int kSpoiltPlaces = 6;

const std::map<std::string, Target>& Targets() {
  static const std::map<std::string, Target> kTargets = {
#define X(name) {#name, &Fuzz_##name},
      MUSTER_FUZZ_TARGETS
#undef X
  };
  return kTargets;
}

void Try(Target target, const std::string& input) {
  // A buffer of its own size, so that tools see a step past its end.
  const std::vector<uint8_t> bytes(input.begin(), input.end());
  target(bytes.data(), bytes.size());
}

std::string Spoilt(std::string input, std::mt19937& random) {
  const size_t places = 1 + random() % kSpoiltPlaces;
  for (size_t i = 0; i < places && !input.empty(); ++i) {
    const size_t at = random() % input.size();
    switch (random() % 4) {
      case 0:
        input[at] = static_cast<char>(random() % 256);
        break;
      case 1:
        input.erase(at, 1 + random() % 8);
        break;
      case 2:
        input.insert(at, input.substr(random() % input.size(), random() % 16));
        break;
      default:
        input.resize(at);
    }
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  const auto target = argc == 3 ? Targets().find(argv[1]) : Targets().end();
  if (target == Targets().end()) {
    std::fprintf(stderr, "usage: fuzz_replay TARGET CORPUS\ntargets:");
    for (const auto& [name, function] : Targets()) std::fprintf(stderr, " %s", name.c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[2])) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  Try(target->second, "");
  std::mt19937 random;
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    const std::string input{std::istreambuf_iterator<char>(file), {}};
    std::printf("%s\n", path.filename().c_str());
    std::fflush(stdout);
    Try(target->second, input);
    for (int i = 0; i < kCopiesOfAnInput; ++i) Try(target->second, Spoilt(input, random));
  }
  return files.empty() ? 1 : 0;
}
