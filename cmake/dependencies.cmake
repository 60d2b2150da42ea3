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
target_include_directories(sonde_fccp SYSTEM INTERFACE ${FCCP_INCLUDE})
add_library(sonde_gnuplot_iostream INTERFACE)
target_include_directories(sonde_gnuplot_iostream SYSTEM INTERFACE ${GNUPLOT_IOSTREAM_INCLUDE})
target_link_libraries(sonde_gnuplot_iostream INTERFACE
  Boost::iostreams Boost::system Boost::filesystem)

# oneDNN has a CMake package, but it asks for OpenCL, which nothing here uses.
find_path(DNNL_INCLUDE dnnl.hpp REQUIRED)
find_library(DNNL_LIBRARY dnnl REQUIRED)
add_library(sonde_dnnl INTERFACE)
target_include_directories(sonde_dnnl SYSTEM INTERFACE ${DNNL_INCLUDE})
target_link_libraries(sonde_dnnl INTERFACE ${DNNL_LIBRARY})
