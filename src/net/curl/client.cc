#include "net/curl/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/guarded.h"
#include "base/strings.h"
#include "net/client/client.h"
#include "net/curl/error_words.h"
#include "net/curl/loop.h"
#include "net/curl/proxy.h"
#include "net/curl/socket.h"

namespace net {
namespace {

using base::Code;
using base::Fail;
using std::chrono::milliseconds;

// libcurl allocates a receive buffer per request; answers that may be long get a large one.
constexpr long kLongAnswerBuffer = 256 << 10;
constexpr long kShortAnswerBuffer = 16 << 10;
// How much of a file is read at once.
constexpr long kUploadBuffer = 512 << 10;
// The buffer to send a body from. libcurl's default is 64 KiB, its minimum 16.
constexpr size_t kShortBody = 16 << 10;
constexpr long kShortBodyBuffer = 16 << 10;
// How many requests SendAll sends at the same time.
constexpr size_t kMaxUnderWay = 64;

size_t OnHeader(char* data, size_t, size_t size, void* transfer) {
  return static_cast<CurlTransfer*>(transfer)->TakeHeader({data, size});
}

size_t OnBody(char* data, size_t, size_t size, void* transfer) {
  return static_cast<CurlTransfer*>(transfer)->TakeBody({data, size});
}

size_t OnRead(char* to, size_t, size_t room, void* transfer) {
  return static_cast<CurlTransfer*>(transfer)->GiveBody(to, room);
}

int OnSeek(void* transfer, curl_off_t offset, int origin) {
  const bool has_sought =
      origin == SEEK_SET && offset >= 0 &&
      static_cast<CurlTransfer*>(transfer)->SeekBody(static_cast<uint64_t>(offset));
  return has_sought ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

// Borrowed by libcurl: `pem` outlives the handle.
curl_blob BlobOf(const std::string& pem) {
  return {const_cast<char*>(pem.data()), pem.size(), CURL_BLOB_NOCOPY};
}

bool IsSafe(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 0x7f; });
}

base::Status CheckRequest(const HttpRequest& request) {
  bool is_safe = !request.method.empty() && request.target.starts_with('/') &&
                 IsSafe(request.method) && IsSafe(request.target) &&
                 request.target.find(' ') == std::string::npos;
  // A line end in a value would start another header.
  for (const auto& [name, value] : request.headers) is_safe &= IsSafe(name) && IsSafe(value);
  if (is_safe) return {};
  return Fail(Code::kInvalidArgument,
              fmt::format("malformed request: {} {}", request.method, ShownTarget(request.target)));
}

std::string UrlOf(const Url& server, const HttpRequest& request) {
  return fmt::format("{}://{}{}{}", server.scheme, server.Authority(), server.path, request.target);
}

// The answer to a request of Open. Removes its transfer from the loop when destroyed.
class CurlBodyStream final : public BodyStream {
 public:
  CurlBodyStream(CurlLoop& loop, std::shared_ptr<CurlTransfer> transfer)
      : loop_(loop), transfer_(std::move(transfer)) {}
  ~CurlBodyStream() override { loop_.Remove(transfer_); }
  CurlBodyStream(const CurlBodyStream&) = delete;
  CurlBodyStream& operator=(const CurlBodyStream&) = delete;

  int status() const override { return transfer_->status(); }
  const Headers& headers() const override { return transfer_->headers(); }
  base::Result<std::optional<std::string>> Read() override {
    bool must_resume = false;
    auto bytes = transfer_->Read(must_resume);
    if (must_resume) loop_.Resume(transfer_);
    return bytes;
  }
  void Cancel() override {
    transfer_->Cancel();
    loop_.Remove(transfer_);
  }

 private:
  CurlLoop& loop_;
  const std::shared_ptr<CurlTransfer> transfer_;
};

class Client final : public CurlClient {
 public:
  Client(const CurlLibrary& curl, CurlClientOptions options)
      : curl_(curl),
        options_(std::move(options)),
        proxy_(ProxyForCurl(options_.proxy)),
        explain_([url = options_.url, proxy = proxy_,
                  is_of_kubeconfig = options_.is_of_kubeconfig](CurlFailure failure) {
          failure.is_of_kubeconfig = is_of_kubeconfig;
          return ErrorFromCurl(failure, url, proxy);
        }),
        security_(std::make_shared<const Security>(Security{{}, options_.ca_pem})) {}

