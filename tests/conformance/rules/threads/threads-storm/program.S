.set THREADS, 32
.set ROUNDS, 24
#include "storm.inc"
