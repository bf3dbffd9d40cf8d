// Package link knows what a text leads to. A text goes in; the URLs and citations
// that it shows come out, with where they stand: [FindURLs] for those of a text as it
// is written, [Sightings] for those of a line of Markdown with what it calls them,
// [NextMention] for [@cid]. A URL goes in; [Normalize] and [Key] give the form in
// which two that name one page are the same bytes, and [Mask] writes over the
// credentials in it.
//
// Everything here is a function of its arguments, and takes time in proportion to
// their length.
package link
