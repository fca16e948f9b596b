# The modulefile names the prefix, which only `cmake --install --prefix` knows. Not in /usr, where nobody needs it and it
# would put /usr/bin before a site's MPI.
set(settings)
foreach(name IN ITEMS PROJECT_VERSION CMAKE_INSTALL_BINDIR CMAKE_INSTALL_MANDIR CMAKE_INSTALL_LIBDIR)
  string(APPEND settings "set(${name} \"${${name}}\")\n")
endforeach()
install(CODE "${settings}
  if(NOT CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
    configure_file(\"${PROJECT_SOURCE_DIR}/cmake/quadrille.module.in\" \"${CMAKE_CURRENT_BINARY_DIR}/quadrille.module\" @ONLY)
    file(INSTALL \"${CMAKE_CURRENT_BINARY_DIR}/quadrille.module\" RENAME quadrille
         DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/modulefiles\")
  endif()" COMPONENT command)
