// Package citation turns what agents cite into facts: the citations and URLs of a
// text as it renders, the URLs of an output's Sources section, one record for each
// page they name, judged by the archived page, the pool of records that may be
// cited, and the claims of a document checked against the text of the pages they
// cite.
//
// Everything here is a function of its arguments. The package knows nothing of
// runs and opens no file and no connection: pages come in as [Page] values from an
// archive, and the same archive gives the same records, byte for byte, on every
// machine and every day.
//
// # What it says and what it does not
//
// A record with status valid says that the page was there, that it shows text,
// and that no rule of [Rules] holds against it. Grounding says that a quotation
// or a number stands on a cited page. Neither says that anything is true.
//
// # Limits
//
// Time and memory grow linearly with the input. A URL may have [MaxURL] bytes. At
// most [MaxText] bytes of text are read from a page; grounding does not see the
// rest.
package citation
