//! What the reader turns: sliders with number fields, menus, the panel of them, the box to paste into.

mod calibrate;
mod choice;
mod expert;
mod panel;
mod paste;
mod residual;
mod slider;
mod states;

pub use calibrate::Fitting;
pub use choice::Choice;
pub use expert::Expert;
pub use panel::{Props as PanelProps, panel};
pub use paste::Paste;
pub use slider::{Field, Props as SliderProps, Slider};
use states::States;
