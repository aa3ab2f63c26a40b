#include "answers/log/split_lines.h"

#include <algorithm>
#include <utility>

#include "answers/log/error_file.h"
#include "answers/log/exports/export_document.h"
#include "answers/log/foreign_prefix.h"
#include "answers/log/json_record.h"
#include "answers/log/log_line.h"
#include "answers/log/logger_prefix.h"
#include "answers/log/node_task.h"
#include "answers/log/pods/described_pod.h"
#include "answers/log/rank_field.h"
#include "answers/traceback.h"
#include "base/strings.h"

namespace answers {
namespace {

constexpr size_t kLongestLine = 4096;

// Removes the mark before each line of a log that somebody has quoted or made a comment.
std::vector<std::string_view> WithoutQuoteMarks(std::vector<std::string_view> lines) {
  constexpr size_t kFewest = 3;
  for (const std::string_view mark : {"# ", "> ", "// "}) {
    const bool are_marked = std::all_of(lines.begin(), lines.end(), [mark](std::string_view line) {
      return line.empty() || line.starts_with(mark) || line == base::Trim(mark);
    });
    if (!are_marked || lines.size() < kFewest) continue;
    for (std::string_view& line : lines) line.remove_prefix(std::min(mark.size(), line.size()));
  }
  return lines;
}

constexpr std::string_view kStepDaemon = "slurmstepd-";

// Removes the host from the name of newer Slurm step daemons: "slurmstepd-gpu07: error: ".
std::string WithoutStepHosts(std::string_view text) {
  std::string plain;
  for (size_t at; (at = text.find(kStepDaemon)) != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const bool is_name = text.substr(0, end).ends_with(':');
    plain.append(text.substr(0, is_name ? at + kStepDaemon.size() - 1 : end));
    if (is_name) plain.push_back(':');
    text.remove_prefix(end);
  }
  return plain.append(text);
}

// With the line ends of a traceback that stands in one line, as Python or JSON shows a text:
// "{'stderr': 'Traceback (most recent call last):\\n  File ...'}". "" if there is none, or if there
// are others.
std::string WithoutEscapedLines(std::string_view text) {
  constexpr std::string_view kEscaped = "Traceback (most recent call last):\\n";
  const size_t first = text.find(kTracebackHeader);
  if (first == text.npos || !text.substr(first).starts_with(kEscaped)) return "";
  for (size_t at = first; at != text.npos; at = text.find(kTracebackHeader, at + 1)) {
    if (!text.substr(at).starts_with(kEscaped)) return "";
  }
  if (text.find("error_handler: {") != text.npos) return "";
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const char next = text[i] == '\\' && i + 1 < text.size() ? text[i + 1] : ' ';
    const bool is_escape = std::string_view("nrt\"'\\").find(next) != std::string_view::npos;
    if (text[i] != '\\' || !is_escape) {
      plain.push_back(text[i]);
      continue;
    }
    plain.push_back(next == 'n' ? '\n' : next == 'r' ? '\r' : next == 't' ? '\t' : next);
    ++i;
  }
  return plain;
}

// With common blanks for those of web pages.
std::string WithoutHardBlanks(std::string_view text) {
  constexpr std::string_view kHard = "\xc2\xa0";
  std::string plain;
  for (size_t at; (at = text.find(kHard)) != text.npos; text.remove_prefix(at + kHard.size())) {
    plain.append(text.substr(0, at)).push_back(' ');
  }
  return plain.append(text);
}

// If torch's error handler has logged the content of an error file, this replaces those lines by
// the traceback in it or, if the content is cut, by its message.
void UnfoldErrorReports(std::vector<Split>& lines) {
  constexpr size_t kMostOfReport = 40;
  constexpr std::string_view kMessage = "\"message\": \"";
  const auto begins = [](const Split& split) {
    return split.line.text.ends_with("error_handler: {") ||
           split.line.text.ends_with("error_handler:{");
  };
  if (std::none_of(lines.begin(), lines.end(), begins)) return;
  std::vector<Split> unfolded;
  for (size_t i = 0; i < lines.size(); ++i) {
    unfolded.push_back(lines[i]);
    if (!begins(lines[i])) continue;
    std::string json = "{";
    size_t end = i + 1;
    const size_t limit = std::min(lines.size(), i + kMostOfReport);
    for (; end < limit && lines[end].line.text != "}"; ++end) json += lines[end].line.text;
    const auto report = ParseErrorFile(json + "}");
    const auto add = [&](std::string text) {
      unfolded.push_back(lines[i]);
      unfolded.back().line.text = std::move(text);
    };
    if (end < limit && report) {
      for (Line& line : LinesOf(*report)) add(std::move(line.text));
      i = end;
      continue;
    }
    for (size_t cut = i + 1; cut < end; ++cut) {
      const std::string_view text = base::Trim(lines[cut].line.text);
      if (!text.starts_with(kMessage)) continue;
      add(std::string(text.substr(kMessage.size(), text.rfind('"') - kMessage.size())));
      i = cut;
      break;
    }
  }
  for (size_t i = 0; i < unfolded.size(); ++i) unfolded[i].line.order = i;
  lines = std::move(unfolded);
}

}  // namespace

