#pragma once

/** \cond */
/* Symbols of the library are hidden unless marked. Included from C as well. */
#define QUADRILLE_EXPORT __attribute__((visibility("default")))
/** \endcond */
