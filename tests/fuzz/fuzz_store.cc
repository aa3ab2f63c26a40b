// A store's connection: requests out of any bytes, in any pieces, carried out on a store's data.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "rendezvous/store/data.h"

namespace {

void Hold(std::string_view what, bool holds) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

struct NoClients : rendezvous::StoreData::Clients {
  rendezvous::OutputQueue* OutputOf(rendezvous::StoreClientId) override { return &output; }
  rendezvous::OutputQueue output;
};

// What came of it: each request's name and key, and how much was answered.
std::string Run(std::string_view input, size_t step) {
  rendezvous::StoreLimits limits;
  limits.max_value_bytes = 1 << 16;
  limits.max_keys = 64;
  NoClients clients;
  rendezvous::StoreData data(clients, 1 << 20);
  rendezvous::StoreParser parser(limits);
  rendezvous::StoreRequest request;
  rendezvous::OutputQueue output;
  std::string seen;
  size_t begin = 0;
  size_t end = 0;
  while (true) {
    const auto outcome = parser.Next(input.substr(begin, end - begin), request);
    if (outcome == rendezvous::StoreParser::Outcome::kGarbage) return seen + "garbage";
    if (outcome == rendezvous::StoreParser::Outcome::kNeedMore) {
      Hold("it needs more than there is", parser.needed() > end - begin);
      if (end == input.size()) return seen;
      end = std::min(input.size(), end + step);
      continue;
    }
    Hold("a request has bytes", parser.consumed() > 0);
    Hold("a request was there", parser.consumed() <= end - begin);
    Hold("each key has a value", request.op != rendezvous::StoreOp::kMultiSet ||
                                     request.keys.size() == request.values.size());
    seen += rendezvous::StoreOpName(request.op);
    begin += parser.consumed();
    const auto done = data.Apply(1, parser.dialect(), request, {}, output);
    if (!done) return seen + "refused";
    seen += std::to_string(output.pending() + clients.output.pending());
    Hold("the limit holds", data.bytes() <= 1 << 20);
    // A queue of answers is not what is looked for here.
    if (seen.size() > 10'000) return seen;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string whole = Run(input, size + 1);
  // Bytes 7 and 8 of an old client mean what stands behind them (docs/formats/tcpstore.md), so only
  // new clients are the same in pieces.
  if (size > 5 && input.starts_with(std::string_view("\0\xce\xf7\x85\x3c", 5))) {
    Hold("the same in pieces of 1", whole == Run(input, 1));
    Hold("the same in pieces of 11", whole == Run(input, 11));
  } else {
    (void)Run(input, 1);
  }
  return 0;
}
