//! Workers: how one is had, and how it is spoken to. Only `planner`, `importer` and `inverse` have one.

use js_sys::{Object, Reflect};
use wasm_bindgen::JsValue;
use web_sys::{Worker, WorkerOptions, WorkerType, window};

/// Starts one with a program (`page`, `reader` or `details`), from the addresses that static/boot.js leaves; none where workers are blocked.
pub fn hire(program: &str) -> Option<Worker> {
    let get = |from: &JsValue, key: &str| {
        Reflect::get(from, &key.into()).ok().filter(|value| !value.is_undefined())
    };
    let assets = get(&window()?.into(), "galleyAssets")?;
    let program = get(&assets, program)?;
    let options = WorkerOptions::new();
    options.set_type(WorkerType::Module);
    let worker = Worker::new_with_options(&get(&assets, "worker")?.as_string()?, &options).ok()?;
    let (js, wasm) = (get(&program, "js")?, get(&program, "wasm")?);
    let init = object(&[("type", "init".into()), ("js", js), ("wasm", wasm)]);
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
