// Package planted is a web of pages whose faults are known, for tests. The canary of
// the program has what a fetch of its [Examples] brought.
//
// [Pages] lists what is planted, with the verdict that each page must get and the
// kind of fault that is the reason. [Claims] lists what may and may not be claimed
// about the honest ones. [New] makes the web itself: its pages have names and
// addresses that look public, and its resolver and dialer lead to a server in memory
// or on loopback, never to the network. Everything is made from a few texts by rule,
// so that it is the same every time.
//
// A page that hangs does so until its client gives up, and a slow page waits by the
// clock: in a testing/synctest bubble neither takes any time.
package planted
