package style

import (
	"slices"
	"strings"
)

func firstOf(value string) string {
	if parts := split(value, blanks); len(parts) > 0 {
		return parts[0]
	}
	return ""
}

// isOffScreen reports whether the values move an element where nobody sees it.
func (v *values) isOffScreen(em float64) bool {
	moves := []string{"margin", "margin-left", "margin-top", "margin-inline-start", "margin-block-start", "margin-inline", "margin-block", "margin-right", "margin-bottom"}
	switch v.of["position"] {
	case "absolute", "fixed":
		if name, _, _ := function(v.of["clip"]); name == "rect" && v.isClip(em) {
			return true // how pages show text to screen readers alone
		}
		fallthrough
	case "relative", "sticky", "-webkit-sticky":
		moves = append(moves, "left", "right", "top", "bottom", "inset", "inset-inline-start", "inset-inline-end", "inset-inline", "inset-block", "inset-block-start", "inset-block-end")
	}
	for _, property := range moves {
		for _, part := range split(v.of[property], blanks) {
			if isFarOff(part, em) || property != "margin-right" && property != "margin-bottom" && isUnknown(part) {
				return true
			}
		}
	}
	// A row of slides is moved, too, to show one of them, and not as far.
	for _, part := range v.transforms("translate") {
		if n, k := quantity(part, scale{em: em, full: 0}); k != wrong && n <= -farMove {
			return true
		}
	}
	if m := v.matrix(); len(m) == 6 && (m[4] <= -farMove || m[5] <= -farMove) {
		return true
	}
	to := func(property string) float64 {
		n, k := quantity(firstOf(v.of[property]), scale{em: em, full: screenWidth})
		if k != length {
			return 0
		}
		return n
	}
	switch v.of["position"] { // a page does not scroll to the left, and not at all for what is fixed
	case "fixed":
		if to("left") >= screenWidth || to("top") >= 2*screenHeight || to("right") >= 2*screenWidth {
			return true
		}
	case "absolute":
		if to("right") >= 2*screenWidth || to("left") >= farMove {
			return true
		}
	}
	if to("margin-left") >= farMove || to("text-indent") >= farMove {
		return true
	}
	spacing, k := quantity(v.of["letter-spacing"], scale{em: em, full: em})
	return k == length && spacing <= -0.9*max(em, 1)
}

// farMove is how many pixels lead off every screen.
const farMove = 5000

// matrix are the numbers of a matrix in transform.
func (v *values) matrix() (m []float64) {
	for _, part := range split(v.of["transform"], blanks) {
		if name, inner, ok := function(part); ok && name == "matrix" {
			for _, value := range split(inner, ", ") {
				n, _ := quantity(value, scale{})
				m = append(m, n)
			}
			return m
		}
	}
	return nil
}

// isFarOff reports whether a length leads off the screen, to the left or the top.
func isFarOff(value string, em float64) bool {
	n, k := quantity(value, scale{em: em, full: 500})
	return k == length && n <= -500
}

// isClip reports whether clip leaves next to nothing.
func (v *values) isClip(em float64) bool {
	_, inner, _ := function(v.of["clip"])
	var side [4]float64
	parts := split(inner, ", \t\n")
	if len(parts) != 4 {
		return false
	}
	for i, part := range parts {
		n, k := quantity(part, scale{em: em, full: 0})
		if k == wrong { // auto
			n = 0
			if i == 1 || i == 2 {
				n = screenWidth
			}
		}
		side[i] = n
	}
	return side[2]-side[0] <= 2 || side[1]-side[3] <= 2
}

// transforms are the arguments of the functions of a kind, and of the property of its name.
func (v *values) transforms(kind string) (all []string) {
	for _, part := range split(v.of["transform"], blanks) {
		if name, inner, ok := function(part); ok && strings.HasPrefix(name, kind) {
			all = append(all, split(inner, ", ")...)
		}
	}
	return append(all, split(v.of[kind], blanks)...)
}

// scaled is by how much an element is drawn smaller or larger.
func (v *values) scaled(em float64) (factor float64, ok bool) {
	factor = 1
	for _, part := range v.transforms("scale") {
		if n, k := quantity(part, scale{em: em, full: 1}); k != wrong {
			factor, ok = min(factor, max(n, -n)), true
		}
	}
	if m := v.matrix(); len(m) == 6 {
		if area := m[0]*m[3] - m[1]*m[2]; area < tiny*tiny/100 && area > -tiny*tiny/100 {
			factor, ok = 0, true
		}
	}
	if zoom := v.of["zoom"]; zoom != "" && !isWide(zoom) {
		if n, k := quantity(zoom, scale{em: em, full: 1}); k != wrong && n > 0 {
			factor, ok = factor*n, true
		}
	}
	return factor, ok
}

