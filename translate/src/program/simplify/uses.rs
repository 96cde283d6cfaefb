//! Values that nobody uses.

use crate::program::{Block, Program, Stmt};

/// Drops each `Let` whose value nothing that stays takes. What may fault or stores stays.
pub(super) fn drop_unused(program: &Program, body: &mut Block) {
    let mut used = vec![false; program.values.len()];
    sweep(body, &mut used);
}

/// From the last statement to the first, so that each value's uses are known before it.
fn sweep(block: &mut Block, used: &mut [bool]) {
    let mut at = block.len();
    while at > 0 {
        at -= 1;
        match &mut block[at] {
            Stmt::Let(v, expr) => {
                let (wanted, expr) = (used[v.0 as usize], *expr);
                if wanted {
                    expr.operands(|v| used[v.0 as usize] = true);
                }
            }
            stmt => inner(stmt, used),
        }
    }
    block.retain(|s| !matches!(s, Stmt::Let(v, _) if !used[v.0 as usize]));
}

fn inner(stmt: &mut Stmt, used: &mut [bool]) {
    match stmt {
        Stmt::If { then, otherwise, .. } => {
            sweep(then, used);
            sweep(otherwise, used);
        }
        Stmt::Loop { body } => sweep(body, used),
        _ => {}
    }
    stmt.operands(|v| used[v.0 as usize] = true);
}
