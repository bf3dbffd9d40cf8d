package summary

import "sync"

// async calls f beside the caller, who gets what it returns, or its panic, from
// the function that is returned.
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
