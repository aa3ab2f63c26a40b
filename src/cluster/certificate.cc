#include "cluster/certificate.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <ctime>
#include <memory>

namespace cluster {
namespace {

base::Time TimeOf(const ASN1_TIME* time) {
  std::tm parts{};
  if (::ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return base::Time(std::chrono::seconds(::timegm(&parts)));
}

std::string CommonName(const X509* certificate) {
  const X509_NAME* const subject = ::X509_get_subject_name(certificate);
  const int at = ::X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0) return "";
  const ASN1_STRING* const data = ::X509_NAME_ENTRY_get_data(::X509_NAME_get_entry(subject, at));
  unsigned char* utf8 = nullptr;
  const int size = ::ASN1_STRING_to_UTF8(&utf8, data);
  if (size < 0) return "";
  std::string name(reinterpret_cast<const char*>(utf8), static_cast<size_t>(size));
  ::OPENSSL_free(utf8);
  return name;
}

}  // namespace

base::Result<Certificate> ReadCertificate(std::string_view pem) {
  const std::unique_ptr<BIO, int (*)(BIO*)> bio(
      ::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), ::BIO_free);
  const std::unique_ptr<X509, void (*)(X509*)> certificate(
      ::PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr), ::X509_free);
  if (!certificate) {
    return base::Fail(base::Code::kInvalidArgument, "it holds no certificate (PEM)");
  }
  return Certificate{CommonName(certificate.get()),
                     TimeOf(::X509_get0_notBefore(certificate.get())),
                     TimeOf(::X509_get0_notAfter(certificate.get()))};
}

}  // namespace cluster
