package artifact

// nonblock is nothing on Windows, where no name in a folder is a FIFO.
const nonblock = 0
