// Package draft reads a text in Markdown as a reader sees it: a tree of blocks whose
// leaves hold characters, each with the place in the source that it comes from, and the
// citations among them. What judges a text and what shows it read the same tree.
package draft
