#pragma once

namespace sonde::test {

/// Under a sanitizer everything costs many times as much. What a test decides from many random
/// cases is decided by the release presets; the sanitizer sees the same code with fewer of them.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace sonde::test
