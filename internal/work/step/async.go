package step

import "sync"

// async calls f concurrently. The function that it returns gives the caller what f
// returns, or its panic.
func async[T any](f func() (T, error)) func() (T, error) {
	var (
		value    T
		err      error
		panicked any
		done     sync.WaitGroup
	)
	done.Go(func() {
		defer func() { panicked = recover() }()
		value, err = f()
	})
	return func() (T, error) {
		done.Wait()
		if panicked != nil {
			panic(panicked)
		}
		return value, err
	}
}
