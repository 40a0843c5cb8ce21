//! Why a plan is what it is, and what would change it; numbers and codes, no words. [`decision`]: what decides for each saved tensor and
//! where that turns. [`peak`]: what sets the peak, and the lever that moves it. [`nearest`]: the nearest changes that make a scenario
//! fit. All of it is tried by running it: a lever is named by what the simulator says of the scenario with that one [`change`].

pub mod answer;
pub mod change;
pub mod combine;
pub mod decision;
pub mod keep;
pub mod narrow;
pub mod nearest;
pub mod peak;
pub mod trial;
