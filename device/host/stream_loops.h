#pragma once

#include "device/host/stream_kernels.h"

namespace sonde::host {

/// The loops of every width, written once. `Isa` has the vector types `Words` (64-bit integers)
/// and `Numbers` (doubles), its name, and `stream(address, value)` and `fence()` where kNt is
/// true. Nothing of the standard library may be inlined here: these files are compiled for
/// instructions that the rest of the program must not use.
template <class Isa>
struct StreamLoops {
  using Words = typename Isa::Words;
  using Numbers = typename Isa::Numbers;
  static constexpr std::int64_t kWidth = static_cast<std::int64_t>(sizeof(Words));
  static constexpr std::int64_t kUnroll = 4;

  template <class Vector>
  static const Vector& at(const std::byte* address) {
    return *reinterpret_cast<const Vector*>(address);
  }

  // Cores that share addresses store the same words to the same places at once: it is what is
  // measured. No rule of the language covers it, so the thread sanitizer leaves these stores out;
  // every word is checked afterwards.
  template <bool nt, class Vector>
  __attribute__((no_sanitize("thread"))) static void put(std::byte* address, const Vector& value) {
    if constexpr (nt) {
      Isa::stream(address, value);
    } else {
      *reinterpret_cast<Vector*>(address) = value;
    }
  }

  /// Calls step(offset) for each access; the barrier keeps the compiler from taking a whole loop
  /// for memcpy or memset and from moving stores together.
  template <class Step>
  static void each(std::int64_t bytes, const Step step) {
    std::int64_t i = 0;
    for (; i + kUnroll * kWidth <= bytes; i += kUnroll * kWidth) {
      step(i);
      step(i + kWidth);
      step(i + 2 * kWidth);
      step(i + 3 * kWidth);
      asm volatile("" ::: "memory");
    }
    for (; i < bytes; i += kWidth) {
      step(i);
      asm volatile("" ::: "memory");
    }
  }

  static std::uint64_t read(const StreamArrays& a) {
    // A sum each for the accesses of one round: additions never wait for each other.
    Words s0{}, s1{}, s2{}, s3{};
    std::int64_t i = 0;
    for (; i + kUnroll * kWidth <= a.bytes; i += kUnroll * kWidth) {
      s0 += at<Words>(a.source + i);
      s1 += at<Words>(a.source + i + kWidth);
      s2 += at<Words>(a.source + i + 2 * kWidth);
      s3 += at<Words>(a.source + i + 3 * kWidth);
    }
    for (; i < a.bytes; i += kWidth) s0 += at<Words>(a.source + i);
    s0 += s1 + s2 + s3;
    std::uint64_t sum = 0;
    for (std::int64_t lane = 0; lane < kWidth / 8; ++lane) sum += s0[lane];
    return sum;
  }

  template <bool nt>
  static void finish() {
    if constexpr (nt) Isa::fence();
  }

  // The loops' addresses are captured by value: through a reference the barrier would have them
  // loaded anew in each round.
  template <bool nt>
  static std::uint64_t write(const StreamArrays& a) {
    each(a.bytes, [target = a.target, value = Numbers{} + a.value](std::int64_t i) {
      put<nt>(target + i, value);
    });
    finish<nt>();
    return 0;
  }

  template <bool nt>
  static std::uint64_t copy(const StreamArrays& a) {
    each(a.bytes, [target = a.target, source = a.source](std::int64_t i) {
      put<nt>(target + i, at<Numbers>(source + i));
    });
    finish<nt>();
    return 0;
  }

  template <bool nt>
  static std::uint64_t triad(const StreamArrays& a) {
    each(a.bytes, [target = a.target, source = a.source, second = a.second](std::int64_t i) {
      const Numbers sum = at<Numbers>(source + i) + kTriadFactor * at<Numbers>(second + i);
      put<nt>(target + i, sum);
    });
    finish<nt>();
    return 0;
  }

  static StreamKernels kernels() {
    StreamKernels k;
    k.request_bytes = kWidth;
    k.instructions = Isa::kName;
    k.read = &read;
    k.write = &write<false>;
    k.copy = &copy<false>;
    k.triad = &triad<false>;
    if constexpr (Isa::kNt) {
      k.nt_write = &write<true>;
      k.nt_copy = &copy<true>;
      k.nt_triad = &triad<true>;
    }
    return k;
  }
};

}  // namespace sonde::host
