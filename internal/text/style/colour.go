package style

import (
	"math"
	"strconv"
	"strings"
)

// Colour is a colour as far as it matters here: whether it covers, and whether it is the
// same as another.
type Colour struct {
	set   bool
	red   float32
	green float32
	blue  float32
	alpha float32
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
	if c.alpha >= 1 {
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
	a, b := c.over(ground).luminance(), ground.luminance()
	return (max(a, b)+0.05)/(min(a, b)+0.05) < leastContrast && c.over(ground).isNear(ground)
}

// Alike reports whether letters of one colour are not seen on a ground of another. The parts
// of a colour are red, green and blue, from 0 to 1.
func Alike(letters, ground [3]float64) bool {
	of := func(c [3]float64) Colour { return rgb(c[0], c[1], c[2], 1) }
	return of(letters).isLike(of(ground))
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
	if len(value) > maxColour {
		return Colour{set: true}, true
	}
	switch name {
	case "rgb", "rgba", "hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch", "color":
		return computedColour(name, inner)
	case "color-mix":
		return mixed(split(inner, ",")), true
	case "light-dark":
		if parts := split(inner, ","); len(parts) > 0 {
			return colourOf(parts[0])
		}
	}
	return Colour{set: true}, !strings.HasSuffix(name, "gradient") && name != "url"
}

// mixed is the mean of two colours by their shares. It is transparent where they are not
// understood.
func mixed(parts []string) Colour {
	if len(parts) != 3 {
		return Colour{set: true}
	}
	var of [2]Colour
	shares := [2]float64{-1, -1}
	for i, part := range parts[1:] {
		for _, word := range split(part, blanks) {
			if n, k := quantity(word, scale{full: 1}); k == share {
				shares[i] = min(1, max(0, n))
			} else if c, ok := colourOf(word); ok {
				of[i] = c
			}
		}
	}
	switch {
	case shares[0] < 0 && shares[1] < 0:
		shares = [2]float64{0.5, 0.5}
	case shares[0] < 0:
		shares[0] = 1 - shares[1]
	case shares[1] < 0:
		shares[1] = 1 - shares[0]
	}
	sum := shares[0] + shares[1]
	if !of[0].set || !of[1].set || sum == 0 {
		return Colour{set: true}
	}
	a, b := float32(shares[0]/sum), float32(shares[1]/sum)
	alpha := of[0].alpha*a + of[1].alpha*b
	if alpha == 0 {
		return Colour{set: true}
	}
	mix := func(x, y float32) float64 { return float64((x*of[0].alpha*a + y*of[1].alpha*b) / alpha) }
	return rgb(mix(of[0].red, of[1].red), mix(of[0].green, of[1].green), mix(of[0].blue, of[1].blue), float64(alpha)*min(1, sum))
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

// computedColour reads the functions whose colours are computed here. Commas part all
// values or none; without them a stroke stands before the last.
func computedColour(name, inner string) (Colour, bool) {
	commas := strings.Contains(inner, ",")
	before, last, stroked := strings.Cut(inner, "/")
	parts := split(before, blanks)
	if commas {
		parts = split(inner, ",")
	}
	if stroked && !commas {
		parts = append(parts, strings.TrimSpace(last))
	}
	if len(parts) > 0 && parts[0] == "from" { // relative to another colour, which is not followed
		return Colour{set: true}, true
	}
	space := ""
	if name == "color" && len(parts) > 0 {
		if space, parts = parts[0], parts[1:]; !spaces[space] {
			return Colour{}, false
		}
	}
	classic := strings.HasPrefix(name, "rgb") || strings.HasPrefix(name, "hsl")
	if len(parts) != 3 && (len(parts) != 4 || stroked == commas) || commas && (!classic || stroked) {
		return Colour{}, false
	}
	full := fullOf[strings.TrimSuffix(name, "a")]
	v := [4]float64{3: 1}
	for i, part := range parts {
		n, k := quantity(part, scale{full: [4]float64{full[0], full[1], full[2], 1}[i]})
		hue := full[i%3] == turns && i < 3
		switch {
		case part == "none" && !commas:
		case k == unknown:
			return Colour{set: true}, true
		case k == wrong || k == length || (k == angle) && !hue || k == share && hue || k == number && commas && name[0] == 'h' && (i == 1 || i == 2):
			return Colour{}, false
		case k == number && hue:
			n /= 360
		}
		v[i] = n
	}
	if full[2] == turns { // lightness, chroma and hue
		v[1], v[2] = v[1]*math.Cos(2*math.Pi*v[2]), v[1]*math.Sin(2*math.Pi*v[2])
	}
	switch {
	case name == "hwb" && v[1]+v[2] >= 100:
		grey := v[1] / (v[1] + v[2])
		return rgb(grey, grey, grey, v[3]), true
	case name == "hwb":
		c := hsl(v[0], 1, 0.5, v[3])
		of := func(x float32) float64 { return float64(x)*(1-v[1]/100-v[2]/100) + v[1]/100 }
		return rgb(of(c.red), of(c.green), of(c.blue), v[3]), true
	case name[0] == 'h':
		return hsl(v[0], min(1, max(0, v[1]/100)), min(1, max(0, v[2]/100)), v[3]), true
	case name[0] == 'l':
		cube := func(f float64) float64 {
			if f > 6.0/29 {
				return f * f * f
			}
			return (f - 4.0/29) * 108 / 841
		}
		y := (v[0] + 16) / 116
		return fromXYZ(cube(y+v[1]/500), cube(y), cube(y-v[2]/200), v[3]), true
	case name[0] == 'o':
		l, m, s := v[0]+0.3963*v[1]+0.2158*v[2], v[0]-0.1056*v[1]-0.0639*v[2], v[0]-0.0895*v[1]-1.2915*v[2]
		l, m, s = l*l*l, m*m*m, s*s*s
		return rgb(gamma(4.0767*l-3.3077*m+0.231*s), gamma(-1.2684*l+2.6098*m-0.3413*s), gamma(-0.0042*l-0.7034*m+1.7076*s), v[3]), true
	case space == "xyz-d50":
		return fromXYZ(v[0]/0.9643, v[1], v[2]/0.8251, v[3]), true
	case strings.HasPrefix(space, "xyz"):
		return fromXYZ(v[0]/0.9505, v[1], v[2]/1.089, v[3]), true
	case strings.HasSuffix(space, "linear"):
		return rgb(gamma(v[0]), gamma(v[1]), gamma(v[2]), v[3]), true
	}
	return rgb(v[0]/full[0], v[1]/full[1], v[2]/full[2], v[3]), true // of another space, nearly
}

var spaces = setOf("srgb srgb-linear display-p3 display-p3-linear a98-rgb prophoto-rgb rec2020 xyz xyz-d50 xyz-d65")

// turns stands for a hue.
const turns = -1.0

// fullOf are the values that 100 % stands for.
var fullOf = map[string][3]float64{
	"rgb": {255, 255, 255}, "color": {1, 1, 1}, "hsl": {turns, 100, 100}, "hwb": {turns, 100, 100},
	"lab": {100, 125, 125}, "lch": {100, 150, turns}, "oklab": {1, 0.4, 0.4}, "oklch": {1, 0.4, turns},
}

func gamma(v float64) float64 {
	if v <= 0.0031308 {
		return 12.92 * v
	}
	return 1.055*math.Pow(v, 1/2.4) - 0.055
}

// fromXYZ takes values of which white has 1.
func fromXYZ(x, y, z, alpha float64) Colour {
	return rgb(gamma(3.0799*x-1.5372*y-0.5428*z), gamma(-0.9211*x+1.876*y+0.0452*z), gamma(0.0529*x-0.204*y+1.1511*z), alpha)
}

func hsl(hue, saturation, lightness, alpha float64) Colour {
	hue -= math.Floor(hue)
	of := func(n float64) float64 {
		k := math.Mod(n+hue*12, 12)
		return lightness - saturation*min(lightness, 1-lightness)*max(-1, min(k-3, 9-k, 1))
	}
	return rgb(of(0), of(8), of(4), alpha)
}
