#include "prologue.inc"

main:
    .long   0x7c20003c
    FAIL    1
