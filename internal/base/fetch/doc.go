// Package fetch is the only door to the pages that sources name. A page may be
// anywhere and may be anything, and the agent that named it is not trusted:
//
//   - Every address is checked when its name has been resolved, and that address
//     is dialled. Redirects are followed by hand and checked the same way.
//     Private and reserved addresses, names that are never public, and ports
//     other than 80 and 443 are refused, unless a person allows them ([Allow]).
//   - Everything has a limit: the time on the wire, the bytes of a body after
//     decompression, redirects, headers, and what happens at once.
//   - It is polite: it sends few requests at once to one host, pauses between them,
//     respects what a server says about trying again, and has one User-Agent that
//     says what we are. robots.txt is not asked, because only pages that a source
//     names are fetched.
//   - Nothing secret is kept: cookies stay with the host that set them and end
//     with the fetch, and the archive has neither them nor credentials in URLs.
//
// The outcome for a URL is an [archive.Capture], whatever happened. The package
// writes no file and judges nothing.
package fetch
