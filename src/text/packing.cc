#include "text/packing.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace text {
namespace {

constexpr size_t kHashBits = 12;
constexpr size_t kShortestMatch = 4;
constexpr size_t kFarthest = 65'535;
// A length in half a byte; what it lacks follows in bytes, all but the last of them 255.
constexpr size_t kNibble = 15;
constexpr size_t kWholeByte = 255;

uint32_t FourBytes(const char* at) {
  uint32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

size_t HashOf(uint32_t four_bytes) {
  return (four_bytes * 2654435761U) >> (32 - kHashBits);  // Knuth's
}

void AppendRest(std::string& out, size_t length) {
  if (length < kNibble) return;
  length -= kNibble;
  for (; length >= kWholeByte; length -= kWholeByte) out += static_cast<char>(kWholeByte);
  out += static_cast<char>(length);
}

// `matched` 0 is the end: no match follows.
void AppendSequence(std::string& out, std::string_view literals, size_t matched, size_t distance) {
  const size_t more = matched == 0 ? 0 : matched - kShortestMatch;
  out += static_cast<char>(std::min(literals.size(), kNibble) << 4 | std::min(more, kNibble));
  AppendRest(out, literals.size());
  out += literals;
  if (matched == 0) return;
  out += static_cast<char>(distance & 0xff);
  out += static_cast<char>(distance >> 8);
  AppendRest(out, more);
}

size_t CountSame(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                             a.begin());
}

class Reader {
 public:
  explicit Reader(std::string_view packed) : left_(packed) {}
  bool is_at_end() const { return left_.empty(); }
  size_t Byte() {
    const auto byte = static_cast<unsigned char>(left_.front());
    left_.remove_prefix(1);
    return byte;
  }
  std::string_view Bytes(size_t count) {
    const std::string_view bytes = left_.substr(0, count);
    left_.remove_prefix(count);
    return bytes;
  }
  size_t Length(size_t nibble) {
    size_t length = nibble;
    for (size_t byte = nibble == kNibble ? kWholeByte : 0; byte == kWholeByte; length += byte) {
      byte = Byte();
    }
    return length;
  }

 private:
  std::string_view left_;
};

}  // namespace

Packing::Packing(std::string dictionary)
    : dictionary_(std::move(dictionary)), places_(size_t{1} << kHashBits) {
  for (size_t at = 0; at + kShortestMatch <= dictionary_.size(); ++at) {
    places_[HashOf(FourBytes(dictionary_.data() + at))] = static_cast<uint32_t>(at);
  }
}

std::string Packing::Pack(std::string_view text) const {
  std::string out;
  out.reserve(text.size() / 2 + 16);
  for (size_t length = text.size();; length >>= 7) {
    out += static_cast<char>((length & 0x7f) | (length > 0x7f ? 0x80 : 0));
    if (length <= 0x7f) break;
  }
  std::string window;
  window.reserve(dictionary_.size() + text.size());
  window.append(dictionary_).append(text);
  const std::string_view all = window;
  std::vector<uint32_t> places = places_;
  size_t literals = dictionary_.size();  // where those begin that are not written yet
  size_t at = literals;
  while (at + kShortestMatch <= all.size()) {
    const uint32_t sequence = FourBytes(all.data() + at);
    const size_t place = std::exchange(places[HashOf(sequence)], static_cast<uint32_t>(at));
    if (place >= at || at - place > kFarthest || FourBytes(all.data() + place) != sequence) {
      ++at;
      continue;
    }
    const size_t matched = CountSame(all.substr(at), all.substr(place));
    AppendSequence(out, all.substr(literals, at - literals), matched, at - place);
    at += matched;
    literals = at;
  }
  AppendSequence(out, all.substr(literals), 0, 0);
  return {out.data(), out.size()};  // no room to spare
}

std::string Packing::Unpack(std::string_view packed) const {
  Reader reader(packed);
  size_t size = 0;
  for (size_t shift = 0, byte = 0x80; (byte & 0x80) != 0; shift += 7) {
    byte = reader.Byte();
    size |= (byte & 0x7f) << shift;
  }
  std::string text;
  text.reserve(size);
  while (true) {
    const size_t token = reader.Byte();
    text += reader.Bytes(reader.Length(token >> 4));
    if (reader.is_at_end()) return text;
    size_t distance = reader.Byte();
    distance |= reader.Byte() << 8;
    size_t matched = reader.Length(token & kNibble) + kShortestMatch;
    if (distance > text.size()) {
      const size_t place = dictionary_.size() + text.size() - distance;
      const size_t count = std::min(matched, dictionary_.size() - place);
      text.append(dictionary_, place, count);
      matched -= count;
    }
    for (; matched > 0; --matched) text += text[text.size() - distance];
  }
}

}  // namespace text
