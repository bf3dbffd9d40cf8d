package style

import "cmp"

// Sight says how much of the text in an element a reader sees.
type Sight struct {
	None      bool // the element is not drawn, nor is anything in it
	invisible bool // its text is not; an element in it may say otherwise
	faded     float32
	size      float32 // of the letters, in pixels; 0 stands for what nothing set
	shrunk    float32 // by how much the element is drawn smaller, 0 for not at all
	root      float32 // the size of the page's letters, as size
	colour    Colour
	filled    Colour // of the letters, where it is not that of the text
	ground    Colour // what is behind the text
	covered   bool   // an image is behind it, or something else whose colour is not known
	clipped   bool   // what is behind it shows through the letters alone
	shadow    Colour // of the letters
	moved     bool   // its lines begin off the screen
	placed    bool   // it is moved with an element, not with the page
	vars      *variable
}

// variable is a custom property, and those that were set before it.
type variable struct {
	name, value string
	unset       bool // it is as if nothing had set it
	outer       *variable
}

func (v *variable) find(name string) (string, bool) {
	if at := v.at(name, nil); at != nil && !at.unset {
		return at.value, true
	}
	return "", false
}

// at is the variable of a name that was set last, after another.
func (v *variable) at(name string, after *variable) *variable {
	for n := 0; v != after && v != nil && n < 4096; v, n = v.outer, n+1 {
		if v.name == name {
			return v
		}
	}
	return nil
}

// tiny is the size in pixels below which letters are dots.
const tiny = 2.0

// Text reports whether a reader sees text that stands here.
func (s Sight) Text() bool {
	if s.None || s.invisible || s.moved || s.letters()*s.drawn() < tiny || 1-s.faded < faint {
		return false
	}
	behind := s.behind()
	if s.shadow.alpha >= faint && !s.shadow.isLike(behind) {
		return true
	}
	letter := s.letter()
	if letter.alpha < faint {
		return s.clipped
	}
	return s.covered || !letter.isLike(behind)
}

// letter is the colour of the letters.
func (s Sight) letter() Colour { return cmp.Or(s.filled, s.colour, black) }

// clipped stands for a ground that shows through the letters alone.
const clipped = "text"

func (s Sight) letters() float64 {
	if s.size == 0 {
		return mediumLetters
	}
	return max(0, float64(s.size)-unset)
}

func (s Sight) drawn() float64 {
	if s.shrunk == 0 {
		return 1
	}
	return max(0, float64(s.shrunk)-unset)
}

// unset is added to sizes, so that one of 0 differs from one that was not set.
const unset = 1e-6

func (s Sight) behind() Colour {
	if !s.ground.set {
		return white
	}
	return s.ground
}

// Effect is what an element changes about the sight of its text.
type Effect struct {
	Hides bool // it is not drawn
	Shows bool // it says how it is drawn, whatever its element does by itself
	// Collapses says that it takes away a column, where it is one.
	Collapses bool

	look     uint8   // of the letters: 1 hidden, 2 shown
	fades    float32 // by how much it is seen through
	size     float32 // of the letters, absolute or a multiple
	multiple bool
	sized    bool
	shrinks  float32
	shrunk   bool
	root     bool // it is the element that all others are in
	colour   Colour
	filled   Colour
	unfilled bool // the letters have the colour of the text again
	ground   Colour
	covers   bool
	clipped  bool
	shadow   Colour
	indent   uint8 // 1 on the screen, 2 off it
	places   bool
	vars     *variable
}

// On is the sight of text in an element that has the effect and stands where text has this
// sight.
func (e *Effect) On(s Sight) Sight {
	s.None = s.None || e.Hides
	if e.look != 0 {
		s.invisible = e.look == 1
	}
	s.faded = 1 - (1-s.faded)*(1-e.fades)
	if e.sized {
		size := float64(e.size)
		if e.multiple {
			size *= s.letters()
		}
		if s.size = float32(size + unset); e.root {
			s.root = s.size
		}
	}
	if e.shrunk {
		s.shrunk = float32(s.drawn()*float64(e.shrinks) + unset)
	}
	if e.colour.set {
		s.colour = e.colour
	}
	if e.unfilled || e.filled.set {
		s.filled = e.filled
	}
	switch {
	case e.clipped && e.ground.set:
		s.shadow = e.ground
	case e.ground.set && e.ground.alpha > 0:
		s.ground, s.covered = e.ground.over(s.behind()), s.covered && e.ground.alpha < 1
	}
	s.covered, s.clipped = s.covered || e.covers, e.clipped && e.covers || s.clipped && !e.ground.set
	if e.shadow.set {
		s.shadow = e.shadow
	}
	if e.indent != 0 {
		s.moved = e.indent == 2
	}
	s.placed = s.placed || e.places
	if e.vars != nil {
		s.vars = e.vars
	}
	return s
}

// WithoutHiding is the effect without what hides a whole element.
func (e Effect) WithoutHiding() Effect {
	e.Hides, e.look, e.fades = false, 0, 0
	return e
}

// Covered is the sight of text with something behind it whose colour is not known.
func (s Sight) Covered() Sight {
	s.covered = true
	return s
}

// Matters reports whether there is any effect.
func (e *Effect) Matters() bool { return *e != Effect{} }
