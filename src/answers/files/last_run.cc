#include "answers/files/last_run.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "answers/program_words.h"
#include "answers/symptoms.h"
#include "answers/traceback.h"
#include "base/strings.h"

namespace answers {
namespace {

// The script that a command behind a shell's prompt starts: "train.py" of "(env) jo@gpu2:~/w$
// torchrun --nproc-per-node 2 train.py"; "" of another line.
std::string_view ScriptBehindPrompt(std::string_view line) {
  static constexpr auto kStarts = std::to_array<std::string_view>(
      {"python", "torchrun", "accelerate", "deepspeed", "srun", "mpirun", "horovodrun", "bash",
       "sh ", "./", "CUDA_VISIBLE_DEVICES="});
  constexpr size_t kLongestPrompt = 120;
  const size_t sign = std::min({line.find("$ "), line.find("# "), line.find("% ")});
  // An indented command is a hint, and "# python train.py" a comment of a script.
  if (sign > kLongestPrompt || line[0] == ' ' || line[0] == '\t' || line[0] == '#') return "";
  const std::string_view command = base::Trim(line.substr(sign + 2));
  const bool is_start = std::any_of(kStarts.begin(), kStarts.end(),
                                    [command](auto start) { return command.starts_with(start); });
  for (size_t at = 0; is_start && at < command.size();) {
    const size_t end = std::min(command.find(' ', at), command.size());
    const std::string_view word = command.substr(at, end - at);
    if (word.ends_with(".py") || word.ends_with(".sh")) return word;
    at = end + 1;
  }
  return "";
}

}  // namespace

void KeepLastRun(std::vector<Split>& lines) {
  constexpr std::string_view kNohup = "nohup: ignoring input";
  constexpr std::string_view kTable = "Root Cause (first observed failure)";
  constexpr std::string_view kHost = "  host      : ";
  std::string_view script_before;
  bool has_table = false, has_end = false, is_by_table = false;
  std::string_view host, host_before;  // of the last table of this run, and of the one before
  size_t first = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view text = lines[i].line.text;
    if (!lines[i].pod.empty()) return;
    const std::string_view script = ScriptBehindPrompt(text);
    // A program that runs between or behind others may be a test, which has nothing to say.
    const bool is_again = !script.empty() && script == script_before;
    const bool is_after_table = has_table && StartsSeveral(text);
    if (is_after_table || (has_end && (is_again || text.starts_with(kNohup)))) {
      first = i;
      is_by_table = is_after_table;
      host_before = std::exchange(host, "");
      has_table = has_end = false;
    }
    if (!script.empty()) {
      script_before = script;
      has_end = false;
    }
    has_table = has_table || text.find(kTable) != text.npos;
    has_end = has_end || has_table || text.find(kTracebackHeader) != text.npos ||
              MentionsFailure(text) || ReportsSuccess(text);
    if (has_table && text.starts_with(kHost)) host = text;
  }
  if (is_by_table && (host.empty() || host != host_before)) return;  // the log of another node
  const bool has_more = std::any_of(
      lines.begin() + static_cast<ptrdiff_t>(std::min(first + 1, lines.size())), lines.end(),
      [](const Split& split) { return !base::Trim(split.line.text).empty(); });
  if (!has_more || first == 0) return;
  lines.erase(lines.begin(), lines.begin() + static_cast<ptrdiff_t>(first));
  for (size_t i = 0; i < lines.size(); ++i) lines[i].line.order = i;
}

}  // namespace answers
