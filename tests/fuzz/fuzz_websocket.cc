#include "check.h"
#include "net/websocket/frame.h"

namespace {

using Pieces = std::vector<net::WebSocketPiece>;

struct Outcome {
  std::string text;  // message by message
  bool is_refused = false;
};

Outcome Parse(net::WebSocketParser::Peer peer, std::string_view input, size_t cut) {
  net::WebSocketParser parser(peer);
  Pieces pieces;
  Outcome outcome;
  for (size_t at = 0; at < input.size() && !outcome.is_refused; at += cut) {
    outcome.is_refused = !parser.Feed(input.substr(at, cut), pieces);
  }
  bool is_inside = false;
  for (const net::WebSocketPiece& piece : pieces) {
    outcome.text += piece.is_data() ? "" : "<" + piece.payload + ">";
    if (!piece.is_data()) {
      fuzz::Hold("a control frame is small",
                 piece.payload.size() <= net::kMaxWebSocketControlBytes);
      continue;
    }
    fuzz::Hold("messages do not overlap", piece.begins == !is_inside);
    is_inside = !piece.ends;
    outcome.text += piece.payload;
    if (piece.ends) outcome.text += "|";
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const auto peer = (data[0] & 1) != 0 ? net::WebSocketParser::Peer::kClient
                                       : net::WebSocketParser::Peer::kServer;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Outcome whole = Parse(peer, input, std::max<size_t>(input.size(), 1));
  const Outcome cut = Parse(peer, input, 1 + data[0] / 2 % 7);
  fuzz::Hold("cuts change nothing", whole.is_refused == cut.is_refused);
  fuzz::Same("what is read", whole.text, cut.text);
  const std::string frame =
      net::FormatWebSocketFrame(net::WebSocketOpcode::kBinary, input, std::nullopt);
  fuzz::Same("what is written is read", std::string(input) + "|",
             Parse(net::WebSocketParser::Peer::kServer, frame, 1 + data[0]).text);
  return 0;
}
