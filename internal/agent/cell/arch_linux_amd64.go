package cell

import "golang.org/x/sys/unix"

const nativeArch = unix.AUDIT_ARCH_X86_64

// foreignNumbers begins the numbers of the x32 ABI.
const foreignNumbers = 0x40000000

// semaphores are calls that not every processor has.
var semaphores = []uint32{unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP}
