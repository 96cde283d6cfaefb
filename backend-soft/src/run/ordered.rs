//! A map by address that is small as a rule: a few entries lie in a list, more in a tree.

use std::collections::BTreeMap;

/// Entries that are kept in the list.
const FEW: usize = 8;

/// Values by address, in the order of the addresses.
pub(super) struct Ordered<T> {
    /// All entries, while they are few.
    few: Vec<(u64, T)>,
    /// All entries, once they are more.
    many: BTreeMap<u64, T>,
}

impl<T> Ordered<T> {
    /// The entries of a list that [`Ordered::into_list`] gave.
    pub(super) fn new(list: Vec<(u64, T)>) -> Self {
        Ordered { few: list, many: BTreeMap::new() }
    }

    /// The last entry at or before `key`.
    pub(super) fn at_or_before(&self, key: u64) -> Option<(u64, &T)> {
        let few = self.few.iter().rev().find(|(at, _)| *at <= key).map(|(at, value)| (*at, value));
        few.or_else(|| self.many.range(..=key).next_back().map(|(at, value)| (*at, value)))
    }

    /// The key of the first entry at or after `key`.
    pub(super) fn at_or_after(&self, key: u64) -> Option<u64> {
        let few = self.few.iter().map(|(at, _)| *at).find(|at| *at >= key);
        few.or_else(|| self.many.range(key..).next().map(|(at, _)| *at))
    }

    /// The entry of `key`, which is made if there is none.
    pub(super) fn get_or_insert_with(&mut self, key: u64, make: impl FnOnce() -> T) -> &mut T {
        if self.many.is_empty() {
            let place = self.few.iter().take_while(|(at, _)| *at < key).count();
            let found = self.few.get(place).is_some_and(|(at, _)| *at == key);
            if !found && self.few.len() < FEW {
                self.few.insert(place, (key, make()));
                return &mut self.few[place].1;
            }
            if found {
                return &mut self.few[place].1;
            }
            self.many.extend(self.few.drain(..));
        }
        self.many.entry(key).or_insert_with(make)
    }

    /// Entries.
    pub(super) fn len(&self) -> usize {
        self.few.len() + self.many.len()
    }

    /// The values while they are few; none once they are more.
    pub(super) fn listed(&mut self) -> impl Iterator<Item = &mut T> {
        self.few.iter_mut().map(|(_, value)| value)
    }

    /// All values, in order.
    pub(super) fn values(&self) -> impl Iterator<Item = &T> {
        self.few.iter().map(|(_, value)| value).chain(self.many.values())
    }

    /// Takes all values out.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = T> + '_ {
        let many = (!self.many.is_empty()).then(|| std::mem::take(&mut self.many).into_values());
        self.few.drain(..).map(|(_, value)| value).chain(many.into_iter().flatten())
    }

    /// The entries while they are few, with another name for their type; none once they are more.
    pub(super) fn into_list<U>(self, name: impl Fn(T) -> U) -> Vec<(u64, U)> {
        self.few.into_iter().map(|(at, value)| (at, name(value))).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever the number of entries, it is what a tree would be.
        #[test]
        fn an_ordered_map_is_a_tree(keys in prop::collection::vec(0u64..40, 0..30), asked in 0u64..42) {
            let (mut map, mut tree) = (Ordered::new(Vec::new()), BTreeMap::new());
            for (i, key) in keys.into_iter().enumerate() {
                prop_assert_eq!(*map.get_or_insert_with(key, || i), *tree.entry(key).or_insert(i));
            }
            let before = tree.range(..=asked).next_back().map(|(at, value)| (*at, value));
            prop_assert_eq!(map.at_or_before(asked), before);
            prop_assert_eq!(map.at_or_after(asked), tree.range(asked..).next().map(|(at, _)| *at));
            prop_assert!(map.values().eq(tree.values()));
            prop_assert!(map.drain().eq(tree.into_values()));
            prop_assert_eq!(map.values().count(), 0);
        }
    }
}
