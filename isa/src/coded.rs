//! Errors with stable codes, as rows of a table.

/// Makes an enum of errors and its catalogue from rows of a variant, its code and its sentence; the rows stand in the order of
/// their codes. Codes are never reused and never change their meaning: `docs/refusals.md` is generated from the catalogues. An
/// error named behind the catalogue becomes a variant that has its own codes.
macro_rules! coded {
    (
        $(#[$meta:meta])*
        $name:ident: $catalogue:ident
        $(, $(#[doc = $inner_doc:literal])* $wrapped:ident($inner:ty))*;
        $( $(#[doc = $doc:literal])* $variant:ident { $($field:ident: $ty:ty),* $(,)? } = $code:literal, $sentence:literal; )*
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
        pub enum $name {
            $(
                $(#[doc = $doc])*
                #[error($sentence)]
                $variant {
                    $(
                        #[doc = concat!("`", stringify!($field), "` of the sentence.")]
                        $field: $ty,
                    )*
                },
            )*
            $(
                $(#[doc = $inner_doc])*
                #[error("{0}")]
                $wrapped($inner),
            )*
        }

        impl $name {
            /// The stable refusal code.
            pub const fn code(&self) -> &'static str {
                match self {
                    $( $name::$variant { .. } => $code, )*
                    $( $name::$wrapped(error) => error.code(), )*
                }
            }
        }

        #[doc = concat!("Every row of [`", stringify!($name), "`], sorted by code.")]
        pub static $catalogue: &[$crate::CatalogueEntry] = &[
            $( $crate::CatalogueEntry { code: $code, sentence: $sentence }, )*
        ];
    };
}

pub(crate) use coded;
