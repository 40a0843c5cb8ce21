//! stub
use crate::engine::{Bytes, Nanos, Notes, Outcome, Policy, Scenario};
use crate::engine::search::front::Front;
use crate::ui::Shared; use crate::words::Locale; use yew::prelude::*;
/// e
pub struct Evaluated { /// s
pub scenario: Scenario, /// o
pub outcome: Outcome, /// n
pub notes: Notes }
/// p
#[derive(Clone, PartialEq, Properties)] pub struct P { pub evaluated: Shared<Evaluated>, pub locale: Locale, pub width: f64, #[prop_or_default] pub playhead: Nanos, #[prop_or_default] pub onseek: Callback<Nanos>, #[prop_or_default] pub front: Option<Shared<Front>>, #[prop_or_default] pub stale: bool, #[prop_or_default] pub onchoose: Callback<Policy>, #[prop_or_default] pub onlimit: Callback<(Bytes,bool)> }
/// c
#[component] pub fn Counter(_p: &P) -> Html { html!{} }
/// c
#[component] pub fn Ledger(_p: &P) -> Html { html!{} }
/// c
#[component] pub fn Timeline(_p: &P) -> Html { html!{} }
/// c
#[component] pub fn Pareto(_p: &P) -> Html { html!{} }
/// c
#[component] pub fn Ratio(_p: &P) -> Html { html!{} }
