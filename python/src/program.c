#include "core.h"
bool core_program_init(PyObject *module) { (void)module; return true; }
