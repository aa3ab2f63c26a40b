#include "witness/kernel_log.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <utility>

#include "base/strings.h"

namespace witness {
namespace {

constexpr size_t kLongest = 400;

// The kernel's sources print these words: mm/oom_kill.c, kernel/cgroup/pids.c, fs/file_table.c,
// arch/x86/mm/fault.c and kernel/traps.c, block/blk-core.c, fs/ext4/super.c, fs/xfs, net/sunrpc,
// drivers/pci/pcie/aer.c; and so do NVIDIA's open modules
// (src/nvidia/arch/nvalloc/unix/src/osinit.c).
constexpr auto kTopics = std::to_array<std::pair<std::string_view, KernelTopic>>({
    {"oom-kill:constraint=", KernelTopic::kMemory},
    {"ut of memory: Killed process ", KernelTopic::kMemory},
    {"cgroup: fork rejected by pids controller in ", KernelTopic::kPrograms},
    {"VFS: file-max limit ", KernelTopic::kPrograms},
    {": segfault at ", KernelTopic::kPrograms},
    {" trap invalid opcode ", KernelTopic::kPrograms},
    {"I/O error, dev ", KernelTopic::kDisks},
    {"EXT4-fs error (device ", KernelTopic::kDisks},
    {"Remounting filesystem read-only", KernelTopic::kDisks},
    {"): metadata I/O error in ", KernelTopic::kDisks},
    {"nfs: server ", KernelTopic::kDisks},
    {"NVRM: Xid (", KernelTopic::kGpus},
    {"NVRM: GPU at PCI:", KernelTopic::kGpus},
    {"GPU has fallen off the bus", KernelTopic::kGpus},
    {"RmInitAdapter failed", KernelTopic::kGpus},
    {" SXid (PCI:", KernelTopic::kGpus},
    {"amdgpu: GPU reset", KernelTopic::kGpus},
    {" uncorrectable hardware errors detected in ", KernelTopic::kGpus},
    {"AER: Uncorrect", KernelTopic::kGpus},
    {"AER: Multiple Uncorrect", KernelTopic::kGpus},
    {"PCIe Bus Error: severity=Uncorrect", KernelTopic::kGpus},
});

std::optional<int> NumberAt(std::string_view text, size_t at) {
  const size_t end = text.find_first_not_of("0123456789", at);
  const auto number =
      base::ParseInt(text.substr(at, end == std::string_view::npos ? end : end - at));
  return number && *number > 0 && *number < (1 << 30) ? std::optional(static_cast<int>(*number))
                                                      : std::nullopt;
}

bool HasNumber(std::string_view words, int number) {
  const std::string digits = std::to_string(number);
  for (size_t at = words.find(digits); at != std::string_view::npos;
       at = words.find(digits, at + 1)) {
    const size_t end = at + digits.size();
    const bool is_whole = (at == 0 || !base::IsDigit(words[at - 1])) &&
                          (end == words.size() || !base::IsDigit(words[end]));
    if (is_whole) return true;
  }
  return false;
}

}  // namespace

std::vector<KernelRecord> ReadKernelLog(std::string_view text) {
  std::vector<KernelRecord> records;
  for (const std::string& line : base::Split(text, '\n')) {
    const size_t semicolon = line.find(';');
    if (line.empty() || line[0] == ' ' || semicolon == std::string::npos) continue;
    const std::vector<std::string> head = base::Split(line.substr(0, semicolon), ',');
    const auto at = head.size() < 4 ? std::nullopt : base::ParseInt(head[2]);
    if (!at || *at < 0) continue;
    records.push_back({std::chrono::microseconds(*at), line.substr(semicolon + 1, kLongest)});
  }
  return records;
}

KernelTopic TopicOf(std::string_view text) {
  const auto found = std::find_if(kTopics.begin(), kTopics.end(), [text](const auto& each) {
    return text.find(each.first) != std::string_view::npos;
  });
  return found == kTopics.end() ? KernelTopic::kNone : found->second;
}

std::optional<int> PidIn(std::string_view text) {
  for (const std::string_view words : {"Killed process ", ",pid=", ", pid="}) {
    const size_t at = text.find(words);
    if (at != std::string_view::npos) return NumberAt(text, at + words.size());
  }
  // "python3[42]: segfault at 0 ip ..."
  const size_t end = std::min(text.find("]: segfault"), text.find("] trap "));
  const size_t begin = end == std::string_view::npos ? end : text.rfind('[', end);
  return begin == std::string_view::npos ? std::nullopt : NumberAt(text, begin + 1);
}

std::vector<bool> AreAbout(const Program& program, const std::vector<std::string_view>& texts) {
  std::set<int> own{program.pid};
  for (const std::string_view text : texts) {
    const auto pid = PidIn(text);
    const bool is_inside =
        !program.cgroup.empty() && text.find(program.cgroup) != std::string_view::npos;
    if (pid && (is_inside || HasNumber(program.words, *pid))) own.insert(*pid);
  }
  std::vector<bool> about;
  for (const std::string_view text : texts) {
    const auto pid = PidIn(text);
    const bool is_of_a_cgroup = text.find("pids controller in ") != std::string_view::npos;
    about.push_back(pid              ? own.contains(*pid)
                    : is_of_a_cgroup ? text.find(program.cgroup) != std::string_view::npos
                                     : true);
  }
  // The driver names a GPU in the line before the Xid that it reports for it.
  for (size_t i = texts.size(); i-- > 1;) {
    if (texts[i - 1].starts_with("NVRM: GPU at PCI:")) about[i - 1] = about[i];
  }
  return about;
}

}  // namespace witness
