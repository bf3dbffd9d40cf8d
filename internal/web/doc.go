// Package web is the page: runs and changes in a browser, made on the server.
// It reads what the other packages answer, decides nothing and writes nothing.
//
// What agents wrote is hostile. It reaches a page through html/template alone,
// and never as Markdown or HTML, but for the report, which package synthesis
// makes and whose own policy forbids everything but its style.
package web