  base::Status Start() {
    TRY_ASSIGN(loop_, CurlLoop::Start(curl_, explain_, options_.is_write_heavy));
    return {};
  }

  void UseIdentity(ClientIdentity identity) override {
    Use([&](Security& security) { security.identity = std::move(identity); });
  }
  void UseAuthorities(std::string ca_pem) override {
    Use([&](Security& security) { security.ca_pem = std::move(ca_pem); });
  }

  base::Result<HttpResponse> Send(const HttpRequest& request) override {
    TRY_ASSIGN(const auto transfer, Begin(request, options_.max_response_bytes));
    return Complete(request, transfer);
  }

  base::Result<HttpResponse> SendFile(const HttpRequest& request, const FileRange& range) override {
    TRY_ASSIGN(const auto transfer,
               Prepare(request, options_.max_response_bytes, CURL_HTTP_VERSION_2TLS, &range));
    loop_->Add(transfer);
    bool is_cut = false;
    return AwaitWhole(transfer, is_cut);
  }

  std::vector<base::Result<HttpResponse>> SendAll(std::span<const HttpRequest> requests) override {
    std::vector<base::Result<HttpResponse>> answers;
    answers.reserve(requests.size());
    // The first request goes alone: the others then share its connection. With CURLOPT_PIPEWAIT
    // libcurl would see to that, but one that waits so has no time limit, and does not begin before
    // an earlier one has ended, which a watch does not. If it fails, the others do not wait for
    // each other until each has timed out.
    bool goes_alone = !is_connected_.exchange(true);
    while (!requests.empty()) {
      const bool is_first = std::exchange(goes_alone, false);
      const auto some = requests.first(is_first ? 1 : std::min(requests.size(), kMaxUnderWay));
      SendTogether(some, answers);
      requests = requests.subspan(some.size());
    }
    return answers;
  }

  base::Result<std::unique_ptr<BodyStream>> Open(const HttpRequest& request) override {
    const auto deadline = std::chrono::steady_clock::now() + options_.connect_timeout +
                          milliseconds(options_.idle_timeout);
    TRY_ASSIGN(auto transfer, Begin(request, std::nullopt));
    auto stream = std::make_unique<CurlBodyStream>(*loop_, transfer);
    TRY(transfer->AwaitHead(deadline));
    return std::unique_ptr<BodyStream>(std::move(stream));
  }

  base::Result<UpgradeAnswer> Upgrade(const HttpRequest& request) override;

 private:
  template <typename Change>
  void Use(Change change) {
    auto security = security_.Lock();
    Security changed = **security;
    change(changed);
    if (changed != **security) *security = std::make_shared<const Security>(std::move(changed));
  }
  std::stop_token StopToken() const { return options_.stop ? options_.stop() : std::stop_token(); }
  // Like Transfer's, but ends when the request is broken off.
  base::Result<HttpResponse> AwaitWhole(const std::shared_ptr<CurlTransfer>& transfer,
                                        bool& is_cut) {
    const std::stop_callback on_stop(StopToken(), [&] { loop_->Remove(transfer); });
    auto whole = transfer->AwaitWhole(is_cut);
    if (!whole && whole.error().code == Code::kUnavailable) is_connected_ = false;
    return whole;
  }
  // Sends all at once, and appends their answers.
  void SendTogether(std::span<const HttpRequest> requests,
                    std::vector<base::Result<HttpResponse>>& answers);
  base::Result<std::unique_ptr<CurlHandle>> NewHandle(std::shared_ptr<const Security> security);
  base::Result<std::shared_ptr<CurlTransfer>> Prepare(const HttpRequest& request,
                                                      std::optional<size_t> body_limit,
                                                      long version = CURL_HTTP_VERSION_2TLS,
                                                      const FileRange* file = nullptr);
  base::Result<std::shared_ptr<CurlTransfer>> Begin(const HttpRequest& request,
                                                    std::optional<size_t> body_limit,
                                                    long version = CURL_HTTP_VERSION_2TLS) {
    TRY_ASSIGN(auto transfer, Prepare(request, body_limit, version));
    loop_->Add(transfer);
    return transfer;
  }
  base::Result<HttpResponse> Complete(const HttpRequest& request,
                                      const std::shared_ptr<CurlTransfer>& transfer);
  // Whether the request differs from others of its kind only in what SetSmallWrite sets.
  bool IsSmallWrite(const HttpRequest& request) const;
  void SetSmallWrite(CurlTransfer& transfer) const;
  void SetTarget(CurlHandle& handle, const HttpRequest& request) const;
  void SetRequest(CurlTransfer& transfer) const;
  void SetConnection(CURL* handle, const Security& security) const;
  void SetDeadlines(const CurlTransfer& transfer, bool is_stream) const;
  // A connection to the server to speak HTTP/1.1 on.
  ConnectedSocket Connect(const HttpRequest& request, milliseconds timeout);

