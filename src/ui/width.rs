//! How wide an element is, in whole CSS pixels, kept up with while the page is resized.

use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{Element, ResizeObserver};
use yew::prelude::*;

/// The inner width of the element at `node`; `first` until it is known.
#[hook]
pub fn use_width(node: &NodeRef, first: f64) -> f64 {
    let width = use_state_eq(|| first);
    {
        let (node, width) = (node.clone(), width.setter());
        use_effect_with((), move |()| {
            let observed = node.cast::<Element>().and_then(|element| {
                let target = element.clone();
                let measure = move || {
                    let inner = f64::from(target.client_width());
                    if inner > 0.0 {
                        width.set(inner);
                    }
                };
                measure();
                let closure = Closure::<dyn FnMut()>::new(measure);
                let observer = ResizeObserver::new(closure.as_ref().unchecked_ref()).ok()?;
                observer.observe(&element);
                Some((observer, closure))
            });
            move || {
                if let Some((observer, _closure)) = observed {
                    observer.disconnect();
                }
            }
        });
    }
    *width
}
