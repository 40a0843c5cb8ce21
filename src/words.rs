//! Every visible word, in both languages: typed functions made from static/locales/*/*.ftl at build time. Numbers come in as
//! text, formatted by `scene::format`.

#![allow(clippy::too_many_arguments, clippy::match_same_arms, reason = "generated")]

/// The languages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Locale {
    /// English.
    #[default]
    En,
    /// Simplified Chinese.
    Zh,
}

impl Locale {
    /// The BCP 47 tag.
    #[must_use]
    pub const fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh-CN",
        }
    }

    /// The language of a BCP 47 tag: Chinese in any form, else English.
    #[must_use]
    pub fn from_tag(tag: &str) -> Self {
        if tag.to_ascii_lowercase().starts_with("zh") { Self::Zh } else { Self::En }
    }
}

/// The text with its values in their places, U+0001 the first. One function for all texts: each `format!` would be code of its own.
fn fill(pattern: &str, values: &[&str]) -> String {
    let mut text = String::with_capacity(pattern.len());
    for piece in pattern.split_inclusive(|c: char| c < '\t') {
        let place = piece.chars().next_back().filter(|c| *c < '\t').map(|c| c as usize);
        text += &piece[..piece.len() - usize::from(place.is_some())];
        text += place.and_then(|place| values.get(place - 1)).copied().unwrap_or_default();
    }
    text
}

include!(concat!(env!("OUT_DIR"), "/words.rs"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_to_their_places() {
        assert_eq!(fill("\u{2} of \u{1}, \u{2}", &["all", "some"]), "some of all, some");
        assert_eq!(fill("共 \u{1}", &["3"]), "共 3");
        assert_eq!(fill("plain {} text\n", &[]), "plain {} text\n");
        let said = verdict_fits(Locale::En, "5 GiB");
        assert!(said.contains("5 GiB") && !said.contains('\u{1}'), "{said}");
    }
}
