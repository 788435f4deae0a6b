# SPDX-License-Identifier: Apache-2.0
# cmake --install: library, headers, hudi.pc, program. Arrow libraries that come from the wheel go to
# lib/libhudi/, where the installed library looks for them.

if(TARGET libhudi)
    set(rpath "")
    if(HUDI_ARROW_RUNTIME)
        set(rpath "$ORIGIN/libhudi")
        install(FILES ${HUDI_ARROW_RUNTIME} DESTINATION "${CMAKE_INSTALL_LIBDIR}/libhudi")
    else()
        set_target_properties(libhudi PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
    endif()
    set_target_properties(libhudi PROPERTIES INSTALL_RPATH "${rpath}")
    install(TARGETS libhudi libhudi_static LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/hudi" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h")

    # hudi.pc is relocatable: it names the prefix from where it stands itself.
    file(RELATIVE_PATH to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
    set(HUDI_PC_TO_PREFIX "${to_prefix}")
    configure_file("${PROJECT_SOURCE_DIR}/cmake/hudi.pc.in" "${PROJECT_BINARY_DIR}/hudi.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/hudi.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endif()
if(TARGET hudi)
    file(RELATIVE_PATH to_lib "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
    set_target_properties(hudi PROPERTIES INSTALL_RPATH "$ORIGIN/${to_lib}")
    install(TARGETS hudi RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
