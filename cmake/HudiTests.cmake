# SPDX-License-Identifier: Apache-2.0
# tests/unit/LAYER/**/NAME_test.c -> LAYER_NAME_test, linked with its layer and those below it.
# tests/{conformance,fault,golden,model}/**/NAME_test.c -> KIND_NAME_test, linked with everything.
# fuzz/NAME_fuzz.c -> NAME_fuzz: libFuzzer with HUDI_FUZZ, else a driver that runs its corpus.
#
# Labels: the kind, the layer, and those that a line `Labels: threads` in the source's comments adds.

# Arrow's own pools hide from the sanitizers what is used beyond its end, and look like races.
set(HUDI_TEST_ENVIRONMENT
    "ARROW_DEFAULT_MEMORY_POOL=system"
    "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1"
    "UBSAN_OPTIONS=print_stacktrace=1"
    "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/lsan.supp"
    "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/tsan.supp:second_deadlock_stack=1:atexit_sleep_ms=50:die_after_fork=0")

function(hudi_register_test name labels)
    set_tests_properties(${name} PROPERTIES LABELS "${labels}"
        ENVIRONMENT "${HUDI_TEST_ENVIRONMENT}")
endfunction()

function(hudi_add_test kind layer source)
    get_filename_component(base "${source}" NAME_WE)
    set(name "${layer}_${base}")
    if(TARGET ${name}) # the same name in two folders of a layer: the second gets its whole path
        file(RELATIVE_PATH path "${PROJECT_SOURCE_DIR}/tests/${kind}" "${source}")
        string(REGEX REPLACE "\\.c$" "" path "${path}")
        string(REPLACE "/" "_" name "${path}")
    endif()
    set(libraries ${ARGN})
    add_executable(${name} "${source}")
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
    target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include"
        "${PROJECT_SOURCE_DIR}/tests")
    target_compile_definitions(${name} PRIVATE HD_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    target_link_libraries(${name} PRIVATE hd_test_support ${libraries} PkgConfig::CMOCKA)
    add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set(labels "${kind};${layer}")
    file(STRINGS "${source}" label_lines REGEX "Labels: [a-z ]+")
    foreach(line IN LISTS label_lines)
        string(REGEX REPLACE ".*Labels: ([a-z ]+).*" "\\1" words "${line}")
        string(REGEX MATCHALL "[a-z]+" words "${words}")
        list(APPEND labels ${words})
    endforeach()
    hudi_register_test(${name} "${labels}")
endfunction()

if(HUDI_TESTS)
    pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
    file(GLOB support CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/support/*.c")
    if(support)
        add_library(hd_test_support STATIC ${support})
        target_include_directories(hd_test_support PRIVATE "${PROJECT_SOURCE_DIR}/src"
            "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/tests")
        target_compile_definitions(hd_test_support PRIVATE HD_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
        target_link_libraries(hd_test_support PRIVATE hd_dependencies PkgConfig::CMOCKA)
    else()
        add_library(hd_test_support INTERFACE)
    endif()

    foreach(layer IN LISTS HUDI_LAYERS)
        file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/unit/${layer}/*_test.c")
        foreach(source IN LISTS sources)
            hudi_add_test(unit ${layer} "${source}" hd_${layer})
        endforeach()
    endforeach()
    foreach(kind conformance fault golden model)
        file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${kind}/*_test.c")
        foreach(source IN LISTS sources)
            hudi_add_test(${kind} ${kind} "${source}" hd_api)
        endforeach()
    endforeach()
endif()

if(HUDI_FUZZ)
    if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
        message(FATAL_ERROR "HUDI_FUZZ needs clang (preset fuzz)")
    endif()
    foreach(layer IN LISTS HUDI_LAYERS)
        get_target_property(type hd_${layer} TYPE)
        if(NOT type STREQUAL "INTERFACE_LIBRARY")
            target_compile_options(hd_${layer} PRIVATE -fsanitize=fuzzer-no-link)
        endif()
    endforeach()
endif()

# The inputs that fuzzing has found (tools/fuzz-corpus), as arguments of the driver; nothing without them.
function(hudi_unpack_found corpus out)
    set(archive "${PROJECT_SOURCE_DIR}/fuzz/corpus/${corpus}.tar.xz")
    set(folder "${PROJECT_BINARY_DIR}/fuzz/found/${corpus}")
    set(${out} "" PARENT_SCOPE)
    if(NOT EXISTS "${archive}")
        return()
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${archive}")
    if("${archive}" IS_NEWER_THAN "${folder}.unpacked")
        file(REMOVE_RECURSE "${folder}")
        file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${folder}")
        file(TOUCH "${folder}.unpacked")
    endif()
    set(${out} --whole "${folder}" PARENT_SCOPE)
endfunction()

file(GLOB fuzz_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/fuzz/*_fuzz.c")
foreach(source IN LISTS fuzz_sources)
    get_filename_component(name "${source}" NAME_WE)
    string(REGEX REPLACE "_fuzz$" "" corpus "${name}")
    add_executable(${name} "${source}")
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
    target_compile_options(${name} PRIVATE -Wno-missing-prototypes)
    target_link_libraries(${name} PRIVATE hd_api)
    if(HUDI_FUZZ)
        target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
        target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    else()
        target_sources(${name} PRIVATE "${PROJECT_SOURCE_DIR}/fuzz/standalone_main.c")
        hudi_unpack_found("${corpus}" found)
        add_test(NAME ${name} COMMAND ${name} "${PROJECT_SOURCE_DIR}/fuzz/corpus/${corpus}" ${found})
        hudi_register_test(${name} "fuzz")
    endif()
endforeach()
