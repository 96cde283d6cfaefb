//! Lists of words as case files write them.

/// A list of words, some of which are not known.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    /// `a * lane + b` in every lane.
    Lane { factor: u64, offset: u64 },
    /// One after another; `None` is not looked at.
    List(Vec<Option<u64>>),
}

impl Values {
    pub(crate) fn parse(text: &str) -> Self {
        if let Some(rest) = text.strip_prefix("lane") {
            let (factor, offset) = match rest.split_once('+') {
                Some((factor, offset)) => (factor, number(offset.trim())),
                None => (rest, 0),
            };
            let factor = factor.trim().strip_prefix('*').map_or(1, |f| number(f.trim()));
            return Values::Lane { factor, offset };
        }
        Values::List(text.split_whitespace().flat_map(token).collect())
    }

    /// Word `i`; `None` past the end or where it is not looked at.
    pub(crate) fn get(&self, i: usize) -> Option<u64> {
        match self {
            Values::Lane { factor, offset } => Some(factor.wrapping_mul(i as u64).wrapping_add(*offset)),
            Values::List(list) => list.get(i).copied().flatten(),
        }
    }

    /// How many words there are, of `all`.
    pub(crate) fn len(&self, all: usize) -> usize {
        match self {
            Values::Lane { .. } => all,
            Values::List(list) => list.len(),
        }
    }

    pub(crate) fn words(&self, all: usize) -> Vec<u32> {
        (0..self.len(all)).map(|i| self.get(i).unwrap_or(0) as u32).collect()
    }
}

/// `value` or `count x value`, where value is a number or `_`.
fn token(text: &str) -> Vec<Option<u64>> {
    let (count, value) = match text.split_once('x') {
        Some((count, value)) if count != "0" && count != "-0" => (count.parse().unwrap(), value),
        _ => (1, text),
    };
    let value = if value == "_" { None } else { Some(number(value)) };
    vec![value; count]
}

/// A decimal or hexadecimal number, with a sign, or a float that ends in `f` (single) or `d` (double).
pub(crate) fn number(text: &str) -> u64 {
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).unwrap_or_else(|_| panic!("no number: {text}"));
    }
    if let Some(float) = text.strip_suffix('f') {
        return u64::from(float.parse::<f32>().unwrap().to_bits());
    }
    if let Some(float) = text.strip_suffix('d') {
        return float.parse::<f64>().unwrap().to_bits();
    }
    text.parse::<i64>().unwrap_or_else(|_| panic!("no number: {text}")) as u64
}
