package store_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tidegate/tidegate/internal/work/store"
)

// TestMemoryMakesAThingOnce makes it again after an error, and after others were used
// since; without a memory it makes it each time.
func TestMemoryMakesAThingOnce(t *testing.T) {
	made := map[string]int{}
	var fails error
	recall := func(m *store.Memory, name string) error {
		t.Helper()
		got, err := store.Recall(m, name, func() (string, error) {
			made[name]++
			return "of " + name, fails
		})
		if got != "of "+name {
			t.Errorf("%q is %q", name, got)
		}
		return err
	}
	m := new(store.Memory)
	fails = errors.New("not yet")
	if err := recall(m, "a"); err != fails {
		t.Error(err)
	}
	fails = nil
	for range 3 {
		if err := recall(m, "a"); err != nil {
			t.Error(err)
		}
	}
	if made["a"] != 2 {
		t.Errorf("made %d times", made["a"])
	}
	for i := range 100 {
		_ = recall(m, fmt.Sprint(i))
		_ = recall(m, "often")
	}
	_ = recall(m, "a")
	if made["a"] != 3 || made["often"] != 1 {
		t.Errorf("%d, and what is used often %d times", made["a"], made["often"])
	}
	_, _ = recall(nil, "b"), recall(nil, "b")
	if made["b"] != 2 {
		t.Errorf("without a memory: %d", made["b"])
	}
}
