//! Geometry: outcome and viewport in, marks out. PURE: no Yew, no web-sys; it computes no physics.