  template <typename T>
  void Set(CURL* handle, CURLoption option, T value) const {
    curl_.easy_setopt(handle, option, value);
  }

  const CurlLibrary& curl_;
  const CurlClientOptions options_;
  const std::string proxy_;
  const ExplainFailure explain_;
  base::Guarded<std::shared_ptr<const Security>> security_;
  const std::shared_ptr<CurlHandlePool> pool_ = std::make_shared<CurlHandlePool>();
  std::atomic<bool> is_connected_{false};  // as far as SendAll is concerned
  // Last: its thread uses the above.
  std::unique_ptr<CurlLoop> loop_;
};

bool Client::IsSmallWrite(const HttpRequest& request) const {
  return options_.tls_server_name.empty() && request.method != "GET" && request.method != "HEAD" &&
         request.lifetime.count() == 0 && !request.body.empty() &&
         request.body.size() <= kShortBody;
}

void Client::SetSmallWrite(CurlTransfer& transfer) const {
  CURL* const handle = transfer.handle();
  const HttpRequest& request = transfer.request();
  transfer.curl_handle().SetHeaders(request.headers, "");
  Set(handle, CURLOPT_URL, UrlOf(options_.url, request).c_str());  // copied
  Set(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  Set(handle, CURLOPT_POSTFIELDS, request.body.c_str());
  Set(handle, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

void Client::SetTarget(CurlHandle& handle, const HttpRequest& request) const {
  const bool is_renamed = !options_.tls_server_name.empty();
  Url url = options_.url;
  if (is_renamed) {
    // libcurl verifies the certificate by the URL's host. So the URL gets the certificate's name,
    // and the connection goes to the server.
    handle.SetRoute("::" + url.Authority());
    url.host = options_.tls_server_name;
  }
  handle.SetHeaders(request.headers, is_renamed ? options_.url.Authority() : "");
  Set(handle.get(), CURLOPT_URL, UrlOf(url, request).c_str());  // copied
  Set(handle.get(), CURLOPT_PATH_AS_IS, 1L);
}

void Client::SetRequest(CurlTransfer& transfer) const {
  CURL* const handle = transfer.handle();
  const HttpRequest& request = transfer.request();
  SetTarget(transfer.curl_handle(), request);
  Set(handle, CURLOPT_BUFFERSIZE, request.method == "GET" ? kLongAnswerBuffer : kShortAnswerBuffer);
  if (request.method == "HEAD") {
    Set(handle, CURLOPT_NOBODY, 1L);
  } else if (transfer.file()) {
    Set(handle, CURLOPT_UPLOAD, 1L);
    Set(handle, CURLOPT_UPLOAD_BUFFERSIZE, kUploadBuffer);
    Set(handle, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(transfer.file()->size));
    Set(handle, CURLOPT_READFUNCTION, &OnRead);
    Set(handle, CURLOPT_READDATA, static_cast<void*>(&transfer));
    Set(handle, CURLOPT_SEEKFUNCTION, &OnSeek);
    Set(handle, CURLOPT_SEEKDATA, static_cast<void*>(&transfer));
  } else if (!request.body.empty() || request.method == "POST" || request.method == "PUT") {
    Set(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    Set(handle, CURLOPT_POSTFIELDS, request.body.c_str());
    if (request.body.size() <= kShortBody) {
      Set(handle, CURLOPT_UPLOAD_BUFFERSIZE, kShortBodyBuffer);
    }
  }
  if (request.method != "GET" && request.method != "HEAD") {
    Set(handle, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
}

void Client::SetConnection(CURL* handle, const Security& security) const {
  Set(handle, CURLOPT_NOSIGNAL, 1L);
  Set(handle, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  Set(handle, CURLOPT_TCP_NODELAY, 1L);
  // The caller has chosen the proxy.
  Set(handle, CURLOPT_PROXY, proxy_.c_str());
  Set(handle, CURLOPT_NOPROXY, "");
  Set(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  // A ~/.netrc holds no credentials for clusters.
  Set(handle, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  if (options_.is_insecure) {
    Set(handle, CURLOPT_SSL_VERIFYPEER, 0L);
    Set(handle, CURLOPT_SSL_VERIFYHOST, 0L);
  } else if (!security.ca_pem.empty()) {
    const curl_blob ca = BlobOf(security.ca_pem);
    Set(handle, CURLOPT_CAINFO_BLOB, &ca);
    Set(handle, CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  }
  if (!security.identity.cert_pem.empty()) {
    const curl_blob cert = BlobOf(security.identity.cert_pem);
    const curl_blob key = BlobOf(security.identity.key_pem);
    Set(handle, CURLOPT_SSLCERT_BLOB, &cert);
    Set(handle, CURLOPT_SSLKEY_BLOB, &key);
    Set(handle, CURLOPT_SSLCERTTYPE, "PEM");
    Set(handle, CURLOPT_SSLKEYTYPE, "PEM");
    // A key that is encrypted is an error, not a question on the terminal.
    Set(handle, CURLOPT_KEYPASSWD, "");
  }
}

void Client::SetDeadlines(const CurlTransfer& transfer, bool is_stream) const {
  CURL* const handle = transfer.handle();
  Set(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_timeout.count()));
  if (!is_stream) {
    Set(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
    Set(handle, CURLOPT_LOW_SPEED_TIME, static_cast<long>(options_.idle_timeout.count()));
    if (options_.is_compressed) Set(handle, CURLOPT_ACCEPT_ENCODING, "gzip");
  }
  if (transfer.request().lifetime.count() > 0) {
    Set(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(transfer.request().lifetime.count()));
  }
}

// A server that refuses a request before it has read the body (a kube-apiserver's 401 and 403)
// resets the HTTP/2 stream after its answer, and libcurl 7.88 then loses the answer's body. The
// request was not carried out, so it is sent once more by HTTP/1.1, where the reason arrives.
base::Result<HttpResponse> Client::Complete(const HttpRequest& request,
                                            const std::shared_ptr<CurlTransfer>& transfer) {
  bool is_cut = false;
  auto response = AwaitWhole(transfer, is_cut);
  if (!is_cut || response->status >= 500) return response;
  TRY_ASSIGN(const auto again, Begin(request, options_.max_response_bytes, CURL_HTTP_VERSION_1_1));
  auto whole = AwaitWhole(again, is_cut);
  return whole ? std::move(whole) : std::move(response);
}

base::Result<std::unique_ptr<CurlHandle>> Client::NewHandle(
    std::shared_ptr<const Security> security) {
  CURL* const made = curl_.easy_init();
  if (made == nullptr) return Fail(Code::kExhausted, "libcurl has no memory left");
  return std::make_unique<CurlHandle>(curl_, made, std::move(security));
}

base::Result<std::shared_ptr<CurlTransfer>> Client::Prepare(const HttpRequest& request,
                                                            std::optional<size_t> body_limit,
                                                            long version, const FileRange* file) {
  TRY(CheckRequest(request));
  std::shared_ptr<const Security> security = *security_.Lock();
  const bool is_of_pool =
      body_limit && file == nullptr && version == CURL_HTTP_VERSION_2TLS && IsSmallWrite(request);
  std::unique_ptr<CurlHandle> pooled = is_of_pool ? pool_->Take(security.get()) : nullptr;
  const bool is_set = pooled != nullptr;
  if (!is_set) {
    TRY_ASSIGN(pooled, NewHandle(security));
  }
  auto transfer = std::make_shared<CurlTransfer>(std::move(pooled), request, body_limit);
  CURL* const handle = transfer->handle();
  if (is_of_pool) transfer->ReturnHandleTo(pool_);
  if (is_set) {
    SetSmallWrite(*transfer);
  } else {
    if (file != nullptr) transfer->SendFrom(*file);
    SetConnection(handle, *security);
    loop_->SetConnection(handle);
    Set(handle, CURLOPT_HTTP_VERSION, version);
    SetRequest(*transfer);
    SetDeadlines(*transfer, !body_limit);
    Set(handle, CURLOPT_HEADERFUNCTION, &OnHeader);
    Set(handle, CURLOPT_WRITEFUNCTION, &OnBody);
  }
  Set(handle, CURLOPT_HEADERDATA, static_cast<void*>(transfer.get()));
  Set(handle, CURLOPT_WRITEDATA, static_cast<void*>(transfer.get()));
  return transfer;
}

ConnectedSocket Client::Connect(const HttpRequest& request, milliseconds timeout) {
  const std::shared_ptr<const Security> security = *security_.Lock();
  TRY_ASSIGN(auto handle, NewHandle(security));
  SetConnection(handle->get(), *security);
  SetTarget(*handle, request);
  Set(handle->get(), CURLOPT_CONNECTTIMEOUT_MS,
      static_cast<long>(std::min(timeout, options_.connect_timeout).count()));
  return ConnectByCurl(curl_, std::move(handle), explain_);
}

base::Result<UpgradeAnswer> Client::Upgrade(const HttpRequest& request) {
  TRY(CheckRequest(request));
  HttpRequest sent = request;
  sent.target = options_.url.path + request.target;
  sent.headers.emplace_back("Host", options_.url.Authority());
  const auto connect = [&](milliseconds timeout) { return Connect(request, timeout); };
  return HttpClient::Over(connect, options_.idle_timeout)->Upgrade(sent);
}

void Client::SendTogether(std::span<const HttpRequest> requests,
                          std::vector<base::Result<HttpResponse>>& answers) {
  std::vector<base::Result<std::shared_ptr<CurlTransfer>>> prepared;
  std::vector<std::shared_ptr<CurlTransfer>> transfers;
  prepared.reserve(requests.size());
  for (const HttpRequest& request : requests) {
    prepared.push_back(Prepare(request, options_.max_response_bytes));
    if (prepared.back()) transfers.push_back(*prepared.back());
  }
  const auto ends = std::make_shared<std::latch>(std::ssize(transfers));
  for (const auto& transfer : transfers) transfer->CountEndIn(ends);
  loop_->AddAll(transfers);
  {
    const std::stop_callback on_stop(StopToken(), [&] {
      for (const auto& transfer : transfers) loop_->Remove(transfer);
    });
    ends->wait();
  }
  for (size_t i = 0; i < requests.size(); ++i) {
    if (prepared[i]) {
      answers.push_back(Complete(requests[i], *prepared[i]));
    } else {
      answers.push_back(Fail(std::move(prepared[i].error())));
    }
  }
}

}  // namespace

base::Result<std::unique_ptr<CurlClient>> CurlClient::Create(CurlClientOptions options) {
  TRY_ASSIGN(const CurlLibrary* curl, CurlLibrary::Load());
  auto client = std::make_unique<Client>(*curl, std::move(options));
  TRY(client->Start());
  return std::unique_ptr<CurlClient>(std::move(client));
}

}  // namespace net
