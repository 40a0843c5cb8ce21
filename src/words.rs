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

include!(concat!(env!("OUT_DIR"), "/words.rs"));
