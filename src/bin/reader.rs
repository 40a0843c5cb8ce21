//! The reader of files, as WebAssembly: everything is in the library's exports.

use galley as _;

fn main() {}
