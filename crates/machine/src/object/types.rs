//! What is known of a relocation type.

/// What a relocation type is, whatever it means.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Type {
    pub name: &'static str,
    pub width: u64,
    /// Bytes before and after the field's first byte that the linker may rewrite.
    pub reach: (u64, u64),
}
