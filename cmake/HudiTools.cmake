# SPDX-License-Identifier: Apache-2.0
# tools/NAME.c -> build/.../tools/NAME: programs that make files of the repository, on hd_format.

file(GLOB tool_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/*.c")
if(HUDI_FUZZ)
    set(tool_sources "")
endif()
foreach(source IN LISTS tool_sources)
    get_filename_component(name "${source}" NAME_WE)
    add_executable(${name} "${source}")
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tools")
    target_link_libraries(${name} PRIVATE hd_format)
endforeach()

# docs/CONFIGURATION.md: `cmake --build DIR --target docs` writes it, a test compares it.
if(TARGET gen_configuration)
    set(page "${PROJECT_SOURCE_DIR}/docs/CONFIGURATION.md")
    add_custom_target(docs COMMAND gen_configuration "${page}")
    if(HUDI_TESTS)
        add_test(NAME docs_configuration COMMAND gen_configuration --check "${page}")
        hudi_register_test(docs_configuration "unit;format")
    endif()
endif()

# bench/micro/NAME_bench.c -> build/.../bench/NAME_bench, when it is asked for.
file(GLOB bench_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/micro/*_bench.c")
foreach(source IN LISTS bench_sources)
    get_filename_component(name "${source}" NAME_WE)
    add_executable(${name} EXCLUDE_FROM_ALL "${source}")
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bench")
    target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include"
        "${PROJECT_SOURCE_DIR}/tests")
    target_link_libraries(${name} PRIVATE hd_api)
endforeach()
