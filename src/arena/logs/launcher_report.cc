#include "arena/logs/launcher_report.h"

#include "base/launcher_report.h"

namespace arena {
namespace {

constexpr std::string_view kException =
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:";
constexpr std::string_view kBorder = "==========";
constexpr int kBorders = 2;
// A table has seven lines for each rank; anything longer is not a table.
constexpr int kMostTableLines = 7 * 4096;
// The explanation begins each line with a label in a column: "  why       : ".
constexpr size_t kLabelWidth = 12;

bool IsLabelled(std::string_view line) {
  return line.size() > kLabelWidth && line.starts_with("  ") && line[kLabelWidth] == ':';
}

}  // namespace

bool LauncherReport::Contains(std::string_view line) {
  if (part_ == Part::kTable) {
    if (line.starts_with(kBorder)) ++borders_;
    if (borders_ == kBorders || ++lines_ == kMostTableLines) part_ = Part::kNone;
    return true;
  }
  if (line.starts_with(kException)) {
    part_ = Part::kTable;
    borders_ = lines_ = 0;
    return true;
  }
  if (line.find(base::kReportHeading) != std::string_view::npos) {
    part_ = Part::kExplanation;
    return true;
  }
  if (part_ == Part::kExplanation && !IsLabelled(line)) part_ = Part::kNone;
  return part_ == Part::kExplanation;
}

}  // namespace arena
