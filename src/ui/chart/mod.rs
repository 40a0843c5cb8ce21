//! The four views, each a projection of a scene, and its text twin.
