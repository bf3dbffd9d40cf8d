package style

import (
	"math"
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
	moves := []string{"margin", "margin-left", "margin-top", "margin-inline-start", "margin-block-start", "margin-inline", "margin-block", "margin-right", "transform-origin"}
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
			if isFarOff(part, em) {
				return true
			}
		}
	}
	// A row of slides is moved, too, to show one of them, and not as far.
	for _, part := range v.transforms("translate") {
		if n, k := quantity(part, scale{em: em, full: 0}); k != wrong && (n <= -farMove || n < 0 && passesScreen(part)) {
			return true
		}
	}
	if m := v.matrix(); len(m) == 6 && (m[4] <= -farMove || m[5] <= -farMove) {
		return true
	}
	to := func(property string) float64 {
		n, k := quantity(firstOf(v.of[property]), scale{em: em, full: screenWidth})
		if !k.isLength() {
			return 0
		}
		return n
	}
	if v.of["position"] == "fixed" && (v.of["top"] == "100%" || passesScreen(v.of["top"]) || passesScreen(v.of["left"])) ||
		v.of["position"] == "absolute" && !v.outer.placed && passesScreen(v.of["right"]) {
		return true
	}
	switch v.of["position"] { // a page does not scroll to the left, and not at all for what is fixed
	case "relative":
		if to("right") >= farMove || to("bottom") >= farMove {
			return true
		}
	case "fixed":
		if to("bottom") <= -fixedMove || to("bottom") >= 2*screenHeight || to("left") <= -fixedMove || to("top") <= -fixedMove || to("left") >= screenWidth || to("top") >= 2*screenHeight || to("right") >= 2*screenWidth {
			return true
		}
	case "absolute":
		if to("right") >= 2*screenWidth || to("left") >= farMove || to("bottom") >= farMove || to("top") <= -fixedMove && !v.outer.placed {
			return true
		}
	}
	if to("margin-left") >= farMove || to("text-indent") >= 2*screenWidth {
		return true
	}
	spacing, k := quantity(v.of["letter-spacing"], scale{em: em, full: em})
	return k.isLength() && spacing <= -0.6*max(em, 1)
}

// passesScreen reports whether a length is a screen or more, whatever its size.
func passesScreen(value string) bool {
	end := numberEnd(value)
	if end == 0 {
		return false
	}
	switch unit := value[end:]; unit {
	case "vw", "vh", "%", "svw", "svh", "lvw", "lvh", "dvw", "dvh", "vi", "vb", "vmax":
		n, _ := quantity(value[:end], scale{})
		return unit == "%" && n > 100 || unit != "%" && math.Abs(n) >= 100
	}
	return false
}

// farMove is how many pixels lead off every screen, fixedMove how many take what keeps to
// its edge off it.
const farMove, fixedMove = 5000, 200

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
	return (k.isLength() || k == unknown) && n <= -500
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
	for _, part := range append(split(v.of["transform"], blanks), "scale("+v.of["scale"]+")") {
		name, inner, _ := function(part)
		if !strings.HasPrefix(name, "scale") {
			continue
		}
		least := math.Inf(1)
		for _, one := range split(inner, blanks+",") {
			if n, k := quantity(one, scale{em: em, full: 1}); k != wrong {
				least, ok = min(least, max(n, -n)), true
			}
		}
		factor *= min(1, least)
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
	if n, k := quantity(v.of["perspective"], scale{em: em}); k == length && n < leastDistance {
		return true
	}
	contains := v.of["contain"]
	if (contains == "strict" || strings.Contains(contains, "size")) && v.of["height"] == "" {
		return true
	}
	cuts := func(axis string) bool {
		how := v.of["overflow"] + " " + v.of["overflow-"+axis]
		return strings.Contains(contains, "paint") || strings.Contains(contains, "content") || strings.Contains(how, "hidden") || strings.Contains(how, "clip") || strings.Contains(how, "scroll") || strings.Contains(how, "auto")
	}
	small := func(sides ...string) bool {
		return slices.ContainsFunc(sides, func(side string) bool {
			n, k := quantity(v.of[side], scale{em: em, full: screenWidth})
			return v.of[side] != "" && (k == unknown || (k.isLength() || k == number) && n >= 0 && n <= 2)
		})
	}
	if !cuts("x") && !cuts("y") {
		return false
	}
	if indent := firstOf(v.of["text-indent"]); v.of["white-space"] == "nowrap" && (indent == "100%" || passesScreen(indent)) {
		return true
	}
	line, k := quantity(v.of["line-height"], scale{em: em, full: em})
	flat := k.isLength() && line <= 2 || k == number && line*em <= 2
	return flat && v.of["height"] == "" || small("width", "max-width") || small("height", "max-height")
}

