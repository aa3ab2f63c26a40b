#include "cluster/kubeconfig/certificate.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
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

using OwnedBio = std::unique_ptr<BIO, int (*)(BIO*)>;
using OwnedX509 = std::unique_ptr<X509, void (*)(X509*)>;

OwnedBio MemoryOf(std::string_view pem) {
  return {::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), ::BIO_free};
}

OwnedX509 FirstCertificate(std::string_view pem) {
  return {::PEM_read_bio_X509(MemoryOf(pem).get(), nullptr, nullptr, nullptr), ::X509_free};
}

// Gives no password, so that the terminal is not asked for that of an encrypted key.
int AnswerNothing(char*, int, int, void*) { return 0; }

}  // namespace

bool AreOneIdentity(const std::string& cert_pem, const std::string& key_pem) {
  const OwnedX509 certificate = FirstCertificate(cert_pem);
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(
      ::PEM_read_bio_PrivateKey(MemoryOf(key_pem).get(), nullptr, &AnswerNothing, nullptr),
      ::EVP_PKEY_free);
  const bool is_one =
      certificate && key && ::X509_check_private_key(certificate.get(), key.get()) == 1;
  ::ERR_clear_error();
  return is_one;
}

base::Result<Certificate> ReadCertificate(std::string_view pem) {
  const OwnedX509 certificate = FirstCertificate(pem);
  if (!certificate) {
    return base::Fail(base::Code::kInvalidArgument, "it contains no certificate (PEM)");
  }
  return Certificate{CommonName(certificate.get()),
                     TimeOf(::X509_get0_notBefore(certificate.get())),
                     TimeOf(::X509_get0_notAfter(certificate.get()))};
}

}  // namespace cluster
