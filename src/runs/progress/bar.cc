#include "runs/progress/bar.h"

#include <charconv>

#include "base/strings.h"
#include "text/metrics.h"

namespace runs {
namespace {

constexpr int64_t kMostSeconds = int64_t{1} << 40;

// "01:02", "1:02:03", "2 days, 1:02:03" is not read.
std::optional<int64_t> SecondsOf(std::string_view clock) {
  int64_t seconds = 0;
  for (const std::string& part : base::Split(clock, ':')) {
    int64_t value = 0;
    const auto read = std::from_chars(part.data(), part.data() + part.size(), value);
    if (read.ec != std::errc() || read.ptr != part.data() + part.size() || value < 0 ||
        value > kMostSeconds || seconds > kMostSeconds / 60) {
      return std::nullopt;
    }
    seconds = seconds * 60 + value;
  }
  return seconds;
}

// "40", "1.2k", "3M", as tqdm shortens counts with unit_scale.
std::optional<int64_t> CountOf(std::string_view text) {
  text = base::Trim(text);
  if (text.empty() || text.size() > 15) return std::nullopt;
  int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || value < 0) {
    return std::nullopt;
  }
  return value;
}

// "epoch 3" of the title.
void ReadTitle(std::string_view title, LineProgress& progress) {
  title = base::Trim(title);
  while (!title.empty() && (title.back() == ':' || title.back() == ' ')) title.remove_suffix(1);
  progress.title = title;
  const std::string lower = base::ToLower(title);
  const size_t epoch = lower.find("epoch");
  if (epoch == std::string::npos) return;
  const size_t digit = lower.find_first_of("0123456789", epoch);
  if (digit == std::string::npos || digit > epoch + 8) return;
  int64_t number = 0;
  const auto read = std::from_chars(lower.data() + digit, lower.data() + lower.size(), number);
  if (read.ec != std::errc()) return;
  progress.epoch = static_cast<double>(number);
  const auto behind = static_cast<size_t>(read.ptr - lower.data());
  if (behind < lower.size() && lower[behind] == '/') {
    int64_t of = 0;
    if (std::from_chars(read.ptr + 1, lower.data() + lower.size(), of).ec == std::errc()) {
      progress.epochs = of;
    }
  }
}

// "00:10<00:15,  3.92it/s, loss=0.3, v_num=0"
void ReadBracket(std::string_view inside, LineProgress& progress) {
  const size_t less = inside.find('<');
  const size_t comma = inside.find(',');
  if (less != std::string_view::npos) {
    progress.seconds_left =
        SecondsOf(base::Trim(inside.substr(less + 1, std::min(comma, inside.size()) - less - 1)));
  }
  const size_t rate = comma == std::string_view::npos ? comma : inside.find(',', comma + 1);
  if (rate == std::string_view::npos) return;
  for (auto& [name, value] : text::MetricsOf(inside.substr(rate + 1))) {
    if (name != "v_num") progress.scalars.emplace_back(std::move(name), value);
  }
}

}  // namespace

bool ReadBar(std::string_view line, LineProgress& progress) {
  const size_t percent = line.find("%|");
  if (percent == std::string_view::npos || percent == 0) return false;
  const size_t end = line.find('|', percent + 2);
  if (end == std::string_view::npos) return false;
  const std::string_view counts = line.substr(end + 1);
  const size_t bracket = counts.find('[');
  const size_t slash = counts.find('/');
  if (slash == std::string_view::npos || bracket == std::string_view::npos || slash > bracket) {
    return false;
  }
  const auto now = CountOf(counts.substr(0, slash));
  const auto of = CountOf(counts.substr(slash + 1, bracket - slash - 1));
  if (!now || !of) return false;
  progress.is_bar = true;
  progress.step = now;
  progress.steps = of;
  const size_t digits = line.find_last_not_of("0123456789", percent - 1);
  ReadTitle(digits == std::string_view::npos ? "" : line.substr(0, digits + 1), progress);
  const size_t close = counts.find(']', bracket);
  ReadBracket(counts.substr(bracket + 1, std::min(close, counts.size()) - bracket - 1), progress);
  return true;
}

}  // namespace runs
