package chart

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
)

// The scale of an enhanced metafile: units for each one of the drawing, and how many of
// them a device has on a side of so many millimetres, so that a drawing is printed at 96
// units to the inch.
const (
	emfScale  = 10
	emfDevice = 14_400
	emfMM     = 381
)

// Size is how wide and high the picture is, in units of 1/96 inch.
func (c *Chart) Size(words Words) (width, height int) { return wide, c.draw(words).height }

// EMF is the chart as an enhanced metafile: the picture that every version of Word, and
// what reads its files, shows with its own fonts.
func (c *Chart) EMF(words Words) []byte {
	d := c.draw(words)
	e := &emf{handles: 1}
	e.record(emrSetBkMode, 1)
	for _, s := range d.shapes {
		e.shape(&s)
	}
	e.record(emrEOF, 0, 16, 20)
	var head bytes.Buffer
	width, height := int32(wide*emfScale), int32(d.height*emfScale)
	frame := func(units int32) int32 { return units * emfMM * 100 / emfDevice }
	for _, v := range []any{uint32(emrHeader), uint32(88), int32(0), int32(0), width, height, int32(0), int32(0), frame(width), frame(height),
		uint32(0x464d4520), uint32(0x10000), uint32(88 + e.b.Len()), uint32(e.records + 1), uint16(e.handles), uint16(0), uint32(0), uint32(0), uint32(0),
		int32(emfDevice), int32(emfDevice), int32(emfMM), int32(emfMM)} {
		binary.Write(&head, binary.LittleEndian, v)
	}
	return append(head.Bytes(), e.b.Bytes()...)
}

// The records that are written.
const (
	emrHeader       = 1
	emrPolyline     = 4
	emrEOF          = 14
	emrSetBkMode    = 18
	emrSetTextAlign = 22
	emrSetTextColor = 24
	emrSelectObject = 37
	emrCreatePen    = 38
	emrCreateBrush  = 39
	emrDeleteObject = 40
	emrEllipse      = 42
	emrRectangle    = 43
	emrCreateFont   = 82
	emrText         = 84

	nullBrush = 0x80000005
	nullPen   = 0x80000008
)

type emf struct {
	b       bytes.Buffer
	records int
	handles int
}

// record writes a record of 32-bit fields.
func (e *emf) record(kind uint32, fields ...uint32) {
	e.records++
	for _, v := range append([]uint32{kind, uint32(8 + 4*len(fields))}, fields...) {
		e.b.Write(binary.LittleEndian.AppendUint32(nil, v))
	}
}

func units(x float64) uint32 { return uint32(int32(float64(x * emfScale))) }

// colour turns red, green and blue around.
func colour(rgb uint32) uint32 { return rgb>>16 | rgb&0xff00 | rgb&0xff<<16 }

// with selects an object while something is drawn. There is one at a time.
func (e *emf) with(create func(handle uint32), draw func()) {
	e.handles = 2
	create(1)
	e.record(emrSelectObject, 1)
	draw()
	e.record(emrDeleteObject, 1)
}

func (e *emf) shape(s *shape) {
	switch {
	case s.text != "":
		e.text(s)
	case s.points != nil:
		rgb, width := inks[s.class], 1.0
		if s.class == "line" {
			rgb, width = colours[s.series], 2.2
		}
		e.with(func(h uint32) { e.record(emrCreatePen, h, 0, units(width), 0, colour(rgb)) }, func() {
			e.record(emrSelectObject, nullBrush)
			fields := []uint32{0, 0, 0, 0, uint32(len(s.points) / 2)}
			for _, p := range s.points {
				fields = append(fields, units(p))
			}
			e.record(emrPolyline, fields...)
		})
	default:
		kind := uint32(emrRectangle)
		if s.circular {
			kind = emrEllipse
		}
		e.with(func(h uint32) { e.record(emrCreateBrush, h, 0, colour(colours[s.series]), 0) }, func() {
			e.record(emrSelectObject, nullPen)
			e.record(kind, units(s.x), units(s.y), units(s.x+s.width), units(s.y+s.height))
		})
	}
}

// text writes a line of text in Arial, or what stands for it, with the widths of its
// letters.
func (e *emf) text(s *shape) {
	weight := uint32(400)
	if s.bold {
		weight = 700
	}
	font := make([]uint32, 80) // 320 bytes
	font[0], font[4] = uint32(-int32(s.size*emfScale)), weight
	for i, r := range "Arial" {
		font[7+i/2] |= uint32(r) << (16 * (i % 2))
	}
	align := map[string]uint32{"end": 2, "middle": 6}[s.anchor] | 24 // at the baseline
	text := utf16.Encode([]rune(s.text))
	e.with(func(h uint32) { e.record(emrCreateFont, append([]uint32{h}, font...)...) }, func() {
		e.record(emrSetTextAlign, align)
		e.record(emrSetTextColor, colour(inks[s.class]))
		const strings = 76 // where the text begins in the record
		words := (len(text) + 1) / 2
		fields := []uint32{0, 0, 0, 0, 1, 0x3f800000, 0x3f800000, units(s.x), units(s.y), uint32(len(text)), strings, 0, 0, 0, 0, 0, uint32(strings + 4*words)}
		packed := make([]uint32, words)
		for i, c := range text {
			packed[i/2] |= uint32(c) << (16 * (i % 2))
		}
		fields = append(fields, packed...)
		for _, r := range s.text {
			fields = append(fields, units(letterWidth(r, s.bold)*float64(s.size)))
			if r > 0xffff {
				fields = append(fields, 0)
			}
		}
		e.record(emrText, fields...)
	})
}
