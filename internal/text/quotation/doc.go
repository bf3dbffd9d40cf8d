// Package quotation finds what a text quotes, and where another text has the same
// words. The passages of a document go in, and the quotations that their marks and
// block quotes make come out ([Of]); a [Finder] takes many of them through
// the text of a page in one pass, with letter case, white space, marks, dashes, soft
// hyphens and ligatures folded. What counts as a quotation is listed in
// docs/rules.md.
package quotation
