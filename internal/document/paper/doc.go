// Package paper draws what a person reads and hands on: a report with what each of its
// sentences rests on, its references and how it was made. It is written as Markdown, as
// one file of HTML, as a page to print and as a file of Word.
//
// The package is pure: values in, bytes out, and the same values give the same bytes. All
// texts may come from an agent or a page; each format shows them as text.
package paper
