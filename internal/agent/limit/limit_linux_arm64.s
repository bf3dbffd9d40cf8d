#include "textflag.h"

// func ofFiles(limit *[2]uint64)
TEXT ·ofFiles(SB), NOSPLIT, $0-8
	MOVD	ZR, R0
	MOVD	$7, R1 // RLIMIT_NOFILE
	MOVD	ZR, R2
	MOVD	limit+0(FP), R3
	MOVD	$261, R8 // prlimit64
	SVC
	RET
