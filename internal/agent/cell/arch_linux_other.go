//go:build linux && !amd64 && !arm64

package cell

// The filter knows neither the processor nor the order of its bytes.
const (
	nativeArch     = 0
	foreignNumbers = 0
)

var semaphores []uint32
