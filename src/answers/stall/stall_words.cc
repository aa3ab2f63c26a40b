// What the texts of stalls say, for those who get only the text.
#include <string>
#include <string_view>

#include "answers/stall/stall.h"
#include "base/strings.h"

namespace answers {

bool IsOfDifferentCalls(std::string_view stall) {
  const auto has = [stall](std::string_view words) { return stall.find(words) != stall.npos; };
  return has(kWaitForEachOther) || (has(": collective #") && has(" differs between ranks")) ||
         ((has(": the sizes of ") || has(": the types of ")) && has(" differ"));
}

bool NamesLateRank(std::string_view stall) {
  return stall.find(" not entered ") != std::string_view::npos;
}

std::string MissingRecorder(std::string_view stall) {
  const auto has = [stall](std::string_view words) {
    return stall.find(words) != std::string_view::npos;
  };
  const bool is_of_call = has(" not entered ") || has(kWaitForEachOther);
  // "all_reduce #412", not a comment in the line of a program.
  const bool has_number = [stall] {
    for (size_t at = 0; (at = stall.find(" #", at)) != std::string_view::npos; at += 2) {
      if (at + 2 < stall.size() && base::IsDigit(stall[at + 2])) return true;
    }
    return false;
  }();
  // Before the ranks have met nothing is recorded; the last names the recorder that is silent.
  if (!is_of_call || has_number || has("init_process_group") || has("flight recorder")) return "";
  return "the number of the collective: no rank has a flight recorder (its torch has none, or it "
         "is off)";
}

}  // namespace answers
