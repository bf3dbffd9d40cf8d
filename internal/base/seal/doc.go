// Package seal signs and verifies: a person's decisions, and a finished run as
// one sealed file that a stranger can check without a network.
//
// A signature is an SSH signature as `ssh-keygen -Y sign` writes it, in the
// namespace tidegate over SHA-512. [OpenKey] opens a private key file, or a
// public one whose other half an ssh-agent has; [Key.Sign] signs. [Signers] is
// an allowed_signers file of OpenSSH; [Signers.Verify] names the signer.
// Signatures and files go both ways between this package and ssh-keygen.
//
// A sealed file is made by [Write] and read by [Open]. It is a zip archive, so
// that everybody can look inside, and holds the files that were sealed and an
// in-toto statement over their digests in a DSSE envelope. Nothing in it can be
// changed unseen: the files are covered by the statement, the statement by the
// signature, and everything else must be, byte for byte, what Write would have
// put there. A [Bundle] is the same archive with a list of digests and no signature.
//
// # What a signature shows
//
// It shows that the key was used on exactly these bytes, for tidegate and for
// nothing else, and that the signers file lists the key. It does not show:
//
//   - that a person meant it. A key that signs without asking (a file without
//     a passphrase, an agent that has it unlocked) signs for every program of
//     the same user, an agent's shell among them. A key that asks each time
//     does better: one that was added with `ssh-add -c`, or one on a security
//     token, whose signatures count here only when somebody touched it;
//   - when it was made. The time that [Signers.Verify] and [Open] are given is
//     the time at which a signer must have been valid, and a date in what was
//     signed is the signer's own word;
//   - that what was signed is true, or that the run went well. It shows that
//     report, evidence and record are those that the signer had;
//   - that the signers file is the right one. A file that lies beside what was
//     signed can be replaced with it: use one from elsewhere.
//
// # What is accepted
//
// Keys are Ed25519, ECDSA (nistp256, nistp384, nistp521), RSA of 2048 bits or
// more, and the two kinds of security tokens. Signatures by RSA with SHA-1 and
// by certificates are refused, and so is a signers file with a line for a
// certificate authority: list the keys themselves. Times in a signers file
// without Z are UTC, where OpenSSH takes the time zone of the machine: the same
// file must say the same everywhere.
//
// What does not verify is TAMPERED. A key or signers file that cannot be used is
// INVALID_ARGS, which never quotes from a key file.
package seal