// isCutAway reports whether the values leave nothing of an element to see: by its clip
// path, a turn, a mask, or a box without room.
func (v *values) isCutAway(em float64) bool {
	if clipsAll(v.of["clip-path"], em) || v.isTurnedAway() || v.isMasked() {
		return true
	}
	cuts := func(axis string) bool {
		how := v.of["overflow"] + " " + v.of["overflow-"+axis]
		return strings.Contains(how, "hidden") || strings.Contains(how, "clip") || strings.Contains(how, "scroll") || strings.Contains(how, "auto")
	}
	small := func(sides ...string) bool {
		return slices.ContainsFunc(sides, func(side string) bool {
			n, k := quantity(v.of[side], scale{em: em, full: screenWidth})
			return v.of[side] != "" && (k == unknown || (k == length || k == number) && n >= 0 && n <= 2)
		})
	}
	if !cuts("x") && !cuts("y") {
		return false
	}
	line, k := quantity(v.of["line-height"], scale{em: em, full: em})
	flat := k == length && line <= 2 || k == number && line*em <= 2
	return flat && v.of["height"] == "" || small("width", "max-width") || small("height", "max-height")
}

// isTurnedAway reports whether an element is turned so that its edge is seen.
func (v *values) isTurnedAway() bool {
	for _, axis := range []string{"rotatex", "rotatey"} {
		for _, part := range v.transforms(axis) {
			if n, k := quantity(part, scale{}); k == angle && int(n*4) != 0 && n*4 == float64(int(n*4)) && int(n*4)%2 != 0 {
				return true
			}
		}
	}
	return false
}

// isMasked reports whether a mask lets nothing through.
func (v *values) isMasked() bool {
	for _, property := range []string{"mask", "mask-image"} {
		for _, part := range split(v.of[property], blanks+",") {
			name, inner, ok := function(part)
			if !ok || !strings.HasSuffix(name, "gradient") {
				continue
			}
			clear, stops := 0, 0
			for _, stop := range split(inner, ",") {
				if c, ok := colourOf(firstOf(stop)); ok {
					if stops++; c.alpha < faint {
						clear++
					}
				}
			}
			if stops > 0 && clear == stops {
				return true
			}
		}
	}
	return false
}

// clipsAll reports whether a clip path leaves nothing.
func clipsAll(path string, em float64) bool {
	name, inner, ok := function(firstOf(path))
	if !ok {
		return false
	}
	inner, _, _ = strings.Cut(inner, " round ")
	parts := split(inner, ", ")
	of := func(i int) float64 {
		if len(parts) == 0 {
			return 0
		}
		for i >= len(parts) { // one that is missing is as the one across from it
			i = max(0, i-2)
		}
		n, k := quantity(parts[i], scale{em: em, full: 100}) // a box of a hundred pixels
		if k == unknown {
			return 1000
		}
		return n
	}
	const box = 100
	percent := func(i, j int) bool {
		return strings.HasSuffix(parts[min(i, len(parts)-1)], "%") || of(i)+of(j) >= 10*box || strings.Contains(parts[min(j, len(parts)-1)], "%")
	}
	switch name {
	case "inset":
		return len(parts) > 0 && (percent(0, 2) && of(0)+of(2) >= box || percent(1, 3) && of(1)+of(3) >= box)
	case "circle", "ellipse":
		if len(parts) == 0 || parts[0] == "at" {
			return false
		}
		n, k := quantity(parts[0], scale{em: em, full: 100})
		return k == unknown || (k == length || k == number) && n <= 1
	case "polygon":
		return isFlat(split(inner, ","), em)
	case "rect":
		return len(parts) == 4 && parts[1] != "auto" && parts[2] != "auto" && (of(2)-of(0) <= 1 || of(1)-of(3) <= 1)
	case "xywh":
		return len(parts) >= 4 && (of(2) <= 1 || of(3) <= 1)
	case "url", "shape":
		return false // a shape that is drawn elsewhere
	case "path":
		return inner == "" || len(inner) < 8
	}
	return true
}

// isFlat reports whether all corners of a polygon lie on one line along an axis.
func isFlat(corners []string, em float64) bool {
	var low, high [2]float64
	n := 0
	for _, corner := range corners {
		at := split(corner, blanks)
		if len(at) != 2 || at[0] == "nonzero" || at[0] == "evenodd" {
			continue
		}
		for axis, value := range at {
			x, _ := quantity(value, scale{em: em, full: 100})
			if n == 0 {
				low[axis], high[axis] = x, x
			}
			low[axis], high[axis] = min(low[axis], x), max(high[axis], x)
		}
		n++
	}
	return n > 0 && (high[0]-low[0] <= 1 || high[1]-low[1] <= 1)
}
