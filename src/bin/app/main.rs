//! The page's program. In the search worker, where there is no window, it only offers its exported functions.

mod door;

fn main() {
    console_error_panic_hook::set_once();
    let Some(root) = web_sys::window()
        .and_then(|window| window.document())
        .and_then(|document| document.get_element_by_id("app"))
    else {
        return;
    };
    yew::Renderer::<galley::ui::App>::with_root(root).render();
}
