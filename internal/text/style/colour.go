package style

import (
	"math"
	"strconv"
	"strings"
)

// Colour is a colour as far as it matters here: whether it covers, and whether it is the
// same as another.
type Colour struct {
	set     bool
	inexact bool // its function is not computed here: only how it is written counts
	red     float32
	green   float32
	blue    float32
	alpha   float32
	written string // of an inexact one
}

func rgb(red, green, blue, alpha float64) Colour {
	limit := func(v float64) float32 { return float32(min(1, max(0, v))) }
	return Colour{set: true, red: limit(red), green: limit(green), blue: limit(blue), alpha: limit(alpha)}
}

var (
	white = rgb(1, 1, 1, 1)
	black = rgb(0, 0, 0, 1)
)

// faint is the share of opacity below which nobody sees a text.
const faint = 0.05

// over is what is seen of a colour on another.
func (c Colour) over(ground Colour) Colour {
	if c.inexact || ground.inexact || c.alpha >= 1 {
		return c
	}
	mix := func(a, b float32) float64 { return float64(a*c.alpha + b*(1-c.alpha)) }
	return rgb(mix(c.red, ground.red), mix(c.green, ground.green), mix(c.blue, ground.blue), 1)
}

// leastContrast is the contrast below which a text cannot be told from its ground. WCAG
// asks for 4.5.
const leastContrast = 1.1

// isLike reports whether a text of one colour is not seen on another.
func (c Colour) isLike(ground Colour) bool {
	if c.inexact || ground.inexact {
		return c.inexact && ground.inexact && c.written == ground.written
	}
	a, b := c.over(ground).luminance(), ground.luminance()
	return (max(a, b)+0.05)/(min(a, b)+0.05) < leastContrast && c.over(ground).isNear(ground)
}

// isNear keeps colours of equal luminance apart.
func (c Colour) isNear(other Colour) bool {
	near := func(a, b float32) bool { return math.Abs(float64(a-b)) < 0.1 }
	return near(c.red, other.red) && near(c.green, other.green) && near(c.blue, other.blue)
}

func (c Colour) luminance() float64 {
	linear := func(v float32) float64 {
		if v <= 0.04045 {
			return float64(v) / 12.92
		}
		return math.Pow((float64(v)+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.red) + 0.7152*linear(c.green) + 0.0722*linear(c.blue)
}

// colourOf reads a colour, in lower case. Ok is false for what is none; a function that
// is not known is transparent.
func colourOf(value string) (c Colour, ok bool) {
	if strings.HasPrefix(value, "#") {
		return hexColour(value[1:])
	}
	if code, ok := named()[value]; ok {
		return rgb(float64(code>>16&255)/255, float64(code>>8&255)/255, float64(code&255)/255, 1), true
	}
	if value == "transparent" {
		return Colour{set: true}, true
	}
	name, inner, ok := function(value)
	if !ok {
		return c, false
	}
	parts := split(inner, ", /\t\n")
	switch name {
	case "rgb", "rgba", "hsl", "hsla", "hwb":
		return computedColour(name, parts)
	case "lab", "lch", "oklab", "oklch", "color", "color-mix", "light-dark", "device-cmyk":
		c = Colour{set: true, inexact: true, alpha: 1, written: value}
		if _, alpha, found := strings.Cut(inner, "/"); found {
			if n, k := quantity(strings.TrimSpace(alpha), scale{full: 1}); k == number || k == length || k == unknown {
				c.alpha = float32(n)
			}
		}
		if name == "color-mix" && strings.Count(inner, "transparent") > 1 {
			c.alpha = 0
		}
		if name == "light-dark" && len(parts) > 0 {
			return colourOf(split(inner, ",")[0])
		}
		return c, true
	}
	return Colour{set: true}, true
}

func hexColour(digits string) (Colour, bool) {
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil {
		return Colour{}, false
	}
	of := func(shift, bits int) float64 {
		most := uint64(1)<<bits - 1
		return float64(n>>shift&most) / float64(most)
	}
	switch len(digits) {
	case 3:
		return rgb(of(8, 4), of(4, 4), of(0, 4), 1), true
	case 4:
		return rgb(of(12, 4), of(8, 4), of(4, 4), of(0, 4)), true
	case 6:
		return rgb(of(16, 8), of(8, 8), of(0, 8), 1), true
	case 8:
		return rgb(of(24, 8), of(16, 8), of(8, 8), of(0, 8)), true
	}
	return Colour{}, false
}

// computedColour reads the functions whose colours are computed here.
func computedColour(name string, parts []string) (Colour, bool) {
	if len(parts) > 0 && parts[0] == "from" { // relative to another colour, which is not followed
		return Colour{set: true}, true
	}
	if len(parts) != 3 && len(parts) != 4 {
		return Colour{}, false
	}
	full := [4]float64{1, 1, 1, 1}
	if strings.HasPrefix(name, "rgb") {
		full = [4]float64{255, 255, 255, 1}
	}
	v := [4]float64{3: 1}
	for i, part := range parts {
		if part == "none" {
			v[i] = 0
			continue
		}
		n, k := quantity(part, scale{full: full[i]})
		switch {
		case k == wrong:
			return Colour{}, false
		case k == unknown:
			return Colour{set: true}, true
		case k == number && !strings.HasPrefix(name, "rgb") && i == 0:
			n /= 360
		case k == number && !strings.HasPrefix(name, "rgb") && i < 3:
			n /= 100
		}
		v[i] = n
	}
	switch name {
	case "rgb", "rgba":
		return rgb(v[0]/255, v[1]/255, v[2]/255, v[3]), true
	case "hwb":
		if v[1]+v[2] >= 1 {
			grey := v[1] / (v[1] + v[2])
			return rgb(grey, grey, grey, v[3]), true
		}
		c := hsl(v[0], 1, 0.5, v[3])
		of := func(x float32) float64 { return float64(x)*(1-v[1]-v[2]) + v[1] }
		return rgb(of(c.red), of(c.green), of(c.blue), v[3]), true
	}
	return hsl(v[0], min(1, max(0, v[1])), min(1, max(0, v[2])), v[3]), true
}

func hsl(hue, saturation, lightness, alpha float64) Colour {
	hue -= math.Floor(hue)
	of := func(n float64) float64 {
		k := math.Mod(n+hue*12, 12)
		return lightness - saturation*min(lightness, 1-lightness)*max(-1, min(k-3, 9-k, 1))
	}
	return rgb(of(0), of(8), of(4), alpha)
}
