package store

import "sync"

// Memory keeps what the steps of one call make of a folder, each under a name that stands
// for all the bytes it follows from, so that steps which need the same thing make it
// once. The zero value is ready for use, by several goroutines.
type Memory struct {
	mu   sync.Mutex
	kept []*remembered // the latest used last
}

type remembered struct {
	name  string
	made  sync.Once
	value any
	err   error
}

// remembers is how many things a memory keeps: those that are not used for the longest
// time are forgotten.
const remembers = 24

// Recall is what make makes, or made before under the same name; nobody may change it. A
// nil memory keeps nothing, and none keeps errors. It returns the error of make.
func Recall[T any](m *Memory, name string, make func() (T, error)) (T, error) {
	if m == nil {
		return make()
	}
	r := m.find(name)
	mine := false
	r.made.Do(func() {
		mine = true
		r.value, r.err = make()
	})
	if r.err == nil {
		return r.value.(T), nil
	}
	m.forget(r)
	if mine {
		value, _ := r.value.(T)
		return value, r.err
	}
	return make() // the error may be another's alone: its context ended
}

// find is what has a name, as the latest used.
func (m *Memory) find(name string) *remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, r := range m.kept {
		if r.name == name {
			m.kept = append(append(m.kept[:i], m.kept[i+1:]...), r)
			return r
		}
	}
	r := &remembered{name: name}
	if m.kept = append(m.kept, r); len(m.kept) > remembers {
		m.kept = append(m.kept[:0], m.kept[1:]...)
	}
	return r
}

func (m *Memory) forget(r *remembered) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.kept {
		if m.kept[i] == r {
			m.kept = append(m.kept[:i], m.kept[i+1:]...)
			return
		}
	}
}
