#include "text/same.h"

#include <algorithm>

namespace text {

bool IsSame(const Json& a, const Json& b) {
  if (const Array* const array = a.if_array()) {
    const Array* const other = b.if_array();
    return other != nullptr &&
           std::equal(array->begin(), array->end(), other->begin(), other->end(), IsSame);
  }
  const Object* const object = a.if_object();
  if (object == nullptr) return a == b;
  const Object* const other = b.if_object();
  if (other == nullptr || object->size() != other->size()) return false;
  auto beside = other->begin();  // mostly the same key
  return std::all_of(object->begin(), object->end(), [&](const auto& member) {
    const auto found = beside->key() == member.key() ? beside : other->find(member.key());
    ++beside;
    return found != other->end() && IsSame(member.value(), found->value());
  });
}

}  // namespace text
