#include <memory>
#include <optional>
#include <utility>

#include "check.h"
#include "cluster/client.h"
#include "text/projection.h"

namespace {

// A server's stream that comes in pieces of `step` bytes, and then ends or breaks off.
class CutStream : public net::BodyStream {
 public:
  CutStream(std::string_view bytes, size_t step) : bytes_(bytes), step_(step) {}
  int status() const override { return 200; }
  const net::Headers& headers() const override { return headers_; }
  base::Result<std::optional<std::string>> Read() override {
    if (bytes_.empty()) return std::optional<std::string>();
    std::string piece(bytes_.substr(0, step_));
    bytes_.remove_prefix(piece.size());
    return std::optional(std::move(piece));
  }
  void Cancel() override {}

 private:
  std::string_view bytes_;
  const size_t step_;
  const net::Headers headers_;
};

struct Outcome {
  std::vector<std::string> events;  // as text
  std::string error;                // that the watch ended with
};

Outcome Watch(std::string_view bytes, size_t step, const cluster::ObjectReader& read) {
  cluster::Watch watch(std::make_unique<CutStream>(bytes, step), read);
  Outcome outcome;
  while (true) {
    auto event = watch.Next();
    if (!event) {
      outcome.error = event.error().message;
      fuzz::Hold("an error says something", !outcome.error.empty());
      return outcome;
    }
    if (!event->has_value()) return outcome;
    outcome.events.push_back(std::to_string(static_cast<int>((*event)->type)) +
                             text::ToJson(fuzz::Sorted((*event)->object)));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const std::string_view stream(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Outcome whole = Watch(stream, stream.size() + 1, {});

  const size_t step = data[0] + size_t{1};
  const Outcome pieces = Watch(stream, step, {});
  fuzz::Hold("pieces hold the events of the whole", pieces.events == whole.events);
  fuzz::Same("pieces end as the whole", pieces.error, whole.error);

  // The events before a cut are those of the whole: half of one is never given out.
  const Outcome cut = Watch(stream.substr(0, step), step, {});
  fuzz::Hold("a cut stream begins as the whole",
             cut.events.size() <= whole.events.size() &&
                 std::equal(cut.events.begin(), cut.events.end(), whole.events.begin()));

  // A reader of objects is given each object's text, whole.
  const Outcome read =
      Watch(stream, step, [](std::string_view object) { return text::ParseJson(object); });
  for (size_t i = 0; i < std::min(read.events.size(), whole.events.size()); ++i) {
    fuzz::Same("a reader sees what the watch gives", read.events[i], whole.events[i]);
  }

  // A reader of parts looks past mistakes in what it leaves out, and finds the same in the rest.
  const text::Projection parts{{"metadata", "name"}};

  const Outcome names =
      Watch(stream, step, [&](std::string_view object) { return text::ParsePart(object, parts); });
  if (whole.error.empty()) {
    fuzz::Hold("whoever reads parts sees as many events",
               names.events.size() == whole.events.size());
  }
  return 0;
}
