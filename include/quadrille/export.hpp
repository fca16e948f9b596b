#pragma once

// Everything else in the library is hidden.
#define QUADRILLE_EXPORT __attribute__((visibility("default")))
