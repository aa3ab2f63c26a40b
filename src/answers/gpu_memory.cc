#include "answers/gpu_memory.h"

#include <cstdlib>
#include <string>

#include "base/strings.h"

namespace answers {
namespace {

// Reads "20.00 GiB" as MiB; returns 0 for other text.
double MebibytesOf(std::string_view text) {
  const std::string number(text.substr(0, 24));
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  const std::string_view unit = std::string_view(end).substr(0, 4);
  return unit == " GiB" ? value * 1024 : unit == " MiB" ? value : 0;
}

double SizeBehind(std::string_view text, std::string_view words) {
  const size_t found = text.find(words);
  return found == std::string_view::npos ? 0 : MebibytesOf(text.substr(found + words.size()));
}

double SizeBefore(std::string_view text, std::string_view words) {
  const size_t found = text.find(words);
  if (found == std::string_view::npos) return 0;
  const size_t begin = text.substr(0, found).find_last_of(";,(");
  return begin == std::string_view::npos ? 0 : MebibytesOf(base::Trim(text.substr(begin + 1)));
}

}  // namespace

bool IsTakenByOthers(std::string_view text) {
  // The message since torch 2.1: "Process 7 has 20.00 GiB memory in use. Including non-PyTorch
  // memory, this process has 2.34 GiB memory in use."
  const double own = SizeBehind(text, "this process has ");
  double others = 0;
  for (size_t at = text.find("Process "); at != std::string_view::npos;
       at = text.find("Process ", at + 1)) {
    others += SizeBehind(text.substr(at, 64), " has ");
  }
  // In a PID namespace, the message does not contain the process under its own number; then
  // PyTorch's memory shows which part is its own.
  const double held = SizeBehind(text, "Of the allocated memory ");
  if (own == 0 && others > 0 && held > others / 2) return false;
  if (own > 0 || others > 0) return others > own;
  // The message before torch 2.1: "(GPU 0; 7.79 GiB total capacity; 5 GiB already allocated; 10 MiB
  // free; 5.7 GiB reserved in total by PyTorch)"
  const double total = SizeBefore(text, " total capacity");
  const double reserved = SizeBefore(text, " reserved in total");
  constexpr double kContext = 1024;  // the CUDA context of this process
  return total > 0 && reserved > 0 &&
         total - SizeBefore(text, " free") - reserved - kContext > reserved;
}

}  // namespace answers
