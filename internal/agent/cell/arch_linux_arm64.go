package cell

import "golang.org/x/sys/unix"

const nativeArch = unix.AUDIT_ARCH_AARCH64

// foreignNumbers are none that the processor has.
const foreignNumbers = 0x40000000

// semaphores are calls that not every processor has.
var semaphores = []uint32{unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP}
