// Package demo holds what shows the program at work: sample data with a story
// that plays on it, and planted violations of every rule with their fixed
// counterparts, which explain the rules and prove that they are applied. Sources
// are judged on pages that were fetched once.
//
// It knows tools and command lines only by what main hands to it: a function
// that runs a command line, and the list of tools. It knows no domain.
package demo
