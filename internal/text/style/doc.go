// Package style says what of a page a reader sees: it reads the declarations of style
// attributes and of <style> elements, and follows what they hide through nested elements.
//
// It knows what hides a text and nothing of layout. Values are taken as a browser takes
// them: one that is not valid for its property leaves the one before it alone. A function
// that is not known here counts as hiding, because what it gives cannot be known.
package style
