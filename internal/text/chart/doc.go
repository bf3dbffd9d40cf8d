// Package chart draws the numbers of a table: bars or lines, with a title, axes, units
// and sources. The same table gives the same bytes on every machine.
//
// A chart shows the numbers of its cells and no others. Texts in it come from anybody:
// they are text in every format.
package chart
