#include "device/host/copy_methods.h"

#include <cstring>

#include "device/host/stream_kernels.h"

namespace sonde::host {
namespace {

#if defined(__x86_64__)
void* rep_movsb(void* to, const void* from, std::size_t bytes) {
  void* const begin = to;
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
  return begin;
}
#endif

/// The widest loop that the processor has; what is left over at the end goes through memcpy.
void* loop(void* to, const void* from, std::size_t bytes, bool nt) {
  static const StreamKernels& kernels = stream_kernels().front();
  const std::size_t rest = bytes % static_cast<std::size_t>(kernels.request_bytes);
  StreamArrays arrays;
  arrays.target = static_cast<std::byte*>(to);
  arrays.source = static_cast<const std::byte*>(from);
  arrays.bytes = static_cast<std::int64_t>(bytes - rest);
  (nt ? kernels.nt_copy : kernels.copy)(arrays);
  if (rest > 0) std::memcpy(arrays.target + arrays.bytes, arrays.source + arrays.bytes, rest);
  return to;
}

void* vector_loop(void* to, const void* from, std::size_t bytes) {
  return loop(to, from, bytes, false);
}
void* nt_loop(void* to, const void* from, std::size_t bytes) { return loop(to, from, bytes, true); }

std::vector<CopyMethod> make_methods() {
  const StreamKernels& kernels = stream_kernels().front();
  std::vector<CopyMethod> methods = {{"auto", &std::memcpy, "", "memcpy", 1}};
#if defined(__x86_64__)
  methods.push_back({"rep_movsb", &rep_movsb, "", "rep movsb", 1});
#endif
  methods.push_back({"vector_loop", &vector_loop, "ordinary", kernels.instructions + " loop",
                     kernels.request_bytes});
  if (kernels.nt_copy != nullptr) {
    methods.push_back({"nt_loop", &nt_loop, "nt", kernels.instructions + " loop past the caches",
                       kernels.request_bytes});
  }
  return methods;
}

}  // namespace

const std::vector<CopyMethod>& copy_methods() {
  static const std::vector<CopyMethod> methods = make_methods();
  return methods;
}

CopyPath copy_offer() {
  CopyPath path{"d2d", {}};
  for (const CopyMethod& method : copy_methods()) path.methods.push_back(method.name);
  return path;
}

}  // namespace sonde::host
