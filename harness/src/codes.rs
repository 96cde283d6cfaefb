//! Stable codes for what this crate refuses.
//!
//! One row of [`coded_errors!`] is a variant, its code and its sentence; the error prints as `CODE: sentence`, and the
//! catalogue of all rows is what `docs/refusals.md` is generated from. Codes are never reused.

/// Code and sentence of one refusal; braces in the sentence name what a report fills in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatalogueEntry {
    /// Stable code.
    pub code: &'static str,
    /// The sentence.
    pub sentence: &'static str,
}

macro_rules! coded_errors {
    (
        $(#[doc = $doc:literal])*
        $name:ident: $catalogue:ident;
        $( $(#[doc = $vdoc:literal])* $variant:ident { $($field:ident: $ty:ty),* } = $code:literal, $sentence:literal; )*
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
        pub enum $name {
            $(
                $(#[doc = $vdoc])*
                #[error("{}: {}", $code, format_args!($sentence))]
                $variant {
                    $(
                        #[doc = concat!("`", stringify!($field), "` of the sentence.")]
                        $field: $ty,
                    )*
                },
            )*
        }

        impl $name {
            /// The stable code.
            pub fn code(&self) -> &'static str {
                match self {
                    $( $name::$variant { .. } => $code, )*
                }
            }
        }

        #[doc = concat!("Every row of [`", stringify!($name), "`], sorted by code.")]
        pub static $catalogue: &[$crate::codes::CatalogueEntry] = &[
            $( $crate::codes::CatalogueEntry { code: $code, sentence: $sentence }, )*
        ];
    };
}

pub(crate) use coded_errors;
