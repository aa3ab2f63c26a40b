#include "net/curl/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <memory>
#include <string_view>

namespace net {
namespace {

using base::Code;
using base::Fail;

constexpr const char* kFile = "libcurl.so.4";
constexpr unsigned kOldest = 0x074d00;  // 7.77: certificates from memory (CURLOPT_CAINFO_BLOB)

template <typename F>
bool Find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(::dlsym(library, name));
  return function != nullptr;
}

bool FindAll(void* library, CurlLibrary& curl) {
  return Find(library, "curl_easy_init", curl.easy_init) &&
         Find(library, "curl_easy_cleanup", curl.easy_cleanup) &&
         Find(library, "curl_easy_perform", curl.easy_perform) &&
         Find(library, "curl_easy_send", curl.easy_send) &&
         Find(library, "curl_easy_recv", curl.easy_recv) &&
         Find(library, "curl_easy_setopt", curl.easy_setopt) &&
         Find(library, "curl_easy_getinfo", curl.easy_getinfo) &&
         Find(library, "curl_easy_pause", curl.easy_pause) &&
         Find(library, "curl_easy_strerror", curl.easy_strerror) &&
         Find(library, "curl_slist_append", curl.slist_append) &&
         Find(library, "curl_slist_free_all", curl.slist_free_all) &&
         Find(library, "curl_multi_init", curl.multi_init) &&
         Find(library, "curl_multi_cleanup", curl.multi_cleanup) &&
         Find(library, "curl_multi_setopt", curl.multi_setopt) &&
         Find(library, "curl_multi_add_handle", curl.multi_add_handle) &&
         Find(library, "curl_multi_remove_handle", curl.multi_remove_handle) &&
         Find(library, "curl_multi_perform", curl.multi_perform) &&
         Find(library, "curl_multi_poll", curl.multi_poll) &&
         Find(library, "curl_multi_wakeup", curl.multi_wakeup) &&
         Find(library, "curl_multi_info_read", curl.multi_info_read);
}

base::Status CheckVersion(const curl_version_info_data& version) {
  const std::string_view tls = version.ssl_version != nullptr ? version.ssl_version : "none";
  if (version.version_num < kOldest) {
    return Fail(Code::kUnavailable,
                fmt::format("libcurl {} is too old to talk to a server over TLS: muster needs 7.77",
                            version.version));
  }
  // Other TLS libraries take certificates from files only.
  if (!tls.starts_with("OpenSSL") && !tls.starts_with("BoringSSL") &&
      !tls.starts_with("LibreSSL") && !tls.starts_with("quictls") && !tls.starts_with("AWS-LC")) {
    return Fail(Code::kUnavailable,
                fmt::format("libcurl {} uses {}: muster needs one that uses OpenSSL (package "
                            "libcurl4)",
                            version.version, tls));
  }
  return {};
}

}  // namespace

base::Result<const CurlLibrary*> CurlLibrary::LoadFrom(const std::string& file) {
  void* const library = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = ::dlerror();
    return Fail(
        Code::kUnavailable,
        fmt::format("talking to a server over TLS needs libcurl, which could not be loaded ({}): "
                    "install the package libcurl4",
                    why != nullptr ? why : file));
  }
  auto curl = std::make_unique<CurlLibrary>();
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_version_info) version_info = nullptr;
  if (!FindAll(library, *curl) || !Find(library, "curl_global_init", global_init) ||
      !Find(library, "curl_version_info", version_info)) {
    return Fail(Code::kUnavailable, fmt::format("{} cannot be used: it needs 7.77 or newer", file));
  }
  TRY(CheckVersion(*version_info(CURLVERSION_NOW)));
  if (global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    return Fail(Code::kUnavailable, "libcurl could not be started");
  }
  // Never unloaded: its TLS library registers exit functions.
  return curl.release();
}

base::Result<const CurlLibrary*> CurlLibrary::Load() {
  static const base::Result<const CurlLibrary*> loaded = LoadFrom(kFile);
  return loaded;
}

}  // namespace net
