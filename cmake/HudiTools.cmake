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
