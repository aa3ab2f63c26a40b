// Reads a JSON object as its bytes arrive: passes on the elements of one long array one by one, so
// that neither the text nor the array is ever in memory as a whole.
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
  // Takes an element's text; an error ends the reading.
  using TakeElement = std::function<base::Status(std::string_view element)>;

  // The array is the root's member `array`. Values longer than `max_bytes` are refused.
  MemberStream(std::string array, size_t max_bytes, TakeElement take)
      : array_(std::move(array)), max_bytes_(max_bytes), take_(std::move(take)) {}

  // kInvalidArgument when the text is not such an object, kExhausted over the limit, or the error
  // of `take`.
  base::Status Feed(std::string_view bytes);
  // Call it after all bytes: returns the object without the array's elements. kInvalidArgument when
  // it is incomplete.
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

  // Takes one step, if enough bytes have arrived.
  base::Result<bool> Step(bool is_all);
  base::Result<bool> StepOverMember(bool is_all);
  base::Result<bool> StepOverElement(bool is_all);
  base::Status Advance(bool is_all);
  base::Result<bool> WaitForMore(bool is_all);
  std::optional<std::string_view> WholeValue(Scanner& scanner, bool is_all) const;
  // The next byte that is not blank; 0 when it has not arrived.
  char Peek();
  base::Error Broken(std::string_view why) const;

  const std::string array_;
  const size_t max_bytes_;
  const TakeElement take_;
  Place place_ = Place::kBegin;
  std::string buffer_;  // not processed yet
  size_t at_ = 0;       // the position in buffer_
  size_t gone_ = 0;     // how many bytes preceded buffer_
  size_t needed_ = 0;   // how many bytes from at_ on are needed before trying again
  Object rest_;
};

}  // namespace text
