//! The size of elements, kept up with while the page is resized.

use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{Element, ResizeObserver};
use yew::prelude::*;

/// Calls back with an element now and whenever its size changes, until dropped.
pub struct Observed {
    observer: ResizeObserver,
    _callback: Closure<dyn FnMut()>,
}

impl Observed {
    /// Starts; none where the browser cannot.
    pub fn start(element: &Element, mut changed: impl FnMut(&Element) + 'static) -> Option<Self> {
        let target = element.clone();
        changed(&target);
        let callback = Closure::<dyn FnMut()>::new(move || changed(&target));
        let observer = ResizeObserver::new(callback.as_ref().unchecked_ref()).ok()?;
        observer.observe(element);
        Some(Self { observer, _callback: callback })
    }
}

impl Drop for Observed {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}

/// The inner width in whole CSS pixels of the element at `node`; `first` until it is known.
#[hook]
pub fn use_width(node: &NodeRef, first: f64) -> f64 {
    let width = use_state_eq(|| first);
    {
        let (node, width) = (node.clone(), width.setter());
        use_effect_with((), move |()| {
            let observed = node.cast::<Element>().and_then(|element| {
                Observed::start(&element, move |element| {
                    let inner = f64::from(element.client_width());
                    if inner > 0.0 {
                        width.set(inner);
                    }
                })
            });
            move || drop(observed)
        });
    }
    *width
}
