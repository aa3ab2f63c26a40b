// A JSON object read as its bytes come: the elements of one long array are given out one by one,
// and neither the text nor the array is ever in memory whole.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "text/json.h"

namespace text {

class Scanner;

// One thread. An error is final.
class MemberStream {
 public:
  // Of an element's text; its error ends the reading.
  using TakeElement = std::function<base::Status(std::string_view element)>;

  // The array is the root's member `array`. Nothing that is longer than `max_bytes` is taken in.
  MemberStream(std::string array, size_t max_bytes, TakeElement take)
      : array_(std::move(array)), max_bytes_(max_bytes), take_(std::move(take)) {}

  // kInvalidArgument when this is no such object, kExhausted over the limit, and what `take` says.
  base::Status Feed(std::string_view bytes);
  // All has come: the object, without the array's elements. kInvalidArgument when it is not whole.
  base::Result<Json> Finish();

 private:
  enum class Place {
    kBegin,
    kFirstKey,
    kKey,
    kFirstElement,
    kElement,
    kAfterElement,
    kAfterValue,
    kEnd
  };

  // One step on, if what has come is enough for it.
  base::Result<bool> Step(bool is_all);
  base::Result<bool> StepOverMember(bool is_all);
  base::Result<bool> StepOverElement(bool is_all);
  base::Status Advance(bool is_all);
  base::Result<bool> WaitForMore(bool is_all);
  std::optional<std::string_view> WholeValue(Scanner& scanner, bool is_all) const;
  // The next byte that is not a blank; 0 when it has not come.
  char Peek();
  base::Error Broken(std::string_view why) const;

  const std::string array_;
  const size_t max_bytes_;
  const TakeElement take_;
  Place place_ = Place::kBegin;
  std::string buffer_;  // not yet given out
  size_t at_ = 0;       // of buffer_, what comes next
  size_t gone_ = 0;     // bytes before buffer_
  size_t needed_ = 0;   // bytes from at_ on that it takes to look again
  Object rest_;
};

}  // namespace text
