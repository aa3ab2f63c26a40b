#include "net/curl/handle.h"

#include <utility>

namespace net {
namespace {

// How many idle handles are kept, because each keeps its buffers.
constexpr size_t kMostIdle = 32;

}  // namespace

CurlHandle::CurlHandle(const CurlLibrary& curl, CURL* handle,
                       std::shared_ptr<const Security> security)
    : curl_(curl), handle_(handle), security_(std::move(security)) {
  curl_.easy_setopt(handle_, CURLOPT_ERRORBUFFER, error_buffer_);
}

CurlHandle::~CurlHandle() {
  curl_.easy_cleanup(handle_);
  curl_.slist_free_all(lines_);
  curl_.slist_free_all(route_);
}

bool CurlHandle::IsClean() const {
  long os_errno = 0;
  curl_.easy_getinfo(handle_, CURLINFO_OS_ERRNO, &os_errno);
  return os_errno == 0 && error_buffer_[0] == '\0';
}

CurlFailure CurlHandle::FailureOf(int curl_code) const {
  CurlFailure failure;
  failure.curl_code = curl_code;
  long os_errno = 0;
  curl_off_t connected = 0;
  curl_.easy_getinfo(handle_, CURLINFO_OS_ERRNO, &os_errno);
  curl_.easy_getinfo(handle_, CURLINFO_SSL_VERIFYRESULT, &failure.verify_result);
  curl_.easy_getinfo(handle_, CURLINFO_PRETRANSFER_TIME_T, &connected);
  failure.os_errno = static_cast<int>(os_errno);
  failure.was_connected = connected > 0;
  failure.detail = error_buffer_[0] != '\0' ? error_buffer_
                                            : curl_.easy_strerror(static_cast<CURLcode>(curl_code));
  return failure;
}

void CurlHandle::SetHeaders(const Headers& headers, const std::string& host) {
  // Usually the same as the last request's.
  if (lines_ != nullptr && headers == headers_ && host == host_) return;
  curl_slist* lines = nullptr;
  const auto add = [&](const std::string& line) {
    lines = curl_.slist_append(lines, line.c_str());
  };
  if (!host.empty()) add("Host: " + host);
  for (const auto& [name, value] : headers) add(value.empty() ? name + ";" : name + ": " + value);
  add("Expect:");
  curl_.easy_setopt(handle_, CURLOPT_HTTPHEADER, lines);
  curl_.slist_free_all(std::exchange(lines_, lines));
  headers_ = headers;
  host_ = host;
}

void CurlHandle::SetRoute(const std::string& route) {
  curl_slist* const line = curl_.slist_append(nullptr, route.c_str());
  curl_.easy_setopt(handle_, CURLOPT_CONNECT_TO, line);
  curl_.slist_free_all(std::exchange(route_, line));
}

std::unique_ptr<CurlHandle> CurlHandlePool::Take(const Security* security) {
  auto idle = idle_.Lock();
  while (!idle->empty()) {
    auto handle = std::move(idle->back());
    idle->pop_back();
    if (handle->security() == security) return handle;
  }
  return nullptr;
}

void CurlHandlePool::Give(std::unique_ptr<CurlHandle> handle) {
  if (!handle->IsClean()) return;
  auto idle = idle_.Lock();
  if (idle->size() < kMostIdle) idle->push_back(std::move(handle));
}

}  // namespace net
