#include "check.h"
#include "net/client/http2_session.h"

namespace {

constexpr int kRequests = 3;
const net::HttpRequest kRequest{
    .method = "POST", .target = "/x", .headers = {{"A", "b"}}, .body = "{}"};

// What the requests came to when a server says `input`, heard in pieces of `cut` bytes.
std::string Hear(std::string_view input, size_t cut) {
  const auto session = *net::Http2Session::Open("h", "");
  std::vector<std::string> ends(kRequests);
  for (int i = 0; i < kRequests; ++i) fuzz::Hold("sent", session->Send(kRequest, {}).has_value());
  const auto collect = [&] {
    for (const net::Http2End& end : session->TakeEnds()) {
      const auto place = static_cast<size_t>(end.stream / 2);
      fuzz::Hold("it is a request's", end.stream % 2 == 1 && place < kRequests);
      fuzz::Hold("each ends once", ends[place].empty());
      std::string& text = ends[place];
      text = std::to_string(static_cast<int>(end.kind)) + " " +
             std::to_string(end.response.status) + " ";
      for (const auto& [name, value] : end.response.headers) text += name + "=" + value + ";";
      text += end.response.body;
    }
  };
  std::string output;
  fuzz::Hold("all is said", session->TakeOutput(output, 1 << 20).has_value());
  const size_t sent = output.size();
  bool is_refused = false;
  for (size_t at = 0; at < input.size() && !is_refused; at += cut) {
    is_refused = !session->Receive(input.substr(at, cut), {});
    collect();
  }
  if (!is_refused) {
    output.clear();
    is_refused = !session->TakeOutput(output, 1 << 20);
    collect();
  }
  session->Break(sent);
  collect();
  fuzz::Hold("nothing is left", session->under_way() == 0);
  std::string all;
  for (const std::string& end : ends) {
    fuzz::Hold("each ends", !end.empty());
    all += end + "\n";
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  fuzz::Same("pieces say what the whole says", Hear(input, data[0] % 64 + 1U),
             Hear(input, input.size() + 1));
  return 0;
}
