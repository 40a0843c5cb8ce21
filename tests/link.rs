//! The link: what is written is read again, the same; what it does not know is reported; what it carries is readable.

use galley::engine::knob::{KNOBS, Kind};
use galley::link::{self, View};
use galley::request::Request;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A request with some knobs set to values of their kind.
fn requests() -> impl Strategy<Value = Value> {
    let one = prop::sample::select(KNOBS).prop_flat_map(|knob| {
        let value: BoxedStrategy<Value> = match knob.kind {
            Kind::Int { min, max } => (min..=max).prop_map(Value::from).boxed(),
            Kind::Float { min, max } => (min..=max).prop_map(Value::from).boxed(),
            Kind::Flag => any::<bool>().prop_map(Value::from).boxed(),
            Kind::Choice(names) => prop::sample::select(names).prop_map(Value::from).boxed(),
            Kind::Preset if knob.group == "hardware" => Just(json!("h100-80g")).boxed(),
            Kind::Preset => Just(json!("gpt2")).boxed(),
            Kind::List if knob.key == "segments" => {
                prop::collection::vec(1_u64..9, 1..6).prop_map(Value::from).boxed()
            }
            Kind::List if knob.key == "nested" => prop::collection::vec([0_u64..9, 9..99], 1..4)
                .prop_map(|pairs| json!(pairs))
                .boxed(),
            Kind::List => prop::collection::vec(
                prop::sample::select(vec!["keep", "recompute", "host", "ssd"]),
                1..6,
            )
            .prop_map(Value::from)
            .boxed(),
            Kind::Object => Just(Value::Null).boxed(),
        };
        value.prop_map(move |value| (knob, value))
    });
    prop::collection::vec(one, 0..12).prop_map(|settings| {
        let mut request = json!({"v": 1});
        for (knob, value) in settings.into_iter().filter(|(_, value)| !value.is_null()) {
            galley::request::set(&mut request, &format!("{}.{}", knob.group, knob.key), value);
        }
        request
    })
}

fn views() -> impl Strategy<Value = View> {
    let lang = prop::option::of(prop::sample::select(vec!["en".to_owned(), "zh-CN".to_owned()]));
    let theme = prop::option::of(prop::sample::select(vec!["light".to_owned(), "dark".to_owned()]));
    (lang, theme).prop_map(|(lang, theme)| View { lang, theme, ..View::default() })
}

proptest! {
    /// Round trip: tried against floats with many digits, lists, names that stand in two groups.
    #[test]
    fn what_is_written_is_read_again(request in requests(), view in views()) {
        let fragment = link::write(&request, &view);
        let read = link::read("", &fragment);
        prop_assert_eq!(&read.view, &view);
        prop_assert!(read.unknown.is_empty(), "{:?}", read.unknown);
        let again = read.request.unwrap_or_else(|| json!({"v": 1}));
        prop_assert_eq!(&again, &request, "{}", fragment);
        prop_assert_eq!(link::write(&again, &view), fragment);
    }

    /// Whatever stands in an address, reading it ends, and what it makes is refused or evaluated, never a panic.
    #[test]
    fn any_fragment_is_read(text in "\\PC{0,200}") {
        if let Some(request) = link::read("", &text).request {
            let _answered = Request::read(request);
        }
    }

    /// The same for known keys with unknown values.
    #[test]
    fn known_keys_with_any_value_are_read(
        pairs in prop::collection::vec((prop::sample::select(KNOBS), "\\PC{0,12}"), 1..6)
    ) {
        let names = pairs.iter().filter_map(|(knob, text)| Some((link::name(knob)?, text.as_str())));
        let fragment = serde_urlencoded::to_string(names.collect::<Vec<_>>()).expect("pairs of text");
        let request = link::read("", &fragment).request;
        let _answered = request.map(Request::read);
    }
}

#[test]
fn every_knob_has_a_name_of_its_own() {
    let mut names: Vec<_> = KNOBS.iter().filter_map(link::name).collect();
    names.extend(["v", "lang", "theme", "embed", "views"]);
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "two knobs share a name: {names:?}");
}

#[test]
fn a_link_is_readable() {
    let fragment = link::write(&Request::opening(), &View::default());
    assert_eq!(fragment, "v=1&model=llama-2-7b&lora_rank=16&card=rtx-4090&policy=mix&k=4&beta=0.5");
}

#[test]
fn query_and_fragment_both_count_and_unknown_keys_are_reported() {
    let link = link::read("?embed&views=timeline,ledger", "#v=1&model=gpt2&batch=4&colour=red");
    assert!(link.view.embed && link.view.shows("ledger") && !link.view.shows("pareto"));
    assert_eq!(link.request, Some(json!({"v": 1, "workload": {"preset": "gpt2", "batch": 4}})));
    assert_eq!(link.unknown, ["colour"]);
}

#[test]
fn a_value_that_does_not_read_is_refused_by_name() {
    let request = link::read("", "model=gpt2&batch=many").request.expect("it names a model");
    let error = Request::read(request).expect_err("many is no number");
    assert!(
        error.to_string().contains("workload.batch") && error.to_string().contains("many"),
        "{error}"
    );
}
