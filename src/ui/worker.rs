//! A worker that runs the page's own program: how one is had, and how it is spoken to. Only `planner` and `importer` have one.

use js_sys::{Object, Reflect};
use wasm_bindgen::JsValue;
use web_sys::{Worker, WorkerOptions, WorkerType, window};

/// Starts one, from the addresses that static/boot.js leaves; none where workers are blocked.
pub fn hire() -> Option<Worker> {
    let window: JsValue = window()?.into();
    let assets = Reflect::get(&window, &"galleyAssets".into()).ok().filter(JsValue::is_object)?;
    let asset = |key: &str| Reflect::get(&assets, &key.into()).ok();
    let options = WorkerOptions::new();
    options.set_type(WorkerType::Module);
    let worker = Worker::new_with_options(&asset("worker")?.as_string()?, &options).ok()?;
    let init = object(&[("type", "init".into()), ("js", asset("js")?), ("wasm", asset("wasm")?)]);
    worker.post_message(&init).ok()?;
    Some(worker)
}

/// A plain object: what messages are.
pub fn object(entries: &[(&str, JsValue)]) -> Object {
    let object = Object::new();
    for (key, value) in entries {
        let _own_property = Reflect::set(&object, &(*key).into(), value);
    }
    object
}
