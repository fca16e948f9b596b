# Packages for Debian: cpack -G DEB in the build folder. Components are packages: command, development, and one for each
# MPI. Libraries of both MPIs live side by side, in folders of their own.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR "The Quadrille authors")
set(CPACK_PACKAGE_CONTACT "${CPACK_PACKAGE_VENDOR}" CACHE STRING "Who maintains the packages: Name <address>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL command ${QUADRILLE_MPIS})
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
    WORLD_READ WORLD_EXECUTE)

# quadrille_package(COMPONENT NAME SECTION SUMMARY TEXT)
macro(quadrille_package component name section summary text)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}\n${text}")
  # Debian wants the license in a folder of each package; an installation without packages has it once.
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${name} RENAME copyright
          COMPONENT ${component} EXCLUDE_FROM_ALL)
endmacro()

set(about "Quadrille's collectives are schedules: data that is run, proved and drawn.")
quadrille_package(command quadrille utils "${PROJECT_DESCRIPTION}: the command"
                  "${about} The command lists the algorithms, proves them and draws them. It needs no MPI.")
set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS iproute2)  # for clusters on one machine

set(libraries)
set(compilers)
foreach(mpi IN LISTS QUADRILLE_MPIS)
  string(TOUPPER ${mpi} upper)
  quadrille_package(${mpi} libquadrille-${mpi} libs "${PROJECT_DESCRIPTION}: the library for ${mpi}"
                    "${about} This has the library, and the drop-in for programs that are not recompiled.")
  set(CPACK_DEBIAN_${upper}_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SUGGESTS "quadrille (= ${PROJECT_VERSION})")
  list(APPEND libraries "libquadrille-${mpi} (= ${PROJECT_VERSION})")
  list(APPEND compilers lib${mpi}-dev)
endforeach()

if(QUADRILLE_MPIS)
  list(APPEND CPACK_COMPONENTS_ALL development)
  quadrille_package(development libquadrille-dev libdevel "${PROJECT_DESCRIPTION}: headers"
                    "${about} This has the headers for C++ and C, and what CMake and pkg-config need.")
  list(JOIN libraries ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)
  list(JOIN compilers ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "quadrille (= ${PROJECT_VERSION})")
endif()

include(CPack)
