// The fuzz targets without libFuzzer, for every build: the kept corpus of one, a few spoilt copies
// of each of its inputs, and then others for some seconds, with MUSTER_SEED not the same ones as
// ever. An input that ends the program is left in crash-<target>, to be tried with `fuzz_replay
// <target> <its folder>`.
//   fuzz_replay <target> <corpus folder> [<seconds>]
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
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

// What is being tried, for the one who finds that it ended the program.
const std::vector<uint8_t>* tried = nullptr;
std::string crash_file;

void KeepInput() {
  const int fd = open(crash_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0 || tried == nullptr) return;
  if (write(fd, tried->data(), tried->size()) >= 0) {
    constexpr std::string_view kKept = "the input is kept in crash-<target>\n";
    (void)!write(STDERR_FILENO, kKept.data(), kKept.size());
  }
}

void KeepInputAtTheEnd() {
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM}) {
    struct sigaction action{};
    action.sa_handler = [](int number) {
      KeepInput();
      raise(number);
    };
    action.sa_flags = SA_RESETHAND | SA_NODEFER;
    sigaction(signal, &action, nullptr);
  }
}

void Try(Target target, const std::string& input) {
  constexpr unsigned kLongestTry = 60;  // seconds: an input that never ends is a finding
  // A buffer of its own size, so that tools see a step past its end.
  const std::vector<uint8_t> bytes(input.begin(), input.end());
  tried = &bytes;
  alarm(kLongestTry);
  target(bytes.data(), bytes.size());
  tried = nullptr;
}

std::string Spoilt(std::string input, std::mt19937& random) {
  const size_t places = 1 + random() % kSpoiltPlaces;
  for (size_t i = 0; i < places && !input.empty(); ++i) {
    const size_t at = random() % input.size();
    switch (random() % 5) {
      case 0:
        input[at] = static_cast<char>(random() % 256);
        break;
      case 1:
        input.erase(at, 1 + random() % 8);
        break;
      case 2:
        input.insert(at, input.substr(random() % input.size(), random() % 16));
        break;
      case 3: {
        // What parsers look for.
        constexpr std::string_view kMarks = "{}[]\":,\\\n\r\t #&*|>-~0";
        input[at] = kMarks[random() % kMarks.size()];
        break;
      }
      default:
        input.resize(at);
    }
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  const auto target = argc == 3 || argc == 4 ? Targets().find(argv[1]) : Targets().end();
  if (target == Targets().end()) {
    std::fprintf(stderr, "usage: fuzz_replay TARGET CORPUS [SECONDS]\ntargets:");
    for (const auto& [name, function] : Targets()) std::fprintf(stderr, " %s", name.c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  crash_file = "crash-" + target->first;
  KeepInputAtTheEnd();
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[2])) {
    files.push_back(entry.path());
  }
  if (files.empty()) return 1;
  std::sort(files.begin(), files.end());
  Try(target->second, "");
  std::mt19937 random;
  std::vector<std::string> inputs;
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    std::printf("%s\n", path.filename().c_str());
    std::fflush(stdout);
    Try(target->second, inputs.back());
    for (int i = 0; i < kCopiesOfAnInput; ++i) Try(target->second, Spoilt(inputs.back(), random));
  }
  // The same ones each time, so that a change is not blamed for what was there before it.
  if (const char* const seed = std::getenv("MUSTER_SEED")) {
    random.seed(static_cast<uint32_t>(std::strtoul(seed, nullptr, 10)));
  }
  // Of the processor, whatever else it does.
  const std::clock_t end = std::clock() + CLOCKS_PER_SEC * (argc == 4 ? std::stoi(argv[3]) : 0);
  uint64_t tries = 0;
  for (; std::clock() < end; ++tries) {
    std::string input = inputs[random() % inputs.size()];
    // Half of them begin as one and end as another.
    if (random() % 2 == 0) {
      const std::string& other = inputs[random() % inputs.size()];
      input.resize(random() % (input.size() + 1));
      input += other.substr(random() % (other.size() + 1));
    }
    Try(target->second, Spoilt(std::move(input), random));
  }
  std::printf("%llu others\n", static_cast<unsigned long long>(tries));
  return 0;
}
