//! The page table as the host keeps it, and what of it the device has yet to be told.

use std::collections::{BTreeSet, HashMap};

use guestwave_translate::naga::layout::{PAGE_LEAF_WORDS, PAGE_MAP_WORDS, PAGE_ROOTS};

use crate::gpu::Upload;

/// Words that go to the device together.
const BLOCK: usize = 64;

/// The page table. Leaves and edge maps stand behind the root, the first leaf is the empty one.
pub(crate) struct PageTable {
    words: Vec<u32>,
    /// Blocks that the device has yet to be told of.
    changed: BTreeSet<usize>,
    leaves: HashMap<u32, u32>,
    /// Edge maps that pages have had, which they get again.
    maps: HashMap<u64, u32>,
}

impl PageTable {
    pub(crate) fn new() -> Self {
        let mut table = PageTable {
            words: Vec::new(),
            changed: BTreeSet::new(),
            leaves: HashMap::new(),
            maps: HashMap::new(),
        };
        table.clear();
        table
    }

    /// Forgets all pages.
    pub(crate) fn clear(&mut self) {
        self.words = vec![PAGE_ROOTS; PAGE_ROOTS as usize];
        self.words.resize((PAGE_ROOTS + PAGE_LEAF_WORDS) as usize, 0);
        self.leaves.clear();
        self.maps.clear();
        self.changed = (0..self.words.len() / BLOCK).collect();
    }

    /// Bytes that the device's buffer must have.
    pub(crate) fn bytes(&self) -> u64 {
        self.words.len() as u64 * 4
    }

    fn set_word(&mut self, at: u32, what: u32) {
        if let Some(word) = self.words.get_mut(at as usize)
            && *word != what
        {
            *word = what;
            self.changed.insert(at as usize / BLOCK);
        }
    }

    fn extend(&mut self, words: u32) -> u32 {
        let start = self.words.len();
        self.words.resize(start + words as usize, 0);
        self.changed.extend(start / BLOCK..self.words.len() / BLOCK);
        start as u32
    }

    /// First word of the entry of a guest page (its number: address / 64 KiB).
    fn entry(&mut self, page: u64) -> u32 {
        let root = (page >> 16) as u32 & 0xffff;
        let leaf = match self.leaves.get(&root) {
            Some(leaf) => *leaf,
            None => {
                let leaf = self.extend(PAGE_LEAF_WORDS);
                self.leaves.insert(root, leaf);
                self.set_word(root, leaf);
                leaf
            }
        };
        leaf + (page as u32 & 0xffff) * 2
    }

    /// Says where a page lies in the arena, which of its 4 KiB parts are wholly there, and which bytes of other parts.
    pub(crate) fn set(&mut self, page: u64, arena_page: u32, parts: u16, edges: Option<&[u32]>) {
        let at = self.entry(page);
        self.set_word(at, arena_page << 16 | u32::from(parts));
        let map = match edges {
            None => 0,
            Some(edges) => {
                let known = self.maps.get(&page).copied();
                let map = known.unwrap_or_else(|| self.extend(PAGE_MAP_WORDS));
                self.maps.insert(page, map);
                edges.iter().zip(map..).for_each(|(word, at)| self.set_word(at, *word));
                map
            }
        };
        self.set_word(at + 1, map);
    }

    /// Forgets a page.
    pub(crate) fn remove(&mut self, page: u64) {
        let root = (page >> 16) as u32 & 0xffff;
        if let Some(leaf) = self.leaves.get(&root).copied() {
            let at = leaf + (page as u32 & 0xffff) * 2;
            self.set_word(at, 0);
            self.set_word(at + 1, 0);
        }
    }

    /// What the device has yet to be told, which counts as told then.
    pub(crate) fn uploads(&mut self) -> Vec<Upload> {
        let mut uploads: Vec<(usize, usize)> = Vec::new();
        for block in std::mem::take(&mut self.changed) {
            match uploads.last_mut() {
                Some((_, end)) if *end == block => *end += 1,
                _ => uploads.push((block, block + 1)),
            }
        }
        let words = &self.words;
        let upload = |(start, end): (usize, usize)| Upload {
            at: (start * BLOCK * 4) as u64,
            data: bytemuck::cast_slice(&words[start * BLOCK..end * BLOCK]).to_vec(),
        };
        uploads.into_iter().map(upload).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads an entry as a module does.
    fn look(table: &PageTable, address: u64) -> (u32, u32) {
        let leaf = table.words[(address >> 32) as usize & 0xffff];
        let at = (leaf + (address as u32 >> 16) * 2) as usize;
        (table.words[at], table.words[at + 1])
    }

    #[test]
    fn pages_are_found_and_forgotten() {
        let mut table = PageTable::new();
        assert_eq!(table.uploads().len(), 1);
        let address = 0x8001_2345_6789;
        assert_eq!(look(&table, address), (0, 0));
        table.set(address >> 16, 7, 0xfffe, None);
        assert_eq!(look(&table, address), (7 << 16 | 0xfffe, 0));
        assert_eq!(look(&table, address + 0x1_0000), (0, 0));
        let edges = vec![0xff; PAGE_MAP_WORDS as usize];
        table.set(address >> 16, 7, 0, Some(&edges));
        let (entry, map) = look(&table, address);
        assert_eq!((entry, table.words[map as usize]), (7 << 16, 0xff));
        table.remove(address >> 16);
        assert_eq!(look(&table, address), (0, 0));
    }

    #[test]
    fn only_changes_go_to_the_device() {
        let mut table = PageTable::new();
        table.set(1, 1, 1, None);
        table.uploads();
        table.set(1, 1, 1, None);
        assert!(table.uploads().is_empty());
        table.set(1, 2, 1, None);
        let uploads = table.uploads();
        assert_eq!(uploads.len(), 1);
        assert_eq!(uploads[0].data.len(), BLOCK * 4);
    }
}
