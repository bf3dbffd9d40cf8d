#include "textflag.h"

// The new process works on the same stack, and overwrites the address that this one
// returns to: it stays in a register.

// func vfork(flags uintptr) (pid int)
TEXT ·vfork(SB), NOSPLIT|NOFRAME, $0-16
	MOVQ	flags+0(FP), DI
	XORL	SI, SI
	XORL	DX, DX
	XORL	R10, R10
	XORL	R8, R8
	MOVL	$56, AX // clone
	POPQ	R12
	SYSCALL
	PUSHQ	R12
	MOVQ	AX, pid+8(FP)
	RET
