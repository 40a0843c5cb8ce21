//! The page.
fn main() {
    if web_sys::window().is_some() {
        yew::Renderer::<galley::ui::App>::new().render();
    }
}
