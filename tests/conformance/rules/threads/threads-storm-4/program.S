.set THREADS, 4
.set ROUNDS, 100
#include "storm.inc"
