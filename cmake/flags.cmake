# Compiler flags live on one INTERFACE target that every target of the suite links.
option(SONDE_WERROR "Warnings are errors" OFF)
option(SONDE_FUZZ "Coverage for libFuzzer, with both sanitizers (clang)" OFF)
set(SONDE_SANITIZE OFF CACHE STRING "OFF, ON (address and undefined behaviour) or thread")
set(SONDE_PRESET "none" CACHE STRING "Name of the preset, recorded in every manifest")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# -O2: measured loops are written out in their own files, the rest gains nothing from -O3.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "")

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

add_library(sonde_flags INTERFACE)
target_include_directories(sonde_flags INTERFACE ${PROJECT_SOURCE_DIR})
# No contraction and no -march=native: a modelled row must be the same bits on every machine, and
# a host kernel names the instructions it uses itself.
target_compile_options(sonde_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Woverloaded-virtual -ffp-contract=off
  # GCC 12 sees overlapping copies in `"literal" + std::string` that are not there (GCC bug 105651).
  -Wno-restrict)
if(SONDE_WERROR)
  target_compile_options(sonde_flags INTERFACE -Werror)
endif()
# An optional without a value, an index behind the end: no sanitizer sees these inside one block.
if(SONDE_FUZZ OR SONDE_SANITIZE)
  target_compile_definitions(sonde_flags INTERFACE _GLIBCXX_ASSERTIONS)
endif()
if(SONDE_FUZZ)
  # A cast of a number that does not fit is not among `undefined`, but a reader's fault all the same.
  set(fuzz_checks fuzzer-no-link,address,undefined,float-cast-overflow)
  target_compile_options(sonde_flags INTERFACE -fsanitize=${fuzz_checks}
    -fno-sanitize-recover=all -fno-omit-frame-pointer -g1 -Wno-unknown-warning-option)
  target_link_options(sonde_flags INTERFACE -fsanitize=address,undefined,float-cast-overflow)
endif()
if(SONDE_SANITIZE STREQUAL "thread")
  target_compile_options(sonde_flags INTERFACE -fsanitize=thread -fno-omit-frame-pointer -O1 -g1)
  target_link_options(sonde_flags INTERFACE -fsanitize=thread)
elseif(SONDE_SANITIZE)
  target_compile_options(sonde_flags INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1)
  target_link_options(sonde_flags INTERFACE -fsanitize=address,undefined)
endif()
