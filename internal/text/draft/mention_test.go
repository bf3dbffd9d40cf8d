package draft_test

import (
	"fmt"
	"testing"

	"github.com/tidegate/tidegate/internal/text/draft"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// TestInferencesInEveryForm: the ids of an inference are parted by blanks, commas or "and".
func TestInferencesInEveryForm(t *testing.T) {
	for _, ids := range []string{"@a @b @c", "@a, @b, @c", "@a,@b and @c", "@a, @b, and @c", "@a\n@b  @c "} {
		d := draft.Read(markdown.Read([]byte("It grew. [inferred from " + ids + "]\n")))
		all := d.Blocks[0].Markings()
		if len(all) != 1 || fmt.Sprint(all[0].CIDs()) != "[a b c]" {
			t.Errorf("%q: %+v", ids, all)
		}
	}
	if all := draft.Read(markdown.Read([]byte("It grew. [inferred from @a; @b]\n"))).Blocks[0].Markings(); len(all) != 0 {
		t.Errorf("another form is taken: %+v", all)
	}
}
