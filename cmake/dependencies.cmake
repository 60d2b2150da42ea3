# Every library the suite uses, found once. Debian package names: cmake/packages.txt.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
find_package(benchmark REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)
find_package(Boost REQUIRED COMPONENTS iostreams system filesystem)
find_package(GTest REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)

# Header-only libraries without a CMake package. SYSTEM: their warnings are not ours.
find_path(FCCP_INCLUDE libfccp/csv.h REQUIRED)
find_path(GNUPLOT_IOSTREAM_INCLUDE gnuplot-iostream.h REQUIRED)
add_library(sonde_fccp INTERFACE)
if(SONDE_FUZZ)
  # Its buffer of 48 MiB a file makes a sanitizer slow: fuzzed with one of 192 KiB, which makes a
  # line of 64 KiB the longest instead of 16 MiB.
  file(READ ${FCCP_INCLUDE}/libfccp/csv.h fccp_header)
  string(REPLACE "block_len = 1<<24" "block_len = 1<<16" fccp_header "${fccp_header}")
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/include/libfccp/csv.h CONTENT "${fccp_header}" @ONLY)
  target_include_directories(sonde_fccp SYSTEM INTERFACE ${CMAKE_BINARY_DIR}/include)
else()
  target_include_directories(sonde_fccp SYSTEM INTERFACE ${FCCP_INCLUDE})
endif()
add_library(sonde_gnuplot_iostream INTERFACE)
target_include_directories(sonde_gnuplot_iostream SYSTEM INTERFACE ${GNUPLOT_IOSTREAM_INCLUDE})
target_link_libraries(sonde_gnuplot_iostream INTERFACE
  Boost::iostreams Boost::system Boost::filesystem)

# Checks of rows by the instructions there are for them: 8 times as fast as zlib's on a row.
find_path(DEFLATE_INCLUDE libdeflate.h REQUIRED)
find_library(DEFLATE_LIBRARY deflate REQUIRED)
add_library(sonde_deflate INTERFACE)
target_include_directories(sonde_deflate SYSTEM INTERFACE ${DEFLATE_INCLUDE})
target_link_libraries(sonde_deflate INTERFACE ${DEFLATE_LIBRARY})

# oneDNN has a CMake package, but it asks for OpenCL, which nothing here uses.
find_path(DNNL_INCLUDE dnnl.hpp REQUIRED)
find_library(DNNL_LIBRARY dnnl REQUIRED)
add_library(sonde_dnnl INTERFACE)
target_include_directories(sonde_dnnl SYSTEM INTERFACE ${DNNL_INCLUDE})
target_link_libraries(sonde_dnnl INTERFACE ${DNNL_LIBRARY})

# CUDA is optional: the backend is built wherever nvcc is, also without a card. All that the programs
# need of it at start is linked statically; cuBLASLt and NVML are looked for when they run.
set(SONDE_BACKENDS host sim cuda CACHE STRING "Backends to build; cuda only where nvcc is found")
set(SONDE_HAVE_CUDA OFF)
if(cuda IN_LIST SONDE_BACKENDS)
  find_program(SONDE_NVCC nvcc HINTS $ENV{CUDA_PATH}/bin /usr/local/cuda/bin)
  if(NOT SONDE_NVCC)
    message(STATUS "CUDA backend: left out, there is no nvcc")
  else()
    set(CMAKE_CUDA_COMPILER ${SONDE_NVCC})
    # Code for the H100 and H200, and PTX that a later card's driver compiles.
    if(NOT CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 90)
    endif()
    set(CMAKE_CUDA_STANDARD 17)  # CMake 3.25 does not know nvcc's flag for 20
    set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
    set(CMAKE_CUDA_FLAGS_RELEASE "-O2 -DNDEBUG")
    set(CMAKE_CUDA_FLAGS_DEBUG "-O2")
    if(CCACHE)
      set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
    endif()
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    if(EXISTS ${CUDAToolkit_INCLUDE_DIRS}/cublasLt.h)
      set(SONDE_HAVE_CUDA ON)
      message(STATUS "CUDA backend: built with nvcc ${CMAKE_CUDA_COMPILER_VERSION}")
    else()
      message(STATUS "CUDA backend: left out, there is no cublasLt.h")
    endif()
  endif()
endif()
