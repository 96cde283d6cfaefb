//! The small numbers by which a program knows its objects.

/// Objects by number, from 1 on; a new one gets the smallest that is free, as the kernel's do.
#[derive(Debug)]
pub(super) struct Handles<T>(Vec<Option<T>>);

impl<T> Default for Handles<T> {
    fn default() -> Self {
        Handles(Vec::new())
    }
}

/// The most objects of a kind that an open file may have.
const MOST: usize = 1 << 20;

impl<T> Handles<T> {
    /// Takes an object in; `None` if there are too many.
    pub(super) fn insert(&mut self, object: T) -> Option<u32> {
        let free = self.0.iter().position(Option::is_none).unwrap_or(self.0.len());
        match self.0.get_mut(free) {
            Some(place) => *place = Some(object),
            None if free < MOST => self.0.push(Some(object)),
            None => return None,
        }
        u32::try_from(free + 1).ok()
    }

    /// The object of that number.
    pub(super) fn get(&self, number: u32) -> Option<&T> {
        self.0.get((number as usize).checked_sub(1)?)?.as_ref()
    }

    /// As [`Handles::get`], to change it.
    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.0.get_mut((number as usize).checked_sub(1)?)?.as_mut()
    }

    /// Takes the object of that number out.
    pub(super) fn remove(&mut self, number: u32) -> Option<T> {
        self.0.get_mut((number as usize).checked_sub(1)?)?.take()
    }

    /// All objects.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten()
    }

    /// The number of an object, if one is like that.
    pub(super) fn find(&self, is: impl Fn(&T) -> bool) -> Option<u32> {
        let at = self.0.iter().position(|o| o.as_ref().is_some_and(&is))?;
        u32::try_from(at + 1).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_begin_at_one_and_the_smallest_is_used_again() {
        let mut handles = Handles::default();
        assert_eq!(
            [handles.insert('a'), handles.insert('b'), handles.insert('c')],
            [Some(1), Some(2), Some(3)]
        );
        assert_eq!((handles.remove(2), handles.remove(2), handles.get(2)), (Some('b'), None, None));
        assert_eq!((handles.get(0), handles.get(u32::MAX), handles.get(3)), (None, None, Some(&'c')));
        assert_eq!((handles.insert('d'), handles.find(|c| *c == 'c')), (Some(2), Some(3)));
    }
}
