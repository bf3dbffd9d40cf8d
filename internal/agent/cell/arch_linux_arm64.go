package cell

import "golang.org/x/sys/unix"

const nativeArch = unix.AUDIT_ARCH_AARCH64

// foreignNumbers are none that the processor has.
const foreignNumbers = 0x40000000