// isTurnedAway reports whether an element is turned so that its edge is seen, or its back
// where that is not drawn.
func (v *values) isTurnedAway() bool {
	x, y := 0.0, 0.0
	turn := func(axis, by string) {
		n, k := quantity(by, scale{})
		switch {
		case k != angle:
		case axis == "x":
			x += n
		case axis == "y":
			y += n
		}
	}
	for _, part := range split(v.of["transform"], blanks) {
		name, inner, _ := function(part)
		turn(strings.TrimPrefix(name, "rotate"), inner)
		for _, by := range split(inner, ",") {
			if n, k := quantity(by, scale{}); strings.HasPrefix(name, "skew") && k == angle && math.Abs(math.Cos(2*math.Pi*n)) < edge {
				return true
			}
		}
	}
	parts := split(v.of["rotate"], blanks)
	switch len(parts) {
	case 2:
		turn(parts[0], parts[1])
		turn(parts[1], parts[0])
	case 4: // about an axis that is not one of the three
		return parts[0] != "0" || parts[1] != "0"
	}
	a, b := math.Cos(2*math.Pi*x), math.Cos(2*math.Pi*y)
	return math.Abs(a*b) < edge || a*b < 0 && v.of["backface-visibility"] == "hidden"
}

// leastDistance is from how many pixels on nothing that is moved towards the eye stands behind it.
const leastDistance = 50

// edge is the share of its height at which an element is a line.
const edge = 0.02

// isBehind reports whether an element stands behind the ground of what it is in.
func (v *values) isBehind() bool {
	n, _ := quantity(v.of["z-index"], scale{})
	return n < 0 && v.of["position"] != "" && v.of["position"] != "static" && (v.outer.ground.set || v.outer.covered)
}

// isMasked reports whether a mask lets nothing through. Of one that is moved, sized or
// composed that is not known.
func (v *values) isMasked() bool {
	parts := append(split(v.of["mask"], blanks+","), split(v.of["mask-image"], blanks+",")...)
	if len(parts) == 0 && v.of["mask-border"] == "" || len(parts) == 1 && (parts[0] == "none" || isWide(parts[0])) {
		return false
	}
	if len(parts) != 1 || v.of["mask-size"]+v.of["mask-position"]+v.of["mask-mode"]+v.of["mask-border"] != "" {
		return true
	}
	_, inner, _ := function(parts[0])
	for _, stop := range split(inner, ",") {
		if c, ok := colourOf(firstOf(stop)); ok && c.alpha >= faint {
			return false
		}
	}
	return true
}

// clipsAll reports whether a clip path leaves nothing.
func clipsAll(path string, em float64) bool {
	var name, inner string
	for _, part := range split(path, blanks) {
		if shape, in, ok := function(part); ok {
			name, inner = shape, in
		}
	}
	inner, _, _ = strings.Cut(inner, " round ")
	inner, centre, _ := strings.Cut(inner, "at ")
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
		for _, at := range split(centre, blanks) {
			n, k := quantity(at, scale{em: em, full: 100})
			if n < -box || n < 0 && k == length && len(parts) > 0 && !strings.Contains(inner, "%") && n+max(of(0), of(1)) <= 0 {
				return true
			}
		}
		return slices.ContainsFunc(parts, func(part string) bool {
			n, k := quantity(part, scale{em: em, full: 100})
			return k != wrong && n <= 1
		})
	case "polygon":
		return isFlat(split(inner, ","), em)
	case "rect":
		return len(parts) == 4 && (parts[2] != "auto" && of(2)-of(0) <= 1 || parts[1] != "auto" && of(1)-of(3) <= 1)
	case "xywh":
		return len(parts) >= 4 && (of(2) <= 1 || of(3) <= 1 || of(0)+of(2) <= 1 || of(1)+of(3) <= 1)
	}
	return false
}

// isFlat reports whether a polygon has next to no area, or lies left of or above its box.
func isFlat(corners []string, em float64) bool {
	var first, last [2]float64
	area, n, outside := 0.0, 0, [2]bool{true, true}
	for _, corner := range corners {
		at := split(corner, blanks)
		if len(at) != 2 {
			continue
		}
		here := last
		for axis, value := range at {
			here[axis], _ = quantity(value, scale{em: em, full: 100})
			outside[axis] = outside[axis] && here[axis] <= 0
		}
		if n++; n == 1 {
			first, last = here, here
		}
		area += last[0]*here[1] - last[1]*here[0]
		last = here
	}
	area += last[0]*first[1] - last[1]*first[0]
	return n > 0 && (math.Abs(area) <= 2 || outside[0] || outside[1])
}
