package pivot

import "github.com/tidegate/tidegate/internal/base/codec"

// digest covers everything that decides, and nothing else: no time, no order of
// arguments.
func digest(gaps []Gap, reports []Report) string {
	return codec.Digest(struct {
		Gaps    []Gap    `json:"gaps"`
		Reports []Report `json:"wave1_validation_reports"`
	}{gaps, reports})
}
