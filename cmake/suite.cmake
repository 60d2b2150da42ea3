# The suite's own building blocks. A new backend, probe, figure or test is one folder or file and
# one line that calls one of these.

# suite_add_backend(NAME files...): an OBJECT library, because a file that only registers itself
# vanishes from a STATIC one without a message.
function(suite_add_backend name)
  add_library(backend_${name} OBJECT ${ARGN})
  target_link_libraries(backend_${name} PUBLIC sonde_device)
  set_property(GLOBAL APPEND PROPERTY SONDE_BACKENDS backend_${name})
endfunction()

# Objects of every backend, linked into each program that opens a device.
function(suite_link_backends target)
  get_property(backends GLOBAL PROPERTY SONDE_BACKENDS)
  target_link_libraries(${target} PRIVATE ${backends})
endfunction()

# suite_add_program(NAME files...): an installed executable `sonde-NAME` (or `sonde`).
function(suite_add_program name)
  if(name STREQUAL "sonde")
    set(output sonde)
  else()
    set(output sonde-${name})
  endif()
  add_executable(program_${name} ${ARGN})
  if(NOT TARGET programs)
    add_custom_target(programs)
  endif()
  add_dependencies(programs program_${name})
  set_target_properties(program_${name} PROPERTIES OUTPUT_NAME ${output})
  install(TARGETS program_${name} DESTINATION bin)
  set_property(GLOBAL APPEND PROPERTY SONDE_PROGRAMS program_${name})
endfunction()

# suite_add_probe(NAME file): the file defines make_probe(); main, command line, rows and the
# Google Benchmark driver come from the harness.
function(suite_add_probe name file)
  suite_add_program(${name} ${file})
  target_link_libraries(program_${name} PRIVATE sonde_probe_main)
  suite_link_backends(program_${name})
endfunction()

# suite_add_figure(file...): figures register themselves, hence an OBJECT library.
function(suite_add_figure)
  if(NOT TARGET report_figures)
    add_library(report_figures OBJECT)
    target_link_libraries(report_figures PUBLIC sonde_report)
  endif()
  target_sources(report_figures PRIVATE ${ARGN})
endfunction()

# suite_add_test(KIND NAME file... [LINK targets...]): one GoogleTest executable, one ctest entry
# a test case. KIND is the folder under tests/ and the ctest label.
include(GoogleTest)
function(suite_add_test kind name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  set(target test_${kind}_${name})
  add_executable(${target} ${arg_UNPARSED_ARGUMENTS})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(${target} PRIVATE
    sonde_flags sonde_test_flags GTest::gtest_main sonde_test_support ${arg_LINK})
  # GoogleTest's headers cost more than most tests: they are read once.
  target_precompile_headers(${target} REUSE_FROM sonde_test_support)
  target_compile_definitions(${target} PRIVATE
    SONDE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" SONDE_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  gtest_discover_tests(${target} TEST_PREFIX "${kind}." DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${kind} TIMEOUT 600)
endfunction()

# Long runs, not part of `all`: suite_add_KIND(NAME files... [LINK targets...]); `make KIND` runs all.
#   score    a proof over random cases: prints its table, writes data/score/NAME.csv and exits 1 when
#            a target is missed
#   torture  an attempt to break the suite: prints what it did and exits 1 when something broke
#   bench    a measurement of speed: ratios within one run, never a test
function(suite_add_long kind name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  set(target ${kind}_${name})
  add_executable(${target} EXCLUDE_FROM_ALL ${arg_UNPARSED_ARGUMENTS})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(${target} PRIVATE sonde_flags ${arg_LINK})
  target_compile_definitions(${target} PRIVATE SONDE_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    SONDE_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  set_property(GLOBAL APPEND PROPERTY SONDE_LONG_${kind} ${target})
endfunction()
function(suite_add_score name)
  suite_add_long(score ${name} ${ARGN})
endfunction()
function(suite_add_torture name)
  suite_add_long(torture ${name} ${ARGN})
endfunction()
function(suite_add_bench name)
  suite_add_long(bench ${name} ${ARGN})
  target_link_libraries(bench_${name} PRIVATE benchmark::benchmark)
endfunction()

# Builds and runs all of a kind, one after the other: the target KIND.
function(suite_run_all kind)
  get_property(programs GLOBAL PROPERTY SONDE_LONG_${kind})
  set(commands)
  foreach(program IN LISTS programs)
    list(APPEND commands COMMAND $<TARGET_FILE:${program}>)
  endforeach()
  if(NOT programs)
    return()
  endif()
  add_custom_target(${kind} ${commands} USES_TERMINAL VERBATIM)
  add_dependencies(${kind} programs ${programs})
endfunction()

# Every header must stand alone. One that has a .cpp is the first include there (Layers test); the
# others are compiled here, first and twice in a file of their own.
function(suite_check_headers)
  # Once is enough: where warnings are errors.
  if(NOT SONDE_WERROR)
    return()
  endif()
  file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/core/*.h ${PROJECT_SOURCE_DIR}/device/*.h
    ${PROJECT_SOURCE_DIR}/harness/*.h ${PROJECT_SOURCE_DIR}/report/*.h
    ${PROJECT_SOURCE_DIR}/topology/*.h ${PROJECT_SOURCE_DIR}/membw/*.h
    ${PROJECT_SOURCE_DIR}/probes/*.h ${PROJECT_SOURCE_DIR}/gemm_sweep/*.h ${PROJECT_SOURCE_DIR}/tests/*.h)
  if(NOT SONDE_HAVE_CUDA)  # they include its headers
    list(FILTER headers EXCLUDE REGEX "^device/cuda/")
  endif()
  set(sources)
  foreach(header IN LISTS headers)
    string(REGEX REPLACE "h$" "cpp" own ${PROJECT_SOURCE_DIR}/${header})
    if(EXISTS ${own})
      continue()
    endif()
    string(REPLACE "/" "_" stem ${header})
    set(source ${CMAKE_CURRENT_BINARY_DIR}/headers/${stem}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n#include \"${header}\"\n")
    list(APPEND sources ${source})
  endforeach()
  add_library(header_check OBJECT ${sources})
  target_link_libraries(header_check PRIVATE sonde_flags sonde_harness sonde_report GTest::gtest)
  target_compile_definitions(header_check PRIVATE SONDE_SOURCE_DIR="" SONDE_BIN_DIR="")
  target_include_directories(header_check SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
endfunction()