std::vector<std::string_view> LastLines(std::string_view text, size_t limit) {
  std::vector<std::string_view> lines;
  if (text.ends_with('\n')) text.remove_suffix(1);
  while (lines.size() < limit) {
    const size_t end = text.rfind('\n');
    lines.push_back(end == std::string_view::npos ? text : text.substr(end + 1));
    if (end == std::string_view::npos) break;
    text = text.substr(0, end);
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

std::vector<Split> SplitLines(std::string_view text, size_t limit, const std::string& wanted,
                              std::optional<FailedTrial>& trial) {
  const bool has_escapes = text.find("\x1b[") != std::string_view::npos ||
                           text.find("[0m") != std::string_view::npos ||
                           text.find("[39m") != std::string_view::npos;
  std::string blanks;
  if (text.find("\xc2\xa0") != std::string_view::npos) text = blanks = WithoutHardBlanks(text);
  const std::string document = LinesOfJsonDocument(text);
  const std::string pods = AsKubectlPrints(text);
  if (!document.empty()) text = document;
  if (!pods.empty()) text = pods;
  std::string plain = has_escapes ? WithoutEscapes(text) : "";
  if (text.find(kStepDaemon) != std::string_view::npos) {
    plain = WithoutStepHosts(has_escapes ? plain : text);
  }
  const size_t most = wanted.empty() ? limit : std::string_view::npos;
  std::vector<std::string_view> texts =
      WithoutQuoteMarks(LastLines(plain.empty() ? text : plain, most));
  std::string unfolded = WithoutJsonRecords(texts);
  if (unfolded.empty()) unfolded = TextsOfDocument(plain.empty() ? text : plain);
  if (unfolded.empty()) unfolded = WithoutEscapedLines(plain.empty() ? text : plain);
  if (!unfolded.empty()) texts = LastLines(unfolded, most);
  std::vector<LogLine> lines = ReadLogLines(std::move(texts));
  if (wanted.empty()) {
    trial = KeepFailedTrial(lines);
  } else {
    KeepTrial(lines, wanted);
    if (lines.size() > limit)
      lines.erase(lines.begin(), lines.end() - static_cast<ptrdiff_t>(limit));
  }
  TakeForeignPrefixes(lines);
  TakeLoggerPrefixes(lines);
  TakeNodeTasks(lines);
  TakeRankFields(lines);
  for (LogLine& line : lines) {
    if (IsOfStepDaemon(line.text)) line.rank.reset();
  }
  std::vector<Split> split;
  split.reserve(lines.size());
  for (LogLine& line : lines) {
    if (!unfolded.empty() && !line.time && !split.empty()) line.time = split.back().line.time;
    split.push_back({{line.time, std::string(line.text.substr(0, kLongestLine)), split.size()},
                     line.own_time,
                     line.rank,
                     line.local_rank,
                     line.pod,
                     line.is_rank_field,
                     line.pod_index});
  }
  UnfoldErrorReports(split);
  return split;
}

}  // namespace answers
