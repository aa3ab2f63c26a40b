#include "check.h"
#include "net/websocket/spdy.h"

namespace {

struct Outcome {
  std::string text;  // what each stream said
  bool is_refused = false;
};

Outcome Parse(std::string_view input, size_t cut) {
  net::SpdyParser parser;
  std::vector<net::SpdyEvent> events;
  Outcome outcome;
  for (size_t at = 0; at < input.size() && !outcome.is_refused; at += cut) {
    outcome.is_refused = !parser.Feed(input.substr(at, cut), events);
  }
  using Kind = net::SpdyEvent::Kind;
  uint32_t talking = 0;  // pieces of what one stream says are one text
  uint32_t last_opened = 0;
  for (const net::SpdyEvent& event : events) {
    if (event.kind == Kind::kOpen) {
      fuzz::Hold("streams are odd and in order",
                 event.stream % 2 == 1 && event.stream > last_opened);
      last_opened = event.stream;
    }
    const uint32_t talks = event.kind == Kind::kData ? event.stream + 1 : 0;
    if (talks == 0 || talks != talking) {
      outcome.text += "|" + std::to_string(static_cast<int>(event.kind)) + " " +
                      std::to_string(event.stream) + " ";
    }
    talking = talks;
    for (const auto& [name, value] : event.headers) outcome.text += name + "=" + value + ";";
    outcome.text += event.payload;
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Outcome whole = Parse(input, input.size() + 1);
  const Outcome pieces = Parse(input, data[0] % 64 + 1U);
  fuzz::Hold("pieces are refused as the whole", whole.is_refused == pieces.is_refused);
  fuzz::Same("pieces say what the whole says", pieces.text, whole.text);
  return 0;
}
