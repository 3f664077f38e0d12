#include "prologue.inc"

main:
    # Masked: the decrementer does not end it, and nothing else will.
    SET_SPR DEC, 5000
    wait
    FAIL    1
